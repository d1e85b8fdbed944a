"""Suites of engine authors: made, changed and removed by whose they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import Depends, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel, Field

from harness.service.api import requests
from harness.service.api.requests import (
    Asked,
    IdempotencyKey,
    Page,
    find_page,
    make_once,
    require_kept,
)
from harness.service.courses import engine_cases, engine_suites
from harness.service.courses.engine_cases import HowToRun
from harness.service.records import Suite
from harness.service.storage import suites
from harness.service.web.access import Now, Routes
from harness.service.web.request_context import OWNERS, SIGNED_IN, Here

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["suites"])
_ONE = "/suites/{suite}"


class SuiteShown(BaseModel):
    """A suite: tests that are run over and over."""

    id: str
    title: str
    is_mine: bool
    is_open: bool  # anyone who is signed in may read it
    badge: str | None  # the address of its badge; null without one, or if another owns it
    # The assignment by whose public case files engines are run here; "uploaded": by case files of
    # the owner's own; empty: none are.
    source: str
    page: str  # the address of its page


class SuiteWanted(BaseModel):
    """A suite that is to be made."""

    title: str = Field(min_length=1, max_length=200)
    source: str = Field(
        default="",
        max_length=200,
        description="an assignment that ships: engines that are posted are run by its public case"
        " files; empty: only documents of run --json are taken",
    )


class SuiteChange(BaseModel):
    """What is to be changed of a suite; null: that stays as it is."""

    title: str | None = Field(default=None, min_length=1, max_length=200)
    is_open: bool | None = None
    has_badge: bool | None = None  # true, false, and true again: a new address


@ROUTES.at("GET", "/suites", SIGNED_IN, response_model=Page[SuiteShown])
def my_suites(here: Now, asked: Asked) -> Page[SuiteShown]:
    """List the suites of the owner of the token."""
    with here.service.database.reading() as db:
        found = find_page(db, suites.SUITES, ("made", "id"), asked, person=here.by)
    return Page(items=[_describe(here, one) for one in found.rows], next=found.next)


@ROUTES.at(
    "POST",
    "/suites",
    SIGNED_IN,
    scope="all",
    status_code=201,
    response_model=SuiteShown,
    openapi_extra=requests.describe_body(SuiteWanted),
)
def make(
    here: Now,
    wanted: Annotated[SuiteWanted, Depends(requests.json_of(SuiteWanted))],
    idempotency_key: IdempotencyKey = "",
) -> SuiteShown:
    """Make a suite."""
    sent = ("suite", wanted.title, wanted.source)
    with here.service.database.acting(here.by) as act:
        made = make_once(act, idempotency_key, sent, lambda: engine_suites.make(act, *sent[1:]).id)
        found = suites.SUITES.find(act.db, id=made)
    return _describe(here, require_kept(found, "suite"))


@ROUTES.at("GET", _ONE, SIGNED_IN, response_model=SuiteShown)
def one(here: Now) -> SuiteShown:
    """Show a suite."""
    return _describe(here, here.sure_suite())


@ROUTES.at(
    "PATCH",
    _ONE,
    OWNERS,
    scope="all",
    response_model=SuiteShown,
    openapi_extra=requests.describe_body(SuiteChange),
)
def change(
    here: Now, wanted: Annotated[SuiteChange, Depends(requests.json_of(SuiteChange))]
) -> SuiteShown:
    """Change what a suite is called, who may read it, or whether it has a badge."""
    suite = here.sure_suite()
    with here.service.database.acting(here.by) as act:
        made = engine_suites.change(
            act,
            suite,
            suite.title if wanted.title is None else wanted.title,
            is_open=suite.is_open if wanted.is_open is None else wanted.is_open,
            has_badge=bool(suite.badge) if wanted.has_badge is None else wanted.has_badge,
        )
    return _describe(here, made)


@ROUTES.at(
    "PUT",
    f"{_ONE}/cases",
    OWNERS,
    scope="submit",
    response_model=SuiteShown,
    openapi_extra=requests.AN_ARCHIVE,
)
async def take_cases(
    here: Now,
    name: Annotated[str, Query(min_length=1, max_length=200, description="of the archive")],
    command: Annotated[
        str,
        Query(max_length=500, description="starts an engine, as python3 {folder}/engine.py"),
    ],
    build: Annotated[
        str, Query(max_length=500, description="command that builds it first, such as make")
    ] = "",
) -> SuiteShown:
    """Run the engines of a suite by the case files in an archive, in the place of former ones."""
    how = HowToRun(command, build)
    async with requests.as_file(here) as path:
        return await run_in_threadpool(_take_cases, here, path, name, how)


def _take_cases(here: Here, path: Path, name: str, how: HowToRun) -> SuiteShown:
    settings, suite = here.service.settings, here.sure_suite()
    with (
        engine_cases.unpack(settings, path, name, how) as (place, own),
        here.service.database.acting(here.by) as act,
    ):
        engine_cases.take(act, settings, suite, place, own)
        found = suites.SUITES.find(act.db, id=suite.id)
    assert found
    return _describe(here, found)


@ROUTES.at("DELETE", _ONE, OWNERS, scope="all", status_code=204)
def remove(here: Now) -> Response:
    """Remove a suite with all its runs."""
    suite = here.sure_suite()
    with here.service.database.acting(here.by) as act:
        engine_suites.remove(act, suite, here.service.settings)
    return Response(status_code=204)


def _describe(here: Here, suite: Suite) -> SuiteShown:
    base, is_mine = here.service.settings.base, suite.person == here.by
    has_badge = suite.badge and is_mine
    with here.service.database.reading() as db:
        source = engine_suites.source(db, suite)
    return SuiteShown(
        source=source,
        id=suite.id,
        title=suite.title,
        is_mine=is_mine,
        is_open=suite.is_open,
        badge=f"{base}{engine_suites.badge_path(suite)}" if has_badge else None,
        page=f"{base}/suites/{suite.id}",
    )
