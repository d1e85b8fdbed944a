"""Messages of Dask go without a pause, and together if they are said at once."""

import asyncio

import pytest
from distributed import client, scheduler, worker
from distributed.comm import CommClosedError, tcp

from harness.cluster import cluster_processes, lean_comm
from harness.cluster.lean_comm import PromptSender


class _Comm:
    """A connection that keeps what is written; ``fails``: it breaks at the next message."""

    def __init__(self, *, fails=False):
        self.written = []
        self._fails = fails
        self._closed = False

    async def write(self, payload, **_):
        if self._fails:
            raise CommClosedError("broken")
        self.written.append(payload)
        await asyncio.sleep(0)  # so that others speak meanwhile

    async def close(self):
        self._closed = True

    def abort(self):
        self._closed = True

    def closed(self):
        return self._closed


async def _settle():
    for _ in range(5):
        await asyncio.sleep(0)


def _with_sender(check, *, fails=False):
    """Run a check with a sender and its connection, which has not begun."""

    async def run():
        comm = _Comm(fails=fails)
        sender = PromptSender("10 s")  # what Dask's own would wait
        await check(sender, comm)

    asyncio.run(run())


def test_messages_of_one_turn_go_together_and_later_ones_without_a_pause():
    async def check(sender, comm):
        sender.start(comm)
        sender.send(1)
        sender.send(2, 3)
        await _settle()
        sender.send(4)
        await _settle()
        assert comm.written == [[1, 2, 3], [4]]

    _with_sender(check)


def test_what_is_said_while_a_message_goes_follows_it():
    async def check(sender, comm):
        sender.start(comm)
        sender.send(1)
        await asyncio.sleep(0)
        sender.send(2)
        assert comm.written == [[1]]
        await _settle()
        assert comm.written == [[1], [2]]

    _with_sender(check)


def test_what_was_said_before_the_connection_goes_first():
    async def check(sender, comm):
        sender.send(1)
        sender.start(comm)
        await _settle()
        assert comm.written == [[1]]

    _with_sender(check)


def test_one_that_closes_sends_the_rest_and_takes_no_more():
    async def check(sender, comm):
        await sender.close()  # before it has a connection
        sender.start(comm)
        sender.send(1)
        await asyncio.sleep(0)
        sender.send(2)
        await sender.close()
        assert comm.written == [[1], [2]]
        assert comm.closed()
        with pytest.raises(CommClosedError):
            sender.send(3)

    _with_sender(check)


def test_a_connection_that_breaks_is_closed():
    async def check(sender, comm):
        sender.start(comm)
        sender.send(1)
        await _settle()
        assert comm.closed()
        assert sender.buffer == []
        with pytest.raises(CommClosedError):
            sender.send(2)

    _with_sender(check, fails=True)


def test_all_processes_that_speak_to_dask_have_it(monkeypatch):
    for module in (client, scheduler, worker):
        monkeypatch.setattr(module, "BatchedSend", module.BatchedSend)
    monkeypatch.setattr(cluster_processes.logging, "disable", lambda: None)
    monkeypatch.setattr(cluster_processes.dask.config, "set", lambda _: None)
    monkeypatch.setattr(cluster_processes.distributed.comm.utils, "OFFLOAD_THRESHOLD", 0)
    monkeypatch.setattr(scheduler, "offload", scheduler.offload)
    ends = [tcp.TCPListener, tcp.TCPConnector, tcp.TLSListener, tcp.TLSConnector]
    for kind in ends:
        monkeypatch.setattr(kind, "comm_class", kind.comm_class)
    cluster_processes.prepare()
    assert {one.comm_class.__module__ for one in ends} == {lean_comm.__name__}
    assert {one.BatchedSend for one in (client, scheduler, worker)} == {PromptSender}
