"""What a sandbox costs: an engine's start and end bare and in each level, interleaved.

An engine is started and asked one command; the clock stops when its reply has come (*start*), and
again when nothing of it is left (*end*). Wall time, because a teacher waits for it; medians
of rounds in which every way takes its turn, so that a busy machine slows all of them alike. The
last columns are the difference to a bare start. Then the time of a command in a running engine:
layers that act at the start should cost nothing there.
"""

import statistics
import sys
from collections.abc import Callable
from contextlib import closing
from time import perf_counter

from harness.core.errors import SandboxError
from harness.engine.launch import PlainLauncher, StartedEngine
from harness.sandbox import levels, view
from harness.sandbox.boxed_engines import BoxedLauncher
from harness.sandbox.launcher import BoxLauncher

ROUNDS = 40
COMMANDS = 3_000  # in each round
SMALL = "import sys\nfor line in sys.stdin: sys.stdout.write('= \\n\\n'); sys.stdout.flush()"
ENGINES = {
    "Python": [levels.interpreter(), "-I", "-S", "-c", SMALL],
    "with NumPy": [sys.executable, "-c", f"import numpy, {SMALL[7:]}"],
}
WAYS = {0: "bare", 3: "level 3", 2: "level 2", 1: "level 1"}


def ask(engine: StartedEngine) -> None:
    """Send a command and read the reply."""
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write(b"name\n")
    reply = b""
    while not reply.endswith(b"\n\n"):
        fresh = engine.stdout.read(4096)
        assert fresh, "the engine does not run"
        reply += fresh


def time_start(launcher: PlainLauncher | BoxedLauncher, words: list[str]) -> tuple[float, float]:
    """Return the seconds of a start and of an end."""
    begun = perf_counter()
    engine = launcher.start(words, "/")
    ask(engine)
    running = perf_counter()
    launcher.end(engine)
    ended = perf_counter()
    for stream in (engine.stdin, engine.stdout, engine.stderr):
        assert stream is not None
        stream.close()
    return running - begun, ended - running


def per_command(launcher: PlainLauncher | BoxedLauncher, words: list[str]) -> float:
    """Return the seconds that a command takes in an engine that is running."""
    engine = launcher.start(words, "/")
    ask(engine)
    begun = perf_counter()
    for _ in range(COMMANDS):
        ask(engine)
    seconds = (perf_counter() - begun) / COMMANDS
    launcher.end(engine)
    for stream in (engine.stdin, engine.stdout, engine.stderr):
        assert stream is not None
        stream.close()
    return seconds


def measure(launchers: dict[int, PlainLauncher | BoxedLauncher], words: list[str]) -> None:
    """Print a table for one engine."""
    times: dict[int, list[tuple[float, float]]] = {level: [] for level in launchers}
    for _ in range(ROUNDS):
        for level in list(times):
            try:
                times[level].append(time_start(launchers[level], words))
            except SandboxError as error:  # as root, level 1 cannot enter root's own folders
                print(f"  {WAYS[level]}: {error}")
                del times[level]
    bare = [1000 * statistics.median(part) for part in zip(*times[0], strict=True)]
    for level, pairs in times.items():
        start, end = (1000 * statistics.median(part) for part in zip(*pairs, strict=True))
        more = "" if not level else f"{start - bare[0]:+8.1f}{end - bare[1]:+8.1f}"
        print(f"  {WAYS[level]:10}{start:8.1f}{end:8.1f}{more}")


def compare_commands(
    launchers: dict[int, PlainLauncher | BoxedLauncher], words: list[str]
) -> None:
    """Print what a command takes in a running engine."""
    print("a command, microseconds")
    rounds = [[per_command(each, words) for each in launchers.values()] for _ in range(12)]
    for level, times in zip(launchers, zip(*rounds, strict=True), strict=True):
        print(f"  {WAYS[level]:10}{1e6 * statistics.median(times):8.2f}")


def main() -> None:
    """Print the tables."""
    launchers: dict[int, PlainLauncher | BoxedLauncher] = {0: PlainLauncher()}
    boxes: list[BoxLauncher] = []
    for level in (3, 2, 1):
        try:
            box = levels.make_proven(level)
        except SandboxError as error:
            print(f"  {error}")
        else:
            boxes.append(box)
            launchers[level] = BoxedLauncher(box, (), view.own_folders(), "", view.of_program)
    for name, words in ENGINES.items():
        print(f"{name}, milliseconds:   start     end  more at start and end")
        measure(launchers, words)
    compare_commands(launchers, ENGINES["Python"])
    prove(boxes)
    for box in boxes:
        with closing(box):
            pass


def prove(boxes: list[BoxLauncher]) -> None:
    """Print what a canary takes, once a run."""
    print("a canary, milliseconds")
    for box in boxes:
        times = [_seconds(lambda box=box: levels.prove(box)) for _ in range(10)]  # type: ignore[misc]
        print(f"  {WAYS[box.level]:10}{1000 * statistics.median(times):8.1f}")


def _seconds(action: Callable[[], None]) -> float:
    begun = perf_counter()
    action()
    return perf_counter() - begun


if __name__ == "__main__":
    main()
