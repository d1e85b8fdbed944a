"""The report on what a generated set for a declared game covers, and what it does not."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from harness.generating.own.test_production import ProducedTests
from harness.text import number_of

_USED = ("files", "games", "used")
_WIDTH = 88
_UNSAID = (
    "no test expects a refusal of {}: the case file cannot say so; tests ask what holds after one,"
    " and fuzz compares refusals themselves"
)


class Sources(NamedTuple):
    """What tests were drawn from."""

    records: Counter[str]  # counts of game records
    openings: int  # positions to continue from
    unsaid: Counter[str]  # commands whose right answer was an error


def report(produced: ProducedTests, sources: Sources) -> Iterator[str]:
    """Yield the lines of the report."""
    records, openings, unsaid = sources
    if records["files"]:
        files, games = (number_of(records[one], one[:-1]) for one in ("files", "games"))
        yield f"{files}, {games}, {records['used']} used"
        yield from (
            f"{count:6}  {why}" for why, count in records.most_common() if why not in _USED
        )
    if openings:
        yield f"{number_of(openings, 'position')} to continue from"
    chosen = Counter(one.name for one in produced.drafts)
    width = max(map(len, produced.drawn), default=0)
    yield f"\n{'':{width}}  usable  chosen"
    for name, count in sorted(produced.drawn.items()):
        yield f"{name:{width}}  {count:6}  {chosen[name]:6}"
    sizes = Counter(one.size for one in produced.drafts)
    told = (f"{columns}x{rows} ({sizes[columns, rows]})" for columns, rows in sorted(sizes))
    yield f"sizes: {', '.join(told)}"
    if names := [name for name, count in sorted(unsaid.items()) if count]:
        yield from textwrap.wrap(_UNSAID.format(", ".join(names)), _WIDTH)
    yield f"\n{number_of(len(produced.drafts), 'test')}"
    yield from _engines(produced)


def _engines(produced: ProducedTests) -> Iterator[str]:
    total, alive = len(produced.engines), [one.name for one in produced.survivors]
    if total:
        yield f"{total - len(alive)} of {number_of(total, 'engine')} caught"
    if produced.beside:
        beside, alone = produced.beside.bit_count(), produced.caught.bit_count()
        yield f"of these {beside} by the cases given already, {alone} by this set alone"
    if alive:
        yield f"not caught: {', '.join(alive)}"
