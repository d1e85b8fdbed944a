"""The pure parts of the adapters: their board, what they read and type. No program is run."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.adapters import ADAPTERS
from harness.adapters.inside.adapter_protocol import AdapterBoard, Refusal
from harness.adapters.inside.gosensei import Gosensei, parts
from harness.adapters.inside.playing import _PROBES, SIZE, BoardReader, TypingWay, alternate
from oracle.errors import IllegalMove
from oracle.games.go import BLACK_FIRST, GoGame
from oracle.gtp import new_engine
from oracle.position import Position, grid

B, W = 1, 2
SETTINGS = {key: field.default for key, field in ADAPTERS["java-go"].items()}

# --- the board, against the oracle's game


def oracle_point(board: AdapterBoard, point):
    return None if point is None else (board.rows - 1 - point[1], point[0])


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
def test_the_board_plays_as_the_oracle_does(columns, rows, seed):
    choice = random.Random(seed)
    board, game = AdapterBoard(columns, rows), GoGame(Position(grid(rows, columns)))
    points = [None, *((x, y) for x in range(columns) for y in range(rows))]
    for _ in range(40):
        color, point = choice.choice((B, W)), choice.choice(points)
        try:
            game.play(color, oracle_point(board, point))
        except IllegalMove:
            with pytest.raises(Refusal):
                board.after(color, point)
        else:
            board = board.after(color, point)
        assert board.digits() == [list(row) for row in game.position.to_rows()]


def test_vertices_skip_i_and_count_from_below():
    board = AdapterBoard(11, 11)
    assert (board.point("a1"), board.point("L11"), board.point("J9")) == ((0, 10), (10, 0), (8, 2))
    assert board.vertex((8, 2)) == "J9"
    for wrong in ("I1", "A12", "A0", "M1"):
        with pytest.raises(Refusal):
            board.point(wrong)


# --- GTP


@pytest.fixture
def engine(tmp_path):
    return Gosensei({"programs": ["nowhere"], "seconds": 1.0}, tmp_path)


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("", ""),
        ("# nothing", ""),
        ("7 name", "=7 gosensei\n\n"),
        ("boardsize 9", "= \n\n"),
        ("boardsize 8", "? unacceptable size\n\n"),
        ("boardsize", "? syntax error\n\n"),
        ("3 chess", "?3 unknown command\n\n"),
        ("play b", "? syntax error\n\n"),
        ("play b a1x", "? syntax error\n\n"),
        ("gogui-setup b", "? syntax error\n\n"),
        ("undo", "? cannot undo\n\n"),
        ("known_command eyes", "= true\n\n"),
        ("eyes", "? there is no program nowhere\n\n"),
        ("load_board nowhere.txt", "? cannot load file: there is no nowhere.txt\n\n"),
    ],
)
def test_replies_of_an_adapter(line, reply, engine):
    assert engine.handle(line) == reply


def test_the_adapters_know_the_commands_that_cases_use(engine):
    oracle = new_engine("gosensei").commands
    assert set(engine.commands) - {"list_commands"} <= set(oracle)
    assert {"eyes", "twoeyes", "eyespaces", "display", "is_valid"} <= set(engine.commands)


@pytest.mark.processes
def test_a_program_is_told_neither_where_a_board_file_lies_nor_its_name(tmp_path):
    program = tmp_path / "gosensei"
    program.write_text('#!/bin/sh\nprintf "There are %d letters in %s" ${#2} "${2##*/tmp}"\n')
    program.chmod(0o755)
    names = ("a.txt", f"{'deep' * 30}/two-colors.txt")
    replies = set()
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("b a 1\n")
        asked = Gosensei({"programs": ["gosensei"], "seconds": 1.0}, tmp_path)
        assert asked.handle(f"is_valid {tmp_path / name}") == "= true\n\n"
        asked.handle(f"load_board {tmp_path / name}")
        replies.add(asked.handle("eyes"))
    assert not any("colors" in reply for reply in replies)
    assert len({reply.partition(" in ")[0] for reply in replies}) == 1


@pytest.mark.processes
def test_a_program_is_asked_about_the_moves_after_a_board_file_too(tmp_path):
    program = tmp_path / "gosensei"
    program.write_text('#!/bin/sh\necho "There are $(wc -l < "$2") eyes."\n')
    program.chmod(0o755)
    (tmp_path / "a.txt").write_text("b a 1\n\n\n")
    asked = Gosensei({"programs": ["gosensei"], "seconds": 1.0}, tmp_path)
    lines = (f"load_board {tmp_path / 'a.txt'}", "eyes", "play w B1", "eyes", "undo", "eyes")
    counts = [asked.handle(line) for line in lines][1::2]
    assert counts == [f"= There are {count} eyes.\n\n" for count in (3, 2, 3)]


@pytest.mark.processes
@pytest.mark.parametrize("before", ["", f"echo '{'+-' * 8}+'"], ids=["usage", "board and usage"])
def test_two_eyes_are_asked_for_by_the_option_that_a_program_knows(before, tmp_path):
    program = tmp_path / "gosensei"
    knows = '[ $1 = -doubleeyes ] && echo "There is 1 two eye for black." || echo usage'
    program.write_text(f"#!/bin/sh\n{before}\n{knows}\n")
    program.chmod(0o755)
    asked = Gosensei({"programs": ["gosensei"], "seconds": 1.0}, tmp_path)
    asked.handle("clear_board")
    assert asked.handle("twoeyes") == "= There is 1 two eye for black.\n\n"


# --- what gosensei prints

PICTURE = "2 b-+\n  | |\n1 +-w\n\n  A B"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (f"{PICTURE}\n\nThere is 1 eye for black.\n", (PICTURE, "There is 1 eye for black.")),
        (f"Board:\n{PICTURE}\nThere are 0 eyes.\n", (PICTURE, "There are 0 eyes.")),
        (f"There are 0 eyes.\n{PICTURE}\n", (PICTURE, "There are 0 eyes.")),
        ("usage: x\n", ("", "usage: x")),
        ("", ("", "")),
    ],
)
def test_picture_and_sentence_are_told_apart(output, expected):
    assert parts(output) == expected


# --- boards of games

ROWS = [
    [0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    *([[0] * SIZE] * 9),
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
]
STONES = {(1, 0): B, (2, 0): W, (0, 10): W, (10, 10): B}


def print_board(signs: str, join: str, label: str = "", after: str = "") -> list[str]:
    return [
        f"{label.format(y)}{join.join(signs[c] for c in row)}{after.format(y)}"
        for y, row in enumerate(ROWS)
    ]


@pytest.mark.parametrize(
    "lines",
    [
        print_board("012", " "),
        print_board(".XO", ""),
        print_board("+bw", "-", "{:2d} "),
        print_board("_xo", "|", "{} |", "|"),
        print_board(".●○", " ", "{} ", " {}"),
        print_board("┼●○", "", "{:2d} "),
        ["   0 1 2 3 4 5 6 7 8 9 10", *print_board("012", " ", "{:2d} ")],
        [
            "   A B C D E F G H I J K",
            *print_board("-BW", "  ", "{:2d} "),
            "   A B C D E F G H I J K",
        ],
        [line for row in print_board("+XO", "-") for line in (row, "| | | | | | | | | | |")],
        [f"\x1b[1m{row}\x1b[0m\r" for row in print_board("012", ", ", "[", "]")],
    ],
    ids=str,
)
def test_boards_are_read_however_they_are_framed(lines):
    before = ["Welcome to Go!", "1 2 0 1", *print_board("012", " ")[::-1], "", "Your move:"]
    text = "\n".join([*before, *lines, "Black to play > "])
    assert BoardReader(SETTINGS).last_board(text) == STONES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no board",
        "\n".join(print_board("012", " ")[1:]),
        "\n\n\n".join(print_board("012", " ")),
    ],
)
def test_what_is_no_whole_board_is_none(text):
    assert BoardReader(SETTINGS).last_board(text) is None


def test_no_two_ways_to_count_type_the_same_for_the_probe():
    ways = [
        TypingWay("0", "{x} {y}", base, top, swapped, "")
        for base in (0, 1)
        for top in (True, False)
        for swapped in (True, False)
    ]
    points = [(x, y) for x in range(SIZE) for y in range(SIZE)]
    meant = {p for way in ways for p in points if way.spell(p) == ways[0].spell(_PROBES[0])}
    assert len(meant) == len(ways)


def test_letters_with_i_and_without_it_are_told_apart_by_the_probe():
    ways = [TypingWay("0", form, 0, True, False, "") for form in SETTINGS["moves"][-2:]]
    assert [way.spell(_PROBES[0]) for way in ways] == ["I3", "J3"]


# --- taking turns

MOVES = st.lists(st.tuples(st.sampled_from((B, W)), st.none() | st.just("stone")), max_size=12)


@settings(deadline=None)
@given(MOVES)
def test_turns_are_taken_and_the_end_stays_where_it_was(moves):
    points = iter((x, y) for x in range(0, 11, 2) for y in range(0, 11, 2))  # no two touch
    moves = [(color, next(points) if point else None) for color, point in moves]
    while any(ends(moves)[:-1]):  # at a terminal nothing comes after the end
        moves = moves[:-1]
    turns = alternate(moves)
    assert [color for color, _ in turns] == ([B, W] * len(turns))[: len(turns)]
    assert [move for move in turns if move[1]] == [move for move in moves if move[1]]
    assert ends(turns)[:-1] == [False] * (len(turns) - 1)
    assert (ends(turns) or [False])[-1] == (ends(moves) or [False])[-1]


def ends(moves) -> list[bool]:
    """Whether the game is over after each move."""
    game = GoGame(Position(grid(SIZE)), ending=BLACK_FIRST)
    over = []
    for color, point in moves:
        game.play(color, point)
        over.append(game.is_over)
    return over
