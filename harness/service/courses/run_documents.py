"""A run as a document of ``run --json``: checked when it comes, and as a history keeps it.

What is posted comes from anybody: only what was checked here is kept, compared and shown.
"""

import codecs
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.core.errors import UsageError
from harness.core.text import at_most, escape_controls
from harness.history import history_file
from harness.history.records import FileKept, RunKept, RunState, TestIdentity, TestInFile
from harness.report import json as run_json

WANTED = "a run file, which gtp-harness run --json FILE writes, or the archive of an engine"
LARGEST = 8 << 20  # bytes of a document
_SHOWN = 5  # of what is wrong with one
_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, lt=1 << 31)]
# Pages are called as case files are: what is not a name of a file is not a name of a page.
_Path = Annotated[
    str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f/]{1,60}$")
]
_Verdict = Literal["passed", "PASSED", "failed", "FAILED", "not run", "not judged", "ignored"]


class _DocumentPart(BaseModel):
    """The members of an object that are read; documents may have more."""

    model_config = ConfigDict(strict=True, extra="ignore")


class TestDone(_DocumentPart):
    """A test of a run."""

    id: Annotated[int, Field(ge=-1, lt=1 << 53)]
    line: _Count
    command: str
    expected: str | None
    verdict: _Verdict
    flaky: bool
    seconds: _Seconds | None
    text: Annotated[str, Field(pattern="^[0-9a-f]{0,64}$")] = ""


class Counts(_DocumentPart):
    """The counts of a file."""

    seconds: _Seconds
    cpu_seconds: _Seconds


class EngineSaid(_DocumentPart):
    """Name that an engine gives."""

    name: str
    version: str


class Broke(_DocumentPart):
    """Failure of an engine."""

    message: str


class FileDone(_DocumentPart):
    """A case file of a run."""

    path: _Path
    engine: EngineSaid
    tally: Counts
    failure: Broke | None
    failures: list[Broke] = []
    tests: list[TestDone]


class RunDocument(_DocumentPart):
    """A document of ``run --json``, as far as it is looked at here."""

    model_config = ConfigDict(title="A document of gtp-harness run --json")

    schema_: Annotated[Literal["gtp-harness/run"], Field(alias="schema")]
    version: Literal[1]
    program: str
    started: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    host: str
    options: dict[str, object]
    errors: list[str]
    faults: list[str]
    unfinished: list[str]
    files: Annotated[list[FileDone], Field(min_length=1, max_length=5000)]

    @property
    def engine(self) -> str:
        """Return what the engine calls itself in the first file in which it says so."""
        return next(filter(None, map(engine_of, self.files)), "")


def engine_of(file: FileDone) -> str:
    """Return the name and version that an engine gave."""
    return f"{file.engine.name} {file.engine.version}".strip()


def is_document(path: Path) -> bool:
    """Return whether a file is a document, and not an archive; no matter what it is called."""
    with path.open("rb") as file:
        return run_json.begins_document(file.read(100))


def load(path: Path) -> bytes:
    """Return the bytes of a document, without a byte order mark; raises UsageError if too many."""
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageError(f"the document has more than {LARGEST:,} bytes")
    return data.removeprefix(codecs.BOM_UTF8)


def read(data: bytes) -> RunDocument:
    """Return a document that was posted.

    Raises:
        UsageError: it is not one, or is not whole; where, and what was found.
    """
    try:
        return RunDocument.model_validate_json(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        pairs = ((".".join(map(str, one["loc"])), one["msg"]) for one in found)  # "": the document
        wrong = (": ".join(filter(None, pair)) for pair in pairs)
        why = f"this is not a document of run --json: {'; '.join(at_most(wrong, _SHOWN))}"
        raise UsageError(escape_controls(why)) from None


def make_kept(document: RunDocument, number: int, revision: str) -> RunKept:
    """Return a run as a history keeps it; ``revision``: of the engine."""
    files = []
    for one in document.files:
        failure = one.failure.message if one.failure else ""
        times = one.tally.seconds, one.tally.cpu_seconds
        results = tuple(_results(one))
        files.append(FileKept(one.path, engine_of(one), failure, *times, results))
    return RunKept(
        number=number,
        started=document.started,
        state=RunState.INTERRUPTED if document.unfinished else RunState.WHOLE,
        program=document.program,
        digest=revision,
        circumstances=history_file.circumstances(document.host, document.options),
        harness="",
        files=tuple(files),
    )


def _results(file: FileDone) -> Iterator[TestInFile]:
    told = hashlib.blake2b(digest_size=8)  # for documents that do not tell what tests depend on
    seen: dict[tuple[int, str], int] = {}
    for one in file.tests:
        told.update(f"{one.command}\n{one.expected}\n".encode())
        alike = seen.get((one.id, one.command), 0)
        seen[one.id, one.command] = alike + 1
        test = TestIdentity(file.path, one.id, one.command, alike)
        text = one.text or told.hexdigest()
        yield TestInFile(test, one.line, text, one.verdict, one.flaky, one.seconds)
