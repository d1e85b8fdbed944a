"""The statements of a ledger. They are made once: to make one takes longer than to execute it."""

from __future__ import annotations

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    bindparam,
    case,
    func,
    insert,
    select,
    update,
)

from harness.grading.ledger.ledger_tables import (
    ATTEMPT,
    BUILD,
    CASE_FILE,
    CONTENT,
    LINK,
    MARK,
    RESULT,
    RUN,
    SEED,
    SIGNER,
    SUBMISSION,
    WANTED,
)

# --- all of the ledger ---

SEED_VALUE = select(SEED.c.value)
KEY_NAME = select(SIGNER.c.name)
SIGN = insert(SIGNER)

# --- runs ---

_GRADED = RUN.c.id.in_(select(SUBMISSION.c.run))
_RUN = select(
    RUN.c.id, RUN.c.started, RUN.c.version, RUN.c.assignment, RUN.c.digest, RUN.c.options
)
LAST_RUN = _RUN.where(_GRADED).order_by(RUN.c.id.desc()).limit(1)
RUN_OF = _RUN.where(RUN.c.id == bindparam("run"))
CASES = (
    select(
        CASE_FILE.c.kind, CASE_FILE.c.name, CONTENT.c.bytes, CASE_FILE.c.path, CASE_FILE.c.sha256
    )
    .join_from(CASE_FILE, CONTENT)
    .where(CASE_FILE.c.run == bindparam("run"))
    .order_by(CASE_FILE.c.position)
)
CONTENT_OF = select(CONTENT.c.bytes).where(CONTENT.c.sha256 == bindparam("sha256"))
SUBMISSIONS = (
    select(SUBMISSION.c.key, SUBMISSION.c.record)
    .where(SUBMISSION.c.run == bindparam("run"))
    .order_by(SUBMISSION.c.key)
)

# --- attempts ---

WITHDRAWN = "withdrawn"  # instead of a result, or of a build: what comes before counts no more
_OLD = RESULT.alias("old")


def _count_withdrawn(basis: ColumnElement[str]) -> ScalarSelect[int]:
    """Return how many rows an attempt has up to the last that withdrew its results."""
    return (
        select(func.coalesce(func.max(_OLD.c.number), 0))
        .where(_OLD.c.basis == basis, _OLD.c.result == WITHDRAWN)
        .scalar_subquery()
    )


_ONE = ATTEMPT.c.basis == bindparam("of")
_SOME = ATTEMPT.c.basis.in_(bindparam("bases", expanding=True))
_LEASED = ATTEMPT.c.state == "leased"
_BY = ATTEMPT.c.token == bindparam("by")
_PLANNED = select(
    ATTEMPT.c.basis,
    ATTEMPT.c.key,
    ATTEMPT.c.kind,
    ATTEMPT.c.name,
    ATTEMPT.c.sha256,
    ATTEMPT.c.build,
)
_LEASES = (ATTEMPT.c.token, ATTEMPT.c.owner, ATTEMPT.c.until)

PLANNED = _PLANNED.where(_ONE)
WANTED_OF = (
    _PLANNED.join_from(ATTEMPT, WANTED)
    .where(WANTED.c.run == bindparam("run"))
    .order_by(ATTEMPT.c.basis)
)
STATES = select(ATTEMPT.c.basis, ATTEMPT.c.state, ATTEMPT.c.faults, ATTEMPT.c.fault).where(_SOME)
MINE = (
    select(ATTEMPT.c.basis, _count_withdrawn(ATTEMPT.c.basis).label("withdrawn"))
    .where(_SOME, _BY, _LEASED)
    .order_by(ATTEMPT.c.basis)
    .with_for_update(of=ATTEMPT)
)
IDLE = (
    select(ATTEMPT.c.basis, ATTEMPT.c.build)
    .where(_SOME, ATTEMPT.c.state != "leased")
    .order_by(ATTEMPT.c.basis)
    .with_for_update()
)
WAIT_AGAIN = update(ATTEMPT).where(_SOME).values(state="waiting", token="", faults=0, fault="")
LEASES = select(*_LEASES).where(_LEASED).distinct()
# Of these, anyone who locks one has it; others pass it over instead of waiting.
NOT_DONE = (
    select(ATTEMPT.c.basis, ATTEMPT.c.state, *_LEASES)
    .where(_SOME, ATTEMPT.c.state.in_(("waiting", "leased")))
    .with_for_update(skip_locked=True)
)
TAKE = (
    update(ATTEMPT)
    .where(_SOME, ATTEMPT.c.state != "done")
    .values(
        state="leased",
        token=bindparam("by"),
        owner=bindparam("whose"),
        until=bindparam("end"),
    )
)
BEGIN_ANEW = update(ATTEMPT).where(_BY, _LEASED).values(faults=0, fault="")
TRY_AGAIN = (
    update(ATTEMPT)
    .where(_SOME, ATTEMPT.c.state == "fault")
    .values(state="waiting", faults=0, fault="")
)
RELEASE = update(ATTEMPT).where(_BY, _LEASED).values(state="waiting", token="", owner="", until=0)
RENEW = update(ATTEMPT).where(_BY).values(until=bindparam("end"))
DONE = update(ATTEMPT).where(_SOME).values(state="done")
SETTLE = update(ATTEMPT).where(_ONE, _BY).values(state="done")
_MORE = ATTEMPT.c.faults + 1
BROKE = (
    update(ATTEMPT)
    .where(_ONE, _BY, _LEASED)
    .values(
        faults=_MORE,
        fault=bindparam("why"),
        state=case((bindparam("most") <= _MORE, "fault"), else_=ATTEMPT.c.state),
    )
)

# --- results ---

_OF = RESULT.c.basis == bindparam("of")
RUNS = (
    select(func.count())
    .select_from(RESULT)
    .where(_OF, RESULT.c.number > _count_withdrawn(bindparam("of")))
)
RESULTS = (
    select(RESULT.c.result, RESULT.c.figures, RESULT.c.started)
    .where(_OF)
    .order_by(RESULT.c.number)
)
FIGURES = (  # without the results, which are long
    select(RESULT.c.basis, RESULT.c.figures, RESULT.c.result == WITHDRAWN)
    .where(RESULT.c.basis.in_(bindparam("bases", expanding=True)))
    .order_by(RESULT.c.basis, RESULT.c.number)
)
LAST_NUMBERS = (
    select(RESULT.c.basis, func.max(RESULT.c.number))
    .where(RESULT.c.basis.in_(bindparam("bases", expanding=True)))
    .group_by(RESULT.c.basis)
)
# A build that is made again has the name of the first with a number behind it. The bounds are such
# that they hold in every collation of a server, those that pass over blanks too.
BUILDS_OF = (
    select(BUILD.c.result)
    .where(BUILD.c.basis >= bindparam("of"), BUILD.c.basis <= bindparam("last"))
    .order_by(BUILD.c[LINK])
)

# --- marks ---

_GIVEN = select(
    MARK.c.key, MARK.c.marks, MARK.c.submission, MARK.c.bases, MARK.c.run, MARK.c.given
)
HISTORY = _GIVEN.where(MARK.c.key == bindparam("key")).order_by(MARK.c.id)
IN_FORCE = _GIVEN.where(MARK.c.id.in_(select(func.max(MARK.c.id)).group_by(MARK.c.key))).order_by(
    MARK.c.key
)
LARGEST_IDS = {table.name: select(func.coalesce(func.max(table.c.id), 0)) for table in (RUN, MARK)}
