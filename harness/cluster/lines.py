"""News of a porter as lines of JSON."""

from __future__ import annotations

import json
from typing import Any

from harness.cluster.records import Back, Lost, News, Present
from harness.errors import UsageError
from harness.work import canonical_json, plain_values

_BY_NAME: dict[str, type[Any]] = {one.__name__.lower(): one for one in (Present, Back, Lost)}
_NAMES = {one: name for name, one in _BY_NAME.items()}


def line(news: News) -> bytes:
    """Return news as a line."""
    return f'{{"news":"{_NAMES[type(news)]}",{canonical_json.dumps(news)[1:]}\n'.encode()


def read(text: bytes) -> News:
    """Return the news of a line.

    Raises:
        UsageError: it is not one.
    """
    try:
        found = json.loads(text)
        kind = _BY_NAME[found.pop("news")]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise UsageError(f"found {text[:60]!r}, expected news of a porter") from None
    news: News = plain_values.value(kind, found, f"the news {_NAMES[kind]!r}")
    return news
