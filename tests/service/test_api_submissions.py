"""Submissions by the API, from the command line to the results of public tests."""

import argparse
import hashlib
import socket
import ssl
import threading
from contextlib import contextmanager, suppress

import httpx
import pytest

from harness import cli, client
from harness.cli import client as commands
from harness.client import Client, place_of
from harness.core.errors import ServerError, UsageError
from harness.service.people import accounts
from harness.service.storage import courses
from tests.harness import small_class
from tests.service import serving
from tests.service.serving import BASE, make_course, work

ROSTER = "student,name\nada,Ada Right\nben,Ben Wrong\n"
RIGHT = small_class.submission("return 2 * n")
WRONG = small_class.submission("return 2 * n if n != 2 else 5")


@pytest.fixture
def course(service, counting):
    return make_course(service, ROSTER)


def token_of(service, key, scope="all"):
    """Return a token of the student with a key."""
    with service.database.acting() as act:
        person = courses.MEMBERS.find(act.db, key=key).person
        return accounts.make_token(act._replace(by=person), "ci", scope)[1].text


class Through(httpx.BaseTransport):
    """Asks a service in this process; between two questions its workers work."""

    def __init__(self, service):
        self._client = serving.client_of(service)

    def handle_request(self, request):
        found = self._client.request(
            request.method, str(request.url), content=request.read(), headers=request.headers
        )
        return httpx.Response(found.status_code, headers=found.headers, content=found.content)


def client_of(service, key, scope="all"):
    token = token_of(service, key, scope)
    return Client(BASE, token, transport=Through(service), pause=lambda _: work(service))


def place(course):
    return place_of(BASE + course.assignment)


def submit_archive(service, course, key, data, tmp_path, capsys, **given):
    """Return the exit status of ``gtp-harness submit`` and what it prints."""
    file = tmp_path / "a1.tgz"
    file.write_bytes(data)
    told = argparse.Namespace(**{"no_wait": False, "file": str(file), **given})
    with client_of(service, key) as client:
        status = commands.submit(client, place(course), told)
    return status, capsys.readouterr().out


@pytest.mark.processes
def test_a_right_and_a_wrong_submission_from_the_command_line(service, course, tmp_path, capsys):
    status, out = submit_archive(service, course, "ada", RIGHT, tmp_path, capsys)
    assert status == 0
    assert f"SHA-256: {hashlib.sha256(RIGHT).hexdigest()}" in out
    assert "one.gtp: 2 of 2 tests passed" in out and "three.gtp" not in out
    assert out.endswith("This one counts.\n")
    again = submit_archive(service, course, "ada", b"no archive", tmp_path, capsys)
    assert again[0] == 1 and "This one does not count. The file a1.tgz is refused" in again[1]
    status, out = submit_archive(service, course, "ben", WRONG, tmp_path, capsys)
    assert status == 1
    assert "one.gtp: 1 of 2 tests passed" in out


def test_who_does_not_wait_has_the_receipt_alone(service, course, tmp_path, capsys):
    status, out = submit_archive(service, course, "ada", RIGHT, tmp_path, capsys, no_wait=True)
    assert status == 0
    assert out.startswith("Received: a1.tgz, ") and ".gtp" not in out


def test_an_empty_file_is_refused(service, course, tmp_path, capsys):
    with pytest.raises(UsageError, match="the file is empty"):
        submit_archive(service, course, "ada", b"", tmp_path, capsys)


def test_who_teaches_lists_all_and_a_student_the_own(service, course, tmp_path):
    file = tmp_path / "a1.tgz"
    file.write_bytes(RIGHT)
    sent = {}
    for key in ("ada", "ben", "ada"):
        with client_of(service, key) as client:
            sent.setdefault(key, []).append(client.submit(place(course), file)["id"])
    with client_of(service, "ada") as client:
        found = list(client.items(place(course).path))
        assert [one["id"] for one in found] == sent["ada"]
        assert [one["may_count"] for one in found] == [True, True]  # neither is checked
        with service.database.changing() as db:  # it must not be over
            courses.ASSIGNMENTS.change(db, {"deadline": ""}, id=course.assignment.split("/")[-1])
        client._ask("POST", f"{place(course).path}/{sent['ada'][1]}/withdraw")
        found = list(client.items(place(course).path))
        assert [one["state"] for one in found] == ["waiting", "withdrawn"]
        assert [one["may_count"] for one in found] == [True, False]
        with pytest.raises(UsageError, match="there is no such submission"):
            client.get(f"{place(course).path}/{sent['ben'][0]}")


def test_pages_of_a_list_have_each_item_once(service, course, tmp_path):
    file = tmp_path / "a1.tgz"
    file.write_bytes(RIGHT)
    with client_of(service, "ada") as client:
        sent = [client.submit(place(course), file)["id"] for _ in range(5)]
        found, after = [], ""
        while after is not None:
            page = client.get(place(course).path, after=after, limit=2)
            found += [[one["id"] for one in page["items"]]]
            after = page["next"]
        assert found == [sent[:2], sent[2:4], sent[4:]]
        with pytest.raises(UsageError, match="after: found 'zz'"):
            client.get(place(course).path, after="zz")


# --- the client alone --------------------------------------------------------------------------


def make_scripted_client(*answers):
    """Return a client whose service gives these answers, what it was asked, and its pauses."""
    left, requests, pauses = list(answers), [], []

    def answer(request):
        requests.append(request)
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    transport = httpx.MockTransport(answer)
    return Client(BASE, "t", transport=transport, pause=pauses.append), requests, pauses


def test_a_lost_request_is_sent_again_under_the_same_key(tmp_path):
    file = tmp_path / "a1.tgz"
    file.write_bytes(RIGHT)
    busy = httpx.Response(429, headers={"retry-after": "7"})
    client, requests, pauses = make_scripted_client(
        httpx.ReadTimeout("late"), busy, httpx.Response(201, json={"id": "1"})
    )
    assert client.submit(place_of(f"{BASE}/courses/c/assignments/a"), file) == {"id": "1"}
    assert len({one.headers["idempotency-key"] for one in requests}) == 1
    assert [one.read() for one in requests] == [RIGHT] * 3
    assert pauses == [1.0, 7.0]


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (httpx.Response(404, json={"detail": "there is no such course"}), UsageError, "no such"),
        (httpx.Response(500, text="x"), ServerError, "500 Internal Server Error"),
        (httpx.Response(503, json={"detail": "in a minute"}), ServerError, "in a minute"),
        (httpx.Response(503, headers=[(b"retry-after", b"\xb2")]), ServerError, "503"),
        (httpx.Response(301, headers={"location": f"{BASE}/x"}), UsageError, f"leads to {BASE}/x"),
        (httpx.ConnectError("no"), ServerError, "cannot be reached: no$"),
        (httpx.ReadTimeout(""), ServerError, "cannot be reached: no answer in 60 seconds"),
        (httpx.Response(200, text="<html>"), UsageError, "is not a service of gtp-harness"),
    ],
)
def test_what_a_service_says_becomes_an_error(answer, error, said):
    client, _, _ = make_scripted_client(*[answer] * 5)
    with pytest.raises(error, match=said):
        client.get("/me")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HTTPS_PROXY", "socks5://127.0.0.1:1", "socks"),
        ("https_proxy", "ftp://127.0.0.1", "Unknown scheme for proxy"),
        ("NO_PROXY", "[::1]", "Invalid port"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "No such file"),
    ],
)
def test_settings_of_the_environment_that_cannot_be_used_are_named(monkeypatch, name, value, said):
    for one in client._CONNECTION_VARIABLES:
        monkeypatch.delenv(one, raising=False)
        monkeypatch.delenv(one.lower(), raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=rf"(?i){said}.*; the environment has {name}$"):
        Client("https://tests.example.org", "t")


@pytest.mark.parametrize(
    "base", ["http://tests.example.org", "http://192.0.2.7:8017", "http://localhost.example.org"]
)
def test_no_token_is_sent_in_the_clear_to_another_machine_unless_that_is_allowed(base):
    with pytest.raises(UsageError, match=r"is not encrypted: .* allow it: --allow-http"):
        Client(base, "t")
    Client(base, "t", allow_http=True).close()


@pytest.mark.parametrize(
    "base",
    ["tests.example.org", "ftp://192.0.2.7", "https://a:b@h", "https://h?x=1", "https://h#x"],
)
def test_what_is_not_the_address_of_a_service_is_refused(base):
    with pytest.raises(UsageError, match="expected an address such as"):
        Client(base, "t", allow_http=True)


def test_what_is_for_this_machine_is_sent_to_no_proxy(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.delenv("NO_PROXY", raising=False)
        port = server.getsockname()[1]
        answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{}"
        with answering(server, answer), Client(f"http://127.0.0.1:{port}", "t") as client:
            assert client.get("/me") == {}


@pytest.mark.parametrize(
    ("command", "place"),
    [(["submit"], "courses/1f/assignments/2e"), (["runs", "push"], "suites/12")],
)
def test_the_commands_send_a_token_in_the_clear_only_if_told_to(
    command, place, monkeypatch, capsys, tmp_path
):
    """192.0.2.7 is nowhere; the file is looked for once the client is there."""
    monkeypatch.setenv("GTP_HARNESS_TOKEN", "t")
    line = [*command, f"http://192.0.2.7/{place}", str(tmp_path / "none.json")]
    assert cli.main(line) == 2
    assert "is not encrypted" in capsys.readouterr().err
    assert cli.main([*line, "--allow-http"]) == 2
    assert "cannot read" in capsys.readouterr().err


@pytest.mark.parametrize("token", ["s3cret\n", "s3crét"])
def test_a_token_that_cannot_be_sent_is_not_told(token):
    with pytest.raises(UsageError, match="the API token has characters in it") as error:
        Client(BASE, token)
    assert "s3cr" not in str(error.value)


def test_a_request_that_cannot_be_sent_tells_no_token():
    with socket.create_server(("127.0.0.1", 0)) as server, answering(server, b""):
        base = f"http://127.0.0.1:{server.getsockname()[1]}"
        with Client(base, "s3cret ") as client, pytest.raises(UsageError) as error:
            client.get("/me")
    assert str(error.value) == f"{base} cannot be asked: a header cannot be sent"


def test_a_certificate_that_is_not_valid_is_told_at_once():
    wrong = ssl.SSLCertVerificationError("x")
    wrong.verify_message = "self-signed certificate"
    lost = httpx.ConnectError("x")
    lost.__cause__ = wrong
    client, requests, pauses = make_scripted_client(lost)
    with pytest.raises(ServerError, match="its certificate is not valid: self-signed certificate"):
        client.get("/me")
    assert (len(requests), pauses) == (1, [])


def test_a_server_without_tls_and_one_that_is_away_are_told_apart():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with answering(server, b"HTTP/1.1 400 Bad Request\r\n\r\n"):
            assert "no connection by TLS" in why_not(f"https://127.0.0.1:{port}")
    assert why_not(f"http://127.0.0.1:{port}").endswith("cannot be reached: Connection refused")


@contextmanager
def answering(server, data):
    """Answer each connection with the same bytes, meanwhile."""

    def answer():
        with suppress(OSError):
            while True:
                with server.accept()[0] as connection:
                    connection.recv(1 << 16)
                    connection.sendall(data)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def why_not(base):
    """Return what is said if a service cannot be asked."""
    with Client(base, "t", pause=lambda _: None) as client, pytest.raises(ServerError) as error:
        client.get("/me")
    return str(error.value)


def test_who_cannot_wait_for_results_is_told_that_the_archive_was_received(
    service, course, tmp_path, capsys
):
    file = tmp_path / "a1.tgz"
    file.write_bytes(RIGHT)
    told = argparse.Namespace(no_wait=False, file=str(file))
    said = "the archive was received, but not its results"
    with client_of(service, "ada", "submit") as client, pytest.raises(UsageError, match=said):
        commands.submit(client, place(course), told)
    assert capsys.readouterr().out.startswith("Received: a1.tgz")


@pytest.mark.parametrize(
    "address",
    ["", "x", "https://a.org", "https://a.org/courses/1", "ftp://a/courses/1/assignments/2"],
)
def test_an_address_of_something_else_is_told(address):
    with pytest.raises(UsageError, match="expected the address of an assignment's page"):
        place_of(address)


def test_the_address_of_a_page_leads_to_its_assignment():
    found = place_of("https://a.org:8000/courses/1f/assignments/2e/")
    assert found[::2] == ("https://a.org:8000", "/courses/1f/assignments/2e/submissions")
