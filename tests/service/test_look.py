"""What all pages have in common: a way past the header, one primary button, ids in order."""

from __future__ import annotations

import re

import pytest

from harness.core.text import natural_order
from tests.service.serving import (
    KINDS_AT_LENGTH,
    Browser,
    client_of,
    make_course,
    open_service,
    path_of,
    settings_of,
    work,
)

pytestmark = pytest.mark.processes

ROSTER = "student,name,group\n" + "".join(f"s{n},Student {n},\n" for n in (11, 2, 1, 10))
_LINK = re.compile(r'<a [^>]*?href="(/[^"#]*)')
_KEY = re.compile(r'<td data-l="Student(?: or group)?"[^>]*>(?:<a[^>]*>)?([^<]*)')
# Files, reports, and lists in another order.
_LEFT_OUT = re.compile(r"/files?(/|$)|/document$|/history/|/given$|/static/|\?")
_MOST = 60  # pages of one person: more would say that the walk goes round


@pytest.fixture(params=KINDS_AT_LENGTH)
def service(request, tmp_path):
    with open_service(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


@pytest.fixture
def course(service, counting):
    """A course in which nobody submitted, graded: each page has something to show."""
    found = make_course(service, ROSTER, deadline="2020-01-01T00:00")
    tess, one = found.teacher, found.assignment
    file = {"file": ("mine.gtp", b"1 twice 21\n#? [42]\n")}
    assert tess.post(f"{one}/private", f"{one}/private", files=file).status_code == 200
    path_of(tess.post(f"{one}/gradings", one, public_only="yes"))
    work(service)
    path_of(tess.post("/suites", "/suites", title="Mine"))
    assert tess.post("/tokens", "/tokens", name="ci", scope="submit", days="9").status_code == 200
    return found


def walk(browser, *starts):
    """Yield the address and the text of all pages that links lead to."""
    known, left = set(starts), list(starts)
    while left and len(known) < _MOST:
        address = left.pop()
        page = browser.get(address)
        if not page.headers.get("content-type", "").startswith("text/html"):
            continue
        assert page.status_code == 200, address
        yield address, page.text
        found = {one for one in _LINK.findall(page.text) if not _LEFT_OUT.search(one)}
        left += sorted(found - known)
        known |= found


def test_pages_have_what_all_pages_have(service, course):
    people = {
        "teacher": (course.teacher, "/courses"),
        "student": (Browser(service).enter(course.links["s2"]), "/courses"),
        "stranger": (client_of(service), "/sign-in"),
    }
    wrong, count = [], 0
    for who, (browser, start) in people.items():
        for address, text in walk(browser, start):
            count += 1
            body = text.partition("<body>")[2]
            if not body.startswith('<a class="skip" href="#main">Skip to content</a>'):
                wrong.append(f"{who}, {address}: its first link does not lead to its content")
            if (buttons := text.count('class="btn main')) > 1:
                wrong.append(f"{who}, {address}: {buttons} primary buttons")
            for table in text.split("</table>"):
                keys = _KEY.findall(table)
                if keys != sorted(keys, key=natural_order):
                    wrong.append(f"{who}, {address}: {keys}")
            has_menu = '<nav class="side"' in text
            if has_menu != (who == "teacher" and address.startswith(course.course)):
                wrong.append(f"{who}, {address}: a menu of the course: {has_menu}")
    assert wrong == []
    assert count > 20  # it has got somewhere
