"""The table of exports: what the documents say of it, and sheets of an earlier grading."""

from harness.grading.exports import exporters
from harness.grading.exports.exporters import EXPORTS
from tests.documents import table


def test_the_table_in_the_documents_is_made_of_the_rows():
    rows = [
        f"| {', '.join(f'`{name}`' for name in one.files)} | {one.reader} | {one.what} |"
        for one in EXPORTS
    ]
    assert table("| file | for | what it is |") == rows


def test_sheets_that_were_not_filled_in_anew_are_told(tmp_path):
    (tmp_path / "canvas.csv").write_text("")
    assert [*exporters.find_stale(tmp_path, ())] == [tmp_path / "canvas.csv"]
    assert not [*exporters.find_stale(tmp_path, (tmp_path / "canvas.csv",))]
