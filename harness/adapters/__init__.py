"""Adapters: GTP engines for programs that do not speak GTP.

Here is which there are, the settings that ``[adapter]`` of an assignment may give them, and the
files of one, which are put beside a submission. ``inside`` is what then runs in the box, where
neither the harness nor the oracle is to be seen: it imports nothing of them, and knows no answers.
"""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from harness.core import file_system, toml_schema
from harness.core.toml_schema import Field, KeyPlace

_INSIDE = Path(__file__).parent / "inside"
# The box may have another Python than the harness, which need not have these.
_PACKAGES = {"java-go": ("pexpect", "ptyprocess")}


class Adapter(NamedTuple):
    """An adapter as an assignment wants it."""

    name: str  # a key of ADAPTERS
    settings: dict[str, Any]  # as JSON can say them


def _seconds(value: Any, place: KeyPlace) -> float:
    return float(toml_schema.number(0)(value, place))


def _texts(value: Any, place: KeyPlace) -> list[str]:
    return list(toml_schema.list_of(toml_schema.text, 1)(value, place))


def _lines(value: Any, place: KeyPlace) -> list[str]:
    """Read lines to be typed, which may be empty or none."""
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        place.refuse(value, "a list of texts")
    return list(value)


_GOSENSEI = {"programs": Field(_texts), "seconds": Field(_seconds, 5.0)}
_MOVES = ["{x} {y}", "{x}\n{y}", "{x},{y}", "{letter}{row}", "{letter_without_i}{row}"]
_COORDINATES = ("from 0, top", "from 1, top", "from 0, bottom", "from 1, bottom")
_OVER = r"(?i)game\s*(is\s*)?over|has ended|final score|winner|\bwins\b"
_JAVA_GO = {
    "classes": Field(toml_schema.text),
    "seconds": Field(_seconds, 5.0),
    "axes": Field(toml_schema.one_of("auto", "x is the column", "x is the row"), "auto"),
    "main": Field(toml_schema.text, "auto"),
    "start": Field(_lines, []),
    "moves": Field(_texts, _MOVES),
    "passes": Field(_texts, ["pass", "p", "skip", "s", "-1 -1", "-1\n-1", "-1"]),
    "coordinates": Field(toml_schema.one_of("auto", *_COORDINATES), "auto"),
    "empty": Field(toml_schema.text, "0.+-_·┼"),
    "black": Field(toml_schema.text, "1BbXx●"),
    "white": Field(toml_schema.text, "2WwOo○"),
    "over": Field(toml_schema.text, _OVER),
}

ADAPTERS: dict[str, toml_schema.Schema] = {"gosensei": _GOSENSEI, "java-go": _JAVA_GO}


def place(adapter: Adapter, folder: Path) -> None:
    """Make ``folder``, which ``python3 FOLDER`` will run as an engine."""
    _copy(_INSIDE, folder / "inside")
    (folder / "__main__.py").write_text("from inside.main import main\n\nmain()\n")
    for name in _PACKAGES.get(adapter.name, ()):
        from importlib.util import find_spec

        found = find_spec(name)
        assert found is not None
        assert found.origin is not None, name
        _copy(Path(found.origin).parent, folder / name)
    (folder / "settings.json").write_text(json.dumps(adapter.settings, indent=1))
    file_system.open_all(folder)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))
