"""The pages in a real browser, as wide as a phone and as a desk's screen."""

from __future__ import annotations

import html as stdlib_html
import json
import re
import subprocess
from urllib.parse import quote

import pytest

from harness.records import Failure, FailureKind
from harness.report import html
from harness.report.view import view
from tests.harness.made_run import RUN, Line, V, made_file

WIDTHS = (320, 360, 768, 1280)
LONG = "x" * 3_000

# What does not wrap by itself: words without end, a board of 25 by 25, long names.
WIDE = made_file(
    f"folder/{'n' * 120}.gtp",
    [
        Line("boardsize 25"),
        Line("clear_board"),
        Line("play b z25"),
        Line(f"1 echo {LONG}", f"=1 {LONG}", f"[{LONG}y]", V.FAILED),
        Line(f"play b {LONG}", f"? {LONG}"),
        Line("2 list", "=2 " + "a1 " * 2_000, "[.*]", V.PASSED),
    ],
    stderr=LONG,
    warnings=(LONG,),
)

# Would rename the page that shows it if it were not text there.
SCRIPT = (
    "</pre></code></td></table></title></style>"
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
)
HOSTILE = made_file(
    "hostile.gtp",
    [
        Line("refused", f"? {SCRIPT}"),
        Line("1 name", f"= {SCRIPT}", f"[{SCRIPT}.*]", V.FAILED, invalid=SCRIPT),
        Line("2 name", f"= {SCRIPT}", "[.*]", V.PASSED),
    ],
    stderr=SCRIPT,
    warnings=(SCRIPT,),
    failures=(Failure(FailureKind.DIED, SCRIPT),),
    name=SCRIPT,
    version=SCRIPT,
)

# Opens every page in a frame of every width, follows every link into it, and writes down what it
# finds; the frames' documents can be looked into because all are files (see the flag below).
PROBE = """<!DOCTYPE html><body><pre id="found"></pre><script>
const PAGES = %s, WIDTHS = %s, found = [];
const loaded = frame => new Promise(done => frame.onload = done);
async function look(page, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:800px;border:0`;
  frame.src = page;
  document.body.append(frame);
  await loaded(frame);
  const root = frame.contentDocument.documentElement;
  found.push({
    page, width,
    wide: root.scrollWidth,
    title: frame.contentDocument.title,
    scripts: root.querySelectorAll("script").length,
    loads: root.querySelectorAll("script[src],img,iframe,object,embed,link,base,form").length,
    boards: [...root.querySelectorAll("details[open] svg[data-m]")]
      .map(svg => svg.getBoundingClientRect().width),
    text: root.textContent.length,
    color: frame.contentWindow.getComputedStyle(root.querySelector("body")).color,
  });
  frame.remove();
}
async function follow(page, anchor) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:360px;height:300px;border:0";
  frame.src = page + "#" + anchor;
  document.body.append(frame);
  await loaded(frame);
  const target = frame.contentDocument.getElementById(anchor);
  const box = target.getBoundingClientRect();
  found.push({page, anchor, seen: box.top >= 0 && box.top < 300});
  frame.remove();
}
(async () => {
  for (const page of PAGES.pages) for (const width of WIDTHS) await look(page, width);
  for (const [page, anchor] of PAGES.anchors) await follow(page, anchor);
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


def browse(chromium: str, page: str, profile) -> str:
    """Return a page as it is after its scripts have run."""
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--allow-file-access-from-files",
        "--virtual-time-budget=20000",
        "--dump-dom",
    ]
    command = [chromium, *flags, f"--user-data-dir={profile}", page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def found(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    run = RUN._replace(files=(*RUN.files, WIDE, HOSTILE), program=LONG, errors=(LONG, SCRIPT))
    html.write(folder, run, [view(file) for file in run.files])
    pages = {path.name: path.read_text() for path in folder.glob("*.html")}
    anchors = [
        (quote(name), anchor)
        for name, text in pages.items()
        for anchor in re.findall(r' id="([LT]\d+|stderr)"', text)
    ]
    (folder / "owned.htm").write_text(f"<!DOCTYPE html><title></title><body>{SCRIPT}")
    names = [*map(quote, pages), "owned.htm"]
    return looked_into(chromium, folder, names, anchors, tmp_path_factory.mktemp("profile"))


def looked_into(chromium: str, folder, names, anchors, profile) -> list[dict]:
    """What the browser finds of the pages of a folder, in all widths, and of their anchors."""
    listed = json.dumps({"pages": names, "anchors": anchors})
    (folder / "probe.htm").write_text(PROBE % (listed, json.dumps(WIDTHS)))
    dom = browse(chromium, (folder / "probe.htm").as_uri(), profile)
    text = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)[1]
    assert text, "the pages could not be looked into"
    seen = json.loads(stdlib_html.unescape(text))
    assert len(seen) == len(names) * len(WIDTHS) + len(anchors)
    return seen


def looks(found):
    return [look for look in found if "width" in look and look["page"] != "owned.htm"]


@pytest.mark.processes
def test_nothing_scrolls_sideways(found):
    assert [look for look in looks(found) if look["wide"] > look["width"]] == []


def test_no_page_has_a_script_but_the_one(found):
    assert [look for look in looks(found) if look["loads"] or look["scripts"] > 1] == []


def test_what_an_engine_sends_is_text(found):
    """A page that did not escape it would be renamed, and one is."""
    renamed = {look["page"] for look in found if look.get("title") == "owned"}
    assert renamed == {"owned.htm"}


def test_boards_fit_and_are_seen(found):
    boards = [(width, look) for look in looks(found) for width in look["boards"]]
    assert len(boards) == len(WIDTHS) * 7
    for width, look in boards:
        assert 90 < width <= look["width"] - 32, look
        assert width >= min(300, look["width"] - 90), "large, and on a phone as wide as it"


def test_every_anchor_is_scrolled_to(found):
    anchors = [look for look in found if "anchor" in look]
    assert len(anchors) > 20
    assert [look for look in anchors if not look["seen"]] == []


# --- what a click adds --------------------------------------------------------------------------

# Does what a reader does, in a frame, and writes down what is then to be seen.
CLICKS = """<!DOCTYPE html><body><pre id="found"></pre><script>
const found = {}, frame = document.createElement("iframe");
frame.style.cssText = "width:1280px;height:900px;border:0";
frame.src = "score.html";
frame.onload = () => {
  const page = frame.contentDocument, all = s => [...page.querySelectorAll(s)];
  const one = s => page.querySelector(s), stones = () => one(".sS").getAttribute("d");
  const press = key => page.dispatchEvent(
    new frame.contentWindow.KeyboardEvent("keydown", {key, bubbles: true}));
  found.has_script = page.documentElement.classList.contains("js");
  found.end = stones();
  one('[data-step="-999"]').click();
  found.start = stones();
  one('[data-step="1"]').click();
  found.first = stones();
  found.said = one(".step output").textContent;
  one('[data-step="999"]').click();
  found.again = stones();
  one("[data-numbers]").click();
  found.numbers = all(".no-t").map(x => x.textContent).sort();
  press("n");
  found.next = page.activeElement.parentNode.querySelector(".body").id;
  press("n");
  found.after = page.activeElement.parentNode.querySelector(".body").id;
  press("p");
  found.back = page.activeElement.parentNode.querySelector(".body").id;
  const shown = () => all("tr[data-v]").filter(x => !x.hidden).length;
  found.rows = shown();
  one('[data-verdict="f"]').click();
  found.failed = shown();
  one("[data-filter]").value = "undo";
  one("[data-filter]").dispatchEvent(new Event("input"));
  found.undo = shown();
  found.address = frame.contentWindow.location.hash;
  document.getElementById("found").textContent = JSON.stringify(found);
};
document.body.append(frame);
</script>"""


@pytest.fixture(scope="module")
def clicked(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    html.write(folder, RUN, [view(file) for file in RUN.files])
    (folder / "clicks.htm").write_text(CLICKS)
    profile = tmp_path_factory.mktemp("profile")
    dom = browse(chromium, (folder / "clicks.htm").as_uri(), profile)
    text = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)[1]
    assert text, "the script did not do what a click asks for"
    return json.loads(stdlib_html.unescape(text))


@pytest.mark.processes
def test_a_set_up_is_stepped_through(clicked):
    """The first failed test stands after B C3, W A1, B A2, B B1, which takes A1."""
    assert clicked["has_script"]
    assert clicked["start"] == ""
    assert clicked["first"] == "M59 59"
    assert clicked["said"] == "1 of 4 · B C3"
    assert set(clicked["again"][1:].split("L")) == set(clicked["end"][1:].split("L"))
    assert clicked["numbers"] == ["1", "3", "4"]


def test_keys_lead_to_failures(clicked):
    assert (clicked["next"], clicked["after"], clicked["back"]) == ("T16", "T19", "T16")


def test_a_filter_is_kept_in_the_address(clicked):
    assert clicked["rows"] == 10
    assert clicked["failed"] == 6
    assert clicked["undo"] == 1
    assert clicked["address"] == "#q=undo&v=f"
