"""What happens seldom while archives are read, each branch by itself."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import (
    ArchiveError,
    ReadingFailedError,
    UsageError,
)
from harness.intake import (
    archive,
    archive_writing,
    confined_reading,
    frames,
    reader_server,
    reading,
    tar,
)
from harness.intake import zip as zip_archive
from harness.intake.archive_streams import IntakeLimits, Meter, Stream
from harness.intake.members import ArchiveMember, check_name
from tests.harness.archives import make_zip
from tests.harness.hostile_archives import header, member


def test_an_archive_may_have_as_many_members_as_the_limit():
    meter = Meter(IntakeLimits(members=3), 100)
    for _ in range(3):
        meter.member()
    with pytest.raises(ArchiveError, match="more members than the limit of 3"):
        meter.member()


def test_an_archive_may_unpack_to_as_many_bytes_as_the_limit():
    meter = Meter(IntakeLimits(unpacked=1000), 100)
    meter.count_unpacked(400)
    meter.count_unpacked(600)
    with pytest.raises(ArchiveError, match="more than the limit of 1,000 bytes"):
        meter.count_unpacked(1)


def test_a_reader_of_archives_gives_up_all_rights(monkeypatch):
    done: list[Any] = []
    kernel = reader_server.kernel
    for name in ("drop_capabilities", "no_new_privileges", "prctl"):
        monkeypatch.setattr(kernel, name, lambda *words, name=name: done.append((name, *words)))
    monkeypatch.setattr(reader_server.landlock, "abi", lambda: 4)
    monkeypatch.setattr(
        reader_server.landlock, "confine", lambda *words: done.append(("confine", *words))
    )
    reader_server._give_up()
    assert done == [
        ("drop_capabilities",),
        ("no_new_privileges",),
        ("prctl", "not dumpable", kernel.PR_SET_DUMPABLE, 0),
        ("confine", (), 4),
    ]
    monkeypatch.setattr(reader_server.landlock, "abi", lambda: 0)
    reader_server._give_up()
    assert [one[0] for one in done[4:]] == [one[0] for one in done[:3]]


def test_a_child_ends_whatever_stops_it(monkeypatch):
    """Else it would go on as a second server."""

    class EndedError(BaseException):
        pass

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    def end(status: int) -> None:
        raise EndedError(status)

    monkeypatch.setattr(reader_server.os, "fork", lambda: 0)
    monkeypatch.setattr(reader_server.os, "_exit", end)
    monkeypatch.setattr(reader_server, "_answer", fail)
    got: Any = SimpleNamespace(archive=-1, sink=-1)
    control: Any = SimpleNamespace(close=lambda: None)
    with pytest.raises(EndedError) as told:
        reader_server._fork(got, b"", control, fail)  # type: ignore[arg-type]
    assert told.value.args == (0,)


def test_a_folder_that_cannot_be_read_is_told():
    with pytest.raises(UsageError, match=r"^cannot read /no/such/place: No such file or direct"):
        archive_writing.files_in(Path("/no/such/place"))


def test_a_reader_that_cannot_be_asked_is_told(monkeypatch):
    reader = confined_reading.ConfinedReader("pass")

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(reader, "_send", fail)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ReadingFailedError, match=r"^no archive can be read: no room$"):
        reader.read(io.FileIO(os.devnull), Meter(IntakeLimits(), 0))  # type: ignore[arg-type]
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_child_is_heard_piece_by_piece_and_in_time():
    source, writing = os.pipe()
    heard = confined_reading._Pipe(source, 60)
    os.write(writing, b"abcdef")
    assert [heard.take(2), heard.take(0), heard.take(3)] == [b"ab", b"", b"cde"]
    os.close(writing)
    with pytest.raises(ReadingFailedError, match=r"^the reader of an archive died$"):
        heard.take(2)
    heard.close()
    source, writing = os.pipe()
    for seconds in (-1, 0.01):
        with pytest.raises(ReadingFailedError, match=r"archive did not end in time$"):
            confined_reading._Pipe(source, seconds).take(1)
    os.close(source)
    os.close(writing)


@pytest.mark.parametrize(
    ("names", "root", "remark"),
    [
        (["go/a", "go/b"], "go/", ""),
        (["go/go/a", "go/b"], "go/", ""),
        (["go/go/a", "go/go/b"], "go/go/", "The folder go is wrapped in another of the same name:"
         " one is expected."),
        (["go/go/go/a"], "go/go/go/", "The folder go is wrapped in another of the same name:"
         " one is expected."),
    ],
)  # fmt: skip
def test_a_folder_within_one_of_its_name(names, root, remark):
    assert archive.place(names, "go") == (root, remark)


def read_tar(*parts: bytes) -> list[tuple[str, int]]:
    stream = Stream(iter([b"".join(parts)]), Meter(IntakeLimits(), 1 << 20))
    return [(one.name, one.size) for one in tar.members(stream)]


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
    assert [(one.name, one.is_folder, one.size) for one in tar.members(stream)] == [found]


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
    found = zip_archive.members(io.BytesIO(data), Meter(IntakeLimits(), len(data)))
    return [b"".join(one.content) for one in found]


def test_a_member_that_is_not_where_the_directory_says():
    whole = make_zip([("a", b"content")])
    for place, byte in [(0, b"p"), (3, b"\5")]:
        damaged = whole[:place] + byte + whole[place + 1 :]
        with pytest.raises(ArchiveError) as told:
            read_zip(damaged)
        said = "it is damaged: the member is not where the directory says"
        assert (told.value.message, told.value.member) == (said, "a")


def test_a_member_whose_place_is_behind_the_end():
    """The directory's own place of the member, 42 bytes behind its beginning."""
    whole = bytearray(make_zip([("a", b"content"), ("b", b"more")]))
    place = whole.rindex(b"PK\1\2") + 42
    whole[place : place + 4] = (len(whole) - 10).to_bytes(4, "little")
    with pytest.raises(ArchiveError) as told:
        read_zip(bytes(whole))
    assert told.value.message == "it is damaged: the member is not where the directory says"


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


def test_compressed_data_that_is_damaged():
    whole = make_zip([("a", b"content" * 100)], zipfile.ZIP_DEFLATED)
    assert read_zip(whole) == [b"content" * 100]
    start = whole.index(b"a") + 1
    with pytest.raises(ArchiveError) as told:
        read_zip(whole[:start] + b"\xff" + whole[start + 1 :])
    with pytest.raises(zlib.error) as reason:
        zlib.decompressobj(-15).decompress(b"\xff" + whole[start + 1 :])
    assert told.value.message == f"its compressed data is damaged ({reason.value})"
    assert told.value.member == "a"


@pytest.mark.parametrize(
    ("raw", "flags", "name"),
    [
        (b"a", 0, "a"),
        ("ä".encode(), 0, "ä"),
        ("ä".encode(), 0x800, "ä"),
        (b"\x84", 0, "ä"),  # as the first PC wrote it
        (b"\x84", 0x800, "\udc84"),  # UTF-8 was promised
        (b"\x84", 0x808, "\udc84"),
        (b"\x84", 0xF7FF, "ä"),
    ],
)
def test_a_name_is_read_as_it_was_written(raw, flags, name):
    assert zip_archive._decode(raw, flags) == name


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, b"a reading"),
        (ArchiveError("it is damaged", "a"), (frames.REFUSED, ["it is damaged", "a"])),
        (ArchiveError("it is empty"), (frames.REFUSED, ["it is empty", ""])),
        (KeyError("x"), (frames.FAULT, "KeyError: 'x'")),
    ],
)
def test_what_a_child_says_of_an_archive(error, said, monkeypatch, tmp_path):
    """It reads from the beginning, wherever its parent has been, and knows how long it is."""
    seen: list[Any] = []

    def read(file: Any, meter: Meter) -> Any:
        seen.append((file.read(), meter.limits, meter._compressed))
        if error:
            raise error
        return "a reading"

    monkeypatch.setattr(reader_server, "_confine", lambda *words: seen.append(words))
    monkeypatch.setattr(
        reader_server.frames, "write_reading", lambda sink, found: sink.write(found.encode())
    )
    request = reader_server.Request(IntakeLimits(), 5)
    place = tmp_path / "a"
    place.write_bytes(b"0123456789")
    archive = os.open(place, os.O_RDONLY)
    os.lseek(archive, 4, os.SEEK_SET)
    heard, sink = os.pipe()
    reader_server._answer(reader_server._ReceivedArchive(request, archive, sink), b"calls", read)
    assert seen[0] == (request, b"calls")
    assert seen[1] == (b"0123456789", IntakeLimits(), 10)
    got = os.read(heard, 10_000)
    os.close(heard)
    if error is None:
        assert got == said
    else:
        wanted = io.BytesIO()
        frames.say(wanted, *said)
        assert got == wanted.getvalue()


def test_what_is_not_read_of_a_member_is_passed_over():
    said = io.BytesIO()
    members = [
        ArchiveMember(name, False, False, len(content), iter([content]))
        for name, content in (("a", b"of the first"), ("b", b"of the second"))
    ]
    frames.write_reading(said, reading.OpenArchive("tar", iter(members)))
    said.seek(0)
    assert frames.read_kind(said.read) == "tar"
    found = frames.read_members(said.read, 100)
    assert next(found).name == "a"
    second = next(found)
    assert (second.name, b"".join(second.content)) == ("b", b"of the second")
    assert next(found, None) is None


def test_what_programs_of_their_own_note_in_a_zip_is_left_aside():
    """Info-ZIP notes times and users with each member, as an "extra field" of the directory."""
    entries = []
    for name in ("a", "b", "c"):
        entry = zipfile.ZipInfo(name)
        entry.extra = b"ux\x0b\0\1\4" + bytes(4) + b"\4" + bytes(4)
        entry.comment = b"of the last night"
        entries.append((entry, b"x"))
    whole = make_zip(entries)
    found = zip_archive.members(io.BytesIO(whole), Meter(IntakeLimits(), len(whole)))
    assert [member.name for member in found] == ["a", "b", "c"]


def test_a_directory_of_a_zip_with_more_than_it_says():
    whole = bytearray(make_zip([("a", b"x"), ("b", b"y")]))
    whole[-14:-10] = b"\1\0\1\0"  # members: one
    with pytest.raises(ArchiveError) as told:
        list(zip_archive.members(io.BytesIO(whole), Meter(IntakeLimits(), len(whole))))
    assert told.value.message == ("it is damaged: its directory has more members than it says")


class Noting:
    """Notes what is called."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda: self.done.append(name)


def test_who_closes_a_reader_waits_for_its_server():
    noting = Noting()
    reader = confined_reading.ConfinedReader("pass")
    reader._server = noting, noting  # type: ignore[assignment]
    reader.close()
    assert noting.done == ["close", "wait"]
    reader.close()
    assert noting.done == ["close", "wait"]


def test_a_reader_waits_for_a_server_that_died_before_it_starts_another(monkeypatch):
    noting = Noting()

    def send(control: Any, *_: Any) -> None:
        if control is noting:
            raise BrokenPipeError

    reader = confined_reading.ConfinedReader("pass")
    reader._server = noting, noting  # type: ignore[assignment]
    monkeypatch.setattr(confined_reading.socket, "send_fds", send)
    monkeypatch.setattr(confined_reading, "_start", lambda program: ("another", program))
    reader._send(b"", [])
    assert noting.done == ["close", "wait"]
    assert reader._server == ("another", "pass")


def test_a_reader_of_archives_ends_when_its_socket_breaks(monkeypatch):
    def fail(_control: object) -> None:
        raise ConnectionResetError

    for place, names in [
        (reader_server.os, ("setsid",)),
        (reader_server.signal, ("signal", "pthread_sigmask")),
        (reader_server.gc, ("freeze", "disable")),
        (reader_server.seccomp, ("computing",)),
        (reader_server, ("_give_up",)),
    ]:
        for name in names:
            monkeypatch.setattr(place, name, lambda *_: None)
    monkeypatch.setattr(reader_server.socket, "socket", lambda fileno: None)
    monkeypatch.setattr(reader_server, "_receive", fail)
    reader_server.main(0)


@pytest.mark.parametrize("name", ["a/b", "a//b/", "./a/./b", "a/b/."])
def test_a_name_has_no_parts_that_say_nothing(name):
    assert check_name(name, IntakeLimits()) == ("a", "b")


@pytest.mark.parametrize(("pid", "done"), [(7, []), (0, ["close", "answer", "exit 0"])])
def test_an_archive_is_read_by_a_child_and_its_server_goes_on(pid, done, monkeypatch):
    noting = Noting()
    monkeypatch.setattr(reader_server.os, "fork", lambda: pid)
    monkeypatch.setattr(reader_server.os, "_exit", lambda code: noting.done.append(f"exit {code}"))
    monkeypatch.setattr(reader_server, "_answer", lambda *_: noting.done.append("answer"))
    archive, sink = os.pipe()
    got = reader_server._ReceivedArchive(reader_server.Request(IntakeLimits(), 5), archive, sink)
    reader_server._fork(got, b"", noting, lambda *_: None)  # type: ignore[arg-type, return-value]
    assert noting.done == done
    for descriptor in (archive, sink):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_server_that_has_no_room_for_a_child_goes_on(monkeypatch):
    def fork() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(reader_server.os, "fork", fork)
    archive, sink = os.pipe()
    got = reader_server._ReceivedArchive(reader_server.Request(IntakeLimits(), 5), archive, sink)
    reader_server._fork(got, b"", Noting(), lambda *_: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(sink)  # so who asked hears that the child has ended
