"""Pictures of a class as inline SVG: they run nothing, follow the page's colors, and speak.

Every picture has a title and a description in words. Lengths are CSS pixels, rows and columns
count from the upper left.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import median
from typing import NamedTuple

from harness.report.markup import NOTHING, Markup, joined
from harness.text import number_of

# --- distribution of marks ---------------------------------------------------------------------

_WIDTH, _HEIGHT, _BASE, _LEFT = 640, 200, 170, 30
_BINS = 20
_TICKS = 10  # at most, and how far apart
_GAPS = [unit * 10**power for power in range(-1, 6) for unit in (1, 2, 5)]


def histogram(values: Sequence[float], of: float) -> Markup:
    """Return how often which marks were reached: from 0 to ``of``, the median as a line."""
    if not values or of <= 0:
        return NOTHING
    counts = [0] * _BINS
    for value in values:
        counts[min(int(value / of * _BINS + 1e-9), _BINS - 1)] += 1
    top, step = max(counts), (_WIDTH - _LEFT - 10) / _BINS
    bars = joined(_bar(place, count, top, step, of) for place, count in enumerate(counts) if count)
    middle = _LEFT + median(values) / of * step * _BINS
    words = ", ".join(f"{_range(i, of)}: {count}" for i, count in enumerate(counts) if count)
    return _svg(
        _WIDTH,
        _HEIGHT,
        f"Distribution of {len(values)} marks",
        f"Median {median(values):g} of {of:g}. {words}.",
        Markup(
            '<path class="axis" d="M%s %sH%s"/>%s%s<path class="mid" d="M%s 12V%s"/>'
            '<text class="ink" x="%s" y="9" text-anchor="middle">median %s</text>'
        )
        % (
            _LEFT,
            _BASE + 0.5,
            _WIDTH - 10,
            bars,
            _ticks(of, step),
            f"{middle:.1f}",
            _BASE,
            f"{middle:.1f}",
            f"{median(values):.3g}",
        ),
    )


def _range(place: int, of: float) -> str:
    return f"{place * of / _BINS:.3g} to {(place + 1) * of / _BINS:.3g}"


def _bar(place: int, count: int, top: int, step: float, of: float) -> Markup:
    height = (_BASE - 34) * count / top
    x, y = _LEFT + place * step, _BASE - height
    return Markup(
        '<g><rect class="amount" x="%s" y="%s" width="%s" height="%s" rx="2"/>'
        '<text x="%s" y="%s" text-anchor="middle">%s</text><title>%s: %s</title></g>'
    ) % (
        f"{x + 1:.1f}",
        f"{y:.1f}",
        f"{step - 2:.1f}",
        f"{height:.1f}",
        f"{x + step / 2:.1f}",
        f"{y - 3:.1f}",
        count,
        _range(place, of),
        number_of(count, "submission"),
    )


def _ticks(of: float, step: float) -> Markup:
    apart = next((gap for gap in _GAPS if of / gap <= _TICKS), of)
    marks = [apart * count for count in range(int(of / apart + 1e-9) + 1)]
    return joined(
        Markup('<text x="%s" y="%s" text-anchor="middle">%s</text>')
        % (f"{_LEFT + mark / of * step * _BINS:.1f}", _BASE + 15, f"{mark:.3g}")
        for mark in marks
    )


# --- small ones --------------------------------------------------------------------------------


def share(part: float) -> Markup:
    """Return a bar for a share from 0 to 1."""
    words = f"{part:.0%}"
    return _svg(
        80,
        10,
        words,
        "",
        Markup(
            '<rect class="rest" x="0" y="1" width="80" height="8" rx="3"/>'
            '<rect class="amount" x="0" y="1" width="%s" height="8" rx="3"/>'
        )
        % (f"{80 * part:.1f}",),
    )


def correlation(value: float, interval: tuple[float, float] | None) -> Markup:
    """Return a point-biserial correlation from -1 to 1 with its interval."""
    low, high = interval or (value, value)
    return _svg(
        100,
        14,
        f"{value:.2f}, 95 % interval {low:.2f} to {high:.2f}",
        "",
        Markup(
            '<path class="axis" d="M0 7H100"/><path class="zero" d="M50 2V12"/>'
            '<path class="span" d="M%s 7H%s"/><circle class="pt" cx="%s" cy="7" r="3.5"/>'
        )
        % (f"{50 + 50 * low:.1f}", f"{50 + 50 * high:.1f}", f"{50 + 50 * value:.1f}"),
    )


# --- tests × submissions -----------------------------------------------------------------------

PASSED, FAILED, LOST, UNSURE = "passed", "failed", "lost", "unsure"
KINDS = {  # how high a cell is drawn, so that no verdict hangs on its color alone; in words
    PASSED: (0.4, "passed"),
    FAILED: (1.0, "failed"),
    LOST: (0.7, "not reached"),
    UNSURE: (0.15, "not judged"),
}
_LABEL, _HEAD = 160, 14
_LETTERS = 22  # of a case file's name
_WORDS = 270  # the width of the words above the picture


class Row(NamedTuple):
    """One test: what became of it with each submission, in the order of the columns."""

    group: str  # its case file
    words: str  # what it is, for who points at it
    kinds: tuple[str, ...]  # PASSED, FAILED …; empty: there is no result


def matrix(rows: Sequence[Row], columns: int) -> Markup:
    """Return tests × submissions as a picture; rows of one group stand together."""
    if not rows or not columns:
        return NOTHING
    cell, line = max(3.0, min(26.0, 760 / columns)), max(9.0, min(16.0, 320 / len(rows)))
    drawn, labels, y = [], [], float(_HEAD)
    for group, members in groupby(rows, lambda row: row.group):
        listed = list(members)
        labels.append(_label(group, y + line - 1))
        for row in listed:
            drawn.append(_row(row, y, cell, line))
            y += line
        y += 5
    failed = sum(row.kinds.count(FAILED) for row in rows)
    head = Markup('<text x="%s" y="9">highest mark ← %s submissions → lowest mark</text>') % (
        _LABEL,
        columns,
    )
    return _svg(
        int(_LABEL + max(columns * cell, _WORDS) + 2),
        int(y),
        f"{len(rows)} tests with {columns} submissions",
        f"{failed} failures. The table of tests has the numbers of each.",
        head + joined(labels) + joined(drawn),
    )


def _label(text: str, y: float) -> Markup:
    shown = text if len(text) <= _LETTERS else "…" + text[1 - _LETTERS :]
    return Markup('<text x="%s" y="%s" text-anchor="end">%s</text>') % (
        _LABEL - 8,
        f"{y:.0f}",
        shown,
    )


def _row(row: Row, y: float, cell: float, line: float) -> Markup:
    """Draw a test: a line for each run of equal results, in a path for each kind."""
    paths: dict[str, list[str]] = {}
    place = 0
    for kind, run in groupby(row.kinds):
        length = len(list(run))
        if kind:
            x = _LABEL + place * cell
            paths.setdefault(kind, []).append(f"M{x:.4g} {y + line / 2:.4g}h{length * cell:.4g}")
        place += length
    drawn = joined(
        Markup('<path class="m-%s" stroke-width="%s" d="%s"/>')
        % (kind, f"{(line - 1) * KINDS[kind][0]:g}", joined(d))
        for kind, d in paths.items()
    )
    return Markup(
        '<g>%s<rect class="hit" x="0" y="%s" width="%s" height="%s"/><title>%s</title></g>'
    ) % (drawn, f"{y:g}", f"{_LABEL + len(row.kinds) * cell:.4g}", f"{line:g}", row.words)


def key() -> Markup:
    """Return what the cells of a matrix mean."""
    listed = joined(
        Markup(
            '<span><svg class="plot" width="18" height="10" viewBox="0 0 18 10">'
            '<path class="m-%s" stroke-width="%s" d="M1 5h16"/></svg> %s</span>'
        )
        % (kind, f"{8 * height:g}", words)
        for kind, (height, words) in KINDS.items()
    )
    return Markup('<p class="key">%s</p>') % listed


def _svg(width: float, height: float, title: str, description: str, body: str) -> Markup:
    described = Markup("<desc>%s</desc>") % description if description else NOTHING
    return Markup(
        '<svg class="plot" role="img" width="%s" height="%s" viewBox="0 0 %s %s">'
        "<title>%s</title>%s%s</svg>"
    ) % (f"{width:g}", f"{height:g}", f"{width:g}", f"{height:g}", title, described, body)
