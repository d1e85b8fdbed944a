"""Platforms, their courses that are courses here, and the marks that go back to them."""

import time

from sqlalchemy import Connection

from harness.service import records
from harness.service.storage import courses, tables, uploads

PLATFORMS = tables.Rows(records.Platform, tables.LTI_PLATFORM)
LINKS = tables.Rows(records.CourseLink, tables.LTI_COURSE)
USERS = tables.Rows(records.PlatformUser, tables.LTI_USER)
LINES = tables.Rows(records.GradebookLine, tables.LTI_LINE)
SCORES = tables.Rows(records.Score, tables.LTI_SCORE)
SECRETS = tables.Rows(records.LaunchSecret, tables.LTI_SECRET)


def put_scores(db: Connection, assignment: str) -> None:
    """Let the marks of an assignment go to the platforms that link to it, once released."""
    links = [one.link for one in LINES.all(db, assignment=assignment)]
    if not links or uploads.find_released(db, assignment) is None:
        return
    now, known = time.time(), {(o.link, o.key) for o in SCORES.all(db, assignment=assignment)}
    SCORES.change(db, {"state": records.WAITING, "tries": 0, "due": now}, assignment=assignment)
    for link in LINKS.all(db, id=links):
        students = {m.person: m.key for m in courses.students(db, link.course)}
        keys = {students.get(one.person) for one in USERS.all(db, link=link.id)}
        for key in sorted(filter(None, keys)):
            if (link.id, key) not in known:
                SCORES.add(db, records.Score(link.id, assignment, key, due=now))


def count_scores(db: Connection, link: str) -> tuple[int, int]:
    """Return how many scores were sent to a platform, and how many wait."""
    states = [o.state for o in SCORES.all(db, link=link) if o.sent or o.state != records.SENT]
    return states.count(records.SENT), states.count(records.WAITING)


def set_line(db: Connection, link: str, assignment: str, url: str) -> None:
    """Keep where marks of an assignment go; marks that are released already go there, too."""
    if not LINES.change(db, {"url": url}, link=link, assignment=assignment):
        LINES.add(db, records.GradebookLine(link, assignment, url))
        put_scores(db, assignment)
