"""What came of a sample, as a table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from tests.mutation.drawing import Change
from tests.mutation.trying import Outcome


def share(tried: Iterable[tuple[Change, Outcome]]) -> float:
    """Return the part from 0 to 1 of the changes that change something which is noticed."""
    counts = Counter(outcome for _, outcome in tried)
    counted = counts[Outcome.NOTICED] + counts[Outcome.SURVIVED]
    return counts[Outcome.NOTICED] / counted if counted else 1.0


def markdown(tried: list[tuple[Change, Outcome]]) -> str:
    """Return a table with a row for each folder of modules, and the whole below."""
    by_folder: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for change, outcome in tried:
        by_folder[change.module.rpartition("/")[0]][outcome] += 1
    rows = [_row(f"`{folder}`", by_folder[folder]) for folder in sorted(by_folder)]
    rows.append(_row("all", sum(by_folder.values(), Counter())))
    head = "| modules | noticed | change nothing | not noticed |\n| --- | ---: | ---: | ---: |"
    return "\n".join([head, *rows])


def _row(name: str, counts: Counter[Outcome]) -> str:
    return f"| {name} | " + " | ".join(str(counts[one]) for one in Outcome) + " |"
