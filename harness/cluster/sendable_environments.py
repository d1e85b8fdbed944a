"""Environments of this machine, packed so that they can be sent to workers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.environments import environment_cache
from harness.environments.environment_archive import UnsendableError
from harness.environments.records import EnginePython, PackedEnvironment


class SendableEnvironment(NamedTuple):
    """An environment of this machine, and the path of its archive."""

    packed: PackedEnvironment
    archive: Path


def sendable(python: EnginePython) -> SendableEnvironment | None:
    """Return the environment of a Python with its archive; None: ``gtp-harness env`` made none.

    Raises:
        UnsendableError: it cannot be moved to another machine.
        UsageError: its archive cannot be written.
    """
    stored = environment_cache.of_program(python.program)
    if stored is None:
        return None
    found = SendableEnvironment(*environment_cache.pack(stored))
    if found.packed.fingerprint != python.fingerprint:
        raise UnsendableError("it was changed since the grading began")
    return found
