"""Courses that a platform opens: their members come from there, released marks go back.

Members come by launches, and by the platform's list of them. Everybody from a platform is a person
of one course alone: a launch opens no other course, and takes over nobody who was here before,
whatever name, number or mail address the platform tells.
"""

import datetime
import json
import time
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection

from harness.core.errors import HarnessError, UsageError
from harness.grading.ingest.students import safe
from harness.grading.records import Marks, Student, counting_mark
from harness.service import monitoring, records
from harness.service.courses import making, roster
from harness.service.courses.gradings import as_given
from harness.service.courses.roster_files import ListedStudent, RosterFile
from harness.service.lti import connection
from harness.service.lti.connection import PlatformClient, PlatformError, PlatformService
from harness.service.lti.messages import Launch, PlatformPerson, as_line
from harness.service.lti.platforms import with_query
from harness.service.people import accounts
from harness.service.records import FORMER, STUDENT, TEACHER, CourseLink, Member, Person, Platform
from harness.service.settings import Settings
from harness.service.storage import courses, lti, people, queue, uploads
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database
from harness.work import canonical_json

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
            why = "who made this code does not teach the course any more: make a new code"
            raise UsageError(why)
    courses.lock_course(act.db, course)
    if find_link(act.db, platform, launch):
        raise UsageError("this course is linked by now: open it again")
    own = (records.new_id(), platform.id, launch.deployment, launch.context)
    made = lti.LINKS.add(act.db, CourseLink(*own, course, person, launch.title))
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
    _take(act, link, [launch], None)
    user = lti.USERS.find(act.db, link=link.id, subject=launch.subject)
    found = people.PEOPLE.find(act.db, id=user.person) if user else None
    if found is None:
        raise UsageError("another student of this course has your number: ask your teacher")
    return found


def _take(
    act: AuditedTransaction, link: CourseLink, listed: Iterable[PlatformPerson], groups: Groups
) -> tuple[str, ...]:
    """Let people be in a course as a platform says; return remarks."""
    students: dict[str, ListedStudent] = {}  # by how the platform calls them
    unknown = []
    for one in listed:
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
        is_in_group = member and (line.team is None or member.team_name == line.group)
        is_known = member and member.role == STUDENT and member.name == (one.name or member.name)
        if not (is_known and is_in_group):
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


def _change_role(act: AuditedTransaction, member: Member, role: str, new: dict[str, str]) -> None:
    own = {"course": member.course, "person": member.person}
    courses.MEMBERS.change(act.db, {**new, "may": ""}, **own)
    act.note("role changed", member.course, **{role: member.person})


# --- the list of members -------------------------------------------------------------------------


def synchronize_next(settings: Settings, database: Database) -> bool:
    """Read the members of the next course for which that is due; False if there is none."""
    return queue.deliver_next(
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
            remarks = [*_take(act, link, listed.values(), groups)]
            for user in lti.USERS.all(act.db, link=link.id):  # who is not in the list any more
                who = {"course": link.course, "person": user.person}
                member = courses.MEMBERS.find(act.db, **who)
                if user.subject in listed or member is None or member.role == FORMER:
                    continue
                if member.role == STUDENT:
                    roster.remove(act, link.course, member.key)
                else:
                    courses.MEMBERS.remove(act.db, **who)
                    act.note(f"{member.role} removed", link.course, **{member.role: user.person})
                gone = "was removed: no longer in the course of the platform."
                remarks.append(f"{member.name} {gone}")
    except HarnessError as error:
        monitoring.warn(settings, f"LTI: the members of {link.title!r}: {error}")
        return {"trouble": str(error)}
    now, done = time.time(), {"trouble": "", "remarks": "\n".join(remarks)}
    return {**done, "tries": 0, "due": now + _DAY, "synced": now}


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


# --- released marks go to the platform's gradebook, with comment and link ------------------------
# What is sent is computed when it is sent, from what the student sees at that time. So nothing
# goes before the release, and a mark that was given or changed since replaces the former one.

_LONGEST = 4000  # characters of a comment


def deliver_next_score(settings: Settings, database: Database) -> bool:
    """Send the next score that is due; False if there is none. Raises as the database."""
    return queue.deliver_next(
        database, lti.SCORES, lambda row: _deliver(settings, database, row), _LATER
    )


def _deliver(settings: Settings, database: Database, row: records.Score) -> dict[str, object]:
    done: dict[str, object] = {"state": records.SENT, "trouble": ""}
    with database.reading() as db:
        link = lti.LINKS.find(db, id=row.link)
        assigned = courses.ASSIGNMENTS.find(db, id=row.assignment)
        platform = lti.PLATFORMS.find(db, id=link.platform) if link else None
        member = courses.MEMBERS.find(db, course=link.course, key=row.key) if link else None
        user = lti.USERS.find(db, link=row.link, person=member.person) if member else None
        line = lti.LINES.find(db, link=row.link, assignment=row.assignment)
        score = _compose(db, settings, assigned, row) if assigned else None
    if not (link and assigned and platform and user and line and score):
        return done  # there is nothing that the student may see
    score = {"userId": user.subject, **score}
    content = json.dumps(score, sort_keys=True)
    if content == row.sent:
        return done
    client = PlatformClient(settings, platform)
    try:
        column = line.url or _find_column(client, database, link, assigned, score)
        parts = urlsplit(column)  # it may have a query
        address = parts._replace(path=f"{parts.path.rstrip('/')}/scores").geturl()
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        client.call("POST", address, connection.SCORE, {**score, "timestamp": now})
    except HarnessError as error:
        monitoring.warn(settings, f"LTI: a mark for {link.title!r}: {error}")
        status = error.status if isinstance(error, PlatformError) else 400
        if status == 404 and link.lines_url:  # the column is gone: it is looked for anew
            with database.changing() as db:
                lti.set_line(db, link.id, assigned.id, "")
        if status in (0, 401, 403, 429) or status >= 500:  # it is away: the others wait, too
            later = queue.next_try(row.tries, _LATER)
            with database.changing() as db:
                queue.postpone(db, lti.SCORES, later, link=row.link)
        return {"trouble": str(error)}
    monitoring.tell(settings, "score sent", assignment=row.assignment, link=row.link)
    return {**done, "sent": content, "at": time.time()}


def _compose(
    db: Connection, settings: Settings, assignment: records.CourseAssignment, row: records.Score
) -> dict[str, Any] | None:
    released = uploads.find_released(db, assignment.id)
    marked = uploads.mark_of(db, released.id, row.key) if released else None
    if marked is None:
        return None
    own = uploads.overrides(db, assignment.id).get(row.key)
    found = canonical_json.loads(Marks, marked.marks)
    counts = counting_mark(found, as_given(own) if own else None)
    if counts.of <= 0:
        return None
    if counts.withheld:  # a mark that was sent before does not stand any more
        none = {"activityProgress": "Completed", "gradingProgress": "Pending"}
        return none if row.sent else None
    place = f"{settings.base}/courses/{assignment.course}/assignments/{assignment.id}/mark"
    said = [one.text for one in uploads.comments(db, assignment.id, [row.key])]
    note = [counts.note] if counts.note else []
    text = "\n".join([f"{counts}.", *note, *said, f"Feedback: {place}"])
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - len(place) - 20]}…\nFeedback: {place}"
    return {
        "scoreGiven": float(counts.total),
        "scoreMaximum": float(counts.of),
        "comment": text,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }


def _find_column(
    client: PlatformClient,
    database: Database,
    link: CourseLink,
    assigned: records.CourseAssignment,
    score: dict[str, Any],
) -> str:
    """Return the column of an assignment, which the platform is asked for, and then makes."""
    lines, title = link.lines_url, client.platform.title
    if not lines:
        raise PlatformError(
            f"{title} has not told a column of its gradebook: open the assignment there once",
            status=400,
        )
    query = with_query(lines, {"resource_id": assigned.id})
    known = client.call("GET", query, connection.LINES).value
    rows = [connection.as_dict(line) for line in known] if isinstance(known, list) else []
    made = next((line for line in rows if line.get("resourceId") == assigned.id), None)
    if made is None:
        most = score.get("scoreMaximum", 1.0)
        body = {"scoreMaximum": most, "label": assigned.title, "resourceId": assigned.id}
        made = connection.as_dict(client.call("POST", lines, connection.LINE, body).value)
    found = made.get("id")
    if not isinstance(found, str) or not client.platform.has(found):
        raise PlatformError(f"{title} did not tell its column", status=400)
    with database.changing() as db:
        lti.set_line(db, link.id, assigned.id, found)
    return found
