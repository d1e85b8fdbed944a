"""The kind of a submitted file, detected from its first bytes and not from its name."""

from __future__ import annotations

TAR, GZIP, XZ, ZIP = "tar", "gzip", "xz", "zip"
HEAD = 512  # bytes that are needed
_OCTAL = frozenset(b"01234567")

_SIGNS = ((b"\x1f\x8b", GZIP), (b"\xfd7zXZ\0", XZ), (b"PK\x03\x04", ZIP), (b"PK\x05\x06", ZIP))
# What else students hand in, in words.
_OTHERS = (
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xd0\xcf\x11\xe0", "a Word document"),
)
_SUFFIXES = {
    GZIP: (".tgz", ".tar.gz"),
    XZ: (".tar.xz", ".txz"),
    TAR: (".tar",),
    ZIP: (".zip",),
}
WORDS = {
    GZIP: "a tar archive compressed with gzip",
    XZ: "a tar archive compressed with xz",
    TAR: "a tar archive, not compressed",
    ZIP: "a zip archive",
}


def kind(head: bytes) -> str:
    """Return the kind of archive that begins with ``head``, empty for anything else."""
    for sign, found in _SIGNS:
        if head.startswith(sign):
            return found
    return TAR if is_tar_header(head) else ""


def is_tar_header(block: bytes) -> bool:
    """Whether a block of 512 bytes is the header of a tar member, as its checksum says."""
    return len(block) == HEAD and _sum_in(block) in _sums(block)


def _sum_in(block: bytes) -> int | None:
    """Return the checksum that a header has; None if it has no number."""
    digits = block[148:156].strip(b" \0")
    return int(digits, 8) if digits and set(digits) <= _OCTAL else None


def _sums(block: bytes) -> tuple[int, int]:
    """Return the checksum of a header, and as some old programs have it, of signed bytes."""
    rest = block[:148] + b" " * 8 + block[156:]
    return sum(rest), sum(byte - 256 if byte > 127 else byte for byte in rest)


def describe_kind(head: bytes) -> str:
    """Return what a file that is not an archive seems to be, in words."""
    if not head:
        return "an empty file"
    for sign, words in _OTHERS:
        if head.startswith(sign):
            return words
    if head.lstrip()[:1] == b"<":
        return "a web page"
    printable = all(byte >= 32 or byte in b"\t\n\r" for byte in head)
    return "a text file" if printable else "a file of an unknown kind"


def describe_mismatch(name: str, found: str) -> str:
    """Return a sentence when a file's name promises another kind of archive, else ``""``."""
    low = name.lower()
    if low.endswith(_SUFFIXES[found]):
        return ""
    promised = next((k for k, ends in _SUFFIXES.items() if low.endswith(ends)), "")
    if not promised:
        return f"It is {WORDS[found]}, though its name does not say so."
    return f"It is {WORDS[found]}, though its name says {WORDS[promised]}."
