"""One game: the referee's judgement, and what each habit of a player loses by."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.errors import StarvedError
from harness.match.game import Arbiter, GameClock
from harness.match.records import Opening, Plan, Rules, TimeControl, claimed_winner
from harness.match.referee import REFEREES, GomokuReferee, GoReferee, after_opening
from oracle.errors import IllegalMove
from oracle.position import BLACK, EMPTY, WHITE
from tests.harness.match.made_matches import arbiter, hold, match, player

# What a player does, and how it loses; None: it does not, by that.
HABITS = {
    "occupied": "illegal move",
    "off-board": "illegal move",
    "never-passes": "illegal move",
    "claims-victory": "illegal move",
    "hangs": "hung",
    "ten-megabytes": "too much output",
    "resigns": "resigned",
    "crashes": "crashed",
    "refuses": "refused a move",
    "refuses-legal-moves": "refused a move",
    "moves-out-of-turn": "out of turn",
    "counts-wrongly": None,
}


@pytest.mark.processes
@pytest.mark.parametrize(("habit", "reason"), HABITS.items())
def test_a_habit_loses_its_own_games(habit: str, reason: str | None) -> None:
    result = match(player("good"), player("odd", habit))
    with arbiter(result) as found:
        for plan in (Plan(0, 0, 0, 1, 0), Plan(1, 0, 1, 0, 0)):
            game = found.play(plan)
            if reason is None:
                assert game.reason == "score"
                assert game.disputed
            else:
                assert (game.reason, plan.player(game.winner)) == (reason, 0), game.detail


@pytest.mark.processes
def test_who_hangs_as_white_only_loses_as_white_only() -> None:
    found = hold(match(player("good"), player("odd", "hangs-as-white")), 2)
    assert [game.reason for game in found.games] == ["hung", "score"]


@pytest.mark.processes
def test_a_clock_that_runs_out_loses() -> None:
    control = TimeControl(1.0)
    rules = {"time": control}
    found = hold(match(player("good"), player("odd", "slow"), rules=rules), 2)
    assert {game.reason for game in found.games} == {"time"}
    assert all(game.plan.player(game.winner) == 0 for game in found.games)


@pytest.mark.processes
def test_an_engine_is_told_its_time() -> None:
    rules = {"time": TimeControl(0.0, 20.0, 2)}
    held = match(player("a", "tells-times"), player("b"), rules=rules)
    with arbiter(held) as found:
        game = found.play(Plan(0, 0, 0, 1, 0))
    first, *left = game.claims[0].split("; ")
    assert first == "0 20 2"
    assert [one.split()[0] for one in left] == ["b"] * len(left)
    assert [one.split()[2] for one in left[:3]] == ["2", "1", "2"]
    assert all(18 <= int(one.split()[1]) <= 20 for one in left)


@pytest.mark.processes
def test_an_engine_that_does_not_start_loses_and_two_have_no_points() -> None:
    nobody = player("nobody")._replace(words=("/no/such/engine",))
    gone = player("gone")._replace(words=(), absent="nothing was submitted")
    found = hold(match(player("good"), nobody, gone), 1)
    told = {frozenset((one.plan.black, one.plan.white)): one for one in found.games}
    assert told[frozenset((0, 1))].reason == "not ready"
    assert told[frozenset((0, 2))].reason == "withdrawn"
    assert told[frozenset((0, 2))].detail == "nothing was submitted"
    assert told[frozenset((1, 2))].reason == "withdrawn"  # who is there has won


@pytest.mark.processes
@pytest.mark.parametrize(("faults", "played"), [(2, 2), (9, 1)])
def test_what_the_harness_fails_at_is_played_again(
    faults: int, played: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody loses by it; what always fails is said not to have been played."""
    tries, usual = tmp_path / "tries", Arbiter.play
    tries.touch()

    def play(self: Arbiter, plan: Plan, note: object = None) -> object:
        if plan.number == 1 and len(tries.read_text()) < faults:
            with tries.open("a") as file:
                file.write("x")
            raise StarvedError("the machine is too busy")
        return usual(self, plan, note)

    monkeypatch.setattr(Arbiter, "play", play)
    found = hold(match(player("a"), player("b", dice=2)), 2)
    assert (len(found.games), len(found.unplayed)) == (played, 2 - played)
    assert found.is_whole is (played == 2)


@pytest.mark.parametrize(("cores", "games"), [(300, 300), (300, 256), (2, 2), (2, 3)])
def test_a_machine_may_have_any_number_of_cores(
    cores: int, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    with arbiter(match(player("a"), player("b"))) as found, found.dealing_cores(games):
        pass


# --- referees ----------------------------------------------------------------------------------

RULES = match().rules
GOMOKU = RULES._replace(game="gomoku")


def moves(referee: GoReferee | GomokuReferee, text: str) -> None:
    for move in text.split():
        referee.play(move)


def test_two_passes_end_go_and_the_area_counts() -> None:
    referee = GoReferee(RULES, Opening())
    moves(referee, "c1 d1 c2 d2 c3 d3 c4 d4 c5 d5 pass pass")
    assert referee.end == (BLACK, "score", "B+4.5")


def test_a_long_game_is_counted_as_it_stands() -> None:
    referee = GoReferee(RULES._replace(most_moves=3), Opening())
    moves(referee, "c3 pass c4")
    assert referee.end == (BLACK, "move limit", "B+24.5")


@pytest.mark.parametrize("ko", ["simple", "positional"])
def test_a_ko_is_not_taken_back_at_once(ko: str) -> None:
    # Black C3 D2 D4 E3, White B3 C2 C4: White takes at D3, and Black takes back at C3.
    referee = GoReferee(RULES._replace(ko=ko), Opening())
    moves(referee, "c3 b3 d2 c2 d4 c4 e3 d3")
    with pytest.raises(IllegalMove, match=r"ko|repeats"):
        referee.play("c3")
    moves(referee, "a1 a5 c3")  # with stones in the corners it is another position


def test_positional_superko_sees_what_a_ko_rule_does_not() -> None:
    """Black's two stones stand again after both have taken each other's, and a pass."""
    for ko in ("simple", "positional"):
        referee = GoReferee(RULES._replace(ko=ko, size=(3, 1)), Opening())
        moves(referee, "a1 c1 b1 c1 b1 pass")
        if ko == "simple":
            referee.play("a1")
        else:
            with pytest.raises(IllegalMove, match="repeats"):
                referee.play("a1")


@pytest.mark.parametrize("text", ["", "z9", "a0", "a1 b1", "a\x00", "x" * 10_000, "ａ1"])
@pytest.mark.parametrize("rules", [RULES, GOMOKU])
def test_what_is_not_a_move_is_refused(rules: Rules, text: str) -> None:
    with pytest.raises(IllegalMove) as refused:
        REFEREES[rules.game](rules, Opening()).play(text)
    assert len(str(refused.value)) < 200


def test_five_in_a_row_win_and_a_full_board_is_a_draw() -> None:
    referee = GomokuReferee(GOMOKU, Opening())
    moves(referee, "a1 a2 b1 b2 c1 c2 d1 d2 e1")
    assert referee.end == (BLACK, "five in a row", "")
    small = GomokuReferee(GOMOKU._replace(size=(2, 2)), Opening())
    moves(small, "a1 a2 b1 b2")
    assert small.end == (EMPTY, "board full", "0")
    with pytest.raises(IllegalMove):
        GomokuReferee(GOMOKU, Opening()).play("pass")


def test_an_opening_is_played_before() -> None:
    opening = Opening("mine", ((BLACK, "A1"),), ((WHITE, "B2"),), WHITE)
    referee = after_opening(GoReferee(RULES, opening), opening)
    assert referee.to_play == BLACK
    assert referee.begin == ("boardsize 5", "clear_board", "komi 0.5", "play b A1")


# --- clocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("control", "spent", "words", "is_over"),
    [
        (TimeControl(10), (4, 5), "1 0", False),
        (TimeControl(10), (4, 7), "6 0", True),
        (TimeControl(10, 5, 2), (9, 3), "3 1", False),
        (TimeControl(10, 5, 2), (9, 3, 2), "5 2", False),
        (TimeControl(10, 5, 2), (10, 4, 2), "1 1", True),
        (TimeControl(0, 5, 1), (4, 4, 4), "5 1", False),
        (TimeControl(), (1e9,), "0 0", False),
    ],
)
def test_a_clock(
    control: TimeControl, spent: tuple[float, ...], words: str, is_over: bool
) -> None:
    clock = GameClock(control)
    kept = [clock.spend(seconds) for seconds in spent]
    assert kept == [*[True] * (len(spent) - 1), not is_over]
    assert clock.words == words


@pytest.mark.parametrize(
    ("claim", "winner"),
    [("B+3.5", BLACK), ("w+R", WHITE), ("black", BLACK), ("0", EMPTY), ("draw", EMPTY)]
    + [(other, None) for other in ("", "unknown", "board", "3", "wonderful")],
)
def test_a_claim_names_a_winner_or_nobody(claim: str, winner: int | None) -> None:
    assert claimed_winner(claim) == winner
