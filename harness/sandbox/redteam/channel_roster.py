"""The channels between runs, each tried in two successive boxes and in two at the same time."""

from __future__ import annotations

from collections.abc import Iterator

from harness.sandbox.redteam.attack import Attack

_CALLS = dict.fromkeys((3, 2, 1), "seccomp")
_NOTHING = dict.fromkeys((3, 2, 1), "nothing: both see the same kernel")
_OVER = dict.fromkeys((3, 2, 1), "nothing of it is left")
_NEXT, _BESIDE = "next", "beside"
_WHERE = {_NEXT: "in the next box", _BESIDE: "in a box beside"}


def _channel(
    program: str, title: str, layer: dict[int, str], leaks: tuple[int, ...] = (), bits: int = 256
) -> Attack:
    """Return a channel without its receiver; ``leaks``: the levels that do not hold it."""
    return Attack(program, title, layer, leaks=frozenset(leaks), source="channels", bits=bits)


def _to(receiver: str, channel: Attack) -> Attack:
    title = f"be heard {_WHERE[receiver]} by {channel.title}"
    return channel._replace(receiver=receiver, title=title)


def _lasting(channel: Attack) -> Iterator[Attack]:
    """Yield a channel through what lasts, in both ways."""
    yield _to(_NEXT, channel)
    yield _to(_BESIDE, channel)


def _momentary(channel: Attack) -> Iterator[Attack]:
    """Yield a channel through what shows only while it happens, in both ways."""
    yield _to(_NEXT, channel._replace(layer=_OVER, leaks=frozenset()))
    yield _to(_BESIDE, channel)


_READ_ONLY = {3: "read-only mounts", 2: "read-only mounts", 1: "nothing: files are the machine's"}
_NUMBERS = {3: "pid namespace", 2: "pid namespace", 1: "nothing: numbers are the machine's"}
_DISK = {3: "a tmpfs of its own", 2: "a tmpfs of its own", 1: "nothing: the disk is the machine's"}
_ALL = (3, 2, 1)
ROSTER = (
    *_lasting(_channel("loaded_pages_by_preadv2", "pages in memory, read", _CALLS)),
    *_lasting(_channel("loaded_pages_by_cachestat", "pages in memory, counted", _CALLS)),
    *_lasting(_channel("loaded_pages_by_mincore", "pages in memory, mapped", _CALLS)),
    *_lasting(_channel("cleared_pages", "pages taken out of memory", _CALLS)),
    *_lasting(_channel("loaded_pages_by_time", "pages in memory, timed", _NOTHING, _ALL)),
    *_lasting(_channel("read_pages", "pages in a cache, timed", _NOTHING, _ALL)),
    *_lasting(_channel("looked_up_names", "names looked up, timed", _NOTHING, _ALL)),
    *_lasting(_channel("access_times", "times of the last access", _READ_ONLY, (1,), 64)),
    *_lasting(_channel("device_times", "times of devices", _CALLS, bits=18)),
    *_momentary(_channel("shared_futex", "waking who waits at a file", _NOTHING, _ALL)),
    *_momentary(_channel("free_disk", "how much disk is free", _DISK, (1,), 40)),
    *_momentary(_channel("process_numbers", "numbers of processes", _NUMBERS, (1,), 40)),
    *_momentary(_channel("pipe_numbers", "numbers of pipes", _NOTHING, _ALL, 40)),
    *_momentary(_channel("machine_counters", "counters of the machine", _NOTHING, _ALL, 40)),
    *_momentary(_channel("busy_processors", "how busy processors are", _NOTHING, _ALL, 40)),
)
