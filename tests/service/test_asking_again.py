"""What cannot be undone is asked about once more: the first click does nothing, the second all."""

import html
import re

import pytest

from harness.service.storage import uploads
from tests.service.serving import (
    KINDS,
    Browser,
    grade,
    hand_in,
    make_course,
    open_service,
    settings_of,
)
from tests.service.test_releasing import at
from tests.service.test_suites import F, P, document

ROSTER = "student,name\nada,Ada <L>\nben,Ben\n"
CASE = b"1 boardsize 9\n#? []\n"


@pytest.fixture
def course(service):
    return make_course(service, ROSTER, source="gosensei", deadline="2999-01-01T00:00")


def send_as_shown(who, answer):
    """Send the form of a question as a browser does."""
    form = re.search(r'<form class="card" method="post">.*?</form>', answer.text, re.DOTALL)[0]
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
    fields = {name: html.unescape(value) for name, value in found}
    return who.post(answer.url.path, **fields)


_ONCE = re.compile(r'name="(once|form_token)" value="\w+"')


def shown(who, page):
    """Return the status and the text of a page, without what differs each time."""
    found = who.get(page)
    return found.status_code, _ONCE.sub("", found.text)


def list_questions(tess, course):
    """Yield what is asked about, as path, page, fields, the question, and whether all is seen."""
    here, private = course.course, f"{course.assignment}/private"
    staff, students = f"{here}/staff", f"{here}/students"
    tess.post(staff, staff, name="Ann", role="assistant")
    (ann,) = {*re.findall(r'name="person" value="(\w+)"', tess.get(staff).text)}
    tess.post(private, private, {"file": ("mine.gtp", CASE)})
    suite = tess.post("/suites", "/suites", title="Engine").url.path
    run = tess.post(f"{suite}/runs", suite, {"file": ("a.json", document([P, F]))}).url.path
    made = tess.post("/tokens", "/tokens", name="<CI>", scope="read", days="9").text
    (revoke,) = re.findall(r'action="(/tokens/\w+/revoke)"', made)
    tess.post(f"{here}/roster", here, {"file": ("r.csv", b"student,email\nben,b@c.org\n")})
    yield f"{students}/remove", students, {"student": "ada"}, "Remove Ada &lt;L&gt; from Games?"
    yield f"{here}/links/send", f"{students}/links", {}, "Send 1 mail with a new link?"
    yield f"{staff}/change", staff, {"person": ann, "remove": "yes"}, "Remove Ann from Games?"
    yield f"{private}/remove", private, {"name": "mine.gtp"}, "Remove mine.gtp?"
    yield f"{run}/remove", run, {}, "Remove run 1?"
    yield revoke, "/tokens", {}, "Revoke &lt;CI&gt;?"


def test_what_cannot_be_undone_is_done_at_the_second_click(course):
    tess = course.teacher
    for path, page, fields, question in list_questions(tess, course):
        before = shown(tess, page)
        asked = tess.post(path, page, **fields)
        assert question in asked.text and ">Cancel</a>" in asked.text
        assert shown(tess, page) == before, path
        assert send_as_shown(tess, asked).is_success
        assert shown(tess, page) != before, path


def test_nothing_is_asked_that_cannot_be_done(course):
    tess, here = course.teacher, course.course
    private = f"{course.assignment}/private"
    for path, page, fields, said in (
        (f"{here}/students/remove", here, {"student": "nobody"}, "there is no such"),
        (f"{here}/staff/change", here, {"person": "nobody", "remove": "yes"}, "there is no such"),
        (f"{private}/remove", private, {"name": "no.gtp"}, "nobody has added a private case file"),
    ):
        answer = tess.post(path, page, **fields)
        assert answer.status_code == 422
        assert said in answer.text.lower()


def test_a_submission_is_withdrawn_at_the_second_click(service, course):
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course, b"x").url.path
    asked = ada.post(f"{page}/withdraw", page)
    assert "Withdraw a1.tgz?" in asked.text and f'href="{page}">Cancel' in asked.text
    assert withdrawn(service) == [False]
    assert "withdrawn" in send_as_shown(ada, asked).text
    assert withdrawn(service) == [True]


def withdrawn(service):
    with service.database.reading() as db:
        return [one.withdrawn for one in uploads.UPLOADS.all(db)]


def test_a_computed_mark_counts_again_at_the_second_click(service, counting):
    course = make_course(service, ROSTER)
    tess, page = course.teacher, f"{course.assignment}/students/ada"
    assert tess.post(f"{page}/override/end", page).url.path == page  # nothing is there to remove
    grade(service, course)
    tess.post(f"{page}/override", page, points="0", reason="<a trade>")
    asked = tess.post(f"{page}/override/end", page)
    assert "Let the computed mark of ada count?" in asked.text
    assert re.search(r'<p class="words">0 of \d+\. &lt;a trade&gt;</p>', asked.text)
    assert "given by a person" in tess.get(page).text
    done = send_as_shown(tess, asked)
    assert done.url.path == page and "given by a person" not in done.text


def test_marks_are_released_at_the_second_click(service, counting):
    course = make_course(service, ROSTER, deadline=at(-5), closes=at(-4))
    tess, page = course.teacher, grade(service, course)
    asked = tess.post(f"{page}/release", page)
    assert re.search(r"<h1>Release the marks of \w[^<]*\?</h1>", asked.text)
    assert released(service) == [False]
    assert send_as_shown(tess, asked).url.path == page
    assert released(service) == [True]


def released(service):
    with service.database.reading() as db:
        return [one.released > 0 for one in uploads.GRADINGS.all(db)]


def test_links_of_a_class_and_of_the_staff_end_at_the_second_click(service, course):
    tess, here = course.teacher, course.course
    told = tess.post(f"{here}/staff", f"{here}/staff", name="Ann", role="assistant").text
    link = re.search(r"http\S+/enter/[\w-]+", told)[0]
    (ann,) = {*re.findall(r'name="person" value="(\w+)"', tess.get(f"{here}/staff").text)}
    for path, fields, question, former in (
        ("links", {}, "Make new links for all students of Games?", course.links["ada"]),
        ("staff/link", {"person": ann}, "Make a new link for Ann?", link),
    ):
        asked = tess.post(f"{here}/{path}", here, **fields)
        assert question in asked.text
        Browser(service).enter(former)
        assert "/enter/" in send_as_shown(tess, asked).text
        assert Browser(service).get(former).status_code == 404


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mail", ["", "smtp://tests@localhost"])
def test_the_page_says_whether_mails_are_sent_at_all(kind, request, tmp_path, mail):
    settings = settings_of(kind, request, tmp_path / "data")
    with open_service(settings._replace(mail=mail, mail_from="tests@example.org")) as service:
        course = make_course(service, "student,email\nada,a@b.org\n", source="gosensei")
        asked = course.teacher.post(f"{course.course}/links/send", course.course)
        for answer in (asked, course.teacher.get(f"{course.course}/students/links")):
            assert ("its operator has to pass on" in answer.text) == (not mail)
