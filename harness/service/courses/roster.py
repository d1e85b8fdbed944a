"""The roster of a course: students join, leave and return, with keys as a grading makes them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection

from harness.core.errors import UsageError
from harness.core.text import natural_order, number_of, some
from harness.grading.ingest.students import safe, with_digest
from harness.grading.records import Student, StudentSubmissions
from harness.service.courses.roster_files import ListedStudent, RosterFile
from harness.service.people import accounts
from harness.service.records import FORMER, STUDENT, Member, Person
from harness.service.storage import courses, people
from harness.service.storage.audit import AuditedTransaction

_One = TypeVar("_One", Member, ListedStudent)
_KINDS = ("canvas", "moodle", "email")
# A person has one of these. Moodle numbers the participants of each assignment anew.
_LASTING = ("canvas", "sis", "idnumber")
_EMAIL = "email"
_TAKEN = ("role", "name", "ids", "team", "roster_id", "team_name")  # of a member
_NAMED = 8  # students in one remark
_NAME, _ADDRESS, _GROUP = "name", "mail address", "group"


class RosterChange(NamedTuple):
    """Change of a student by a roster."""

    student: str  # the key
    name: str
    what: str
    was: str
    now: str


class RosterOutcome(NamedTuple):
    """Effect of a roster on a course's students."""

    added: tuple[Member, ...] = ()
    returned: tuple[Member, ...] = ()  # who had been removed
    changed: tuple[RosterChange, ...] = ()  # of those who were there before
    same: int = 0  # students who are as before
    missing: tuple[Member, ...] = ()  # students of the course who are not in it; they stay
    remarks: tuple[str, ...] = ()  # a sentence each

    @property
    def students(self) -> int:
        """Return how many students the roster has."""
        found = {one.student for one in self.changed} | {one.key for one in self.returned}
        return len(self.added) + len(found) + self.same


def take(act: AuditedTransaction, course: str, roster_file: RosterFile) -> RosterOutcome:
    """Make students members of a course; what a roster says of members counts from now on.

    What it does not say stays: without a column of groups all keep theirs. Students who are not
    in it stay, and students who were removed from the course and are in it come back.

    Raises:
        UsageError: a group would be taken for a student outside it.
    """
    courses.lock_course(act.db, course)  # a second upload at the same time would add all twice
    members = courses.students(act.db, course) + courses.students(act.db, course, FORMER)
    before = {one.key: one for one in members}
    known, otherwise = match(members, roster_file.students)
    grouped = give_keys_of_groups(roster_file.students, members, known)
    used = {one.casefold() for one in before}
    taken = []
    for one in grouped:
        # A key tells submissions and marks apart, also as the name of a file. So nobody else in
        # the course has it. Known students keep theirs.
        key = one.student.key
        if key.casefold() in used:
            key = with_digest(one.roster_id)
        listed = one._replace(student=one.student._replace(key=key))
        taken.append(_take_one(act, course, listed, known))
    present = courses.students(act.db, course)
    every = present + courses.students(act.db, course, FORMER)
    keys = {one.key.casefold() for one in every}
    # What students and groups submit is told apart by their keys.
    if group := next((one.team for one in every if one.team.casefold() in keys), None):
        raise UsageError(
            f"group: found {group!r}, but a student of this course is called so, too: call the"
            " group otherwise"
        )
    remarks = [*roster_file.remarks]
    if names := [f"{known[one].name} ({one})" for one in sorted(otherwise)]:
        remarks.append(
            f"{number_of(len(names), 'student')} found by number or mail address, not by the ID"
            f" in the file: {some(names, _NAMED)}."
        )
    remarks += tell_alike(present)
    found = _sum_up(taken, before, remarks)
    moved = {o.student: [o.was, o.now] for o in found.changed if o.what == _GROUP}
    others = [[o.student, o.what, o.was, o.now] for o in found.changed if o.what != _GROUP]
    facts = {"changed": others, "added again": [one.key for one in found.returned]}
    details = {name: value for name, value in facts.items() if value}
    act.note("roster taken", course, students=len(taken), moved=moved, **details)
    return found


class _RosterIntake(NamedTuple):
    """Effect of a roster on a student."""

    before: Member | None
    member: Member
    changes: tuple[RosterChange, ...] = ()
    remarks: tuple[str, ...] = ()


def _sum_up(
    intakes: Sequence[_RosterIntake], before: Mapping[str, Member], remarks: Sequence[str]
) -> RosterOutcome:
    listed = {one.member.key for one in intakes}
    added = tuple(one.member for one in intakes if one.before is None)
    changed = tuple(change for one in intakes for change in one.changes)
    returned = [one.member for one in intakes if one.before and one.before.role == FORMER]
    different = {one.student for one in changed} | {one.key for one in returned}
    missing = tuple(o for o in before.values() if o.role == STUDENT and o.key not in listed)
    # Platforms tell one student apart by different keys.
    alike = {_words(one.name): one for one in missing}
    twins = [(one, alike[words]) for one in added if (words := _words(one.name)) in alike]
    return RosterOutcome(
        added,
        tuple(returned),
        changed,
        sum(one.before is not None and one.member.key not in different for one in intakes),
        missing,
        (
            *remarks,
            *(remark for one in intakes for remark in one.remarks),
            *(
                f"{one.name} was added as {one.key}; the course also has {other.name} as"
                f" {other.key}. If this is one person, remove {one.key} and write {other.key} in"
                " the file."
                for one, other in twins
            ),
        ),
    )


def _words(name: str) -> frozenset[str]:
    """Return the words of a name: ``Lovelace, Ada`` and ``Ada Lovelace`` have the same."""
    return frozenset(name.casefold().replace(",", " ").split())


def _take_one(
    act: AuditedTransaction, course: str, listed: ListedStudent, members: Mapping[str, Member]
) -> _RosterIntake:
    known, address = members.get(listed.roster_id), _address_of(listed)
    if known is None:
        student = listed.student
        made = Member(
            course,
            accounts.add_person(act, student.name, address).id,
            STUDENT,
            student.key,
            student.name,
            ids=json.dumps(student.ids),
            team=listed.team or "",
            roster_id=listed.roster_id,
            team_name=listed.group,
        )
        return _RosterIntake(None, courses.MEMBERS.add(act.db, made))
    person = people.PEOPLE.find(act.db, id=known.person)
    assert person is not None  # members refer to people
    is_ours = accounts.may_be_changed_by(act.db, person, act.by)
    member = _merge(known, listed, is_ours=is_ours)
    values = {name: getattr(member, name) for name in _TAKEN}
    courses.MEMBERS.change(act.db, values, course=course, person=known.person)
    changes = _tell(known, member)
    if not is_ours:
        return _RosterIntake(known, member, changes, _tell_kept(person, member, listed))
    is_renamed = listed.is_named and person.name != member.name
    if is_renamed and not accounts.chose_a_name(act, person):
        accounts.rename(act, person, member.name)
    if not address or address == person.email:
        return _RosterIntake(known, member, changes)
    accounts.change_email(act, person, address)
    change = RosterChange(member.key, member.name, _ADDRESS, person.email, address)
    remarks: tuple[str, ...] = ()
    if accounts.is_another_address(person.email, address):
        remarks = (
            f"{member.name} ({member.key}) has another mail address: former links no longer work."
            " Make or send a new link.",
        )
    return _RosterIntake(known, member, (*changes, change), remarks)


def _address_of(listed: ListedStudent) -> str:
    return dict(listed.student.ids).get(_EMAIL, "")


def _merge(member: Member, listed: ListedStudent, *, is_ours: bool) -> Member:
    """Return a member with all that a roster says; what it does not say stays."""
    ids = {**dict(json.loads(member.ids)), **(dict(listed.student.ids) if is_ours else {})}
    return member._replace(
        role=STUDENT,
        name=listed.student.name if listed.is_named else member.name,
        ids=json.dumps([*ids.items()]),
        team=member.team if listed.team is None else listed.team,
        team_name=member.team_name if listed.team is None else listed.group,
        roster_id=member.roster_id or listed.roster_id,
    )


def _tell(former: Member, member: Member) -> tuple[RosterChange, ...]:
    """List the changes of a member; the mail address is told of by itself."""
    ids, ids_before = dict(json.loads(member.ids)), dict(json.loads(former.ids))
    facts = [(_NAME, former.name, member.name), (_GROUP, former.team, member.team)]
    facts += [(kind, ids_before.get(kind, ""), ids[kind]) for kind in ids if kind != _EMAIL]
    return tuple(
        RosterChange(member.key, member.name, what, was, now)
        for what, was, now in facts
        if was != now
    )


def _tell_kept(person: Person, member: Member, listed: ListedStudent) -> tuple[str, ...]:
    """Say what a roster may not change of a person."""
    address, ids = _address_of(listed), dict(json.loads(member.ids))
    kept = [_ADDRESS] if address and address != person.email else []
    kept += [kind for kind, one in listed.student.ids if kind != _EMAIL and ids.get(kind) != one]
    if not kept:
        return ()
    return (
        f"{member.name} ({member.key}): not changed: {', '.join(kept)}. {member.name} is also in a"
        " course of others, or teaches. Ask the operator of the service.",
    )


# --- Match a roster with the students of a course: by the id of the file, a number, an address ---


def match(
    members: Sequence[Member], listed_students: Sequence[ListedStudent]
) -> tuple[dict[str, Member], list[str]]:
    """Return the members whom a roster lists, by their ids in the file; nobody twice, or in doubt.

    Also the ids in the file of those who are known by a number or an address.
    """
    found: dict[str, Member] = {}
    otherwise = []
    taken: set[str] = set()
    for kind in ("", *_KINDS):
        own, listed = _find_single(kind, members), _find_single(kind, listed_students)
        for fact in own.keys() & listed.keys():
            member, roster_id = own[fact], listed[fact].roster_id
            ids, others = _ids(member), _ids(listed[fact])
            both = (one for one in _LASTING if one in ids and one in others)
            # They may be two people, whatever else they have in common.
            differ = bool(kind) and any(ids[one] != others[one] for one in both)
            if not differ and member.person not in taken and roster_id not in found:
                found[roster_id] = member
                taken.add(member.person)
                otherwise += [roster_id] if kind else []
    return found, otherwise


def _find_single(kind: str, students: Iterable[_One]) -> dict[str, _One]:
    """Return those who share their id of a kind with nobody; "": the id in the file."""
    alike: dict[str, list[_One]] = {}
    for one in students:
        fact = _ids(one).get(kind, "").casefold() if kind else one.roster_id
        alike.setdefault(fact, []).append(one)
    return {fact: known[0] for fact, known in alike.items() if fact and len(known) == 1}


def _ids(student: Member | ListedStudent) -> dict[str, str]:
    ids = json.loads(student.ids) if isinstance(student, Member) else student.student.ids
    return {str(kind): str(value) for kind, value in ids}


# --- Groups of a roster in a course: each spelling is a group of its own, which keeps its key ----
# Keys are unique in one file only: ``Team 1`` and ``Team/1`` have the same key in two files. So
# the name is kept as the last file wrote it, and compared.


def give_keys_of_groups(
    listed: Sequence[ListedStudent], members: Iterable[Member], known: Mapping[str, Member]
) -> list[ListedStudent]:
    """Return students with the keys of their groups in the course.

    ``members``: all of the course. ``known``: those of them who are listed.
    """
    grouped = [one for one in members if one.team]
    keys = {one.team_name: one.team for one in grouped}
    leaving = {one.person for one in known.values()}
    used = {o.team.casefold(): o.team_name for o in grouped if o.person not in leaving}
    asked = {one.group: one.team for one in listed if one.team}
    for name in sorted(asked, key=lambda one: (one not in keys, one)):  # those keep theirs
        key = keys.get(name) or asked[name] or ""
        is_free = used.get(key.casefold(), name) == name
        keys[name] = key if is_free else with_digest(name, is_group=True)
        used[keys[name].casefold()] = name
    return [one._replace(team=keys[one.group]) if one.team else one for one in listed]


def tell_alike(members: Iterable[Member]) -> Iterator[str]:
    """Yield a remark for groups whose names differ in case, blanks or signs alone."""
    alike: dict[str, list[str]] = {}
    for name in sorted({one.team_name for one in members if one.team}):
        alike.setdefault(safe(name).casefold(), []).append(name)
    for spellings in alike.values():
        if len(spellings) > 1:
            yield (
                f"{', '.join(map(repr, spellings))} are {len(spellings)} groups. If they are one,"
                " write it in the same way for each student, and upload the file again."
            )


class StudentLink(NamedTuple):
    """A link for a student to sign in by. This is its only copy."""

    student: str  # the key
    name: str
    email: str
    link: str  # empty: the person has rights elsewhere, and is reached by mail alone


def have_links(db: Connection, course: str) -> bool:
    """Whether a student of a course can sign in by a link."""
    return people.some_have_links(db, (one.person for one in courses.students(db, course)))


def make_links(act: AuditedTransaction, course: str, base: str) -> list[StudentLink]:
    """Make links for all students of a course; those they had hold no longer.

    ``base``: the beginning of the service's addresses.
    """
    links = []
    for one in courses.students(act.db, course):
        person = people.PEOPLE.find(act.db, id=one.person)
        assert person is not None  # members refer to people
        link = ""
        if accounts.may_be_changed_by(act.db, person, act.by):
            people.revoke_links(act.db, one.person)
            link = accounts.make_course_link(act, one.person, base)
        links.append(StudentLink(one.key, one.name, person.email, link))
    return links


def students(members: Sequence[Member]) -> list[StudentSubmissions]:
    """Return an entry for each student or group of a course, with nothing submitted yet.

    They are sorted by key as people count.
    """
    groups: dict[str, list[Member]] = {}
    for one in members:
        if one.role == STUDENT:
            groups.setdefault(one.submits_as, []).append(one)
    return [entry(key, groups[key]) for key in sorted(groups, key=natural_order)]


def entry(key: str, members: Iterable[Member]) -> StudentSubmissions:
    """Return an entry of some students, with nothing submitted yet."""
    students = (
        Student(one.key, one.name, tuple((str(a), str(b)) for a, b in json.loads(one.ids)))
        for one in sorted(members, key=lambda one: one.key)
    )
    return StudentSubmissions(key, tuple(students), ())


# --- Students who leave a course: removed, and added again. Nothing of theirs is lost ------------
# A former student does not see the course, and counts nowhere in it: the next grading leaves the
# student out. Submissions, marks, comments and extensions stay with the key of the student, so
# that all is there again once the student is.


def find_present(act: AuditedTransaction, course: str, key: str) -> Member:
    """Return a student of a course, who stays so until the end of the transaction.

    Raises:
        UsageError: the course has no such student.
    """
    return _find(act, course, key, STUDENT)


def remove(act: AuditedTransaction, course: str, key: str) -> Member:
    """Remove a student from a course; raises as :func:`find_present`."""
    return _change(act, find_present(act, course, key)._replace(role=FORMER), "student removed")


def restore(act: AuditedTransaction, course: str, key: str) -> Member:
    """Add a removed student again; raises UsageError if there is no such former student."""
    found = _find(act, course, key, FORMER)
    return _change(act, found._replace(role=STUDENT), "student added again")


def _find(act: AuditedTransaction, course: str, key: str, role: str) -> Member:
    courses.lock_course(act.db, course)  # a roster may be taken at the same time
    found = courses.MEMBERS.find(act.db, course=course, key=key, role=role)
    if not key or found is None:
        raise UsageError("there is no such student: open the page of the course again")
    return found


def _change(act: AuditedTransaction, member: Member, action: str) -> Member:
    own = {"course": member.course, "person": member.person}
    courses.MEMBERS.change(act.db, {"role": member.role}, **own)
    act.note(action, member.course, key=member.key, student=member.person)
    return member
