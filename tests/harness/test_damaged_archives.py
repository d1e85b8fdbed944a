"""Archives that are damaged, odd or too large: read as other programs read them, or refused."""

from __future__ import annotations

import io
import time
import zipfile

import pytest

from harness.archives import reading
from harness.archives import reading as zip_archive
from harness.archives.archive_streams import IntakeLimits, Meter, Stream, check_name
from harness.core.errors import (
    ArchiveError,
)
from tests.harness.archives import make_zip
from tests.harness.hostile_archives import header, member


def read_tar(*parts: bytes) -> list[tuple[str, int]]:
    stream = Stream(iter([b"".join(parts)]), Meter(IntakeLimits(), 1 << 20))
    return [(one.name, one.size) for one in reading.tar_members(stream)]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            (header("a", size=b"\x80" + bytes(10) + b"\x05"), b"12345" + bytes(507), bytes(1024)),
            "",
        ),
        ((header("a", size=700), bytes(512)), "the archive is cut off in the middle of this"),
        ((header("a", size=5), bytes(100)), "the archive is cut off in the middle of this member"),
        (
            (header("x", b"x", 20), bytes(10)),
            "the archive is cut off in the middle of this member",
        ),
        ((member("x", b"12 size=9.5\n", b"x"), header("a")), "it is damaged: the size is not a"),
        ((member("x", b"11 size=12\n", b"x"), header("a", size=5), bytes(512)), ""),
        ((member("x", b"8 a=bcd\n11 size=12\n", b"x"), header("a"), bytes(512)), ""),
    ],
)
def test_headers_that_are_seldom(parts, said):
    if said:
        with pytest.raises(ArchiveError) as told:
            read_tar(*parts)
        assert told.value.message.startswith(said)
        assert told.value.member in ("a", "x")
    else:
        ((name, size),) = read_tar(*parts)
        assert (name, size) in [("a", 5), ("a", 12)]


DAMAGED = "it is damaged: a number in a header cannot be read"
NAMED_BY_OTHERS = [
    (header("a"), ("a", False, 0)),
    (header("a/"), ("a/", True, 0)),
    (header("a", b"5"), ("a", True, 0)),
    (member("x", b"long\0", b"L") + header("a"), ("long", False, 0)),
    (member("x", b"long/\0", b"L") + header("a"), ("long/", True, 0)),
    (member("x", b"elsewhere\0", b"K") + header("a"), ("a", False, 0)),
    (member("x", b"elsewhere\0", b"K") + member("x", b"long\0", b"L") + header("a"),
     ("long", False, 0)),
    (member("x", b"11 path=b/\n", b"x") + header("a"), ("b/", True, 0)),
    (member("x", b"11 path=b/\n", b"x") + header("a", b"7"), ("b/", True, 0)),
    (member("x", b"11 path=bc\n", b"x") + header("a/"), ("bc", True, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "found"), NAMED_BY_OTHERS)
def test_a_member_is_named_by_what_stands_before_it(parts, found):
    stream = Stream(iter([parts, bytes(1024)]), Meter(IntakeLimits(), 1 << 20))
    assert [(one.name, one.is_folder, one.size) for one in reading.tar_members(stream)] == [found]


@pytest.mark.parametrize(
    "digits", [b"00000000009\0", b"-0000000001\0", b"        -1\0 ", b"x" * 12]
)
def test_a_number_that_cannot_be_read_is_told_with_its_member(digits):
    with pytest.raises(ArchiveError) as told:
        read_tar(header("a", size=digits), bytes(1024))
    assert (told.value.message, told.value.member) == (DAMAGED, "a")


@pytest.mark.parametrize("digits", [b"00000000000\0", b"\0" * 12, b" " * 12, b"\x80" + bytes(11)])
def test_nought_is_written_in_many_ways(digits):
    assert read_tar(header("a", size=digits), bytes(1024)) == [("a", 0)]


def read_zip(data: bytes) -> list[bytes]:
    """Return the contents of the members."""
    found = zip_archive.zip_members(io.BytesIO(data), Meter(IntakeLimits(), len(data)))
    return [b"".join(one.content) for one in found]


def test_a_member_that_is_not_where_the_directory_says():
    whole = make_zip([("a", b"content")])
    for place, byte in [(0, b"p"), (3, b"\5")]:
        damaged = whole[:place] + byte + whole[place + 1 :]
        with pytest.raises(ArchiveError) as told:
            read_zip(damaged)
        said = "it is damaged: the member is not where the directory says"
        assert (told.value.message, told.value.member) == (said, "a")


def test_a_member_that_is_longer_than_the_file():
    """It says so in the directory: packed size and size, 20 and 24 bytes behind its beginning."""
    whole = bytearray(make_zip([("a", b"content")]))
    place = whole.index(b"PK\1\2")
    for at in (20, 24):
        whole[place + at : place + at + 4] = (7000).to_bytes(4, "little")
    with pytest.raises(ArchiveError) as told:
        read_zip(bytes(whole))
    said = "the archive is cut off in the middle of this member"
    assert (told.value.message, told.value.member) == (said, "a")


def test_a_long_directory_is_read_once():
    """A copy of it for each member took 20 s of the largest archive that is accepted."""
    entries = []
    for number in range(9_999):
        entry = zipfile.ZipInfo(str(number))
        entry.comment = bytes(3_000)
        entries.append((entry, b""))
    whole = make_zip(entries)
    begun = time.process_time()
    assert len(read_zip(whole)) == 9_999
    assert time.process_time() - begun < 5


def test_what_programs_of_their_own_note_in_a_zip_is_left_aside():
    """Info-ZIP notes times and users with each member, as an "extra field" of the directory."""
    entries = []
    for name in ("a", "b", "c"):
        entry = zipfile.ZipInfo(name)
        entry.extra = b"ux\x0b\0\1\4" + bytes(4) + b"\4" + bytes(4)
        entry.comment = b"of the last night"
        entries.append((entry, b"x"))
    whole = make_zip(entries)
    found = zip_archive.zip_members(io.BytesIO(whole), Meter(IntakeLimits(), len(whole)))
    assert [member.name for member in found] == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["a/b", "a//b/", "./a/./b", "a/b/."])
def test_a_name_has_no_parts_that_say_nothing(name):
    assert check_name(name, IntakeLimits()) == ("a", "b")
