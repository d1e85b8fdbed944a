"""The members of an archive: their names, which are taken, and which clash."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from harness.archives.archive_streams import IntakeLimits
from harness.errors import ArchiveError


class ArchiveMember(NamedTuple):
    """A file or a folder, its name not yet looked at."""

    name: str
    is_folder: bool
    executable: bool
    size: int  # as the archive says; content is cut off or refused where it says otherwise
    content: Iterator[bytes]  # in small pieces


# --- The names of an archive's members: which are taken, and which clash with one another --------


_LONGEST_PART = 255  # bytes: no file system of today takes more
_ROOM = 15  # bytes of these that a mended name leaves, to tell it from others like it
# Controls, marks that are not seen or turn the direction of writing, halves of characters,
# separators of lines and paragraphs: none of them is in an honest name.
_UNFIT = {
    "Cc": "a control character",
    "Cf": "an invisible or bidirectional character",
    "Cs": "a byte that is not UTF-8",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}


def check_name(name: str, limits: IntakeLimits) -> tuple[str, ...]:
    """Return the parts of a member's name, without those that are ``.``; empty for ``./`` itself.

    Raises:
        ArchiveError: it leads elsewhere, or cannot be a file's name.
    """
    for reason in _faults(name, limits):
        if reason:
            raise ArchiveError(reason, name)
    return tuple(part for part in name.split("/") if part not in ("", "."))


def _faults(name: str, limits: IntakeLimits) -> list[str]:
    parts = name.split("/")
    unfit = next((c for c in name if unicodedata.category(c) in _UNFIT), "")
    kind = _UNFIT[unicodedata.category(unfit)] if unfit else ""
    size = len(name.encode(errors="surrogatepass"))
    longest = max(len(part.encode(errors="surrogatepass")) for part in parts)
    return [
        "a member without a name" if not name else "",
        f"the name has {kind} in it (U+{ord(unfit):04X})" if unfit else "",
        "the name is absolute" if name.startswith("/") or re.match("[A-Za-z]:", name) else "",
        "the name leads out of the folder" if ".." in parts else "",
        "the name has a backslash in it" if "\\" in name else "",
        f"the name has {size:,} bytes; the limit is {limits.name}" if size > limits.name else "",
        f"a part of the name has {longest} bytes; the limit is {_LONGEST_PART}"
        if longest > _LONGEST_PART
        else "",
        f"the folders are more than {limits.depth} deep" if len(parts) > limits.depth + 1 else "",
    ]


def mend_name(name: str, limits: IntakeLimits = IntakeLimits()) -> str:  # noqa: B008
    """Return a name as one that can be written below a folder, whatever it is made of.

    For a download, in which a student's file name must not stand in the way of the whole class.
    """
    parts = [_mend_part(part) for part in name.split("/") if part not in ("", ".")]
    deepest = "_".join(parts[limits.depth - 1 :])
    return "/".join([*parts[: limits.depth - 1], _mend_part(deepest)] if deepest else parts) or "_"


def _mend_part(part: str) -> str:
    fit = "".join("_" if unicodedata.category(c) in _UNFIT or c == "\\" else c for c in part)
    short = fit.encode()[: _LONGEST_PART - _ROOM].decode(errors="ignore")
    return "__" if short == ".." else short


class MemberNames:
    """The names met so far. No two may be one and the same on some file system."""

    def __init__(self) -> None:
        self._spelled: dict[str, str] = {}  # by what file systems may compare
        self._files: set[str] = set()

    def add(self, parts: tuple[str, ...], is_folder: bool) -> None:
        """Take in a member's name.

        Raises:
            ArchiveError: it is there already; it differs from another in case or Unicode form
                only; or one is a file and the other a folder.
        """
        name = "/".join(parts)
        for depth in range(1, len(parts)):
            self._add_folder("/".join(parts[:depth]), name)
        if is_folder:
            self._add_folder(name, name)
            return
        self._compare(name, name)
        if _fold(name) in self._spelled:
            twice = "occurs twice" if name in self._files else "is both a file and a folder"
            raise ArchiveError(f"the name {twice}", name)
        self._spelled[_fold(name)] = name
        self._files.add(name)

    def _add_folder(self, folder: str, member: str) -> None:
        self._compare(folder, member)
        if folder in self._files:
            raise ArchiveError(f"{folder!r} is both a file and a folder", member)
        self._spelled[_fold(folder)] = folder

    def _compare(self, name: str, member: str) -> None:
        other = self._spelled.get(_fold(name), name)
        if other != name:
            raise ArchiveError(
                f"the name differs from {other!r} in case or Unicode form only", member
            )


def _fold(name: str) -> str:
    """Return what is the same for names that some file system holds to be the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
