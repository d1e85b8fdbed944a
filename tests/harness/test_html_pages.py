"""The pages: well-formed, self-contained, linked, with everything from outside escaped."""

from __future__ import annotations

import hashlib
import json as stdlib_json
import re
from base64 import b64encode
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.errors import ReportError
from harness.core.records import Repeat
from harness.reading.casefile import comments
from harness.report import html, json, report_files
from harness.report.baseline import compare
from harness.report.file_view import view
from harness.report.html.card import title
from harness.report.html.failure_ways import ways
from harness.report.html.page_names import (
    LOG_SCRIPT,
    LOG_SHA256,
    SCRIPT,
    SHA256,
    page_names,
)
from harness.report.html.templates import PIECES, Markup
from harness.report.report_files import SharedText
from harness.report.tally import tally
from tests.harness.made_run import GREEN, RUN, Line, V, comment, made_file
from tests.harness.test_report_formats import runs

VOID = {"meta", "link", "br", "hr", "img", "input"}
# No other tag or attribute is written; of these the one script alone can do anything.
TAGS = """html head meta title style body nav a h1 h2 h3 h4 ul li dl dt dd section p code pre
    article small span div mark i b figure figcaption table thead tbody tfoot tr th td details
    summary footer svg desc rect g path circle text header main aside button input output kbd
    script defs marker pattern lineargradient radialgradient stop
    em br blockquote"""
ATTRIBUTES = """lang charset http-equiv content name href class id data-l xmlns role width height
    viewbox x y rx fill transform stroke stroke-linecap stroke-width d cx cy r text-anchor
    font-family font-size font-weight style tabindex title type placeholder scope open min max
    value colspan aria-label aria-labelledby aria-hidden aria-pressed aria-sort focusable
    data-v data-c data-k data-w data-h data-m data-start data-moves data-komi data-command
    data-gomoku data-fail data-copy data-gtp data-sgf data-step data-numbers data-go data-filter
    data-verdict
    markerunits markerwidth markerheight marker-start marker-mid marker-end fill-opacity opacity
    offset stop-color stop-opacity stroke-opacity x1 y1 x2 y2 preserveaspectratio patterntransform
    """


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in its order, every name is known.

    A cell of a table alone may end with the next one or with its row, as in HTML.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.boards = 0
        self.links: list[str] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open
        assert len(self.ids) == len(set(self.ids))
        assert "".join(self.scripts) in ("", SCRIPT, LOG_SCRIPT)

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS.split()
        if tag == "td":
            self._end_cell()
        for name, value in attrs:
            assert name in ATTRIBUTES.split()
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
        self.boards += "data-m" in dict(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag == "tr":
            self._end_cell()
        assert self.open.pop() == tag

    def _end_cell(self):
        if self.open[-1] == "td":
            self.open.pop()

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts.append(data)
        elif "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def write(run, folder):
    html.write(folder, run, [view(file) for file in run.files])
    return {path.name: Page(path.read_bytes().decode()) for path in sorted(folder.glob("*.html"))}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    return write(RUN, folder)


def test_every_link_leads_somewhere(site):
    for name, page in site.items():
        for address in page.links:
            target, _, anchor = address.partition("#")
            target = unquote(target) or name
            assert target in site
            assert not anchor or anchor in site[target].ids


def test_what_is_not_plainly_passed_has_a_card_with_a_board(site):
    page = site["score.html"]
    cards = [name for name in page.ids if name.startswith("T")]
    assert sorted(cards) == ["T16", "T19", "T21", "T23", "T25", "T27", "T29", "T30", "T31"]
    assert cards[-1] == "T21", "what was expected to fail comes last"
    assert page.text.count("last move: ") == len(cards)
    assert page.boards == len(cards)


def test_the_log_holds_the_whole_stream_and_standard_error_apart(site):
    log = site["score.out.html"].text
    for line in RUN.files[0].case.lines:
        assert line in log
    for reply in RUN.files[0].replies:
        assert reply.raw in log
    broken = site["rules & more.gtp.out.html"]
    stream, stderr = broken.text.split("Standard error")
    assert "debug: <hello>" in stream
    assert "=1 \\x1b[31mbl\\x00ack\\xff" in stream
    assert "no reply" in stream
    assert "Traceback" not in stream
    assert "<b>Traceback</b>" in stderr


def test_the_log_holds_what_came_before_a_refusal(tmp_path):
    line = Line("1 name", "?1 no", "[x]", V.FAILED, invalid="debug: <no name>")
    run = RUN._replace(files=(made_file("x.gtp", [line]),))
    html.write(tmp_path, run, [view(one) for one in run.files])
    text = (tmp_path / "x.gtp.out.html").read_text()
    assert '<span class="e">debug: &lt;no name&gt;\n?1 no</span>' in text


def test_nothing_is_loaded_and_no_script_is_run_but_the_one(tmp_path):
    write(RUN, tmp_path)
    for path in tmp_path.glob("*.html"):
        text = path.read_text()
        assert "default-src 'none'; style-src 'unsafe-inline'" in text
        for script, digest in ((SCRIPT, SHA256), (LOG_SCRIPT, LOG_SHA256)):
            assert (script in text) == (f"script-src 'sha256-{digest}'" in text)
            text = text.replace(f"<script>{script}</script>", "")
        assert not re.search(r"https?:|//|<script|<link|@import|url\((?!#)|\bon[a-z]+=", text)


@pytest.mark.parametrize(("script", "digest"), [(SCRIPT, SHA256), (LOG_SCRIPT, LOG_SHA256)])
def test_the_digest_is_the_scripts(script, digest):
    found = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert found == digest, f"what harness/report/html/page_names.py has must be {found}"


@given(st.text())
def test_what_a_template_shows_is_escaped_unless_it_is_markup(text):
    items = PIECES.items
    once = items([text])
    assert items([once]) == f"<ul><li>{once}</li></ul>"
    assert unescape(once) == f"<ul><li>{text}</li></ul>"
    assert not set(once.removeprefix("<ul><li>").removesuffix("</li></ul>")) & set("<>\"'")


@settings(max_examples=40, deadline=None)
@given(runs())
def test_pages_are_well_formed_whatever_they_hold(tmp_path_factory, run):
    folder = tmp_path_factory.mktemp("any")
    file = run.files[0]
    named = file.case._replace(path="x.gtp")
    run = run._replace(files=(file._replace(case=named),))
    pages = write(run, folder)
    assert set(pages) == {"index.html", "x.gtp.html", "x.gtp.out.html"}


def test_a_run_of_nothing(tmp_path):
    pages = write(GREEN._replace(files=(made_file("e.gtp", []),)), tmp_path)
    assert "The file has no tests." in pages["e.gtp.html"].text
    assert set(write(GREEN._replace(files=()), tmp_path / "none")) == {"index.html"}


def test_failures_that_differ_by_their_ids_are_one_way_of_failing():
    replies = ("?10 unknown command", "?20 unknown command", "?30 illegal move", "=40 B+1")
    lines = [Line(f"{reply[1:3]} score", reply, "[0]", V.FAILED) for reply in replies]
    found = str(ways([view(made_file("a.gtp", lines))], ["a.gtp.html"]))
    assert re.findall(r"<b>(\d+)</b>", found) == ["2"]
    assert "<h3>An error: unknown command</h3>" in found
    assert "2 tests failed in other ways" in found


def test_a_run_says_how_to_repeat_what_failed(tmp_path):
    run = RUN._replace(repeat=Repeat("gtp-harness run engine"))
    page = write(run, tmp_path)["index.html"]
    assert "gtp-harness run engine" in page.text
    assert "Repeat what failed" not in write(GREEN, tmp_path / "green")["index.html"].text


def test_a_harness_error_stands_once_and_hides_no_count(tmp_path):
    page = write(RUN._replace(faults=("KeyError: 'oh'",)), tmp_path)["index.html"]
    assert page.text.count("KeyError: 'oh'") == 1
    assert "2 of 3 have failures" in page.text


def test_a_comparison_stands_on_the_first_page(tmp_path):
    former = stdlib_json.loads("".join(json.parts(GREEN, [tally(file) for file in GREEN.files])))
    former["files"][0]["tests"][0]["verdict"] = "FAILED"
    views = [view(file) for file in GREEN.files]
    html.write(tmp_path, GREEN, views, compare(former, GREEN))
    page = Page((tmp_path / "index.html").read_text())
    assert "Compared with the run of 17 May 2024, 09:30 UTC" in page.text
    assert "1 protocol_version  FAILED → passed" in page.text


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot make"):
        write(GREEN, tmp_path / "file")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a.tst", "b.gtp", "c"], ["a", "b.gtp", "c"]),
        (["x/a.tst", "y/a.tst", "z/a.tst"], ["a", "a_2", "a_3"]),
        (["a.tst", "a.out.tst"], ["a", "a.out_2"]),  # the log of the first is a.out.html
        (["a.out.tst", "a.tst"], ["a.out", "a_2"]),
        (["index.tst"], ["index_2"]),
        (["a_2.tst", "a.tst", "x/a.tst"], ["a_2", "a", "a_3"]),
    ],
)
def test_page_names_are_unique(paths, names):
    assert page_names(paths) == names


def test_the_comment_that_introduces_a_test():
    file = made_file(
        "x.gtp",
        [
            comment("# head"),
            comment(""),
            comment("# one"),
            comment("#   two "),
            Line("play b a1"),
            Line("1 a", "=", "[x]", V.FAILED),
            Line("2 b", "=", "[x]", V.FAILED),
            comment("# three"),
            comment(""),
            Line("3 c", "=", "[x]", V.FAILED),
        ],
    )
    assert [comments(file.case, step) for step in (1, 2, 3)] == ["one\ntwo", "", "three"]


@pytest.mark.parametrize(
    ("lines", "heading"),
    [
        (["White lives.", "As said."], "White lives."),
        (["incident 159", "White lives."], "incident 159 White lives."),
        (["5 owl_attack C3", "#? [1 (B4|C4)]"], ""),  # a test that was commented out
        (["? [1 B4]", "White lives."], ""),
        (["5 stones live."], "5 stones live."),
        ([". X O", "X X X"], ""),
        (["... and A1", "is Black's. More."], "... and A1 is Black's."),
    ],
)  # fmt: skip
def test_a_test_is_called_what_is_said_of_it(lines, heading):
    text = [*(comment(f"# {line}") for line in lines), Line("6 owl_defend C3", "=6 0", "[1]")]
    text[-1] = text[-1]._replace(verdict=V.FAILED)
    file = made_file("x.gtp", text)
    assert title(view(file), 0, "\n".join(lines)) == (heading or "6 owl_defend C3")


# --- pages that are cut into parts ---------------------------------------------------------------


def test_pages_are_cut_and_every_link_leads_somewhere(tmp_path, monkeypatch):
    """As many small pages say what one says, and no case file's page has a part's name."""
    monkeypatch.setattr("harness.report.html.file._CARDS", 2)
    monkeypatch.setattr("harness.report.html.file._ROWS", 3)
    monkeypatch.setattr("harness.report.html.log._PART", 40)
    twin = RUN.files[0]._replace(case=RUN.files[0].case._replace(path="score.part2.tst"))
    run = RUN._replace(files=(*RUN.files, twin))
    html.write(tmp_path, run, [view(file) for file in run.files])
    texts = {path.name: path.read_text() for path in tmp_path.glob("*.html")}
    assert {"score.html", "score.part2.html", "score.part3.html", "score.out.part2.html"} <= set(
        texts
    )
    assert "score.part2_2.html" in texts, "of the other file"
    whole = "".join(text for name, text in texts.items() if name.startswith("score.part2_2.part"))
    whole += texts["score.part2_2.html"]
    for step in twin.case.steps:
        if step.is_test:
            name = step.id if step.id >= 0 else f"line {step.line}"
            assert whole.count(f'#L{step.line}">{name}</a></td>') == 1
    for name, text in texts.items():
        for address in re.findall(r'href="([^"]*)"', text):
            page, _, anchor = unquote(address).partition("#")
            found = texts[page or name]
            assert not anchor or f'id="{anchor}"' in found, (name, address)


# What is shared is the harness's own; all else may be anything.
PARTS = st.lists(st.text() | st.text().map(Markup) | st.text('<a b>"✓').map(SharedText))


@given(PARTS)
def test_what_pages_share_is_written_like_all_else(tmp_path_factory, parts):
    shared, plain = (tmp_path_factory.mktemp("both") / name for name in ("shared", "plain"))
    for _ in range(2):
        report_files.write(str(shared), parts, lasting=False)
    report_files.write(str(plain), ["".join(parts)])
    assert shared.read_bytes() == plain.read_bytes()


def test_a_page_that_fails_leaves_the_one_before(tmp_path):
    """Nothing is taken away before there is something whole to take its place."""
    page = tmp_path / "page.html"
    report_files.write(str(page), ["whole"], lasting=False)

    def breaks():
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(ReportError, match="No space left"):
        report_files.write(str(page), breaks(), lasting=False)
    assert page.read_text() == "whole"
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
