"""The product as its users have it: its programs, called with what they would write.

Where modules lie may change, what programs do may not: only their ``main`` is known here.
``gtp-harness`` is forked from a process that has loaded it; ``gtp-oracle`` is called in this one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from oracle import cli
from tests import golden

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
PROGRAMS = Path(sys.executable).parent

ENVIRONMENT = {
    "PATH": f"{PROGRAMS}:{os.environ.get('PATH', os.defpath)}",
    "PYTHONPATH": str(ROOT),
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "COLUMNS": "80",
    "NO_COLOR": "1",
}


class Done(NamedTuple):
    """What a program did."""

    status: int
    out: str
    err: str


def harness(words: list[str], folder: Path, *program: str) -> Done:
    """Return what ``gtp-harness`` did in a folder, which is its home as well.

    ``program``: a file that is run first, instead of ``-m harness.cli``.
    """
    done = subprocess.run(
        [sys.executable, *(program or ("-m", "harness.cli")), *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        env={**ENVIRONMENT, "HOME": str(folder)},
        capture_output=True,
        check=False,
    )
    return Done(done.returncode, *map(_decode, (done.stdout, done.stderr)))


def oracle(words: list[str], folder: Path, given: bytes = b"") -> Done:
    """Return what ``gtp-oracle`` did in a folder."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        tempfile.TemporaryFile("w+b") as said,
        mock.patch.dict(os.environ, {**ENVIRONMENT, "HOME": str(folder)}),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        said.write(given)
        said.seek(0)
        with mock.patch.object(sys, "stdin", io.TextIOWrapper(said)):
            status = cli.main(words)
    return Done(status, *(_decode(one.buffer.getvalue()) for one in (out, err)))


def _decode(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


def check(name: str, found: str) -> None:
    """Compare with a golden file of this suite."""
    golden.check(GOLDEN / name, found)


# --- what differs from run to run --------------------------------------------------------------


def settle(text: str, *replaced: tuple[str, str]) -> str:
    """Return a text with paths, the version and times replaced by words."""
    for one, word in replaced:
        text = text.replace(one, word)
    text = re.sub(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)", "TIME", text)
    return re.sub(r'(?<=["\' ])0\.1\.0(?=["\'\n ])', "VERSION", text)


def settle_json(value: Any, measured: frozenset[str]) -> Any:
    """Return a document with what was measured, by the keys of it, replaced by its type."""
    if isinstance(value, dict):
        return {
            key: f"({type(one).__name__})" if key in measured else settle_json(one, measured)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [settle_json(one, measured) for one in value]
    return value


def dump(value: Any) -> str:
    """Return a document as text, a member in a line and in its own order."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
