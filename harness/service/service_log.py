"""The log of a service: a line of JSON for each thing that happened, for operators.

The lines of a day are one file of the data; ``-`` sends them to standard error. Lines have names
of routes instead of addresses, and ids instead of names: no secret comes into one, nor what a
student wrote.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from harness.service.settings import Settings

STANDARD_ERROR = "-"


def tell(settings: Settings, what: str, **facts: object) -> None:
    """Write a line. A log that cannot be written does not stop the service."""
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}Z"
    said = {"at": moment, "what": what, "process": os.getpid(), **facts}
    line = f"{json.dumps(said, ensure_ascii=True)}\n"
    if settings.log == STANDARD_ERROR:
        print(line, end="", file=sys.stderr, flush=True)
        return
    with contextlib.suppress(OSError):
        append(settings.logs / f"{moment[:10]}.jsonl", line)


def warn(settings: Settings, text: str, **facts: object) -> None:
    """Write down what an operator should see, and say it on standard error, too."""
    if settings.log != STANDARD_ERROR:
        print(f"gtp-harness serve: {text}", file=sys.stderr, flush=True)
    tell(settings, "trouble", text=text, **facts)


def append(path: Path, line: str) -> None:
    """Append to a file in one write, so that lines of several processes do not mix."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def read_log(settings: Settings) -> Iterator[dict[str, object]]:
    """Yield what the files of the log have, the oldest first."""
    for path in sorted(settings.logs.glob("*.jsonl")):
        yield from map(json.loads, path.read_text(encoding="ascii").splitlines())
