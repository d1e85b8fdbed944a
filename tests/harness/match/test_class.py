"""The tournament of a class: who loses, what each student sees, and what a rank is worth."""

from __future__ import annotations

import csv
import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from harness.assignments.assignment import find
from harness.cli import main
from harness.core.errors import ExitCode, UsageError
from harness.grading.tournament import of_student, rank_points, rules_of
from harness.match.standings import Standings
from harness.match.tournament import ROUND_ROBIN, MatchResult, Schedule
from harness.reading.shipped import names
from tests.harness.match.made_matches import made, match, player

HEX = Path(__file__).parents[2] / "own_games" / "hex"
SECRET = "boardsize 3\nclear_board\nplay b c3\n4711 turn\n#? [w]\n"
PROGRAMS = {
    "ada": (HEX / "hex.py").read_text(encoding="utf-8"),
    "ben": "raise SystemExit('Traceback of ben')\n",
    "cyd": (HEX / "hex.py").read_text(encoding="utf-8"),
    "dee": None,  # submits no program
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, warm_workers: None) -> Path:
    place = tmp_path_factory.mktemp("class")
    (place / "hex" / "private").mkdir(parents=True)
    for name in ("hex.py", "assignment.toml"):
        shutil.copy(HEX / name, place / "hex")
    shutil.copytree(HEX / "cases", place / "hex" / "cases")
    (place / "hex" / "private" / "kept-secret.gtp").write_text(SECRET)
    declared = (place / "hex" / "assignment.toml").read_text()
    (place / "hex" / "assignment.toml").write_text(
        declared.replace("[cases]", '[cases]\nprivate = ["private/*.gtp"]').replace(
            "sizes = [1, 2, 3, 4]", "sizes = [3]"
        )
    )
    for name, program in PROGRAMS.items():
        home = place / "in" / name
        home.mkdir(parents=True)
        (home / ("hex.py" if program else "notes.txt")).write_text(program or "later\n")
    assert grade(place) in (ExitCode.OK, ExitCode.ATTENTION)
    return place / "graded" / "tournament"


def grade(place: Path) -> int:
    words = ["grade", str(place / "in"), "--assignment", str(place / "hex"), "--go-on"]
    own = ["--tournament", "round-robin", "--tournament-points", "3"]
    return main([*words, *own, "--output", str(place / "graded")])


@pytest.mark.processes
@pytest.mark.long(15)
class TestGraded:
    def test_who_fails_or_hands_in_nothing_loses(self, graded: Path) -> None:
        rows = list(csv.DictReader((graded / "table.csv").open(encoding="utf-8")))
        assert {row["student"] for row in rows} == set(PROGRAMS)
        assert {row["student"] for row in rows[:2]} == {"ada", "cyd"}
        assert [int(row["lost"]) + int(row["won"]) for row in rows] == [6] * 4
        (dee,) = [row for row in rows if row["student"] == "dee"]
        assert (dee["won"], dee["points"]) == ("0", "0")
        assert Fraction(rows[0]["points"]) == 3

    def test_a_student_s_pages_show_own_games_and_name_nobody_else(self, graded: Path) -> None:
        for name in PROGRAMS:
            texts = {
                path.name: path.read_text() for path in (graded / "students" / name).iterdir()
            }
            assert len(texts) == 1 + 6
            whole = "".join(texts.values())
            assert f">{name}<" in texts["index.html"]
            assert not [other for other in PROGRAMS if other != name and f">{other}<" in whole]
            assert ("Traceback of ben" in whole) is (name == "ben")
            assert "4711" not in whole
            assert "kept-secret" not in whole

    def test_the_same_command_plays_nothing_twice(self, graded: Path) -> None:
        (journal,) = graded.glob("games-*.jsonl")
        before = journal.read_bytes()
        assert len(before.splitlines()) == 1 + 12
        assert grade(graded.parents[1]) in (ExitCode.OK, ExitCode.ATTENTION)
        assert journal.read_bytes() == before
        game = json.loads(before.splitlines()[1])
        assert set(game) >= {"plan", "winner", "reason"}


def test_what_another_program_wrote_is_not_shown() -> None:
    games = (
        made(0, 1, reason="crashed", detail="ben's last words", claims=("mine", "theirs")),
        made(2, 2, reason="crashed", detail="my own words"),
    )
    result = MatchResult(match(player("ada"), player("ben")), Schedule(ROUND_ROBIN, 2, 2), games)
    seen = of_student(result, Standings(result), 0)
    assert [one.name for one in seen.result.match.players] == ["ada", "No. 2"]
    assert "ben" not in repr(seen.result)
    assert [one.detail for one in seen.result.games] == ["", "my own words"]
    assert seen.result.games[0].claims == ("mine", "")


@pytest.mark.parametrize(
    ("rank", "players", "worth"), [(1, 5, "3"), (5, 5, "0"), (3, 5, "3/2"), (1, 1, "0")]
)
def test_a_rank_is_worth_points(rank: int, players: int, worth: str) -> None:
    assert rank_points(rank, players, Fraction(3)) == Fraction(worth)


@pytest.mark.parametrize("name", names())
def test_which_assignments_play(name: str) -> None:
    if name in ("java-go", "gosensei"):
        with pytest.raises(UsageError, match="do not play"):
            rules_of(find(name))
    else:
        assert rules_of(find(name), 7).size == (7, 7)
