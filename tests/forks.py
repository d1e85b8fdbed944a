"""``pytest --forks N``: tests side by side, in processes that are forked once all is collected.

To collect thousands of tests takes ten seconds of a processor, and twice as much in a fresh clone:
``pytest-xdist`` does so in each of its processes, this in one. Each process gets a piece of a
module at a time, and the pieces become smaller towards the end, so that all end together.

A process that dies fails the test it was at; another takes its place.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import pickle
import selectors
import signal
import socket
import traceback
from collections import deque
from collections.abc import Iterable
from pathlib import Path

import pytest

_PROCESS = "GTP_HARNESS_TESTS_PROCESS"  # the number of this process, in each of them
_HEAD = 8  # bytes that say how long a message is
_PIECES = 3  # of what is left, a process gets so small a part of its share at once
_PATIENCE = 10.0  # seconds for a process to end


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--forks", metavar="N", help="run tests in N processes; auto: twice the cores"
    )


def is_forked() -> bool:
    """Return whether this process is one of several that run the tests."""
    return _PROCESS in os.environ


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> object:
    """Run the tests in several processes if that is asked for."""
    asked = session.config.getoption("forks")
    if not asked or session.config.option.collectonly or session.testsfailed:
        return None
    processes = max(2, 2 * (os.cpu_count() or 1)) if asked == "auto" else int(asked)
    Pool(session).run(processes)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


class Process:
    """A process that runs tests, as its parent knows it."""

    def __init__(self, number: int, pid: int, line: socket.socket) -> None:
        self.number, self.pid, self.line = number, pid, line
        self.to_do: deque[int] = deque()  # the tests it was given and has not ended
        self.received = bytearray()

    def read(self) -> Iterable[tuple]:
        """Yield the messages that have come; raise EOFError if no more will come."""
        data = self.line.recv(1 << 20)
        if not data:
            raise EOFError
        self.received += data
        while len(self.received) >= _HEAD:
            end = _HEAD + int.from_bytes(self.received[:_HEAD], "big")
            if len(self.received) < end:
                return
            message = pickle.loads(bytes(self.received[_HEAD:end]))
            del self.received[:end]
            yield message


class Pool:
    """The processes, and what is left for them to do."""

    def __init__(self, session: pytest.Session) -> None:
        self.session, self.config = session, session.config
        self.left = deque(range(len(session.items)))
        self.running: dict[socket.socket, Process] = {}
        self.selector = selectors.DefaultSelector()

    def run(self, processes: int) -> None:
        self.processes = processes
        _read_constants()
        try:
            for number in range(processes):
                self._fork(number)
            while self.running:
                for key, _ in self.selector.select():
                    self._listen(key.data)
                    if self.session.shouldfail or self.session.shouldstop:
                        return
        finally:
            self._end()

    def _end(self) -> None:
        """End the processes: what they use is given back, as after Ctrl-C."""
        for process in self.running.values():
            os.kill(process.pid, signal.SIGINT)
        for process in self.running.values():
            process.line.settimeout(_PATIENCE)
            with contextlib.suppress(OSError):
                while process.line.recv(1 << 20):
                    pass
            os.kill(process.pid, signal.SIGKILL)
            os.waitpid(process.pid, 0)

    def _fork(self, number: int) -> None:
        ours, theirs = socket.socketpair()
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            ours.close()
            for process in self.running.values():
                process.line.close()
            self.selector.close()
            _be_process(self.session, theirs, number)
        theirs.close()
        process = Process(number, pid, ours)
        self.running[ours] = process
        self.selector.register(ours, selectors.EVENT_READ, process)

    def _listen(self, process: Process) -> None:
        try:
            for kind, *rest in process.read():
                getattr(self, f"_on_{kind}")(process, *rest)
        except (EOFError, ConnectionError):
            self._bury(process)

    def _on_next(self, process: Process) -> None:
        """Give a process its next tests; none: it is to end."""
        piece = self._cut()
        process.to_do.extend(piece)
        with contextlib.suppress(ConnectionError):
            process.line.sendall(_pack(piece))

    def _cut(self) -> list[int]:
        """Take tests of one module from what is left."""
        items, piece = self.session.items, []
        most = 1 + len(self.left) // (_PIECES * self.processes)
        while self.left and len(piece) < most:
            if piece and items[self.left[0]].path != items[piece[0]].path:
                break
            piece.append(self.left.popleft())
        return piece

    def _on_start(self, process: Process, place: int) -> None:
        item = self.session.items[place]
        self.config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)

    def _on_report(self, process: Process, data: dict) -> None:
        report = self.config.hook.pytest_report_from_serializable(config=self.config, data=data)
        self.config.hook.pytest_runtest_logreport(report=report)

    def _on_end(self, process: Process, place: int) -> None:
        process.to_do.remove(place)
        item = self.session.items[place]
        self.config.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _on_warning(self, process: Process, *told: object) -> None:
        names = ("warning_message", "when", "nodeid", "location")
        words = dict(zip(names, told, strict=True))
        self.config.hook.pytest_warning_recorded.call_historic(kwargs=words)

    def _on_broken(self, process: Process, text: str) -> None:
        """Fail the run: pytest itself broke, not a test."""
        raise RuntimeError(f"process {process.number} of the tests broke:\n{text}")

    def _bury(self, process: Process) -> None:
        """Take leave of a process that ended; if it had not done all, another goes on."""
        self.selector.unregister(process.line)
        process.line.close()
        del self.running[process.line]
        _, status = os.waitpid(process.pid, 0)
        if not process.to_do:
            return
        place = process.to_do.popleft()
        item = self.session.items[place]
        words = f"the process that ran this test died: {os.waitstatus_to_exitcode(status)}"
        report = pytest.TestReport(
            item.nodeid, item.location, dict.fromkeys(item.keywords, 1), "failed", words, "call"
        )
        self.config.hook.pytest_runtest_logreport(report=report)
        self.left.extendleft(reversed(process.to_do))
        self._fork(process.number)


def _read_constants() -> None:
    """Let Hypothesis read the product's source for constants once, and not in each process.

    It has no public way to say when; without this one it does so at the first numbers it draws.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from hypothesis.internal.conjecture import providers

        providers._get_local_constants()


def _pack(message: object) -> bytes:
    data = pickle.dumps(message)
    return len(data).to_bytes(_HEAD, "big") + data


class _Teller:
    """Tells the parent what happens to the tests of this process."""

    def __init__(self, config: pytest.Config, line: socket.socket) -> None:
        self.config, self.line = config, line

    def tell(self, *message: object) -> None:
        self.line.sendall(_pack(message))

    def ask(self) -> list[int]:
        """Return the tests that come next."""
        self.tell("next")
        head = self._read(_HEAD)
        return pickle.loads(self._read(int.from_bytes(head, "big")))

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.line.recv(size - len(data))
            if not more:
                os._exit(0)  # the parent is gone
            data += more
        return data

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self.config.hook.pytest_report_to_serializable
        self.tell("report", hook(config=self.config, report=report))

    def pytest_warning_recorded(
        self, warning_message: object, when: str, nodeid: str, location: object
    ) -> None:
        with contextlib.suppress(pickle.PicklingError, TypeError, AttributeError):
            self.tell("warning", warning_message, when, nodeid, location)


def _be_process(session: pytest.Session, line: socket.socket, number: int) -> None:
    """Run tests until there are no more. Never returns."""
    status = 1
    teller = _Teller(session.config, line)
    try:
        _part(session.config, teller, number)
        todo = deque(teller.ask())
        while todo:
            place = todo.popleft()
            if not todo:  # the end of fixtures depends on what comes next
                todo.extend(teller.ask())
            item = session.items[place]
            follower = session.items[todo[0]] if todo else None
            teller.tell("start", place)
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=follower)
            teller.tell("end", place)
        status = 0
    except (KeyboardInterrupt, pytest.exit.Exception):
        pass
    except BaseException:  # noqa: BLE001 - the parent tells what it was
        with contextlib.suppress(OSError):
            teller.tell("broken", traceback.format_exc())
    finally:
        with contextlib.suppress(BaseException):
            session._setupstate.teardown_exact(None)
            atexit._run_exitfuncs()
        os._exit(status)


def _part(config: pytest.Config, teller: _Teller, number: int) -> None:
    """Have what a process may not share with its parent and the others."""
    os.environ[_PROCESS] = str(number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    plugins = config.pluginmanager
    for name in ("terminalreporter", "progress"):
        if plugin := plugins.get_plugin(name):
            plugins.unregister(plugin)
    plugins.register(teller, "teller")
    with open(os.devnull, "r+b", buffering=0) as nothing:
        os.dup2(nothing.fileno(), 0)
    capture = plugins.get_plugin("capturemanager")
    if capture and capture._global_capturing:
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()
    # Folders of tests are numbered: each process has its own folder for them.
    factory = config._tmp_path_factory
    own = Path(factory.getbasetemp()) / f"process{number}"
    own.mkdir(mode=0o700, exist_ok=True)
    factory._basetemp = own
