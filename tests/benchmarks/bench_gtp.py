"""What the engine costs: its start over a bare Python's, and its commands over an empty loop's.

CPU time of child processes, engine and peer in turn; modules are compiled beforehand, as
installing does.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
ROUNDS = 40
BARE = ["-c", "pass"]
# As the installed program does, without the imports of pip's script around it and of python -m.
ENGINE = ["-c", "import sys; from oracle.cli import main; sys.exit(main(['gtp']))"]
SETUP = b"boardsize 19\nclear_board\nkomi 6.5\nplay b Q16\nplay w D4\n"
# The least that any engine written in Python does: read, split, answer.
LOOP = ["-c", "import sys\nfor line in sys.stdin: print('=', *line.split(' ')[:0], end='\\n\\n')"]


def cpu(arguments, text, environment):
    """Return the processor seconds of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        input=text,
        stdout=subprocess.DEVNULL,
        env=environment,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starts(environment):
    """Print the cost of a start: bare, with the engine, and with a little work."""
    rows = {"bare": (BARE, b""), "gtp": (ENGINE, b"quit\n"), "gtp, a position": (ENGINE, SETUP)}
    times = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, (arguments, text) in rows.items():
            times[name].append(cpu(arguments, text, environment))
    bare = median(times["bare"])
    for name, seconds in times.items():
        over = (median(seconds) - bare) * 1000
        print(f"  {name:16} {median(seconds) * 1000:5.1f} ms, {over:4.1f} ms over bare Python")


def commands(environment):
    """Print the cost of a command, without the start, for runs of one command."""
    number = 20_000
    once = b"boardsize 9\n"
    stones = b"play b C3\nundo\n" * (number // 2)
    rows = {
        "an empty loop": (LOOP, stones),
        "play, undo": (ENGINE, once + stones),
        "score": (ENGINE, once + b"play b C3\nplay w G7\n" + b"score\n" * number),
    }
    for name, (arguments, text) in rows.items():
        seconds = [
            cpu(arguments, text, environment) - cpu(arguments, once, environment) for _ in range(5)
        ]
        print(f"  {name:16} {median(seconds) / number * 1e6:5.1f} µs for each command")


def main():
    with tempfile.TemporaryDirectory() as compiled:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": compiled,
            "PYTHONDONTWRITEBYTECODE": "",
        }
        for text in (b"quit\n", SETUP + b"undo\nscore\nquit\n"):
            cpu(ENGINE, text, environment)
        print(f"CPU time, median of {ROUNDS} starts:")
        starts(environment)
        print("CPU time of commands, 20,000 of them in one pipe:")
        commands(environment)
