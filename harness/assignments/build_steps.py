"""Making a submission ready to run: the adapter beside it, and the build steps, in the box.

The steps run in the same sandbox as engines, with limits of their own, and may write into the
submission's folder; afterwards nothing can. That they fail is the submission's fault, with the
compiler's words; that a compiler or the sandbox is missing is the harness's, an exception.
"""

import contextlib
import os
import re
import select
import shlex
import stat
from pathlib import Path

from harness.adapters import place
from harness.assignments import contents, needs
from harness.assignments.assignment import ADAPTER, Assignment, BuildSteps
from harness.assignments.workspace import beside_submission, workspace
from harness.core.errors import SandboxError, UsageError
from harness.core.options import GIB, BoxLimits
from harness.core.records import Build
from harness.core.text import some
from harness.engine.engine_clock import EngineClock
from harness.engine.launch import PlainLauncher, StartedEngine, describe_end
from harness.engine.replies import BothEnds
from harness.sandbox import levels, untrusted_folders, view
from harness.sandbox.launcher import Boxed, BoxLauncher
from oracle.sentences import listing

# The streams of a step in one, as at a terminal.
_TURN = 'exec "$0" "$@" 2>&1'
_DISK = GIB  # all that the steps may leave, or use meanwhile
_GRACE = 1.0  # seconds in which what a step has written may be read after the deadline
_LONGEST = 40  # characters of a step in a sentence
_ERROR = re.compile(r"^.*\b(?:error|Error)\b.*$", re.MULTILINE)


def build(assignment: Assignment, stage: Path, sandbox: str = "auto") -> Build | None:
    """Put the adapter beside the submission in ``stage``, and run the build steps.

    ``sandbox``: ``auto`` for the strongest that works, if one does; ``3``, ``2``, ``1``; ``off``.
    Returns the result, None if there is nothing to be built.

    Raises:
        SandboxError: the sandbox failed, or holds nothing.
        UsageError: a program that a step needs is not installed.
    """
    if assignment.adapter:
        place(assignment.adapter, stage / ADAPTER)
    if assignment.build is None:
        return None
    place_of_steps = contextlib.closing(_BuildPlace(assignment.build, sandbox))
    with place_of_steps as room, workspace() as scratch:
        folder = stage / assignment.archive.folder
        room.give(folder)
        room.give(scratch)
        built = _steps(assignment, stage, scratch, room)
        _open_to_all(folder)
    return built


def _steps(assignment: Assignment, stage: Path, scratch: Path, room: "_BuildPlace") -> Build:
    limits, folder = assignment.build, stage / assignment.archive.folder
    assert limits is not None
    if limits.files and not any((folder / name).is_file() for name in limits.files):
        there = sorted(_files(folder))
        near = [found for name in limits.files if (found := contents.nearest(name, there))]
        found = some(dict.fromkeys(near) or there, contents.MOST)
        what = f"there is no {listing(limits.files, 'or')} in {folder.name}"
        return Build(False, "", f"{what}, which says how to build it; found {found}")
    output = ""
    for step in limits.steps:
        words = assignment.fill_in(step, stage)
        words[0] = view.find(words[0], str(folder), str(folder))
        written, trouble = _run(room, words, folder, scratch, limits)
        # A record of ours has no NUL in it, whatever a submission writes.
        output += written.replace(f"{stage}/", "").replace("\0", r"\x00")
        if trouble and (tools := needs.missing_programs(assignment, step, written)):
            raise UsageError(f"the build step {_shorten(step)} needs {needs.absent(tools)}")
        if trouble:
            first = _ERROR.search(output)  # what a compiler calls an error
            why = f"{trouble}: {first[0].strip()}" if first else trouble
            return Build(False, output, f"the build step {_shorten(step)} {why}")
    made = (contents.matches(name, one) for name in _files(folder) for one in limits.makes)
    if limits.makes and not any(made):
        return Build(False, output, f"the build made no {' or '.join(limits.makes)}")
    return Build(True, output)


def _shorten(step: tuple[str, ...]) -> str:
    text = step[2] if step[:2] == ("sh", "-c") and len(step) == 3 else shlex.join(step)
    return f"'{text}'" if len(text) <= _LONGEST else f"'{text[:_LONGEST]}…'"


def _files(folder: Path) -> list[str]:
    """Return the names of the files that are there."""
    return [entry.path for entry in untrusted_folders.walk(str(folder)) if _is_file(entry)]


def _is_file(entry: untrusted_folders.TreeEntry) -> bool:
    """Whether it is a regular file, and not a link to one: the steps may have left anything."""
    return stat.S_ISREG(entry.status.st_mode)


def _open_to_all(folder: Path) -> None:
    """Let the user that the engine will be read and execute whatever the steps left.

    At level 1 a step's ``chmod`` does nothing, so programs cannot be told from other files; and
    a mark must not depend on the level. What has several names stays as it is: it may also be
    something else.
    """
    for entry in untrusted_folders.walk(str(folder)):
        if stat.S_ISDIR(entry.status.st_mode) or (_is_file(entry) and entry.status.st_nlink == 1):
            os.chmod(entry.name, 0o755, dir_fd=entry.descriptor)


# --- one step ----------------------------------------------------------------------------------


def _run(
    room: "_BuildPlace", words: list[str], folder: Path, scratch: Path, limits: BuildSteps
) -> tuple[str, str]:
    """Run one step; return what it wrote, and why it failed, if it did."""
    engine = room.start(["/bin/sh", "-c", _TURN, *words], folder, scratch)
    written = BothEnds(limits.output)
    try:
        in_time = _listen(engine, written, limits.time)
        broken = engine.find_end_cause()  # asked before it is ended by us
        status = engine.status()
    finally:
        room.end(engine)
    if not in_time:
        return written.text(), f"did not end within {limits.time:g} s"
    if broken:
        return written.text(), broken.message
    return written.text(), "" if status == 0 else describe_end(status or 0)


def _listen(engine: StartedEngine, output: BothEnds, seconds: float) -> bool:
    """Take in what a step writes until it has ended; return False if its time was over before."""
    assert engine.stdin
    assert engine.stdout
    engine.stdin.close()
    clock = EngineClock(engine.processes)
    deadline = clock.now() + seconds
    clock.wait_until(deadline)
    ended = engine.exit_descriptor()
    open_ = {engine.stdout.fileno(), ended}
    poll = select.poll()
    for descriptor in open_:
        poll.register(descriptor, select.POLLIN)
    try:
        while open_:
            if clock.is_over() and (ended in open_ or clock.now() > deadline + _GRACE):
                return False
            for descriptor, _ in clock.sleep(poll):
                piece = b"" if descriptor == ended else os.read(descriptor, 1 << 16)
                output.add(piece)
                if not piece:
                    poll.unregister(descriptor)
                    open_.remove(descriptor)
    finally:
        os.close(ended)
    return True


# --- with a sandbox or without ------------------------------------------------------------------


class _BuildPlace:
    """Runner of steps: in boxes, or as they are, with ``auto`` where no sandbox works."""

    def __init__(self, limits: BuildSteps, sandbox: str) -> None:
        self._launcher: PlainLauncher | BoxLauncher
        if sandbox == "off":
            self._launcher = PlainLauncher()
            return
        allowed = BoxLimits(
            memory=limits.memory,
            address_space=max(4 * GIB, 2 * limits.memory),
            cpu=0.0,
            scratch=_DISK,
            file_size=_DISK,
        )
        try:
            self._launcher = levels.choose(sandbox, allowed)
        except levels.EscapeError:
            raise
        except SandboxError:
            if sandbox != "auto":
                raise
            self._launcher = PlainLauncher()

    def give(self, folder: Path) -> None:
        """Let steps write into a folder."""
        if isinstance(self._launcher, BoxLauncher):
            self._launcher.give(folder)

    def start(self, words: list[str], folder: Path, scratch: Path) -> StartedEngine:
        """Start a step."""
        if isinstance(self._launcher, PlainLauncher):
            return self._launcher.start(words, str(folder))
        beside = beside_submission(folder)
        seen = view.of_program(words, str(folder), beside, view.own_folders(), str(folder))
        writable = (str(folder), str(scratch))
        return self._launcher.start(seen._replace(writable=writable, copied=()), words)

    def end(self, engine: StartedEngine) -> None:
        """End a step, with all that it started."""
        if isinstance(self._launcher, PlainLauncher):
            self._launcher.end(engine)  # type: ignore[arg-type]
            return
        assert isinstance(engine, Boxed)
        if unstarted := engine.close().unstarted:
            raise SandboxError(f"a build step could not be executed ({unstarted})")

    def close(self) -> None:
        """Start no more."""
        if isinstance(self._launcher, BoxLauncher):
            self._launcher.close()
