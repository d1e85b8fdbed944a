"""Groups of a roster in a course: each spelling is a group of its own, which keeps its key.

Keys are unique in one file only: ``Team 1`` and ``Team/1`` have the same key in two files. So the
name is kept as the last file wrote it, and compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.grading.taking_in.sources.pieces import key_of_group_with_digest, safe
from harness.service.courses.roster_files import Listed
from harness.service.records import Member


def give_keys(
    listed: Sequence[Listed], members: Iterable[Member], found: Mapping[str, Member]
) -> list[Listed]:
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
    heaps: dict[str, list[str]] = {}
    for name in sorted(names.values()):
        heaps.setdefault(safe(name).casefold(), []).append(name)
    for heap in heaps.values():
        if len(heap) > 1:
            yield (
                f"{', '.join(map(repr, heap))} are {len(heap)} groups. If they are one, write it"
                " in the same way for each student, and upload the file again."
            )
