"""A run as a history keeps it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from harness.engine.launch import as_typed, find_program, split_program
from harness.errors import HarnessError
from harness.history.records import FileKept, RunKept, RunState, TestIdentity, TestResult
from harness.records import FileResult, RunResult
from harness.visible import without_surrogates
from oracle import __version__

_LARGEST = 64 << 20  # bytes of a program that are looked at
_TIMED = ("jobs", "sandbox", "lockstep", "pty", "rerun", "verbose")  # options that take time


def begun(program: str, options: dict[str, object]) -> RunKept:
    """Return a run that is about to begin; its number is still unknown.

    ``program``: as typed. ``options``: those of the command line.
    """
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    timed = [f"{name} {options.get(name)}" for name in _TIMED if options.get(name)]
    circumstances = ", ".join([os.uname().nodename, *timed])
    digest = _digest(program)
    return RunKept(0, started, RunState.BEGUN, _clean(program), digest, circumstances, __version__)


def ended(entered: RunKept, result: RunResult) -> RunKept:
    """Return a run with what it found."""
    state = RunState.INTERRUPTED if result.unfinished else RunState.WHOLE
    return entered._replace(state=state, files=tuple(map(_kept, result.files)))


def _digest(program: str) -> str:
    """Return a digest of the program's file and those among its words; ``""`` if none is found."""
    first, *others = as_typed(split_program(program))
    with suppress(HarnessError):
        first = find_program(first)
    digest, found = hashlib.blake2b(digest_size=8), False
    for word in (first, *others):
        with suppress(OSError, ValueError):
            path = Path(word)
            if path.is_file() and path.stat().st_size <= _LARGEST:
                digest.update(path.read_bytes())
                found = True
    return digest.hexdigest() if found else ""


def _kept(file: FileResult) -> FileKept:
    failure = file.failure.message if file.failure else ""
    engine = _clean(f"{file.name} {file.version}".strip())
    path = _clean(file.case.path)
    results = tuple(_results(file, path))
    return FileKept(path, engine, _clean(failure), file.seconds, file.cpu_seconds, results)


def _results(file: FileResult, path: str) -> Iterator[TestResult]:
    """Yield each test. Its text is all that was sent up to it, and what is expected."""
    asked = hashlib.blake2b(digest_size=8)
    outcomes = {outcome.step: outcome for outcome in file.outcomes}
    seen: dict[tuple[int, str], int] = {}
    for index, step in enumerate(file.case.steps):
        asked.update(f"{step.command}\n".encode("utf-8", "surrogateescape"))
        outcome = outcomes.get(index)
        if outcome is None:
            continue
        command = _clean(step.command)
        alike = seen.get((step.id, command), 0)
        seen[step.id, command] = alike + 1
        text = asked.copy()
        text.update(repr(step.pattern).encode("utf-8", "surrogateescape"))
        yield TestResult(
            TestIdentity(path, step.id, command, alike),
            step.line,
            text.hexdigest(),
            outcome.verdict.value,
            outcome.flaky,
            outcome.reply.seconds if outcome.reply else None,
        )


def _clean(text: str) -> str:
    return without_surrogates(text)
