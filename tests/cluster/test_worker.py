"""The command that keeps a worker of a cluster running."""

import pytest

from harness.cli import worker

DIED, NOT_AS_IT_MUST_BE, NO_SANDBOX = -9, 2, 3


class Ended(Exception):
    """The test has seen enough."""


def end_worker(monkeypatch, *ends):
    """Let a worker end so, one time after the other; return what is left, and how it ended."""
    left = list(ends)

    def be():
        if not left:
            raise Ended
        return left.pop(0)

    monkeypatch.setattr(worker.time, "sleep", lambda _: None)
    try:
        return left, worker._stay(be)
    except Ended:
        return left, None


@pytest.mark.parametrize("status", [NOT_AS_IT_MUST_BE, NO_SANDBOX])
def test_a_worker_that_cannot_begin_says_so_and_ends(monkeypatch, status):
    assert end_worker(monkeypatch, status, 0) == ([0], status)


@pytest.mark.parametrize("first", [0, DIED])
def test_one_that_has_begun_comes_back_whatever_is_missing_meanwhile(monkeypatch, first):
    """Its disk was full, so that it had no cache, and no sandbox held."""
    assert end_worker(monkeypatch, first, NOT_AS_IT_MUST_BE, NO_SANDBOX, 0) == ([], None)
