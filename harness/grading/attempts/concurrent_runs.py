"""Other gradings that run at the same time: with the same ledger, or on the same machine.

A single grading has its ledger for itself. Several that share one each take attempts that nobody
has. An attempt in doubt is rerun with nothing beside it, so others on the machine must wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from harness.grading.ledger.ledger import Lease, Ledger


class Company(Protocol):
    """How a grading shares its machine and its ledger."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        """Lease attempts: those that may be run by us."""

    def together(self) -> AbstractContextManager[object]:
        """Give a time in which others may run engines, too."""

    def apart(self) -> AbstractContextManager[object]:
        """Give a time in which nobody else runs engines here."""

    def last(self) -> AbstractContextManager[object]:
        """Give such a time as soon as nobody else wants to run engines here."""


class _NoCompany:
    """Expect nobody else: if somebody is there, that is an error."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        return Lease(ledger.lease(bases), tuple(bases))

    def together(self) -> AbstractContextManager[object]:
        return nullcontext()

    def apart(self) -> AbstractContextManager[object]:
        return nullcontext()

    def last(self) -> AbstractContextManager[object]:
        return nullcontext()


ALONE: Company = _NoCompany()
