"""Hostile archives are refused with a reason, honest ones taken in, odd ones with a sentence."""

import contextlib
import os
import re
import resource
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from harness.errors import ArchiveError, UsageError
from harness.intake import archive, kinds
from harness.intake.archive_limits import MIB, IntakeLimits
from harness.intake.archive_writing import files_in, pack
from harness.intake.member_names import checked, mended
from harness.intake.placing import place
from tests.harness.hostile_archives import (
    ROSTER,
    extended,
    header,
    member,
    names,
    python_tar,
    tar,
    tgz,
    zipped,
)


def write(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


# --- hostile ones


def test_there_are_many():
    assert len(ROSTER) >= 60


@pytest.mark.parametrize("title", ROSTER)
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
    assert hostile.said in str(refused.value)
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


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("dot-dot", "a/../../evil"),
        ("absolute", "/tmp/evil"),
        ("zip-absolute", "/evil"),
        ("symbolic-link", "a/special"),
        ("hard-link", "a/special"),
        ("block-device", "a/special"),
        ("twice", "a/b"),
        ("case", "a/README"),
        ("unicode-form", "a/\u00e9"),
        ("escape", "a/\\x1b[2Jb"),
        ("bidirectional", "a/gpj.\\u202eexe"),
    ],
)
def test_what_is_refused_is_named(title, name, tmp_path):
    path = write(tmp_path, title, ROSTER[title].make())
    with pytest.raises(ArchiveError) as refused:
        archive.examine(path)
    assert str(refused.value).startswith(f"'{name}': ")


def test_every_limit_has_a_hostile_archive():
    """Each field of the limits is what some archive of the roster is refused by."""
    said = {
        "compressed": "big",
        "unpacked": "large",
        "members": "many-members",
        "ratio": "gzip-bomb",
        "depth": "deep",
        "name": "longest-name",
        "seconds": "",  # as test_time_is_bounded
    }
    assert set(said) == set(IntakeLimits._fields)
    assert set(filter(None, said.values())) <= set(ROSTER)


def test_the_standard_library_unpacks_nothing():
    """``extractall`` follows what an archive says of itself."""
    package = Path(archive.__file__).parents[1]
    users = [path for path in package.rglob("*.py") if re.search(r"\.extract", path.read_text())]
    assert users == []


class _Everything(dict[str, str]):
    """Wants every file, where the archive has it."""

    def get(self, key, default=None):  # type: ignore[override]
        return key


@pytest.mark.processes
def test_memory_is_bounded_for_the_whole_process(tmp_path):
    """Not only Python's own: what liblzma and zlib take, too."""
    paths = [
        write(tmp_path, title + ROSTER[title].suffix, ROSTER[title].make())
        for title in ("gzip-bomb", "xz-bomb", "xz-hungry", "zip-bomb", "long-name-bomb")
    ]
    code = (
        "import sys\n"
        "from harness.intake import archive\n"
        "from harness.errors import ArchiveError\n"
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
    with pytest.raises(ArchiveError, match="takes more than 0 seconds"):
        archive.examine(path, IntakeLimits(seconds=0))


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("unpacked", "unpacks to more than"),
        ("members", "members"),
        ("compressed", "the limit is 1"),
    ],
)
def test_each_cap_counts(limit, said, tmp_path):
    path = write(tmp_path, "a1.tgz", tgz(member("a/1", b"x" * 600), member("a/2", b"y" * 600)))
    archive.examine(path)
    with pytest.raises(ArchiveError, match=said):
        archive.examine(path, IntakeLimits()._replace(**{limit: 1}))


# --- honest ones

FILES = [
    ("assignment1/Go1.py", b"print('hi')\n"),
    ("assignment1/readme.txt", "Zoë, 123\n".encode()),
    ("assignment1/boards/empty.txt", b""),
    ("assignment1/" + "long" * 20 + "/" + "long" * 10 + ".py", b"#" * 3000),
]


def honest() -> dict[str, bytes]:
    plain = python_tar(FILES, "w")
    return {
        "a1.tgz": python_tar(FILES),
        "a1.tar": plain,
        "a1.tar.xz": python_tar(FILES, "w:xz"),
        "a1.zip": zipped(*FILES),
        "gnu.tar": subprocess_tar("gnu"),
        "ustar.tar": subprocess_tar("ustar"),
        "v7.tar": subprocess_tar("v7"),
        "two-gzips.tgz": _two_gzips(plain),
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
    import gzip

    half = len(plain) // 2
    return gzip.compress(plain[:half]) + gzip.compress(plain[half:]) + bytes(512)


@pytest.mark.processes
@pytest.mark.parametrize("name", honest())
def test_honest_archives_come_out_as_they_went_in(name, tmp_path):
    path = write(tmp_path, name, honest()[name])
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


def test_zip_of_windows_and_of_an_old_pc(tmp_path):
    info = zipfile.ZipInfo("assignment1/\u00e9.txt")
    info.create_system = 0
    path = write(tmp_path, "a1.zip", zipped((info, b"x")))
    assert archive.examine(path).files[0].name == "assignment1/\u00e9.txt"


def test_a_git_archive_has_a_header_for_all(tmp_path):
    note = extended(b"g", comment="0123456789")
    path = write(tmp_path, "a1.tar", tar(note, member("a/b")))
    assert [file.name for file in archive.examine(path).files] == ["a/b"]


def test_fields_of_blanks_are_numbers_of_nothing(tmp_path):
    """Some programs leave the fields of a header blank that say nothing."""
    blank = header("a/empty", size=b" " * 12, mode=b" " * 7 + b"\0")
    path = write(tmp_path, "a1.tar", tar(blank, member("a/b")))
    assert [(file.name, file.size) for file in archive.examine(path).files] == [
        ("a/empty", 0),
        ("a/b", 1),
    ]


def test_what_a_header_says_beside_name_and_size_needs_no_member(tmp_path):
    path = write(tmp_path, "a1.tar", tar(member("a/b"), extended(b"g", comment="the end")))
    assert [file.name for file in archive.examine(path).files] == ["a/b"]


def test_names_of_an_old_pc_are_in_its_code_page(tmp_path):
    """No flag says UTF-8, and it is none: an e with an accent is 82 in code page 437."""
    old = zipped(("assignment1/caf#.txt", b"x")).replace(b"caf#", b"caf\x82")
    (file,) = archive.examine(write(tmp_path, "a1.zip", old)).files
    assert file.name == "assignment1/caf\u00e9.txt"


def test_names_may_be_as_deep_as_the_limit_and_no_deeper():
    limits = IntakeLimits()
    deepest = "/".join("abcdefghijklmnopq")  # 16 folders, and a file in the last
    assert len(checked(deepest, limits)) == limits.depth + 1
    with pytest.raises(ArchiveError, match="more than 16 deep"):
        checked(f"z/{deepest}", limits)


def test_a_mended_name_keeps_its_folders_up_to_the_limit():
    parts = "abcdefghijklmnop"
    assert mended("/".join(parts)) == "/".join(parts)
    assert mended("/".join((*parts, "q"))) == "/".join((*parts[:-1], "p_q"))
    assert mended("/".join((*parts, "q", "r"))) == "/".join((*parts[:-1], "p_q_r"))


# --- odd ones from real classes


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a1.tgz", python_tar(FILES, "w"), "a tar archive, not compressed, though its name says"),
        ("a1.tgz", zipped(*FILES), "a zip archive, though its name says"),
        ("a1.tar", python_tar(FILES), "compressed with gzip, though its name says"),
        ("a1", python_tar(FILES), "though its name does not say so"),
    ],
)
def test_what_an_archive_is_goes_by_its_content(name, content, said, tmp_path):
    contents = archive.examine(write(tmp_path, name, content))
    assert said in contents.remarks[0]
    assert len(contents.files) == len(FILES)


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
    found = place(files, "a")
    assert found.root == root
    assert said in found.remark
    assert bool(said) == bool(found.remark)


# --- kinds


def test_signed_checksums_of_old_programs_count():
    block = bytearray(header("\u00e9"))
    block[148:156] = b" " * 8
    signed = sum(byte - 256 if byte > 127 else byte for byte in block)
    block[148:156] = b"%06o\0 " % signed
    assert kinds.is_tar_header(bytes(block))
    block[0] += 1
    assert not kinds.is_tar_header(bytes(block))


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


def test_a_home_directory_is_not_packed(tmp_path):
    for number in range(5):
        (tmp_path / str(number)).touch()
    with pytest.raises(UsageError, match="the wrong folder"):
        files_in(tmp_path, IntakeLimits(members=4))
