"""Pictures of a history as inline SVG: they run nothing, follow the page's colors, and speak.

Lengths are CSS pixels. Runs go from left to right, the last one on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from harness.history.records import Flaky, RunKept, Slower
from harness.history.text import counts, counts_text, seconds
from harness.report.markup import NOTHING, Markup, joined

_WIDTH, _LEFT, _RIGHT = 720, 56, 10
_BARS = 150  # runs in one picture
_KINDS = {  # the parts of a bar, from below: class, verdicts
    "pass": ("passed", "PASSED"),
    "known": ("failed",),
    "lost": ("not run", "not judged"),
    "fail": ("FAILED",),
}

STYLE = """
.wide{overflow-x:auto}svg.plot{color:var(--ink-2);font:11px system-ui,sans-serif}
.plot text{fill:currentColor}.plot .axis{stroke:var(--line);fill:none}
.plot .mid{stroke:var(--ink);stroke-width:1.5;fill:none}
.plot .pt{fill:var(--link)}.plot .hot{fill:var(--fail)}.plot .hit{fill:transparent}
.k-pass{fill:#9ec9ae}.k-known{fill:var(--line)}.k-lost{fill:#8d6cb8}.k-fail{fill:var(--fail)}
@media(prefers-color-scheme:dark){.k-pass{fill:#2c5a3d}.k-lost{fill:#cfa9f5}}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;
font-size:.85rem;color:var(--ink-2);margin:.4rem 0}
.key svg{display:inline;vertical-align:middle}
""".replace("\n", "")

_WORDS = {"pass": "passed", "known": "failed as expected", "lost": "not run", "fail": "FAILED"}


def verdicts(runs: Sequence[RunKept]) -> Markup:
    """Return a bar for each run: its tests by verdict."""
    shown = runs[-_BARS:]
    most = max((sum(counts(run).values()) for run in shown), default=0)
    if not most:
        return NOTHING
    height, step = 150.0, (_WIDTH - _LEFT - _RIGHT) / len(shown)
    bars = joined(
        _bar(run, _LEFT + place * step, step, height, most) for place, run in enumerate(shown)
    )
    axis = Markup('<path class="axis" d="M%s %sH%s"/>') % (
        _LEFT,
        f"{height + 10.5:g}",
        _WIDTH - _RIGHT,
    )
    label = Markup('<text x="%s" y="18" text-anchor="end">%s</text>') % (_LEFT - 6, most)
    title = f"Verdicts of {len(shown)} runs"
    drawn = axis + label + bars + _numbers(shown, step, height + 24)
    key = joined(
        Markup(
            '<span><svg width="12" height="12" viewBox="0 0 12 12">'
            '<rect class="k-%s" width="12" height="12" rx="2"/></svg> %s</span>'
        )
        % (kind, words)
        for kind, words in _WORDS.items()
    )
    return _svg(height + 30, title, drawn) + Markup('<p class="key">%s</p>') % key


def _bar(run: RunKept, x: float, step: float, height: float, most: int) -> Markup:
    found, y, parts = counts(run), height + 10, []
    for kind, names in _KINDS.items():
        count = sum(found.get(name, 0) for name in names)
        if count:
            part = max(height * count / most, 1.0)
            y -= part
            parts.append(
                Markup('<rect class="k-%s" x="%s" y="%s" width="%s" height="%s"/>')
                % (kind, f"{x + step * 0.1:.1f}", f"{y:.1f}", f"{step * 0.8:.1f}", f"{part:.1f}")
            )
    return Markup("<g>%s%s</g>") % (joined(parts), _hit(x, step, height, _told(run)))


def _told(run: RunKept) -> str:
    return f"run {run.number}, {run.started}: {counts_text(run)}"


def _hit(x: float, step: float, height: float, words: str) -> Markup:
    return Markup('<rect class="hit" x="%s" y="0" width="%s" height="%s"/><title>%s</title>') % (
        f"{x:.1f}",
        f"{step:.1f}",
        f"{height + 14:g}",
        words,
    )


def _numbers(runs: Sequence[RunKept], step: float, y: float) -> Markup:
    """Return the numbers of some runs below their places: never so many that they touch."""
    every = max(1, -(-len(runs) * 40 // (_WIDTH - _LEFT - _RIGHT)))
    return joined(
        Markup('<text x="%s" y="%s" text-anchor="middle">%s</text>')
        % (f"{_LEFT + (place + 0.5) * step:.1f}", f"{y:g}", run.number)
        for place, run in enumerate(runs)
        if (len(runs) - 1 - place) % every == 0
    )


def durations(runs: Sequence[RunKept]) -> Markup:
    """Return a dot for each whole run: how long its files took together."""
    points = [(run.number, sum(file.seconds for file in run.files)) for run in runs[-_BARS:]]
    return dots(points, len(points), f"Seconds of {len(points)} runs") if points else NOTHING


def times(one: Slower) -> Markup:
    """Return a dot for each run that was compared, and the medians before and now as lines."""
    return dots([*one.before, *one.now], len(one.before), f"Times of {one.test.name}")


def dots(points: Sequence[tuple[int, float]], parting: int, title: str) -> Markup:
    """Return times by run; from place ``parting`` on they are marked, and each part's median."""
    height, top = 110.0, max(value for _, value in points) * 1.05 or 1.0
    step = (_WIDTH - _LEFT - _RIGHT) / len(points)

    def y(value: float) -> float:
        return height + 10 - height * value / top

    drawn = joined(
        Markup('<g><circle class="%s" cx="%s" cy="%s" r="3.5"/><title>run %s: %s</title></g>')
        % (
            "pt" if place < parting else "hot",
            f"{_LEFT + (place + 0.5) * step:.1f}",
            f"{y(value):.1f}",
            run,
            seconds(value),
        )
        for place, (run, value) in enumerate(points)
    )
    for start, end in ((0, parting), (parting, len(points))):
        if part := [value for _, value in points[start:end]]:
            drawn += Markup('<path class="mid" d="M%s %sH%s"/>') % (
                f"{_LEFT + start * step:.1f}",
                f"{y(median(part)):.1f}",
                f"{_LEFT + end * step:.1f}",
            )
    axis = Markup('<path class="axis" d="M%s %sH%s"/>') % (
        _LEFT,
        f"{height + 10.5:g}",
        _WIDTH - _RIGHT,
    )
    label = Markup('<text x="%s" y="18" text-anchor="end">%s</text>') % (
        _LEFT - 6,
        seconds(top / 1.05),
    )
    zero = Markup('<text x="%s" y="%s" text-anchor="end">0</text>') % (
        _LEFT - 6,
        f"{height + 12:g}",
    )
    ends = [(0, points[0][0])] + [(len(points) - 1, points[-1][0])] * (len(points) > 1)
    numbers = joined(
        Markup('<text x="%s" y="%s" text-anchor="middle">run %s</text>')
        % (f"{_LEFT + (place + 0.5) * step:.1f}", f"{height + 25:g}", run)
        for place, run in ends
    )
    return _svg(height + 30, title, axis + label + zero + drawn + numbers)


def course(one: Flaky) -> Markup:
    """Return a mark for each run of a flaky test: low where it passed, high where it failed."""
    seen = one.seen[-_BARS:]
    step = min(14.0, (_WIDTH - 4) / len(seen))
    marks = joined(
        Markup(
            '<g><rect class="k-%s" x="%s" y="%s" width="%s" height="%s"/><title>'
            "run %s: %s</title></g>"
        )
        % (
            "pass" if seen_.passed else "fail",
            f"{place * step + 1:.1f}",
            10 if seen_.passed else 1,
            f"{step - 1:.1f}",
            7 if seen_.passed else 16,
            seen_.run.number,
            seen_.result.verdict,
        )
        for place, seen_ in enumerate(seen)
    )
    title = f"failed in {one.failed} of {len(one.seen)} runs"
    return _svg(18, title, marks, width=step * len(seen) + 2)


def _svg(height: float, title: str, body: str, width: float = _WIDTH) -> Markup:
    return Markup(
        '<svg class="plot" role="img" width="%s" height="%s" viewBox="0 0 %s %s">'
        "<title>%s</title>%s</svg>"
    ) % (f"{width:g}", f"{height:g}", f"{width:g}", f"{height:g}", title, body)
