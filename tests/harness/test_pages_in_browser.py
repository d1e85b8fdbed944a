"""All pages in a real browser: as wide as a phone and a desk, light, dark, printed, by keyboard.

A page is as it should be without its script too, for mails and lockdown take scripts away.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from itertools import groupby
from pathlib import Path, PurePath
from urllib.parse import unquote, urljoin, urlsplit

import pypdfium2
import pytest
from sgfmill.sgf import Sgf_game

from tests.harness import made_site
from tests.harness.browsing import (
    DESK,
    PHONE,
    complaints,
    go,
    names,
    open_page,
    sights,
)
from tests.harness.made_class import SCRIPT

pytestmark = [pytest.mark.long(60), pytest.mark.processes]

WIDTHS = (320, PHONE, 768, DESK)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    made_site.write(folder)
    return folder


def kind(name: str) -> tuple[str, str]:
    """What a page is about: its folder, and whether it is a first page, a log or another one."""
    path = PurePath(name)
    is_first = path.stem in ("index", "class")
    return str(path.parent), "first" if is_first else "log" if ".out" in path.name else "other"


def largest(site, count):
    """Return the largest pages of each kind, so many of each."""
    groups = [list(some) for _, some in groupby(sorted(names(site), key=kind), kind)]
    by_size = [sorted(one, key=lambda name: -(site / name).stat().st_size) for one in groups]
    return [name for one in by_size for name in one[:count]]


@pytest.fixture(scope="module")
def kinds(site):
    """The largest page of each kind."""
    return largest(site, 1)


@pytest.fixture(scope="module", params=[1, pytest.param(1_000, marks=pytest.mark.slow)])
def count(request):
    """How many pages and links of each kind are looked at: one; in the slow tier all."""
    return request.param


@pytest.fixture(scope="module")
def many(site, count):
    """So many pages of each kind."""
    return largest(site, count)


# --- as it opens -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_sights(browser, site, many):
    return sights(browser, site, many, WIDTHS)


def test_nothing_scrolls_sideways(browser, site, many, all_sights):
    plain = sights(browser, site, many, (PHONE, DESK), java_script_enabled=False)
    wide = [
        (one.page, one.width, one.wide) for one in (*all_sights, *plain) if one.wide > one.width
    ]
    assert wide == []


def test_what_an_engine_sends_is_text(browser, all_sights, tmp_path):
    """A page that did not escape it would be renamed, as one is."""
    assert "owned" not in {one.title for one in all_sights}
    (tmp_path / "owned.htm").write_text(f"<!DOCTYPE html><title></title><body>{SCRIPT}")
    page = browser.new_page()
    go(page, tmp_path / "owned.htm")
    assert page.title() == "owned"
    page.close()


def test_no_page_loads_anything_or_has_a_script_but_the_one(all_sights):
    assert [one.page for one in all_sights if one.loads or one.scripts > 1] == []


def test_boards_fit_and_are_seen(all_sights):
    boards = [(width, one) for one in all_sights for width in one.boards]
    assert {one.width for _, one in boards} == set(WIDTHS)
    for width, one in boards:
        assert 90 < width <= one.width - 32, one
        assert width >= min(300, one.width - 90), "large, and on a phone as wide as it"


@pytest.fixture(scope="module")
def links(site, many):
    """All links of the pages, by the page or other file that they lead to."""
    found = {}
    for name in many:
        page = site / name
        for link in re.findall(r'href="([^"]*)"', page.read_text()):
            if link != "#main":
                address = urlsplit(urljoin(page.as_uri(), unescape(link)))
                places = found.setdefault(Path(unquote(address.path)), set())
                places.add(address.fragment)
    return found


def test_every_link_leads_to_a_file(links):
    assert [path for path in links if not path.exists()] == []
    assert sum(map(len, links.values())) > 100


@pytest.mark.parametrize("script", [True, False])
def test_every_link_leads_to_what_is_then_seen(browser, links, count, script):
    """In a closed card, too; a line of a log stands below the bar.

    One place of each kind is gone to from another page, others from within their page.
    """
    lost = []
    with open_page(browser, width=PHONE, java_script_enabled=script) as page:
        for path, places in links.items():
            first = of_each_kind(places, 1)
            for place in sorted(first):
                go(page, "about:blank")
                go(page, f"{path.as_uri()}#{place}")
                lost += [] if is_seen(page) else [(path, place, "from another page")]
            left = sorted(of_each_kind(places - first, count))
            if left:
                go(page, path)
            for place in left:
                page.evaluate(_FOLD)
                go(page, f"{path.as_uri()}#{place}")
                lost += [] if is_seen(page) else [(path, place, "from within")]
    assert lost == []


def of_each_kind(places: set[str], count: int) -> set[str]:
    """So many places of each kind, such as T12 of all that are a T and a number."""
    kinds = groupby(sorted(places - {""}, key=_kind), _kind)
    return {place for _, some in kinds for place in list(some)[:count]}


def _kind(place: str) -> str:
    return re.sub(r"\d+", "", place)


def is_seen(page) -> bool:
    """Whether the place is seen that the address names."""
    for _ in range(300):  # what is folded is opened and scrolled to later, on a busy machine
        if page.evaluate(_IS_THERE):
            return True
        page.wait_for_timeout(100)
    return False


_FOLD = "() => document.querySelectorAll('details').forEach(one => one.open = false)"
_IS_THERE = """() => {
  if (!location.hash) return true;
  const there = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const box = there && there.getBoundingClientRect();
  return box && there.checkVisibility() && box.top >= -1 && box.top < innerHeight;
}"""


# --- for everybody -----------------------------------------------------------------------------

# What pages say without their script has a test of its own.
LOOKS = [(DESK, "light"), (PHONE, "dark")]


@pytest.mark.parametrize(("width", "colors"), LOOKS)
def test_nothing_hinders_a_screen_reader(browser, site, kinds, width, colors):
    """Neither in cards that are open nor in those that were closed.

    Contrast is checked, too: in both schemes of colors, which no script changes.
    """
    found = {}
    with open_page(browser, width=width, color_scheme=colors) as page:
        for name in kinds:
            go(page, site / name)
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            found[name] = complaints(page, contrast=True)
    assert {name: told for name, told in found.items() if told} == {}


def test_all_is_said_without_the_script(browser, site, kinds):
    """What the script adds are ways to move, and nothing to read."""
    texts = []
    for script in (True, False):
        with open_page(browser, java_script_enabled=script) as page:
            some = []
            for name in kinds:
                go(page, site / name)
                some.append(page.evaluate(_SAID))
            texts.append(some)
    assert texts[0] == texts[1]


_SAID = """() => {
  const isShown = [...document.querySelectorAll(".js-only")].some(one => one.checkVisibility());
  if (isShown && !document.documentElement.classList.contains("js")) return "what a click adds";
  document.querySelectorAll(".js-only,#say,script,style").forEach(one => one.remove());
  return document.body.textContent;
}"""


# --- on paper ----------------------------------------------------------------------------------


def letters(text: str) -> Counter:
    return Counter(re.sub(r"[^A-Za-z0-9]", "", text))


def test_nothing_is_cut_on_paper(browser, site, kinds):
    """Every letter and figure that a page has on paper is within one of its sheets."""
    with open_page(browser, width=700) as page:
        page.emulate_media(media="print")
        for name in kinds:
            go(page, site / name)
            told = letters(page.evaluate(_ON_PAPER))
            sheets = pypdfium2.PdfDocument(page.pdf(format="A4", prefer_css_page_size=True))
            printed = letters("".join(one.get_textpage().get_text_bounded() for one in sheets))
            assert told - printed == Counter(), name


# What is there for screen readers alone is on no paper.
_ON_PAPER = """() => {
  [...document.querySelectorAll("body *")]
    .filter(one => {
      const how = getComputedStyle(one);
      return how.clipPath.startsWith("inset") || how.fontSize === "0px";
    })
    .forEach(one => one.remove());
  return document.body.innerText;
}"""


# --- by keyboard alone -------------------------------------------------------------------------

_FOCUS = """() => {
  const at = document.activeElement;
  return [at.tagName, (at.getAttribute("aria-label") || at.textContent).trim().slice(0, 40)];
}"""


def focus(page) -> tuple[str, str]:
    """The element that has the focus, and its name."""
    return tuple(page.evaluate(_FOCUS))


def test_tab_leads_through_a_page_in_its_order(browser, site, kinds):
    """Every stop is seen, stands after the one before it, and shows that it has the focus."""
    with open_page(browser, width=PHONE) as page:
        for name in kinds:
            go(page, site / name)
            page.keyboard.press("Tab")
            assert focus(page) == ("A", "Skip to content"), name
            for _ in range(25):
                page.keyboard.press("Tab")
                stop = page.evaluate(_STOP)
                assert stop != "none", (name, focus(page))
                if stop == "end":
                    break


_STOP = """() => {
  const at = document.activeElement, last = window.last;
  if (at === document.body || at.className === "skip") return "end";  // and begins again
  window.last = at;
  const box = at.getBoundingClientRect(), how = getComputedStyle(at);
  const isAfter = !last || last.compareDocumentPosition(at) & 4;
  const isSeen = at.checkVisibility() && box.bottom > 0 && box.top < innerHeight;
  return isAfter && isSeen && how.outlineStyle !== "none" ? "stop" : "none";
}"""


def card(page) -> str:
    return page.evaluate("document.activeElement.parentNode.querySelector('.body').id")


def test_keys_lead_to_failures_and_through_their_set_ups(browser, site):
    """The first failed test stands after B C3, W A1, B A2, B B1, which takes A1."""
    with open_page(browser, site / "run/score.html") as page:
        cards = []
        for key in "nnp":
            page.keyboard.press(key)
            cards.append(card(page))
        assert cards == ["T16", "T19", "T16"]
        assert page.locator("#at").inner_text() == "1 of 6"
        figure = page.locator("details:has(#T16) figure")
        end = stones(figure)
        said = []
        for _ in range(4):
            page.keyboard.press("ArrowLeft")
            said.append(figure.locator("output").inner_text())
        assert said == ["3 of 4 · B A2", "2 of 4 · W A1", "1 of 4 · B C3", "0 of 4"]
        assert stones(figure) == set()
        page.keyboard.press("ArrowRight")
        assert stones(figure) == {"59 59"}
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        assert stones(figure) == end
        page.keyboard.press("Enter")
        assert not figure.is_visible()


def stones(figure) -> set[str]:
    drawn = figure.locator(".sS").get_attribute("d") or ""
    return set(drawn[1:].split("L")) - {""}


def copy_text(page, button) -> str:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button.click()
    return page.evaluate("navigator.clipboard.readText()")


def test_a_position_is_copied_and_saved(browser, site):
    with open_page(browser, site / "run/score.html") as page:
        one = page.locator("details:has(#T16)")
        set_up = "boardsize 5|clear_board|komi 0.5|play B C3|play W A1|play B A2|play B B1|score|"
        assert copy_text(page, one.locator("[data-gtp]")).split("\n") == set_up.split("|")
        with page.expect_download() as saved:
            one.locator("[data-sgf]").click()
        record = Sgf_game.from_bytes(Path(saved.value.path()).read_bytes())
    moves = [node.get_move() for node in record.get_main_sequence()]
    assert moves[1:] == [("b", (2, 2)), ("w", (0, 0)), ("b", (1, 0)), ("b", (0, 1))]


def test_a_filter_and_an_order_are_kept_in_the_address(browser, site):
    with open_page(browser, site / "run/score.html") as page:
        rows = page.locator("tr[data-v]:visible")
        assert rows.count() == 10
        page.locator('[data-verdict="f"]').focus()
        page.keyboard.press("Enter")
        assert rows.count() == 6
        page.locator("[data-filter]").focus()
        page.keyboard.type("undo")
        assert (rows.count(), page.locator("#shown").inner_text()) == (1, "1 of 10")
        address = page.url
        assert address.endswith("#q=undo&v=f")
        page.keyboard.press("n")
        assert page.locator("[data-filter]").input_value() == "undon", "a letter, in a field"
        go(page, site / "run/index.html")
        go(page, address)
        assert rows.count() == 1
        go(page, site / "run/index.html")
        assert rows.count() > 3
        page.locator("[data-filter]").fill("90 undo")
        assert rows.locator(".fn").all_inner_texts() == ["go/score.tst"], "by a test that failed"
        page.locator("[data-filter]").fill("")
        page.locator("th button", has_text="Time").focus()
        page.keyboard.press("Enter")
        times = page.locator("td.num").evaluate_all("all => all.map(one => +one.dataset.k)")
        assert times == sorted(times)
        page.reload()
        kept = page.locator("td.num").evaluate_all("all => all.map(one => +one.dataset.k)")
        assert kept == times


def test_a_log_is_filtered_by_text_and_by_who_wrote_it(browser, site):
    """Commands stay with their replies; without a filter all is as it was."""
    with open_page(browser, site / "run/score.out.html") as page:
        stream, query = page.locator("#stream"), page.locator("[data-filter]")
        whole = stream.text_content()
        query.fill("UNDO")
        assert stream.inner_text().strip() == "90 undo\n? cannot undo"
        assert page.url.endswith("#q=UNDO")
        page.reload()
        assert stream.inner_text().strip() == "90 undo\n? cannot undo", "kept in the address"
        query.fill("")
        seen = {}
        for word in ("Commands", "Replies", "FAILED", "Errors", "All"):
            page.get_by_role("button", name=word).focus()
            page.keyboard.press("Enter")
            seen[word] = [line for line in stream.inner_text().splitlines() if line]
        assert [len(seen[word]) for word in ("Commands", "Replies")] == [18, 20]
        assert (seen["Commands"][0], seen["Replies"][4]) == ("boardsize 5", "=10 B+24.5")
        assert seen["FAILED"][:2] == ["20 score", "=20 B+23.5"]
        assert seen["Errors"][:2] == ["play w c9", "? illegal move"]
        assert stream.text_content() == whole
        assert stream.locator("#L16").is_visible(), "what links lead to is still there"
