"""Messages to and from a connector, as lines of JSON."""

from __future__ import annotations

import json
from typing import Any

from harness.cluster.records import (
    ClusterState,
    Drop,
    FinishedUnit,
    Load,
    LostUnit,
    News,
    Order,
    PresentWorkers,
)
from harness.errors import UsageError
from harness.work import canonical_json, plain_values

_BY_NAME: dict[str, type[Any]] = {
    "present": PresentWorkers,
    "back": FinishedUnit,
    "lost": LostUnit,
    "seen": ClusterState,
    "load": Load,
    "drop": Drop,
}
_NAMES = {one: name for name, one in _BY_NAME.items()}
_ORDERS = (Load, Drop)


def to_line(said: News | Order) -> bytes:
    """Return a record as a line."""
    return f'{{"record":"{_NAMES[type(said)]}",{canonical_json.dumps(said)[1:]}\n'.encode()


def read_news(text: bytes) -> News:
    """Return the news of a line.

    Raises:
        UsageError: it is not one.
    """
    found = _read(text)
    if isinstance(found, _ORDERS):
        raise UsageError(f"found {text[:60]!r}, expected news of a connector")
    news: News = found
    return news


def read_order(text: bytes) -> Order:
    """Return what a line tells a connector to do.

    Raises:
        UsageError: it is not an order.
    """
    found = _read(text)
    if not isinstance(found, _ORDERS):
        raise UsageError(f"found {text[:60]!r}, expected an order to a connector")
    return found


def _read(text: bytes) -> Any:
    try:
        found = json.loads(text)
        kind = _BY_NAME[found.pop("record")]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise UsageError(
            f"found {text[:60]!r}, expected what a connector says or is told"
        ) from None
    return plain_values.value(kind, found, f"the record {_NAMES[kind]!r}")
