"""A run compared with a former one: what broke, what was mended, what is new, what is gone.

A test is the same when file, id and command are, counted in the order of the file where several
are alike. Its verdicts are ranked: passed (expected or not) is better than failed as expected,
and that is better than FAILED, not run or not judged. To sink is to break, to rise to be mended.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.core.errors import ExitCode
from harness.core.records import RunResult
from harness.core.text import one_line

_RANKS = {"failed": 1, "FAILED": 0, "not run": 0, "not judged": 0}
_RANKS |= dict.fromkeys(("passed", "PASSED", "ignored"), 2)

Key = tuple[str, int, str, int]  # file, id, command, how many like it came before
Tests = dict[Key, tuple[int, str]]  # lines and verdicts


class ChangedVerdict(NamedTuple):
    """A test and its verdicts; ``None`` where there is none."""

    path: str
    line: int
    command: str  # with the id
    before: str | None
    now: str | None

    def __str__(self) -> str:
        verdicts = " → ".join(verdict for verdict in (self.before, self.now) if verdict)
        return f"{self.path}:{self.line}  {one_line(self.command, 120)}  {verdicts}"


class Comparison(NamedTuple):
    """The difference between two runs."""

    started: str  # the former run's
    broke: tuple[ChangedVerdict, ...]
    mended: tuple[ChangedVerdict, ...]
    new: tuple[ChangedVerdict, ...]
    gone: tuple[ChangedVerdict, ...]
    broken_files: tuple[str, ...]  # the engine failed here, and did not before
    new_errors: tuple[str, ...]  # what is wrong with case files, and was not before
    faults: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """The exit status of a run that is compared: it speaks of the difference alone."""
        if self.faults:
            return ExitCode.FAULT
        if self.broken_files or self.new_errors:
            return ExitCode.BROKEN
        new_failures = any(_RANKS[change.now or ""] == 0 for change in self.new)
        return ExitCode.FAILED if self.broke or new_failures else ExitCode.OK

    def sections(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield a heading and its lines for everything that is not the same."""
        for heading, found in (
            ("broke", self.broke),
            ("new engine failures", self.broken_files),
            ("new errors in case files", self.new_errors),
            ("mended", self.mended),
            ("new", self.new),
            ("gone", self.gone),
        ):
            if found:
                yield f"{heading} ({len(found)})", tuple(str(change) for change in found)


class _ComparedRun(NamedTuple):
    started: str
    tests: Tests
    broken: tuple[tuple[str, str], ...]  # files in which the engine failed, and how each time
    errors: tuple[str, ...]
    faults: tuple[str, ...]
    is_part: bool  # only some of the tests were chosen


def compare(former: dict[str, Any], run: RunResult) -> Comparison:
    """Compare a run with a former one's document (see :mod:`harness.report.json`).

    When only some of the tests were chosen, those not chosen are not gone.
    """
    tests: Tests = {}
    for file in run.files:
        steps = file.case.steps
        told = [
            (steps[index].id, steps[index].command, steps[index].line, verdict.value)
            for index, verdict, _, _ in file.outcomes
        ]
        tests.update(_key_tests(file.case.path, told))
    broken = tuple((file.case.path, one.message) for file in run.files for one in file.failures)
    chosen = _is_part(run.options)
    now = _ComparedRun(run.started, tests, broken, run.errors, run.faults, chosen)
    return _compare(_of_document(former), now)


def between(former: dict[str, Any], now: dict[str, Any]) -> Comparison:
    """Compare two runs by their documents, as :func:`compare` does."""
    return _compare(_of_document(former), _of_document(now))


def _compare(former: _ComparedRun, side: _ComparedRun) -> Comparison:
    before, now = former.tests, side.tests
    changes = [
        (_RANKS[now[key][1]] - _RANKS[before[key][1]], _change(key, before, now))
        for key in now
        if key in before
    ]
    gone = () if side.is_part else (key for key in before if key not in now)
    known = {path for path, _ in former.broken}
    return Comparison(
        started=former.started,
        broke=tuple(change for step, change in changes if step < 0),
        mended=tuple(change for step, change in changes if step > 0),
        new=tuple(_change(key, before, now) for key in now if key not in before),
        gone=tuple(_change(key, before, now) for key in gone),
        broken_files=tuple(f"{path}: {how}" for path, how in side.broken if path not in known),
        new_errors=tuple(error for error in side.errors if error not in former.errors),
        faults=side.faults,
    )


def _of_document(document: dict[str, Any]) -> _ComparedRun:
    tests: Tests = {}
    broken = []
    for file in document["files"]:
        path, first = file["path"], file["failure"]
        told = [(one["id"], one["command"], one["line"], one["verdict"]) for one in file["tests"]]
        tests.update(_key_tests(path, told))
        # Old documents tell the first failure alone.
        failures = file.get("failures", [first]) if first else ()
        broken += [(path, one["message"]) for one in failures]
    return _ComparedRun(
        started=str(document.get("started", "")),
        tests=tests,
        broken=tuple(broken),
        errors=tuple(document["errors"]),
        faults=tuple(document.get("faults", ())),
        is_part=_is_part(document.get("options", {})),
    )


def _is_part(options: dict[str, object]) -> bool:
    return any(options.get(name) for name in ("only", "ids", "lines"))


def _key_tests(
    path: str, tests: list[tuple[int, str, int, str]]
) -> Iterator[tuple[Key, tuple[int, str]]]:
    """Yield each test's key with its line and verdict."""
    seen: dict[tuple[int, str], int] = {}
    for id_, command, line, verdict in tests:
        alike = seen.get((id_, command), 0)
        seen[id_, command] = alike + 1
        yield (path, id_, command, alike), (line, verdict)


def _change(key: Key, before: Tests, now: Tests) -> ChangedVerdict:
    path, id_, command, _ = key
    named = command if id_ < 0 else f"{id_} {command}"
    line, _ = now[key] if key in now else before[key]
    verdicts = (tests[key][1] if key in tests else None for tests in (before, now))
    return ChangedVerdict(path, line, named, *verdicts)
