"""The finds of a source, and the entries made of them: one for each student, or for each group."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from harness.escaping import one_line
from harness.grading.records import Student, StudentSubmissions, SubmittedFile

_LONGEST_KEY = 80  # characters: as a file name there is room for more before and behind
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}


class SourcePiece(NamedTuple):
    """One file or folder of one student. Without ``handed``: somebody who submitted nothing."""

    student: Student  # its key identifies students in the source and is not yet a file name
    handed: SubmittedFile | None = None
    order: tuple[Any, ...] = ()  # among all that this student, or the group, submitted
    group: str = ""


def entries(pieces: Iterable[SourcePiece]) -> tuple[StudentSubmissions, ...]:
    """Return an entry for each student or group, sorted by key; the submission last is last.

    Keys are unique in the class and safe as file names; names are fit to be shown and written.
    """
    heaps: dict[tuple[bool, str], list[SourcePiece]] = {}
    for piece in pieces:
        own = (bool(piece.group), piece.group or piece.student.key)
        heaps.setdefault(own, []).append(piece)
    keys = _class_keys(piece for heap in heaps.values() for piece in heap)
    return tuple(sorted(_entry(keys[own], heap, keys) for own, heap in heaps.items()))


def student_keys(pieces: Iterable[SourcePiece]) -> dict[str, str]:
    """Return the keys that :func:`entries` gives to students, by their ids in the source."""
    return {text: key for (is_group, text), key in _class_keys(pieces).items() if not is_group}


def _class_keys(pieces: Iterable[SourcePiece]) -> dict[tuple[bool, str], str]:
    """Return the keys of all students and groups."""
    every = list(pieces)
    students = sorted({piece.student.key for piece in every})
    groups = sorted({piece.group for piece in every if piece.group})
    return _keys([*((False, key) for key in students), *((True, name) for name in groups)])


def _entry(
    key: str, heap: list[SourcePiece], keys: dict[tuple[bool, str], str]
) -> StudentSubmissions:
    students: dict[str, Student] = {}
    for piece in heap:
        name = one_line(piece.student.name)
        own = piece.student._replace(key=keys[False, piece.student.key], name=name)
        students[own.key] = _join(students.get(own.key, own), own)
    heap = sorted((p for p in heap if p.handed), key=lambda piece: piece.order)
    handed = [p.handed._replace(name=one_line(p.handed.name)) for p in heap if p.handed]
    return StudentSubmissions(key, tuple(students.values()), tuple(handed))


def _join(one: Student, other: Student) -> Student:
    return one._replace(ids=tuple(dict.fromkeys([*one.ids, *other.ids])))


# --- keys --------------------------------------------------------------------------------------


def _keys(wanted: Iterable[tuple[bool, str]]) -> dict[tuple[bool, str], str]:
    """Return a key for each (is a group, text). Where two would be one to some file system, the
    later gets a digest of its text, so that it is called the same whenever the class is read.
    """
    keys: dict[tuple[bool, str], str] = {}
    taken: set[str] = set()
    for own in wanted:
        key = safe(own[1])
        if key.casefold() in taken:
            key = _with_digest(own)
        taken.add(key.casefold())
        keys[own] = key
    return keys


def key_with_digest(student: str) -> str:
    """Return the key of a student, by the id in the source, if another one has the usual key."""
    return _with_digest((False, student))


def key_of_group_with_digest(name: str) -> str:
    """Return the key of a group, by its name in the source, if another one has the usual key."""
    return _with_digest((True, name))


def _with_digest(own: tuple[bool, str]) -> str:
    digest = hashlib.sha256(repr(own).encode(errors="replace")).hexdigest()
    return f"{safe(own[1])}-{digest[:8]}"


def safe(text: str) -> str:
    """Return a text as a file name: letters and digits of any script, and ``. _ -`` within."""
    plain = unicodedata.normalize("NFC", text)
    kept = "".join(c if _is_letter(c) or c in "._-" else "-" for c in plain)
    key = re.sub(r"-{2,}", "-", kept).strip("._-")[:_LONGEST_KEY].rstrip("._-")
    return f"student-{key}" if not key or key.partition(".")[0].casefold() in _RESERVED else key


def _is_letter(char: str) -> bool:
    """Whether it is a letter, a mark on one or a digit; some signs of India are marks alone."""
    return unicodedata.category(char)[0] in "LMN"


# --- names -------------------------------------------------------------------------------------


def version(name: str) -> tuple[str, int]:
    """Return what sorts files of one student: ``a1.tgz``, ``a1-1.tgz``, ``a1 (2).tgz``.

    Platforms and browsers add a number to tell files of one name apart.
    """
    stem, dot, suffix = name.partition(".")
    found = re.fullmatch(r"(.*?)(?:-(\d{1,9})| ?\((\d{1,9})\))", stem, re.DOTALL)
    if not found:
        return (f"{stem}{dot}{suffix}", 0)
    return (f"{found[1]}{dot}{suffix}", int(found[2] or found[3]))


def fold_name(name: str) -> str:
    """Return what two spellings of a name have in common: ``Zoë, O'Neil`` and ``zoëoneil``."""
    plain = unicodedata.normalize("NFC", name).casefold()
    return "".join(filter(_is_letter, plain))
