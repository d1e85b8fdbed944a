"""Events that a worker reports while it runs a unit: one line of JSON for each. All immutable.

Every line is an object with the name of the event and its fields. :class:`UnitFinished` comes
last. A worker whose units others share also asks before each case file (:class:`Claim`), and reads
a line as the answer (:class:`Granted`).

Three kinds of failure stay apart. ``done`` with ``failed`` means that the submission failed a
test; its result has a failure if the engine failed. ``broke``, and ``ended`` with a fault, mean a
harness error, which says nothing about the submission.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, get_type_hints

from harness.errors import UsageError
from harness.records import Build
from harness.work import canonical_json, records
from harness.work.canonical_json import Measurements


class CaseStarted(NamedTuple):
    """A case file was started."""

    basis: str


class CaseProgress(NamedTuple):
    """A test was judged. Not each is told of: about one in a second, for people who watch."""

    basis: str
    step: int  # index of the test in its case file


class CaseProlonged(NamedTuple):
    """An engine computes without an answer, and has its full limit at once."""

    basis: str
    seconds: float  # the limit


class BuildFinished(NamedTuple):
    """The build steps have run."""

    basis: str
    build: Build
    seconds: float


class AttemptFinished(NamedTuple):
    """A case file has run."""

    basis: str
    result: str  # canonical JSON; in a line, what it says
    figures: Measurements
    failed: bool  # something is wrong with the submission
    doubtful: bool  # it is to be rerun, alone


class HarnessFailed(NamedTuple):
    """A harness error kept a case file from running."""

    basis: str
    message: str


class EngineHung(NamedTuple):
    """The engine hung once more for its full limit."""

    basis: str


class Claim(NamedTuple):
    """Ask whether to run a case file; another worker may run it, or have run it."""

    case: int  # index in the unit


class ClaimLonger(NamedTuple):
    """Ask whether an engine that computes without an answer may have its full limit at once."""

    case: int  # index in the unit


class UnitFinished(NamedTuple):
    """The unit has ended."""

    fault: str = ""  # the harness error, if there was one
    details: str = ""  # a traceback
    later: bool = False  # the case file under way, and the rest, are to be run after all others


class Granted(NamedTuple):
    """The answer to a claim."""

    granted: bool
    hangs: int  # of the submission so far, in all workers
    later: bool = False  # end the unit: its rest is handed out again when nobody else waits


AttemptEvent = BuildFinished | AttemptFinished | HarnessFailed
ProgressEvent = CaseStarted | CaseProgress | CaseProlonged  # which nothing depends on
WorkerEvent = (
    CaseStarted
    | CaseProgress
    | CaseProlonged
    | BuildFinished
    | AttemptFinished
    | HarnessFailed
    | EngineHung
    | Claim
    | ClaimLonger
    | UnitFinished
)

# The names are those of the lines, which other programs read and write.
_BY_NAME: dict[str, type[Any]] = {
    "begun": CaseStarted,
    "judged": CaseProgress,
    "prolonged": CaseProlonged,
    "built": BuildFinished,
    "done": AttemptFinished,
    "broke": HarnessFailed,
    "hung": EngineHung,
    "claim": Claim,
    "longer": ClaimLonger,
    "ended": UnitFinished,
}
_NAMES = {one: name for name, one in _BY_NAME.items()}
_RESULT = "result"


def line(event: WorkerEvent) -> bytes:
    """Return an event as a line of JSON."""
    found = canonical_json.dumps(
        event._replace(result="") if isinstance(event, AttemptFinished) else event
    )
    if isinstance(event, AttemptFinished):  # it is canonical already
        found = found.replace(f'"{_RESULT}":""', f'"{_RESULT}":{event.result}', 1)
    return f'{{"word":"{_NAMES[type(event)]}",{found[1:]}\n'.encode()


def kind_of(text: bytes) -> type[Any]:
    """Return the kind of event that a line of :func:`line` is; nothing else of it is read.

    Raises:
        UsageError: it is not such a line.
    """
    before, _, rest = text.partition(b'":"')
    name = rest.partition(b'"')[0].decode(errors="replace")
    if before != b'{"word' or name not in _BY_NAME:
        raise UsageError(f"found {text[:60]!r}, expected a word of a worker")
    return _BY_NAME[name]


def read(text: bytes) -> WorkerEvent:
    """Return the event of a line.

    Raises:
        UsageError: it is not an event.
    """
    return parse(text)[0]


def parse(text: bytes) -> tuple[WorkerEvent, Any]:
    """Return the event of a line, and its result as JSON has it, if it has one; raises as read."""
    try:
        found = json.loads(text)
        kind = _BY_NAME[found.pop("word")]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise UsageError(f"found {text[:60]!r}, expected a word of a worker") from None
    result = None
    if kind is AttemptFinished and _RESULT in found:
        result = found[_RESULT]
        found[_RESULT] = json.dumps(result, sort_keys=True, separators=(",", ":"))
    return records.value(kind, found, f"the word {_NAMES[kind]!r}"), result


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a line."""
    return {"oneOf": [_schema_of(name, kind) for name, kind in _BY_NAME.items()]}


def _schema_of(name: str, kind: type[Any]) -> dict[str, Any]:
    found = records.schema(kind)
    properties = {"word": {"const": name}, **found["properties"]}
    if _RESULT in get_type_hints(kind):
        properties[_RESULT] = {"type": ["object", "null"]}
    return {**found, "properties": properties, "required": ["word", *found["required"]]}
