"""JSON in the body of a request: read once the guard let it in, and no more than is needed."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from harness.service.web.access import Now
from harness.service.web.here import Here
from harness.service.web.problems import Refused

Model = TypeVar("Model", bound=BaseModel)
_LARGEST = 1 << 16  # bytes
BYTES = "application/octet-stream"
IS_BYTES = {"type": "string", "format": "binary"}
# What the schema tells of a body that is an archive, as plain bytes.
AN_ARCHIVE: dict[str, Any] = {
    "requestBody": {"required": True, "content": {BYTES: {"schema": IS_BYTES}}}
}
PARTS: dict[str, Any] = {}  # what the schemas of bodies refer to, by name


async def read(here: Here, largest: int) -> bytes:
    """Return the body of a request; refuses one of more bytes than ``largest``."""
    found = bytearray()
    async for piece in here.request.stream():
        found += piece
        if len(found) > largest:
            raise Refused(413, f"more than {largest:,} bytes are not taken here")
    return bytes(found)


@asynccontextmanager
async def as_file(here: Here) -> AsyncIterator[Path]:
    """Give the file with the body of a request, which may be large; it is gone afterwards.

    Refuses one that is larger than a submission may be.
    """
    left = here.service.settings.largest
    with tempfile.NamedTemporaryFile(dir=here.service.settings.data, prefix=".upload-") as copy:
        async for piece in here.request.stream():
            left -= len(piece)
            if left < 0:
                most = here.service.settings.largest
                raise Refused(413, f"more than {most:,} bytes are not taken")
            await run_in_threadpool(copy.write, piece)
        copy.flush()
        yield Path(copy.name)


def json_of(kind: type[Model]) -> Callable[[Here], Awaitable[Model]]:
    """Return what reads the body of a request, for ``Depends``."""

    async def read_body(here: Now) -> Model:
        data = await read(here, _LARGEST)
        if b"\\u0000" in data:  # PostgreSQL has none in a text
            raise Refused(422, "a text in it has a character U+0000")
        try:
            return kind.model_validate_json(data)
        except ValidationError as error:
            raise Refused(422, "; ".join(map(_describe, error.errors()))) from None

    return read_body


def _describe(error: ErrorDetails) -> str:
    """Return what is wrong, and in which field unless it is the whole body."""
    field = ".".join(map(str, error["loc"]))
    return f"{field}: {error['msg']}" if field else error["msg"]


def describe_body(kind: type[BaseModel]) -> dict[str, Any]:
    """Return what the schema tells of such a body."""
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    PARTS.update(schema.pop("$defs", {}))
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}
