"""Problems (RFC 9457): what the API answers instead of what was asked for."""

from __future__ import annotations

import http
from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel

MEDIA_TYPE = "application/problem+json"
# What any request may be answered with; 422: something in it cannot be read or cannot be done.
_ANY = (422, 429, 500, 503)
_SIGNED_IN = (401, 403, 404)
_CHANGING = (409, 413)


class RequestRefused(Exception):  # noqa: N818 - an answer rather than an error
    """A request that is not answered as asked; ``status`` as HTTP has it."""

    def __init__(self, status: int, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.headers = headers


class Problem(BaseModel):
    """Why a request is not answered as asked."""

    title: str
    status: int
    detail: str


# Made once: each route of the API has it for each status.
_SCHEMA = Problem.model_json_schema()


def response(status: int, why: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return a problem as an answer."""
    told = Problem(title=http.HTTPStatus(status).phrase, status=status, detail=why)
    return JSONResponse(told.model_dump(), status, dict(headers or {}), media_type=MEDIA_TYPE)


def document_problems(method: str, *, signed_in: bool) -> dict[int | str, dict[str, Any]]:
    """Return the problems that a route of the API may answer with, for the schema."""
    statuses = _ANY + (_SIGNED_IN if signed_in else (404,))
    statuses += _CHANGING if method != "GET" else ()
    return {
        status: {
            "description": http.HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
        }
        for status in sorted(statuses)
    }
