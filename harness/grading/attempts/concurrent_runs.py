"""Who else is at work: with the same ledger, and on the same machine.

A grading by itself has its ledger alone. Several that share one each take what nobody has. What is
in doubt is run again with nothing beside it: where others share the machine, they wait for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from harness.grading.ledger.ledger import Lease, Ledger


class Company(Protocol):
    """How a grading shares what it uses."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        """Lease attempts: those that may be run by us."""

    def together(self) -> AbstractContextManager[object]:
        """Give a time in which others may run engines, too."""

    def apart(self) -> AbstractContextManager[object]:
        """Give a time in which nobody else runs engines here."""


class _NoCompany:
    """Nobody else is there: if somebody is, it is said."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        return Lease(ledger.lease(bases), tuple(bases))

    def together(self) -> AbstractContextManager[object]:
        return nullcontext()

    def apart(self) -> AbstractContextManager[object]:
        return nullcontext()


ALONE: Company = _NoCompany()
