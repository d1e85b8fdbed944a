"""Lean connections carry what Dask's own carry, and either end may be one of Dask."""

import asyncio
import contextlib

import pytest
from distributed.comm import CommClosedError, connect, listen, tcp
from distributed.core import Status
from distributed.protocol.serialize import Serialize, ToPickle

from harness.cluster import dask_messages, tls
from harness.cluster.tls import TlsCredentials

KINDS = {"tcp": (tcp.TCP, dask_messages._Lean), "tls": (tcp.TLS, dask_messages._LeanTLS)}
ENDS = [(True, True), (True, False), (False, True)]  # whether each end is lean
MESSAGES = [
    {},
    {"op": "hear", "keys": ["ä", b"\0", None, 1.5, 1 << 63], "deep": [{"of": {"it": ()}}]},
    [{"op": "one"}, {"op": "two"}],
    {"text": "x" * 70_000},  # of several records of TLS
    {"text": "x" * 3_000_000},  # sent in parts
    {"status": Status.running},  # what Dask alone can write
    {"sets": {1, 2}, "data": Serialize(b"y" * 200_000)},
    {"object": ToPickle({1: 2})},
]


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    tls.make(folder, 1)
    return folder


@contextlib.asynccontextmanager
async def connection(monkeypatch, papers, scheme="tls", lean=(True, True)):
    """Give both ends of a connection; the first one was asked for it."""
    name = scheme.upper()
    monkeypatch.setattr(getattr(tcp, f"{name}Listener"), "comm_class", KINDS[scheme][lean[0]])
    monkeypatch.setattr(getattr(tcp, f"{name}Connector"), "comm_class", KINDS[scheme][lean[1]])
    own = TlsCredentials(papers, tls.SERVER).security()
    server, client = own.get_listen_args("scheduler"), own.get_connection_args("client")
    if scheme == "tcp":
        server, client = {}, {}
    met = asyncio.get_running_loop().create_future()

    async def meet(comm):
        met.set_result(comm)

    async with listen(f"{scheme}://127.0.0.1:0", meet, **server) as listener:
        asking = await connect(listener.contact_address, **client)
        asked = await met
        try:
            yield asked, asking
        finally:
            asked.abort()
            asking.abort()


def run(check, *arguments, **options):
    """Run a check with both ends of a connection."""

    async def both():
        async with connection(*arguments, **options) as (asked, asking):
            await asyncio.wait_for(check(asked, asking), 20)

    asyncio.run(both())


def plain(found):
    """A message as it is read where lists are made tuples."""
    if isinstance(found, list | tuple):
        return tuple(map(plain, found))
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if isinstance(found, ToPickle):
        return found.data
    return bytes(found.data) if isinstance(found, Serialize) else found


@pytest.mark.parametrize("lean", ENDS)
@pytest.mark.parametrize("scheme", KINDS)
def test_a_message_comes_as_it_was_sent(scheme, lean, papers, monkeypatch):
    async def check(asked, asking):
        for one, other in ((asked, asking), (asking, asked)):
            for message in MESSAGES:
                sending = asyncio.create_task(one.write(message))
                assert await other.read() == plain(message)
                await sending

    run(check, monkeypatch, papers, scheme, lean)


@pytest.mark.parametrize("scheme", KINDS)
def test_a_connection_that_ends_is_told_to_who_reads_and_who_writes(scheme, papers, monkeypatch):
    async def check(asked, asking):
        reading = asyncio.create_task(asked.read())
        await asyncio.sleep(0.05)
        asking.abort()
        with pytest.raises(CommClosedError):
            await reading
        assert asked.closed()
        for act in (asked.read(), asked.write({}), asking.read(), asking.write({})):
            with pytest.raises(CommClosedError):
                await act

    run(check, monkeypatch, papers, scheme)
