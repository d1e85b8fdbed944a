"""Groups of students who are graded together, from a CSV file beside a download."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.records import Student
from harness.grading.taking_in.sources import csv_source
from harness.grading.taking_in.sources.pieces import SourcePiece, fold_name


class GroupMember(NamedTuple):
    """A member of a group."""

    group: str
    student: Student
    row: csv_source.CsvRow


def read(path: Path) -> list[GroupMember]:
    """Return the members of all groups.

    Raises:
        UsageError: a row is wrong, or somebody is in two groups.
    """
    members = []
    groups: dict[str, str] = {}
    for row in csv_source.read(path, ["group", "student"]):
        member = GroupMember(row.get("group"), row.student(), row)
        if not member.group:
            row.refuse("group", "the name of a group")
        if groups.setdefault(member.student.key, member.group) != member.group:
            row.refuse("group", f"{groups[member.student.key]!r}, as in a row before it")
        members.append(member)
    return members


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
            handed = piece.handed if index == 0 else None
            yield piece._replace(student=member.student, group=member.group, handed=handed)
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
    matched = _members(students, members, groups.keys())
    for key, student in students.items():
        own_name = fold_name(student.name)
        if key not in matched and own_name in groups:
            matched[key] = _add_known_names(groups[own_name], matched)
    return matched


def _members(
    students: dict[str, Student], members: list[GroupMember], groups: Set[str]
) -> dict[str, list[GroupMember]]:
    """Map the keys of students in the download to the members that they match.

    ``groups``: the names of all groups, folded. A submission named like another group has that
    group's ID, which is not taken for a student's.
    """
    matched: dict[str, list[GroupMember]] = {}
    for member in members:
        others = groups - {fold_name(member.group)}
        own = {key: one for key, one in students.items() if fold_name(one.name) not in others}
        if key := _key_of(member, own):
            if key in matched:
                member.row.refuse("student", "a student who is not in an earlier row")
            matched[key] = [member._replace(student=_join(member, students[key]))]
    return matched


def _join(member: GroupMember, found: Student) -> Student:
    """Return a member with all ids, and with the download's name where the file has a number only.

    Moodle before version 4 puts the group's name before each member's.
    """
    own = member.student
    named = member.row.get("name") or not _is_key(own, found)
    name = own.name if named else found.name.removeprefix(f"{member.group}-")
    return own._replace(name=name, ids=(*own.ids, *found.ids))


def _is_key(own: Student, found: Student) -> bool:
    """Whether a member's key is one of the download's keys or numbers for a student."""
    return own.key in (found.key, *dict(found.ids).values())


def _add_known_names(
    members: list[GroupMember], matched: dict[str, list[GroupMember]]
) -> list[GroupMember]:
    """Return members as they are known from elsewhere in the download, ids included."""
    known = {own[0].student.key: own[0] for own in matched.values()}
    return [known.get(member.student.key, member) for member in members]


def _key_of(member: GroupMember, students: dict[str, Student]) -> str:
    """Return the key of the student in the download that a row means, or "".

    Raises:
        UsageError: it may be any of several.
    """
    own = member.student
    names = {fold_name(one) for one in (own.key, own.name, member.group + own.name)} - {""}
    others = {key: one for key, one in students.items() if not _differ(own, one)}
    by_id = [key for key, one in others.items() if {*own.ids} & {*one.ids}]
    by_key = [key for key, one in others.items() if _is_key(own, one)]
    by_name = [key for key, one in others.items() if fold_name(one.name) in names]
    found = by_id or by_key or by_name
    if len(found) > 1:
        place, who = f"{member.row.file}:{member.row.line}", ", ".join(sorted(found))
        raise UsageError(f"{place}: {own.name!r} may be any of {who}: give the id")
    return found[0] if found else ""


def _differ(one: Student, other: Student) -> bool:
    """Whether they have different ids of a kind: then they are not the same, whatever the name."""
    ids, others = dict(one.ids), dict(other.ids)
    return any(ids[kind] != others[kind] for kind in ids.keys() & others.keys())
