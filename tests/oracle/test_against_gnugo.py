"""GNU Go agrees on scores, legal moves and captures; skipped by name where it is missing."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from oracle.answers import go_scoring
from oracle.games.go import GoGame
from oracle.gtp import new_engine
from oracle.position import BLACK, WHITE, Position, grid, vertex
from oracle.rules import go
from oracle.rules.flood import neighbours, regions
from tests.oracle.boards import end_of, random_game

pytestmark = pytest.mark.processes

NAMES = {BLACK: "black", WHITE: "white"}
COLORS = (BLACK, WHITE)


def replies(program, commands):
    """Return the replies to some commands, without ``=`` (but with the ``?`` of a failure)."""
    engine = subprocess.run(
        [program, "--mode", "gtp", "--level", "1", "--chinese-rules"],
        input="\n".join([*commands, "quit", ""]),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = engine.stdout.split("\n\n")[: len(commands)]
    assert len(found) == len(commands)
    return [reply.removeprefix("=").strip() for reply in found]


def setup(position):
    """Return the commands that set a legal position up."""
    stones = [
        (color, point)
        for color in COLORS
        for point in position.grid.points(position.stones(color))
    ]
    return [
        f"boardsize {position.grid.rows}",
        "clear_board",
        "komi 0",
        *[f"play {NAMES[color]} {vertex(point)}" for color, point in stones],
    ]


# --- final_score -------------------------------------------------------------------------------


def pass_alive(position, color):
    """Return the stones that no play of the opponent alone can take (Benson's theorem).

    The largest set of chains, each with two enclosed regions all of whose empty points are its
    liberties, where no region is bordered by a chain outside the set.
    """
    shape, stones = position.grid, position.stones(color)
    chains, enclosed = list(regions(shape, stones)), list(regions(shape, shape.full & ~stones))
    while True:
        alive = sum(chains)  # chains are disjoint
        enclosed = [r for r in enclosed if not neighbours(shape, r) & stones & ~alive]
        kept = [chain for chain in chains if _eyes_of(position, chain, enclosed) >= 2]
        if kept == chains:
            return alive
        chains = kept


def _eyes_of(position, chain, enclosed):
    touched = neighbours(position.grid, chain)
    return sum(bool(r & touched) and not r & position.empty & ~touched for r in enclosed)


def hollow_out(position, share, rng):
    """Return a position with some stones taken out that touch no opponent, so that eyes grow."""
    shape = position.grid
    masks = []
    for color in COLORS:
        mine, theirs = position.stones(color), position.stones(3 - color)
        inner = shape.points(mine & ~neighbours(shape, theirs))
        masks.append(mine & ~shape.mask([point for point in inner if rng.random() < share]))
    return Position(shape, *masks)


def played_out(size, rng):
    """Return a position that no one would judge otherwise than it stands.

    All stones are pass-alive and no empty point touches both colors: GNU Go, which removes dead
    stones and plays neutral points before it counts, has nothing to do.
    """
    while True:
        end = end_of(random_game(grid(size), rng))
        if end is None:
            continue
        position = hollow_out(end, rng.random() / 4, rng)
        settled = 0 not in go_scoring.owners(position).values()
        if settled and all(pass_alive(position, c) == position.stones(c) for c in COLORS):
            return position


@pytest.mark.long(3)
@pytest.mark.parametrize(
    ("size", "games"),
    [
        (5, 50),
        pytest.param(7, 60, marks=pytest.mark.slow),
        (9, 60),
        pytest.param(13, 30, marks=pytest.mark.slow),
    ],
)
def test_final_score(gnugo, size, games):
    rng = random.Random(size)
    positions = [played_out(size, rng) for _ in range(games)]
    commands = [command for p in positions for command in [*setup(p), "final_score"]]
    answers = zip(commands, replies(gnugo, commands), strict=True)
    scores = [reply.removesuffix(".0") for command, reply in answers if command == "final_score"]
    assert scores == [go_scoring.answer(position) for position in positions]
    assert len(set(scores)) > 3


# --- is_legal and captures ---------------------------------------------------------------------


class Dialogue:
    """A game on the oracle's board, and beside it the commands and replies due from GNU Go."""

    def __init__(self, size):
        self.game = GoGame.empty(size)
        self.commands = [f"boardsize {size}", "clear_board"]
        self.expected = ["", ""]
        self.suicides = self.kos = 0  # illegal moves asked for, by reason

    def ask(self, command, reply):
        self.commands.append(command)
        self.expected.append(reply)

    def ask_legal(self, color, point):
        reason = self.game.refusal(color, point)
        self.suicides += reason == "suicide"
        self.kos += reason == "ko"
        self.ask(f"is_legal {NAMES[color]} {vertex(point)}", str(int(reason is None)))

    def play(self, color, point):
        if self.game.is_legal(color, point):
            self.game.play(color, point)
            self.ask(f"play {NAMES[color]} {vertex(point)}", "")
            for either in COLORS:
                self.ask(f"captures {NAMES[either]}", str(self.game.prisoners(either)))
        else:
            self.ask(f"play {NAMES[color]} {vertex(point)}", "? illegal move")


def random_dialogue(size, rng):
    """Return a game of random moves, legal or not, with the legality of all points on the way.

    A ko is tried at once, and stones are taken where it can be done, which makes more kos.
    """
    talk = Dialogue(size)
    points = talk.game.position.grid.points(talk.game.position.grid.full)
    for number in range(2 * len(points)):
        color = COLORS[number % 2]
        if talk.game.ko:
            talk.play(color, talk.game.ko)
        talk.play(color, rng.choice(_captures(talk.game, color) or points))
        for either in COLORS:
            for point in points:
                talk.ask_legal(either, point)
    return talk


def _captures(game, color):
    """Return the points where a stone takes others."""
    position, shape = game.position, game.position.grid
    mine, theirs = position.stones(color), position.stones(3 - color)
    return [
        point
        for point in shape.points(position.empty)
        if go.find_taken(shape, mine, theirs, shape.bit(point)) and game.is_legal(color, point)
    ]


@pytest.mark.parametrize(
    ("size", "games", "kos"),
    [
        *[(2, 40, 0), (3, 60, 10), (5, 20, 15), (9, 2, 2)],
        *[pytest.param(*one, marks=pytest.mark.slow) for one in ((4, 40, 10), (7, 36, 20))],
    ],
)
def test_legal_moves_and_captures(gnugo, size, games, kos):
    rng = random.Random(size)
    talks = [random_dialogue(size, rng) for _ in range(games)]
    commands = [command for talk in talks for command in talk.commands]
    expected = [reply for talk in talks for reply in talk.expected]
    assert replies(gnugo, commands) == expected
    assert sum(talk.suicides for talk in talks) > games
    assert sum(talk.kos for talk in talks) >= kos


# --- stones and liberties ----------------------------------------------------------------------


def test_stones_and_liberties(gnugo):
    rng, engine = random.Random(5), new_engine("go")
    commands = []
    for size in (2, 5, 9, 13, 19):
        commands += [f"boardsize {size}", "query_boardsize", "query_orientation", "get_handicap"]
        for position in rng.choices(random_game(grid(size), rng), k=3):
            points = [vertex((rng.randrange(size + 1), rng.randrange(size))) for _ in range(12)]
            commands += setup(position)
            commands += [
                f"{name} {argument}".strip()
                for name in ("countlib", "findlib")
                for argument in (*points, "", "pass", "x", "b2 c3")
            ]
            commands += [f"list_stones {color}" for color in ("b", "WHITE", "x", "", "w b")]
    found = [engine.handle(command).strip().removeprefix("=").strip() for command in commands]
    assert found == replies(gnugo, commands)
    assert "vertex must not be empty" in "".join(found)


TRANSCRIPT = Path(__file__).parents[1] / "contract/golden/transcripts/gnugo-commands.txt"
# Points of the engine's choice, and the color to move after loadsgf.
CHOSEN = ("fixed_handicap", "place_free_handicap", "loadsgf")


def test_the_transcript_of_its_commands_is_its_own(gnugo, monkeypatch):
    """Where GNU Go is missing, tests/contract/test_oracle.py holds the same answers."""
    monkeypatch.chdir(TRANSCRIPT.parent)
    asked = [block.partition("\n") for block in TRANSCRIPT.read_text().split("> ")[1:]]
    answers = replies(gnugo, [command for command, _, _ in asked])
    for (command, _, reply), answer in zip(asked, answers, strict=True):
        if not command.startswith(CHOSEN):
            assert reply.strip().removeprefix("=").strip() == answer, command
