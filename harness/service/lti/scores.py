"""Released marks go back to the platform's gradebook, with comment and link.

What is sent is computed when it is sent, from what the student sees at that time. So nothing goes
before the release, and a mark that was given or changed since goes in place of the one before.
"""

import datetime
import json
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import Connection

from harness.errors import HarnessError
from harness.grading.records import Marks, counting_mark
from harness.service import monitoring
from harness.service.courses.gradings import as_given
from harness.service.lti import connection
from harness.service.lti.platforms import with_query
from harness.service.records import SENT, CourseAssignment, CourseLink, Platform, Score
from harness.service.settings import Settings
from harness.service.storage import courses, lti, outgoing, uploads
from harness.service.storage.database import Database
from harness.work import canonical_json

_LATER = 6 * 3600.0  # seconds before another try at most
_LONGEST = 4000  # characters of a comment


class _Target(NamedTuple):
    """Target of a score, and the score."""

    platform: Platform
    link: CourseLink
    assigned: CourseAssignment
    line: str
    score: dict[str, Any]


def deliver_next(settings: Settings, database: Database) -> bool:
    """Send the next score that is due; False if there is none. Raises as the database."""
    return outgoing.deliver_next(
        database, lti.SCORES, lambda row: _deliver(settings, database, row), _LATER
    )


def _deliver(settings: Settings, database: Database, row: Score) -> dict[str, object]:
    done: dict[str, object] = {"state": SENT, "trouble": ""}
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
    target = _Target(platform, link, assigned, line.url, {"userId": user.subject, **score})
    content = json.dumps(target.score, sort_keys=True)
    if content == row.sent:
        return done
    try:
        _send(settings, database, target)
    except HarnessError as error:
        monitoring.warn(settings, f"LTI: a mark for {target.link.title!r}: {error}")
        status = error.status if isinstance(error, connection.PlatformError) else 400
        if status in (0, 401, 403, 429) or status >= 500:  # it is away: the others wait, too
            later = outgoing.next_try(row.tries, _LATER)
            with database.changing() as db:
                outgoing.put_off(db, lti.SCORES, later, link=row.link)
        return {"trouble": str(error)}
    monitoring.tell(settings, "score sent", assignment=row.assignment, link=row.link)
    return {**done, "sent": content, "at": time.time()}


def _compose(
    db: Connection, settings: Settings, assignment: CourseAssignment, row: Score
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


def _send(settings: Settings, database: Database, target: _Target) -> None:
    client = connection.PlatformClient(settings, target.platform)
    line = target.line or _find_line(client, database, target)
    moment = datetime.datetime.now(datetime.UTC)
    body = {**target.score, "timestamp": moment.isoformat(timespec="milliseconds")}
    parts = urlsplit(line)  # it may have a query
    address = parts._replace(path=f"{parts.path.rstrip('/')}/scores").geturl()
    try:
        client.call("POST", address, connection.SCORE, body)
    except connection.PlatformError as error:
        if error.status == 404 and target.link.lines_url:  # its column is gone: look for it anew
            with database.changing() as db:
                lti.set_line(db, target.link.id, target.assigned.id, "")
        raise


def _find_line(client: connection.PlatformClient, database: Database, target: _Target) -> str:
    """Return the column of an assignment, which the platform is asked for, and then makes."""
    lines, one, title = target.link.lines_url, target.assigned, target.platform.title
    if not lines:
        raise connection.PlatformError(
            f"{title} has not told a column of its gradebook: open the assignment there once",
            status=400,
        )
    known = client.call("GET", with_query(lines, {"resource_id": one.id}), connection.LINES).value
    rows = [connection.as_dict(line) for line in known] if isinstance(known, list) else []
    made = next((line for line in rows if line.get("resourceId") == one.id), None)
    if made is None:
        most = target.score.get("scoreMaximum", 1.0)
        body = {"scoreMaximum": most, "label": one.title, "resourceId": one.id}
        made = connection.as_dict(client.call("POST", lines, connection.LINE, body).value)
    found = made.get("id")
    if not isinstance(found, str) or not target.platform.has(found):
        raise connection.PlatformError(f"{title} did not tell its column", status=400)
    with database.changing() as db:
        lti.set_line(db, target.link.id, one.id, found)
    return found
