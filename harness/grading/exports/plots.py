"""Pictures of a class as inline SVG: they run nothing, follow the page's colors, and speak.

Every picture has a title and a description in words. Lengths are CSS pixels, rows and columns
count from the upper left.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import median
from typing import NamedTuple

from harness.report.markup import escape
from harness.text import number_of

# --- distribution of marks ---------------------------------------------------------------------

_WIDTH, _HEIGHT, _BASE, _LEFT = 640, 200, 170, 30
_BINS = 20
_TICKS = 10  # at most, and how far apart
_GAPS = [unit * 10**power for power in range(-1, 6) for unit in (1, 2, 5)]


def histogram(values: Sequence[float], of: float) -> str:
    """Return how often which marks were reached: from 0 to ``of``, the median as a line."""
    if not values or of <= 0:
        return ""
    counts = [0] * _BINS
    for value in values:
        counts[min(int(value / of * _BINS + 1e-9), _BINS - 1)] += 1
    top, step = max(counts), (_WIDTH - _LEFT - 10) / _BINS
    bars = "".join(
        _bar(place, count, top, step, of) for place, count in enumerate(counts) if count
    )
    middle = _LEFT + median(values) / of * step * _BINS
    words = ", ".join(f"{_range(i, of)}: {count}" for i, count in enumerate(counts) if count)
    return _svg(
        _WIDTH,
        _HEIGHT,
        f"Distribution of {len(values)} marks",
        f"Median {median(values):g} of {of:g}. {words}.",
        f'<path class="axis" d="M{_LEFT} {_BASE + 0.5}H{_WIDTH - 10}"/>{bars}{_ticks(of, step)}'
        f'<path class="mid" d="M{middle:.1f} 12V{_BASE}"/>'
        f'<text class="ink" x="{middle:.1f}" y="9" text-anchor="middle">'
        f"median {median(values):.3g}</text>",
    )


def _range(place: int, of: float) -> str:
    return f"{place * of / _BINS:.3g} to {(place + 1) * of / _BINS:.3g}"


def _bar(place: int, count: int, top: int, step: float, of: float) -> str:
    height = (_BASE - 34) * count / top
    x, y = _LEFT + place * step, _BASE - height
    return (
        f'<g><rect class="bar" x="{x + 1:.1f}" y="{y:.1f}" width="{step - 2:.1f}" '
        f'height="{height:.1f}" rx="2"/><text x="{x + step / 2:.1f}" y="{y - 3:.1f}" '
        f'text-anchor="middle">{count}</text>'
        f"<title>{_range(place, of)}: {number_of(count, 'submission')}</title></g>"
    )


def _ticks(of: float, step: float) -> str:
    apart = next((gap for gap in _GAPS if of / gap <= _TICKS), of)
    marks = [apart * count for count in range(int(of / apart + 1e-9) + 1)]
    return "".join(
        f'<text x="{_LEFT + mark / of * step * _BINS:.1f}" y="{_BASE + 15}" '
        f'text-anchor="middle">{mark:.3g}</text>'
        for mark in marks
    )


# --- small ones --------------------------------------------------------------------------------


def share(part: float) -> str:
    """Return a bar for a share from 0 to 1."""
    words = f"{part:.0%}"
    return _svg(
        80,
        10,
        words,
        "",
        '<rect class="rest" x="0" y="1" width="80" height="8" rx="3"/>'
        f'<rect class="bar" x="0" y="1" width="{80 * part:.1f}" height="8" rx="3"/>',
    )


def correlation(value: float, interval: tuple[float, float] | None) -> str:
    """Return a point-biserial correlation from -1 to 1 with its interval."""
    low, high = interval or (value, value)
    return _svg(
        100,
        14,
        f"{value:.2f}, 95 % interval {low:.2f} to {high:.2f}",
        "",
        f'<path class="axis" d="M0 7H100"/><path class="zero" d="M50 2V12"/>'
        f'<path class="span" d="M{50 + 50 * low:.1f} 7H{50 + 50 * high:.1f}"/>'
        f'<circle class="dot" cx="{50 + 50 * value:.1f}" cy="7" r="3.5"/>',
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


def matrix(rows: Sequence[Row], columns: int) -> str:
    """Return tests × submissions as a picture; rows of one group stand together."""
    if not rows or not columns:
        return ""
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
    head = f'<text x="{_LABEL}" y="9">highest mark ← {columns} submissions → lowest mark</text>'
    return _svg(
        int(_LABEL + max(columns * cell, _WORDS) + 2),
        int(y),
        f"{len(rows)} tests with {columns} submissions",
        f"{failed} failures. The table of tests has the numbers of each.",
        head + "".join(labels) + "".join(drawn),
    )


def _label(text: str, y: float) -> str:
    shown = text if len(text) <= _LETTERS else "…" + text[1 - _LETTERS :]
    return f'<text x="{_LABEL - 8}" y="{y:.0f}" text-anchor="end">{escape(shown)}</text>'


def _row(row: Row, y: float, cell: float, line: float) -> str:
    """Draw a test: a line for each run of equal results, in a path for each kind."""
    paths: dict[str, list[str]] = {}
    place = 0
    for kind, run in groupby(row.kinds):
        length = len(list(run))
        if kind:
            x = _LABEL + place * cell
            paths.setdefault(kind, []).append(f"M{x:.4g} {y + line / 2:.4g}h{length * cell:.4g}")
        place += length
    drawn = "".join(
        f'<path class="m-{kind}" stroke-width="{(line - 1) * KINDS[kind][0]:g}" d="{"".join(d)}"/>'
        for kind, d in paths.items()
    )
    return (
        f'<g>{drawn}<rect class="hit" x="0" y="{y:g}" width="{_LABEL + len(row.kinds) * cell:.4g}"'
        f' height="{line:g}"/><title>{escape(row.words)}</title></g>'
    )


def key() -> str:
    """Return what the cells of a matrix mean."""
    listed = "".join(
        f'<span><svg class="plot" width="18" height="10" viewBox="0 0 18 10">'
        f'<path class="m-{kind}" stroke-width="{8 * height:g}" d="M1 5h16"/></svg> {words}</span>'
        for kind, (height, words) in KINDS.items()
    )
    return f'<p class="key">{listed}</p>'


def _svg(width: float, height: float, title: str, description: str, body: str) -> str:
    described = f"<desc>{escape(description)}</desc>" if description else ""
    return (
        f'<svg class="plot" role="img" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><title>{escape(title)}</title>{described}{body}</svg>'
    )
