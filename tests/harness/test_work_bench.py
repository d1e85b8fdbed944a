"""What a unit of work is run with, and what is told of it: without an engine."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine import protocols
from harness.engine.launch import PlainLauncher
from harness.errors import SandboxError, StarvedError
from harness.options import BoxLimits, Limits
from harness.reading import casefile
from harness.records import Build, FileResult, Outcome, Verdict
from harness.running.hangs import HangPolicy, Hangs
from harness.sandbox.boxed_engines import BoxedEngine
from harness.signals import SIGKILL
from harness.specifications import EVERYONES
from harness.work import bench, canonical_json, fairness, unit_worker
from harness.work.bench import BenchSettings, UnitRunner, UnpackedSubmission
from harness.work.canonical_json import NOTHING, Measurements
from harness.work.records import Environment, Folder, UnitCase, UnitSubmission, WorkUnit
from harness.work.unit_worker import UnitWorker
from harness.work.worker_events import (
    AttemptFinished,
    BuildFinished,
    CaseStarted,
    EngineHung,
    Granted,
    HarnessFailed,
    UnitFinished,
)

LIMITS = Limits(timeout=3.0, startup=7.0, file=50.0)
BOX = BoxLimits(cpu=20.0)
CASE = casefile.parse(b"1 a\n#? [1]\n2 b\n#? [2]\n", "cases/x.gtp")
HANDED = UnpackedSubmission(Path("ada.tgz"), "go/", ("a.py", "b.py"), "of ada")


def make_assignment(**changes: object) -> Any:
    said = {
        "archive": SimpleNamespace(folder="own work"),
        "engine": SimpleNamespace(overlay="beside"),
        "python": SimpleNamespace(program="/nowhere/bin/python", described="Python 3.9"),
        "limits": LIMITS,
        "box": BOX,
        "natures": EVERYONES,
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
    return UnitRunner(BenchSettings(**{**said, **changes}))


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

    monkeypatch.setattr(bench, "run_file", run_file)
    said = runner.attempt("basis", CASE, room, 123.0, more.pop("patience", HangPolicy(Hangs(1))))
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
    patience = HangPolicy(Hangs(1))
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
    assert setting.natures is EVERYONES
    assert setting.protocol is protocols.find_protocol("gtp")
    gauge = setting.launcher(CASE)
    assert setting.launcher(CASE) is gauge
    if is_boxed:
        assert box.asked == [(CASE, (str(room / "course"),), str(room / "own work"))]
        assert gauge.end(SimpleNamespace(status=lambda: 0)) == ["left"]
    else:
        assert isinstance(gauge._launcher, PlainLauncher)


def test_what_else_an_engine_sees(tmp_path):
    (tmp_path / "own work").mkdir()
    box = Box()
    make_runner(sandbox=box).launcher(CASE, tmp_path, ["/a"])
    assert box.asked == [(CASE, ("/a",), str(tmp_path / "own work"))]


def test_figures_and_conditions_are_told(tmp_path, monkeypatch):
    own, begun = iter([10.0, 10.75]), time.gmtime(0)
    clock = SimpleNamespace(
        monotonic=time.monotonic,
        gmtime=lambda: begun,
        strftime=time.strftime,
        process_time=lambda: next(own),
    )
    monkeypatch.setattr(bench, "time", clock)
    used = iter([1.0, 4.5])
    monkeypatch.setattr(bench, "_cpu_of_the_dead", lambda: next(used))
    monkeypatch.setattr(Launcher, "end", lambda self, engine: [])
    monkeypatch.setattr(bench, "PlainLauncher", Launcher)
    runner = make_runner()

    def run_file(case: object, setting: Any) -> FileResult:
        setting.launcher(case).end(SimpleNamespace(status=lambda: 0))
        return make_result(Verdict.PASSED, Verdict.PASSED)

    monkeypatch.setattr(bench, "run_file", run_file)
    said = runner.attempt("basis", CASE, tmp_path, 9.0, HangPolicy(Hangs(1)))
    assert said.figures == Measurements(
        *(1.25, 1.75, 0, 0.5, (), 0.75, "1970-01-01T00:00:00Z", os.getpid()),
        *(False, bench.NO_SANDBOX, "Python 3.9", "", 2.0, False),
    )
    assert said[:1] + said[3:] == ("basis", False, False)
    made = canonical_json.loads(FileResult, said.result)
    assert made == make_result(
        Verdict.PASSED, Verdict.PASSED, case=canonical_json.NO_CASE, seconds=0.0, cpu_seconds=0.0
    )


def test_what_an_engine_wrote_is_told_without_the_folders_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(bench.interpreters, "environment_of", lambda program: f"of {program}")
    wrote = f"{tmp_path}/a.py of /nowhere/bin/python/b.py: {tmp_path.parent}"
    result = make_result(Verdict.PASSED, stderr=wrote)
    _, said = attempt(make_runner(), tmp_path, result, monkeypatch)
    stored = canonical_json.loads(FileResult, said.result)
    assert stored.stderr == f"/submission/a.py /environment/b.py: {tmp_path.parent}"


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


def test_without_a_program_nothing_is_run():
    said = make_runner(pace=0.0, alone=True, assignment=make_assignment(python=None)).nothing("b")
    assert (said.basis, said.result, said.failed, said.doubtful) == ("b", NOTHING, True, False)
    assert (said.figures.alone, said.figures.python, said.figures.pace) == (True, "", 0.0)
    assert said.figures.cpu == 0
    assert said.figures.pid == os.getpid()


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

    monkeypatch.setattr(bench, "run_file", run_file)
    monkeypatch.setattr(bench, "PlainLauncher", Launcher)
    patience = HangPolicy(Hangs(1))
    patience.late = late
    said = make_runner().attempt("b", CASE, tmp_path, 9.0, patience)
    assert said.figures.late is told


def test_what_boxes_used_is_added_up_and_the_most_is_kept():
    gauge = bench._Gauge(Launcher())  # type: ignore[arg-type]
    assert (gauge.cpu, gauge.memory, gauge.was_killed) == (0.0, 0, False)
    for cpu, memory in [(1.0, 50), (2.5, 40)]:
        end = SimpleNamespace(cpu=cpu, memory=memory, status=0)
        box: Any = SimpleNamespace(end=lambda end=end: end, wait=lambda _, end=end: end)
        assert gauge.end(BoxedEngine(box)) == ["left"]
    assert (gauge.cpu, gauge.memory) == (3.5, 50)


@pytest.mark.parametrize("is_boxed", [True, False])
def test_a_box_server_is_closed(is_boxed):
    box = Box()
    make_runner(sandbox=box if is_boxed else None).close()
    assert box.asked == ["close"] * is_boxed


@pytest.mark.parametrize(("box", "level"), [(None, "off"), (Box(), "2")])
@pytest.mark.parametrize("built", [None, Build(True, "done")])
def test_a_submission_is_laid_out_and_built(box, level, built, tmp_path, monkeypatch):
    said: list[Any] = []
    done: list[Any] = []
    space = SimpleNamespace(
        workspace=lambda: (tmp_path for _ in "1"),
        unpack=lambda *words: done.append(words),
        overlay=lambda *words: done.append(words),
    )
    space.workspace = contextmanager(space.workspace)
    monkeypatch.setattr(bench, "workspace", space)
    asked = []
    monkeypatch.setattr(bench.build_steps, "build", lambda *words: asked.append(words) or built)
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(bench, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    runner = make_runner(overlay=Path("course"), sandbox=box)
    with runner.furnish(HANDED, said.append) as found:
        assert found == (tmp_path, built)
    assert done == [
        ("ada.tgz", tmp_path / "own work", "go/", ("a.py", "b.py")),
        (Path("course"), tmp_path / "beside"),
    ]
    assert asked == [(runner._kit.assignment, tmp_path, level)]
    assert said == ([BuildFinished("of ada", built, 2.5)] if built else [])


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

    def __init__(self, kit: BenchSettings | None = None) -> None:
        self.kit = kit
        self.asked: list[Any] = []
        self.built: Build | None = None
        self.is_closed = False

    @contextmanager
    def furnish(self, handed: object, say: object) -> Any:
        self.asked.append(handed)
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
        natures="natures",
        _replace=lambda python: SimpleNamespace(python=python, natures="natures"),
    )
    monkeypatch.setattr(unit_worker, "find", lambda path: assignment)
    made = UnitWorker(Files(), proven="2", room=str(tmp_path))  # type: ignore[arg-type]
    yield made
    made.close()


def test_what_a_worker_lays_out_lies_in_its_room_and_goes_with_it(tmp_path):
    """As root, engines run as somebody else: they may go through, and list nothing."""
    made = UnitWorker(Files(), room=str(tmp_path))  # type: ignore[arg-type]
    room = Path(made._room.name)
    assert (room.parent, room.name[:17]) == (tmp_path, "gtp-harness-work-")
    with made._new_room() as inner:
        assert inner.parent == room
        assert [one.stat().st_mode & 0o777 for one in (room, inner)] == [0o711, 0o711]
        (inner / "secret").write_text("")
    assert list(room.iterdir()) == []
    made.close()
    assert list(tmp_path.iterdir()) == []


def test_a_unit_is_done_case_by_case(worker, monkeypatch):
    """What an engine computes longer here than on the reference machine is given in addition."""
    monkeypatch.setattr(unit_worker, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    said: list[Any] = []
    assert worker.do(make_unit(), said.append) == UnitFinished()
    handed, *asked = worker._bench.asked
    assert handed == UnpackedSubmission(Path("ada.tgz"), "go/", ("a.py",), "of ada")
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
    worker.do(make_unit(), said.append, lambda case: Granted(case == 1, 0))
    assert [one.basis for one in said if isinstance(one, CaseStarted)] == ["b"]


@pytest.mark.parametrize("ok", [False, True])
def test_what_cannot_be_built_is_not_run(ok, worker, monkeypatch):
    monkeypatch.setattr(
        Bench, "furnish", contextmanager(lambda *_: iter([(Path("/"), Build(ok, ""))]))
    )
    said: list[Any] = []
    worker.do(make_unit(), said.append)
    nothing = [CaseStarted("a"), ("nothing", "a"), CaseStarted("b"), ("nothing", "b")]
    assert (said[:-1] == nothing) is not ok


@pytest.mark.parametrize(
    ("error", "fault", "has_details"),
    [(StarvedError("no disk"), "no disk", False), (KeyError("x"), "KeyError: 'x'", True)],
)
def test_how_a_unit_breaks(error, fault, has_details, worker, monkeypatch):
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(worker, "_do", fail)
    said: list[Any] = []
    ended = worker.do(make_unit(), said.append)
    assert said == [ended]
    assert (ended.fault, bool(ended.details)) == (fault, has_details)


def test_a_bench_is_kept_for_units_that_are_alike(worker):
    first = worker._bench_for(make_unit())
    alike = make_unit(submission=None, build="another", cases=(), spent=1.0)
    assert worker._bench_for(alike) is first
    assert not first.is_closed
    for changes in ({"alone": True}, {"pace": 1.0}, {"budget": 1.0}, {"course": None}):
        another = worker._bench_for(make_unit(**changes))
        assert another is not first
        assert first.is_closed
        first = another
    worker.close()
    assert first.is_closed


def test_a_bench_is_made_of_what_a_unit_says(worker, tmp_path):
    python: Any = SimpleNamespace(program="p")
    kit = worker._kit_of(make_unit(environment=Environment("off", python)))  # type: ignore[arg-type]
    assert kit.assignment.python is python
    assert kit[1:] == (Path("/found/course"), None, LIMITS, False, 90.0, 2.0)
    (first, room), (second, beside) = worker._files.folders
    assert (first.name, second.name, beside) == ("assignment", "course", room / "course")
    assert room.is_relative_to(tmp_path)
    assert worker._kit_of(make_unit(course=None)).overlay is None


@pytest.mark.parametrize(("level", "is_proven"), [("2", True), ("3", False)])
@pytest.mark.parametrize(("pace", "cpu"), [(2.0, 40.0), (0.0, 20.0)])
def test_a_sandbox_that_was_just_proven_is_not_proven_again(
    level, is_proven, pace, cpu, worker, monkeypatch
):
    asked: list[Any] = []
    monkeypatch.setattr(
        unit_worker, "Sandbox", lambda *words, **named: asked.append((words, named))
    )
    own: Any = SimpleNamespace(natures="natures")
    environment = Environment(level, None, ("/secret",))
    worker._sandbox(make_unit(environment=environment, pace=pace), own)
    ((words, named),) = asked
    assert words[1].cpu == cpu
    assert (words[0], *words[2:]) == (level, ("/secret",), (), "natures")
    assert named == {"is_proven": is_proven}
