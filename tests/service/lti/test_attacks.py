"""What must let nobody in: each line is an attack on a launch that would hold without it."""

import base64
import hashlib
import hmac
import json
import re
import time

import jwt as pyjwt
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from harness.service.lti import connection, platforms
from harness.service.records import Platform
from harness.service.settings import Settings
from harness.service.storage import courses, people
from harness.service.storage.lti import LINKS
from tests.service.lti.campus import CLIENT, LEARNER, ROLE, TEACHER, Campus, key_of, query_of
from tests.service.lti.conftest import BASE, Visitor, admin

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
HOUR = 3600


def signed(campus, claims, header=None, key=None):
    """Sign claims as the platform does, or otherwise."""
    kid = campus_kid(campus)
    return jwt.encode(
        {"alg": "RS256", "kid": kid, **(header or {})}, claims, key or campus.key,
        algorithms=["RS256", "RS512", "ES256"],
    )  # fmt: skip


def campus_kid(campus):
    return campus.key.thumbprint()


def part(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned(campus, claims):
    head = json.dumps({"alg": "none", "kid": campus_kid(campus)}).encode()
    return f"{part(head)}.{part(json.dumps(claims).encode())}."


def by_public_key(campus, claims):
    """Sign with the public key as if it were a secret that both share (HS256)."""
    head = part(json.dumps({"alg": "HS256", "kid": campus_kid(campus)}).encode())
    text = f"{head}.{part(json.dumps(claims).encode())}"
    secret = campus.key.as_pem(private=False)
    return f"{text}.{part(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


def with_own_key(campus, claims):
    """Bring the key along in the header (CVE-2018-0114), under the platform's id."""
    own = key_of("evil")
    return signed(campus, claims, {"jwk": own.as_dict(private=False)}, own)


def cut(campus, claims):
    head, _, signature = signed(campus, claims).split(".")
    other = part(json.dumps({**claims, "sub": "tess"}).encode())
    return f"{head}.{other}.{signature}"


def with_curve(campus, claims):
    own = ECKey.generate_key("P-256", {"kid": "curve"})
    campus.more_keys = [own.as_dict(private=False)]
    return signed(campus, claims, {"alg": "ES256", "kid": "curve"}, own)


UNSIGNED = "not signed by RS256"
# By name: what the message is signed with, or what it says; and a word of the refusal.
ATTACKS = {
    "no signature": (unsigned, UNSIGNED),
    "the public key as a shared secret": (by_public_key, UNSIGNED),
    "a key in the header": (with_own_key, UNSIGNED),
    "another algorithm of the same key": (lambda c, m: signed(c, m, {"alg": "RS512"}), UNSIGNED),
    "an algorithm that is not registered": (with_curve, UNSIGNED),
    "a changed message": (cut, "bad_signature"),
    "another key under the same id": (lambda c, m: signed(c, m, key=key_of("evil")), "bad_sig"),
    "a key of a foreign key set": (
        lambda c, m: signed(
            c, m, {"kid": "evil", "jku": "https://evil.example/keys"}, key_of("evil")
        ),
        "no key",
    ),
    "no key id": (lambda c, m: jwt.encode({"alg": "RS256"}, m, c.key), "which key"),
    "an unknown critical header": (
        lambda c, m: pyjwt.encode(
            m, c.key.as_pem(private=True), "RS256", {"kid": campus_kid(c), "crit": ["x"], "x": 1}
        ),
        UNSIGNED,
    ),
    "a very long message": (lambda c, m: signed(c, {**m, "name": "x" * 99_999}), "too long"),
    "no message": (lambda c, m: "", "did not let you in"),
    "no token": (lambda c, m: "a.b.c", UNSIGNED),
    "another issuer": ({"iss": "https://evil.example"}, "another issuer"),
    "another audience": ({"aud": "service-2"}, "another service"),
    "several audiences and no party": ({"aud": [CLIENT, "b"], "azp": None}, "another service"),
    "made for another party": ({"aud": [CLIENT, "b"], "azp": "b"}, "another service"),
    "another nonce": ({"nonce": "guessed"}, "not for this login"),
    "no nonce": ({"nonce": None}, "not for this login"),
    "expired": ({"exp": lambda now: now - 90}, "too old"),
    "made in the future": ({"iat": lambda now: now + 300}, "too old"),
    "made long ago": ({"iat": lambda now: now - 2 * HOUR}, "too old"),
    "no end": ({"exp": None}, "until when"),
    "an end that is no number": ({"exp": "never"}, "until when"),
    "another deployment": ({f"{CLAIM}deployment_id": "8"}, "not registered"),
    "no deployment": ({f"{CLAIM}deployment_id": None}, "not registered"),
    "another version": ({f"{CLAIM}version": "1.1"}, "version"),
    "another message": ({f"{CLAIM}message_type": "LtiStartProctoring"}, "not known"),
    "a target elsewhere": ({f"{CLAIM}target_link_uri": "https://evil.example"}, "elsewhere"),
    "a target that begins alike": (
        {f"{CLAIM}target_link_uri": f"{BASE}.evil.example/"}, "elsewhere"),
    "another target than the login's": ({f"{CLAIM}target_link_uri": f"{BASE}/lti"}, "elsewhere"),
    "nobody": ({"sub": None}, "who you are"),
    "an endless subject": ({"sub": "x" * 300}, "who you are"),
    "a subject that is no text": ({"sub": {"$ne": 1}}, "who you are"),
    "no course": ({f"{CLAIM}context": None}, "which course"),
    "no role": ({f"{CLAIM}roles": []}, "neither a teacher"),
    "an administrator of the system": (
        {f"{CLAIM}roles": ["http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"]},
        "neither a teacher",
    ),
    "a teacher of the institution": (
        {f"{CLAIM}roles": ["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"]},
        "neither a teacher",
    ),
    "an administrator of the course": ({f"{CLAIM}roles": [f"{ROLE}#Administrator"]}, "neither"),
}  # fmt: skip


def claims_of(form):
    return pyjwt.decode(form["id_token"], options={"verify_signature": False})


def change(claims, changes):
    now, made = int(time.time()), dict(claims)
    for name, value in changes.items():
        made[name] = value(now) if callable(value) else value
        if value is None:
            del made[name]
    return made


@pytest.mark.parametrize("name", ATTACKS)
def test_a_launch_with_something_wrong_lets_nobody_in(linked, name):
    eve, campus = linked.visitor(), linked.campus
    asked = query_of(eve.begin().headers["location"])
    form = campus.launch(asked, "eve", [LEARNER])
    attack, why = ATTACKS[name]
    claims = claims_of(form)
    token = attack(campus, claims) if callable(attack) else signed(campus, change(claims, attack))
    answer = eve.send({**form, "id_token": token})
    assert answer.status_code == 403
    assert why in answer.text, re.findall("<p>(.*)</p>", answer.text)
    assert "gtp_harness_session" not in eve.client.cookies
    # The same login with the message as it was lets its user in: the attack alone was refused.
    assert eve.send(form).status_code == 200


def test_a_launch_is_taken_once(linked):
    eve, campus = linked.visitor(), linked.campus
    form = campus.launch(query_of(eve.begin().headers["location"]), "ada", [LEARNER])
    assert eve.send(form).status_code == 200
    assert eve.send(form).status_code == 410
    # Nor does the message go with another login, of the same browser.
    other = query_of(eve.begin().headers["location"])
    again = eve.send({**form, "state": other["state"]})
    assert "not for this login" in again.text


def test_a_launch_that_another_browser_began_signs_nobody_in(linked):
    """Else somebody would work in the account of whoever sent them there."""
    eve, ada = linked.visitor(), linked.visitor()
    form = linked.campus.launch(query_of(eve.begin().headers["location"]), "eve", [LEARNER])
    answer = ada.send(form)
    assert "Open in a new window" in answer.text
    assert not {"gtp_harness_session", "gtp_harness_frame"} & set(ada.client.cookies)


TARGETS = [
    "https://evil.example/lti/launch", "//evil.example", f"{BASE}.evil.example/",
    f"{BASE}@evil.example/",
    f"{BASE}//evil.example", f"{BASE}/\\evil.example", "javascript:alert(1)", "",
    "http://localhost/lti/launch",
    f"{BASE}:444/lti/launch", f"{BASE}/\r\nx: y",
]  # fmt: skip


def test_a_login_leads_to_this_service_alone(linked):
    for target in TARGETS:
        answer = linked.visitor().begin(target_link_uri=target)
        assert answer.status_code == 403 and "location" not in answer.headers, target


LOGINS = [
    ({"iss": "https://evil.example"}, "not registered"),
    ({"client_id": "service-2"}, "not registered"),
    ({"lti_message_hint": "x" * 9000}, "too much"),
]


@pytest.mark.parametrize(("told", "why"), LOGINS)
def test_a_login_of_an_unknown_platform_is_refused(linked, told, why):
    answer = linked.visitor().begin(**told)
    assert answer.status_code in (400, 404)
    assert why in answer.text


def test_a_launch_opens_no_other_course(linked):
    """Neither by its target, nor by the session that it begins."""
    tom, first = linked.visitor(), linked.course
    page = tom.launch("tom", [TEACHER], context="course-43", title="Chess")
    second = tom.submit(page, "/lti/link").url.path
    assert first != second
    ada = linked.visitor()
    assert ada.launch("ada", [LEARNER]).url.path == first
    assert ada.get(second).status_code == 404
    refused = ada.launch("ada", [LEARNER], target=f"{BASE}{second}")
    assert "another course" in refused.text
    # A teacher there is nobody here, under the same name on the same platform.
    assert tom.launch("tom", [TEACHER], context="course-43").url.path == second
    assert tom.get(first).status_code == 404


def students_of(linked, **named):
    with linked.service.database.reading() as db:
        return courses.MEMBERS.all(db, "name", role="student", **named)


def test_a_platform_takes_over_nobody_by_mail_address_name_or_number(linked):
    boss, eve = admin(linked.service), linked.visitor()
    with linked.service.database.reading() as db:
        (person,) = people.PEOPLE.all(db, is_admin=1)
    number = {f"{CLAIM}lis": {"person_sourcedid": person.id}}
    eve.launch("eva", [LEARNER], name=person.name, email="ada@example.org", claims=number)
    assert eve.get("/lti").status_code == 403
    assert boss.get("/lti").status_code == 200
    (found,) = students_of(linked, name=person.name)
    assert found.person != person.id


def test_a_student_with_another_students_number_is_another_student(linked):
    number = {f"{CLAIM}lis": {"person_sourcedid": "s-1"}}
    for user in ("pia", "pat"):
        assert linked.visitor().launch(user, [LEARNER], claims=number).status_code == 200
    found = students_of(linked, name=["Pat", "Pia"])
    assert len({one.key for one in found}) == len({one.person for one in found}) == 2


NAMES = ["<script>alert(1)</script>", "\x1b[31mRed\x07", "\u202eevil", "x" * 5000, "A\nB\tC"]


def test_hostile_names_are_text(linked):
    for number, name in enumerate(NAMES):
        hostile = {f"{CLAIM}context": {"id": "course-42", "title": name}}
        own = {f"{CLAIM}lis": {"person_sourcedid": f"hostile-{number}"}}
        user = f"eve-{number}"
        linked.visitor().launch(user, [LEARNER], name=name, claims={**hostile, **own})
        shown = linked.tess.get(linked.course)
        assert shown.status_code == 200
        assert not any(one in shown.text for one in ("<script>alert", "\x1b", "\x07", "\u202e"))
        (found,) = students_of(linked, key=f"hostile-{number}")
        assert len(found.name) <= 210 and "\n" not in found.name


def test_keys_are_not_read_again_for_every_unknown_one(linked):
    linked.campus.asked.clear()
    for _ in range(5):
        eve = linked.visitor()
        form = linked.campus.launch(query_of(eve.begin().headers["location"]), "eve", [LEARNER])
        token = signed(linked.campus, claims_of(form), {"kid": "made up"})
        assert eve.send({**form, "id_token": token}).status_code == 403
    assert linked.campus.asked.count("GET /mod/lti/certs.php") <= 1


def test_a_new_key_of_the_platform_is_read_once_the_last_reading_is_a_minute_old(linked):
    linked.visitor().launch("ada", [LEARNER])
    before, linked.campus.key = linked.campus.key, key_of("second")
    (address,) = connection._keys
    connection._keys[address] = time.time() - 61, connection._keys[address][1]
    assert linked.visitor().launch("ada", [LEARNER]).status_code == 200
    linked.campus.key = before
    connection._keys.clear()


ADDRESSES = [
    "http://moodle.example.org/keys", "ftp://moodle.example.org/", "file:///etc/passwd",
    "https://user:pw@moodle.example.org/", "https:///keys", "moodle.example.org", "", "https://[",
    "https://127.0.0.1/keys", "https://localhost/keys", "https://[::1]/", "https://moodle.example.org/;x",
    "https://moodle.example.org/#x", "https://moodle.example.org:99999/",
    f"https://m.example.org/{'x' * 3000}",
]  # fmt: skip


@pytest.mark.parametrize("field", ["issuer", "login_url", "token_url", "jwks_url"])
def test_a_platform_is_registered_at_public_addresses_with_tls(tmp_path, field):
    public = Settings(tmp_path, address="https://tests.example.org")
    for address in ADDRESSES:
        given = Platform("", **{**Campus(BASE).fields, field: address})
        with pytest.raises(platforms.UsageError, match=field):
            platforms.check(public, given)


def test_services_of_a_launch_are_asked_at_the_platforms_origins_alone(
    service, campus, open_course
):
    """A platform cannot let this service ask another one (SSRF)."""
    from harness.service.lti import linked_courses

    open_course()
    evil = {
        "context_memberships_url": "https://169.254.169.254/latest",
        "service_versions": ["2.0"],
    }
    name = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
    Visitor(service, campus).launch("tess", [TEACHER], claims={name: evil})
    campus.asked.clear()
    with service.database.reading() as db:
        (link,) = LINKS.all(db)
    assert linked_courses.synchronize_next(service.settings, service.database)
    assert "GET /latest" not in campus.asked
    with service.database.reading() as db:
        (link,) = LINKS.all(db)
    assert "not registered as an origin" in link.trouble


def test_only_the_two_pages_of_a_launch_take_forms_of_other_sites(linked):
    for path in ("/lti/confirm", "/lti/link", "/lti/window/0", "/lti/register/0"):
        answer = linked.visitor().client.post(path, headers={"origin": "https://evil.example"})
        assert answer.status_code == 403 and "another site" in answer.text
