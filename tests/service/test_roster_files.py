"""Rosters in the layouts of Canvas and Moodle."""

import pytest

from harness.core.errors import UsageError
from tests.harness import archives
from tests.service.serving import read_roster

# As Canvas exports a gradebook: two rows that are nobody's, and a test student.
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Assignment 1 (99),Final Score
,,,,,Manual Posting,
    Points Possible,,,,,7,(read only)
"Lovelace, Ada",1001,u1,ada,"A1, A2",,0
"Turing, Alan",1002,,,A1,6,0
"Student, Test",1099,,0f3a,A1,,0
"""
GROUPS = """\
name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id
Ada Lovelace,1001,u1,ada,A1,Duo,7,
Alan Turing,1002,u2,alan,A1,Duo,7,
Emmy Noether,1003,u3,emmy,A1,,,
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Notes
Participant 501,Ada Lovelace,ada@example.org,No submission,,7.00,Yes,
Participant 502,Alan Turing,alan@example.org,No submission,,7.00,Yes,
"""
PARTICIPANTS = """\
"First name","Last name","ID number","Email address",Groups
Ada,Lovelace,4711,ada@example.org,
Alan,Turing,,alan@example.org,
"""
OWN = "student;name;group;email\nada;Ada Lovelace;Duo;a@b.c\nalan;Alan;Duo;\n"

ADA = "Ada Lovelace"
ROSTERS = [
    (GRADEBOOK, [
        ("Turing-Alan_1002", "Turing, Alan", {"canvas": "1002"}, None),
        ("ada", "Lovelace, Ada", {"canvas": "1001", "sis": "u1", "login": "ada"}, None),
    ]),
    (GROUPS, [
        ("ada", ADA, {"canvas": "1001", "sis": "u1", "login": "ada"}, "Duo"),
        ("alan", "Alan Turing", {"canvas": "1002", "sis": "u2", "login": "alan"}, "Duo"),
        ("emmy", "Emmy Noether", {"canvas": "1003", "sis": "u3", "login": "emmy"}, ""),
    ]),
    (WORKSHEET, [
        ("Ada-Lovelace_501", ADA, {"moodle": "501", "email": "ada@example.org"}, None),
        ("Alan-Turing_502", "Alan Turing", {"moodle": "502", "email": "alan@example.org"}, None),
    ]),
    (PARTICIPANTS, [
        ("4711", ADA, {"idnumber": "4711", "email": "ada@example.org"}, ""),
        ("alan-example.org", "Alan Turing", {"email": "alan@example.org"}, ""),
    ]),
    (PARTICIPANTS.replace("Last name", "Surname").replace(",Groups", ',Roles,Groups')
     .replace("org,", "org,Student,") + "Tom,T,,tom@example.org,Non-editing teacher,No groups\n"
     "Eve,E,,eve@example.org,\"Teacher, Student\",No groups\n", [
        ("4711", ADA, {"idnumber": "4711", "email": "ada@example.org"}, ""),
        ("alan-example.org", "Alan Turing", {"email": "alan@example.org"}, ""),
        ("eve-example.org", "Eve E", {"email": "eve@example.org"}, ""),
    ]),
    ('Student;ID;SIS Login ID;Section;"A, b, c, d, e (1)"\nAda Lovelace;1;ada;S;\n', [
        ("ada", ADA, {"canvas": "1", "login": "ada"}, None),
    ]),
    ("\r\n;;\r\nstudent;name\r\nada;Ada Lovelace\r\n", [("ada", ADA, {}, None)]),
    ("sep=;\r\nstudent;name\r\nada;Ada Lovelace\r\n", [("ada", ADA, {}, None)]),
    ("\u200bstudent,name\n\xa0\u200bada\u200e ,\u2068Ada Lovelace\u2069\n", [
        ("ada", ADA, {}, None),
    ]),
    (OWN, [
        ("ada", ADA, {"email": "a@b.c"}, "Duo"),
        ("alan", "Alan", {}, "Duo"),
    ]),
]  # fmt: skip


def list_rows(found):
    return [
        (one.student.key, one.student.name, dict(one.student.ids), one.team)
        for one in found.students
    ]


@pytest.mark.parametrize(("text", "expected"), ROSTERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_roster_in_each_layout(text, expected, encoding):
    assert list_rows(read_roster(text.encode(encoding))) == expected


def zip_names(*names):
    return archives.make_zip((name, b"x") for name in names)


ZIPS = [
    (["lovelaceada_1001_4001_a1.tgz", "turingalan_LATE_1002_4002_a1.tgz"],
     [("lovelaceada_1001", "lovelaceada", {"canvas": "1001"}, None),
      ("turingalan_1002", "turingalan", {"canvas": "1002"}, None)]),
    (["Ada Lovelace_501_assignsubmission_file/a1.tgz"],
     [("Ada-Lovelace_501", ADA, {"moodle": "501"}, None)]),
]  # fmt: skip


@pytest.mark.parametrize(("names", "expected"), ZIPS)
def test_a_roster_of_what_was_submitted_there(names, expected):
    assert list_rows(read_roster(zip_names(*names))) == expected


NONE = [
    (b"", "found nothing, expected a column 'student'"),
    (b"who,name\na,b\n", "found who, name, expected a column 'student'"),
    (b"student\n", "there are no students in it"),
    (b"Student,ID,Section\nPoints Possible,,\n", "there are no students in it"),
    (b"student\n\xff\n", "is not UTF-8 text"),
    (b"student,name\n,Ada\n", "roster.csv:2: student: found '', expected a student"),
    (b"student,name\nada,Ada,3\n", "roster.csv:2: found 3 fields"),
    (b"PK\x03\x04 no zip", "it is cut off: a zip archive has a directory at its end"),
]


@pytest.mark.parametrize(("data", "said"), NONE)
def test_what_is_no_roster(data, said):
    with pytest.raises(UsageError, match=said) as refused:
        read_roster(data)
    assert "/tmp" not in str(refused.value)


GROUPED = [  # the group of ada, who is alone; None: the file tells of no groups
    ("student\nada\n", None),
    ("student,group\nada,\n", ""),
    ("student,name,group\nada\nben,Ben,duo\n", ""),  # a line may end early
    ("student,name,group\nben,Ben,duo\nada\n", ""),
    (GROUPS.replace(",Duo,7", ",,"), ""),
    (PARTICIPANTS.replace("4711", "ada"), ""),
    (PARTICIPANTS.replace("4711", "ada").replace(",Groups", "").replace("org,", "org"), None),
]


@pytest.mark.parametrize(("text", "group"), GROUPED)
def test_a_file_without_groups_is_told_from_a_student_without_one(text, group):
    teams = {one.student.key: one.team for one in read_roster(text.encode()).students}
    assert teams["ada"] == group


NAMED = [
    ("student\nada\n", False),
    ("student,name\nada,\n", False),
    ("student,name\nada,ada\n", True),
    ("student,name\nada,Ada\n", True),
    (GROUPS, True),
]


@pytest.mark.parametrize(("text", "is_named"), NAMED)
def test_a_key_that_stands_for_a_name_is_no_name(text, is_named):
    (ada,) = (o for o in read_roster(text.encode()).students if o.student.key == "ada")
    assert ada.is_named is is_named


TWICE = "student,name,group,email\nada,Ada,duo,a@b.c\n"
CONTRADICTING = [
    (TWICE + "ben,Ben,,\nada,Ada,solo,a@b.c\n",
     "Week 1.csv:4: group: found 'solo' for ada, expected 'duo' as in line 2; keep one line"),
    (TWICE + "ada,Ada L,duo,a@b.c\n", "Week 1.csv:3: name: found 'Ada L' for ada, expected 'Ada'"),
    (TWICE + "ada,Ada,duo,\n", "Week 1.csv:3: email: found '' for ada, expected 'a@b.c'"),
    (GROUPS + "Ada Lovelace,1009,u1,ada,A1,Duo,7,\n",
     "Week 1.csv:5: canvas: found '1009' for ada, expected '1001' as in line 2"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), CONTRADICTING)
def test_two_lines_of_a_student_that_differ_are_refused(text, said):
    with pytest.raises(UsageError) as refused:
        read_roster(text.encode(), "C:\\My Games/Week 1.csv")
    assert str(refused.value).startswith(said)


def test_two_lines_that_say_the_same_are_told():
    found = read_roster((TWICE + "ben,Ben,,\n" + TWICE.splitlines()[1]).encode(), "a.csv")
    assert [one.student.key for one in found.students] == ["ada", "ben"]
    assert found.remarks == ("a.csv:4: ada is also in line 2; both say the same.",)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("", "roster.csv"),
        ("Class 5.csv", "Class 5.csv"),
        ("../../etc/class.csv", "class.csv"),
        ("a\nb\x1b[1m.csv", "a ⏎ b\\x1b[1m.csv"),
        (" /", "roster.csv"),
    ],
)
def test_errors_have_the_name_of_the_file(name, shown):
    with pytest.raises(UsageError) as refused:
        read_roster(b"who\nada\n", name)
    assert str(refused.value) == f"{shown}:1: found who, expected a column 'student'"


def test_participants_who_are_not_students_are_told():
    head = "First name,Surname,Email address,Roles\n"
    found = read_roster(f"{head}A,B,a@b.c,Student\nTom,T,t@b.c,Teacher\n".encode(), "p.csv")
    assert found.remarks == (
        "p.csv:3: Tom T is not added: found 'Teacher' in the column roles, expected Student.",
    )
    with pytest.raises(UsageError, match=r"^p.csv:2: Tom T is not added.*There are no students"):
        read_roster(f"{head}Tom,T,t@b.c,Teacher\n".encode(), "p.csv")


LONG = "a" * 201
WRONG_LINES = [
    ("student,email\nada,a@b.c\nben,not a mail\n",
     "a.csv:3: email: found 'not a mail', expected a mail address, such as ada@example.org"),
    ('student,email\nada,"a@b.c\r\nBcc: x@y.z"\n',
     "a.csv:3: email: found 'a@b.c\\r\\nBcc: x@y.z', expected a mail address"),
    (WORKSHEET.replace("alan@example.org", "alan"), "a.csv:3: email address: found 'alan', exp"),
    (PARTICIPANTS.replace("alan@", "alan@@"), "a.csv:3: email address: found 'alan@@example.org'"),
    (PARTICIPANTS + 'Eve,E,,e@b.c,"G1, G2"\n',
     "a.csv:4: groups: found 'G1, G2', expected one group, or none"),
    (f"student,name\nada,{LONG}\n",
     "a.csv:2: name: found 201 characters, expected 200 at most"),
    (f"student\nada\n{LONG}\n", "a.csv:3: student: found 201 characters"),
    (f"student,group\nada,{LONG}\n", "a.csv:2: group: found 201 characters"),
    (PARTICIPANTS.replace("Alan", LONG), "a.csv:3: name: found 208 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG_LINES)
def test_what_a_line_may_not_say(text, said):
    with pytest.raises(UsageError) as refused:
        read_roster(text.encode(), "a.csv")
    assert str(refused.value).startswith(said)
    read_roster(text.replace(LONG, LONG[8:]).encode()) if LONG in text else None


@pytest.mark.parametrize("name", ["[Content_Types].xml", "META-INF/manifest.xml"])
def test_a_workbook_of_a_spreadsheet_is_no_roster(name):
    """It is a zip; that of a platform has the submissions of each student in it."""
    data = archives.make_zip([(name, "<x/>"), ("xl/workbook.xml", "<x/>")])
    with pytest.raises(UsageError, match=r"^list\.xlsx is a workbook .*: save it as CSV UTF-8"):
        read_roster(data, "list.xlsx")
