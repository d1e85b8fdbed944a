"""The owner of a lease: a process with a unique ID; and whether it still lives."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any


def me() -> str:
    """Return this process as nobody else will ever be: its machine, its number, its start."""
    pid = os.getpid()
    return f"{socket.gethostname()} {pid} {_start(pid)}"


def _start(pid: int) -> str:
    """Return when a process was started, in ticks since the boot of that id; empty: it is not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    state, *fields = text[text.rindex(")") + 2 :].split()
    return "" if state in "ZX" else f"{fields[18]}@{boot}"


def is_held(lease: Any, holding: set[str] | None, *, by_me: bool = False) -> bool:
    """Whether a lease holds: its process lives; on another machine, it has not run out.

    ``lease``: a row with token, owner and until. ``holding``: the tokens of all connections, where
    that is known. ``by_me``: if it is this process's own, whether it holds.
    """
    if holding is not None and lease.token not in holding:
        return False
    machine, pid, *start = lease.owner.split()
    if machine != socket.gethostname():
        return bool(lease.until > time.time())
    return by_me if pid == str(os.getpid()) else start == [_start(int(pid))]
