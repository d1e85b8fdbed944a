"""How long a run waits for engines of one's own, and what it says meanwhile."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from harness.cli import main
from harness.cli.console import Console
from harness.cli.run import RUN
from harness.core.options import Limits, Options
from harness.core.records import Progress, Waiting
from harness.engine import engine_session, process
from harness.grading.attempts import grading_progress
from harness.grading.attempts.grading_progress import GradingProgress
from harness.report import progress
from harness.report.progress import Heartbeat
from harness.running.runs import run

ENGINES = Path(__file__).parent.parent / "engines"
SLEEPS = f"{sys.executable} {ENGINES / 'takes_time.py'} sleep 1.5"  # long, also on a busy machine
NEVER = float("inf")


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("x.gtp").write_text("first\n10 fault\n20 second\n")
    return "x.gtp"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let half a minute be over at once."""
    monkeypatch.setattr(engine_session, "LONG", 0.1)
    monkeypatch.setattr(engine_session, "NEWS", 0.05)
    monkeypatch.setattr(progress, "SECONDS", 0.1)
    monkeypatch.setattr(process, "_NAP", 50)


# --- what is told


@pytest.mark.processes
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(("limit", "jobs"), [(0.0, 1), (90.0, 2)])
def test_what_takes_long_is_told(case: str, limit: float, jobs: int) -> None:
    news: list[Progress] = []
    limits = Limits(timeout=limit, startup=limit)
    Path("y.gtp").write_text("second\n")
    result = run(SLEEPS, [case, "y.gtp"], Options(limits=limits, jobs=jobs), news.append)
    told = [one for one in news if one.waiting is not None and one.waiting.command]
    assert {one.waiting.command for one in told if one.waiting} == {"10 fault"}
    seconds = [one.waiting.seconds for one in told if one.waiting]
    assert seconds == sorted(seconds)
    for one in told:
        assert one.waiting is not None
        assert one.path == case
        whole = one.waiting.left + one.waiting.seconds
        assert whole == NEVER if limit == 0 else 85 < whole < 90.1
    after = news[news.index(told[-1]) + 1 :]
    assert not any(one.waiting for one in after if one.path == case), (
        "that it is over is told, too"
    )
    assert all(file.failure is None for file in result.files)


@pytest.mark.processes
@pytest.mark.usefixtures("soon")
def test_the_start_is_told(case: str) -> None:
    news: list[Progress] = []
    slow = f"sh -c 'sleep 0.4; exec {sys.executable} {ENGINES / 'in_order.py'}'"
    run(slow, [case], Options(jobs=1), news.append)
    assert any(one.waiting and one.waiting.command == "" for one in news)


@pytest.mark.processes
def test_what_answers_soon_is_not_told(case: str) -> None:
    news: list[Progress] = []
    run(SLEEPS, [case], Options(jobs=1), news.append)
    assert not any(one.waiting for one in news)


# --- how it is said


def test_every_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lines = 0.0, []
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    beats = Heartbeat(lines.append, start=0.0)
    for second in range(95):
        now = float(second)
        beats.beat(lambda: "far")
    assert lines == ["0:30 far", "1:00 far", "1:30 far"]


@pytest.mark.parametrize(
    ("is_terminal", "total", "said"),
    [
        (False, 3, "0:00 0 of 3 case files done, 0 with failures\n"),
        (True, 3, ""),  # bars are drawn instead
        (True, 0, "0:00 0 of 0 case files done, 0 with failures\n"),
    ],
)
def test_a_grading_draws_bars_only_on_a_terminal(
    is_terminal: bool, total: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr, bars = io.StringIO(), MagicMock()
    monkeypatch.setattr(stderr, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "SECONDS", 0)
    monkeypatch.setattr(grading_progress, "_make", lambda: bars)
    with GradingProgress(total) as shown:
        shown.on_time([])
    assert stderr.getvalue() == said
    assert bars.start.called is not bool(said)


@pytest.mark.processes
@pytest.mark.usefixtures("soon")
def test_off_a_terminal_it_is_said_on_standard_error(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--jobs=1", SLEEPS, case]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    said, *_, counts = err.splitlines()
    assert said.startswith("gtp-harness: 0:00 x.gtp has waited 0:00 for '10 fault', ")
    assert "left" in said
    assert counts == "1 file: 2 tests, 2 passed"


def test_what_is_answered_is_said_no_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    console = Console(2, RUN.parser().read(["engine", "test"]))
    one = Waiting("slow", 31.0, 29.0)
    console.on_progress(Progress(0, "a.gtp", 0, 1, 0, waiting=one))
    console.on_progress(Progress(1, "b.gtp", 0, 1, 0, waiting=one))
    console.on_progress(Progress(0, "a.gtp", 1, 1, 0))
    console.on_progress(Progress(1, "b.gtp", 0, 1, 0, waiting=one))
    said = [line.count("has waited") for line in capsys.readouterr().err.splitlines()]
    assert said == [1, 2, 1]
