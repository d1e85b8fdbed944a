"""Games of one's own: fuzzing finds each wrong program, by a short script, and no right one."""

import json
import random
import sys
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest

from harness.cli import main
from harness.core.errors import ExitCode
from tests.harness.own_games import GAMES, OWN, fuzzed, right, wrong
from tests.tiers import one_in

EXAMPLES = 8000  # some twenty seconds with programs in Python
SHORT = 14  # commands

# One of each game's ten; the others in the slow tier.
WRONG = one_in(10, [(game, name) for game in GAMES for name in wrong(game)])


@pytest.mark.long(1)
@pytest.mark.parametrize(("game", "name"), WRONG)
def test_each_wrong_program_is_found_by_a_short_script(game, name):
    random.seed(0)
    with fuzzed(game, wrong(game)[name], examples=EXAMPLES) as fuzzer:
        found = next(fuzzer.findings(), None)
    assert found is not None
    assert len(found.script.commands) <= SHORT


@pytest.mark.long(2)
@pytest.mark.parametrize("game", GAMES)
def test_the_right_program_is_not_accused(game):
    random.seed(0)
    with fuzzed(game, right(game), examples=120) as fuzzer:
        assert list(fuzzer.findings()) == []
        assert fuzzer.unconfirmed == 0


@pytest.mark.long(1)
def test_the_same_seed_finds_the_same():
    def find_first(seed):
        random.seed(0)
        wrong_one = list(wrong("nogo").values())[3]
        with fuzzed("nogo", wrong_one, examples=400, seed=seed) as fuzzer:
            one = next(fuzzer.findings())
        return one.script, one.difference, one.examples

    assert find_first(1) == find_first(1) != find_first(2)


# --- real processes ----------------------------------------------------------------------------

RIGHT = {
    "nogo/assignment.toml": ("nogo/other_nogo.py",),
    "nogo/solver.toml": ("nogo/other_nogo.py",),
    "takuzu": ("takuzu/other_takuzu.py",),
    # It shows a row such as ".0", in which nothing is an id.
    "takuzu/assignment.toml": ("takuzu/takuzu.py",),
    "hex": ("hex/dialect_hex.py", "--translate", str(OWN / "hex/dialect.toml")),
}


@pytest.fixture
def fuzz(tmp_path, capsys, monkeypatch):
    """Run ``fuzz`` with a program of a game; return its status and what it printed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(program, *words):
        given = (program, *words, "--sandbox", "off", "--seconds", "0")
        status = main(["fuzz", *given, "--output", str(tmp_path / "found")])
        return status, capsys.readouterr().out

    return run


def command(program):
    return f"{sys.executable} -S -E {OWN / program}"


@pytest.mark.long(4)
@pytest.mark.processes
@pytest.mark.parametrize("game", one_in(3, RIGHT))
def test_a_right_program_by_somebody_else_is_not_accused(game, fuzz):
    program, *more = RIGHT[game]
    given = ("--assignment", str(OWN / game), *more)
    assert fuzz(command(program), *given, "--examples", "60")[0] == ExitCode.OK


@pytest.mark.long(2)
@pytest.mark.processes
def test_a_finding_is_a_case_file_that_the_wrong_program_fails_alone(fuzz, tmp_path, capsys):
    wrong_one, right_one = command("nogo/wrong_nogo.py PassIsAMove"), command("nogo/nogo.py")
    given = ("--assignment", str(OWN / "nogo"), "--findings", "1", "--examples", "300")
    assert fuzz(wrong_one, *given)[0] == ExitCode.FAILED
    (path,) = (tmp_path / "found").iterdir()
    for program, status in ((wrong_one, ExitCode.FAILED), (right_one, ExitCode.OK)):
        assert main(["run", program, str(path), "--sandbox", "off"]) == status
    capsys.readouterr()


@pytest.mark.long(2)
@pytest.mark.processes
def test_with_status_lines_a_finding_is_a_file_of_answers(fuzz, tmp_path, capsys):
    """A refusal is missing; others may refuse for other reasons."""
    given = ("--assignment", str(OWN / "takuzu"), "--findings", "1", "--examples", "300")
    wrong_one = command("takuzu/wrong_takuzu.py ThreeInRowsOnly")
    assert fuzz(wrong_one, *given)[0] == ExitCode.FAILED
    (path,) = (tmp_path / "found").iterdir()
    assert path.suffix == ".txt"
    right_ones = [command(f"takuzu/{one}.py") for one in ("takuzu", "other_takuzu")]
    for program in (wrong_one, *right_ones):
        words = ["run", program, str(path), "--protocol", "status last", "--sandbox", "off"]
        is_wrong = program == wrong_one
        assert main(words) == (ExitCode.FAILED if is_wrong else ExitCode.OK), path.read_text()
    assert main(["verify", str(path), "--assignment", str(OWN / "takuzu")]) == ExitCode.OK
    capsys.readouterr()


@pytest.mark.long(4)
@pytest.mark.processes
def test_a_finding_tells_which_wrong_engines_it_is_like(fuzz, tmp_path):
    bank = tmp_path / "bank"
    bank.mkdir()
    program, names = command("nogo/wrong_nogo.py"), ("UndoKeepsTurn", "PassIsAMove")
    entries = (
        f'[[engine]]\nname = "no {name}"\ncommand = "{program} {name}"\nsentence = "as {name}"\n'
        for name in names
    )
    (bank / "bank.toml").write_text("".join(entries))
    given = ("--assignment", str(OWN / "nogo"), "--findings", "1", "--examples", "300")
    wrong_one, found = command("nogo/wrong_nogo.py PassIsAMove"), tmp_path / "found.json"
    status, told = fuzz(wrong_one, *given, "--bank", str(bank), "--json", str(found))
    assert status == ExitCode.FAILED
    assert "\n  like no PassIsAMove: as PassIsAMove\n" in told
    assert "UndoKeepsTurn" not in told
    (finding,) = json.loads(found.read_text())["findings"]
    assert [one["name"] for one in finding["engines"]] == ["no PassIsAMove"]
    text = Path(finding["file"]).read_text()
    assert "# It goes wrong as no PassIsAMove does: as PassIsAMove\n" in text


ERRING = """\
import sys
sys.path.insert(0, "{folder}")
from hex import Hex, talk

class Lenient(Hex):
    def handle(self, line):
        return "= \\n\\n" if line.split()[-2:] == ["x", "a1"] else super().handle(line)

talk(Lenient())
"""


@pytest.mark.long(2)
@pytest.mark.processes
def test_what_a_case_file_cannot_expect_is_told_in_it(fuzz, tmp_path, capsys):
    """Only its reply to a wrong color is wrong, where the right one is an error."""
    engine = tmp_path / "lenient.py"
    engine.write_text(ERRING.format(folder=OWN / "hex"))
    program = f"{sys.executable} {engine}"
    given = ("--assignment", str(OWN / "hex"), "--findings", "1", "--examples", "300")
    status, told = fuzz(program, *given)
    assert status == ExitCode.FAILED
    assert "play x a1: no error" in told
    (path,) = (tmp_path / "found").iterdir()
    said = " ".join(path.read_text().replace("\n# ", " ").split())
    assert "The right answer is an error, which no file for GTP can expect" in said
    assert main(["run", program, str(path), "--sandbox", "off"]) == ExitCode.OK
    capsys.readouterr()


@pytest.mark.long(2)
@pytest.mark.processes
def test_where_the_reference_stands_alone_it_is_a_question(fuzz):
    wrong_one = command("nogo/wrong_nogo.py PassIsAMove")
    given = ("--assignment", str(OWN / "nogo"), "--findings", "1", "--examples", "300")
    status, told = fuzz(wrong_one, *given, "--against", wrong_one)
    assert status == ExitCode.OK
    assert "1 question to the teacher" in told
    assert fuzz(wrong_one, *given, "--against", command("nogo/other_nogo.py"))[0] == 1


@pytest.mark.long(2)
@pytest.mark.processes
def test_two_engines_need_nothing_but_gtp(fuzz):
    other, given = command("nogo/other_nogo.py"), ("--examples", "40", "--findings", "1")
    assert fuzz(command("nogo/nogo.py"), "--against", other, *given)[0] == ExitCode.OK
    wrong_one = command("nogo/wrong_nogo.py UndoKeepsTurn")
    assert fuzz(wrong_one, "--against", other, *given)[0] == ExitCode.FAILED


ONE_SIZE = """\
import sys
sys.path.insert(0, "{folder}")
from wrong_nogo import WRONG, talk

class OneSize(WRONG["UndoKeepsTurn"]):
    def do_boardsize(self, size):
        if size != "{size}":
            from nogo import Refused
            raise Refused("unacceptable size")
        super().do_boardsize(size)

talk(OneSize())
"""


@pytest.mark.processes
def test_two_engines_are_asked_on_boards_that_both_take(fuzz, tmp_path):
    """Leela Zero takes boards of 19×19 alone: each conversation ended at its first command."""
    engine = tmp_path / "engine.py"
    engine.write_text(ONE_SIZE.format(folder=OWN / "nogo", size=19))
    given = (f"{sys.executable} {engine}", "--against", command("nogo/other_nogo.py"))
    status, told = fuzz(*given, "--examples", "60", "--findings", "1")
    assert status == ExitCode.FAILED
    assert "boardsize" not in told
    (found,) = (tmp_path / "found").glob("*.gtp")
    assert "boardsize 19" in found.read_text()


@pytest.mark.processes
def test_two_engines_without_a_common_size_are_told_so(fuzz, tmp_path):
    for size in (9, 19):
        (tmp_path / f"{size}.py").write_text(ONE_SIZE.format(folder=OWN / "nogo", size=size))
    nine, nineteen = (f"{sys.executable} {tmp_path / f'{size}.py'}" for size in (9, 19))
    with redirect_stderr(StringIO()) as said:
        assert fuzz(nine, "--against", nineteen)[0] == ExitCode.BROKEN
    assert said.getvalue() == (
        "gtp-harness: the engines take no board of the same size: PROGRAM takes 9, the first"
        " engine of --against 19 (of 5, 6, 7, 9, 13, 15, 19)\n"
    )


@pytest.mark.long(1)
@pytest.mark.processes
def test_one_goes_on_from_the_positions_of_given_cases(tmp_path, fuzz):
    """A mistake that shows after one game only, which nobody would draw."""
    moves = ["play b e5", "play w a1", "play b d4", "play w b2", "play b e1", "play w a5"]
    case = tmp_path / "game.gtp"
    case.write_text("\n".join(["boardsize 5", *moves, "gogui-rules_side_to_move", ""]))
    engine = tmp_path / "rare.py"
    engine.write_text(RARE.format(folder=OWN / "nogo", stones=len(moves)))
    given = ("--assignment", str(OWN / "nogo"), "--findings", "1", "--examples", "80")
    program = f"{sys.executable} {engine}"
    assert fuzz(program, *given)[0] == ExitCode.OK
    assert fuzz(program, *given, "--from", str(case))[0] == ExitCode.FAILED


RARE = """\
import sys
sys.path.insert(0, "{folder}")
from nogo import NoGo, talk

class Rare(NoGo):
    def do_gogui_rules_side_to_move(self):
        corners = ((4, 4), (0, 0), (0, 4), (4, 0))
        is_rare = len(self.moves) >= {stones} and all(one in self.board for one in corners)
        return "nobody" if is_rare else super().do_gogui_rules_side_to_move()

talk(Rare())
"""
