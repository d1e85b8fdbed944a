"""The options of a run, and a limit that was hit: the facts, and the words made of them."""

from __future__ import annotations

from harness.core.typed import NamedTuple

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


class Limits(NamedTuple):
    """Limits on the time and the output of an engine. Seconds and bytes; 0 means no limit."""

    timeout: float = 60.0  # per command, from the reply before it
    startup: float = 30.0  # from the start to the first reply
    file: float = 0.0  # a whole case file
    total: float = 0.0  # the whole run
    max_output: int = 1 << 20  # bytes in one reply
    max_total_output: int = 1 << 26  # bytes in a whole case file, of both streams
    quit: float = 2.0  # from quit to the end of the process
    max_stderr: int = 1 << 16  # bytes of standard error kept, from both ends
    thinking: float = 0.0  # per command that may think about a move; 0: as ``timeout``

    def of_command(self, *, thinks: bool) -> float:
        """Return the limit of a command; ``thinks``: it may think about a move."""
        return self.thinking if thinks and self.thinking else self.timeout


UNTRUSTED = Limits(timeout=10.0, startup=10.0, file=300.0)  # of an engine in a sandbox
# Of an engine of one's own: it may tune its GPU, then think about a move for minutes.
PATIENT = Limits(timeout=600.0, startup=600.0)
TRIED_TIMEOUT = 5.0  # seconds per command of an engine that is only tried: fuzzed, or of a bank
GTP, STATUS_LAST = PROTOCOLS = ("gtp", "status last")  # see harness.engine.replies
SANDBOXES = ("auto", "3", "2", "1", "off")  # the strongest that works, or this level


def limits_of(sandbox: str) -> Limits:
    """Return the default limits of a run; ``sandbox``: one of SANDBOXES."""
    return PATIENT if sandbox == "off" else UNTRUSTED


class BoxLimits(NamedTuple):
    """Limits of the sandbox for an engine and every process it starts. 0 means no limit.

    Bytes and seconds. :class:`Limits` has the times of commands and files and the size of replies.
    """

    memory: int = GIB  # resident, of the whole tree
    address_space: int = 4 * GIB  # of each process; Java reserves this much
    cpu: float = 300.0  # seconds of CPU time of the whole tree
    processes: int = 64
    threads: int = 256  # of all processes together: the outer bound a fork bomb meets at once
    open_files: int = 1024  # of each process
    scratch: int = 64 * MIB  # all files it may write, together
    scratch_files: int = 10_000
    file_size: int = 64 * MIB

    def after(self, spent: float) -> BoxLimits:
        """Return the limits left after some seconds of CPU time: at least 0.01 s.

        A limit of 0 stays 0.
        """
        return self._replace(cpu=max(0.01, self.cpu - spent)) if self.cpu and spent else self


class Options(NamedTuple):
    """The options of a run, as on the command line, without the output options."""

    dialect: str = "gogui"  # or "gnugo"
    protocol: str = GTP  # one of PROTOCOLS
    translate: str = ""  # a file that says how the engine's words differ; "" if they do not
    jobs: int = 0  # files in parallel; 0: as many as there are cores
    limits: Limits = PATIENT
    gtpfile: str | None = None  # commands sent before each file
    lockstep: bool = False  # one command at a time
    pty: bool = False  # the engine's standard output is a terminal
    only: str | None = None  # a regular expression searched in the tests' commands
    ids: str | None = None  # such as "10,20-29"
    lines: str | None = None  # of the tests' commands, such as "10,20-29"
    rerun: int = 0  # so many times more; a verdict that changes is flaky
    fail_fast: bool = False  # nothing after the first unexpected failure
    most_hung: int = 0  # files that may hang before the rest is not run; 0: as many as like
    verbose: bool = False  # the GTP stream on standard error as it happens (one file at a time)
    sandbox: str = "off"  # one of SANDBOXES
    box: BoxLimits = BoxLimits()  # what an engine in a sandbox may use
    show: tuple[str, ...] = ()  # paths that it may read besides its own program
    submission: str = ""  # its folder, which is shown; nothing in it is looked at
    python: str = ""  # that runs the engine, in words, for the record; empty: not known
    strict: bool = False  # listen as grading does, not as gogui: see harness.engine.engine_session
    restart: bool = False  # continue with a new engine after one broke: harness.running.restarting
    folder: str = ""  # where engines are started; empty: in the folder of their case file


CPU_SECONDS = "seconds of CPU time"
_TIMES = {  # of the conversation: the words for each limit
    "command": "within {}",
    "start": "within {} of its start",
    "file": "the file's {} were used up",
    "run": "the whole run's {} were used up",
}
_FLOODS = {  # of output: how an engine wrote so much
    "one reply": "without ending its reply",
    "no reply": "but no reply",
    "unread input": "instead of reading its input",
    "unasked output": "that nothing had asked for",
    "all output": "in all",
}
_SIZES = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_CHOSEN, _MEASURED = "g", ".4g"  # formats of seconds that somebody set, and of those spent
_LONG = 10_000  # seconds, from which on all digits before the point are shown


class Limit(NamedTuple):
    """A limit that was hit.

    Names of the sandbox are ``time``, ``memory``, ``processes`` and ``disk``; those of the
    conversation are keys of the two tables above.
    """

    name: str
    used: float | None  # None: not kept, for it differs from run to run
    allowed: float
    unit: str  # seconds, seconds of CPU time, bytes, processes or files

    def __str__(self) -> str:
        """Such as ``memory limit: 1.02 GiB used, 1 GiB allowed``."""
        if self.name in _FLOODS:
            how, most = _FLOODS[self.name], f"{self.allowed:,.0f}"
            if self.used is None:
                return f"output limit: it wrote more than {most} bytes {how}"
            return f"output limit: it wrote {self.used:,.0f} bytes {how}, {most} are allowed"
        allowed = _figure(self.allowed, self.unit, _CHOSEN)
        if self.name in _TIMES:
            return _TIMES[self.name].format(allowed)
        used = "" if self.used is None else f"{_figure(self.used, self.unit, _MEASURED)} used, "
        return f"{self.name} limit: {used}{allowed} allowed"


def _figure(count: float, unit: str, digits: str) -> str:
    if unit.startswith("seconds"):
        seconds = format(count, ".0f" if count >= _LONG else digits)
        return unit.replace("seconds", f"{seconds} s")
    if unit != "bytes":
        return f"{count:,.0f} {unit}"
    for name, size in _SIZES:
        if count >= size:
            return f"{count / size:.4g} {name}"
    return f"{count:.0f} bytes"
