"""The log: a line for each thing that happened, under the request's id, and never a secret."""

import json

import pytest
from starlette.requests import ClientDisconnect, Request

from harness.service import monitoring
from harness.service.jobs import job_handlers
from harness.service.people import accounts
from harness.service.storage import database, people
from tests.service.serving import (
    BASE,
    Browser,
    client_of,
    hand_in,
    link_for,
    make_course,
    open_service,
    read_log,
    settings_of,
    teacher,
    work,
)
from tests.service.test_api_submissions import token_of


def lines(service, what="request"):
    return [one for one in read_log(service.settings) if one["what"] == what]


def test_a_request_has_a_line_under_the_id_of_its_answer(service):
    tess = teacher(service)
    answer = tess.post("/courses", title="Games")
    course = answer.url.path.rpartition("/")[2]
    last = lines(service)[-1]
    assert last["request"] == answer.headers["x-request-id"]
    assert (last["method"], last["route"], last["status"]) == ("GET", "/courses/{course}", 200)
    assert last["course"] == course and last["seconds"] > 0
    with service.database.reading() as db:
        assert last["person"] == people.PEOPLE.all(db)[0].id


def test_who_is_refused_is_in_the_log(service):
    with service.database.acting() as act:
        person = accounts.add_person(act, "Ann")
        token = accounts.make_token(act, "ci", "all", owner=person.id)[1].text
    headers = {"authorization": f"Bearer {token}"}
    for path, status in (("/api/v1/metrics", 403), ("/api/v1/courses/none", 404)):
        assert client_of(service).get(path, headers=headers).status_code == status
        assert (lines(service)[-1]["status"], lines(service)[-1]["person"]) == (status, person.id)
    assert Browser(service).get("/api/v1/me").status_code == 401
    assert lines(service)[-1]["person"] == ""


def test_the_id_of_a_request_is_never_what_was_sent(service):
    answer = Browser(service).get("/health", headers={"x-request-id": "made-up"})
    assert answer.headers["x-request-id"] != "made-up"
    assert "made-up" not in read_logs(service)


def test_an_address_that_nobody_answers_is_not_written_down(service):
    assert Browser(service).get("/enter-s3cret?code=s3cret").status_code == 404
    assert lines(service)[-1]["status"] == 404
    assert "s3cret" not in read_logs(service)


def test_a_fault_is_told_in_full_under_the_id_that_its_page_names(service, monkeypatch, capsys):
    def breaks(*_):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(people, "of_link", breaks)
    with pytest.raises(RuntimeError):  # which the server above swallows
        Browser(service).get("/enter/s3cret")
    (trouble,) = lines(service, "trouble")
    assert "RuntimeError: out of luck" in trouble["text"]
    assert trouble["request"] == lines(service)[-1]["request"]
    assert lines(service)[-1]["status"] == 500
    assert "out of luck" in capsys.readouterr().err
    assert "s3cret" not in read_logs(service)


def test_standard_error_takes_the_lines_instead(service, capsys):
    monitoring.tell(service.settings._replace(log="-"), "request", status=200)
    assert json.loads(capsys.readouterr().err)["status"] == 200
    assert lines(service) == []


def test_lines_of_a_log_that_cannot_be_written_are_lost_and_nothing_else(tmp_path):
    (tmp_path / "logs").write_text("")
    settings = settings_of("sqlite", None, tmp_path)
    with open_service(settings) as service:
        assert Browser(service).get("/health").status_code == 200


@pytest.mark.processes
def test_a_job_has_a_line_and_says_how_it_ended(service, counting, monkeypatch, capsys):
    course = make_course(service, "student,name\nada,Ada\n")
    ada = Browser(service).enter(course.links["ada"])
    hand_in(ada, course)
    assert work(service) == 1
    hand_in(ada, course)
    monkeypatch.setitem(job_handlers.KINDS, "check", lambda *_: 1 // 0)
    assert work(service) == 1
    jobs = lines(service, "job")
    assert [(one["kind"], one["ended"]) for one in jobs] == [
        ("check", "done"),
        ("check", "ZeroDivisionError"),
    ]
    assert "ZeroDivisionError" in lines(service, "trouble")[0]["text"]


def test_no_secret_of_any_kind_is_in_the_log(service, counting):
    """Every secret is shown to the service, where it holds and where it does not."""
    course = make_course(service, "student,name\nada,Ada\n")
    ada = Browser(service).enter_on_pages(course.links["ada"])
    with service.database.acting() as act:
        person = accounts.add_person(act, "Author")
        token = accounts.make_token(act._replace(by=person.id), "ci", "all")[1].text
    once = link_for(service, person)
    author = Browser(service).enter_on_pages(once)
    author.get(once.removeprefix(BASE))  # it holds no more
    for text in (token, f"{token}x"):
        author.get("/api/v1/me", headers={"authorization": f"Bearer {text}"})
    author.get(f"/?token={token}")
    author.get(f"/courses/{token}")
    author.get(f"/static/{token}")
    secrets = [token, once, course.links["ada"], *ada.cookies.values(), *author.cookies.values()]
    assert len({one.rpartition("/")[2] for one in secrets}) == 5
    text = read_logs(service)
    assert len(lines(service)) > 10
    assert [one for one in secrets if one.rpartition("/")[2] in text] == []


def test_who_hangs_up_in_the_middle_of_an_upload_is_no_fault_of_the_service(
    service, counting, monkeypatch, capsys
):
    course = make_course(service, "student,name\nada,Ada\n")
    headers = {"authorization": f"Bearer {token_of(service, 'ada')}"}
    path = f"/api/v1{course.assignment}/submissions?name=a1.tgz"

    async def hangs_up(_request):
        yield b"half"
        raise ClientDisconnect

    with monkeypatch.context() as changed:
        changed.setattr(Request, "stream", hangs_up)
        client = client_of(service)
        assert client.post(path, headers=headers, content=b"whole").status_code == 400
    assert lines(service, "trouble") == []
    assert capsys.readouterr().err == ""


def test_the_password_of_a_database_is_not_in_the_log(tmp_path, capsys):
    with open_service(settings_of("sqlite", None, tmp_path)) as service:
        lost = service.settings._replace(database="postgresql://me:s3cret@127.0.0.1:1/none")
        service.database._place = lost.own_place()
        service.database._reader = database._engine(lost.own_place())
        assert Browser(service).get("/sign-in").status_code == 503
        assert "127.0.0.1:1/none" in lines(service, "trouble")[0]["text"]
        assert "s3cret" not in read_logs(service) + capsys.readouterr().err


def read_logs(service):
    return "".join(path.read_text() for path in service.settings.logs.glob("*"))
