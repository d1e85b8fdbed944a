"""Match a roster with the students and groups of a course.

Students are found by the id that the file has, a number or an address. Each spelling of a group is
a group of its own, which keeps its key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from harness.grading.ingest.sources.listing import key_of_group_with_digest, key_with_digest, safe
from harness.service.courses.roster_files import ListedStudent
from harness.service.records import Member

_One = TypeVar("_One", Member, ListedStudent)
_KINDS = ("canvas", "moodle", "email")
# A person has one of these. Moodle numbers the participants of each assignment anew.
_LASTING = ("canvas", "sis", "idnumber")


class Matches(NamedTuple):
    """Students of a roster whom the course has already, by their ids in the file."""

    members: dict[str, Member]
    otherwise: tuple[str, ...]  # ids in the file of those who are known by a number or an address


def match(members: Sequence[Member], listed: Sequence[ListedStudent]) -> Matches:
    """Find the members whom a roster lists. Nobody is found twice, and no doubtful one is."""
    finder = _RosterFinder(members, listed)
    finder.take(lambda one: one.roster_id, lambda one: one.roster_id)
    finder.take(_former_key, lambda one: key_with_digest(one.roster_id))
    finder.take(_former_key, lambda one: one.student.key)
    by_id = set(finder.found)
    for kind in _KINDS:
        finder.take(*_tellers(kind), differ=_differ)
    return Matches(finder.found, tuple(one for one in finder.found if one not in by_id))


class _RosterFinder:
    """Members and lines of a file, and which of them are matched."""

    def __init__(self, members: Sequence[Member], listed: Sequence[ListedStudent]) -> None:
        self.found: dict[str, Member] = {}
        self._taken: set[str] = set()
        self._members, self._listed = members, listed

    def take(
        self,
        tell_member: Callable[[Member], str],
        tell_listed: Callable[[ListedStudent], str],
        differ: Callable[[Member, ListedStudent], bool] = lambda *_: False,
    ) -> None:
        """Match members and lines with the same fact, if nobody else has it."""
        members = _find_single((tell_member(one), one) for one in self._members)
        listed = _find_single((tell_listed(one), one) for one in self._listed)
        for fact in members.keys() & listed.keys():
            if not differ(members[fact], listed[fact]):
                self._match(members[fact], listed[fact])

    def _match(self, member: Member, one: ListedStudent) -> None:
        if member.person not in self._taken and one.roster_id not in self.found:
            self.found[one.roster_id] = member
            self._taken.add(member.person)


def _find_single(facts: Iterable[tuple[str, _One]]) -> dict[str, _One]:
    """Return by their facts those who share theirs with nobody."""
    alike: dict[str, list[_One]] = {}
    for fact, one in facts:
        alike.setdefault(fact, []).append(one)
    return {fact: known[0] for fact, known in alike.items() if fact and len(known) == 1}


def _former_key(one: Member) -> str:
    """Return the key of a member whose id a former version did not keep."""
    return "" if one.roster_id else one.key


def _tellers(kind: str) -> tuple[Callable[[Member], str], Callable[[ListedStudent], str]]:
    """Return functions that tell an id of a member, and of somebody in a file."""
    return (
        lambda one: _ids(one).get(kind, "").casefold(),
        lambda one: dict(one.student.ids).get(kind, "").casefold(),
    )


def _differ(member: Member, one: ListedStudent) -> bool:
    """Whether they are two people, whatever else they have in common."""
    ids, others = _ids(member), dict(one.student.ids)
    return any(ids[kind] != others[kind] for kind in _LASTING if kind in ids and kind in others)


def _ids(one: Member) -> dict[str, str]:
    return {str(kind): str(value) for kind, value in json.loads(one.ids)}


# --- Groups of a roster in a course: each spelling is a group of its own, which keeps its key ----
# Keys are unique in one file only: ``Team 1`` and ``Team/1`` have the same key in two files. So
# the name is kept as the last file wrote it, and compared.


def give_keys(
    listed: Sequence[ListedStudent], members: Iterable[Member], found: Mapping[str, Member]
) -> list[ListedStudent]:
    """Return students with the keys of their groups in the course.

    ``members``: all of the course. ``found``: those of them who are listed. If a former version
    took a group, its spelling is unknown, and any with the same key is taken for it.
    """
    grouped = [one for one in members if one.team and one.team_name]
    keys = {one.team_name: one.team for one in grouped}
    leaving = {one.person for one in found.values()}
    used = {o.team.casefold(): o.team_name for o in grouped if o.person not in leaving}
    asked = {one.group: one.team for one in listed if one.team}
    for name in sorted(asked, key=lambda one: (one not in keys, one)):  # known ones keep theirs
        keys[name] = _find_free(name, keys.get(name) or asked[name] or "", used)
        used[keys[name].casefold()] = name
    return [one._replace(team=keys[one.group]) if one.team else one for one in listed]


def _find_free(name: str, key: str, used: Mapping[str, str]) -> str:
    return key if used.get(key.casefold(), name) == name else key_of_group_with_digest(name)


def tell_alike(members: Iterable[Member]) -> Iterator[str]:
    """Yield a remark for groups whose names differ in case, blanks or signs alone."""
    names: dict[str, str] = {}
    for one in members:
        if one.team and (one.team_name or one.team not in names):
            names[one.team] = one.team_name or one.team
    alike: dict[str, list[str]] = {}
    for name in sorted(names.values()):
        alike.setdefault(safe(name).casefold(), []).append(name)
    for spellings in alike.values():
        if len(spellings) > 1:
            yield (
                f"{', '.join(map(repr, spellings))} are {len(spellings)} groups. If they are one,"
                " write it in the same way for each student, and upload the file again."
            )
