"""What somebody is told whose link or API token does not hold."""

import re
import time

import httpx
import pytest
from sqlalchemy import update

from harness.client import Client
from harness.core.errors import UsageError
from harness.service.people import accounts
from harness.service.storage import courses
from harness.service.storage.tables import LINK, TOKEN
from tests.service.serving import BASE, Browser, make_course
from tests.service.test_api_submissions import Through, token_of


@pytest.fixture
def course(service, counting):
    return make_course(service, "student\nada\n")


def used(service, course):
    """Return a link that works once, and was used."""
    with service.database.acting() as act:
        person = courses.MEMBERS.find(act.db, key="ada").person
        link = f"{BASE}/enter/{accounts.make_link(act, person, 60.0, once=True).text}"
    Browser(service).enter(link)
    return link


def expired(service, course):
    with service.database.changing() as db:
        db.execute(update(LINK).values(until=time.time() - 1))
    return course.links["ada"]


@pytest.mark.parametrize("ended", [used, expired])
def test_a_link_that_has_ended_says_what_to_do(service, course, ended):
    link = ended(service, course)
    page = link.removeprefix(BASE)
    for answer in (Browser(service).get(page), Browser(service).post(page)):
        assert answer.status_code == 404
        assert "This link does not work any more" in answer.text
        assert "ask a teacher of the course" in answer.text
    form = re.search(r'<form[^>]*action="/sign-in/link".*?</form>', answer.text, re.DOTALL)
    assert form and 'name="email"' in form[0]
    assert "You are signed in as" in course.teacher.get(page).text


def ended_token(service):
    token = token_of(service, "ada")
    with service.database.changing() as db:
        db.execute(update(TOKEN).values(until=time.time() - 1))
    return token


def test_a_token_that_does_not_hold_is_told_with_where_to_get_one(service, course):
    client = Client(BASE, ended_token(service), transport=Through(service))
    with client, pytest.raises(UsageError) as refused:
        client.get("/me")
    assert str(refused.value) == (
        f"{BASE} refuses: this API token is unknown or has expired: make a new one on the"
        f" page {BASE}/tokens"
    )


def test_a_request_without_a_token_is_told_so(service):
    answer = httpx.Response(401, json=Browser(service).get("/api/v1/me").json())
    assert answer.json()["detail"] == f"no API token was sent: make one on the page {BASE}/tokens"
