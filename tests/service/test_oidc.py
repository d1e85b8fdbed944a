"""Signing in by a real OpenID provider, which the tests run, and what must let nobody in."""

import functools
import threading
import time
import warnings
from urllib.parse import parse_qs, urlsplit

import flask
import httpx
import httpx2
import pytest
import werkzeug.serving
from authlib.deprecate import AuthlibDeprecationWarning
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import RSAKey

from harness import cli
from harness.service.operations import administration, health
from harness.service.people.oidc import derive
from harness.service.storage import people
from tests.service.serving import (
    BASE,
    KINDS,
    Browser,
    add_person,
    make_course,
    open_service,
    settings_of,
)

with warnings.catch_warnings():  # authlib lets its own be shown whatever others have said
    warnings.simplefilter("ignore", AuthlibDeprecationWarning)
    import oidc_provider_mock
    from authlib import jose

pytestmark = pytest.mark.long(20)
ROSTER = "student,name,email,sub\nada,Ada,ada@example.org,id-ada\nbea,Bea,bea@example.org,ID-ADA\n"
SECRET = "s3cret-of-the-client"


class World:
    """A provider in a thread, which may be told to say something wrong."""

    def __init__(self):
        ada = {"email": "ada@example.org", "email_verified": True, "name": "Ada of the Provider"}
        self.changed = {}  # claims of the next id token, in place of its own
        self.left_out = ()
        self.header = {}
        self.key = None  # that signs instead of its own
        self.metadata = {}
        self.asked = []  # requests for a code
        self.app = oidc_provider_mock.app(
            user_claims=[oidc_provider_mock.User(sub="id-ada", claims=ada)], require_nonce=True
        )
        self.app.before_request(self._before)
        self.app.after_request(self._after)
        self.server = werkzeug.serving.make_server("localhost", 0, self.app, threaded=True)
        self.issuer = f"http://localhost:{self.server.server_port}"

    def _before(self):
        """Hold what this provider does not itself: PKCE (RFC 7636) and the client's secret."""
        request = flask.request
        if request.path == "/oauth2/authorize" and request.method == "POST":
            self.asked.append(request.args)
        if request.path == "/oauth2/token":
            asked = self.asked[-1]
            verifier = request.form["code_verifier"]
            is_it = create_s256_code_challenge(verifier) == asked["code_challenge"]
            if not (is_it and asked["code_challenge_method"] == "S256" and len(verifier) >= 43):
                return flask.jsonify(error="invalid_grant"), 400
            if request.authorization.password != SECRET:
                return flask.jsonify(error="invalid_client"), 401
        return None

    def _after(self, response):
        if flask.request.path.endswith("openid-configuration"):
            response.set_data(flask.json.dumps({**response.json, **self.metadata}))
        if flask.request.path == "/oauth2/token" and response.status_code == 200:
            found = response.json
            found["id_token"] = self._spoiled(found["id_token"])
            response.set_data(flask.json.dumps(found))
        return response

    def _spoiled(self, token):
        """Return a token with the changes of the test, signed anew."""
        own = flask.g.oidc_provider_mock_storage.jwk.as_dict(is_private=True)
        key = RSAKey.import_key(own)
        read = jwt.decode(token, key)
        claims = {**read.claims, **self.changed}
        for name in self.left_out:
            claims.pop(name, None)
        header = {**read.header, **self.header}
        if header["alg"] == "none":
            return jwt.encode(header, claims, "", algorithms=["none"])
        return jwt.encode(header, claims, self.key or key)


@functools.cache
def provider_key():
    """Return the key of every provider here: to make one takes longer than to sign in."""
    return jose.RSAKey.generate_key(is_private=True)


_read_private_key = RSAKey.binding.import_private_key
_read_certificates = functools.cache(httpx2.create_ssl_context)


@functools.cache
def read_key_once(parts):
    """Return a private key; to read one, which is checked then, takes a hundredth of a second."""
    return _read_private_key(dict(parts))


@pytest.fixture
def provider(monkeypatch):
    key = provider_key()
    monkeypatch.setattr(jose.RSAKey, "generate_key", lambda **_: key)
    once = staticmethod(lambda parts: read_key_once(tuple(parts.items())))
    monkeypatch.setattr(RSAKey.binding, "import_private_key", once)
    monkeypatch.setattr(httpx2, "create_ssl_context", _read_certificates)
    world = World()
    thread = threading.Thread(target=world.server.serve_forever, args=(0.05,))
    thread.start()
    yield world
    world.server.shutdown()
    thread.join()
    world.server.server_close()


@pytest.fixture(params=KINDS)
def settings(request, tmp_path, provider):
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    found = settings_of(request.param, request, tmp_path / "data")
    return found._replace(oidc=provider.issuer, oidc_client="tests", oidc_secret=str(secret))


def at_provider(browser, subject="id-ada"):
    """Go to the provider and sign in there; return the way back."""
    sent = browser._client.get("/sign-in/oidc", follow_redirects=False)
    assert sent.status_code == 303, sent.text
    # On this machine, unencrypted: no certificate need be read.
    back = httpx.post(sent.headers["location"], data={"sub": subject}, verify=False)
    assert back.status_code == 302, back.text
    return back.headers["location"].removeprefix(BASE)


def sign_in(service, subject="id-ada"):
    browser = Browser(service)
    return browser, browser.get(at_provider(browser, subject))


def is_in(browser):
    return "Sign out" in browser.get("/").text


# --- it works ----------------------------------------------------------------------------------


def test_a_student_signs_in_at_the_provider(service, counting, provider):
    course = make_course(service, ROSTER)
    ada = Browser(service)
    page = ada.get("/sign-in").text
    assert 'href="/sign-in/oidc"' in page and "Sign in at localhost" in page
    answer = ada.get(at_provider(ada))
    assert answer.url.path == "/courses" and "Games" in answer.text and "Ada" in answer.text
    assert ada.get(course.course).status_code == 200
    asked = provider.asked[-1]
    assert asked["scope"] == "openid email profile" and asked["redirect_uri"].startswith(BASE)
    with service.database.reading() as db:
        entry = service.database.log.entries(db)[0]
    assert (entry.what, entry.details) == (people.ENTERED, '{"oidc": "id-ada"}')


def test_the_provider_lets_nobody_in_who_is_shut_out(service, counting):
    make_course(service, ROSTER)
    ada, _ = sign_in(service)
    with service.database.acting() as act:
        administration.shut_out(act, administration.find(act.db, "Ada"))
    assert not is_in(ada)
    ada, answer = sign_in(service)
    assert answer.status_code == 403 and "Ada is shut out of this service" in answer.text
    assert not is_in(ada)


def test_who_is_several_people_chooses_one(service, counting):
    for _ in range(2):
        make_course(service, ROSTER)
    ada, answer = sign_in(service)
    assert "Who are you?" in answer.text and not is_in(ada)
    links = [part.partition('"')[0] for part in answer.text.split('href="/enter/')[1:]]
    assert len(links) == 2
    assert ada.post(f"/enter/{links[0]}", page=f"/enter/{links[0]}").status_code == 200
    assert is_in(ada)


@pytest.mark.stored
def test_a_claim_finds_who_has_it_in_the_column_of_a_roster(settings, counting):
    with open_service(settings._replace(oidc_claim="sub")) as service:
        make_course(service, ROSTER)
        _, answer = sign_in(service)
        assert ">Ada</" in answer.text and "Bea" not in answer.text  # whose is ID-ADA
        unknown, answer = sign_in(service, "id-eve")
        assert answer.status_code == 403 and not is_in(unknown)


def test_nobody_is_made_known_unless_that_is_wanted(settings, counting, provider):
    with open_service(settings) as service:
        stranger, answer = sign_in(service)
        assert answer.status_code == 403 and "course knows the person" in answer.text
        assert not is_in(stranger)
    with open_service(settings._replace(oidc_add=True)) as service:
        for _ in range(2):  # and only once
            stranger, answer = sign_in(service)
            assert is_in(stranger) and "You are not in a course yet" in answer.text
        with service.database.reading() as db:
            (person,) = people.PEOPLE.all(db)
        assert (person.name, person.email) == ("Ada of the Provider", "ada@example.org")
        assert not person.is_admin


# --- what lets nobody in -----------------------------------------------------------------------


NOW = int(time.time())
WRONG = [
    ({"nonce": "0" * 64}, "nonce"),
    ({"nonce": ""}, "nonce"),
    ({"aud": "another"}, "aud"),
    ({"aud": ["tests", "another"]}, "azp"),
    ({"aud": ["tests"], "azp": "another"}, "azp"),
    ({"iss": "http://localhost:1"}, "iss"),
    ({"exp": NOW - 3600}, "expired"),
    ({"iat": NOW + 7200}, "iat"),
]


def refusal(service):
    """Sign in with what the provider says now; return the page that refuses, or ""."""
    browser, answer = sign_in(service)
    assert (answer.status_code == 403) is not is_in(browser)
    return "" if answer.is_success else answer.text


@pytest.mark.parametrize("settings", KINDS[:1], indirect=True)
def test_a_token_that_does_not_hold_lets_nobody_in(service, counting, provider):
    make_course(service, ROSTER)
    for changed, said in WRONG:
        provider.changed = changed
        text = refusal(service)
        assert said in text and "is not valid" in text, changed
    provider.changed = {}
    for name in ("nonce", "aud", "exp", "iss", "sub", "iat"):
        provider.left_out = (name,)
        assert refusal(service), name
    provider.left_out = ()
    for verified in (False, "true", 1, None):
        provider.changed = {"email_verified": verified}
        assert "does not say that your mail address is verified" in refusal(service)
    provider.changed = {}
    assert not refusal(service)  # each of these alone was refused


@pytest.mark.filterwarnings('ignore:JWS algorithm "none":UserWarning:joserfc.jws')
@pytest.mark.parametrize("settings", KINDS[:1], indirect=True)
def test_a_token_that_another_key_signed_lets_nobody_in(service, counting, provider):
    make_course(service, ROSTER)
    provider.key = RSAKey.generate_key(2048)
    assert refusal(service)
    provider.key, provider.header = None, {"alg": "none"}
    assert refusal(service)


def test_what_another_browser_began_lets_nobody_in(service, counting):
    """Else somebody could sign others in as oneself, and read what they then submit."""
    make_course(service, ROSTER)
    way = at_provider(Browser(service))
    victim = Browser(service)
    assert victim.get(way).status_code == 403 and not is_in(victim)
    at_provider(victim)
    assert victim.get(way).status_code == 403 and not is_in(victim)


def test_a_state_made_of_nothing_lets_nobody_in(service, counting):
    make_course(service, ROSTER)
    code = parse_qs(urlsplit(at_provider(Browser(service))).query)["code"][0]
    victim = Browser(service)
    way = f"/sign-in/oidc/back?code={code}&state={derive('state', '')}"
    assert victim.get(way).status_code == 403 and not is_in(victim)


def test_a_way_back_holds_once(service, counting):
    make_course(service, ROSTER)
    ada = Browser(service)
    way = at_provider(ada)
    cookie = ada.cookies["gtp_harness_oidc"]
    ada.get(way)
    again = Browser(service)
    again.cookies.set("gtp_harness_oidc", cookie)
    assert again.get(way).status_code == 403 and not is_in(again)


def test_a_way_back_without_what_belongs_to_it_is_refused(service):
    for query in ("", "?error=access_denied", "?code=x", "?code=%00&state=ü"):
        assert Browser(service).get(f"/sign-in/oidc/back{query}").status_code == 403


def test_who_says_no_at_the_provider_is_told_so(service):
    browser = Browser(service)
    state = parse_qs(urlsplit(at_provider(browser)).query)["state"][0]
    answer = browser.get(f"/sign-in/oidc/back?error=access_denied&state={state}")
    assert answer.status_code == 403 and "did not let you in" in answer.text


# --- a provider that is away, or is none -------------------------------------------------------


def test_a_provider_that_is_away_is_said_and_links_go_on(settings, counting):
    with open_service(settings._replace(oidc="http://localhost:1")) as service:
        course = make_course(service, ROSTER)
        answer = Browser(service).get("/sign-in/oidc")
        assert answer.status_code == 503 and "cannot be reached: Connection refused" in answer.text
        assert is_in(Browser(service).enter(course.links["ada"]))


def test_a_provider_that_goes_meanwhile_is_said(service, counting, provider):
    make_course(service, ROSTER)
    browser = Browser(service)
    way = at_provider(browser)
    provider.app.before_request_funcs[None].insert(0, lambda: ("gone", 502))
    answer = browser.get(way)
    assert answer.status_code == 503 and not is_in(browser)


METADATA = [
    {"issuer": "http://localhost:1"},
    {"token_endpoint": "http://example.org/token"},
    {"authorization_endpoint": "javascript:alert(1)"},
    {"jwks_uri": None},
]


@pytest.mark.parametrize("settings", KINDS[:1], indirect=True)
def test_a_provider_that_says_something_else_of_itself_is_not_used(settings, provider):
    for metadata in METADATA:
        provider.metadata = metadata
        with open_service(settings) as service:
            answer = Browser(service).get("/sign-in/oidc")
            assert answer.status_code == 503 and "cannot be read" in answer.text, metadata


def test_no_secret_of_a_sign_in_is_in_the_log(service, counting, provider):
    make_course(service, ROSTER)
    browser = Browser(service)
    way = at_provider(browser)
    cookie = browser.cookies["gtp_harness_oidc"]
    browser.get(way)
    provider.changed = {"aud": "another"}
    sign_in(service)
    query = parse_qs(urlsplit(way).query)
    secrets = [SECRET, cookie, query["code"][0], query["state"][0], derive("nonce", cookie)]
    text = "".join(path.read_text() for path in service.settings.logs.glob("*"))
    assert "/sign-in/oidc/back" in text and "sign-in refused" in text
    assert [one for one in secrets if one in text] == []


# --- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--oidc", "http://id.example.org"], "expected https://ISSUER"),
        (["--oidc-client", "x"], "--oidc-client needs --oidc, the address of the provider"),
        (["--oidc-add"], "--oidc-add needs --oidc"),
        (["--oidc", "https://id.example.org"], "--oidc needs --oidc-client"),
        (["--oidc", "https://id.example.org", "--oidc-client", "x"], "--oidc-secret: cannot"),
        (
            ["--oidc", "https://id.example.org", "--oidc-client", "x", "--oidc-add",
             "--oidc-claim", "sub"],
            "--oidc-add goes with mail addresses alone",
        ),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used_end_the_start(tmp_path, capsys, options, said):
    place = ["serve", "--data", str(tmp_path / "data"), "--port", "0"]
    assert cli.main([*place, *options]) == 2
    assert said in capsys.readouterr().err


def test_the_check_asks_the_provider(settings, provider):
    look = health.LOOKS["sign-in"]
    assert health.of("sign-in", look, settings).message == f"{provider.issuer}, as tests"
    away = settings._replace(oidc="http://localhost:1")
    assert not health.of("sign-in", look, away).is_good
    assert health.of("sign-in", look, settings._replace(oidc="")).message == "by links alone"


def test_without_a_provider_there_is_no_such_way(tmp_path):
    with open_service(settings_of("sqlite", None, tmp_path)) as service:
        browser = Browser(service)
        assert "/sign-in/oidc" not in browser.get("/sign-in").text
        assert browser.get("/sign-in/oidc").status_code == 404


def test_one_machine_may_ask_so_often(settings):
    with open_service(settings._replace(rate=2)) as service:
        add_person(service, "Ada", "ada@example.org")
        browser = Browser(service)
        assert [
            browser._client.get("/sign-in/oidc", follow_redirects=False).status_code
            for _ in range(3)
        ] == [303, 303, 429]
