"""A cluster on this machine: how much faster more workers are, and what an attempt costs.

**Scaling.** A class whose engines wait rather than compute is graded by 1, 2, 4 and 8 workers. The
efficiency is the time of one worker, divided by the workers and by their time.

**Cost.** Engines that answer at once are graded by one worker, few and many of them: the
difference is the cost of attempts without the fixed cost of every grading. Seconds of the
processor are those that the kernel counts for each process. The time of the same units in the same
sandbox without a cluster is subtracted. All connections have TLS. What a sandbox costs scatters by
several milliseconds from minute to minute, so all sizes are measured in several turns: the table
has the medians.

**Many workers.** What a unit costs scheduler, connector and dispatcher where workers do nothing.

:mod:`tests.benchmarks.bench_cluster_evening` reads the figures that ``--into`` writes.

    python -m tests.benchmarks.bench_cluster
    python -m tests.benchmarks.bench_cluster --few        a quick look
    python -m tests.benchmarks.bench_cluster --into tests/benchmarks/cluster.json
    python -m tests.benchmarks.bench_cluster --only many --into tests/benchmarks/cluster.json
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.cluster import tls
from harness.cluster.tls import TlsCredentials
from tests.benchmarks.cluster_many import Carrying, carrying
from tests.benchmarks.processor import of_tree
from tests.cluster.clusters import Cluster, cluster
from tests.harness import small_class
from tests.harness.small_class import Student

ROOT = Path(__file__).parents[2]
WORKERS = (1, 2, 4, 8)
MANY = {1: 200, 8: 400, 64: 800, 200: 1200}  # workers: units that are carried to them
CASES = 8  # case files of each submission
LITTLE = 2  # or so many: a unit costs something besides its attempts
SIZES = (1, LITTLE, CASES)  # the costs are measured of each, and must be at most ``MOST``
TURNS = 3
LEAST = 0.9  # efficiency
_PRIVATE = "private/three.gtp"
MOST = 10.0  # milliseconds of the processor for an attempt
PARTS = ("server", "ledger", "connector", "scheduler", "worker", "sandbox")


class Size(NamedTuple):
    """How much is graded."""

    waiting: int  # submissions whose engines wait
    wait: float  # seconds of an attempt
    few: int  # submissions whose engines do not
    many: int


WHOLE, QUICK = Size(64, 1.0, 20, 120), Size(8, 0.5, 5, 45)


class Cost(NamedTuple):
    """Seconds of the processor of a grading."""

    attempts: int
    wall: float
    parts: dict[str, float]


# --- a class -----------------------------------------------------------------------------------


def make(room: Path, submissions: int, wait: float, cases: int = CASES) -> Path:
    """Write a class of so many, all different, into a folder."""
    body = f"time.sleep({wait})" if wait else "pass"
    students = tuple(
        Student(f"S{number:05}", f"{body}  # {number}\n    return 2 * n", 7)
        for number in range(submissions)
    )
    small_class.make(room, students)
    own = room / "counting"
    for name in small_class.CASES:
        (own / name).unlink()
    for number in range(1, cases):
        (own / f"case{number}.gtp").write_text(f"1 twice {number}\n#? [{2 * number}]\n")
    if cases > 1:
        (own / _PRIVATE).write_text("1 twice 7\n#? [14]\n")
    else:  # the only one is public
        (own / _PRIVATE).unlink()
        (own / "case1.gtp").write_text("1 twice 1\n#? [2]\n")
    return room


def grade(room: Path, *options: str) -> dict[str, float]:
    """Grade it; return what it took (:mod:`tests.benchmarks.cluster_grading`)."""
    told = room / "took.json"
    words = [str(room / "submissions"), "--assignment", str(room / "counting"), "--no-images"]
    words += ["--output", str(room / "graded"), "--no-color", *options]
    words += [] if (room / "counting" / _PRIVATE).exists() else ["--public-only"]
    command = [sys.executable, "-m", "tests.benchmarks.cluster_grading", str(told), *words]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode in {0, 4}, done.stdout
    return json.loads(told.read_text())


def on_cluster(room: Path, found: Cluster) -> dict[str, float]:
    """Grade a class on a cluster."""
    return grade(room, "--scheduler", found.address, "--tls", found.tls)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Give a folder that engines of other users may enter."""
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def papers(room: Path) -> str:
    """Return a folder of certificates."""
    tls.make(room / "papers", 60)
    return str(room / "papers")


# --- scaling -----------------------------------------------------------------------------------


def measure_scaling(size: Size) -> dict[int, float]:
    """Return the seconds of the clock of a class that waits, by the number of workers."""
    return {workers: measure_waiting(size, workers) for workers in WORKERS}


def measure_waiting(size: Size, workers: int) -> float:
    """Return the seconds that a class which waits takes so many workers."""
    with folder() as room:
        make(room, size.waiting, size.wait)
        names = [f"m{number}" for number in range(workers)]
        with cluster(room / "c", *names, tls=papers(room)) as own:
            await_all(own, workers)
            return on_cluster(room, own)["wall"]


def await_all(found: Cluster, workers: int) -> None:
    """Wait until so many workers have come to the scheduler."""
    from distributed import Client

    security = TlsCredentials(Path(found.tls), tls.SERVER).security()
    with Client(found.address, security=security, timeout=60) as client:
        client.wait_for_workers(workers, timeout=120)


def print_scaling(size: Size, walls: dict[int, float]) -> bool:
    """Print the table; return whether all are efficient."""
    attempts = size.waiting * CASES
    print(f"{attempts} attempts of {size.waiting} submissions, each waits {size.wait:g} s")
    print(f"{'workers':>8}{'seconds':>10}{'efficiency':>12}")
    efficient = {one: walls[1] / (one * wall) for one, wall in walls.items()}
    for workers, wall in walls.items():
        missed = "" if efficient[workers] >= LEAST else "  NOT"
        print(f"{workers:8}{wall:10.1f}{efficient[workers]:12.1%}{missed}")
    return min(efficient.values()) >= LEAST


# --- cost --------------------------------------------------------------------------------------


class _Watched:
    """The processes of a cluster with one worker."""

    def __init__(self, found: Cluster) -> None:
        self._scheduler, self._worker = (one.pid for one in found.parts)

    def used(self) -> dict[str, float]:
        """Return the seconds of the processor until now."""
        own = of_tree(self._worker, alone=True)
        return {
            "scheduler": of_tree(self._scheduler),
            "worker": own,
            "sandbox": of_tree(self._worker) - own,
        }


def measure_carrying(submissions: int, cases: int) -> Cost:
    """Return what a class costs on a cluster with one worker."""
    with folder() as room:
        make(room, submissions, 0.0, cases)
        with cluster(room / "c", "m0", tls=papers(room)) as own:
            watched = _Watched(own)
            before = watched.used()
            took = on_cluster(room, own)
            after = watched.used()
    parts = {name: after[name] - before[name] for name in before}
    parts["ledger"] = took["ledger"]
    parts["server"] = took["running"] - took["ledger"]
    parts["connector"] = took["children"]
    return Cost(submissions * cases, took["wall"], parts)


def alone(submissions: int, cases: int) -> Cost:
    """Return what the units of a class cost on this machine without a cluster."""
    with folder() as room:
        took = grade(make(room, submissions, 0.0, cases), "--jobs", "1")
    return Cost(submissions * cases, took["wall"], {"sandbox": took["children"]})


def per_attempt(few: Cost, many: Cost) -> dict[str, float]:
    """Return milliseconds for an attempt: what more attempts have cost more."""
    more = many.attempts - few.attempts
    found = {name: 1000 * (many.parts[name] - few.parts[name]) / more for name in few.parts}
    return found | {"wall": 1000 * (many.wall - few.wall) / more}


def cost(size: Size, cases: int) -> dict[str, float]:
    """Return milliseconds of the processor for an attempt; ``alone``: without a cluster.

    ``wall``: those of the clock with one worker; ``start``: those that a grading takes besides.
    """
    few = measure_carrying(size.few, cases)
    found = per_attempt(few, measure_carrying(size.many, cases))
    found["start"] = 1000 * few.wall - found["wall"] * few.attempts
    here = per_attempt(alone(size.few, cases), alone(size.many, cases))
    found["alone"] = here["sandbox"]
    return found | {"total": total(found)}


def total(found: dict[str, float]) -> float:
    """Return the milliseconds that an attempt costs beside its sandbox.

    A sandbox that seems to be cheaper on a cluster is luck, which is not counted.
    """
    carried = sum(found[name] for name in PARTS if name != "sandbox")
    return carried + max(0.0, found["sandbox"] - found["alone"])


def measure_costs(size: Size, turns: int) -> dict[int, list[dict[str, float]]]:
    """Return the costs of each turn, by the case files of a submission."""
    found: dict[int, list[dict[str, float]]] = {cases: [] for cases in SIZES}
    for _ in range(turns):
        for cases, own in found.items():
            own.append(cost(size, cases))
    return found


def middle(turns: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each cost."""
    return {name: statistics.median(one[name] for one in turns) for name in turns[0]}


def span(turns: list[dict[str, float]]) -> str:
    """Return the least and the most that an attempt costs in a turn."""
    sums = [one["total"] for one in turns]
    return f"{min(sums):.2f} … {max(sums):.2f}"


_LINES = {
    **{name: name for name in PARTS},
    "sandbox": "unit of work, engines too",
    "alone": "the same without a cluster",
    "total": "in all, beside the sandbox",
}


def print_cost(found: dict[int, list[dict[str, float]]]) -> bool:
    """Print the table; return whether an attempt costs little enough."""
    print("milliseconds of the processor for an attempt, by the case files of a submission")
    print(f"{'':28}" + "".join(f"{cases:>14}" for cases in found))
    medians = {cases: middle(turns) for cases, turns in found.items()}
    for name, told in _LINES.items():
        print(f"{told:28}" + "".join(f"{one[name]:14.2f}" for one in medians.values()))
    print(f"{'  from … to':28}" + "".join(f"{span(turns):>14}" for turns in found.values()))
    too_much = [cases for cases, one in medians.items() if one["total"] > MOST]
    if too_much:
        print(f"NOT at most {MOST:g} ms with {' and '.join(map(str, too_much))} case files")
    return not too_much


# --- many workers ------------------------------------------------------------------------------


def measure_many(*, few: bool) -> dict[int, Carrying]:
    """Return what a unit costs those who carry it, by the number of workers."""
    found = {}
    for workers, units in MANY.items():
        with folder() as room:
            share = 4 if few else 1
            found[workers] = carrying(room / "c", papers(room), workers, units // share)
    return found


def print_many(found: dict[int, Carrying]) -> bool:
    """Print the table."""
    print("milliseconds of the processor for a unit; of the idle scheduler, for a second")
    print(f"{'workers':>8}" + "".join(f"{name:>12}" for name in Carrying._fields))
    for workers, one in found.items():
        print(f"{workers:8}" + "".join(f"{value:12.2f}" for value in one))
    return True


# --- all of it ---------------------------------------------------------------------------------


def main(words: list[str] | None = None) -> int:
    """Print the tables; return 1 if something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--few", action="store_true", help="a quick look")
    parser.add_argument("--turns", type=int, default=TURNS, help="of the costs")
    parser.add_argument("--only", choices=("scaling", "cost", "many"), default="")
    parser.add_argument("--into", type=Path, help="a file of figures to update with the new ones")
    given = parser.parse_args(words or [])
    size = QUICK if given.few else WHOLE
    kept = given.into and given.into.exists()
    figures = json.loads(given.into.read_text()) if kept else {}
    holds = True
    if given.only in {"", "scaling"}:
        walls = measure_scaling(size)
        holds &= print_scaling(size, walls)
        own = {"waiting": size.waiting, "wait": size.wait, "cases": CASES}
        figures["scaling"] = {"walls": walls, **own}
    if given.only in {"", "cost"}:
        costs = measure_costs(size, given.turns)
        holds &= print_cost(costs)
        figures["costs"] = {cases: middle(turns) for cases, turns in costs.items()}
    if given.only in {"", "many"}:
        many = measure_many(few=given.few)
        holds &= print_many(many)
        figures["many"] = {workers: one._asdict() for workers, one in many.items()}
    if given.into:
        given.into.write_text(json.dumps(figures, indent=1) + "\n")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
