"""The times of a file's tests as a small plot: one stroke for each, or for a few neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from harness.records import FileResult, Outcome, Verdict
from harness.report.markup import NOTHING, Markup

_STROKES, _HEIGHT = 120, 36  # at most; in units, of which a stroke takes two

_PLOT = Markup(
    '<div><p class="lab">Time of each test</p><svg class="plot-t" viewBox="0 0 %s %s" '
    'preserveAspectRatio="none" role="img" aria-label="%s" stroke-width="1.4">'
    '<path class="tp" d="%s"/><path class="tf" d="%s"/></svg><p class="sub">%s</p></div>\n'
)


def times(file: FileResult, outcomes: Sequence[Outcome]) -> Markup:
    """Return the plot; nothing where no time was measured."""
    known = [one for one in outcomes if one.reply]
    values = [one.reply.seconds for one in known if one.reply]
    longest = max(values, default=0.0)
    if not longest:
        return NOTHING
    every = -(-len(known) // _STROKES)
    passed: list[str] = []
    failed: list[str] = []
    for place in range(0, len(known), every):
        height = max(1.0, (_HEIGHT - 2) * max(values[place : place + every]) / longest)
        stroke = f"M{2 * (place // every) + 1} {_HEIGHT}v-{height:.1f}"
        group = known[place : place + every]
        has_failed = any(one.verdict is Verdict.FAILED for one in group)
        (failed if has_failed else passed).append(stroke)
    step = file.case.steps[known[values.index(longest)].step]
    name = f"test {step.id}" if step.id >= 0 else f"line {step.line}"
    words = f"{in_words(sum(values))} in all, the longest {in_words(longest)}: {name}"
    width = 2 * -(-len(known) // every)
    label = f"Times of {len(known)} tests: {words}"
    return _PLOT % (width, _HEIGHT, label, "".join(passed), "".join(failed), words)


def in_words(value: float) -> str:
    """Return a time in seconds as a reader wants it."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"
