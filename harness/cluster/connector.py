"""The process that speaks to Dask for a grading: it sends units, and says what happens to them.

It has no ledger and no key. It hears loads as lines of JSON on standard input, and says news as
lines of JSON on standard output. It looks at nothing that a worker brought. When the scheduler can
no longer be reached it ends. The process that started it starts another one, and sends again what
has not come back.
"""

import asyncio
import contextlib
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from distributed import Client, Future

from harness.cluster import dask_messages, records, state, tls
from harness.cluster.transfer import BytesServer
from harness.core import network
from harness.core.errors import UsageError
from harness.work import canonical_json

_PATIENCE = 30.0  # seconds in which a scheduler must answer
_SEEN = 2.0  # seconds between two tellings of what each worker does
_LOOK = 0.5  # seconds between two looks at the workers, and one more for each hundred of them
_LINGERS = 0.05  # seconds in which what has ended waits for the next load, to go with it
_PROBE_PATIENCE = 5.0  # seconds for a connection
_PAUSE = 2.0  # seconds between two

# --- Why a scheduler cannot be reached: Dask tries again and again, and does not say -------------


async def find_obstacle(address: str, credentials: tls.TlsCredentials | None) -> str:
    """Return why no connection to a scheduler can be made now; "" if one can."""
    place = urlsplit(address)
    context = credentials.client_context() if credentials else None
    opening = asyncio.open_connection(place.hostname, place.port, ssl=context)
    try:
        reader, writer = await asyncio.wait_for(opening, _PROBE_PATIENCE)
    except OSError as error:  # of TLS, or of time, too
        return _explain(error)
    try:
        # A scheduler is the first to speak. One that expects TLS waits for us instead, and Dask
        # would wait for it, again and again.
        said = await asyncio.wait_for(reader.read(1), _PROBE_PATIENCE)
        return "" if said else _explain(ConnectionResetError())
    except TimeoutError as error:
        hint = "" if credentials else ": it may need TLS (tls://…, with --tls FOLDER)"
        return f"{_explain(error)}{hint}"
    except OSError as error:
        return _explain(error)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _explain(error: OSError) -> str:
    """Return an error in words: the first that fits counts."""
    words = {
        ssl.SSLCertVerificationError: "its certificate is not one of ours: "
        f"{getattr(error, 'verify_message', '')}",
        ssl.SSLError: f"no TLS with it: {getattr(error, 'reason', '') or error}",
        ConnectionRefusedError: "nothing answers on this port",
        ConnectionError: "it ended the connection",
        TimeoutError: f"no answer within {_PROBE_PATIENCE:g} s",
        socket.gaierror: f"no such host: {error.strerror}",
        OSError: error.strerror or str(error),
    }
    return next(text for kind, text in words.items() if isinstance(error, kind))


async def wait_until_reached(
    address: str, credentials: tls.TlsCredentials | None, report: Callable[[str], object]
) -> None:
    """Try until a connection can be made; ``report``: why it cannot, once for each reason."""
    tell = without_repeats(report)
    while obstacle := await find_obstacle(address, credentials):
        tell(f"cannot reach the scheduler {address}: {obstacle}. It is tried again")
        await asyncio.sleep(_PAUSE)


def without_repeats(report: Callable[[str], object]) -> Callable[[str], None]:
    """Return what passes a sentence on to ``report`` unless it was the last one too."""
    before = ""

    def tell(sentence: str) -> None:
        nonlocal before
        if sentence != before:
            report(sentence)
        before = sentence

    return tell


# --- The connector -------------------------------------------------------------------------------


class NoSchedulerError(Exception):
    """The scheduler cannot be reached."""


class _PlainClient(Client):  # type: ignore[misc] # Dask has no types
    """A client that sends and takes plain data, and takes of failed tasks only that they failed.

    ``reports``: what workers sent along when they were done, and who, by key.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.reports: dict[str, tuple[str, str]] = {}
        super().__init__(*arguments, **options)
        self._stream_handlers[dask_messages.BROUGHT] = self._handle_brought

    def send_task(self, key: str, **fields: object) -> Future:
        """Have a task done; ``fields``: see :meth:`dask_messages.GuardedScheduler.add_task`."""
        future = Future(key, self)
        self._send_to_scheduler({"op": dask_messages.TASK, "key": key, **fields})
        return future

    def _handle_brought(self, key: str, address: str, report: str) -> None:
        if key in self.futures:  # else nobody is waiting for it
            self.reports[key] = (address, report)

    def _handle_task_erred(
        self, key: object = None, exception: object = None, traceback: object = None
    ) -> None:
        super()._handle_task_erred(key, RuntimeError("it failed"), None)


class _SentUnit(NamedTuple):
    """A load on its way."""

    load: records.Load
    future: Future
    token: str


class Connector:
    """Sends loads to workers, and says what happens to them."""

    def __init__(
        self,
        client: Client,
        server: BytesServer,
        say: Callable[[records.News], object],
        *,
        watches: bool = False,
    ) -> None:
        """``watches``: whether it also tells what each worker does."""
        self._client = client
        self._watches = watches
        self._served = server
        self._send_news = say
        self._on_the_way: dict[str, _SentUnit] = {}
        self._ended: list[Future] = []
        self._releasing: asyncio.TimerHandle | None = None  # when what has ended is released
        self._tasks: set[asyncio.Task[None]] = set()
        self._present: tuple[records.Facts, ...] | None = None
        self._left: tuple[records.DepartedWorker, ...] = ()

    async def watch(self) -> None:
        """Tell which workers there are, until the scheduler is lost.

        Raises:
            NoSchedulerError: it is.
            UsageError: it is not one of ours, which takes nothing from a worker that it may not.
        """
        told, census = -_SEEN, None
        found = await identity(self._client)  # or it is not a scheduler of ours
        while True:
            is_due = self._watches and time.monotonic() - told >= _SEEN
            now = await _ask_scheduler(self._client, dask_messages.CENSUS)
            if is_due or now != census:
                census, found = now, await identity(self._client)
                workers = (
                    records.facts_of(address, str(one["name"]), one["resources"])
                    for address, one in sorted(found["workers"].items())
                    if one.get("status", "running") == "running"
                )
                present = tuple(one for one in workers if one)
                if set(self._present or ()) - set(present):
                    await self._look_who_left()
                self._note_workers(present)
            if is_due:
                told = time.monotonic()
                self._send_news(await describe_cluster(self._client, found))
            await asyncio.sleep(_LOOK * (1 + len(found["workers"]) / 100))

    def _note_workers(self, present: tuple[records.Facts, ...]) -> None:
        if present == self._present:
            return
        self._present = present
        self._send_news(records.PresentWorkers(present))
        for sent in list(self._on_the_way.values()):
            self._report_if_no_worker(sent)

    def _report_if_no_worker(self, sent_unit: _SentUnit) -> None:
        addresses = {one.address for one in self._present or ()}
        if not addresses & set(sent_unit.load.only):
            who = self._who_had(sent_unit) or "its worker"
            self._report_lost(sent_unit, f"{who} is gone")

    def drop(self, order: records.Drop) -> None:
        """Cancel a load if it is on its way."""
        if sent := self._on_the_way.get(order.id):
            self._forget(sent)

    def send(self, load: records.Load) -> None:
        """Send a load; its workers may have gone since it was made."""
        self._release_ended()
        token = self._served.tokens.make(load.files)
        future = self._client.send_task(
            state.task_name(load),
            text=canonical_json.dumps(
                records.DaskTask(load.unit, self._served.address, token, load.environment)
            ),
            workers=load.only,
            resources=records.list_requested_resources(load.needs),
            number=load.number,
        )
        sent = self._on_the_way[load.id] = _SentUnit(load, future, token)
        task = asyncio.create_task(self._await_report(sent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._report_if_no_worker(sent)

    async def _await_report(self, sent_unit: _SentUnit) -> None:
        with contextlib.suppress(Exception, asyncio.CancelledError):  # its status tells of it
            await wait(sent_unit.future)
        status = sent_unit.future.status
        brought = await self._fetch_report(sent_unit.future) if status == "finished" else None
        if status == "error":
            await self._look_who_left()
        if sent_unit.load.id not in self._on_the_way:
            return
        if brought is None:
            died = f"{self._who_had(sent_unit) or 'its worker'} died"
            self._report_lost(sent_unit, died if status == "error" else "it was lost on the way")
            return
        self._take_back(sent_unit)
        # It is released with the next load: that is one message to the scheduler, and not two.
        if not self._ended:
            loop = asyncio.get_running_loop()
            self._releasing = loop.call_later(_LINGERS, self._release_ended)
        self._ended.append(sent_unit.future)
        self._send_news(records.FinishedUnit(sent_unit.load.id, *brought))

    async def _fetch_report(self, future: Future) -> tuple[str, str] | None:
        """Return the worker and its result, or None if it is lost."""
        sent_along: tuple[str, str] | None = self._client.reports.pop(future.key, None)
        if sent_along:
            return sent_along
        try:
            address, found = await _ask_scheduler(
                self._client, dask_messages.REPORT, key=future.key
            )
        except Exception:  # noqa: BLE001 - whatever of it went wrong, the unit goes again
            return None
        # Empty if it was sent along but did not arrive.
        return (str(address), found) if isinstance(found, str) and found else None

    async def _look_who_left(self) -> None:
        """Learn which workers are gone, and what each had; without an answer nothing is learnt."""
        with contextlib.suppress(NoSchedulerError):
            left = await _ask_scheduler(self._client, dask_messages.LEFT)
            self._left = state.read_departed(left)

    def _who_had(self, sent_unit: _SentUnit) -> str:
        """Return which worker that is gone had a load last, in words; empty: not known."""
        for one in reversed(self._left):
            if sent_unit.load.id in {unit.id for unit in one.lost}:
                return f"the worker {one.address} on {one.machine}"
        return ""

    def _report_lost(self, sent_unit: _SentUnit, reason: str) -> None:
        self._send_news(records.LostUnit(sent_unit.load.id, reason, self._forget(sent_unit)))

    def _forget(self, sent_unit: _SentUnit) -> bool:
        """Cancel a load; return whether a worker was running it."""
        self._release(sent_unit.future)
        return self._take_back(sent_unit)

    def _take_back(self, sent_unit: _SentUnit) -> bool:
        """Take a load from those on their way; return whether a worker had begun with it."""
        del self._on_the_way[sent_unit.load.id]
        return self._served.tokens.end(sent_unit.token)

    def _release_ended(self) -> None:
        if self._releasing:
            self._releasing.cancel()
        while self._ended:
            self._release(self._ended.pop())

    def _release(self, future: Future) -> None:
        future.release()
        self._client.reports.pop(future.key, None)


async def identity(client: Client) -> Mapping[str, Any]:
    """Return what a scheduler says of itself and its workers.

    Raises:
        NoSchedulerError: it does not answer.
        UsageError: it is not one of ours.
    """
    found: Mapping[str, Any] = await _ask_scheduler(client, "identity", n_workers=-1)
    if found["type"] != dask_messages.GuardedScheduler.__name__:
        raise UsageError("it was not started by gtp-harness cluster scheduler")
    return found


async def describe_cluster(client: Client, scheduler: Mapping[str, Any]) -> records.ClusterState:
    """Return what a cluster does now; ``scheduler``: the scheduler's identity.

    Raises:
        NoSchedulerError: the scheduler does not answer.
    """
    loads = await _ask_scheduler(client, "processing")
    left = await _ask_scheduler(client, dask_messages.LEFT)
    return state.summarize(scheduler, loads, left, scheduler[dask_messages.NOW])


async def wait(future: Future) -> None:
    """Wait until a task has ended; Dask's own function makes tasks to wait for several ones."""
    await future._state._get_event().wait()


async def _ask_scheduler(client: Client, operation: str, **options: object) -> Any:
    if client.status != "running":
        raise NoSchedulerError("the connection to it is lost")
    try:
        return await asyncio.wait_for(getattr(client.scheduler, operation)(**options), _PATIENCE)
    except (OSError, TimeoutError) as error:
        why = str(error) or type(error).__name__
        raise NoSchedulerError(f"it does not answer: {why}") from None


async def carry(settings: records.ConnectorSettings) -> None:
    """Send what is asked for on standard input until that ends.

    Raises:
        NoSchedulerError: the scheduler cannot be reached, or no longer.
        UsageError: the address for the bytes cannot be had.
    """
    credentials = tls.credentials_in(settings.tls, tls.SERVER)
    context = credentials.server_context() if credentials else None
    try:
        served = BytesServer(settings.host, settings.port, context)
    except OSError as error:
        raise UsageError(
            f"workers cannot fetch files from {settings.host}, port {settings.port or 'any'}:"
            f" {error.strerror}. Give an address of this machine with --bytes-at HOST:PORT"
        ) from None
    try:
        async with client_of(settings, credentials) as client:
            connector = Connector(client, served, _write_news, watches=settings.watches)
            watching = asyncio.create_task(connector.watch())
            hearing = asyncio.create_task(_read_orders(connector))
            done, _ = await asyncio.wait({watching, hearing}, return_when=asyncio.FIRST_COMPLETED)
            watching.cancel()
            for one in done:
                one.result()
    finally:
        served.close()


async def look(settings: records.ConnectorSettings) -> records.ClusterState:
    """Return what a cluster does now; raises as :func:`identity`."""
    credentials = tls.credentials_in(settings.tls, tls.SERVER)
    async with client_of(settings, credentials) as client:
        return await describe_cluster(client, await identity(client))


@contextlib.asynccontextmanager
async def client_of(
    settings: records.ConnectorSettings, credentials: tls.TlsCredentials | None
) -> AsyncIterator[Client]:
    """Give a connection to a scheduler; raises :class:`NoSchedulerError`."""
    if obstacle := await find_obstacle(settings.scheduler, credentials):
        raise NoSchedulerError(f"it cannot be reached: {obstacle}")
    try:
        client = await _PlainClient(
            settings.scheduler,
            asynchronous=True,
            security=credentials.security() if credentials else None,
            deserializers=["msgpack"],
            direct_to_workers=False,
            timeout=_PATIENCE,
        )
    except (OSError, TimeoutError) as error:
        raise NoSchedulerError(f"it cannot be reached: {network.explain(error)}") from None
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # it may be gone
            await asyncio.wait_for(client.close(), _PATIENCE)


async def _read_orders(connector: Connector) -> None:
    reader = asyncio.StreamReader(limit=1 << 30)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    while line := await reader.readline():
        order = records.read_order(line)
        if isinstance(order, records.Drop):
            connector.drop(order)
        else:
            connector.send(order)


def _write_news(news: records.News) -> None:
    sys.stdout.buffer.write(records.to_line(news))
    sys.stdout.buffer.flush()
