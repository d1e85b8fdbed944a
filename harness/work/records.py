"""A unit of work as plain data, and plain JSON read as records and checked against their types.

What a digest stands for is looked for where the unit says that it lies and, failing that, in the
stores that the worker was given.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from types import NoneType, UnionType
from typing import (
    Any,
    NamedTuple,
    NewType,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from harness.environments.interpreters import EnginePython
from harness.errors import UsageError
from harness.options import SANDBOXES, BoxLimits, Limits
from harness.work import canonical_json

VERSION = 1  # of units and words

Sha256 = NewType("Sha256", str)  # 64 hexadecimal digits
Name = NewType("Name", str)  # of a file below a folder, with / between its parts
Level = NewType("Level", str)  # one of harness.options.SANDBOXES


class UnitFile(NamedTuple):
    """A file of a folder."""

    name: Name
    sha256: Sha256


class Folder(NamedTuple):
    """Files that lie together."""

    name: str  # that it has
    files: tuple[UnitFile, ...]
    place: str = ""  # where it lies; "" or not there: to be laid out from a store


class UnitSubmission(NamedTuple):
    """The submission, and what of it counts."""

    key: str  # whose it is
    sha256: Sha256  # of the archive
    root: str  # what the names of its own files begin with in the archive
    kept: tuple[str, ...]  # its files by their names below root
    path: str = ""  # of the archive; "" or not there: in a store


class UnitCase(NamedTuple):
    """A case file to be run."""

    basis: str  # what the result is known by
    name: str  # of the file
    sha256: Sha256
    beside: tuple[UnitFile, ...] = ()  # what its commands name, by names from its folder
    # Where it lies, and with it what is beside it. Its own bytes may be in a store all the same.
    place: str = ""
    is_image: bool = False  # of another case file: its tests give no points


class Environment(NamedTuple):
    """In what engines run."""

    sandbox: Level
    python: EnginePython | None = None  # None: the system's
    hidden: tuple[str, ...] = ()  # paths that no engine may see


class WorkUnit(NamedTuple):
    """A submission with the case files that are to be run."""

    unit: int  # VERSION
    submission: UnitSubmission
    build: str  # what the result of its build is known by
    cases: tuple[UnitCase, ...]
    assignment: Folder
    course: Folder | None  # laid beside the submission
    environment: Environment
    limits: Limits
    box: BoxLimits
    alone: bool  # nothing else is running: what is measured counts
    budget: float  # seconds of wall time for all its case files
    spent: float = 0.0  # seconds of that
    # Seconds that this machine computes for what the reference machine does in one: what engines
    # compute is limited and told in seconds of that one. 0: in those of this machine.
    pace: float = 0.0
    # Names of commands, "" for the start: at which the submission hung alone, for the full limit,
    # and which it answers later than the short limit; see harness.running.hangs.ShortLimits.
    hung: tuple[str, ...] = ()
    patient: tuple[str, ...] = ()


# --- Plain JSON read as records, checked against what their types say ----------------------------
# The records are the schema: every key of an object is a field, a field without a default must be
# there, and each value is of the field's type. :func:`schema` writes the same down as JSON Schema.


Record = TypeVar("Record")

_NO_NAMES = frozenset({"", ".", ".."})  # of a file or folder
_LONGEST = 60  # characters of what was found
_SHA256 = r"[0-9a-f]{64}"
_is_sha256 = re.compile(_SHA256).fullmatch


def read(kind: type[Record], text: str | bytes, source: str) -> Record:
    """Return the record of a type that is written as JSON; ``source``: what errors call it.

    Raises:
        UsageError: it is not JSON, or not what the type says: where, what was found and expected.
    """
    try:
        plain = _decode(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source} is not JSON: {error}") from None
    found: Record = value(kind, plain, source)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


# json.loads makes a decoder each time.
_decoder = json.JSONDecoder(parse_constant=_no_constant)


def _decode(text: str | bytes) -> Any:
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    return _decoder.decode(text)


def value(kind: Any, plain: Any, place: str) -> Any:
    """Return a value of a type from its plain form; ``place``: what errors call it.

    Raises:
        UsageError: it is not what the type says.
    """
    try:
        return _checking.of(kind)(plain)
    except _RefusedValueError as error:
        raise UsageError(f"{place}{error.place}{error.what}") from None


class _RefusedValueError(Exception):
    """A value that is not what its type says."""

    def __init__(self, message: str) -> None:
        self.place = ""  # within the whole: told as the error goes up, so that no other value pays
        self.what = message

    def within(self, place: str) -> _RefusedValueError:
        """Return this error of a part, as one of what it is a part of."""
        self.place = f"{place}{self.place}"
        return self


class _CheckedReader(canonical_json.TypedReader):
    """Refuses what is not as the type says, and tells where."""

    def _atom(self, kind: Any) -> Callable[[Any], Any]:
        expected, is_right = _PLAIN[kind]

        def read_plain(plain: Any) -> Any:
            if not is_right(plain):
                _refuse(plain, expected)
            return float(plain) if kind is float else plain

        return read_plain

    def _row(self, kinds: tuple[Any, ...]) -> Callable[[Any], tuple[Any, ...]]:
        read = self.of(kinds[0])

        def read_list(plain: Any) -> tuple[Any, ...]:
            if not isinstance(plain, list):
                _refuse(plain, "a list")
            found: list[Any] = []  # how many there are tells where it failed
            try:
                for one in plain:
                    found.append(read(one))
            except _RefusedValueError as error:
                raise error.within(f"[{len(found)}]") from None
            return tuple(found)

        return read_list

    def _record(self, kind: Any) -> Callable[[Any], Any]:
        reads = {name: self.of(one) for name, one in get_type_hints(kind).items()}
        fields, needed = reads.keys(), set(kind._fields) - set(kind._field_defaults)

        def read_record(plain: Any) -> Any:
            if not (isinstance(plain, dict) and needed <= plain.keys() <= fields):
                _refuse_keys(kind, plain)
            found: dict[str, Any] = {}
            for key, one in plain.items():
                try:
                    found[key] = reads[key](one)
                except _RefusedValueError as error:
                    raise error.within(f".{key}") from None
            return kind(**found)

        return read_record


_checking = _CheckedReader()


def tester(kind: Any) -> Callable[[Any], bool]:
    """Return what tells whether a value from JSON is of a type that is not made of others."""
    return _PLAIN[kind][1]


def _refuse_keys(kind: Any, plain: Any) -> NoReturn:
    """Say what is wrong with what is not an object, or has other keys than a record."""
    fields = ", ".join(kind._fields)
    if not isinstance(plain, dict):
        _refuse(plain, f"an object with {fields}")
    if unknown := sorted(set(plain) - set(kind._fields)):
        raise _RefusedValueError(f": there is no key {_shorten(unknown[0])}, only {fields}")
    missing = [one for one in kind._fields if one not in {*plain, *kind._field_defaults}]
    raise _RefusedValueError(f": the key {missing[0]!r} is missing")


def _refuse(value: Any, expected: str) -> NoReturn:
    raise _RefusedValueError(f": found {_shorten(value)}, expected {expected}")


def _shorten(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def is_number(plain: Any) -> bool:
    """Whether a value from JSON is a number from 0 that a float can hold."""
    return type(plain) in {int, float} and 0 <= plain <= sys.float_info.max


def _is_name(plain: Any) -> bool:
    """Whether it names a file below a folder, and nothing outside of it."""
    if not isinstance(plain, str) or "\0" in plain:
        return False
    return _NO_NAMES.isdisjoint(plain.split("/"))


_PLAIN: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("a text", lambda plain: isinstance(plain, str) and "\0" not in plain),
    bool: ("true or false", lambda plain: isinstance(plain, bool)),
    int: ("a whole number from 0", lambda plain: type(plain) is int and 0 <= plain < 1 << 63),
    float: ("a number from 0", is_number),
    Sha256: (
        "a SHA-256 as 64 hexadecimal digits",
        lambda plain: isinstance(plain, str) and _is_sha256(plain) is not None,
    ),
    Name: ("the name of a file below the folder, such as boards/a.txt", _is_name),
    Level: (f"one of {', '.join(SANDBOXES)}", lambda plain: plain in SANDBOXES),
}


# --- the schema --------------------------------------------------------------------------------

_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number", "minimum": 0},
    Sha256: {"type": "string", "pattern": f"^{_SHA256}$"},
    Name: {"type": "string", "minLength": 1},
    Level: {"type": "string", "enum": list(SANDBOXES)},
}


def schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type."""
    if get_origin(kind) in (Union, UnionType):
        (other,) = set(get_args(kind)) - {NoneType}
        return {"anyOf": [schema(other), {"type": "null"}]}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": schema(get_args(kind)[0])}
    if not hasattr(kind, "_fields"):
        return _TYPES[kind]
    kinds = get_type_hints(kind)
    return {
        "type": "object",
        "properties": {name: schema(kinds[name]) for name in kind._fields},
        "required": [name for name in kind._fields if name not in kind._field_defaults],
        "additionalProperties": False,
    }
