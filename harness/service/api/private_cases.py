"""Private case files: read by the staff, changed by who may add some, never for students."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel

from harness.service.api import requests
from harness.service.courses import cases
from harness.service.jobs import previews, private_cases, wrong_expectations
from harness.service.records import CASES
from harness.service.web.access import Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import STAFF_ONLY, Here, whoever_may

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["private case files"])
_MAY = whoever_may(CASES)
_ALL = "/courses/{course}/assignments/{assignment}/private"
_ONE = f"{_ALL}/{{name}}"
_TEXT = {"text/plain": {"schema": {"type": "string"}}}
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": _TEXT}}
_FILE: dict[int | str, dict[str, Any]] = {200: {"description": "The text", "content": _TEXT}}


class CaseFileShown(BaseModel):
    """A private case file."""

    name: str
    size: int  # bytes
    tests: int | None  # null, here and below: it has not been measured yet
    caught: int | None  # mistakes that it catches
    wrong: list[int] | None  # lines of tests that the reference engine fails


class PrivateCases(BaseModel):
    """The private case files of an assignment, with what they catch."""

    files: list[CaseFileShown]
    caught: int | None  # mistakes that some file catches; null: not measured yet
    of: int | None  # mistakes that are known
    survivors: list[str] | None  # those that no file catches
    given_up: list[str] | None  # wrong programs that took too long to be asked in all files
    doubts: list[str]  # a sentence for each test that may be wrong, and counts
    unchecked: str  # why nobody knows yet if tests are wrong, or ""
    still_left_out: list[str]  # FILE:ID of weight 0, whose files have changed since that was said


@ROUTES.at("GET", _ALL, STAFF_ONLY, response_model=PrivateCases)
def listed(here: Now) -> PrivateCases:
    """List the private case files, with what they catch."""
    return describe_private_cases(here)


@ROUTES.at("GET", _ONE, STAFF_ONLY, response_class=Response, responses=_FILE)
def one(here: Now) -> Response:
    """Give a private case file."""
    return Response(_path(here).read_bytes(), media_type="text/plain")


@ROUTES.at("PUT", _ONE, _MAY, scope="all", response_model=PrivateCases, openapi_extra=_BODY)
async def put(here: Now) -> PrivateCases:
    """Add a private case file, or put another one in the place of one of the same name."""
    data = await requests.receive_body(here, cases.LARGEST)
    return await run_in_threadpool(_put, here, data)


def _put(here: Here, data: bytes) -> PrivateCases:
    with here.service.database.acting(here.by) as act:
        new = private_cases.NewCase(_name(here), data)
        private_cases.add(act, here.service.settings, here.sure().assigned, new)
    return describe_private_cases(here)


@ROUTES.at("DELETE", _ONE, _MAY, scope="all", status_code=204)
def remove(here: Now) -> Response:
    """Remove a private case file."""
    name = _path(here).name
    with here.service.database.acting(here.by) as act:
        private_cases.remove(act, here.service.settings, here.sure().assigned, name)
    return Response(status_code=204)


def _name(here: Here) -> str:
    """Return the name in the path, which must be one as case files have it."""
    found: str = here.request.path_params["name"]
    if (fitting := cases.name_of(found)) != found:
        raise Refused(422, f"found the name {found!r}, expected one such as {fitting}")
    return found


def _path(here: Here) -> Path:
    name = here.request.path_params["name"]
    path = cases.find(here.service.settings, here.sure().assigned, name)
    if path is None:
        raise Refused(404, "there is no such private case file")
    return path


def describe_private_cases(here: Here) -> PrivateCases:
    """Return the private case files as the API tells them."""
    settings, assigned = here.service.settings, here.sure().assigned
    left = previews.still_left_out(settings, assigned)
    measured = private_cases.load_measured(settings, assigned)
    found = measured.caught
    told = {one.name: one for one in found.files} if found else {}
    return PrivateCases(
        files=[_describe(path, told.get(path.name)) for path in measured.paths],
        caught=found.caught if found else None,
        of=found.of if found else None,
        survivors=list(found.survivors) if found else None,
        given_up=list(found.given_up) if found else None,
        doubts=wrong_expectations.find(settings, assigned, measured),
        unchecked=wrong_expectations.explain_unchecked(here.service.database, measured),
        still_left_out=[one.name for one in left],
    )


def _describe(path: Path, found: private_cases.OfFile | None) -> CaseFileShown:
    return CaseFileShown(
        name=path.name,
        size=path.stat().st_size,
        tests=found.tests if found else None,
        caught=found.caught if found else None,
        wrong=list(found.wrong) if found else None,
    )
