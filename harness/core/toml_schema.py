"""Reading tables of a TOML file against a schema: every error names the key.

A schema is a dictionary from key to :class:`Field`. Reading gives a dictionary of values with the
keys of the schema, or an :class:`~harness.core.errors.AssignmentError` with the file, the key,
what was found and what is expected.
"""

import difflib
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from harness.core.errors import AssignmentError

REQUIRED: Any = object()
_LONGEST = 60  # characters of what was found
_MOST_PLACES = 18  # after the point: a fraction of 1e-999999999 would need gigabytes


class KeyPlace(NamedTuple):
    """Place of a value: the file, and the key with its tables, such as ``archive.folder``."""

    file: str
    key: str = ""

    def at(self, key: str) -> "KeyPlace":
        """Return the place of a key in the table at this place."""
        return KeyPlace(self.file, f"{self.key}.{key}" if self.key else key)

    def item(self, index: int) -> "KeyPlace":
        """Return the place of an item of the list at this place, counted from 1."""
        return KeyPlace(self.file, f"{self.key}[{index + 1}]")

    def refuse(self, value: object, expected: str) -> NoReturn:
        """Raise the error that ``value`` is not what is ``expected``."""
        text = repr(value)
        text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
        raise AssignmentError(f"found {text}, expected {expected}", self.file, self.key)


Reader = Callable[[Any, KeyPlace], Any]


class Field(NamedTuple):
    """Reader of a key's value, and the value when the key is missing."""

    read: Reader
    default: Any = REQUIRED


Schema = Mapping[str, Field]


def load(path: str) -> dict[str, Any]:
    """Return the table of a TOML file; numbers with a point are exact decimals.

    Raises:
        AssignmentError: it cannot be read, or is not TOML in UTF-8.
    """
    try:
        return tomllib.loads(Path(path).read_bytes().decode(), parse_float=Decimal)
    except OSError as error:
        raise AssignmentError(f"cannot be read: {error.strerror}", path) from None
    except UnicodeDecodeError:
        raise AssignmentError("is not UTF-8 text", path) from None
    except (ValueError, RecursionError) as error:  # also numbers too long, and too many brackets
        raise AssignmentError(f"is not TOML: {error}", path) from None


def read_table(table: object, schema: Schema, place: KeyPlace) -> dict[str, Any]:
    """Return the values of a table by key.

    Raises:
        AssignmentError: a key is missing, unknown, or has a value of the wrong kind.
    """
    if not isinstance(table, dict):
        place.refuse(table, f"a table with {', '.join(schema)}")
    for key in table:
        if key not in schema:
            near = difflib.get_close_matches(key, schema, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(schema)}"
            raise AssignmentError(f"there is no such key; {hint}", place.file, place.at(key).key)
    values = {}
    for key, field in schema.items():
        if key in table:
            values[key] = field.read(table[key], place.at(key))
        elif field.default is REQUIRED:
            raise AssignmentError("the key is missing", place.file, place.at(key).key)
        else:
            values[key] = field.default
    return values


def table(schema: Schema, make: Callable[..., Any]) -> Reader:
    """Return a reader of tables that gives ``make`` their values by name."""
    return lambda value, place: make(**read_table(value, schema, place))


def list_of(read: Reader, least: int = 0) -> Reader:
    """Return a reader of lists, which gives a tuple."""

    def read_list(value: Any, place: KeyPlace) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) < least:
            place.refuse(value, f"a list of at least {least}" if least else "a list")
        return tuple(read(item, place.item(index)) for index, item in enumerate(value))

    return read_list


def checked(is_right: Callable[[Any], object], expected: str) -> Reader:
    """Return a reader of values for which ``is_right`` is true; ``expected``: what they are."""

    def read(value: Any, place: KeyPlace) -> Any:
        if not is_right(value):
            place.refuse(value, expected)
        return value

    return read


text = checked(lambda value: isinstance(value, str) and value.strip(), "a text")  # not empty
flag = checked(lambda value: isinstance(value, bool), "true or false")


def one_of(*words: str) -> Reader:
    """Return a reader of one of some words."""
    return checked(lambda value: value in words, " or ".join(map(repr, words)))


def number(least: int = 0, most: int = 10**9) -> Reader:
    """Return a reader of numbers from ``least`` to ``most``, as exact as they are written."""
    expected = f"a number from {least} to {most:,}"

    def read_number(value: Any, place: KeyPlace) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            place.refuse(value, expected)
        exact = Decimal(value)
        if not exact.is_finite() or not least <= exact <= most:
            place.refuse(value, expected)
        if int(exact.as_tuple().exponent) < -_MOST_PLACES:
            place.refuse(value, f"at most {_MOST_PLACES} decimal places")
        return exact

    return read_number


def whole(least: int = 0) -> Reader:
    """Return a reader of whole numbers."""
    expected = f"a whole number from {least}"
    return checked(lambda value: type(value) is int and value >= least, expected)
