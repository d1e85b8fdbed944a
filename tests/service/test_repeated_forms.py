"""A form that is sent again, as by a double click, is one submission."""

import html
import re
from concurrent.futures import ThreadPoolExecutor

from harness.service.storage import uploads
from tests.service.serving import FORM_TOKEN, Browser, make_course

ONCE = re.compile(r'name="once" value="([0-9a-f]{64})"')


def count(service):
    with service.database.reading() as db:
        return len(uploads.UPLOADS.all(db))


def test_a_double_click_is_one_submission_and_leads_to_its_page(service, counting):
    course = make_course(service, "student\nada\n")
    ada = Browser(service).enter(course.links["ada"])
    page = ada.get(course.assignment).text
    told = {"form_token": FORM_TOKEN.search(page)[1], "once": ONCE.search(page)[1]}

    def send(_):
        files = {"file": ("a.tgz", b"x")}
        return ada._client.post(f"{course.assignment}/uploads", data=told, files=files)

    with ThreadPoolExecutor(3) as clicks:
        answers = [*clicks.map(send, range(3))]
    assert {one.status_code for one in answers} == {200} and count(service) == 1
    (path,) = {one.url.path for one in answers}
    assert "/uploads/" in path and send(0).url.path == path


def test_another_file_or_one_after_withdrawing_is_another_submission(service, counting):
    """A browser that goes back shows the same form."""
    course = make_course(service, "student\nada\n", deadline="2999-01-01T00:00")
    ada, place = Browser(service).enter(course.links["ada"]), course.assignment
    once = ONCE.search(ada.get(place).text)[1]

    def send(data, form=once):
        files = {"file": ("a.tgz", data)}
        return ada.post(f"{place}/uploads", place, files, once=form).url.path

    first, second = send(b"x"), send(b"y")
    assert first != second and send(b"x") == first
    withdrawn = ada.post(f"{second}/withdraw", second, sure="yes")
    assert withdrawn.status_code == 200, withdrawn.text
    third = send(b"y")
    assert third not in (first, second) and send(b"y") == third
    assert send(b"x", ONCE.search(ada.get(place).text)[1]) != first
    assert count(service) == 4


def test_the_last_step_of_a_new_assignment_makes_it_once(service, counting):
    """The steps before it make nothing; a proposed closing time moves with the deadline."""
    course = make_course(service, "student\nada\n")
    tess, steps = course.teacher, f"{course.course}/assignments/new"
    (link,) = re.findall(rf'href="({steps}/dates\?[^"]*counting)"', tess.get(steps).text)
    shown = tess.get(html.unescape(link)).text
    typed = dict(re.findall(r'<input[^>]*name="(\w+)"[^>]*? value="([^"]*)"', shown))
    told = {**typed, "title": "Set 2", "deadline": "2999-01-01T00:00"}
    for _ in range(2):
        last = tess.get(f"{steps}/visibility", params=told)
        assert last.status_code == 200 and "1 Jan 2999" in last.text
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', last.text))
    assert sent["closes"].startswith("2999-01-0")
    del sent["form_token"]
    made = [tess.post(f"{course.course}/assignments", steps, **sent).url.path for _ in range(2)]
    assert made[0] == made[1] and made[0] != course.assignment
    other = {**sent, "title": "Set 3"}
    assert tess.post(f"{course.course}/assignments", steps, **other).url.path not in made
