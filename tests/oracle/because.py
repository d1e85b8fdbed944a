"""What the explanations of the oracle say, read back and recomputed without it.

:func:`facts` reads the sentences of an explanation: each becomes a name, and the numbers and
vertices in it. For each query that explains itself there is a function that takes the text and the
board, works every fact out anew with :mod:`tests.oracle.naive` and
:mod:`tests.oracle.gomoku_definition`, and asserts that they are these and no others.

A board is a list of rows of 0, 1 and 2, the bottom row first.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal

from tests.oracle import gomoku_definition as gomoku
from tests.oracle import naive
from tests.oracle.naive import BLACK, EMPTY, WHITE

GTP, SENSEI = "ABCDEFGHJKLMNOPQRSTUVWXYZ", "ABCDEFGHI"
NAME = {BLACK: "black", WHITE: "white"}

_N = r"(-?\d+(?:\.\d+)?)"  # a number
_V = r"([A-Z]\d+)"  # a vertex
_VS = r"([A-Z]\d+(?:(?:, | and )[A-Z]\d+)*)"  # some vertices
_NS = r"(\d+(?:(?:, | and )\d+)*)"  # some numbers
_C = r"([Bb]lack|[Ww]hite)"

Fact = tuple[object, ...]
# Of a query: what a fact is called, and the sentence that says it.
SENTENCES = {
    "score": {
        "no territory": rf"{_C}: {_N} stones? \+ 0 points of territory(?: \+ komi {_N})? = {_N}\.",
        "one region": rf"{_C}: {_N} stones? \+ {_N} points? in 1 region"
        rf"(?: \+ komi {_N})? = {_N}\.",
        "regions": rf"{_C}: {_N} stones? \+ {_N} points in {_N} regions \({_NS}\)"
        rf"(?: \+ komi {_N})? = {_N}\.",
        "nobody's": rf"{_N} empty regions? touch(?:es)? both colors: {_N} points? for nobody\.",
        "no stone": r"There is no stone, so the empty board counts for nobody\.",
        "score": rf"The score is (?:([BW])\+)?{_N}\.",
    },
    "captured": {
        "no liberty": rf"The {_C} chain at {_V} \({_N} stones?\) has no liberty: captured\.",
        "liberties": rf"The {_C} chain at {_V} \({_N} stones?\) has {_N} libert(?:y|ies)"
        rf"(?: \({_VS}\))?: not captured\.",
        "territory": rf"The region of {_V} \({_N} empty points?\) touches {_C} stones only: "
        r"captured, as territory\.",
        "neutral": rf"The region of {_V} \({_N} empty points?\) touches (stones of both colors|"
        r"no stone): not captured\.",
    },
    "java score": {
        "prisoners": rf"{_N} {_C} stones? ha(?:s|ve) no liberty: (?:a prisoner|prisoners), "
        r"taken off the board\.",
        "no territory": rf"No empty region touches {_C} stones only\.",
        "territory": rf"{_N} empty regions? touch(?:es)? {_C} stones only: {_NS} points?\.",
        "score": rf"{_C}'s score is {_N} \+ {_N} = {_N}\.",
    },
    "legal": {
        "occupied": rf"{_V} is occupied by a {_C} stone: not legal\.",
        "takes": rf"A {_C} stone at {_V} takes {_N} {_C} stones?: legal\.",
        "liberties": rf"A {_C} stone at {_V} has {_N} libert(?:y|ies)(?: \({_VS}\))?: legal\.",
        "self capture": rf"A {_C} stone at {_V} has no liberty and takes nothing: self capture, "
        r"not legal\.",
    },
    "eyes": {
        "no eyes": r"Eyes: none\.",
        "eyes": rf"Eyes: {_VS}\.",
        "false": rf"{_V} is false: {_VS} are not {_C}\.",
    },
    "two eyes": {
        "none near": r"Eyes that have another near: none\.",
        "near": rf"Eyes that have another near: {_VS}\.",
        "alone": rf"{_V} has no other eye within 2 rows or 2 columns\.",
        "within": rf"{_V} is within (2 rows and 2 columns|2 rows|2 columns) of {_V}\.",
    },
    "eye spaces": {
        "spaces": rf"{_N} eye spaces?\.",
        "space": rf"The region of {_V} \({_N} points?\) is surrounded by one chain\.",
        "touched": rf"The region of {_V} \({_N} points?\) is not an eye space: "
        rf"it touches {_C} stones too\.",
        "chains": rf"The region of {_V} \({_N} points?\) is not an eye space: "
        rf"the stones around it are {_N} "
        r"separate chains\.",
    },
    "gomoku": {
        "line": rf"{_C} has {_N} in a row: {_VS}\.",
        "not over": rf"Nobody has five in a row and {_N} points? (?:is|are) empty, "
        r"so the game is not over\.",
        "full": r"The board is full and nobody has five in a row\.",
        "over": r"The game is over(?:, so no move is legal|: no move is left)\.",
        "legal": rf"The game is not over, so the {_N} empty points? (?:is|are) legal\.",
        "Random": r"(?:Any|Nobody can win at once or make an open four, so any) "
        r"empty point will do\.",
        "Win": rf"{_C} can win at once\.",
        "BlockWin": rf"{_C} cannot win at once, but {_C} could\.",
        "OpenFour": r"Nobody can win at once\.",
        "BlockOpenFour": rf"Nobody can win at once and {_C} cannot make an open four, but {_C} "
        r"could\.",
        "five": rf"{_V} makes {_N} in a row: {_VS}\.",
        "four": rf"{_V} makes the open four {_VS} between the empty points {_VS}\.",
        "three": rf"{_V} turns the three {_VS} into an open four between {_VS}"
        rf"(?:, and {_V} into one between {_VS})?; {_VS} can block it\.",
    },
}


def facts(query: str, text: str) -> list[Fact]:
    """Return what the sentences of an explanation say, in their order."""
    return [_fact(query, sentence) for sentence in re.split(r"(?<=\.) ", text)]


def _fact(query: str, sentence: str) -> Fact:
    for name, pattern in SENTENCES[query].items():
        if found := re.fullmatch(pattern, sentence):
            return (name, *map(_value, found.groups()))
    raise AssertionError(f"no {query} says {sentence!r}")


def _value(text: str | None) -> object:
    """Return a number, a set of vertices, some numbers, or the words themselves."""
    if text is None:
        return None
    if re.fullmatch(_N, text):
        return Decimal(text)
    parts = re.split(", | and ", text)
    if re.fullmatch(_NS, text):
        return tuple(map(int, parts))
    return frozenset(parts) if re.fullmatch(_VS, text) else text.lower()


def numbers(text: str) -> list[str]:
    """Return the numbers and vertices in a text."""
    return re.findall(r"\d+(?:\.\d+)?", text)


def names(points, letters: str = GTP) -> frozenset[str]:
    """Return the vertices of points ``(row, column)``."""
    return frozenset(f"{letters[column]}{row + 1}" for row, column in points)


def regions(board, of_color: int = EMPTY) -> list[set]:
    """Return the connected parts of one content, by their lowest point."""
    parts: list[set] = []
    for point in naive.points(board):
        if naive.at(board, point) == of_color and not any(point in part for part in parts):
            parts.append(naive.part(board, point))
    return parts


def same(found: list[Fact], expected: list[Fact]) -> None:
    """Assert that facts are the expected ones, in any order."""
    assert Counter(found) == Counter(expected), (found, expected)


# --- go-scoring --------------------------------------------------------------------------------


def check_score(text: str, board, komi: Decimal) -> None:
    """Assert that the stones, the regions, the komi, the sums and the score are right."""
    empty = [(len(part), naive.colors_around(board, part)) for part in regions(board)]
    expected, totals = [], {}
    for color in (BLACK, WHITE):
        stones = sum(row.count(color) for row in board)
        sizes = sorted(size for size, colors in empty if colors == {color})
        extra = komi if color == WHITE else Decimal(0)
        totals[color] = stones + sum(sizes) + extra
        expected.append(_count_fact(NAME[color], stones, sizes, extra or None, totals[color]))
    shared = [size for size, colors in empty if len(colors) == 2]
    if shared:
        expected.append(("nobody's", len(shared), sum(shared)))
    if not any(map(any, board)):
        expected.append(("no stone",))
    lead = totals[BLACK] - totals[WHITE]
    winner = "b" if lead > 0 else "w" if lead else None
    same(facts("score", text), [*expected, ("score", winner, abs(lead))])


def _count_fact(color: str, stones: int, sizes: list[int], komi: object, total: object) -> Fact:
    if not sizes:
        return ("no territory", color, stones, komi, total)
    if len(sizes) == 1:
        return ("one region", color, stones, sizes[0], komi, total)
    return ("regions", color, stones, sum(sizes), len(sizes), tuple(sizes), komi, total)


# --- java-go -----------------------------------------------------------------------------------


def few(points) -> frozenset[str] | None:
    """Return what an explanation names: points, when they are few."""
    return names(points) if len(points) <= 4 else None


def check_captured(text: str, board, point) -> None:
    """Assert that the chain and its liberties, or the region and its neighbours, are right."""
    part, name, color = naive.part(board, point), names([point]), naive.at(board, point)
    free = naive.liberties(board, point)
    colors = naive.colors_around(board, part)
    if color and not free:
        expected = ("no liberty", NAME[color], name, len(part))
    elif color:
        expected = ("liberties", NAME[color], name, len(part), len(free), few(free))
    elif len(colors) == 1:
        expected = ("territory", name, len(part), NAME[colors.pop()])
    else:
        touched = "stones of both colors" if colors else "no stone"
        expected = ("neutral", name, len(part), touched)
    same(facts("captured", text), [expected])


def check_java_score(text: str, board, color: int) -> None:
    """Assert that the prisoners, the sizes of the territory and the sums are right."""
    points = naive.points(board)
    dead = [
        p for p in points if naive.at(board, p) == 3 - color and naive.has_no_liberty(board, p)
    ]
    bare = naive.without(board, set(dead))
    sizes = sorted(
        len(part) for part in regions(bare) if naive.colors_around(bare, part) == {color}
    )
    expected: list[Fact] = [("prisoners", len(dead), NAME[3 - color])] if dead else []
    listed = tuple(sizes) if len(sizes) > 1 else sum(sizes)
    some = ("territory", len(sizes), NAME[color], listed)
    expected.append(some if sizes else ("no territory", NAME[color]))
    expected.append(("score", NAME[color], len(dead), sum(sizes), len(dead) + sum(sizes)))
    assert expected[-1][-1] == naive.java_score(board, color)
    same(facts("java score", text), expected)


def check_legal(text: str, board, point, color: int) -> None:
    """Assert that what a stone takes, or its liberties, are right."""
    name, stone = names([point]), naive.at(board, point)
    if stone:
        same(facts("legal", text), [("occupied", name, NAME[stone])])
        return
    after, taken = naive.play_move(board, point, color)
    free = naive.liberties(after, point)
    if taken:
        expected = ("takes", NAME[color], name, len(taken), NAME[3 - color])
    elif free:
        expected = ("liberties", NAME[color], name, len(free), few(free))
    else:
        expected = ("self capture", NAME[color], name)
    same(facts("legal", text), [expected])


# --- gosensei ----------------------------------------------------------------------------------


def check_eyes(text: str, board, color: int) -> None:
    """Assert that the eyes are named, and of every false eye the corners that are missing."""
    found = names(naive.eyes(board, color), SENSEI)
    expected: list[Fact] = [("eyes", found) if found else ("no eyes",)]
    for point in naive.points(board):
        beside = {naive.at(board, other) for other in naive.neighbours(board, point)}
        if naive.at(board, point) == EMPTY and beside <= {color}:
            missing = [c for c in naive.diagonals(board, point) if naive.at(board, c) != color]
            if len(missing) > 1:
                lacking = names(missing, SENSEI)
                expected.append(("false", names([point], SENSEI), lacking, NAME[color]))
    same(facts("eyes", text), expected)


def check_two_eyes(text: str, board, color: int) -> None:
    """Assert which eyes have another near, and that the one named is the nearest of them."""
    every, near = naive.eyes(board, color), naive.two_eyes(board, color)
    found = names(near, SENSEI)
    first, *said = facts("two eyes", text)
    assert first == (("near", found) if found else ("none near",))
    alone = [("alone", names([point], SENSEI)) for point in every - near]
    same([fact for fact in said if fact[0] == "alone"], alone)
    within = {fact[1]: fact[2:] for fact in said if fact[0] == "within"}
    assert len(said) == len(alone) + len(within)
    assert within.keys() == {names([point], SENSEI) for point in near}
    for point in near:
        gaps = [gap for gap in _gaps(point, near) if min(gap[:2]) <= 2]
        nearest = min(sum(gap[:2]) for gap in gaps)
        lines, name = within[names([point], SENSEI)]
        assert (lines, name) in [
            (_lines(*gap[:2]), names([gap[2]], SENSEI)) for gap in gaps if sum(gap[:2]) == nearest
        ]


def _gaps(point, others) -> list[tuple]:
    """Return for each other point the rows and columns between, and the point."""
    rest = [other for other in others if other != point]
    return [(abs(r - point[0]), abs(c - point[1]), (r, c)) for r, c in rest]


def _lines(rows: int, columns: int) -> str:
    near = [name for gap, name in ((rows, "2 rows"), (columns, "2 columns")) if gap <= 2]
    return " and ".join(near)


def check_eye_spaces(text: str, board, color: int) -> None:
    """Assert the sentence on each region that touches the color, and the number of spaces."""
    spaces = naive.eye_spaces(board, color)
    expected: list[Fact] = [("spaces", len(spaces))]
    for region in regions(board):
        border, colors = naive.around(board, region), naive.colors_around(board, region)
        told = (names([min(region)], SENSEI), len(region))
        if frozenset(region) in spaces:
            expected.append(("space", *told))
        elif len(colors) == 2:
            expected.append(("touched", *told, NAME[3 - color]))
        elif colors == {color}:
            chains = {frozenset(naive.part(board, stone)) for stone in border}
            expected.append(("chains", *told, len(chains)))
    same(facts("eye spaces", text), expected)


# --- gomoku ------------------------------------------------------------------------------------


def check_result(text: str, rows) -> None:
    """Assert that every whole line is named, or the empty points counted. (Rows of ``.XO``.)"""
    same(facts("gomoku", text), _how_it_stands(rows))


def check_legal_moves(text: str, rows) -> None:
    """Assert the same, and that the number of moves is right while the game lasts."""
    stand = _how_it_stands(rows)
    going_on = stand[0][0] == "not over"
    same(facts("gomoku", text), [("legal", stand[0][1])] if going_on else [*stand, ("over",)])


def _how_it_stands(rows) -> list[Fact]:
    lines = [
        (stone, line) for stone in "XO" for line in _whole_lines(rows, stone) if len(line) >= 5
    ]
    if lines:
        color = {"X": "black", "O": "white"}
        return [("line", color[stone], len(line), names(line)) for stone, line in lines]
    empty = len(gomoku.empty_points(rows))
    return [("not over", empty)] if empty else [("full",)]


def _whole_lines(rows, stone: str) -> list[list]:
    """Return every row of stones that no stone prolongs, in each direction."""
    height, width = len(rows), len(rows[0])

    def holds(row: int, column: int) -> bool:
        return 0 <= row < height and 0 <= column < width and rows[row][column] == stone

    found = []
    for row, column in ((r, c) for r in range(height) for c in range(width)):
        for up, right in gomoku.DIRECTIONS:
            line, (r, c) = [], (row, column)
            if not holds(row - up, column - right):
                while holds(r, c):
                    line.append((r, c))
                    r, c = r + up, c + right
                found.append(line)
    return found


def check_policy(text: str, rows, color: int, policy: str) -> None:
    """Assert that the type, each move's line, and each three with its completions are right."""
    mine, theirs = ("X", "O") if color == BLACK else ("O", "X")
    me, you = NAME[color], NAME[3 - color]
    kind, moves = gomoku.policy_moves(rows, mine)
    if policy == "random" and kind:
        kind, moves = "Random", gomoku.empty_points(rows)
    if not kind:
        same(facts("gomoku", text), [*_how_it_stands(rows), ("over",)])
        return
    first, *said = facts("gomoku", text)
    colors = {"Win": (me,), "BlockWin": (me, you), "BlockOpenFour": (me, you)}.get(kind, ())
    assert first == (kind, *colors)
    if kind in ("Win", "BlockWin"):
        _check_fives(said, rows, mine if kind == "Win" else theirs, moves)
    elif kind == "OpenFour":
        _check_fours(said, rows, mine, moves)
    elif kind == "BlockOpenFour":
        _check_threes(said, rows, theirs)
    else:
        assert said == []


def _check_named(said: list[Fact], moves) -> None:
    """Assert one sentence for each move."""
    assert Counter(fact[1] for fact in said) == Counter(names([move]) for move in moves)


def _check_fives(said: list[Fact], rows, stone: str, moves) -> None:
    _check_named(said, moves)
    for move in moves:
        fact = next(fact for fact in said if fact[1] == names([move]))
        lines = _whole_lines(gomoku.after(rows, move, stone), stone)
        assert fact in [
            ("five", names([move]), len(line), names(line))
            for line in lines
            if move in line and len(line) >= 5
        ]


def _check_fours(said: list[Fact], rows, stone: str, moves) -> None:
    _check_named(said, moves)
    for move in moves:
        fact = next(fact for fact in said if fact[1] == names([move]))
        assert fact in [
            ("four", names([move]), names(four), names(ends))
            for four, ends in gomoku.open_fours_made(rows, move, stone)
        ]


def _check_threes(said: list[Fact], rows, stone: str) -> None:
    found = {}
    for _, first, three, ends, *other, common in said:
        ways = {(first, ends), tuple(other)}
        found[three] = ({way for way in ways if way[0]}, common)
    assert len(found) == len(said)
    expected = {}
    for three, sets in gomoku.completions(rows, stone).items():
        if sets:
            common = names(set.intersection(*sets))
            expected[names(three)] = (_ways(rows, stone, three), common)
    assert found == expected


def _ways(rows, stone: str, three) -> set[tuple]:
    """Return each point that makes an open four of a three, with the four's two ends."""
    return {
        (names([point]), names(ends))
        for point in gomoku.empty_points(rows)
        for four, ends in gomoku.open_fours_made(rows, point, stone)
        if set(four) == set(three) | {point}
    }
