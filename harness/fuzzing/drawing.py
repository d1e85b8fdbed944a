"""What Hypothesis draws: conversations about positions in which programs go wrong.

Each assignment has a strategy for a *game* (a board, stones, questions); a script is a few games
in one process. Everything is drawn so that it shrinks well: the first of several choices is the
smallest, a list's elements can be left out one by one, and an empty point is smaller than a stone.

What is drawn need not be legal: :func:`harness.fuzzing.script.legal` sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.fuzzing.script import BoardFile, Script, written
from oracle.vertex import GTP_LETTERS, SENSEI_LETTERS, Point, vertex

T = TypeVar("T")
Drawn = list[str | BoardFile]
Stones = list[tuple[str, Point]]  # (color, point) in the order in which they are laid

COLORS = st.sampled_from(("B", "W"))
_STEPS = st.sampled_from(((0, 1), (1, 0), (1, 1), (1, -1)))
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


def pruned(script: Script) -> SearchStrategy[Script]:
    """Return scripts with less of one: commands, stones and lines of files left out.

    Nearly everything stays in most of what is drawn, and to leave out is to shrink.
    """
    sizes = [st.integers(1, int(c.split()[1])) for c in script.commands if _is_size(c)]
    count = sum(map(len, map(_units, script.commands))) + len(_file_lines(script))
    kept = st.lists(st.integers(0, _KEPT).map(bool), min_size=count, max_size=count)
    return st.builds(_without, st.just(script), kept, st.tuples(*sizes))


_KEPT = 30  # to one


def _is_size(command: str) -> bool:
    return command.startswith("boardsize ")


def _units(command: str) -> list[str]:
    """Return what can be left out of a command, the first being all of it."""
    name, *words = command.split()
    if name != "gogui-setup":
        return [command]
    return [name, *map(" ".join, zip(words[::2], words[1::2], strict=True))]


def _file_lines(script: Script) -> list[str]:
    return [line for _, text in script.files for line in text.splitlines()]


def _without(script: Script, kept: list[bool], sizes: tuple[int, ...]) -> Script:
    flags, smaller = iter(kept), iter(sizes)
    drawn: Drawn = []
    for command in script.commands:
        first, *stones = [unit if next(flags) else "" for unit in _units(command)]
        text = f"boardsize {next(smaller)}" if _is_size(command) else " ".join([first, *stones])
        if first and text.split() != ["gogui-setup"]:
            drawn.append(" ".join(text.split()))
    files = {
        name: "".join(line for line in text.splitlines(keepends=True) if next(flags))
        for name, text in script.files
    }
    return written(_with_text(one, files) for one in drawn)


def _with_text(command: str | BoardFile, files: dict[str, str]) -> str | BoardFile:
    """Return a command with the text of the file that it names, if it does."""
    verb, _, name = str(command).partition(" ")
    return BoardFile(verb, files[name]) if name in files else command


# --- points and stones -------------------------------------------------------------------------


@cache
def points(size: int) -> SearchStrategy[Point]:
    """Return points of a board, every other one at the edge or beside it."""
    near = sorted({0, 1, size - 2, size - 1} & set(range(size)))
    anywhere, border = st.integers(0, size - 1), st.sampled_from(near)
    coordinate = st.one_of(border, anywhere) if size > len(near) else anywhere
    return st.tuples(coordinate, coordinate)


@cache
def cells(weights: str = ".xxxo") -> SearchStrategy[str]:
    """Return what may lie on a point; ``x`` is the color in question, ``o`` the other."""
    return st.integers(0, len(weights) - 1).map(weights.__getitem__)


@cache
def single(size: int) -> SearchStrategy[Stones]:
    """Return a stone."""
    return st.tuples(COLORS, points(size)).map(lambda stone: [stone])


@cache
def block(size: int, side: int = 4, weights: str = "..xxo") -> SearchStrategy[Stones]:
    """Return a few rows of points, full of stones: captures, shared regions, eyes, seki."""
    height = width = st.integers(1, min(side, size))

    def rows(shape: tuple[int, int]) -> SearchStrategy[list[list[str]]]:
        row = st.lists(cells(weights), min_size=shape[1], max_size=shape[1])
        return st.lists(row, min_size=shape[0], max_size=shape[0])

    return st.builds(
        lambda color, corner, filled: _laid(size, color, corner, filled),
        COLORS,
        points(size),
        st.tuples(height, width).flatmap(rows),
    )


def _laid(size: int, color: str, corner: Point, rows: Sequence[Sequence[str]]) -> Stones:
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


@cache
def line(size: int) -> SearchStrategy[Stones]:
    """Return a line of points in one of the four directions: near-misses, overlines, threats."""
    solid = st.integers(1, _LONGEST).map("x".__mul__)
    mixed = st.lists(cells(".xxxxo."), min_size=1, max_size=_LONGEST).map("".join)
    way = st.builds(
        _way,
        st.just(size),
        points(size),
        _STEPS,
        st.sampled_from((False, False, True)),
    )
    return st.builds(_lined, way, COLORS, st.one_of(solid, mixed), st.integers(0, _LONGEST - 1))


def _way(size: int, start: Point, step: Point, is_bent: bool) -> list[Point]:
    """Return the points of a line on the board.

    ``is_bent``: it goes on at the other edge, a row higher, as a list of rows would have it.
    """
    points_ = [(start[0] + i * step[0], start[1] + i * step[1]) for i in range(_LONGEST)]
    if is_bent:
        points_ = [divmod(row * size + column, size) for row, column in points_]
    return [point for point in points_ if 0 <= point[0] < size and 0 <= point[1] < size]


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
    way = st.builds(_way, st.just(size), points(size), _STEPS, st.just(False))
    return st.builds(_lined, way, st.sampled_from(colors), st.sampled_from(_THREATS), st.just(0))


@cache
def duel(size: int) -> SearchStrategy[Stones]:
    """Return threats of both colors."""
    return st.tuples(threat(size, "B"), threat(size, "W")).map(_flat)


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
    stones = st.lists(
        st.one_of(
            *(ring(_SENSEI_SIZE), pair(_SENSEI_SIZE), ring(_SENSEI_SIZE), pair(_SENSEI_SIZE)),
            *(single(_SENSEI_SIZE), block(_SENSEI_SIZE, 5, ".xxxo"), block(_SENSEI_SIZE, 4)),
        ),
        max_size=3,
    )
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


@cache
def pair(size: int) -> SearchStrategy[Stones]:
    """Return two eyes, near or not so near each other."""

    def laid(color: str, first: Point, step: Point, missing: list[int]) -> Stones:
        second = first[0] + step[0], first[1] + step[1]
        both = [_rectangle(one, (1, 1), size) for one in (first, second)]
        eyes = {point for inner, _ in both for point in inner}
        around = [p for _, outer in both for p in outer if p not in eyes]
        kept = [point for i, point in enumerate(around) if i not in missing]
        return [(color, point) for point in dict.fromkeys(kept)]

    few = st.lists(st.integers(0, 15), max_size=2)
    step = st.integers(0, 3)
    return st.builds(laid, _MOSTLY_BLACK, points(size), st.tuples(step, step), few)


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
