"""Game records: what sgfmill passes over in silence is read, or named."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as sgfmill_sgf
from sgfmill import sgf_moves

from oracle.boards.diagram import parse_diagram
from oracle.errors import SgfError
from oracle.formats import SnapshotChoice
from oracle.games.go import GoGame
from oracle.position import BLACK, WHITE, Position, grid
from oracle.sgf import games, read_sgf, write_sgf


def read(text, **choice):
    data = text if isinstance(text, bytes) else text.encode()
    return read_sgf(data, "g.sgf", SnapshotChoice(**choice))


def rows(snapshot):
    """The board as rows of . # o, the top row first."""
    return ["".join(".#o"[color] for color in row) for row in snapshot.position.to_rows()]


def fault(text, **choice):
    with pytest.raises(SgfError) as caught:
        read(text, **choice)
    return str(caught.value)


# --- which game, which line, which move ---------------------------------------------------------

COLLECTION = "junk (;SZ[3];B[aa]) more junk (;SZ[4];B[bb]\n) (;SZ[2])"


def test_every_game_of_a_collection_can_be_chosen():
    assert [rows(read(COLLECTION, number=n)) for n in (1, 2, 3)] == [
        ["#..", "...", "..."],
        ["....", ".#..", "....", "...."],
        ["..", ".."],
    ]


def test_a_collection_must_be_chosen_from():
    assert fault(COLLECTION) == "g.sgf: the file has 3 games; choose one by its number"
    assert fault(COLLECTION, number=4) == "g.sgf: there is no game 4: the file has 3 games"
    assert fault("(;SZ[3])", number=0) == "g.sgf: there is no game 0: the file has 1 game"


def test_a_damaged_game_spares_the_games_before_it():
    text = "(;SZ[3];B[aa])(;SZ[3];B[bb](;W[cc])(;W[ca]"
    assert rows(read(text, number=1)) == ["#..", "...", "..."]
    assert len(games(text.encode())) == 2, "its variations are no games"
    assert "the last is damaged, so there may be more" in fault(text, number=3)


VARIATIONS = "(;SZ[3];B[aa](;W[bb];B[cc](;W[ca])(;W[ac]))(;W[ba])(;W[ab];B[bb]))"


@pytest.mark.parametrize(
    ("variation", "expected"),
    [
        ((), ["#.o", ".o.", "..#"]),
        ((1,), ["#.o", ".o.", "..#"]),
        ((1, 2), ["#..", ".o.", "o.#"]),
        ((2,), ["#o.", "...", "..."]),
        ((3,), ["#..", "o#.", "..."]),
    ],
)
def test_variations_by_path(variation, expected):
    assert rows(read(VARIATIONS, variation=variation)) == expected


def test_a_variation_that_is_not_there():
    assert fault(VARIATIONS, variation=(4,)) == ("g.sgf: node 2: there is no variation 4, only 3")
    assert fault(VARIATIONS, variation=(2, 1)) == (
        "g.sgf: node 7: the line has ended after 1 choices"
    )


@pytest.mark.parametrize(
    ("move", "expected", "to_play", "last"),
    [
        (0, ["o..", "...", "..."], BLACK, None),
        (1, ["o..", ".#.", "..."], WHITE, (1, 1)),
        (2, ["o..", ".#.", ".#."], BLACK, None),  # a pass, then the setup before move 3
        (3, ["o.#", ".#.", ".#."], WHITE, (2, 2)),
        (None, ["o.#", ".#.", ".#."], WHITE, (2, 2)),
    ],
)
def test_the_position_after_any_move(move, expected, to_play, last):
    text = "(;SZ[3]AW[aa]PL[B];B[bb];W[];AB[bc];C[a comment];B[ca])"
    snapshot = read(text, move=move)
    assert (rows(snapshot), snapshot.to_play, snapshot.last) == (expected, to_play, last)


def test_a_move_that_is_not_there():
    assert fault("(;SZ[3];B[aa])", move=2) == "g.sgf: move 2: the line has only 1 move"


# --- GM and SZ ----------------------------------------------------------------------------------

SURROUNDED = ";B[ba];W[aa];B[ab]"  # in Go the corner is taken


def test_gm_4_is_gomoku_where_nothing_is_captured():
    assert rows(read(f"(;GM[1]SZ[3]{SURROUNDED})")) == [".#.", "#..", "..."]
    gomoku = read(f"(;GM[4]SZ[3]{SURROUNDED})")
    assert (gomoku.game, rows(gomoku)) == ("gomoku", ["o#.", "#..", "..."])


@pytest.mark.parametrize("value", ["0", "2", "40", "x", "", "-1", "4.0"])
def test_other_games_are_refused(value):
    assert fault(f"(;GM[{value}]SZ[3])") == (
        f"g.sgf: node 1, GM[{value}]: this game is not known here; expected 1 (Go) or 4 (Gomoku)"
    )


@pytest.mark.parametrize("name", ["SZ", "sz", "SiZe"])
def test_the_size_in_any_spelling(name):
    snapshot = read(f"(;{name}[5];B[ee])")
    assert (snapshot.position.grid, snapshot.notes) == (grid(5), [])


@pytest.mark.parametrize(("number", "size"), [("1", 19), ("4", 15)])
def test_a_missing_size_is_assumed_and_said(number, size):
    snapshot = read(f"(;GM[{number}])")
    assert snapshot.position.grid == grid(size)
    assert snapshot.notes == [f"SZ is missing: a board of {size} by {size} is assumed"]
    assert read(f"(;GM[{number}])", size=(9, 7)).position.grid == grid(9, 7)


def test_rectangular_boards():
    snapshot = read("(;SZ[5:3];B[aa];W[ec])")
    assert rows(snapshot) == ["#....", ".....", "....o"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("0", "expected 1 to 25 lines"),
        ("26", "expected 1 to 25 lines"),
        ("9:26", "expected 1 to 25 lines"),
        ("x", "expected a number of lines, or columns:rows"),
        ("", "expected a number of lines, or columns:rows"),
        ("19x19", "expected a number of lines, or columns:rows"),
        ("1_9", "expected a number of lines, or columns:rows"),
        ("٩", "expected a number of lines, or columns:rows"),
        ("9" * 5000, "expected a number of lines, or columns:rows"),
    ],
)
def test_sizes_that_are_none(value, reason):
    shown = value if len(value) <= 20 else value[:20] + "…"
    assert fault(f"(;SZ[{value}])") == f"g.sgf: node 1, SZ[{shown}]: {reason}"


# --- setup --------------------------------------------------------------------------------------


def test_setup_after_the_first_node_is_applied():
    text = "(;SZ[3];B[bb];AW[aa][ba]AE[bb];W[ca];AE[aa:cc])"
    assert rows(read(text, move=1)) == ["oo.", "...", "..."]
    assert rows(read(text, move=2)) == ["...", "...", "..."]


def test_compressed_point_lists():
    snapshot = read("(;SZ[4]AB[aa:bd]AW[da:db][dd];AE[ba:bb])")
    assert rows(snapshot) == ["#..o", "#..o", "##..", "##.o"]


@pytest.mark.parametrize(
    ("node", "place", "reason"),
    [
        ("AB[dd]", "AB[dd]", "the board has 3 columns and 3 rows"),
        ("AW[a]", "AW[a]", "expected a point of two small letters"),
        ("AB[AA]", "AB[AA]", "expected a point of two small letters"),
        ("AE[bb:aa]", "AE[bb:aa]", "expected the upper left corner first"),
        ("AE[aa:]", "AE[aa:]", "expected a point of two small letters"),
        ("AB[tt]", "AB[tt]", "the board has 3 columns and 3 rows"),
        ("PL[x]", "PL[x]", "expected B or W"),
        ("AB[aa]AW[aa]", "AW[aa]", "another color is set up on the same point"),
    ],
)
def test_setup_that_is_none(node, place, reason):
    assert fault(f"(;SZ[3];C[ok];{node})") == f"g.sgf: node 3, {place}: {reason}"


def test_setup_beside_a_move_comes_first_and_is_said():
    snapshot = read("(;SZ[3]AW[aa]B[bb])")
    assert rows(snapshot) == ["o..", ".#.", "..."]
    assert snapshot.notes == ["node 1 has setup and a move; the setup comes first"]


# --- whose turn ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "to_play"),
    [
        ("(;SZ[9])", BLACK),
        ("(;SZ[9]PL[W])", WHITE),
        ("(;SZ[9]PL[white])", WHITE),
        ("(;SZ[9]AB[aa])", None),
        ("(;SZ[9]AB[aa];W[bb];B[cc])", WHITE),
        ("(;SZ[9]HA[2]AB[aa][bb])", WHITE),
        ("(;SZ[9]HA[2]AB[aa][bb]PL[B])", BLACK),
        ("(;SZ[9];B[aa];PL[B])", BLACK),
        ("(;SZ[9];B[aa];AE[aa])", None),
    ],
)
def test_whose_turn_it_is(text, to_play):
    assert read(text).to_play == to_play


def test_a_handicap_that_does_not_agree_is_said():
    snapshot = read("(;SZ[9]HA[3]AB[aa][bb];W[cc])")
    assert snapshot.notes == ["HA[3] does not agree with the 2 stones of AB"]
    assert read("(;SZ[9]HA[2];W[cc])").notes == ["HA[2] does not agree with the 0 stones of AB"]


# --- moves --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "value"),
    [("9", ""), ("9", "tt"), ("19", "tt"), ("25", ""), ("5:3", "tt"), ("9", " ")],
)
def test_passes(size, value):
    snapshot = read(f"(;SZ[{size}];B[{value}])")
    assert snapshot.moves == [(BLACK, None)]
    assert snapshot.position.black == 0


MOVES = {
    "occupied": (";B[aa];W[aa]", "node 3, W[aa] (move 2): the point is occupied"),
    "suicide": (
        ";B[ba];W[cc];B[ab];W[aa]",
        "node 5, W[aa] (move 4): the stone has no liberty and takes nothing",
    ),
    "turn": (";B[aa];B[bb]", "node 3, B[bb] (move 2): it is White's turn"),
    "first turn": (";W[aa]", "node 2, W[aa] (move 1): it is Black's turn"),
    "end": (";B[];W[];B[bb]", "node 4, B[bb] (move 3): the game is over"),
    "both": (";B[aa]W[bb]", "node 2: the node has 2 moves"),
    "twice": (";B[aa][bb]", "node 2: the node has 2 moves"),
    "off": (";B[dd]", "node 2, B[dd] (move 1): the board has 3 columns and 3 rows"),
    "empty": (";B[aa];W[b]", "node 3, W[b] (move 2): expected a point of two small letters"),
}


@pytest.mark.parametrize("name", MOVES)
def test_illegal_moves_are_refused_with_their_number(name):
    moves, expected = MOVES[name]
    assert fault(f"(;SZ[3]{moves})") == f"g.sgf: {expected}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("occupied", ["o..", "...", "..."]),
        ("suicide", [".#.", "#..", "..o"]),
        ("turn", ["#..", ".#.", "..."]),
        ("end", ["...", ".#.", "..."]),
        ("both", ["#..", ".o.", "..."]),
    ],
)
def test_illegal_moves_are_kept_on_demand_and_said(name, expected):
    moves, sentence = MOVES[name]
    snapshot = read(f"(;SZ[3]{moves})", keep_faults=True)
    assert (rows(snapshot), snapshot.notes) == (expected, [sentence])


#   . # o .        . # o .
#   # o . o   ->   # . # o   White may not take back at B3
#   . # o .        . # o .
KO = "(;SZ[4:3]AB[ba][ab][bc]AW[ca][bb][db][cc]PL[B];B[cb];W[bb])"


def test_ko():
    assert read(KO, move=1).ko == (1, 1)
    assert fault(KO) == "g.sgf: node 3, W[bb] (move 2): it takes a ko back at once"
    assert rows(read(KO, keep_faults=True)) == [".#o.", "#o.o", ".#o."]


def test_gomoku_ends_with_five():
    line = "".join(f";B[{x}a];W[{x}b]" for x in "abcd") + ";B[ea]"
    assert "node 11, W[eb] (move 10): the game is over" in fault(f"(;GM[4]SZ[9]{line};W[eb])")
    assert "node 2, B[] (move 1): Gomoku has no pass" in fault("(;GM[4]SZ[9];B[])")


# --- komi, text, encodings ----------------------------------------------------------------------


@pytest.mark.parametrize(("value", "komi"), [("6.5", "6.5"), ("0.10", "0.10"), ("-3", "-3")])
def test_komi_is_exact(value, komi):
    assert str(read(f"(;SZ[9]KM[{value}])").komi) == komi


def test_komi_that_is_none():
    assert fault("(;SZ[9]KM[6,5])") == "g.sgf: node 1, KM[6,5]: expected a number such as 6.5"
    kept = read("(;SZ[9]KM[6,5])", keep_faults=True)
    assert (kept.komi, len(kept.notes)) == (None, 1)
    assert read("(;SZ[9]KM[])").komi is None
    assert read("(;SZ[9])").komi is None


@pytest.mark.parametrize(
    ("encoding", "declared", "player"),
    [
        ("utf-8", True, "Jürgen Größe"),
        ("utf-8", False, "Jürgen Größe"),
        ("utf-8", False, "村瀬秀甫"),
        ("utf-8-sig", False, "村瀬秀甫"),
        ("utf-16", False, "村瀬秀甫"),
        ("latin-1", True, "Jürgen Größe"),
        ("latin-1", False, "Jürgen Größe"),
        ("gbk", True, "聂卫平"),
        ("gbk", False, "聂卫平"),
        ("gb2312", True, "聂卫平"),
        ("big5", True, "吳清源"),
        ("shift_jis", True, "本因坊秀策"),
        ("euc_kr", True, "이창호"),
    ],
)
def test_encodings_declared_or_not(encoding, declared, player):
    text = f"(;{f'CA[{encoding}]' * declared}SZ[3]PB[{player}];B[bb])"
    snapshot = read(text.encode(encoding))
    assert snapshot.title == f"{player} (Black) – ? (White)"
    assert rows(snapshot) == ["...", ".#.", "..."]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(["shift_jis", "gbk", "big5", "latin-1"]),
    st.lists(st.binary(min_size=2, max_size=8), min_size=1, max_size=3),
)
def test_no_undeclared_encoding_moves_a_stone(encoding, texts):
    values = [text.decode(encoding, "ignore") for text in texts]
    values = ["".join(char for char in text if char.isalpha()) for text in values]
    comments = [f"C[{text}]".encode(encoding) for text in values]
    data = b"(;SZ[3]" + b";B[bb]".join([b"", *comments][:2]) + b";".join(comments) + b";W[aa])"
    try:
        assert read(data, keep_faults=True).position.white == read("(;SZ[3]AW[aa])").position.white
    except SgfError as error:
        assert "encoding" in str(error)


@pytest.mark.parametrize("name", ["utf-7", "rot13", "idna", "cp500", "utf-16", "nonsense", "hex"])
def test_a_declared_encoding_that_is_none(name):
    assert read(f"(;CA[{name}]SZ[3]PB[a+b];B[aa])").title == "a+b (Black) – ? (White)"


# --- files as they are found --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("(;SZ[3];B[aa];W[bb]", "node 3, W: the file ends (line 1) before the game does"),
        ("(;SZ[3];B[aa]\n;W[bb", "node 3, W: the file ends inside a value that begins in line 2"),
        ("(;SZ[3];B[aa];W", "node 3, W: the file ends (line 1) before the game does"),
        ("(;SZ[3];B[aa]\n\n!;W[bb])", "node 2, B: found '!;W[bb])' in line 3"),
        ("(;SZ[3];B[aa];W;B[cc])", "node 3, W: the property has no value"),
        ("(;SZ[3];B[aa];[bb])", "node 3: found the value [bb] without a property"),
        ("(;SZ[3];B[aa](W[bb]))", "node 2: found the property W outside a node"),
        ("(;SZ[3];B[aa](;W[bb]);W[cc])", "node 3: found ';' after a variation"),
        ("(;SZ[3];B[aa] and ;W[bb])", "node 2: found a word in small letters"),
    ],
)
def test_damaged_files_name_property_node_and_reason(text, place):
    assert f"g.sgf: {place}" in fault(text)
    kept = read(text, keep_faults=True)
    assert rows(kept)[0] == "#.."
    assert place in kept.notes[0]


@pytest.mark.parametrize("data", [b"", b"hello", b"()", b"(", b";B[aa]", b"\x00\xff", b"( ;"])
def test_files_without_a_game(data):
    if data == b"( ;":
        assert "node 1: the file ends" in fault(data)
    else:
        assert fault(data) == ("g.sgf: found no game record; expected one that begins with '(;'")


# --- writing ------------------------------------------------------------------------------------

START = parse_diagram("3  .  #  .\n2  .  .  o\n1  .  .  .\n   A  B  C")


@pytest.mark.parametrize("start", [Position(grid(3)), START, Position(grid(3, 5))])
def test_what_is_written_is_read_back(start):
    moves = [(WHITE, (0, 0)), (BLACK, None), (WHITE, (1, 1))]
    data = write_sgf(start, moves, to_play=WHITE, result="W+2")
    snapshot = read_sgf(data)
    assert (snapshot.start, snapshot.moves, snapshot.to_play) == (start, moves, BLACK)
    assert snapshot.title == "W+2"
    assert snapshot.notes == []


def random_game(seed):
    """A legal game with a few passes, none after another."""
    rng = random.Random(seed)
    game = GoGame.empty(rng.randrange(2, 12))
    for _ in range(rng.randrange(1, 120)):
        points = game.position.grid.points(game.legal_moves(game.to_play))
        passed = bool(game.moves) and game.moves[-1][1] is None
        if not points and passed:
            break
        rest = rng.random() < 0.05 and not passed
        game.play(game.to_play, None if rest or not points else rng.choice(points))
    return game


@pytest.mark.parametrize("seed", range(12))
def test_sound_games_are_what_sgfmill_makes_of_them(seed):
    game = random_game(seed)
    data = write_sgf(game.start, game.moves)
    board, plays = sgf_moves.get_setup_and_moves(sgfmill_sgf.Sgf_game.from_bytes(data))
    for number, (color, point) in enumerate(plays, start=1):
        if point is not None:
            board.play(*point, color)
        if number % 9 == 0 or number == len(plays):
            position = read_sgf(data, choice=SnapshotChoice(move=number)).position
            points = {(c, p) for c, p in board.list_occupied_points()}
            found = {
                ("bw"[color - 1], point)
                for color in (BLACK, WHITE)
                for point in position.grid.points(position.stones(color))
            }
            assert found == points
    assert read_sgf(data).position == game.position
