"""From what was handed in to what is graded: the last that can be read, kept, and explained."""

import datetime
import hashlib
import os
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.archives import reading
from harness.archives.archive_streams import MIB, IntakeLimits
from harness.assignments import assignment, public_tests, workspace
from harness.core.errors import ArchiveError, ReadingFailedError, UsageError
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.attempt_plan import GradeOptions
from harness.grading.ingest.log_evidence import LONGEST
from harness.grading.ingest.sources import receive
from harness.grading.ledger.places import Store
from harness.grading.records import Student, StudentSubmissions, Submission, SubmittedFile
from tests.harness.hostile_archives import LARGE, ROSTER, build_zip, python_tar
from tests.tiers import long_if

ASSIGNMENT = assignment.find("go-scoring")
LOG = (
    b"Script started on Mon 28 Jan 2019\r\n$ tar -xf a1.tgz\r\n"
    b"$ gogui-regress ./Go1.py t.gtp\r\n$ exit\r\n"
)
FILES = {
    "Go1.py": b"print('hi')\n",
    "gtp_connection_go1.py": b"# score\n",
    "readme.txt": b"Ada Lovelace, 1815\n",
    "presubmission.log": LOG,
}
EXPECTED = "expected a .tgz, .tar.gz, .tar, .tar.xz or .zip."
STUDENT = Student("ada", "Ada Lovelace", (("canvas", "1"),))


def pack_files(files: dict[str, bytes], root: str = "assignment1/", mode: str = "w:gz") -> bytes:
    return python_tar([(root + name, content) for name, content in files.items()], mode)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "originals")


def test_bytes_are_on_the_disk_before_they_have_their_name(tmp_path, store, monkeypatch):
    done = []

    def fsync(descriptor):
        done.append(os.fstat(descriptor).st_size)
        assert [path.name[0] for path in (tmp_path / "originals").iterdir()] == ["."]

    monkeypatch.setattr(os, "fsync", fsync)
    (tmp_path / "a1").write_bytes(b"twelve bytes")
    assert store.path(store.keep(tmp_path / "a1")).read_bytes() == b"twelve bytes"
    assert done == [12]


@pytest.fixture
def hand_in(tmp_path, store):
    """Hand in files one after the other, and receive the last valid one."""

    def receive_files(*files: tuple[str, bytes], overlay: Path | None = None) -> Submission:
        given = []
        for index, (name, content) in enumerate(files):
            path = tmp_path / f"{index}_{name}"
            path.write_bytes(content)
            time = datetime.datetime(2026, 1, 29, index)
            given.append(SubmittedFile(path, name, time, late=index > 0))
        return receive(
            StudentSubmissions("ada", (STUDENT,), tuple(given)), ASSIGNMENT, store, overlay
        )

    return receive_files


def lay_out(found: Submission, store: Store, room: Path) -> dict[str, bytes]:
    """Return what the runner would see."""
    workspace.unpack(str(store.path(found.sha256)), room, found.root, found.kept)
    return {
        path.relative_to(room).as_posix(): path.read_bytes()
        for path in room.rglob("*")
        if path.is_file()
    }


# --- a good one


def test_what_is_received_can_be_unpacked_from_the_store(hand_in, store, tmp_path):
    content = pack_files(FILES)
    found = hand_in(("a1.tgz", content))
    assert found == Submission(
        key="ada",
        students=(STUDENT,),
        name="a1.tgz",
        sha256=hashlib.sha256(content).hexdigest(),
        time=datetime.datetime(2026, 1, 29, 0),
        root="assignment1/",
        kept=tuple(sorted(FILES)),
        log=found.log,
    )
    assert found.log.good
    assert found.log.remarks == ()
    assert store.path(found.sha256).read_bytes() == content
    assert lay_out(found, store, tmp_path / "room") == FILES


# --- which one counts


def test_what_the_harness_cannot_read_is_unread_and_no_earlier_one_takes_its_place(hand_in):
    first, last = pack_files(FILES), pack_files({**FILES, "readme.txt": b"last"})

    def read(file, meter):
        if os.fstat(file.fileno()).st_size == len(last):
            raise ReadingFailedError("the reader died")
        return reading.read_here(file, meter)

    assert len(first) != len(last)
    reading.choose(read)
    try:
        found = hand_in(("a1.tgz", first), ("a1-1.tgz", last))
    finally:
        reading.choose(None)
    assert found == Submission(
        key="ada",
        students=(STUDENT,),
        name="a1-1.tgz",
        time=datetime.datetime(2026, 1, 29, 1),
        late=True,
        unread="the reader died",
    )
    cases = attempt_plan.read_cases(ASSIGNMENT)
    options = GradeOptions(ASSIGNMENT, None, Path(), overlay=Path(__file__).parent)
    assert attempt_plan.attempts(options, [found], cases) == []


def test_the_last_valid_one_counts_and_the_others_are_named(hand_in):
    found = hand_in(
        ("a1.tgz", pack_files({**FILES, "readme.txt": b"first"})),
        ("a1-1.tgz", pack_files({**FILES, "readme.txt": b"second"})),
        ("a1-2.tgz", b""),
        ("notes.zip", build_zip(("notes.mp4", b"x"))),
        ("photo.png", b"\x89PNG\r\n\x1a\n"),
    )
    assert (found.name, found.time, found.late) == (
        "a1-1.tgz",
        datetime.datetime(2026, 1, 29, 1),
        True,
    )
    assert found.remarks == (
        f"The file photo.png is refused: it is a picture, {EXPECTED}",
        "The file notes.zip is refused: it contains none of the assignment's files (expected"
        " Go1.py, gtp_connection_go1.py, readme.txt in assignment1, found notes.mp4).",
        f"The file a1-2.tgz is refused: it is an empty file, {EXPECTED}",
        "Submitted earlier, and not used: a1.tgz.",
    )


def test_all_that_was_handed_in_is_kept(hand_in, store):
    contents = [pack_files(FILES), b"", pack_files({"Go1.py": b"2"}), b"garbage"]
    hand_in(*((f"{index}.tgz", content) for index, content in enumerate(contents)))
    for content in contents:
        assert store.path(hashlib.sha256(content).hexdigest()).read_bytes() == content


def test_nothing_usable_is_a_record_that_says_why(hand_in, store):
    found = hand_in(("a1.rar", b"Rar!\x1a\x07"), ("Go1.py", b"print()\n"))
    assert found == Submission(
        key="ada",
        students=(STUDENT,),
        name="Go1.py",
        time=datetime.datetime(2026, 1, 29, 1),
        late=True,
        refused=f"The file Go1.py is refused: it is a text file, {EXPECTED}",
        remarks=(f"The file a1.rar is refused: it is a RAR archive, {EXPECTED}",),
    )
    assert receive(StudentSubmissions("ada", (STUDENT,), ()), ASSIGNMENT, store) == Submission(
        key="ada", students=(STUDENT,), refused="Nothing was submitted."
    )


@pytest.mark.parametrize(
    "title", [long_if(title in LARGE, title, seconds=0.5) for title in ROSTER]
)
def test_hostile_archives_are_refused_and_kept(title, hand_in, store, tmp_path):
    hostile = ROSTER[title]
    content = hostile.make()
    found = hand_in(("a1" + hostile.suffix, content))
    assert hostile.said in found.refused
    assert found.refused.startswith("The file a1")
    assert found.refused.isprintable()
    assert (found.sha256, found.kept) == ("", ())
    kept = store.path(hashlib.sha256(content).hexdigest())
    if title == "big":
        assert not kept.exists()
    else:
        assert kept.read_bytes() == content
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"originals", "0_a1" + hostile.suffix}
    assert not list(tmp_path.glob("originals/.*"))


# --- as real classes hand them in


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a1.tgz",
            pack_files(FILES, mode="w"),
            "It is a tar archive, not compressed, though its name",
        ),
        ("a1.tgz", pack_files(FILES, ""), "The files are not in a folder assignment1"),
        (
            "a1.tgz",
            pack_files(FILES, "A1/"),
            "The folder is called 'A1', it should be called assign",
        ),
        (
            "a1.tgz",
            pack_files(FILES, "Ada/assignment1/"),
            "is wrapped in another, 'Ada': one is allow",
        ),
        ("a1", pack_files(FILES), "though its name does not say so"),
        (
            "a1.tgz",
            pack_files({**FILES, "._Go1.py": b"\0"}),
            "left out, made by tools: assignment1/._",
        ),
        (
            "a1.tgz",
            pack_files({**FILES, "a.mp4": b"\0"}),
            "left out, no part of this assignment: ass",
        ),
        (
            "a1.tgz",
            pack_files({**FILES, "util/x.py": b"1"}),
            "the course's util is used instead: ",
        ),
    ],
)
def test_odd_archives_are_taken_with_a_sentence(name, content, said, hand_in, store, tmp_path):
    found = hand_in((name, content))
    assert [remark for remark in found.remarks if said in remark], found.remarks
    assert found.faults == ()
    assert found.log.good
    assert lay_out(found, store, tmp_path / "room") == FILES


def test_junk_does_not_decide_where_the_folder_is(hand_in):
    files = [(f"assignment1/{name}", content) for name, content in FILES.items()]
    junk = [("__MACOSX/assignment1/._Go1.py", b"\0"), (".DS_Store", b"\0"), ("._assignment1", b"")]
    found = hand_in(("a1.tgz", python_tar([*junk, *files])))
    assert found.root == "assignment1/"
    assert len(found.remarks) == 1


def test_what_is_missing_is_a_fault_as_check_says_it(hand_in):
    files = {**FILES, "README.md": FILES["readme.txt"]}
    del files["readme.txt"], files["gtp_connection_go1.py"]
    found = hand_in(("a1.tgz", pack_files(files)))
    assert found.faults == (
        "gtp_connection_go1.py is missing",
        "readme.txt is missing (there is README.md)",
    )
    assert found.refused == ""


def test_a_missing_log_is_said_with_what_may_be_meant(hand_in):
    files = {key: value for key, value in FILES.items() if key != "presubmission.log"}
    found = hand_in(("a1.tgz", pack_files({**files, "Presubmission.txt": LOG})))
    assert not found.log.present
    assert found.log.remarks == ("There is no presubmission.log (there is Presubmission.txt).",)


def test_a_changed_copy_of_the_course_s_folder_is_named(hand_in, tmp_path):
    util = tmp_path / "util"
    util.mkdir()
    (util / "same.py").write_bytes(b"same")
    (util / "board.py").write_bytes(b"course")
    (util / "new.py").write_bytes(b"new")
    copy = {"util/same.py": b"same", "util/board.py": b"mine", "util/more.py": b"more"}
    found = hand_in(("a1.tgz", pack_files({**FILES, **copy})), overlay=util)
    assert "your copy is changed, and not used: board.py, more.py" in found.remarks
    assert found.forbidden == tuple(sorted(f"assignment1/{name}" for name in copy))
    honest = hand_in(("a1.tgz", pack_files({**FILES, "util/same.py": b"same"})), overlay=util)
    assert not [remark for remark in honest.remarks if "changed" in remark]


parts = st.sampled_from(["assignment1", "util", "Go1.py", "x", "presubmission.log", "._x", "y.py"])
names = st.lists(st.lists(parts, min_size=1, max_size=5).map("/".join), min_size=1, max_size=8)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names, st.binary(max_size=40))
def test_no_archive_stops_a_class(store, tmp_path, names, content):
    """Whatever files it has, there is a record: something to grade, or why not."""
    (tmp_path / "util").mkdir(exist_ok=True)
    path = tmp_path / "a1.tgz"
    path.write_bytes(python_tar([(name, content) for name in names]))
    entry = StudentSubmissions("ada", (STUDENT,), (SubmittedFile(path, path.name),))
    found = receive(entry, ASSIGNMENT, store, tmp_path / "util")
    assert bool(found.refused) != bool(found.kept)
    if found.kept:
        room = Path(tempfile.mkdtemp(dir=tmp_path)) / "room"
        assert set(lay_out(found, store, room)) == set(found.kept)


# --- folders


def folder(tmp_path: Path, files: dict[str, bytes]) -> SubmittedFile:
    place = tmp_path / "lovelace"
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return SubmittedFile(place, place.name)


def from_folder(handed: SubmittedFile, store: Store) -> Submission:
    return receive(StudentSubmissions("ada", (STUDENT,), (handed,)), ASSIGNMENT, store)


@pytest.mark.parametrize("within", ["", "assignment1/"])
def test_a_folder_is_packed_and_received(within, store, tmp_path):
    handed = folder(tmp_path, {within + name: content for name, content in FILES.items()})
    (handed.path / "link").symlink_to("/etc/passwd")
    found = from_folder(handed, store)
    assert found.root == "assignment1/"
    assert found.remarks == ("left out, links and the like: link",)
    assert found.log.good
    assert lay_out(found, store, tmp_path / "room") == FILES
    with tarfile.open(store.path(found.sha256)) as archive:
        assert {member.mtime for member in archive} == {0}


def test_a_folder_is_the_last_resort_when_its_archives_cannot_be_read(store, tmp_path):
    handed = folder(tmp_path, {**FILES, "old.tgz": b""})
    archive = SubmittedFile(handed.path / "old.tgz", "old.tgz")
    found = receive(StudentSubmissions("ada", (STUDENT,), (handed, archive)), ASSIGNMENT, store)
    assert (found.name, found.kept) == ("lovelace", tuple(sorted(FILES)))
    assert found.remarks[0].startswith("The file old.tgz is refused: it is an empty file")
    archive.path.write_bytes(pack_files(FILES))
    found = receive(StudentSubmissions("ada", (STUDENT,), (handed, archive)), ASSIGNMENT, store)
    assert (found.name, found.remarks) == ("old.tgz", ())


def test_the_same_folder_always_has_the_same_hash(store, tmp_path):
    first = from_folder(folder(tmp_path / "1", FILES), store)
    other = folder(tmp_path / "2", dict(reversed(FILES.items())))
    for path in other.path.rglob("*"):
        os.utime(path, (1, 1))
    assert from_folder(other, store).sha256 == first.sha256
    (other.path / "Go1.py").write_bytes(b"print('hO')\n")
    assert from_folder(other, store).sha256 != first.sha256


@pytest.mark.long(1)
def test_a_folder_with_far_too_much(store, tmp_path):
    crowded = folder(tmp_path / "1", {f"{number}.py": b"" for number in range(10_001)})
    assert "far too many files" in from_folder(crowded, store).refused
    large = folder(tmp_path / "2", {"Go1.py": bytes(33 * MIB)})
    assert "the limit is 33554432" in from_folder(large, store).refused.replace(",", "")


# --- the receipt


def with_receipt(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with a log as check writes it."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    digests.pop("presubmission.log", None)
    lines = public_tests.lines(public_tests.make_receipt(ASSIGNMENT, digests))
    log = LOG + b"".join(f"   {line}\r\n".encode() for line in lines)
    return {**files, "presubmission.log": log}


def test_a_receipt_is_recognised_from_the_archive_alone(hand_in):
    found = hand_in(("a1.tgz", pack_files(with_receipt(FILES))))
    assert found.log.receipt.startswith("The receipt in the log fits: gtp-harness ")
    wrapped = hand_in(
        ("a1.zip", build_zip(*((f"x/assignment1/{n}", c) for n, c in with_receipt(FILES).items())))
    )
    assert wrapped.log.receipt == found.log.receipt


@pytest.mark.parametrize(
    "change",
    [
        {"Go1.py": b"print('other')\n"},
        {"more.py": b""},
    ],
)
def test_a_receipt_for_other_files_is_found_out(change, hand_in):
    found = hand_in(("a1.tgz", pack_files({**with_receipt(FILES), **change})))
    assert found.log.receipt == (
        "The receipt in the log is for other files than the submitted ones."
    )
    assert found.log.good  # no mark depends on the receipt


def test_files_that_are_left_out_do_not_count_for_the_receipt(hand_in):
    files = {**with_receipt(FILES), "._Go1.py": b"\0", "__pycache__/x.pyc": b"\0"}
    assert "fits" in hand_in(("a1.tgz", pack_files(files))).log.receipt


def test_a_digest_is_that_of_sha256sum_s_lines(tmp_path):
    files = {"b.py": b"1", "a/ü.py": b"2"}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    digests = public_tests.digests_in(tmp_path, files)
    lines = "".join(
        f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)
    )
    assert public_tests.digest_of(digests) == hashlib.sha256(lines.encode()).hexdigest()


def test_both_ends_of_a_long_log_are_read(hand_in):
    noise = b"Test 1 / 59\r\n" * (LONGEST // 8)
    tail = with_receipt(FILES)["presubmission.log"][len(LOG) :]
    first, run = LOG.split(b"$ gogui", 1)
    log = first + b"$ ls\r\n" + noise + b"$ gogui" + run + tail
    assert len(log) > LONGEST
    found = hand_in(("a1.tgz", pack_files({**FILES, "presubmission.log": log})))
    assert found.log.good
    assert "fits" in found.log.receipt


# --- the store


def test_bytes_are_kept_once_whole_and_read_only(store, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"content")
    sha256 = store.keep(path)
    assert sha256 == hashlib.sha256(b"content").hexdigest()
    assert store.keep(path) == sha256
    assert [kept.name for kept in store.path(sha256).parent.iterdir()] == [sha256]
    assert store.path(sha256).stat().st_mode & 0o777 == 0o444


def test_damage_in_the_store_is_mended(store, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"content")
    kept = store.path(store.keep(path))
    kept.chmod(0o644)
    kept.write_bytes(b"con")
    store.keep(path)
    assert kept.read_bytes() == b"content"


def test_what_a_killed_process_left_is_cleared_away(store, tmp_path):
    place = store.path("")
    old, new = place / ".unfinished-old", place / ".unfinished-new"
    old.touch()
    new.touch()
    os.utime(old, (1, 1))
    Store(place)
    assert not old.exists()
    assert new.exists()


def test_what_cannot_be_kept(store, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    with pytest.raises(ArchiveError, match="5 bytes; the limit is 4"):
        store.keep(path, IntakeLimits(compressed=4))
    with pytest.raises(UsageError, match="cannot read"):
        store.keep(tmp_path / "away")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        store.keep(tmp_path / "pipe")
    path.write_bytes(b"")
    with pytest.raises(UsageError) as refused:
        Store(path / "store")
    assert str(refused.value) == f"cannot use {path / 'store'} as a store: Not a directory"


def test_the_files_of_a_folder_are_kept_together_or_not_at_all(store, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.grading.ledger.places._LIMITS", IntakeLimits(compressed=5))
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"123")
    names = {"a": "x/a", "b": "x/b"}
    with pytest.raises(ArchiveError) as refused:
        store.keep_folder(tmp_path, names)
    assert str(refused.value) == "its files have 6 bytes; the limit is 5"
    assert not list(store.path("").iterdir())


# --- receive takes exactly what the source gives
