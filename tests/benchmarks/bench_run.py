"""The cost of a run: ``gtp-harness run`` with pages and JSON, on an engine that costs nothing.

Its peers are timed in turn with it: ``engine < file``, which nothing can beat, and the loop that
one would write with pexpect alone, with its delays off. The bars are a tenth of what
gogui-regress takes on a two-core machine.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pexpect

ENGINE_SOURCE = Path(__file__).parent / "zero_engine.c"
HARNESS = [sys.executable, "-m", "harness.cli", "run", "--no-color"]
REPORTS = ["--output", "report", "--json", "report.json"]


class Cost(NamedTuple):
    wall: float  # seconds
    cpu: float  # seconds, of the process and all it started
    memory: int  # KiB at most, of the largest of them


def main() -> None:
    """Print the tables."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            build()
            speed(rounds=5)
            memory()
            parallel()
        finally:
            os.chdir(here)


def build() -> None:
    flags = ["-O2", "-D_GNU_SOURCE", "-o", "zero"]
    subprocess.run(["cc", *flags, str(ENGINE_SOURCE)], check=True)


def case_text(commands: int) -> str:
    """Return a file of so many commands, one test for ten of setup."""
    lines = []
    for number in range(commands):
        if number % 11 == 10:
            lines += [f"{number} reg_genmove b", "#? [A1|B2]"]
        else:
            lines.append(f"play {'bw'[number % 2]} {'ABCDEFGHJ'[number % 9]}{number % 13 + 1}")
    return "\n".join(lines) + "\n"


def speed(rounds: int) -> None:
    rows = []
    for commands, bar in [(1_000, "0.10 s"), (10_000, "0.23 s"), (100_000, "0.70 s")]:
        file = Path(f"{commands}.gtp")
        file.write_text(case_text(commands))
        rows.append((f"{commands:,} commands", commands, [file], bar))
    suite = [Path("suite") / f"{number:03}.gtp" for number in range(160)]
    Path("suite").mkdir()
    for file in suite:
        file.write_text(case_text(125))
    rows.append(("160 files × 125", 160 * 125, suite, "26 µs CPU"))

    print(" " * 18 + "    wall      CPU      each        bar  / engine < file  pexpect /")
    for name, commands, files, bar in rows:
        compared = [
            (run(files), engine_alone(files), pexpect_each(files[0])) for _ in range(rounds)
        ]
        ours = [cost for cost, _, _ in compared]
        wall, cpu = (min(cost[index] for cost in ours) for index in range(2))
        over_engine = median(cost.wall / alone.wall for cost, alone, _ in compared)
        under_pexpect = median(each * commands / cost.wall for cost, _, each in compared)
        print(
            f"{name:18} {wall:6.3f} s {cpu:6.3f} s {cpu / commands * 1e6:6.1f} µs {bar:>10}"
            f" {over_engine:13.1f} × {under_pexpect:9.1f} ×"
        )


def run(files: list[Path], *options: str) -> Cost:
    """Return what a user waits for and pays, all reports on."""
    return time_run([*HARNESS, *REPORTS, *options, "./zero", *map(str, files)])


def engine_alone(files: list[Path]) -> Cost:
    """Return the cost of ``engine < file`` for each file."""
    return time_run(["sh", "-c", 'for file; do ./zero < "$file"; done', "sh", *map(str, files)])


def pexpect_each(file: Path) -> float:
    """Return the seconds for a command in a loop of pexpect's own means."""
    lines = [line for line in file.read_text().splitlines()[:1000] if line[0] != "#"]
    begun = time.perf_counter()
    engine = pexpect.spawn("./zero", encoding="utf-8", echo=False)
    engine.delaybeforesend = engine.delayafterread = None
    for line in lines:
        engine.sendline(line)
        engine.expect("\r\n\r\n")
    seconds = time.perf_counter() - begun
    engine.close(force=True)
    return seconds / len(lines)


def memory() -> None:
    Path("tests.gtp").write_text(
        "".join(f"{n} reg_genmove b\n#? [A1|B2]\n" for n in range(100_000))
    )
    cost = run([Path("tests.gtp")])
    print(f"\n100,000 tests: {cost.memory / 1000:.0f} MB (bar 200 MB), {cost.wall:.1f} s")
    largest = max(path.stat().st_size for path in Path("report").iterdir())
    print(f"the largest of their pages: {largest / 1e6:.1f} MB (bar 5 MB)")
    Path("commands.gtp").write_text(case_text(1_000_000))
    cost = run([Path("commands.gtp")])
    print(f"1,000,000 commands: {cost.memory * 1.024e-3:.0f} MB (bar 400 MB), {cost.wall:.1f} s")


def parallel() -> None:
    files = [Path(f"sleeps{number}.gtp") for number in range(8)]
    for file in files:
        file.write_text("sleep 600\n1 reg_genmove b\n#? [A1]\n")
    one, two = (run(files, "--jobs", jobs).wall for jobs in "12")
    print(f"8 files that sleep: --jobs 1 {one:.2f} s, --jobs 2 {two:.2f} s: {two / one:.3f} of it")


def time_run(words: list[str]) -> Cost:
    """Run a program and return its cost; its output is thrown away."""
    begun = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words[:6]} ended with {process.returncode}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


if __name__ == "__main__":
    main()
