"""Which adapters there are, and the settings that ``[adapter]`` of an assignment may give them."""

from __future__ import annotations

from typing import Any, NamedTuple

from harness import schema
from harness.schema import Field, Place


class Adapter(NamedTuple):
    """An adapter as an assignment wants it."""

    name: str  # a key of ADAPTERS
    settings: dict[str, Any]  # as JSON can say them


def _seconds(value: Any, place: Place) -> float:
    return float(schema.number(0)(value, place))


def _texts(value: Any, place: Place) -> list[str]:
    return list(schema.list_of(schema.text, 1)(value, place))


def _lines(value: Any, place: Place) -> list[str]:
    """Read lines to be typed, which may be empty or none."""
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        place.refuse(value, "a list of texts")
    return list(value)


_GOSENSEI = {
    "programs": Field(_texts),
    "seconds": Field(_seconds, 5.0),
}
_JAVA_GO = {
    "classes": Field(schema.text),
    "seconds": Field(_seconds, 5.0),
    "axes": Field(schema.one_of("auto", "x is the column", "x is the row"), "auto"),
    "main": Field(schema.text, "auto"),
    "start": Field(_lines, []),
    "moves": Field(_texts, ["{x} {y}", "{x}\n{y}", "{x},{y}", "{letter}{row}"]),
    "passes": Field(_texts, ["pass", "p", "skip", "s", "-1 -1", "-1\n-1", "-1"]),
    "coordinates": Field(
        schema.one_of("auto", "from 0, top", "from 1, top", "from 0, bottom", "from 1, bottom"),
        "auto",
    ),
    "empty": Field(schema.text, "0.+-_"),
    "black": Field(schema.text, "1BbXx●"),
    "white": Field(schema.text, "2WwOo○"),
    "over": Field(schema.text, r"(?i)game\s*(is\s*)?over|has ended|final score|winner|\bwins\b"),
}

ADAPTERS: dict[str, schema.Schema] = {"gosensei": _GOSENSEI, "java-go": _JAVA_GO}
