"""Find the students of a course in a roster: by the id that the file has, a number or an address.

Keys are unique in one file only: ``anna maria`` and ``anna-maria`` have the same key in two files.
So the id is kept as the first file writes it, and compared. The downloads of a platform write
different ids; the numbers of Canvas and Moodle and the mail address are the same in all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from harness.grading.taking_in.sources.pieces import key_with_digest
from harness.service.courses.roster_files import Listed
from harness.service.records import Member

_One = TypeVar("_One", Member, Listed)
_KINDS = ("canvas", "moodle", "email")
# A person has one of these. Moodle numbers the participants of each assignment anew.
_LASTING = ("canvas", "sis", "idnumber")


class Matches(NamedTuple):
    """Students of a roster whom the course has already, by their ids in the file."""

    members: dict[str, Member]
    otherwise: tuple[str, ...]  # ids in the file of those who are known by a number or an address


def match(members: Sequence[Member], listed: Sequence[Listed]) -> Matches:
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

    def __init__(self, members: Sequence[Member], listed: Sequence[Listed]) -> None:
        self.found: dict[str, Member] = {}
        self._taken: set[str] = set()
        self._members, self._listed = members, listed

    def take(
        self,
        tell_member: Callable[[Member], str],
        tell_listed: Callable[[Listed], str],
        differ: Callable[[Member, Listed], bool] = lambda *_: False,
    ) -> None:
        """Match members and lines with the same fact, if nobody else has it."""
        members = _find_single((tell_member(one), one) for one in self._members)
        listed = _find_single((tell_listed(one), one) for one in self._listed)
        for fact in members.keys() & listed.keys():
            if not differ(members[fact], listed[fact]):
                self._match(members[fact], listed[fact])

    def _match(self, member: Member, one: Listed) -> None:
        if member.person not in self._taken and one.roster_id not in self.found:
            self.found[one.roster_id] = member
            self._taken.add(member.person)


def _find_single(facts: Iterable[tuple[str, _One]]) -> dict[str, _One]:
    """Return by their facts those who share theirs with nobody."""
    heaps: dict[str, list[_One]] = {}
    for fact, one in facts:
        heaps.setdefault(fact, []).append(one)
    return {fact: heap[0] for fact, heap in heaps.items() if fact and len(heap) == 1}


def _former_key(one: Member) -> str:
    """Return the key of a member whose id a former version did not keep."""
    return "" if one.roster_id else one.key


def _tellers(kind: str) -> tuple[Callable[[Member], str], Callable[[Listed], str]]:
    """Return functions that tell an id of a member, and of somebody in a file."""
    return (
        lambda one: _ids(one).get(kind, "").casefold(),
        lambda one: dict(one.student.ids).get(kind, "").casefold(),
    )


def _differ(member: Member, one: Listed) -> bool:
    """Whether they are two people, whatever else they have in common."""
    ids, others = _ids(member), dict(one.student.ids)
    return any(ids[kind] != others[kind] for kind in _LASTING if kind in ids and kind in others)


def _ids(one: Member) -> dict[str, str]:
    return {str(kind): str(value) for kind, value in json.loads(one.ids)}
