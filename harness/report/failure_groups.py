"""Group failed tests that have something in common. Pure.

A failure has several descriptions, from the most telling to the broadest: its error; how its
answer differs from the right one, if there are words for that; the answer itself; and whether a
point of it is right. A description that fits one failure alone says nothing, so the next broader
one is tried for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from harness.escaping import one_line
from harness.reading.expectation import EMPTY, examples
from harness.records import Outcome, Step, Verdict
from harness.report.board_evidence import names_of_points, without_points
from harness.report.file_view import FileView
from harness.typed import NamedTuple
from harness.vocabulary.wordings import differs

_ROOM = 100  # characters of an answer
_MANY = 3  # failures that get a more telling description; fewer if no broader one fits


class Failed(NamedTuple):
    """One test that failed, with an answer."""

    view: FileView
    outcome: Outcome

    @property
    def step(self) -> Step:
        return self.view.file.case.steps[self.outcome.step]

    @property
    def reply(self) -> str:
        return self.outcome.reply.text if self.outcome.reply else ""

    @property
    def right(self) -> Sequence[str]:
        """All right answers, none where there is no telling."""
        pattern = self.step.pattern
        if pattern is None or pattern.negated:
            return ()
        found = examples(pattern.expression)
        return found.texts if found.complete else ()


Ways = list[tuple[str, list[Failed]]]  # their description, and the tests


def ways(views: Iterable[FileView]) -> tuple[Ways, int]:
    """Return the ways that are more than one test's, the most frequent first.

    Last, how many other tests failed.
    """
    left = list(_failures(views))
    found: Ways = []
    for say in _SAYINGS:
        groups, left = _group(left, say, _MANY)
        found += groups
    for say in _SAYINGS:
        groups, left = _group(left, say, 2)
        found += groups
    return sorted(found, key=lambda one: -len(one[1])), len(left)


def _failures(views: Iterable[FileView]) -> Iterator[Failed]:
    for view in views:
        for outcome in view.remarkable if view.tally.failed else ():
            if outcome.verdict is Verdict.FAILED and outcome.reply:
                yield Failed(view, outcome)


def _group(
    some: Sequence[Failed], say: Callable[[Failed], str], least: int
) -> tuple[Ways, list[Failed]]:
    """Return the groups of at least so many failures with one description, and all others."""
    groups: dict[str, list[Failed]] = defaultdict(list)
    for one in some:
        groups[say(one)].append(one)
    is_group = {told: bool(told) and len(tests) >= least for told, tests in groups.items()}
    left = [one for told, tests in groups.items() if not is_group[told] for one in tests]
    return [(told, tests) for told, tests in groups.items() if is_group[told]], left


# --- what can be said of one -------------------------------------------------------------------


def _error(one: Failed) -> str:
    if one.outcome.reply is None or one.outcome.reply.ok:
        return ""
    return f"An error: {one_line(one.reply, _ROOM)}" if one.reply else "An error without a word"


def _difference(one: Failed) -> str:
    told = {differs(one.view.wordings, one.step.command, text, one.reply) for text in one.right}
    return told.pop() if len(told) == 1 and not _error(one) else ""


def _answer(one: Failed) -> str:
    return "" if _error(one) else f"The same wrong answer: {one_line(one.reply, _ROOM) or EMPTY}"


def _point(one: Failed) -> str:
    came = names_of_points(one.reply)
    if not came or _error(one):
        return ""
    if any(came & names_of_points(text) for text in one.right):
        return "The right point, with something else that is wrong"
    form = without_points(one.reply)
    is_form_right = any(without_points(text) == form for text in one.right)
    return "Another point than the right one" if is_form_right else ""


_SAYINGS = (_error, _difference, _answer, _point)
