"""Runs of engine authors: posted, kept, compared, shown as history and badge; whose they are."""

import codecs
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.errors import UsageError
from harness.core.text import encode_without_surrogates, without_surrogates
from harness.history import history_file as histories
from harness.report import json as run_json
from harness.report.tally import tally
from harness.service.courses import engine_suites, run_documents
from harness.service.people import accounts
from tests.harness.made_run import RUN, Line, V, made_file
from tests.harness.test_answers_golden import RUN as ANSWERS_RUN
from tests.service.serving import BASE, Browser, client_of, link_for

SUITES = "/api/v1/suites"


def document(verdicts, *, path="a.gtp", started="2026-01-29T23:55:00Z", **rest) -> bytes:
    """Return the document of a run of one file whose tests are numbered from 1."""
    lines = [
        Line(f"{number} test", "= x", "[x]", verdict) for number, verdict in enumerate(verdicts, 1)
    ]
    run = RUN._replace(files=(made_file(path, lines),), errors=(), started=started, **rest)
    return "".join(run_json.parts(run, [tally(one) for one in run.files])).encode()


P, F, X, J = V.PASSED, V.FAILED, V.EXPECTED_FAIL, V.NOT_JUDGED


class Author:
    """An engine author who asks the API, and has a browser."""

    def __init__(self, service, name, scope="all"):
        with service.database.acting() as act:
            person = accounts.add_person(act, name)
            token = accounts.make_token(act._replace(by=person.id), "ci", scope)[1].text
        self.client = client_of(service)
        self.client.headers["authorization"] = f"Bearer {token}"
        self.browser = Browser(service).enter(link_for(service, person))
        self.id = person.id

    def ask(self, method, path, status=200, **rest):
        answer = self.client.request(method, path, **rest)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def suite(self, title="My engine"):
        """Make a suite; return its path in the API."""
        return f"{SUITES}/{self.ask('POST', SUITES, 201, json={'title': title})['id']}"

    def post(self, suite, *verdicts, status=201, revision="", key="", **rest):
        return self.ask(
            "POST",
            f"{suite}/runs",
            status,
            content=document(verdicts, **rest),
            params={"revision": revision},
            headers={"idempotency-key": key},
        )


@pytest.fixture
def ann(service):
    return Author(service, "Ann Author")


# --- what a document tells ---------------------------------------------------------------------


def test_a_posted_run_is_kept_as_a_history_keeps_the_run_itself():
    text = "".join(run_json.parts(RUN, [tally(one) for one in RUN.files]))
    found = run_documents.make_kept(run_documents.read(encode_without_surrogates(text)), 3, "r1")
    entered = histories.begin_run(RUN.program, RUN.options)
    expected = histories.finish_run(entered, RUN).files
    assert [one._replace(results=()) for one in found.files] == [
        one._replace(results=()) for one in expected
    ]
    assert [one.results for one in found.files] == [one.results for one in expected]
    assert (found.number, found.digest, found.started) == (3, "r1", RUN.started)


@pytest.mark.parametrize("run", [RUN, ANSWERS_RUN], ids=["gtp", "answers"])
def test_each_document_of_a_run_is_read(run):
    """As ``--json`` writes it: with failures, restarts, and bytes that are not UTF-8."""
    parts = run_json.parts(run, [tally(file) for file in run.files])
    document = without_surrogates("".join(parts)).encode()
    found = run_documents.read(document)
    assert [one.path for one in found.files] == [
        one["path"] for one in json.loads(document)["files"]
    ]


BAD = [
    (lambda found: found.pop("files"), "files: Field required"),
    (lambda found: found.update(files=[]), "files: List should have at least 1 item"),
    (lambda found: found.update(schema="gtp-harness/history"), "schema: Input should be"),
    (lambda found: found.update(version=2), "version: Input should be 1"),
    (lambda found: found.update(started="yesterday"), "started: String should match"),
    (lambda found: found["files"][0].update(path="a/"), "files.0.path: String should match"),
    (lambda found: found["files"][0].update(path="a\n"), "files.0.path: String should match"),
    (lambda found: found["files"][0]["tests"][0].update(verdict="ok"), "tests.0.verdict"),
    (lambda found: found["files"][0]["tests"][0].update(seconds=-1), "tests.0.seconds"),
    (lambda found: found["files"][0]["tests"][0].update(seconds=True), "tests.0.seconds"),
    (lambda found: found["files"][0]["tests"][0].update(id="1"), "tests.0.id"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_what_is_no_document_is_refused_and_the_place_is_told(change, said):
    found = json.loads(document([P]))
    change(found)
    with pytest.raises(UsageError, match=r"not a document of run --json: .*") as error:
        run_documents.read(json.dumps(found).encode())
    assert said in str(error.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff", b"NaN"])
def test_what_is_not_even_json_is_refused(data):
    with pytest.raises(UsageError, match="not a document of run --json"):
        run_documents.read(data)


# --- posted, listed, compared ------------------------------------------------------------------


def test_runs_have_numbers_and_counts_and_are_compared_with_the_one_before(ann):
    suite = ann.suite()
    first = ann.post(suite, P, P, F, X, J, revision="abc")
    second = ann.post(suite, F, P, P, X, P)
    assert (first["number"], second["number"]) == (1, 2)
    names = ("tests", "passed", "failed", "undecided", "broken", "revision")
    assert [first[name] for name in names] == [5, 2, 1, 1, 0, "abc"]
    assert first["comparison"] is None
    told = second["comparison"]
    assert [one["command"] for one in told["broke"]] == ["1 test"]
    assert [one["command"] for one in told["mended"]] == ["3 test", "5 test"]
    assert (told["former"], told["is_worse"]) == (1, True)


def test_a_run_is_compared_with_any_former_one(ann):
    suite = ann.suite()
    runs = [ann.post(suite, *verdicts)["id"] for verdicts in ([P, P], [P, F], [P, F, F])]
    path = f"{suite}/runs/{runs[2]}/comparison"
    assert ann.ask("GET", path)["broke"] == []
    found = ann.ask("GET", path, params={"with": runs[0]})
    assert [one["command"] for one in found["broke"]] == ["2 test"]
    assert [one["command"] for one in found["new"]] == ["3 test"]
    other = ann.suite("another")
    strange = ann.post(other, P)["id"]
    ann.ask("GET", path, 404, params={"with": strange})
    ann.ask("GET", f"{suite}/runs/{runs[0]}/comparison", 404)  # the first


def test_a_run_that_was_removed_is_gone_and_its_number_too(service, ann):
    suite = ann.suite()
    first, second = (ann.post(suite, P)["id"] for _ in range(2))
    ann.ask("DELETE", f"{suite}/runs/{first}", 204)
    ann.ask("GET", f"{suite}/runs/{first}", 404)
    ann.ask("DELETE", f"{suite}/runs/{second}", 204)
    assert ann.post(suite, P)["number"] == 3
    folder = service.settings.suite(suite.rsplit("/", 1)[1]) / "runs"
    assert Counter(one.suffix for one in folder.iterdir()) == {".json": 1, ".kept": 1}


def test_a_byte_order_mark_before_a_document_is_left_out(ann):
    suite, data = ann.suite(), document([P])
    files = {"file": ("run.json", codecs.BOM_UTF8 + data)}
    page = suite.removeprefix("/api/v1")
    ann.ask("POST", f"{suite}/runs", 201, content=codecs.BOM_UTF8 + data)
    assert "<h1>Run 2</h1>" in ann.browser.post(f"{page}/runs", page=page, files=files).text
    for run in ann.ask("GET", f"{suite}/runs")["items"]:
        assert ann.client.get(f"{suite}/runs/{run['id']}/document").content == data


@pytest.mark.stored
def test_the_oldest_runs_go(service, ann, monkeypatch):
    monkeypatch.setattr(engine_suites, "KEPT", 2)
    suite = ann.suite()
    for _ in range(4):
        ann.post(suite, P)
    assert [one["number"] for one in ann.ask("GET", f"{suite}/runs")["items"]] == [3, 4]
    folder = service.settings.suite(suite.rsplit("/", 1)[1]) / "runs"
    assert len(list(folder.iterdir())) == 4


def test_there_is_room_for_so_much_and_no_more(ann, monkeypatch):
    monkeypatch.setattr(engine_suites, "MOST_BYTES", 2 * len(document([P])))
    monkeypatch.setattr(engine_suites, "MOST_SUITES", 2)
    suites = [ann.suite(), ann.suite()]
    assert "2 suites already" in ann.ask("POST", SUITES, 422, json={"title": "c"})["detail"]
    for suite in suites:
        ann.post(suite, P)
    assert "remove some" in ann.post(suites[0], P, status=422)["detail"]


def test_a_revision_that_is_none_is_refused(ann):
    for revision in ("a b", "ä", "x" * 101, "\n"):
        ann.post(ann.suite(), P, revision=revision, status=422)


def test_more_than_8_mib_are_not_taken(ann):
    suite = ann.suite()
    ann.ask("POST", f"{suite}/runs", 413, content=b"{" + b" " * run_documents.LARGEST)


# --- whose they are ----------------------------------------------------------------------------


@pytest.mark.stored
def test_a_suite_is_its_owners_until_it_is_opened(service, ann):
    ben, suite = Author(service, "Ben"), ann.suite()
    run = ann.post(suite, P)["id"]
    page = suite.removeprefix("/api/v1")
    readable = [suite, f"{suite}/runs", f"{suite}/runs/{run}", f"{suite}/runs/{run}/document"]
    pages = [page, f"{page}/runs/{run}", f"{page}/history/index.html"]
    for path in readable:
        assert "no such suite" in ben.ask("GET", path, 404)["detail"]
    assert {ben.browser.get(one).status_code for one in pages} == {404}
    ann.ask("PATCH", suite, json={"is_open": True, "has_badge": True})
    assert {ben.client.get(one).status_code for one in readable} == {200}
    assert {ben.browser.get(one).status_code for one in pages} == {200}
    assert ben.ask("GET", suite)["badge"] is None  # its address is its owner's to give
    assert "/badges/" not in ben.browser.get(page).text
    for method, path in (("PATCH", suite), ("DELETE", suite), ("POST", f"{suite}/runs")):
        ben.ask(method, path, 403, json={})
    assert ben.ask("GET", SUITES)["items"] == []
    assert "My engine" not in ben.browser.get("/suites").text
    ann.ask("PATCH", suite, json={"is_open": False})
    ben.ask("GET", suite, 404)


def test_a_token_of_ci_posts_and_does_no_more(service, ann):
    suite = ann.suite()
    with service.database.acting(ann.id) as act:
        token = accounts.make_token(act, "ci", "submit")[1].text
    ann.client.headers["authorization"] = f"Bearer {token}"
    assert ann.post(suite, P)["number"] == 1
    ann.ask("GET", f"{suite}/runs", 403)
    ann.ask("DELETE", suite, 403)


# --- the badge ---------------------------------------------------------------------------------


def badge(service, address):
    return client_of(service).get(address)


@pytest.mark.stored
def test_a_badge_is_for_whoever_knows_its_address_and_tells_no_more(service, ann):
    suite = ann.suite("A secret name")
    ann.post(suite, P, F, X)
    address = ann.ask("PATCH", suite, json={"has_badge": True})["badge"]
    found = badge(service, address)
    assert found.status_code == 200
    assert found.headers["content-type"].startswith("image/svg+xml")
    assert found.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "max-age" in found.headers["cache-control"]
    assert "tests: 1 of 3 passed" in found.text
    assert "secret" not in found.text and suite.rsplit("/", 1)[1] not in found.text


def test_without_a_badge_there_is_nothing_and_a_new_one_is_elsewhere(service, ann):
    suite = ann.suite()
    first = ann.ask("PATCH", suite, json={"has_badge": True})["badge"]
    assert ann.ask("PATCH", suite, json={"title": "x"})["badge"] == first
    ann.ask("PATCH", suite, json={"has_badge": False})
    nobodys = f"{BASE}/badges/{'0' * 32}.svg"
    answers = [badge(service, one) for one in (first, nobodys, f"{BASE}/badges/.svg")]
    assert {one.status_code for one in answers} == {404}
    assert answers[0].text == answers[1].text
    second = ann.ask("PATCH", suite, json={"has_badge": True})["badge"]
    assert second != first and badge(service, first).status_code == 404


BADGES = [
    ([P, P], "2 of 2 passed", True),
    ([P, X], "1 of 2 passed", True),
    ([P, F], "1 of 2 passed", False),
    ([P, J], "1 of 2 passed", False),
    ([], "0 of 0 passed", False),
]


def test_a_badge_says_how_many_passed_and_is_green_if_nothing_is_wrong(service, ann):
    suite = ann.suite()
    address = ann.ask("PATCH", suite, json={"has_badge": True})["badge"]
    assert "no run yet" in badge(service, address).text
    for verdicts, said, is_good in BADGES:
        ann.post(suite, *verdicts)
        text = badge(service, address).text
        assert said in text and ("#1a7f37" in text) is is_good


# --- pages -------------------------------------------------------------------------------------


def test_the_history_is_what_the_command_writes(ann):
    suite = ann.suite("Mine & <b>yours</b>")
    for day, verdicts in enumerate(([P, P], [P, F], [P, F]), 1):
        ann.post(suite, *verdicts, started=f"2026-01-0{day}T00:00:00Z", revision=f"r{day}")
    page = suite.removeprefix("/api/v1")
    text = ann.browser.get(f"{page}/history/index.html").text
    assert "Broken now (1)" in text and "the engine changed" in text
    assert "Mine &amp; &lt;b&gt;yours&lt;/b&gt;" in text and "<b>yours" not in text
    assert f'href="{page}"' in text  # the way back
    one = ann.browser.get(f"{page}/history/a.gtp.html")
    assert one.status_code == 200 and "2 test" in one.text
    assert "script-src" in one.headers["content-security-policy"]
    assert ann.browser.get(f"{page}/history/none.html").status_code == 404
    ann.post(suite, P, P)
    assert "Broken now" not in ann.browser.get(f"{page}/history/index.html").text


def test_all_of_it_by_forms(ann):
    browser = ann.browser
    page = browser.post("/suites", page="/suites", title="By hand").url.path
    files = {"file": ("run.json", document([P, F]))}
    assert "<h1>Run 1</h1>" in browser.post(f"{page}/runs", page=page, files=files).text
    text = browser.post(f"{page}/change", page=page, title="Else", has_badge="yes").text
    assert "<h1>Else</h1>" in text and "![tests](http" in text
    assert browser.post(f"{page}/remove", page=page).status_code == 422
    assert browser.post(f"{page}/remove", page=page, sure="yes").url.path == "/suites"
    assert browser.get(page).status_code == 404


# --- anything at all ---------------------------------------------------------------------------


@pytest.mark.long(5)
@pytest.mark.processes
@settings(max_examples=40, deadline=None, database=None, suppress_health_check=[*HealthCheck])
@given(st.data())
def test_no_document_breaks_a_page(ann, drawn):
    """Whatever text stands in a document that is taken, all pages of it can be shown."""
    text = st.text(max_size=12)
    found = json.loads(document([P, F, X], started="2026-01-29T23:55:00Z"))
    found |= {"program": drawn.draw(text), "host": drawn.draw(text)}
    file = found["files"][0]
    file["path"] = drawn.draw(st.one_of(text, st.sampled_from(["..", "/", "index", "a/b.tst"])))
    file["engine"] = {"name": drawn.draw(text), "version": drawn.draw(text)}
    file["failure"] = drawn.draw(st.one_of(st.none(), text.map(lambda one: {"message": one})))
    for test in file["tests"]:
        test["command"] = drawn.draw(text)
        test["seconds"] = drawn.draw(st.one_of(st.none(), st.floats(0, 1e9)))
        test["id"] = drawn.draw(st.integers(-1, 1 << 52))
    suite = ann.suite()
    answer = ann.client.post(f"{suite}/runs", content=json.dumps(found).encode())
    assert answer.status_code in (201, 422)
    page = suite.removeprefix("/api/v1")
    if answer.status_code == 201:
        again = ann.client.post(f"{suite}/runs", content=document([F, P, P], path=file["path"]))
        paths = [page, f"{page}/runs/{again.json()['id']}", f"{page}/history/index.html"]
        assert {ann.browser.get(one).status_code for one in paths} == {200}
    ann.ask("DELETE", suite, 204)
