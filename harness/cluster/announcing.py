"""What a worker has for grading: looked for and tried, then announced."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence

from harness.assignments import needs
from harness.assignments.python import fingerprint, of_system
from harness.cluster.rules import Facts
from harness.environments import environment_cache, interpreters
from harness.environments.records import EnginePython
from harness.errors import SandboxError, UsageError
from harness.sandbox import levels
from harness.sandbox.levels import EscapeError
from oracle import __version__

LEVELS = ("3", "2", "1")
OFF = "off"
REFERENCE = 0.09  # seconds that the machine takes by which times are told
_ROUNDS = 5  # of the calibration, of which the quickest counts
_WORK = 1_000_000  # steps of a round; REFERENCE is how long they take


def facts(address: str, machine: str, pythons: Sequence[EnginePython], *, unsafe: bool) -> Facts:
    """Return what this machine has.

    ``unsafe``: engines may run without a sandbox, too.

    Raises:
        SandboxError: no level holds here, and ``unsafe`` is not said; or one does not hold.
    """
    proven = [*held(), *([OFF] if unsafe else [])]
    if not proven:
        raise SandboxError("no sandbox works on this machine; gtp-harness doctor tells why")
    tools = tuple(tool.name for tool in needs.tools(needs.PACKAGES) if tool.path)
    prints = tuple(dict.fromkeys(one.fingerprint for one in pythons))
    return Facts(address, machine, __version__, tuple(proven), tools, prints, pace())


def held() -> Iterator[str]:
    """Yield the sandbox levels that have just held here.

    Raises:
        EscapeError: one does not hold.
    """
    for level in LEVELS:
        try:
            levels.proven(int(level)).close()
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
            own = interpreters.asked(stored.program)
        except UsageError:
            continue
        found.append(EnginePython(own.program, own.described(), fingerprint(own)))
    try:
        return [of_system(), *found]
    except UsageError:
        return found


def pace() -> float:
    """Return how long this machine computes for what the reference machine does in a second."""
    return round(min(_round() for _ in range(_ROUNDS)) / REFERENCE, 4)


def _round() -> float:
    """Return the seconds of CPU time of one round: as engines are, most of it is Python."""
    begun = time.process_time()
    found, state = 0, hashlib.sha256()
    for number in range(_WORK):
        found = (found * 31 + number) & 0xFFFFFFFF
        if not number % 64:
            state.update(found.to_bytes(4))
    return time.process_time() - begun
