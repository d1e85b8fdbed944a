"""What all requests of a process share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from harness.grading.ledger.originals import Store
from harness.service.monitoring import Counter
from harness.service.people import providers
from harness.service.people.oidc import Provider
from harness.service.settings import Settings
from harness.service.storage.database import Database
from harness.service.web.live_looks import LiveLooks
from harness.service.web.rate_limits import Rates, RequestsUnderWay

_AT_A_TIME = 4  # of one person
_ASKED = 30  # links that may be asked for in a minute from one address, maybe of a whole campus


class Service(NamedTuple):
    """A service that is open."""

    settings: Settings
    database: Database
    store: Store
    rates: Rates
    requests: Counter
    provider: Provider | None  # by which people may sign in
    under_way: RequestsUnderWay  # requests with a body
    asking: Rates  # for links: by addresses of the network
    page_rates: Rates  # by people, as the other ones
    watching: RequestsUnderWay  # pages that tell what is judged
    live: LiveLooks  # what these tell

    @classmethod
    def open(cls, settings: Settings, how: Callable[[Settings], Database] = Database) -> Service:
        """Open the store and the database, which is opened by ``how`` and raises as that."""
        database = how(settings)
        return cls(
            settings,
            database,
            Store(settings.originals),
            Rates(settings.rate),
            Counter(),
            providers.open_provider(settings),
            RequestsUnderWay(_AT_A_TIME),
            Rates(_ASKED),
            Rates(settings.page_rate),
            RequestsUnderWay(settings.streams),
            LiveLooks(database),
        )

    def close(self) -> None:
        """Close what was opened."""
        self.database.close()
