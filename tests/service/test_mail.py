"""Links by mail: asked for or sent to a roster, by a real server or as files, until taken."""

import email
import email.policy
import os
import re
import socket
import ssl
import subprocess
import sys
import time

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from harness import cli
from harness.service.people import mails
from harness.service.serving import without_secrets
from harness.service.settings import dump_settings
from harness.service.storage import people
from harness.service.storage.tables import METADATA
from harness.service.web.service import Rates
from tests.service.serving import BASE, KINDS, Browser, add_person, make_course, settings_of

pytestmark = pytest.mark.long(1)

ROSTER = "student,name,email\nada,Ada Ümlaut,Ada@example.org\nbea,Bea,bea@example.org\ncyd,Cyd,\n"
PASSWORD = "s3cret-password"
FROM = "tests@example.org"


class Post:
    """What a server took, and what it answers."""

    def __init__(self):
        self.taken = []
        self.answer = "250 OK"  # to a whole mail
        self.refuses = ()  # addresses

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in self.refuses:
            return f"550 5.1.1 <{address}> is not known here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.answer.startswith("250"):
            found = email.message_from_bytes(envelope.content, policy=email.policy.default)
            self.taken.append((envelope.mail_from, *envelope.rcpt_tos, found))
        return self.answer


@pytest.fixture
def post():
    return Post()


@pytest.fixture
def server(post):
    with running(Controller(post, hostname="127.0.0.1", port=free_port())) as found:
        yield f"smtp://127.0.0.1:{found}"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:  # aiosmtpd must be told one
        return found.getsockname()[1]


class running:
    """A server for a block of a test; gives its port."""

    def __init__(self, controller):
        self.controller = controller

    def __enter__(self):
        self.controller.start()
        return self.controller.port

    def __exit__(self, *_):
        self.controller.stop(no_assert=True)


def deliver(service, **changed):
    """Send all that is due; return how many letters were tried."""
    settings, count = service.settings._replace(**changed), 0
    while mails.deliver(settings, service.database):
        count += 1
    return count


def by(server):
    return {"mail": server, "mail_from": FROM}


def links(message):
    return re.findall(rf"^{BASE}/enter/\S+", message.get_content(), re.MULTILINE)


def lies(service):
    """Return the letters as they lie in the database."""
    with service.database.reading() as db:
        return people.LETTERS.all(db, "made", "address")


def make_due(service):
    with service.database.changing() as db:
        for one in people.LETTERS.all(db):
            people.LETTERS.change(db, {"due": 0.0}, id=one.id)


# --- asked for ---------------------------------------------------------------------------------


def ask(service, address):
    return Browser(service).post("/sign-in/link", page="/sign-in", email=address)


def test_who_asks_for_a_link_signs_in_by_it_once(service, counting, post, server):
    """One for each course; the answer to an address that nobody has is the same."""
    for _ in range(2):
        make_course(service, ROSTER)
    known, unknown = ask(service, " ada@EXAMPLE.org "), ask(service, "eve@example.org")
    assert (known.status_code, known.text) == (200, unknown.text)
    assert [one.state for one in lies(service)] == ["waiting"] * 2  # as much is done for each
    assert deliver(service, **by(server)) == 2
    assert {one.state for one in lies(service)} == {"sent", "nobody"}
    ((sender, address, message),) = post.taken
    assert (sender, address) == (FROM, "ada@example.org")
    assert message["auto-submitted"] == "auto-generated" and message["date"]
    assert "Ada Ümlaut (Games):" in message.get_content()
    link, _ = links(message)
    assert "Games" in Browser(service).enter_on_pages(link).get("/").text
    assert Browser(service).get(link.removeprefix(BASE)).status_code == 404


def test_what_is_no_address_is_refused(service):
    for typed in ("", "ada", "a@b\r\nBcc: eve@example.org", "x" * 250 + "@example.org"):
        answer = ask(service, typed)
        assert answer.status_code == 422 and "expected a mail address" in answer.text
    assert lies(service) == []


def test_an_address_gets_three_mails_in_an_hour_and_nothing_tells_so(service, monkeypatch):
    answers = {ask(service, "ada@example.org").text for _ in range(5)}
    assert len(answers) == 1 and len(lies(service)) == 3
    deliver(service)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + mails.HOUR + 1)
    ask(service, "ada@example.org")
    assert len(lies(service)) == 1  # and the others are forgotten


def test_a_machine_may_ask_so_often_and_all_together_so_many_wait(service, monkeypatch):
    monkeypatch.setattr(service, "asking", Rates(2))
    browser = Browser(service)
    assert [
        browser.post("/sign-in/link", page="/sign-in", email=f"{name}@example.org").status_code
        for name in "abc"
    ] == [200, 200, 429]
    monkeypatch.setattr(mails, "MOST_ASKED", 2)
    assert ask(service, "d@example.org").status_code == 429
    assert len(lies(service)) == 2


# --- to a roster -------------------------------------------------------------------------------


def send_links(course):
    return course.teacher.post(f"{course.course}/links/send", page=course.course, sure="yes")


def test_a_roster_gets_links_and_former_ones_hold_until_then(service, counting, post, server):
    course = make_course(service, ROSTER)
    assert "2 waiting" in send_links(course).text
    assert "2 waiting" in send_links(course).text  # nobody gets two
    Browser(service).enter(course.links["bea"])
    assert deliver(service, **by(server)) == 2
    assert "2 sent" in course.teacher.get(f"{course.course}/students/links").text
    assert Browser(service).get(course.links["bea"].removeprefix(BASE)).status_code == 404
    Browser(service).enter(course.links["cyd"])  # cyd has no address and keeps the link
    found = {to: links(message)[0] for _, to, message in post.taken}
    for _ in range(2):  # these hold for the term
        assert "Games" in Browser(service).enter(found["Ada@example.org"]).get("/").text


@pytest.mark.stored
def test_who_is_no_student_any_more_gets_nothing(service, counting, post, server):
    course = make_course(service, ROSTER)
    send_links(course)
    with service.database.changing() as db:
        db.execute(METADATA.tables["member"].delete().where(text_is("name", "Bea")))
    deliver(service, **by(server))
    assert [to for _, to, _ in post.taken] == ["Ada@example.org"]


def text_is(name, value):
    return METADATA.tables["member"].c[name] == value


# --- what goes wrong ---------------------------------------------------------------------------


def test_nothing_is_lost_while_the_server_is_away(service, counting, post, server, monkeypatch):
    course = make_course(service, ROSTER)
    send_links(course)
    assert deliver(service, **by("smtp://127.0.0.1:1")) == 2
    assert deliver(service, **by(server)) == 0  # later
    page = course.teacher.get(f"{course.course}/students/links").text
    assert "2 waiting" in page and "127.0.0.1:1 cannot be reached" in page
    Browser(service).enter(course.links["ada"])  # former links hold
    assert len(digests(service)) == 3  # and those that nobody got are gone
    make_due(service)
    assert deliver(service, **by(server)) == 2
    assert len(post.taken) == 2 and {one.state for one in lies(service)} == {"sent"}


def digests(service):
    with service.database.reading() as db:
        return [row.digest for row in db.execute(METADATA.tables["link"].select())]


@pytest.mark.long(2)
def test_a_letter_is_tried_later_and_later_and_given_up_after_days(service, monkeypatch):
    add_person(service, "Ada", "ada@example.org")
    ask(service, "ada@example.org")
    (letter,), waits, now = lies(service), [], time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    while letter.state == "waiting":
        now = letter.due
        assert deliver(service, **by("smtp://127.0.0.1:1")) == 1
        (letter,) = lies(service)
        waits.append(round(letter.due - now))
    assert waits[:7] == [60, 120, 240, 480, 960, 1920, 3600] and set(waits[7:]) == {3600}
    assert letter.state == "given up" and 3 * 86400 < now - letter.made < 3 * 86400 + 3601


@pytest.mark.parametrize(
    ("answer", "state", "said"),
    [
        ("451 4.7.1 greylisted, http://x/s3cret", "waiting", "answered 451 4.7.1"),
        ("554 5.7.1 spam: http://x/s3cret", "given up", "answered 554 5.7.1"),
    ],
)
def test_what_a_server_answers_decides_and_is_told_without_its_words(
    service, counting, post, server, answer, state, said
):
    course = make_course(service, ROSTER)
    send_links(course)
    post.answer = answer
    deliver(service, **by(server))
    assert {one.state for one in lies(service)} == {state}
    assert all(one.trouble.endswith(said) for one in lies(service))
    assert len(digests(service)) == 3 and "s3cret" not in read_logs(service)
    Browser(service).enter(course.links["ada"])


@pytest.mark.stored
def test_one_address_that_is_refused_keeps_no_other_from_its_mail(service, counting, post, server):
    course = make_course(service, ROSTER + "dan,Dan,<dan@example.org\n")
    send_links(course)
    post.refuses = ("Ada@example.org",)
    deliver(service, **by(server))
    assert {one.address: one.state for one in lies(service)} == {
        "Ada@example.org": "given up",
        "bea@example.org": "sent",
        "<dan@example.org": "given up",
    }
    page = course.teacher.get(f"{course.course}/students/links").text
    assert "550 5.1.1" in page
    assert "&lt;dan@example.org: no mail can be sent to this address: correct it" in page


def read_logs(service):
    return "".join(path.read_text() for path in service.settings.logs.glob("*"))


def test_no_link_is_in_the_log_or_the_database(service, counting, post, server):
    send_links(make_course(service, ROSTER))
    deliver(service, **by(server))
    with service.database.reading() as db:
        rows = [
            str(tuple(row))
            for table in METADATA.sorted_tables
            for row in db.execute(table.select())
        ]
    for _, to, message in post.taken:
        secret = links(message)[0].rpartition("/")[2]
        assert not any(secret in row for row in rows)
        assert secret not in read_logs(service) and to not in read_logs(service)
    assert '"what": "mail"' in read_logs(service)


# --- a server that wants more ------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    """Return a certificate of this machine, which is trusted."""
    names = [str(tmp_path / name) for name in ("cert.pem", "key.pem")]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*make, "-out", names[0], "-keyout", names[1]], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", names[0])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*names)
    return context


def let_in(server, session, envelope, mechanism, data):
    wanted = LoginPassword(b"me", PASSWORD.encode())
    return AuthResult(success=data == wanted, handled=False)


class StartTls(Controller):
    """Takes nothing in the clear, and from nobody whom it does not know."""

    def factory(self):
        wanted = {"require_starttls": True, "tls_context": self.tls, "auth_required": True}
        return SMTP(self.handler, authenticator=let_in, **wanted)


class Tls(Controller):
    def factory(self):
        wanted = {"auth_require_tls": False, "auth_required": True}
        return SMTP(self.handler, authenticator=let_in, **wanted)


def _starttls(post, certificate):
    controller = StartTls(post, hostname="127.0.0.1", port=free_port())
    controller.tls = certificate
    return controller


def _tls(post, certificate):
    return Tls(post, hostname="127.0.0.1", port=free_port(), ssl_context=certificate)


KINDS_OF_TLS = [("smtp", _starttls), ("smtps", _tls)]


# It does not know that a connection may be encrypted from the beginning.
@pytest.mark.filterwarnings("ignore:Requiring AUTH while not:UserWarning:aiosmtpd.smtp")
@pytest.mark.processes
@pytest.mark.parametrize(("scheme", "make"), KINDS_OF_TLS)
@pytest.mark.parametrize("settings", KINDS[:1], indirect=True)
def test_one_signs_in_on_an_encrypted_connection_alone(
    service, post, certificate, scheme, make, tmp_path, monkeypatch
):
    add_person(service, "Ada", "ada@example.org")
    ask(service, "ada@example.org")
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    with running(make(post, certificate)) as port:
        place = {"mail": f"{scheme}://me@127.0.0.1:{port}", "mail_from": FROM}
        monkeypatch.setenv(mails.PASSWORD, "another")
        assert deliver(service, **place) == 1
        assert "does not let us in: 535" in lies(service)[0].trouble
        make_due(service)
        assert deliver(service, **place, mail_password=str(file)) == 1
        assert len(post.taken) == 1
        monkeypatch.setenv(mails.PASSWORD, PASSWORD)
        assert f"127.0.0.1:{port}" in mails.probe(service.settings._replace(**place))
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(mails.MailDelayedError, match="certificate not valid"):
            mails.probe(service.settings._replace(**place))
    assert PASSWORD not in read_logs(service) + repr(service.settings)


def test_nothing_is_said_in_the_clear_to_another_machine(tmp_path, server, monkeypatch):
    settings = settings_of("sqlite", None, tmp_path)._replace(**by(server))
    monkeypatch.setattr(mails.MailServer, "is_local", False)
    with pytest.raises(mails.MailDelayedError, match="lacks a feature that is needed: STARTTLS"):
        mails.probe(settings)


def test_only_what_sends_mail_is_given_the_password():
    found = without_secrets({mails.PASSWORD: PASSWORD, "PATH": "/bin"})
    assert found == {"PATH": "/bin"}


# --- without configuration ---------------------------------------------------------------------


def test_without_a_server_mails_are_files_for_the_operator_alone(service):
    add_person(service, "Ada", "ada@example.org")
    assert "pass the link on" in ask(service, "ada@example.org").text
    assert deliver(service) == 1
    (path,) = service.settings.letters.iterdir()
    assert path.suffix == ".eml" and path.stat().st_mode & 0o777 == 0o600
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    assert message["to"] == "ada@example.org"
    assert links(message)[0] in path.read_text()  # in one line, as it is
    Browser(service).enter(links(message)[0])


@pytest.mark.stored
def test_a_folder_that_cannot_be_written_is_tried_again(service):
    add_person(service, "Ada", "ada@example.org")
    ask(service, "ada@example.org")
    service.settings.letters.write_text("")
    assert deliver(service) == 1
    assert lies(service)[0].trouble.startswith("cannot write into")
    os.unlink(service.settings.letters)
    make_due(service)
    assert deliver(service) == 1 and lies(service)[0].state == "sent"


@pytest.mark.processes
def test_a_process_of_its_own_sends_until_it_is_ended(service):
    add_person(service, "Ada", "ada@example.org")
    ask(service, "ada@example.org")
    words = [sys.executable, "-m", "harness.service.keeper"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        process.stdin.write(dump_settings(service.settings).encode())
        process.stdin.close()
        ends = time.monotonic() + 60
        while lies(service)[0].state == "waiting" and time.monotonic() < ends:
            time.sleep(0.1)
        process.terminate()
        assert process.wait(30) == 0
    assert len([*service.settings.letters.glob("*.eml")]) == 1


# --- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mail", "sender", "said"),
    [
        ("smtp://me:pw@example.org", FROM, "--mail has a password"),
        ("example.org", FROM, "expected smtp://USER@HOST"),
        ("smtp://example.org/x", FROM, "expected smtp://USER@HOST"),
        ("smtp://example.org", "", "--mail needs --mail-from"),
        ("smtp://example.org", "Tests", "--mail-from: found 'Tests', expected a mail address"),
    ],
)
def test_settings_that_cannot_be_used_end_the_start(tmp_path, capsys, mail, sender, said):
    place = ["serve", "--data", str(tmp_path), "--port", "0", "--mail", mail]
    assert cli.main([*place, "--mail-from", sender]) == 2
    told = capsys.readouterr().err
    assert said in told and ":pw" not in told


@pytest.mark.parametrize(
    ("mail", "found"),
    [
        ("smtp://me%40x@example.org", mails.MailServer("example.org", 587, "me@x", False)),
        ("smtps://example.org", mails.MailServer("example.org", 465, "", True)),
        ("smtp://[::1]:25", mails.MailServer("::1", 25, "", False)),
    ],
)
def test_settings_name_a_server(tmp_path, mail, found):
    settings = settings_of("sqlite", None, tmp_path)._replace(**by(mail))
    assert mails.server(settings) == found
    assert found.is_local is (found.host == "::1")


def test_nobody_is_found_by_an_empty_address(service):
    add_person(service, "Ada")
    with service.database.reading() as db:
        assert people.by_email(db, "") == []
