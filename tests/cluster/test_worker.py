"""The command that keeps a worker of a cluster running."""

import os

import pytest

from harness.cli import cluster
from harness.cluster import worker_files
from harness.core.errors import UsageError

DIED, NOT_AS_IT_MUST_BE, NO_SANDBOX = -9, 2, 3


class Ended(Exception):
    """The test has seen enough."""


def end_worker(monkeypatch, *ends, pauses=None):
    """Let a worker end so, one time after the other; return what is left, and how it ended.

    ``pauses``: the seconds between them are added.
    """
    left = list(ends)

    def be():
        if not left:
            raise Ended
        return left.pop(0)

    taken = [] if pauses is None else pauses
    monkeypatch.setattr(cluster.time, "sleep", taken.append)
    try:
        return left, cluster._stay(be)
    except Ended:
        return left, None


@pytest.mark.parametrize("status", [NOT_AS_IT_MUST_BE, NO_SANDBOX])
def test_a_worker_that_cannot_begin_says_so_and_ends(monkeypatch, status):
    assert end_worker(monkeypatch, status, 0) == ([0], status)


@pytest.mark.parametrize("first", [0, DIED])
def test_one_that_has_begun_comes_back_whatever_is_missing_meanwhile(monkeypatch, first):
    """Its disk was full, so that it had no cache, and no sandbox held."""
    assert end_worker(monkeypatch, first, NOT_AS_IT_MUST_BE, NO_SANDBOX, 0) == ([], None)


def test_one_that_cannot_begin_again_waits_longer_each_time_until_it_can(monkeypatch):
    """To load all that it needs, and find out that it cannot begin, takes a second of a core."""
    pauses = []
    failures = [NOT_AS_IT_MUST_BE, NO_SANDBOX] * 3
    end_worker(monkeypatch, 0, *failures, 0, DIED, 0, pauses=pauses)
    assert pauses == [2, 4, 8, 16, 30, 30, 30, 2, 2, 2]


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """What stands for the machine's memory file system."""
    found = tmp_path / "shm"
    found.mkdir()
    monkeypatch.setattr(worker_files, "MEMORY", found)
    return found


def begin(monkeypatch, *words):
    """Return the settings with which a worker would begin."""
    told = []
    monkeypatch.setattr(
        cluster, "run_cluster_process", lambda _, settings: told.append(settings) or 2
    )
    assert cluster.WORKER.main(["tcp://127.0.0.1:8786", *words]) == 2
    return told[0]


def test_jobs_of_one_machine_share_their_locks_though_each_has_its_own_tmpdir(
    memory, tmp_path, monkeypatch
):
    """What is in doubt is run alone: by no other job beside it."""
    found = set()
    for job in ("one", "another"):
        (tmp_path / job).mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / job))
        found.add(begin(monkeypatch, "--machine", "../lab 1").locks)
    (folder,) = found
    assert os.path.dirname(folder) == str(memory)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert begin(monkeypatch, "--machine", "lab 2").locks != folder


@pytest.mark.parametrize("theirs", [os.mkdir, lambda path: os.symlink("/", path)])
def test_locks_of_somebody_else_are_not_waited_for(memory, monkeypatch, theirs):
    theirs(memory / "gtp-harness-4711-lab")
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(UsageError, match="belongs to another user"):
        begin(monkeypatch, "--machine", "lab")
