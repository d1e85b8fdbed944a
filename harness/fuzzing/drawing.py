"""What Hypothesis draws: conversations about positions in which programs go wrong.

Each assignment has a strategy for a *game* (a board, stones, questions); a script is a few games
in one process. What belongs together is drawn as one choice where that is possible, from a list
made once: Hypothesis's time goes by the number of choices. A script is made small by drawing what
is left of it: :mod:`harness.fuzzing.pruning`.

What is drawn need not be legal: :func:`harness.fuzzing.script.legal` sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.fuzzing.script import BoardFile, Script, written
from oracle.vertex import GTP_LETTERS, SENSEI_LETTERS, Point, vertex

T = TypeVar("T")
Drawn = list[str | BoardFile]
Stones = list[tuple[str, Point]]  # (color, point) in the order in which they are laid

COLORS = st.sampled_from(("B", "W"))
_STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
_SMALL = (2, 3, 4, 5)
_LONGEST = 7  # points of a line


def scripts(
    assignment: str, known: frozenset[str] = frozenset(), length: int = 8
) -> SearchStrategy[Script]:
    """Return the strategy of scripts for an assignment.

    ``known``: commands beyond the assignment's that the engine says it knows, such as ``undo``.
    ``length``: what a game has of stones, lines, questions and the like, at most.
    """
    game = _GAMES[assignment](known, length)
    return st.lists(game, min_size=1, max_size=3).map(lambda games: written(_flat(games)))


# --- points and stones -------------------------------------------------------------------------


@cache
def _coordinates(size: int) -> tuple[int, ...]:
    """Return rows or columns, as many of them at the edge or beside it as anywhere."""
    near = sorted({0, 1, size - 2, size - 1} & set(range(size)))
    return (*near * (size // len(near)), *range(size))


@cache
def points(size: int) -> SearchStrategy[Point]:
    """Return points of a board, mostly near the edge."""
    return st.sampled_from(list(product(_coordinates(size), repeat=2)))


@cache
def single(size: int) -> SearchStrategy[Stones]:
    """Return a stone."""
    stones = product("BW", product(_coordinates(size), repeat=2))
    return st.sampled_from([[stone] for stone in stones])


@cache
def _rows(width: int, weights: str) -> SearchStrategy[str]:
    """Return what lies on some points beside each other; ``x`` is a color, ``o`` the other."""
    return st.sampled_from(["".join(row) for row in product(weights, repeat=width)])


@cache
def block(size: int, side: int = 4, weights: str = "..xxo") -> SearchStrategy[Stones]:
    """Return a few rows of points, full of stones: captures, shared regions, eyes, seki."""
    side = min(side, size)
    shapes = st.sampled_from(list(product(range(1, side + 1), repeat=2)))

    def rows(shape: tuple[int, ...]) -> SearchStrategy[list[str]]:
        return st.lists(_rows(shape[1], weights), min_size=shape[0], max_size=shape[0])

    return st.builds(
        lambda color, corner, filled: _laid(size, color, corner, filled),
        COLORS,
        points(size),
        shapes.flatmap(rows),
    )


def _laid(size: int, color: str, corner: Point, rows: Sequence[str]) -> Stones:
    """Return the stones of a block, pushed onto the board where it would reach beyond."""
    up = min(corner[0], size - len(rows))
    right = min(corner[1], size - len(rows[0]))
    found = [
        (cell, (up + r, right + c)) for r, row in enumerate(rows) for c, cell in enumerate(row)
    ]
    return _colored(color, found)


def _colored(color: str, found: Iterable[tuple[str, Point]]) -> Stones:
    other = "W" if color == "B" else "B"
    return [({"x": color, "o": other}[cell], point) for cell, point in found if cell != "."]


# What may lie on a line: as many stones of one color as there are points, or nearly as many.
_SOLID = ["x" * length for length in range(1, _LONGEST + 1)]
_MIXED = [
    "".join(row)
    for length in range(2, _LONGEST + 1)
    for row in product("x.o", repeat=length)
    if row.count("x") + 2 >= length and row.count("o") < 2
]


@cache
def line(size: int) -> SearchStrategy[Stones]:
    """Return a line of points in one of the four directions: near-misses, overlines, threats."""
    return st.builds(
        lambda start, way, color, held, turn: _lined(_way(size, start, *way), color, held, turn),
        points(size),
        st.sampled_from(list(product(_STEPS, (False, False, True)))),
        COLORS,
        st.one_of(st.sampled_from(_SOLID), st.sampled_from(_MIXED)),
        st.integers(0, _LONGEST - 1),
    )


def _way(size: int, start: Point, step: Point, is_bent: bool) -> list[Point]:
    """Return the points of a line on the board.

    ``is_bent``: it goes on at the other edge, a row higher, as a list of rows would have it.
    """
    points_ = [(start[0] + i * step[0], start[1] + i * step[1]) for i in range(_LONGEST)]
    if is_bent:
        points_ = [divmod(row * size + column, size) for row, column in points_]
    return [point for point in points_ if _is_on(point, size)]


def _lined(way: list[Point], color: str, held: str, turn: int) -> Stones:
    """Return a line's stones, those from ``turn`` on first."""
    found = list(zip(held, way, strict=False))
    turn = turn if turn < len(found) else 0
    return _colored(color, found[turn:] + found[:turn])


_THREATS = (
    *("xxx", "xxxx", "xx.x", "oxxx", "o.xxx", "xxx.o", "xx.xx", "xxx.x", "oxxxx"),
    *("xxx.xx", "xxxoxx", "x.x.x"),
)


@cache
def threat(size: int, colors: str = "BW") -> SearchStrategy[Stones]:
    """Return stones that threaten something, or nearly so."""
    return st.builds(
        lambda start, step, held: _lined(_way(size, start, step, False), held[0], held[1], 0),
        points(size),
        st.sampled_from(_STEPS),
        st.sampled_from(list(product(colors, _THREATS))),
    )


@cache
def duel(size: int) -> SearchStrategy[Stones]:
    """Return threats of both colors."""
    return st.tuples(threat(size, "B"), threat(size, "W")).map(_flat)


# Threats with an empty point of theirs, before, in or behind them: (stones, index of the point).
_AT_A_GAP = [
    (row, index)
    for row in (f".{threat}." for threat in _THREATS if "o" not in threat)
    for index, cell in enumerate(row)
    if cell == "."
]


@cache
def crossing(size: int) -> SearchStrategy[Stones]:
    """Return two threats that one point completes or stops."""

    def crossed(arms: tuple[list[Point], list[Point]], colors: str) -> Stones:
        return [(color, point) for color, arm in zip(colors, arms, strict=True) for point in arm]

    point = st.sampled_from(list(product(range(size), repeat=2)))
    both = point.flatmap(lambda where: st.tuples(_arm(size, where), _arm(size, where)))
    return st.builds(crossed, both, st.sampled_from(("BB", "WW", "BW")))


@cache
def _arm(size: int, point: Point) -> SearchStrategy[list[Point]]:
    """Return the stones of a threat, all on the board, that has an empty point at ``point``."""
    ways = [
        [
            (point[0] + i * up, point[1] + i * right)
            for i, cell in enumerate(row, -at)
            if cell == "x"
        ]
        for (up, right), (row, at) in product(_STEPS, _AT_A_GAP)
    ]
    return st.sampled_from([way for way in ways if all(_is_on(one, size) for one in way)])


def _is_on(point: Point, size: int) -> bool:
    return 0 <= point[0] < size and 0 <= point[1] < size


def plays(stones: Stones) -> Drawn:
    """Return a ``play`` command for each stone."""
    return [f"play {color} {vertex(point)}" for color, point in stones]


def setup(stones: Stones) -> Drawn:
    """Return one command that puts all the stones."""
    words = [f"{color} {vertex(point)}" for color, point in stones]
    return [f"gogui-setup {' '.join(words)}"] if words else []


# --- what games are made of --------------------------------------------------------------------


def asked(*commands: str) -> SearchStrategy[Drawn]:
    """Return several questions at once: those without need are taken out again."""
    return st.builds(lambda: list(commands))


_NOTHING: SearchStrategy[Drawn] = st.builds(list)


def said(*texts: str) -> SearchStrategy[Drawn]:
    """Return some commands, one at a time."""
    return st.sampled_from(texts).map(lambda text: [text])


def _flat(parts: Iterable[list[T]]) -> list[T]:
    return [one for part in parts for one in part]


def filed(verb: str, texts: SearchStrategy[str]) -> SearchStrategy[Drawn]:
    """Return a command that names a file."""
    return texts.map(lambda text: [BoardFile(verb, text)])


def _parts(
    choices: Sequence[SearchStrategy[Drawn]], last: SearchStrategy[Drawn], length: int
) -> SearchStrategy[Drawn]:
    """Return some of the choices, with some of ``last`` at the end."""
    body = st.lists(st.one_of(choices), max_size=length).map(_flat)
    questions = st.lists(last, min_size=1, max_size=3).map(_flat)
    return st.tuples(body, questions).map(_flat)


def _extra(known: frozenset[str]) -> list[SearchStrategy[Drawn]]:
    return [said("undo")] if "undo" in known else []


def _boards(sizes: Sequence[int], rest: Callable[[int], SearchStrategy[Drawn]]) -> Any:
    """Return games on boards of some sizes."""

    @st.composite
    def game(draw: st.DrawFn) -> Drawn:
        size = draw(st.sampled_from(sizes))
        opening = draw(st.sampled_from(([], ["clear_board"])))
        return [f"boardsize {size}", *opening, *draw(rest(size))]

    return game()


# --- go-scoring --------------------------------------------------------------------------------

KOMI = said("komi 0", "komi 0.5", "komi 1", "komi 6.5", "komi -3", "komi -0.5", "komi 7")


def _go_scoring(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    score = said("score")

    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        choices = [
            *(single(size).map(plays), single(size).map(plays), block(size).map(plays)),
            *(score, KOMI, said("clear_board"), said("play B pass"), *_extra(known)),
        ]
        return st.tuples(KOMI, _parts(choices, score, length)).map(_flat)

    return _boards((*_SMALL, *_SMALL, 7, 9, 10, 19), rest)  # type: ignore[no-any-return]


# --- Gomoku ------------------------------------------------------------------------------------

_GOMOKU_SIZES = (5, 6, 7, 5, 6, 7, 8, 9, 10, 19)
_RULES = (
    *("gogui-rules_final_result", "gogui-rules_legal_moves"),
    *("gogui-rules_side_to_move", "gogui-rules_board_size"),
)
_LARGEST_FOR_GENMOVE = 7  # on larger boards it takes long to think


def _gomoku_rules(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        questions = asked(*_RULES)
        choices = [
            *(single(size).map(plays), line(size).map(plays), line(size).map(plays)),
            *(block(size, 3, ".xxo").map(plays), wrong_play(size), wrong_play(size)),
            *(questions, questions, said("clear_board"), *_extra(known)),
        ]
        if size <= _LARGEST_FOR_GENMOVE:
            choices.append(said("genmove b", "genmove w"))
            questions = st.one_of(questions, questions, said("genmove b", "genmove w"))
        opening = st.one_of(_NOTHING, full(size).map(plays)) if size == 5 else _NOTHING
        return st.tuples(opening, _parts(choices, questions, length)).map(_flat)

    return _boards(_GOMOKU_SIZES, rest)  # type: ignore[no-any-return]


@cache
def wrong_play(size: int) -> SearchStrategy[Drawn]:
    """Return moves of which color, coordinate or both may be wrong."""
    letters = GTP_LETTERS[: size + 2]
    return st.builds(
        lambda color, row, column: [f"play {color} {letters[column]}{row}"],
        st.sampled_from(("b", "w", "B", "W", "c", "black", "White", "red")),
        st.sampled_from((1, size, size + 1, 2)),
        st.sampled_from((0, size - 1, size, 1)),
    )


@cache
def full(size: int) -> SearchStrategy[Stones]:
    """Return a full board without five in a row, but for some points."""
    board = [("BBWW"[(c + 2 * r) % 4], (r, c)) for r in range(size) for c in range(size)]
    holes = st.lists(st.integers(0, len(board) - 1), max_size=2)
    return holes.map(lambda left_out: [s for i, s in enumerate(board) if i not in left_out])


def _gomoku_policy(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    questions = asked("policy_moves", *_RULES[:3])
    policy = said("policy rule_based", "policy rule_based", "policy random")

    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        choices = [
            *(threat(size).map(plays), threat(size).map(plays), duel(size).map(plays)),
            *(duel(size).map(plays), line(size).map(plays), line(size).map(plays)),
            *(crossing(size).map(plays), crossing(size).map(plays)),
            *(single(size).map(plays), questions, policy, said("clear_board"), *_extra(known)),
        ]
        opening = st.one_of(policy, policy, policy, _NOTHING)
        return st.tuples(opening, _parts(choices, questions, length)).map(_flat)

    return _boards(_GOMOKU_SIZES, rest)  # type: ignore[no-any-return]


# --- gosensei ----------------------------------------------------------------------------------

_SENSEI_SIZE = 9
_MOSTLY_BLACK = st.sampled_from(("B", "B", "W"))  # the document counts Black's eyes


def _gosensei(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    questions = asked("eyes", "twoeyes", "eyespaces", "display")
    size = _SENSEI_SIZE
    part = st.one_of(
        *(pair(size), pair(size), pair(size), ring(size), ring(size)),
        *(single(size), block(size, 5, ".xxxo"), block(size, 4)),
    )
    stones = st.one_of(part.map(lambda one: [one]), st.lists(part, max_size=3))
    laid = stones.map(lambda parts: setup(_flat(parts)))
    loaded, checked = filed("load_board", board_file), filed("is_valid", board_file)
    choices = [laid, laid, laid, loaded, checked, questions, said("clear_board")]
    last = st.one_of(questions, questions, checked)
    return _parts(choices, last, min(length, 4))


@cache
def ring(size: int) -> SearchStrategy[Stones]:
    """Return stones around a rectangle, of which some may be missing, perhaps with one inside."""

    def laid(color: str, where: tuple[Point, Point], missing: list[int], inside: int) -> Stones:
        inner, outer = _rectangle(*where, size)
        left_out = {outer[i] for i in missing if -i <= len(outer)}
        kept = [("x", point) for point in outer if point not in left_out]
        return _colored(color, kept + [("o", point) for point in inner[:inside]])

    side = st.sampled_from((1, 1, 2, 3))
    where = st.tuples(points(size), st.tuples(side, side))
    last = st.lists(st.integers(-4, -1), max_size=4)  # the corners, mostly
    return st.builds(laid, _MOSTLY_BLACK, where, last, st.sampled_from((0, 0, 0, 1)))


def _rectangle(corner: Point, shape: Point, size: int) -> tuple[list[Point], list[Point]]:
    """Return the points of a rectangle, and those around it: first beside, then at its corners."""
    up, right = min(corner[0], size - shape[0]), min(corner[1], size - shape[1])
    inner = [(up + r, right + c) for r in range(shape[0]) for c in range(shape[1])]
    around = {(r + i, c + j) for r, c in inner for i in (-1, 0, 1) for j in (-1, 0, 1)}
    beside = {(r + i, c + j) for r, c in inner for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    outer = [p for p in around - set(inner) if 0 <= p[0] < size and 0 <= p[1] < size]
    return inner, sorted(outer, key=lambda point: (point not in beside, point))


_EYES = ((1, 1), (1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (1, 3))  # rows and columns of a space


@cache
def pair(size: int) -> SearchStrategy[Stones]:
    """Return two eyes or spaces, near or not so near each other, walls complete or nearly so."""

    def laid(color: str, first: Point, step: Point, shapes: Any, missing: Sequence[int]) -> Stones:
        second = _beside(first[0], step[0], size), _beside(first[1], step[1], size)
        both = [_rectangle(*one, size) for one in zip((first, second), shapes, strict=True)]
        eyes = {point for inner, _ in both for point in inner}
        around = [p for _, outer in both for p in outer if p not in eyes]
        kept = [point for i, point in enumerate(around) if i not in missing]
        return [(color, point) for point in dict.fromkeys(kept)]

    few = st.one_of(st.just(()), st.lists(st.integers(0, 15), max_size=2))
    steps = st.sampled_from([*product(range(4), repeat=2), *[(k, k) for k in (2, 3, 3, 3, 4)]])
    shapes = st.tuples(st.sampled_from(_EYES), st.sampled_from(_EYES))
    return st.builds(laid, _MOSTLY_BLACK, points(size), steps, shapes, few)


def _beside(coordinate: int, step: int, size: int) -> int:
    return coordinate + step if coordinate + step < size else coordinate - step


_STONE = st.builds(
    lambda color, column, row: f"{color} {column} {row}",
    st.sampled_from(("b", "w", "b", "w", "B", "W", "x")),
    st.sampled_from((*"abihA", *SENSEI_LETTERS.lower(), "I", "j")),
    st.sampled_from((*"12919", *"3456780")),
)
_LINE = st.one_of(_STONE, _STONE, _STONE, _STONE, st.sampled_from(("", "b a", "b a 1 1", "a b 1")))
# Half of the files end with a point that they had before, with the same stone or another.
board_file = st.builds(
    lambda lines, again: "\n".join([*lines, *(again + line[1:] for line in lines[:1] if again)]),
    st.lists(_LINE, max_size=4),
    st.sampled_from(("", "b", "w", "")),
)


# --- java-go -----------------------------------------------------------------------------------


_ABOUT_ALL = ("score black", "score white", "captures black", "captures white", "is_over")


def _java_go(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        questions = st.one_of(asked(*_ABOUT_ALL), about_point(size), about_point(size))
        passes = st.lists(said("play B pass", "play W pass"), min_size=1, max_size=3).map(_flat)
        choices = [
            *(single(size).map(plays), single(size).map(plays), block(size).map(plays)),
            *(block(size, 5).map(setup), block(size, 5).map(setup), passes, questions),
            *(digits, said("clear_board"), *_extra(known)),
        ]
        if size > 2:
            choices += [ko(size), ko(size)]
        return _parts(choices, questions, length)

    return _boards((*_SMALL, *_SMALL, 1, 7, 11, 19), rest)  # type: ignore[no-any-return]


@cache
def about_point(size: int) -> SearchStrategy[Drawn]:
    """Return all questions about a point."""

    def about(where: str) -> Drawn:
        moves = [f"{color} {where}" for color in ("black", "white")]
        legal = [f"{verb} {move}" for verb in ("is_legal", "can_play") for move in moves]
        return [f"is_captured {where}", *legal]

    return points(size).map(vertex).map(about)


@cache
def ko(size: int) -> SearchStrategy[Drawn]:
    """Return a ko in the corner that has just been taken, and a question about taking it back."""

    def taken(color: str, elsewhere: Stones, verb: str, asked: str) -> Drawn:
        other = "W" if color == "B" else "B"
        laid = f"gogui-setup {other} A2 {other} B1 {color} B2 {color} C1"
        return [laid, f"play {color} A1", *plays(elsewhere), f"{verb} {asked} B1"]

    moves = st.lists(single(size), max_size=2).map(_flat)
    verbs = st.sampled_from(("can_play", "is_legal"))
    return st.builds(taken, COLORS, moves, verbs, st.sampled_from(("black", "white")))


_DIGITS = st.integers(1, 3).flatmap(
    lambda columns: st.lists(
        st.lists(st.sampled_from("012"), min_size=columns, max_size=columns).map(" ".join),
        min_size=1,
        max_size=3,
    ).map(lambda rows: "\n".join(rows) + "\n")
)
digits = filed("load_board", _DIGITS)

_GAMES: dict[str, Callable[[frozenset[str], int], SearchStrategy[Drawn]]] = {
    "go-scoring": _go_scoring,
    "gomoku-rules": _gomoku_rules,
    "gomoku-policy": _gomoku_policy,
    "gosensei": _gosensei,
    "java-go": _java_go,
}
