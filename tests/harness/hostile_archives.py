"""Archives that nobody should take in, made byte by byte, each with its refusal."""

import gzip
import hashlib
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from tests.harness import archives

MIB = 1 << 20


class Hostile(NamedTuple):
    """An archive, and the sentence it is refused with."""

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
    return make_extended_header(b"x", **records)


def make_extended_header(kind: bytes, **records: str) -> bytes:
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


@cache
def gzip_bomb() -> bytes:
    return zeros(lambda: zlib.compressobj(1, zlib.DEFLATED, 31), 256 * MIB)


@cache
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


def build_zip(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    return archives.make_zip(entries, zipfile.ZIP_DEFLATED)


def zip_of(mode: int) -> bytes:
    info = zipfile.ZipInfo("a/special")
    info.external_attr = mode << 16
    info.create_system = 3
    return build_zip((info, b"/etc/passwd"))


def zip_bomb() -> bytes:
    return build_zip(("a/zeros", bytes(64 * MIB)))


def zip_overlapping() -> bytes:
    """Two directory entries over one member's data: the trick of the best bombs."""
    data = build_zip(("a/one", b"x" * 1000))
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[start:end]
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, 2 * len(entry), start, 0)
    return data[:start] + entry + entry + tail


def zip_two_names() -> bytes:
    """Another name before the data than in the directory."""
    data = build_zip(("a/safe", b"x"))
    return data.replace(b"a/safe", b"../saf", 1)


def zip_hidden_member() -> bytes:
    """A member before all those of the directory, which programs that read from the front see."""
    hidden, data = build_zip(("a/b", b"evil")), bytearray(build_zip(("a/b", b"x")))
    size = hidden.index(b"PK\x01\x02")
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    data[start + 42 : start + 46] = struct.pack("<I", size)
    data[end + 16 : end + 20] = struct.pack("<I", start + size)
    return hidden[:size] + bytes(data)


def zip_large_member() -> bytes:
    """A member of 2 GiB, as Python's own module says it: in a record of its own."""
    data = bytearray(build_zip(("a/b", b"x")))
    place = data.index(b"PK\x01\x02")
    data[place + 20 : place + 28] = b"\xff" * 8
    return bytes(data)


def end_with(place: int, content: bytes) -> bytes:
    """An archive with other bytes in the record at its end."""
    data = bytearray(build_zip(("a/b", b"x")))
    place += data.index(b"PK\x05\x06")
    data[place : place + len(content)] = content
    return bytes(data)


def zip_with_a_locator() -> bytes:
    """A small archive that has records of the ZIP64 format all the same."""
    directory, sign, end = build_zip(("a/b", b"x")).rpartition(b"PK\x05\x06")
    return directory + b"PK\x06\x07" + bytes(16) + sign + end


def zip_unusual() -> bytes:
    info = zipfile.ZipInfo("a/b")
    info.compress_type = zipfile.ZIP_BZIP2
    return build_zip((info, b"x"))


def zip_long_directory() -> bytes:
    """A directory that says it is 4 GB long, less two bytes."""
    return end_with(12, b"\xfe\xff\xff\xff")


def zip_encrypted() -> bytes:
    data = bytearray(build_zip(("a/b", b"secret")))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def zip_wrong_size() -> bytes:
    """A member that unpacks to more than its header promises."""
    data = bytearray(build_zip(("a/b", b"x" * 1000)))
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


OUT = "the name leads out of the folder"
ONLY = "only files and folders are taken"
KINDS = "expected a .tgz, .tar.gz, .tar, .tar.xz or .zip"
BOMB = "it unpacks to more than 100 times its size, as a zip bomb does"
ALIKE = "in case or Unicode form only"
ZIP64 = "it is in the ZIP64 format, for 2 GiB and more, which is not taken"
UNREAD = "it is damaged: an extended header cannot be read"
CUT = "it is cut off in the middle of its compressed data"
LOST = "it is damaged: its directory is not where it says"
OWN = "hand in your own files, without virtual environments and what tools have made"
SELF = f"it is a self-extracting zip archive, {KINDS}"
# Those that take most of a second to make and to look at.
LARGE = frozenset(["gzip-bomb", "xz-bomb", "many-members", "large"])
ROSTER: dict[str, Hostile] = {
    # names that lead elsewhere
    "dot-dot": Hostile(".tgz", names("a/../../evil"), f"'a/../../evil': {OUT}"),
    "dot-dot-first": Hostile(".tgz", names("../evil"), f"'../evil': {OUT}"),
    "dot-dot-alone": Hostile(".tgz", names(".."), f"'..': {OUT}"),
    "absolute": Hostile(".tgz", names("/tmp/evil"), "'/tmp/evil': the name is absolute"),
    "drive": Hostile(".tgz", names("C:/evil"), "'C:/evil': the name is absolute"),
    "backslashes": Hostile(
        ".tgz", names("..\\evil"), "'..\\\\evil': the name has a backslash in it"
    ),
    "long-name-dot-dot": Hostile(
        ".tgz",
        lambda: tgz(member("././@LongLink", b"../evil\0", b"L"), member("safe")),
        f"'../evil': {OUT}",
    ),
    "pax-dot-dot": Hostile(
        ".tgz", lambda: tgz(pax(path="../evil"), member("safe")), f"'../evil': {OUT}"
    ),
    "zip-dot-dot": Hostile(".zip", lambda: build_zip(("../evil", b"x")), f"'../evil': {OUT}"),
    "zip-absolute": Hostile(
        ".zip", lambda: build_zip(("/evil", b"x")), "'/evil': the name is absolute"
    ),
    # names that are no names
    "newline": Hostile(
        ".tgz", names("a/b\nc"), "'a/b\\nc': the name has a control character in it (U+000A)"
    ),
    "escape": Hostile(
        ".tgz",
        names("a/\x1b[2Jb"),
        "'a/\\x1b[2Jb': the name has a control character in it (U+001B)",
    ),
    "bidirectional": Hostile(
        ".tgz",
        names("a/gpj.\u202eexe"),
        "'a/gpj.\\u202eexe': the name has an invisible or bidirectional character in it (U+202E)",
    ),
    "invisible": Hostile(
        ".tgz",
        names("a/b\u200b.py"),
        "'a/b\\u200b.py': the name has an invisible or bidirectional character in it (U+200B)",
    ),
    "line-separator": Hostile(
        ".tgz", names("a/b\u2028c"), "'a/b\\u2028c': the name has a line separator in it (U+2028)"
    ),
    "not-utf-8": Hostile(
        ".tgz",
        names(b"a/caf\xe9"),
        "'a/caf\\udce9': the name has a byte that is not UTF-8 in it (U+DCE9)",
    ),
    "nameless": Hostile(
        ".tgz", lambda: tgz(member("./")[:0] + member("")), "a member without a name"
    ),
    "file-of-the-folder-s-own-name": Hostile(
        ".tgz", lambda: tgz(member("."), member("a/b")), "'.': a file without a name"
    ),
    "long-name": Hostile(
        ".tgz",
        lambda: tgz(pax(path="a/" + "b" * 300), member("c")),
        f"'a/{'b' * 198}…': a part of the name has 300 bytes; the limit is 255",
    ),
    "longest-name": Hostile(
        ".tgz",
        lambda: tgz(pax(path="/".join(["b" * 150] * 4)), member("c")),
        f"'{'b' * 150}/{'b' * 49}…': the name has 603 bytes; the limit is 512",
    ),
    "deep": Hostile(
        ".tgz",
        lambda: tgz(pax(path="a/" * 100 + "b"), member("c")),
        f"'{'a/' * 100}…': the folders are more than 16 deep",
    ),
    # names that clash
    "twice": Hostile(".tgz", names("a/b", "a/b"), "'a/b': the name occurs twice"),
    "case": Hostile(
        ".tgz",
        names("a/Readme", "a/README"),
        f"'a/README': the name differs from 'a/Readme' {ALIKE}",
    ),
    "folder-case": Hostile(
        ".tgz", names("a/B/c", "a/b/d"), f"'a/b/d': the name differs from 'a/B' {ALIKE}"
    ),
    "unicode-form": Hostile(
        ".tgz", names("a/e\u0301", "a/\u00e9"), f"'a/é': the name differs from 'a/é' {ALIKE}"
    ),
    "file-and-folder": Hostile(
        ".tgz", names("a/b", "a/b/c"), "'a/b/c': 'a/b' is both a file and a folder"
    ),
    "folder-and-file": Hostile(
        ".tgz", names("a/b/c", "a/b"), "'a/b': the name is both a file and a folder"
    ),
    "zip-twice": Hostile(
        ".zip",
        lambda: build_zip(("a/b", b"1"), ("a/B", b"2")),
        f"'a/B': the name differs from 'a/b' {ALIKE}",
    ),
    # what is neither file nor folder
    "symbolic-link": Hostile(
        ".tgz", special(b"2", "/etc/passwd"), f"'a/special': a symbolic link: {ONLY}"
    ),
    "hard-link": Hostile(".tgz", special(b"1", "a/b"), f"'a/special': a hard link: {ONLY}"),
    "link-then-file": Hostile(".tgz", with_link_then_file, f"'a/door': a symbolic link: {ONLY}"),
    "character-device": Hostile(".tgz", special(b"3"), f"'a/special': a device: {ONLY}"),
    "block-device": Hostile(".tgz", special(b"4"), f"'a/special': a device: {ONLY}"),
    "pipe": Hostile(".tgz", special(b"6"), f"'a/special': a named pipe: {ONLY}"),
    "sparse": Hostile(".tgz", special(b"S"), f"'a/special': a sparse file: {ONLY}"),
    "pax-sparse": Hostile(
        ".tgz",
        lambda: tgz(pax(**{"GNU.sparse.major": "1"}), member("a/b")),
        "'pax': a sparse file",
    ),
    "unknown-kind": Hostile(
        ".tgz", special(b"Z"), f"'a/special': a member of an unknown kind (b'Z'): {ONLY}"
    ),
    "zip-link": Hostile(".zip", lambda: zip_of(0o120777), f"'a/special': a symbolic link: {ONLY}"),
    "zip-device": Hostile(
        ".zip", lambda: zip_of(0o020666), f"'a/special': a device or the like: {ONLY}"
    ),
    # too much of everything
    "gzip-bomb": Hostile(".tgz", gzip_bomb, BOMB),
    "xz-bomb": Hostile(".tar.xz", xz_bomb, BOMB),
    "xz-hungry": Hostile(
        ".tar.xz", xz_hungry, "it needs more than the limit of 100,663,296 bytes to unpack"
    ),
    "zip-bomb": Hostile(".zip", zip_bomb, BOMB),
    "zip-overlapping": Hostile(
        ".zip", zip_overlapping, "'a/one': its data is another member's too"
    ),
    "large": Hostile(
        ".tgz", large, f"it unpacks to more than the limit of 134,217,728 bytes: {OWN}"
    ),
    "many-members": Hostile(
        ".tgz", many_members, f"it has more members than the limit of 10,000: {OWN}"
    ),
    "long-name-bomb": Hostile(
        ".tgz", long_name_bomb, "'././@LongLink': an extended header of 8,589,934,591 bytes"
    ),
    "extension-chain": Hostile(
        ".tgz", extension_chain, "more than 4 extended headers before one member"
    ),
    "huge-claim": Hostile(
        ".tgz",
        lambda: tgz(header("a/b", size=b"\x80" + b"\0" * 3 + b"\x7f" * 8)),
        "'a/b': the archive is cut off in the middle of this member",
    ),
    "big": Hostile(
        ".tar",
        lambda: tar(member("a/b")) + bytes(33 * MIB),
        "the archive has 34,605,056 bytes; the limit is 33,554,432",
    ),
    # what says one thing and is another
    "zip-two-names": Hostile(
        ".zip", zip_two_names, "'a/safe': it has another name in the archive's directory"
    ),
    "zip-encrypted": Hostile(".zip", zip_encrypted, "'a/b': it is encrypted"),
    "zip-wrong-size": Hostile(
        ".zip", zip_wrong_size, "'a/b': it is damaged: size or CRC does not match its header"
    ),
    "zip-endless": Hostile(
        ".zip", zip_endless_directory, "it has 65,535 members; the limit is 10,000"
    ),
    "zip-behind": Hostile(".zip", lambda: b"#!/bin/sh\n" + build_zip(("a/b", b"x")), SELF),
    "zip-behind-program": Hostile(".exe", lambda: b"MZ\0" * 99 + build_zip(("a/b", b"x")), SELF),
    "zip-behind-data": Hostile(
        ".zip",
        lambda: b"PK\3\4" + build_zip(("a/b", b"x")),
        "4 bytes come first, as in a self-extracting archive: pack a plain .zip instead",
    ),
    "zip-behind-member": Hostile(
        ".zip",
        zip_hidden_member,
        "39 bytes come first, as in a self-extracting archive: pack a plain .zip instead",
    ),
    "zip-before": Hostile(
        ".zip",
        lambda: build_zip(("a/b", b"x")) + b"more",
        "there are 4 more bytes behind the end of the archive",
    ),
    "zip-cut-comment": Hostile(
        ".zip",
        lambda: build_zip(("a/b", b"x"))[:-1] + b"\1",
        "it is cut off in the middle of the comment at its end",
    ),
    "zip-part": Hostile(
        ".zip", lambda: end_with(4, b"\1"), "it is one part of a zip archive in several parts"
    ),
    "zip-2-gib": Hostile(".zip", lambda: end_with(12, b"\xff" * 8), ZIP64),
    "zip-64-locator": Hostile(".zip", zip_with_a_locator, ZIP64),
    "zip-2-gib-member": Hostile(".zip", zip_large_member, f"'a/b': {ZIP64}"),
    "zip-lost-directory": Hostile(".zip", lambda: end_with(16, b"\xfe"), LOST),
    "two-archives": Hostile(
        ".tar",
        lambda: tar(member("a/b")) + tar(member("../evil")),
        "there is more data behind the end of the archive",
    ),
    "folder-content": Hostile(
        ".tgz", lambda: tgz(member("a", b"x", b"5")), "'a': a folder with content of its own"
    ),
    "negative-size": Hostile(
        ".tgz",
        lambda: tgz(header("a/b", size=b"-0000000012\0")),
        "'a/b': it is damaged: a number in a header cannot be read",
    ),
    "pax-size": Hostile(
        ".tgz",
        lambda: tgz(pax(size="-1"), member("a/b")),
        "'a/b': it is damaged: the size is not a number",
    ),
    "pax-nonsense": Hostile(".tgz", lambda: tgz(member("p", b"99 a=b\n", b"x")), UNREAD),
    "pax-no-length": Hostile(".tgz", lambda: tgz(member("p", b"x a=b\n", b"x")), UNREAD),
    "global-path": Hostile(
        ".tgz",
        lambda: tgz(make_extended_header(b"g", path="b"), member("a/b")),
        "'pax': a header that gives all members one name or size",
    ),
    "long-name-alone": Hostile(
        ".tgz",
        lambda: tgz(member("a/b"), member("././@LongLink", b"c\0", b"L")),
        "a long name that no member follows",
    ),
    "zip-folder-content": Hostile(
        ".zip", lambda: build_zip(("a/", b"x")), "'a/': a folder with content of its own"
    ),
    "zip-unusual": Hostile(".zip", zip_unusual, "'a/b': it is compressed in an unusual way (12)"),
    "zip-long-directory": Hostile(".zip", zip_long_directory, LOST),
    "zip-more-members": Hostile(
        ".zip",
        lambda: end_with(8, bytes(4)),
        "it is damaged: its directory is longer than its members allow",
    ),
    "zip-fewer-members": Hostile(
        ".zip", lambda: end_with(8, b"\2\0\2\0"), "it is damaged: its directory cannot be read"
    ),
    "zip-lost-member": Hostile(
        ".zip",
        lambda: build_zip(("a/b", b"x")).replace(b"PK\3\4", b"PK\3\5"),
        f"it is a file of an unknown kind, {KINDS}",
    ),
    # what is broken or nothing at all
    "empty-file": Hostile(".tgz", lambda: b"", f"it is an empty file, {KINDS}"),
    "empty-tar": Hostile(".tgz", tgz, "the archive has no files in it"),
    "only-folders": Hostile(
        ".tgz", lambda: tgz(header("a/", b"5")), "the archive has no files in it"
    ),
    "cut-gzip": Hostile(".tgz", lambda: cut(tgz(member("a/b", noise())), 0.5), CUT),
    "cut-tar": Hostile(
        ".tar",
        lambda: tar(member("a/b", noise()))[:3_000],
        "'a/b': the archive is cut off in the middle of this member",
    ),
    "cut-xz": Hostile(
        ".tar.xz", lambda: cut(lzma.compress(tar(member("a/b", noise()))), 0.5), CUT
    ),
    "cut-zip": Hostile(
        ".zip",
        lambda: cut(build_zip(("a/b", noise())), 0.5),
        "it is cut off: a zip archive has a directory at its end",
    ),
    "damaged": Hostile(
        ".tgz",
        lambda: tgz(member("a/b", noise()))[:-8] + b"\0" * 8,
        "its compressed data is damaged (Error -3 while decompressing data: incorrect data check)",
    ),
    "noise": Hostile(".tgz", noise, f"it is a file of an unknown kind, {KINDS}"),
    "web-page": Hostile(".tgz", lambda: b"<!DOCTYPE html><p>Log in", f"it is a web page, {KINDS}"),
    "rar": Hostile(
        ".zip", lambda: b"Rar!\x1a\x07\x01\0" + noise(), f"it is a RAR archive, {KINDS}"
    ),
    "gzip-of-text": Hostile(
        ".tgz",
        lambda: archives.gzip_bytes(b"hello\n" * 200),
        "it is damaged: the header of a member cannot be read",
    ),
}


def python_tar(entries: Iterable[tuple[str, bytes]], mode: str = "w:gz") -> bytes:
    """An honest archive, as Python's own module writes it."""
    buffer, is_gzip = io.BytesIO(), mode == "w:gz"
    with tarfile.open(fileobj=buffer, mode="w" if is_gzip else mode) as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return archives.gzip_bytes(buffer.getvalue()) if is_gzip else buffer.getvalue()
