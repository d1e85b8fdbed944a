"""The statistics of a history: spread, a rank test, many tests at once, an interval. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from statistics import median, quantiles

from harness.history.records import Spread

_EXACT = 30  # values together up to which the rank test counts all orders


def measure_spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles of some values (inclusive method)."""
    low, middle, high = (
        quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    )
    return Spread(low, middle, high, len(values))


def chance_of_larger(now: Sequence[float], before: Sequence[float]) -> float:
    """Return how likely values as large as ``now`` are if nothing has changed since ``before``.

    The one-sided rank test of Mann and Whitney: all orders counted where values are few and none
    is there twice, else its normal approximation, corrected for ties and continuity.

    Source: H. B. Mann, D. R. Whitney, Ann. Math. Statist. 18 (1947) 50-60.
    """
    together = [*now, *before]
    larger = sum((a > b) + (a == b) / 2 for a in now for b in before)
    if len(together) <= _EXACT and len(set(together)) == len(together):
        counts = _orders(len(now), len(before))
        return sum(counts[round(larger) :]) / sum(counts)
    return _approximately(larger, together, len(now), len(before))


@cache
def _orders(few: int, many: int) -> tuple[int, ...]:
    """Return in how many orders of ``few + many`` values how many pairs have the first larger."""
    if not few or not many:
        return (1,)
    counts = [0] * (few * many + 1)
    for pairs, number in enumerate(_orders(few - 1, many)):
        counts[pairs + many] += number  # the largest is one of the few
    for pairs, number in enumerate(_orders(few, many - 1)):
        counts[pairs] += number
    return tuple(counts)


def _approximately(larger: float, together: Sequence[float], few: int, many: int) -> float:
    size = few + many
    ties = sum(count**3 - count for count in Counter(together).values())
    variance = few * many / 12 * (size + 1 - ties / (size * (size - 1)))
    if variance <= 0:
        return 1.0
    return math.erfc((larger - few * many / 2 - 0.5) / math.sqrt(2 * variance)) / 2


def remarkable(chances: Sequence[float], rate: float) -> list[bool]:
    """Return which of many tests are taken for real if ``rate`` of those taken may be false.

    Source: Y. Benjamini, Y. Hochberg, J. R. Statist. Soc. B 57 (1995) 289-300.
    """
    ordered = sorted(chances)
    limits = [chance for n, chance in enumerate(ordered, 1) if chance <= rate * n / len(ordered)]
    return [bool(limits) and chance <= limits[-1] for chance in chances]


def share_interval(part: int, whole: int) -> tuple[float, float]:
    """Return the 95 % interval of a share.

    Source: E. B. Wilson, J. Amer. Statist. Assoc. 22 (1927) 209-212.
    """
    z = 1.959964
    middle = (part + z * z / 2) / (whole + z * z)
    half = z / (whole + z * z) * math.sqrt(part * (whole - part) / whole + z * z / 4)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def slowness(times: Sequence[tuple[float, float]]) -> float:
    """Return how much slower than usual a run was: the median of times over their usual ones."""
    return median([time / usual for time, usual in times]) if times else 1.0
