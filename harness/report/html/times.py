"""Times as a small plot: one stroke for each test or command, or for a few neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from harness.escaping import one_line
from harness.records import FileResult, Outcome, Step, Verdict
from harness.report.markup import NOTHING, Markup

_STROKES, _HEIGHT = 120, 36  # at most; in units: a stroke takes two
_WIDEST = 12  # pixels of a stroke
_COMMAND = 40  # characters

_PLOT = Markup(
    '<div><p class="lab">%s</p><svg class="plot-t" style="max-width:%spx" viewBox="0 0 %s %s" '
    'preserveAspectRatio="none" role="img" aria-label="%s" stroke-width="1.4">'
    '<path class="tp" d="%s"/><path class="tf" d="%s"/></svg><p class="sub">%s</p></div>\n'
)


def times(file: FileResult, outcomes: Sequence[Outcome]) -> Markup:
    """Return the plot of a file's tests; nothing where no time was measured."""
    known = [one for one in outcomes if one.reply]
    values = [one.reply.seconds for one in known if one.reply]
    longest = max(values, default=0.0)
    if not longest:
        return NOTHING
    step = file.case.steps[known[values.index(longest)].step]
    failed = [one.verdict is Verdict.FAILED for one in known]
    return _plot("Time of each test", values, failed, _name(step), "tests")


def step_times(file: FileResult, first: int, test: int) -> Markup:
    """Return the plot of what leads to a test and of the test itself, which comes last.

    ``first``, ``test``: steps of the file. Nothing where fewer than two were measured.
    """
    steps, replies = file.case.steps[first : test + 1], file.replies[first : test + 1]
    known = [(step, reply.seconds) for step, reply in zip(steps, replies, strict=True) if reply]
    values = [seconds for _, seconds in known]
    longest = max(values, default=0.0)
    if not longest or len(known) < 2:
        return NOTHING
    step = known[values.index(longest)][0]
    failed = [step is steps[-1] for step, _ in known]
    words = f"{_name(step)}, {one_line(step.command, _COMMAND)}"
    return _plot("Time of each command, from the setup on", values, failed, words, "commands")


def _plot(
    title: str, values: Sequence[float], failed: Sequence[bool], longest: str, kind: str
) -> Markup:
    """Return a plot; ``longest``: what took longest; ``kind``: of what these are the times."""
    most, every = max(values), -(-len(values) // _STROKES)
    strokes: tuple[list[str], list[str]] = ([], [])  # of what did not fail, of what did
    for place in range(0, len(values), every):
        group = slice(place, place + every)
        height = max(1.0, (_HEIGHT - 2) * max(values[group]) / most)
        stroke = f"M{2 * (place // every) + 1} {_HEIGHT}v-{height:.1f}"
        strokes[any(failed[group])].append(stroke)
    words = f"{in_words(sum(values))} in all, the longest {in_words(most)}: {longest}"
    count = -(-len(values) // every)
    label = f"Times of {len(values)} {kind}: {words}"
    paths = ("".join(some) for some in strokes)
    return _PLOT % (title, _WIDEST * count, 2 * count, _HEIGHT, label, *paths, words)


def _name(step: Step) -> str:
    return f"test {step.id}" if step.id >= 0 else f"line {step.line}"


def in_words(value: float) -> str:
    """Return a time in seconds as a reader wants it."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"
