"""The marks of a class: how they are distributed, and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import mean, median

from harness.grading.records import ClassResult, decimal
from harness.report.markup import NOTHING, Markup, join_markup

_BARS = 10
_TOP = 86  # percent of the height that the highest bar takes; its number stands above it

_SECTION = Markup(
    '<section aria-labelledby="marks"><div class="sec-h"><h2 id="marks">Marks</h2>'
    '<p class="sub">of %s</p></div><div class="two">%s'
    '<div class="card pad pts"><h3>Parts</h3>%s</div></div></section>\n'
)
_FIGURE = Markup(
    '<figure class="card pad"><div class="stat">%s</div>'
    '<div class="hist" role="img" aria-label="%s"><div class="hbs">%s'
    '<span class="med" style="left:%s%%"><em%s>median</em></span></div>'
    '<div class="hax">%s</div></div></figure>'
)
_NUMBER = Markup('<p><b>%s</b><span class="sub">%s</span></p>')
_BAR = Markup('<div class="hb"><span>%s</span><i style="height:%s%%"></i></div>')
_PART = Markup(
    '<div class="pt"><span>%s</span><div class="bar" role="img" aria-label="mean %s of %s">'
    '<i class="a" style="width:%s%%"></i></div><span class="num"><b>%s</b> '
    '<span class="sub">of %s</span></span><span class="sub">%s have all, %s have nothing</span>'
    "</div>\n"
)


def section(result: ClassResult) -> Markup:
    """Return the section; nothing where no mark is known."""
    of = result.of
    totals = [float(one.marks.total) for one in result.graded if not one.marks.withheld]
    if not totals or not of:
        return NOTHING
    parts = join_markup(_part(part.name, result) for part in result.assignment.marks)
    return _SECTION % (decimal(of), _figure(totals, float(of)), parts)


def counts(totals: Sequence[float], of: float) -> list[int]:
    """Return how many marks are in each tenth of what can be reached; all are in the last."""
    found = [0] * _BARS
    for total in totals:
        found[min(int(total / of * _BARS + 1e-9), _BARS - 1)] += 1
    return found


def _figure(totals: Sequence[float], of: float) -> Markup:
    numbers = (
        (f"{mean(totals):.2f}", "mean"),
        (f"{median(totals):.2f}", "median"),
        (sum(total >= of for total in totals), "have all points"),
    )
    found = counts(totals, of)
    bars = join_markup(_BAR % (count or "", f"{_TOP * count / max(found):.0f}") for count in found)
    ends = [f"{of * place / _BARS:.3g}" for place in range(_BARS + 1)]
    axis = join_markup(Markup("<span>%s</span>") % end for end in ends)
    told = "; ".join(
        f"{ends[place]} to {ends[place + 1]}: {count}"
        for place, count in enumerate(found)
        if count
    )
    middle = 100 * median(totals) / of
    side = Markup(' class="l"') if middle > 70 else NOTHING
    shown = join_markup(_NUMBER % one for one in numbers)
    label = f"Histogram of {len(totals)} marks. {told}. Median {median(totals):.3g}."
    return _FIGURE % (shown, label, bars, f"{middle:.1f}", side, axis)


def _part(name: str, result: ClassResult) -> Markup:
    found = [
        part
        for one in result.graded
        if not one.marks.withheld
        for part in one.marks.parts
        if part.name == name
    ]
    of = max((part.of for part in found), default=Fraction(0))
    if not of:
        return NOTHING
    reached = sum((part.points for part in found), start=Fraction(0)) / len(found)
    return _PART % (
        name,
        decimal(reached),
        decimal(of),
        f"{float(100 * reached / of):.0f}",
        f"{float(reached):.2f}",
        decimal(of),
        sum(part.points == of for part in found),
        sum(not part.points for part in found),
    )
