"""The owner of a lease: a process with a unique ID; and whether it still lives."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, extract, func, select

_SERVERS_TIME = select(extract("epoch", func.clock_timestamp()))


def me() -> str:
    """Return a unique ID of this process: its machine, its number and its start."""
    pid = os.getpid()
    return f"{socket.gethostname()} {pid} {_start(pid)}"


def _start(pid: int) -> str:
    """Return when a process started, in ticks since the boot with that ID; "" if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    state, *fields = text[text.rindex(")") + 2 :].split()
    return "" if state in "ZX" else f"{fields[18]}@{boot}"


def now(db: Connection) -> float:
    """Return the time by which leases end: the server's, if there is one, whatever ours is."""
    if db.dialect.name != "postgresql":
        return time.time()
    return float(db.execute(_SERVERS_TIME).scalar_one())


def is_held(lease: Any, holding: set[str] | None, at: float, *, by_me: bool = False) -> bool:
    """Whether a lease holds: its process lives; on another machine, it has not run out.

    ``lease``: a row with token, owner and until. ``holding``: the tokens of all connections, where
    that is known. ``at``: the time, of :func:`now`. ``by_me``: if it is this process's own,
    whether it holds.
    """
    if holding is not None and lease.token not in holding:
        return False
    machine, pid, *start = lease.owner.split()
    if machine != socket.gethostname():
        return bool(lease.until > at)
    return by_me if pid == str(os.getpid()) else start == [_start(int(pid))]
