"""What single pages do in a real browser, beside the stories.

What the policy of a page refuses, and what a page does that gets no news.
"""

from __future__ import annotations

import datetime
import json
import zoneinfo
from contextlib import contextmanager

import pytest
from markupsafe import Markup

from harness.report.board_evidence import Evidence
from harness.report.html import board_drawing
from harness.report.html.templates import PIECES
from harness.report.tally import Tally
from harness.service.jobs.result_files import check_page
from harness.service.local_times import describe_time
from harness.service.pages import submission
from harness.service.storage import courses, people, queue, uploads
from oracle.draw import Diagram
from oracle.position import BLACK, Position, grid
from tests.harness.browsing import PHONE
from tests.service.serving import (
    KINDS_AT_LENGTH,
    Browser,
    add_person,
    hand_in,
    link_for,
    make_course,
    open_service,
    settings_of,
)
from tests.service.stories import WAYS, World, listening
from tests.service.test_suites import Author, F, P, X

pytestmark = [pytest.mark.long(20), pytest.mark.processes]

ROSTER = "student\nada\nben\n"


@pytest.fixture(scope="module", params=KINDS_AT_LENGTH)
def world(browser, tmp_path_factory, request):
    """A service that listens, where one page is watched at a time, and a browser."""
    settings = settings_of(request.param, request, tmp_path_factory.mktemp("served") / "data")
    with open_service(settings._replace(streams=1)) as service, listening(service) as address:
        yield World(service, address, browser)


@pytest.fixture(scope="module")
def course(world):
    """A course with an assignment that nobody judges here."""
    return make_course(world.service, ROSTER, source="gosensei")


@pytest.fixture
def submitted(world, course):
    """Return the address of the page of a submission that waits."""
    return hand_in(Browser(world.service).enter(course.links["ada"]), course, b"x").url.path


@contextmanager
def entered(world, browser, link):
    """A page of somebody who has signed in by a link. What the browser complains of is let be."""
    with_address = browser.new_context(base_url=world.address)
    page = with_address.new_page()
    page.goto("/" + link.split("/", 3)[3])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/courses")
    yield page
    with_address.close()


# --- the policy --------------------------------------------------------------------------------

PLANTED = Markup("<style>main{display:none!important}</style>")
LOOKS = """() => {
  const all = (selector, look) => [...document.querySelectorAll(selector)].map(
    one => look(getComputedStyle(one)));
  return {
    main: all("main", look => look.display),
    bar: all(".bar i", look => look.flexGrow),
    board: all("svg .co", look => look.getPropertyValue("--u") > ""),
  };
}"""


def test_a_style_that_gets_into_a_page_is_not_applied(world, browser, course, submitted):
    """A bar and a board beside it look as they should: their attributes are applied."""
    board = Diagram(Position(grid(5)).place((2, 2), BLACK))
    counts = PIECES.headline(Tally(tests=4, failed=1, passed=3))
    report = PLANTED + counts + board_drawing.board(board, Evidence())
    put(world.service, course, submitted, report)
    with entered(world, browser, course.links["ada"]) as page:
        page.goto(submitted)
        found = page.evaluate(LOOKS)
        assert "1 of 4 tests failed" in page.inner_text("main")
    assert found == {"main": ["grid"], "bar": ["1", "3"], "board": [True]}


def put(service, course, submitted, report):
    """Let a report be the result of a submission, which nobody will judge."""
    upload = submitted.rpartition("/")[2]
    with service.database.changing() as db:
        queue.withdraw(db, upload)
    made_of = service.settings.assignment_folder(course.assignment.rpartition("/")[2])
    path = check_page(made_of, upload)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report)


# --- news --------------------------------------------------------------------------------------

BUILT, PASSED, FAILED = "It was built.", "a.gtp: passed.", "b.gtp: has failures."


def test_a_page_that_gets_no_news_says_so_and_tries_again(
    world, browser, course, submitted, monkeypatch
):
    """Over the limit, then while the service restarts; each line is there once."""
    say(world.service, submitted, word="built", ok=True)
    with entered(world, browser, course.links["ada"]) as page:
        page.clock.install()
        watch_another(world.service)
        page.goto(submitted)
        for seconds in (5, 10):
            page.get_by_text(f"This page tries again in {seconds} s").wait_for()
            assert lines(page) == [BUILT]
            page.clock.fast_forward(1000 * seconds)
        page.get_by_text("tries again in 20 s").wait_for()
        say(world.service, submitted, word="done", case="a.gtp", failed=False, again=False)
        watch_another(world.service, ends=True)
        page.clock.fast_forward(20_000)
        page.get_by_text(PASSED).wait_for()
        assert lines(page) == [BUILT, PASSED]
        page.locator("#interrupted").wait_for(state="hidden")

        page.route("**/events", lambda route: route.fulfill(status=502))
        with monkeypatch.context() as patched:
            patched.setattr(submission, "_LONGEST", 0)
            page.get_by_text("tries again in 5 s").wait_for()
        page.unroute("**/events")
        say(world.service, submitted, word="done", case="b.gtp", failed=True, again=False)
        page.clock.fast_forward(5000)
        page.get_by_text(FAILED).wait_for()
        assert lines(page) == [BUILT, PASSED, FAILED]
        with world.service.database.changing() as db:
            queue.withdraw(db, submitted.rpartition("/")[2])
        page.locator("#live").wait_for(state="detached")


def say(service, submitted, **word):
    """Let a worker say something of a submission."""
    with service.database.changing() as db:
        uploads.say(db, submitted.rpartition("/")[2], json.dumps(word))


def watch_another(service, *, ends=False):
    """Let Ada watch another page, or watch it no more."""
    with service.database.reading() as db:
        ada = courses.MEMBERS.find(db, key="ada").person
    if ends:
        service.watching.end(ada)
    else:
        assert service.watching.begin(ada)


def lines(page):
    return page.locator("#live li").all_inner_texts()


# --- forms -------------------------------------------------------------------------------------


def test_a_second_click_sends_no_form_again(world, browser, course):
    """Later it may be sent again: the page stays where a form gives a file."""
    with entered(world, browser, link_for(world.service, find_teacher(world.service))) as page:
        page.clock.install()
        page.goto(f"{course.assignment}/students/ada")
        page.evaluate(COUNT)
        page.get_by_label("The student or group sees it").fill("Well done.")
        for seconds, count in ((0, 1), (1, 1), (3, 2)):
            page.clock.fast_forward(1000 * seconds)
            page.get_by_role("button", name="Add the comment").click()
            assert page.evaluate("sent") == count


# Counts what would be sent, and keeps it here.
COUNT = """() => {
  window.sent = 0;
  addEventListener("submit", event => {
    sent += !event.defaultPrevented;
    event.preventDefault();
  });
}"""


def find_teacher(service):
    with service.database.reading() as db:
        return next(one for one in people.PEOPLE.all(db) if one.is_admin)


def test_a_folder_that_is_refused_says_why(world, browser, course):
    """A script sends what is dropped, and tells the answer."""
    with entered(world, browser, course.links["ben"]) as page:
        page.goto(course.assignment)
        page.evaluate(DROP)
        page.get_by_text("1 files are ready").wait_for()
        page.get_by_role("button", name="Submit").click()
        page.get_by_text("expected the name of a file in a folder").wait_for()


# A folder whose only file has a name that is too long.
DROP = """() => {
  const file = {name: "a.c", isFile: true, fullPath: "/x/" + "y".repeat(250) + ".c",
    file: done => done(new File(["int x;"], "a.c"))};
  const folder = {name: "x", isFile: false, fullPath: "/x", createReader: () => {
    let left = [file];
    return {readEntries: done => { done(left); left = []; }};
  }};
  const event = new Event("drop", {cancelable: true});
  event.dataTransfer = {items: [{webkitGetAsEntry: () => folder}], files: []};
  document.getElementById("submit").dispatchEvent(event);
}"""


# --- the way to a page -------------------------------------------------------------------------

# Pairs of names in the head of a page of which one lies upon the other.
UPON = """() => {
  const found = [...document.querySelectorAll("nav a, nav b")].map(
    one => [one.textContent, one.getBoundingClientRect(), one]);
  const ends = one => Math.min(one[1].right, one[2].offsetParent.getBoundingClientRect().right);
  const wide = one => getComputedStyle(one[2]).overflow === "hidden" ? ends(one)
    : one[1].left + one[2].scrollWidth;
  return found.flatMap((one, place) => found.slice(place + 1).filter(other =>
    one[1].top < other[1].bottom && other[1].top < one[1].bottom && wide(one) > other[1].left
  ).map(other => [one[0], other[0]]));
}"""


def test_names_on_the_way_to_a_page_are_beside_each_other(world, browser, course, submitted):
    """Those of a course may be as long as those of universities are."""
    with world.service.database.changing() as db:
        title = "Search, Knowledge and Simulations in the Game of Go"
        courses.COURSES.change(db, {"title": title}, id=course.course.rpartition("/")[2])
    with entered(world, browser, course.links["ada"]) as page:
        page.set_viewport_size({"width": PHONE, "height": 900})
        page.goto(submitted)
        assert page.evaluate(UPON) == []
        shown = page.locator("nav a, nav b").all()
        assert min(one.bounding_box()["width"] for one in shown) > 30


# --- times -------------------------------------------------------------------------------------

SHOWN = """() => [...document.querySelectorAll("time")].map(
  one => [one.dateTime, one.className, one.title, one.textContent])"""


def test_times_are_in_the_readers_zone(world, browser):
    """The course's own time is one hover away; a date says how far away it is, too."""
    soon = datetime.datetime.now().replace(microsecond=0) + datetime.timedelta(days=2, hours=1)
    made = make_course(world.service, ROSTER, source="gosensei", deadline=soon.isoformat())
    zone = "Pacific/Kiritimati"  # +14:00
    context = browser.new_context(base_url=world.address, timezone_id=zone, locale="en-GB")
    page = context.new_page()
    page.goto("/" + made.links["ada"].split("/", 3)[3])
    page.get_by_role("button", name="Sign in").click()
    page.goto(made.assignment)
    found = [one for one in page.evaluate(SHOWN) if one[1] == "due"]
    context.close()
    assert found
    for iso, _, title, text in found:
        moment = datetime.datetime.fromisoformat(iso)
        there = moment.astimezone(zoneinfo.ZoneInfo(zone))
        assert title == describe_time(moment.astimezone())
        assert text.startswith(f"{there.day} {there:%b %Y}, {there:%H:%M}"), text
        assert text.endswith(" (in 2 days)"), text


# --- suites ------------------------------------------------------------------------------------


def test_pages_of_suites_are_for_everybody_who_reads(world):
    """On a phone and on a desk, as axe says."""
    ann = Author(world.service, "Ann Author")
    suite = ann.suite()
    runs = [ann.post(suite, *run)["id"] for run in ([P, P, X], [P, F, X])]
    shown = ann.ask("PATCH", suite, json={"is_open": True, "has_badge": True})
    page = suite.removeprefix("/api/v1")
    paths = {"suites": "/suites", "suite": page, "run": f"{page}/runs/{runs[-1]}"}
    paths["suite-history"] = f"{page}/history/index.html"
    paths["suite-history-file"] = f"{page}/history/a.gtp.html"
    ben = link_for(world.service, add_person(world.service, "Ben Reader"))
    with world.person(link_of(world.service, ann), WAYS[0]) as author:
        for name, path in paths.items():
            author.go(path)
            author.look(name)
        author.go(page)
        picture = author.page.get_by_role("img", name="The badge")
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 50
        assert picture.evaluate("one => one.src").endswith(shown["badge"].rpartition("/")[2])
    with world.person(ben, WAYS[0]) as reader:
        reader.go(page)
        reader.look("suite-reader")
        assert reader.page.locator("main form").count() == 0


def link_of(service, author):
    with service.database.reading() as db:
        return link_for(service, people.PEOPLE.find(db, id=author.id))
