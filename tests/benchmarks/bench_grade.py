"""Grading 200 submissions with 3 case files each: what it costs beyond the engines themselves.

Each engine computes for a while for every answer, some longer than others. ``own share`` is the
processor time of everything but the engines (harness, box servers, intake, marks, exports), of
all processor time; ``wall`` the time on the clock against the engines' processor time divided by
the cores, and against a peer: as many processes as cores, right afterwards, that do nothing but
use that much processor time, so that a busy machine is busy for both; ``at work`` the share of
the time on the clock in which an engine has been asked and not answered. The last line is about a
grading that is killed with SIGKILL at 50 random moments and goes on each time, compared with one
that was left alone.

``GTP_HARNESS_BENCH_GRADE`` sets the number of submissions, for a quick look.
"""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.harness import small_class
from tests.harness.small_class import CLASS, Student, spin

COUNT = int(os.environ.get("GTP_HARNESS_BENCH_GRADE", "200"))
KILLS = 50
COMMAND = [sys.executable, "-m", "harness.cli", "grade"]


def command(room, output, *more):
    assignment, source = room / "counting", room / "submissions"
    return [*COMMAND, source, "--assignment", assignment, "--output", output, *more]


def results(ledger):
    """Return what marks are made of, as the ledger has it."""
    with sqlite3.connect(ledger) as db:
        return [
            db.execute(query).fetchall()
            for query in (
                "SELECT basis, number, result FROM result ORDER BY basis, number",
                "SELECT basis, result FROM build ORDER BY basis",
                "SELECT key, marks, bases FROM mark ORDER BY key, id",
            )
        ]


def overhead(room, jobs):
    students = [
        Student(f"Student Number{i}", f"{spin(0.15 + 0.1 * (i % 3))}\n    return 2 * n", 7)
        for i in range(COUNT)
    ]
    small_class.make(room, tuple(students))
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    words = command(room, room / "out", "--no-images", "--jobs", str(jobs))
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        query = "SELECT count(*), sum(cpu), sum(seconds) FROM result"
        count, engines, asked = db.execute(query).fetchone()
    print(f"{count} attempts of {COUNT} submissions, {jobs} at a time")
    print(f"{'engines':14}{engines:10.1f} s of CPU time")
    print(f"{'all':14}{total:10.1f} s of CPU time")
    print(f"{'own share':14}{(total - engines) / total:10.1%}   (at most 15 %)")
    print(f"{'wall':14}{wall:10.1f} s, {wall / (engines / jobs):.2f} of engines ÷ cores (1.10)")
    print(f"{'at work':14}{asked / (wall * jobs):10.1%}   of that, engines were asked by each job")
    alone = peer(engines / jobs, jobs)
    print(f"{'peer':14}{alone:10.1f} s, wall is {wall / alone:.2f} of it")


SPIN = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass"


def peer(seconds, jobs):
    """Return how long so many processes take to use so much processor time each."""
    begun = time.monotonic()
    words = [sys.executable, "-S", "-c", SPIN, str(seconds)]
    for process in [subprocess.Popen(words) for _ in range(jobs)]:
        process.wait()
    return time.monotonic() - begun


def kills(room):
    """Kill a grading again and again; compare its ledger with an undisturbed one."""
    small_class.make(room, CLASS * 4)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    begun = time.monotonic()
    subprocess.run(command(room, room / "calm", "--no-images"), **quiet, check=True)
    calm = time.monotonic() - begun
    chance, killed = random.Random(1), 0
    while killed < KILLS:
        process = subprocess.Popen(command(room, room / "wild", "--no-images"), **quiet)
        try:
            process.wait(0.3 + chance.random() * calm * 2 / KILLS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        if process.returncode == 0:  # done: the rest of the kills has a new one
            shutil.rmtree(room / "wild")
    subprocess.run(command(room, room / "wild", "--no-images"), **quiet, check=True)
    same = results(room / "calm" / "ledger.sqlite") == results(room / "wild" / "ledger.sqlite")
    print(f"\nkilled {killed} times: results {'the same, byte by byte' if same else 'DIFFER'}")


def main():
    jobs = len(os.sched_getaffinity(0))
    for part in (lambda room: overhead(room, jobs), kills):
        with tempfile.TemporaryDirectory(prefix="bench-grade-") as name:
            part(Path(name))
