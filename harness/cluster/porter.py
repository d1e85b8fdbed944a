"""The process that speaks to Dask for a grading: it sends units, and says what happens to them.

It has no ledger and no key. It hears loads as lines of JSON on standard input, and says news as
lines of JSON on standard output. It looks at nothing that a worker brought. When the scheduler
cannot be reached any more it ends: whoever started it starts another one, and sends again what has
not come back.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from distributed import Client, Future, wait

from harness.cluster import errand, lines, roles, rules
from harness.cluster.guarding import GuardedScheduler
from harness.cluster.records import Back, Errand, Load, Lost, News, PorterSettings, Present
from harness.cluster.rules import Facts
from harness.cluster.serving import BytesServer
from harness.cluster.tls import Papers
from harness.errors import UsageError
from harness.work import canonical_json, plain_values

LOST = 4  # exit status: no scheduler
_PATIENCE = 30.0  # seconds in which a scheduler must answer
_LOOK = 0.5  # seconds between two looks at the workers, and one more for each hundred of them


class NoSchedulerError(Exception):
    """The scheduler cannot be reached."""


class _PlainClient(Client):  # type: ignore[misc] # Dask has no types
    """A client to which how a task failed is nobody's concern: only that it did."""

    def _handle_task_erred(
        self, key: object = None, exception: object = None, traceback: object = None
    ) -> None:
        super()._handle_task_erred(key, RuntimeError("it failed"), None)


class _Sent(NamedTuple):
    """A load on its way."""

    load: Load
    future: Future
    token: str


class Porter:
    """Sends loads to workers, and says what happens to them."""

    def __init__(self, client: Client, served: BytesServer, say: Callable[[News], object]) -> None:
        self._client = client
        self._served = served
        self._say = say
        self._on_the_way: dict[str, _Sent] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._present: tuple[Facts, ...] | None = None

    async def watch(self) -> None:
        """Tell which workers there are, until the scheduler is lost.

        Raises:
            NoSchedulerError: it is.
            UsageError: it is not one of ours, which takes nothing from a worker that it may not.
        """
        while True:
            found = await self._answered(self._client.scheduler.identity(n_workers=-1))
            if found["type"] != GuardedScheduler.__name__:
                raise UsageError("it was not started by gtp-harness cluster scheduler")
            self._look(_workers(found))
            await asyncio.sleep(_LOOK * (1 + len(found["workers"]) / 100))

    async def _answered(self, asked: Any) -> Any:
        if self._client.status != "running":
            raise NoSchedulerError("the connection to it is lost")
        try:
            return await asyncio.wait_for(asked, _PATIENCE)
        except (OSError, TimeoutError) as error:
            raise NoSchedulerError(
                f"it does not answer: {error or type(error).__name__}"
            ) from None

    def _look(self, present: tuple[Facts, ...]) -> None:
        if present == self._present:
            return
        self._present = present
        self._say(Present(present))
        addresses = {one.address for one in present}
        for sent in list(self._on_the_way.values()):
            if not addresses & set(sent.load.only):
                self._lose(sent, "its worker is not there any more")

    def send(self, load: Load) -> None:
        """Send a load."""
        token = self._served.tokens.make(load.files)
        future = self._client.submit(
            errand.run,
            canonical_json.dumps(Errand(load.unit, self._served.address, token)),
            key=load.id,
            workers=list(load.only),
            allow_other_workers=False,
            resources=rules.asked(load.needs),
            priority=-load.number,
            pure=False,
        )
        sent = self._on_the_way[load.id] = _Sent(load, future, token)
        task = asyncio.create_task(self._awaited(sent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _awaited(self, sent: _Sent) -> None:
        with contextlib.suppress(Exception, asyncio.CancelledError):  # its status tells of it
            await wait(sent.future)
        status = sent.future.status
        brought = await self._brought(sent.future) if status == "finished" else None
        if sent.load.id not in self._on_the_way:
            return
        if brought is None:
            died = status == "error"
            self._lose(sent, "its worker died" if died else "it was lost on the way")
            return
        self._forget(sent)
        self._say(Back(sent.load.id, *brought))

    async def _brought(self, future: Future) -> tuple[str, str] | None:
        """Return who brought what; None: it is lost."""
        try:
            holders = await self._client.scheduler.who_has(keys=[future.key])
            found = await self._client.gather(future)
            (address, *_) = holders[future.key]
        except Exception:  # noqa: BLE001 - whatever of it went wrong, the unit goes again
            return None
        return (str(address), found) if isinstance(found, str) else None

    def _lose(self, sent: _Sent, why: str) -> None:
        self._say(Lost(sent.load.id, why, self._forget(sent)))

    def _forget(self, sent: _Sent) -> bool:
        """Let nobody go on with a load; return whether a worker had it in hand."""
        del self._on_the_way[sent.load.id]
        sent.future.release()
        return self._served.tokens.end(sent.token)


def _workers(found: Mapping[str, Any]) -> tuple[Facts, ...]:
    workers = (
        rules.facts_of(address, str(one["name"]), one["resources"])
        for address, one in sorted(found["workers"].items())
        if one.get("status", "running") == "running"
    )
    return tuple(one for one in workers if one)


async def carry(settings: PorterSettings) -> None:
    """Send what is asked for on standard input until that ends.

    Raises:
        NoSchedulerError: the scheduler cannot be reached, or not any more.
        OSError: the address for the bytes cannot be had.
    """
    papers = Papers(Path(settings.tls), roles.SERVER) if settings.tls else None
    served = BytesServer(settings.host, settings.port, papers.listening() if papers else None)
    try:
        async with _client(settings, papers) as client:
            porter = Porter(client, served, _say)
            watching = asyncio.create_task(porter.watch())
            hearing = asyncio.create_task(_hear(porter))
            done, _ = await asyncio.wait({watching, hearing}, return_when=asyncio.FIRST_COMPLETED)
            watching.cancel()
            for one in done:
                one.result()
    finally:
        served.close()


@contextlib.asynccontextmanager
async def _client(settings: PorterSettings, papers: Papers | None) -> AsyncIterator[Client]:
    try:
        client = await _PlainClient(
            settings.scheduler,
            asynchronous=True,
            security=papers.security() if papers else None,
            deserializers=["msgpack"],
            direct_to_workers=False,
            timeout=_PATIENCE,
        )
    except (OSError, TimeoutError) as error:
        raise NoSchedulerError(f"it cannot be reached: {error}") from None
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # it may be gone
            await asyncio.wait_for(client.close(), _PATIENCE)


async def _hear(porter: Porter) -> None:
    """Take in loads until there are no more."""
    reader = asyncio.StreamReader(limit=1 << 30)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    while line := await reader.readline():
        porter.send(plain_values.read(Load, line, "a load"))


def _say(news: News) -> None:
    """Tell whoever started us."""
    sys.stdout.buffer.write(lines.line(news))
    sys.stdout.buffer.flush()
