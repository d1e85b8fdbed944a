"""What all requests of a process share."""

from __future__ import annotations

from typing import NamedTuple

from harness.grading.ledger.store import Store
from harness.service.settings import Settings
from harness.service.storage.database import Database
from harness.service.web.rates import Rates


class Service(NamedTuple):
    """A service that is open."""

    settings: Settings
    database: Database
    store: Store
    rates: Rates

    @classmethod
    def opened(cls, settings: Settings) -> Service:
        """Open the database and the store; raises as :class:`Database`."""
        database = Database(settings)
        return cls(settings, database, Store(settings.originals), Rates(settings.rate))

    def close(self) -> None:
        """Close what was opened."""
        self.database.close()
