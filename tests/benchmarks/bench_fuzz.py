"""Every mistake of the bank against the fuzzer: how soon, with how short a script, what diagnosis.

Each is a process of its own behind a pipe, in the strongest sandbox; ``--in-process`` has no
process and no sandbox. Seconds are those of the wall and, beside them, of the processor: this
process, and the engines where there are some. Names choose mistakes, and so do assignments;
``--seed=N`` draws others than 0 does.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median

import oracle
from harness.fuzzing.engines import Piped, Program, launchers
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import Budget
from harness.options import UNTRUSTED, Options
from oracle.mistakes import MISTAKES, Mistake, mistaken_engine
from tests.harness.in_process import InProcess

SECONDS, SETUP = 10, 8  # what is asked for
PATIENCE = 60  # seconds: a busy machine takes longer, and is to show how much
LIMITS = UNTRUSTED._replace(timeout=5.0)


@contextmanager
def piped(mistake: Mistake, folder: Path) -> Iterator[Program]:
    shown = (str(Path(oracle.__file__).parent), str(folder))
    words = [sys.executable, "-m", "oracle", "gtp", "--mistake", mistake.name]
    with (
        launchers(Options(sandbox="auto", show=shown, limits=LIMITS), folder) as launcher,
        closing(Piped(words, launcher, LIMITS, folder)) as program,
    ):
        yield program


@contextmanager
def in_process(mistake: Mistake, folder: Path) -> Iterator[Program]:
    yield InProcess(lambda: mistaken_engine(mistake, playouts=0), folder)


def processor() -> float:
    return sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))


def row(mistake: Mistake, way: Callable[..., object], seed: int) -> tuple[float, float, int, bool]:
    """Print what becomes of a mistake: seconds, processor seconds, setup commands, first named."""
    began, cpu = time.monotonic(), processor()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with way(mistake, folder) as program:  # type: ignore[attr-defined]
            budget = Budget(PATIENCE, 0)
            fuzzer = Fuzzer(program, mistake.assignment, budget, seed, folder)
            found = next(fuzzer.findings(), None)
    seconds, cpu = time.monotonic() - began, processor() - cpu
    setup = found.setup if found else 999
    names = [one.name for one in found.mistakes] if found else ["NOTHING FOUND"]
    print(
        f"{mistake.name:34}{seconds:8.1f}{cpu:8.1f}{setup:7}  {', '.join(names) or '-'}",
        flush=True,
    )
    return seconds, cpu, setup, names[:1] == [mistake.name]


def chosen(wanted: list[str]) -> list[Mistake]:
    settled = [one for one in MISTAKES.values() if not one.is_open]
    return [one for one in settled if not wanted or {one.name, one.assignment} & set(wanted)]


def main(arguments: tuple[str, ...] = ()) -> None:
    wanted = [word for word in arguments if not word.startswith("-")]
    way = in_process if "--in-process" in arguments else piped
    print(f"engines {way.__name__.replace('_', ' ')}\n")
    print(f"{'mistake':34}{'seconds':>8}{'cpu':>8}{'setup':>7}  diagnosis")
    seeds = [int(word.removeprefix("--seed=")) for word in arguments if "--seed=" in word]
    rows = [row(one, way, *seeds or [0]) for one in chosen(wanted)]
    seconds, cpu, setup, right = (list(column) for column in zip(*rows, strict=True))
    print(
        f"\n{len(rows)} mistakes: {sum(s < SECONDS for s in seconds)} in under {SECONDS} s"
        f" ({sum(c < SECONDS for c in cpu)} by the processor's seconds),"
        f" median {median(seconds):.1f} s;\n"
        f"{sum(n <= SETUP for n in setup)} with at most {SETUP} setup commands,"
        f" median {median(setup):g};\n"
        f"{sum(right)} named right first ({100 * sum(right) / len(rows):.1f} %)"
    )


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
