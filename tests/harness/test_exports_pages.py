"""The pages of a grading: well-formed, self-contained, useful; the same in a real browser."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote

import pytest
from hypothesis import given, settings

from harness.errors import UsageError
from harness.grading.exports import plots
from harness.grading.exports import writing as exports
from harness.grading.exports.feedback import body_of, student_page
from harness.grading.exports.report import report_page
from harness.grading.exports.showing import feedback
from harness.grading.records import PUBLIC, Attempt
from harness.records import Failure, FailureKind
from harness.report.html.script import SCRIPT as PROGRAM
from harness.report.views import Views
from harness.specifications import specification
from harness.visible import visible
from tests.harness.made_class import (
    PLACE,
    SCRIPT,
    UNSAFE,
    attempts,
    made_class,
    marked,
    student,
    submission,
    wide_class,
    with_reply,
)
from tests.harness.test_html_pages import Page
from tests.harness.test_report_formats import runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A class in which nothing can be relied on, and everything may be seen."""
    folder = tmp_path_factory.mktemp("class")
    exports.write(wide_class(), folder)
    return folder


@pytest.fixture(scope="module")
def pages(folder):
    return {
        path.relative_to(folder).as_posix(): Page(path.read_bytes().decode())
        for path in folder.rglob("*.html")
    }


# --- what is on them ---------------------------------------------------------------------------


def test_every_link_leads_somewhere(pages):
    links = {unquote(link) for link in pages["class.html"].links} - {"#main"}
    assert links == {name for name in pages if name.startswith("feedback/")}
    for name, page in pages.items():
        if name != "class.html":
            assert page.links == ["#main"]


def test_nothing_is_loaded_and_no_script_is_run_but_the_one(folder):
    for path in folder.rglob("*.html"):
        text = path.read_text()
        assert "default-src 'none'; style-src 'unsafe-inline'" in text
        text = text.replace('xmlns="http://www.w3.org/2000/svg"', "")
        text = text.replace(f"<script>{PROGRAM}</script>", "")
        assert not re.search(
            r"https?:|//|<script|<img|<link|@import|url\((?!#)|\bon[a-z]+=\"", text
        )


def test_every_page_says_in_red_that_there_was_no_sandbox(pages, tmp_path):
    for page in pages.values():
        assert "Run without a sandbox" in page.text
    exports.write(made_class(), tmp_path)
    for path in tmp_path.rglob("*.html"):
        assert "Run without a sandbox" not in path.read_text()


@pytest.mark.parametrize(
    ("sandbox", "is_unsafe"),
    [("level 3, bubblewrap", False), ("", False), (UNSAFE, True), (f"level 3; {UNSAFE}", True)],
)
def test_one_run_without_a_sandbox_is_enough(sandbox, is_unsafe):
    assert made_class()._replace(sandbox=sandbox).is_unsafe is is_unsafe


def test_a_student_reads_why_an_answer_is_wrong(pages):
    text = pages["feedback/bob.html"].text
    for words in (
        "2.86 of 5",
        "3 of 7 tests passed.",
        "One mistake would explain all 4 failures",
        "Your program answers as if neutral points were White's.",
        "White gets a stone in: the empty points touch both colors.",
        "BecauseBlack: 1 stone + 0 points of territory = 1.",
        "last move: W A1",
        "Black's territory",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("fay", ["Nothing was graded", "the name leads out of the folder"]),
        ("gus", ["It does not build", "make ended with status 2.", "expected ';' before"]),
        (
            "hal",
            [
                "The engine broke: died",
                "KeyError: (0, 4)",
                "✗ a terminal's transcript",
                "is no transcript.",
            ],
        ),
        ("ivy", ["No answer within 30 s.", "not run"]),
        ("kim", ["There is no mark yet", "not your fault"]),
        ("cat", ["Late", "after the deadline", "by a group of 3", "2 files were handed in"]),
        ("mia", ["nothing was handed in"]),
    ],
)
def test_each_sort_of_student_is_told_what_happened(pages, key, words):
    assert [word for word in words if word not in pages[f"feedback/{key}.html"].text] == []


def test_a_teacher_sees_first_what_needs_a_look(pages):
    text = pages["class.html"].text
    first = text[: text.index("Tests on trial")]
    for words in (
        "Kim Wilde: No mark yet",
        "hidden.gtp: the sandbox's server did not answer",
        "31 of 56",
        "you decide",
        "Jon Snow: area.gtp:12",
        "Ivy Bean, area.gtp: time of a command",
        "strong submissions disagree with it: captures.gtp:9, captures.gtp:12, captures.gtp:15",
    ):
        assert words in first


def test_a_mark_that_is_withheld_is_no_number_anywhere(folder):
    page = (folder / "class.html").read_text()
    (row,) = re.findall(r"<tr><td><a href=\"feedback/kim.html\">.*?</tr>", page)
    numbers = re.findall(r'<td class="num"[^>]*>([^<]*)', row)
    assert numbers[0] == "–"
    assert set(numbers[1:5]) == {""}
    assert ">5<" not in (folder / "feedback/kim.html").read_text()


@settings(max_examples=25, deadline=None)
@given(runs())
def test_pages_are_well_formed_whatever_they_hold(run):
    (file,) = run.files
    name = visible(file.case.path)
    file = file._replace(case=file.case._replace(path="x.gtp"))
    one = submission("one", student("one", file.stderr, 1), faults=file.warnings, name=name)
    graded = marked(one, (Attempt("one", PUBLIC, name, file, near_limit=file.stderr),))
    result = made_class()._replace(graded=(graded,))
    body = "".join(body_of(feedback(graded, result, Views(specification("go-scoring"), PLACE))))
    Page(visible("".join(student_page("Title", file.stderr, body))))
    Page(visible("".join(report_page(result, file.warnings))))


def test_what_an_engine_writes_without_end_is_cut(tmp_path):
    first, *rest = attempts("ada")
    result = with_reply(first.result, 7, "r" * 1_000_000)
    result = result._replace(
        stderr="e" * 1_000_000,
        warnings=("w",) * 10_000,
        failures=(Failure(FailureKind.DIED, "x"),),
    )
    graded = made_class().graded[0]._replace(attempts=(first._replace(result=result), *rest))
    exports.write(made_class()._replace(graded=(graded,)), tmp_path)
    for name in ("feedback/ada.html", "gradescope/ada/results.json"):
        assert (tmp_path / name).stat().st_size < 60_000
    page = (tmp_path / "feedback/ada.html").read_text()
    assert "… 996000 characters …" in page
    assert "and 9980 more" in page


def test_a_class_of_nobody(tmp_path):
    exports.write(made_class()._replace(graded=(), items=()), tmp_path)
    assert "No submission was graded." in Page((tmp_path / "class.html").read_text()).text


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        exports.write(made_class(), tmp_path / "file")


# --- pictures ----------------------------------------------------------------------------------


def test_the_histogram_counts_every_mark_once():
    drawn = plots.histogram([0, 0, 2.5, 4.99, 5, 5], 5)
    counts = [int(n) for n in re.findall(r": (\d+) submissions?</title>", drawn)]
    assert counts == [2, 1, 3]
    assert "Median 3.745 of 5." in drawn
    assert plots.histogram([], 5) == plots.histogram([1], 0) == ""


def test_no_result_hangs_on_its_color_alone():
    heights = [height for height, _ in plots.KINDS.values()]
    assert len(set(heights)) == len(heights)


def test_the_matrix_has_a_line_for_each_run_of_equal_results():
    kinds = (plots.PASSED, plots.PASSED, plots.FAILED, "", plots.LOST)
    drawn = plots.matrix([plots.Row("a.gtp", "a.gtp:1 score", kinds)], len(kinds))
    assert re.findall(r'm-(\w+)" stroke-width="[\d.]+" d="([^"]*)"', drawn) == [
        ("passed", "M160 22h52"), ("failed", "M212 22h26"), ("lost", "M264 22h26")]  # fmt: skip
    assert "<title>a.gtp:1 score</title>" in drawn


def test_the_hostile_reply_is_there_to_be_read(folder):
    page = unescape((folder / "feedback/zzz.html").read_text())
    assert SCRIPT in page.replace("<mark>", "").replace("</mark>", "")
