"""What a unit of work is run with, and what is told of it: without an engine."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.errors import SandboxError, StarvedError
from harness.core.options import BoxLimits, Limits
from harness.core.records import Build, FileResult, Outcome, Verdict
from harness.core.signals import SIGKILL
from harness.engine import protocols
from harness.engine.launch import PlainLauncher
from harness.reading import casefile
from harness.running.hangs import HangPolicy
from harness.specifications import EVERYONES
from harness.work import fairness, unit_runner, unit_worker
from harness.work.records import (
    AttemptFinished,
    CaseStarted,
    EngineHung,
    Environment,
    Folder,
    Granted,
    HarnessFailed,
    Measurements,
    UnitCase,
    UnitFinished,
    UnitSubmission,
    WorkUnit,
)
from harness.work.unit_runner import UnitRunner
from harness.work.unit_worker import UnitWorker

LIMITS = Limits(timeout=3.0, startup=7.0, file=50.0)
BOX = BoxLimits(cpu=20.0)
CASE = casefile.parse(b"1 a\n#? [1]\n2 b\n#? [2]\n", "cases/x.gtp")


def make_assignment(**changes: object) -> Any:
    said = {
        "archive": SimpleNamespace(folder="own work"),
        "engine": SimpleNamespace(overlay="beside"),
        "python": SimpleNamespace(program="/nowhere/bin/python", described="Python 3.9"),
        "limits": LIMITS,
        "box": BOX,
        "command_properties": EVERYONES,
        "protocol": "gtp",
        "cases": SimpleNamespace(restart=True),
        "translate": "",
        "start": lambda room: (f"python3 '{room}/a b.py'", f"{room}/own work"),
    }
    return SimpleNamespace(**{**said, **changes})


def make_runner(**changes: object) -> UnitRunner:
    said: dict[str, Any] = {
        "assignment": make_assignment(),
        "overlay": None,
        "sandbox": None,
        "limits": LIMITS,
        "alone": False,
        "budget": 90.0,
        "pace": 2.0,
    }
    return UnitRunner(**{**said, **changes})


def make_result(*verdicts: Verdict, **changes: Any) -> FileResult:
    outcomes = tuple(Outcome(step, verdict, None) for step, verdict in enumerate(verdicts))
    replies = (None,) * len(CASE.steps)
    found = FileResult(CASE, outcomes, replies, (), (), 0, (), (), "", "n", "1", 1.25, 0.5)
    return found._replace(**changes)


class Box:
    """A sandbox that notes what is asked of it."""

    level = 2
    description = "a box"

    def __init__(self) -> None:
        self.asked: list[object] = []

    def launcher(self, case: object, shown: object, submission: str, variables: object) -> Any:
        self.asked.append((case, shown, submission))
        return Launcher(variables)

    def close(self) -> None:
        self.asked.append("close")


class Launcher:
    """Starts nothing, and tells of no process that is left."""

    start = None

    def __init__(self, variables: object = None) -> None:
        self.variables = variables

    def end(self, engine: object) -> list[str]:
        return ["left"]


def attempt(runner: UnitRunner, room: Path, result: object, monkeypatch: Any, **more: Any) -> Any:
    """Run a case file of which a result comes; return what it was run with, and what is said."""
    asked: list[Any] = []

    def run_file(case: object, setting: Any) -> object:
        asked.append((case, setting))
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(unit_runner, "run_file", run_file)
    said = runner.attempt("basis", CASE, room, 123.0, more.pop("patience", HangPolicy()))
    ((case, setting),) = asked
    assert case is CASE
    return setting, said


@pytest.mark.parametrize(
    ("alone", "is_boxed", "beside", "has_patience"),
    [
        (False, True, fairness.BESIDE, True),
        (False, False, fairness.BESIDE, False),
        (True, True, 1.0, False),
        (True, False, 1.0, False),
    ],
)
def test_what_a_case_file_is_run_with(
    alone, is_boxed, beside, has_patience, tmp_path, monkeypatch
):
    room = tmp_path
    (room / "own work").mkdir()
    (room / "course").mkdir()
    box = Box()
    runner = make_runner(alone=alone, sandbox=box if is_boxed else None)
    patience = HangPolicy()
    result = make_result(Verdict.PASSED, Verdict.PASSED)
    setting, _ = attempt(runner, room, result, monkeypatch, patience=patience)
    assert setting.words == ("python3", f"{room}/a b.py")
    assert setting.options.limits == LIMITS._replace(total=90.0)
    assert setting.options.folder == f"{room}/own work"
    assert setting.options.restart
    assert setting.options.strict
    assert setting.options.protocol == "gtp"
    assert setting.dialect.name == "gogui"
    assert (setting.ends, setting.beside, setting.pace) == (123.0, beside, 2.0)
    assert setting.crowded is not alone
    assert setting.patience is (patience if has_patience else None)
    assert setting.command_properties is EVERYONES
    assert setting.protocol is protocols.find_protocol("gtp")
    gauge = setting.launcher(CASE)
    assert setting.launcher(CASE) is gauge
    if is_boxed:
        assert box.asked == [(CASE, (str(room / "course"),), str(room / "own work"))]
        assert gauge.end(SimpleNamespace(status=lambda: 0)) == ["left"]
    else:
        assert isinstance(gauge._launcher, PlainLauncher)


@pytest.mark.parametrize(
    ("verdicts", "failed"),
    [
        ((Verdict.PASSED, Verdict.PASSED), False),
        ((Verdict.PASSED, Verdict.FAILED), True),
        ((Verdict.NOT_RUN, Verdict.PASSED), True),
        ((Verdict.IGNORED, Verdict.UNEXPECTED_PASS), False),
    ],
)
def test_whether_anything_failed(verdicts, failed, tmp_path, monkeypatch):
    _, said = attempt(make_runner(), tmp_path, make_result(*verdicts), monkeypatch)
    assert said.failed is failed


@pytest.mark.parametrize(
    ("alone", "seconds", "doubtful"),
    [(False, 60.0, True), (False, 40.0, True), (True, 60.0, False)],
)
def test_what_is_in_doubt_beside_others(alone, seconds, doubtful, tmp_path, monkeypatch):
    """From four fifths of a limit on, where the pace of a machine is not exact."""
    result = make_result(Verdict.PASSED, seconds=seconds + 0.5)
    _, said = attempt(make_runner(alone=alone), tmp_path, result, monkeypatch)
    assert said.doubtful is doubtful


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SandboxError("it broke"), "it broke"),
        (StarvedError("full"), "full"),
        (OSError("x"), "OSError: x"),
    ],
)
def test_what_keeps_a_case_file_from_running_is_no_result(error, told, tmp_path, monkeypatch):
    _, said = attempt(make_runner(), tmp_path, error, monkeypatch)
    assert said == HarnessFailed("basis", told)


@pytest.mark.parametrize(
    ("status", "cause", "late", "told"),
    [
        (-SIGKILL, None, False, True),
        (-SIGKILL, "a limit", False, False),
        (-15, None, False, False),
        (None, None, False, False),
        (0, None, True, True),
    ],
)
def test_who_was_killed_by_nobody_known_is_late(status, cause, late, told, tmp_path, monkeypatch):
    engine = SimpleNamespace(status=lambda: status, find_end_cause=lambda: cause)

    def run_file(case: object, setting: Any) -> FileResult:
        gauge = setting.launcher(case)
        gauge.end(engine)
        gauge.end(SimpleNamespace(status=lambda: 0, find_end_cause=lambda: None))
        return make_result(Verdict.PASSED)

    monkeypatch.setattr(unit_runner, "run_file", run_file)
    monkeypatch.setattr(unit_runner.launch, "PlainLauncher", Launcher)
    patience = HangPolicy()
    patience.late = late
    said = make_runner().attempt("b", CASE, tmp_path, 9.0, patience)
    assert said.figures.late is told


# --- units


def make_unit(**changes: object) -> WorkUnit:
    said: dict[str, Any] = {
        "unit": 1,
        "submission": UnitSubmission("ada", "0" * 64, "go/", ("a.py",)),  # type: ignore[arg-type]
        "build": "of ada",
        "cases": tuple(UnitCase(name, f"{name}.gtp", "1" * 64) for name in "ab"),  # type: ignore[arg-type]
        "assignment": Folder("assignment", ()),
        "course": Folder("course", ()),
        "environment": Environment("off"),  # type: ignore[arg-type]
        "limits": LIMITS,
        "box": BOX,
        "alone": False,
        "budget": 90.0,
        "spent": 20.0,
        "pace": 2.0,
    }
    return WorkUnit(**{**said, **changes})


class Files:
    """Finds files where there are none."""

    def __init__(self) -> None:
        self.folders: list[tuple[Folder, Path]] = []

    def archive(self, own: UnitSubmission) -> Path:
        return Path(f"{own.key}.tgz")

    def case(self, case: UnitCase, room: Path) -> tuple[bytes, Path]:
        assert room.is_dir()
        return b"1 a\n#? [1]\n", room / case.name

    def folder(self, folder: Folder, room: Path) -> Path:
        self.folders.append((folder, room))
        return Path("/found") / folder.name


class Bench:
    """Notes what it is asked to run, and says that an engine computed for four seconds."""

    explaining = 0.0

    def __init__(self, *said: object, **more: object) -> None:
        self.asked: list[Any] = []
        self.built: Build | None = None
        self.is_closed = False

    @contextmanager
    def furnish(self, *handed: object) -> Any:
        self.asked.append(handed[:-1])
        yield Path("/room"), self.built

    def nothing(self, basis: str) -> Any:
        return ("nothing", basis)

    def attempt(self, basis, case, room, ends, patience, told) -> Any:
        self.asked.append((basis, Path(case.path).name, room, ends))
        patience.note_hang()
        figures = Measurements(cpu=4.0, pace=2.0)
        return AttemptFinished(basis, "null", figures, failed=False, doubtful=False)

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def worker(tmp_path, monkeypatch):
    monkeypatch.setattr(unit_worker, "UnitRunner", Bench)
    assignment = SimpleNamespace(
        command_properties="command_properties",
        _replace=lambda python: SimpleNamespace(
            python=python, command_properties="command_properties"
        ),
    )
    monkeypatch.setattr(unit_worker, "find", lambda path: assignment)
    made = UnitWorker(Files(), proven="2", room=str(tmp_path))  # type: ignore[arg-type]
    yield made
    made.close()


def test_a_unit_is_done_case_by_case(worker, monkeypatch):
    """What an engine computes longer here than on the reference machine is given in addition."""
    monkeypatch.setattr(unit_worker, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    said: list[Any] = []
    assert worker.do(make_unit(), said.append) == UnitFinished()
    handed, *asked = worker._runner.asked
    assert handed == (Path("ada.tgz"), "go/", ("a.py",), "of ada")
    assert asked == [
        ("a", "a.gtp", Path("/room"), 1070.0),
        ("b", "b.gtp", Path("/room"), 1074.0),
    ]
    done = AttemptFinished("a", "null", Measurements(cpu=4.0, pace=2.0), False, False)
    assert said == [
        *(CaseStarted("a"), EngineHung("a"), done),
        *(CaseStarted("b"), EngineHung("b"), done._replace(basis="b")),
        UnitFinished(),
    ]


def test_what_another_worker_does_is_left_to_it(worker):
    said: list[Any] = []
    worker.do(make_unit(), said.append, lambda word: Granted(word.case == 1, 0))
    assert [one.basis for one in said if isinstance(one, CaseStarted)] == ["b"]
