"""The ways in which tests failed: a card for each, with one example on its board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.escaping import one_line
from harness.report.board_evidence import evidence
from harness.report.failure_groups import Failed
from harness.report.failure_groups import ways as found_ways
from harness.report.file_view import FileView
from harness.report.html.board_drawing import board
from harness.report.html.file import card_addresses
from harness.report.html.parts import both_sides
from harness.report.markup import NOTHING, Markup
from harness.report.sides import sides
from harness.text import number_of, some

_SHOWN, _FILES, _COMMANDS = 6, 6, 4  # ways; files and commands of one that are named
_ROOM = 60  # characters of an answer

_CARD = Markup(
    '<article class="card gp"><p class="cn"><b>%s</b><span class="sub">%s</span></p>%s'
    '<h3>%s</h3><p class="sub">%s</p>%s<p class="sub">%s</p></article>\n'
)
_SECTION = Markup(
    '<section aria-label="Ways of failing"><div class="sec-h"><h2>Ways of failing</h2>'
    '<p class="sub">equal failures together, one example each%s</p></div>'
    '<div class="gps">%s</div></section>\n'
)

_Addresses = Mapping[str, Mapping[int, tuple[str, str]]]  # of cards, by file and line


def ways(views: Sequence[FileView], names: Sequence[str]) -> Markup:
    """Return the ways that are more than one test's; ``names``: of the files' pages."""
    found, alone = found_ways(views)
    if not found:
        return NOTHING
    left = alone + sum(len(tests) for _, tests in found[_SHOWN:])
    rest = f"; {number_of(left, 'test')} failed in other ways" if left else ""
    addresses = {
        view.file.case.path: card_addresses(view, name)
        for view, name in zip(views, names, strict=True)
        if view.tally.failed
    }
    return _SECTION % (
        rest,
        NOTHING.join(_card(told, tests, addresses) for told, tests in found[:_SHOWN]),
    )


def _card(told: str, tests: Sequence[Failed], addresses: _Addresses) -> Markup:
    paths = Counter(one.view.file.case.path for one in tests)
    count = f"tests in {number_of(len(paths), 'file')}"
    shown = min(tests, key=_rank)
    return _CARD % (
        len(tests),
        count,
        _board(shown),
        told,
        _commands(tests),
        _example(shown),
        _files(paths, tests, addresses),
    )


def _rank(one: Failed) -> tuple[bool, int]:
    """How well a test serves as the example: a small board is best."""
    diagram = one.view.boards.get(one.outcome.step)
    return diagram is None, diagram.position.grid.rows if diagram else 0


def _board(one: Failed) -> Markup:
    diagram = one.view.boards.get(one.outcome.step)
    if diagram is None:
        return NOTHING
    return board(diagram, evidence(one.step, one.outcome, diagram))


def _commands(tests: Sequence[Failed]) -> str:
    counts = Counter(one.step.command.partition(" ")[0] for one in tests)
    return some((_times(name, count) for name, count in counts.most_common()), _COMMANDS)


def _times(name: str, count: int) -> str:
    return f"{name} ×{count}" if count > 1 else name


def _example(one: Failed) -> Markup:
    told = sides(one.view, one.outcome)
    expected, got = (
        one_line(side.said or str(side), _ROOM) if side else ""
        for side in (told.expected, told.got)
    )
    return both_sides(expected, got)


def _files(paths: Counter[str], tests: Sequence[Failed], addresses: _Addresses) -> Markup:
    """Return the files, each linked to the first of these tests in it."""
    first = {one.view.file.case.path: one for one in reversed(tests)}
    links = [
        Markup('<a href="%s">%s</a>%s')
        % (
            addresses[path][first[path].step.line][0],
            path.rpartition("/")[2],
            f" ×{count}" if count > 1 else "",
        )
        for path, count in paths.most_common(_FILES)
    ]
    left = len(paths) - len(links)
    return Markup(", ").join(links) + (f" and {left} more" if left else "")
