"""What a match costs: processor time for each move, and wall time beside a plain loop.

The first table is of engines that do not think: the harness's own processor time for a move, less
that of a game without moves. The second is of GNU Go at two levels on 9 by 9 with paired openings,
against gogui-twogtp where there is one on the PATH (no package has it), else against a loop that
does what it does: one game after the other, each engine asked in turn through pipes, no limits, no
referee, the winner as an engine counts it. Seeds are fixed, so that both play the same games, but
for some: gogui-twogtp keeps a process for all games, and GNU Go remembers. Winners are compared
where both players passed after the same moves. Only the ratio of wall times means anything, and
only on a machine that is not busy. ``MATCH_GAMES=100`` plays more games.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.core.options import Options
from harness.match.game import Arbiter
from harness.match.records import Match, Plan, Player, Rules
from harness.match.tournament import ROUND_ROBIN, Journal, Schedule, Tournament

GAMES = int(os.environ.get("MATCH_GAMES", "20"))
GNUGO = shutil.which("gnugo", path="/usr/games:/usr/bin")
LEVELS = (1, 5)
# Black fills the lower rows and White the upper ones, but for a column: nothing is ever taken.
FILLER = """
import sys
moves = int(sys.argv[1])
for line in sys.stdin:
    words = line.split()
    if words[0] == "genmove":
        rows = range(1, 10) if words[1] == "b" else range(11, 20)
        todo = [f"{c}{r}" for r in rows for c in "BCDEFGHJKLMNOPQRST"[:moves]]
    if words[0] == "clear_board":
        played = 0
    text = ""
    if words[0] == "genmove":
        text = todo[played] if played < len(todo) else "pass"
        played += 1
    print(f"= {text}\\n", flush=True)
    if words[0] == "quit":
        break
"""


def own_seconds(moves, program):
    """Return the processor seconds of one game, and the moves that it had."""
    words = (sys.executable, program, str(moves))
    players = tuple(Player(name, "", words) for name in "ab")
    match = Match(players, Rules(size=(19, 19)), options=Options(jobs=1), place=str(Path.cwd()))
    arbiter = Arbiter(match)
    begun = time.process_time()
    game = arbiter.play(Plan(0, 0, 0, 1, 0))
    arbiter.close()
    assert game.reason == "score", game
    return time.process_time() - begun, len(game.moves)


def overhead():
    """Print the overhead for a move; return whether it is below a millisecond."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "filler.py")
        program.write_text(FILLER)
        pairs = [(own_seconds(0, str(program)), own_seconds(18, str(program))) for _ in range(5)]
    costs = [(long[0] - short[0]) / (long[1] - short[1]) * 1000 for short, long in pairs]
    print(f"engines that do not think, {pairs[0][1][1]} moves: the harness's processor time is")
    print(f"  {min(costs):.3f} ms a move (best of 5; worst {max(costs):.3f})")
    return min(costs) < 1.0


def command(level):
    """Return the words that start GNU Go."""
    rules = ("--chinese-rules", "--capture-all-dead", "--seed", "1")
    return (GNUGO, "--mode", "gtp", "--level", str(level), *rules)


def loop(match, plans):
    """Play the games as a plain loop does; return moves and winners as Black's engine counts."""
    winners, played = {}, {}
    for plan in plans:
        engines = {
            color: subprocess.Popen(
                match.players[plan.player(color)].words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for color in (1, 2)
        }

        def ask(color, line, engines=engines):
            engines[color].stdin.write(f"{line}\n")
            engines[color].stdin.flush()
            reply = []
            while text := engines[color].stdout.readline().strip():
                reply.append(text)
            return " ".join(reply)[1:].strip()

        opening = match.openings[plan.opening]
        for color in (1, 2):
            for line in ("boardsize 9", "clear_board", f"komi {match.rules.komi}"):
                ask(color, line)
            for one, point in opening.moves:
                ask(color, f"play {'?bw'[one]} {point}")
        color, passes = len(opening.moves) % 2 + 1, 0
        while passes < 2:
            move = ask(color, f"genmove {'?bw'[color]}")
            if move.lower() == "resign":
                break
            passes = passes + 1 if move.lower() == "pass" else 0
            played.setdefault(plan.number, []).append(move.upper())
            ask(3 - color, f"play {'?bw'[color]} {move}")
            color = 3 - color
        if passes == 2:
            winners[plan.number] = " BW".index(ask(1, "final_score")[:1])
        for color in (1, 2):
            ask(color, "quit")
            engines[color].wait()
    return played, winners


def twogtp(match, plans):
    """Play the games with gogui-twogtp; return moves, and the winners where engines agree."""
    with tempfile.TemporaryDirectory() as folder:
        openings = Path(folder, "openings")
        openings.mkdir()
        for number, opening in enumerate(match.openings):
            moves = "".join(
                f";{'?BW'[color]}[{sgf_point(vertex, 9)}]" for color, vertex in opening.moves
            )
            (openings / f"{number:04}.sgf").write_text(f"(;FF[4]GM[1]SZ[9]{moves})")
        words = ["gogui-twogtp", "-auto", "-alternate", "-games", str(len(plans)), "-size", "9"]
        words += ["-komi", str(match.rules.komi), "-openings", openings, "-sgffile", f"{folder}/x"]
        for option, player in zip(("-black", "-white"), match.players, strict=True):
            words += [option, " ".join(player.words)]
        subprocess.run(words, check=True)
        lines = Path(folder, "x.dat").read_text().splitlines()
        records = [Path(folder, f"x-{number}.sgf").read_text() for number in range(len(plans))]
    played = {}
    for plan, record in zip(plans, records, strict=True):
        points = re.findall(r";\s*[BW]\[(\w*)\]", record)
        done = len(match.openings[plan.opening].moves)
        played[plan.number] = [gtp_vertex(point, 9) for point in points[done:]]
    winners = {}
    for row in (line.split("\t") for line in lines if line and not line.startswith("#")):
        number, black, white, is_swapped = int(row[0]), row[1], row[2], row[4] == "1"
        by_program = " BW".index(black[0]) if black == white and black[1:3] != "+R" else 0
        if by_program:  # the column says as which program won, not as which color
            winners[number] = 3 - by_program if is_swapped else by_program
    return played, winners


def sgf_point(vertex, size):
    """Return a point such as C3 as SGF has it."""
    return chr(97 + "ABCDEFGHJ".index(vertex[0].upper())) + chr(97 + size - int(vertex[1:]))


def gtp_vertex(point, size):
    """Return a point of SGF such as cg as GTP has it; tt and none are a pass."""
    if point in {"", "tt"}:
        return "PASS"
    return f"{'ABCDEFGHJ'[ord(point[0]) - 97]}{size + 97 - ord(point[1])}"


def thinking():
    """Print the wall times with GNU Go; return whether winners agree."""
    players = tuple(Player(f"level {level}", "", command(level)) for level in LEVELS)
    match = Match(players, Rules(), options=Options(jobs=2), place=str(Path.cwd()))
    arbiter = Arbiter(match)
    match = match._replace(openings=arbiter.draw(match.openings[0], 4, GAMES // 2, "0"))
    arbiter.match = match
    schedule = Schedule(ROUND_ROBIN, 2, GAMES, len(match.openings))
    begun = time.perf_counter()
    tournament = Tournament(arbiter, schedule, Journal())
    tournament.hold()
    ours = time.perf_counter() - begun
    has_twogtp = shutil.which("gogui-twogtp") is not None
    begun = time.perf_counter()
    played, theirs = (twogtp if has_twogtp else loop)(match, schedule.round(0, {}))
    plain = time.perf_counter() - begun
    games = [game for game in tournament.result().games if game.plan.number in theirs]
    counted = [
        game
        for game in games
        if game.reason == "score"
        and [move.upper() for _, move in game.moves] == played[game.plan.number]
    ]
    same = sum(game.winner == theirs[game.plan.number] for game in counted)
    print(f"GNU Go, levels {LEVELS[0]} and {LEVELS[1]}, {GAMES} games: {ours:.1f} s,")
    peer = "gogui-twogtp" if has_twogtp else "a plain loop"
    print(f"  {peer} {plain:.1f} s: {ours / plain:.2f} of it, on {os.cpu_count()} cores")
    print(f"  the same moves in {len(counted)} games, and the same winner in {same} of those")
    return same == len(counted) and bool(counted)


def main():
    """Print both tables; return 1 if something does not hold that does not depend on others."""
    is_cheap = overhead()
    return int(not (is_cheap and (thinking() if GNUGO else True)))
