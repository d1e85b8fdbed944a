"""How workers share ledgers and the machine: each takes the attempts that nobody has."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from harness.grading.ledger.ledger import Lease, Ledger
from harness.work.machine import Machine


class Shared(Machine):
    """The company of the other workers; ``folder``: one on this machine, alike for all."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        """Lease what nobody has."""
        return ledger.lease_free(bases, len(bases))


class OnOtherMachines:
    """The company of workers whose engines run on other machines: those see to it themselves."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        """Lease what nobody has."""
        return ledger.lease_free(bases, len(bases))

    def together(self) -> AbstractContextManager[object]:
        """Give a time in which others may run engines, too."""
        return nullcontext()

    def apart(self) -> AbstractContextManager[object]:
        """Give a time in which the machine that runs an engine runs nothing else."""
        return nullcontext()

    last = apart
