"""One run of a student's program: with an end, and with no more output than a reader can use."""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

# Started in a third of the time, with fewer threads, and with no more memory than a student needs.
JAVA = ("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx256m")
PATIENCE = 8  # times the processor seconds allowed: a program may wait, or the machine be busy
_MOST = 1 << 16  # bytes of either stream
_SHOWN = 200  # characters of a stream in an error
_HANGS = "did not end by itself: it hangs or waits for input"


def class_path(folder: Path, settings: dict[str, Any]) -> str:
    """Return where Java finds the classes, and libraries that came along."""
    places = (settings["classes"], "*", "lib/*")
    return ":".join(str(folder / place) for place in places)


class Call(NamedTuple):
    """The result."""

    output: str
    errors: str
    trouble: str  # why it ended otherwise than with status 0; empty if it did not
    timed_out: bool = False
    crashed: bool = False
    exited: bool = False  # it ended by itself, with whatever status


def call(words: list[str], folder: Path, seconds: float) -> Call:
    """Run a program to its end; it may use so many ``seconds`` of CPU time."""
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: limit_processor_time(seconds),  # noqa: PLW1509 - no threads here
        )
    except OSError as error:
        return Call("", "", f"could not be executed ({error.strerror})")
    streams, cut = _read(process, TimeLeft(process.pid, seconds * PATIENCE))
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    output, errors = (text.decode(errors="replace").replace("\r\n", "\n") for text in streams)
    status = process.wait()
    trouble = cut or describe(status, seconds)
    timed_out = cut == _HANGS or (not cut and status == -signal.SIGXCPU)
    crashed = not (cut or timed_out) and status < 0
    return Call(output, errors, trouble, timed_out, crashed, not cut and status >= 0)


def limit_processor_time(seconds: float) -> None:
    """Let the kernel end this process when it has computed for so long; runs before exec."""
    whole = max(1, round(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))


def describe(status: int, seconds: float) -> str:
    """Return what an end means, as ``Popen.returncode`` has it; nothing if all is well."""
    if status == -signal.SIGXCPU:
        return f"was ended after {seconds:g} s of CPU time"
    if status < 0:
        text = signal.strsignal(-status) or f"signal {-status}"
        return f"crashed: {signal.Signals(-status).name} ({text.lower()})"
    return f"ended with exit status {status}" if status else ""


def _read(process: subprocess.Popen[bytes], patience: TimeLeft) -> tuple[list[bytearray], str]:
    """Return what it wrote until it closed both streams, and why it was cut off, if it was."""
    assert process.stdout
    assert process.stderr
    found = [bytearray(), bytearray()]
    with selectors.DefaultSelector() as ready, process.stdout, process.stderr:
        for stream, taken in zip((process.stdout, process.stderr), found, strict=True):
            ready.register(stream, selectors.EVENT_READ, taken)
        while ready.get_map():
            events = ready.select(patience.left())
            if not events and not patience.left():
                return found, _HANGS
            for key, _ in events:
                piece = os.read(key.fd, 1 << 14)
                key.data.extend(piece)
                if not piece:
                    ready.unregister(key.fileobj)
                elif len(key.data) > _MOST:
                    return found, "writes without end"
    return found, ""


def quote(text: str) -> str:
    """Return the beginning of a text on one line, for an error."""
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= _SHOWN else flat[:_SHOWN] + "…")


_LOOK = 1.0  # seconds between two looks: on the busiest machine a program has a turn in them
_LOOKS = 4  # at least, in the limit
_COMPUTES = 0.005  # of the time: who uses less of the processor sleeps
_LEAST = 0.1  # of the time always counts, so that it ends
_SHORTEST = 0.01  # seconds


class TimeLeft:
    """The time that is left for a program. It counts only what the program itself does.

    - While the program *computes*, its CPU time counts. Time waiting for a processor does not.
    - While it *sleeps*, all time counts.
    - Where we ourselves did not run (a stop signal, a busy machine), two looks count at most.

    The CPU time is that of the process, not of what it starts. It is read by
    clock_getcpuclockid(3), which needs no ``/proc``: a box of level 1 shows none.
    """

    def __init__(self, program: int, seconds: float) -> None:
        """Let the time begin. ``program``: its process id."""
        self._clock = ~program << 3 | 2
        self._left = seconds
        self.look = min(_LOOK, seconds / _LOOKS)  # seconds
        self._used = 0.0
        self._looked = time.monotonic()
        self._look()

    def left(self) -> float:
        """Return for how many seconds to wait until this is asked again; 0: no longer."""
        if time.monotonic() - self._looked >= min(self.look, self._left):
            self._look()
        return max(_SHORTEST, min(self.look, self._left)) if self._left > 0 else 0.0

    def _look(self) -> None:
        before, self._looked = self._looked, time.monotonic()
        used = self._used
        with contextlib.suppress(OSError):  # it has ended
            self._used = time.clock_gettime(self._clock)
        self._left -= count_seconds(self._looked - before, self._used - used, 2 * self.look)


def count_seconds(seconds: float, cpu_seconds: float, at_most: float) -> float:
    """Return how many of the seconds between two looks count.

    ``cpu_seconds``: seconds of CPU time in them. ``at_most``: seconds, if we did not run.
    """
    most = min(seconds, at_most)
    if cpu_seconds < _COMPUTES * most:
        return most
    return min(max(cpu_seconds, _LEAST * most), most)
