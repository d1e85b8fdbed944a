"""``gtp-harness admin``: people it lets in can sign in, and people it shuts out cannot."""

import time

import pytest
from sqlalchemy import update

from harness import cli
from harness.service import serving
from harness.service.operations import administration
from harness.service.people import accounts
from harness.service.storage import people
from harness.service.storage.tables import AUDIT, AUDIT_END
from tests.service.serving import BASE, Browser, make_course


@pytest.fixture
def admin(service, capsys):
    """Return what runs the command beside the service, and gives its lines."""
    place = ["--data", str(service.settings.data), "--database", service.settings.database]

    def run(*words, status=0):
        assert cli.main(["admin", *words, *place]) == status
        said = capsys.readouterr()
        return (said.err if status else said.out).splitlines()

    return run


def test_who_is_added_is_let_in_by_a_link_once_and_may_make_courses(service, admin):
    admin("add", "Tess Teacher", "--email", "tess@example.org", "--admin")
    (link,) = admin("link", "tess@example.org", "--address", BASE)
    tess = Browser(service).enter(link)
    assert tess.post("/courses", title="Games").status_code == 200
    assert Browser(service).get(link.removeprefix(BASE)).status_code == 404


@pytest.mark.stored
def test_a_token_is_let_in_until_it_is_revoked(service, admin):
    admin("add", "Ann Author")
    (token,) = admin("token", "Ann Author", "--name", "ci")
    assert asks(service, token).json()["name"] == "Ann Author"
    (line,) = admin("tokens", "Ann Author")
    assert line.split()[1:5] == ["Ann", "Author", "ci", "read"] and token not in line
    admin("revoke", line.split()[0])
    assert asks(service, token).status_code == 401
    assert admin("tokens") == []


def asks(service, token):
    return Browser(service).get("/api/v1/me", headers={"authorization": f"Bearer {token}"})


def test_who_is_shut_out_is_nowhere_in_and_can_be_let_in_again(service, admin):
    admin("add", "Ann Author")
    ann = Browser(service).enter(admin("link", "Ann Author", "--address", BASE)[0])
    (token,) = admin("token", "Ann Author")
    (unused,) = admin("link", "Ann Author", "--address", BASE)
    assert "Courses" in ann.get("/").text
    admin("shut-out", "Ann Author")
    assert ann.get("/").url.path == "/sign-in"
    assert asks(service, token).status_code == 401
    assert Browser(service).get(unused.removeprefix(BASE)).status_code == 404
    assert admin("people")[0].endswith("Ann Author  shut out")
    for action in ("link", "token"):
        assert "is shut out of this service" in admin(action, "Ann Author", status=2)[0]
    admin("let-in", "Ann Author")
    Browser(service).enter(admin("link", "Ann Author", "--address", BASE)[0])
    assert admin("people")[0].endswith("Ann Author")
    assert [line.split("  ")[-2] for line in admin("log")].count("let in") == 1


def test_no_link_session_or_token_made_later_lets_in_who_is_shut_out(service, admin):
    admin("add", "Ann Author")
    with service.database.acting() as act:
        ann = administration.find(act.db, "Ann Author")
        session = accounts.begin_session(act, ann)
        token = accounts.make_token(act, "ci", "all", owner=ann.id)[1]
        link = accounts.make_link(act, ann.id, 60.0, once=False)
        people.PEOPLE.change(act.db, {"is_shut_out": 1}, id=ann.id)  # and nothing ends
    with service.database.reading() as db:
        assert people.of_session(db, session.digest) is None
    assert asks(service, token.text).status_code == 401
    browser = Browser(service)
    for answer in (browser.get(f"/enter/{link.text}"), browser.post(f"/enter/{link.text}")):
        assert answer.status_code == 403
        assert "Ann Author is shut out of this service: ask its operator" in answer.text
    assert browser.get("/").url.path == "/sign-in"


def test_a_person_is_added_with_a_name_and_a_mail_address_that_can_be_used(service, admin):
    (refused,) = admin("add", "Tess", "--email", "nonsense", status=2)
    assert "expected a mail address, such as ada@example.org" in refused
    (refused,) = admin("add", " ", status=2)
    assert "name: found 0 characters" in refused
    admin("add", "Tess", "--email", "Tess@Example.org")
    for address in ("tess@example.org", "TESS@example.org"):
        assert asks(service, admin("token", address)[0]).json()["name"] == "Tess"


@pytest.mark.stored
def test_the_first_link_is_the_first_administrators(service, admin):
    serving.first_link(service.settings)
    admin("add", "Prometheus", "--admin")
    admin("change", "Teacher", "--name", "Tess")
    tess = Browser(service).enter(serving.first_link(service.settings))
    assert "Tess" in tess.get("/").text and "Prometheus" not in tess.get("/").text


@pytest.mark.parametrize("words", [("people",), ("add", "Ann"), ("log", "--check")])
def test_a_folder_without_a_service_is_named_and_none_is_made(tmp_path, capsys, words):
    folder = tmp_path / "none"
    assert cli.main(["admin", *words, "--data", str(folder)]) == 2
    assert f"found no service in {folder}" in capsys.readouterr().err
    assert not folder.exists()


def test_a_token_and_shutting_out_are_for_who_was_named(service, admin):
    admin("add", "Ann Author")
    admin("add", "Tess Teacher", "--email", "tess@example.org")
    (of_ann,) = admin("token", "Ann Author")
    (of_tess,) = admin("token", "tess@example.org")
    assert asks(service, of_tess).json()["name"] == "Tess Teacher"
    admin("shut-out", "Tess Teacher")
    assert [asks(service, one).status_code for one in (of_ann, of_tess)] == [200, 401]


@pytest.mark.stored
def test_all_that_was_done_is_in_the_audit_log_and_no_secret(service, admin):
    admin("add", "Ann Author")
    (token,) = admin("token", "Ann Author")
    (link,) = admin("link", "Ann Author")
    admin("revoke", admin("tokens")[0].split()[0])
    admin("shut-out", "Ann Author")
    with service.database.reading() as db:
        entries = service.database.log.entries(db)
        assert service.database.log.tampering(db) == []
    done = ["person added", "token made", "link made", "token revoked", "shut out"]
    assert [one.what for one in reversed(entries)] == done
    assert {one.person for one in entries} == {""}  # the operator, not the person
    text = repr(entries)
    assert token not in text and link.rpartition("/")[2] not in text
    assert accounts.digest_of(token) not in text


@pytest.mark.stored
def test_an_operator_corrects_a_name_and_an_address(service, admin):
    admin("add", "Teacher", "--email", "tess@wrong.org")
    tess = Browser(service).enter(admin("link", "Teacher", "--address", BASE)[0])
    (line,) = admin("change", "Teacher", "--name", "Tess")
    assert line.split()[1:] == ["Tess", "tess@wrong.org"]
    assert tess.get("/").url.path == "/courses"
    (line,) = admin("change", "Tess", "--email", "Tess@Right.org")
    assert line.split()[1:] == ["Tess", "tess@right.org"]
    assert tess.get("/").url.path == "/sign-in"  # somebody else may have got a link
    (refused,) = admin("change", "Tess", status=2)
    assert "change needs --name NAME or --email ADDRESS" in refused
    (refused,) = admin("change", "Tess", "--email", "nowhere", status=2)
    assert "expected a mail address" in refused
    with service.database.reading() as db:
        told = [one.what for one in service.database.log.entries(db)]
    assert told[:2] == ["mail address changed", "name changed"]


def test_an_operator_gives_a_course_another_teacher(service, admin):
    """As when the only one has left: nobody in the course may do it then."""
    tess = entered(service, admin, "Tess", "--admin")
    course = tess.post("/courses", title="Games").url.path
    tom = entered(service, admin, "Tom", "--email", "tom@example.org")
    assert tom.get(course).status_code == 404
    id_ = course.rpartition("/")[2]
    assert admin("courses") == [f"{id_}  Games  Tess"]
    said = admin("add-teacher", "tom@example.org", "--course", id_)
    assert said == ["Tom is a teacher of Games"]
    assert "New assignment" in tom.get(course).text
    assert admin("courses") == [f"{id_}  Games  Tess, Tom"]
    said = admin("remove-teacher", "Tess", "--course", "Games")
    assert said == ["Tess is not a teacher of Games any more"]
    assert tess.get(course).status_code == 404
    (refused,) = admin("remove-teacher", "Tom", "--course", "Games", status=2)
    assert "the only teacher of the course" in refused
    (refused,) = admin("remove-teacher", "Tess", "--course", "Games", status=2)
    assert "Tess is not a teacher of Games" in refused
    lines = [line.split("  ", 3)[2:] for line in admin("log", "--about", id_)]
    added, removed = lines[-2:]
    assert added[:1] == removed[:1] == ["the service"]
    assert added[1].startswith("teacher added") and removed[1].startswith("teacher removed")


def entered(service, admin, name, *more):
    """Add somebody, who signs in."""
    admin("add", name, *more)
    return Browser(service).enter(admin("link", name, "--address", BASE)[0])


@pytest.mark.stored
def test_an_assistant_becomes_a_teacher_and_a_student_does_not(service, admin):
    course = make_course(service, "student,name\nada,Ada\n", source="gosensei")
    here = course.course
    wanted = {"name": "Ann", "role": "assistant", "may": ["comment"]}
    course.teacher.post(f"{here}/staff", here, **wanted)
    admin("add-teacher", "Ann", "--course", "Games")
    with service.database.reading() as db:
        assert [one.name for _, found in administration.list_courses(db) for one in found] == [
            "Ann", "Tess Teacher",
        ]  # fmt: skip
    (refused,) = admin("add-teacher", "Ada", "--course", "Games", status=2)
    assert "Ada is a student of this course" in refused


WRONG = [
    (["add-teacher", "Twin"], "add-teacher needs --course COURSE"),
    (["remove-teacher", "--course", "Games"], "remove-teacher needs a PERSON"),
    (["add-teacher", "Twin", "--course", "Games"], "no course is called 'Games'"),
    (["people", "--course", "Games"], "--course is for add-teacher and remove-teacher"),
    (["link", "Nobody"], "nobody is called 'Nobody'"),
    (["link", "Twin"], "2 people are called 'Twin': take an id of"),
    (["revoke", "x"], "there is no token 'x'"),
    (["add"], "add needs a NAME"),
    (["link"], "link needs a PERSON"),
    (["people", "Twin"], "people needs no name"),
    ([], "expected one of people, add"),
]


def test_what_cannot_be_done_is_said(admin):
    admin("add", "Twin")
    admin("add", "Twin")
    for words, said in WRONG:
        assert said in admin(*words, status=2)[0]


# --- the audit log -----------------------------------------------------------------------------


def test_the_log_says_who_did_what_the_oldest_first(service, admin):
    admin("add", "Tess", "--admin")
    (link,) = admin("link", "Tess", "--address", BASE)
    tess = Browser(service).enter(link)
    course = tess.post("/courses", title="Games\x1b[31m").url.path.rpartition("/")[2]
    lines = admin("log")
    assert [line.split("  ")[0] for line in lines] == [str(one + 1) for one in range(len(lines))]
    assert "  the service  person added  " in lines[0]
    assert f"  Tess  course made  {course}  title: Games" in lines[-1]
    assert "\x1b" not in "".join(lines) and link.rpartition("/")[2] not in "".join(lines)


def test_the_log_about_one_thing(service, admin):
    (ada,) = admin("add", "Ada")
    (ben,) = admin("add", "Ben")
    admin("link", "Ada")
    with service.database.acting() as act:
        act._replace(by=ben.split()[0]).note("deadline extended", "a1", key="ada", of=[{"x": "y"}])
    whats = [line.split("  ")[3] for line in admin("log", "--about", ada.split()[0])]
    assert whats == ["person added", "link made"]
    for about in ("a1", "ada", "y"):
        (line,) = admin("log", "--about", about)
        assert line.endswith('  Ben  deadline extended  a1  key: ada, of: [{"x": "y"}]')
    assert len(admin("log", "--about", ben.split()[0])) == 2  # what was done to Ben, and by Ben
    assert admin("log", "--about", "nothing") == []


@pytest.mark.stored
def test_a_log_that_was_changed_is_told(service, admin, capsys):
    for name in ("Ada", "Ben", "Cyd"):
        admin("add", name)
    assert admin("log", "--check") == []
    with service.database.changing() as db:
        db.execute(update(AUDIT).where(AUDIT.c.link == 2).values(what="nothing"))
    place = ["--data", str(service.settings.data), "--database", service.settings.database]
    assert cli.main(["admin", "log", "--check", *place]) == 1
    assert capsys.readouterr().out == "NOT GOOD: line 2 was changed or added\n"
    with service.database.changing() as db:
        db.execute(update(AUDIT_END).values(length=2))
    assert cli.main(["admin", "log", "--check", *place]) == 1
    assert "how many lines it has was changed" in capsys.readouterr().out


def test_a_logged_date_is_the_same_moment_in_another_zone(service, counting, monkeypatch, admin):
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        course = make_course(service, "student\ndan\n", deadline="2026-11-30T10:00")
        page = f"{course.assignment}/students/dan"
        course.teacher.post(f"{page}/extension", page, deadline="2026-12-01T12:00")
        assert "deadline: 1 Dec 2026, 12:00 CET" in course.teacher.get(page).text
        monkeypatch.setenv("TZ", "UTC0")
        time.tzset()
        assert "deadline: 1 Dec 2026, 11:00 UTC" in "\n".join(admin("log", "--about", "dan"))
    finally:
        monkeypatch.undo()
        time.tzset()
