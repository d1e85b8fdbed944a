"""The text formats: the documents' examples, every error at its line, and back again."""

import random
import re
from itertools import groupby
from pathlib import Path

import pytest
from sgfmill import ascii_boards

from oracle.boards.diagram import (
    format_diagram,
    format_digits,
    format_drawing,
    parse_diagram,
    parse_digits,
    parse_drawing,
)
from oracle.boards.gosensei import (
    draw_gosensei,
    format_gosensei,
    parse_gosensei,
    parse_picture,
)
from oracle.cli import main
from oracle.errors import FormatError, FormatErrors
from oracle.formats import FORMATS, SnapshotChoice, detect, read_position
from oracle.position import BLACK, WHITE, Position, grid
from tests.oracle import documents
from tests.oracle.documents import SAMPLE


def random_position(rng, rows, columns):
    return Position.from_rows([[rng.randrange(3) for _ in range(columns)] for _ in range(rows)])


POSITIONS = [
    random_position(random.Random(f"{rows} {columns}"), rows, columns)
    for rows, columns in [(1, 1), (1, 25), (25, 1), (2, 3), (9, 9), (9, 10), (11, 11), (25, 25)]
]
NINES = [random_position(random.Random(seed), 9, 9) for seed in range(20)]


def message(parse, text):
    with pytest.raises(FormatError) as caught:
        parse(text, "board.txt")
    return str(caught.value)


# --- 0, 1 and 2 ---------------------------------------------------------------------------------


def test_the_sample_board_of_the_java_go_document():
    position = parse_digits(SAMPLE)
    assert position.grid == grid(9)
    assert position.grid.points(position.white)[-2:] == [(8, 5), (8, 6)], "the top row is row 9"
    assert [position.color_at((0, column)) for column in range(9)] == [0, 1, 1, 0, 0, 1, 1, 0, 0]
    assert format_digits(position) == SAMPLE


@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: f"{p.grid.rows}x{p.grid.columns}")
def test_text_boards_of_any_rectangle(position):
    assert parse_digits(format_digits(position)) == position


@pytest.mark.parametrize(
    "text", ["0 1\n2 0", "0 1\r\n2 0\r\n", "\n\n 0\t1 \n 2  0\n\n", "0 1\r2 0"]
)
def test_blanks_and_ends_of_lines_do_not_matter(text):
    assert parse_digits(text).to_rows() == [[0, 1], [2, 0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "",
            "board.txt: the file is empty; expected a row of 0, 1 and 2 with blanks between them",
        ),
        (" \n\n", "board.txt: the file is empty; expected a row of 0, 1 and 2"),
        ("0 1\n0 3\n", "board.txt:2: found '3' as number 2 of the row; expected 0, 1 or 2"),
        ("0 1\n\n\nx 0\n", "board.txt:2: found an empty line inside the board"),
        ("01\n20\n", "board.txt:1: found '01' as number 1 of the row; expected 0, 1 or 2"),
        ("0 1\n0 1 2\n", "board.txt:2: found a row of 3 points; expected 2, as in the first row"),
        ("\n0 1\n0\n", "board.txt:3: found a row of 1 points; expected 2, as in the first row"),
        ("0 " * 26, "board.txt:1: found a row of 26 points; expected at most 25"),
        ("0\n" * 26, "board.txt:26: found 26 rows; expected at most 25"),
        ("0 ½\n", "board.txt:1: found '½' as number 2 of the row; expected 0, 1 or 2"),
        ("0 ٠\n", "board.txt:1: found '٠' as number 2 of the row; expected 0, 1 or 2"),
        ("0, 1\n", "board.txt:1: found '0,' as number 1 of the row; expected 0, 1 or 2"),
        ("-1 0\n", "board.txt:1: found '-1' as number 1 of the row; expected 0, 1 or 2"),
    ],
)
def test_faulty_text_boards(text, expected):
    assert message(parse_digits, text).startswith(expected)


# --- gosensei: board files ----------------------------------------------------------------------


def stones(position, color):
    return {(row, column) for row, column in position.grid.points(position.stones(color))}


@pytest.mark.parametrize("position", NINES)
def test_board_files_are_read_as_they_are_written(position):
    assert parse_gosensei(format_gosensei(position)) == position


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x a 1", "invalid stone color 'x'; expected B, b, W or w"),
        ("black a 1", "invalid stone color 'black'; expected B, b, W or w"),
        ("b j 1", "invalid column 'j'; expected a to i or A to I"),
        ("b aa 1", "invalid column 'aa'; expected a to i or A to I"),
        ("b 1 a", "invalid row 'a'; expected 1 to 9"),
        ("b a 0", "invalid row '0'; expected 1 to 9"),
        ("b a 10", "invalid row '10'; expected 1 to 9"),
        ("b a -1", "invalid row '-1'; expected 1 to 9"),
        ("b a ٣", "invalid row '٣'; expected 1 to 9"),
        (
            "b a",
            "found 2 fields, 'b a'; expected a stone color (b, w), a column (a to i) and a row",
        ),
        ("b", "found 1 field, 'b'; expected a stone color"),
        ("b a 1 2", "found 4 fields, 'b a 1 2'; expected a stone color"),
        ("ba1", "found 1 field, 'ba1'; expected a stone color"),
        ("b c 4", "multiple stones on C4; line 1 has a black one there"),
        ("W C 4", "multiple stones on C4; line 1 has a black one there"),
    ],
)
def test_every_error_of_a_board_file(line, expected):
    text = f"b c 4\nw d 5\n{line}\n"
    assert message(parse_gosensei, text).startswith(f"board.txt:3: {expected}")


def test_all_errors_are_collected():
    with pytest.raises(FormatErrors) as caught:
        parse_gosensei("b a 1\nz a 2\nb a 1\nb a\nw i 9\n", "board.txt")
    assert [error.line for error in caught.value.errors] == [2, 3, 4]
    assert str(caught.value).splitlines()[1] == (
        "board.txt:3: multiple stones on A1; line 1 has a black one there"
    )


# --- gosensei: board pictures -------------------------------------------------------------------

# gosensei.txt, "Go Board Configuration Display".
PICTURE = documents.DISPLAY.rstrip("\n")


def test_the_picture_of_the_gosensei_document_to_the_letter():
    position = parse_gosensei("b a 4\nB b 4\nw a 3\nW B 3\nb c 3\nw b 2\nb c 2\nw a 1\nb b 1\n")
    assert draw_gosensei(position) == PICTURE
    assert parse_picture(PICTURE) == position


@pytest.mark.parametrize("position", NINES)
def test_pictures_are_read_as_they_are_drawn(position):
    assert parse_picture(draw_gosensei(position)) == position


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "4 b-b-+",
            "4 b-B-+",
            "board.txt:11: found '4 b-B-+-+-+-+-+-+-+'; expected row 4, such as",
        ),
        ("8 +-+", "8 +", "board.txt:3: found '8 +-+-+-+-+-+-+-+'; expected row 8"),
        ("8 +-+", "9 +-+", "board.txt:3: found '9 +-+-+-+-+-+-+-+-+'; expected row 8"),
        ("8 +-+", "+-+", "board.txt: found 8 rows with a number; expected 9"),
    ],
)
def test_faulty_pictures(old, new, expected):
    assert message(parse_picture, PICTURE.replace(old, new, 1)).startswith(expected)


# --- diagrams -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 26))
def test_diagrams_are_those_of_sgfmill(size):
    position = random_position(random.Random(size), size, size)
    black, white = stones(position, BLACK), stones(position, WHITE)

    def format_point(row, column):
        return " #" if (row, column) in black else " o" if (row, column) in white else " ."

    printed = "\n".join(ascii_boards.render_grid(format_point, size))
    assert format_diagram(position) == printed
    assert parse_diagram(printed) == position


@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: f"{p.grid.rows}x{p.grid.columns}")
def test_diagrams_of_any_rectangle(position):
    assert parse_diagram(format_diagram(position)) == position


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "board.txt: the file is empty; expected a row's number"),
        ("2  .  .\n1  .  .\n", "board.txt:2: found '1  .  .' as the last line; expected the"),
        ("2  .  .\n1  .  .\n   A  C", "board.txt:3: found 'A  C' as the last line; expected"),
        (
            "2  .  .\n2  .  .\n   A  B",
            "board.txt:2: found '2  .  .'; expected the row with number 1",
        ),
        ("2  .  .\n1  .  X\n   A  B", "board.txt:2: found 'X'; expected '.', '#' or 'o'"),
        ("2  .  .\n1  .\n   A  B", "board.txt:2: found a row of 1 points; expected 2, as in the"),
        ("2  .  .\n1  .  .  .\n   A  B", "board.txt:2: found a row of 3 points; expected 2"),
        ("2  .  .\n\n1  .  .\n   A  B", "board.txt:2: found an empty line inside the board"),
        ("   A  B", "board.txt:1: found 'A  B' as the last line; expected the columns' letters"),
    ],
)
def test_faulty_diagrams(text, expected):
    assert message(parse_diagram, text).startswith(expected)


# --- .gtp files ---------------------------------------------------------------------------------

CASE = """\
# a case
boardsize 5
komi 6.5
play b a1

10 score
#? [B+18.5]
play w e5
20 score
#? [.*]
7 play b b2
20 score
"""


def case(tmp_path, text=CASE, **choice):
    path = tmp_path / "case.gtp"
    path.write_text(text)
    return read_position(str(path), choice=SnapshotChoice(**choice))


@pytest.mark.parametrize(
    ("choice", "moves"),
    [
        ({}, 3),
        ({"line": 1}, 0),
        ({"line": 4}, 0),
        ({"line": 5}, 1),
        ({"test": 10}, 1),
        ({"line": 9}, 2),
        ({"test": 7}, 2),
        ({"line": 12}, 3),
    ],
)
def test_the_position_before_a_line_or_test(tmp_path, choice, moves):
    snapshot = case(tmp_path, **choice)
    played = [(BLACK, (0, 0)), (WHITE, (4, 4)), (BLACK, (1, 1))]
    assert snapshot.moves == played[:moves]
    assert snapshot.position.grid == grid(5 if choice != {"line": 1} else 19)


def test_refused_tests_change_nothing(tmp_path):
    text = "boardsize 5\nplay b a1\n5 play w a1\n#? [.*]\nplay w b1\n"
    assert len(case(tmp_path, text).moves) == 2


def test_files_are_found_from_the_case_files_folder(tmp_path):
    (tmp_path / "game.sgf").write_text("(;SZ[5];B[aa];W[bb])")
    assert len(case(tmp_path, "loadsgf game.sgf 2\n").moves) == 1


def test_after_genmove_the_position_is_known_when_it_begins_anew(tmp_path):
    text = "boardsize 5\ngenmove b\nplay w a1\nclear_board\nplay b b2\n"
    assert case(tmp_path, text).moves == [(BLACK, (1, 1))]
    with pytest.raises(FormatError, match=":2: what 'genmove' does to the board"):
        case(tmp_path, text, line=4)


@pytest.mark.parametrize(
    ("expectation", "moves"),
    [
        ("#? [b5|B5]", [(BLACK, (4, 1))]),
        ("#?[pass]", [(BLACK, None)]),
        ("#? [resign]", []),
        ("#? [b5|c5]", None),
        ("#? [!b5]", None),
        ("#? [b5]*", None),
        ("#? [.*]", None),
        ("# comment", None),
        ("", None),
    ],
)
def test_a_genmove_of_which_one_answer_is_right_is_that_move(tmp_path, expectation, moves):
    text = f"boardsize 5\n7 genmove b\n{expectation}\n\n8 score\n"
    if moves is None:
        with pytest.raises(FormatError, match=":2: what 'genmove' does to the board"):
            case(tmp_path, text)
    else:
        assert case(tmp_path, text).moves == moves


@pytest.mark.parametrize(
    ("text", "choice", "expected"),
    [
        ("boardsize 5\nplay b a9\n", {}, ":2: 'play b a9' is refused: illegal move"),
        ("boardsize 77\n", {}, ":1: 'boardsize 77' is refused: unacceptable size"),
        ("genmove b\n", {}, ":1: what 'genmove' does to the board depends on the engine"),
        ("gg-undo 2\n", {}, ":1: what 'gg-undo' does"),
        ("black a1\n", {}, ":1: what 'black' does"),
        ("name\n", {"line": 9}, ": there is no line 9: the file has 2"),
        ("name\n", {"test": 9}, ": there is no test 9"),
        (CASE, {"test": 20}, ": 2 tests have the number 20; choose a line: 9, 12"),
    ],
)
def test_faulty_case_files(tmp_path, text, choice, expected):
    with pytest.raises(FormatError) as caught:
        case(tmp_path, text, **choice)
    assert str(caught.value).startswith(f"{tmp_path / 'case.gtp'}{expected}")


# --- telling the formats apart ------------------------------------------------------------------

CONTENTS = {
    "text": SAMPLE,
    "gosensei": format_gosensei(parse_digits(SAMPLE)),
    "picture": draw_gosensei(parse_digits(SAMPLE)),
    "diagram": format_diagram(parse_digits(SAMPLE)),
    "sgf": "Subject: a game\n\n(;SZ[9]AW"
    + "".join(
        f"[{'abcdefghi'[c]}{'ihgfedcba'[r]}]" for r, c in stones(parse_digits(SAMPLE), WHITE)
    )
    + "AB"
    + "".join(
        f"[{'abcdefghi'[c]}{'ihgfedcba'[r]}]" for r, c in stones(parse_digits(SAMPLE), BLACK)
    )
    + ")",
    "drawing": "#\n"
    + "".join(f"# {line}\n" for line in format_drawing(parse_digits(SAMPLE)).splitlines()),
    "gtp": "# setup\nboardsize 9\n"
    + "".join(
        f"gogui-setup {'.bw'[color]} {'ABCDEFGHJ'[c]}{r + 1}\n"
        for color in (BLACK, WHITE)
        for r, c in sorted(stones(parse_digits(SAMPLE), color))
    ),
}


# --- . X O ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: f"{p.grid.rows}x{p.grid.columns}")
@pytest.mark.parametrize("sign", ["", "# ", "#", "  #  "])
def test_drawings_of_any_rectangle(position, sign):
    rows = format_drawing(position).splitlines()
    text = "".join(f"{sign}{row}\n" for row in rows)
    assert parse_drawing(text) == position
    assert parse_drawing(text.lower().replace("\n", "\r\n")) == position
    assert parse_drawing(text.replace("X", "b").replace("O", "w")) == position
    assert detect(text.encode()) == "drawing"


ROW_OF_COMMENT = re.compile(r"#( [.XObw])+")


def drawings(text):
    """Return the drawings in the comments of a case file, as lists of rows with their signs."""
    lines = text.splitlines()
    runs = groupby(lines, key=lambda line: bool(ROW_OF_COMMENT.fullmatch(line)))
    return [found for is_row, run in runs if is_row and len(found := list(run)) > 1]


SHIPPED = sorted(
    path
    for path in (Path(__file__).parents[2] / "cases").rglob("*.gtp")
    if drawings(path.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("case", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_drawings_of_the_case_files_are_read(case, tmp_path, capsys):
    """By the API and by the command, with and without their signs."""
    path = tmp_path / "board"
    for rows in drawings(case.read_text(encoding="utf-8")):
        plain = [row.removeprefix("# ") for row in rows]
        for text in ("\n".join(rows), "\n".join(plain) + "\n"):
            path.write_text(text)
            snapshot = read_position(str(path))
            assert snapshot.kind == "drawing"
            shown = format_drawing(snapshot.position).splitlines()
            assert shown == [row.replace("b", "X").replace("w", "O") for row in plain]
    assert main(["score", str(path)]) == 0
    assert main(["show", str(path), "--to", "drawing"]) == 0
    assert capsys.readouterr().out.endswith("".join(f"{row}\n" for row in shown))


@pytest.mark.parametrize(
    "text", ["# X\nboardsize 9\n", "# . X O\nplay b a1\n", "# O X is a word\n", "# . . 3\nscore\n"]
)
def test_a_case_file_with_a_drawing_stays_one(text):
    assert detect(text.encode()) == "gtp"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (". X\n. Y", "board.txt:2: found 'Y'; expected '.', X or O"),
        ("# . X\n# .", "board.txt:2: found a row of 1 points; expected 2, as in the first row"),
        ("# . X\n#\n# . X", "board.txt:2: found an empty line inside the board"),
        ("#\n", "board.txt: the file is empty; expected a row of '.', X and O"),
        (". " * 26, "board.txt:1: found a row of 26 points; expected at most 25"),
        (".\n" * 26, "board.txt:26: found 26 rows; expected at most 25"),
    ],
)
def test_faulty_drawings(text, expected):
    assert message(parse_drawing, text).startswith(expected)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf", b"\n\n"])
def test_one_position_in_every_format(tmp_path, kind, prefix):
    path = tmp_path / "file"
    path.write_bytes(prefix + CONTENTS[kind].encode())
    snapshot = read_position(str(path))
    assert (snapshot.kind, snapshot.position) == (kind, parse_digits(SAMPLE))
    assert read_position(str(path), kind).position == snapshot.position


@pytest.mark.parametrize("data", [b"", b"\n", b"hello", b"x a 1", b"\xff\xfe\x00", b"3 4"])
def test_an_unknown_format_is_named(data):
    with pytest.raises(FormatError, match=r"expected a game record \(SGF\), a board"):
        detect(data)


@pytest.mark.parametrize(
    ("kind", "choice", "reason"),
    [
        ("text", {"move": 3}, "a file of format text has no choice of move \\(only sgf\\)"),
        ("gtp", {"number": 1}, "a file of format gtp has no choice of number \\(only sgf\\)"),
        ("sgf", {"line": 3}, "a file of format sgf has no choice of line \\(only gtp\\)"),
        ("diagram", {"test": 1}, "has no choice of test \\(only gtp\\)"),
    ],
)
def test_a_choice_that_a_format_cannot_heed_is_refused(tmp_path, kind, choice, reason):
    path = tmp_path / "file"
    path.write_text(CONTENTS[kind])
    with pytest.raises(FormatError, match=reason):
        read_position(str(path), choice=SnapshotChoice(**choice))


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FormatError, match="none: cannot read the file: No such file or directory"):
        read_position(str(tmp_path / "none"))
    with pytest.raises(FormatError, match="cannot read the file: Is a directory"):
        read_position(str(tmp_path))
    with pytest.raises(FormatError, match="cannot read the file: embedded null byte"):
        read_position("a\0b")
