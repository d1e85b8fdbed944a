"""The pages of a history: tests × runs, times with their spread, all of it linked; large ones."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import ReportError
from harness.history import pages, plots
from harness.history.trends import RUNS, choose_shown_runs, file_courses, trends
from harness.report.html.page_names import PLAIN, SCRIPT
from tests import golden
from tests.harness.made_history import (
    WORDS,
    large_history,
    made_history,
    made_result,
    made_run,
    made_test,
    rich_history,
)
from tests.harness.test_html_pages import Page

GOLDEN = Path(__file__).parent / "golden" / "history"
LARGEST = 1_500_000  # bytes of a page


def find_trends(runs):
    return trends("h.sqlite", runs, "./engine")


def number_runs(runs):
    return [run._replace(number=number) for number, run in enumerate(runs, 1)]


def runs_of(rows):
    """Runs of the file a.tst: a row for each test, a letter for each run (blank: not asked)."""
    tests = [made_test("a.tst", number) for number in range(len(rows))]
    return [
        made_run(
            place + 1,
            [
                made_result(letter, test=test)._replace(line=test.id)
                for test, letter in zip(tests, column, strict=True)
                if letter != " "
            ],
        )
        for place, column in enumerate(zip(*rows, strict=True))
    ]


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """The pages of a history with one of everything, by their names."""
    folder = tmp_path_factory.mktemp("rich")
    pages.write(str(folder), find_trends(number_runs(rich_history())))
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_pages_are_as_they_were_looked_at(rich):
    styles = (pages.STYLE, plots.STYLE, PLAIN)
    for name in ("index.html", "a.html"):
        shown = rich[name].replace(SCRIPT, "(script)")
        for style in styles:
            shown = shown.replace(style, "")
        golden.check(GOLDEN / name, shown)


def test_pages_are_well_formed_and_load_nothing(rich):
    for text in rich.values():
        assert Page(text).scripts
        assert not re.search(r"https?:|//|<img|<link|url\(", text.replace(SCRIPT, ""))


def test_every_link_leads_somewhere(rich):
    check_links(rich)


def check_links(texts):
    read = {name: Page(text) for name, text in texts.items()}
    for name, page in read.items():
        for address in page.links:
            there, _, anchor = unquote(address).partition("#")
            assert anchor == "" or anchor in read[there or name].ids, address


def test_a_history_of_nothing_is_a_page(tmp_path):
    pages.write(str(tmp_path), trends("h", []))
    assert "0 runs" in Page((tmp_path / "index.html").read_text()).text


def test_no_link_leads_to_a_run_that_is_not_listed(tmp_path):
    pages.write(str(tmp_path), find_trends(made_history("PF" + "F" * pages._RUNS)))
    check_links({path.name: path.read_text() for path in tmp_path.iterdir()})


def test_each_cause_is_told_once(tmp_path):
    tests = [made_test(id_=number) for number in range(4)]
    first = [made_result("P", test=one) for one in tests]
    last = [made_result("F", text=f"t{1 + one.id % 2}", test=one) for one in tests]
    pages.write(str(tmp_path), find_trends([made_run(1, first), made_run(2, last)]))
    assert (tmp_path / "index.html").read_text().count('class="card since"') == 2


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "index.html").mkdir()
    with pytest.raises(ReportError, match="cannot write"):
        pages.write(str(tmp_path), find_trends(made_history("PF")))


# --- tests × runs ------------------------------------------------------------------------------


class Cells(HTMLParser):
    """The rows of the table of tests and runs: of each its cells as class, runs and words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[list]] = []
        self._is_cell = False
        self.feed(text[text.index('class="mx') :])

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "tr" and "data-v" in found:
            self.rows.append([])
        if tag in ("td", "th"):
            self._is_cell = tag == "td" and found.get("class", "of") not in ("of", "tm")
            if self._is_cell:
                self.rows[-1].append([found["class"], int(found.get("colspan", 1)), ""])

    def handle_endtag(self, tag):
        if tag in ("td", "table"):
            self._is_cell = False

    def handle_data(self, data):
        if self._is_cell:
            self.rows[-1][-1][2] += data


KINDS = {"P": "p", "F": "f", "x": "x", "X": "p", "-": "w", " ": "n"}


@given(st.lists(st.text("PFxX- ", min_size=6, max_size=6), min_size=1, max_size=5))
def test_the_cells_of_a_row_are_its_verdicts(rows):
    """As many columns as runs, whatever is drawn in one cell; a word for each."""
    found = find_trends(runs_of([*rows, "PPPPPP"]))  # so that no run is without any
    (file,) = file_courses(found)
    runs = choose_shown_runs(found)
    ((_, page),) = pages.file_pages(found, runs, file, "a", {})
    drawn = Cells("".join(page)).rows
    by_test = {course.test.id: cells for course, cells in zip(file.courses, drawn, strict=True)}
    for number, row in enumerate(rows):
        if row.strip():
            cells = [(kind, word) for kind, size, word in by_test.pop(number) for _ in range(size)]
            assert [kind for kind, _ in cells] == [KINDS[letter] for letter in row]
            for letter, (_, words) in zip(row, cells, strict=True):
                assert WORDS.get(letter, "") in words
    assert list(by_test) == [len(rows)]


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        (["PP", "PF", "FF"], [1, 2, 0]),  # what broke, before what never passed
        (["PPF", "PFF", "FFF"], [0, 1, 2]),  # what broke last comes first
        (["PP", "P-", "FF"], [2, 1, 0]),
        (["PPPP", "PFPP", "PFFP"], [1, 2, 0]),  # flaky, or once mended
        (["PP", "xx", "FF", "PP"], [2, 1, 0, 3]),
        (["FFF ", "PPPP", "PPPF"], [2, 1, 0]),  # no longer asked: last
    ],
)
def test_what_failed_stands_first(rows, order):
    (file,) = file_courses(find_trends(runs_of(rows)))
    assert [course.test.id for course in file.courses] == order


def test_the_last_runs_are_shown():
    found = find_trends(made_history("P" * (RUNS + 20)))
    assert [run.number for run in choose_shown_runs(found)] == list(range(21, RUNS + 21))
    (file,) = file_courses(found)
    assert [(one.first, one.size) for one in file.courses[0].streaks()] == [(0, RUNS)]
    assert len(file.courses[0].times) == RUNS + 20, "times are compared with all there are"


def test_a_run_without_a_file_leaves_its_column_empty(tmp_path):
    runs = [*made_history("PP"), made_run(3, [made_result("P", test=made_test("b.tst"))])]
    pages.write(str(tmp_path), find_trends(runs))
    (cells,) = Cells((tmp_path / "a.html").read_text()).rows
    assert cells == [["p", 2, "passed in 2 runs"], ["n", 1, ""]]


# --- what is told ------------------------------------------------------------------------------


def test_a_plot_of_times_tells_the_median_and_the_quartiles():
    times = [(run, run / 10) for run in range(1, 6)]
    drawn = plots.times_of_runs("Time", times)
    assert "<b>Time</b> 300 ms (quartiles 200 ms and 400 ms); at most 500 ms" in drawn
    assert re.findall(r"<title>(.*?)</title>", drawn)[0] == "run 1: 100 ms"
    assert plots.times_of_runs("Time", []) == ""


# --- large ones --------------------------------------------------------------------------------


@pytest.mark.long(5)
@pytest.mark.parametrize(
    ("tests", "files", "share"),
    [(1_500, 1, 0.02), pytest.param(5_386, 11, 0.2, marks=pytest.mark.slow)],
)
def test_a_large_suite_is_cut_into_pages_that_open_at_once(tmp_path, tests, files, share):
    pages.write(str(tmp_path), find_trends(large_history(tests, 50, files, share)))
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert max(sizes.values()) < LARGEST, sizes
    rows = [
        row
        for name in sizes
        if name != "index.html"
        for row in Cells((tmp_path / name).read_text()).rows
    ]
    assert len(rows) == tests
    assert all(sum(size for _, size, _ in row) == 50 for row in rows)
