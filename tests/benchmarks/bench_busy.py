"""Right engines on a busy machine: nobody may lose a point, nothing may be withheld.

50 submissions need half of their time limit for an answer in each case file, and are graded beside
four busy processes for each core. Then the same again, while everything that belongs to the
grading is stopped with SIGSTOP now and then, for longer than the limit, and goes on with SIGCONT.
Five engines among them hang: those must still be caught.

``GTP_HARNESS_BENCH_BUSY`` sets the number of submissions, for a quick look.
"""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from harness.processes import descendants
from tests.harness import small_class
from tests.harness.busy import busy
from tests.harness.small_class import Student, spin

COUNT = int(os.environ.get("GTP_HARNESS_BENCH_BUSY", "50"))
HANGING = 5
BUSY = 4  # processes for each core
LIMIT = 2.0
STOPPED = 3.0  # seconds


def make(room: Path, count: int, hanging: int, limit: float) -> tuple[Student, ...]:
    """Write a class; half of those that hang sleep, the other half compute for ever."""
    half = f"if n in (2, 10, 7):\n        {spin(limit / 2)}".replace(
        "\n    while", "\n        while"
    )
    right = [
        Student(f"Right Number{n}", f"{half}\n    return 2 * n + {n} - {n}", 7)
        for n in range(count)
    ]
    hangs = ("while True: pass", "time.sleep(1000)")
    bad = [
        Student(f"Hangs Number{n}", f"{hangs[n % 2]}\n    return {n}", 0) for n in range(hanging)
    ]
    students = (*right[:4], *bad, *right[4:])
    small_class.make(room, students)
    toml = room / "counting" / "assignment.toml"
    text = toml.read_text().replace("timeout = 20", f"timeout = {limit:g}")
    toml.write_text(text.replace("cpu = 1\n", f"cpu = {10 * limit:g}\n"))
    return students


def grade(room: Path, stops: bool) -> subprocess.CompletedProcess[str]:
    """Grade the class."""
    words = ["grade", room / "submissions", "--assignment", room / "counting"]
    words += ["--output", room / "out", "--no-images"]
    with subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as grading:
        if stops:
            threading.Thread(target=stop_and_go_on, args=(grading,), daemon=True).start()
        said, errors = grading.communicate()
    return subprocess.CompletedProcess([], grading.returncode, said, errors)


def stop_and_go_on(grading: "subprocess.Popen[str]") -> None:
    chance = random.Random(1)
    while grading.poll() is None:
        time.sleep(2 + 8 * chance.random())
        tree = [grading.pid, *descendants(grading.pid)]
        for number, pids in ((signal.SIGSTOP, tree), (signal.SIGCONT, tree[::-1])):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            time.sleep(STOPPED if number == signal.SIGSTOP else 0)


def wrong(room: Path, students: tuple[Student, ...]) -> list[str]:
    """Return which marks are not as they should be, or are missing."""
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        rows = db.execute("SELECT key, json_extract(marks, '$.total') FROM mark").fetchall()
    found = {key.split("_")[0]: total for key, total in rows}
    names = {"".join(reversed(one.name.lower().split())): one.mark for one in students}
    return [f"{name}: {found.get(name)}" for name in names if found.get(name) != str(names[name])]


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    for stops in (False, True):
        with tempfile.TemporaryDirectory(prefix="bench-busy-") as name:
            room = Path(name)
            room.chmod(0o755)
            students = make(room, COUNT, HANGING, LIMIT)
            begun = time.monotonic()
            with busy(BUSY * cores):
                done = grade(room, stops)
            wall = time.monotonic() - begun
            with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
                query = "SELECT count(*), sum(cpu), sum(number = 2) FROM result"
                count, cpu, again = db.execute(query).fetchone()
            print(f"{count} runs, {again} of them again, {'stopped now and then, ' * stops}"
                  f"{cpu:.0f} s of CPU time in {wall:.0f} s")  # fmt: skip
            print(f"wrong or withheld: {', '.join(wrong(room, students)) or 'none'}"
                  f" (exit status {done.returncode})")  # fmt: skip
