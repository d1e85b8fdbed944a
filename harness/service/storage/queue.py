"""The queues: jobs, leased by workers on any number of machines, and messages to other systems.

They never hold bytes. What workers count, with durations, is in rows that all of them share: no
restart loses any.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, and_, exists, func, not_, or_, select, text, tuple_

from harness.grading.ledger import places
from harness.service import monitoring, records
from harness.service.storage.database import Database
from harness.service.storage.tables import FIGURE, GRADING, JOB, Rows, count, tally

JOBS = Rows(records.Job, JOB)
LEASE = 60.0  # seconds; renewed long before
_LITTLE = 3.0  # seconds that a job is put off
MOST_DEATHS = 3
_LATE = "9999"  # sorts behind every deadline
# Of jobs that nobody waits for in front of a page: behind the first two of a student.
_TURNS = {
    records.CHECK: 0,
    records.PLAN: 0,
    records.DRAFT: 0,
    records.PREVIEW: 0,
    records.MEASURE: 1,
    records.EXPORT: 1,
    records.GRADE: 2,
    records.CONCLUDE: 2,
    records.RUN: 2,
    records.TOURNAMENT: 2,
}
# In these jobs the second of one person comes after the first of all others: those of students, of
# staff in front of a page, and of engine authors. The submissions of a class belong to nobody.
_COUNTED = (
    (records.CHECK,),
    (records.PLAN, records.DRAFT, records.PREVIEW, records.MEASURE),
    (records.RUN,),
)
_UNFINISHED = JOB.c.state.in_((records.WAITING, records.LEASED))
_ORDER = (JOB.c.turn, JOB.c.due, JOB.c.made, JOB.c.id)


def put(db: Connection, job: records.Job) -> records.Job:
    """Add a job, which has no id yet. One of its kind about the same is not added again."""
    if known := JOBS.find(db, kind=job.kind, about=job.about, key=job.key):
        return known
    # How many jobs of its kind the person has, in all courses, or the group for it.
    kinds = next((kinds for kinds in _COUNTED if job.kind in kinds), ())
    own = JOB.c
    is_of_person = and_(own.person == job.person, own.person != "")
    is_of_group = and_(own.assignment == job.assignment, own.key == job.key, own.key != "")
    is_own = or_(is_of_person, is_of_group)
    turn = _TURNS[job.kind] + count(db, own.kind.in_(kinds), is_own, _UNFINISHED)
    due = job.due or _LATE
    return JOBS.add(db, job._replace(id=records.new_id(), turn=turn, due=due, made=places.now(db)))


def is_due(db: Connection) -> bool:
    """Whether something is to be done, or is being done; asked often, it writes nothing.

    One statement sees one moment. Two would miss a job that is put and taken between them.
    """
    is_left = exists().where(_UNFINISHED) | _concludable().exists()
    return bool(db.execute(select(is_left)).scalar_one())


def take_back(db: Connection) -> None:
    """Requeue jobs that this process had and could not give back; it has none now."""
    JOBS.change(db, {**_FREE, **_AGAIN}, owner=places.me(), state=records.LEASED)


def lease(db: Connection) -> records.Job | None:
    """Take the next job for this process; None if there is none.

    A job whose worker has died is taken again, and the death is counted: after so many it is a
    fault instead.
    """
    while job := _next(db):
        deaths = job.deaths + (job.state == records.LEASED)
        if deaths >= MOST_DEATHS:
            fault = f"its worker died {deaths} times"
            buried = {"state": records.FAULT, "deaths": deaths, "fault": fault, "token": ""}
            JOBS.change(db, buried, id=job.id)
            continue
        taken = job._replace(
            state=records.LEASED,
            deaths=deaths,
            token=secrets.token_hex(8),
            owner=places.me(),
            until=places.now(db) + LEASE,
        )
        JOBS.change(db, taken._asdict(), id=job.id)
        return taken
    return None


def _next(db: Connection) -> records.Job | None:
    """Return the first job that nobody has, locked in this transaction."""
    now = places.now(db)
    for state in (records.LEASED, records.WAITING):  # what a dead worker had comes first
        query = JOBS.query.where(JOB.c.state == state).order_by(*_ORDER)
        if state == records.WAITING:
            is_put_off = JOB.c.until.between(now, now + _LITTLE)  # longer: a clock was set back
            query = query.where(not_(is_put_off)).limit(1)
        for job in JOBS.list(db, query.with_for_update(skip_locked=True)):
            is_free = state == records.WAITING or job.until <= now
            if is_free or not places.is_held(job, None, now, by_me=True):
                return job
    return None


_FREE: dict[str, Any] = {"token": "", "owner": ""}  # of a job that nobody has
_AGAIN: dict[str, Any] = {"state": records.WAITING, "until": 0.0}  # of a job that is to be done


def _mine(job: records.Job) -> dict[str, Any]:
    return {"id": job.id, "token": job.token, "state": records.LEASED}


def _end(db: Connection, job: records.Job, state: str, **values: object) -> bool:
    """Let a job have a state that this process leased; False, and nothing is changed, if not."""
    return bool(JOBS.change(db, {**_FREE, "state": state, **values}, **_mine(job)))


def renew(db: Connection, job: records.Job) -> bool:
    """Let a lease begin anew; False: it is another's by now."""
    return bool(JOBS.change(db, {"until": places.now(db) + LEASE}, **_mine(job)))


def note_progress(db: Connection, job: records.Job) -> None:
    """Write down that a part of a job is done for good: deaths count from here."""
    if job.deaths:
        JOBS.change(db, {"deaths": 0}, **_mine(job))


def finish(db: Connection, job: records.Job) -> bool:
    """Write down that a job is done; False, and nothing is changed, without the lease."""
    return _end(db, job, records.DONE)


def give_back(db: Connection, job: records.Job) -> None:
    """Let another worker do a job: this one ends."""
    _end(db, job, records.WAITING, until=0.0)


def put_off(db: Connection, job: records.Job) -> None:
    """Let a job be done a little later: another worker is at what it needs."""
    _end(db, job, records.WAITING, until=places.now(db) + _LITTLE)


def hold(db: Connection, job: records.Job) -> None:
    """Let a job wait until what its assignment lacks is there: it is released, or put anew."""
    _end(db, job, records.HELD, until=0.0)


def list_held(db: Connection) -> set[str]:
    """Return the assignments that have jobs which are held."""
    return set(db.scalars(select(JOB.c.assignment).where(JOB.c.state == records.HELD).distinct()))


def release(db: Connection, assignment: str) -> None:
    """Let the jobs of an assignment be done that were held."""
    JOBS.change(db, _AGAIN, assignment=assignment, state=records.HELD)


def record_error(db: Connection, job: records.Job, fault: str) -> None:
    """Write down that the harness failed in a job: a person is to see it."""
    _end(db, job, records.FAULT, fault=fault)


def begin_anew(db: Connection, job: str) -> bool:
    """Let a job that is a fault be tried again."""
    return bool(JOBS.change(db, {**_AGAIN, "deaths": 0, "fault": ""}, id=job, state=records.FAULT))


def again(db: Connection, kind: str, about: str) -> None:
    """Let jobs that are done be done once more."""
    values = {**_AGAIN, "made": places.now(db)}
    JOBS.change(db, values, kind=kind, about=about, state=records.DONE)


def put_anew(db: Connection, job: records.Job) -> None:
    """Add a job; one of its kind about the same is done again, from its beginning.

    The worker that has it now loses it.
    """
    known = put(db, job)
    values = {**_FREE, **_AGAIN, "deaths": 0, "fault": "", "made": places.now(db)}
    JOBS.change(db, values, id=known.id)


def follow_up(db: Connection) -> None:
    """Queue the end of gradings that have nothing left to run."""
    for row in db.execute(_concludable().with_for_update(skip_locked=True)).fetchall():
        due = min((one.due for one in of(db, row.id)), default="")
        put(db, records.Job("", records.CONCLUDE, row.assignment, row.id, due=due))


def _concludable() -> Select[tuple[str, str]]:
    """Return the query of planned gradings without marks that no job is about."""
    left = select(JOB.c.about).where(_UNFINISHED)
    concluding = select(JOB.c.about).where(JOB.c.kind == records.CONCLUDE)
    return (
        select(GRADING.c.id, GRADING.c.assignment)
        .where(GRADING.c.run > 0, GRADING.c.concluded == 0)
        .where(GRADING.c.id.not_in(left), GRADING.c.id.not_in(concluding))
    )


def count_unfinished(jobs: Iterable[records.Job], kind: str) -> int:
    """Return how many jobs of a kind are neither done nor a fault."""
    return sum(one.kind == kind and one.is_unfinished for one in jobs)


def of(db: Connection, about: str) -> list[records.Job]:
    """Return all jobs about something, in the order in which they are done."""
    return JOBS.list(db, JOBS.query.filter_by(about=about).order_by(*_ORDER))


def checks(db: Connection, **named: object) -> dict[str, records.Job]:
    """Return the jobs that check uploads, by the ids of these; ``named``: values of columns."""
    return {one.about: one for one in JOBS.all(db, kind=records.CHECK, **named)}


def failed_checks(db: Connection, assignment: str) -> frozenset[str]:
    """Return the ids of the uploads of an assignment in whose check the harness failed."""
    return frozenset(checks(db, assignment=assignment, state=records.FAULT))


def ahead(db: Connection, job: records.Job) -> int:
    """Return how many jobs wait before one."""
    is_before = tuple_(*_ORDER) < tuple_(job.turn, job.due, job.made, job.id)
    return count(db, JOB.c.state == records.WAITING, is_before)


def census(db: Connection) -> dict[tuple[str, str], int]:
    """Return how many jobs there are of each kind in each state."""
    return {(kind, state): number for kind, state, number in tally(db, JOB.c.kind, JOB.c.state)}


def waiting_since(db: Connection) -> float:
    """Return when the job that waits longest was put in; 0: none waits."""
    query = select(func.min(JOB.c.made)).where(JOB.c.state == records.WAITING)
    return db.execute(query).scalar_one() or 0.0


def withdraw(db: Connection, about: str) -> None:
    """Remove what waits about something."""
    waits = JOB.c.state.in_((records.WAITING, records.HELD))
    db.execute(JOB.delete().filter_by(about=about).where(waits))


# --- Messages to other systems: letters, marks, and questions about members ----------------------
# A row waits until its ``due`` time, and is leased while it is delivered. None is lost: one that
# was not taken waits for another try, later and later.


_DELIVERY = 300.0  # seconds for one delivery, longer than all its time limits
_SOON = 60.0  # seconds before the second try
_TURN = ("state", "tries", "due")
T = TypeVar("T", bound=Any)


def deliver_next(
    database: Database, rows: Rows[T], deliver: Callable[[T], dict[str, object]], latest: float
) -> bool:
    """Deliver the next row that is due; False if there is none.

    ``deliver`` returns what then changes in the row; if that leaves it waiting, it is tried again
    after ``latest`` seconds at most.

    Raises:
        ServerError: the database cannot be used now.
    """
    own, now = rows.table.c, time.time()
    is_due = (own.state == records.WAITING, own.due <= now)
    with database.reading() as db:  # asked often: it writes nothing
        if db.execute(select(own.due).where(*is_due).limit(1)).fetchone() is None:
            return False
    with database.changing() as db:
        query = rows.query.where(*is_due).order_by(own.due, *rows.table.primary_key)
        found = rows.first(db, query.with_for_update(skip_locked=True))
        if found is None:
            return False
        # It is due again after the lease.
        taken: T = found._replace(tries=found.tries + 1, due=now + _DELIVERY)
        key = _key_of(rows, taken)
        rows.change(db, {"tries": taken.tries, "due": taken.due}, **key)
    values = {"due": 0.0, **deliver(taken)}
    values["due"] = values["due"] or next_try(taken.tries, latest)
    with database.changing() as db:
        if not rows.change(db, values, **key, tries=taken.tries, due=taken.due):
            # It was put anew meanwhile, and has another turn.
            rows.change(db, {n: v for n, v in values.items() if n not in _TURN}, **key)
    return True


def _key_of(rows: Rows[T], record: T) -> dict[str, object]:
    return {one.name: getattr(record, one.name) for one in rows.table.primary_key}


def next_try(tries: int, latest: float) -> float:
    """Return when something is tried again that failed so often."""
    wait: float = min(_SOON * 2 ** min(tries - 1, 10), latest)
    return time.time() + wait


def postpone(db: Connection, rows: Rows[T], until: float, **named: object) -> None:
    """Let nothing of these that is due be tried before a time: the other side is away."""
    is_due = rows.table.c.due <= time.time()
    query = rows.query.filter_by(state=records.WAITING, **named).where(is_due)
    # One that is being put anew stays as it is: nobody waits here.
    for one in rows.list(db, query.with_for_update(skip_locked=True)):
        rows.change(db, {"due": until}, **_key_of(rows, one))


def try_now(db: Connection, rows: Rows[T], **named: object) -> None:
    """Let all of these that wait be tried now."""
    rows.change(db, {"due": time.time(), "tries": 0}, state=records.WAITING, **named)


# --- What workers count, with durations, in rows that all of them share: no restart loses any ----


_BY_NAME = {one.name: one for one in monitoring.MEASURES}
_ADD = text(
    "INSERT INTO figure (name, labels, place, number, total)"
    " VALUES (:name, :labels, :place, 1, :total) ON CONFLICT (name, labels, place)"
    " DO UPDATE SET number = figure.number + 1, total = figure.total + excluded.total"
)


def add_figure(db: Connection, measure: monitoring.Measure, seconds: float, **labels: str) -> None:
    """Count one that took so long. Only so many values of a label may ever be given."""
    row = {"name": measure.name, "labels": json.dumps([*labels.items()]), "total": seconds}
    db.execute(_ADD, {**row, "place": monitoring.bucket(measure, seconds)})


def load_figures(db: Connection) -> monitoring.Found:
    """Return what was counted until now."""
    result: dict[tuple[str, monitoring.Labels], monitoring.Histogram] = {}
    for row in db.execute(select(FIGURE)):
        key = row.name, tuple((name, value) for name, value in json.loads(row.labels))
        known = result.get(key) or monitoring.empty(_BY_NAME[row.name])
        counts = list(known.counts)
        counts[row.place] = row.number
        result[key] = monitoring.Histogram(tuple(counts), known.total + row.total)
    return result
