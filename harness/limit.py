"""A limit that an engine hit: the facts, and the words that are made of them."""

from __future__ import annotations

from harness.typed import NamedTuple

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
            return f"output limit: {self._describe_written()}"
        allowed = _figure(self.allowed, self.unit, _CHOSEN)
        if self.name in _TIMES:
            return _TIMES[self.name].format(allowed)
        used = "" if self.used is None else f"{_figure(self.used, self.unit, _MEASURED)} used, "
        return f"{self.name} limit: {used}{allowed} allowed"

    def _describe_written(self) -> str:
        how = _FLOODS[self.name]
        if self.used is None:
            return f"it wrote more than {self.allowed:,.0f} bytes {how}"
        return f"it wrote {self.used:,.0f} bytes {how}, {self.allowed:,.0f} are allowed"


def _figure(count: float, unit: str, digits: str) -> str:
    if unit.startswith("seconds"):
        seconds = format(count, ".0f" if count >= _LONG else digits)
        return unit.replace("seconds", f"{seconds} s")
    return _bytes(count) if unit == "bytes" else f"{count:,.0f} {unit}"


def _bytes(count: float) -> str:
    for unit, size in _SIZES:
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count:.0f} bytes"
