"""Parts of the work on units: files, locks, what is told, plain values, the command."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import re
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from harness import signals
from harness.errors import UsageError
from harness.grading.attempts import grading_progress
from harness.grading.attempts.grading_progress import GradingProgress
from harness.grading.attempts.orders import ALONE
from harness.options import Limits
from harness.records import (
    Build,
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Limit,
    Outcome,
    Reply,
    Restart,
    Verdict,
)
from harness.report import progress
from harness.sandbox.relocating import room_in
from harness.service.jobs.worker import OnOtherMachines
from harness.work import __main__ as work
from harness.work import (
    bench,
    canonical_json,
    parent,
    plain_values,
    stored_files,
    unit_worker,
    worker_events,
)
from harness.work import machine as machine_module
from harness.work.canonical_json import Measurements
from harness.work.machine import Machine
from harness.work.records import Folder, Level, Name, Sha256, UnitCase, UnitFile, UnitSubmission
from harness.work.stored_files import FileFinder, MissingBytesError
from harness.work.worker_events import (
    AttemptFinished,
    BuildFinished,
    CaseProgress,
    CaseStarted,
    Claim,
    EngineHung,
    Granted,
    HarnessFailed,
    UnitFinished,
)


def sha256(content: bytes) -> Any:
    return hashlib.sha256(content).hexdigest()


ONE, TWO = b"boardsize 5\n", b"a game"


@pytest.fixture
def store(tmp_path):
    made = tmp_path / "store"
    made.mkdir()
    for content in (ONE, TWO):
        (made / sha256(content)).write_bytes(content)
    return made


def test_an_archive_is_taken_where_it_lies_if_it_is_whole(store, tmp_path):
    finder = FileFinder([tmp_path / "empty", store])
    place = tmp_path / "ada.tgz"
    own = UnitSubmission("ada", sha256(ONE), "", (), str(place))
    assert finder.archive(own) == store / sha256(ONE)
    place.write_bytes(TWO)
    assert finder.archive(own) == store / sha256(ONE)
    place.write_bytes(ONE)
    assert finder.archive(own) == place
    with pytest.raises(MissingBytesError) as told:
        FileFinder().archive(own._replace(path="", sha256=sha256(b"x")))
    assert str(told.value) == (
        f"the submission of ada is nowhere with the SHA-256 {sha256(b'x')}: has it changed?"
    )


def case_of(place: str = "", name: str = "a.gtp") -> UnitCase:
    return UnitCase("0123456789abcdefgh", name, sha256(ONE),
                    (UnitFile("games/of/b.sgf", sha256(TWO)),), place)  # type: ignore[arg-type]  # fmt: skip


def test_a_case_file_is_laid_out_with_what_it_names(store, tmp_path):
    room = tmp_path / "room"
    content, path = FileFinder([store]).case(case_of(), room)
    assert (content, path) == (ONE, room / "0123456789abcdef" / "a.gtp")
    assert (path.parent / "games/of/b.sgf").read_bytes() == TWO
    content, path = FileFinder([store]).case(case_of(str(tmp_path / "gone")), room)
    assert (content, path) == (ONE, room / "0123456789abcdef" / "a.gtp")


def test_a_case_file_is_used_where_it_lies_if_all_is_there(store, tmp_path):
    place = tmp_path / "cases"
    (place / "games" / "of").mkdir(parents=True)
    (place / "a.gtp").write_bytes(ONE)
    (place / "games/of/b.sgf").write_bytes(b"another")
    room = tmp_path / "room"
    finder = FileFinder([store])
    assert finder.case(case_of(str(place)), room)[1].is_relative_to(room)
    (place / "games/of/b.sgf").write_bytes(TWO)
    assert finder.case(case_of(str(place)), room) == (ONE, place / "a.gtp")
    with pytest.raises(MissingBytesError, match=r"^the case file a\.gtp is nowhere"):
        FileFinder().case(case_of(str(tmp_path)), room)


@pytest.mark.parametrize(("user", "is_laid_out"), [(0, True), (1000, False)])
def test_what_other_users_may_not_read_is_laid_out_for_engines_of_root(
    store, tmp_path, monkeypatch, user, is_laid_out
):
    monkeypatch.setattr(stored_files.os, "geteuid", lambda: user)
    place, room = tmp_path / "cases", tmp_path / "room"
    (place / "games" / "of").mkdir(parents=True)
    (place / "a.gtp").write_bytes(ONE)
    board = place / "games/of/b.sgf"
    board.write_bytes(TWO)
    board.chmod(0o600)
    for own in (store, tmp_path / "empty"):  # the only copy may be the one that is shut
        found = FileFinder([own]).case(case_of(str(place)), room)[1]
        assert found.is_relative_to(room) == is_laid_out
        laid = found.parent / "games/of/b.sgf"
        assert laid.read_bytes() == TWO
        assert bool(laid.stat().st_mode & 0o004) == is_laid_out


def test_a_folder_is_used_where_it_lies_or_laid_out(store, tmp_path):
    place = tmp_path / "course"
    (place / "in").mkdir(parents=True)
    (place / "in" / "a").write_bytes(ONE)
    (place / "b").write_bytes(TWO)
    found = stored_files.folder_of(place, ["in/a", "b"])
    assert found == Folder(
        "course", (UnitFile("in/a", sha256(ONE)), UnitFile("b", sha256(TWO))), str(place)
    )  # type: ignore[arg-type]
    finder, room = FileFinder([store]), tmp_path / "room"
    assert finder.folder(found, room) == place
    (place / "b").unlink()
    assert finder.folder(found, room) == room / "course"
    assert (room / "course" / "in" / "a").read_bytes() == ONE
    assert finder.folder(found._replace(place="", name="other"), room) == room / "other"
    with pytest.raises(MissingBytesError, match=r"^b is nowhere"):
        FileFinder().folder(found, room)


# --- locks


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "new" / "locks")


def test_locks_are_files_in_a_folder_that_is_made(machine, tmp_path):
    Machine(tmp_path / "new" / "locks")
    with machine.together():
        assert sorted(path.name for path in (tmp_path / "new" / "locks").iterdir()) == [
            "gate.lock", "machine.lock",
        ]  # fmt: skip


def test_what_is_last_lets_others_pass_but_not_for_ever(machine, monkeypatch):
    """A rerun of what is likely hopeless must not keep others from the machine."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        with machine.together():  # somebody else comes, and does not wait
            pass
        others.close()

    monkeypatch.setattr(machine_module.time, "sleep", sleep)
    with ExitStack() as others:
        others.enter_context(machine.together())
        with machine.last():
            assert slept
    monkeypatch.setattr(machine_module, "PATIENCE", 0.0)
    with machine.last():  # as if it was apart
        assert len(slept) == 1


@pytest.mark.parametrize("company", [ALONE, OnOtherMachines()])
def test_who_has_a_machine_for_itself_waits_for_nobody(company):
    with company.together(), company.apart(), company.last():
        pass


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [("together", "together", False), ("together", "apart", True), ("apart", "together", True),
     ("apart", "apart", True), ("together", "last", True), ("apart", "last", True),
     ("last", "together", True), ("last", "apart", True)],
)  # fmt: skip
def test_who_waits_for_whom(first, second, waits, machine):
    entered = threading.Event()

    def enter() -> None:
        with getattr(machine, second)():
            entered.set()

    thread = threading.Thread(target=enter)
    with getattr(machine, first)():
        thread.start()
        if waits:
            assert not entered.wait(0.1)
        else:
            assert entered.wait(60)
    assert entered.wait(60)
    thread.join()


def test_who_comes_while_one_wants_to_be_apart_waits_behind_it(machine, monkeypatch):
    order = []
    asked = threading.Event()

    def apart() -> None:
        with machine._gate.open("a") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            asked.set()
            with machine._machine.open("a") as whole:
                fcntl.flock(whole, fcntl.LOCK_EX)
                order.append("apart")

    def together() -> None:
        with machine.together():
            order.append("together")

    threads = [threading.Thread(target=one) for one in (apart, together)]
    with machine.together():
        threads[0].start()
        assert asked.wait(60)
        threads[1].start()
        threads[1].join(0.1)
        assert order == []
    for one in threads:
        one.join(60)
    assert order == ["apart", "together"]


# --- progress

UNIT: Any = SimpleNamespace(submission=SimpleNamespace(key="ada"))
OTHER: Any = SimpleNamespace(submission=SimpleNamespace(key="ben"))


def finish_attempt(*, failed: bool = False, doubtful: bool = False) -> AttemptFinished:
    return AttemptFinished("b", "null", Measurements(), failed=failed, doubtful=doubtful)


def test_a_line_says_how_far_a_grading_is(monkeypatch, capsys):
    """What is in doubt is not done; who fails twice is one."""
    progress = GradingProgress(5)
    with progress:
        for unit, word in [
            (UNIT, BuildFinished("b", Build((), ""), 1.0)),
            (UNIT, finish_attempt()),
            (UNIT, finish_attempt(failed=True)),
            (UNIT, finish_attempt(failed=True)),
            (OTHER, finish_attempt(failed=True, doubtful=True)),
        ]:
            progress.on_word(unit, word)
        progress.on_progress(UNIT, CaseProgress("b", 1))
        progress.on_time([UNIT])
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(progress._heartbeat, "_next", 0)
        progress.on_time([OTHER, UNIT, UNIT])
        assert capsys.readouterr().err == (
            f"0:00 3 of 5 case files done, 2 with failures{heartbeat_of('ada', 'ben')}\n"
        )
        for broke in ("1 harness error", "2 harness errors"):
            progress.on_word(UNIT, HarnessFailed("b", "why"))
            monkeypatch.setattr(progress._heartbeat, "_next", 0)
            progress.on_time([])
            said = f"0:00 3 of 5 case files done, 2 with failures, {broke}"
            assert capsys.readouterr().err == f"{said}{heartbeat_of()}\n"


def test_engines_of_another_user_enter_the_folder_of_a_case_file(tmp_path):
    worker = unit_worker.UnitWorker(FileFinder(), room=str(tmp_path))
    with closing(worker), worker._new_room() as folder:
        modes = [path.stat().st_mode & 0o777 for path in (folder, folder.parent)]
        assert modes == [0o711, 0o711]
    assert list(tmp_path.iterdir()) == []


def test_what_a_build_says_is_said_without_the_names_of_folders(tmp_path, monkeypatch):
    """Nothing of it depends on the machine, so that results can be compared."""
    environment, room = tmp_path / "environment", tmp_path / "room"
    environment.mkdir()
    (environment / "pyvenv.cfg").touch()
    kit: Any = SimpleNamespace(
        limits=Limits(),
        budget=1,
        pace=0,
        sandbox=None,
        assignment=SimpleNamespace(
            python=SimpleNamespace(program=str(environment / "bin" / "python"))
        ),
    )
    built = Build(True, f"{room}/a.c: {environment}/b.h")
    monkeypatch.setattr(bench.build_steps, "build", lambda *_: built)
    said: list[Any] = []
    assert bench.UnitRunner(kit)._build(SimpleNamespace(build="b"), room, said.append) == built
    (word,) = said
    assert str(tmp_path) not in word.build.output
    assert "a.c" in word.build.output
    assert "b.h" in word.build.output


def test_a_set_is_written_in_order():
    assert canonical_json.dumps(frozenset("edcba")) == '["a","b","c","d","e"]'


ROOM, PYTHON = "/tmp/room", "/opt/python"
SAID = f"{ROOM}/a, {room_in(ROOM)}/b and {PYTHON}/c, not /tmp/b"


def make_telling(said: str, seconds: float, computed: float, used: float | None) -> FileResult:
    """Return a result that has a text wherever an engine's words are kept, and figures."""
    reply = Reply(True, said, f"= {said}", seconds, f"{said}!", f"{said}?")
    sent = (Exchange("name", reply), Exchange("quit", None))
    limit = Limit("time", used, 3.0, "s")
    failure = Failure(FailureKind.TIMEOUT, said, 1, "why", computed, limit, said)
    return FileResult(
        case=canonical_json.NO_CASE,
        outcomes=(Outcome(0, Verdict.PASSED, None),),
        replies=(reply, None),
        before=sent,
        after=sent[::-1],
        errors=2,
        warnings=(said, f"2 {said}"),
        failures=(failure, failure._replace(limit=None)),
        stderr=f"{said} ",
        name="n",
        version="1",
        seconds=seconds,
        cpu_seconds=computed,
        restarts=(Restart(1, sent), Restart(2, ())),
    )


@pytest.mark.parametrize(
    ("python", "told"),
    [
        (PYTHON, "/submission/a, /submission/b and /environment/c, not /tmp/b"),
        ("", f"/submission/a, /submission/b and {PYTHON}/c, not /tmp/b"),
    ],
)
def test_what_differs_from_run_to_run_is_taken_out_everywhere(python, told):
    case = CaseFile("a.gtp", (), ("# a line",))
    own = make_telling(SAID, 1.5, 0.5, 4.0)._replace(
        case=case, outcomes=(Outcome(0, Verdict.PASSED, Reply(True, SAID, SAID, 1.0)),)
    )
    assert canonical_json.strip_measurements(own, ROOM, python) == make_telling(told, 0, 0, None)
    times = canonical_json.get_measurements(own)
    assert times == Measurements(1.5, engine_cpu=0.5, replies=(1.5,) * 4)


def test_what_an_engine_says_of_its_own_time_is_taken_out():
    reply = Reply(True, "1.25", "= 1.25", 0.5)
    own = make_telling("x", 0, 0, None)
    sent = (Exchange("cputime", reply), Exchange("time", reply), Exchange("cputime", None))
    found = canonical_json.strip_measurements(own._replace(before=sent), ROOM)
    assert found.before == (
        Exchange("cputime", Reply(True, "", "=", 0.0)),
        Exchange("time", Reply(True, "1.25", "= 1.25", 0.0)),
        Exchange("cputime", None),
    )


def test_a_set_is_read_as_it_was_written():
    text = canonical_json.dumps(frozenset("edcba"))
    assert canonical_json.loads(frozenset[str], text) == frozenset("abcde")  # type: ignore[type-var]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("lives", [True, False])
def test_a_worker_whose_parent_has_ended_already_ends(platform, lives, monkeypatch):
    done: list[object] = []
    own = parent.os.getppid()
    monkeypatch.setattr(parent.sys, "platform", platform)
    monkeypatch.setattr(parent, "prctl", lambda *words: done.append(words))
    monkeypatch.setattr(
        parent, "Thread", lambda **words: SimpleNamespace(start=lambda: done.append(words))
    )
    if lives:
        parent.die_with_parent(own)
    else:
        with pytest.raises(SystemExit):
            parent.die_with_parent(own + 1)
    (asked,) = done
    wanted = own if lives else own + 1
    if platform == "linux":
        assert asked == ("die with parent", 1, 15)  # PR_SET_PDEATHSIG, SIGTERM
    else:
        assert asked == {"target": parent._watch, "args": [wanted], "daemon": True}


def test_who_watches_a_parent_ends_itself_when_it_is_another_one(monkeypatch):
    told = iter([7, 7, 1])
    done: list[tuple[str, object]] = []
    monkeypatch.setattr(parent.os, "getppid", lambda: next(told))
    monkeypatch.setattr(parent.os, "kill", lambda *words: done.append(("kill", words)))
    monkeypatch.setattr(parent.time, "sleep", lambda seconds: done.append(("sleep", seconds)))
    parent._watch(7)
    assert done == [("sleep", 0.5)] * 2 + [("kill", (parent.os.getpid(), 15))]


def test_what_was_not_measured_is_zero():
    assert not any(Measurements())


def heartbeat_of(*keys: str) -> str:
    return progress.waiting_for(list(keys))


class Live:
    """A live line that notes what it shows."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def add_task(self, name: str, total: int) -> int:
        self.said.append(("task", name, total))
        return 7

    def start(self) -> None:
        self.said.append("start")

    def refresh(self) -> None:
        self.said.append("refresh")

    def stop(self) -> None:
        self.said.append("stop")

    def update(self, task: int, completed: int, description: str) -> None:
        self.said.append((task, completed, description))


def test_on_a_terminal_a_line_is_drawn_with_each_word(monkeypatch):
    live = Live()
    monkeypatch.setattr(grading_progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(grading_progress, "_make", lambda: live)
    long: Any = SimpleNamespace(submission=SimpleNamespace(key="x" * 30))
    with GradingProgress(5) as progress:
        progress.on_word(UNIT, finish_attempt(failed=True))
        progress.on_word(UNIT, BuildFinished("b", Build((), ""), 1.0))
        progress.on_word(long, HarnessFailed("b", "why"))
        monkeypatch.setattr(progress._heartbeat, "_next", 0)
        progress.on_time([UNIT])
    shown = [one for one in live.said if isinstance(one, tuple)]
    assert shown[:2] == [("task", "", 5), (7, 1, "1 with failures  ada")]
    assert shown[3:] == [(7, 1, "1 with failures, 1 harness error  ada")]
    assert shown[2][2].startswith("1 with failures, 1 harness error  xxxxxxxxxxxxxxxxxxxx")
    assert len(shown[2][2].rpartition(" ")[2]) == 24
    assert live.said[1:3] == ["start", "refresh"]
    assert live.said.count("refresh") == 4
    assert live.said[-1] == "stop"


def test_without_units_no_line_is_drawn(monkeypatch):
    monkeypatch.setattr(grading_progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(grading_progress, "_make", lambda: pytest.fail("it is drawn"))
    with GradingProgress(0):
        pass


# --- what a worker tells


def test_a_test_that_was_judged_is_told_once_in_a_second(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(unit_worker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    said: list[object] = []
    told = unit_worker._UnitProgress("basis", said.append)
    for seconds, step in [(100.9, 1), (101.0, 2), (101.9, 3), (102.0, 4), (110.0, 5)]:
        now[0] = seconds
        told(None, SimpleNamespace(step=step))  # type: ignore[arg-type]
    assert said == [CaseProgress("basis", step) for step in (2, 4, 5)]


@pytest.mark.parametrize(
    ("cpu", "pace", "longer"), [(10.0, 0.0, 0.0), (10.0, 1.0, 0.0), (10.0, 1.5, 5.0), (4, 0.5, -2)]
)
def test_a_slow_machine_has_longer(cpu, pace, longer):
    assert unit_worker._longer_here(Measurements(cpu=cpu, pace=pace)) == longer


def test_case_files_that_others_have_make_nothing_longer():
    """What another process does of a shared unit takes nothing of the budget, and adds nothing."""
    refuse = Granted(granted=False, hangs=0)
    told = unit_worker.UnitWorker._case(None, 0, None, 0.0, pytest.fail, lambda index: refuse)  # type: ignore[arg-type]
    assert told == 0.0


def test_hangs_are_counted_on_and_told():
    told = []
    hangs = unit_worker._Told(2, lambda: told.append("hung"))
    hangs.add(0)
    assert (hangs.of(0), told) == (3, ["hung"])
    unit = unit_worker._Unshared(lambda _: None)
    for hung in (0, 1, 2):
        assert unit.ask(5) == Granted(granted=True, hangs=hung)
        unit.say(EngineHung("basis"))
        unit.say(UnitFinished())


class SaysAll:
    """A worker that says one word of each kind of a unit, and asks for a case file if it may."""

    def do(self, unit, say, ask=None):
        for word in (CaseStarted("basis"), EngineHung("basis"), UnitFinished()):
            say(word)
        if ask:
            assert ask(0).granted

    def close(self):
        pass


@pytest.mark.parametrize(
    ("shared", "kinds"),
    [(True, [CaseStarted, EngineHung, UnitFinished, Claim]), (False, [EngineHung, UnitFinished])],
)
def test_of_a_unit_that_is_not_shared_nothing_is_asked_and_no_progress_told(
    shared, kinds, monkeypatch
):
    monkeypatch.setattr(unit_worker, "read", lambda text, _: text)
    said = io.BytesIO()
    answered = unit_worker.answer(Granted(granted=True, hangs=0)) if shared else b""
    source = io.BytesIO(b"a unit\n" + answered)
    unit_worker.serve(source, said, SaysAll(), shared=shared)
    assert [worker_events.kind_of(line) for line in said.getvalue().splitlines()] == kinds


class SaysResults:
    """A worker that runs two case files."""

    def do(self, unit, say, ask=None):
        for _ in range(2):
            say(CaseStarted("basis"))
            say(AttemptFinished("basis", "null", Measurements(), failed=False, doubtful=False))
        say(UnitFinished())

    def close(self):
        pass


class Woken(io.BytesIO):
    """What counts how many lines were there whenever the other end was woken."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def flush(self):
        if (count := self.getvalue().count(b"\n")) not in self.lines:
            self.lines.append(count)


def test_the_last_result_of_a_unit_that_is_not_shared_wakes_nobody_before_its_end(monkeypatch):
    monkeypatch.setattr(unit_worker, "read", lambda text, _: text)
    said = Woken()
    unit_worker.serve(io.BytesIO(b"a unit\n"), said, SaysResults(), shared=False)
    # The first result is there before the second case file is run, which may end this process.
    assert said.lines == [0, 1, 3]


# --- plain values


class Inner(NamedTuple):
    """A record within another."""

    name: Name
    level: Level = Level("auto")


class Outer(NamedTuple):
    """A record with a field of each type."""

    text: str
    number: int
    share: float
    digest: Sha256
    inner: Inner | None
    many: tuple[Inner, ...] = ()
    is_so: bool = False


RIGHT: dict[str, Any] = {
    "text": "x", "number": 0, "share": 1, "digest": "0" * 64, "inner": None,
}  # fmt: skip
FIELDS = "text, number, share, digest, inner, many, is_so"
# The change; the place of the mistake, and its message.
MISTAKES = [
    ({"text": 1}, "it.text: found 1, expected a text"),
    ({"text": "a\0"}, 'it.text: found "a\\u0000", expected a text'),
    ({"number": -1}, "it.number: found -1, expected a whole number from 0"),
    ({"number": 1.0}, "it.number: found 1.0, expected a whole number from 0"),
    ({"number": True}, "it.number: found true, expected a whole number from 0"),
    ({"number": 1 << 63}, f"it.number: found {1 << 63}, expected a whole number from 0"),
    ({"share": -0.5}, "it.share: found -0.5, expected a number from 0"),
    ({"share": True}, "it.share: found true, expected a number from 0"),
    ({"share": "1"}, 'it.share: found "1", expected a number from 0'),
    ({"digest": "0" * 63}, f'it.digest: found "{"0" * 58}…, expected a SHA-256 as 64 hexadecimal'
     " digits"),
    ({"digest": "0" * 63 + "A"}, f'it.digest: found "{"0" * 58}…, expected a SHA-256 as 64'
     " hexadecimal digits"),
    ({"digest": 5}, "it.digest: found 5, expected a SHA-256 as 64 hexadecimal digits"),
    ({"is_so": 1}, "it.is_so: found 1, expected true or false"),
    ({"inner": []}, "it.inner: found [], expected an object with name, level"),
    ({"inner": {}}, "it.inner: the key 'name' is missing"),
    ({"many": {}}, "it.many: found {}, expected a list"),
    ({"many": [{"name": "a"}, {"name": "b", "level": "4"}]},
     'it.many[1].level: found "4", expected one of auto, 3, 2, 1, off'),
    ({"new": 1, "more": 2}, f'it: there is no key "more", only {FIELDS}'),
    *(({"inner": {"name": name}}, f"it.inner.name: found {shown}, expected the name of a file"
       " below the folder, such as boards/a.txt")
      for name, shown in [("", '""'), ("/a", '"/a"'), ("a/../b", '"a/../b"'), ("./a", '"./a"'),
                          ("a//b", '"a//b"'), ("a/", '"a/"'), (".", '"."'), (1, "1"),
                          ("a\0", '"a\\u0000"')]),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES)
def test_what_is_wrong_with_a_value_is_told_with_its_place(changes, said):
    with pytest.raises(UsageError) as told:
        plain_values.read(Outer, json.dumps({**RIGHT, **changes}), "it")
    assert str(told.value) == said


def test_what_is_right_is_read():
    found = plain_values.read(Outer, json.dumps(RIGHT), "it")
    assert found == Outer("x", 0, 1.0, Sha256("0" * 64), None)
    assert isinstance(found.share, float)
    more = {"inner": {"name": "a/b.txt"}, "many": [{"name": "c", "level": "off"}], "is_so": True}
    found = plain_values.read(Outer, json.dumps({**RIGHT, **more, "number": (1 << 63) - 1}), "it")
    assert found.inner == Inner(Name("a/b.txt"))
    assert found.many == (Inner(Name("c"), Level("off")),)
    assert (found.is_so, found.number) == (True, (1 << 63) - 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NaN", "it is not JSON: NaN is not a number of JSON"),
        ("{", "it is not JSON: Expecting property name"),
        ("[]", f"it: found [], expected an object with {FIELDS}"),
        (json.dumps(["x" * 99]), f'it: found ["{"x" * 57}…, expected an object with {FIELDS}'),
        ("{}", "it: the key 'text' is missing"),
    ],
)
def test_what_is_no_record_at_all(text, said):
    with pytest.raises(UsageError) as told:
        plain_values.read(Outer, text, "it")
    assert str(told.value).startswith(said)


def test_the_schema_of_a_record():
    inner = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "level": {"type": "string", "enum": ["auto", "3", "2", "1", "off"]},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert plain_values.schema(Outer) == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "integer", "minimum": 0},
            "share": {"type": "number", "minimum": 0},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "inner": {"anyOf": [inner, {"type": "null"}]},
            "many": {"type": "array", "items": inner},
            "is_so": {"type": "boolean"},
        },
        "required": ["text", "number", "share", "digest", "inner"],
        "additionalProperties": False,
    }


# --- the command

HELP = """\
usage: python -m harness.work [-h] [--store FOLDER] [--proven LEVEL]
                              [--confined] [--room FOLDER] [--serve]
                              [--unshared] [--schema]
                              [FILE]

Do a unit of work, and say what comes as lines of JSON.

positional arguments:
  FILE             the unit (default: standard input)

options:
  -h, --help       show this help message and exit
  --store FOLDER   a folder of files named by their SHA-256; may be repeated
  --proven LEVEL   a sandbox level that was just proven here: it is not proven
                   again
  --confined       let confined children read archives
  --room FOLDER    where files are laid out (default: the folder of temporary
                   files)
  --serve          do units that come as lines, ask before each case file
  --unshared       with --serve: ask for nothing, and tell of no progress
  --schema         print the JSON Schema of units and words
"""


def test_the_help_of_the_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        work.main(["--help"])
    assert re.sub(" +", " ", capsys.readouterr().out) == re.sub(" +", " ", HELP)


def test_the_options_of_the_command():
    read = work._options().parse_args
    assert vars(read([])) == {
        "file": "-", "store": [], "proven": "", "confined": False, "room": None, "serve": False,
        "unshared": False, "schema": False,
    }  # fmt: skip
    words = [
        "unit.json",
        "--store",
        "/a",
        "--store",
        "/b",
        "--proven",
        "3",
        "--confined",
        "--room",
        "/c",
        "--serve",
        "--unshared",
        "--schema",
    ]
    assert vars(read(words)) == {
        "file": "unit.json", "store": [Path("/a"), Path("/b")], "proven": "3", "room": "/c",
        "confined": True, "serve": True, "unshared": True, "schema": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("error", "said", "status"),
    [
        (UsageError("it is wrong"), "it is wrong", 2),
        (MissingBytesError("it is nowhere"), "it is nowhere", 3),
        (KeyboardInterrupt(), "interrupted", 130),
    ],
)
def test_how_the_command_ends(error, said, status, capsys, monkeypatch):
    def fail(given: object) -> int:
        raise error

    monkeypatch.setattr(work, "_do", fail)
    monkeypatch.setattr(signals, "_received", [])  # another test may have ended by SIGTERM
    assert work.main([]) == status
    assert capsys.readouterr().err == f"harness.work: {said}\n"


def test_a_unit_that_cannot_be_read(capsys):
    assert work.main(["/no/such/file"]) == 2
    said = "harness.work: cannot read /no/such/file: No such file or directory\n"
    assert capsys.readouterr().err == said


def test_what_a_unit_need_not_say_is_empty():
    own = UnitSubmission("ada", sha256(ONE), "", ())
    case = UnitCase("basis", "a.gtp", sha256(ONE))
    assert (own.path, case.beside, case.place, Folder("x", ()).place) == ("", (), "", "")
