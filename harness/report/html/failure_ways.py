"""The ways in which tests failed: those that have something in common, and a card for each. Pure.

A failure has several descriptions, from the most telling to the broadest: its error; how its
answer differs from the right one, if there are words for that; the answer itself; and whether a
point of it is right. A description that fits one failure alone says nothing, so the next broader
one is tried for it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from types import SimpleNamespace

from harness.core.records import Outcome, Step, Verdict
from harness.core.text import number_of, one_line, some
from harness.core.typed import NamedTuple
from harness.reading.expectation import EMPTY
from harness.report.board_evidence import evidence, names_of_points, right_answers, without_points
from harness.report.difference import sides
from harness.report.file_view import FileView
from harness.report.html.board_drawing import board
from harness.report.html.file import card_addresses
from harness.report.html.parts import NOTHING
from harness.report.html.templates import Markup, Template
from harness.vocabulary.answers import differs

_LONGEST_GROUP = 100  # characters of an answer
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
        return right_answers(self.step.pattern)


Ways = list[tuple[str, list[Failed]]]  # their description, and the tests


def group_failures(views: Iterable[FileView]) -> tuple[Ways, int]:
    """Return the ways that are more than one test's, the most frequent first.

    Last, how many other tests failed.
    """
    failures = [
        Failed(view, outcome)
        for view in views
        for outcome in (view.remarkable if view.tally.failed else ())
        if outcome.verdict is Verdict.FAILED and outcome.reply
    ]
    left, found = [(one, _describe(one)) for one in failures], Ways()
    for least, kind in product((_MANY, 2), range(4)):
        groups: dict[str, list[tuple[Failed, tuple[str, ...]]]] = defaultdict(list)
        for one, told in left:
            groups[told[kind]].append((one, told))
        left = []
        for description, tests in groups.items():
            if description and len(tests) >= least:
                found.append((description, [one for one, _ in tests]))
            else:
                left += tests
    return sorted(found, key=lambda one: -len(one[1])), len(left)


def _describe(one: Failed) -> tuple[str, ...]:
    """Return what is said of a failure, from the most telling to the broadest; "" for nothing."""
    words = one_line(one.reply, _LONGEST_GROUP)
    if one.outcome.reply and not one.outcome.reply.ok:
        return f"An error: {words}" if one.reply else "An error without a word", "", "", ""
    told = {differs(one.view.wordings, one.step.command, text, one.reply) for text in one.right}
    difference, point = told.pop() if len(told) == 1 else "", ""
    came, form = names_of_points(one.reply), without_points(one.reply)
    if came and any(came & names_of_points(text) for text in one.right):
        point = "The right point, with something else that is wrong"
    elif came and any(without_points(text) == form for text in one.right):
        point = "Another point than the right one"
    return "", difference, f"The same wrong answer: {words or EMPTY}", point


# --- The ways in which tests failed: a card for each, with one example on its board --------------


_SHOWN, _FILES, _COMMANDS = 6, 6, 4  # ways; files and commands of one that are named
_ROOM = 60  # characters of an answer

_template = Template("report/html/failure_ways.html")
_Addresses = Mapping[str, Mapping[int, tuple[str, str]]]  # of cards, by file and line


def ways(views: Sequence[FileView], names: Sequence[str]) -> Markup:
    """Return the ways that are more than one test's; ``names``: of the files' pages."""
    found, alone = group_failures(views)
    if not found:
        return NOTHING
    left = alone + sum(len(tests) for _, tests in found[_SHOWN:])
    addresses = {
        view.file.case.path: card_addresses(view, name)
        for view, name in zip(views, names, strict=True)
        if view.tally.failed
    }
    rest = f"; {number_of(left, 'test')} failed in other ways" if left else ""
    return _template.section([_way(*one, addresses) for one in found[:_SHOWN]], rest)


def _way(description: str, tests: Sequence[Failed], addresses: _Addresses) -> SimpleNamespace:
    paths = Counter(one.view.file.case.path for one in tests)
    counts = Counter(one.step.command.partition(" ")[0] for one in tests)
    commands = (f"{name} ×{n}" if n > 1 else name for name, n in counts.most_common())
    shown = min(tests, key=_rank)
    diagram = shown.view.boards.get(shown.outcome.step)
    sided = sides(shown.view, shown.outcome)
    expected, got = (
        one_line(side.said or str(side), _ROOM) if side else ""
        for side in (sided.expected, sided.got)
    )
    first = {one.view.file.case.path: one for one in reversed(tests)}
    return SimpleNamespace(
        count=len(tests),
        paths=len(paths),
        board=board(diagram, evidence(shown.step, shown.outcome, diagram)) if diagram else "",
        description=description,
        commands=some(commands, _COMMANDS),
        expected=expected,
        got=got,
        files=[  # each linked to the first of these tests in it
            (addresses[path][first[path].step.line][0], path.rpartition("/")[2], count)
            for path, count in paths.most_common(_FILES)
        ],
    )


def _rank(one: Failed) -> tuple[bool, int]:
    """Sort key for the example: a small board is best."""
    diagram = one.view.boards.get(one.outcome.step)
    return diagram is None, diagram.position.grid.rows if diagram else 0
