"""Released marks go back to the platform's gradebook, with comment and link.

What is sent is computed when it is sent, from what the student sees at that time. So nothing goes
before the release, and a mark that was given or changed since goes in place of the one before.
"""

from __future__ import annotations

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
from harness.service.lti import members
from harness.service.lti.connection import LINE_SCOPE, SCORE_SCOPE, PlatformClient, PlatformError
from harness.service.lti.platforms import LINKS, PLATFORMS, CourseLink, Platform
from harness.service.records import SENT, CourseAssignment
from harness.service.settings import Settings
from harness.service.storage import courses, scores, uploads
from harness.service.storage.database import Database
from harness.service.storage.scores import Score
from harness.work import canonical_json

_SOON, _LATER = 60.0, 6 * 3600.0  # seconds before the second try, and at most before another one
_LONGEST = 4000  # characters of a comment
_SCORE = "application/vnd.ims.lis.v1.score+json"
_LINE = "application/vnd.ims.lis.v2.lineitem+json"
_LINES = "application/vnd.ims.lis.v2.lineitemcontainer+json"


class _Target(NamedTuple):
    """Where a score goes, and what it is."""

    platform: Platform
    link: CourseLink
    assigned: CourseAssignment
    line: str
    score: dict[str, Any]


def deliver_next(settings: Settings, database: Database) -> bool:
    """Send the next score that is due; False if there is none.

    Raises:
        ServerError: the database cannot be used now.
    """
    with database.reading() as db:
        if not scores.SCORES.is_due(db):
            return False
    with database.changing() as db:
        taken = scores.take(db)
        target = _find_target(db, settings, taken) if taken else None
    if taken is None:
        return False
    now = time.time()
    content = json.dumps(target.score, sort_keys=True) if target else ""
    if target is None or content == taken.sent:
        with database.changing() as db:
            scores.settle(db, taken, state=SENT, trouble="")
        return True
    try:
        _send(settings, database, target, now)
    except HarnessError as error:
        _fail(database, taken, error, now)
        monitoring.warn(settings, f"LTI: a mark for {target.link.title!r}: {error}")
    else:
        with database.changing() as db:
            values = {"state": SENT, "trouble": "", "sent": content, "at": now}
            if not scores.settle(db, taken, **values):  # another mark waits by now
                scores.SCORES.change(
                    db, {"sent": content, "at": now},
                    link=taken.link, assignment=taken.assignment, key=taken.key,
                )  # fmt: skip
        monitoring.tell(settings, "score sent", assignment=taken.assignment, link=taken.link)
    return True


def _fail(database: Database, taken: Score, error: HarnessError, now: float) -> None:
    """Write down why a score was not taken; if the platform is away, the others wait, too."""
    later = now + min(_SOON * 2 ** min(taken.tries - 1, 10), _LATER)
    status = error.status if isinstance(error, PlatformError) else 400
    with database.changing() as db:
        scores.settle(db, taken, trouble=str(error), due=later)
        if status in (0, 401, 403, 429) or status >= 500:
            scores.put_off(db, taken.link, later)


def _find_target(db: Connection, settings: Settings, taken: Score) -> _Target | None:
    """Return what is to be sent; None if there is nothing that the student may see."""
    link = LINKS.find(db, id=taken.link)
    assigned = courses.ASSIGNMENTS.find(db, id=taken.assignment)
    platform = PLATFORMS.find(db, id=link.platform) if link else None
    member = courses.MEMBERS.find(db, course=link.course, key=taken.key) if link else None
    line = scores.find_line(db, taken.link, taken.assignment)
    if not (link and assigned and platform and member) or line is None:
        return None
    subject = members.find_subject(db, link, member.person)
    score = _compose(db, settings, assigned, taken)
    if not subject or score is None:
        return None
    return _Target(platform, link, assigned, line, {"userId": subject, **score})


def _compose(
    db: Connection, settings: Settings, assigned: CourseAssignment, taken: Score
) -> dict[str, Any] | None:
    released = uploads.find_released(db, assigned.id)
    marked = uploads.mark_of(db, released.id, taken.key) if released else None
    if marked is None:
        return None
    own = uploads.overrides(db, assigned.id).get(taken.key)
    counts = counting_mark(
        canonical_json.loads(Marks, marked.marks), as_given(own) if own else None
    )
    if counts.of <= 0:
        return None
    if counts.withheld:  # a mark that was sent before does not stand any more
        none = {"activityProgress": "Completed", "gradingProgress": "Pending"}
        return none if taken.sent else None
    place = f"{settings.base}/courses/{assigned.course}/assignments/{assigned.id}/mark"
    said = [one.text for one in uploads.comments(db, assigned.id, [taken.key])]
    parts = [f"{counts}.", *([counts.note] if counts.note else []), *said, f"Feedback: {place}"]
    text = "\n".join(parts)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - len(place) - 20]}…\nFeedback: {place}"
    return {
        "scoreGiven": float(counts.total),
        "scoreMaximum": float(counts.of),
        "comment": text,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }


def _send(settings: Settings, database: Database, target: _Target, now: float) -> None:
    client = PlatformClient(settings, target.platform, now)
    line = target.line or _find_line(client, database, target)
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
    body = {**target.score, "timestamp": moment.isoformat(timespec="milliseconds")}
    try:
        client.call("POST", _with_path(line, "/scores"), SCORE_SCOPE, _SCORE, body)
    except PlatformError as error:
        if error.status == 404 and target.link.lines_url:  # its column is gone: look for it anew
            with database.changing() as db:
                scores.set_line(db, target.link.id, target.assigned.id, "")
        raise


def _find_line(client: PlatformClient, database: Database, target: _Target) -> str:
    """Return the column of an assignment, which the platform is asked for, and then makes.

    Raises:
        PlatformError: there is none, and it makes none.
    """
    lines, one, title = target.link.lines_url, target.assigned, target.platform.title
    if not lines:
        raise PlatformError(
            f"{title} has not told a column of its gradebook: open the assignment there once",
            status=400,
        )
    query = members.with_query(lines, resource_id=one.id)
    known = client.call("GET", query, LINE_SCOPE, _LINES).value
    made = next((line for line in known or () if line.get("resourceId") == one.id), None)
    if made is None:
        most = target.score.get("scoreMaximum", 1.0)
        body = {"scoreMaximum": most, "label": one.title, "resourceId": one.id}
        made = client.call("POST", lines, LINE_SCOPE, _LINE, body).value or {}
    found = made.get("id")
    if not isinstance(found, str) or not target.platform.has(found):
        raise PlatformError(f"{title} did not tell its column", status=400)
    with database.changing() as db:
        scores.set_line(db, target.link.id, one.id, found)
    return found


def _with_path(address: str, more: str) -> str:
    """Return an address with more at the end of its path, before its query."""
    parts = urlsplit(address)
    return parts._replace(path=f"{parts.path.rstrip('/')}{more}").geturl()
