"""``gtp-harness gradescope``: the zip of an autograder, and a run of it in the container there."""

import argparse
import base64
import csv
import datetime
import hashlib
import io
import json
import re
import shlex
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import harness
import oracle
from harness import GradeOptions, find_assignment, grade
from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.assignments.clock_changes import to_local, to_seconds
from harness.cli import arguments
from harness.cli.commandline import Command, add_shared, number
from harness.core import file_system
from harness.core.errors import ClassWideError, ExitCode, UsageError
from harness.core.options import GTP
from harness.grading.attempts import attempt_plan
from harness.grading.exports import gradescope
from harness.grading.exports.showing import feedback
from harness.grading.ingest import sources
from harness.grading.records import PRIVATE
from harness.reading import casefile, shipped, suite
from harness.report.views import Views

FILE = "gtp-harness.json"  # in the zip
# When students see the points and tests of private case files. Source: Gradescope's autograder
# specifications, "Controlling Test Case Visibility".
VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
_BEFORE_END = 120.0  # seconds for what is not a test: reading, building, writing
_SPARE = 30  # seconds before Gradescope's own limit, at which run_autograder ends
_LEAST = 4.0  # minutes: less leaves no time for tests

_PAGE = """\
usage: gtp-harness gradescope [OPTION…] --assignment NAME

Make the zip of an autograder for Gradescope: setup.sh, run_autograder, this version of
gtp-harness as a wheel, the assignment and its case files, private ones too. Upload it
as the autograder of a programming assignment there. Each submission is then graded as
gtp-harness grade does it, in the strongest sandbox that Gradescope's container allows.
Teachers see the sandbox level in standard output. If no sandbox works or the harness
itself fails, Gradescope shows an error and gives no mark.

[options]

Exit status:
    0  the zip is written; with --grade: there is a mark
    2  the input was bad
    3  the harness itself failed; with --grade: no mark, and no results.json
  130  interrupted with Ctrl-C

Examples:
  gtp-harness gradescope --assignment go-scoring --private ~/private \\
      --overlay ../util -o autograder.zip
  gtp-harness gradescope --assignment my/assignment --public-only"""


def _run(arguments: argparse.Namespace) -> int:
    if (arguments.assignment is None) is (arguments.grade is None):
        GRADESCOPE.refuse(f"give --assignment: {', '.join(shipped.names())}, or a folder")
    if arguments.grade is not None:
        points, sandbox = mark(Path(arguments.grade))
        told = f"The sandbox was {sandbox}" if sandbox else "Nothing was run"
        print(f"{points} points. {told}.")
        return ExitCode.OK
    if arguments.private and arguments.public_only:
        raise UsageError("--private and --public-only exclude each other")
    content = _bundle(find_assignment(arguments.assignment), arguments)
    path = Path(arguments.output)
    file_system.make(path.parent)
    try:  # private case files are in it: nobody else may read it
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    told = "Upload it as the autograder of the assignment."
    print(f"{arguments.output}: {len(content):,} bytes. {told}")
    return ExitCode.OK


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    arguments.add_assignment(add)
    add_shared(add, "--private", "--public-only")
    add("--private-visibility", choices=VISIBILITIES, default="after_due_date",
        help="when students see points and verdicts of private tests, and their total"
        " (default: %(default)s)")  # fmt: skip
    add_shared(add, "--overlay")
    add("--timeout", type=number(_LEAST, f"at least {_LEAST:g} minutes"), default=10.0,
        metavar="MINUTES",
        help="time limit, as in Gradescope's autograder settings. There it costs all points; we"
        " end a little earlier, with an error and no mark (default: %(default)g)")  # fmt: skip
    add("--output", "-o", default="autograder.zip", metavar="FILE",
        help="zip to write (default: %(default)s)")  # fmt: skip
    add("--grade", metavar="DIR",
        help="for run_autograder: grade DIR/submission, write"
        " DIR/results/results.json")  # fmt: skip


GRADESCOPE = Command("gradescope", _PAGE, _add_options, _run)


# --- What the zip has of settings, and what Gradescope tells of a submission ---------------------


class GradescopeSettings(NamedTuple):
    """The decisions. Paths are relative to the folder of the zip's contents."""

    assignment: str  # its folder
    private: tuple[str, ...]  # files or folders of case files, besides the assignment's own
    public_only: bool
    timeout: float  # seconds after which Gradescope ends an autograder, and gives 0 points
    private_visibility: str  # one of VISIBILITIES


def read(folder: Path) -> GradescopeSettings:
    """Return the settings of an autograder.

    ``folder``: with the contents of its zip.

    Raises:
        UsageError: there are none, or they are not what the zip has.
    """
    path = folder / FILE
    try:
        found = GradescopeSettings(**json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise UsageError(
            f"{path} is not what gtp-harness gradescope wrote: make the zip again"
        ) from None
    return found._replace(private=tuple(found.private))


# Source: "Submission Metadata" of Gradescope's documentation.
METADATA_FILE = "submission_metadata.json"


def read_metadata(path: Path) -> tuple[datetime.datetime, datetime.datetime | None]:
    """Return when a submission was made and when it was due, if ever, in local times.

    A student may have got an extension, which stands with the student. Of a group the latest one
    counts.

    Raises:
        UsageError: the file cannot be read, or a time is not one.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON") from None
    found = _object(found)
    users = found.get("users")
    students = users if isinstance(users, list) else []
    dates = [_object(_object(one).get("assignment")).get("due_date") for one in students]
    extended = [_time(path, "due_date", date) for date in dates if date]
    common = _object(found.get("assignment")).get("due_date")
    due = extended or ([_time(path, "due_date", common)] if common else [])
    last = max(due, key=to_seconds, default=None)
    return _time(path, "created_at", found.get("created_at")), last


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _time(path: Path, name: str, value: object) -> datetime.datetime:
    try:
        time = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None:
        expected = "a time such as 2026-01-29T23:55:00-07:00"
        raise UsageError(f"{path}: {name}: found {value!r}, expected {expected}")
    return to_local(time)


def mark(root: Path) -> tuple[str, str]:
    """Grade ``root/submission`` as a class of one, and write ``root/results/results.json``.

    Returns the mark, and what the sandbox was; "" if nothing was run.

    A result is written only when there is a mark. Whatever goes wrong before that leaves no file:
    then Gradescope shows "The autograder failed to execute correctly" and gives no points, neither
    0 nor any others, and the teacher sees standard output.

    ``root``: a folder laid out as Gradescope's ``/autograder``.

    Raises:
        HarnessError: no mark was found; then no result file is left.
    """
    target = root / "results" / "results.json"
    target.unlink(missing_ok=True)
    source = root / "source"
    wanted = read(source)
    created, due = read_metadata(root / METADATA_FILE)
    found = find_assignment(str(source / wanted.assignment))
    needs.require(found)
    if due is not None:
        # What is refused then is Gradescope's business: it knows who got an extension.
        found = found._replace(late=found.late._replace(deadline=due, refused_after=None))
    with (
        needs.with_python(found) as found,
        tempfile.TemporaryDirectory(prefix="gtp-harness-gradescope-") as room,
    ):
        sheet = Path(room, "class.csv")
        handed_in = sources.folder_pieces([root / "submission"])
        with sheet.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["student", "file", "time"])
            for piece in sorted(handed_in, key=lambda piece: piece.order):
                name = str(piece.file.path) if piece.file else ""
                rows.writerow([piece.student.key, name, created.isoformat()])
        result = grade(
            GradeOptions(
                assignment=found,
                source=sheet,
                output=sheet.parent,
                private=tuple(str(source / one) for one in wanted.private),
                public_only=wanted.public_only,
                images=False,  # what they show is for a teacher, who sees nothing of them here
                budget=wanted.timeout - _BEFORE_END,
                go_on=True,  # a class of one always fails alike
            )
        )
    (one,) = result.graded
    if one.marks.withheld:
        faults = "; ".join(dict.fromkeys(found.fault for found in one.attempts if found.fault))
        raise ClassWideError(f"the harness failed, and there is no mark: {faults}")
    graded = result.assignment
    private = frozenset(part.name for part in graded.marks if part.judged_by == PRIVATE)
    shown = feedback(one, result, Views(graded.specification, graded.place))
    text = gradescope.results(shown, gradescope.Later(wanted.private_visibility, private))
    target.parent.mkdir(parents=True, exist_ok=True)
    file_system.write_whole(target, text)
    return str(one.marks), result.sandbox


# A wheel is a zip of the packages beside a ``.dist-info`` folder. Source: "Binary distribution
# format" of the Python Packaging User Guide.
_NAME = "gtp-harness"
_TAGS = "Wheel-Version: 1.0\nGenerator: gtp-harness\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_LICENSE = "licenses/LICENSE"
_SCRIPTS = ("setup.sh", "run_autograder")
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same files make the same bytes

Member = tuple[str, bytes]  # a name in a zip, and the content


def wheel() -> Member:
    """Return the name of the wheel of this very installation, and its bytes.

    Raises:
        UsageError: gtp-harness runs from a folder into which it was not installed.
    """
    try:
        found = distribution(_NAME)
    except PackageNotFoundError:
        raise UsageError(
            "the wheel is made from the installed package, but gtp-harness is not installed:"
            " pip install it first"
        ) from None
    stem = f"{_NAME.replace('-', '_')}-{oracle.__version__}"
    about = f"{stem}.dist-info"
    texts = {name: found.read_text(name) for name in ("METADATA", "entry_points.txt", _LICENSE)}
    members = [
        *_packages(),
        *((f"{about}/{name}", text.encode()) for name, text in texts.items() if text is not None),
        (f"{about}/WHEEL", _TAGS.encode()),
    ]
    lines = []
    for name, content in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    record = f"{about}/RECORD"
    text = "".join([*lines, f"{record},,\n"])
    return f"{stem}-py3-none-any.whl", zip_members([*members, (record, text.encode())])


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder by their names in it, without hidden and compiled ones."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_left = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not is_left:
            yield "/".join(parts), path


def zip_members(members: Iterable[Member]) -> bytes:
    """Return a zip of the members; the scripts among them may be executed."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, _LONG_AGO)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if name in _SCRIPTS else 0o100644) << 16
            archive.writestr(info, content)
    return written.getvalue()


def _packages() -> Iterator[Member]:
    """Yield both packages and the cases that ship, which a wheel has within ``harness``."""
    cases = shipped.folder()
    for folder in (Path(oracle.__file__).parent, Path(harness.__file__).parent):
        for name, path in files(folder):
            if not path.is_relative_to(cases):
                yield f"{folder.name}/{name}", path.read_bytes()
    for name, path in files(cases):
        if "private" not in Path(name).parts:  # a teacher's own, beside those that ship
            yield f"harness/cases/{name}", path.read_bytes()


_ASSIGNMENT, _PRIVATE = "assignment", "private"


def _bundle(assignment: Assignment, arguments: argparse.Namespace) -> bytes:
    """Return the zip: the scripts, the wheel, the assignment and the case files.

    Raises:
        CaseError: a case file is wrong.
        UsageError: something that grading needs is missing.
    """
    cases = () if arguments.public_only else arguments.private
    for path in cases:
        if not path.startswith("@") and not Path(path).exists():
            raise UsageError(f"there is no {path}")
    attempt_plan.cases(assignment, None if arguments.public_only else cases)
    place = f"{_ASSIGNMENT}/{assignment.key}"
    kept = list(_private(assignment, cases))
    overlay = Path(arguments.overlay) if arguments.overlay else None
    private = set(assignment.private_cases()) if arguments.public_only else set()
    paths = [
        *(
            (f"{place}/{name}", path)
            for name, path in files(assignment.place)
            if path not in private
        ),
        *_overlay(assignment, place, overlay),
        *((name, path) for _, name, path in kept),
    ]
    named = tuple(dict.fromkeys(given for given, _, _ in kept))
    settings = GradescopeSettings(
        place, named, arguments.public_only, arguments.timeout * 60, arguments.private_visibility
    )
    name, content = wheel()
    tools = " ".join(tool.package for tool in needs.of(assignment))
    packages = shlex.join(dict.fromkeys(tools.split()))
    setup = _script(
        "setup.sh",
        PACKAGES=f"install {packages}\n" if packages else "",
        WHEEL=shlex.quote(name),
        ASSIGNMENT=shlex.quote(place),
    )
    own = [
        ("setup.sh", setup),
        ("run_autograder", _script("run_autograder", SECONDS=f"{settings.timeout - _SPARE:g}")),
        (FILE, f"{json.dumps(settings._asdict(), indent=1)}\n".encode()),
        (name, content),
    ]
    return zip_members([*own, *((name, path.read_bytes()) for name, path in paths)])


def _script(name: str, **parts: str) -> bytes:
    """Return a script that Gradescope calls, both as root, with its ``@PARTS@`` filled in.

    ``setup.sh`` is called when the image is built, ``run_autograder`` for each submission. The
    harness is installed outside of ``source``, which engines may not enter.

    Source: "Autograder Specifications" of Gradescope's documentation.
    """
    text = (Path(__file__).with_name("autograder") / name).read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], text).encode()


def _overlay(
    assignment: Assignment, place: str, overlay: Path | None
) -> Iterator[tuple[str, Path]]:
    """Yield the course's folder, if it does not lie beside the assignment."""
    name = assignment.engine.overlay
    if not name or (overlay is None and (assignment.place / name).is_dir()):
        return
    if overlay is None or not overlay.is_dir():
        raise UsageError(f"course folder {name} not found; give it with --overlay")
    for own, path in files(overlay):
        yield f"{place}/{name}/{own}", path


def _private(assignment: Assignment, sources: Sequence[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield (what grading is given, name in the zip, file) of all that is named.

    A folder goes as it is. A file goes with the files that its commands name.
    """
    for index, one in enumerate(sources, 1):
        place = f"{_PRIVATE}/{index}"
        if Path(one).is_dir():
            yield from ((place, f"{place}/{name}", path) for name, path in files(Path(one)))
            continue
        paths = suite.expand([one], has_answers=assignment.protocol != GTP)
        for count, path in enumerate(map(Path, paths), 1):
            given = f"{place}/{count}/{path.name}"
            yield given, given, path
            steps = casefile.parse(path.read_bytes(), path.name).steps
            for word, companion in attempt_plan.companions(steps, path.absolute().parent):
                if Path(word).is_absolute() or ".." in Path(word).parts:
                    raise UsageError(f"{path} names {word}, which is not below its own folder")
                yield given, f"{place}/{count}/{Path(word).as_posix()}", companion
