"""Students and groups of a source, with their keys, members and submissions."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator

from harness.core.errors import UsageError
from harness.core.text import one_line
from harness.grading.ingest.csv_source import GroupMember
from harness.grading.records import SourcePiece, Student, StudentSubmissions

_LONGEST_KEY = 80  # characters: as a file name there is room for more before and behind
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}


def with_digest(text: str, *, is_group: bool = False) -> str:
    """Return the key that nobody else has: of a student's id or a group's name in the source."""
    digest = hashlib.sha256(repr((is_group, text)).encode(errors="replace")).hexdigest()
    return f"{safe(text)}-{digest[:8]}"


def safe(text: str) -> str:
    """Return a text as a file name: letters and digits of any script, and ``. _ -`` within."""
    plain = unicodedata.normalize("NFC", text)
    kept = "".join(c if _is_letter(c) or c in "._-" else "-" for c in plain)
    key = re.sub(r"-{2,}", "-", kept).strip("._-")[:_LONGEST_KEY].rstrip("._-")
    return f"student-{key}" if not key or key.partition(".")[0].casefold() in _RESERVED else key


def _is_letter(char: str) -> bool:
    """Whether it is a letter, a mark on one or a digit; some signs of India are marks alone."""
    return unicodedata.category(char)[0] in "LMN"


# --- Groups of students who are graded together --------------------------------------------------


def group_pieces(
    pieces: Iterable[SourcePiece], members: Iterable[GroupMember]
) -> Iterator[SourcePiece]:
    """Yield the pieces with their groups.

    A student of the download is a member by the key, by an id or, if only one is called so, by
    name, before which there may be the group's. A whole group in the download, as platforms have
    it, is known by its name and replaced by its members; members without a submission
    come without one.
    """
    found, members = list(pieces), list(members)
    members_of = _match_members({piece.student.key: piece.student for piece in found}, members)
    for piece in found:
        own = members_of.get(piece.student.key, [])
        if not own:
            yield piece
        for index, member in enumerate(own):  # what a whole group submitted, it did once
            file = piece.file if index == 0 else None
            yield piece._replace(student=member.student, group=member.group, file=file)
    known = {member.student.key for own in members_of.values() for member in own}
    for member in members:
        if member.student.key not in known:
            yield SourcePiece(member.student, group=member.group)


def _match_members(
    students: dict[str, Student], members: list[GroupMember]
) -> dict[str, list[GroupMember]]:
    """Return by the keys of students of the download who they are: for a group, several."""
    groups: dict[str, list[GroupMember]] = {}
    for member in members:
        groups.setdefault(fold_name(member.group), []).append(member)
    matched: dict[str, list[GroupMember]] = {}
    for member in members:
        # What is named like another group has that group's id, which is not a student's.
        others = groups.keys() - {fold_name(member.group)}
        persons = {key: one for key, one in students.items() if fold_name(one.name) not in others}
        if key := _key_of(member, persons):
            if key in matched:
                member.row.refuse("student", "a student who is not in an earlier row")
            student, own = students[key], member.student
            name = own.name
            if not member.row.get("name") and _is_key(own, student):  # it has a number only
                # Moodle before version 4 puts the group's name before each member's.
                name = student.name.removeprefix(f"{member.group}-")
            own = own._replace(name=name, ids=(*own.ids, *student.ids))
            matched[key] = [member._replace(student=own)]
    for key, student in students.items():
        own_name = fold_name(student.name)
        if key not in matched and own_name in groups:
            # Members as they are known from elsewhere in the download, ids included.
            known = {one[0].student.key: one[0] for one in matched.values()}
            matched[key] = [known.get(one.student.key, one) for one in groups[own_name]]
    return matched


def _is_key(member: Student, student: Student) -> bool:
    """Whether a member's key is one of the download's keys or numbers for a student."""
    return member.key in (student.key, *dict(student.ids).values())


def _key_of(member: GroupMember, students: dict[str, Student]) -> str:
    """Return the key of the student whom a row means, or ""; UsageError: it may be several."""
    own = member.student
    names = {fold_name(one) for one in (own.key, own.name, member.group + own.name)} - {""}
    # With different ids of a kind they are not the same, whatever the name.
    ids = dict(own.ids)
    others = {
        key: one
        for key, one in students.items()
        if all(ids.get(kind, value) == value for kind, value in dict(one.ids).items())
    }
    by_id = [key for key, one in others.items() if {*own.ids} & {*one.ids}]
    by_key = [key for key, one in others.items() if _is_key(own, one)]
    by_name = [key for key, one in others.items() if fold_name(one.name) in names]
    found = by_id or by_key or by_name
    if len(found) > 1:
        place, who = f"{member.row.file}:{member.row.line}", ", ".join(sorted(found))
        raise UsageError(f"{place}: {own.name!r} may be any of {who}: give the id")
    return found[0] if found else ""


def fold_name(name: str) -> str:
    """Return what two spellings of a name have in common: ``Zoë, O'Neil`` and ``zoëoneil``."""
    plain = unicodedata.normalize("NFC", name).casefold()
    return "".join(filter(_is_letter, plain))


# --- The entries made of pieces: one for each student, or for each group ------------------------


def entries(pieces: Iterable[SourcePiece]) -> tuple[StudentSubmissions, ...]:
    """Return an entry for each student or group, sorted by key; the submission last is last.

    Keys are unique in the class and safe as file names; names are fit to be shown and written.
    """
    heaps: dict[tuple[bool, str], list[SourcePiece]] = {}
    for piece in pieces:
        own = (bool(piece.group), piece.group or piece.student.key)
        heaps.setdefault(own, []).append(piece)
    keys = _class_keys(piece for heap in heaps.values() for piece in heap)
    found = []
    for own, heap in heaps.items():
        students: dict[str, Student] = {}
        for piece in heap:
            name = one_line(piece.student.name)
            student = piece.student._replace(key=keys[False, piece.student.key], name=name)
            one = students.get(student.key, student)
            students[one.key] = one._replace(ids=tuple(dict.fromkeys([*one.ids, *student.ids])))
        submitted = sorted((p for p in heap if p.file), key=lambda piece: piece.order)
        files = [p.file._replace(name=one_line(p.file.name)) for p in submitted if p.file]
        found.append(StudentSubmissions(keys[own], tuple(students.values()), tuple(files)))
    return tuple(sorted(found))


def student_keys(pieces: Iterable[SourcePiece]) -> dict[str, str]:
    """Return the keys that :func:`entries` gives to students, by their ids in the source."""
    return {text: key for (is_group, text), key in _class_keys(pieces).items() if not is_group}


def _class_keys(pieces: Iterable[SourcePiece]) -> dict[tuple[bool, str], str]:
    """Return a key for each student and group: (is a group, text).

    Where two would be one to some file system, the later gets a digest of its text, so that it is
    called the same whenever the class is read.
    """
    every = list(pieces)
    students = {(False, piece.student.key) for piece in every}
    groups = {(True, piece.group) for piece in every if piece.group}
    keys: dict[tuple[bool, str], str] = {}
    taken: set[str] = set()
    for own in sorted(students | groups):
        key = safe(own[1])
        if key.casefold() in taken:
            key = with_digest(own[1], is_group=own[0])
        taken.add(key.casefold())
        keys[own] = key
    return keys
