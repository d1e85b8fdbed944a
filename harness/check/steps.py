"""A check of a submission before it is submitted: its steps, its text and its transcript."""

import sys
import time
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.archives import archive
from harness.assignments import contents, needs, public_tests, workspace
from harness.assignments.assignment import Assignment
from harness.assignments.build_steps import build
from harness.core.errors import ArchiveError, ExitCode, UsageError
from harness.core.options import Options
from harness.core.records import FileResult, Repeat
from harness.core.text import escape_controls, number_of, one_line, without_surrogates
from harness.judging.diagnosis import diagnoses
from harness.report.file_view import crash_of, paths_of_crashes
from harness.report.paint import Paint, wrap
from harness.report.progress import LiveProgress
from harness.report.tally import exit_code, phrases, tally, total
from harness.report.terminal_report import Terminal
from oracle import __version__


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S%z")


INDENT = "   "
_NO = Repeat()


class CheckReporter:
    """Writes to standard output, and keeps what it has written as a transcript.

    ``wrong``, ``unknown`` and ``odd`` gather what is said at the end: faults of the submission,
    what could not be found out, and what costs nothing. ``terminal`` knows how results look.
    """

    def __init__(
        self, command: str, paint: Paint, *, unicode: bool, repeat: Repeat = _NO, width: int = 0
    ) -> None:
        """``command``: as typed. ``repeat``: for the command lines that repeat tests.

        ``width``: columns of the terminal; 0 for a file or a pipe.
        """
        self._command = command
        self._started = _now()
        self._written: list[str] = []
        self._room = max(width - len(INDENT), 0)
        self.terminal = Terminal(paint, unicode=unicode, repeat=repeat, width=self._room)
        self.wrong: list[str] = []
        self.unknown: list[str] = []
        self.odd: list[str] = []
        self._paint = paint
        self._steps = 0

    def say(self, text: str = "", terminal_text: str = "") -> None:
        """Write lines. ``terminal_text``: the same, wrapped; the transcript is not."""
        print(terminal_text or text, flush=True)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        kept = text.encode(encoding, "backslashreplace").decode(encoding)
        self._written.append(kept + "\n")

    def transcript(self, status: int) -> bytes:
        """Return all that was written, with a last line that says the exit status."""
        body = without_surrogates("".join(self._written))
        text = (
            f'Script started on {self._started} [COMMAND="{self._command}"]\n'
            f'{body}\nScript done on {_now()} [COMMAND_EXIT_CODE="{status}"]\n'
        )
        return text.replace("\n", "\r\n").encode()

    def step(self, title: str) -> None:
        """Begin a step."""
        self._steps += 1
        self.say("\n" + self._paint("bold", f"{self._steps}. {' '.join(title.split())}"))

    def note(self, text: str, color: str = "") -> None:
        """Write a line under the step; ``color`` is one of paint's."""
        written = INDENT + (self._paint(color, text) if color else text)
        wrapped = f"\n{INDENT}".join(wrap(written.removeprefix(INDENT), self._room))
        self.say(written, INDENT + wrapped)

    def remarks(self, sentences: Iterable[str]) -> None:
        """Write what is odd but no fault."""
        for sentence in sentences:
            self.note(escape_controls(sentence), "warn")

    def faults(self, phrases: list[str]) -> None:
        """Write what is wrong, and keep it for the last sentence."""
        self.wrong += phrases
        for phrase in phrases:
            self.note(escape_controls(phrase), "bad")

    def last(self, sentence: str, color: str) -> None:
        """Write the last sentence."""
        self.say()
        self.say(self._paint(color, sentence))


# --- The context that all steps of a check share -------------------------------------------------


class CheckOptions(NamedTuple):
    """Options of a check."""

    source: Path  # a folder or an archive
    assignment: Assignment
    output: Path  # the folder the archive goes to
    overlay: Path | None = None  # the course's folder; None: looked for
    sandbox: str = "auto"
    jobs: int = 0
    python: str = ""  # the engine's, by its path; empty: the assignment's choice
    line: str = ""  # of the only test to be run, in the only public case file; "": all, and write
    live: bool = False  # draw how far the tests are


class CheckContext:
    """State of one check; ``room``: a new folder, gone afterwards."""

    def __init__(self, options: CheckOptions, room: Path, sayer: CheckReporter) -> None:
        self.options, self.room, self.sayer = options, room, sayer
        self.assignment = options.assignment
        self.stage = room / "stage"  # with all that the engine sees
        self.archive = options.output / self.assignment.archive.name  # to be submitted


# --- The first step: what was given, a folder or an archive, against what the assignment wants ---


class CheckedFiles(NamedTuple):
    """The files that are tested and submitted, in a folder."""

    folder: Path
    sorted_files: contents.SortedFiles
    copy: Path | None = None  # of the course's folder, which came along


def look(context: CheckContext) -> CheckedFiles:
    """Return the given files that are kept; raises ArchiveError if the archive is refused."""
    sayer, assignment, room = context.sayer, context.assignment, context.room
    source, overlay = context.options.source, assignment.engine.overlay
    sayer.step(f"What is in {'the folder' if source.is_dir() else ''} {source.name}")
    if source.is_dir():
        folder = assignment.archive.folder
        names, odd = archive.files_in(source)
        found = contents.sort_files(names, "", assignment.files)
        if source.name != folder:
            sayer.note(f"The folder is called {source.name!r}; in the archive it is {folder}.")
        _describe(context, found, {name: (source / name).stat().st_size for name in found.kept})
        if odd:
            sayer.note(f"left out, links and the like: {', '.join(map(escape_controls, odd))}")
        copy = source / (overlay or "none")
        return CheckedFiles(source, found, copy if copy.is_dir() else None)
    inside = contents.inspect_archive(str(source), assignment)
    packed, found = inside.contents, inside.found
    count = number_of(len(packed.files), "file")
    sayer.note(f"{count}, {packed.size:,} bytes, sha256 {packed.sha256}")
    for remark in inside.remarks:
        sayer.note(remark)
    _describe(context, found, inside.sizes)
    workspace.unpack(str(source), room / "given", inside.root, found.kept)
    workspace.unpack_copy(str(source), room / "copy", found.forbidden, overlay)
    return CheckedFiles(room / "given", found, room / "copy" if found.forbidden else None)


def _describe(context: CheckContext, files: contents.SortedFiles, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        is_log = name == context.assignment.files.log
        old = " (an old one: a new one replaces it)" if is_log else ""
        context.sayer.note(f"{escape_controls(name):32}{size:>9,} bytes{old}")
    context.sayer.remarks(contents.remarks(files, context.assignment.engine.overlay))
    context.sayer.faults(contents.faults(files, context.assignment))


# --- The build steps and the public tests: what they print, where they fail, and what explains it


MOST_HUNG = 3  # files whose engine hangs; after them nobody need wait for the others
_SHOWN = 40  # lines of a build's output


def build_and_show(context: CheckContext) -> bool:
    """Build on the stage and show what is said; return whether there is something to be run."""
    sayer, assignment = context.sayer, context.assignment
    if assignment.build:
        words = (step[2:] if step[:2] == ("sh", "-c") else step for step in assignment.build.steps)
        steps = (" ".join(one).replace("{adapter}/", "").replace("{folder}/", "") for one in words)
        sayer.step(f"The build: {'; '.join(map(one_line, steps))}")
    made = build(assignment, context.stage, context.options.sandbox)
    if made is None:
        return True
    lines = shown = escape_controls(made.output).rstrip().splitlines()
    if (left_out := len(lines) - _SHOWN) > 0:  # a compiler's first error counts most
        cut = _SHOWN * 3 // 4
        shown = [*lines[:cut], f"[… {left_out} lines …]", *lines[-(_SHOWN - cut) :]]
    for line in shown:
        sayer.note(line)
    if made.ok:
        sayer.note("built" if lines else "built, with no output")
    else:
        sayer.faults([one_line(made.message)])
    return made.ok


def run_tests(context: CheckContext) -> public_tests.TrialResult:
    """Run the public tests against what lies on the stage, and say how they went."""
    sayer, assignment, wanted = context.sayer, context.assignment, context.options
    live = LiveProgress(len(assignment.public_cases())) if wanted.live else None
    known: set[object] = set()  # ways to break that were shown in full
    sayer.step("The public tests")

    def on_file(file: FileResult) -> None:
        with live.hide() if live else nullcontext():
            seen = public_tests.explain(file, assignment)
            counts = ", ".join(words for _, _, words in phrases(seen.tally))
            sayer.note(f"{seen.file.case.path:24} {counts}")
            crashes = set(map(crash_of, file.failures))
            if crashes and crashes <= known and not seen.remarkable:
                sayer.note("the same engine failure as before", "bad")
                return
            known.update(crashes)
            for text in sayer.terminal.file(seen):
                sayer.say("\n" + "\n".join(INDENT + line for line in text.splitlines()))

    lines, jobs = wanted.line or None, wanted.jobs
    options = Options(sandbox=wanted.sandbox, jobs=jobs, most_hung=MOST_HUNG, lines=lines)
    try:
        trial = public_tests.run_public_tests(
            assignment, context.stage, options, on_file, live.update if live else None
        )
    finally:
        if live:
            live.stop()
    _sum_up(context, trial)
    return trial


def _sum_up(context: CheckContext, trial: public_tests.TrialResult) -> None:
    sayer, files, assignment = context.sayer, trial.result.files, context.assignment
    counts = phrases(total(map(tally, files)))
    sayer.note(f"{'in all':24} {', '.join(words for _, _, words in counts)}")
    for one in diagnoses(files):
        first, *others = map(escape_controls, one.lines)
        sayer.note(f"diagnosis: {first}", "warn")
        for other in others:
            sayer.note(f"  - {other}", "warn")
    for paths in paths_of_crashes(files).values():
        names = ", ".join(public_tests.shorten_path(path, assignment) for path in paths)
        if len(paths) > 1:
            sayer.note(f"the same engine failure in {len(paths)} case files: {names}", "bad")
    if python := assignment.python:
        what = "adapter" if assignment.adapter else "engine"
        sayer.note(f"The {what} was run by {escape_controls(python.described)}.")
        # A module may be that of a folder that is missing.
        folder = assignment.engine.overlay
        if not folder or (context.stage / folder).is_dir():
            reasons = (one.reason for file in files for one in file.failures)
            for advice in dict.fromkeys(filter(None, map(needs.advise_on_module, reasons))):
                sayer.note(f"{advice}.", "warn")
    if trial.no_sandbox:
        sayer.note(f"Run without a sandbox: {trial.no_sandbox}.", "warn")
    else:
        sayer.note(f"Run in a sandbox, {trial.result.options['sandbox']}.")
    sayer.wrong += public_tests.troubles(trial.result)
    sayer.unknown += public_tests.unknowns(trial.result)
    if count := sum(bool(file.warnings) for file in files):  # it may cost a test elsewhere
        where = f"in {count} of {number_of(len(files), 'file')}"
        sayer.odd.append(f"the engine violates the protocol {where}, see '! protocol' above")


# --- Archives: one made and unpacked as the teacher will, the log added, a last look -------------


def make_archive(context: CheckContext, checked: CheckedFiles) -> CheckedFiles:
    """Make an archive of what is kept, and unpack it twice: to be kept, and to be run.

    Whatever is built and run on the stage then changes nothing of what is submitted.

    Raises:
        UsageError: there is nothing to be packed.
    """
    sayer, form = context.sayer, context.assignment.archive
    sayer.step(f"The archive, unpacked into a new folder: tar -xf {form.name}")
    kept = tuple(one for one in checked.sorted_files.kept if one != context.assignment.files.log)
    if not kept:
        why = contents.describe_empty(checked.sorted_files, context.assignment)
        raise UsageError(f"{context.options.source}: {why}")
    path = context.room / form.name
    archive.pack(path, form.folder, checked.folder, kept)
    for file in archive.examine(str(path)).files:
        sayer.note(escape_controls(file.name))
    tested = context.room / "tested" / form.folder
    for folder in (tested, context.stage / form.folder):
        workspace.unpack(str(path), folder, f"{form.folder}/", kept)
    return CheckedFiles(tested, checked.sorted_files._replace(kept=kept))


def overlay(context: CheckContext, copy: Path | None) -> None:
    """Put the course folder beside the submission's, and name what its copy has changed.

    ``copy``: what came with the submission.
    """
    sayer, name, options = context.sayer, context.assignment.engine.overlay, context.options
    if not name:
        return
    sayer.step(f"The course folder {name}")
    # The folder named, or the teacher's, or the one beside the checked files.
    places = (context.assignment.place / name, options.source.parent / name)
    source = options.overlay or next((place for place in places if place.is_dir()), None)
    if source is None:
        sayer.note(f"Course folder {name} not found: give it with --overlay.", "warn")
        return
    files = number_of(workspace.overlay(source, context.stage / name), "file")
    sayer.note(f"{name} added beside {context.assignment.archive.folder}: {files}")
    if copy is not None and (changed := workspace.list_differences(copy, context.stage / name)):
        sayer.remarks([contents.describe_changed_copy(changed)])


def write_archive(context: CheckContext, files: CheckedFiles, status: int) -> tuple[str, ...]:
    """Write the log, if one is asked for, and the archive; return the names of its files.

    The log closes the transcript. It goes to what is submitted, and to the folder that was given.
    """
    names, sayer, source = files.sorted_files.kept, context.sayer, context.options.source
    form, log = context.assignment.archive, context.assignment.files.log
    if log:
        sayer.step(f"The log {log}, and the archive {form.name} with it")
        digests = public_tests.digests_in(files.folder, names)
        for line in public_tests.lines(public_tests.make_receipt(context.assignment, digests)):
            sayer.note(line)
        sayer.note(f"The log ends here; it is added to {form.folder}, and that is packed again.")
        transcript = sayer.transcript(status)
        (files.folder / log).write_bytes(transcript)
        if source.is_dir():
            try:
                (source / log).write_bytes(transcript)
            except OSError as error:
                raise UsageError(f"cannot write {source / log}: {error.strerror}") from None
        names = (*names, log)
    # Keep the archive that was given, if the new one would take its place.
    target = context.archive
    if target.exists() and target.samefile(source):
        kept = target.with_name(f"before-{target.name}")
        target.replace(kept)
        sayer.note(f"The archive that was given is now called {kept.name}.")
    archive.pack(context.archive, form.folder, files.folder, names)
    return names


def last_look(context: CheckContext, files: CheckedFiles, names: tuple[str, ...]) -> None:
    """Read the archive as the teacher will: it has what was tested, and nothing else."""
    sayer, name = context.sayer, context.archive.name
    sayer.step(f"A last look at the contents of {name}: tar -tf {name}")
    packed = archive.examine(str(context.archive))
    last = context.room / "last"
    workspace.unpack(str(context.archive), last, f"{context.assignment.archive.folder}/", names)
    for file in packed.files:
        sayer.note(f"{escape_controls(file.name):44}{file.size:>9,} bytes")
    if workspace.list_differences(files.folder, last) or len(packed.files) != len(names):
        sayer.wrong.append(f"{name} differs from the tested files")
    sayer.note(public_tests.hash_line("archive", packed.sha256))


# --- The order of a check, and its last sentence -------------------------------------------------


_NOTHING = "nothing wrong was found"
_ALL_OF_IT = "check without --test before you hand in"
_OURS = (
    "That is not your fault, and nothing else was found wrong with {made}. Check it once more; if"
    " this happens again, hand it in and tell your instructor."
)


def check(options: CheckOptions, sayer: CheckReporter) -> int:
    """Check, leave the archive to be submitted, and return the exit status."""
    title = f"check for {options.assignment.title} ({options.assignment.key})"
    sayer.say(f"gtp-harness {__version__}: {title}")
    needs.require(options.assignment)
    told = partial(sayer.note, color="dim")  # the Python of the course is built if need be
    with (
        workspace.workspace() as room,
        needs.with_python(options.assignment, options.python, told) as assignment,
    ):
        context = CheckContext(options._replace(assignment=assignment), room, sayer)
        try:
            given = look(context)
            tested = make_archive(context, given)
            overlay(context, given.copy)
        except ArchiveError as error:
            sayer.note(f"The archive is refused: {error}.", "bad")
            sayer.say(f"\nDo not hand it in: {error}.")
            return ExitCode.BROKEN
        status = ExitCode.BROKEN
        if build_and_show(context):
            status = exit_code(run_tests(context).result)
            if status == ExitCode.OK and sayer.wrong:
                status = ExitCode.FAILED
        if options.line:
            return _verdict_of_test(status, sayer)
        names = write_archive(context, tested, status)
        last_look(context, tested, names)
    return _verdict(context.archive, status, sayer)


def _verdict_of_test(status: int, sayer: CheckReporter) -> int:
    if status == ExitCode.OK:
        sayer.last(f"This test passes. Nothing was written: {_ALL_OF_IT}.", "good")
    elif sayer.wrong or not sayer.unknown:
        sayer.last("This test does not pass. Nothing was written.", "bad")
    else:
        unknown = "; ".join(map(one_line, sayer.unknown))
        sayer.last(f"Not your fault: {unknown}. Nothing was written.", "warn")
    return status


def _verdict(archive: Path, status: int, sayer: CheckReporter) -> int:
    unknown = "; ".join(map(one_line, sayer.unknown))
    if sayer.odd:
        sayer.last(f"Remark: {'; '.join(sayer.odd)}. No test fails because of it.", "warn")
    if sayer.wrong:
        reasons = "; ".join(map(one_line, sayer.wrong))
        more = f" Not your fault: {unknown}." if unknown else ""
        sayer.last(f"Do not hand in {archive} yet: {reasons}.{more}", "bad")
        return status or ExitCode.FAILED
    if unknown:
        sayer.last(f"{unknown[0].upper()}{unknown[1:]}. {_OURS.format(made=archive)}", "warn")
        return status
    sayer.last(f"Hand in {archive}: {_NOTHING}.", "good")
    return status
