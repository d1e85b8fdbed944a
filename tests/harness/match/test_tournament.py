"""Matches as a whole: schedules, a journal that survives a kill, and when a test stops them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.errors import StarvedError, UsageError
from harness.match.game import Arbiter
from harness.match.ratings import Sprt
from harness.match.records import Game, Plan
from harness.match.standings import Standings
from harness.match.tournament import GAUNTLET, ROUND_ROBIN, SWISS, Journal, MatchResult, Schedule
from oracle.position import BLACK, WHITE
from tests.harness.match.made_matches import PLAYER, PYTHON, by_first, hold, made, match, player

# --- schedules ---------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", [ROUND_ROBIN, GAUNTLET])
@pytest.mark.parametrize("games", [1, 2, 5])
def test_each_pairing_has_its_games_with_both_colors(format_: str, games: int) -> None:
    plans = Schedule(format_, 4, games, openings=3).round(0, {})
    pairings = Counter(frozenset((one.black, one.white)) for one in plans)
    assert set(pairings.values()) == {games}
    assert len(pairings) == (6 if format_ == ROUND_ROBIN else 3)
    assert [one.number for one in plans] == sorted(one.number for one in plans)
    assert len({one.number for one in plans}) == len(plans)
    by_pair: dict[int, list[Plan]] = {}
    for plan in plans:
        by_pair.setdefault(plan.pair, []).append(plan)
    for both in by_pair.values():
        assert len({one.opening for one in both}) == 1
        if len(both) == 2:
            assert (both[0].black, both[0].white) == (both[1].white, both[1].black)


def swiss(players: int) -> tuple[Schedule, list[Game]]:
    """Play a Swiss in which the player named first always wins."""
    schedule, games = Schedule(SWISS, players, 2), {}
    for number in range(schedule.all_rounds):
        for plan in schedule.round(number, games):
            assert plan.number not in games
            games[plan.number] = Game(plan, BLACK if plan.black < plan.white else WHITE, "score")
    return schedule, list(games.values())


@pytest.mark.parametrize("players", [2, 3, 4, 7, 8, 33])
def test_a_swiss_pairs_nobody_twice_and_finds_the_best(players: int) -> None:
    schedule, games = swiss(players)
    met = Counter(frozenset((one.plan.black, one.plan.white)) for one in games)
    assert set(met.values()) == {2}
    missed = schedule.missed(games)
    assert max(missed) <= 2
    assert bool(sum(missed)) is bool(players % 2)
    everybody = match(*(player(str(one)) for one in range(players)))
    found = Standings(MatchResult(everybody, schedule, tuple(games)))
    assert found.ranked[0].place == 0
    assert sum(row.points for row in found.rows) == schedule.all_rounds * 2 * (
        players // 2 + players % 2
    )


def swiss_result(players: int, games: list[Game]) -> Standings:
    everybody = match(*(player(str(one)) for one in range(players)))
    return Standings(MatchResult(everybody, Schedule(SWISS, players, 2), tuple(games)))


@pytest.mark.parametrize("left", range(1, 12))
def test_only_who_sits_out_has_points_for_it(left: int) -> None:
    """Not who still has to play when a match is broken off, nor whom the harness failed."""
    _, games = swiss(5)
    found = swiss_result(5, games[:left])
    rounds = 1 + max(game.plan.round for game in games[:left])
    assert sum(row.missed for row in found.rows) == 2 * rounds
    lost = swiss_result(5, games[:2] + games[4:])  # a pair of the first round
    assert sum(row.missed for row in lost.rows) == 2 * Schedule(SWISS, 5, 2).all_rounds


@pytest.mark.processes
def test_a_game_that_failed_is_not_played_once_later_rounds_are_paired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They would be paired otherwise with it: games in the journal would stand for others."""
    broken = {0}

    def play(_: Arbiter, plan: Plan, note: object = None) -> Game:
        if plan.number in broken:
            raise StarvedError("the machine is too busy")
        return Game(plan, BLACK if plan.black > plan.white else WHITE, "score")

    monkeypatch.setattr(Arbiter, "play", play)
    of, journal = match(*(player(str(one)) for one in range(6))), Journal()
    first = hold(of, 2, schedule={"format": SWISS}, journal=journal)
    broken.clear()
    before = dict(journal.games)
    again = hold(of, 2, schedule={"format": SWISS}, journal=journal)
    assert journal.games == before
    assert again.games == first.games
    assert [plan for plan, _ in again.unplayed] == [plan for plan, _ in first.unplayed]
    assert not again.is_whole


# --- the journal -------------------------------------------------------------------------------


def test_a_journal_keeps_games_and_forgets_half_a_line(tmp_path: Path) -> None:
    path = str(tmp_path / "games.jsonl")
    games = [made(number, number % 3, moves=((1, "A1"), (2, "pass"))) for number in range(4)]
    with closing(Journal(path, {"size": 9})) as journal:
        for game in games[:3]:
            journal.add(game)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(games[3].as_json())[:-5])
    with closing(Journal(path, {"size": 9})) as journal:
        assert list(journal.games.values()) == games[:3]
        journal.add(games[3])
    with closing(Journal(path, {"size": 9})) as journal:
        assert list(journal.games.values()) == games
    os.truncate(path, 20)  # in the first line
    with closing(Journal(path, {"size": 9})) as journal:
        journal.add(games[0])
    with closing(Journal(path, {"size": 9})) as journal:
        assert list(journal.games.values()) == games[:1]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text.replace('"size": 9', '"size": 13'), "another match: size was 13"),
        (lambda text: text + "{}\n", "line 3 is not a game"),
        (lambda text: "hello\n" + text, "line 1 is not a game"),
        (lambda text: "[]\n", "line 1 is not a game"),
        # nothing is cut off from a file that is something else
        (lambda text: "my thesis", "line 1 is not a game"),
        (lambda text: "my thesis\nits last line", "line 1 is not a game"),
        (lambda text: text.replace('"size": 9', '"size": 13') + "{", "another match"),
    ],
)
def test_a_journal_that_does_not_fit_is_refused(tmp_path: Path, spoil, said: str) -> None:
    path = tmp_path / "games.jsonl"
    with closing(Journal(str(path), {"size": 9})) as journal:
        journal.add(made(0, 1))
    path.write_text(spoil(path.read_text()))
    before = path.read_bytes()
    with pytest.raises(UsageError, match=said):
        Journal(str(path), {"size": 9})
    assert path.read_bytes() == before


@pytest.mark.processes
def test_two_do_not_write_one_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "games.jsonl")
    code = f"from harness.match.tournament import Journal; Journal({path!r})"
    with closing(Journal(path)):
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert b"BusyError" in other.stderr


# --- a kill ------------------------------------------------------------------------------------

COMMAND = [
    *(sys.executable, "-m", "harness.cli", "match", "--size", "5", "--games", "4"),
    *("--random-moves", "2", "--concurrency", "2"),
    *(f"{name}={shlex.join(PYTHON)} {PLAYER} {habit!r} {name}" for name, habit in
      (("1", "careful"), ("2", ""), ("3", "careful"))),
]  # fmt: skip


def outcome(folder: Path) -> list[object]:
    """Return what counts in the document of a match: not the seconds, nor in which order."""
    found = json.loads((folder / "match.json").read_text())
    games = [{**one, "seconds": None} for one in found["games"]]
    table = [{**one, "seconds": None} for one in found["players"]]
    return [games, table]


@pytest.mark.processes
@pytest.mark.long(8)
def test_after_a_kill_no_game_is_played_twice_and_none_is_lost(tmp_path: Path) -> None:
    """The table of deterministic engines is the undisturbed one's."""
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    whole = [*COMMAND, "--json", "match.json"]
    subprocess.run(whole, cwd=tmp_path / "whole", check=True, capture_output=True)
    place = tmp_path / "killed"
    journal = place / "games.jsonl"
    killed = subprocess.Popen(
        [*whole, "--journal", "games.jsonl"], cwd=place, stdout=subprocess.DEVNULL
    )
    while not journal.exists() or len(journal.read_bytes().splitlines()) <= 4:
        assert killed.poll() is None
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    with open(journal, "ab") as file:
        file.write(b'{"plan": [')  # a line that was cut off
    subprocess.run(
        [*whole, "--journal", "games.jsonl"], cwd=place, check=True, capture_output=True
    )
    numbers = [json.loads(line)["plan"][0] for line in journal.read_text().splitlines()[1:]]
    assert sorted(numbers) == list(range(12))
    assert outcome(place) == outcome(tmp_path / "whole")


# --- a test that stops a match -----------------------------------------------------------------


@pytest.mark.processes
def test_a_match_stops_when_its_test_has_decided() -> None:
    """The decision is by pairs in their order: games beyond do not count."""
    result = hold(match(player("a"), player("b", "resigns")), 400, sprt=Sprt(0, 400))
    assert result.course is not None
    assert result.course.verdict == "H1"
    assert result.is_whole
    assert len(result.games) == 2 * len(result.course.llr) < 60
    assert Standings(result).comparisons[0].is_weaker is False


@pytest.mark.processes
def test_a_test_is_of_the_engine_that_is_not_the_baseline() -> None:
    players = player("a"), player("b", "resigns")
    result = hold(match(*players), 400, sprt=Sprt(-400, 0), baseline=0)
    assert result.course is not None
    assert result.course.verdict == "H0"
    (found,) = Standings(result).comparisons
    assert (found.player, found.baseline) == players[::-1]
    assert found.is_weaker


@pytest.mark.processes
def test_a_test_does_not_wait_for_what_the_harness_fails_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even if that is its first pair, which is left out in the end."""
    usual = Arbiter.play

    def play(self: Arbiter, plan: Plan, note: object = None) -> Game:
        if plan.number == 1:
            raise StarvedError("the machine is too busy")
        return usual(self, plan, note)

    monkeypatch.setattr(Arbiter, "play", play)
    journal = Journal()
    result = hold(
        match(player("a"), player("b", "resigns")), 400, sprt=Sprt(0, 400), journal=journal
    )
    assert result.course is not None
    assert result.course.verdict == "H1"
    assert len(journal.games) < 60
    assert [plan.number for plan, _ in result.unplayed] == [1]


# --- standings ---------------------------------------------------------------------------------


def test_standings_count_by_color_and_reason() -> None:
    games = [*by_first([1, 1, 0, 0.5]), made(4, 2, reason="crashed", detail="it ended")]
    found = Standings(
        MatchResult(match(player("a"), player("b")), Schedule(ROUND_ROBIN, 2, 6), tuple(games))
    )
    first, second = found.rows
    assert (str(first.colors[BLACK]), str(first.colors[WHITE])) == ("1-2", "1-0-1")
    assert first.points == 2.5
    assert second.points == 2.5
    assert dict(first.lost) == {"score": 1, "crashed": 1}
    assert found.ranks == {0: 1, 1: 1}


@pytest.mark.parametrize(("points", "is_weaker"), [([0.0] * 20, True), ([0.5] * 20, False)])
def test_weaker_than_the_baseline(points: list[float], is_weaker: bool) -> None:
    result = MatchResult(
        match(player("new"), player("old")), Schedule(ROUND_ROBIN, 2, 20), tuple(by_first(points))
    )
    (found,) = Standings(result._replace(baseline=1)).comparisons
    assert found.is_weaker is is_weaker
