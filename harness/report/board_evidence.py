"""What the board of a test shows of it: its points, those that explain a score, the count. Pure.

Nothing is known of how an engine counts. But where the points of some neutral regions, given to
one color, make exactly its answer, and no other choice of regions does, that is worth a look.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from harness.core.records import Outcome, Pattern, Step, Verdict
from harness.core.typed import NamedTuple
from harness.reading.expectation import examples, is_any_order
from harness.vocabulary.answers import score_of
from oracle.position import EMPTY, Grid, Point, vertex
from oracle.sentences import listing

TYPE_CHECKING = False

if TYPE_CHECKING:
    from oracle.draw import Diagram
    from oracle.explanation import Explanation, Fact

NEUTRAL = "n"  # the mark of a point that nobody owns
_MOST = 10  # regions: of more, some choice fits nearly every answer

Points = tuple[Point, ...]


def find_explaining_points(
    pattern: Pattern | None, answer: str, marks: Mapping[Point, str]
) -> tuple[Points, Points]:
    """Return the neutral points that, given to Black or to White, make exactly the answer.

    ``marks``: by point, as explanations put them on a board. One of both is empty, mostly both.
    """
    if pattern is None or pattern.negated:
        return (), ()
    right, came = {score_of(text) for text in examples(pattern.expression).texts}, score_of(answer)
    wanted = right.pop() if len(right) == 1 else None
    neutral = {point for point, mark in marks.items() if mark == NEUTRAL}
    if came is None or wanted is None:
        return (), ()
    more = came - wanted  # points for Black
    if not more or abs(more) > len(neutral) or more != int(more):
        return (), ()
    regions = _regions(neutral)
    fitting = [
        some
        for count in range(1, len(regions) + 1 if len(regions) <= _MOST else 1)
        for some in combinations(regions, count)
        if sum(map(len, some)) == abs(more)
    ]
    if len(fitting) != 1:
        return (), ()
    points = tuple(sorted(set().union(*fitting[0])))
    return (points, ()) if more > 0 else ((), points)


def _regions(points: set[Point]) -> list[set[Point]]:
    left, found = set(points), []
    while left:
        region, edge = set(), {left.pop()}
        while edge:
            region |= edge
            around = {
                (r + dr, c + dc) for r, c in edge for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1))
            }
            edge = around & left
            left -= edge
        found.append(region)
    return found


# --- The subject of a test, as points on its board: asked for, right, missing, wrong. Pure -------
# Only whole vertices count, as commands, expectations and replies have them. Of an expectation
# that leaves open what it matches nothing is said.


_VERTEX = re.compile(r"(?<![^\s,;:()\[\]{}|])([A-Z])([1-9]\d?)(?![^\s,;:()\[\]{}|])", re.I)
_CHOOSE = ("genmove", "reg_genmove")  # commands that are answered with a move
_NAMED = 4  # occupied points that are named
_LONGEST = 4_000  # characters of a text that is looked through


class Evidence(NamedTuple):
    """Points of a board, each list from A1 rightwards, then upwards, and without the others'."""

    asked: Points = ()  # the command names them
    right: Points = ()  # expected: all of them came, or one of them is enough
    missing: Points = ()  # expected in a list, and did not come
    wrong: Points = ()  # came, and are not right
    for_black: Points = ()  # nobody's, and given to Black they make the wrong reply
    for_white: Points = ()  # the same for White

    def __bool__(self) -> bool:
        """Whether there is anything to be seen."""
        return any(self)


def evidence(step: Step, outcome: Outcome, diagram: Diagram) -> Evidence:
    """Return what there is to see of a test on its board."""
    board, letters = diagram.position.grid, diagram.letters
    asked = points(step.command, board, letters)
    reply = outcome.reply
    came = points(reply.text, board, letters) if reply and reply.ok else ()
    if outcome.verdict not in (Verdict.FAILED, Verdict.EXPECTED_FAIL):
        return Evidence(asked, came)
    expected, is_list = _find_expected(step.pattern, board, letters)
    missing = _without(expected, came) if is_list and came else ()
    right = _without(expected, missing)
    wrong = _without(came, expected) if right_answers(step.pattern) else ()
    for_black: Points = ()
    for_white: Points = ()
    if reply and reply.ok and NEUTRAL in diagram.marks.values():
        for_black, for_white = find_explaining_points(step.pattern, reply.text, diagram.marks)
    return Evidence(asked, right, missing, wrong, for_black, for_white)


def objection(step: Step, outcome: Outcome, diagram: Diagram) -> str:
    """Return what speaks against the points of a reply where it should be moves, or "".

    Such as ", which is occupied". Whether points are moves is told by the right ones: these are
    empty. An engine's own move is one in any case.
    """
    board, letters, reply = diagram.position.grid, diagram.letters, outcome.reply
    if reply is None or not reply.ok or outcome.verdict is not Verdict.FAILED:
        return ""
    if step.command.partition(" ")[0] not in _CHOOSE:
        expected, _ = _find_expected(step.pattern, board, letters)
        if not expected or any(diagram.position.color_at(one) != EMPTY for one in expected):
            return ""
    came = points(reply.text, board, letters)
    taken = [one for one in came if diagram.position.color_at(one) != EMPTY]
    if _VERTEX.fullmatch(reply.text):
        return ", which is occupied" if taken else "" if came else ", which is not on the board"
    if not taken:
        return ""
    names = listing([vertex(one, letters) for one in taken[:_NAMED]])
    if len(taken) > _NAMED:
        return f"; {len(taken)} of them are occupied, such as {names}"
    return f"; {names} {'is' if len(taken) == 1 else 'are'} occupied"


def points(text: str, board: Grid, letters: str) -> Points:
    """Return the points of a board that a text names."""
    named = (
        (int(row) - 1, letters.find(letter.upper()))
        for letter, row in _VERTEX.findall(text[:_LONGEST])
    )
    return tuple(sorted({point for point in named if point in board}))


def names_of_points(text: str) -> set[str]:
    """Return the names in a text that are points of some board."""
    return {f"{letter}{row}".upper() for letter, row in _VERTEX.findall(text[:_LONGEST])}


def without_points(text: str) -> str:
    """Return a text with the same sign in the place of each point."""
    return _VERTEX.sub("*", text[:_LONGEST])


def _find_expected(pattern: Pattern | None, board: Grid, letters: str) -> tuple[Points, bool]:
    """Return the points of the right answers, and whether the one right answer is a list."""
    texts = right_answers(pattern)
    if not texts:
        return (), False
    found = {point for text in texts for point in points(text, board, letters)}
    is_list = len(texts) == 1 or is_any_order(texts)
    return tuple(sorted(found)), is_list and len(found) > 1


def right_answers(pattern: Pattern | None) -> Sequence[str]:
    """Return all right answers, none where there is no telling."""
    if pattern is None or pattern.negated:
        return ()
    found = examples(pattern.expression)
    return found.texts if found.complete else ()


def _without(points: Points, excluded: Points) -> Points:
    left_out = set(excluded)
    return tuple(point for point in points if point not in left_out)


# --- The count of a right score as a table, made from the facts of its explanation. Pure ---------


# Facts of a sentence that adds up the points of a color, by their names, and what they are called.
_COLUMNS = {
    "stones": "Stones",
    "prisoners": "Prisoners",
    "points": "Territory",
    "territory": "Territory",
    "komi": "Komi",
    "total": "Total",
}
_NO_POINTS = "–"  # in the place of what a color does not have


class Count(NamedTuple):
    heads: tuple[str, ...]  # of the figures
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # a color, and its figures
    result: tuple[str, str] = ("", "")  # who leads and by how much; of both colors only


def counts(explanations: Mapping[int, Explanation]) -> dict[int, Count]:
    """Return the tables of those explanations that add up something."""
    made = ((step, count_of(why)) for step, why in explanations.items())
    return {step: count for step, count in made if count}


def count_of(explanation: Explanation) -> Count | None:
    """Return the table of an explanation; None if it adds up nothing."""
    sums = [
        {part.name: part for part in one.parts if not isinstance(part, str)}
        for one in explanation.sentences
    ]
    sums = [facts for facts in sums if "color" in facts and "total" in facts]
    if not sums:
        return None
    names = [name for name in _COLUMNS if any(name in facts for facts in sums)]
    colors = [str(facts["color"]).capitalize() for facts in sums]
    rows = tuple(
        (color, tuple(_figure(facts.get(name)) for name in names))
        for color, facts in zip(colors, sums, strict=True)
    )
    heads, result = tuple(_COLUMNS[name] for name in names), ("", "")
    if len(sums) == 2:  # Black's and White's
        from oracle.komi import exact, plain_text

        points, others = (facts["total"].value for facts in sums)
        is_whole = isinstance(points, int) and isinstance(others, int)
        more = points - others if is_whole else exact().subtract(points, others)
        leads = f"{colors[0] if more > 0 else colors[1]} leads by" if more else "A draw"
        result = leads, plain_text(abs(more) if more else more)
    return Count(heads, rows, result)


def _figure(fact: Fact | None) -> str:
    if fact is None:
        return _NO_POINTS
    # The words of a whole number have its noun.
    return str(fact.value) if isinstance(fact.value, int) else str(fact)
