"""Records as canonical JSON and back, so that the same result is always the same bytes.

A record is an object of its fields, a sequence a list; an enumeration is written as its value, a
fraction as ``"3/2"``, a time in ISO 8601. Keys are sorted, there are no blanks, and all is ASCII.
What a type does not say is not written: reading needs the type.

:func:`loads` trusts what it reads. :func:`read` checks JSON of others against a type.
"""

import datetime
import enum
import json
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, NewType, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from harness.assignments import clock_changes
from harness.core.errors import UsageError
from harness.core.options import SANDBOXES

Record = TypeVar("Record")

Sha256 = NewType("Sha256", str)  # 64 hexadecimal digits
Name = NewType("Name", str)  # of a file below a folder, with / between its parts
Level = NewType("Level", str)  # one of harness.core.options.SANDBOXES

# Types that are written as text.
_TEXTS: dict[Any, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    Fraction: (str, Fraction),
    datetime.datetime: (clock_changes.write, clock_changes.read_figures),
}

# Nearly all that a record is made of.
_ATOMS = frozenset({str, int, float, bool, NoneType})
# json.dumps makes an encoder each time.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


# --- any record --------------------------------------------------------------------------------


def dumps(value: object) -> str:
    """Return a record, or whatever else :func:`loads` reads, as canonical JSON."""
    return _encode(_plain(value))


def loads(kind: type[Record], text: str) -> Record:
    """Return the value of type ``kind`` that :func:`dumps` wrote."""
    value: Record = _trusting.of(kind)(json.loads(text))
    return value


def _plain(value: Any) -> Any:
    kind = type(value)
    return value if kind in _ATOMS else _writer(kind)(value)  # type: ignore[arg-type]


@cache
def _writer(kind: Any) -> Callable[[Any], Any]:
    """Return what makes the plain form of values of a type, worked out once for each type."""
    if issubclass(kind, enum.Enum):
        return lambda value: value.value
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _record_writer(kind._fields)
    if issubclass(kind, list | tuple):
        return lambda value: [_plain(part) for part in value]
    if issubclass(kind, frozenset):
        return lambda value: sorted(_plain(part) for part in value)
    if issubclass(kind, dict):
        return lambda value: {key: _plain(part) for key, part in value.items()}
    return _TEXTS[kind][0] if kind in _TEXTS else lambda value: value


def _record_writer(fields: tuple[str, ...]) -> Callable[[Any], dict[str, Any]]:
    atoms = _ATOMS  # most parts are atoms: for them, nothing is called

    def write_record(value: Any) -> dict[str, Any]:
        return {
            name: part if type(part) in atoms else _plain(part)
            for name, part in zip(fields, value, strict=True)
        }

    return write_record


class TypedReader:
    """Makes values of a type from their plain form; how, is worked out once for each type.

    This one trusts what it reads, which :func:`dumps` wrote.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Callable[[Any], Any]] = {}

    def of(self, kind: Any) -> Callable[[Any], Any]:
        """Return what makes a value of a type from its plain form."""
        if kind not in self._known:
            self._known[kind] = self._make(kind)
        return self._known[kind]

    def _make(self, kind: Any) -> Callable[[Any], Any]:
        if get_origin(kind) in (Union, UnionType):
            (other,) = set(get_args(kind)) - {NoneType}
            read = self.of(other)
            return lambda plain: None if plain is None else read(plain)
        if get_origin(kind) is tuple:
            return self._row(get_args(kind))
        return self._record(kind) if hasattr(kind, "_fields") else self._atom(kind)

    def _row(self, kinds: tuple[Any, ...]) -> Callable[[Any], Any]:
        if kinds[-1] is Ellipsis:
            read = self.of(kinds[0])
            return lambda plain: tuple([read(part) for part in plain])
        reads = [self.of(kind) for kind in kinds]
        return lambda plain: tuple([r(part) for r, part in zip(reads, plain, strict=True)])

    def _record(self, kind: Any) -> Callable[[Any], Any]:
        reads = {name: self.of(type_) for name, type_ in get_type_hints(kind).items()}
        return lambda plain: kind(**{name: reads[name](part) for name, part in plain.items()})

    def _atom(self, kind: Any) -> Callable[[Any], Any]:
        if get_origin(kind) is frozenset:
            return frozenset
        if kind in _TEXTS:
            return _TEXTS[kind][1]
        is_enumeration = isinstance(kind, type) and issubclass(kind, enum.Enum)
        return kind if is_enumeration else lambda plain: plain


_trusting = TypedReader()


# --- Plain JSON read as records, checked against what their types say ----------------------------
# The records are the schema: every key of an object is a field, a field without a default must be
# there, and each value is of the field's type. :func:`schema` writes the same down as JSON Schema.


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

    def within(self, place: str) -> "_RefusedValueError":
        """Return this error of a part, as one of what it is a part of."""
        self.place = f"{place}{self.place}"
        return self


class _CheckedReader(TypedReader):
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
    """Return the beginning of a value as JSON, however large it is and however deep."""
    text = ""
    for piece in json.JSONEncoder().iterencode(value):
        text += piece
        if len(text) > _LONGEST:
            return text[: _LONGEST - 1] + "…"
    return text


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
