"""Suites of engine authors, and their runs: posted, listed, compared, removed."""

import hashlib
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.service.api import requests
from harness.service.courses import cases, engine_suites, run_documents, submissions
from harness.service.records import Suite, SuiteRun
from harness.service.storage import courses
from harness.service.web.access import OWNERS, SIGNED_IN, Context
from harness.service.web.request_context import RequestContext, RequestRefused, require_found

ROUTES = requests.ApiRoutes("suites")
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
    """New values of a suite; null: that stays as it is."""

    title: str | None = Field(default=None, min_length=1, max_length=200)
    is_open: bool | None = None
    has_badge: bool | None = None  # true, false, and true again: a new address


@ROUTES.at("GET", "/suites", SIGNED_IN)
def my_suites(context: Context, page: requests.Asked) -> requests.Page[SuiteShown]:
    """List the suites of the owner of the token."""
    with context.reading() as db:
        found = requests.find_page(db, courses.SUITES, ("made", "id"), page, person=context.by)
    return found.show(lambda one: _describe(context, one))


@ROUTES.at("POST", "/suites", SIGNED_IN, status_code=201)
def make(context: Context, body: requests.Json[SuiteWanted], key: requests.Key = "") -> SuiteShown:
    """Make a suite."""
    sent = ("suite", body.title, body.source)
    with context.acting() as act:
        made = requests.make_once(
            act, key, sent, lambda: engine_suites.make(act, body.title, body.source).id
        )
        found = courses.SUITES.find(act.db, id=made)
    return _describe(context, requests.require_kept(found, "suite"))


@ROUTES.at("GET", _ONE, SIGNED_IN)
def one(context: Context) -> SuiteShown:
    """Show a suite."""
    return _describe(context, context.suite)


@ROUTES.at("PATCH", _ONE, OWNERS)
def change(context: Context, body: requests.Json[SuiteChange]) -> SuiteShown:
    """Change what a suite is called, who may read it, or whether it has a badge."""
    suite = context.suite
    with context.acting() as act:
        made = engine_suites.change(
            act,
            suite,
            suite.title if body.title is None else body.title,
            is_open=suite.is_open if body.is_open is None else body.is_open,
            has_badge=bool(suite.badge) if body.has_badge is None else body.has_badge,
        )
    return _describe(context, made)


@ROUTES.at("PUT", f"{_ONE}/cases", OWNERS, scope="submit")
def take_cases(
    context: Context,
    path: requests.Archive,
    name: Annotated[str, Query(min_length=1, max_length=200, description="of the archive")],
    command: Annotated[
        str, Query(max_length=500, description="starts an engine, as python3 {folder}/engine.py")
    ],
    build: Annotated[
        str, Query(max_length=500, description="command that builds it first, such as make")
    ] = "",
) -> SuiteShown:
    """Run the engines of a suite by the case files in an archive, in the place of former ones."""
    settings, how = context.settings, cases.EngineCommands(command, build)
    with cases.unpack(settings, path, name, how) as (place, own), context.acting() as act:
        cases.take(act, context.suite, place, own)
        found = courses.SUITES.find(act.db, id=context.suite.id)
    assert found
    return _describe(context, found)


@ROUTES.at("DELETE", _ONE, OWNERS)
def remove(context: Context) -> None:
    """Remove a suite with all its runs."""
    with context.acting() as act:
        engine_suites.remove(act, context.suite)


def _describe(context: RequestContext, suite: Suite) -> SuiteShown:
    base, is_mine = context.settings.base, suite.person == context.by
    has_badge = suite.badge and is_mine
    with context.reading() as db:
        source = engine_suites.source(db, suite)
    own = {
        "source": source,
        "is_mine": is_mine,
        "badge": f"{base}{engine_suites.badge_path(suite)}" if has_badge else None,
        "page": f"{base}/suites/{suite.id}",
    }
    return SuiteShown(**{**suite._asdict(), **own})


# --- Runs of a suite: posted as documents of ``run --json``, listed, compared, removed -----------

RUN_ROUTES = requests.ApiRoutes("runs")
_ALL_RUNS = "/suites/{suite}/runs"
_ONE_RUN = f"{_ALL_RUNS}/{{run}}"
_NOTHING = "there is no former run to compare it with"
_DOCUMENT = requests.describe_file("application/json", "The document")
# What the schema tells of what is posted: a document, or the bytes of an archive.
_BODY = requests.Body("application/json").describe(run_documents.RunDocument)
_BODY["requestBody"]["content"] |= requests.Body().describe(Path)["requestBody"]["content"]


class RunShown(BaseModel):
    """A run of a suite. ``failed``: its engine could not be run; ``fault``: the service failed."""

    id: str
    number: int  # in the suite, from 1
    at: requests.Moment  # when it came
    state: engine_suites.State
    trouble: str  # why an engine could not be run
    name: str  # of an archive that is run here; empty: a document was posted
    sha256: str  # of the archive
    started: str  # as the run says, ISO 8601; empty if not yet run
    revision: str  # of the engine, as posted
    engine: str  # name and version, as it gave them
    tests: int
    passed: int
    failed: int  # unexpectedly
    undecided: int  # not run, or not judged
    broken: int  # files in which the engine failed
    page: str  # the address of its page


class ChangeShown(BaseModel, from_attributes=True):
    """A test and its verdicts; null where there is none."""

    path: str
    line: int
    command: str  # with the id
    before: str | None
    now: str | None


class ComparisonShown(BaseModel):
    """A run beside a former one."""

    former: int  # the number of the former one
    is_worse: bool  # something broke, or a new test failed
    broke: list[ChangeShown]
    mended: list[ChangeShown]
    new: list[ChangeShown]
    gone: list[ChangeShown]
    broken_files: list[str]  # the engine failed here, and did not before
    new_errors: list[str]  # what is wrong with case files, and was not before
    faults: list[str]  # of the harness


class RunCompared(RunShown):
    """A run beside the one before it."""

    comparison: ComparisonShown | None  # null: it is the first, or has not been run yet


@RUN_ROUTES.at("GET", _ALL_RUNS, SIGNED_IN, name="listed")
def list_runs(context: Context, page: requests.Asked) -> requests.Page[RunShown]:
    """List the runs of a suite, the first one first."""
    order, named = ("number", "id"), {"suite": context.suite.id}
    with context.reading() as db:
        found = requests.find_page(db, courses.RUNS, order, page, **named)
        return found.show(lambda one: RunShown(**_members(db, context, one)))


@RUN_ROUTES.at("POST", _ALL_RUNS, OWNERS, scope="submit", status_code=201, openapi_extra=_BODY)
def post(
    context: Context,
    path: requests.Archive,
    name: Annotated[str, Query(max_length=200, description="of an archive")] = "",
    revision: Annotated[
        str, Query(max_length=100, description="of the engine, such as a commit")
    ] = "",
    key: requests.Key = "",
) -> RunCompared:
    """Post a document of ``gtp-harness run --json``, of at most 8 MiB, or an engine.

    An engine is an archive as the assignment of the suite wants it, as plain bytes. What came is
    told by its content, whatever its type is said to be.
    """
    suite, service = context.suite, context.service
    sent: tuple[str, ...]
    if run_documents.is_document(path):
        if path.stat().st_size > run_documents.LARGEST:
            why = f"more than {run_documents.LARGEST:,} bytes are not taken here"
            raise RequestRefused(413, why)
        data = run_documents.load(path)
        posted = engine_suites.PostedRun.read(data, revision)
        sent = (suite.id, hashlib.sha256(data).hexdigest(), revision)
        make = partial(engine_suites.post, suite=suite, posted_run=posted)
    else:
        most, wanted = service.settings.largest, run_documents.WANTED
        kept = submissions.keep(service.store, path, name, most, wanted)
        sent = (suite.id, kept.name, kept.sha256, revision)
        make = partial(engine_suites.post_engine, suite=suite, archive=kept, revision=revision)
    with context.acting() as act:
        made = requests.make_once(act, key, sent, lambda: make(act).id)
        found = requests.require_kept(courses.RUNS.find(act.db, id=made), "run")
        return _compare(act.db, context, found)


def _compare(db: Connection, context: RequestContext, run: SuiteRun) -> RunCompared:
    former = engine_suites.run_before(db, run) if run.started else None
    comparison = _comparison(context, former, run) if former else None
    return RunCompared(**_members(db, context, run), comparison=comparison)


@RUN_ROUTES.at("GET", _ONE_RUN, SIGNED_IN, name="one")
def one_run(context: Context) -> RunCompared:
    """Show a run."""
    with context.reading() as db:
        return _compare(db, context, context.run)


@RUN_ROUTES.at("GET", f"{_ONE_RUN}/document", SIGNED_IN, **_DOCUMENT)
def document(context: Context) -> Response:
    """Give the document that was posted."""
    data = engine_suites.data(context.suite_folder, context.run)
    content = require_found(data, "its document no longer exists")
    return Response(content, media_type="application/json")


@RUN_ROUTES.at("GET", f"{_ONE_RUN}/comparison", SIGNED_IN)
def comparison(
    context: Context,
    former: Annotated[
        str,
        Query(
            max_length=64, alias="with", description="the id of a run; by default the one before"
        ),
    ] = "",
) -> ComparisonShown:
    """Compare a run with a former one of the same suite."""
    run = context.run
    with context.reading() as db:
        if not former:
            found = engine_suites.run_before(db, run)
        else:
            found = None if "\0" in former else courses.RUNS.find(db, id=former, suite=run.suite)
        other = require_found(found, _NOTHING)
    return require_found(_comparison(context, other, run), _NOTHING)


@RUN_ROUTES.at("DELETE", _ONE_RUN, OWNERS, name="remove")
def remove_run(context: Context) -> None:
    """Remove a run; the others keep their numbers."""
    with context.acting() as act:
        engine_suites.remove_run(act, context.run)


def _members(db: Connection, context: RequestContext, run: SuiteRun) -> dict[str, Any]:
    return {
        **run._asdict(),
        "state": engine_suites.state_of(db, run),
        "page": f"{context.settings.base}/suites/{run.suite}/runs/{run.id}",
    }


def _comparison(context: Context, former: SuiteRun, run: SuiteRun) -> ComparisonShown | None:
    found = engine_suites.compare(context.suite_folder, former, run)
    if found is None:
        return None
    is_worse = engine_suites.is_worse(found)
    return ComparisonShown(**found._asdict(), former=former.number, is_worse=is_worse)
