"""Archives that nobody should take in, made byte by byte, each with what is said of it.

``python -m tests.harness.hostile_archives FOLDER`` writes them all.
"""

import gzip
import hashlib
import io
import lzma
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

MIB = 1 << 20


class Hostile(NamedTuple):
    """An archive, and a part of the sentence it is refused with."""

    suffix: str
    make: Callable[[], bytes]
    said: str


# --- tar, header by header


def header(
    name: str | bytes,
    kind: bytes = b"0",
    size: int | bytes = 0,
    link: str = "",
    mode: bytes = b"0000644\0",
) -> bytes:
    raw = name.encode() if isinstance(name, str) else name
    block = bytearray(512)
    block[: min(len(raw), 100)] = raw[:100]
    block[100:108] = mode
    block[124:136] = size if isinstance(size, bytes) else b"%011o\0" % size
    block[156:157] = kind
    block[157 : 157 + len(link)] = link.encode()
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def member(name: str | bytes, content: bytes = b"x", kind: bytes = b"0") -> bytes:
    return header(name, kind, len(content)) + content + bytes(-len(content) % 512)


def tar(*parts: bytes) -> bytes:
    return b"".join(parts) + bytes(1024)


def tgz(*parts: bytes) -> bytes:
    return gzip.compress(tar(*parts), mtime=0)


def names(*several: str | bytes) -> Callable[[], bytes]:
    return lambda: tgz(*(member(name) for name in several))


def special(kind: bytes, link: str = "") -> Callable[[], bytes]:
    return lambda: tgz(header("a/special", kind, link=link))


def pax(**records: str) -> bytes:
    return extended(b"x", **records)


def extended(kind: bytes, **records: str) -> bytes:
    """An extended header, for the next member (x) or for all (g)."""
    content = b""
    for key, value in records.items():
        rest = f" {key}={value}\n".encode()
        length = len(rest) + 1
        while len(str(length)) + len(rest) != length:
            length += 1
        content += str(length).encode() + rest
    return member("pax", content, kind)


def with_link_then_file() -> bytes:
    """A link to outside, and a file that would be written through it."""
    return tgz(header("a/door", b"2", link="/tmp"), member("a/door/through"))


# --- bombs, which must be made without being bombs


def zeros(compress: Callable[[], "zlib._Compress | lzma.LZMACompressor"], size: int) -> bytes:
    """A tar of one file of zeros, compressed piece by piece."""
    stream, out = compress(), []
    out.append(stream.compress(header("a/zeros", size=size)))
    for _ in range(size // MIB):
        out.append(stream.compress(bytes(MIB)))
    out.append(stream.flush())
    return b"".join(out)


def gzip_bomb() -> bytes:
    return zeros(lambda: zlib.compressobj(9, zlib.DEFLATED, 31), 256 * MIB)


def xz_bomb() -> bytes:
    return zeros(lambda: lzma.LZMACompressor(preset=0), 256 * MIB)


def xz_hungry() -> bytes:
    """An xz file of a few bytes that asks for a dictionary of a gigabyte."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 4096}]
    data = bytearray(lzma.compress(tar(member("a/b")), filters=filters))
    # The block header: size, flags, filter id, size of properties, dictionary size, padding, CRC.
    data[12 + 4] = 36  # 1 GiB
    length = (data[12] + 1) * 4
    data[12 + length - 4 : 12 + length] = struct.pack("<I", zlib.crc32(data[12 : 12 + length - 4]))
    return bytes(data)


def large() -> bytes:
    """No bomb, as far as its size goes, and yet too much: 129 MiB in about three."""
    stream, out = zlib.compressobj(1, zlib.DEFLATED, 31), []
    out.append(stream.compress(header("a/large", size=129 * MIB)))
    for number in range(129 * MIB // 4096):
        out.append(stream.compress(hashlib.sha512(b"%d" % number).digest() + bytes(4096 - 64)))
    out.append(stream.flush())
    return b"".join(out)


def many_members() -> bytes:
    return tgz(*(header(f"a/{number}") for number in range(10_001)))


def long_name_bomb() -> bytes:
    """A long name that claims eight gigabytes."""
    return tgz(header("././@LongLink", b"L", b"77777777777\0"), b"x" * 512)


def extension_chain() -> bytes:
    return tgz(*(member("././@LongLink", b"a/b\0", b"L") for _ in range(1_000)), member("c"))


# --- zip


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def zip_of(mode: int) -> bytes:
    info = zipfile.ZipInfo("a/special")
    info.external_attr = mode << 16
    info.create_system = 3
    return zipped((info, b"/etc/passwd"))


def zip_bomb() -> bytes:
    return zipped(("a/zeros", bytes(64 * MIB)))


def zip_overlapping() -> bytes:
    """Two directory entries over one member's data: the trick of the best bombs."""
    data = zipped(("a/one", b"x" * 1000))
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[start:end]
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, 2 * len(entry), start, 0)
    return data[:start] + entry + entry + tail


def zip_two_names() -> bytes:
    """Another name before the data than in the directory."""
    data = zipped(("a/safe", b"x"))
    return data.replace(b"a/safe", b"../saf", 1)


def zip_hidden_member() -> bytes:
    """A member before all those of the directory, which programs that read from the front see."""
    hidden, data = zipped(("a/b", b"evil")), bytearray(zipped(("a/b", b"x")))
    size = hidden.index(b"PK\x01\x02")
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    data[start + 42 : start + 46] = struct.pack("<I", size)
    data[end + 16 : end + 20] = struct.pack("<I", start + size)
    return hidden[:size] + bytes(data)


def zip_large_member() -> bytes:
    """A member of 2 GiB, as Python's own module says it: in a record of its own."""
    data = bytearray(zipped(("a/b", b"x")))
    place = data.index(b"PK\x01\x02")
    data[place + 20 : place + 28] = b"\xff" * 8
    return bytes(data)


def end_with(place: int, content: bytes) -> bytes:
    """An archive with other bytes in the record at its end."""
    data = bytearray(zipped(("a/b", b"x")))
    place += data.index(b"PK\x05\x06")
    data[place : place + len(content)] = content
    return bytes(data)


def zip_encrypted() -> bytes:
    data = bytearray(zipped(("a/b", b"secret")))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def zip_wrong_size() -> bytes:
    """A member that unpacks to more than its header promises."""
    data = bytearray(zipped(("a/b", b"x" * 1000)))
    place = data.index(b"PK\x01\x02")
    data[place + 24 : place + 28] = struct.pack("<I", 10)
    return bytes(data)


def zip_endless_directory() -> bytes:
    return b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 65_535, 65_535, 0, 0, 0)


def cut(data: bytes, share: float) -> bytes:
    return data[: int(len(data) * share)]


def noise() -> bytes:
    """Bytes that do not compress, and yet the same every time."""
    state, out = 1, bytearray()
    for _ in range(5_000):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(state >> 16 & 0xFF)
    return bytes(out)


SELF = "it is a self-extracting zip archive, expected a .tgz"
ROSTER: dict[str, Hostile] = {
    # names that lead elsewhere
    "dot-dot": Hostile(".tgz", names("a/../../evil"), "leads out of the folder"),
    "dot-dot-first": Hostile(".tgz", names("../evil"), "leads out of the folder"),
    "dot-dot-alone": Hostile(".tgz", names(".."), "leads out of the folder"),
    "absolute": Hostile(".tgz", names("/tmp/evil"), "is absolute"),
    "drive": Hostile(".tgz", names("C:/evil"), "is absolute"),
    "backslashes": Hostile(".tgz", names("..\\evil"), "backslash"),
    "long-name-dot-dot": Hostile(
        ".tgz",
        lambda: tgz(member("././@LongLink", b"../evil\0", b"L"), member("safe")),
        "leads out of the folder",
    ),
    "pax-dot-dot": Hostile(
        ".tgz", lambda: tgz(pax(path="../evil"), member("safe")), "leads out of the folder"
    ),
    "zip-dot-dot": Hostile(".zip", lambda: zipped(("../evil", b"x")), "leads out of the folder"),
    "zip-absolute": Hostile(".zip", lambda: zipped(("/evil", b"x")), "is absolute"),
    # names that are no names
    "newline": Hostile(".tgz", names("a/b\nc"), "control character"),
    "escape": Hostile(".tgz", names("a/\x1b[2Jb"), "control character"),
    "bidirectional": Hostile(".tgz", names("a/gpj.\u202eexe"), "bidirectional"),
    "invisible": Hostile(".tgz", names("a/b\u200b.py"), "invisible"),
    "line-separator": Hostile(".tgz", names("a/b\u2028c"), "line separator"),
    "not-utf-8": Hostile(".tgz", names(b"a/caf\xe9"), "not UTF-8"),
    "nameless": Hostile(".tgz", lambda: tgz(member("./")[:0] + member("")), "without a name"),
    "long-name": Hostile(
        ".tgz", lambda: tgz(pax(path="a/" + "b" * 300), member("c")), "300 bytes"
    ),
    "longest-name": Hostile(
        ".tgz",
        lambda: tgz(pax(path="/".join(["b" * 150] * 4)), member("c")),
        "the name has 603 bytes; the limit is 512",
    ),
    "deep": Hostile(".tgz", lambda: tgz(pax(path="a/" * 100 + "b"), member("c")), "deep"),
    # names that clash
    "twice": Hostile(".tgz", names("a/b", "a/b"), "occurs twice"),
    "case": Hostile(".tgz", names("a/Readme", "a/README"), "in case or Unicode form only"),
    "folder-case": Hostile(".tgz", names("a/B/c", "a/b/d"), "in case or Unicode form only"),
    "unicode-form": Hostile(
        ".tgz", names("a/e\u0301", "a/\u00e9"), "in case or Unicode form only"
    ),
    "file-and-folder": Hostile(".tgz", names("a/b", "a/b/c"), "both a file and a folder"),
    "folder-and-file": Hostile(".tgz", names("a/b/c", "a/b"), "both a file and a folder"),
    "zip-twice": Hostile(
        ".zip", lambda: zipped(("a/b", b"1"), ("a/B", b"2")), "in case or Unicode form only"
    ),
    # what is neither file nor folder
    "symbolic-link": Hostile(".tgz", special(b"2", "/etc/passwd"), "symbolic link"),
    "hard-link": Hostile(".tgz", special(b"1", "a/b"), "hard link"),
    "link-then-file": Hostile(".tgz", with_link_then_file, "symbolic link"),
    "character-device": Hostile(".tgz", special(b"3"), "device"),
    "block-device": Hostile(".tgz", special(b"4"), "device"),
    "pipe": Hostile(".tgz", special(b"6"), "named pipe"),
    "sparse": Hostile(".tgz", special(b"S"), "sparse"),
    "pax-sparse": Hostile(
        ".tgz", lambda: tgz(pax(**{"GNU.sparse.major": "1"}), member("a/b")), "sparse"
    ),
    "unknown-kind": Hostile(".tgz", special(b"Z"), "unknown kind"),
    "zip-link": Hostile(".zip", lambda: zip_of(0o120777), "symbolic link"),
    "zip-device": Hostile(".zip", lambda: zip_of(0o020666), "device"),
    # too much of everything
    "gzip-bomb": Hostile(".tgz", gzip_bomb, "as a zip bomb does"),
    "xz-bomb": Hostile(".tar.xz", xz_bomb, "as a zip bomb does"),
    "xz-hungry": Hostile(".tar.xz", xz_hungry, "needs more than the limit of"),
    "zip-bomb": Hostile(".zip", zip_bomb, "as a zip bomb does"),
    "zip-overlapping": Hostile(".zip", zip_overlapping, "another member's"),
    "large": Hostile(".tgz", large, "it unpacks to more than the limit of 134,217,728 bytes"),
    "many-members": Hostile(".tgz", many_members, "members"),
    "long-name-bomb": Hostile(".tgz", long_name_bomb, "extended header of"),
    "extension-chain": Hostile(".tgz", extension_chain, "extended headers before one"),
    "huge-claim": Hostile(
        ".tgz", lambda: tgz(header("a/b", size=b"\x80" + b"\0" * 3 + b"\x7f" * 8)), "cut off"
    ),
    "big": Hostile(
        ".tar", lambda: tar(member("a/b")) + bytes(33 * MIB), "; the limit is 33,554,432"
    ),
    # what says one thing and is another
    "zip-two-names": Hostile(".zip", zip_two_names, "another name"),
    "zip-encrypted": Hostile(".zip", zip_encrypted, "encrypted"),
    "zip-wrong-size": Hostile(".zip", zip_wrong_size, "size or CRC does not match"),
    "zip-endless": Hostile(".zip", zip_endless_directory, "members"),
    "zip-behind": Hostile(".zip", lambda: b"#!/bin/sh\n" + zipped(("a/b", b"x")), SELF),
    "zip-behind-program": Hostile(".exe", lambda: b"MZ\0" * 99 + zipped(("a/b", b"x")), SELF),
    "zip-behind-data": Hostile(
        ".zip",
        lambda: b"PK\3\4" + zipped(("a/b", b"x")),
        "4 bytes come first, as in a self-extracting archive",
    ),
    "zip-behind-member": Hostile(".zip", zip_hidden_member, "bytes come first, as in a self-extr"),
    "zip-before": Hostile(
        ".zip",
        lambda: zipped(("a/b", b"x")) + b"more",
        "there are 4 more bytes behind the end of the archive",
    ),
    "zip-cut-comment": Hostile(
        ".zip", lambda: zipped(("a/b", b"x"))[:-1] + b"\1", "in the middle of the comment"
    ),
    "zip-part": Hostile(
        ".zip", lambda: end_with(4, b"\1"), "one part of a zip archive in several"
    ),
    "zip-2-gib": Hostile(".zip", lambda: end_with(12, b"\xff" * 8), "ZIP64 format, for 2 GiB and"),
    "zip-2-gib-member": Hostile(".zip", zip_large_member, "ZIP64 format, for 2 GiB and more"),
    "zip-lost-directory": Hostile(".zip", lambda: end_with(16, b"\xfe"), "is not where it says"),
    "two-archives": Hostile(
        ".tar", lambda: tar(member("a/b")) + tar(member("../evil")), "behind the end"
    ),
    "folder-content": Hostile(".tgz", lambda: tgz(member("a", b"x", b"5")), "folder with content"),
    "negative-size": Hostile(
        ".tgz", lambda: tgz(header("a/b", size=b"-0000000012\0")), "cannot be read"
    ),
    "pax-size": Hostile(".tgz", lambda: tgz(pax(size="-1"), member("a/b")), "not a number"),
    "pax-nonsense": Hostile(".tgz", lambda: tgz(member("p", b"99 a=b\n", b"x")), "cannot be read"),
    "pax-no-length": Hostile(
        ".tgz", lambda: tgz(member("p", b"x a=b\n", b"x")), "header cannot be read"
    ),
    "global-path": Hostile(
        ".tgz", lambda: tgz(extended(b"g", path="b"), member("a/b")), "all members one name"
    ),
    # what is broken or nothing at all
    "empty-file": Hostile(".tgz", lambda: b"", "an empty file"),
    "empty-tar": Hostile(".tgz", tgz, "no files in it"),
    "only-folders": Hostile(".tgz", lambda: tgz(header("a/", b"5")), "no files in it"),
    "cut-gzip": Hostile(".tgz", lambda: cut(tgz(member("a/b", noise())), 0.5), "cut off"),
    "cut-tar": Hostile(".tar", lambda: tar(member("a/b", noise()))[:3_000], "cut off"),
    "cut-xz": Hostile(
        ".tar.xz", lambda: cut(lzma.compress(tar(member("a/b", noise()))), 0.5), "cut off"
    ),
    "cut-zip": Hostile(".zip", lambda: cut(zipped(("a/b", noise())), 0.5), "cut off"),
    "damaged": Hostile(
        ".tgz", lambda: tgz(member("a/b", noise()))[:-8] + b"\0" * 8, "data is damaged"
    ),
    "noise": Hostile(".tgz", noise, "unknown kind"),
    "web-page": Hostile(".tgz", lambda: b"<!DOCTYPE html><p>Log in", "a web page"),
    "rar": Hostile(".zip", lambda: b"Rar!\x1a\x07\x01\0" + noise(), "a RAR archive"),
    "gzip-of-text": Hostile(".tgz", lambda: gzip.compress(b"hello\n" * 200), "cannot be read"),
}


def python_tar(entries: Iterable[tuple[str, bytes]], mode: str = "w:gz") -> bytes:
    """An honest archive, as Python's own module writes it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


if __name__ == "__main__":
    for title, hostile in ROSTER.items():
        Path(sys.argv[1], title + hostile.suffix).write_bytes(hostile.make())
