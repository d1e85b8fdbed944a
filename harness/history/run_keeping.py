"""A run as a history keeps it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from harness.engine.launch import as_typed, find_program, split_program
from harness.errors import HarnessError
from harness.escaping import one_line, without_surrogates
from harness.history.records import FileKept, RunKept, RunState, TestIdentity, TestInFile
from harness.reading.test_fingerprint import digests
from harness.records import FileResult, RunResult
from oracle import __version__

_LARGEST = 64 << 20  # bytes of a program that are looked at
_LONGEST = 200  # characters of what times depend on
_TIMED = ("jobs", "sandbox", "lockstep", "pty", "rerun", "verbose")  # options that take time


def begin_run(program: str, options: dict[str, object]) -> RunKept:
    """Return a run that is about to begin; its number is still unknown.

    ``program``: as typed. ``options``: those of the command line.
    """
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    where, digest = circumstances(os.uname().nodename, options), program_digest(program)
    return RunKept(0, started, RunState.BEGUN, _clean(program), digest, where, __version__)


def circumstances(host: str, options: Mapping[str, object]) -> str:
    """Return what the times of a run depend on; ``host`` begins with its name."""
    timed = [f"{name} {options[name]}" for name in _TIMED if options.get(name)]
    return one_line(", ".join([host.partition(" ")[0], *timed]), _LONGEST)


def finish_run(entered: RunKept, result: RunResult) -> RunKept:
    """Return a run with what it found."""
    state = RunState.INTERRUPTED if result.unfinished else RunState.WHOLE
    return entered._replace(state=state, files=tuple(map(_keep_file, result.files)))


def program_digest(program: str) -> str:
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


def _keep_file(file: FileResult) -> FileKept:
    failure = file.failure.message if file.failure else ""
    engine = _clean(f"{file.name} {file.version}".strip())
    path = _clean(file.case.path)
    results = tuple(_results(file, path))
    return FileKept(path, engine, _clean(failure), file.seconds, file.cpu_seconds, results)


def _results(file: FileResult, path: str) -> Iterator[TestInFile]:
    """Yield each test."""
    outcomes = {outcome.step: outcome for outcome in file.outcomes}
    seen: dict[tuple[int, str], int] = {}
    for index, text in enumerate(digests(file.case.steps)):
        outcome, step = outcomes.get(index), file.case.steps[index]
        if outcome is None:
            continue
        command = _clean(step.command)
        alike = seen.get((step.id, command), 0)
        seen[step.id, command] = alike + 1
        yield TestInFile(
            TestIdentity(path, step.id, command, alike),
            step.line,
            text,
            outcome.verdict.value,
            outcome.flaky,
            outcome.reply.seconds if outcome.reply else None,
        )


def _clean(text: str) -> str:
    return without_surrogates(text)
