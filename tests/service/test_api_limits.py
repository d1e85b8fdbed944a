"""What bounds the API: keys for requests that are sent again, rates, tokens that end."""

import asyncio
import errno
import itertools

import httpx
import pytest

from harness.archives.archive_streams import IntakeLimits
from harness.core.errors import UsageError
from harness.grading.ledger import places
from harness.service.app import guard_application
from harness.service.courses import submissions
from harness.service.people import accounts
from harness.service.web.service import Rates, RequestsUnderWay
from tests.service.serving import BASE, client_of, make_course
from tests.service.test_api_submissions import ROSTER, place, token_of


@pytest.fixture
def asking(service, counting):
    """Return what asks the API as Ada, and where she submits."""
    course = make_course(service, ROSTER)
    client = client_of(service)
    client.headers["authorization"] = f"Bearer {token_of(service, 'ada')}"
    return client, f"/api/v1{place(course).path}"


def send(asking, data=b"x", key="k-1", name="a1.tgz") -> httpx.Response:
    client, path = asking
    return client.post(path, params={"name": name}, content=data, headers={"idempotency-key": key})


def test_a_key_makes_one_submission_however_often_it_is_sent(asking):
    client, path = asking
    answers = [send(asking) for _ in range(3)]
    assert [one.status_code for one in answers] == [201] * 3
    assert len({one.json()["id"] for one in answers}) == 1
    send(asking, key="k-2")
    assert len(client.get(path).json()["items"]) == 2


@pytest.mark.parametrize("other", [{"data": b"y"}, {"name": "a2.tgz"}])
def test_a_key_of_another_request_is_refused(asking, other):
    assert send(asking).status_code == 201
    answer = send(asking, **other)
    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith("Idempotency-Key: another request had it")


def test_a_full_disk_is_told_and_the_same_key_can_be_sent_again(asking, monkeypatch, capsys):
    with monkeypatch.context() as full:
        full.setattr(places.os, "fsync", refuse)
        answer = send(asking)
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == (
        "the disk of the service is full, so this was not kept: tell its operator"
    )
    assert "data: No space left on device" in capsys.readouterr().err
    assert send(asking).status_code == 201


def refuse(_descriptor):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_so_many_uploads_of_one_person_at_a_time_and_no_more(service, counting):
    """Four are being sent; the fifth is refused, another person's is not; all come to an end."""
    course = make_course(service, ROSTER)
    path, files = f"/api/v1{place(course).path}", itertools.count()
    tokens = {
        name: {"authorization": f"Bearer {token_of(service, name)}"} for name in course.links
    }

    async def talk():
        app = httpx.ASGITransport(app=guard_application(service))
        go_on, waiting = asyncio.Event(), asyncio.Semaphore(0)

        async def slow():
            yield b"x"
            waiting.release()
            await go_on.wait()

        async with httpx.AsyncClient(transport=app, base_url=BASE) as client:

            def send(name, content):
                named = {"name": f"{next(files)}.tgz"}
                return client.post(path, params=named, content=content, headers=tokens[name])

            sent = [asyncio.create_task(send("ada", slow())) for _ in range(4)]
            for _ in sent:
                await asyncio.wait_for(waiting.acquire(), 60)
            fifth, others = await send("ada", b"y"), await send("ben", b"z")
            go_on.set()
            first = [one.status_code for one in await asyncio.gather(*sent)]
            return fifth, others.status_code, first, (await send("ada", b"y")).status_code

    fifth, others, first, last = asyncio.run(talk())
    assert (fifth.status_code, fifth.headers["retry-after"]) == (429, "1")
    assert "4 requests of yours are under way" in fifth.json()["detail"]
    assert (others, first, last) == (201, [201] * 4, 201)


def test_nobody_is_counted_for_ever():
    counted = RequestsUnderWay(2)
    assert [counted.begin("ada") for _ in range(3)] == [True, True, False]
    assert counted.begin("ben")
    counted.end("ada")
    assert counted.begin("ada")
    assert all(counted.begin("") for _ in range(9))  # requests without sign-in are not counted


def test_a_bucket_is_filled_as_time_goes_by():
    now = [0.0]
    rates = Rates(60, lambda: now[0])
    assert [rates.take("a") for _ in range(61)] == [0] * 60 + [1]
    now[0] = 0.5
    assert rates.take("a") == 1
    now[0] = 1.0
    assert rates.take("a") == 0
    now[0] = 1e6  # no more than a full one
    assert [rates.take("a") for _ in range(61)] == [0] * 60 + [1]


def test_a_token_is_made_listed_and_revoked_by_its_owner(asking):
    client, _ = asking
    made_ = client.post("/api/v1/tokens", json={"name": "ci", "scope": "read", "days": 3}).json()
    reader = {"authorization": f"Bearer {made_['secret']}"}
    assert client.get("/api/v1/me", headers=reader).json()["scope"] == "read"
    listed = client.get("/api/v1/tokens").json()["items"]
    assert made_["id"] in [one["id"] for one in listed]
    assert made_["secret"] not in str(listed)
    # One that may read makes none that may more.
    wanted = {"name": "x", "scope": "all"}
    assert client.post("/api/v1/tokens", json=wanted, headers=reader).status_code == 403
    assert client.delete(f"/api/v1/tokens/{made_['id']}").status_code == 204
    assert client.get("/api/v1/me", headers=reader).status_code == 401
    assert client.delete(f"/api/v1/tokens/{made_['id']}").status_code == 404


def test_a_token_is_made_on_a_page_and_shown_once(service):
    with service.database.acting() as act:
        person = accounts.add_person(act, "Ada")
        code = accounts.make_link(act, person.id, 60.0, once=True).text
    from tests.service.serving import Browser

    ada = Browser(service).enter(f"{BASE}/enter/{code}")
    page = ada.post("/tokens", "/tokens", name="ci", scope="submit", days="7").text
    assert "Copy it now" in page and accounts.PREFIX in page
    again = ada.get("/tokens").text
    assert "ci" in again and accounts.PREFIX not in again


@pytest.mark.parametrize(
    ("name", "scope", "days", "said"),
    [
        (" ", "read", 1, "name: found nothing"),
        ("ci", "write", 1, "scope: found 'write'"),
        ("ci", "read", 0, "days: found 0, expected 1 to 365"),
        ("ci", "read", 366, "days: found 366, expected 1 to 365"),
    ],
)
def test_a_token_without_bounds_is_not_made(service, name, scope, days, said):
    with service.database.acting() as act:
        own = act._replace(by=accounts.add_person(act, "Ada").id)
        with pytest.raises(UsageError, match=said):
            accounts.make_token(own, name, scope, days)


def test_too_large_a_submission_is_refused_as_such(service, asking):
    answer = send(asking, bytes(service.settings.largest + 1))
    assert answer.status_code == 413
    assert f"more than {service.settings.largest:,} bytes" in answer.json()["detail"]


def test_a_submission_that_every_check_refuses_is_refused_at_once(service, asking, monkeypatch):
    monkeypatch.setattr(submissions, "IntakeLimits", lambda: IntakeLimits(compressed=1000))
    answer = send(asking, bytes(1001))
    assert answer.status_code == 422
    assert "the archive has 1,001 bytes; the limit is 1,000" in answer.json()["detail"]
    assert send(asking, bytes(1000), key="k-2").status_code == 201
