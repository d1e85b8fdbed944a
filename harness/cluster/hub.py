"""One connector for all processes of a service: each speaks to the hub as to its own connector.

So there is one address for bytes, one connection to the scheduler, and one count of units under
way. Loads are sent in the order in which they came. The hub trusts nobody more than a connector
does: it does not read the results of workers. When the connector ends, the hub hangs up on all
dispatchers, and starts another connector. The dispatchers then send unfinished loads again.

The hub writes its state to a file in its folder, for people (:mod:`harness.cluster.state`).
"""

import asyncio
import contextlib
import secrets
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from harness.cluster import records, state
from harness.cluster.connector_link import address, command, explain
from harness.core.errors import UsageError
from harness.core.text import escape_controls
from harness.work import canonical_json

_LONGEST = 1 << 30  # bytes of a line
_PAUSE = 3.0  # seconds before another connector is started
_WRITTEN = 2.0  # seconds between two writings of the state


class _HeldLoad(NamedTuple):
    """A load of a dispatcher."""

    load: records.Load  # by the dispatcher's name for it
    dispatcher: asyncio.StreamWriter
    since: float  # seconds since 1970


class Hub:
    """Pass messages between dispatchers and a connector."""

    def __init__(
        self, settings: records.ConnectorSettings, folder: Path, remark: Callable[[str], object]
    ) -> None:
        """``folder``: of our socket and state; ``remark``: is told what a person must know."""
        self._remark = remark
        self._settings = settings._replace(watches=True)
        self._folder = folder
        self._connector: asyncio.StreamWriter | None = None
        self._present: records.PresentWorkers | None = None  # None: no scheduler
        self._seen = records.ClusterState(())
        self._trouble = f"{settings.scheduler} has not answered yet"
        self._was_there = False
        self._dispatchers: set[asyncio.StreamWriter] = set()
        self._waiting: deque[_HeldLoad] = deque()
        self._flying: dict[str, _HeldLoad] = {}
        self._own = secrets.token_hex(4)
        self._count = 0

    async def run(self) -> None:
        """Be a hub until this process is told to end."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        writing = asyncio.create_task(self._write())
        with address(self._folder) as place:
            server = await asyncio.start_unix_server(self._meet, place, limit=_LONGEST)
        try:
            async with server:
                while True:
                    await self._employ()
                    await asyncio.sleep(_PAUSE)
        finally:
            writing.cancel()

    async def _write(self) -> None:
        while True:
            with contextlib.suppress(OSError):  # a full disk: it gets old, and is seen
                state.write(self._folder, self.state())
            await asyncio.sleep(_WRITTEN)

    def state(self) -> state.HubState:
        """Return what is known now."""
        flights = []
        for name, sent in self._flying.items():
            load = sent.load
            names = escape_controls(load.assignment), escape_controls(load.submission)
            flights.append(state.Flight(name, *names, load.cases, load.alone, sent.since))
        return state.HubState(
            time.time(),
            self._settings.scheduler,
            "" if self._present else self._trouble,
            self._seen if self._present else records.ClusterState(()),
            tuple(flights),
            len(self._waiting),
        )

    async def _employ(self) -> None:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command("connector"), stdin=pipe, stdout=pipe, stderr=pipe, limit=_LONGEST,
            process_group=0,
        )  # fmt: skip
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._connector = process.stdin
        self._connector.write(canonical_json.dumps(self._settings).encode() + b"\n")
        complaints = asyncio.create_task(process.stderr.read())
        try:
            with contextlib.suppress(UsageError):  # then the PID no longer is our connector's
                while line := await process.stdout.readline():
                    self._take(records.read_news(line))
        finally:
            self._dismiss()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        said = (await complaints).decode(errors="replace").strip().splitlines()
        why = escape_controls(explain(said[-1])) if said else ""
        self._complain(why or "the process that speaks to it ended")

    def _complain(self, trouble: str) -> None:
        """Take note of why there is no scheduler: once, however often it is tried."""
        if trouble != self._trouble or self._was_there:
            self._remark(f"the scheduler {self._settings.scheduler}: {trouble}")
        self._trouble, self._was_there = trouble, False

    def _dismiss(self) -> None:
        self._connector = self._present = None
        self._waiting.clear()
        self._flying.clear()
        for dispatcher in self._dispatchers:
            dispatcher.close()

    def _take(self, news: records.News) -> None:
        if isinstance(news, records.ClusterState):
            self._seen = news
        elif isinstance(news, records.PresentWorkers):
            self._present, self._was_there = news, True
            for dispatcher in self._dispatchers:
                dispatcher.write(records.to_line(news))
        elif sent := self._flying.pop(news.id, None):
            sent.dispatcher.write(records.to_line(news._replace(id=sent.load.id)))
        self._send()

    def _send(self) -> None:
        if self._connector is None or self._present is None:
            return
        for _ in range(records.count_free(len(self._present.workers), len(self._flying))):
            if not self._waiting:
                return
            self._count += 1
            sent = self._waiting.popleft()
            name = f"{self._own}-{self._count}-{sent.load.id.rpartition('-')[2]}"
            self._flying[name] = sent
            self._connector.write(records.to_line(sent.load._replace(id=name, number=self._count)))

    async def _meet(self, reader: asyncio.StreamReader, dispatcher: asyncio.StreamWriter) -> None:
        if self._present is None:
            dispatcher.close()
            return
        self._dispatchers.add(dispatcher)
        dispatcher.write(records.to_line(self._present))
        try:
            with contextlib.suppress(UsageError, ConnectionError):
                while line := await reader.readline():
                    self._wait(dispatcher, line)
        finally:
            self._part(dispatcher)

    def _wait(self, dispatcher: asyncio.StreamWriter, line: bytes) -> None:
        order = records.read_order(line)
        if isinstance(order, records.Load):
            self._waiting.append(_HeldLoad(order, dispatcher, time.time()))
            self._send()

    def _part(self, dispatcher: asyncio.StreamWriter) -> None:
        """Cancel what a dispatcher that has gone has sent."""
        self._dispatchers.discard(dispatcher)
        self._waiting = deque(one for one in self._waiting if one.dispatcher is not dispatcher)
        for name in [name for name, one in self._flying.items() if one.dispatcher is dispatcher]:
            del self._flying[name]
            if self._connector:
                self._connector.write(records.to_line(records.Drop(name)))
        self._send()
        dispatcher.close()
