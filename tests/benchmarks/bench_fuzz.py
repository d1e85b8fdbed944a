"""Every mistake of the bank against the fuzzer: how soon, with how short a script, what diagnosis.

Each is a process of its own behind a pipe, in the strongest sandbox; ``--in-process`` has no
process and no sandbox. Seconds are those of the wall and, beside them, of the processor: this
process, and the engines where there are some. Names choose mistakes, and so do assignments;
``--seed=N`` draws others than 0 does. ``python -m tests.benchmarks.bench_fuzz FILE.md`` keeps the
table.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import oracle
from harness.core.options import UNTRUSTED, Options
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.fuzzed_engine import FuzzedProgram, launchers
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import FuzzBudget
from harness.specifications import specification
from harness.vocabulary.script import BOARDS
from oracle.mistakes import MISTAKES, Mistake, mistaken_engine
from tests.benchmarks.processor import processor
from tests.harness.in_process import InProcess

SECONDS, SETUP = 10, 8  # what is asked for
PATIENCE = 60  # seconds: a busy machine takes longer, and is to show how much
LIMITS = UNTRUSTED._replace(timeout=5.0)


@contextmanager
def start_piped(mistake: Mistake, folder: Path) -> Iterator[FuzzedProgram]:
    # Where files of scripts are laid is shown, and not the folder around it: of the one in which
    # it starts, an engine would have a copy.
    (folder / BOARDS).mkdir()
    shown = (str(Path(oracle.__file__).parent), str(folder / BOARDS))
    words = [sys.executable, "-m", "oracle", "gtp", "--mistake", mistake.name]
    with (
        launchers(Options(sandbox="auto", show=shown, limits=LIMITS), folder) as launcher,
        closing(FuzzedProgram(words, launcher, LIMITS, folder)) as program,
    ):
        yield program


@contextmanager
def in_process(mistake: Mistake, folder: Path) -> Iterator[FuzzedProgram]:
    yield InProcess(lambda: mistaken_engine(mistake, playouts=0), folder)


class Row(NamedTuple):
    """What became of a mistake."""

    mistake: Mistake
    seconds: float
    cpu: float  # seconds
    script: tuple[str, ...]  # empty if not found
    named: tuple[Mistake, ...]  # the likeliest first

    @property
    def setup(self) -> float:
        return len(self.script) - 1 if self.script else float("inf")

    @property
    def names(self) -> str:
        found = ", ".join(one.name for one in self.named) or "-"
        return found if self.script else "NOTHING FOUND"


def row(mistake: Mistake, way: Callable[..., object], seed: int) -> Row:
    """Look for a mistake, and print what became of it."""
    began, cpu = time.monotonic(), processor()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with way(mistake, folder) as program:  # type: ignore[attr-defined]
            judge = judge_of(specification(mistake.assignment), folder)
            fuzzer = Fuzzer(program, judge, FuzzBudget(PATIENCE, 0), seed)
            found = next(fuzzer.findings(), None)
    spent = time.monotonic() - began, processor() - cpu
    made = Row(mistake, *spent, *(found.script.commands, found.mistakes) if found else ((), ()))
    print(
        f"{mistake.name:34}{made.seconds:8.1f}{made.cpu:8.1f}{made.setup:7}  {made.names}",
        flush=True,
    )
    return made


def summary(rows: list[Row]) -> str:
    """Return how many were found how soon, by how short a script, and named."""
    seconds, setups = [one.seconds for one in rows], [one.setup for one in rows]
    soon, short = sum(one < SECONDS for one in seconds), sum(one <= SETUP for one in setups)
    right = sum(one.named[:1] == (one.mistake,) for one in rows)
    return (
        f"{len(rows)} mistakes: {soon} in under {SECONDS} s"
        f" ({sum(one.cpu < SECONDS for one in rows)} by the processor's seconds),"
        f" median {median(seconds):.1f} s;\n"
        f"{short} with at most {SETUP} setup commands, median {median(setups):g};\n"
        f"{right} named right first ({100 * right / len(rows):.1f} %)"
    )


def table(rows: list[Row]) -> str:
    """Return all rows in Markdown."""
    lines = ["| mistake | seconds | script | diagnosis |", "|---|---|---|---|"]
    for one in rows:
        script = "<br>".join(f"`{command}`" for command in one.script)
        lines.append(f"| {one.mistake.name} | {one.seconds:.1f} | {script} | {one.names} |")
    return "\n".join(["# Every mistake against the fuzzer", "", summary(rows), "", *lines, ""])


def choose(wanted: list[str]) -> list[Mistake]:
    settled = [one for one in MISTAKES.values() if not one.is_open]
    return [one for one in settled if not wanted or {one.name, one.assignment} & set(wanted)]


def main(arguments: tuple[str, ...] = ()) -> None:
    documents = [word for word in arguments if word.endswith(".md")]
    wanted = [word for word in arguments if not word.startswith("-") and word not in documents]
    way = in_process if "--in-process" in arguments else start_piped
    print(f"engines {way.__name__.replace('_', ' ')}\n")
    print(f"{'mistake':34}{'seconds':>8}{'cpu':>8}{'setup':>7}  diagnosis")
    seeds = [int(word.removeprefix("--seed=")) for word in arguments if "--seed=" in word]
    rows = [row(one, way, *seeds or [0]) for one in choose(wanted)]
    print(f"\n{summary(rows)}")
    for name in documents:
        Path(name).write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
