"""What cannot be undone is asked about once more: the first click does nothing, the second all."""

import html
import re

import pytest

from harness.service.storage import courses, people, uploads
from tests.service.serving import KINDS, Browser, make_course, open_service, settings_of
from tests.service.test_releasing import at, grade
from tests.service.test_story import hand_in
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


def test_a_student_is_removed_at_the_second_click(service, course):
    tess, here = course.teacher, course.course
    page = f"{here}/students"
    asked = tess.post(f"{page}/remove", page, student="ada")
    assert "Remove Ada &lt;L&gt; from Games?" in asked.text
    assert f'href="{page}">Cancel</a>' in asked.text
    assert students(service) == ["ada", "ben"]
    done = send_as_shown(tess, asked)
    assert done.url.path == page and "Removed students" in done.text
    assert students(service) == ["ben"]


def students(service):
    with service.database.reading() as db:
        return [one.key for one in courses.MEMBERS.all(db, "key", role="student")]


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


def test_an_assistant_is_removed_at_the_second_click(course):
    tess, here = course.teacher, f"{course.course}/staff"
    tess.post(here, here, name="Ann", role="assistant")
    person = person_on(tess.get(here).text)
    asked = tess.post(f"{here}/change", here, person=person, remove="yes", role="assistant")
    assert "Remove Ann from Games?" in asked.text
    assert "Remove Ann" in tess.get(here).text
    assert "Ann" not in send_as_shown(tess, asked).text


def person_on(text):
    """Return the id of the one person whom a page lets a teacher remove."""
    (found,) = {*re.findall(r'name="person" value="(\w+)"', text)}
    return found


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


def test_a_private_case_file_is_removed_at_the_second_click(course):
    tess, page = course.teacher, f"{course.assignment}/private"
    tess.post(page, page, {"file": ("mine.gtp", CASE)})
    asked = tess.post(f"{page}/remove", page, name="mine.gtp")
    assert "Remove mine.gtp?" in asked.text
    assert "mine.gtp" in tess.get(page).text
    assert "mine.gtp" not in send_as_shown(tess, asked).text


def test_a_run_is_removed_at_the_second_click(course):
    tess = course.teacher
    suite = tess.post("/suites", title="Engine").url.path
    run = tess.post(f"{suite}/runs", suite, {"file": ("a.json", document([P, F]))}).url.path
    asked = tess.post(f"{run}/remove", run)
    assert "Remove run 1?" in asked.text and tess.get(run).status_code == 200
    assert send_as_shown(tess, asked).url.path == suite
    assert tess.get(run).status_code == 404


def test_a_token_is_revoked_at_the_second_click(course):
    tess = course.teacher
    made = tess.post("/tokens", "/tokens", name="<CI>", scope="read", days="9").text
    (revoke,) = re.findall(r'action="(/tokens/\w+/revoke)"', made)
    asked = tess.post(revoke, "/tokens")
    assert "Revoke &lt;CI&gt;?" in asked.text and 'href="/tokens">Cancel' in asked.text
    assert revoke in tess.get("/tokens").text
    done = send_as_shown(tess, asked)
    assert done.url.path == "/tokens" and revoke not in done.text
    assert tess.post(revoke, "/tokens").status_code == 404


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


def test_links_of_a_class_end_at_the_second_click(service, course):
    tess, here = course.teacher, course.course
    asked = tess.post(f"{here}/links", here)
    assert "Make new links for all students of Games?" in asked.text
    Browser(service).enter(course.links["ada"])
    made = send_as_shown(tess, asked)
    assert made.text.startswith("student,name,") and "/enter/" in made.text
    assert Browser(service).get(course.links["ada"]).status_code == 404


def test_the_link_of_an_assistant_ends_at_the_second_click(service, course):
    tess, here = course.teacher, course.course
    link = re.search(r"http\S+/enter/[\w-]+", tess.post(f"{here}/staff", here, **ANN).text)[0]
    person = person_on(tess.get(f"{here}/staff").text)
    asked = tess.post(f"{here}/staff/link", here, person=person, role="assistant")
    assert "Make a new link for Ann?" in asked.text
    Browser(service).enter(link)
    assert "/enter/" in send_as_shown(tess, asked).text
    assert Browser(service).get(link).status_code == 404


ANN = {"name": "Ann", "role": "assistant"}


def test_mails_are_sent_at_the_second_click(service, course):
    tess, here = course.teacher, course.course
    tess.post(f"{here}/roster", here, {"file": ("r.csv", b"student,email\nada,a@b.org\n")})
    asked = tess.post(f"{here}/links/send", here)
    assert "Send 1 mail with a new link?" in asked.text
    assert addresses(service) == []
    assert send_as_shown(tess, asked).url.path == f"{here}/students/links"
    assert addresses(service) == ["a@b.org"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mail", ["", "smtp://tests@localhost"])
def test_the_page_says_whether_mails_are_sent_at_all(kind, request, tmp_path, mail):
    """Links ended, and the page called mails sent that nobody had passed on."""
    settings = settings_of(kind, request, tmp_path / "data")
    with open_service(settings._replace(mail=mail, mail_from="tests@example.org")) as service:
        course = make_course(service, "student,email\nada,a@b.org\n", source="gosensei")
        asked = course.teacher.post(f"{course.course}/links/send", course.course)
        for answer in (asked, course.teacher.get(f"{course.course}/students/links")):
            assert ("its operator has to pass on" in answer.text) == (not mail)


def addresses(service):
    with service.database.reading() as db:
        return [one.address for one in people.LETTERS.all(db)]
