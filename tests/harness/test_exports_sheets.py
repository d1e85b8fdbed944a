"""Sheets: what is filled in is read back by a strict reader, and nothing else is touched."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import UsageError
from harness.grading.exports import exporters as exports
from harness.grading.exports import moodle
from harness.grading.exports.exporters import Downloaded
from harness.grading.exports.sheet import Sheet, defuse, table
from harness.grading.records import Student, decimal
from tests.harness.made_class import CANVAS, FORMULA, MOODLE, made_class


def read(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "gradebook.csv").write_bytes(CANVAS.encode())
    (tmp_path / "worksheet.csv").write_bytes(MOODLE.encode())
    return tmp_path


def write_exports(folder, result=None, **sheets):
    """Write the sheets, or all but them; return the notes, and the files by their names."""
    notes, out = [], folder / "out"
    with pytest.MonkeyPatch.context() as patch:
        if sheets:
            patch.setattr(exports, "EXPORTS", [one for one in exports.EXPORTS if one.download])
        exports.write(
            result or made_class(), out, sheets, lambda _, filled: notes.extend(filled.notes)
        )
    files = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    return notes, files


@pytest.fixture(scope="module")
def files_without_sheets(tmp_path_factory):
    return write_exports(tmp_path_factory.mktemp("whole"))[1]


def total(key: str) -> str:
    (one,) = [one for one in made_class().graded if one.submission.key == key]
    return decimal(one.marks.total)


# --- sheets as such ----------------------------------------------------------------------------

inside = st.text(st.sampled_from("ab =+,;\t'\"\r\nü"), max_size=6)
cells = st.text(st.sampled_from("ab =+'ü"), max_size=6) | inside.map(
    lambda text: '"' + text.replace('"', '""') + '"'
)
rows = st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=4)


def sheet_of(text: str, tmp_path_factory) -> Sheet:
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    path.write_bytes(text.encode())
    return Sheet(path)


@given(rows, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_a_sheet_is_read_as_csv_reads_it_and_written_as_it_was(
    tmp_path_factory, raw, end, bom, ends
):
    header = [f"c{i}" for i in range(5)]
    text = end.join(",".join(row) for row in [header, *raw]) + (end if ends else "")
    sheet = sheet_of("\ufeff" * bom + text, tmp_path_factory)
    assert sheet.data() == ("\ufeff" * bom + text).encode()
    assert sheet.header == header
    assert len(sheet) == len(read(text))  # no row behind the last line end
    for place, row in enumerate(read(text)):
        assert [sheet.cell(place, column) for column in range(len(row))] == row


@given(rows, st.data())
def test_only_the_cell_that_is_written_changes(tmp_path_factory, raw, data):
    text = "\n".join(",".join(row) for row in [["x", "y", "z", "u"], *raw]) + "\n"
    sheet = sheet_of(text, tmp_path_factory)
    row, column = data.draw(st.integers(1, len(raw))), data.draw(st.integers(0, 3))
    value = data.draw(inside)
    sheet.write(row, column, value)
    wanted = read(text)
    wanted[row] += [""] * (column + 1 - len(wanted[row]))
    wanted[row][column] = value
    if sheet.cell(row, column) != "" or value:  # an empty cell beyond the end stays away
        found = read(sheet.data().decode())
        found[row] += [""] * (len(wanted[row]) - len(found[row]))
        assert found == wanted
    for other, cells_ in enumerate(raw, 1):
        for place, cell in enumerate(cells_):
            if (other, place) != (row, column):
                assert sheet._rows[other][place][0] == cell


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found(tmp_path, separator):
    (tmp_path / "s.csv").write_text(f'a{separator}"b,;"{separator}c\n1{separator}2{separator}3')
    sheet = Sheet(tmp_path / "s.csv")
    assert (sheet.separator, sheet.cell(1, 2)) == (separator, "3")
    (tmp_path / "s.csv").write_text('ID,"Part (a; b; c; d)",Grade\n1,2,3')
    assert Sheet(tmp_path / "s.csv").separator == ","


def test_other_encodings_stay_as_they_are(tmp_path):
    data = "Näme,ID\nÄda,1\n".encode("latin-1")
    (tmp_path / "s.csv").write_bytes(data)
    sheet = Sheet(tmp_path / "s.csv")
    sheet.write(1, 1, "2")
    assert sheet.data() == data.replace(b"1", b"2")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\xff\xfeS\0t\0", "save it as CSV"),
        ("\ufeff\u5b66\u751f".encode("utf-16-le"), "save it as CSV"),  # without a zero byte
        (b"PK\3\4\0\0", "save it as CSV"),  # a workbook
        (b'a,b\n1,"x\n', "s.csv:2: a quoted cell has no end"),
    ],
)
def test_what_is_no_sheet(tmp_path, data, message):
    (tmp_path / "s.csv").write_bytes(data)
    with pytest.raises(UsageError, match=message):
        Sheet(tmp_path / "s.csv")
    with pytest.raises(UsageError, match="cannot read"):
        Sheet(tmp_path / "none.csv")


@pytest.mark.parametrize("text", ["", "4.5", "-3", "+2,5", "O'Neill", "a=b", "Ünal", "1/2"])
def test_what_no_program_takes_for_a_formula_stays(text):
    assert defuse(text) == text


@pytest.mark.parametrize(
    "text",
    [FORMULA, "+1+1", "-2+3", "@SUM(1)", '\t=1,"2"', "\r=1", " =1", '"=1', "'=1", "＝1", "\n=1"],
)
def test_formulas_are_defused(text):
    (row,) = read(table([[text, "4.5"]]))
    assert row[0].startswith("'")
    assert row[1] == "4.5"


@given(st.text(st.characters(exclude_categories=())))
def test_whatever_a_text_is_a_program_that_drops_blanks_sees_no_formula(text):
    shown = defuse(text)
    assert shown.startswith("'") or not shown.strip(" '\"\u200b\ufeff\xa0").startswith(
        ("=", "@", "＝")
    )
    assert not {"\r", "\n", "\t"} & set(shown)


# --- Canvas ------------------------------------------------------------------------------------


def test_a_gradebook_is_filled_in(folder):
    notes, files = write_exports(folder, canvas=Downloaded(folder / "gradebook.csv"))
    before, after = read(CANVAS), read(files["canvas.csv"].decode())
    grades = {row[3]: row[6] for row in after[3:]}
    assert grades["ada"] == total("ada") == "5"
    assert grades["bob"] == total("bob")
    assert grades["cat"] == grades["eve"] == total("group-7")
    assert grades["fay"] == grades["gus"] == "0"
    assert grades["HAL"] == total("hal")  # by the login, for the row has no ID
    assert grades["dan"] == "EX"
    assert grades["kim"] == grades["nobody"] == grades[""] == ""
    for old, new in zip(before, after, strict=True):
        assert old[:6] + old[7:] == new[:6] + new[7:]
    assert "without a row in gradebook.csv: Ivy Bean, Jon Snow" in notes[0]
    assert any("withheld: Kim Wilde" in note for note in notes)
    assert any("EX (excused)" in note and "Dan O'Neill" in note for note in notes)
    assert any(note.startswith("2 rows of gradebook.csv without") for note in notes)
    # All other cells stay byte for byte.
    after = files["canvas.csv"].decode().split("\r\n")
    for old, new in zip(CANVAS.split("\r\n"), after, strict=True):
        if old != new:
            head, tail = old.split(",", 1)[0], old.rsplit(",", 1)[1]
            assert new.startswith(head)
            assert new.endswith(f",{tail}")
            assert new.count('"') == old.count('"')
    assert after[:3] == CANVAS.split("\r\n")[:3]


@pytest.mark.parametrize("column", ["go scoring", "77"])
def test_the_column_is_found(folder, column):
    _, files = write_exports(folder, canvas=Downloaded(folder / "gradebook.csv", (column,)))
    assert b"4001,s1,ada" in files["canvas.csv"]
    assert read(files["canvas.csv"].decode())[3][6] == "5"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("Student,ID,Section,Other (1)", "no column 'Go scoring'; it has 'Other .1.'"),
        (
            "Student,ID,Section,Go scoring (1),Go scoring (2)",
            r"several columns 'Go scoring': 'Go scoring \(1\)', 'Go scoring \(2\)'",
        ),
        ("Name,Number,Go scoring", "is not a gradebook from Canvas: found the columns 'Name'"),
    ],
)
def test_a_gradebook_without_the_column(folder, header, message):
    (folder / "gradebook.csv").write_text(f"{header}\nAda,4001,A,,\n")
    with pytest.raises(UsageError, match=message):
        exports.check({"canvas": Downloaded(folder / "gradebook.csv")}, "Go scoring")


def test_numbers_with_a_comma_and_other_points(folder):
    text = "Student;ID;Section;Go scoring (7)\n    Points Possible;;;10,00\nBob;4002;A;\n"
    (folder / "gradebook.csv").write_text(text)
    notes, files = write_exports(folder, canvas=Downloaded(folder / "gradebook.csv"))
    assert files["canvas.csv"].decode() == text.replace("A;\n", "A;2,86\n")
    assert any("says that 10,00 points can be reached, the assignment 5" in n for n in notes)


def test_a_number_that_two_submissions_claim_is_nobodys(folder):
    ada, bob, *rest = made_class().graded
    who = bob.submission.students[0]._replace(ids=(("canvas", "4001"),))
    bob = bob._replace(submission=bob.submission._replace(students=(who,)))
    result = made_class()._replace(graded=(ada, bob, *rest))
    notes, files = write_exports(folder, result, canvas=Downloaded(folder / "gradebook.csv"))
    rows_ = read(files["canvas.csv"].decode())
    assert [row[6] for row in rows_ if row[3] in ("ada", "bob")] == ["", "3"]
    assert any("two submissions have their ID: Ada Lovelace, Bob Ünal" in note for note in notes)


def test_a_row_that_contradicts_itself_is_not_filled_in(folder):
    text = CANVAS.replace("4001,s1,ada", "4001,s1,someone")
    (folder / "gradebook.csv").write_text(text, newline="")
    notes, files = write_exports(folder, canvas=Downloaded(folder / "gradebook.csv"))
    assert read(files["canvas.csv"].decode())[3] == read(text)[3]
    assert any("another ID differs: Ada Lovelace" in note for note in notes)


def test_the_same_points_stay_as_they_are_written(folder):
    text = CANVAS.replace('ada,"A, B",9.00,,', 'ada,"A, B",9.00,5.00,')
    (folder / "gradebook.csv").write_text(text, newline="")
    _, files = write_exports(folder, canvas=Downloaded(folder / "gradebook.csv"))
    assert b"9.00,5.00,90" in files["canvas.csv"]


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "9" * 5000, "1/0"])
def test_a_number_of_any_size_is_written_over_without_delay(folder, text):
    text = CANVAS.replace('ada,"A, B",9.00,,', f'ada,"A, B",9.00,{text},')
    (folder / "gradebook.csv").write_text(text, newline="")
    _, files = write_exports(folder, canvas=Downloaded(folder / "gradebook.csv"))
    assert b"9.00,5,90" in files["canvas.csv"]


# --- Moodle ------------------------------------------------------------------------------------


def test_a_worksheet_is_filled_in(folder):
    notes, files = write_exports(folder, moodle=Downloaded(folder / "worksheet.csv"))
    before, after = read(MOODLE), read(files["moodle.csv"].decode())
    grades = {row[0]: row[4] for row in after}
    assert grades["Participant 101"] == "5"
    assert grades["Participant 102"] == total("bob").replace(".", ",") == "2,86"
    assert grades["Participant 103"] == grades["Participant 111"] == ""
    for old, new in zip(before, after, strict=True):
        assert old[:4] + old[5:9] == new[:4] + new[5:9]
        if old[4] == new[4]:
            assert old[9] == new[9] or new[0] == "Participant 101"
    comment = after[2][9]
    assert comment.startswith("<p>2.86 of 5</p><ul><li>log and readme 1 of 1: All files")
    assert any("cannot be changed: Cat Stevens" in note for note in notes)
    assert any("withheld: Kim Wilde" in note for note in notes)
    assert FORMULA in [row[1] for row in after]  # a cell that was there stays as it was
    for row in after[1:]:  # comments are harmless
        assert not row[9] or row[9].startswith("<p>") or row[9] == 'old, "quoted"\nword'
        assert "<script" not in row[9]
        assert "<img" not in row[9]


def test_a_worksheet_without_comments(folder):
    lines = ["Identifier,Grade", "Teilnehmer/in 101,", "Participant 102,"]
    (folder / "worksheet.csv").write_text("\n".join(lines))
    notes, files = write_exports(folder, moodle=Downloaded(folder / "worksheet.csv"))
    assert files["moodle.csv"].decode().split("\n") == [
        "Identifier,Grade", "Teilnehmer/in 101,5", "Participant 102,2.86"]  # fmt: skip
    assert "worksheet.csv has no column 'Feedback comments': comments are left out." in notes


def test_columns_of_another_language(folder):
    (folder / "worksheet.csv").write_text("Kennung,Bewertung\nTeilnehmer/in 101,\n")
    with pytest.raises(
        UsageError, match="found the columns 'Kennung', 'Bewertung'; expected 'Ide"
    ):
        write_exports(folder, moodle=Downloaded(folder / "worksheet.csv"))
    names = ("Kennung", "Bewertung", "Kommentare")
    _, files = write_exports(folder, moodle=Downloaded(folder / "worksheet.csv", names))
    assert b"Teilnehmer/in 101,5" in files["moodle.csv"]


def read_as_moodle(name: str) -> tuple[str, str, str, str] | None:
    """What Moodle makes of a file in a feedback zip: participant, plugin, its kind, file name.

    As ``is_valid_filename_for_import`` of its assignfeedback_file.
    """
    parts = name.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdecimal():
            return info[1], info[2], info[3], "/".join([*info[4:], *parts]).lstrip("/")
    return None


@pytest.mark.parametrize("name", ["moodle-feedback-folders.zip", "moodle-feedback-flat.zip"])
def test_moodle_finds_the_student_of_each_feedback_file(files_without_sheets, name):
    files = files_without_sheets
    plugin = "assignsubmission" if "folders" in name else "assignfeedback"
    with zipfile.ZipFile(io.BytesIO(files[name])) as archive:
        assert archive.testzip() is None
        found = [read_as_moodle(member) for member in archive.namelist()]
        numbers = {number for number, *_ in found}
        pages = {m.split("_")[0]: archive.read(m) for m in archive.namelist()}
    assert {tuple(rest) for _, *rest in found} == {(plugin, "file", "feedback.html")}
    assert len(found) == len(numbers) == 14
    assert pages["Bob Ünal"] == files["feedback/bob.html"]


@pytest.mark.parametrize(
    "name",
    [
        *("A_B", "../../etc", ".hidden", "~me", "a/b\\c", "", "x" * 300, "1_2_3_4_5", "\x00\n"),
        "\udcff",
    ],
)
@pytest.mark.parametrize("layout", moodle.LAYOUTS.values())
def test_whatever_the_name_moodle_finds_the_number(name, layout):
    data = moodle.zip_pages(layout, [(Student("k", name, (("moodle", "123"),)), b"page")])
    (member,) = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert read_as_moodle(member)[0] == "123"
    assert read_as_moodle(member)[3] == "feedback.html"
    assert ".." not in member.split("/")


# --- marks.csv ---------------------------------------------------------------------------------


def test_the_table_of_marks(files_without_sheets):
    header, *found = read(files_without_sheets["marks.csv"].decode())
    assert header == [
        *("student", "key", "canvas", "login", "moodle", "submission", "log and readme"),
        *("public tests", "private tests", "late", "total", "of", "note"),
    ]
    marks = {row[1]: dict(zip(header, row, strict=True)) for row in found}
    assert len(marks) == 14  # each member of the group has a row
    assert marks["cat"]["total"] == marks["eve"]["total"] == total("group-7")
    assert marks["cat"]["late"] != "0"
    kim = marks["kim"]
    assert [kim[name] for name in ("public tests", "late", "total")] == ["", "", ""]
    assert kim["note"].startswith("withheld: ")
    assert marks["zzz"]["student"] == f"'{FORMULA}"
    assert (marks["zzz"]["login"], marks["zzz"]["canvas"]) == ("'@zzz", "-4014")


ROW = "Participant {},{},{},\n"
BY_MAIL = [  # the rows of a worksheet, and the marks in it; of Ada (101) and Bob (102)
    ([(901, "Ada", "ADA@x.org"), (902, "Bob", "bob@x.org")], ["5", "2.86"]),
    ([(901, "Ada", "ada@x.org"), (902, "Bob", "ada@x.org")], ["", ""]),  # of two rows
    ([(901, "Ada", "both@x.org"), (902, "Bob", "")], ["", ""]),  # of two students
    ([(901, "Eve", "ada@x.org"), (101, "Ada", "eve@x.org")], ["", "5"]),  # the number is first
]


@pytest.mark.parametrize(("people", "expected"), BY_MAIL)
def test_a_mail_address_finds_a_row_that_no_number_finds(folder, people, expected):
    mails = {"ada": "ada@x.org", "bob": "bob@x.org"}
    if people[0][2] == "both@x.org":
        mails = dict.fromkeys(mails, "both@x.org")
    graded = [
        one._replace(
            submission=one.submission._replace(
                students=tuple(
                    who._replace(ids=(*who.ids, ("email", mails.get(who.key, ""))))
                    for who in one.submission.students
                )
            )
        )
        for one in made_class().graded
    ]
    text = "Identifier,Full name,Email address,Grade\n"
    (folder / "worksheet.csv").write_text(text + "".join(ROW.format(*one) for one in people))
    told = {}
    exports.write(
        made_class()._replace(graded=tuple(graded[:2])),
        folder / "out",
        {"moodle": Downloaded(folder / "worksheet.csv")},
        on_filled=told.__setitem__,
    )
    rows_ = read((folder / "out" / "moodle.csv").read_text())[1:]
    assert [row[3] for row in rows_] == expected
    left = tuple(who for (_, who, _), mark in zip(people, expected, strict=True) if not mark)
    assert (told["moodle"].marked, told["moodle"].left) == (2 - len(left), left)
