"""Two people play Go at the terminal: driven with pexpect, as they would sit there."""

import re

import pexpect
import pytest

from oracle.boards.diagram import parse_digits
from oracle.commands.play import GameTable
from oracle.position import BLACK, WHITE, Position, grid
from oracle.sgf import read_sgf
from tests.oracle.program import ENVIRONMENT, WORDS


class Terminal:
    """A running game."""

    def __init__(self, arguments, folder):
        program, *words = WORDS
        self.child = pexpect.spawn(
            program,
            [*words, "play", *arguments],
            encoding="utf-8",
            cwd=folder,
            env=ENVIRONMENT,
            timeout=30,
            dimensions=(60, 120),
            echo=False,
        )
        self.welcome = self.read()

    def read(self):
        """Return what is printed up to the next question, or to the end."""
        found = self.child.expect([r"(Black|White) to play: ", pexpect.EOF])
        self.turn = self.child.match[1] if found == 0 else None
        return self.child.before.replace("\r\n", "\n")

    def type(self, *lines):
        """Type some lines and return the answer to the last."""
        for line in lines:
            self.child.sendline(line)
            answer = self.read()
        return answer

    def leave(self):
        """Wait for the program's end and return its exit status."""
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def sit_down(tmp_path):
    opened = []

    def open_(*arguments):
        opened.append(Terminal(arguments, tmp_path))
        return opened[-1]

    yield open_
    for terminal in opened:
        terminal.child.close(force=True)


def draw_rows(answer):
    """Return the rows of an ASCII board without coordinates."""
    rows = re.findall(r"^ ?\d+ (.*?) \d+$", answer, re.MULTILINE)
    return [row.replace("(", " ").replace(")", " ").strip() for row in rows]


@pytest.mark.processes
def test_a_whole_game_on_a_small_board(sit_down):
    """Captures, ko, an undo, the score, and the end after Black's and then White's pass."""
    game = sit_down("--size", "4x3", "--ascii")
    assert game.welcome.startswith(
        "Go on a board of 4 by 3. Black and White (X and O) take turns."
    )
    assert draw_rows(game.welcome) == [". . . ."] * 3
    answer = game.type("b1", "C1", "a2", "d2", "B3", "c3", "pass", "b2")
    assert draw_rows(answer) == [". X O .", "X O . O", ". X O ."]
    assert "White plays B2.\n" in answer

    answer = game.type("c2")
    assert "Black plays C2 and takes 1 white stone." in answer
    assert "Black: 1 prisoner, score " in answer
    assert draw_rows(answer) == [". X O .", "X . X O", ". X O ."]

    assert game.type("b2") == (
        "B2 is not legal: the ko rule: it would take back at once the stone that has just taken "
        "one.\n\n"
    )
    assert game.turn == "White"
    assert "White passes." in game.type("pass")
    assert game.type("c2") == "C2 is not legal: a stone lies there already.\n\n"
    assert "Black passes." in game.type("pass")
    assert "White plays B2 and takes 1 black stone." in game.type("B2"), "the ko is open again"
    assert "White takes B2 back." in game.type("undo")
    answer = game.type("pass")
    assert "The game is over: Black passed and White passed after it." in answer
    assert game.leave() == 0


@pytest.mark.processes
def test_eleven_by_eleven_is_the_usual_board(sit_down):
    """java-go.txt, "The Game": "The grid we will use for this assignment is an 11x11 board"."""
    game = sit_down()
    assert "Go on a board of 11 by 11." in game.welcome
    assert "● and ○" in game.welcome
    assert "┼" in game.welcome
    answer = game.type("k11")
    assert "Black plays K11." in answer
    assert "(●)" in answer
    assert "Black: 0 prisoners, score 120" in answer


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("z9", "'z9' is not on a board of 5 columns and 5 rows. Type a point such as C3, pass or"),
        ("i3", "not a vertex: 'i3'. Type a point such as C3, pass or help."),
        ("c6", "'c6' is not on a board of 5 columns and 5 rows."),
        ("hello there", "not a vertex: 'hello there'. Type a point"),
        ("[]", "not a vertex: '[]'."),
        ("é3", "not a vertex: 'é3'."),
        ("save", "Say where: save FILE."),
        ("save /", "/ exists already; choose another name."),
        ("save none/x.sgf", "none/x.sgf cannot be written: No such file or directory."),
        ("undo", "There is no move to take back."),
        ("", ""),
    ],
)
def test_whatever_is_typed_is_answered(typed, answer):
    table = GameTable(Position(grid(5)))
    assert table.handle(typed).strip().startswith(answer)
    assert table.prompt() == "Black to play: "


@pytest.mark.processes
def test_the_game_is_saved_and_gone_on_with(sit_down, tmp_path):
    game = sit_down("--size", "5", "--ascii")
    answer = game.type("c3", "b2", "pass", "save game.sgf")
    assert answer == "The game is in game.sgf.\n\n"
    game.type("d4", "save game.sgf")
    snapshot = read_sgf((tmp_path / "game.sgf").read_bytes())
    assert snapshot.moves == [(BLACK, (2, 2)), (WHITE, (1, 1)), (BLACK, None), (WHITE, (3, 3))]
    assert "The game is left as it stands." in game.type("quit")
    assert game.leave() == 0

    other = sit_down("game.sgf", "--ascii")
    assert draw_rows(other.welcome) == [
        ". . . . .",
        ". . . O .",
        ". . X . .",
        ". O . . .",
        ". . . . .",
    ]
    assert other.turn == "Black"
    assert "White takes D4 back." in other.type("undo")
    assert other.type("save game.sgf") == "game.sgf exists already; choose another name.\n\n"


@pytest.mark.processes
@pytest.mark.parametrize("key", ["sendeof", "sendintr"])
def test_the_end_of_the_input_and_an_interrupt_leave_the_game(key, sit_down):
    game = sit_down("--size", "3")
    getattr(game.child, key)()
    assert "The game is left as it stands." in game.read()
    assert game.leave() == 0


@pytest.mark.processes
def test_wrong_options_are_one_line(sit_down, tmp_path):
    game = sit_down("--size", "26")
    assert game.welcome.strip() == (
        "gtp-oracle play: argument --size: '26': a board has 1 to 25 lines each way; "
        "see gtp-oracle play --help"
    )
    assert game.leave() == 2
    (tmp_path / "game.sgf").write_text("(;SZ[3];B[aa])")
    game = sit_down("game.sgf", "--color", "b")
    assert game.welcome.strip() == "gtp-oracle: game.sgf: it is White's turn"
    assert game.leave() == 2


# --- the table, without a terminal --------------------------------------------------------------


def test_white_s_pass_and_then_black_s_do_not_end_the_game():
    """java-go.txt, "The Game": "The game ends when black followed by white skip a go"."""
    table = GameTable(Position(grid(3)))
    for move in ("a1", "pass", "pass"):
        table.handle(move)
    assert table.is_open
    assert "Black passed and White passed after it" in table.handle("pass")
    assert not table.is_open


def test_the_score_counts_prisoners_and_territory():
    """java-go.txt, "Scoring": "Each empty space surrounded by one colour ... along with each
    prisoner"."""
    table = GameTable(Position(grid(3)), unicode=False)
    answer = [table.handle(move) for move in ("a2", "a1", "b1")][-1]
    assert "Black plays B1 and takes 1 white stone." in answer
    assert (table.score(BLACK), table.score(WHITE)) == (1 + 7, 0)
    assert table.handle("score").splitlines()[0] == (
        "2 empty regions touch black stones only: 1 and 6 points. Black's score is 0 + 7 = 7. "
        "With 1 prisoner taken in the game: 8."
    )
    for move in ("pass", "pass", "pass"):
        answer = table.handle(move)
    assert answer.splitlines()[-1] == "Black has 8 points, White 0: Black wins by 8 points."
    assert read_sgf(table.record()).title == "B+8"


def test_stones_without_liberties_on_the_first_board_count_twice():
    """As in the document's own count: the stone as a prisoner, its point as territory."""
    table = GameTable(parse_digits("0 1 0\n1 2 1\n0 1 0"))
    assert table.score(BLACK) == 4 + 2
