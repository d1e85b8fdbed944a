"""Marks that go back to a platform: rows that wait until it takes them. None is lost."""

from __future__ import annotations

import time
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from harness.service.records import SENT, STUDENT, WAITING
from harness.service.storage import uploads
from harness.service.storage.tables import LTI_COURSE, LTI_LINE, LTI_SCORE, LTI_USER, MEMBER, Rows

LEASE = 300.0  # seconds for one call, longer than all its time limits


class Score(NamedTuple):
    """The mark of a student that a platform is to have, or has."""

    link: str  # of the course there
    assignment: str
    key: str  # of the student
    state: str = WAITING
    tries: int = 0
    due: float = 0.0
    sent: str = ""  # JSON: what the platform has
    at: float = 0.0  # when it was sent
    trouble: str = ""


SCORES: Rows[Score] = Rows(Score, LTI_SCORE)


def put(db: Connection, assignment: str) -> None:
    """Let the marks of an assignment go to the platforms that link to it, once released."""
    links = [
        row.link
        for row in db.execute(select(LTI_LINE.c.link).where(LTI_LINE.c.assignment == assignment))
    ]
    if not links or uploads.find_released(db, assignment) is None:
        return
    query = (
        select(LTI_USER.c.link, MEMBER.c.key)
        .join(LTI_COURSE, LTI_COURSE.c.id == LTI_USER.c.link)
        .join(
            MEMBER,
            (MEMBER.c.course == LTI_COURSE.c.course) & (MEMBER.c.person == LTI_USER.c.person),
        )
        .where(LTI_USER.c.link.in_(links), MEMBER.c.role == STUDENT)
    )
    known = {(one.link, one.key) for one in SCORES.all(db, assignment=assignment)}
    now = time.time()
    values: dict[str, object] = {"state": WAITING, "tries": 0, "due": now}
    SCORES.change(db, values, assignment=assignment)
    for row in db.execute(query).fetchall():
        if (row.link, row.key) not in known:
            SCORES.add(db, Score(row.link, assignment, row.key, due=now))


def take(db: Connection) -> Score | None:
    """Return the next score that is due, which is due again after the lease; or None."""
    return SCORES.take_due(db, LEASE, "assignment", "key", "link")


def settle(db: Connection, score: Score, **values: object) -> bool:
    """Write down how a try ended; False, and nothing is changed, if a mark came meanwhile."""
    is_same = {"tries": score.tries, "due": score.due}
    return bool(SCORES.change(db, values, **_named(score), **is_same))


def put_off(db: Connection, link: str, until: float) -> None:
    """Let nothing be sent to a platform that cannot be reached before a time."""
    is_it = (LTI_SCORE.c.link == link, LTI_SCORE.c.state == WAITING, LTI_SCORE.c.due < until)
    # One that is being put anew stays as it is: nobody waits here.
    for one in SCORES.list(db, SCORES.query.where(*is_it).with_for_update(skip_locked=True)):
        SCORES.change(db, {"due": until}, **_named(one))


def try_now(db: Connection, link: str) -> None:
    """Let all that waits for a platform be sent now."""
    SCORES.change(db, {"due": time.time(), "tries": 0}, link=link, state=WAITING)


def count(db: Connection, link: str) -> tuple[int, int]:
    """Return how many scores were sent to a platform, and how many wait."""
    query = (
        select(LTI_SCORE.c.state, func.count())
        .where(LTI_SCORE.c.link == link, (LTI_SCORE.c.sent != "") | (LTI_SCORE.c.state != SENT))
        .group_by(LTI_SCORE.c.state)
    )
    found = {row[0]: row[1] for row in db.execute(query)}
    return found.get(SENT, 0), found.get(WAITING, 0)


def _named(score: Score) -> dict[str, object]:
    return {"link": score.link, "assignment": score.assignment, "key": score.key}


# --- the columns of a platform's gradebook -----------------------------------------------------


def find_line(db: Connection, link: str, assignment: str) -> str | None:
    """Return where marks of an assignment go; "" if not yet known, None if nowhere."""
    own = (LTI_LINE.c.link == link, LTI_LINE.c.assignment == assignment)
    row = db.execute(select(LTI_LINE.c.url).where(*own)).fetchone()
    return row.url if row else None


def set_line(db: Connection, link: str, assignment: str, url: str) -> None:
    """Keep where marks of an assignment go; marks that are released already go there, too."""
    known = find_line(db, link, assignment)
    if known is None:
        db.execute(LTI_LINE.insert(), {"link": link, "assignment": assignment, "url": url})
        put(db, assignment)
    elif url != known:
        own = (LTI_LINE.c.link == link, LTI_LINE.c.assignment == assignment)
        db.execute(LTI_LINE.update().where(*own).values(url=url))
