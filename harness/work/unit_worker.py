"""The process that does units of work, JSON in and lines of JSON out; the files they name."""

import argparse
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from traceback import format_exc
from typing import BinaryIO

from harness.assignments.assignment import find
from harness.core import file_system, signals
from harness.core.errors import ExitCode, HarnessError, SandboxError, StarvedError, UsageError
from harness.core.records import CaseFile, Outcome
from harness.reading import casefile
from harness.running.hangs import HangPolicy, PostponedError, ShortLimits
from harness.sandbox.boxed_engines import Sandbox
from harness.work import canonical_json, records
from harness.work.machine import die_with_parent
from harness.work.unit_runner import UnitRunner


class MissingBytesError(HarnessError):
    """A file of a unit is missing, or has changed by now: the harness's own trouble."""


class FileFinder:
    """Finds files; ``stores``: folders of files that are named by their SHA-256."""

    def __init__(self, stores: Sequence[Path] = ()) -> None:
        self._stores = tuple(stores)

    def archive(self, submission: records.UnitSubmission) -> Path:
        """Return where the bytes of a submission are.

        Raises:
            MissingBytesError: nowhere.
        """
        return self._find(
            submission.sha256, submission.path, f"the submission of {submission.key}"
        )

    def case(self, case: records.UnitCase, room: Path) -> tuple[bytes, Path]:
        """Return a case file's bytes, and its path with all that it names beside it.

        It is laid out in a new folder of ``room`` where it does not lie as the unit says.

        Raises:
            MissingBytesError: as :meth:`archive`.
        """
        place = Path(case.place)
        own = self._find(case.sha256, str(place / case.name), f"the case file {case.name}")
        if not case.place or not _can_engines_read(case.beside, place):
            place = self._lay(case.beside, place, room / case.basis[:16])
        return own.read_bytes(), place / case.name

    def folder(self, folder: records.Folder, room: Path) -> Path:
        """Return where a folder lies as the unit says, or is laid out below ``room``.

        Raises:
            MissingBytesError: as :meth:`archive`.
        """
        place = Path(folder.place)
        if folder.place and _can_engines_read(folder.files, place):
            return place
        return self._lay(folder.files, place, room / folder.name)

    def _lay(self, files: Iterable[records.UnitFile], source: Path, target: Path) -> Path:
        """Copy files into a new folder ``target`` that all may read; return it."""
        file_system.make_open(target)
        for one in files:
            found = self._find(one.sha256, str(source / one.name), one.name)
            file_system.write_open(target / one.name, found.read_bytes())
        return target

    def _find(self, sha256: canonical_json.Sha256, path: str, called: str) -> Path:
        places = [*([Path(path)] if path else []), *(store / sha256 for store in self._stores)]
        for place in places:
            if _has(place, sha256):
                return place
        raise MissingBytesError(f"{called} is nowhere with the SHA-256 {sha256}: has it changed?")


def file_of(path: Path, name: str) -> records.UnitFile:
    """Return a file that lies on this machine, by a name of its own."""
    sha256 = canonical_json.Sha256(file_system.digest(path))
    return records.UnitFile(canonical_json.Name(name), sha256)


def folder_of(place: Path, names: Iterable[str]) -> records.Folder:
    """Return a folder of this machine with some of its files."""
    return records.Folder(
        place.name, tuple(file_of(place / name, name) for name in names), str(place)
    )


def _can_engines_read(files: Iterable[records.UnitFile], place: Path) -> bool:
    """Whether all are there, and open to other users, which engines of root are.

    A service keeps what it writes to its own user; so do teachers whose umask is 077.
    """
    return all(
        _has(place / one.name, one.sha256)
        and (os.geteuid() != 0 or (place / one.name).stat().st_mode & stat.S_IROTH)
        for one in files
    )


def _has(path: Path, sha256: str) -> bool:
    """Whether these bytes are there, and whole."""
    try:
        return file_system.digest(path) == sha256
    except OSError:
        return False


# --- The process that does units of work: JSON comes in, lines of JSON go out --------------------


_TOLD_EVERY = 1.0  # seconds between two tests that are told of

Say = Callable[[records.WorkerEvent], object]
Ask = Callable[[records.Claim | records.ClaimLonger], records.Granted]


class UnitWorker:
    """Does units, one after the other; use it with :func:`contextlib.closing`."""

    def __init__(self, files: FileFinder, proven: str = "", room: str | None = None) -> None:
        """Do none yet.

        ``proven``: the sandbox level that our parent has just proven on this machine.
        ``room``: a folder in which files are laid out; None for the folder for temporary files.
        """
        self._files = files
        self._proven = proven
        self._room = tempfile.TemporaryDirectory(prefix="gtp-harness-work-", dir=room)
        Path(self._room.name).chmod(0o711)  # as root, engines run as somebody else
        self._runner: UnitRunner | None = None
        self._runner_is_for: object = None  # what units must have in common to be run on it

    def close(self) -> None:
        """End the box server, and remove what was laid out."""
        if self._runner:
            self._runner.close()
        self._room.cleanup()

    def do(self, unit: records.WorkUnit, say: Say, ask: Ask | None = None) -> records.UnitFinished:
        """Do a unit, and say what comes; return the last event, which is said, too.

        ``ask``: answers claims; None: no other worker has a part of the unit.
        """
        case_under_way, submission = _CaseUnderWay(say, ask), unit.submission
        short = ShortLimits(unit.hung, unit.patient, alone=unit.alone)
        try:
            runner = self._runner_for(unit)
            archive, kept = self._files.archive(submission), submission.kept
            furnished = runner.furnish(archive, submission.root, kept, unit.build, say)
            with furnished as (room, built):
                ends = time.monotonic() + unit.budget - unit.spent  # of the budget
                for index, case in enumerate(unit.cases):
                    if not case_under_way.begin(index, case.basis):
                        continue
                    short.begin_file(is_image=case.is_image, may_go_on=case_under_way.may_go_on)
                    say(records.CaseStarted(case.basis))
                    if built and not built.ok:
                        say(runner.nothing(case.basis))
                        continue
                    patience = HangPolicy(short, case_under_way.hangs, case_under_way.note_hang)
                    # What a case file names is gone afterwards: it may be secret.
                    with tempfile.TemporaryDirectory(dir=self._room.name) as beside:
                        Path(beside).chmod(0o711)  # as root, engines run as somebody else
                        content, path = self._files.case(case, Path(beside))
                        read_case = casefile.parse(content, str(path))
                        event = runner.attempt(
                            case.basis, read_case, room, ends, patience, case_under_way.on_test
                        )
                        say(event)
                    ends += runner.explaining
                    if isinstance(event, records.AttemptFinished) and event.figures.pace:
                        # An engine computed longer here than on the reference machine.
                        ends += event.figures.cpu * (event.figures.pace - 1.0)
            ended = records.UnitFinished()
        except PostponedError:
            ended = records.UnitFinished(later=True)
        except (SandboxError, StarvedError) as error:
            ended = records.UnitFinished(str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the harness's own fault
            ended = records.UnitFinished(f"{type(error).__name__}: {error}", format_exc())
        say(ended)
        return ended

    def _runner_for(self, unit: records.WorkUnit) -> UnitRunner:
        """Return the runner of the unit before if this one is run in the same way, or another."""
        alike = unit._replace(
            submission=None, build="", cases=(), spent=0.0, hung=(), patient=(), why=""  # type: ignore[arg-type]
        )  # fmt: skip
        if self._runner and self._runner_is_for == alike:
            return self._runner
        if self._runner:
            self._runner.close()
        room = Path(tempfile.mkdtemp(dir=self._room.name))  # no file of another one is there
        found = find(str(self._files.folder(unit.assignment, room)))
        assignment = found._replace(python=unit.environment.python)
        overlay = self._files.folder(unit.course, room / "course") if unit.course else None
        level, hidden = unit.environment.sandbox, unit.environment.hidden
        box = unit.box._replace(cpu=unit.box.cpu * (unit.pace or 1.0))
        properties = assignment.command_properties
        sandbox = None
        if level != "off":
            is_proven = level == self._proven
            sandbox = Sandbox(level, box, hidden, (), properties, is_proven=is_proven)
        self._runner = UnitRunner(
            assignment, overlay, sandbox, unit.limits,
            alone=unit.alone, budget=unit.budget, pace=unit.pace,
        )  # fmt: skip
        self._runner_is_for = alike
        return self._runner


class _CaseUnderWay:
    """The case file of a unit that is run: what is told of it, and what is asked for it.

    ``ask``: answers claims; None: no other worker has a part of the unit, and every case file is
    to be run. It counts how often the submission has hung, as claims tell and this process sees.
    """

    def __init__(self, say: Say, ask: Ask | None) -> None:
        self.say = say
        self._ask = ask
        self._index = 0
        self._basis = ""
        self.hangs = 0  # of the submission, in all workers
        self._told = 0.0  # of time.monotonic(): when a test was told of

    def begin(self, index: int, basis: str) -> bool:
        """Claim the next case file; return whether to run it."""
        self._index, self._basis, self._told = index, basis, time.monotonic()
        if self._ask is None:
            return True
        granted = self._ask(records.Claim(index))
        self.hangs = granted.hangs
        return granted.granted

    def may_go_on(self, limit: float) -> bool:
        """Whether an engine that computes without an answer has its full limit at once."""
        if self._ask is None:
            return False
        answer = self._ask(records.ClaimLonger(self._index))
        if answer.later:
            raise PostponedError
        if answer.granted:
            self.say(records.CaseProlonged(self._basis, limit))
        return answer.granted

    def on_test(self, _case: CaseFile, outcome: Outcome) -> None:
        """Tell which test was judged, now and then."""
        now = time.monotonic()
        if now - self._told >= _TOLD_EVERY:
            self._told = now
            self.say(records.CaseProgress(self._basis, outcome.step))

    def note_hang(self) -> None:
        """Tell that the submission has hung once more."""
        self.hangs += 1
        self.say(records.EngineHung(self._basis))


def serve(source: BinaryIO, sink: BinaryIO, worker: UnitWorker, *, shared: bool = True) -> None:
    """Do the units that come as lines, up to the last one.

    ``shared``: other workers may have a part of a unit, and somebody watches: claims are asked for
    in between, and progress is told. The other end is woken for each of these lines. Else it is
    woken before a case file is run and at the end: little is said at other times.

    Raises:
        UsageError: a line is none of these.
    """
    asked = 0

    def say(event: records.WorkerEvent) -> None:
        if shared or not isinstance(event, records.ProgressEvent):
            sink.write(records.line(event))
        if shared or not isinstance(event, records.AttemptFinished):
            sink.flush()

    def ask(event: records.Claim | records.ClaimLonger) -> records.Granted:
        say(event)
        return canonical_json.read(records.Granted, source.readline(), "the answer to a claim")

    with closing(worker):
        while text := source.readline():
            asked += 1
            worker.do(records.read_unit(text, f"unit {asked}"), say, ask if shared else None)


# --- Its command line ----------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Do what the command line says; return the exit status.

    It is 0 if all case files were judged, 2 if the unit is wrong, 3 if the harness failed, 130
    after Ctrl-C, 141 if nobody reads what is said.
    """
    options = _options().parse_args(arguments)
    try:
        if options.schema:
            unit, word = canonical_json.schema(records.WorkUnit), records.event_schema()
            print(json.dumps({"unit": unit, "word": word}, indent=1))
        elif not options.serve:
            return _do(options)
        else:
            signals.end_on_sigterm()
            signals.leave_sigint_to_the_parent()  # which started us, and hands units out
            die_with_parent(os.getppid())
            worker = _worker(options)
            serve(sys.stdin.buffer, sys.stdout.buffer, worker, shared=not options.unshared)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.NO_READER
    except HarnessError as error:
        print(f"harness.work: {error}", file=sys.stderr)
        return ExitCode.BROKEN if isinstance(error, UsageError) else ExitCode.FAULT
    except KeyboardInterrupt:
        if not options.serve:  # else by SIGTERM, from a process that knows of it
            print("harness.work: interrupted", file=sys.stderr)
        return signals.exit_status()
    return ExitCode.OK


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m harness.work",
        description="Do a unit of work, and say what comes as lines of JSON.",
    )
    add = parser.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="the unit (default: standard input)")
    add("--store", action="append", default=[], metavar="FOLDER", type=Path,
        help="a folder of files named by their SHA-256; may be repeated")  # fmt: skip
    add("--proven", default="", metavar="LEVEL",
        help="a sandbox level that was just proven here: it is not proven again")  # fmt: skip
    add("--confined", action="store_true",
        help="let confined children read archives")  # fmt: skip
    add("--room", default=None, metavar="FOLDER",
        help="where files are laid out (default: the folder of temporary files)")  # fmt: skip
    add("--serve", action="store_true",
        help="do units that come as lines, ask before each case file")  # fmt: skip
    add("--unshared", action="store_true",
        help="with --serve: ask for nothing, and tell of no progress")  # fmt: skip
    add("--schema", action="store_true", help="print the JSON Schema of units and words")
    return parser


def _do(options: argparse.Namespace) -> int:
    """Do one unit."""
    file = options.file
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    unit = records.read_unit(text, file if file != "-" else "unit")
    broke = False

    def say(event: records.WorkerEvent) -> None:
        nonlocal broke
        broke = broke or isinstance(event, records.HarnessFailed)
        sys.stdout.buffer.write(records.line(event))
        sys.stdout.buffer.flush()

    with signals.ending_on_signals(), closing(_worker(options)) as worker:
        ended = worker.do(unit, say)
    return ExitCode.FAULT if broke or ended.fault else ExitCode.OK


def _worker(options: argparse.Namespace) -> UnitWorker:
    if options.confined:
        from harness.archives import confined_reading

        confined_reading.confine()
    return UnitWorker(FileFinder(options.store), options.proven, options.room)
