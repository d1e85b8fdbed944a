"""A deadline's evening on clusters that are larger than this machine, by a model of one.

The model (:mod:`tests.benchmarks.cluster_model`) decides by the product's own rules, and takes the
costs that :mod:`tests.benchmarks.bench_cluster` has measured. It is checked against the measured
gradings first. Needs the extra ``bench``.

    python -m tests.benchmarks.bench_cluster_evening
    python -m tests.benchmarks.bench_cluster_evening --into tests/benchmarks

The second one writes ``cluster.md`` and ``cluster.svg``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from harness.core.text import number_of

if TYPE_CHECKING:
    from tests.benchmarks.cluster_model import Course

FIGURES = Path(__file__).with_name("cluster.json")
COUNT = 100_000
HOURS, DOUBLING = 6, 1.0
CASES = 8
ENGINE, SPREAD = 1.0, 0.5  # seconds of an attempt: mean, and sigma of their logarithms
BYTES, BANDWIDTH = 100_000, 125e6  # of an archive with its case files; in a second
WORKERS = (10, 20, 50, 100, 150, 200, 300, 500, 1000)
LARGE = 1000
FASTER = 10.0  # times
NAMED = 4  # bottlenecks
MOST_ERROR = 0.1
REMEDIES = {
    "workers": "more workers",
    "grading process": "a service, each of whose `--workers` is a process that grades; its ledgers"
    " may be in PostgreSQL",
    "connector": "a second service or grading: each has its own connector, which also serves the"
    " bytes",
    "scheduler": "a second scheduler with workers of its own",
    "network": "workers keep archives (`--cache`); a network of 10 Gbit/s",
}


class Evening(NamedTuple):
    """Waits on an evening, in seconds."""

    workers: int
    median: float
    most: float  # of 95 of 100
    longest: float
    course: Course


class Bottleneck(NamedTuple):
    """What holds all others up when everything comes at once."""

    name: str
    share: float  # of the time in which it is busy
    rate: float  # units in a second


def engine(random: Random) -> float:
    """Return how long an engine takes for a case file."""
    return random.lognormvariate(math.log(ENGINE) - SPREAD**2 / 2, SPREAD)


# --- what comes of it --------------------------------------------------------------------------


def compare_model(path: Path) -> Iterator[tuple[int, float, float]]:
    """Yield the workers, the measured and the predicted seconds of each measured grading."""
    from tests.benchmarks import cluster_model

    told = json.loads(path.read_text())["scaling"]
    for workers, wall in told["walls"].items():
        work = cluster_model.Work([0.0] * told["waiting"], told["cases"], lambda _: told["wait"])
        costs = cluster_model.load_costs(path, int(workers))
        yield int(workers), wall, cluster_model.simulate(int(workers), costs, work).end


def evenings(path: Path, count: int) -> Iterator[Evening]:
    """Yield an evening for each number of workers."""
    from tests.benchmarks import cluster_model

    come = tuple(cluster_model.evening(count, HOURS * 3600, DOUBLING * 3600))
    for workers in WORKERS:
        work = cluster_model.Work(come, CASES, engine, BYTES / BANDWIDTH)
        course = cluster_model.simulate(workers, cluster_model.load_costs(path, workers), work)
        waits = sorted(course.waits)
        middle, most = (waits[int(share * len(waits))] for share in (0.5, 0.95))
        yield Evening(workers, middle, most, waits[-1], course)


def bottlenecks(path: Path, count: int) -> Iterator[Bottleneck]:
    """Yield what is busiest when all comes at once, and again when that is ten times as fast."""
    from tests.benchmarks import cluster_model

    speeds: dict[str, float] = {}
    costs = cluster_model.load_costs(path, LARGE)
    work = cluster_model.Work([0.0] * count, CASES, engine, BYTES / BANDWIDTH)
    for _ in range(NAMED):
        course = cluster_model.simulate(LARGE, costs, work, speeds)
        shares = {name: busy / course.end for name, busy in course.busy.items()}
        shares[cluster_model.WORKERS] = course.ran / (LARGE * course.end)
        name = max(shares, key=shares.__getitem__)
        yield Bottleneck(name, shares[name], count / course.end)
        speeds[name] = FASTER


# --- as text -----------------------------------------------------------------------------------


def table(*head: str) -> list[str]:
    """Return the first two lines of a table."""
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def format_time(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def scaling(told: dict) -> Iterator[str]:
    """Yield how much faster more workers were."""
    own = told["scaling"]
    attempts = own["waiting"] * own["cases"]
    yield (
        f"A class of {own['waiting']} submissions with {own['cases']} case files each, whose"
        f" engines wait {own['wait']:g} s for each of the {attempts} attempts, was graded on one"
        " machine with two cores."
    )
    yield ""
    yield from table("workers", "seconds", "efficiency")
    first = own["walls"]["1"]
    for workers, wall in own["walls"].items():
        yield row(workers, f"{wall:.1f}", f"{first / (int(workers) * wall):.1%}")


def cost(told: dict) -> Iterator[str]:
    """Yield where the processor's time of an attempt goes."""
    from tests.benchmarks import bench_cluster

    costs = told["costs"]
    names = {
        "server": "grading process, without the ledger", "ledger": "ledger (SQLite)",
        "connector": "connector: Dask's client, bytes", "scheduler": "scheduler",
        "worker": "worker: Dask's part, fetching", "sandbox": "unit of work, engines too",
        "alone": "the same unit without a cluster",
    }  # fmt: skip
    heads = (number_of(int(one), "case file") for one in costs)
    yield from table("ms of CPU time for an attempt", *heads)
    for name, text in names.items():
        yield row(text, *(f"{one[name]:.2f}" for one in costs.values()))
    sums = [f"**{one['total']:.2f}**" for one in costs.values()]
    yield row("**in all, beside the sandbox**", *sums)
    if above := [int(cases) for cases, one in costs.items() if one["total"] > bench_cluster.MOST]:
        named = " and ".join(number_of(one, "case file") for one in above)
        yield ""
        yield f"With {named} that is more than the {bench_cluster.MOST:g} ms that we want."


def check(found: list[tuple[int, float, float]]) -> Iterator[str]:
    """Yield how far the model is from what was measured."""
    yield from table("workers", "measured", "predicted", "error")
    for workers, wall, predicted in found:
        error = f"{predicted / wall - 1:+.1%}"
        yield row(workers, f"{wall:.1f} s", f"{predicted:.1f} s", error)


def waits(found: list[Evening]) -> Iterator[str]:
    """Yield how long students wait."""
    yield from table("workers", "median", "95 of 100 within", "longest", "workers busy")
    for one in found:
        share = one.course.ran / (one.workers * one.course.end)
        times = map(format_time, (one.median, one.most, one.longest))
        yield row(one.workers, *times, f"{share:.0%}")


def limits(found: list[Bottleneck]) -> Iterator[str]:
    """Yield what holds all others up."""
    yield from table("", "bottleneck", "busy", "submissions in a second", "what removes it")
    for number, one in enumerate(found, 1):
        rate = f"{one.rate:.0f}"
        yield row(number, one.name, f"{one.share:.0%}", rate, REMEDIES[one.name])


def page(path: Path, found: Found) -> str:
    """Return the document."""
    told = json.loads(path.read_text())
    hour = 1 - 1 / 2 ** (1 / DOUBLING)
    parts = [
        "# How a cluster scales",
        "Made by `python -m tests.benchmarks.bench_cluster --into tests/benchmarks/cluster.json`,"
        " which measures, and `python -m tests.benchmarks.bench_cluster_evening --into"
        " tests/benchmarks`, which predicts. How to run a cluster is in"
        " [From a laptop to a cluster](../../docs/cluster.md).",
        "## Measured",
        *["\n".join(scaling(told)), "\n".join(cost(told))],
        "An attempt is one case file for one submission. The costs are those that many attempts"
        " add, the medians of several turns; the submissions were graded with TLS by one worker.",
        "## Predicted",
        "A discrete-event model (SimPy) decides by `harness.cluster.records`, as the product does,"
        " and has the costs above. The gradings above, as it predicts them from the costs alone:",
        "\n".join(check(found.checked)),
        f"On a deadline's evening {found.count:,} submissions come within {HOURS} hours, twice as"
        f" many in each hour as in the one before, so that {hour:.0%} come in the last. Each has"
        f" {CASES} case files, for which an engine takes {ENGINE:g} s on average. So long does a"
        " student wait for the result:",
        "\n".join(waits(found.evenings)),
        "![Waits against the number of workers](cluster.svg)",
        "What is one thing at a time in the model is so in the product: a grading has one process,"
        " with one connector, at one scheduler. `network` is the time of archives at"
        f" {BYTES // 1000} kB for each submission.",
        f"What comes first when all {found.count:,} are there at once, with {LARGE:,} workers."
        f" Each line has what was busiest above it {FASTER:g} times as fast:",
        "\n".join(limits(found.bottlenecks)),
        "What the model leaves out: workers that die, private networks that are slower than"
        f" {BANDWIDTH * 8 / 1e9:g} Gbit/s, and builds. It takes costs beyond the"
        f" {max(map(int, told['many']))} workers that were measured to go on in a straight line.",
    ]
    return "\n\n".join(parts) + "\n"


def draw(path: Path, found: list[Evening]) -> None:
    """Write the plot of waits, and of how busy everything is, against the number of workers."""
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "cluster", "font.size": 10})
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    workers = [one.workers for one in found]
    for name, label in (("longest", "longest"), ("most", "95 of 100"), ("median", "median")):
        left.plot(workers, [getattr(one, name) for one in found], marker="o", label=label)
    left.set(xscale="log", yscale="log", xlabel="workers", ylabel="seconds until the result")
    for name in found[0].course.busy:
        shares = [one.course.busy[name] / one.course.end for one in found]
        right.plot(workers, shares, marker="o", label=name)
    shares = [one.course.ran / (one.workers * one.course.end) for one in found]
    right.plot(workers, shares, marker="o", label="workers")
    right.set(xscale="log", xlabel="workers", ylabel="busy, share of the evening", ylim=(0, 1.05))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None})


# --- all of it ---------------------------------------------------------------------------------


class Found(NamedTuple):
    """All that the model says."""

    count: int
    checked: list[tuple[int, float, float]]
    evenings: list[Evening]
    bottlenecks: list[Bottleneck]


def main(words: list[str] | None = None) -> int:
    """Print the tables; return 1 if the model does not predict what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--count", type=int, default=COUNT, help="submissions of the evening")
    parser.add_argument("--into", type=Path, help="the folder of the page and the plot")
    given = parser.parse_args(words or [])
    if importlib.util.find_spec("simpy") is None:
        print("needs simpy: pip install 'gtp-harness[bench]'")
        return 2
    own = (given.figures, given.count)
    found = Found(
        given.count, [*compare_model(given.figures)], [*evenings(*own)], [*bottlenecks(*own)]
    )
    tables = (check(found.checked), waits(found.evenings), limits(found.bottlenecks))
    print("\n\n".join("\n".join(one) for one in tables))
    if given.into:
        (given.into / "cluster.md").write_text(page(given.figures, found))
        draw(given.into / "cluster.svg", found.evenings)
    errors = [abs(predicted / wall - 1) for _, wall, predicted in found.checked]
    if max(errors) > MOST_ERROR:
        print(f"NOT within {MOST_ERROR:.0%} of what was measured")
    return int(max(errors) > MOST_ERROR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
