"""What the benchmark of a service under load says of what it measured, and what it asks for."""

from __future__ import annotations

import configparser
import tomllib
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.grading.records import Marks
from harness.work import canonical_json
from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks import bench_service, service_memory
from tests.benchmarks.bench_service import BODIES, body, key
from tests.benchmarks.service_waits import LEAST_AHEAD, Wait, fairness, pairs

ROOT = Path(__file__).parents[2]


def make_waits(*seconds: float) -> list[Wait]:
    return [Wait(one, LEAST_AHEAD + number) for number, one in enumerate(seconds)]


def test_waits_that_cannot_be_compared_show_nothing():
    assert not fairness([]).holds
    found = fairness([Wait(9.0, LEAST_AHEAD - 1), Wait(1.0, LEAST_AHEAD - 1)])
    assert not found.holds
    assert f"at most {LEAST_AHEAD - 1} waited before another" in found.said


@pytest.mark.parametrize(("longer", "holds"), [(19.9, True), (20.1, False)])
def test_nobody_waits_twice_as_long_as_who_had_as_many_before(longer, holds):
    found = fairness(make_waits(longer, 10.0))
    assert found.holds is holds
    assert "in 1 pairs" in found.said


def test_who_had_more_before_may_wait_longer():
    few, many = Wait(1.0, LEAST_AHEAD), Wait(9.0, 2 * LEAST_AHEAD)
    assert pairs([few, many, many]) == [(many, many)]


def samples(early: float, late: float) -> list[dict[str, float]]:
    """Return memory whose first quarter is anything."""
    webs = (1.0, 900.0, early, early, early, late, late, late)
    return [{"parent": 20.0, "web": one} for one in webs]


@pytest.mark.parametrize(("late", "holds"), [(109.0, True), (111.0, False)])
def test_memory_is_flat_if_the_last_quarter_has_a_tenth_more_at_most(late, holds):
    reports = service_memory.flat(samples(100.0, late))
    found = {one.said.split(":")[0]: one.holds for one in reports}
    assert found["memory of web"] is holds
    assert found["memory of parent"]
    assert not found["memory of workers"]  # none was found: nothing is shown


def test_memory_that_was_measured_three_times_shows_nothing():
    assert not any(one.holds for one in service_memory.flat(samples(100.0, 100.0)[:3]))


def make_given_marks(*totals: int, withheld: bool = False) -> dict[str, str]:
    """Return marks of students as a grading has them."""
    found = [Marks((), Fraction(0), "", Fraction(one), Fraction(7)) for one in totals]
    found[0] = found[0]._replace(withheld=withheld)
    return {key(number): canonical_json.dumps(one) for number, one in enumerate(found)}


RIGHT = tuple(mark for _, mark in BODIES)


@pytest.mark.parametrize("totals", [RIGHT[:-1], (*RIGHT[:-1], 5), (*RIGHT, 7)])
def test_each_student_has_the_mark_that_is_expected(totals):
    assert bench_service.marks(make_given_marks(*RIGHT), len(RIGHT), 1.0).holds
    assert not bench_service.marks(make_given_marks(*totals), len(RIGHT), 1.0).holds


def test_a_mark_that_is_withheld_is_not_the_expected_one():
    assert not bench_service.marks(make_given_marks(*RIGHT, withheld=True), len(RIGHT), 1.0).holds


def test_an_engine_sleeps_so_that_a_queue_forms():
    assert len({body(number) for number in range(6)}) == len(BODIES)
    assert all(f"time.sleep({bench_service.PAUSE}" in body(number) for number in range(3))


@pytest.mark.parametrize(("status", "expected"), [(None, 0), (0, 0), (1, 1), (2, 1)])
def test_all_benchmarks_fail_with_one_of_them(monkeypatch, capsys, status, expected):
    module = SimpleNamespace(main=lambda: status)
    monkeypatch.setattr(benchmarks.importlib, "import_module", lambda _name: module)
    assert benchmarks.main(["service"]) == expected
    assert ("failed: service" in capsys.readouterr().err) is bool(expected)


def test_what_runs_the_benchmarks_installs_what_they_need():
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [one.strip() for one in tox["testenv:bench"]["extras"].split(",")]
    found = {
        name.partition(">")[0].partition("[")[0]
        for extra in wanted
        for name in extras["optional-dependencies"][extra]
    }
    assert found >= {"locust", "httpx", "fastapi", "uvicorn", "psycopg", "simpy"}
