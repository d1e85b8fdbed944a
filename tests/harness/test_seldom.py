"""What happens seldom, and is reached by no other quick test: each branch by itself."""

from __future__ import annotations

import io
import logging
import os
import sqlite3
import stat
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from harness.assignments.assignment import find
from harness.errors import (
    ArchiveError,
    BusyError,
    CaseError,
    HarnessError,
    ReadingFailedError,
    SandboxError,
    UndecidedError,
    UsageError,
)
from harness.exits import ExitCode
from harness.grading.attempts import alarm, attempt_plan, attempt_runner, grading_progress, orders
from harness.grading.attempts.orders import GradingContext
from harness.grading.attempts.recording import MOST_FAULTS, Recorder
from harness.grading.attempts.units import GradingUnit, Task
from harness.grading.ledger import chains, ledger_server, owners, salvage
from harness.grading.ledger.ledger import (
    BuildRow,
    FinishedRun,
    Ledger,
    PlannedAttempt,
    ResultRow,
    Run,
)
from harness.grading.ledger.sqlite_file import SqliteFile
from harness.intake import archive_writing, confined_reading, placing, reader_server, tar
from harness.intake import zip as zip_archive
from harness.intake.archive_limits import IntakeLimits, Meter
from harness.intake.archive_streams import Stream
from harness.judging import explain, mistaken
from harness.reading import casefile, last_words, matchers, named_case_files, suite
from harness.reading.selection import Selection
from harness.records import Build, Reply, Verdict
from harness.running.jobs import Fault
from harness.sandbox import folder_copies, levels, memory, untrusted_folders
from harness.sandbox.boxed_engines import BoxedLauncher
from harness.specifications import specification
from harness.work import __main__ as work
from harness.work.canonical_json import NOTHING, Measurements
from harness.work.worker_events import (
    AttemptFinished,
    BuildFinished,
    CaseStarted,
    HarnessFailed,
    UnitFinished,
)
from oracle.answers import gomoku_rules
from oracle.grid import grid
from oracle.position import Position
from tests.harness.archives import make_zip
from tests.harness.hostile_archives import header, member

CASE = casefile.parse(
    b"loadsgf a.sgf\n10 score x/b.txt ../c.txt /d.txt .e none.txt\n#? [0]\n", "x.gtp"
)


# --- attempts


@pytest.mark.parametrize("named", [None, []])
def test_private_points_need_private_case_files(named, monkeypatch):
    own = find("go-scoring")
    asked = own._replace(
        marks=tuple(one._replace(judged_by="private", points=3) for one in own.marks)
    )
    monkeypatch.setattr(attempt_plan, "private_cases", lambda *_: [])
    if named is None:
        assert {case.kind for case in attempt_plan.cases(asked, named, "")} == {"public"}
        return
    with pytest.raises(UsageError) as told:
        attempt_plan.cases(asked, named, "")
    assert str(told.value) == (
        f"{own.marks[0].name!r} needs private case files, but none are given: name files or"
        " folders with --private (gtp-harness generate --secret makes some), or grade without"
        " them with --public-only"
    )


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ('Traceback:\n  File "a", line 1\n    x\n  File "b", line 2\n    y\nKeyError\n',
         'it broke (File "b", line 2)'),
        ("", "it broke"),
        ("nothing of files", "it broke"),
    ],
)  # fmt: skip
def test_how_the_harness_broke_is_told_in_a_line(details, said):
    assert attempt_runner._describe_fault(Fault("it broke", details)) == said


def test_the_line_of_a_grading_on_a_terminal():
    made = grading_progress._make()
    kinds = [type(one).__name__ for one in made.columns]
    assert kinds == [
        *("BarColumn", "MofNCompleteColumn", "TimeElapsedColumn"),
        *("TextColumn", "TimeRemainingColumn", "TextColumn"),
    ]
    assert made.columns[0].bar_width == 24
    assert [made.columns[place].text_format for place in (3, 5)] == ["left", "{task.description}"]
    assert [made.columns[place].markup for place in (3, 5)] == [True, False]
    assert made.live.console.stderr
    assert made.live.transient
    assert not made.live.auto_refresh


def make_unit(**changes: Any) -> GradingUnit:
    own: Any = SimpleNamespace(key="ada", sha256="", root="go/", kept=("a.py",))
    return GradingUnit(own, Path("ada.tgz"), "b", (Task("1", CASE), Task("2", CASE)), **changes)


def test_a_submission_as_a_bench_takes_it():
    found = orders.submission_for_bench(make_unit())
    assert found == (Path("ada.tgz"), "go/", ("a.py",), "b")


def test_a_bench_has_the_limits_of_the_assignment():
    own = find("go-scoring")
    made = orders.bench_of(GradingContext(own, Path("course"), "off", (), 77.0, 1), own.box)
    assert made._kit == (own, Path("course"), None, own.limits, False, 77.0, 0.0)


def test_files_that_commands_name_are_taken_along(tmp_path):
    for name in ("a.sgf", "x/b.txt", "e", "f.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    found = orders._find_named_files(Task("1", CASE), tmp_path)
    assert [one.name for one in found] == ["a.sgf", "x/b.txt"]


class Written:
    """A ledger that notes what is written."""

    name = "the ledger"

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.has_lease = True

    def finish_all(self, *words: object) -> bool:
        self.said.append(words)
        return self.has_lease

    def record_error(self, *words: object) -> None:
        self.said.append(words)


def attempt_of(basis: str, *, doubtful: bool = False) -> AttemptFinished:
    figures = Measurements(started="now", pid=7, seconds=1, cpu=2, memory=3, own_cpu=4)
    return AttemptFinished(basis, NOTHING, figures, failed=False, doubtful=doubtful)


@pytest.mark.parametrize(
    ("number", "doubtful", "is_last"), [(1, False, True), (1, True, False), (2, True, True)]
)
def test_what_comes_together_is_written_together(number, doubtful, is_last):
    ledger, heard = Written(), []
    recorder = Recorder(ledger, "t", number, lambda *pair: heard.append(pair), at_once=False)  # type: ignore[arg-type]
    words = [BuildFinished("b", Build(True, "done"), 0.5), attempt_of("1", doubtful=doubtful)]
    for word in words:
        recorder.add(4, word)
    assert ledger.said == heard == []
    recorder.flush()
    (token, (run,), (build,)), *rest = ledger.said
    assert (token, rest) == ("t", [])
    assert (run.basis, run.number, run.last) == ("1", number, is_last)
    assert run.row[:7] == (NOTHING, "now", 7, 1, 2, 3, 4)
    assert (build[0], build[2]) == ("b", 0.5)
    assert heard == [(4, word) for word in words]
    recorder.flush()
    assert len(ledger.said) == 1


def test_a_fault_is_one_of_the_attempts_that_have_no_result():
    ledger, heard = Written(), []
    recorder = Recorder(ledger, "t", 1, lambda *pair: heard.append(pair[1]), at_once=True)  # type: ignore[arg-type]
    recorder.add(0, attempt_of("1"))
    recorder.add_fault(0, ["1", "2", "3"], "it broke")
    recorder.add_fault(1, ["1"], "elsewhere")
    assert ledger.said[1:] == [
        ("2", "t", "it broke", MOST_FAULTS),
        ("3", "t", "it broke", MOST_FAULTS),
        ("1", "t", "elsewhere", MOST_FAULTS),
    ]
    assert heard[1:] == [
        *(HarnessFailed("2", "it broke"), HarnessFailed("3", "it broke")),
        HarnessFailed("1", "elsewhere"),
    ]


def test_without_the_lease_nothing_more_is_written():
    ledger = Written()
    ledger.has_lease = False
    recorder = Recorder(ledger, "t", 1, lambda *_: None, at_once=False)  # type: ignore[arg-type]
    recorder.add(0, attempt_of("1"))
    with pytest.raises(BusyError) as told:
        recorder.flush()
    assert str(told.value) == "another process has taken over the grading in the ledger"


# --- the ledger

RUN = Run("2026-01-01T00:00:00Z", "1.0", "go-scoring", "d" * 64, "{}")
ROW = ResultRow("{}", "2026-01-01T00:00:01Z", 1, 0.5, 0.25, 1 << 20, 0.01, "{}")


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger")
    planned = [PlannedAttempt(name, "ada", "public", f"{name}.gtp", "") for name in "ab"]
    made.plan(made.begin(RUN), planned)
    yield made
    made.close()


def test_a_run_is_found_by_its_number(ledger):
    other = RUN._replace(version="2.0")
    assert ledger.begin(other) == 2
    assert ledger.find_run(1) == (1, RUN)
    assert ledger.find_run(2) == (2, other)
    assert ledger.find_run(3) is None


def test_what_was_given_up_is_tried_again(ledger):
    token = ledger.lease("ab")
    for basis in "ab":
        ledger.record_error(basis, token, "full", most=1)
    assert {one.state for one in ledger.states("ab").values()} == {"fault"}
    ledger.begin_anew("a")
    assert ledger.states("ab")["a"] == ("waiting", 0, "")
    assert ledger.states("ab")["b"] == ("fault", 1, "full")


def test_an_attempt_is_settled_by_who_has_the_lease(ledger):
    token = ledger.lease("ab")
    ledger.finish_all(token, [FinishedRun("a", ROW, 1, last=False)], [])
    ledger.settle("a", "another")
    assert ledger.states("a")["a"].state == "leased"
    ledger.settle("a", token)
    assert ledger.states("ab")["a"].state == "done"
    assert ledger.states("ab")["b"].state == "leased"
    assert owners.me()


# --- archives


def test_a_reader_of_archives_gives_up_all_rights(monkeypatch):
    done: list[Any] = []
    kernel = reader_server.kernel
    for name in ("drop_capabilities", "no_new_privileges", "prctl"):
        monkeypatch.setattr(kernel, name, lambda *words, name=name: done.append((name, *words)))
    monkeypatch.setattr(reader_server.landlock, "abi", lambda: 4)
    monkeypatch.setattr(
        reader_server.landlock, "confine", lambda *words: done.append(("confine", *words))
    )
    reader_server._give_up()
    assert done == [
        ("drop_capabilities",),
        ("no_new_privileges",),
        ("prctl", "not dumpable", kernel.PR_SET_DUMPABLE, 0),
        ("confine", (), 4),
    ]
    monkeypatch.setattr(reader_server.landlock, "abi", lambda: 0)
    reader_server._give_up()
    assert [one[0] for one in done[4:]] == [one[0] for one in done[:3]]


def test_a_folder_that_cannot_be_read_is_told():
    with pytest.raises(UsageError, match=r"^cannot read /no/such/place: No such file or direct"):
        archive_writing.files_in(Path("/no/such/place"))


def test_a_reader_that_cannot_be_asked_is_told(monkeypatch):
    reader = confined_reading.ConfinedReader("pass")

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(reader, "_send", fail)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ReadingFailedError, match=r"^no archive can be read: no room$"):
        reader.read(io.FileIO(os.devnull), Meter(IntakeLimits(), 0))  # type: ignore[arg-type]
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_child_is_heard_piece_by_piece_and_in_time():
    reading, writing = os.pipe()
    heard = confined_reading._Pipe(reading, 60)
    os.write(writing, b"abcdef")
    assert [heard.take(2), heard.take(0), heard.take(3)] == [b"ab", b"", b"cde"]
    os.close(writing)
    with pytest.raises(ReadingFailedError, match=r"^the reader of an archive died$"):
        heard.take(2)
    heard.close()
    reading, writing = os.pipe()
    for seconds in (-1, 0.01):
        with pytest.raises(ReadingFailedError, match=r"archive did not end in time$"):
            confined_reading._Pipe(reading, seconds).take(1)
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    ("names", "root", "remark"),
    [
        (["go/a", "go/b"], "go/", ""),
        (["go/go/a", "go/b"], "go/", ""),
        (["go/go/a", "go/go/b"], "go/go/", "The folder go is wrapped in another of the same name:"
         " one is expected."),
        (["go/go/go/a"], "go/go/go/", "The folder go is wrapped in another of the same name:"
         " one is expected."),
    ],
)  # fmt: skip
def test_a_folder_within_one_of_its_name(names, root, remark):
    assert placing.place(names, "go") == (root, remark)


def read_tar(*parts: bytes) -> list[tuple[str, int]]:
    stream = Stream(iter([b"".join(parts)]), Meter(IntakeLimits(), 1 << 20))
    return [(one.name, one.size) for one in tar.members(stream)]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            (header("a", size=b"\x80" + bytes(10) + b"\x05"), b"12345" + bytes(507), bytes(1024)),
            "",
        ),
        ((header("a", size=700), bytes(512)), "the archive is cut off in the middle of this"),
        ((header("a", size=5), bytes(100)), "the archive is cut off in the middle of this member"),
        (
            (header("x", b"x", 20), bytes(10)),
            "the archive is cut off in the middle of this member",
        ),
        ((member("x", b"12 size=9.5\n", b"x"), header("a")), "it is damaged: the size is not a"),
        ((member("x", b"11 size=12\n", b"x"), header("a", size=5), bytes(512)), ""),
        ((member("x", b"8 a=bcd\n11 size=12\n", b"x"), header("a"), bytes(512)), ""),
    ],
)
def test_headers_that_are_seldom(parts, said):
    if said:
        with pytest.raises(ArchiveError) as told:
            read_tar(*parts)
        assert told.value.message.startswith(said)
        assert told.value.member in ("a", "x")
    else:
        ((name, size),) = read_tar(*parts)
        assert (name, size) in [("a", 5), ("a", 12)]


# --- sandboxes


@pytest.mark.parametrize("start", [levels.strongest, lambda: levels.make_proven(3)])
def test_a_machine_without_sandboxes(start, monkeypatch):
    monkeypatch.setattr(levels.platforms, "has_sandboxes", lambda: False)
    with pytest.raises(SandboxError) as told:
        start()
    assert str(told.value) == levels.platforms.NO_SANDBOX


def test_there_is_no_terminal_in_a_box():
    with pytest.raises(SandboxError) as told:
        BoxedLauncher(None, (), ()).start(["x"], "/", output=1)  # type: ignore[arg-type]
    assert str(told.value) == "there is no terminal in a sandbox: --pty does not go with it"


@pytest.mark.parametrize("mode", [0o500, 0o700])
@pytest.mark.parametrize("enter", ["_enter_named", "_enter_marked"])
def test_folders_are_entered_and_opened_to_us(mode, enter, tmp_path):
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o055)
    shut.chmod(0o055)
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("shut")
    here = os.open(tmp_path, os.O_RDONLY)
    found = {name: getattr(untrusted_folders, enter)(here, name, mode)
             for name in ("shut", "file", "link", "none")}  # fmt: skip
    assert [found[name] for name in ("file", "link", "none")] == [-1, -1, -1]
    assert os.fstat(found["shut"]).st_ino == shut.stat().st_ino
    assert stat.S_IMODE(shut.stat().st_mode) == mode | 0o055
    for descriptor in (here, found["shut"]):
        os.close(descriptor)


# --- case files and answers


def test_an_expression_that_is_none_is_told():
    with pytest.raises(UsageError) as told:
        Selection(only="(")
    assert str(told.value).startswith("--only '(' is not a regular expression: missing )")


@pytest.mark.parametrize(
    ("reply", "played"),
    [
        (Reply(True, "C3", "= C3", 0.0), "play b C3"),
        (Reply(True, "PASS", "= PASS", 0.0), "#"),
        (Reply(True, "resign", "= resign", 0.0), "#"),
        (Reply(False, "C3", "? C3", 0.0), "#"),
        (None, "#"),
    ],
)
def test_what_an_engine_chose_is_played_to_the_oracle(reply, played):
    (step, other) = casefile.parse(b"genmove b\nplay w A1\n", "x").steps
    assert explain._as_played(step, reply) == played
    assert explain._as_played(other, reply) == "play w A1"


def test_whatever_breaks_a_mistaken_program_breaks_it_down():
    class Engine:
        def handle(self, text: str) -> str:
            raise KeyError(text)

    ((step, how),) = mistaken.replay(CASE.steps, Engine())  # type: ignore[arg-type]
    assert step is CASE.steps[0]
    assert isinstance(how, mistaken.Crash)
    assert str(how) == "KeyError('loadsgf a.sgf')"


def test_what_is_not_made_to_be_read_to_its_end(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(CaseError) as told:
        casefile.content(str(tmp_path / "fifo"), "suite")
    assert told.value.message == "the suite cannot be read: found a FIFO, expected a file"
    assert casefile.content(os.devnull) == b""
    with pytest.raises(CaseError) as told:
        casefile.content("a\0b")
    assert told.value.message == "cannot be read: embedded null byte"


def test_a_position_is_shown_row_by_row():
    assert repr(Position(grid(2)).place((0, 1), 1).place((1, 0), 2)) == "<Position W./.B>"


# --- what one round of changes left unnoticed


def test_pages_of_no_file_are_none_where_the_kernel_tells_of_none(monkeypatch):
    monkeypatch.setattr(memory, "read", lambda path: "Name:\tx\nVmPTE:\t 12 kB\n")
    assert memory._anonymous(5) == 0
    assert memory._tables(5) == 12 << 10


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["broke"], ExitCode.FAULT),
        (["broke", "begun"], ExitCode.FAULT),
        (["begun", "broke", "begun"], ExitCode.FAULT),
        (["begun"], ExitCode.OK),
    ],
)
def test_a_unit_that_broke_anywhere_ends_with_a_fault(words, status, monkeypatch, capsysbinary):
    made = {"broke": HarnessFailed("1", "full"), "begun": CaseStarted("1")}

    class Worker:
        def do(self, unit: object, say: Any) -> UnitFinished:
            for word in words:
                say(made[word])
            return UnitFinished()

        def close(self) -> None:
            pass

    monkeypatch.setattr(work.unit_worker, "read", lambda *_: None)
    monkeypatch.setattr(work, "_content", lambda _: b"")
    monkeypatch.setattr(work, "_worker", lambda _: Worker())
    assert work._do(SimpleNamespace(file="-")) == status  # type: ignore[arg-type]
    assert len(capsysbinary.readouterr().out.splitlines()) == len(words)


def test_a_directory_of_a_zip_with_more_than_it_says():
    whole = bytearray(make_zip([("a", b"x"), ("b", b"y")]))
    whole[-14:-10] = b"\1\0\1\0"  # members: one
    with pytest.raises(ArchiveError) as told:
        list(zip_archive.members(io.BytesIO(whole), Meter(IntakeLimits(), len(whole))))
    assert told.value.message == ("it is damaged: its directory has more members than it says")


def test_moves_may_come_in_other_orders():
    moves = [(0, 0), (1, 0), (0, 1)]
    assert list(gomoku_rules.orders(Position(grid(10)), moves).values()) == [
        moves,
        [(0, 0), (1, 0), (0, 1)],
        [(0, 1), (1, 0), (0, 0)],
    ]
    assert gomoku_rules.orders(Position(grid(9)), moves) == {"sorted as strings": moves}


def test_builds_that_count_no_more_are_told_in_order(tmp_path):
    made = Ledger(tmp_path / "many")
    builds = [f"build {letter}" for letter in "hagbfced"]
    bases = [f"of {one}" for one in builds]
    planned = [
        PlannedAttempt(name, "ada", "public", name, "", build)
        for name, build in zip(bases, builds, strict=True)
    ]
    made.plan(made.begin(RUN), planned)
    token = made.lease(bases)
    runs = [FinishedRun(one, ROW, 1, last=True) for one in bases]
    made.finish_all(token, runs, [BuildRow(one, "{}", 1.0) for one in builds])
    made.release(token)
    assert sorted(made.withdraw(bases, "why")) == sorted(bases)
    names = [str(row.values[0]).partition("~")[0] for row in made.chains.rows("build")]
    made.close()
    assert len(names) == 16
    assert [next(one for one in builds if name.startswith(one)) for name in names[8:]] == sorted(
        builds
    )


def test_a_database_that_cannot_be_checked_says_why(tmp_path):
    def fail(_query: str) -> None:
        raise DBAPIError("PRAGMA", {}, sqlite3.DatabaseError("disk image is malformed"))

    made: Any = object.__new__(SqliteFile)
    made.connection = SimpleNamespace(exec_driver_sql=fail)
    assert made.own_errors(3) == ["disk image is malformed"]


def test_what_cannot_be_decided_gets_no_reason(monkeypatch):
    def undecided(*_: object) -> None:
        raise UndecidedError("too long")

    monkeypatch.setattr(
        explain, "reasons", lambda file, steps, specification, holds, boards: holds
    )
    file: Any = SimpleNamespace(case=CASE)
    (_, step) = CASE.steps
    for verdict, holds in [(lambda *_: Verdict.PASSED, True), (undecided, False),
                           (lambda *_: Verdict.FAILED, False)]:  # fmt: skip
        dialect = SimpleNamespace(verdict=verdict)
        monkeypatch.setattr(explain, "dialect_of", lambda *_, dialect=dialect: dialect)
        asked: Any = explain.explain_agreed(file, (), None, {})  # type: ignore[arg-type]
        assert asked(step, "= 0\n\n") is holds


def test_a_file_is_nobody_else_s_while_it_is_copied(tmp_path, monkeypatch):
    source, target = tmp_path / "source", tmp_path / "target"
    for folder in (source, target):
        folder.mkdir()
    (source / "a").write_text("x")
    (source / "a").chmod(0o644)
    modes: list[int] = []
    send = os.sendfile

    def note(writing: int, *words: Any) -> int:
        modes.append(stat.S_IMODE(os.fstat(writing).st_mode))
        return send(writing, *words)

    monkeypatch.setattr(folder_copies.os, "sendfile", note)
    list(folder_copies.copy(str(source), str(target), 0))
    assert modes == [0o600]
    assert stat.S_IMODE((target / "a").stat().st_mode) == 0o644


def test_a_folder_that_cannot_be_opened_is_not_entered(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    here = os.open(tmp_path, os.O_RDONLY)
    own = os.open

    def refuse(name: Any, *words: Any, **named: Any) -> int:
        if name == ".":
            raise OSError("too many open files")
        return own(name, *words, **named)

    monkeypatch.setattr(untrusted_folders.os, "open", refuse)
    assert untrusted_folders._enter_marked(here, "a", 0) < 0
    os.close(here)


def test_a_process_that_matches_imports_nothing_of_ours(monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr(
        matchers.subprocess, "Popen", lambda *words, **named: asked.append((words, named))
    )
    matchers._Matcher()
    ((words, named),) = asked
    assert words == ([sys.executable, "-ISs", matchers._PROGRAM],)
    pipe = matchers.subprocess.PIPE
    assert named == {"stdin": pipe, "stdout": pipe, "process_group": 0}


def test_who_closes_a_reader_waits_for_its_server():
    done: list[str] = []

    class Told:
        def __getattr__(self, name: str) -> Any:
            return lambda: done.append(name)

    reader = confined_reading.ConfinedReader("pass")
    reader._server = Told(), Told()  # type: ignore[assignment]
    reader.close()
    assert done == ["close", "wait"]
    reader.close()
    assert done == ["close", "wait"]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("a.gtp\n", True), ("# of mine\na.gtp\nnone\n", True), ("none.gtp\n", False),
     ("notes.txt\n", False), ("none\n", False), ("", False)],
)  # fmt: skip
def test_a_file_that_names_a_case_file_is_a_suite(text, is_one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.gtp", "notes.txt"):
        (tmp_path / name).write_text("10 x\n")
    (tmp_path / "mine").write_text(text)
    assert named_case_files._hint("mine") == ("; did you mean @mine?" if is_one else "")


def test_who_takes_all_and_who_takes_some_wait_for_each_other(ledger, monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr(
        ledger.database, "lock", lambda *words, **named: asked.append((words, named))
    )
    ledger.release(ledger.lease("ab"))
    ledger.release(ledger.lease_free("ab", 2).token)
    assert asked == [(("leasing",), {}), (("leasing",), {"shared": True})]


def test_the_oracle_follows_the_moves_that_an_engine_chose():
    """What it answered to genmove is a move on the board of the oracle."""
    case = casefile.parse(b"boardsize 3\ngenmove b\n10 gogui-rules_legal_moves\n#? [x]\n", "x.gtp")
    replies = tuple(Reply(True, text, f"= {text}", 0.0) for text in ("", "B2", "x"))
    file: Any = SimpleNamespace(case=case, replies=replies)
    seen: list[str] = []
    own = specification("gomoku-rules")
    made = own.reference_engine("")

    class Noting:
        session = made.session

        def handle(self, text: str) -> str:
            seen.append(text)
            return made.handle(text)

        def explain(self, text: str) -> object:
            return made.explain(text)

    told: Any = SimpleNamespace(reference_engine=lambda _: Noting(), commands=own.commands)
    explain.reasons(file, {2}, told)
    assert seen[:2] == ["boardsize 3", "play b B2"]


def test_what_runs_now_is_told_of_the_unit_by_its_number():
    heard: list[Any] = []
    listener = SimpleNamespace(
        on_word=lambda *pair: heard.append(("word", *pair)),
        on_progress=lambda *pair: heard.append(("progress", *pair)),
        on_time=lambda units: heard.append(("time", units)),
    )

    class Asked:
        def run(self, units, workers, on_word, on_time, **named) -> Any:
            on_time([1, 0])
            on_word(1, HarnessFailed("1", "full"))
            named["on_progress"](0, CaseStarted("2"))
            yield 1, Fault("it broke", "")
            heard.append((workers, named["shared"]))

    own: Any = GradingContext(find("go-scoring"), None, "off", (), 1.0, 1)
    written: Any = Written()
    runner = attempt_runner.Runner(written, own, listener)
    looked: list[Any] = []
    runner._watch = SimpleNamespace(look=looked.append, note=None)  # type: ignore[assignment]
    units = [make_unit(), make_unit(spent=1.0)]
    asked: Any = Asked()
    runner._round(units, asked, 1, 3)
    assert heard == [
        ("time", [units[1], units[0]]),
        ("word", units[1], HarnessFailed("1", "full")),
        ("progress", units[0], CaseStarted("2")),
        ("word", units[1], HarnessFailed("2", "it broke")),
        (3, True),
    ]
    assert looked == [[units[1]]]


@pytest.mark.parametrize(
    ("name", "found"),
    [("@inner", "@at/inner"), ("inner", "inner"), ("a.gtp", "at/a.gtp"), ("none", "none")],
)
def test_a_folder_is_no_suite_of_its_name(name, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "at").mkdir()
    for file in ("inner", "a.gtp"):
        (tmp_path / "at" / file).write_text("")
    assert suite._locate(name, "at") == found


def test_a_reader_of_archives_ends_when_its_socket_breaks(monkeypatch):
    def fail(_control: object) -> None:
        raise ConnectionResetError

    for place, names in [
        (reader_server.os, ("setsid",)),
        (reader_server.signal, ("signal", "pthread_sigmask")),
        (reader_server.gc, ("freeze", "disable")),
        (reader_server.seccomp, ("computing",)),
        (reader_server, ("_give_up",)),
    ]:
        for name in names:
            monkeypatch.setattr(place, name, lambda *_: None)
    monkeypatch.setattr(reader_server.socket, "socket", lambda fileno: None)
    monkeypatch.setattr(reader_server, "_receive", fail)
    reader_server.main(0)


MALFORMED = DBAPIError("SELECT", {}, sqlite3.DatabaseError("disk image is malformed"))


def test_a_row_is_described_although_its_plan_cannot_be_read(ledger, monkeypatch):
    def fail(_query: object) -> None:
        raise MALFORMED

    row = chains.SignedRow(tuple(str(i) for i in range(12)), 4, chains.Digest("", "", ()))
    monkeypatch.setattr(ledger.chains, "_db", SimpleNamespace(execute=fail))
    assert ledger.chains.describe_row("result", row) == "result 4"


def test_a_table_that_cannot_be_read_to_its_end_is_read_from_there_too(monkeypatch):
    asked: list[str] = []

    def execute(query: Any) -> Any:
        asked.append(str(query).partition("ORDER BY ")[2])
        yield (asked[-1], 1, "")
        raise MALFORMED

    found: Any = object.__new__(salvage._Damaged)
    found._db = SimpleNamespace(execute=execute)
    found.is_signed = True
    monkeypatch.setattr(found, "_find_known_names", lambda _: set(), raising=False)
    rows = list(found._read("run"))
    assert asked == ["run.id", "run.id DESC"]
    assert [row.values[0] for row in rows] == asked


def test_what_cannot_be_checked_to_its_end_is_told(tmp_path, monkeypatch):
    def fail() -> None:
        raise MALFORMED

    held = SimpleNamespace(
        errors=list, version=3, is_signed=True, rows=lambda _: [], database=SimpleNamespace(
            reading=nullcontext), chains=SimpleNamespace(tampering=fail),
    )  # fmt: skip
    monkeypatch.setattr(salvage, "_open", lambda _: nullcontext(held))
    facts, wrong = salvage.check(tmp_path / "x")
    assert facts[1:] == ["0 results, 0 marks"]
    assert wrong == ["not all of it can be read: disk image is malformed"]


def test_builds_that_fail_alike_have_one_reason():
    said = [f"/home/{name}/a.c:{line}: no x" for name, line in [("ada", 5), ("ben", 12)]]
    found = [alarm.trouble(Build(False, "", one), []) for one in said]
    assert [one and one.words for one in found] == said
    assert len({one and one.reason for one in found}) == 1
    assert found[0] == (last_words.normalize(said[0]), said[0], False)


def test_what_a_driver_logs_is_not_told_twice():
    assert ledger_server
    kinds = {type(one) for one in logging.getLogger("psycopg").handlers}
    assert logging.NullHandler in kinds


@pytest.mark.parametrize("kind", ["connect", "unicode"])
def test_what_a_server_says_at_first_is_told_with_its_name(kind, monkeypatch):
    closed: list[int] = []

    def fail(*_: object) -> None:
        raise MALFORMED

    connection = SimpleNamespace(close=lambda: closed.append(1))
    monkeypatch.setattr(ledger_server.extras, "require", lambda *_: None)
    monkeypatch.setattr(
        ledger_server, "_connect", fail if kind == "connect" else lambda *_: connection
    )
    monkeypatch.setattr(ledger_server.ServerDatabase, "_require_unicode", fail)
    monkeypatch.setattr(ledger_server.ServerDatabase, "close", lambda _: closed.append(1))
    with pytest.raises(HarnessError, match=r"^the server of ada[ :]"):
        ledger_server.ServerDatabase("postgresql://x", "the server of ada")
    assert closed == [1] * (kind == "unicode")
