"""Pictures of a history as inline SVG: they run nothing, follow the page's colors, and speak.

Lengths are CSS pixels. Runs go from left to right, the last one on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from harness.history.records import Flaky, RunKept, Slower
from harness.history.text import counts, counts_text, seconds
from harness.report.markup import escape

_WIDTH, _LEFT, _RIGHT = 720, 56, 10
_BARS = 150  # runs in one picture
_KINDS = {  # the parts of a bar, from below: class, verdicts
    "pass": ("passed", "PASSED"),
    "known": ("failed",),
    "lost": ("not run", "not judged"),
    "fail": ("FAILED",),
}

STYLE = """
.wide{overflow-x:auto}svg.plot{color:var(--dim);font:11px system-ui,sans-serif}
.plot text{fill:currentColor}.plot .axis{stroke:var(--line);fill:none}
.plot .mid{stroke:var(--ink);stroke-width:1.5;fill:none}
.plot .dot{fill:var(--link)}.plot .hot{fill:var(--bad)}.plot .hit{fill:transparent}
.k-pass{fill:#9ec9ae}.k-known{fill:var(--line)}.k-lost{fill:#8d6cb8}.k-fail{fill:var(--bad)}
@media(prefers-color-scheme:dark){.k-pass{fill:#2c5a3d}.k-lost{fill:#cfa9f5}}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.85rem;color:var(--dim);margin:.4rem 0}
.key svg{display:inline;vertical-align:middle}
""".replace("\n", "")

_WORDS = {"pass": "passed", "known": "failed as expected", "lost": "not run", "fail": "FAILED"}


def verdicts(runs: Sequence[RunKept]) -> str:
    """Return a bar for each run: its tests by verdict."""
    shown = runs[-_BARS:]
    most = max((sum(counts(run).values()) for run in shown), default=0)
    if not most:
        return ""
    height, step = 150.0, (_WIDTH - _LEFT - _RIGHT) / len(shown)
    bars = "".join(
        _bar(run, _LEFT + place * step, step, height, most) for place, run in enumerate(shown)
    )
    axis = f'<path class="axis" d="M{_LEFT} {height + 10.5:g}H{_WIDTH - _RIGHT}"/>'
    label = f'<text x="{_LEFT - 6}" y="18" text-anchor="end">{most}</text>'
    title = f"Verdicts of {len(shown)} runs"
    drawn = axis + label + bars + _numbers(shown, step, height + 24)
    key = "".join(
        f'<span><svg width="12" height="12" viewBox="0 0 12 12"><rect class="k-{kind}" width="12" '
        f'height="12" rx="2"/></svg> {words}</span>'
        for kind, words in _WORDS.items()
    )
    return _svg(height + 30, title, drawn) + f'<p class="key">{key}</p>'


def _bar(run: RunKept, x: float, step: float, height: float, most: int) -> str:
    found, y, parts = counts(run), height + 10, []
    for kind, names in _KINDS.items():
        count = sum(found.get(name, 0) for name in names)
        if count:
            part = max(height * count / most, 1.0)
            y -= part
            parts.append(
                f'<rect class="k-{kind}" x="{x + step * 0.1:.1f}" y="{y:.1f}" '
                f'width="{step * 0.8:.1f}" height="{part:.1f}"/>'
            )
    return f"<g>{''.join(parts)}{_hit(x, step, height, _told(run))}</g>"


def _told(run: RunKept) -> str:
    return f"run {run.number}, {run.started}: {counts_text(run)}"


def _hit(x: float, step: float, height: float, words: str) -> str:
    return (
        f'<rect class="hit" x="{x:.1f}" y="0" width="{step:.1f}" height="{height + 14:g}"/>'
        f"<title>{escape(words)}</title>"
    )


def _numbers(runs: Sequence[RunKept], step: float, y: float) -> str:
    """Return the numbers of some runs below their places: never so many that they touch."""
    every = max(1, -(-len(runs) * 40 // (_WIDTH - _LEFT - _RIGHT)))
    return "".join(
        f'<text x="{_LEFT + (place + 0.5) * step:.1f}" y="{y:g}" text-anchor="middle">'
        f"{run.number}</text>"
        for place, run in enumerate(runs)
        if (len(runs) - 1 - place) % every == 0
    )


def durations(runs: Sequence[RunKept]) -> str:
    """Return a dot for each whole run: how long its files took together."""
    points = [(run.number, sum(file.seconds for file in run.files)) for run in runs[-_BARS:]]
    return dots(points, len(points), f"Seconds of {len(points)} runs") if points else ""


def times(one: Slower) -> str:
    """Return a dot for each run that was compared, and the medians before and now as lines."""
    return dots([*one.before, *one.now], len(one.before), f"Times of {one.test.name}")


def dots(points: Sequence[tuple[int, float]], parting: int, title: str) -> str:
    """Return times by run; from place ``parting`` on they are marked, and each part's median."""
    height, top = 110.0, max(value for _, value in points) * 1.05 or 1.0
    step = (_WIDTH - _LEFT - _RIGHT) / len(points)

    def y(value: float) -> float:
        return height + 10 - height * value / top

    drawn = "".join(
        f'<g><circle class="{"dot" if place < parting else "hot"}" '
        f'cx="{_LEFT + (place + 0.5) * step:.1f}" cy="{y(value):.1f}" r="3.5"/>'
        f"<title>run {run}: {seconds(value)}</title></g>"
        for place, (run, value) in enumerate(points)
    )
    for start, end in ((0, parting), (parting, len(points))):
        if part := [value for _, value in points[start:end]]:
            drawn += (
                f'<path class="mid" d="M{_LEFT + start * step:.1f} {y(median(part)):.1f}'
                f'H{_LEFT + end * step:.1f}"/>'
            )
    axis = f'<path class="axis" d="M{_LEFT} {height + 10.5:g}H{_WIDTH - _RIGHT}"/>'
    label = f'<text x="{_LEFT - 6}" y="18" text-anchor="end">{seconds(top / 1.05)}</text>'
    zero = f'<text x="{_LEFT - 6}" y="{height + 12:g}" text-anchor="end">0</text>'
    ends = [(0, points[0][0])] + [(len(points) - 1, points[-1][0])] * (len(points) > 1)
    numbers = "".join(
        f'<text x="{_LEFT + (place + 0.5) * step:.1f}" y="{height + 25:g}" '
        f'text-anchor="middle">run {run}</text>'
        for place, run in ends
    )
    return _svg(height + 30, title, axis + label + zero + drawn + numbers)


def course(one: Flaky) -> str:
    """Return a mark for each run of a flaky test: low where it passed, high where it failed."""
    seen = one.seen[-_BARS:]
    step = min(14.0, (_WIDTH - 4) / len(seen))
    marks = "".join(
        f'<g><rect class="k-{"pass" if seen_.passed else "fail"}" x="{place * step + 1:.1f}" '
        f'y="{10 if seen_.passed else 1}" width="{step - 1:.1f}" '
        f'height="{7 if seen_.passed else 16}"/>'
        f"<title>run {seen_.run.number}: {escape(seen_.result.verdict)}</title></g>"
        for place, seen_ in enumerate(seen)
    )
    title = f"failed in {one.failed} of {len(one.seen)} runs"
    return _svg(18, title, marks, width=step * len(seen) + 2)


def _svg(height: float, title: str, body: str, width: float = _WIDTH) -> str:
    return (
        f'<svg class="plot" role="img" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><title>{escape(title)}</title>{body}</svg>'
    )
