"""A scheduler that cannot be reached: the reason is found, and the user is told it once."""

import asyncio
import contextlib
import socket
import threading
from pathlib import Path

import pytest

from harness.cluster import connector, tls
from harness.cluster.tls import TlsCredentials


@pytest.fixture
def papers(tmp_path):
    tls.make(tmp_path / "ours", 1)
    return TlsCredentials(tmp_path / "ours", tls.WORKER)


@contextlib.contextmanager
def listening(serve):
    """Give the address of a port; ``serve``: is given each connection."""
    with socket.create_server(("127.0.0.1", 0)) as port:

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    serve(port.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{port.getsockname()[1]}"
        port.shutdown(socket.SHUT_RDWR)


def speak(connection):
    """Say something first, as schedulers do."""
    connection.sendall(b"Here is a scheduler.")


def with_certificate(folder, then=speak):
    """Return what answers with the certificate of a scheduler."""
    context = TlsCredentials(folder, tls.SCHEDULER).server_context()

    def serve(connection):
        with contextlib.suppress(OSError):
            then(context.wrap_socket(connection, server_side=True))

    return serve


def obstacle(address, papers=None):
    return asyncio.run(connector.find_obstacle(address, papers))


def test_one_that_answers_is_reached(papers):
    with listening(speak) as place:
        assert obstacle(f"tcp://{place}") == ""
    with listening(with_certificate(Path(papers.folder))) as place:
        assert obstacle(f"tls://{place}", papers) == ""


def test_where_nobody_listens(papers):
    with socket.create_server(("127.0.0.1", 0)) as port:
        number = port.getsockname()[1]
    assert obstacle(f"tls://127.0.0.1:{number}", papers) == "nothing answers on this port"
    assert obstacle("tcp://no-such-host.invalid:1").startswith("no such host: ")


def test_why_one_that_listens_is_not_reached(papers, tmp_path, monkeypatch):
    """What expects TLS waits for us, and we would wait for it."""
    tls.make(tmp_path / "theirs", 1)
    ours, theirs = (with_certificate(tmp_path / name) for name in ("ours", "theirs"))
    kept = []  # connections to what says nothing
    for serve, scheme, why in (
        (theirs, "tls", "its certificate is not one of ours: self-signed certificate in"),
        (lambda one: one.sendall(b"This port has no TLS."), "tls", "no TLS with it: "),
        (kept.append, "tls", "no answer within 0.2 s"),
        (ours, "tcp", "no answer within 0.2 s: it may need TLS (tls://…, with --tls FOLDER)"),
        (socket.socket.close, "tls", "it ended the connection"),
        (socket.socket.close, "tcp", "it ended the connection"),
        (with_certificate(tmp_path / "ours", socket.socket.close), "tls", "it ended the connec"),
    ):
        with listening(serve) as place, monkeypatch.context() as patch:
            if "no answer" in why:
                patch.setattr(connector, "_PROBE_PATIENCE", 0.2)
            own = papers if scheme == "tls" else None
            assert obstacle(f"{scheme}://{place}", own).startswith(why)
    for one in kept:
        one.close()


def test_each_reason_is_told_once_until_it_is_reached(monkeypatch):
    answers = iter(["nobody", "nobody", "another", "another", ""])

    async def find(*_):
        return next(answers)

    monkeypatch.setattr(connector, "find_obstacle", find)
    monkeypatch.setattr(connector, "_PAUSE", 0.0)
    told = []
    asyncio.run(connector.wait_until_reached("tcp://a:1", None, told.append))
    assert told == [
        "cannot reach the scheduler tcp://a:1: nobody. It is tried again",
        "cannot reach the scheduler tcp://a:1: another. It is tried again",
    ]
