"""Rosters in the layouts of Canvas and Moodle."""

import pytest

from harness.errors import UsageError
from harness.service.courses import roster, roster_files
from tests.harness import archives

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
        ("Turing-Alan_1002", "Turing, Alan", {"canvas": "1002"}, ""),
        ("ada", "Lovelace, Ada", {"canvas": "1001", "sis": "u1", "login": "ada"}, ""),
    ]),
    (GROUPS, [
        ("ada", ADA, {"canvas": "1001", "sis": "u1", "login": "ada"}, "Duo"),
        ("alan", "Alan Turing", {"canvas": "1002", "sis": "u2", "login": "alan"}, "Duo"),
        ("emmy", "Emmy Noether", {"canvas": "1003", "sis": "u3", "login": "emmy"}, ""),
    ]),
    (WORKSHEET, [
        ("Ada-Lovelace_501", ADA, {"moodle": "501", "email": "ada@example.org"}, ""),
        ("Alan-Turing_502", "Alan Turing", {"moodle": "502", "email": "alan@example.org"}, ""),
    ]),
    (PARTICIPANTS, [
        ("4711", ADA, {"idnumber": "4711", "email": "ada@example.org"}, ""),
        ("alan-example.org", "Alan Turing", {"email": "alan@example.org"}, ""),
    ]),
    (OWN, [
        ("ada", ADA, {"email": "a@b.c"}, "Duo"),
        ("alan", "Alan", {}, "Duo"),
    ]),
]  # fmt: skip


def list_rows(listed):
    return [(one.student.key, one.student.name, dict(one.student.ids), one.team) for one in listed]


@pytest.mark.parametrize(("text", "expected"), ROSTERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_roster_in_each_layout(text, expected, encoding):
    assert list_rows(roster.read(text.encode(encoding))) == expected


def zip_names(*names):
    return archives.make_zip((name, b"x") for name in names)


ZIPS = [
    (["lovelaceada_1001_4001_a1.tgz", "turingalan_LATE_1002_4002_a1.tgz"],
     [("lovelaceada_1001", "lovelaceada", {"canvas": "1001"}, ""),
      ("turingalan_1002", "turingalan", {"canvas": "1002"}, "")]),
    (["Ada Lovelace_501_assignsubmission_file/a1.tgz"],
     [("Ada-Lovelace_501", ADA, {"moodle": "501"}, "")]),
]  # fmt: skip


@pytest.mark.parametrize(("names", "expected"), ZIPS)
def test_a_roster_of_what_was_submitted_there(names, expected):
    assert list_rows(roster.read(zip_names(*names))) == expected


NONE = [
    (b"", "found nothing, expected a column 'student'"),
    (b"who,name\na,b\n", "found who, name, expected a column 'student'"),
    (b"student\n", "there are no students in it"),
    (b"Student,ID,Section\nPoints Possible,,\n", "there are no students in it"),
    (b"student\n\xff\n", "is not UTF-8 text"),
    (b"PK\x03\x04 no zip", "it is cut off: a zip archive has a directory at its end"),
]


@pytest.mark.parametrize(("data", "said"), NONE)
def test_what_is_no_roster(data, said):
    with pytest.raises(UsageError, match=said) as refused:
        roster.read(data)
    assert "/tmp" not in str(refused.value)


def test_layouts_do_not_hide_each_other():
    """The first layout whose columns are there is taken: none is a part of a later one."""
    known = [set(one.known_by) for one in roster_files._LAYOUTS]
    for place, one in enumerate(known):
        assert not any(one <= later for later in known[place + 1 :])
