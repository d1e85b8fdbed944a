"""From a platform's page to the mark in its gradebook, in Chromium's frames.

The platform's page and the service are two sites. A browser keeps third-party cookies, or only
those of a partition, or none: then the platform's storage and a window of its own stand in.
"""

import contextlib
import html
import http.server
import socket
import threading
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
import uvicorn
from playwright.sync_api import sync_playwright

from harness.service.app import guard_application
from harness.service.lti import connection, launch_pages, linked_courses, platforms
from harness.service.records import Platform
from tests.harness import small_class
from tests.service.lti.campus import LEARNER, TEACHER, Campus
from tests.service.serving import open_service, settings_of, work

pytestmark = [pytest.mark.long(60), pytest.mark.processes]
# Storage as LTI Client Side postMessages 1.0 and LTI PostMessage Storage 1.0 describe it.
STORE = """
const store = {};
addEventListener("message", ({data, source, origin}) => {
  if (origin !== TOOL || !data.message_id) return;
  if (data.subject === "lti.put_data") store[origin + data.key] = data.value;
  const told = {message_id: data.message_id, key: data.key, value: store[origin + data.key]};
  source.postMessage({subject: data.subject + ".response", ...told}, origin);
});"""
SEND = """<form method="post" action="{launch_url}"><input name="id_token" value="{id_token}">
<input name="state" value="{state}"></form><script>document.forms[0].submit()</script>"""


class Pages(Campus):
    """The pages of a campus, on a port of this machine."""

    user, roles, more, storage, chosen = "tess", [TEACHER], {}, False, ""

    def page(self, method, path, query, body):
        """Return a page; None: it is a service."""
        if path == "/course":
            hint = "&lti_storage_target=_parent" if self.storage else ""
            address = html.escape(self.begin(self.more.get("target", "")) + hint)
            script = STORE.replace("TOOL", repr(self.tool))
            frame = f'<iframe width=900 height=700 src="{address}"></iframe>'
            return f"<h1>Games</h1>{frame}<script>{script}</script>"
        if path == "/mod/lti/auth.php":
            form = self.launch(query, self.user, self.roles, **self.more)
            return SEND.format_map({name: html.escape(value) for name, value in form.items()})
        if path == "/return":
            self.chosen = dict(parse_qsl(body.decode()))["JWT"]
            return "<p>Chosen</p>"
        if path == "/gradebook":
            line = "<p>{userId}: {scoreGiven:g} of {scoreMaximum:g}</p>"
            return "".join(line.format_map(one) for one in self.scores)
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    campus: Pages

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = urlsplit(self.path)
        page = self.campus.page(self.command, parts.path, dict(parse_qsl(parts.query)), body)
        self.send_response(200 if page is not None else 404)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((page or "").encode())

    do_POST = do_GET

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def serving(service, port):
    """Let a service answer at ``http://localhost``, which is another site than a number."""
    config = uvicorn.Config(guard_application(service), port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.05)
        yield
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def world(request, tmp_path, counting, monkeypatch):
    port = free_port()
    tool = f"http://localhost:{port}"
    settings = settings_of("sqlite", request, tmp_path / "data")._replace(address=tool)
    handler = type("OfCampus", (Handler,), {})
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as pages,
        open_service(settings) as service,
        serving(service, port),
    ):
        campus = handler.campus = Pages(tool, f"http://127.0.0.1:{pages.server_port}")
        campus.fetch_tool_keys = lambda: platforms.publish_keys(settings)
        transport = httpx2.MockTransport(campus.answer)
        monkeypatch.setattr(connection, "open_client", lambda: httpx2.Client(transport=transport))
        connection._tokens.clear()
        connection._keys.clear()
        with service.database.acting() as act:
            platforms.register(act, settings, Platform("", **campus.fields))
        thread = threading.Thread(target=pages.serve_forever, args=(0.05,))
        thread.start()
        yield service, campus
        pages.shutdown()
        thread.join()


class Person:
    """Somebody in front of the platform's page; the service is in its frame, or in a window."""

    def __init__(self, browser, campus, user, roles, *, keeps_cookies):
        self.campus, self.keeps_cookies = campus, keeps_cookies
        self.user, self.roles = user, roles
        self.page = browser.new_context().new_page()
        self.page.set_default_timeout(120_000)

    def open(self, **more):
        """Open the course, or an activity of it; return where the service is."""
        campus = self.campus
        campus.user, campus.roles, campus.more = self.user, self.roles, more
        self.page.goto(f"{campus.base}/course")
        frame = self.page.frame_locator("iframe")
        if self.keeps_cookies or frame.get_by_text("A new course").count():
            return frame
        return self.leave_frame(frame)

    def leave_frame(self, frame):
        with self.page.expect_popup() as opened:
            frame.get_by_role("button", name="Open in a new window").click()
        opened.value.set_default_timeout(120_000)
        return opened.value


PHASEOUT = "--test-third-party-cookie-phaseout"
WAYS = {"cookies": [], "partitioned cookies": [PHASEOUT], "no cookies": [PHASEOUT]}


# A cookie, of a partition or not, spares what is done without one.
@pytest.mark.parametrize(
    "way", ["no cookies", *(pytest.param(one, marks=pytest.mark.slow) for one in list(WAYS)[:2])]
)
def test_from_the_platforms_page_to_the_mark_in_its_gradebook(
    world, chromium, way, tmp_path, monkeypatch
):
    service, campus = world
    keeps = way != "no cookies"
    campus.storage = not keeps
    if not keeps:
        monkeypatch.setattr(launch_pages, "_keep_in_frame", lambda *_: None)
    (tmp_path / "right.tgz").write_bytes(small_class.submission("return 2 * n"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", *WAYS[way]]
        )
        tess = Person(browser, campus, "tess", [TEACHER], keeps_cookies=keeps)
        place = link(tess)
        choose(tess, place)
        (item,) = campus.read_choice(campus.chosen)
        line = campus.add_line(item["lineItem"])["id"]
        opened = {"target": item["url"], "custom": item["custom"], "line": line}
        ada = Person(browser, campus, "ada", [LEARNER], keeps_cookies=keeps)
        hand_in(service, ada.open(**opened), tmp_path / "right.tgz")
        release(service, tess, opened)
        while linked_courses.deliver_next_score(service.settings, service.database):
            pass
        ada.page.goto(f"{campus.base}/gradebook")
        assert ada.page.inner_text("body") == "ada: 4 of 5"
        browser.close()


def link(tess):
    """Make the course, by its teacher."""
    campus = tess.campus
    campus.user, campus.roles, campus.more = tess.user, tess.roles, {}
    tess.page.goto(f"{campus.base}/course")
    frame = tess.page.frame_locator("iframe")
    frame.get_by_role("button", name="Make the course").click()
    place = frame if tess.keeps_cookies else tess.leave_frame(frame)
    place.get_by_role("heading", name="Games 2026").wait_for()
    return place


def choose(tess, place):
    place = tess.open(deep=True)
    place.locator("select[name=assignment]").select_option("new:counting")
    place.get_by_role("button", name="Choose it").click()
    place.get_by_text("Chosen").wait_for()


def hand_in(service, place, archive):
    place.locator("input[name=file]").set_input_files(archive)
    place.get_by_role("button", name="Submit").first.click()
    place.get_by_text("SHA-256").first.wait_for(state="attached")
    work(service)


def release(service, tess, opened):
    place = tess.open(**opened)
    form = place.locator("form[action$='/gradings']").first
    form.wait_for(state="attached")
    fold = place.locator("details:has(form[action$='/gradings']):not([open]) > summary")
    if fold.count():
        fold.first.click()
    form.locator("input[name=public_only]").check()
    form.locator("button").first.click()
    form.wait_for(state="detached")
    work(service)
    place = tess.open(**opened)
    place.locator("a[href*='/gradings/']").first.click()
    for tick in place.locator("form[action$='/release'] input[type=checkbox]").all():
        tick.check()
    place.get_by_role("button", name="Release the marks").click()
    place.get_by_role("button", name="Yes, release the marks").click()
    place.get_by_role("heading", name="Release the marks of").wait_for(state="detached")
