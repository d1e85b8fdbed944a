"""Bytes for a token, and what a worker keeps of them."""

import hashlib
import http.client
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.cluster import certificates, roles
from harness.cluster.fetching import Cache, FetchError, Memory, Source
from harness.cluster.records import Lying
from harness.cluster.serving import BytesServer
from harness.cluster.tls import Papers, papers
from harness.errors import UsageError
from tests.cluster.clusters import ROOT


def digest(data):
    return hashlib.sha256(data).hexdigest()


def lying(folder, *contents):
    """Files of these contents, as the porter is told of them."""
    found = []
    for data in contents:
        path = folder / f"file-{len(data)}"
        path.write_bytes(data)
        found.append(Lying(digest(data), str(path)))
    return tuple(found)


@pytest.fixture
def served():
    with closing(BytesServer("127.0.0.1", 0)) as found:
        yield found


def test_a_token_opens_what_its_unit_names_until_it_is_taken_back(served, tmp_path):
    one, two = lying(tmp_path, b"one", b"three")
    token, other = served.tokens.make([one]), served.tokens.make([two])
    source = Source(served.address, token, None)
    source.fetch(one.sha256, tmp_path / "own")
    assert (tmp_path / "own").read_bytes() == b"one"
    with pytest.raises(FetchError, match="403"):
        source.fetch(two.sha256, tmp_path / "others")
    assert not served.tokens.end(token)  # nobody said that it begins
    with pytest.raises(FetchError, match="403"):
        source.fetch(one.sha256, tmp_path / "late")
    Source(served.address, other, None).begin()
    assert served.tokens.end(other)
    with pytest.raises(FetchError, match="403"):
        Source(served.address, other, None).begin()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file-3", "file-5", "own"]


@pytest.mark.parametrize(
    "path", ["/", "/etc/passwd", "/../x", "/TOKEN/../../etc/passwd", "/TOKEN/"]
)
def test_nothing_else_is_answered(served, path, tmp_path):
    token = served.tokens.make(lying(tmp_path, b"one"))
    with closing(http.client.HTTPConnection(*served.address[7:].split(":"), timeout=5)) as asked:
        asked.request("GET", path.replace("TOKEN", token))
        assert asked.getresponse().status == 403


def test_other_bytes_than_were_asked_for_are_none(served, tmp_path):
    (one,) = lying(tmp_path, b"one")
    Path(one.path).write_bytes(b"changed since")
    source = Source(served.address, served.tokens.make([one]), None)
    with pytest.raises(FetchError, match="other bytes"):
        source.fetch(one.sha256, tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_a_cache_keeps_what_was_used_last(served, tmp_path):
    files = lying(tmp_path, *(bytes(size) for size in (10, 20, 30)))
    source = Source(served.address, served.tokens.make(files), None)
    cache = Cache(tmp_path / "cache", 45)
    cache.bring([files[0].sha256], source)
    os.utime(cache.folder / files[0].sha256, (1, 1))
    cache.bring([files[1].sha256], source)
    os.utime(cache.folder / files[1].sha256, (2, 2))
    cache.bring([files[0].sha256], source)  # used again
    cache.bring([files[2].sha256], source)
    assert {path.stat().st_size for path in cache.folder.iterdir()} == {10, 30}


def test_a_file_of_the_cache_that_was_changed_is_fetched_again(served, tmp_path):
    (one,) = lying(tmp_path, b"one")
    cache = Cache(tmp_path / "cache", 45)
    (cache.folder / one.sha256).write_bytes(b"on a disk that breaks")
    cache.bring([one.sha256], Source(served.address, served.tokens.make([one]), None))
    assert (cache.folder / one.sha256).read_bytes() == b"one"


def test_case_files_lie_in_memory_and_are_gone_after_their_unit(served, tmp_path):
    (one,) = lying(tmp_path, b"secret")
    with closing(Memory()) as memory:
        memory.bring([one.sha256], Source(served.address, served.tokens.make([one]), None))
        (kept,) = memory.folder.iterdir()
        assert kept.read_bytes() == b"secret"
        assert kept.is_relative_to("/dev/shm")
        memory.clear()
        assert not list(memory.folder.iterdir())
    assert not memory.folder.exists()


@pytest.mark.processes
def test_of_a_worker_that_was_killed_nothing_stays_in_memory():
    script = (
        "from harness.cluster.fetching import Memory; m = Memory(); print(m.folder, flush=True)"
    )
    killed = subprocess.Popen(
        [sys.executable, "-u", "-c", f"{script}; input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    folder = Path(killed.stdout.readline().strip())
    with closing(Memory()):
        assert folder.is_dir()  # it lives
    killed.kill()
    killed.communicate()
    assert folder.is_dir()
    with closing(Memory()):
        assert not folder.parent.exists()


def test_with_tls_both_show_what_they_are(tmp_path):
    certificates.make(tmp_path / "own", 1)
    certificates.make(tmp_path / "foreign", 1)
    (one,) = lying(tmp_path, b"one")
    server = Papers(tmp_path / "own", roles.SERVER)
    with closing(BytesServer("127.0.0.1", 0, server.listening())) as served:
        token = served.tokens.make([one])

        def fetch(whose, role):
            own = Papers(tmp_path / whose, role)
            Source(served.address, token, own.asking()).fetch(one.sha256, tmp_path / "fetched")

        fetch("own", roles.WORKER)
        for whose, role in (("own", roles.SCHEDULER), ("foreign", roles.WORKER)):
            with pytest.raises(FetchError):
                fetch(whose, role)
        with pytest.raises(FetchError, match="with TLS, or not"):
            Source(served.address, token, None)
    another = Papers(tmp_path / "own", roles.WORKER)
    with closing(BytesServer("127.0.0.1", 0, another.listening())) as served:
        source = Source(served.address, "x" * 32, another.asking())
        with pytest.raises(FetchError, match="no certificate of a server"):
            source.begin()


@pytest.mark.parametrize(
    ("address", "folder", "said"),
    [
        ("tcp://10.0.0.1:8786", "", "no way but TLS"),
        ("tcp://example.org:8786", "", "no way but TLS"),
        ("tls://10.0.0.1:8786", "", "needs --tls"),
        ("tls://10.0.0.1:8786", "/nowhere", "there is no /nowhere/ca.pem"),
        ("http://10.0.0.1:8786", "", "cannot read the address"),
        ("tls://10.0.0.1", "", "cannot read the address"),
        ("tcp://127.0.0.1:port", "", "cannot read the address"),
    ],
)
def test_off_this_machine_there_is_no_way_but_tls(address, folder, said):
    with pytest.raises(UsageError, match=said):
        papers(address, folder, roles.WORKER)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_on_this_machine_there_is(host):
    assert papers(f"tcp://{host}:8786", "", roles.WORKER) is None
