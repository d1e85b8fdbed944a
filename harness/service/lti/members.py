"""Who is who in a course that a platform opens: by its launches, and by its list of members.

Everybody from a platform is a person of one course alone: a launch opens no other course, and
takes over nobody who was here before, whatever name, number or mail address the platform tells.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import Connection

from harness.errors import HarnessError, UsageError
from harness.grading.ingest.sources.listing import safe
from harness.grading.records import Student
from harness.service import monitoring
from harness.service.courses import making, roster
from harness.service.courses.roster_files import ListedStudent, RosterFile
from harness.service.lti import messages
from harness.service.lti.connection import GROUP_SCOPE, MEMBER_SCOPE, PlatformClient, PlatformError
from harness.service.lti.messages import Launch
from harness.service.lti.platforms import LINKS, PLATFORMS, CourseLink, Platform
from harness.service.people import accounts
from harness.service.records import FORMER, STUDENT, TEACHER, Member, Person
from harness.service.settings import Settings
from harness.service.storage import courses, people
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database
from harness.service.storage.tables import LTI_COURSE, LTI_USER, new_id

_DAY = 86400.0  # seconds between two readings
_SOON, _LATER = 60.0, 6 * 3600.0  # seconds before another try, the first and the last
_MOST_PAGES, _MOST_MEMBERS = 100, 20_000
_KINDS = {
    "members": "application/vnd.ims.lti-nrps.v2.membershipcontainer+json",
    "groups": "application/vnd.ims.lti-gs.v1.contextgroupcontainer+json",
}


def find_link(db: Connection, platform: Platform, launch: Launch) -> CourseLink | None:
    """Return the link of the course that a launch is from, or None."""
    return LINKS.find(
        db, platform=platform.id, deployment=launch.deployment, context=launch.context
    )


def link_new_course(act: AuditedTransaction, platform: Platform, launch: Launch) -> CourseLink:
    """Make a course for one of a platform; who launched is its teacher.

    Raises:
        UsageError: it is linked by now.
    """
    person = accounts.add_person(act, launch.name or "Teacher")
    made = making.course(act._replace(by=person.id), launch.title)
    link = _link(act, platform, launch, made.id, person.id)
    _map(act.db, link, launch.subject, person.id)
    return link


def link_course(
    act: AuditedTransaction, platform: Platform, launch: Launch, course: str, person: str
) -> CourseLink:
    """Link a course of a platform with one that is here; ``person``: its teacher who wants that.

    Raises:
        UsageError: the person does not teach it any more, or it is linked by now.
    """
    if courses.MEMBERS.find(act.db, course=course, person=person, role=TEACHER) is None:
        raise UsageError("who made this code does not teach the course any more: make a new code")
    return _link(act, platform, launch, course, person)


def _link(
    act: AuditedTransaction, platform: Platform, launch: Launch, course: str, person: str
) -> CourseLink:
    courses.lock_course(act.db, course)
    if find_link(act.db, platform, launch):
        raise UsageError("this course is linked by now: open it again")
    own = (new_id(), platform.id, launch.deployment, launch.context, course, person, launch.title)
    made = LINKS.add(act.db, CourseLink(*own))
    act.note("course linked", course, platform=platform.id, context=launch.context)
    return made


def _map(db: Connection, link: CourseLink, subject: str, person: str) -> None:
    db.execute(LTI_USER.insert(), {"link": link.id, "subject": subject, "person": person})


def find_person(db: Connection, link: CourseLink, subject: str) -> str:
    """Return the ID of the person whom a platform calls so in a course; "" for nobody."""
    query = LTI_USER.select().where(LTI_USER.c.link == link.id, LTI_USER.c.subject == subject)
    row = db.execute(query).fetchone()
    return row.person if row else ""


def find_subject(db: Connection, link: CourseLink, person: str) -> str:
    """Return how the platform calls a person in a course; "" for nobody from there."""
    query = LTI_USER.select().where(LTI_USER.c.link == link.id, LTI_USER.c.person == person)
    row = db.execute(query).fetchone()
    return row.subject if row else ""


def admit(act: AuditedTransaction, link: CourseLink, launch: Launch) -> Person:
    """Return who launched, as a member of the linked course with the role of the launch.

    Raises:
        UsageError: the course has somebody else in that place.
    """
    courses.lock_course(act.db, link.course)
    listed = _Listed(launch.subject, launch.name, launch.number, launch.role)
    _update_services(act.db, link, launch)
    _take(act, link, [listed])
    found = people.PEOPLE.find(act.db, id=find_person(act.db, link, launch.subject))
    if found is None:
        raise UsageError("another student of this course has your number: ask your teacher")
    return found


def _update_services(db: Connection, link: CourseLink, launch: Launch) -> None:
    """Keep where the services of a course are, as its last launch said."""
    told = {
        "members_url": launch.members_url,
        "groups_url": launch.groups_url,
        "lines_url": launch.lines,
    }
    values: dict[str, object] = {n: v for n, v in told.items() if v and v != getattr(link, n)}
    if launch.members_url and not link.due:
        values["due"] = time.time()
    if values:
        LINKS.change(db, values, id=link.id)


class _Listed(NamedTuple):
    """Somebody whom a platform lists."""

    subject: str
    name: str
    number: str
    role: str
    group: str | None = None  # None: the platform tells of no groups


def _take(act: AuditedTransaction, link: CourseLink, listed: Iterable[_Listed]) -> tuple[str, ...]:
    """Let people be in a course as a platform says; return remarks."""
    students = []
    for one in listed:
        person = find_person(act.db, link, one.subject)
        member = (
            courses.MEMBERS.find(act.db, course=link.course, person=person) if person else None
        )
        if one.role != STUDENT:
            _take_staff(act, link, one, person, member)
        elif member is None or not _is_same(member, one):
            if member and member.role not in (STUDENT, FORMER):
                _make_student(act, link, member, one)
            students.append(one)
    if not students:
        return ()
    lines = RosterFile(tuple(_roster_line(link, one) for one in students))
    outcome = roster.take(act._replace(by=link.person), link.course, lines)
    for one in students:
        own = {"course": link.course, "roster_id": _roster_id(link, one)}
        member = courses.MEMBERS.find(act.db, **own, role=STUDENT)
        if member and not find_person(act.db, link, one.subject):
            _map(act.db, link, one.subject, member.person)
    return outcome.remarks


def _roster_id(link: CourseLink, one: _Listed) -> str:
    """Return what the roster knows a student by, also if a link was ended and made anew."""
    return f"lti {link.platform} {one.subject}"


def _is_same(member: Member, one: _Listed) -> bool:
    is_in_group = one.group is None or member.team_name == one.group
    return member.role == STUDENT and member.name == (one.name or member.name) and is_in_group


def _roster_line(link: CourseLink, one: _Listed) -> ListedStudent:
    key = safe(one.number or one.subject)
    student = Student(key, one.name or key)
    group = None if one.group is None else (safe(one.group) if one.group else "")
    return ListedStudent(student, _roster_id(link, one), group, bool(one.name), one.group or "")


def _take_staff(
    act: AuditedTransaction, link: CourseLink, one: _Listed, person: str, member: Member | None
) -> None:
    if member is None:
        if not person:
            person = accounts.add_person(act, one.name or one.role.title()).id
            _map(act.db, link, one.subject, person)
        made = Member(link.course, person, one.role, name=one.name or one.role.title())
        courses.MEMBERS.add(act.db, made)
        act.note(f"{one.role} added", link.course, **{one.role: person})
    elif member.role != one.role:
        _change(act, member, {"role": one.role, "may": ""}, one.role)


def _make_student(act: AuditedTransaction, link: CourseLink, member: Member, one: _Listed) -> None:
    values = {"role": FORMER, "may": "", "roster_id": _roster_id(link, one)}
    key = member.key or safe(one.number or one.subject)
    if courses.MEMBERS.find(act.db, course=member.course, key=key, role=[STUDENT, FORMER]):
        key = f"{key}-{member.person[:8]}"
    _change(act, member, {**values, "key": key}, STUDENT)


def _change(
    act: AuditedTransaction, member: Member, values: Mapping[str, object], role: str
) -> None:
    courses.MEMBERS.change(act.db, dict(values), course=member.course, person=member.person)
    act.note("role changed", member.course, **{role: member.person})


# --- the list of members -----------------------------------------------------------------------


def synchronize_next(settings: Settings, database: Database) -> bool:
    """Read the members of the next course for which that is due; False if there is none."""
    now = time.time()
    is_due = (LTI_COURSE.c.due > 0, LTI_COURSE.c.due <= now, LTI_COURSE.c.members_url != "")
    with database.reading() as db:
        found = LINKS.list(db, LINKS.query.where(*is_due).order_by(LTI_COURSE.c.due).limit(1))
    if not found:
        return False
    with database.changing() as db:  # another process may have had the same thought
        values: dict[str, object] = {"due": now + _SOON}
        if not LINKS.change(db, values, id=found[0].id, due=found[0].due):
            return True
    synchronize(settings, database, found[0], now)
    return True


def synchronize(settings: Settings, database: Database, link: CourseLink, now: float) -> None:
    """Let the members of a course be those of the platform, whether it can be asked or not."""
    with database.reading() as db:
        platform = PLATFORMS.find(db, id=link.platform)
    if platform is None:
        return
    try:
        listed = _fetch(PlatformClient(settings, platform, now), link)
        with database.acting() as act:
            courses.lock_course(act.db, link.course)
            remarks = [*_take(act, link, listed), *_remove_others(act, link, listed)]
            values: dict[str, object] = {"trouble": "", "remarks": "\n".join(remarks)}
            LINKS.change(act.db, {**values, "due": now + _DAY, "synced": now}, id=link.id)
    except HarnessError as error:
        late = now - (link.synced or now)
        wait = min(max(_SOON, late if late < _LATER else _LATER), _LATER)
        with database.changing() as db:
            LINKS.change(db, {"trouble": str(error), "due": now + wait}, id=link.id)
        monitoring.warn(settings, f"LTI: the members of {link.title!r}: {error}")


def _remove_others(
    act: AuditedTransaction, link: CourseLink, listed: Iterable[_Listed]
) -> Iterator[str]:
    """Remove from a course who is from the platform, and not in its list any more."""
    known = {one.subject for one in listed}
    rows = act.db.execute(LTI_USER.select().where(LTI_USER.c.link == link.id)).fetchall()
    for row in rows:
        member = courses.MEMBERS.find(act.db, course=link.course, person=row.person)
        if row.subject in known or member is None or member.role == FORMER:
            continue
        if member.role == STUDENT:
            roster.remove(act, link.course, member.key)
        else:
            courses.MEMBERS.remove(act.db, course=link.course, person=row.person)
            act.note(f"{member.role} removed", link.course, **{member.role: row.person})
        yield f"{member.name} was removed: no longer in the course of the platform."


def _fetch(client: PlatformClient, link: CourseLink) -> list[_Listed]:
    title, groups = client.platform.title, _fetch_groups(client, link)
    found: dict[str, _Listed] = {}
    for member in _pages(client, link.members_url, MEMBER_SCOPE, "members"):
        subject, role = messages.id_of(member, "user_id"), messages.role_of(member.get("roles"))
        is_there = str(member.get("status", "Active")).casefold() == "active"
        if subject and role and is_there:
            number = messages.id_of(member, "lis_person_sourcedid")
            group = None if groups is None else _group_of(member, groups)
            found[subject] = _Listed(subject, messages.name_of(member), number, role, group)
    if not found:
        raise PlatformError(f"{title} lists nobody in this course: nothing was changed")
    return [*found.values()]


def _group_of(member: Mapping[str, Any], groups: Mapping[str, str]) -> str:
    """Return the group of somebody who is in one; in several, nobody knows which is meant."""
    enrolled = member.get("group_enrollments")
    ids = [str(one.get("group_id")) for one in enrolled or () if isinstance(one, dict)]
    return groups.get(ids[0], "") if len(ids) == 1 else ""


def _fetch_groups(client: PlatformClient, link: CourseLink) -> dict[str, str] | None:
    """Return the names of the groups by their ids; None if the platform tells of none."""
    if not link.groups_url:
        return None
    found = _pages(client, link.groups_url, GROUP_SCOPE, "groups")
    names = {str(one.get("id")): messages.line_of(one, "name") for one in found}
    return {own: name or own for own, name in names.items()}


def _pages(
    client: PlatformClient, address: str, scope: str, name: str
) -> Iterator[dict[str, Any]]:
    count, title = 0, client.platform.title
    for _ in range(_MOST_PAGES):
        answer = client.call("GET", address, scope, _KINDS[name])
        value = answer.value.get(name) if isinstance(answer.value, dict) else None
        if not isinstance(value, list):
            raise PlatformError(f"{title} did not answer with {name}")
        count += len(value)
        if count > _MOST_MEMBERS:
            raise PlatformError(f"{title} lists more than {_MOST_MEMBERS:,} {name}")
        yield from (one for one in value if isinstance(one, dict))
        if not (address := answer.next):
            return
    raise PlatformError(f"{title} lists {name} on more than {_MOST_PAGES} pages")


def with_query(address: str, **named: str) -> str:
    """Return an address with more in its query."""
    return f"{address}{'&' if '?' in address else '?'}{urlencode(named)}"
