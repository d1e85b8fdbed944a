"""Forms that are not taken: a plain heading, what was typed, and the reason beside it."""

import re

import pytest

from tests.service.serving import BASE, Browser, make_course
from tests.service.test_own_files import FILES, zip_files

ROSTER = "student,name\nada,Ada\n"
DUE = "2999-01-02T03:04"


@pytest.fixture
def course(service, counting):
    return make_course(service, ROSTER, deadline=DUE)


def form(text, action):
    """Return the HTML of a form on a page, by the end of where it is sent."""
    return re.search(rf'<form[^>]*action="[^"]*{re.escape(action)}".*?</form>', text, re.DOTALL)[0]


def value(text, name):
    return re.search(rf'name="{name}"[^>]*value="([^"]*)"', text)[1]


DATES = {"title": "Set 1", "opens": "2998-01-01T10:00", "deadline": DUE, "closes": DUE,
         "deduction": "12.5", "grace": "15"}  # fmt: skip
NOT_TAKEN = [
    ({"deduction": "ten"}, "Late penalty: found &#39;ten&#39;, expected a percentage"),
    ({"grace": "-1"}, "Grace period: found &#39;-1&#39;, expected a number of minutes"),
    ({"closes": "2998-01-01T10:00"}, "Closed after: this is before the deadline"),
    ({"title": "x" * 201}, "Title: found 201 characters"),
]


@pytest.mark.parametrize(("wrong", "said"), NOT_TAKEN)
def test_a_form_of_an_assignment_keeps_what_was_typed(course, wrong, said):
    tess, told = course.teacher, {**DATES, **wrong, "source": "counting"}
    page, file = f"{course.course}/assignments", {"file": ("a.zip", zip_files(FILES))}
    for one in (
        tess.post(page, course.course, **told),
        tess.post(f"{page}/own", course.course, file, **told),
        tess.get(f"{page}/new/visibility", params=told),
    ):
        assert one.status_code == 422
        assert "Unprocessable" not in one.text and "This was not done." in one.text
        shown = form(one.text, "/new/visibility")
        assert said in shown and "autofocus" in shown
        assert {name: value(shown, name) for name in DATES} == {**DATES, **wrong}


def test_all_that_an_assignment_has_can_be_typed(service, course):
    told = {**DATES, "source": "counting"}
    made = course.teacher.post(f"{course.course}/assignments", course.course, **told)
    assert made.status_code == 200
    said = "Late submissions are refused. The first 15 minutes after a date still count."
    ada = Browser(service).enter(course.links["ada"])
    for page in (made.text, ada.get(made.url.path).text):
        assert said in page and "2 Jan 2999, 03:04" in page and "1 Jan 2998, 10:00" in page


def test_what_is_empty_is_as_the_assignment_says(service, counting):
    document = counting / "assignment.toml"
    text = document.read_text()
    late = "[late]\ndeadline = 2026-01-02T03:04:00\ndeduction = 20\ngrace_minutes = 7\n"
    document.write_text(re.sub(r"\[late\][^\[]*", late, text))
    course = make_course(service, ROSTER)
    page = course.teacher.get(course.assignment).text
    assert "20 % of the points" in page and "The first 7 minutes" in page
    wanted = {"source": "counting", "deduction": "0", "grace": "0"}
    other = course.teacher.post(f"{course.course}/assignments", course.course, **wanted).text
    assert "no points are taken off" in other and "The first" not in other


STUDENT = [
    ("extension", {"deadline": "2998-01-01T00:00"}, 'value="2998-01-01T00:00"'),
    ("comment", {"text": "x" * 4001}, "x" * 4001),
    ("override", {"points": "9", "reason": "a trade"}, "a trade"),
]


@pytest.mark.parametrize(("place", "told", "kept"), STUDENT)
def test_the_forms_of_a_student_keep_what_was_typed(course, place, told, kept):
    page = f"{course.assignment}/students/ada"
    answer = course.teacher.post(f"{page}/{place}", page, **told)
    assert answer.status_code in (409, 422)
    assert "This was not done." in answer.text
    if place != "override":  # without a mark there is no such form
        assert kept in form(answer.text, f"/{place}")


NAMES_OF_FIELDS = [  # of a form: its page, what is typed, what is said
    ("/courses/new", "/courses", {"title": "x" * 201}, "Title: found 201 characters"),
    ("/tokens", "/tokens", {"name": "ci", "scope": "all", "days": "400"}, "Days: found 400"),
    ("/sign-in", "/sign-in/link", {"email": "ada at home"}, "expected a mail address"),
    ("/me", "/me", {"name": "x" * 201}, "Name: found 201 characters"),
]


@pytest.mark.parametrize(("page", "action", "told", "said"), NAMES_OF_FIELDS)
def test_what_was_typed_stays_on_other_pages_too(course, page, action, told, said):
    answer = course.teacher.post(action, page, **told)
    shown = form(answer.text, action)
    assert answer.status_code == 422 and said in shown
    for name, typed in told.items():
        chosen = f"<option selected>{typed}</option>"
        assert chosen in shown or value(shown, name) == typed


def test_points_that_were_typed_stay(course):
    tess, page = course.teacher, f"{course.assignment}/points"
    names = re.findall(r'name="((?:part|weight) [^"]*)" value="([^"]*)"', tess.get(page).text)
    told = {**dict(names), names[0][0]: "many"}
    answer = tess.post(page, page, **told)
    shown = form(answer.text, "/points")
    assert answer.status_code == 422 and "found &#39;many&#39;" in shown
    assert {name: value(shown, re.escape(name)) for name in told} == told


NOT_TAKEN_PRIVATE = [
    ("", ("bad.gtp", b"1 twice 2\n#? [4\n"), {}, "</b> bad.gtp:2: "),
    ("/drafts", None, {"tests": "12x"}, "Tests: found &#39;12x&#39;, expected a number"),
]


@pytest.mark.parametrize(("place", "file", "typed", "said"), NOT_TAKEN_PRIVATE)
def test_a_form_of_private_cases_is_shown_again(service, place, file, typed, said):
    course = make_course(service, ROSTER, source="go-scoring")
    page = f"{course.assignment}/private"
    answer = course.teacher.post(f"{page}{place}", page, {"file": file} if file else None, **typed)
    assert answer.status_code == 422 and "<h1>Private case files</h1>" in answer.text
    shown = form(answer.text, f"/private{place}")
    assert said in shown
    assert {name: value(shown, name) for name in typed} == typed


def test_what_is_refused_leads_back_to_the_page_it_was_sent_from(course):
    page = f"{course.assignment}/points"
    link = f'href="{page}">Back to the page before</a>'
    former = {f"{BASE}{page}?a=b": True, f"{BASE}//elsewhere.org": False,
              f"https://elsewhere.org{page}": False, "": False}  # fmt: skip
    for referer, is_told in former.items():
        course.teacher.headers["referer"] = referer
        answer = course.teacher.post(f"{page}/none/set", page)
        assert (link in answer.text, answer.text.count("Back to the page")) == (is_told, is_told)
