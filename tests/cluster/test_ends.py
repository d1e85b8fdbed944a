"""How the processes of a cluster end: in a sentence."""

import asyncio
import errno
import resource
import socket
import subprocess

import pytest

from harness.cli import cluster
from harness.cluster import cluster_processes, connector_link
from harness.cluster.records import ConnectorSettings, SchedulerSettings
from harness.core.errors import UsageError
from harness.work import canonical_json
from tests.cluster.clusters import Cluster

BAD_INPUT, FAULT = 2, 3


def start_process(kind, settings):
    """Start a process of a cluster that cannot begin; return how it ended, and what it said."""
    told = canonical_json.dumps(settings).encode() + b"\n"
    done = subprocess.run(
        connector_link.command(kind), input=told, capture_output=True, check=False, timeout=60
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.processes
def test_a_scheduler_on_a_port_that_is_in_use_says_so():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = start_process("scheduler", SchedulerSettings("127.0.0.1", port, ""))
    assert ended == (
        BAD_INPUT,
        f"gtp-harness: cannot be reached at 127.0.0.1:{port}: Address already in use\n",
    )


@pytest.mark.processes
def test_an_address_for_files_that_cannot_be_had_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = ConnectorSettings("tcp://127.0.0.1:1", "", "127.0.0.1", port)
        ended = start_process("connector", settings)
    assert ended == (
        BAD_INPUT,
        f"gtp-harness: workers cannot fetch files from 127.0.0.1, port {port}: Address already in"
        " use. Give an address of this machine with --bytes-at HOST:PORT\n",
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("10.0.0.1:65535", ("10.0.0.1", 65535)),
        ("grader.example.org", ("grader.example.org", 0)),
        (":8080", ("127.0.0.1", 8080)),
        ("::1", ("::1", 0)),
        ("fe80::5", ("fe80::5", 0)),
        ("[fe80::5]:8080", ("fe80::5", 8080)),
    ],
)
def test_an_address_for_files(text, place):
    assert cluster._bytes_at(text, "tcp://127.0.0.1:8786") == place


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("10.0.0.1:65536", "port 65536, expected at most 65535"),
        ("8080", "'8080', expected HOST or HOST:PORT"),
        ("host:²", "'host:²', expected HOST or HOST:PORT"),
        ("host/x:80", "'host/x:80', expected HOST or HOST:PORT"),
    ],
)
def test_an_address_for_files_that_does_not_exist_is_refused(text, wrong):
    with pytest.raises(UsageError, match=f"--bytes-at: found {wrong}"):
        cluster._bytes_at(text, "tcp://127.0.0.1:8786")


class _Unstartable:
    """A server of Dask that cannot start, which Dask tells in its own way."""

    def __init__(self, error):
        self._error = error

    def __await__(self):
        yield from ()
        raise RuntimeError("Scheduler failed to start.") from self._error


ADDRESSES = [
    (OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"), UsageError),
    (socket.gaierror(-2, "Name or service not known"), UsageError),
    (OSError(errno.ECONNRESET, "Connection reset by peer"), ConnectionError),
    (TimeoutError(), ConnectionError),
]


@pytest.mark.parametrize(("error", "kind"), ADDRESSES)
def test_one_that_cannot_start_says_why(error, kind):
    """A wrong address stays wrong. Whatever else it is, a worker tries again."""
    with pytest.raises(kind) as found:
        asyncio.run(cluster_processes._start(_Unstartable(error), "10.0.0.9"))
    assert (error.strerror or "no answer in time") in str(found.value)


@pytest.mark.processes
def test_one_that_waits_for_its_scheduler_leaves_nothing_behind(tmp_path):
    """It is ended before it has joined. If it crashes, its memory is not written either."""
    found = Cluster(tmp_path, address="tcp://127.0.0.1:1")
    waiting = found.work("lab")
    assert b"It is tried again" in waiting.stdout.readline()
    assert list((tmp_path / "lab" / "cache" / "files").iterdir())
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    assert set(resource.prlimit(waiting.pid, resource.RLIMIT_CORE)) == {1 if most else 0}
    found.close()
    assert waiting.returncode == 0
    assert not list((tmp_path / "lab" / "cache" / "files").iterdir())
