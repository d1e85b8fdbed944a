"""A worker of a cluster runs units of work, one at a time.

Each unit goes through the same steps: fetch the bytes that it names, have the Python that it
needs, wait until the machine is free for it, hand it to a process of :mod:`harness.work`, and
collect what that says. The process stays for the next unit. If it dies, what it has said is
brought back all the same, with the sentence that it died. As soon as nobody waits for the result
of a unit, the process is ended with its engines.
"""

import os
import select
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext

from harness.cluster import state, worker_files
from harness.cluster.records import DaskTask, Facts, WorkerReport
from harness.cluster.transfer import ByteConnection, Source
from harness.core.errors import HarnessError, UsageError
from harness.environments.interpreters import EnginePython, PackedEnvironment
from harness.work import canonical_json, crew, records
from harness.work.machine import Machine

_PATIENCE = 10.0  # seconds for a process to end
_LOOK = 1.0  # seconds between two looks whether a result is still waited for
_PIECE = 1 << 16  # bytes read at once

IsWanted = Callable[[], bool]  # whether somebody waits for a result


class UnitExecutor:
    """Does one unit at a time; to be closed."""

    def __init__(  # noqa: PLR0913, PLR0917 - all that a worker has
        self,
        facts: Facts,
        pythons: Sequence[EnginePython],
        cache: worker_files.Cache,
        environments: worker_files.EnvironmentStore,
        machine: Machine,
        tls: ssl.SSLContext | None,
    ) -> None:
        """Prepare; raises UsageError where there is no memory for case files."""
        self._facts = facts
        self._pythons = pythons
        self._cache = cache
        self._environments = environments
        self._machine = machine
        self._tls = tls
        self._memory = worker_files.Memory()
        self._connection: ByteConnection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._level = ""  # of its sandbox
        self._lock = threading.Lock()
        self._done, self._troubles, self._trouble = 0, 0, ""

    def close(self) -> None:
        """End the process, and remove what lies in memory."""
        if self._process:
            _end(self._process)
        if self._connection:
            self._connection.close()
        self._memory.close()
        self._cache.close()

    def figures(self, _worker: object = None) -> dict[str, object]:
        """Return what was done so far, for people."""
        return state.own_figures(self._done, self._troubles, self._trouble)

    def do(self, text: str, is_wanted: IsWanted) -> str:
        """Do a task; return the report. Both are JSON; nothing is raised.

        A task whose result nobody waits for any more is ended, and does not count.
        """
        whose = trouble = ""
        lines: tuple[str, ...] = ()
        with self._lock:
            try:
                task = canonical_json.read(DaskTask, text, "the task")
                unit = records.read_unit(task.unit, "the unit")
                whose = f"{unit.assignment.name}: {unit.submission.key}: "
                lines = tuple(self._run_task(task, unit, is_wanted))
            except (HarnessError, OSError) as error:
                trouble = str(error)
                self._cache.clear()
            finally:
                self._memory.clear()
        if is_wanted():
            if trouble:
                self._troubles, self._trouble = self._troubles + 1, f"{whose}{trouble}"
            else:
                self._done += 1
        return canonical_json.dumps(WorkerReport(self._facts.machine, lines, trouble))

    def _run_task(
        self, task: DaskTask, unit: records.WorkUnit, is_wanted: IsWanted
    ) -> Iterator[str]:
        level, python = unit.environment.sandbox, unit.environment.python
        if level not in self._facts.levels:
            raise UsageError(f"the sandbox level {level} was not proven on this worker")
        with ExitStack() as held:
            source = Source(self._connect(task.bytes_at), task.token)
            missing = self._cache.use(worker_files.of_disk(unit))
            source.fetch(missing + self._memory.places(worker_files.of_cases(unit)))
            self._cache.keep(missing)
            program = held.enter_context(self._python(python, task.environment, source))
            held.enter_context(self._machine.apart() if unit.alone else self._machine.together())
            # The unit as it is done here: what engines may not see, their Python, the pace.
            environment = unit.environment._replace(
                python=python and python._replace(program=program),
                hidden=(str(self._memory.folder), str(self._cache.folder)),
            )
            here = unit._replace(environment=environment, pace=self._facts.pace)
            yield from self._run_unit(here, is_wanted)

    def _connect(self, address: str) -> ByteConnection:
        """Return the connection to who gives out bytes: the last one, if it was for the same."""
        if self._connection and self._connection.address != address:
            self._connection.close()
            self._connection = None
        self._connection = self._connection or ByteConnection(address, self._tls)
        return self._connection

    def _python(
        self, python: EnginePython | None, environment: PackedEnvironment | None, source: Source
    ) -> AbstractContextManager[str]:
        """Give the program of the Python that a unit needs, or "" if it needs none.

        Raises:
            UsageError: it is not here, and is not sent.
            FetchError: it cannot be had.
        """
        here = {one.fingerprint: one.program for one in self._pythons}
        if python is None or python.fingerprint in here:
            return nullcontext(here[python.fingerprint] if python else "")
        if environment is None:
            raise UsageError(f"{python.described} is not on this worker")
        return self._environments.in_use(environment, source, self._machine.together)

    def _run_unit(self, unit: records.WorkUnit, is_wanted: IsWanted) -> Iterator[str]:
        """Hand a unit to the process, and yield what it says to its end, or to the unit's."""
        process = self._process_for(unit.environment.sandbox)
        assert process.stdin
        try:
            process.stdin.write(canonical_json.dumps(unit).encode() + b"\n")
            process.stdin.flush()
            for line in _listen(process, is_wanted):
                yield line.decode()
                if records.kind_of(line) is records.UnitFinished:
                    return
        except BrokenPipeError:
            pass
        self._process = None
        death = f"the harness's own process for this unit ended ({process.wait()})"
        yield records.line(records.UnitFinished(death)).decode().rstrip("\n")

    def _process_for(self, level: str) -> subprocess.Popen[bytes]:
        if self._process and (self._process.poll() is not None or self._level != level):
            _end(self._process)
            self._process = None
        if self._process is None:
            self._level = level
            stores = (self._cache.in_use, self._memory.folder)
            words = [word for store in stores for word in ("--store", str(store))]
            words += ["--serve", "--unshared", "--room", str(self._memory.room)]
            words += ["--proven", level, "--confined"] if level != "off" else []
            self._process = subprocess.Popen(
                crew.command("harness.work.unit_worker", *words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,
            )
        return self._process


def _listen(process: subprocess.Popen[bytes], is_wanted: IsWanted) -> Iterator[bytes]:
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it has started."""
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
