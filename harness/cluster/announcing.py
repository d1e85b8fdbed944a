"""Find out what a worker has for grading and how fast it computes, then announce it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import processes
from harness.assignments import needs
from harness.assignments.needs import of_system
from harness.cluster.records import Facts
from harness.environments import environment_cache, interpreters
from harness.environments.records import EnginePython, Interpreter, fingerprint
from harness.errors import SandboxError, UsageError
from harness.sandbox import levels
from harness.sandbox.levels import EscapeError
from oracle import __version__

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
