"""``loadsgf`` reads what GNU Go reads: position, side to move and komi are the same.

GNU Go is wrong in some things, which are left out here: it ignores ``AE``, stones that are set up
or played on stones, the second number of ``SZ[5:3]`` and a comma in a komi; and it plays on with a
komi of 5.5 where the record states none.
"""

import random
import subprocess
from typing import NamedTuple

import pytest

from oracle.commands.gtp import main
from oracle.gtp import new_engine
from oracle.position import NAMES, vertex
from oracle.rules.go import fixed_points

# What a strict engine refuses, with its reason; the number is GTP's second argument.
SLOPPY = [
    ("(;SZ[5];W[aa];B[bb])", "", "it is Black's turn"),
    ("(;SZ[5];B[aa];B[bb];B[cc];W[dd])", "", "it is White's turn"),
    ("(;SZ[5];B[aa];B[bb];W[cc])", "2", ""),
    ("(;SZ[5]KM[6.5];B[aa];W[];B[];W[bb])", "", "the game is over"),
    ("(;SZ[5];B[];W[];B[bb])", "", "the game is over"),
    ("(;SZ[5]SZ[5]KM[0.5]KM[0.5];B[bb])", "", "expected one value, found 2"),
    ("(;SZ[5][5]GM[1][1]KM[3];B[bb])", "", "expected one value, found 2"),
    ("(;SZ[5]PL[1])", "", "expected B or W"),
    ("(;SZ[5]PL[2])", "", "expected B or W"),
    ("(;SZ[5];B[aa]PL[B])", "", ""),
    ("(;SZ[5];PL[W]B[aa])", "", "it is White's turn"),
    ("(;SZ[5];B[aa]PL[2];W[bb])", "", "expected B or W"),
    ("(;SZ[5];B[aa];W[bb]PL[W])", "", ""),
    ("(;SZ[5];B[aa];W[bb])", "99", "the line has only 2 moves"),
    ("(;SZ[5];B[aa];W[bb])", "4", "the line has only 2 moves"),
    ("(;SZ[5];B[aa]W[bb];B[cc])", "", "the node has 2 moves"),
    ("(;SZ[5];B[aa]W[bb];B[cc])", "2", "the node has 2 moves"),
    ("(;SZ[5];B[cc])(;SZ[5];B[aa])", "", "choose one by its number"),
    ("(;SZ[3]AW[ba][ab];B[aa])", "", "the stone has no liberty"),
    ("(;SZ[2];B[aa];W[];B[ba];W[];B[ab];W[];B[bb];W[aa])", "", "the stone has no liberty"),
    ("(;SZ[4:3]AB[ba][ab][bc]AW[ca][bb][db][cc]PL[B];B[cb];W[bb])", "", "it takes a ko back"),
    ("(;SZ[9]HA[2]KM[0];W[ee])", "", ""),
    ("(;SZ[9]HA[4]PL[W])", "", ""),
    ("(;SZ[12]HA[4];W[ee])", "", ""),
    ("(;SZ[9]HA[3];B[];W[ee])", "", ""),
    ("(;SZ[9]HA[2])", "", ""),
    *((f"(;SZ[{size}]HA[{stones}];W[aa])", "", "") for size in (9, 19) for stones in range(2, 10)),
    *((f"(;SZ[{size}]HA[{stones}];W[aa])", "", "") for size in (7, 8) for stones in range(2, 5)),
    ("(;SZ[9]HA[2]AB[aa][bb])", "", ""),
    ("(;SZ[9]HA[];W[aa])", "", "expected a number"),
    ("(;SZ[5]B[aa]AB[bb])", "2", ""),
    ("(;SZ[5];B[aa];AB[bb])", "", ""),
    ("(;SZ[5]AB[aa:cb];AW[dd]W[ee];B[de])", "3", ""),
    ("(;SZ[5];B[aa](;W[bb];B[cc])(;W[dd]))", "", ""),
    ("(;KM[-7.5];B[pd])", "", ""),
]


class Loaded(NamedTuple):
    black: frozenset
    white: frozenset
    to_play: str
    komi: str  # with one place, as GNU Go prints it
    size: int


def asked_oracle(engine, arguments):
    """Return what an engine of the oracle knows after loadsgf, or its refusal."""
    engine.handle("komi 77")
    reply = engine.handle(f"loadsgf {arguments}").strip()
    if reply.startswith("?"):
        return reply
    game = engine.session.game
    position = game.position
    black, white = (
        frozenset(map(vertex, position.grid.points(position.stones(color)))) for color in (1, 2)
    )
    komi = f"{float(engine.session.komi):.1f}"
    return Loaded(black, white, NAMES[game.to_play], komi, position.grid.rows)


QUESTIONS = ("list_stones black", "list_stones white", "get_komi", "query_boardsize")


def asked_gnugo(program, folder, wanted):
    """Return what GNU Go answers for each record; None where it died of it."""
    found = []
    while len(found) < len(wanted):
        commands = [
            command
            for arguments in wanted[len(found) :]
            for command in (f"loadsgf {arguments}", *QUESTIONS)
        ]
        engine = subprocess.run(
            [program, "--mode", "gtp"],
            input="\n".join([*commands, "quit", ""]),
            capture_output=True,
            text=True,
            cwd=folder,
            check=False,
        )
        replies = [reply.strip() for reply in engine.stdout.split("\n\n")]
        done = len(replies) // 5
        found += [_one(*replies[5 * index : 5 * index + 5]) for index in range(done)]
        found += [None] * (len(found) < len(wanted))
    return found


def _one(loaded, black, white, komi, size):
    if loaded.startswith("?"):
        return loaded
    points = frozenset(black[1:].split()), frozenset(white[1:].split())
    return Loaded(points[0], points[1], loaded[1:].strip(), komi[1:].strip(), int(size[1:]))


def compare_records(program, folder, monkeypatch, records):
    """Return pairs of what GNU Go and the oracle have, for (text, number) records."""
    monkeypatch.chdir(folder)
    wanted = []
    for number, (text, move) in enumerate(records):
        (folder / f"{number}.sgf").write_text(text)
        wanted.append(f"{number}.sgf {move}".strip())
    engine = new_engine("go")
    theirs = asked_gnugo(program, folder, wanted)
    pairs = []
    for (text, _), arguments, one in zip(records, wanted, theirs, strict=True):
        other = asked_oracle(engine, arguments)
        if isinstance(one, Loaded) and isinstance(other, Loaded) and not _states_komi(text):
            assert other.komi == "0.0", text  # and not 5.5, nor that of the game before
            other = other._replace(komi=one.komi)
        pairs.append((text, one, other))
    return pairs


def _states_komi(text):
    return "KM[" in text.replace("KM[]", "").split(";")[1]


def test_what_gnu_go_reads_is_read_alike(gnugo, tmp_path, monkeypatch):
    sloppy = [(text, move) for text, move, _ in SLOPPY if ":3]" not in text]
    for text, gnugos, oracles in compare_records(gnugo, tmp_path, monkeypatch, sloppy):
        assert oracles == gnugos, text
        assert isinstance(oracles, Loaded), text


@pytest.mark.parametrize(("text", "move", "reason"), SLOPPY)
def test_a_strict_engine_refuses(tmp_path, text, move, reason):
    (tmp_path / "a.sgf").write_text(text)
    for strict in (False, True):
        engine = new_engine("go")
        engine.session.strict = strict
        reply = engine.handle(f"loadsgf {tmp_path}/a.sgf {move}".strip())
        refused = strict and bool(reason)
        assert reply.startswith("?" if refused else "="), reply
        assert reason in reply or not refused


# --- many records at random --------------------------------------------------------------------


class Sketch:
    """A record that is sound but sloppy: no point is used twice, nothing else is sure."""

    def __init__(self, rng):
        self.rng = rng
        self.size = rng.choice([2, 3, 4, 5, 7, 9, 13, 19])
        letters = "abcdefghijklmnopqrs"[: self.size]
        self.free = [column + row for column in letters for row in letters]
        edge = 3 if self.size > 11 else 2
        for row, column in fixed_points(self.size, 4, edge) if self.size > 6 else ():
            self.free.remove(letters[column] + letters[self.size - 1 - row])
        rng.shuffle(self.free)

    def often(self, share):
        return self.rng.random() < share

    def points(self, most):
        return [self.free.pop() for _ in range(self.rng.randrange(1, most)) if self.free]

    def root(self):
        rng, found = self.rng, [f"SZ[{self.size}]"] * (self.size != 19 or self.often(0.7))
        found += [f"KM[{rng.choice(['0', '.5', '6.5', '7.50', '-3', '375', '+6', ''])}]"]
        found = found if self.often(0.6) else found[:-1]
        found += [f"HA[{rng.choice('0124')}]"] * (self.size > 6 and self.often(0.3))
        found += [part for part in ("GM[1]", "FF[4]", "C[\\] [\\\\]") if self.often(0.3)]
        found += [self.player()] * self.often(0.2)
        for name in ("AB", "AW"):
            if self.often(0.2) and (points := self.points(5)):
                found.append(name + "".join(f"[{point}]" for point in points))
        rng.shuffle(found)
        return found + [
            part for part in found if part[:2] in ("SZ", "KM", "HA") if self.often(0.1)
        ]

    def player(self):
        return f"PL[{self.rng.choice(['B', 'W', '1', '2', 'b', 'w', 'black', 'White'])}]"

    def node(self, color):
        point = self.rng.choice(["", "tt"]) if self.often(0.12) or not self.free else None
        found = [f"{color}[{self.free.pop() if point is None else point}]"]
        found += [self.player()] * self.often(0.07) + ["C[x;y]"] * self.often(0.07)
        for name in ("AB", "AW", "BW"[color == "B"]):
            found += [f"{name}[{point}]" for point in self.points(2) if self.often(0.04)]
        self.rng.shuffle(found)
        return found

    def nodes(self):
        color, found = self.rng.choice("BBW"), [self.root()]
        for _ in range(self.rng.randrange(min(self.size**2, 40))):
            found.append(self.node(color))
            color = color if self.often(0.15) else "BW"[color == "B"]
        return found

    def text(self, nodes):
        between = self.rng.choice([";", "\n;", " ; "])
        tail = self.rng.choice(["", "", "(;B[];W[])(;W[])", ")(;SZ[5];B[aa]"])
        return f"(;{between.join(map(''.join, nodes))}{tail})"


def move_number(rng):
    return str(rng.randrange(1, 45)) if rng.random() < 0.4 else ""


def test_random_records_are_read_alike(gnugo, tmp_path, monkeypatch):
    rng = random.Random(13)
    records = []
    for _ in range(120):
        sketch = Sketch(rng)
        records.append((sketch.text(sketch.nodes()), move_number(rng)))
    for text, gnugos, oracles in compare_records(gnugo, tmp_path, monkeypatch, records):
        assert oracles == gnugos, text
        assert isinstance(oracles, Loaded), text


# --- komi, option, encodings -------------------------------------------------------------------


@pytest.mark.parametrize("extra", [[], ["--mistake", "neutral-points-to-white"]])
def test_the_option(tmp_path, monkeypatch, extra):
    from oracle.commands import gtp

    engines = []
    monkeypatch.setattr(gtp, "serve", lambda engine, *_: engines.append(engine))
    assert main([*extra]) == main([*extra, "--strict"]) == 0
    assert [engine.session.strict for engine in engines] == [False, True]


def test_what_is_loaded_can_be_taken_back(tmp_path):
    (tmp_path / "a.sgf").write_text("(;SZ[2];B[aa];W[];B[ba];W[];B[ab];W[];B[bb];W[aa]PL[W])")
    engine = new_engine("go")
    engine.handle(f"loadsgf {tmp_path}/a.sgf")
    assert engine.session.game.to_play == 2
    assert engine.handle("captures w") == "= 4\n\n"  # Black's suicide
    engine.handle("undo")
    engine.handle("undo")
    assert engine.session.game.position.black.bit_count() == 3
    assert engine.handle("undo").startswith("=")


def test_gomoku_records_without_turns(tmp_path):
    (tmp_path / "a.sgf").write_text("(;GM[4]SZ[7];W[aa];W[bb];B[cc]PL[B])")
    engine = new_engine("gomoku")
    assert engine.handle(f"loadsgf {tmp_path}/a.sgf").startswith("=")
    assert engine.handle("gogui-rules_side_to_move") == "= black\n\n"
    assert not engine.session.game.in_turn
    five = "".join(f";B[{x}a]" for x in "abcde")
    for moves, reason in ((";B[]", "Gomoku has no pass"), (f"{five};W[bb]", "the game is over")):
        (tmp_path / "a.sgf").write_text(f"(;GM[4]SZ[7]{moves})")
        assert reason in engine.handle(f"loadsgf {tmp_path}/a.sgf")
