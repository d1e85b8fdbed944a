"""The file of ``--history``: one SQLite database, which many runs may write at once."""

import hashlib
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from harness.core.errors import HarnessError, ReportError, UsageError
from harness.core.records import FileResult, RunResult
from harness.core.text import one_line, without_surrogates
from harness.engine.launch import as_typed, find_program, split_program
from harness.history.records import FORMAT, FileKept, RunKept, RunState, TestIdentity, TestInFile
from harness.report.json import digests
from oracle import __version__

APPLICATION = 0x47545048  # "GTPH"
_PATIENCE = 60.0  # seconds to wait for another run's transaction

_TABLES = """
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    started TEXT NOT NULL,        -- ISO 8601, UTC
    state TEXT NOT NULL CHECK (state IN ('begun', 'whole', 'interrupted')),
    program TEXT NOT NULL,        -- as typed
    digest TEXT NOT NULL,         -- of the program's files
    circumstances TEXT NOT NULL,  -- what times depend on
    harness TEXT NOT NULL         -- its version
) STRICT;
CREATE TABLE file (
    run INTEGER NOT NULL REFERENCES run,
    place INTEGER NOT NULL,       -- in the order of the run
    path TEXT NOT NULL,
    engine TEXT NOT NULL,         -- name and version
    failure TEXT NOT NULL,
    seconds REAL NOT NULL,
    cpu_seconds REAL NOT NULL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE test (
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    id INTEGER NOT NULL,
    command TEXT NOT NULL,
    alike INTEGER NOT NULL,       -- tests with this id and command before it in its file
    UNIQUE (path, id, command, alike)
) STRICT;
CREATE TABLE result (
    run INTEGER NOT NULL REFERENCES run,
    place INTEGER NOT NULL,       -- of the file
    test INTEGER NOT NULL REFERENCES test,
    line INTEGER NOT NULL,
    text TEXT NOT NULL,           -- digest of what was asked and expected
    verdict TEXT NOT NULL,
    flaky INTEGER NOT NULL,
    seconds REAL,
    PRIMARY KEY (run, place, test)
) STRICT, WITHOUT ROWID;
"""


def enter(path: str, run: RunKept) -> int:
    """Enter a run that is about to begin; return its number. The file is made if it is missing.

    Raises :class:`UsageError` for a file that is damaged, foreign, too new or not writable.
    """
    try:
        with _open(path) as base:
            _check_sound(base, path)
            with _transaction(base):
                cursor = base.execute(
                    "INSERT INTO run (started, state, program, digest, circumstances, harness)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (run.started, run.state.value, *run[3:7]),
                )
                return int(cursor.lastrowid or 0)
    except sqlite3.Error as error:
        raise UsageError(_why(path, error)) from error


def complete(path: str, run: RunKept) -> None:
    """Write what a run found, all of it or nothing.

    Raises :class:`ReportError` when it cannot be written.
    """
    try:
        with _open(path) as base, _transaction(base):
            state = run.state.value, run.number
            base.execute("UPDATE run SET state = ? WHERE number = ?", state)
            for place, file in enumerate(run.files):
                row = run.number, place, *file[:5]
                base.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                for one in file.results:
                    base.execute(
                        "INSERT INTO test VALUES (NULL, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        one.test,
                    )
                    base.execute(
                        "INSERT INTO result SELECT ?, ?, number, ?, ?, ?, ?, ? FROM test"
                        " WHERE path = ? AND id = ? AND command = ? AND alike = ?",
                        (run.number, place, *one[1:], *one.test),
                    )
    except UsageError as error:
        raise ReportError(str(error)) from error
    except sqlite3.Error as error:
        raise ReportError(_why(path, error)) from error


def read(path: str) -> list[RunKept]:
    """Return the runs of a history in order.

    Raises :class:`UsageError` for a file that is not one, or that is damaged or too new.
    """
    if not Path(path).is_file():
        raise UsageError(f"cannot read {path}: there is no such file")
    try:
        # (To write is what SQLite needs to undo half a transaction of a run that was killed.)
        mode = "rw" if os.access(path, os.W_OK) else "ro"
        with closing(_connect(f"{Path(path).absolute().as_uri()}?mode={mode}")) as base:
            _check_format(base, path)
            _check_sound(base, path)
            return list(_runs(base))
    except sqlite3.Error as error:
        raise UsageError(_why(path, error)) from error


# --- opening -----------------------------------------------------------------------------------


@contextmanager
def _open(path: str) -> Iterator[sqlite3.Connection]:
    """Open a history for writing; make it if it is missing."""
    with closing(_connect(Path(path).absolute().as_uri())) as base:
        with _transaction(base):
            if not base.execute("SELECT 1 FROM sqlite_master").fetchone():
                # Another program's empty database stays as it is.
                if base.execute("PRAGMA application_id").fetchone()[0] not in (0, APPLICATION):
                    raise UsageError(_FOREIGN.format(path))
                for statement in _TABLES.split(";"):  # executescript() would end the transaction
                    base.execute(statement)
                base.execute(f"PRAGMA application_id = {APPLICATION}")
                base.execute(f"PRAGMA user_version = {FORMAT}")
            _check_format(base, path)
        yield base


def _connect(uri: str) -> sqlite3.Connection:
    base = sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)
    base.execute("PRAGMA foreign_keys = ON")
    return base


@contextmanager
def _transaction(base: sqlite3.Connection) -> Iterator[None]:
    """Write as one: nobody else writes meanwhile, and either all of it stays or nothing."""
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            base.execute("ROLLBACK")
        raise
    base.execute("COMMIT")


_FOREIGN = "{} is not a history of runs: expected a file that run --history made, or a new name"


def _check_format(base: sqlite3.Connection, path: str) -> None:
    if base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise UsageError(_FOREIGN.format(path))
    version = int(base.execute("PRAGMA user_version").fetchone()[0])
    if version != FORMAT:
        raise UsageError(
            f"{path} has version {version} of its format, expected {FORMAT}:"
            " a newer gtp-harness wrote it"
        )


def _check_sound(base: sqlite3.Connection, path: str) -> None:
    found = base.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise UsageError(f"{path} is damaged: {found.splitlines()[-1]}")


def _why(path: str, error: sqlite3.Error) -> str:
    """Return a sentence: what is wrong with the file, and what to do."""
    text = str(error)
    if "not a database" in text:
        return _FOREIGN.format(path)
    if "malformed" in text or "no such" in text or "corrupt" in text:
        return f"{path} is damaged: {text}"
    if "locked" in text or "busy" in text:
        return f"cannot use {path}: another run has been writing it for {_PATIENCE:g} s"
    return f"cannot use {path}: {text}"


# --- rows --------------------------------------------------------------------------------------


def _runs(base: sqlite3.Connection) -> Iterator[RunKept]:
    tests = {row[0]: TestIdentity(*row[1:]) for row in base.execute("SELECT * FROM test")}
    texts: dict[str, str] = {}  # each once in memory, not once for each run
    for number, started, state, *rest in base.execute("SELECT * FROM run ORDER BY number"):
        results: dict[int, list[TestInFile]] = {}
        rows = base.execute(
            "SELECT place, test, line, text, verdict, flaky, seconds FROM result"
            " WHERE run = ? ORDER BY place, line, test",
            (number,),
        )
        for place, test, line, text, verdict, flaky, seconds in rows:
            asked, word = texts.setdefault(text, text), texts.setdefault(verdict, verdict)
            result = TestInFile(tests[test], line, asked, word, bool(flaky), seconds)
            results.setdefault(place, []).append(result)
        files = base.execute(
            "SELECT place, path, engine, failure, seconds, cpu_seconds FROM file"
            " WHERE run = ? ORDER BY place",
            (number,),
        )
        kept = tuple(
            FileKept(path, engine, failure, wall, cpu, tuple(results.get(place, ())))
            for place, path, engine, failure, wall, cpu in files
        )
        yield RunKept(number, started, RunState(state), *rest)._replace(files=kept)


# --- A run as a history keeps it -----------------------------------------------------------------

_LARGEST = 64 << 20  # bytes of a program that are looked at
_LONGEST = 200  # characters of what times depend on
_TIMED = ("jobs", "sandbox", "lockstep", "pty", "rerun", "verbose")  # options that take time


def begin_run(program: str, options: dict[str, object]) -> RunKept:
    """Return a run that is about to begin; its number is still unknown.

    ``program``: as typed. ``options``: those of the command line.
    """
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    where, digest = circumstances(os.uname().nodename, options), program_digest(program)
    typed = without_surrogates(program)
    return RunKept(0, started, RunState.BEGUN, typed, digest, where, __version__)


def circumstances(host: str, options: Mapping[str, object]) -> str:
    """Return what the times of a run depend on; ``host`` begins with its name."""
    timed = [f"{name} {options[name]}" for name in _TIMED if options.get(name)]
    return one_line(", ".join([host.partition(" ")[0], *timed]), _LONGEST)


def finish_run(run: RunKept, result: RunResult) -> RunKept:
    """Return a run with what it found."""
    state = RunState.INTERRUPTED if result.unfinished else RunState.WHOLE
    return run._replace(state=state, files=tuple(map(_keep_file, result.files)))


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
    path, outcomes = without_surrogates(file.case.path), {one.step: one for one in file.outcomes}
    results, seen = [], Counter[tuple[int, str]]()
    for index, text in enumerate(digests(file.case.steps)):
        outcome, step = outcomes.get(index), file.case.steps[index]
        if outcome is None:
            continue
        command = without_surrogates(step.command)
        test = TestIdentity(path, step.id, command, seen[step.id, command])
        seen[step.id, command] += 1
        seconds = outcome.reply.seconds if outcome.reply else None
        verdict = outcome.verdict.value
        results.append(TestInFile(test, step.line, text, verdict, outcome.flaky, seconds))
    engine = without_surrogates(f"{file.name} {file.version}".strip())
    failure = without_surrogates(file.failure.message) if file.failure else ""
    return FileKept(path, engine, failure, file.seconds, file.cpu_seconds, tuple(results))
