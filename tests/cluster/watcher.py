"""Which workers a scheduler knows, as a connector that grades nothing is told."""

from __future__ import annotations

import time

from harness.cluster.connector_link import ConnectorProcess, Link
from harness.cluster.records import ConnectorSettings, PresentWorkers

_PAUSE = 3.0  # seconds before the next connector


class Watcher:
    """Looks on; to be closed."""

    def __init__(self, settings: ConnectorSettings) -> None:
        self._settings = settings
        self._link: Link | None = None
        self._next = 0.0
        self._present: frozenset[str] = frozenset()

    def sees(self, machine: str) -> bool:
        """Whether the scheduler knows a worker of a machine now."""
        self._look()
        return machine in self._present

    def _look(self) -> None:
        if self._link is None and time.monotonic() >= self._next:
            self._link = ConnectorProcess(self._settings)
        if self._link is None:
            return
        for news in self._link.receive(0):
            if isinstance(news, PresentWorkers):
                self._present = frozenset(one.machine for one in news.workers)
        if self._link.status is not None:  # the scheduler is lost, and with it all that it knew
            self.close()

    def close(self) -> None:
        """End the connector."""
        if self._link:
            self._link.close()
        self._link, self._present = None, frozenset()
        self._next = time.monotonic() + _PAUSE
