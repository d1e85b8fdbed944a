"""What came of a sample, as a table and as sentences of the documentation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from tests.mutation.modules import ROOT
from tests.mutation.results import Result
from tests.mutation.trying import Outcome

PAGE = ROOT / "docs" / "mutation.md"
_WHOLE = 400  # changes of a whole sample
_LATER = "later"  # noticed by tests that were written since
_BEGIN, _END = "<!-- written by python -m tests.mutation -->\n", "<!-- end -->\n"
_HEAD = (
    "| modules | drawn | noticed | equivalent | not noticed | since then |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: |"
)


def share(outcomes: Iterable[str]) -> float:
    """Return the part from 0 to 1 of the changes that change something which is noticed."""
    counts = Counter(outcomes)
    counted = counts[Outcome.NOTICED] + counts[Outcome.SURVIVED]
    return counts[Outcome.NOTICED] / counted if counted else 1.0


def markdown(found: Iterable[Result]) -> str:
    """Return a table with a row for each folder of modules, and the whole below."""
    by_folder: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        by_folder[one.module.rpartition("/")[0]].update([one.first, *[_LATER] * bool(one.later)])
    rows = [_row(f"`{folder}`", by_folder[folder]) for folder in sorted(by_folder)]
    rows.append(_row("all", sum(by_folder.values(), Counter())))
    return "\n".join([_HEAD, *rows])


def _row(name: str, counts: Counter[str]) -> str:
    columns = [sum(counts[one] for one in Outcome), *(counts[one] for one in (*Outcome, _LATER))]
    return f"| {name} | " + " | ".join(map(str, columns)) + " |"


def paragraph(found: list[Result]) -> str:
    """Return what the samples were, and their table."""
    if not found:
        return "No sample was run.\n"
    mean = sum(one.cpu for one in found) / len(found)
    return (
        f"{len(found)} changes were tried.\n\n{_by_commit(found)}{_later(found)}\n"
        f"{markdown(found)}\n\nA change took {mean:.1f} seconds of CPU time.\n{_survivors(found)}"
    )


def _by_commit(found: list[Result]) -> str:
    """Return a list of the commits at which changes were tried, each with its share."""
    lines = ""
    for commit in dict.fromkeys(one.commit for one in found):
        some = [one for one in found if one.commit == commit]
        seeds = ", ".join(str(one) for one in sorted({one.seed for one in some}))
        noticed = share(one.first for one in some)
        lines += (
            f"- {some[0].date}, commit {commit}, seed {seeds}: {_count(some)};"
            f" {noticed:.1%} of those that change something were noticed\n"
        )
    return lines


def _count(some: list[Result]) -> str:
    """Return how many changes were tried, and of how many if that is not a whole sample."""
    return f"{len(some)} changes" if len(some) >= _WHOLE else f"{len(some)} of {_WHOLE} changes"


def _later(found: list[Result]) -> str:
    """Return what the tests noticed that were written since, as an item of the list."""
    if not any(one.later for one in found):
        return ""
    return f"- with the tests that were written since: {share(one.now for one in found):.1%}\n"


def _survivors(found: list[Result]) -> str:
    """Return a list of the changes that were not noticed; empty if all were."""
    left = [one for one in found if one.now == Outcome.SURVIVED]
    items = [f"- `{one.module}`: ``{one.before}`` became ``{one.after}``\n" for one in left]
    return "\nNot noticed:\n\n" + "".join(sorted(items)) if items else ""


def page(found: list[Result], text: str) -> str:
    """Return the text of the page with the paragraph of a sample in its place."""
    before, _, rest = text.partition(_BEGIN)
    return f"{before}{_BEGIN}{paragraph(found)}{_END}{rest.partition(_END)[2]}"
