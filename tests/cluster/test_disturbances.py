"""Disturbances begin one after the other in a drawn order, and each is undone."""

import contextlib
import itertools
from types import SimpleNamespace

import pytest

from tests.cluster import disturbances, several_hosts
from tests.cluster.disturbances import DISTURBANCES, WEAK, Starts, Storm
from tests.cluster.lab import DATABASE, SCHEDULER, SERVER, WORKERS

SINGLE = (SERVER, SCHEDULER, DATABASE)
HOSTS = (*SINGLE, *WORKERS)
SECONDS, STARTS = 20.0, Starts(4.0, 8.0)
KINDS = {kind.name: kind for kind in DISTURBANCES}


@pytest.fixture
def run_storm(monkeypatch):
    """Let a storm go on for so many seconds; return it, and (when, kind, host, it begins)."""

    def draw(seed, seconds, is_seen=lambda _machine: True):
        now, done = [0.0], []

        def record_as(kind):
            @contextlib.contextmanager
            def do(host, _draw):
                done.append((now[0], kind.name, host, True))
                yield
                done.append((now[0], kind.name, host, False))

            do.__name__ = kind.name
            return kind._replace(do=do)

        monkeypatch.setattr(disturbances, "DISTURBANCES", [*map(record_as, DISTURBANCES)])
        clock = SimpleNamespace(monotonic=lambda: now[0])
        monkeypatch.setattr(disturbances, "time", clock)
        storm = Storm({host: host for host in HOSTS}, seed, SECONDS, STARTS, is_seen)
        with contextlib.closing(storm):
            for moment in range(seconds):
                now[0] = float(moment)
                storm.go_on()
        return storm, done

    return draw


def list_begun(done):
    return [(when, kind, host) for when, kind, host, begins in done if begins]


def test_one_begins_every_few_seconds_and_all_kinds_come_in_turn(run_storm):
    storm, done = run_storm(18, 600)
    moments = [when for when, _, _ in list_begun(done)]
    gaps = [after - before for before, after in itertools.pairwise(moments)]
    assert len(moments) > 600 / 8
    assert min(gaps) >= 3
    for place in range(0, len(moments) - len(KINDS), len(KINDS)):
        assert {kind for _, kind, _ in list_begun(done)[place : place + len(KINDS)]} == set(KINDS)
    assert sum(storm.counts.values()) == len(moments)


def test_several_are_under_way_at_once_one_on_each_host_and_all_are_undone(run_storm):
    storm, done = run_storm(18, 600)
    under_way, most, most_single = {}, 0, 0
    for _, kind, host, begins in done:
        if begins:
            assert host not in under_way
            under_way[host] = kind
        else:
            assert under_way.pop(host) == kind
        most = max(most, len(under_way))
        most_single = max(most_single, len(set(SINGLE) & set(under_way)))
    assert not under_way
    assert (most, most_single) == (storm.at_once, 1)
    assert most > 2


def test_a_worker_that_works_is_always_left(run_storm):
    lost = WORKERS[0]  # the scheduler never knows it
    _, done = run_storm(18, 1000, lambda machine: machine != lost)
    under_way = set()
    for _, _, host, begins in done:
        (under_way.add if begins else under_way.remove)(host)
        assert set(WORKERS) - {lost} - under_way
    assert {host for _, _, host in list_begun(done)} == set(HOSTS)


def test_all_rest_after_they_were_disturbed(run_storm):
    _, done = run_storm(18, 1000)
    for hosts in (SINGLE, *([name] for name in WORKERS)):
        own = [(at, kind, begins) for at, kind, host, begins in done if host in hosts]
        for (ended, kind, _), (begins, *_) in zip(own[1::2], own[2::2], strict=False):
            rest = STARTS.worker
            if hosts is SINGLE:
                rest = max(SECONDS * KINDS[kind].lasts, STARTS.grading)
            assert begins - ended >= rest


def test_each_lasts_as_long_as_is_said_on_each_of_its_hosts(run_storm):
    _, done = run_storm(18, 2000)
    began, hosts = {}, {name: set() for name in KINDS}
    for when, name, host, begins in done:
        kind = KINDS[name]
        if begins:
            began[host] = when
            hosts[name].add(host)
        elif when < 1999:  # by itself
            assert when - began[host] == max(SECONDS * kind.lasts, kind.least)
    assert hosts == {name: set(kind.of or HOSTS) for name, kind in KINDS.items()}


def test_the_first_is_what_a_short_trial_must_have_time_for(run_storm):
    assert list_begun(run_storm(18, 10)[1])[0][1] == "weakened"


def test_the_seed_decides_the_order(run_storm):
    (_, one), (_, again), (_, other) = run_storm(18, 200), run_storm(18, 200), run_storm(19, 200)
    assert one == again != other


def test_a_weak_worker_stays_until_it_has_reached_the_scheduler(run_storm):
    asked = []

    def is_seen(machine):
        asked.extend([machine] if machine.startswith(WEAK) else [])
        return not machine.startswith(WEAK) or len(asked) > 30  # seconds

    storm, done = run_storm(18, 400, is_seen)
    (begins, host), *_ = [(at, host) for at, kind, host in list_begun(done) if kind == "weakened"]
    ends = next(at for at, kind, _, is_begin in done if kind == "weakened" and not is_begin)
    assert ends - begins == SECONDS + 30
    assert set(asked[:30]) == {f"{WEAK}-{host}"}
    assert storm.seen and not storm.unseen


def test_one_that_never_reaches_it_is_counted(run_storm):
    storm, _ = run_storm(18, 400, lambda machine: not machine.startswith(WEAK))
    assert storm.unseen and not storm.seen


def test_the_deaths_of_workers_are_counted():
    storm = Storm({host: host for host in HOSTS}, 18, SECONDS)
    for kind, host, deaths in (
        ("killed", WORKERS[0], 1),
        ("weakened", WORKERS[0], 2),
        ("cut_off", SCHEDULER, 3),
    ):
        before = storm.deaths
        storm._count(KINDS[kind], host)
        assert storm.deaths - before == deaths


@pytest.mark.parametrize(
    ("name", "said", "status", "is_expected"),
    [
        (WORKERS[0], "", -9, True),
        (WORKERS[0], "no sandbox", 3, False),
        (WORKERS[0], "cannot start: No space left on device\n", 2, True),
        (WORKERS[0], "cannot start\n", 2, False),
        (SCHEDULER, "", 3, True),
        (SERVER, "cannot write it: No space left on device\n", 2, True),
        (SERVER, "cannot read it\n", 2, False),
        (SERVER, "", 1, False),
    ],
)
def test_how_a_program_may_end(name, said, status, is_expected):
    assert (status in several_hosts._list_expected_ends(name, said)) is is_expected
