"""A submission on trial against the public tests, here and at home, and the receipt of it."""

import hashlib
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.assignments.workspace import beside_submission
from harness.core import file_system
from harness.core.errors import SandboxError
from harness.core.options import Options
from harness.core.records import FileResult, Progress, Repeat, RunResult, Verdict
from harness.core.text import number_of, one_line
from harness.reading import shipped
from harness.report.file_view import FileView
from harness.report.views import Views
from harness.running.rerun import believe, fails_by_choice
from harness.running.runs import run
from harness.sandbox.levels import EscapeError
from oracle import __version__

TEST = "--test"  # the option of ``check`` that names a test


class AtHome(NamedTuple):
    """Command lines, to be run in the submitted folder or in the one above it."""

    folder: str  # the submitted one's name
    beside: str  # the course's folder that must lie beside it; "": none
    check: str  # all public tests, and what else is looked at
    repeat: Repeat  # of single tests
    is_shipped: bool  # the assignment, so that its name is enough


def at_home(assignment: Assignment) -> AtHome:
    """Return how the public tests of an assignment are repeated."""
    command = f"gtp-harness check --assignment {shlex.quote(assignment.key)}"
    is_shipped = assignment.place == shipped.folder() / assignment.key
    folder, beside = assignment.archive.folder, assignment.engine.overlay
    return AtHome(folder, beside, command, Repeat(command, test=TEST), is_shipped)


# --- A submission on trial: its engine against an assignment's case files, in a sandbox ----------


class TrialResult(NamedTuple):
    """The result."""

    result: RunResult
    no_sandbox: str  # why there was none though one was wanted; else empty


def run_public_tests(
    assignment: Assignment,
    room: Path,
    options: Options,
    on_file: Callable[[FileResult], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> TrialResult:
    """Run the public case files against the submission in ``room``, once it is built.

    ``room``: the folder with the submission's own and the course's beside it. ``options``: of the
    run; limits and folders are the assignment's business. A sandbox that is ``auto`` may be none.

    Raises:
        SandboxError: the level that was asked for does not work here, or does not hold.
    """
    program, folder = assignment.start(room)
    home = room / assignment.archive.folder
    own = options._replace(
        limits=assignment.limits,
        box=assignment.box,
        show=tuple(beside_submission(home)),
        submission=str(home),
        folder=folder,
        strict=True,
        restart=assignment.cases.restart,
        protocol=assignment.protocol,
        translate=assignment.translate,
        python=assignment.python.described if assignment.python else options.python,
    )
    try:
        return TrialResult(_run(assignment, program, own, on_file, on_progress), "")
    except EscapeError:
        raise
    except SandboxError as error:
        if options.sandbox != "auto":
            raise
        own = own._replace(sandbox="off")
        plain = _run(assignment, program, own, on_file, on_progress)
        return TrialResult(plain, str(error))


def _run(
    assignment: Assignment,
    program: str,
    options: Options,
    on_file: Callable[[FileResult], None] | None,
    on_progress: Callable[[Progress], None] | None,
) -> RunResult:
    """Run the files; those with a failed choice once more, one at a time, before they are told.

    All are told in their order: those after such a file wait for it.
    """
    tell, command_properties = on_file or (lambda _: None), assignment.command_properties
    held: list[FileResult] = []
    result = run(
        program,
        list(map(str, assignment.public_cases())),
        options,
        on_progress,
        lambda file: (
            held.append(file) if held or fails_by_choice(file, command_properties) else tell(file)
        ),
        natures=command_properties,
    )
    known = {file.case.path: file for file in result.files}
    faults = result.faults
    for first in held:
        if fails_by_choice(first, command_properties):
            path, alone = first.case.path, options._replace(jobs=1)
            again = run(program, [path], alone, natures=command_properties)
            for second in again.files:
                known[path] = believe(first, second, command_properties)
            faults += again.faults
        tell(known[first.case.path])
    return result._replace(files=tuple(known.values()), faults=faults)


def explain(file: FileResult, assignment: Assignment) -> FileView:
    """Return a file's view with the oracle's reasons, its path as short as the assignment's."""
    views = Views(assignment.specification, assignment.place)
    return views.of(file, shorten_path(file.case.path, assignment))


def shorten_path(path: str, assignment: Assignment) -> str:
    """Return the path of a case file as short as the assignment's."""
    return Path(path).relative_to(assignment.place).as_posix()


def troubles(result: RunResult) -> list[str]:
    """Return what is wrong with the submission, a phrase for each kind."""
    verdicts = [outcome.verdict for file in result.files for outcome in file.outcomes]
    failed = verdicts.count(Verdict.FAILED)
    broken = [file for file in result.files if file.failure]
    said = []
    if broken and all(file.is_silent for file in result.files):
        said.append("the engine does not run")
    elif broken:
        said.append(f"the engine breaks in {len(broken)} of {len(result.files)} files")
    if failed:
        said.append(f"{failed} of {number_of(len(verdicts), 'test')} fail")
    return said


def unknowns(result: RunResult) -> list[str]:
    """Return what could not be found out, a phrase for each kind; no student is to blame."""
    verdicts = [outcome.verdict for file in result.files for outcome in file.outcomes]
    said = ["the harness itself failed"] if result.faults else []
    if unsure := verdicts.count(Verdict.NOT_JUDGED):
        said.append(f"{number_of(unsure, 'test')} could not be judged")
    return [*said, *(f"a case file cannot be read: {error}" for error in result.errors)]


# --- The receipt of ``gtp-harness check``: which files were tested, with which cases -------------
# It stands in the log, and the log is submitted within the archive; so it cannot have the
# archive's own hash in it. It has one that can be taken again from the archive: of the names and
# contents of all files that were tested: all submitted files except the log. The archive's hash is
# shown after the log has ended, for the student to keep: if a teacher has other bytes, the student
# submitted another archive.
#
# What it proves: that what was tested is the submission, if the student is honest. It is not
# a signature: everybody who can run ``check`` can write such lines; no mark depends on them alone.


class Receipt(NamedTuple):
    """Data of a receipt. The digests are SHA-256, as 64 hexadecimal digits."""

    assignment: str  # its key
    version: str  # of the harness
    files: str  # of :func:`digest_of`
    cases: str  # of :meth:`harness.assignments.assignment.Assignment.cases_digest`
    python: str = ""  # that ran the engine, in words; empty: none, or an older receipt


def make_receipt(assignment: Assignment, files: Mapping[str, str]) -> Receipt:
    """Return the receipt for files, given by name within the folder with their SHA-256."""
    digests = digest_of(files), assignment.cases_digest()
    python = assignment.python.described if assignment.python else ""
    return Receipt(assignment.key, __version__, *digests, python)


def digest_of(files: Mapping[str, str]) -> str:
    """Return one digest of files, given by name with their SHA-256: that of lines, sorted by
    name, as ``sha256sum`` prints them.
    """
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()


def digests_in(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of files of a folder."""
    return {name: file_system.digest(folder / name) for name in names}


def digest(pieces: Iterable[bytes]) -> str:
    """Return the SHA-256 of what comes in pieces."""
    sha256 = hashlib.sha256()
    for piece in pieces:
        sha256.update(piece)
    return sha256.hexdigest()


# --- as text -----------------------------------------------------------------------------------

_FIRST = re.compile(r"\s*Receipt for ([\w.+-]{1,80}), gtp-harness ([\w.+-]{1,80})\s*")
_PYTHON = re.compile(r"\s*python +(\S.{0,200}?)\s*")
_NEXT = re.compile(r"\s*(files|cases|archive) +sha256 ([0-9a-f]{64})\s*")


def lines(receipt: Receipt) -> list[str]:
    """Return the receipt as lines of a log, the first as its title."""
    return [
        f"Receipt for {receipt.assignment}, gtp-harness {receipt.version}",
        hash_line("files", receipt.files),
        hash_line("cases", receipt.cases),
        *([f"{'python':<7} {receipt.python}"] if receipt.python else []),
    ]


def hash_line(label: str, sha256: str) -> str:
    """Return a line of a receipt."""
    return f"{label:<7} sha256 {sha256}"


def find_receipt(log: Sequence[str]) -> Receipt | None:
    """Return the last whole receipt in the lines of a log."""
    for index in range(len(log) - 1, -1, -1):
        first = _FIRST.fullmatch(log[index])
        if first:
            pairs = [_NEXT.fullmatch(line) for line in log[index + 1 : index + 4]]
            said = {pair[1]: pair[2] for pair in pairs if pair}
            if {"files", "cases"} <= said.keys():
                fourth = _PYTHON.fullmatch("".join(log[index + 3 : index + 4]))
                python = fourth[1] if fourth else ""
                return Receipt(first[1], first[2], said["files"], said["cases"], python)
    return None


def compare_receipt(receipt: Receipt | None, expected: Receipt) -> str:
    """Return as a sentence what a receipt in a log says of an archive; empty without one.

    ``expected``: for what the archive has in it.
    """
    if receipt is None:
        return ""
    if receipt.assignment != expected.assignment:
        return f"The receipt in the log is for another assignment, {receipt.assignment}."
    if receipt.files != expected.files:
        return "The receipt in the log is for other files than the submitted ones."
    if receipt.cases != expected.cases:
        return "The receipt in the log fits the files, but they were tested with other case files."
    python = f", run by {one_line(receipt.python, 200)}" if receipt.python else ""
    version = receipt.version
    return f"The receipt in the log fits: gtp-harness {version} has tested these files{python}."
