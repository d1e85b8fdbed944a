"""Whose a token is, the owner's name, and the owner's tokens."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from fastapi import Depends
from fastapi.responses import Response
from pydantic import BaseModel, Field

from harness.service.api import requests
from harness.service.api.requests import Asked, Page, find_page
from harness.service.people import accounts
from harness.service.records import Token
from harness.service.storage import people
from harness.service.web.access import Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import SIGNED_IN

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["people"])


class Me(BaseModel):
    """The owner of a token."""

    id: str
    name: str
    scope: str


class NameWanted(BaseModel):
    """The name of a person."""

    name: str = Field(min_length=1, max_length=200)


class TokenShown(BaseModel):
    """An API token, without its secret."""

    id: str
    name: str
    scope: str
    made: datetime.datetime
    until: datetime.datetime


class NewToken(TokenShown):
    """An API token that was just made."""

    secret: str  # told this once


class TokenWanted(BaseModel):
    """An API token that is to be made."""

    name: str = Field(min_length=1, max_length=100)
    scope: Literal["read", "submit", "all"]
    days: int = Field(default=90, ge=1, le=365)


@ROUTES.at("GET", "/me", SIGNED_IN, response_model=Me)
def me(here: Now) -> Me:
    """Say whose a token is."""
    assert here.person and here.token
    return Me(id=here.person.id, name=here.person.name, scope=here.token.scope)


@ROUTES.at(
    "PATCH",
    "/me",
    SIGNED_IN,
    scope="all",
    response_model=Me,
    openapi_extra=requests.describe_body(NameWanted),
)
def rename(here: Now, wanted: Annotated[NameWanted, Depends(requests.json_of(NameWanted))]) -> Me:
    """Change the name of the owner of the token, as others see it."""
    assert here.person and here.token
    with here.service.database.acting(here.by) as act:
        found = accounts.rename(act, here.person, wanted.name)
    return Me(id=found.id, name=found.name, scope=here.token.scope)


@ROUTES.at("GET", "/tokens", SIGNED_IN, scope="all", response_model=Page[TokenShown])
def tokens(here: Now, asked: Asked) -> Page[TokenShown]:
    """List the tokens of the owner of the token."""
    with here.service.database.reading() as db:
        found = find_page(db, people.TOKENS, ("made", "id"), asked, person=here.by)
    return Page(items=[TokenShown(**_members(one)) for one in found.rows], next=found.next)


@ROUTES.at(
    "POST",
    "/tokens",
    SIGNED_IN,
    scope="all",
    status_code=201,
    response_model=NewToken,
    openapi_extra=requests.describe_body(TokenWanted),
)
def make_token(
    here: Now, wanted: Annotated[TokenWanted, Depends(requests.json_of(TokenWanted))]
) -> NewToken:
    """Make another token of the same owner."""
    with here.service.database.acting(here.by) as act:
        made, secret = accounts.make_token(act, wanted.name, wanted.scope, wanted.days)
    return NewToken(**_members(made), secret=secret.text)


@ROUTES.at("DELETE", "/tokens/{token}", SIGNED_IN, scope="all", status_code=204)
def revoke_token(here: Now) -> Response:
    """Let a token of the same owner hold no longer."""
    with here.service.database.acting(here.by) as act:
        token = here.request.path_params["token"]
        if not token.isalnum() or not accounts.revoke_token(act, token):
            raise Refused(404, "there is no such token")
    return Response(status_code=204)


def _members(token: Token) -> dict[str, Any]:
    made, until = (
        datetime.datetime.fromtimestamp(one, datetime.UTC) for one in (token.made, token.until)
    )
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "made": made,
        "until": until,
    }
