"""Engines that hang: what they cost a grading of 48 submissions with 4 case files each.

10 of the submissions answer no test at all, at a limit of 30 s. ``bound`` is 1.5 × (processor
seconds of all ÷ cores + what the file that takes longest may). That is one limit where nothing is
asked after a hang. It is four where each test begins at a place at which a new engine may go on:
three hangs one after the other, and one for all others together. The peer takes, right afterwards,
what so many processes take to use that much processor time: on a busy machine the bound is to be
computed with it.

``GTP_HARNESS_BENCH_HANG`` sets the limit, for a quick look.
"""

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from tests.benchmarks.bench_grade import peer
from tests.harness import small_class
from tests.harness.small_class import Student, spin

LIMIT = float(os.environ.get("GTP_HARNESS_BENCH_HANG", "30"))
COUNT, HANGING = 48, 10
MORE = {"four.gtp": "1 twice 4\n#? [8]\n2 twice 0\n#? [0]\n"}
PLACE = "#! restart\n"
TESTS = 8  # in each file
IN_A_ROW = 4  # times the limit: what a file may take in which an engine hangs at every test
SLEEPS = "time.sleep(1000)"


def make(room: Path, count: int, hanging: int, limit: float, tests: int = 0) -> list[Student]:
    """Write a class with so many that hang in each of four case files; return the students.

    ``tests``: in each file, with a place before each; 0: two, and no such place.
    """
    every = count // hanging
    bodies = [
        f"{SLEEPS}\n    return {number}" if number % every == 1 and number // every < hanging else
        f"{spin(0.1)}\n    return 2 * n + {number} - {number}"
        for number in range(count)
    ]  # fmt: skip
    students = [
        Student(f"Student Number{number}", body, 0 if SLEEPS in body else 7)
        for number, body in enumerate(bodies)
    ]
    small_class.make(room, tuple(students))
    for name, text in MORE.items():
        (room / "counting" / name).write_text(text)
    for path in (room / "counting").rglob("*.gtp") if tests else ():
        scenes = (f"{PLACE}{n} twice {n}\n#? [{2 * n}]\n" for n in range(1, tests + 1))
        path.write_text("".join(scenes))
    toml = room / "counting" / "assignment.toml"
    toml.write_text(toml.read_text().replace("timeout = 20", f"timeout = {limit:g}"))
    return students


def grade(room: Path, jobs: int) -> tuple[float, float]:
    """Grade; return the seconds on the clock, and those of the processor."""
    words = ["grade", room / "submissions", "--assignment", room / "counting"]
    more = ["--output", room / "out", "--no-images", "--jobs", jobs]
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, (*words, *more))],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wrong(room: Path, students: list[Student]) -> list[str]:
    """Return the keys of students with a wrong mark."""
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        rows = db.execute("SELECT key, json_extract(marks, '$.total') FROM mark").fetchall()
    keys = {small_class.file_name(one, number)[:-7]: one for number, one in enumerate(students)}
    found = {key: Fraction(total) for key, total in rows}
    return [
        f"{key}: {found[full]}"
        for key, one in keys.items()
        for full in found
        if full.split("_")[0] == key.split("_")[0] and found[full] != one.mark
    ]


def main() -> None:
    for tests, in_a_row in ((0, 1), (TESTS, IN_A_ROW)):
        with tempfile.TemporaryDirectory(prefix="bench-hang-") as name:
            room = Path(name)
            room.chmod(0o755)
            measure(room, tests, in_a_row)


def measure(room: Path, tests: int, in_a_row: int) -> None:
    jobs = len(os.sched_getaffinity(0))
    students = make(room, COUNT, HANGING, LIMIT, tests)
    wall, cpu = grade(room, jobs)
    longest = in_a_row * LIMIT
    bound = 1.5 * (cpu / jobs + longest)
    where = "each test" if tests else "the first test"
    print(f"{COUNT} submissions × 4 case files, {HANGING} hang at {where}, {jobs} jobs")
    print(f"{'limit':12}{LIMIT:8.1f} s")
    print(f"{'processor':12}{cpu:8.1f} s")
    print(f"{'wall':12}{wall:8.1f} s, {wall / bound:.2f} of the bound (at most 1)")
    print(f"{'bound':12}{bound:8.1f} s")
    alone = peer(cpu / jobs, jobs)
    print(f"{'peer':12}{alone:8.1f} s, wall is {wall / 1.5 / (alone + longest):.2f} of its bound")
    bad = wrong(room, students)
    print(f"wrong marks: {', '.join(bad) or 'none'}", flush=True)
