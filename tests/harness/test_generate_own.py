"""Cases for a declared game: right, few, and known to catch wrong programs."""

from __future__ import annotations

import contextlib
import re
import sys
from collections import Counter
from itertools import count
from pathlib import Path
from random import Random, seed
from typing import NamedTuple

import pytest

from harness.assignments import assignment
from harness.cli import main
from harness.core.errors import ExitCode
from harness.core.records import Reply, Verdict
from harness.declared.specifying import match_anywhere
from harness.generating import drafts, record_reading, test_production
from harness.generating.drafts import Draft, Drafter, Opening
from harness.generating.test_production import TestRequest as Request
from harness.generating.test_production import produce
from harness.reading import casefile, conversion
from harness.reading.answer_files import ANSWERS
from harness.reading.dialect import find_dialect
from tests.harness import own_assignments
from tests.harness.own_games import GAMES, generated, module

# --- the choice, with engines that are made up -------------------------------------------------


class Engine(NamedTuple):
    name: str
    sentence: str = ""


class Bench:
    """Engine n fails the questions in ``fails[n]``; those in ``after`` only after another test."""

    folder = Path()

    def __init__(self, *fails: set[str], after: frozenset[str] = frozenset()) -> None:
        self.engines = tuple(Engine(f"e{n}") for n in range(len(fails)))
        self._fails = fails
        self._after = after

    def map_catches(self, texts, of):
        return [self._caught(text, of) for text in texts]

    def _caught(self, text, of):
        found = {}
        for line, said in enumerate(text.splitlines(), 1):
            name = said.removeprefix("1 ")
            if said.startswith("1 ") and not (name in self._after and text.count("#?") < 10):
                found[line] = sum(
                    1 << n for n, fails in enumerate(self._fails) if of >> n & 1 and name in fails
                )
        return found

    def find_caught(self, cases):
        return 0

    def find_wrong(self, text):
        return set()


class Numbers:
    """Drafts q0, q1 …, ten at a time, each after one setup command more."""

    def __init__(self) -> None:
        self._numbers = count()

    def drafts(self, random, length):
        for _ in range(10):
            n = next(self._numbers)
            yield Draft(("x",) * (n % 7), f"q{n}", "a", "drawn at random", (2 + n % 3,) * 2)


def choose_tests(bench, most=5, **more):
    request = Request(record_reading.choices(0), most, **more)
    return produce(request, Numbers(), bench, lambda _: None)


def test_few_tests_catch_all_engines():
    found = choose_tests(Bench({"q1", "q2"}, {"q2", "q9"}, {"q40"}), most=2)
    assert [one.command for one in found.drafts] == ["q2", "q40"]
    assert found.survivors == []


def test_what_only_others_beside_it_show_is_not_relied_on():
    """A test that fails in a long file, and not by itself, catches nobody by itself."""
    bench = Bench({"q1", "q30"}, after=frozenset({"q1"}))
    found = choose_tests(bench, most=1)
    assert [one.command for one in found.drafts] == ["q30"]


def test_who_is_not_caught_is_told():
    found = choose_tests(Bench({"q3"}, set()), most=3)
    assert [one.name for one in found.survivors] == ["e1"]
    assert len(found.drafts) == 3


def test_without_engines_sizes_and_commands_are_covered():
    found = choose_tests(Bench(), most=6)
    assert len(found.drafts) == 6
    assert set(Counter(one.size for one in found.drafts).values()) == {2}


def test_only_what_catches_who_is_left_is_taken():
    bench = Bench({"q1"}, {"q2"})
    found = choose_tests(bench, most=9, other_catches=0b01, only_survivors=True)
    assert [one.command for one in found.drafts] == ["q2"]


def test_what_was_asked_before_is_not_asked_again():
    bench = Bench({"q3", "q200"})
    found = choose_tests(bench, most=1, excluded={(*("x",) * 3, "q3")})
    assert [one.command for one in found.drafts] == ["q200"]


# --- drafts --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def places(open_places):
    """The assignments, by name."""
    return {name: own_assignments.make(open_places, name) for name in GAMES}


def drafter(place, positions=()):
    found = assignment.find(str(place))
    return Drafter(found.specification, found.declaration, found.place, positions)


pytestmark = [pytest.mark.processes]


def wins(game, color):
    """Whether the side to move wins: some move leaves the other one without a winning move."""
    return bool(winning(game, color))


def winning(game, color):
    other = "w" if color == "b" else "b"
    found = []
    for point in sorted(set(game.points()) - set(game.board)):
        if not game.reason(point, color):
            game.board[point] = color
            if not wins(game, other):
                found.append(point)
            del game.board[point]
    return found


@pytest.mark.long(3)
def test_a_solvers_test_accepts_every_winning_move_and_no_other(places):
    """Against a solver of this test's own: every move is tried."""
    seen = 0
    made = drafter(places["solver"])
    for number in range(6):
        for one in made.drafts(Random(number), 4):
            if one.name == "solve":
                game = module("nogo").NoGo()
                for command in one.setup:
                    name, *words = command.split()
                    with contextlib.suppress(Exception):  # a move that is refused
                        getattr(game, f"do_{name}")(*words)
                right = {game.text(point) for point in winning(game, game.turn)}
                told = one.expression.removeprefix("(?i)").split("|")
                assert {text.partition(" ")[2] for text in told} - {""} == right, one
                seen += len(right) > 1
    assert seen > 1


def test_every_legal_move_is_accepted(places):
    found = [
        one.expression
        for number in range(10)
        for one in drafter(places["nogo"]).drafts(Random(number), 1)
        if one.name == "genmove" and set(one.setup) <= {"boardsize 2", "clear_board"}
    ]
    assert set(found) == {"(?i)a1|b1|a2|b2"}


def test_a_question_after_a_free_move_has_one_answer(places):
    """Whose turn it is after genmove does not hang on the move; which moves are legal does."""
    after = [
        one
        for number in range(10)
        for one in drafter(places["nogo"]).drafts(Random(number), 4)
        if one.setup and one.setup[-1].startswith("genmove")
    ]
    assert {"gogui-rules_side_to_move", "gogui-rules_board_size"} <= {one.name for one in after}


def test_what_no_test_can_expect_is_counted_and_asked_after(places):
    """An error is no answer that a case file can expect: what holds after it is asked."""
    own = drafter(places["othello"])
    found = [one for number in range(3) for one in own.drafts(Random(number), 4)]
    assert own.unsaid.keys() == {"final_score", "play"}, "before the end there is no score"
    after = [one for one in found if len(one.setup) - 1 in one.refused]
    assert {one.setup[-1].split()[0] for one in after} == {"final_score", "play"}
    assert {one.name for one in after} >= {"discs", "legal_moves"}


def test_positions_of_cases_and_games_are_gone_on_from(places, tmp_path):
    found = assignment.find(str(places["nogo"]))
    text = (
        "boardsize 3\nplay b a1\n1 gogui-rules_legal_moves\nplay w b2\n"
        "2 gogui-rules_side_to_move\nboardsize 2\n3 genmove b\n4 gogui-rules_legal_moves\n"
    )
    case = casefile.parse(text.encode(), "some/a.gtp")
    assert list(drafts.of_cases([case], found.declaration)) == [
        Opening(("boardsize 3", "play b a1"), "from the position of a.gtp:3"),
        Opening(("boardsize 3", "play b a1", "play w b2"), "from the position of a.gtp:5"),
        Opening(("boardsize 2",), "from the position of a.gtp:7"),
    ]
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[3];B[aa];W[cc];B[ab];W[bb])")
    (tmp_path / "b.sgf").write_text("(;GM[1]SZ[9];B[aa])")
    (tmp_path / "c.sgf").write_text("no record")
    records = drafts.Records(
        found.specification, found.declaration, record_reading.choices(0), private=None
    )
    made = list(records.openings(sorted(map(str, tmp_path.glob("*.sgf")))))
    assert made[-1].commands == (
        "boardsize 3", "clear_board", "play b a3", "play w c1", "play b a2", "play w b2",
    )  # fmt: skip
    assert made[-1].origin == f"from {tmp_path}/a.sgf, after move 4"
    assert records.counts == {
        "files": 3, "games": 2, "used": 1, "a file is not a game record": 1,
        "no move that the reference accepts": 1,
    }  # fmt: skip


@pytest.mark.parametrize("refused", ["illegal move", "(?i)illegal move"])
def test_a_move_that_is_accepted_can_be_told_in_both_formats(refused):
    text = f"1 play b a1\n#? [!{match_anywhere(refused)}]\n"
    case = casefile.parse(text.encode(), "a.gtp")
    (step,) = casefile.parse(conversion.to_answers(case).encode(), "a.txt").steps
    for said, passes in (("", True), ("two\nlines", True), ("so\nillegal move: a1", False)):
        reply = Reply(True, said, f"= {said}", 0.0)
        for judge, pattern in (
            (find_dialect("gogui"), case.steps[0].pattern),
            (ANSWERS, step.pattern),
        ):
            assert (judge.verdict(pattern, reply) is Verdict.PASSED) is passes, said


# --- the command ---------------------------------------------------------------------------------


def generate_cases(place: Path, *more: str, name: str = "made.gtp") -> tuple[int, Path]:
    path = place / name
    words = ["generate", "--assignment", str(place), "-o", str(path), *more]
    return main(words), path


# A right program by somebody else, and what it is run with.
RIGHT = {
    "nogo": ("other_nogo.py",),
    "solver": ("nogo.py",),
    "takuzu": ("other_takuzu.py", "--protocol", "status last"),
    "hex": ("dialect_hex.py", "--translate", "dialect.toml"),
    "othello": ("othello.py",),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_forty_tests_catch_all_ten_and_no_right_engine(name, places, capsys, monkeypatch):
    """Chosen in this process, which is many times faster; then put to real programs.

    Of a few tests the document about a game of one's own shows the same.
    """
    seed(0)  # of the moves that the programs choose
    place = places[name]
    drafts = generated(name, 40).drafts
    assert len(drafts) <= 40
    path = place / "forty.gtp"
    path.write_text(test_production.case_file(drafts, [name]))
    assert main(["verify", str(path), "--assignment", str(place)]) == ExitCode.OK
    wrong_ones = own_assignments.engines(place, name)
    words = [str(path), "--assignment", str(place), "--sandbox", "off", *wrong_ones]
    assert main(["strength", *words]) == ExitCode.OK
    assert "10 of 10 engines caught" in capsys.readouterr().out
    program, *more = RIGHT[name]
    monkeypatch.chdir(place)
    assert main(["run", f"{sys.executable} -S -E {program}", str(path), *more]) == ExitCode.OK


@pytest.mark.long(3)
def test_wrong_programs_may_be_declared(places, capsys, tmp_path):
    place = places["hex"]
    declared = place / "assignment.toml"
    before = declared.read_text()
    wrong_one = (
        '\n[[wrong]]\nname = "four"\ncommand = "python3 -S -E wrong_hex.py FourNeighbours"\n'
        'sentence = "it joins stones as on a board for Go"\n'
    )
    declared.write_text(before + wrong_one)
    try:
        words = ["--assignment", str(place), "--sandbox", "off"]
        path = tmp_path / "made.gtp"
        status = main(["generate", *words, "-n", "2", "--sizes", "2", "-o", str(path)])
        assert (status, "1 of 1 engine caught" in capsys.readouterr().out) == (ExitCode.OK, True)
        assert main(["strength", str(path), *words]) == ExitCode.OK
        assert re.search(r"^four +[1-5] ", capsys.readouterr().out, re.M)
    finally:
        declared.write_text(before)


@pytest.fixture
def few_conversations(monkeypatch):
    """Draw a third of the conversations: no engine is to be caught."""
    monkeypatch.setattr(test_production, "_IN_A_ROUND", 10)


@pytest.mark.long(4)
@pytest.mark.usefixtures("few_conversations")
def test_a_secret_makes_other_tests_and_the_same_secret_the_same(places, tmp_path, capsys):
    texts = []
    for number, secret in enumerate(("one secret of a test", "another secret of it", "")):
        (tmp_path / "secret").write_text(secret or "one secret of a test")
        status, path = generate_cases(
            places["nogo"], "-n", "6", "--sizes", "2-3", "--secret", str(tmp_path / "secret"),
            name=f"secret{number}.gtp",
        )  # fmt: skip
        assert status == ExitCode.OK
        texts.append(path.read_text())
    assert texts[0] == texts[2] != texts[1]
    assert set(re.findall(r"boardsize (\d)", "".join(texts))) <= {"2", "3"}


@pytest.mark.long(5)
@pytest.mark.usefixtures("few_conversations")
def test_a_file_of_answers_accuses_no_right_program(places, capsys):
    """Another right program gives other reasons for its refusals."""
    place = places["takuzu"]
    status, path = generate_cases(place, "-n", "4", name="made.txt")
    assert status == ExitCode.OK
    assert main(["verify", str(path), "--assignment", str(place)]) == ExitCode.OK
    other = f"{sys.executable} -S -E {place / 'other_takuzu.py'}"
    assert main(["run", "--protocol", "status last", other, str(path)]) == ExitCode.OK


@pytest.mark.long(1)
def test_what_cannot_be_is_told(places, capsys):
    status, _ = generate_cases(places["nogo"], "--sizes", "9")
    assert status == ExitCode.BROKEN
    assert "--sizes: the game has no board with such sides" in capsys.readouterr().err


@pytest.mark.long(8)
def test_mutants_of_the_reference_compare_sets(places, tmp_path, capsys):
    """No percentage: what is not told apart may be equivalent."""
    place = places["hex"]
    one, other = tmp_path / "one.gtp", tmp_path / "other.gtp"
    one.write_text(
        "boardsize 2\nclear_board\nplay b a1\nplay w b1\nplay b a2\n1 winner\n#? [black]\n"
    )
    other.write_text("boardsize 2\nclear_board\n1 turn\n#? [black]\n")
    words = ["strength", str(one), str(other), "--assignment", str(place), "--mutants", "3"]
    assert main(words) == ExitCode.OK
    said = capsys.readouterr().out
    assert re.search(r"^\d of 3 mutants are caught; the others may be equivalent$", said, re.M)
    assert "%" not in said
    assert f"{one}  " in said
