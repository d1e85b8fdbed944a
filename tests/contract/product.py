"""The product as its users have it: its programs, called by name.

Nothing here imports a module of the product: where they lie may change, what they do may not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

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


def call(words: list[str], folder: Path, given: str | bytes = "") -> Done:
    """Return what a program did in a folder, which is its home as well."""
    done = subprocess.run(
        words,
        cwd=folder,
        input=given.encode() if isinstance(given, str) else given,
        env={**ENVIRONMENT, "HOME": str(folder)},
        capture_output=True,
        check=False,
    )
    texts = (one.decode(errors="backslashreplace") for one in (done.stdout, done.stderr))
    return Done(done.returncode, *texts)


def oracle(words: list[str], folder: Path, given: str | bytes = "") -> Done:
    """Return what ``gtp-oracle`` did."""
    return call([str(PROGRAMS / "gtp-oracle"), *words], folder, given)


def harness(words: list[str], folder: Path, given: str | bytes = "") -> Done:
    """Return what ``gtp-harness`` did."""
    return call([str(PROGRAMS / "gtp-harness"), *words], folder, given)


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
