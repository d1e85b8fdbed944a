"""The model of a cluster: what it says where the answer is known without one."""

import json
from pathlib import Path

import pytest

from tests.benchmarks import bench_cluster, bench_cluster_evening, cluster_model
from tests.benchmarks.cluster_model import Costs, Work, simulate

FREE = Costs(0, 0, 0, 0, 0, 0, 0, 0, 0)
PLAIN = Work([0.0] * 12, 4, lambda _: 1.0)  # 48 s of engines


@pytest.fixture(autouse=True)
def no_second_opinions(monkeypatch):
    monkeypatch.setattr("harness.cluster.records.SECONDED", 1 << 33)


@pytest.mark.parametrize(("workers", "end"), [(1, 48), (2, 24), (4, 12), (12, 4), (100, 4)])
def test_workers_that_cost_nothing_share_the_time(workers, end):
    course = simulate(workers, FREE, PLAIN)
    assert (course.end, course.ran) == (end, 48)
    assert len(course.waits) == 12 and max(course.waits) == end


@pytest.mark.parametrize("name", ["sending", "writing", "connector", "scheduler"])
def test_who_does_one_thing_at_a_time_holds_all_up(name):
    course = simulate(1000, FREE._replace(**{name: 10.0}), PLAIN)
    assert 12 * 10 <= course.end <= 12 * 10 + 4 + 10
    assert max(course.busy.values()) == 120
    station = {"sending": "grading process", "writing": "grading process"}.get(name, name)
    faster = simulate(1000, FREE._replace(**{name: 10.0}), PLAIN, {station: 10.0})
    assert faster.busy[station] == pytest.approx(12)


def test_attempts_are_done_again_elsewhere_as_the_rules_say(monkeypatch):
    monkeypatch.setattr("harness.cluster.records.SECONDED", 1)
    assert simulate(3, FREE, PLAIN).ran == 2 * 48
    assert simulate(1, FREE, PLAIN).ran == 48  # there is no other machine


def test_costs_are_taken_apart_into_units_and_attempts(tmp_path: Path):
    """Of figures that were made of known costs, in milliseconds for an attempt."""
    each = {"server": (3, 1), "ledger": (1, 2), "connector": (9, 0.5), "wall": (80, 40)}
    costs = {
        cases: {name: unit / cases + attempt for name, (unit, attempt) in each.items()}
        | {"start": 1500}
        for cases in (2, 8)
    }
    many = {
        1: {"server": 0.5, "connector": 4, "scheduler": 4, "idle": 0},
        11: {"server": 0.5, "connector": 2, "scheduler": 6, "idle": 500},
    }
    path = tmp_path / "figures.json"
    path.write_text(json.dumps({"costs": costs, "many": many}))
    one, six = (cluster_model.load_costs(path, workers) for workers in (1, 6))
    assert one == pytest.approx((0.0005, 0.0035, 0.003, 0.009, 0.0005, 0.004, 0.08, 0.04, 1.5))
    assert (six.connector, six.scheduler) == pytest.approx((0.008, 0.005 / 0.75))


def test_the_page_has_the_figures_that_were_measured():
    figures = bench_cluster_evening.FIGURES
    told = json.loads(figures.read_text())
    shown = figures.with_suffix(".md").read_text().splitlines()
    parts = [*bench_cluster_evening.scaling(told), *bench_cluster_evening.cost(told)]
    assert [line for line in parts if line not in shown] == []


def test_what_was_measured_keeps_to_its_bars():
    told = json.loads(bench_cluster_evening.FIGURES.read_text())
    walls = {int(workers): wall for workers, wall in told["scaling"]["walls"].items()}
    assert walls.keys() == set(bench_cluster.WORKERS)
    assert min(walls[1] / (one * wall) for one, wall in walls.items()) >= bench_cluster.LEAST
    costs = [told["costs"][str(cases)] for cases in bench_cluster.SIZES]
    assert max(one["total"] for one in costs) <= bench_cluster.MOST
