"""Messages of Dask: only those that a peer may send, no pickles, and little work for each."""

import asyncio
import logging
import pickle
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from ssl import SSLError
from typing import Any

from distributed import Scheduler, Worker, worker_state_machine
from distributed.batched import BatchedSend
from distributed.comm import Comm, tcp
from distributed.comm.core import CommClosedError
from distributed.protocol import core
from distributed.protocol.utils import unpack_frames
from distributed.stealing import WorkStealing
from distributed.worker import WORKER_ANY_RUNNING

from harness.cluster import tls

BROUGHT = "gtp_harness_brought"  # a report, in what a worker says and what a client is told
# Operations of ours.
CENSUS, LEFT, REPORT = "gtp_harness_census", "gtp_harness_left", "gtp_harness_report"
TASK = "gtp_harness_task"
NOW = "gtp_harness_now"  # in what a scheduler says of itself
_RELEASED = "release-worker-data"  # says that a worker has forgotten what it was told to forget
# What Dask does several times a second: to end a scheduler or tasks when nothing happens for long,
# which is set to never, and to find inputs of tasks on other workers, which ours do not have.
_IDLE, _SEARCH = ("idle-timeout", "no-workers-timeout"), "find-missing"
# What a worker says of itself when it comes, as far as others are told of it.
_SAID = {
    **dict.fromkeys(("address", "name", "server_id", "status"), str),
    **dict.fromkeys(("resources", "metrics"), dict),
    "nthreads": int,
}
_REMEMBERED = 20  # workers that have left
_BEAT = 2.0  # seconds between two signs of life of a worker
_SHORT = 1 << 18  # characters of a report that goes with a message; others are fetched

Rule = Callable[[str], frozenset[str] | None]


class _TaskText(str):
    """Task text for our workers, sent as it is: Dask would send a pickle of it."""

    __slots__ = ()
    data_producer = False  # Dask asks for it


class GuardedScheduler(Scheduler):  # type: ignore[misc] # Dask has no types
    """A scheduler that serves workers only what they need and remembers departed ones."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, extensions={"stealing": WorkStealing}, **options)
        self._left: deque[tuple[str, str, float, list[str]]] = deque(maxlen=_REMEMBERED)
        self.handlers |= {CENSUS: self.census, LEFT: self.list_departed, REPORT: self.find_report}
        self.stream_handlers[TASK] = self.add_task
        for name in _IDLE:
            del self.periodic_callbacks[name]

    async def add_worker(self, comm: Comm, **fields: Any) -> None:
        """Take in a worker if what it says of itself is of the right kinds.

        ``extra`` is left out: it would replace whatever else is told of the worker.
        """
        if any(type(fields.get(name)) is not kind for name, kind in _SAID.items()):
            comm.abort()
            return
        await super().add_worker(comm, **{**fields, "extra": {}})

    def identity(self, n_workers: int = -1) -> dict[str, Any]:
        """Return what this scheduler is and has, and its time: clocks of others may differ."""
        return {**super().identity(n_workers), NOW: time.time()}

    def heartbeat_worker(self, **fields: Any) -> dict[str, Any]:
        """Take note that a worker is there; it need not say so as often as Dask wants.

        What it measures for extensions of Dask is left out: we do not have these.
        """
        answer: dict[str, Any] = super().heartbeat_worker(**{**fields, "extensions": None})
        return {**answer, "heartbeat-interval": max(answer.get("heartbeat-interval", 0.0), _BEAT)}

    def add_task(  # noqa: PLR0913, PLR0917 - as a client sends it
        self,
        client: str,
        key: str,
        text: str,
        workers: Sequence[str],
        resources: dict[str, float],
        number: int,
    ) -> None:
        """Let one of these workers do a task; those with a small number are done first.

        Dask's own clients send a graph as a pickle. This process reads none.
        """
        task = self.new_task(key, _TaskText(text), "released")
        task.worker_restrictions, task.resource_restrictions = set(workers), resources
        task.priority = (number,)
        self.client_desires_keys([key], client)
        self.transitions({key: "waiting"}, f"{TASK}-{key}")

    def _task_to_msg(self, ts: Any) -> dict[str, Any]:
        """Return the message that has a worker do a task: plain data, no pickle."""
        told: dict[str, Any] = super()._task_to_msg(ts)
        return {**told, "run_spec": ts.run_spec}

    def census(self) -> int:
        """Return a number that is another one when other workers are there, or one's status is.

        It is asked for often. All that is known of each worker is much more.
        """
        return hash(tuple((one.server_id, one.status.name) for one in self.workers.values()))

    def list_departed(self) -> list[tuple[str, str, float, list[str]]]:
        """Return the workers that left last: address, name, when, and the tasks that each had."""
        return list(self._left)

    async def handle_worker(self, comm: Comm, worker: str) -> None:
        """Listen to a worker, which speaks of itself alone: not as another one."""
        await super().handle_worker(speaking_as(comm, worker), worker)

    def handle_task_finished(self, key: Any, worker: str, stimulus_id: str, **fields: Any) -> None:
        """Pass on the report that a worker sends along, if it is the one that has the task.

        To fetch it afterwards takes two requests more.
        """
        metadata = fields.get("metadata")
        report = metadata.pop(BROUGHT, None) if isinstance(metadata, dict) else None
        task = self.tasks.get(key)
        # A worker, by its address, has to have been given the task, and to have this run in hand.
        given_to = task.processing_on if task else None
        is_doing = given_to and given_to.address == worker and task.run_id == fields.get("run_id")
        if isinstance(report, str) and is_doing:
            told = {"op": BROUGHT, "key": key, "address": worker, "report": report}
            for client in task.who_wants or ():
                if client.client_key in self.client_comms:  # else it has just gone
                    self.client_comms[client.client_key].send(told)
        super().handle_task_finished(key, worker, stimulus_id, **fields)

    async def find_report(
        self, key: str, serializers: list[str] | None = None
    ) -> tuple[str, object] | None:
        """Return the worker that brought a task's result, and the result; None if it is lost.

        ``serializers``: ways of writing that who asks can read; Dask adds them.
        """
        holders = self.get_who_has([key])[key]
        found = await self.gather(keys=[key], serializers=serializers)
        return (holders[0], found["data"][key]) if holders and found["status"] == "OK" else None

    async def remove_worker(self, address: str, *arguments: Any, **options: Any) -> Any:
        """Take note that a worker is gone, and what with it."""
        if worker := self.workers.get(address):
            had = [str(task.key) for task in worker.processing]
            self._left.append((address, str(worker.name), time.time(), had))
        return await super().remove_worker(address, *arguments, **options)

    def handle_comm(self, comm: Comm) -> Any:
        """Take a connection that somebody opened."""
        return super().handle_comm(guard(comm, tls.at_scheduler))


class GuardedWorker(Worker):  # type: ignore[misc]
    """A worker that accepts messages only from its scheduler."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, extensions={}, **options)
        del self.periodic_callbacks[_SEARCH]

    def batched_send(self, msg: dict[str, Any]) -> None:
        """Send a message; one that nobody waits for goes with the next one."""
        if msg["op"] == _RELEASED and self.batched_stream:
            self.batched_stream.buffer.append(msg)
        else:
            super().batched_send(msg)

    def _start_async_instruction(
        self,
        task_name: str,
        func: Callable[..., Coroutine[Any, Any, worker_state_machine.StateMachineEvent]],
        /,
        *arguments: Any,
        span_id: str | None = None,
        **options: Any,
    ) -> None:
        """Begin with a task; what Dask measures around it nobody looks at.

        ``span_id``: of what is measured.
        """
        started = asyncio.create_task(func(*arguments, **options), name=task_name)
        self._async_instructions.add(started)
        started.add_done_callback(self._take_event)

    def _take_event(self, task: asyncio.Task[worker_state_machine.StateMachineEvent]) -> None:
        """Take note of how a task has ended; cancelled: this worker is closing."""
        self._async_instructions.discard(task)
        if not task.cancelled():
            self.handle_stimulus(task.result())

    async def execute(self, key: str, *, stimulus_id: str) -> Any:
        """Do a task in the thread for tasks; it needs no result of another one.

        Dask's own way takes times and counts around it that nobody looks at.
        """
        if self.status not in WORKER_ANY_RUNNING:  # Dask gives it back
            return await super().execute(key, stimulus_id=stimulus_id)
        task, begun = self.state.tasks[key], time.time()
        loop, run = asyncio.get_running_loop(), task.run_id

        def is_wanted() -> bool:
            # Dask ends no task that has begun: it only notes that its result is not to be sent.
            return bool(task.state == "executing" and self.status in WORKER_ANY_RUNNING)

        try:
            report = await loop.run_in_executor(
                self.executors["default"], run_task, task.run_spec, is_wanted
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the scheduler is told
            about = {"start": begun, "stop": time.time(), "stimulus_id": f"erred-{key}"}
            return worker_state_machine.ExecuteFailureEvent.from_exception(
                error, key=key, run_id=run, **about
            )
        value = hand_in(report, task)
        return worker_state_machine.ExecuteSuccessEvent(
            key=key, run_id=run, value=value, start=begun, stop=time.time(), nbytes=len(value),
            type=type(value), stimulus_id=f"finished-{key}",
        )  # fmt: skip

    def handle_comm(self, comm: Comm) -> Any:
        """Take a connection that somebody opened."""
        return super().handle_comm(guard(comm, tls.at_worker))


def hand_in(report: str, task: Any) -> str:
    """Let a report go with the message that its task is finished; return the task's result.

    A long report is its result, so that it holds up no other message.
    """
    if len(report) > _SHORT:
        return report
    task.metadata[BROUGHT] = report
    return ""


def speaking_as(comm: Comm, worker: str) -> Comm:
    """Return a connection on which all is said by this worker, whatever it calls itself.

    Dask lets a message name the worker that sent it.
    """
    read = comm.read

    async def read_signed(deserializers: Any = None) -> Any:
        said = await read(deserializers=deserializers)
        for one in said if isinstance(said, list | tuple) else (said,):
            if isinstance(one, dict):
                one["worker"] = worker
        return said

    comm.read = read_signed
    return comm


def guard(comm: Comm, rule: Rule) -> Comm:
    """Return a connection that carries only the operations that its other end may ask for."""
    if "peercert" not in comm.extra_info:  # no TLS: all is on this machine
        return comm
    operations = rule(tls.role(comm.extra_info["peercert"]))
    if operations is None:
        return comm
    read = comm.read

    async def read_allowed(deserializers: Any = None) -> Any:
        said = await read(deserializers=deserializers)
        if unwanted := forbidden_operation(said, operations):
            comm.abort()
            raise CommClosedError(f"{comm.peer_address} may not ask for {unwanted}")
        return said

    comm.read = read_allowed
    return comm


def forbidden_operation(message: Any, operations: frozenset[str]) -> str:
    """Return an operation of a message, or of a list of them, that is not allowed; "": none."""
    for one in message if isinstance(message, list | tuple) else (message,):
        if isinstance(one, dict) and str(one.get("op")) not in operations:
            return repr(one.get("op"))[:60]
    return ""


# --- Make pickles harmless: a process that hears strangers reads none ----------------------------
# Dask unpickles much of what it receives: graphs of clients, types and exceptions from workers. A
# pickle is a program: it may call whatever it can name. What we send is plain data. So
# :func:`refuse` replaces Python's unpickler: whatever a pickle says, it becomes a
# :class:`Nothing`. An unreadable one does so, too, so that no pickle can end a connection.


_PLAIN = ("msgpack",)  # ways in which Dask writes data


class Nothing:
    """The stand-in for what a pickle is to become."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take what a pickle is read from, and forget it."""

    def load(self) -> "Nothing":
        """Read nothing, as an unpickler."""
        return self


def refuse() -> None:
    """Read no pickle from now on, in all that this process has loaded and will.

    It is for good: it belongs into a process that does nothing else.
    """
    # Those written in C, and those in Python beside them, wherever a module has them.
    names = [f"{way}{name}" for way in ("", "_") for name in ("loads", "load", "Unpickler")]
    former = {id(getattr(pickle, name)) for name in names}
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
            if id(value) in former and module is not sys.modules[__name__]:
                setattr(module, name, Nothing)


def refuse_objects() -> None:
    """Let what Dask brings be plain data: of anything else nothing is made, and nothing fails."""
    merge = core.merge_and_deserialize

    def merge_plain(header: Any, frames: Any, deserializers: object = None) -> Any:
        try:
            return merge(header, frames, deserializers=_PLAIN)
        except Exception:  # noqa: BLE001 - strangers write it: whatever is wrong with it is theirs
            return Nothing()

    core.merge_and_deserialize = merge_plain


# --- Connections of Dask that handle small messages with less work, and send them at once --------


_PIECE = 1 << 16  # bytes that are read at once
_CHUNK = 1 << 14  # of these, bytes for which room is made: a record of TLS has no more
_SMALL = 1 << 17  # bytes of a message that is copied rather than sent in parts, as in Dask
_LENGTH = struct.Struct("Q")
_PRELUDE = struct.Struct("QQQ")  # bytes of all that follows, number of frames, bytes of the frame


class _Lean(tcp.TCP):  # type: ignore[misc] # Dask has no types
    """Reads and writes; the rest is Dask's."""

    stream: Any

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._received = bytearray()  # what has come, and is of no message yet
        self._packer = core.msgpack.Packer(use_bin_type=True)
        super().__init__(*arguments, **options)
        self.stream.read_chunk_size = _CHUNK

    async def read(self, deserializers: Any = None) -> Any:
        """Return the next message; raises CommClosedError if the connection is closed."""
        try:
            stream = self._open_stream()
            (length,) = _LENGTH.unpack(await self._take(stream, _LENGTH.size))
            frames, lengths = unpack_frames(await self._take(stream, length), partial=True)
            frames = [*frames, *[memoryview(await self._take(stream, one)) for one in lengths]]
        except (tcp.StreamClosedError, SSLError) as error:
            self._end(error)
        except BaseException:
            self.abort()  # how much of a message was read is not known
            raise
        return core.loads(frames, deserialize=self.deserialize, deserializers=deserializers)

    async def _take(self, stream: Any, count: int) -> bytearray:
        while len(self._received) < count:
            self._received += await stream.read_bytes(_PIECE, partial=True)
        taken = self._received[:count]
        del self._received[:count]
        return taken

    async def write(
        self, msg: Any, serializers: Any = None, on_error: str = "message"
    ) -> int | None:
        """Send a message; return its bytes, or None if Dask has not counted them.

        Raises:
            CommClosedError: the connection is closed.
        """
        stream = self._open_stream()
        try:
            packed = self._packer.pack(msg)
        except (TypeError, ValueError, OverflowError):  # not plain data
            packed = None
        if packed is None or len(packed) >= _SMALL:
            written: int | None = await super().write(msg, serializers, on_error)
            return written
        size = len(packed)
        try:
            stream.write(_PRELUDE.pack(_PRELUDE.size - _LENGTH.size + size, 1, size) + packed)
        except tcp.StreamClosedError as error:
            self._end(error)
        except BaseException:
            self.abort()  # how much was written is not known
            raise
        return _PRELUDE.size + size

    def _open_stream(self) -> Any:
        if self.stream is None:
            raise CommClosedError
        return self.stream

    def _end(self, error: Exception) -> None:
        """Note that the connection is closed, and raise CommClosedError."""
        self.stream, self._closed = None, True
        tcp.convert_stream_closed_error(self, error)


class _LeanTLS(_Lean, tcp.TLS):  # type: ignore[misc]
    pass


def use() -> None:
    """Let all connections of this process be such ones from now on."""
    tcp.TCPConnector.comm_class = tcp.TCPListener.comm_class = _Lean
    tcp.TLSConnector.comm_class = tcp.TLSListener.comm_class = _LeanTLS


# --- Sends messages of Dask as soon as the event loop has nothing else to do ---------------------
# Dask's own sender waits for 2 to 10 ms after each message, so that more can go with the next one.
# It sets a timer for that each time. Where few messages are sent, these timers cost more than the
# messages. What is said at one turn of the loop still goes at once.


_log = logging.getLogger(__name__)


class PromptSender(BatchedSend):  # type: ignore[misc] # Dask has no types
    """A ``BatchedSend`` of Dask without timers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.buffer: list[Any] = []
        self._sending: asyncio.Task[None] | None = None

    def start(self, comm: Any) -> None:
        """Send on this connection, first what was said before there was one."""
        self.comm = comm
        self._send_soon()

    def send(self, *messages: Any) -> None:
        """Send messages soon; raises CommClosedError if the connection is closed."""
        if self.closed():
            raise CommClosedError(f"{self.comm!r} is closed")
        self.buffer.extend(messages)
        self._send_soon()

    def _send_soon(self) -> None:
        if self.comm and self.buffer and not self._sending and not self.please_stop:
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        """Send what there is; without a connection that works, drop it, as Dask does."""
        try:
            while self.buffer:
                payload, self.buffer = self.buffer, []
                await self.comm.write(payload, serializers=self.serializers, on_error="raise")
        except Exception:  # noqa: BLE001 - of a message half sent, the rest cannot be sent
            _log.info("cannot send to %r", self.comm, exc_info=True)
            self.abort()
        finally:
            self._sending = None

    async def close(self, timeout: object = None) -> None:
        """Send the rest, then close the connection; ``timeout``: as Dask gives it, not needed."""
        if self.comm is None:
            return
        self.please_stop = True
        if self._sending:
            await self._sending
        if not self.comm.closed():
            await self._send_all()
            await self.comm.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self.please_stop = True
        self.buffer = []
        if self.comm and not self.comm.closed():
            self.comm.abort()


# --- What a worker does the tasks of Dask with: text in, text out --------------------------------


# At most one: what this worker does tasks with. It may ask if somebody waits for the result.
TASK_RUNNER: list[Callable[[str, Callable[[], bool]], str]] = []


def run_task(text: str, is_wanted: Callable[[], bool]) -> str:
    """Do a task, while it is wanted; where this is not a worker of ours, say so."""
    if not TASK_RUNNER:
        return '{"machine":"","lines":[],"trouble":"this is not a worker of gtp-harness"}'
    return TASK_RUNNER[0](text, is_wanted)
