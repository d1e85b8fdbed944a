"""Find out and test what a worker has for grading, then announce it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.assignments import needs
from harness.assignments.python import of_system
from harness.cluster.rules import Facts
from harness.environments import environment_cache, interpreters
from harness.environments.records import EnginePython, Interpreter, fingerprint
from harness.errors import SandboxError, UsageError
from harness.sandbox import levels
from harness.sandbox.levels import EscapeError
from oracle import __version__

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
