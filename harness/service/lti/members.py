"""Members of a course that a platform opens: by its launches, and by its list of members.

Everybody from a platform is a person of one course alone: a launch opens no other course, and
takes over nobody who was here before, whatever name, number or mail address the platform tells.
"""

import time
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection

from harness.errors import HarnessError, UsageError
from harness.grading.ingest.names import safe
from harness.grading.records import Student
from harness.service import monitoring, records
from harness.service.courses import making, roster
from harness.service.courses.roster_files import ListedStudent, RosterFile
from harness.service.lti import connection
from harness.service.lti.connection import PlatformClient, PlatformError, PlatformService
from harness.service.lti.messages import Launch, PlatformPerson, as_line
from harness.service.people import accounts
from harness.service.records import FORMER, STUDENT, TEACHER, CourseLink, Member, Person, Platform
from harness.service.settings import Settings
from harness.service.storage import courses, lti, outgoing, people
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database

_DAY = 86400.0  # seconds between two readings
_LATER = 6 * 3600.0  # seconds before another try at most
_MOST_PAGES, _MOST_MEMBERS = 100, 20_000
Groups = dict[str, str] | None  # names by ids; None: the platform tells of no groups


def find_link(db: Connection, platform: Platform, launch: Launch) -> CourseLink | None:
    """Return the link of the course that a launch is from, or None."""
    return lti.LINKS.find(
        db, platform=platform.id, deployment=launch.deployment, context=launch.context
    )


def link_course(
    act: AuditedTransaction, platform: Platform, launch: Launch, code: dict[str, str] | None = None
) -> CourseLink:
    """Link a course of a platform with a new one, whose teacher is who launched.

    ``code``: the course that is here, and the person who teaches it and wants the link.

    Raises:
        UsageError: the person does not teach it any more, or it is linked by now.
    """
    if code is None:
        person = accounts.add_person(act, launch.name or "Teacher").id
        course = making.course(act._replace(by=person), launch.title).id
    else:
        course, person = code["course"], code["person"]
        if not courses.MEMBERS.find(act.db, course=course, person=person, role=TEACHER):
            raise UsageError(
                "who made this code does not teach the course any more: make a new code"
            )
    courses.lock_course(act.db, course)
    if find_link(act.db, platform, launch):
        raise UsageError("this course is linked by now: open it again")
    own = (
        records.new_id(),
        platform.id,
        launch.deployment,
        launch.context,
        course,
        person,
        launch.title,
    )
    made = lti.LINKS.add(act.db, CourseLink(*own))
    act.note("course linked", course, platform=platform.id, context=launch.context)
    if code is None:
        lti.USERS.add(act.db, records.PlatformUser(made.id, launch.subject, person))
    return made


def admit(act: AuditedTransaction, link: CourseLink, launch: Launch) -> Person:
    """Return who launched, as a member of the linked course with the role of the launch."""
    courses.lock_course(act.db, link.course)
    told = {n: getattr(launch, n) for n in ("members_url", "groups_url", "lines_url")}
    values: dict[str, object] = {n: v for n, v in told.items() if v and v != getattr(link, n)}
    if launch.members_url and not link.state:
        values |= {"state": records.WAITING, "due": time.time()}
    if values:
        lti.LINKS.change(act.db, values, id=link.id)
    _take(act, link, [launch])
    user = lti.USERS.find(act.db, link=link.id, subject=launch.subject)
    found = people.PEOPLE.find(act.db, id=user.person) if user else None
    if found is None:
        raise UsageError("another student of this course has your number: ask your teacher")
    return found


def _take(
    act: AuditedTransaction,
    link: CourseLink,
    listed_people: Iterable[PlatformPerson],
    groups: Groups = None,
) -> tuple[str, ...]:
    """Let people be in a course as a platform says; return remarks."""
    students: dict[str, ListedStudent] = {}  # by how the platform calls them
    unknown = []
    for one in listed_people:
        user = lti.USERS.find(act.db, link=link.id, subject=one.subject)
        who = {"course": link.course, "person": user.person if user else ""}
        member = courses.MEMBERS.find(act.db, **who) if user else None
        if one.role != STUDENT:
            _take_staff(act, link, one, user, member)
            continue
        line = _roster_line(link, one, groups)
        unknown += [one.subject] if user is None else []
        if member and member.role not in (STUDENT, FORMER):
            # A former student, whom the roster takes back then.
            key = member.key or line.student.key
            own = {"course": link.course, "key": key, "role": [STUDENT, FORMER]}
            if courses.MEMBERS.find(act.db, **own):
                key = f"{key}-{member.person[:8]}"
            values = {"role": FORMER, "roster_id": line.roster_id, "key": key}
            _change_role(act, member, STUDENT, values)
        if member is None or not _is_same(member, one, line):
            students[one.subject] = line
    if not students:
        return ()
    lines = RosterFile(tuple(students.values()))
    outcome = roster.take(act._replace(by=link.person), link.course, lines)
    for subject in unknown:
        own = {"course": link.course, "roster_id": students[subject].roster_id}
        if made := courses.MEMBERS.find(act.db, **own, role=STUDENT):
            lti.USERS.add(act.db, records.PlatformUser(link.id, subject, made.person))
    return outcome.remarks


def _roster_line(link: CourseLink, person: PlatformPerson, groups: Groups) -> ListedStudent:
    key, group = safe(person.number or person.subject), ""
    ids = [str(found.get("group_id")) for found in person.groups if isinstance(found, dict)]
    if len(ids) == 1:  # in several, nobody knows which is meant
        group = (groups or {}).get(ids[0], "")
    return ListedStudent(
        Student(key, person.name or key),
        f"lti {link.platform} {person.subject}",  # the same if a link is made anew
        None if groups is None else (safe(group) if group else ""),
        bool(person.name),
        group,
    )


def _is_same(member: Member, person: PlatformPerson, line: ListedStudent) -> bool:
    is_in_group = line.team is None or member.team_name == line.group
    return member.role == STUDENT and member.name == (person.name or member.name) and is_in_group


def _take_staff(
    act: AuditedTransaction,
    link: CourseLink,
    listed: PlatformPerson,
    user: records.PlatformUser | None,
    member: Member | None,
) -> None:
    role, name = listed.role, listed.name or listed.role.title()
    if user is None:
        person = accounts.add_person(act, name)
        user = lti.USERS.add(act.db, records.PlatformUser(link.id, listed.subject, person.id))
    if member is None:
        courses.MEMBERS.add(act.db, Member(link.course, user.person, role, name=name))
        act.note(f"{role} added", link.course, **{role: user.person})
    elif member.role != role:
        _change_role(act, member, role, {"role": role})


def _change_role(
    act: AuditedTransaction, member: Member, role: str, values: dict[str, str]
) -> None:
    own = {"course": member.course, "person": member.person}
    courses.MEMBERS.change(act.db, {**values, "may": ""}, **own)
    act.note("role changed", member.course, **{role: member.person})


# --- the list of members -------------------------------------------------------------------------


def synchronize_next(settings: Settings, database: Database) -> bool:
    """Read the members of the next course for which that is due; False if there is none."""
    return outgoing.deliver_next(
        database, lti.LINKS, lambda link: _synchronize(settings, database, link), _LATER
    )


def _synchronize(settings: Settings, database: Database, link: CourseLink) -> dict[str, object]:
    """Let the members of a course be those of the platform; return what of the link changes."""
    with database.reading() as db:
        platform = lti.PLATFORMS.find(db, id=link.platform)
    assert platform is not None  # links refer to platforms
    try:
        client = PlatformClient(settings, platform)
        groups, title = None, platform.title
        if link.groups_url:
            told = _pages(client, link.groups_url, connection.GROUPS, "groups")
            groups = {str(o.get("id")): as_line(o.get("name")) or str(o.get("id")) for o in told}
        rows = _pages(client, link.members_url, connection.MEMBERS, "members")
        people_there = [PlatformPerson.model_validate(one) for one in rows]
        listed = {
            one.subject: one
            for one in people_there
            if one.subject and one.role and one.status.casefold() == "active"
        }
        if not listed:
            raise PlatformError(f"{title} lists nobody in this course: nothing was changed")
        with database.acting() as act:
            courses.lock_course(act.db, link.course)
            remarks = _take(act, link, listed.values(), groups)
            remarks = (*remarks, *_remove_others(act, link, {*listed}))
    except HarnessError as error:
        monitoring.warn(settings, f"LTI: the members of {link.title!r}: {error}")
        return {"trouble": str(error)}
    now, done = time.time(), {"trouble": "", "remarks": "\n".join(remarks)}
    return {**done, "tries": 0, "due": now + _DAY, "synced": now}


def _remove_others(act: AuditedTransaction, link: CourseLink, subjects: set[str]) -> Iterator[str]:
    """Remove from a course who is from the platform, and not in its list any more."""
    for user in lti.USERS.all(act.db, link=link.id):
        member = courses.MEMBERS.find(act.db, course=link.course, person=user.person)
        if user.subject in subjects or member is None or member.role == FORMER:
            continue
        if member.role == STUDENT:
            roster.remove(act, link.course, member.key)
        else:
            courses.MEMBERS.remove(act.db, course=link.course, person=user.person)
            act.note(f"{member.role} removed", link.course, **{member.role: user.person})
        yield f"{member.name} was removed: no longer in the course of the platform."


def _pages(
    client: PlatformClient, address: str, service: PlatformService, name: str
) -> Iterator[dict[str, Any]]:
    count, title = 0, client.platform.title
    for _ in range(_MOST_PAGES):
        answer = client.call("GET", address, service)
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
