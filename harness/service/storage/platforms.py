"""Platforms, their courses that are courses here, and the marks that go back to them."""

from __future__ import annotations

import time

from sqlalchemy import Connection, select

from harness.service.records import (
    SENT,
    STUDENT,
    WAITING,
    CourseLink,
    GradebookLine,
    LaunchSecret,
    Platform,
    PlatformUser,
    Score,
)
from harness.service.storage import uploads
from harness.service.storage.tables import (
    LTI_COURSE,
    LTI_LINE,
    LTI_PLATFORM,
    LTI_SCORE,
    LTI_SECRET,
    LTI_USER,
    MEMBER,
    Rows,
)

PLATFORMS: Rows[Platform] = Rows(Platform, LTI_PLATFORM)
LINKS: Rows[CourseLink] = Rows(CourseLink, LTI_COURSE)
USERS: Rows[PlatformUser] = Rows(PlatformUser, LTI_USER)
LINES: Rows[GradebookLine] = Rows(GradebookLine, LTI_LINE)
SCORES: Rows[Score] = Rows(Score, LTI_SCORE)
SECRETS: Rows[LaunchSecret] = Rows(LaunchSecret, LTI_SECRET)


def put_scores(db: Connection, assignment: str) -> None:
    """Let the marks of an assignment go to the platforms that link to it, once released."""
    links = [one.link for one in LINES.all(db, assignment=assignment)]
    if not links or uploads.find_released(db, assignment) is None:
        return
    now, known = time.time(), {(o.link, o.key) for o in SCORES.all(db, assignment=assignment)}
    SCORES.change(db, {"state": WAITING, "tries": 0, "due": now}, assignment=assignment)
    is_member = (MEMBER.c.course == LTI_COURSE.c.course) & (MEMBER.c.person == LTI_USER.c.person)
    query = select(LTI_USER.c.link, MEMBER.c.key).join(LTI_COURSE).join(MEMBER, is_member)
    rows = db.execute(query.where(LTI_USER.c.link.in_(links), MEMBER.c.role == STUDENT))
    for link, key in rows.fetchall():
        if (link, key) not in known:
            SCORES.add(db, Score(link, assignment, key, due=now))


def count_scores(db: Connection, link: str) -> tuple[int, int]:
    """Return how many scores were sent to a platform, and how many wait."""
    states = [o.state for o in SCORES.all(db, link=link) if o.sent or o.state != SENT]
    return states.count(SENT), states.count(WAITING)


def set_line(db: Connection, link: str, assignment: str, url: str) -> None:
    """Keep where marks of an assignment go; marks that are released already go there, too."""
    if not LINES.change(db, {"url": url}, link=link, assignment=assignment):
        LINES.add(db, GradebookLine(link, assignment, url))
        put_scores(db, assignment)
