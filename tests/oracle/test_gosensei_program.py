"""``gtp-oracle gosensei`` beside gosensei.txt: usage, exit status, display, sentences."""

from pathlib import Path

import pytest

from oracle.boards.gosensei import format_gosensei, parse_picture
from oracle.cli import main
from tests.oracle.documents import THREE_EYES, TWO_SPACES

EMPTY = THREE_EYES.replace("b", "+").replace("w", "+")
ONE_EYE = EMPTY.replace("1 +-+-+", "1 +-b-+", 1).replace("2 +-+", "2 b-b", 1)
ONE_EYE = ONE_EYE.replace("9 +-+", "9 +-w", 1)


@pytest.fixture
def board(tmp_path, monkeypatch):
    """A function that writes a picture's board file and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(picture):
        Path("board").write_text(format_gosensei(parse_picture(picture)))
        return "board"

    return write


@pytest.mark.parametrize(
    ("option", "picture", "sentence"),
    [
        ("-eyes", THREE_EYES, "There are 3 eyes for black."),
        ("-eyes", EMPTY, "There are 0 eyes for black."),
        ("-eyes", ONE_EYE, "There is 1 eye for black."),
        ("-twoeyes", THREE_EYES, "There are 2 two eye for blacks."),
        ("-doubleeyes", THREE_EYES, "There are 2 two eye for blacks."),
        ("-twoeyes", ONE_EYE, "There are 0 two eye for blacks."),
        ("-eyespaces", TWO_SPACES, "There are 2 eyespaces for black."),
        ("-eyespaces", ONE_EYE, "There is 1 eyespace for black."),
        ("-eyespaces", EMPTY, "There are 0 eyespaces for black."),
    ],
)
def test_the_board_and_the_sentence_to_the_letter(option, picture, sentence, board, capsys):
    assert main(["gosensei", option, board(picture)]) == 0
    assert capsys.readouterr() == (f"{picture}\n{sentence}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-eyes"],
        ["board"],
        ["board", "-eyes"],
        ["-eyes", "board", "board"],
        ["-eyes", "-twoeyes", "board"],
        ["-EYES", "board"],
        ["--eyes", "board"],
        ["eyes", "board"],
        ["-eye", "board"],
        ["-eyespace", "board"],
        ["", ""],
    ],
)
def test_wrong_arguments_give_the_usage_and_a_failure(arguments, board, capsys):
    """ "display a usage statement if the provided arguments are incorrect"."""
    board(EMPTY)
    assert main(["gosensei", *arguments]) == 1
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[0]) == ("", "usage: gosensei OPTION FILE")
    for option in ("-eyes", "-twoeyes", "-doubleeyes", "-eyespaces"):
        assert option in err


def test_a_faulty_file_is_not_displayed(board, capsys):
    board(EMPTY)
    Path("board").write_text("b a 1\nw A 1\nx b 2\n")
    assert main(["gosensei", "-eyes", "board"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "board:2: multiple stones on A1; line 1 has a black one there\n"
        "board:3: invalid stone color 'x'; expected B, b, W or w\n"
    )
