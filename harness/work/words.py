"""What a worker says while it does a unit: a line of JSON for each word. All immutable.

Every line is an object with the name of a word and its fields. The last one is :class:`Ended`. A
worker that takes units one after the other also asks (:class:`Claim`), and is answered by a line
(:class:`Granted`).

The three kinds of trouble are told apart: ``done`` with ``failed`` means that something is wrong
with the submission, and its result has a failure where the engine broke. ``broke``, and an end
with a fault, mean that the harness did, which says nothing about the submission.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, get_type_hints

from harness.errors import UsageError
from harness.records import Build
from harness.work import canonical_json, plain
from harness.work.canonical_json import Figures


class Begun(NamedTuple):
    """A case file is run from now on."""

    basis: str


class Built(NamedTuple):
    """The build steps were done."""

    basis: str
    build: Build
    seconds: float


class Done(NamedTuple):
    """A case file was run."""

    basis: str
    result: str  # canonical JSON; in a line, what it says
    figures: Figures
    failed: bool  # something is wrong with the submission
    doubtful: bool  # it is to be run again, alone


class Broke(NamedTuple):
    """The harness broke."""

    basis: str
    message: str


class Hung(NamedTuple):
    """The engine has hung for its full limit once more."""

    basis: str


class Claim(NamedTuple):
    """May a case file be run, or does another worker do it, or has?"""

    case: int  # index in the unit


class Ended(NamedTuple):
    """The unit has come to its end."""

    fault: str = ""  # how the harness broke; else empty
    details: str = ""  # a traceback


class Granted(NamedTuple):
    """The answer to a claim."""

    granted: bool
    hangs: int  # of the submission so far, in all workers


Word = Built | Done | Broke
Said = Begun | Built | Done | Broke | Hung | Claim | Ended

_BY_NAME: dict[str, type[Any]] = {
    one.__name__.lower(): one for one in (Begun, Built, Done, Broke, Hung, Claim, Ended)
}
_NAMES = {one: name for name, one in _BY_NAME.items()}
_RESULT = "result"


def line(word: Said) -> bytes:
    """Return a word as a line of JSON."""
    found = canonical_json.dumps(word._replace(result="") if isinstance(word, Done) else word)
    if isinstance(word, Done):  # it is canonical already
        found = found.replace(f'"{_RESULT}":""', f'"{_RESULT}":{word.result}', 1)
    return f'{{"word":"{_NAMES[type(word)]}",{found[1:]}\n'.encode()


def read(text: bytes) -> Said:
    """Return the word of a line.

    Raises:
        UsageError: it is none.
    """
    try:
        found = json.loads(text)
        kind = _BY_NAME[found.pop("word")]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise UsageError(f"found {text[:60]!r}, expected a word of a worker") from None
    if kind is Done and _RESULT in found:
        found[_RESULT] = json.dumps(found[_RESULT], sort_keys=True, separators=(",", ":"))
    word: Said = plain.value(kind, found, f"the word {_NAMES[kind]!r}")
    return word


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a line."""
    return {"oneOf": [_schema_of(name, kind) for name, kind in _BY_NAME.items()]}


def _schema_of(name: str, kind: type[Any]) -> dict[str, Any]:
    found = plain.schema(kind)
    properties = {"word": {"const": name}, **found["properties"]}
    if _RESULT in get_type_hints(kind):
        properties[_RESULT] = {"type": ["object", "null"]}
    return {**found, "properties": properties, "required": ["word", *found["required"]]}
