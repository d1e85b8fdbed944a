"""``gtp-harness check``: what the documents ask a student to do by hand before the deadline.

Each step is a method that says what it found; the order of :meth:`Check.run` is that of
go-scoring.txt, "Do Your Own Pre-submission Test". What is found wrong is gathered and said again
in the last sentence. The pieces (intake, contents, workspace, trial) know nothing of this room:
grading uses the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from harness import workspace
from harness.assignment import Assignment
from harness.contents import Sorted, faults, remarks, sort_files
from harness.errors import ArchiveError, UsageError
from harness.exits import ExitCode
from harness.intake import archive
from harness.intake.packing import files_in, pack
from harness.intake.placing import place
from harness.options import Options
from harness.records import FileResult
from harness.report.paint import Paint
from harness.report.tally import Tally, exit_code, phrases, plural, tally, total
from harness.report.terminal import Terminal
from harness.report.visible import one_line, visible
from harness.transcript import Transcript
from harness.trial import Trial, explained, troubles, try_out
from oracle import __version__

_INDENT = "   "


class Wanted(NamedTuple):
    """What is to be checked, and how."""

    source: Path  # a folder or an archive
    assignment: Assignment
    output: Path  # the folder the archive goes to
    overlay: Path | None = None  # the course's folder; None: looked for
    sandbox: str = "auto"
    jobs: int = 0


class Submission(NamedTuple):
    """The files that are tested and handed in, in a folder of the workspace."""

    folder: Path
    found: Sorted
    copy: Path | None = None  # of the course's folder, which came along


class Check:
    """One check; ``transcript`` is written to, ``terminal`` knows how results look there."""

    def __init__(self, wanted: Wanted, transcript: Transcript, paint: Paint, unicode: bool):
        self._wanted = wanted
        self._assignment = wanted.assignment
        self._transcript = transcript
        self._terminal = Terminal(paint, unicode=unicode)
        self._paint = paint
        self._wrong: list[str] = []
        self._steps = 0
        self._broken: str = ""  # the engine failure that was shown in full

    def run(self) -> int:
        """Check, hand over the archive, and return the exit status."""
        assignment = self._assignment
        self._say(f"gtp-harness {__version__}: check for {assignment.title} ({assignment.key})")
        with workspace.workspace() as room:
            stage = room / "stage"  # all that the engine sees
            try:
                given = self._contents(room)
                tested = self._unpacked(stage, given)
                self._overlay(stage, given)
            except ArchiveError as error:
                self._note(self._paint("bad", f"The archive is refused: {error}."))
                self._say(f"\nDo not hand it in: {error}.")
                return ExitCode.BROKEN
            trial = self._public_tests(stage)
            status = self._status(trial)
            made = self._packed(tested, status)
            self._last_look(room, made, tested)
        return self._verdict(made, status)

    # --- the steps ---

    def _contents(self, room: Path) -> Submission:
        """Look at what was given, and bring what is kept of it into one folder."""
        source = self._wanted.source
        self._step(f"What is in {'the folder' if source.is_dir() else ''} {source.name}")
        return self._of_folder(source) if source.is_dir() else self._of_archive(source, room)

    def _of_folder(self, source: Path) -> Submission:
        folder = self._assignment.archive.folder
        names, odd = files_in(source)
        found = sort_files(names, "", self._assignment.files)
        if source.name != folder:
            self._note(f"The folder is called {source.name!r}; in the archive it is {folder}.")
        self._describe(found, {name: (source / name).stat().st_size for name in found.kept})
        if odd:
            self._note(f"left out, links and the like: {', '.join(map(visible, odd))}")
        copy = source / (self._assignment.engine.overlay or "none")
        return Submission(source, found, copy if copy.is_dir() else None)

    def _of_archive(self, source: Path, room: Path) -> Submission:
        contents = archive.examine(str(source))
        sizes = {file.name: file.size for file in contents.files}
        seen = [name for name in sizes if _is_kept_anywhere(name, self._assignment)]
        placing = place(seen or list(sizes), self._assignment.archive.folder)
        found = sort_files(sizes, placing.root, self._assignment.files)
        count = f"{len(sizes)} {plural(len(sizes), 'file')}"
        self._note(f"{count}, {contents.size:,} bytes, sha256 {contents.sha256}")
        for remark in (*contents.remarks, placing.remark):
            if remark:
                self._note(remark)
        self._describe(found, {name: sizes[placing.root + name] for name in found.kept})
        workspace.unpack(str(source), room / "given", placing.root, found.kept)
        overlay = self._assignment.engine.overlay
        workspace.unpack_copy(str(source), room / "copy", found.forbidden, overlay)
        return Submission(room / "given", found, room / "copy" if found.forbidden else None)

    def _describe(self, found: Sorted, sizes: dict[str, int]) -> None:
        log = self._assignment.files.log
        for name, size in sizes.items():
            old = " (an old one: it is written anew)" if name == log else ""
            self._note(f"{visible(name):32}{size:>9,} bytes{old}")
        for remark in remarks(found, self._assignment.engine.overlay):
            self._note(self._paint("warn", visible(remark)))
        self._wrong += faults(found)
        for fault in faults(found):
            self._note(self._paint("bad", visible(fault)))

    def _unpacked(self, stage: Path, given: Submission) -> Submission:
        """Make an archive of what is kept and unpack it, as the teacher will."""
        form = self._assignment.archive
        self._step(f"The archive, unpacked into a new folder: tar -xf {form.name}")
        kept = tuple(name for name in given.found.kept if name != self._assignment.files.log)
        if not kept:
            raise UsageError(f"{self._wanted.source} has no file that the assignment wants")
        path = stage.with_name(form.name)
        pack(path, form.folder, given.folder, kept)
        contents = archive.examine(str(path))
        workspace.unpack(str(path), stage / form.folder, f"{form.folder}/", kept)
        for file in contents.files:
            self._note(visible(file.name))
        return Submission(stage / form.folder, given.found._replace(kept=kept))

    def _overlay(self, stage: Path, given: Submission) -> None:
        name = self._assignment.engine.overlay
        if not name:
            return
        self._step(f"The course's own {name}")
        source = self._overlay_source(name)
        if source is None:
            self._note(
                self._paint("warn", f"There is no {name} to be added: --overlay names one.")
            )
            return
        count = workspace.overlay(source, stage / name)
        files = f"{count} {plural(count, 'file')}"
        self._note(f"{name} added beside {self._assignment.archive.folder}: {files}")
        self._report_changed(stage / name, given.copy)

    def _overlay_source(self, name: str) -> Path | None:
        """Return the folder named, or the teacher's, or the one beside what is checked."""
        if self._wanted.overlay:
            return self._wanted.overlay
        places = (self._assignment.place / name, self._wanted.source.parent / name)
        return next((place for place in places if place.is_dir()), None)

    def _report_changed(self, overlay: Path, copy: Path | None) -> None:
        """Say which files of the course's folder came with the submission, and changed."""
        if copy is not None and (changed := workspace.differing(copy, overlay)):
            names = ", ".join(visible(name) for name in changed)
            self._note(self._paint("warn", f"your copy is changed, and not used: {names}"))

    def _public_tests(self, stage: Path) -> Trial:
        self._step("The public tests")
        options = Options(sandbox=self._wanted.sandbox, jobs=self._wanted.jobs)
        cases = self._assignment.public_cases()
        trial = try_out(self._assignment, stage, cases, options, self._tell_of)
        counts = ", ".join(words for _, _, words in phrases(_total(trial)))
        self._note(f"{'in all':24} {counts}")
        if trial.no_sandbox:
            self._note(self._paint("warn", f"Run without a sandbox: {trial.no_sandbox}."))
        else:
            self._note(f"Run in a sandbox, {trial.result.options['sandbox']}.")
        self._wrong += troubles(trial.result)
        return trial

    def _tell_of(self, file: FileResult) -> None:
        """Say how one case file went, and show what went wrong."""
        seen = explained(file, self._assignment)
        counts = ", ".join(words for _, _, words in phrases(seen.tally))
        self._note(f"{seen.file.case.path:24} {counts}")
        again = file.failure and str(file.failure.message) == self._broken
        if again:
            self._note(self._paint("bad", "the engine broke in the same way"))
            return
        self._broken = file.failure.message if file.failure else self._broken
        for paragraph in self._terminal.file(seen):
            self._say("\n" + "\n".join(_INDENT + line for line in paragraph.splitlines()))

    def _status(self, trial: Trial) -> ExitCode:
        status = exit_code(trial.result)
        return ExitCode.FAILED if status == ExitCode.OK and self._wrong else status

    def _packed(self, tested: Submission, status: int) -> Path:
        """Write the log, and the archive with it."""
        form, log = self._assignment.archive, self._assignment.files.log
        self._step(f"The log {log}, and the archive {form.name} with it")
        self._note(f"The log ends here; it is added to {form.folder}, and that is packed again.")
        transcript = self._transcript.closed(status)
        (tested.folder / log).write_bytes(transcript)
        if self._wanted.source.is_dir():
            _write(self._wanted.source / log, transcript)
        target = self._wanted.output / form.name
        self._keep(target)
        pack(target, form.folder, tested.folder, (*tested.found.kept, log))
        return target

    def _keep(self, target: Path) -> None:
        """Keep the archive that was given, if the new one would take its place."""
        if target.exists() and target.samefile(self._wanted.source):
            kept = target.with_name(f"before-{target.name}")
            target.replace(kept)
            self._note(f"The archive that was given is now called {kept.name}.")

    def _last_look(self, room: Path, made: Path, tested: Submission) -> None:
        """Read the archive as the teacher will: it has what was tested, and nothing else."""
        self._step(f"A last look at what {made.name} contains: tar -tf {made.name}")
        folder = self._assignment.archive.folder
        contents = archive.examine(str(made))
        kept = (*tested.found.kept, self._assignment.files.log)
        workspace.unpack(str(made), room / "last", f"{folder}/", kept)
        for file in contents.files:
            self._note(f"{visible(file.name):44}{file.size:>9,} bytes")
        if workspace.differing(tested.folder, room / "last") or len(contents.files) != len(kept):
            self._wrong.append(f"{made.name} differs from what was tested")
        self._say()
        self._say(f"Receipt for {self._assignment.key}, gtp-harness {__version__}")
        self._note(f"archive sha256 {contents.sha256}")
        self._note(f"cases   sha256 {self._assignment.cases_digest()}")

    def _verdict(self, made: Path, status: int) -> int:
        self._say()
        if not self._wrong:
            self._say(self._paint("good", f"Hand in {made}: nothing was found wrong with it."))
            return status
        reasons = "; ".join(one_line(fault) for fault in self._wrong)
        self._say(self._paint("bad", f"Do not hand in {made} yet: {reasons}."))
        return status or ExitCode.FAILED

    # --- how it is said ---

    def _say(self, text: str = "") -> None:
        self._transcript.say(text)

    def _step(self, title: str) -> None:
        self._steps += 1
        self._say("\n" + self._paint("bold", f"{self._steps}. {' '.join(title.split())}"))

    def _note(self, text: str) -> None:
        self._say(_INDENT + text)


def _total(trial: Trial) -> Tally:
    return total(tally(file) for file in trial.result.files)


def _is_kept_anywhere(name: str, assignment: Assignment) -> bool:
    """Whether a file is no junk, wherever it lies: junk does not decide where the folder is."""
    return name not in sort_files([name], "", assignment.files).left_out


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def source_named(name: str | None, assignment: Assignment) -> Path:
    """Return what is to be checked: as named, or the assignment's folder here, or this folder.

    Raises:
        UsageError: there is nothing there.
    """
    folder = assignment.archive.folder
    here = Path(folder) if Path(folder).is_dir() else Path()
    path = Path(os.path.abspath(name)) if name else here.absolute()  # noqa: PTH100 - links stay
    if not path.exists():
        raise UsageError(f"there is no {name}: name a folder or an archive")
    if not name and path.name != folder:
        raise UsageError(f"there is no folder {folder} here: name it, or an archive")
    return path
