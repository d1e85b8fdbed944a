"""The table of exports: a new one is one file and one row, and everything else follows."""

import re
from pathlib import Path

import pytest

from harness.cli import main, man
from harness.cli.grade import GRADE
from harness.errors import UsageError
from harness.grading.exports import exporters
from harness.grading.exports.exporters import EXPORTS, Download, Downloaded, Export
from tests.documents import table
from tests.harness.made_class import made_class

ROOT = Path(__file__).parents[2]

CARDS = '''\
"""A card for each submission, and one file that lists them."""


def files(material):
    for one in material.result.graded:
        key = one.submission.key
        yield f"cards/{key}.txt", str(material.shown[key].marks).encode()
    yield "cards.txt", f"{len(material.result.graded)} cards, {len(material.notes)} notes".encode()
'''
# A platform that knows students by their key and takes whole points.
SCHOOL = """\
from harness.errors import UsageError
from harness.grading.exports.sheet import SheetForm


def form(sheet, columns, title, shown):
    who, points = columns or ("who", "points")
    if who not in sheet.header:
        raise UsageError(f"{sheet.name} has no column {who!r}")
    place = sheet.header.index(who)
    return SheetForm(
        sheet=sheet,
        grade=sheet.header.index(points),
        ids=lambda row: [("canvas", sheet.cell(row, place))],
        locked=lambda row: False,
        locked_because="",
        points=(),
        comment=lambda row, mark: None,
    )
"""
ROWS = (
    Export(("cards.txt", "cards/<submission>.txt"), "pupils", "a card", "export_of_cards"),
    Export(
        ("school.csv",),
        "the school",
        "its list",
        "export_for_school",
        Download("school-list", "a list of the school", "school-columns", "A,B", "its columns"),
    ),
)


@pytest.fixture
def more(tmp_path, monkeypatch):
    """Two exports more: a file and a row for each."""
    (tmp_path / "export_of_cards.py").write_text(CARDS)
    (tmp_path / "export_for_school.py").write_text(SCHOOL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(exporters, "EXPORTS", (*EXPORTS, *ROWS))
    return tmp_path


def test_an_export_is_one_file_and_one_row(more):
    result = made_class()
    written = exporters.write(result, more / "out")
    keys = {one.submission.key for one in result.graded}
    assert {path.stem for path in (more / "out" / "cards").iterdir()} == keys
    assert (more / "out" / "cards.txt").read_text() == f"{len(keys)} cards, 0 notes"
    assert more / "out" / "cards.txt" in written
    assert not (more / "out" / "school.csv").exists()
    exporters.write(result._replace(graded=result.graded[:1]), more / "out")
    assert len([*(more / "out" / "cards").iterdir()]) == 1  # what was said before goes


@pytest.mark.parametrize("columns", [("who", "points"), ("pupil", "mark")])
def test_a_sheet_is_filled_in_by_a_row(more, columns):
    result = made_class()
    ids = [dict(s.ids).get("canvas") for one in result.graded for s in one.submission.students]
    known = next(filter(None, ids))
    (more / "list.csv").write_text(f"{','.join(columns)}\n{known},\nnobody,7\n")
    given = Downloaded(more / "list.csv", columns if columns[0] != "who" else ())
    notes = []
    exporters.check({"school-list": given}, "title")
    written = exporters.write(result, more / "out", {"school-list": given}, notes.append)
    lines = (more / "out" / "school.csv").read_text().splitlines()
    assert lines[0] == ",".join(columns)
    assert re.fullmatch(rf"{known},[\d.]+", lines[1])
    assert lines[2] == "nobody,7"
    assert "1 row of list.csv without a submission." in notes
    assert not [*exporters.find_stale(more / "out", written)]
    assert [*exporters.find_stale(more / "out", ())] == [more / "out" / "school.csv"]


def test_a_sheet_is_tried_before_the_grading(more):
    (more / "list.csv").write_text("a,b\n")
    with pytest.raises(UsageError, match=r"list\.csv has no column 'who'"):
        exporters.check({"school-list": Downloaded(more / "list.csv")}, "title")


def test_the_command_line_has_its_options(more, capsys):
    assert main(["grade", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "--school-list FILE a list of the school" in shown
    assert "--school-columns A,B its columns" in shown
    (grade,) = (one for one in man.describe_commands() if one.name == "grade")
    assert "--school-list" in {name for option in grade.options for name in option.names}
    words = ["x", "--assignment", "go-scoring", "--school-columns"]
    assert GRADE.parser().parse_args([*words, "p, q"]).school_columns == ("p", "q")
    assert main(["grade", *words, "p"]) == 2
    assert "found 'p', expected two names with commas between them" in capsys.readouterr().err


def test_the_table_in_the_documents_is_made_of_the_rows():
    rows = [
        f"| {', '.join(f'`{name}`' for name in one.files)} | {one.reader} | {one.what} |"
        for one in EXPORTS
    ]
    assert table("| file | for | what it is |") == rows
