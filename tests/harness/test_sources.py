"""Made downloads with odd names are read back completely."""

import datetime
import os
import shutil
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.errors import ArchiveError, UsageError
from harness.core.text import one_line
from harness.grading.ingest import sources
from harness.grading.ingest.csv_source import COLUMNS
from harness.grading.ingest.sources import read, version
from harness.grading.ingest.students import entries, fold_name, safe
from harness.grading.records import StudentSubmissions
from tests import documents
from tests.harness.downloads import (
    canvas_name,
    moodle_flat,
    moodle_folder,
    write,
    zip_files,
)

# (sortable name, full name, id): two of one name, umlauts, signs, a number, another script
CLASS = [
    ("Lovelace, Ada", "Ada Lovelace", 4711),
    ("Lovelace, Ada", "Ada Lovelace", 4712),
    ("Müßig-Özdemir, Zoë", "Zoë Müßig-Özdemir", 31),
    ("O'Neil, Shaun", "Shaun O'Neil", 32),
    ("some_999_, _1234_guy", "_1234_guy some_999_", 33),
    ("under_score, Jo_Ann", "Jo_Ann under_score", 34),
    ("late", "late", 35),
    ("007", "007", 36),
    ("山田, 太郎", "山田 太郎", 37),
    ("!!!", "!!!", 38),
    ("निशा", "निशा", 39),  # has marks that are no letters
    (unicodedata.normalize("NFD", "Café, Ñandú"), unicodedata.normalize("NFD", "Ñandú Café"), 40),
    ("van der Berg, Jan Willem", "Jan Willem van der Berg", 41),
]
FILES = ["a1.tgz", "a1-1.tgz", "my work (2).tar.gz", "12_34_a1.tgz", "ä_LATE_5_6_b.tgz"]


def content(entry: StudentSubmissions) -> list[bytes]:
    return [handed.path.read_bytes() for handed in entry.files]


def by_id(found: tuple[StudentSubmissions, ...]) -> dict[str, StudentSubmissions]:
    return {value: entry for entry in found for one in entry.students for _, value in one.ids}


def check_keys(found: tuple[StudentSubmissions, ...]) -> None:
    keys = [entry.key for entry in found]
    assert keys == sorted(keys)
    assert len({unicodedata.normalize("NFKC", key).casefold() for key in keys}) == len(keys)
    for key in keys:
        assert key == safe(key)
        assert Path("x", key).name == key
        assert len(key.encode()) < 250


# --- Canvas


def canvas_class() -> list[tuple[str, bytes]]:
    """Everybody's files, the last with the greatest attachment id, in no order of names."""
    files = []
    for sortable, _, user in CLASS:
        for index, file in enumerate(FILES):
            name = canvas_name(sortable, user, 1000 * index + user, file, late=user % 2 == 1)
            files.append((name, f"{user} {index}".encode()))
    return files


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_a_canvas_download_is_read_back(form, tmp_path):
    if form == "zip":
        source = zip_files(tmp_path / "submissions.zip", canvas_class())
    else:
        source = write(tmp_path / "submissions", canvas_class())
        write(source, [(".DS_Store", b""), ("__MACOSX/._x", b""), ("Thumbs.db", b"")])
    found = read(source)
    assert len(found) == len(CLASS)
    check_keys(found)
    for _, _, user in CLASS:
        entry = by_id(found)[str(user)]
        assert content(entry) == [f"{user} {index}".encode() for index in range(len(FILES))]
        assert [handed.name for handed in entry.files] == FILES
        assert {handed.late for handed in entry.files} == {user % 2 == 1}
        assert {handed.time for handed in entry.files} == {None}
        assert entry.students[0].ids == (("canvas", str(user)),)
        assert entry.key == entry.students[0].key


def test_anonymous_submissions_and_pages_of_canvas(tmp_path):
    names = [
        canvas_name("", 0, 8, "a1.tgz", anonymous="x7Yz1"),
        canvas_name("", 0, 9, "a1.tgz", late=True, anonymous="B2cD3"),
        "lovelaceada_LATE_4711_text.html",
    ]
    found = read(write(tmp_path, [(name, name.encode()) for name in names]))
    told = {(e.students[0].ids, e.files[0].late, e.files[0].name) for e in found}
    assert told == {
        ((("canvas-anonymous", "x7Yz1"),), False, "a1.tgz"),
        ((("canvas-anonymous", "B2cD3"),), True, "a1.tgz"),
        ((("canvas", "4711"),), True, "text.html"),
    }


def test_a_file_that_canvas_never_made_is_not_lost(tmp_path):
    write(tmp_path, canvas_class())
    write(tmp_path, [("by mail.tgz", b"mail"), ("gradebook.csv", b"")])
    found = read(tmp_path)
    assert len(found) == len(CLASS) + 1
    assert [content(entry) for entry in found if entry.key == "by-mail"] == [[b"mail"]]


names = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=20)


@settings(deadline=None)
@given(names, st.integers(1, 10**9), st.integers(1, 10**9), st.booleans())
def test_whatever_the_name_canvas_ids_are_found(name, user, attachment, late):
    """Except where the name ends like an ID: Canvas itself says that this fails."""
    made = canvas_name(name, user, attachment, "a1.tgz", late)
    (piece,) = sources.canvas_pieces(Path(made), sources.CANVAS_NAME.fullmatch(made))
    if "_" in name:
        return
    assert piece.student.ids == (("canvas", str(user)),)
    assert piece.order[0] == attachment
    assert piece.file is not None
    assert (piece.file.name, piece.file.late) == ("a1.tgz", late)


# --- Moodle


def moodle_class(form: str) -> list[tuple[str, bytes]]:
    files = []
    for _, name, number in CLASS:
        for index, file in enumerate(FILES):
            if form == "flat":
                path = moodle_flat(name, number, file)
            else:
                path = f"{moodle_folder(name, number, form == 'old')}/{file}"
            files.append((path, f"{number} {index}".encode()))
    return files


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["new", "old", "flat"])
def test_a_moodle_download_is_read_back(form, packed, tmp_path):
    files = moodle_class(form)
    source = zip_files(tmp_path / "x.zip", files) if packed else write(tmp_path / "x", files)
    found = read(source)
    assert len(found) == len(CLASS)
    check_keys(found)
    for _, name, number in CLASS:
        entry = by_id(found)[str(number)]
        assert sorted(content(entry)) == [f"{number} {i}".encode() for i in range(len(FILES))]
        assert {handed.name for handed in entry.files} == set(FILES)
        assert fold_name(entry.students[0].name) == fold_name(name)
        assert entry.students[0].ids == (("moodle", str(number)),)
        assert [h.name for h in entry.files[-2:]] != ["a1-1.tgz", "a1.tgz"]


def test_moodle_folders_texts_and_blind_marking(tmp_path):
    files = [
        ("Participant_7_assignsubmission_file/sub folder/a1.tgz", b"1"),
        ("Participant_7_assignsubmission_onlinetext/onlinetext.html", b"2"),
        ("Participant_8_assignsubmission_onlinetext/onlinetext.html", b"3"),
        ("Default group_assignsubmission_file/a1.tgz", b"4"),
    ]
    found = read(write(tmp_path, files))
    told = {entry.key: [handed.name for handed in entry.files] for entry in found}
    assert told == {
        "Participant_7": ["sub folder/a1.tgz"],
        "Participant_8": [],
        "Default-group": ["a1.tgz"],
    }


@settings(deadline=None)
@given(names, st.integers(1, 10**9))
def test_whatever_the_name_moodle_ids_are_found(name, number):
    made = moodle_flat(name, number, "a_1.tgz")
    (first, piece) = sources.moodle_pieces(Path(made), sources.MOODLE_NAME.fullmatch(made))
    assert first.student == piece.student
    assert piece.student.ids == (("moodle", str(number)),)
    assert piece.file is not None
    assert piece.file.name == "a_1.tgz"


# --- folders


def test_a_folder_of_archives_and_folders(tmp_path):
    write(
        tmp_path,
        [
            ("ada.tgz", b"ada"),
            ("Ada.tar.gz", b"Ada"),
            ("zoë m..zip", b"zoe"),
            ("con.tgz", b"con"),
            ("grace/a1.tgz", b"old"),
            ("grace/a1-1.tgz", b"new"),
            ("grace/notes.txt", b"text"),
            ("alan/assignment1/Go1.py", b"code"),
            ("alan/readme.txt", b"readme"),
            ("alan/report.docx", b"PK\x03\x04"),
            ("joan/work", b"PK\x03\x04"),
            ("mary/empty.zip", b""),
            ("class.csv", b"name\n"),
        ],
    )
    (tmp_path / "nobody").mkdir()
    (tmp_path / "thief").mkdir()
    (tmp_path / "thief" / "a1.tgz").symlink_to(tmp_path / "ada.tgz")
    os.utime(tmp_path / "grace/a1.tgz", (1, 1))
    os.utime(tmp_path / "grace/a1-1.tgz", (2, 2))
    found = read(tmp_path)
    check_keys(found)
    told = {entry.key: [handed.name for handed in entry.files] for entry in found}
    doubled = next(key for key in told if key.casefold().startswith("ada-"))
    assert told == {
        "Ada": ["Ada.tar.gz"],
        doubled: ["ada.tgz"],
        "zoë-m": ["zoë m..zip"],
        "student-con": ["con.tgz"],
        "grace": ["grace", "a1.tgz", "a1-1.tgz"],
        "joan": ["work"],
        "alan": ["alan"],
        "mary": ["empty.zip"],
        "nobody": [],
        "thief": ["thief"],
    }
    assert all(handed.time is None and not handed.late for e in found for handed in e.files)


def test_names_that_are_no_text_and_links_that_lead_nowhere(tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.tgz")).write_bytes(b"1")
    (tmp_path / "new\nline.tgz").write_bytes(b"2")
    (tmp_path / "lost.tgz").symlink_to(tmp_path / "away")
    (tmp_path / "many").mkdir()
    for number in range(2_100):
        (tmp_path / "many" / f"{number}.py").touch()
    found = read(tmp_path)
    check_keys(found)
    told = {entry.key: (entry.students[0].name, entry.files[0].name) for entry in found}
    assert told == {
        "caf": ("caf\\xe9", "caf\\xe9.tgz"),
        "new-line": ("new \u23ce line", "new \u23ce line.tgz"),
        "lost": ("lost", "lost.tgz"),
        "many": ("many", "many"),
    }


def test_the_last_changed_of_several_is_the_last(tmp_path):
    write(tmp_path, [("ada/b.tgz", b"1"), ("ada/a.tgz", b"2")])
    for name, time in (("b.tgz", 2), ("a.tgz", 1)):
        os.utime(tmp_path / "ada" / name, (time, time))
    assert [handed.name for handed in read(tmp_path)[0].files] == ["a.tgz", "b.tgz"]
    os.utime(tmp_path / "ada" / "a.tgz", (3, 3))
    assert [handed.name for handed in read(tmp_path)[0].files] == ["b.tgz", "a.tgz"]


# --- CSV


def table(folder: Path, text: str, name: str = "class.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_a_csv_names_files_times_groups_and_ids(tmp_path):
    write(tmp_path, [("in/a.tgz", b"a"), ("in/b.tgz", b"b"), ("c/Go1.py", b"c")])
    source = table(
        tmp_path,
        "\ufeffStudent;File;Name;Time;Late;Group;Canvas\r\n"
        "ada;in/b.tgz;Ada Lovelace;2026-01-29 23:56;yes;;1\r\n"
        "ada;in/a.tgz;Ada Lovelace;2026-01-29T12:00:00;;;1\r\n"
        'zoë;c;"Özdemir; Zoë";;;Team 1;2\r\n'
        ";;;;;;\r\n"
        "jan;;Jan;;no;Team 1;\r\n",
    )
    found = read(source)
    check_keys(found)
    ada, team = sorted(found, key=lambda entry: len(entry.students))
    assert [handed.name for handed in ada.files] == ["in/a.tgz", "in/b.tgz"]
    assert ada.files[1].time == datetime.datetime(2026, 1, 29, 23, 56)
    assert [handed.late for handed in ada.files] == [False, True]
    assert (ada.key, ada.students[0].name, ada.students[0].ids) == (
        "ada",
        "Ada Lovelace",
        (("canvas", "1"),),
    )
    assert team.key == "Team-1"
    assert [(s.key, s.name, s.ids) for s in team.students] == [
        ("zoë", "Özdemir; Zoë", (("canvas", "2"),)),
        ("jan", "Jan", ()),
    ]
    assert [handed.path.is_dir() for handed in team.files] == [True]


def test_times_with_a_zone_become_local(tmp_path, monkeypatch):
    write(tmp_path, [("a", b"")])
    monkeypatch.setenv("TZ", "America/Edmonton")
    import time

    time.tzset()
    try:
        source = table(tmp_path, "student,file,time\nada,a,2026-01-30T06:55:00Z\n")
        assert read(source)[0].files[0].time == datetime.datetime(2026, 1, 29, 23, 55)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "class.csv:1: found nothing, expected a column 'student'"),
        ("student,name\n", "found student, name, expected a column 'file'"),
        ("student,file\nada,missing.tgz\n", "class.csv:2: file: found 'missing.tgz', expected"),
        ("student,file\n,class.csv\n", "class.csv:2: student: found '', expected a student"),
        ("student,file,time\nada,,tomorrow\n", "time: found 'tomorrow', expected a date"),
        ('student,file\n"ada,\n', "class.csv:2: found a line that is not CSV (unexpected end"),
        ("student,file\n", "there are no submissions"),
    ],
)
def test_mistakes_in_a_csv_are_named(text, said, tmp_path):
    with pytest.raises(UsageError) as refused:
        read(table(tmp_path, text))
    assert said in str(refused.value)


# --- groups

GROUPS = """\
group,student,name,canvas
Team Ü,4711,Ada,
Team Ü,zoë,Zoë Müßig-Özdemir,
Team Ü,nobody,Nobody at All,99
Solo,x,Someone,32
"""


def test_groups_gather_what_their_members_handed_in(tmp_path):
    source = write(tmp_path / "in", canvas_class())
    text = GROUPS.replace("Zoë Müßig-Özdemir", "müßigözdemirzoë")
    found = read(source, table(tmp_path, text, "groups.csv"))
    check_keys(found)
    assert len(found) == len(CLASS) - 1
    team = next(entry for entry in found if entry.key == "Team-Ü")
    assert [s.ids for s in team.students] == [
        (("canvas", "4711"),),
        (("canvas", "31"),),
        (("canvas", "99"),),
    ]
    assert len(team.files) == 2 * len(FILES)
    attachments = sorted(
        (1000 * i + user, user, i) for i in range(len(FILES)) for user in (31, 4711)
    )
    assert content(team) == [f"{user} {i}".encode() for _, user, i in attachments]
    solo = next(entry for entry in found if entry.key == "Solo")
    assert solo.students[0].ids == (("canvas", "32"),)


@pytest.mark.parametrize(
    ("source", "row", "shown"),
    [
        ("canvas", "4711,", "lovelaceada"),
        ("canvas", "4711,4711", "lovelaceada"),
        ("canvas", "lovelaceada_4711,", "lovelaceada"),
        ("canvas", "Lovelace Ada,", "Lovelace Ada"),
        ("canvas", "A. L.,4711", "A. L."),
        ("moodle", "4711,", "Ada Lovelace"),
        ("old moodle", "4711,", "Ada Lovelace"),
        ("away", "4711,", "4711"),
    ],
)
def test_a_number_in_groups_is_shown_as_the_name_in_the_download(source, row, shown, tmp_path):
    name = {
        "canvas": canvas_name("Lovelace, Ada", 4711, 1, "a1.tgz"),
        "moodle": moodle_folder("Ada Lovelace", 4711) + "/a1.tgz",
        "old moodle": moodle_folder("Team-Ada Lovelace", 4711, old=True) + "/a1.tgz",
        "away": canvas_name("Somebody Else", 1, 1, "a1.tgz"),
    }[source]
    groups = table(tmp_path, f"group,student,canvas\nTeam,{row}\n", "groups.csv")
    found = read(write(tmp_path / "in", [(name, b"")]), groups)
    (team,) = [entry for entry in found if entry.key == "Team"]
    assert [student.name for student in team.students] == [shown]


def test_whoever_has_another_id_is_somebody_else_of_that_name(tmp_path):
    """The one Ada handed in; the other, who did not, is in the group."""
    source = write(tmp_path / "in", [(canvas_name("Lovelace, Ada", 4711, 1, "a1.tgz"), b"")])
    groups = table(tmp_path, "group,student,canvas\nTeam,lovelaceada,4712\n", "groups.csv")
    found = {entry.key: len(entry.files) for entry in read(source, groups)}
    assert found == {"Team": 0, "lovelaceada_4711": 1}


def test_the_id_of_a_group_is_no_student_s(tmp_path):
    """In a download of teams the number is the group's, and may be some student's too."""
    files = [(moodle_folder(name, 9 + i) + "/a1.tgz", b"") for i, name in enumerate(["A", "B"])]
    groups = table(tmp_path, "group,student\nA,10\nB,9\nB,11\n", "groups.csv")
    found = read(write(tmp_path / "in", files), groups)
    told = {
        e.key: ([s.name for s in e.students], [h.path.parent.name for h in e.files]) for e in found
    }
    assert told == {
        "A": (["10"], [moodle_folder("A", 9)]),
        "B": (["9", "11"], [moodle_folder("B", 10)]),
    }


@pytest.mark.parametrize("platform", ["canvas", "moodle"])
def test_a_group_of_the_platform_becomes_its_members(platform, tmp_path):
    name = canvas_name("Team Ü", 5, 9, "a1.tgz")
    if platform == "moodle":
        name = moodle_folder("Team Ü", 9) + "/a1.tgz"
    groups = table(tmp_path, GROUPS, "groups.csv")
    team, solo = sorted(
        read(write(tmp_path / "in", [(name, b"one")]), groups),
        key=lambda entry: -len(entry.students),
    )
    assert [student.name for student in team.students] == [
        "Ada",
        "Zoë Müßig-Özdemir",
        "Nobody at All",
    ]
    assert content(team) == [b"one"]
    assert [student.ids for student in team.students] == [(), (), (("canvas", "99"),)]
    assert solo.files == ()


def test_each_member_has_the_same_in_an_old_moodle_download(tmp_path):
    files = [
        (moodle_folder(f"Team Ü-{name}", number, old=True) + "/a1.tgz", b"one")
        for name, number in (("Ada", 1), ("Zoë Müßig-Özdemir", 2))
    ]
    groups = table(tmp_path, GROUPS, "groups.csv")
    team = next(e for e in read(write(tmp_path / "in", files), groups) if e.key == "Team-Ü")
    assert [dict(s.ids).get("moodle") for s in team.students] == ["1", "2", None]
    assert content(team) == [b"one", b"one"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("group,student\n,ada\n", "groups.csv:2: group: found '', expected the name"),
        ("group,student\na,ada\nb,ada\n", "groups.csv:3: group: found 'b', expected 'a'"),
        ("group,student\na,lovelaceada\n", "may be any of lovelaceada_4711, lovelaceada_4712"),
        ("group,student\na,31\nb,müßigözdemirzoë\n", "groups.csv:3: student: found"),
        ("student\n", "expected a column 'group'"),
    ],
)
def test_mistakes_in_groups_are_named(text, said, tmp_path):
    source = write(tmp_path / "in", canvas_class())
    with pytest.raises(UsageError) as refused:
        read(source, table(tmp_path, text, "groups.csv"))
    assert said in str(refused.value)


# --- what is no source


def test_what_is_no_source(tmp_path):
    with pytest.raises(UsageError, match="there is no"):
        read(tmp_path / "away")
    with pytest.raises(UsageError, match="no submissions in"):
        read(tmp_path)
    with pytest.raises(UsageError, match="neither a folder, nor a zip, nor a CSV"):
        read(table(tmp_path, "x", "x.tgz"))


def test_a_damaged_download_is_refused(tmp_path):
    path = zip_files(tmp_path / "x.zip", canvas_class())
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(ArchiveError, match="cut off"):
        read(path)


def test_what_a_killed_process_unpacked_is_cleared_away(tmp_path, monkeypatch):
    monkeypatch.setattr(sources.tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    dead, alive = (tmp_path / "tmp" / f"gtp-harness-download-{pid}-x" for pid in (2**30, 1))
    dead.mkdir()
    alive.mkdir()
    found = read(zip_files(tmp_path / "x.zip", canvas_class()))
    assert not dead.exists()
    assert alive.exists()
    room = found[0].files[0].path.parent
    assert room.parent == tmp_path / "tmp"
    assert room.stat().st_mode & 0o777 == 0o700


def test_one_hostile_name_does_not_stop_a_class(tmp_path):
    """A download has names that students gave; nothing is written outside the room."""
    good = canvas_name("Lovelace, Ada", 4711, 1, "a1.tgz")
    evil = [
        canvas_name("Evil", 1, 2, "gpj.\u202eexe\n.tgz"),
        "evil_1_3_" + "x" * 300 + ".tgz",
        "evil_1_4_a.tgz",
        "evil_1_4_A.tgz",
        "../../evil_1_5_up.tgz",
        "/tmp/evil_1_6_root.tgz",
        "a\\b_1_7_back.tgz",
        "/".join("d" * 30) + "/deep",
    ]
    path = zip_files(tmp_path / "x.zip", [(good, b"good"), *((name, b"evil") for name in evil)])
    room = tmp_path / "room"
    room.mkdir()
    found = entries(sources.read_pieces(path, room))
    assert content(by_id(found)["4711"]) == [b"good"]
    assert len([p for p in room.rglob("*") if p.is_file()]) == 1 + len(evil)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["room", "x.zip"]
    handed = by_id(found)["1"].files
    assert {"gpj._exe_.tgz", "a.tgz", "A.tgz~"} <= {one.name for one in handed}


# --- keys and versions


@settings(deadline=None)
@given(st.lists(st.text(max_size=120), min_size=1, unique=True))
def test_keys_are_unique_and_safe(texts):
    from harness.grading.records import SourcePiece, Student

    found = entries(SourcePiece(Student(text, text)) for text in texts)
    assert len(found) == len(texts)
    names = {student.name for entry in found for student in entry.students}
    assert names == {one_line(text) for text in texts}
    for entry in found:
        assert not set(entry.key) & set("/\\:*?\"<>|\0\n =+@'`$")
        assert entry.key[0] not in ".-_"
        assert len(entry.key) <= 90
    assert len({entry.key.casefold() for entry in found}) == len(texts)


def test_versions_are_in_order():
    ordered = ["a1.tgz", "a1-1.tgz", "a1-2.tgz", "a1-10.tgz", "a1 (11).tgz", "b.tgz"]
    assert all(version(one) < version(other) for one, other in pairwise(ordered))


def test_the_documents_name_every_column():
    rows = "".join(documents.table("| column | meaning |"))
    assert all(f"`{name}`" in rows for name in COLUMNS)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_name_that_begins_with_a_dot_is_told(tmp_path, zipped):
    """Such a submission is not read; what macOS and Windows leave behind is not worth a word."""
    names = ["bea_12_34_a1.tgz", ".ada_11_33_a1.tgz", ".DS_Store", "._bea_12_34_a1.tgz"]
    source = tmp_path / "download"
    source.mkdir()
    for name in names:
        (source / name).write_bytes(b"x")
    if zipped:
        source = Path(shutil.make_archive(str(tmp_path / "class"), "zip", source))
    told = []
    assert len(read(source, on_remark=told.append)) == 1
    assert told == [
        f"not read in {source}, because the name begins with a dot: .ada_11_33_a1.tgz."
        " If it is a submission, rename it"
    ]
