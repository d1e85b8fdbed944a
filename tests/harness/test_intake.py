"""Hostile archives are refused with a reason, honest ones taken in, odd ones with a sentence."""

import contextlib
import itertools
import os
import resource
import subprocess
import sys
import tarfile
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from harness.archives import archive, archive_streams
from harness.archives.archive import files_in, pack
from harness.archives.archive_streams import MIB, IntakeLimits, check_name, mend_name
from harness.assignments.contents import locate_folder
from harness.core.errors import ArchiveError, UsageError
from tests.harness import archives
from tests.harness.hostile_archives import (
    LARGE,
    ROSTER,
    build_zip,
    header,
    make_extended_header,
    member,
    names,
    python_tar,
    tar,
    tgz,
)
from tests.tiers import long_if


def write(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


# --- hostile ones


@pytest.mark.parametrize(
    "title", [long_if(title in LARGE, title, seconds=0.7) for title in ROSTER]
)
def test_hostile_archives_are_refused(title, tmp_path):
    hostile = ROSTER[title]
    path = write(tmp_path, title + hostile.suffix, hostile.make())
    room = tmp_path / "room"
    room.mkdir()
    before = sorted(tmp_path.rglob("*"))
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(ArchiveError) as refused:
            archive.examine(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(refused.value) == hostile.said
    assert "\x1b" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert peak < 12 * MIB, f"{peak:,} bytes to look at a hostile archive"
    assert time.process_time() - started < 20
    # And who unpacks it without looking writes nothing outside, whatever it is refused for.
    with contextlib.suppress(ArchiveError, OSError):
        archive.unpack(path, room, _Everything())
    outside = [found for found in tmp_path.rglob("*") if room not in found.parents]
    assert sorted(outside) == before
    assert not any(found.is_symlink() for found in room.rglob("*"))


class _Everything(dict[str, str]):
    """Wants every file, where the archive has it."""

    def get(self, key, default=None):
        return key


@pytest.mark.long(3)
@pytest.mark.processes
def test_memory_is_bounded_for_the_whole_process(tmp_path):
    """Not only Python's own: what liblzma and zlib take, too."""
    paths = [
        write(tmp_path, title + ROSTER[title].suffix, ROSTER[title].make())
        for title in ("gzip-bomb", "xz-bomb", "xz-hungry", "zip-bomb", "long-name-bomb")
    ]
    code = (
        "import sys\n"
        "from harness.archives import archive\n"
        "from harness.core.errors import ArchiveError\n"
        "for path in sys.argv[1:]:\n"
        "    try: archive.examine(path)\n"
        "    except ArchiveError: print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *paths],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (256 * MIB, 256 * MIB)),
    )
    assert done.stdout.split() == ["refused"] * len(paths)


def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "a1.tgz")
    with pytest.raises(UsageError, match="not a regular file"):
        archive.examine(str(tmp_path / "a1.tgz"))


def test_time_is_bounded(tmp_path):
    path = write(tmp_path, "a1.tgz", names(*(f"a/{n}" for n in range(100)))())
    with pytest.raises(ArchiveError, match="takes more than 0 s of CPU time"):
        archive.examine(path, IntakeLimits(seconds=0))


def test_a_machine_that_stands_still_is_not_the_archives_fault(tmp_path, monkeypatch):
    path = write(tmp_path, "a1.tgz", names("a/b.py", "a/c.py")())
    clock = itertools.count(0.0, 1000.0)
    monkeypatch.setattr(archive_streams.time, "monotonic", lambda: next(clock))
    assert [one.name for one in archive.examine(path).files] == ["a/b.py", "a/c.py"]


# --- honest ones

FILES = [
    ("assignment1/Go1.py", b"print('hi')\n"),
    ("assignment1/readme.txt", "Zoë, 123\n".encode()),
    ("assignment1/boards/empty.txt", b""),
    ("assignment1/" + "long" * 20 + "/" + "long" * 10 + ".py", b"#" * 3000),
]


HONEST = {
    "a1.tgz": lambda: python_tar(FILES),
    "a1.tar": lambda: python_tar(FILES, "w"),
    "a1.tar.xz": lambda: python_tar(FILES, "w:xz"),
    "a1.zip": lambda: build_zip(*FILES),
    "gnu.tar": lambda: subprocess_tar("gnu"),
    "ustar.tar": lambda: subprocess_tar("ustar"),
    "v7.tar": lambda: subprocess_tar("v7"),
    "two-gzips.tgz": lambda: _two_gzips(python_tar(FILES, "w")),
}


def subprocess_tar(form: str) -> bytes:
    """The same files as GNU tar writes them."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES:
            path = Path(folder, name if form != "v7" else name.replace("long" * 20, "long"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        command = ["tar", "-C", folder, f"--format={form}", "-cf", "-", "./assignment1"]
        return subprocess.run(command, capture_output=True, check=True).stdout


def _two_gzips(plain: bytes) -> bytes:
    """Two gzip streams in a row, filled up with zeros, as a tape has it."""
    half = len(plain) // 2
    return archives.gzip_bytes(plain[:half]) + archives.gzip_bytes(plain[half:]) + bytes(512)


@pytest.mark.processes
@pytest.mark.parametrize("name", HONEST)
def test_honest_archives_come_out_as_they_went_in(name, tmp_path):
    path = write(tmp_path, name, HONEST[name]())
    contents = archive.examine(path)
    assert contents.remarks == ()
    files = dict(FILES)
    if name == "v7.tar":
        files = {key.replace("long" * 20, "long"): value for key, value in FILES}
    assert {file.name: file.size for file in contents.files} == {
        key: len(value) for key, value in files.items()
    }
    room = tmp_path / "room"
    room.mkdir()
    archive.unpack(path, room, {key: f"x/{key}" for key in files})
    assert {
        found.relative_to(room / "x").as_posix(): found.read_bytes()
        for found in room.rglob("*")
        if found.is_file()
    } == files


def test_only_what_is_wanted_is_written(tmp_path):
    path = write(tmp_path, "a1.tgz", python_tar(FILES))
    room = tmp_path / "room"
    room.mkdir()
    archive.unpack(path, room, {"assignment1/Go1.py": "b/Go1.py"})
    assert [found.name for found in room.rglob("*") if found.is_file()] == ["Go1.py"]


def test_the_hash_is_that_of_the_bytes_handed_in(tmp_path):
    import hashlib

    content = python_tar(FILES)
    path = write(tmp_path, "a1.tgz", content)
    assert archive.examine(path).sha256 == hashlib.sha256(content).hexdigest()


def test_rights_are_not_taken_over(tmp_path):
    mode = b"0007777\0"
    path = write(tmp_path, "a1.tgz", tgz(header("a/run", size=0, mode=mode), member("a/b")))
    room = tmp_path / "room"
    room.mkdir()
    archive.unpack(path, room, {"a/run": "run", "a/b": "b"})
    assert (room / "run").stat().st_mode & 0o7777 & ~0o755 == 0
    assert not (room / "b").stat().st_mode & 0o111


def written_by_windows() -> bytes:
    info = zipfile.ZipInfo("a/\u00e9.txt")
    info.create_system = 0
    return build_zip((info, b"x"))


NOTE = make_extended_header(b"g", comment="0123456789")
BLANK = header("a/empty", size=b" " * 12, mode=b" " * 7 + b"\0")
# What it is, its bytes, and the files in it.
ODD = {
    "a zip of Windows": (written_by_windows, ["a/\u00e9.txt"]),
    # No flag says UTF-8, and it is none: an e with an accent is 82 in code page 437.
    "a zip of an old PC": (
        lambda: build_zip(("a/caf#", b"x")).replace(b"caf#", b"caf\x82"),
        ["a/caf\u00e9"],
    ),
    "a git archive, with a header for all": (lambda: tar(NOTE, member("a/b")), ["a/b"]),
    "a header for all at the end": (lambda: tar(member("a/b"), NOTE), ["a/b"]),
    "fields of blanks": (lambda: tar(BLANK, member("a/b")), ["a/empty", "a/b"]),
    "packed from within, with ./": (
        lambda: tar(header("./", b"5"), header("./src/", b"5"), member("./src/a.py")),
        ["src/a.py"],
    ),
}


@pytest.mark.parametrize("title", ODD)
def test_odd_archives_of_honest_programs_are_taken(title, tmp_path):
    make, found = ODD[title]
    name = "a1.zip" if "zip" in title else "a1.tar"
    contents = archive.examine(write(tmp_path, name, make()))
    assert [file.name for file in contents.files] == found


def test_names_may_be_as_deep_as_the_limit_and_no_deeper():
    limits = IntakeLimits()
    deepest = "/".join("abcdefghijklmnopq")  # 16 folders, and a file in the last
    assert len(check_name(deepest, limits)) == limits.depth + 1
    with pytest.raises(ArchiveError, match="more than 16 deep"):
        check_name(f"z/{deepest}", limits)


def test_names_may_be_as_long_as_the_limit_and_no_longer():
    limits = IntakeLimits()
    longest = "/".join(["a" * 127] * 4) + "b"
    assert len(longest) == limits.name
    assert len(check_name(longest, limits)) == 4
    with pytest.raises(ArchiveError, match="the name has 513 bytes; the limit is 512"):
        check_name(f"{longest}b", limits)


def test_a_mended_name_keeps_its_folders_up_to_the_limit():
    parts = "abcdefghijklmnop"
    assert mend_name("/".join(parts)) == "/".join(parts)
    assert mend_name("/".join((*parts, "q"))) == "/".join((*parts[:-1], "p_q"))
    assert mend_name("/".join((*parts, "q", "r"))) == "/".join((*parts[:-1], "p_q_r"))


# --- odd ones from real classes


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a1.tgz", python_tar(FILES, "w"), "a tar archive, not compressed, though its name says"),
        ("a1.tgz", build_zip(*FILES), "a zip archive, though its name says"),
        ("a1.tar", python_tar(FILES), "compressed with gzip, though its name says"),
        ("a1", python_tar(FILES), "though its name does not say so"),
        (
            "a1.zip",
            python_tar(FILES, "w:xz"),
            "compressed with xz, though its name says a zip",
        ),
    ],
)
def test_what_an_archive_is_goes_by_its_content(name, content, said, tmp_path):
    contents = archive.examine(write(tmp_path, name, content))
    assert said in contents.remarks[0]
    assert len(contents.files) == len(FILES)


NO_ARCHIVES = [
    (b"", "an empty file"),
    (b"BZh91AY", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd\0", "a Zstandard file"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c\0", "a 7-Zip archive"),
    (b"%PDF-1.7", "a PDF document"),
    (b"\x7fELF\x02", "a program"),
    (b"\x89PNG\r\n", "a picture"),
    (b"\xd0\xcf\x11\xe0\xa1", "a Word document"),
    (b" \n<!DOCTYPE html>", "a web page"),
    (b"x < y\r\n\t", "a text file"),
    (b"x\x00y", "a file of an unknown kind"),
    (b"x\x1fy", "a file of an unknown kind"),
]


@pytest.mark.parametrize(("head", "words"), NO_ARCHIVES)
def test_what_a_file_seems_to_be_that_is_not_an_archive(head, words):
    assert archive_streams.kind(head) == ""
    assert archive_streams.describe_kind(head) == words


@pytest.mark.parametrize(
    ("files", "root", "said"),
    [
        (["a/x.py", "a/b/y.py"], "a/", ""),
        (["a/x.py", "util/y.py"], "a/", ""),
        (["mine/a/x.py", "mine/a/y.py"], "mine/a/", "wrapped in another, 'mine'"),
        (["A/x.py", "A/y.py"], "A/", "called 'A', it should be called a"),
        (["x.py", "readme.txt"], "", "not in a folder a"),
        (["x.py"], "", "not in a folder a"),
        (["b/x.py", "c/y.py"], "", "not in a folder a"),
    ],
)
def test_where_the_folder_is(files, root, said):
    found = locate_folder(files, "a")
    assert found.root == root
    assert said in found.remark
    assert bool(said) == bool(found.remark)


# --- kinds


@pytest.mark.parametrize("byte", [1, 126, 127, 128, 129, 254, 255])
@pytest.mark.parametrize("ending", [b"\0 ", b"\0\0", b"  ", b" \0"])
def test_a_header_has_one_of_two_checksums_and_no_other(byte, ending):
    block = bytearray(header("a"))
    block[0] = byte
    block[156] = 0x37  # the digit after the checksum, which does not belong to it
    block[148:156] = b" " * 8
    plain = sum(block)
    sums = {plain, plain - 256 * (byte > 127)}
    for one in sorted({*sums, plain - 256, plain + 1, plain - 1}):
        block[148:156] = b"%06o" % one + ending
        assert archive_streams.is_tar_header(bytes(block)) is (one in sums)
        assert archive_streams.kind(bytes(block)) == ("tar" if one in sums else "")
        assert not archive_streams.is_tar_header(bytes(block) + b"x")
        assert not archive_streams.is_tar_header(bytes(block)[:-1])


@pytest.mark.parametrize("text", [bytes(8), b" " * 8, b"nothing ", b"-0000001", b"-1\0     "])
def test_a_header_without_a_checksum_is_none_whatever_its_bytes_are(text):
    block = bytearray(b"\x80\x80\xff" + bytes(509))  # with blanks for the checksum: -1, signed
    block[148:156] = text
    assert not archive_streams.is_tar_header(bytes(block))


# --- and back


def test_a_packed_folder_passes_intake(tmp_path):
    source = tmp_path / "source"
    (source / "boards").mkdir(parents=True)
    (source / "Go1.py").write_text("x")
    (source / "boards" / "a.txt").write_text("y")
    (source / "link").symlink_to("/etc/passwd")
    (source / "folder-link").symlink_to("/etc")
    files, others = files_in(source)
    assert files == ["Go1.py", "boards/a.txt"]
    assert others == ["folder-link", "link"]
    pack(tmp_path / "a1.tgz", "assignment1", source, files)
    contents = archive.examine(str(tmp_path / "a1.tgz"))
    assert [f.name for f in contents.files] == ["assignment1/Go1.py", "assignment1/boards/a.txt"]
    assert contents.remarks == ()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a1.tgz", "source"]


def test_what_cannot_be_packed_is_named(tmp_path):
    (tmp_path / "Go1.py").write_text("x")
    missing = tmp_path / "missing"
    with pytest.raises(UsageError) as refused:
        pack(missing / "a1.tgz", "a1", tmp_path, ["Go1.py"])
    unfinished = missing / ".a1.tgz.unfinished"
    assert str(refused.value) == (
        f"cannot write {missing / 'a1.tgz'}: {unfinished}: No such file or directory"
    )
    with pytest.raises(UsageError) as refused:
        pack(tmp_path / "a1.tgz", "a1", tmp_path, ["Go2.py"])
    assert str(refused.value) == (
        f"cannot write {tmp_path / 'a1.tgz'}: {tmp_path / 'Go2.py'}: No such file or directory"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["Go1.py"]


def test_a_home_directory_is_not_packed(tmp_path):
    for number in range(4):
        (tmp_path / str(number)).touch()
    assert len(files_in(tmp_path, IntakeLimits(members=4))[0]) == 4
    (tmp_path / "a link").symlink_to("0")
    with pytest.raises(UsageError, match="the wrong folder"):
        files_in(tmp_path, IntakeLimits(members=4))


def test_the_modes_and_owners_that_are_packed(tmp_path):
    for name, mode in (("run", 0o700), ("text", 0o600), ("odd", 0o4777), ("shared", 0o666)):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(mode)
    pack(tmp_path / "a1.tgz", "a1", tmp_path, ["run", "text", "odd", "shared"])
    with tarfile.open(tmp_path / "a1.tgz") as packed:
        found = {one.name: one for one in packed}
    modes = {"a1": 0o755, "a1/run": 0o755, "a1/text": 0o644, "a1/odd": 0o755, "a1/shared": 0o644}
    assert {name: one.mode for name, one in found.items()} == modes
    assert {(one.uid, one.gid, one.uname, one.gname) for one in found.values()} == {(0, 0, "", "")}
    assert [name for name, one in found.items() if one.isdir()] == ["a1"]
