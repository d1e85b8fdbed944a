"""Bytes for a token, and what a worker keeps of them."""

import contextlib
import hashlib
import http.client
import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from harness.cluster import tls, worker_files
from harness.cluster.records import ServedFile
from harness.cluster.tls import TlsCredentials, papers
from harness.cluster.transfer import ByteConnection, BytesServer, FetchError, Missing, Source
from harness.cluster.worker_files import Cache, Memory
from harness.core.errors import UsageError
from tests.cluster.clusters import ROOT


def digest(data):
    return hashlib.sha256(data).hexdigest()


def lying(folder, *contents):
    """Files of these contents, as the connector is told of them."""
    found = []
    for data in contents:
        path = folder / f"file-{len(data)}"
        path.write_bytes(data)
        found.append(ServedFile(digest(data), str(path)))
    return tuple(found)


def list_addresses() -> list[str]:
    """The addresses of this machine for itself: not every one has IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return ["127.0.0.1"]
    return ["127.0.0.1", "::1"]


@pytest.fixture
def served_bytes(request):
    with closing(BytesServer(getattr(request, "param", "127.0.0.1"), 0)) as found:
        yield found


@contextlib.contextmanager
def source(served, token):
    """A way to the bytes of a token."""
    with closing(ByteConnection(served.address, None)) as connection:
        yield Source(connection, token)


def fetch(found, one, place):
    found.fetch([Missing(one.sha256, place)])


def bring(cache, found, one):
    """Let a cache have a file, as for a unit."""
    missing = cache.use([one.sha256])
    found.fetch(missing)
    cache.keep(missing)


@pytest.mark.parametrize("served_bytes", list_addresses(), indirect=True)
def test_a_token_opens_what_its_unit_names_until_it_is_taken_back(served_bytes, tmp_path):
    one, two = lying(tmp_path, b"one", b"three")
    token, unused = served_bytes.tokens.make([one]), served_bytes.tokens.make([two])
    with source(served_bytes, token) as found:
        fetch(found, one, tmp_path / "own")
        assert (tmp_path / "own").read_bytes() == b"one"
        for wanted in ([two], [one, two]):
            with pytest.raises(FetchError, match="403") as told:
                found.fetch([Missing(each.sha256, tmp_path / "others") for each in wanted])
            assert token not in str(told.value)
        assert served_bytes.tokens.end(token)  # a worker had it in hand
        with pytest.raises(FetchError, match="403"):
            fetch(found, one, tmp_path / "late")
    assert not served_bytes.tokens.end(unused)
    with source(served_bytes, unused) as found, pytest.raises(FetchError, match="403"):
        fetch(found, two, tmp_path / "late")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file-3", "file-5", "own"]


def test_who_asks_for_what_a_token_does_not_open_has_not_begun(served_bytes, tmp_path):
    one, two = lying(tmp_path, b"one", b"three")
    token = served_bytes.tokens.make([one])
    with source(served_bytes, token) as found, pytest.raises(FetchError, match="403"):
        fetch(found, two, tmp_path / "others")
    assert not served_bytes.tokens.end(token)


@pytest.fixture
def connections(monkeypatch):
    """Count the connections that are made."""
    made = []
    plain = http.client.HTTPConnection.connect
    monkeypatch.setattr(
        http.client.HTTPConnection, "connect", lambda self: (made.append(1), plain(self))
    )
    return made


def test_one_connection_serves_all_units_until_something_fails(
    served_bytes, tmp_path, connections
):
    files = lying(tmp_path, b"one", b"three", b"sixsix", b"")
    with closing(ByteConnection(served_bytes.address, None)) as connection:
        for _ in range(2):
            found = Source(connection, served_bytes.tokens.make(files))
            places = [tmp_path / f"own-{one.sha256}" for one in (*files, files[0])]
            found.fetch(list(map(Missing, [one.sha256 for one in (*files, files[0])], places)))
            assert [digest(path.read_bytes()) for path in places] == [
                path.name.removeprefix("own-") for path in places
            ]
        assert len(connections) == 1
        Path(files[0].path).write_bytes(b"changed since")
        with pytest.raises(FetchError, match="other bytes"):
            fetch(found, files[0], tmp_path / "again")
        with pytest.raises(FetchError, match="403"):
            found.fetch([Missing("0" * 64, tmp_path / "none")])
        fetch(found, files[1], tmp_path / "again")
        assert len(connections) == 3  # each failure ended one
        Path(files[2].path).unlink()
        with pytest.raises(FetchError, match="404"):
            fetch(found, files[2], tmp_path / "none")


SENT = [
    (["HTTP/1.1 200 OK", "File-Sizes: 3", "Content-Length: 3"], b"one", ""),
    (["HTTP/1.1 200 OK", "File-Sizes: 3", "Content-Length: 3"], b"two", "other bytes"),
    (["HTTP/1.1 200 OK", "File-Sizes: 3", "Content-Length: 3"], b"on", "less than it told"),
    (["HTTP/1.1 200 OK", "File-Sizes: 9", "Content-Length: 3"], b"one", "less than it told"),
    (["HTTP/1.1 200 OK", "File-Sizes: 9999", "Content-Length: 3"], b"one", "more than 1000"),
    (["HTTP/1.1 200 OK", "File-Sizes: 1,2", "Content-Length: 3"], b"one", "how large"),
    (["HTTP/1.1 200 OK", "File-Sizes: -3", "Content-Length: 3"], b"one", "how large"),
    (["HTTP/1.1 200 OK", "File-Sizes: three", "Content-Length: 3"], b"one", "how large"),
    (["HTTP/1.1 200 OK", "Content-Length: 3"], b"one", "how large"),
    (["HTTP/1.1 200 OK", "File-Sizes: 3", "Content-Length: 0x3"], b"one", "less than it told"),
    (["HTTP/1.1 200 OK", "File-Sizes: 3"], b"one", "less than it told"),
    (["HTTP/1.1 200 OK", f"File-Sizes: {'9' * 5000}", "Content-Length: 3"], b"one", "how large"),
    (["HTTP/1.1 200 OK", *["Some: more"] * 200], b"", "have no end"),
    (["HTTP/1.1 200 OK", "no header", ""], b"", "have no end"),
    (["HTTP/1.1 2o0 OK", ""], b"", "cannot be reached"),
    (["HTTP/1.1 500 No", "Content-Length: 0"], b"", "500"),
    (["SSH-2.0-OpenSSH_9.2"], b"", "cannot be reached"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "body", "said"), SENT)
def test_what_a_server_may_send(tmp_path, head, body, said):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            asked, _ = listening.accept()
            with asked:
                asked.recv(4096)
                asked.sendall("\r\n".join([*head, "", ""]).encode() + body)

        Thread(target=serve, daemon=True).start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with closing(ByteConnection(address, None)) as connection:
            found = Source(connection, "x" * 32)
            with pytest.raises(FetchError, match=said) if said else contextlib.nullcontext():
                found.fetch([Missing(digest(b"one"), tmp_path / "own")], 1000)
    assert [path.name for path in tmp_path.iterdir()] == ([] if said else ["own"])


def test_more_than_was_told_of_is_not_taken_for_the_next_answer(tmp_path, connections):
    told = b"HTTP/1.1 200 OK\r\nFile-Sizes: 3\r\nContent-Length: 9\r\n\r\nonerest"
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            for _ in range(2):
                asked, _ = listening.accept()
                with asked:
                    asked.recv(4096)
                    asked.sendall(told)

        Thread(target=serve, daemon=True).start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with closing(ByteConnection(address, None)) as connection:
            for name in ("own", "again"):
                found = Source(connection, "x" * 32)
                found.fetch([Missing(digest(b"one"), tmp_path / name)])
    assert len(connections) == 2


def test_a_disk_that_takes_nothing_is_named(served_bytes, tmp_path):
    (one,) = lying(tmp_path, b"one")
    with source(served_bytes, served_bytes.tokens.make([one])) as found:
        with pytest.raises(FetchError, match=r"cannot write into .*nowhere"):
            fetch(found, one, tmp_path / "nowhere" / "own")
        fetch(found, one, tmp_path / "own")


@pytest.mark.parametrize(
    "path", ["/", "/etc/passwd", "/../x", "/TOKEN/../../etc/passwd", "/TOKEN/"]
)
def test_nothing_else_is_answered(served_bytes, path, tmp_path):
    token = served_bytes.tokens.make(lying(tmp_path, b"one"))
    with closing(
        http.client.HTTPConnection(*served_bytes.address[7:].split(":"), timeout=5)
    ) as asked:
        asked.request("GET", path.replace("TOKEN", token))
        assert asked.getresponse().status == 403


@pytest.mark.parametrize(
    "said",
    [
        b"POST /TOKEN/NAME HTTP/1.1\r\n\r\n",
        b"GET /TOKEN/NAME HTTP/1.0\r\n\r\n",
        b"GET /TOKEN/NAME\r\n\r\n",
        b"GET /TOKEN /NAME HTTP/1.1\r\n\r\n",
        b"GET /TOKEN/NAME HTTP/1.1\r\n" + 200 * b"Some: more\r\n" + b"\r\n",
    ],
)
def test_what_is_not_such_a_request_ends_the_connection(served_bytes, said, tmp_path):
    (one,) = lying(tmp_path, b"one")
    token = served_bytes.tokens.make([one])
    told = said.replace(b"TOKEN", token.encode()).replace(b"NAME", one.sha256.encode())
    host, port = served_bytes.address[7:].split(":")
    with socket.create_connection((host, int(port)), 5) as asked:
        asked.sendall(told)
        answer = b""
        with contextlib.suppress(ConnectionResetError):  # it has not read all
            while piece := asked.recv(4096):
                answer += piece
    assert answer.startswith(b"HTTP/1.1 400") or not answer
    assert not served_bytes.tokens.end(token)


def list_kept_sizes(cache):
    """The sizes of the files that a cache keeps for the next units."""
    return {path.stat().st_size for path in cache.folder.iterdir() if path.is_file()}


def test_a_cache_keeps_what_was_used_last(served_bytes, tmp_path):
    files = lying(tmp_path, *(bytes(size) for size in (10, 20, 30)))
    token = served_bytes.tokens.make(files)
    with source(served_bytes, token) as found, closing(Cache(tmp_path / "cache", 45)) as cache:
        for moment, number in enumerate((0, 1, 0), start=1):
            bring(cache, found, files[number])
            cache.clear()
            os.utime(cache.folder / files[number].sha256, (moment, moment))
        bring(cache, found, files[2])
        assert list_kept_sizes(cache) == {10, 30}


def test_after_a_unit_that_failed_half_of_its_files_are_no_trouble(served_bytes, tmp_path):
    (one,) = lying(tmp_path, b"one")
    token = served_bytes.tokens.make([one])
    with source(served_bytes, token) as found, closing(Cache(tmp_path / "cache", 45)) as cache:
        found.fetch(cache.use([one.sha256]))  # and it is not kept
        assert cache.use([one.sha256]) == []


def test_what_one_worker_uses_stays_while_another_makes_room(served_bytes, tmp_path):
    files = lying(tmp_path, bytes(30), bytes(40))
    place = tmp_path / "cache"
    with (
        source(served_bytes, served_bytes.tokens.make(files)) as found,
        closing(Cache(place, 45)) as cache,
        closing(Cache(place, 45)) as other,
    ):
        bring(cache, found, files[0])
        bring(other, found, files[1])
        assert list_kept_sizes(cache) == {
            30,
            40,
        }  # more than it is to have, as long as both are used
        (cache.folder / files[0].sha256).unlink()  # even so
        assert (cache.in_use / files[0].sha256).stat().st_size == 30
        for one in (cache, other):
            one.clear()
            assert not list(one.in_use.iterdir())
        bring(cache, found, files[0])
        assert list_kept_sizes(cache) == {30}


def test_a_file_that_another_worker_removes_is_not_missed(served_bytes, tmp_path, monkeypatch):
    files = lying(tmp_path, bytes(30))
    token = served_bytes.tokens.make(files)
    with source(served_bytes, token) as found, closing(Cache(tmp_path / "cache", 45)) as cache:
        gone = cache.folder / "gone"
        listed = Path.iterdir
        monkeypatch.setattr(Path, "iterdir", lambda folder: iter([gone, *listed(folder)]))
        bring(cache, found, files[0])
        assert (cache.in_use / files[0].sha256).stat().st_size == 30


def test_a_file_of_the_cache_that_was_changed_is_fetched_again(served_bytes, tmp_path):
    (one,) = lying(tmp_path, b"one")
    token = served_bytes.tokens.make([one])
    with source(served_bytes, token) as found, closing(Cache(tmp_path / "cache", 45)) as cache:
        (cache.folder / one.sha256).write_bytes(b"on a disk that breaks")
        bring(cache, found, one)
        assert (cache.folder / one.sha256).read_bytes() == b"one"
        assert (cache.in_use / one.sha256).read_bytes() == b"one"


def test_case_files_lie_in_memory_and_are_gone_after_their_unit(served_bytes, tmp_path):
    (one,) = lying(tmp_path, b"secret")
    with (
        source(served_bytes, served_bytes.tokens.make([one])) as found,
        closing(Memory()) as memory,
    ):
        found.fetch(memory.places([one.sha256]))
        (kept,) = memory.folder.iterdir()
        assert kept.read_bytes() == b"secret"
        assert kept.is_relative_to("/dev/shm")
        memory.clear()
        assert not list(memory.folder.iterdir())
    assert not memory.folder.exists()


@pytest.mark.processes
def test_of_a_worker_that_was_killed_nothing_stays_in_memory(monkeypatch):
    own = f"gtp-harness-test-{os.getpid()}-"  # else workers of other tests might clear it away
    monkeypatch.setattr(worker_files, "_ROOM", own)
    script = (
        f"from harness.cluster import worker_files; worker_files._ROOM = {own!r}\n"
        "m = worker_files.Memory(); print(m.folder, flush=True); input()"
    )
    killed = subprocess.Popen(
        [sys.executable, "-u", "-c", script],
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
    tls.make(tmp_path / "own", 1)
    tls.make(tmp_path / "foreign", 1)
    (one,) = lying(tmp_path, b"one")
    server = TlsCredentials(tmp_path / "own", tls.SERVER)
    with closing(BytesServer("127.0.0.1", 0, server.server_context())) as served:
        token = served.tokens.make([one])

        def try_as(whose, role):
            own = TlsCredentials(tmp_path / whose, role).client_context()
            with closing(ByteConnection(served.address, own)) as connection:
                fetch(Source(connection, token), one, tmp_path / "fetched")

        try_as("own", tls.WORKER)
        for whose, role in (("own", tls.SCHEDULER), ("foreign", tls.WORKER)):
            with pytest.raises(FetchError):
                try_as(whose, role)
        with pytest.raises(FetchError, match="with TLS, or not"):
            ByteConnection(served.address, None)
    another = TlsCredentials(tmp_path / "own", tls.WORKER)
    with closing(BytesServer("127.0.0.1", 0, another.server_context())) as served:
        found = Source(ByteConnection(served.address, another.client_context()), "x" * 32)
        with pytest.raises(FetchError, match="no certificate of a server"):
            fetch(found, one, tmp_path / "foreign")


@pytest.mark.parametrize(
    ("address", "folder", "said"),
    [
        ("tcp://10.0.0.1:8786", "", "with TLS only"),
        ("tcp://example.org:8786", "", "with TLS only"),
        ("tls://10.0.0.1:8786", "", "needs --tls"),
        ("tls://10.0.0.1:8786", "/nowhere", "there is no /nowhere/ca.pem"),
        ("http://10.0.0.1:8786", "", "cannot read the address"),
        ("tls://10.0.0.1", "", "cannot read the address"),
        ("tcp://127.0.0.1:port", "", "cannot read the address"),
    ],
)
def test_off_this_machine_there_is_no_way_but_tls(address, folder, said):
    with pytest.raises(UsageError, match=said):
        papers(address, folder, tls.WORKER)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_on_this_machine_there_is(host):
    assert papers(f"tcp://{host}:8786", "", tls.WORKER) is None
