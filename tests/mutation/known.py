"""The changes that are known to change nothing."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("equivalent.toml")


def is_equivalent(module: str, before: str, after: str) -> bool:
    """Return whether somebody has read a change and found that it changes nothing."""
    return (module, before, after) in _read_known()


@cache
def _read_known() -> frozenset[tuple[str, str, str]]:
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8")).get("change", [])
    for one in entries:
        if not one.get("why"):
            raise ValueError(f"{_FILE.name}: {one}: expected why it changes nothing")
    return frozenset((one["module"], one["before"], one["after"]) for one in entries)
