"""Submissions that compute for ever at ``score``: what they cost a class that is otherwise right.

Two classes of the shipped assignment in Go scoring: eight right engines and one that loops, and
thirty with one or five that loop, with seven case files each. The peer is the same class without
those that loop, graded just before. ``bound`` is 1.5 × the peer + one full limit for each of
those that loop; ``strict`` counts one limit, however many loop.

``GTP_HARNESS_BENCH_LOOPERS`` sets the limit of a command, which is the assignment's own, 10 s.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from tests.harness.small_class import archive

LIMIT = float(os.environ.get("GTP_HARNESS_BENCH_LOOPERS", "10"))
CASES = Path(__file__).parents[2] / "cases" / "go-scoring"
RIGHT = Path(__file__).parents[1] / "submissions" / "go-scoring"
PRIVATE = ("seki.gtp", "draw.gtp", "captures.gtp")
FULL = 4  # points: public and private tests
# Answers whatever sets up, and never a question.
LOOPS = """\
import sys
for line in sys.stdin:
    while "score" in line:
        pass
    print("=\\n", flush=True)
"""


def submission(number: int, loops: bool) -> bytes:
    """Return an archive, unlike those of others."""
    files = {path.name: path.read_text() for path in (RIGHT / "assignment1").iterdir()}
    main = LOOPS if loops else files["Go1.py"]
    return archive({**files, "Go1.py": f"{main}# {number}\n"})


def make(room: Path, right: int, looping: int, private: bool) -> None:
    """Write the assignment and the submissions; those that loop are among the first."""
    (room / "submissions").mkdir(parents=True)
    shutil.copytree(CASES, room / "go-scoring", ignore=shutil.ignore_patterns("thorough"))
    if private:
        (room / "go-scoring" / "private").mkdir()
        for name in PRIVATE:
            shutil.copy(CASES / "thorough" / name, room / "go-scoring" / "private")
    toml = room / "go-scoring" / "assignment.toml"
    limits = toml.read_text().replace("timeout = 10", f"timeout = {LIMIT:g}")
    toml.write_text(limits.replace("cpu = 60", f"cpu = {max(60, 2 * LIMIT):g}"))
    for number in range(right + looping):
        loops = bool(number % 2) and number // 2 < looping
        name = f"student{number:02}_{100 + number}_{900 + number}_a1.tgz"
        (room / "submissions" / name).write_bytes(submission(number, loops))


def grade(room: Path, jobs: int, private: bool) -> float:
    """Grade; return the seconds on the clock."""
    words = ["grade", room / "submissions", "--assignment", room / "go-scoring"]
    words += ["--output", room / "out", "--jobs", jobs, "--overlay", RIGHT / "util"]
    words += ["--no-images"] if private else ["--public-only"]
    begun = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,  # what several share is told by the status
    )
    return time.monotonic() - begun


def marks(room: Path) -> list[Fraction]:
    """Return the points of all for what tests judge."""
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        rows = db.execute("SELECT json_extract(marks, '$.total') FROM mark ORDER BY key")
        return [Fraction(total) for (total,) in rows]


def measure(right: int, looping: int, jobs: int, private: bool) -> bool:
    """Grade a class with and without those that loop; return whether it is within the bound."""
    seconds = []
    for count in (0, looping):
        with tempfile.TemporaryDirectory(prefix="bench-loopers-") as name:
            room = Path(name)
            room.chmod(0o755)
            make(room, right, count, private)
            seconds.append(grade(room, jobs, private))
            found = marks(room)
    best = [mark for mark in found if mark == max(found)]
    wrong = "" if len(best) == right else f", but {len(best)} have full marks"
    peer, wall = seconds
    bound = 1.5 * peer + looping * LIMIT
    strict = 1.5 * peer + LIMIT
    print(
        f"{right:3} right, {looping} looping, --jobs {jobs}: {peer:6.1f} s without,"
        f" {wall:6.1f} s with, {wall / bound:5.2f} of the bound, {wall / strict:5.2f} of the"
        f" strict one{wrong}",
        flush=True,
    )
    return wall <= bound and not wrong


def main() -> int:
    print(f"limit {LIMIT:g} s")
    classes = ((8, 1, 2, False), (8, 1, 1, False), (29, 1, 2, True), (29, 1, 1, True),
               (25, 5, 2, True), (25, 5, 1, True))  # fmt: skip
    within = [measure(*one) for one in classes]
    return int(not all(within))
