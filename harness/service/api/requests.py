"""Common parts of API requests: bodies, pages of lists, idempotency keys, the schema.

A body is read once the guard let it in, and no more of it than is needed. Each page of a list
tells where the next one begins. A request sent again under the same key does nothing again.
"""

import hashlib
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints

from fastapi import Depends, FastAPI, Header, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, BeforeValidator, ValidationError
from sqlalchemy import Connection

from harness.service.storage import audit, people, tables
from harness.service.web.access import ANYBODY, Context, Endpoint, Guard, Routes, Rule
from harness.service.web.request_context import RequestRefused, document_problems, require_found

TOKENS = "token"  # how the schema calls what the API knows people by
BYTES = "application/octet-stream"
_TEXT = {"type": "string"}
_LARGEST = 1 << 16  # bytes of JSON
# A time in UTC, of seconds since 1970.
Moment = Annotated[datetime, BeforeValidator(lambda at: datetime.fromtimestamp(at, UTC))]
_PARTS: dict[str, Any] = {}  # what the schemas of bodies refer to, by name


def describe_file(content: str = BYTES, description: str = "The bytes") -> dict[str, Any]:
    """Return the options of a route whose answer is a file."""
    told = {"description": description, "content": {content: {"schema": _schema_of(content)}}}
    return {"response_class": Response, "responses": {200: told}}


def _schema_of(content: str) -> dict[str, Any]:
    if content == "application/json":
        return {"type": "object"}
    return {"type": "string", "format": "binary"} if content == BYTES else _TEXT


# --- Bodies, as the parameters of routes declare them --------------------------------------------

Model = TypeVar("Model", bound=BaseModel)


class Body(NamedTuple):
    """Reader of a request body; a ``Path`` is a file that is gone afterwards."""

    content: str = BYTES
    largest: int = 0  # bytes; 0: as many as a submission may have
    required: bool = True

    def reader(self, kind: type) -> Callable[..., Any]:
        """Return what reads it, for ``Depends``."""
        if kind is Path:
            return _read_file
        is_json = issubclass(kind, BaseModel)
        most = _LARGEST if is_json else self.largest

        async def read(context: Context) -> Any:
            found = bytearray()
            async for piece in context.request.stream():
                found += piece
                if len(found) > most:
                    raise RequestRefused(413, f"more than {most:,} bytes are not taken here")
            return _parse(kind, bytes(found)) if is_json else bytes(found)

        return read

    def describe(self, kind: type) -> dict[str, Any]:
        """Return what the schema tells of it."""
        schema = _schema_of(self.content)
        if issubclass(kind, BaseModel):
            schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
            _PARTS.update(schema.pop("$defs", {}))
        content = {self.content: {"schema": schema}}
        return {"requestBody": {"required": self.required, "content": content}}


Json = Annotated[Model, Body("application/json")]
Archive = Annotated[Path, Body()]


async def _read_file(context: Context) -> AsyncIterator[Path]:
    left = most = context.settings.largest
    with tempfile.NamedTemporaryFile(dir=context.settings.data, prefix=".upload-") as copy:
        async for piece in context.request.stream():
            left -= len(piece)
            if left < 0:
                raise RequestRefused(413, f"more than {most:,} bytes are not taken")
            await run_in_threadpool(copy.write, piece)
        copy.flush()
        yield Path(copy.name)


def _parse(kind: type[Model], data: bytes) -> Model:
    if b"\\u0000" in data:  # PostgreSQL has none in a text
        raise RequestRefused(422, "a text in it has a character U+0000")
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        # What is wrong, and in which field unless it is the whole body.
        found = ((".".join(map(str, one["loc"])), one["msg"]) for one in error.errors())
        told = (f"{field}: {why}" if field else why for field, why in found)
        raise RequestRefused(422, "; ".join(told)) from None


# --- Routes of the API: known by tokens, told in the schema --------------------------------------


class ApiRoutes(Routes):
    """Routes that are told in the schema as their functions declare them."""

    def __init__(self, tag: str) -> None:
        super().__init__(prefix="/api/v1", tags=[tag])

    def at(  # type: ignore[override]
        self, method: str, path: str, may: Rule, scope: str = "", **rest: Any
    ) -> Callable[[Endpoint], Endpoint]:
        """Return what makes a function the answer to a request.

        ``scope``: what a token must allow; by default all, or reading for GET.
        """
        guards = [Depends(Guard(may, scope or ("read" if method == "GET" else "all")))]
        if method == "DELETE":
            rest |= {"status_code": 204, "response_class": Response}

        def declare(endpoint: Endpoint) -> Endpoint:
            body: dict[str, Any] = {}
            for name, hint in get_type_hints(endpoint, include_extras=True).items():
                kind, *notes = get_args(hint) or [hint]
                if found := next((one for one in notes if isinstance(one, Body)), None):
                    # It is read for the function, and told in the schema.
                    endpoint.__annotations__[name] = Annotated[kind, Depends(found.reader(kind))]
                    body = found.describe(kind)
            signed_in = may.signed_in
            text = {"in": "path", "required": True, "schema": _TEXT}
            own = {
                "parameters": [{"name": n, **text} for n in re.findall(r"\{(\w+)", path)],
                "security": [{TOKENS: []}] if signed_in else [],
            }
            problems = document_problems(method, signed_in=signed_in)
            told = {
                "responses": {**problems, **rest.get("responses", {})},
                "openapi_extra": {**own, **body, **rest.get("openapi_extra", {})},
            }
            options = {**rest, **told, "dependencies": guards}
            return self.api_route(path, methods=[method], **options)(endpoint)

        return declare


# --- Lists in pages: each tells where the next one begins ----------------------------------------

T = TypeVar("T")
Row = TypeVar("Row", bound=tuple[Any, ...])


class Part(NamedTuple):
    """Requested part of a list."""

    after: Annotated[str, Query(max_length=64, description="the `next` of the page before")] = ""
    limit: Annotated[int, Query(ge=1, le=100, description="how many at most")] = 50


Asked = Annotated[Part, Depends(Part)]


class Page(BaseModel, Generic[T]):
    """Some items of a list."""

    items: list[T]
    next: str | None  # for `after`, to get the next ones; null: there are none


class Found(NamedTuple, Generic[Row]):
    """The rows of a page."""

    rows: list[Row]
    next: str | None

    def show(self, describe: Callable[[Row], T]) -> Page[T]:
        """Return the page with its rows as the API tells them."""
        return Page(items=[describe(one) for one in self.rows], next=self.next)


def find_page(
    db: Connection, rows: tables.Rows[Row], order: Sequence[str], page: Part, **named: object
) -> Found[Row]:
    """Return the rows of a page, as :meth:`~harness.service.storage.tables.Rows.page` does.

    An ``after`` that is of no row is refused.
    """
    after, limit = page
    # PostgreSQL has no zero byte in a text.
    found = None if "\0" in after else rows.page(db, order, after, limit + 1, **named)
    if found is None:
        raise _no_such(after)
    rows_ = found[:limit]
    return Found(rows_, str(getattr(rows_[-1], order[-1])) if len(found) > limit else None)


def cut(items: list[T], key: Callable[[T], str], page: Part) -> Page[T]:
    """Return a page of a whole list; ``key`` tells its items apart. ``after`` must be of one."""
    keys = [key(one) for one in items]
    if page.after and page.after not in keys:
        raise _no_such(page.after)
    start = keys.index(page.after) + 1 if page.after else 0
    end = start + page.limit
    return Page(items=items[start:end], next=keys[end - 1] if end < len(items) else None)


def _no_such(after: str) -> RequestRefused:
    return RequestRefused(422, f"after: found {after!r}, expected the next of a page of this list")


# --- A request that is sent again does nothing again: idempotency keys ---------------------------

Key = Annotated[
    str,
    Header(
        alias="idempotency-key",
        max_length=64,
        pattern="^[A-Za-z0-9_-]*$",
        description="of your own choice; a second request with it is answered as the first was",
    ),
]


def require_kept(made: T | None, noun: str) -> T:
    """Return what :func:`make_once` made, unless it was removed since: it is not made again."""
    why = (
        f"Idempotency-Key: the {noun} that it made was removed; take a new key to make another one"
    )
    return require_found(made, why, 409)


def make_once(
    act: audit.AuditedTransaction, key: str, content: tuple[str, ...], make: Callable[[], str]
) -> str:
    """Make something, unless a request with the same key did; return its id.

    ``content``: where the request went and what it said; ``key``: empty for none.

    Raises:
        RequestRefused: a request with the key said something else.
    """
    if not key:
        return make()
    sent = hashlib.sha256("\0".join(content).encode()).hexdigest()
    found = people.claim_key(act.db, act.by, key, sent)
    if found.digest != sent:
        raise RequestRefused(409, "Idempotency-Key: another request had it; take a new one")
    if not found.made:
        found = found._replace(made=make())
        people.keep_made(act.db, found, found.made)
    return found.made


# --- The schema of the API, as the routes themselves tell it -------------------------------------

ROUTES = ApiRoutes("schema")


@ROUTES.at("GET", "/openapi.json", ANYBODY, **describe_file("application/json", "OpenAPI 3.1"))
def openapi(context: Context) -> Response:
    """Give this schema."""
    return JSONResponse(schema_of(context.request.app))


def schema_of(app: FastAPI) -> dict[str, Any]:
    """Return the schema of an application; it is made once."""
    if app.openapi_schema is None:
        about = (
            "Errors are problems (RFC 9457). Lists come in pages. Times are in UTC where they have"
            " a zone."
        )
        made = get_openapi(
            title=app.title, version=app.version, description=about, routes=app.routes
        )
        parts = made.setdefault("components", {})
        parts["securitySchemes"] = {TOKENS: {"type": "http", "scheme": "bearer"}}
        parts.setdefault("schemas", {}).update(_PARTS)
        app.openapi_schema = made
    return app.openapi_schema
