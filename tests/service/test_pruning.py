"""What goes when its time is over, and what must stay while somebody may ask for a mark."""

import os
import time

import pytest
from sqlalchemy import text

from harness import cli
from harness.core.errors import LedgerError, UsageError
from harness.grading.ledger.chains import Seal
from harness.service.courses import submissions
from harness.service.operations import data
from harness.service.people import accounts
from harness.service.storage import courses, people, uploads
from harness.service.storage.audit import AuditLog
from harness.service.storage.tables import METADATA
from tests.harness import small_class
from tests.service.serving import Browser, add_person, hand_in, make_course, work
from tests.service.test_mail import ask, deliver

ROSTER = "student,name,email\nada,Ada,ada@example.org\n"
DAY = data.DAY
ALL = "logs=1,mail=1,sessions=1,checks=1,marks=1,originals=1,audit=1"
PRIVATE = b"1 twice 21\n#? [42]\n"


def prune(service, keep="", days=0.0, **rest):
    """Prune so many days from now; return what went, by kind."""
    settings = service.settings._replace(keep=keep)
    now = time.time() + days * DAY
    found = data.prune(settings, service.database, now=now, **rest)
    return {one.kind: one.number for one in found if one.number}


def make_undated_course(service):
    """Make a course whose assignment has no date after which something could go."""
    course = make_course(service, ROSTER)
    with service.database.changing() as db:
        undated = {"deadline": "", "closes": ""}
        courses.ASSIGNMENTS.change(db, undated, id=course.assignment.rpartition("/")[2])
    return course


def grade_class(service):
    """Grade a class of one with two submissions; return the course and the student."""
    course = make_undated_course(service)
    ada = Browser(service).enter(course.links["ada"])
    for body in ("return n", "return 2 * n"):
        hand_in(ada, course, small_class.submission(body))
    work(service)
    course.teacher.post(f"{course.assignment}/private", files={"file": ("p.gtp", PRIVATE)})
    grade(service, course)
    return course, ada


def grade(service, course):
    place = f"{course.assignment}/gradings"
    answer = course.teacher.post(place, course.assignment, all_the_same="yes")
    work(service)
    return course.teacher.get(answer.url.path).text


def originals(service):
    return sorted(path.name for path in service.settings.originals.glob("[0-9a-f]*"))


def marks(service):
    with service.database.reading() as db:
        return [one._replace(grading="") for one in uploads.MARKS.all(db, "grading")]


def log(service):
    with service.database.reading() as db:
        assert service.database.log.tampering(db) == []
        return service.database.log.entries(db)


# --- rules -------------------------------------------------------------------------------------


def test_rules_are_those_given_and_else_the_usual():
    assert data.read_rules("") == data.DEFAULTS
    found = data.read_rules("logs=7,audit=400,originals=forever")
    assert (found["logs"], found["audit"], found["originals"]) == (7, 400, None)
    assert found["mail"] == data.DEFAULTS["mail"]


@pytest.mark.parametrize(
    "rule", ["log=7", "logs", "logs=", "logs=0", "logs=-1", "logs=1.5", "logs=1e9", "=3"]
)
def test_rules_that_cannot_be_are_refused(rule):
    with pytest.raises(UsageError, match="--keep"):
        data.read_rules(rule)


# --- marks -------------------------------------------------------------------------------------


@pytest.mark.stored
@pytest.mark.processes
def test_originals_stay_while_a_mark_may_be_asked_for_and_marks_for_ever(service, counting):
    course, ada = grade_class(service)
    before, kept = marks(service), originals(service)
    rules = "originals=1,checks=1,audit=1,marks=400,sessions=1000"
    assert "originals" not in prune(service, rules, days=399)
    assert originals(service) == kept and len(kept) == 2
    with service.database.reading() as db:
        (assigned,) = courses.ASSIGNMENTS.all(db)
        first = uploads.UPLOADS.all(db, "at")[0]
    assert any(one.about == assigned.id for one in log(service))
    grade(service, course)
    assert marks(service) == before * 2

    own, others = service.database.log, AuditLog(Seal(bytes(32)))
    rules = "originals=1,marks=1,logs=forever,mail=forever,sessions=forever,checks=forever"
    service.database.log = others  # of another service, which knows none of the submissions
    with pytest.raises(LedgerError, match="the audit log was edited"):
        prune(service, rules, days=401)
    service.database.log = own
    assert originals(service) == kept

    gone = prune(service, "originals=1,marks=1,sessions=1000", days=2)
    assert gone["originals"] == 2 and originals(service) == []
    assert {one.about for one in log(service) if one.what == "original pruned"} == set(kept)
    page = f"{course.assignment}/uploads/{first.id}"
    assert ada.get(page).status_code == 200
    answer = ada.get(f"{page}/file")
    assert answer.status_code == 410 and "no longer kept" in answer.text
    assert "can no longer be graded" in grade(service, course)  # rather than wrong marks
    assert marks(service) == before * 2


def test_a_date_to_come_keeps_an_assignment(service, counting):
    make_undated_course(service)
    with service.database.changing() as db:
        (assigned,) = courses.ASSIGNMENTS.all(db)
        courses.extend(db, assigned.id, "ada", "2999-01-01T12:00")
    (line,) = (one for one in log(service) if one.what == "assignment made")
    prune(service, "audit=1,marks=1", days=1000)
    assert line in log(service)


@pytest.mark.stored
def test_bytes_stay_that_another_assignment_needs(service, counting):
    for bodies in (("return n", "return 2 * n"), ("return 2 * n",)):
        course = make_undated_course(service)
        ada = Browser(service).enter(course.links["ada"])
        for body in bodies:
            hand_in(ada, course, small_class.submission(body))
    with service.database.changing() as db:
        last = uploads.UPLOADS.all(db, "at")[-1]
        uploads.UPLOADS.change(db, {"at": time.time() + 500 * DAY}, id=last.id)
    assert len(originals(service)) == 2
    prune(service, "originals=1,marks=400", days=401)
    assert originals(service) == [last.sha256]


def test_bytes_that_are_pruned_just_now_are_to_be_submitted_again(service, counting, monkeypatch):
    """They were there when they were sent again, and gone when that was to be written down."""
    course = make_undated_course(service)
    ada, real = Browser(service).enter(course.links["ada"]), submissions.keep
    hand_in(ada, course, small_class.submission("return 3 * n"))

    def keep(*given):
        found = real(*given)
        found.path.unlink()
        return found

    monkeypatch.setattr(submissions, "keep", keep)
    answer = hand_in(ada, course, small_class.submission("return 3 * n"), status=422)
    assert "submit it once more" in answer.text
    with service.database.reading() as db:
        assert len(uploads.UPLOADS.all(db)) == 1


# --- all else ----------------------------------------------------------------------------------


def test_what_is_young_stays(service, counting):
    make_course(service, ROSTER)
    assert prune(service, ALL) == {}


@pytest.mark.stored
@pytest.mark.processes
def test_each_kind_goes_and_the_log_says_so(service, counting):
    _, ada = grade_class(service)
    ask(service, "ada@example.org")
    deliver(service)
    dry = prune(service, ALL, days=300, is_dry=True)
    assert dry == prune(service, ALL, days=300, is_dry=True)  # it changed nothing
    gone = prune(service, ALL, days=300)
    assert set(gone) == {"logs", "mail", "sessions", "checks", "originals", "audit"}
    # Beside what was to go is a line for each kind before it, and one for each original.
    assert gone == {**dry, "audit": dry["audit"] + 5 + dry["originals"]}
    assert [one.what for one in log(service)] == ["pruned"]
    for folder, pattern in (("logs", "*.jsonl"), ("mail", "*.eml"), ("assignments", "*/checks/*")):
        assert [*(service.settings.data / folder).glob(pattern)] == []
    with service.database.reading() as db:
        assert people.LETTERS.all(db) == []
        left = {one.name for one in METADATA.sorted_tables if db.execute(one.select()).first()}
        assert not left & {"session", "link", "word"}
        assert people.has_entered(db)  # no first teacher is let in again
    assert ada.get("/").url.path == "/sign-in"


def test_a_mail_that_waits_stays(service):
    ask(service, "ada@example.org")
    assert "mail" not in prune(service, ALL, days=300)


def test_links_that_hold_stay(service):
    with service.database.acting() as act:
        ada = accounts.add_person(act, "Ada")
        holds = accounts.make_link(act, ada.id, 1000 * DAY, once=False)
        accounts.make_link(act, ada.id, DAY, once=False)
    assert prune(service, "sessions=30", days=31.5)["sessions"] == 1
    with service.database.reading() as db:
        assert people.of_link(db, holds.digest)


# --- the audit log -----------------------------------------------------------------------------


def cut_lines(service):
    """Cut two of three lines off."""
    for name in ("Ada", "Ben", "Cyd"):
        add_person(service, name)
    with service.database.changing() as db:
        service.database.log.cut(db, 2)


def test_what_is_left_of_a_log_holds_and_goes_on(service):
    cut_lines(service)
    assert [one.link for one in log(service)] == [3]
    with service.database.acting() as act:
        accounts.add_person(act, "Dan")
        act.log.cut(act.db, 3)
    assert [one.link for one in log(service)] == [4]


EDITS = [
    ("DELETE FROM audit WHERE link = 3", "its end was changed: found 2 lines, expected 3"),
    ("DELETE FROM audit_end WHERE one = 0", "line 1 is missing"),
    (
        "UPDATE audit_end SET length = 3 WHERE one = 0",
        "the note about removed entries was changed",
    ),
    ("UPDATE audit SET what = 'x' WHERE link = 3", "line 3 was changed or added"),
]


@pytest.mark.stored
@pytest.mark.parametrize(("edit", "said"), EDITS)
def test_who_cuts_without_the_key_is_noticed(service, edit, said):
    cut_lines(service)
    with service.database.changing() as db:
        db.execute(text(edit))
        assert said in service.database.log.tampering(db)


@pytest.mark.stored
def test_the_end_of_a_log_is_not_its_beginning(service):
    """Its seal is another: else an editor of rows could cut the whole log off."""
    add_person(service, "Ada")
    with service.database.changing() as db:
        db.execute(
            text(
                "INSERT INTO audit_end (one, length, digest, seal)"
                " SELECT 0, length, digest, seal FROM audit_end WHERE one = 1"
            )
        )
        db.execute(text("DELETE FROM audit"))
        assert service.database.log.tampering(db) == ["the note about removed entries was changed"]


# --- the command -------------------------------------------------------------------------------


def test_the_command_says_what_goes_and_dry_lets_it_stay(service, capsys):
    old = service.settings.logs / "2020-01-01.jsonl"
    old.parent.mkdir(exist_ok=True)
    old.write_text("{}\n")
    os.utime(old, (0, 0))
    place = ["--data", str(service.settings.data), "--database", service.settings.database]
    assert cli.main(["prune", "--dry-run", *place]) == 0
    said = capsys.readouterr().out
    assert "logs             1  3 bytes" in said and "nothing was deleted" in said
    assert old.exists()
    assert cli.main(["prune", "--keep", "mail=forever", "--keep", "audit=forever", *place]) == 0
    assert "mail" not in capsys.readouterr().out and not old.exists()
    assert [one.what for one in log(service)] == ["pruned"]


def test_the_command_refuses_what_is_no_rule_and_no_service(tmp_path, capsys):
    place = ["--data", str(tmp_path / "none")]
    assert cli.main(["prune", "--keep", "all=1", *place]) == 2
    assert "expected one of logs" in capsys.readouterr().err
    assert cli.main(["prune", *place]) == 2
    assert "found no service" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
