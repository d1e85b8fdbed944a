"""How workers share ledgers and the machine: each takes the attempts that nobody has."""

from __future__ import annotations

from collections.abc import Sequence

from harness.grading.ledger.ledger import Lease, Ledger
from harness.work.machine import Machine


class Shared(Machine):
    """The company of the other workers; ``folder``: one on this machine, alike for all."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        """Lease what nobody has."""
        return ledger.lease_free(bases, len(bases))
