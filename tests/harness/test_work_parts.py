"""Parts of the work on units: files, locks, what is told, plain values, the command."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from typing import Any, NamedTuple

import pytest

from harness.core.errors import UsageError
from harness.core.options import Limit
from harness.core.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Restart,
    Verdict,
)
from harness.sandbox.relocating import room_in
from harness.work import __main__ as work
from harness.work import canonical_json, records, unit_worker
from harness.work.canonical_json import Level, Name, Sha256
from harness.work.machine import Machine
from harness.work.records import (
    CaseStarted,
    Claim,
    EngineHung,
    Folder,
    Granted,
    Measurements,
    UnitCase,
    UnitFile,
    UnitFinished,
    UnitSubmission,
)
from harness.work.unit_worker import FileFinder, MissingBytesError


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
    monkeypatch.setattr(unit_worker.os, "geteuid", lambda: user)
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
    found = unit_worker.folder_of(place, ["in/a", "b"])
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


# --- progress


ROOM, PYTHON = "/tmp/room", "/opt/python"
SAID = f"{ROOM}/a, {room_in(ROOM)}/b and {PYTHON}/c, not /tmp/b"


def make_telling(said: str, seconds: float, computed: float, used: float | None) -> FileResult:
    """Return a result that has a text wherever an engine's words are kept, and figures."""
    reply = Reply(True, said, f"= {said}", seconds, f"{said}!", f"{said}?")
    sent = (Exchange("name", reply), Exchange("quit", None))
    limit = Limit("time", used, 3.0, "s")
    failure = Failure(FailureKind.TIMEOUT, said, 1, "why", computed, limit, said)
    return FileResult(
        case=records.NO_CASE,
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
    assert records.strip_measurements(own, ROOM, python) == make_telling(told, 0, 0, None)
    times = records.get_measurements(own)
    assert times == Measurements(1.5, engine_cpu=0.5, replies=(1.5,) * 4)


def test_what_an_engine_says_of_its_own_time_is_taken_out():
    reply = Reply(True, "1.25", "= 1.25", 0.5)
    own = make_telling("x", 0, 0, None)
    sent = (Exchange("cputime", reply), Exchange("time", reply), Exchange("cputime", None))
    found = records.strip_measurements(own._replace(before=sent), ROOM)
    assert found.before == (
        Exchange("cputime", Reply(True, "", "=", 0.0)),
        Exchange("time", Reply(True, "1.25", "= 1.25", 0.0)),
        Exchange("cputime", None),
    )


# --- what a worker tells


class SaysAll:
    """A worker that says one word of each kind of a unit, and asks for a case file if it may."""

    def do(self, unit, say, ask=None):
        for word in (CaseStarted("basis"), EngineHung("basis"), UnitFinished()):
            say(word)
        if ask:
            assert ask(Claim(0)).granted

    def close(self):
        pass


@pytest.mark.parametrize(
    ("shared", "kinds"),
    [(True, [CaseStarted, EngineHung, UnitFinished, Claim]), (False, [EngineHung, UnitFinished])],
)
def test_of_a_unit_that_is_not_shared_nothing_is_asked_and_no_progress_told(
    shared, kinds, monkeypatch
):
    monkeypatch.setattr(records, "read_unit", lambda text, _: text)
    said = io.BytesIO()
    answered = (
        canonical_json.dumps(Granted(granted=True, hangs=0)).encode() + b"\n" if shared else b""
    )
    source = io.BytesIO(b"a unit\n" + answered)
    unit_worker.serve(source, said, SaysAll(), shared=shared)
    assert [records.kind_of(line) for line in said.getvalue().splitlines()] == kinds


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
        canonical_json.read(Outer, json.dumps({**RIGHT, **changes}), "it")
    assert str(told.value) == said


# --- the command


def test_a_unit_that_cannot_be_read_and_the_schema_of_units(capsys):
    assert work.main(["/no/such/file"]) == 2
    said = "harness.work: cannot read /no/such/file: No such file or directory\n"
    assert capsys.readouterr().err == said
    assert work.main(["--schema"]) == 0
    told = {"unit": canonical_json.schema(records.WorkUnit), "word": records.event_schema()}
    assert json.loads(capsys.readouterr().out) == told
