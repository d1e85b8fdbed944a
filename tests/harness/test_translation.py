"""Engines with other words: a transposed board, exchanged colors, other names and words.

Two programs for Hex by different authors are the example: an answer of one of them is what the
other one does, through a translation, whatever is said to them.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import AssignmentError
from harness.core.options import STATUS_LAST, Options
from harness.core.records import Reply, Verdict
from harness.engine import translation
from harness.engine.translation import Rules, Translation
from harness.running.runs import run

GAMES = Path(__file__).parent.parent / "own_games"
HEX = """\
transposed = true
colors = "exchanged"
letters = "abcdefghijklmnopqrstuvwxyz"
words = { none = "unknown" }
"""


def table(text: str, folder: Path) -> str:
    path = folder / "words.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "ours", "theirs"),
    [
        ("", "10 play B a1", "10 play B a1"),
        ("transposed = true", "play B c1", "play B a3"),
        ("transposed = true", "play b J2", "play b B9"),
        ("transposed = true", "play b i2", "play b i2"),  # GTP has no column i
        ("transposed = true", "play b a26 b0 a1b 7", "play b a26 b0 a1b 7"),
        ('transposed = true\nletters = "abcdefghi"', "play b i2", "play b b9"),
        ('colors = "exchanged"', "play B b2", "play W b2"),
        ('colors = "exchanged"', "genmove Black", "genmove White"),
        ('colors = "exchanged"', "say bw blackish", "say bw blackish"),
        ('words = { pass = "none" }', "play b PASS", "play b none"),
        ('words = { b = "x" }\ncolors = "exchanged"', "play b a1 w", "play x a1 b"),
        ('names = { winner = "who-won" }', "7 winner", "7 who-won"),
        ('names = { winner = "who-won" }', "known_command winner", "known_command who-won"),
        ("command.play.arguments = [2, 1, 3]", "play 0 4 1", "play 4 0 1"),
        ("command.play.arguments = [3, 1, 2]", "play a b c", "play c a b"),
        ("command.play.arguments = [2, 1, 3]", "play 0 4", "play 0 4"),
        ("transposed = true\ncommand.at.transposed = false", "at a2", "at a2"),
        ('transposed = true\ncommand.at.words = { a2 = "q" }', "at a2 a3", "at q c1"),
    ],
)
def test_what_is_sent(text: str, ours: str, theirs: str, tmp_path: Path) -> None:
    assert translation.read(table(text, tmp_path)).translate_command(ours) == theirs


@pytest.mark.parametrize(
    ("text", "command", "said", "heard"),
    [
        ("transposed = true", "legal", "a1 a2 c1", "a1 b1 a3"),
        ('colors = "exchanged"', "score", "B+4.5", "W+4.5"),
        ('colors = "exchanged"', "winner", "black", "white"),
        ('words = { none = "unknown" }', "winner", "unknown", "none"),
        ('words = { none = "unknown" }', "winner", "Unknown, so far", "none, so far"),
        ('command.winner.words = { none = "no" }', "turn", "no", "no"),
        ('names = { winner = "who" }', "list_commands", "play\nwho", "play\nwinner"),
        ("command.genmove.reply = [2, 1]", "genmove", "3 1", "1 3"),
        ("command.genmove.reply = [2, 1]", "genmove", "resign", "resign"),
        ("transposed = true", "show", "  a b\n 1 . .", "  a b\n 1 . ."),
    ],
)
def test_what_is_heard(text: str, command: str, said: str, heard: str, tmp_path: Path) -> None:
    reply = translation.read(table(text, tmp_path)).translate_reply(
        command, Reply(True, said, f"= {said}", 0)
    )
    assert reply.text == heard
    assert reply.raw == f"= {said}"  # what was really said


def test_the_reason_of_an_illegal_move_is_translated_with_its_status() -> None:
    rules = Translation(Rules(transposed=True))
    reply = Reply(True, "illegal move: a3 x", "", 0, "", "= illegal move: a3 x")
    found = rules.translate_reply("play b c1", reply)
    assert (found.text, found.status) == ("illegal move: c1 x", "= illegal move: c1 x")
    done = Reply(True, "a3", "", 0, "", "= 1")
    assert rules.translate_reply("genmove", done)[:2] == (True, "c1")
    assert rules.translate_reply("genmove", done).status == "= 1"


TEXTS = st.lists(st.sampled_from(["b", "White", "a3", "C1", "none", "x-y", "B+3", "\n", " "]))
RULES = st.builds(
    Rules,
    words=st.sampled_from([{}, {"none": "unknown"}, {"none": "pass", "x-y": "q"}]),
    transposed=st.booleans(),
    exchanged=st.booleans(),
    letters=st.sampled_from(["abcdefghjklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"]),
    arguments=st.just(()),
    reply=st.just(()),
)


@given(RULES, TEXTS)
def test_there_and_back_is_where_it_was(rules: Rules, words: list[str]) -> None:
    text = " ".join(words)
    assert rules.ours(rules.theirs(text)) == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("transposed = 1", "transposed: found 1, expected true or false"),
        ('colors = "swapped"', "colors: found 'swapped', expected 'same' or 'exchanged'"),
        ("colours = 1", "colours: there is no such key; did you mean 'colors'?"),
        ('words = { a = "x y" }', "words.a: found 'x y', expected one word"),
        ('words = { a = "" }', "words.a: found '', expected one word"),
        ('words = { a = "x", b = "X" }', "words.b: found 'X', expected another word than for 'a'"),
        ("command.play.arguments = [1, 3]", "each number from 1 to 2 once"),
        ("command.play = 1", "command.play: found 1, expected a table"),
        ('letters = "aa"', "letters: found 'aa', expected the letters of the columns, each once"),
        ("transposed = ", "is not TOML"),
    ],
)
def test_faults_are_told(text: str, error: str, tmp_path: Path) -> None:
    path = table(text, tmp_path)
    with pytest.raises(AssignmentError) as caught:
        translation.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert error in str(caught.value)


# --- with engines ------------------------------------------------------------------------------

MOVES = ["a1", "b2", "c1", "a3", "d4", "c3", "b1", "z9", "d2", "a2"]


def replies(program: str, commands: list[str]) -> list[str]:
    """Return what a program for GTP answers, without ``=`` and blanks."""
    text = "".join(f"{command}\n" for command in [*commands, "quit"])
    told = subprocess.run(
        [sys.executable, "-S", "-E", GAMES / program],
        input=text,
        text=True,
        capture_output=True,
        check=True,
    )
    return told.stdout.split("\n\n")[: len(commands)]


@pytest.mark.processes
def test_two_programs_for_hex_agree(tmp_path: Path) -> None:
    commands = ["boardsize 4", "clear_board"]
    for index, move in enumerate(MOVES):
        commands += [f"play {'bw'[index % 2]} {move}", "winner", "turn"]
    lines = []
    for number, (command, reply) in enumerate(
        zip(commands, replies("hex/hex.py", commands), strict=True), 1
    ):
        if reply.startswith("="):  # an error is asked for in no case file
            lines += [f"{number} {command}", f"#? [{reply[1:].strip()}]"]
        else:
            lines += [command]
    case = tmp_path / "case.gtp"
    case.write_text("\n".join(lines))
    program = f"{sys.executable} -S -E {GAMES / 'hex/dialect_hex.py'}"
    as_it_is = run(program, [str(case)]).files[0]
    translated = run(program, [str(case)], Options(translate=table(HEX, tmp_path), jobs=1)).files[
        0
    ]
    assert Verdict.FAILED in {one.verdict for one in as_it_is.outcomes}
    assert {one.verdict for one in translated.outcomes} == {Verdict.PASSED}
    assert any(one.reply and "unknown" in one.reply.raw for one in translated.outcomes)


@pytest.mark.processes
def test_a_transposed_grid_with_status_lines(tmp_path: Path) -> None:
    case = tmp_path / "case.txt"
    case.write_text(
        "game 3 2\n= 1\n?play 2 0 1\n= 1\n?play 2 0 1\n= illegal move: 2 0 1 occupied\n"
    )
    text = "command.game.arguments = [2, 1]\ncommand.play.arguments = [2, 1, 3]\n"
    program = f"{sys.executable} -S -E {GAMES / 'takuzu/takuzu.py'}"
    options = Options(protocol=STATUS_LAST, translate=table(text, tmp_path))
    file = run(program, [str(case)], options).files[0]
    assert [one.verdict for one in file.outcomes] == [Verdict.PASSED, Verdict.FAILED]
    assert [one.reply and one.reply.text for one in file.outcomes] == [
        "= 1",
        "= illegal move: 0 2 1 occupied",  # the words of a text are not known as arguments
    ]
