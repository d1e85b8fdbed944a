"""Drafts of private cases: found by a worker, chosen here; never for students."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import Depends, Query
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from harness.service.api import private_cases, requests
from harness.service.api.private_cases import PrivateCases
from harness.service.api.requests import Asked, IdempotencyKey, Page, find_page, make_once
from harness.service.jobs import drafts
from harness.service.jobs.candidates import DraftFindings
from harness.service.jobs.drafts import (
    DraftFolder,
    KeptCandidates,
    KeptCaseFile,
    ShownCandidate,
    Wish,
)
from harness.service.records import CASES, DRAFT, Job
from harness.service.storage import queue
from harness.service.web.access import Now, Routes
from harness.service.web.request_context import STAFF_ONLY, Here, whoever_may

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["drafts of private cases"])
_MAY = whoever_may(CASES)
_ALL = "/courses/{course}/assignments/{assignment}/drafts"
_ONE = f"{_ALL}/{{draft}}"
_GAMES: dict[str, Any] = {
    "requestBody": {"required": False, "content": {requests.BYTES: {"schema": requests.IS_BYTES}}}
}

State = Literal["running", "done", "failed"]


class DraftLine(BaseModel):
    """A draft in a list."""

    id: str
    at: datetime.datetime
    state: State
    fault: str  # why there are no positions


class BoardShown(BaseModel):
    """A board, from its top row on: ``.`` empty, ``X`` black, ``O`` white."""

    rows: list[str]


class DraftTest(BaseModel):
    """A test, in words."""

    question: str
    answer: str
    reason: str


class PositionShown(BaseModel):
    """Tests that are chosen, dropped and exchanged together."""

    position: int  # names it in this draft
    kind: str
    sentence: str
    origin: str
    board: BoardShown | None  # null: the game has none, or nobody here knows it
    setup: list[str]  # commands that lead there, for a game of one's own
    tests: list[DraftTest]
    caught: int  # mistakes
    only: int  # those that nothing else chosen catches


class OnlyPublicShown(BaseModel):
    """A mistake that public tests catch, and no private one."""

    mistake: str
    files: list[str]  # the public case files that catch it


class DraftShown(DraftLine):
    """A draft, with the positions that are chosen."""

    caught: int | None  # mistakes, with the existing private case files; null if not yet known
    of: int | None  # known mistakes
    survivors: list[str]  # those that nothing catches, public tests neither
    only_public: list[OnlyPublicShown]  # those that only public tests catch
    remarks: list[str]  # why some games were not used
    given_up: list[str]  # wrong programs that hung; nobody knows what catches them
    now: str  # what is done and which program is asked, while state is running
    positions: list[PositionShown]
    left_out: list[int]  # positions that were dropped or exchanged, and can be taken back


class PositionNamed(BaseModel):
    """One of the positions."""

    position: int = Field(ge=0, lt=1 << 31)


class CaseFileWanted(BaseModel):
    """What the case file is to be called that is made of a draft; no existing one is replaced."""

    name: str = Field(default="", max_length=60, description="empty: one that is free")


@ROUTES.at("GET", _ALL, STAFF_ONLY, response_model=Page[DraftLine])
def listed(here: Now, asked: Asked) -> Page[DraftLine]:
    """List the drafts of an assignment, the first one first."""
    order, named = ("made", "about"), {"kind": DRAFT, "assignment": here.sure().assigned.id}
    with here.service.database.reading() as db:
        found = find_page(db, queue.JOBS, order, asked, **named)
    items = [DraftLine(**_members(here, one)) for one in found.rows]
    return Page(items=items, next=found.next)


@ROUTES.at(
    "POST", _ALL, _MAY, scope="all", status_code=201, response_model=DraftShown,
    openapi_extra=_GAMES,
)  # fmt: skip
async def begin(
    here: Now,
    tests: Annotated[int, Query(ge=1, le=drafts.MOST_TESTS, description="at most")] = 16,
    idempotency_key: IdempotencyKey = "",
) -> DraftShown:
    """Let a worker find positions; the body has game records (SGF), one after the other, or none.

    Without game records, or for features that they lack, positions are made at random.
    """
    data = await requests.receive_body(here, drafts.LARGEST)
    return await run_in_threadpool(_begin, here, Wish(tests), data, idempotency_key)


def _begin(here: Here, wish: Wish, data: bytes, key: str) -> DraftShown:
    settings, assigned = here.service.settings, here.sure().assigned
    sent = ("draft", assigned.id, str(wish.tests), hashlib.sha256(data).hexdigest())
    games = [data] if data else []
    with here.service.database.acting(here.by) as act:
        made = make_once(
            act, key, sent, lambda: drafts.begin(act, settings, assigned, wish, games)
        )
        (job,) = queue.of(act.db, made)
    return _describe(here, job)


@ROUTES.at("GET", _ONE, STAFF_ONLY, response_model=DraftShown)
def one(here: Now) -> DraftShown:
    """Show the positions that are chosen, and what they catch."""
    assert here.job
    return _describe(here, here.job)


@ROUTES.at(
    "POST", f"{_ONE}/drop", _MAY, scope="all", response_model=DraftShown,
    openapi_extra=requests.describe_body(PositionNamed),
)  # fmt: skip
def drop(
    here: Now, wanted: Annotated[PositionNamed, Depends(requests.json_of(PositionNamed))]
) -> DraftShown:
    """Leave a position out."""
    return _change(here, lambda _, kept: drafts.drop(kept, wanted.position))


@ROUTES.at(
    "POST", f"{_ONE}/exchange", _MAY, scope="all", response_model=DraftShown,
    openapi_extra=requests.describe_body(PositionNamed),
)  # fmt: skip
def exchange(
    here: Now, wanted: Annotated[PositionNamed, Depends(requests.json_of(PositionNamed))]
) -> DraftShown:
    """Take another position for one."""
    return _change(here, lambda found, kept: drafts.exchange(found, kept, wanted.position))


@ROUTES.at(
    "POST", f"{_ONE}/take-back", _MAY, scope="all", response_model=DraftShown,
    openapi_extra=requests.describe_body(PositionNamed),
)  # fmt: skip
def take_back(
    here: Now, wanted: Annotated[PositionNamed, Depends(requests.json_of(PositionNamed))]
) -> DraftShown:
    """Take a position back that was left out or exchanged."""
    return _change(here, lambda found, kept: drafts.take_back(found, kept, wanted.position))


def _change(
    here: Here, how: Callable[[DraftFindings, KeptCandidates], KeptCandidates]
) -> DraftShown:
    assert here.job
    own = _folder(here, here.job)
    own.choose(how(own.require_findings(), own.load_choice()))
    return _describe(here, here.job)


@ROUTES.at(
    "POST", f"{_ONE}/write", _MAY, scope="all", response_model=PrivateCases,
    openapi_extra=requests.describe_body(CaseFileWanted),
)  # fmt: skip
def write(
    here: Now, wanted: Annotated[CaseFileWanted, Depends(requests.json_of(CaseFileWanted))]
) -> PrivateCases:
    """Make a private case file of the positions that are chosen; it counts from now on."""
    assert here.job
    own = _folder(here, here.job)
    found, new = own.require_findings(), KeptCaseFile(wanted.name, own.load_choice())
    with here.service.database.acting(here.by) as act:
        drafts.write(act, here.service.settings, here.sure().assigned, found, new)
    return private_cases.describe_private_cases(here)


# --- what is shown -----------------------------------------------------------------------------


def _folder(here: Here, job: Job) -> DraftFolder:
    return DraftFolder(here.service.settings.assignment_folder(job.assignment), job.about)


def _members(here: Here, job: Job) -> dict[str, Any]:
    found = _folder(here, job).load_findings()
    fault = drafts.why_nothing(job, found)
    state: State = "failed" if fault else "done" if found else "running"
    return {
        "id": job.about,
        "at": datetime.datetime.fromtimestamp(job.made, datetime.UTC),
        "state": state,
        "fault": fault,
    }


def _describe(here: Here, job: Job) -> DraftShown:
    own = _folder(here, job)
    found = own.load_findings()
    kept = own.load_choice() if found else KeptCandidates(())
    choice = drafts.describe_choice(found, kept) if found else None
    return DraftShown(
        **_members(here, job),
        caught=choice.caught if choice else None,
        of=len(found.mistakes) if found else None,
        survivors=list(choice.alive) if choice else [],
        only_public=[
            OnlyPublicShown(mistake=each.mistake, files=list(each.files))
            for each in (choice.only_public if choice else ())
        ],
        remarks=list(found.remarks) if found else [],
        given_up=list(found.given_up) if found else [],
        now="" if found else ": ".join(filter(None, own.load_progress())),
        positions=[_position(each) for each in choice.candidates] if choice else [],
        left_out=list(kept.dropped),
    )


def _position(one: ShownCandidate) -> PositionShown:
    it = one.candidate
    return PositionShown(
        position=one.place,
        kind=it.kind,
        sentence=it.sentence,
        origin=it.origin,
        board=BoardShown(rows=it.board.text()) if it.board else None,
        setup=list(it.setup),
        tests=[DraftTest(**test._asdict()) for test in it.tests],
        caught=one.caught,
        only=one.only,
    )
