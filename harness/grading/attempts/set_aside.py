"""The machines that are no longer believed, by the names that they keep when they restart.

All workers of a machine are set aside together, because a bad disk, memory or owner is bad for all
of them. A file keeps the names for other processes and later gradings, until a person removes a
line. Earlier results of the machine count for no mark: the next run of the grading withdraws them,
and runs the attempts again elsewhere.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.ledger.ledger import Ledger
from harness.work import canonical_json
from harness.work.canonical_json import Measurements


def ran_on(figures: Iterable[str]) -> set[str]:
    """Return the machines of a cluster that gave results; ``figures``: of these."""
    return {canonical_json.loads(Measurements, one).machine for one in figures} - {""}


def withdraw(ledger: Ledger, bases: Iterable[str], book: SetAside) -> list[str]:
    """Withdraw attempts in which such a machine has a part, to be rerun; return them."""
    found = book.find_distrusted(ledger, bases)
    why = ", ".join(sorted(set(found.values())))
    return ledger.withdraw(found, f"set aside: {why}") if found else []


class DistrustedMachine(NamedTuple):
    """A machine that was set aside."""

    name: str
    at: float  # seconds since 1970


class SetAside:
    """The machines that were set aside."""

    def __init__(self, path: Path | None = None) -> None:
        """``path``: a file with a line of JSON for each machine; None to keep nothing."""
        self._path = path
        self._own: set[str] = set()
        self._stamp: tuple[int, ...] = ()  # of the file when it was read last
        self._kept: list[DistrustedMachine] = []

    def machines(self) -> frozenset[str]:
        """Return the names of all of them now; other processes may have added some.

        Raises:
            UsageError: the file cannot be read as one of ours.
        """
        return frozenset(self._own | {one.name for one in self.read_kept()})

    def add(self, machine: str, why: str) -> None:
        """Set a machine aside.

        Raises:
            OSError: that cannot be kept.
        """
        self._own.add(machine)
        if self._path is None:
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = json.dumps({"at": round(time.time(), 3), "machine": machine, "why": why})
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def find_distrusted(self, ledger: Ledger, bases: Iterable[str]) -> dict[str, str]:
        """Return the attempts with a result of one of these machines, and its name."""
        machines = self.machines()
        figures = ledger.figures(bases) if machines else {}
        ran = ((basis, ran_on(runs) & machines) for basis, runs in figures.items())
        return {basis: min(found) for basis, found in ran if found}

    def read_kept(self) -> list[DistrustedMachine]:
        """Return the machines of the file, the first one first; raises as :meth:`machines`."""
        try:
            told = self._path.stat() if self._path else None
        except FileNotFoundError:
            told = None
        stamp = (told.st_ino, told.st_size, told.st_mtime_ns) if told else ()
        if stamp != self._stamp:  # it is asked for often, and changes seldom
            self._kept = self._read() if stamp else []
            self._stamp = stamp
        return list(self._kept)

    def _read(self) -> list[DistrustedMachine]:
        assert self._path
        lines = self._path.read_text(encoding="ascii").splitlines()
        return [self._machine(number, line) for number, line in enumerate(lines, 1)]

    def _machine(self, number: int, line: str) -> DistrustedMachine:
        """Return the machine of a line, which a person may have edited."""
        try:
            found = json.loads(line)
            return DistrustedMachine(str(found["machine"]), float(found["at"]))
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"{self._path}:{number}: found {line[:60]!r}, expected"
                ' {"at": SECONDS, "machine": NAME, …}: remove the whole line to believe a machine'
                " again"
            ) from None
