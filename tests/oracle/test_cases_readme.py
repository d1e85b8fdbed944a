"""cases/README.md says what is: its examples run, what it refuses is refused, its tables hold."""

import re
from pathlib import Path

import pytest

import oracle.gtp
from harness.core.errors import CaseError
from harness.core.records import Verdict
from harness.engine.replies import Splitter
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.reading.pattern import read_gogui
from tests.oracle.test_cases import CASES, FILES, GAMES, assignment_of

TEXT = (CASES / "README.md").read_text()
BLOCKS = re.findall(r"^```gtp (\S+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
EXAMPLES = [(game, text) for game, text in BLOCKS if game != "refused"]
REFUSED = [text for game, text in BLOCKS if game == "refused"]
# Markdown writes a bar inside a table as \|.
ROWS = [
    [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TEXT.splitlines()
    if line.startswith("|")
]
VERDICTS = [row for row in ROWS if row[0].startswith("`#?")]


def code(cell):
    return cell.strip("`")


def replies(game, text):
    engine = oracle.gtp.new_engine(game)
    case = casefile.parse(text.encode(), "README.md")
    for step in case.steps:
        (reply,) = Splitter().split(engine.handle(step.text).encode())
        yield step, reply


@pytest.mark.parametrize(("game", "text"), EXAMPLES)
def test_the_examples_pass(game, text):
    for step, reply in replies(game, text):
        assert reply.ok
        assert find_dialect("gogui").verdict(step.pattern, reply) is Verdict.PASSED, reply


def test_there_is_an_example_for_each_game():
    assert {game for game, _ in EXAMPLES} == set(GAMES.values())


@pytest.mark.parametrize("text", REFUSED)
def test_what_it_says_is_refused_is_refused(text):
    with pytest.raises(CaseError, match=r"README\.md:\d"):
        casefile.parse(text.encode(), "README.md")


@pytest.mark.parametrize("row", VERDICTS, ids=lambda row: " ".join(row[:2]))
def test_the_table_of_verdicts_holds(row):
    expectation, reply, verdict = row
    pattern = read_gogui(code(expectation).removeprefix("#?"))
    (found,) = Splitter().split(f"{code(reply)}\n\n".encode())
    assert find_dialect("gogui").verdict(pattern, found) is Verdict(verdict)


def test_both_tables_were_found():
    assert len(VERDICTS) >= 12
    assert len(REFUSED) >= 7


def vocabulary():
    """The commands that the page lists for each assignment, with those of every assignment."""
    sections = re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]
    for section in sections:
        name, _, body = section.partition("\n")
        first_cells = re.findall(r"^\| (`.*?) \|", body, re.MULTILINE)
        listed = {word.split()[0] for cell in first_cells for word in re.findall(r"`(.*?)`", cell)}
        yield name, listed | {"boardsize", "clear_board", "play"}


@pytest.mark.parametrize(("name", "commands"), list(vocabulary()), ids=GAMES)
def test_the_engine_knows_the_vocabulary_and_the_cases_use_no_other(name, commands):
    assert commands <= set(oracle.gtp.new_engine(GAMES[name]).commands)
    inherited = dict(vocabulary())["gomoku-rules"] if name == "gomoku-policy" else set()
    used = {
        step.command.split()[0]
        for path in FILES
        if assignment_of(path) == name
        for step in casefile.read(str(path)).steps
    }
    assert used <= commands | inherited


def test_every_folder_is_in_the_table():
    folders = {path.name for path in Path(CASES).iterdir() if path.is_dir()}
    assert folders == set(GAMES) == {code(row[0]) for row in ROWS if code(row[0]) in GAMES}
    for row in ROWS:
        if code(row[0]) in GAMES:
            assert code(row[2]) == f"gtp-oracle gtp --game {GAMES[code(row[0])]}"
