"""Disturbances follow each other in a drawn order, and each is undone before the next one."""

import contextlib
from types import SimpleNamespace

import pytest

from tests.cluster import disturbances, several_hosts
from tests.cluster.disturbances import DISTURBANCES, Disturbance, Storm
from tests.cluster.lab import DATABASE, SCHEDULER, SERVER, WORKERS

HOSTS = (SERVER, SCHEDULER, DATABASE, *WORKERS)


@pytest.fixture
def drawn(monkeypatch):
    """Let a storm go on for so many seconds; return what was done and undone."""

    def draw(seed, seconds):
        now, done = [0.0], []

        def recorded(kind):
            @contextlib.contextmanager
            def do(host, _draw):
                done.append((kind.name, host))
                yield
                done.append("undone")

            do.__name__ = kind.name
            return Disturbance(do, kind.lasts, kind.least, kind.of)

        monkeypatch.setattr(disturbances, "DISTURBANCES", [*map(recorded, DISTURBANCES)])
        clock = SimpleNamespace(monotonic=lambda: now[0])
        monkeypatch.setattr(disturbances, "time", clock)
        storm = Storm({host: host for host in HOSTS}, seed, 5.0)
        with contextlib.closing(storm):
            for moment in range(seconds):
                now[0] = float(moment)
                storm.go_on()
        return done

    return draw


def test_each_is_undone_before_the_next_one_and_at_the_end(drawn):
    done = drawn(18, 400)
    assert len(done) > 4 * len(DISTURBANCES)
    assert done[1::2] == ["undone"] * (len(done) // 2)


def test_all_kinds_come_in_turn_and_the_seed_decides_their_order(drawn):
    done = drawn(18, 400)[::2]
    names = {kind.name for kind in DISTURBANCES}
    assert {name for name, _ in done[: len(names)]} == names
    for kind in DISTURBANCES:
        assert {host for name, host in done if name == kind.name} <= set(kind.of or HOSTS)
    assert drawn(18, 400)[::2] == done
    assert drawn(19, 400)[::2] != done


@pytest.mark.parametrize(
    ("name", "said", "status", "is_expected"),
    [
        (WORKERS[0], "", -9, True),
        (WORKERS[0], "no sandbox", 3, False),
        (SCHEDULER, "", 3, True),
        (SERVER, "cannot write it: No space left on device\n", 2, True),
        (SERVER, "cannot read it\n", 2, False),
        (SERVER, "", 1, False),
    ],
)
def test_how_a_program_may_end(name, said, status, is_expected):
    assert (status in several_hosts._expected(name, said)) is is_expected
