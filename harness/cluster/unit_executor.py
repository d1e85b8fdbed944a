"""A worker of a cluster: it runs units, and announces what it has for grading.

The process stays from one unit to the next. If it dies, what it has said is brought back all the
same, with the sentence that it died; the next unit gets another one. As soon as nobody waits for
the result of its unit, it is ended with its engines.
"""

from __future__ import annotations

import hashlib
import os
import select
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness import processes
from harness.assignments import needs
from harness.assignments.needs import of_system
from harness.cluster import state, worker_files
from harness.cluster.records import DaskTask, Facts, WorkerReport
from harness.cluster.worker_files import ByteConnection, Cache, EnvironmentStore, Memory, Source
from harness.environments import environment_cache, interpreters
from harness.environments.interpreters import (
    EnginePython,
    Interpreter,
    PackedEnvironment,
    fingerprint,
)
from harness.errors import HarnessError, SandboxError, UsageError
from harness.sandbox import levels
from harness.sandbox.levels import EscapeError
from harness.work import canonical_json, machine, records, unit_worker, worker_events
from harness.work.machine import Machine
from harness.work.records import WorkUnit
from harness.work.worker_events import UnitFinished
from oracle import __version__

_PATIENCE = 10.0  # seconds for a process to end
_LOOK = 1.0  # seconds between two looks whether a result is still waited for
_PIECE = 1 << 16  # bytes read at once


class Equipment(NamedTuple):
    """What a worker has."""

    facts: Facts
    pythons: tuple[EnginePython, ...]
    cache: Cache
    environments: EnvironmentStore
    machine: Machine | None  # None if nothing else ever runs engines here
    tls: ssl.SSLContext | None


class UnitExecutor:
    """Does one unit at a time; to be closed."""

    def __init__(self, equipment: Equipment) -> None:
        """Prepare; raises UsageError where there is no memory for case files."""
        self._own = equipment
        self._memory = Memory()
        self._connection: ByteConnection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._level = ""  # of its sandbox
        self._lock = threading.Lock()
        self._done_count, self._troubles, self._trouble = 0, 0, ""
        self._whose = ""  # the unit in hand
        self._is_wanted: Callable[[], bool] = lambda: True  # whether somebody waits for its result

    def close(self) -> None:
        """End the process, and remove what lies in memory."""
        if self._process:
            _end(self._process)
        if self._connection:
            self._connection.close()
        self._memory.close()
        self._own.cache.close()

    def figures(self, _worker: object = None) -> dict[str, object]:
        """Return what was done so far, for people."""
        return state.own_figures(self._done_count, self._troubles, self._trouble)

    def do(self, text: str, is_wanted: Callable[[], bool]) -> str:
        """Do a task; return the result. Both are JSON; nothing is raised.

        ``is_wanted``: whether somebody waits for the result. If not, the task is ended, and does
        not count.
        """
        with self._lock:
            self._is_wanted = is_wanted
            try:
                lines, trouble = (
                    tuple(self._run_task(records.read(DaskTask, text, "the task"))),
                    "",
                )
            except (HarnessError, OSError) as error:
                lines, trouble = (), str(error)
                self._own.cache.clear()
            finally:
                self._memory.clear()
        if is_wanted():
            self._count(trouble)
        return canonical_json.dumps(WorkerReport(self._own.facts.machine, lines, trouble))

    def _count(self, trouble: str) -> None:
        if trouble:
            self._troubles, self._trouble = self._troubles + 1, f"{self._whose}: {trouble}"
        else:
            self._done_count += 1

    def _run_task(self, task: DaskTask) -> Iterator[str]:
        unit = unit_worker.read(task.unit, "the unit")
        level = unit.environment.sandbox
        self._whose = f"{unit.assignment.name}: {unit.submission.key}"
        if level not in self._own.facts.levels:
            raise UsageError(f"the sandbox level {level} was not proven on this worker")
        with ExitStack() as held:
            source = Source(self._connect(task.bytes_at), task.token)
            self._fetch(unit, source)
            program = held.enter_context(self._python(unit, task.environment, source))
            held.enter_context(self._quiet(alone=unit.alone))
            yield from self._run_unit(self._localize(unit, program))

    def _connect(self, address: str) -> ByteConnection:
        """Return the connection to who gives out bytes: the last one, if it was for the same."""
        if self._connection and self._connection.address != address:
            self._connection.close()
            self._connection = None
        self._connection = self._connection or ByteConnection(address, self._own.tls)
        return self._connection

    def _fetch(self, unit: WorkUnit, source: Source) -> None:
        """Bring the bytes of a unit here; raises FetchError."""
        missing = self._own.cache.use(worker_files.of_disk(unit))
        source.fetch(missing + self._memory.places(worker_files.of_cases(unit)))
        self._own.cache.keep(missing)

    def _quiet(self, *, alone: bool) -> AbstractContextManager[object]:
        machine = self._own.machine
        if machine is None:
            return nullcontext()
        return machine.apart() if alone else machine.together()

    def _python(
        self, unit: WorkUnit, sent: PackedEnvironment | None, source: Source
    ) -> AbstractContextManager[str]:
        """Give the program of the Python that a unit needs, or "" if it needs none.

        Raises:
            UsageError: it is not here, and is not sent.
            FetchError: it cannot be had.
        """
        python = unit.environment.python
        here = {one.fingerprint: one.program for one in self._own.pythons}
        if python is None or python.fingerprint in here:
            return nullcontext(here[python.fingerprint] if python else "")
        if sent is None:
            raise UsageError(f"{python.described} is not on this worker")
        quiet = partial(self._quiet, alone=False)
        return self._own.environments.in_use(sent, source, quiet)

    def _localize(self, unit: WorkUnit, program: str) -> WorkUnit:
        """Return a unit as it is done on this machine; ``program``: its Python."""
        python = unit.environment.python
        hidden = (str(self._memory.folder), str(self._own.cache.folder))
        own = python and python._replace(program=program)
        environment = unit.environment._replace(python=own, hidden=hidden)
        return unit._replace(environment=environment, pace=self._own.facts.pace)

    def _run_unit(self, unit: WorkUnit) -> Iterator[str]:
        """Hand a unit to the process, and yield what it says to its end, or to the unit's."""
        process = self._process_for(unit.environment.sandbox)
        assert process.stdin
        try:
            process.stdin.write(canonical_json.dumps(unit).encode() + b"\n")
            process.stdin.flush()
            for line in _listen(process, self._is_wanted):
                yield line.decode()
                if worker_events.kind_of(line) is UnitFinished:
                    return
        except BrokenPipeError:
            pass
        self._process = None
        yield worker_events.line(UnitFinished(_describe_death(process))).decode().rstrip("\n")

    def _process_for(self, level: str) -> subprocess.Popen[bytes]:
        """Return the process for units of a level, started if it is not there."""
        if self._process and (self._process.poll() is not None or self._level != level):
            _end(self._process)
            self._process = None
        if self._process is None:
            self._level = level
            self._process = subprocess.Popen(
                machine.command("harness.work", *self._options(level)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,
            )
        return self._process

    def _options(self, level: str) -> list[str]:
        stores = (self._own.cache.in_use, self._memory.folder)
        options = [word for store in stores for word in ("--store", str(store))]
        options += ["--serve", "--unshared", "--room", str(self._memory.room)]
        return options + (["--proven", level, "--confined"] if level != "off" else [])


def _listen(process: subprocess.Popen[bytes], is_wanted: Callable[[], bool]) -> Iterator[bytes]:
    """Yield the lines that a process says, to its end; end it as soon as nobody wants them."""
    assert process.stdout
    begun = b""
    while is_wanted():
        if select.select([process.stdout], [], [], _LOOK)[0]:
            piece = os.read(process.stdout.fileno(), _PIECE)
            if not piece:
                return
            *lines, begun = (begun + piece).split(b"\n")
            yield from lines
    _end(process)


def _describe_death(process: subprocess.Popen[bytes]) -> str:
    return f"the harness's own process for this unit ended ({process.wait()})"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it has started."""
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --- Find out what a worker has for grading and how fast it computes, then announce it -----------


REFERENCE = 0.09  # seconds that the reference machine takes for a round
_ROUNDS = 7  # the quickest counts: the others were disturbed
_WORK = 1_000_000  # steps of a round
_MOST = 6  # times that all rounds are done on a machine that is busy with something else
_PAUSE = 0.5  # seconds between two of them
_QUIET = 0.1  # of a processor: others may use as much while it is measured
_OTHERS = (0, 1, 2, 5, 6, 7)  # of a line of /proc/stat: all but idle, and waiting for a disk


def pace() -> float:
    """Return how many seconds this machine computes for what the reference does in one.

    No engine should compute beside it. If something else does, it is measured again, a few times,
    and the quickest round counts. For a core beside a busy one is slower, and what was measured
    then would give each engine of this machine more time than on another.
    """
    found = []
    for _ in range(_MOST):
        begun, others = time.monotonic(), _others()
        found.append(min(_round() for _ in range(_ROUNDS)))
        if _others() - others < _QUIET * (time.monotonic() - begun):
            break
        time.sleep(_PAUSE)
    return round(min(found) / REFERENCE, 4)


def _others() -> float:
    """Return the seconds of CPU time of all other processes so far; 0 where nobody tells."""
    try:
        total = processes.read("/proc/stat").partition("\n")[0]
    except OSError:
        return 0.0
    ticks = [int(word) for word in total.split()[1:]]
    return sum(ticks[place] for place in _OTHERS) / os.sysconf("SC_CLK_TCK") - time.process_time()


def _round() -> float:
    """Return the seconds of CPU time of one round: as engines are, most of it is Python."""
    begun = time.process_time()
    found, state = 0, hashlib.sha256()
    for number in range(_WORK):
        found = (found * 31 + number) & 0xFFFFFFFF
        if not number % 64:
            state.update(found.to_bytes(4))
    return time.process_time() - begun


# --- Find out and test what a worker has for grading, then announce it ---------------------------


LEVELS = ("3", "2", "1")
OFF = "off"


def facts(
    machine: str,
    pythons: Sequence[EnginePython],
    bases: Sequence[Interpreter],
    pace: float,
    *,
    unsafe: bool,
) -> Facts:
    """Return what this machine has; its address is not known yet.

    ``bases``: Pythons for which it takes environments. ``pace``: how fast it computes.
    ``unsafe``: engines may run without a sandbox, too.

    Raises:
        SandboxError: no level holds here, and ``unsafe`` is not said; or one does not hold.
    """
    proven = [*find_working_levels(), *([OFF] if unsafe else [])]
    if not proven:
        raise SandboxError("no sandbox works on this machine; gtp-harness doctor tells why")
    tools = tuple(tool.name for tool in needs.tools(needs.PACKAGES) if tool.path)
    prints = tuple(dict.fromkeys(one.fingerprint for one in pythons))
    kinds = tuple(dict.fromkeys(one.base for one in bases))
    return Facts("", machine, __version__, tuple(proven), tools, prints, pace, kinds)


def find_working_levels() -> Iterator[str]:
    """Yield the sandbox levels that have just held here.

    Raises:
        EscapeError: one does not hold.
    """
    for level in LEVELS:
        try:
            levels.make_proven(int(level)).close()
        except EscapeError:
            raise
        except SandboxError:
            continue
        yield level


def pythons() -> list[EnginePython]:
    """Return the Pythons that engines may get here: the system's, and the environments built."""
    found = []
    for stored in environment_cache.all_of_them():
        try:
            own = interpreters.inspect_python(stored.program)
        except UsageError:
            continue
        found.append(EnginePython(own.program, own.describe(), fingerprint(own)))
    try:
        return [of_system(), *found]
    except UsageError:
        return found


def bases(store: Path) -> list[Interpreter]:
    """Return the Pythons with which environments work that were built on another machine.

    ``store``: the folder for these. As root, engines run as another user, who must get there.
    """
    if os.geteuid() != 0:
        return interpreters.of_all_versions()
    if not interpreters.is_open(str(store)):
        return []
    return [one for one in interpreters.of_all_versions() if interpreters.is_open(one.program)]
