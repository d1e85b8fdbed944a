"""Engines in boxes, for the harness: start one, talk to it on three pipes, end it, know why.

A :class:`BoxLauncher` keeps one box server (:mod:`harness.sandbox.server`) and runs one engine at
a time; harness processes that work in parallel each have their own.
"""

import contextlib
import os
import random
import select
import shutil
import socket
import subprocess
from collections.abc import Iterable, Mapping
from io import FileIO
from pathlib import Path

from harness.core import processes
from harness.core.errors import EngineError, SandboxError
from harness.core.options import BoxLimits
from harness.core.records import Failure, FailureKind
from harness.core.signals import block_interrupts
from harness.engine.launch import NOTHING_MORE
from harness.sandbox import bubblewrap, cgroup, landlock, plan, seccomp, untrusted_folders, view
from harness.sandbox.plan import BoxEnd, LaunchPlan, MountKind, Watched, WritableSpace
from harness.sandbox.relocating import bring_files, relocate

_LONGEST_REPORT = 1 << 16
_LONGEST_PLAN = 1 << 17
_MEANWHILE = 128  # threads that a user may start beside an engine that shares the count
_OF_BUBBLEWRAP = 1  # process that is counted with the engine's own
_UMASK = 0o022  # of engines, and of what is made for them, whatever ours is
# Users nobody is: far beyond all that are given out, or systemd's own range for such users where
# a container maps no others.
_NOBODIES = (range(0x7F00_0000, 0x7FFF_0000), range(61184, 65520))
# No garbage is looked for while modules are loaded, nor later in what was loaded: it stays.
_TURN = (
    "import gc, sys; gc.disable(); sys.path.insert(0, sys.argv.pop(1));"
    " from harness.sandbox.server import main;"
    " gc.freeze(); gc.enable(); main(int(sys.argv[1]), sys.argv[2:])"
)


_KINDS = {
    "time": FailureKind.CPU,
    "memory": FailureKind.MEMORY,
    "processes": FailureKind.PROCESSES,
    "disk": FailureKind.DISK,
}


class Boxed:
    """A program in a box: a :class:`~harness.engine.launch.StartedEngine`.

    ``stdin``, ``stdout`` and ``stderr`` are our ends of its pipes. ``server``: the process id of
    the box server, under which all of the engine's are. ``spent``: seconds of CPU time that others
    have used of its limit. ``ground``: a folder to be removed at the end; "": none.
    """

    def __init__(
        self,
        control: socket.socket,
        streams: tuple[FileIO, FileIO, FileIO],
        server: int,
        spent: float,
        ground: str,
    ) -> None:
        self.server = server
        self._spent = spent
        self.stdin, self.stdout, self.stderr = streams
        self._control = control
        self._ground = ground
        self._end: BoxEnd | None = None
        self._fault: SandboxError | None = None  # in place of an end

    def fileno(self) -> int:
        """Return a descriptor that is ready to be read when the engine has ended."""
        return self._control.fileno()

    def wait(self, seconds: float | None = None) -> BoxEnd | None:
        """Return how the engine ended; None if it still runs after ``seconds`` (None: for ever).

        Raises:
            SandboxError: the box could not be made, so that the engine never ran.
        """
        if self._end is None and self._fault is None and _is_ready(self._control, seconds):
            with block_interrupts():  # the server says it once
                try:
                    self._end = self._take_report()
                except SandboxError as error:
                    self._fault = error
            if self._ground:
                untrusted_folders.remove(self._ground)
        if self._fault is not None:
            raise self._fault
        return self._end

    def status(self) -> int | None:
        """Return how it ended, as ``Popen.returncode``; None while it runs, or if it was ended."""
        end = self.wait(0)
        return end.status if end else None

    def processes(self) -> list[int]:
        """Return the ids of the processes of its box."""
        return processes.descendants(self.server)

    def exit_descriptor(self) -> int:
        """Return a new descriptor that can be read once it has ended."""
        return os.dup(self._control.fileno())

    def find_end_cause(self) -> EngineError | None:
        """Return the limit that it went over, or why it could not be started in the box."""
        end = self.wait(0)
        if end is None or not (end.hit or end.unstarted):
            return None
        if limit := end.hit:
            if limit.name == "time" and limit.used is not None:  # others have used a share
                used, allowed = limit.used + self._spent, limit.allowed + self._spent
                limit = limit._replace(used=used, allowed=allowed)
            return EngineError(Failure(_KINDS[limit.name], "went over its ", limit=limit))
        message = f"could not be executed in the sandbox ({end.unstarted.lower()})"
        return EngineError(Failure(FailureKind.NOT_STARTED, message))

    def _take_report(self) -> BoxEnd:
        message = b""
        with contextlib.suppress(OSError):  # of one who closed the launcher, too
            message = self._control.recv(_LONGEST_REPORT)
        if not message:
            raise SandboxError("the box server died")
        end, fault = plan.unpack_report(message)
        if fault:
            # What bubblewrap has said on the engine's standard error.
            os.set_blocking(self.stderr.fileno(), False)
            said = (self.stderr.read(1 << 12) or b"").decode(errors="replace").strip()
            complaint = f": {said.splitlines()[-1]}" if said else ""
            raise SandboxError(f"the sandbox failed: {fault}{complaint}")
        return end

    def end(self) -> BoxEnd:
        """End the engine and all it started; return when they are gone. The pipes stay."""
        if self.wait(0) is None:
            with contextlib.suppress(OSError):  # wait() will tell
                self._control.send(b"end")
        end = self.wait()
        assert end is not None
        return end

    def close(self) -> BoxEnd:
        """End the engine and close the pipes."""
        try:
            return self.end()
        finally:
            for stream in (self.stdin, self.stdout, self.stderr):
                stream.close()


class BoxLauncher:
    """Starts engines at one level of sandbox, one at a time. Close it when done."""

    def __init__(self, level: int, limits: BoxLimits = BoxLimits()) -> None:  # noqa: B008
        self.level = level
        self.limits = limits
        if landlock.machine() not in seccomp.AUDIT_ARCH:
            raise SandboxError(f"there is no system call filter for {landlock.machine()} machines")
        self._identity = nobody() if os.geteuid() == 0 else 0
        self._landlock = landlock.abi()
        self._bubblewrap = shutil.which("bwrap") or ""
        if level == 3 and not self._bubblewrap:
            raise SandboxError("level 3 needs bubblewrap, which is not installed")
        if level == 1 and not self._landlock:
            raise SandboxError("level 1 needs Landlock, which this kernel does not offer")
        self.closed = False
        self._control, self._server = _start_server()

    def start(
        self,
        engine_view: view.View,
        words: Iterable[str],
        cpu_seconds: float = 0.0,
        variables: Mapping[str, str] = NOTHING_MORE,
    ) -> Boxed:
        """Start ``engine_view.program`` with the arguments ``words[1:]`` in a box.

        ``cpu_seconds``: those of its CPU time that are used up already. ``variables``: in addition
        to those that every engine has.

        Returns at once: that the box could not be made, or the program not be executed, shows in
        :meth:`Boxed.wait`.
        """
        if self._identity:
            _refuse_unreadable(engine_view, self.level)
        # What is too large to be copied for each start stays as it is, and cannot be changed.
        sizes = {path: untrusted_folders.measure(path) for path in engine_view.copied}
        made = {path: size for path, size in sizes.items() if size is not None}
        own = untrusted_folders.Size(*map(sum, zip(*made.values(), strict=True)))
        engine_view = engine_view._replace(copied=tuple(made))
        ground, words = "", tuple(words)
        if self.level == 1 and not engine_view.writable:
            ground, engine_view, words = relocate(engine_view, words, self._identity)
        try:
            streams = self._send(self._plan(engine_view, words, own, cpu_seconds, variables))
        except BaseException:
            if ground:
                untrusted_folders.remove(ground)
            raise
        return Boxed(self._control, streams, self._server.pid, cpu_seconds, ground)

    def _send(self, request: LaunchPlan) -> tuple[FileIO, FileIO, FileIO]:
        """Have the server start an engine; return our ends of its pipes."""
        message = plan.pack_plan(request)
        if len(message) > _LONGEST_PLAN:
            raise SandboxError(f"the engine's command is too long: {len(message):,} bytes")
        pipes = (os.pipe() for _ in range(3))
        (stdin, our_stdin), (our_stdout, stdout), (our_stderr, stderr) = pipes
        theirs = [stdin, stdout, stderr]
        ours = FileIO(our_stdin, "w"), FileIO(our_stdout, "r"), FileIO(our_stderr, "r")
        try:
            try:
                socket.send_fds(self._control, [message], theirs)
            except (BrokenPipeError, ConnectionResetError):
                if self.closed:  # by another thread, just now
                    raise
                # Replace a server that has died: else all that this process ran from now on fails.
                self._end_server()
                self._control, self._server = _start_server()
                socket.send_fds(self._control, [message], theirs)
        except OSError as error:
            raise SandboxError(f"the box server is gone: {error}") from None
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return ours

    def _plan(
        self,
        engine_view: view.View,
        words: tuple[str, ...],
        copies: untrusted_folders.Size,
        cpu_seconds: float,
        variables: Mapping[str, str],
    ) -> LaunchPlan:
        """Return all that the server has to know of one engine; ``copies``: what is copied."""
        command = (engine_view.program, *words[1:])
        tree = view.mounts(engine_view) if self.level > 1 else ()
        environment = view.environment(self.level, engine_view.writable) | dict(variables)
        allowed = self.limits.after(cpu_seconds)
        threads = _most_threads(allowed.threads, self.level, self._identity)
        disk = allowed.scratch, allowed.scratch_files
        room = WritableSpace(*disk, copies, self._identity)
        options = b""
        if self.level == 3:
            options = bubblewrap.options(tree, room, engine_view.folder, environment)
            command = bubblewrap.connect_command(self._identity, command)
        return LaunchPlan(
            level=self.level,
            arguments=command,
            folder=engine_view.folder,
            environment=environment,
            identity=self._identity,
            mounts=tree if self.level == 2 else tuple(m for m in tree if m.kind == MountKind.COPY),
            reach=view.reach(engine_view, self.level) if self.level < 3 else (),
            landlock=self._landlock,
            bubblewrap=self._bubblewrap,
            options=options,
            rlimits=tuple(plan.rlimits(allowed, threads)),
            threads=threads,
            watched=Watched(allowed.memory, allowed.cpu, allowed.processes, *disk),
            scratch=view.scratch_places(engine_view) if self.level >= 2 else (),
            writable=tuple(map(os.path.realpath, engine_view.writable)),
            own=copies,
        )

    def give(self, folder: Path) -> None:
        """Give a folder and all in it to the user that engines are, to be ``View.writable``."""
        if self._identity:
            untrusted_folders.give(str(folder), self._identity)

    def refuse_shut(self, paths: Iterable[str]) -> None:
        """Say what to do if engines may not read files that commands name by whole paths.

        Raises:
            SandboxError: as root; the files must be open to all, at level 1 the folders above too.
        """
        for path in paths if self._identity else ():
            _refuse_shut(path, self.level)

    def close(self) -> None:
        """End the server, and with it whatever it still runs."""
        self.closed = True
        self._end_server()

    def _end_server(self) -> None:
        with contextlib.suppress(OSError):  # it has died before
            self._control.shutdown(socket.SHUT_RDWR)  # others may hold a copy of it
        self._control.close()
        self._server.wait()


def nobody() -> int:
    """Return the ID of a user that owns nothing and runs nothing else, for engines of root.

    0 if root is the only user, in a user namespace that an ordinary user has made: outside, such
    a root is that user.

    Raises:
        SandboxError: other users exist, but we could take none of them.
    """
    with open("/proc/self/uid_map", encoding="ascii") as file:
        mapped = [tuple(map(int, line.split())) for line in file]
    if sum(count for *_, count in mapped) == 1:
        return 0
    for numbers in _NOBODIES:
        chosen = random.SystemRandom().choice(numbers)
        if any(first <= chosen < first + count for first, _, count in mapped):
            return chosen
    raise SandboxError("no user id is left for engines in this container")


def _refuse_unreadable(engine_view: view.View, level: int) -> None:
    """Raise SandboxError if a user without rights may not read what an engine of root needs.

    With namespaces, a shown path must be open to all; without, those above too.
    """
    program, copied_folders = engine_view.program, engine_view.copied
    programs = [] if view.is_in_one(program, copied_folders) else [program]
    copied = bring_files(engine_view) if level == 1 and not engine_view.writable else ()
    for path in (*engine_view.shown, *programs):
        if path not in copied:
            _refuse_shut(path, level)


def _refuse_shut(path: str, level: int) -> None:
    above = Path(path).parents if level == 1 else ()  # the nearest one first
    shut = [str(parent) for parent in above if not parent.stat().st_mode & 0o001]
    if not os.stat(path).st_mode & 0o004:
        shut.append(path)
    if shut:
        raise SandboxError(
            "engines of root are run as a user without rights, who may not read"
            f" {shut[-1]} (chmod -R o+rX would allow it)"
        )


def _most_threads(limit: int, level: int, identity: int) -> int:
    """Return RLIMIT_NPROC for an engine that is started now.

    Without a user of its own or a user namespace, all processes of ours count, and those that we
    start while the engine runs: a browser, the engines beside it. They must not stop an engine.
    """
    if not limit:
        return 0
    if level == 3:
        return max(_OF_BUBBLEWRAP + 1, limit)
    if identity or level == 2:
        return limit
    threads, user = 0, os.getuid()
    for path in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if path.name.isdigit() and path.stat().st_uid == user:
                threads += len(os.listdir(path / "task"))
    return limit + _MEANWHILE + threads


def _start_server() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    return processes.start_server(_TURN, *cgroup.usable_parents(), umask=_UMASK)


def _is_ready(control: socket.socket, seconds: float | None) -> bool:
    """Whether there is a report, or never will be: the launcher has been closed meanwhile."""
    if control.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(control, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
