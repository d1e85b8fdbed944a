"""The pages of a grading: well-formed, self-contained, useful; the same in a real browser."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote, urljoin

import pytest
from hypothesis import given, settings

from harness.core.errors import UsageError
from harness.core.records import Failure, FailureKind
from harness.core.text import escape_controls
from harness.grading.exports import exporters as exports
from harness.grading.exports.class_page import page
from harness.grading.exports.class_page.page import class_page
from harness.grading.exports.class_page.parts import CLASS
from harness.grading.exports.feedback import body_of, student_page
from harness.grading.exports.showing import feedback
from harness.grading.records import PUBLIC, Attempt
from harness.report.html.page_names import SCRIPT as PROGRAM
from harness.report.views import Views
from harness.specifications import specification
from tests.harness.made_class import (
    PLACE,
    SCRIPT,
    UNSAFE,
    attempts,
    made_class,
    mark_by_counting,
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
    others = {"marks.csv", "class.json"}
    for name, shown in pages.items():
        for link in shown.links:
            path, _, anchor = urljoin(name, link).partition("#")
            there = pages.get(unquote(path))
            assert there or path in others, (name, link)
            assert not anchor or anchor in ["main", *there.ids], (name, link)


def test_every_page_is_linked_from_the_class_and_students_pages_lead_nowhere(pages):
    links = {unquote(link.partition("#")[0]) for link in pages["class.html"].links}
    assert {name for name in pages if name != "class.html"} <= links
    for name, shown in pages.items():
        if name.startswith("feedback/"):
            assert shown.links == ["#main"]


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
    for shown in pages.values():
        assert "Run without a sandbox" in shown.text
    exports.write(made_class(), tmp_path)
    for path in tmp_path.rglob("*.html"):
        assert "Run without a sandbox" not in path.read_text()


@pytest.mark.parametrize(
    ("sandbox", "is_unsafe"),
    [("level 3, bubblewrap", False), ("", False), (UNSAFE, True), (f"level 3; {UNSAFE}", True)],
)
def test_one_run_without_a_sandbox_is_enough(sandbox, is_unsafe):
    assert made_class()._replace(sandbox=sandbox).is_unsafe is is_unsafe


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("fay", ["Nothing was graded", "the name leads out of the folder"]),
        ("ivy", ["No answer within 30 s.", "not run"]),
        ("mia", ["nothing was handed in"]),
    ],
)
def test_each_sort_of_student_is_told_what_happened(pages, key, words):
    assert [word for word in words if word not in pages[f"feedback/{key}.html"].text] == []


def test_a_mark_that_is_withheld_is_no_number_anywhere(folder):
    page = (folder / "class.html").read_text()
    (row,) = re.findall(r'<tr id="s\d+"[^>]*><th[^>]*><a href="evidence/kim.html">.*?</tr>', page)
    assert "<b>–</b></td>" in row
    numbers = re.findall(r'<td class="num"[^>]*>([^<]*)</td>', row)
    assert numbers == ["", "", "", ""]
    assert re.findall(r'data-k="([^"]*)"', row)[0] == "-1"
    assert "mark withheld" in Page((folder / "evidence/kim.html").read_text()).text
    assert ">5<" not in (folder / "feedback/kim.html").read_text()


@settings(max_examples=15, deadline=None)
@given(runs())
def test_pages_are_well_formed_whatever_they_hold(run):
    (file,) = run.files
    name = escape_controls(file.case.path)
    file = file._replace(case=file.case._replace(path="x.gtp"))
    one = submission("one", student("one", file.stderr, 1), faults=file.warnings, name=name)
    graded = mark_by_counting(one, (Attempt("one", PUBLIC, name, file, near_limit=file.stderr),))
    result = made_class()._replace(graded=(graded,))
    body = body_of(feedback(graded, result, Views(specification("go-scoring"), PLACE)))
    Page(escape_controls("".join(student_page("Title", file.stderr, body))))
    Page(escape_controls("".join(class_page(result, file.warnings, {}))))


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
    assert page.counts([0, 0, 0.49, 0.5, 2.5, 4.99, 5, 5], 5) == [3, 1, 0, 0, 0, 1, 0, 0, 0, 3]


def test_no_cell_of_the_matrix_hangs_on_its_color_alone():
    signs = [re.search(rf'\.ts {kind} a:before[^{{]*{{content:"([^"]+)"', CLASS)
             for kind in ("td", f".{page.LOST}", f".{page.UNSURE}")]  # fmt: skip
    assert len({sign[1] for sign in signs}) == 3


def test_the_hostile_reply_is_there_to_be_read(folder):
    page = unescape((folder / "feedback/zzz.html").read_text())
    assert SCRIPT in page.replace("<mark>", "").replace("</mark>", "")
