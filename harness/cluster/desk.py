"""What a worker of a cluster does units with: a process of :mod:`harness.work`, and the bytes.

The process stays from one unit to the next. If it dies, what it has said is brought back all the
same, with the sentence that it died; the next unit gets another one.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

from harness.cluster import fetching
from harness.cluster.fetching import Cache, Memory, Source
from harness.cluster.records import Brought, Errand
from harness.cluster.rules import Facts
from harness.environments.records import EnginePython
from harness.errors import HarnessError, UsageError
from harness.work import canonical_json, plain_values, worker_events
from harness.work.machine import Machine
from harness.work.records import WorkUnit
from harness.work.unit_worker import answer
from harness.work.worker_events import Claim, EngineHung, Granted, UnitFinished

_ROOM = Path(__file__).resolve().parents[2]
# Not "-m": there may be another harness where we are.
_TURN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1));"
    " from harness.work.__main__ import main; sys.exit(main(sys.argv[1:]))"
)
_PATIENCE = 10.0  # seconds for a process to end


class Equipment(NamedTuple):
    """What a worker has."""

    facts: Facts
    pythons: tuple[EnginePython, ...]
    cache: Cache
    machine: Machine | None  # None: nothing else runs engines here, ever
    tls: ssl.SSLContext | None


class Desk:
    """Does one unit at a time; to be closed."""

    def __init__(self, equipment: Equipment) -> None:
        """Prepare; raises UsageError where there is no memory for case files."""
        self._own = equipment
        self._memory = Memory()
        self._process: subprocess.Popen[bytes] | None = None
        self._level = ""  # of its sandbox
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the process, and remove what lies in memory."""
        if self._process:
            _end(self._process)
        self._memory.close()

    def do(self, text: str) -> str:
        """Do an errand; return the result. Both are JSON; nothing is raised."""
        with self._lock:
            try:
                lines, trouble = (
                    tuple(self._done(plain_values.read(Errand, text, "the errand"))),
                    "",
                )
            except (HarnessError, OSError) as error:
                lines, trouble = (), str(error)
            finally:
                self._memory.clear()
        return canonical_json.dumps(Brought(self._own.facts.machine, lines, trouble))

    def _done(self, errand: Errand) -> Iterator[str]:
        unit = self._at_home(errand.unit)
        source = Source(errand.bytes_at, errand.token, self._own.tls)
        source.begin()
        self._own.cache.bring(fetching.of_disk(unit), source)
        self._memory.bring(fetching.of_cases(unit), source)
        with self._quiet(unit):
            yield from self._said(unit)

    def _quiet(self, unit: WorkUnit) -> AbstractContextManager[object]:
        machine = self._own.machine
        if machine is None:
            return nullcontext()
        return machine.apart() if unit.alone else machine.together()

    def _at_home(self, unit: WorkUnit) -> WorkUnit:
        """Return a unit as it is done on this machine.

        Raises:
            UsageError: what it needs is not here.
        """
        python, level = unit.environment.python, unit.environment.sandbox
        if level not in self._own.facts.levels:
            raise UsageError(f"the sandbox level {level} was not proven on this worker")
        hidden = (str(self._memory.folder), str(self._own.cache.folder))
        here = {one.fingerprint: one.program for one in self._own.pythons}
        if python and python.fingerprint not in here:
            raise UsageError(f"{python.described} is not on this worker")
        own = python and python._replace(program=here[python.fingerprint])
        environment = unit.environment._replace(python=own, hidden=hidden)
        return unit._replace(environment=environment)

    def _said(self, unit: WorkUnit) -> Iterator[str]:
        """Hand a unit to the process, and yield what it says to its end, or to the unit's."""
        process = self._hired(unit.environment.sandbox)
        assert process.stdin
        assert process.stdout
        hangs = 0
        try:
            _tell(process, canonical_json.dumps(unit).encode() + b"\n")
            for line in process.stdout:
                word = worker_events.read(line)
                if isinstance(word, Claim):
                    _tell(process, answer(Granted(granted=True, hangs=hangs)))
                    continue
                hangs += isinstance(word, EngineHung)
                yield line.decode().rstrip("\n")
                if isinstance(word, UnitFinished):
                    return
        except BrokenPipeError:
            pass
        self._process = None
        yield worker_events.line(UnitFinished(_died(process))).decode().rstrip("\n")

    def _hired(self, level: str) -> subprocess.Popen[bytes]:
        """Return the process for units of a level, started if it is not there."""
        if self._process and (self._process.poll() is not None or self._level != level):
            _end(self._process)
            self._process = None
        if self._process is None:
            self._level = level
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _TURN, str(_ROOM), "--serve", *self._options(level)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,
            )
        return self._process

    def _options(self, level: str) -> list[str]:
        stores = (self._own.cache.folder, self._memory.folder)
        options = [word for store in stores for word in ("--store", str(store))]
        options += ["--room", str(self._memory.room)]
        return options + (["--proven", level] if level != "off" else [])


def _tell(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin
    process.stdin.write(line)
    process.stdin.flush()


def _died(process: subprocess.Popen[bytes]) -> str:
    return f"the harness's own process for this unit ended ({process.wait()})"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it has started."""
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
