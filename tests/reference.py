"""The reference pages in ``docs/reference``, made from the code.

``GTP_HARNESS_GOLDEN=write pytest tests/test_reference.py`` makes them anew.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import ModuleType
from unittest.mock import patch

import harness
import harness.cli
import oracle
import oracle.cli
from harness.assignments import assignment
from harness.declared import declaration
from harness.errors import AssignmentError
from harness.toml_schema import REQUIRED, KeyPlace, Schema
from tests.documents import ROOT

FOLDER = ROOT / "docs" / "reference"
_COLUMNS = "80"

# The JSON that commands write, and the module or function whose docstring describes it.
FORMATS = {
    "gtp-harness run --json": "harness.report.json",
    "gtp-harness history --json": "harness.history.text",
    "gtp-harness grade, class.json": "harness.grading.exports.class_json",
    "gtp-harness verify --json": "harness.cli.verify:_document",
    "gtp-harness strength --json": "harness.cli.strength_report:document",
    "gtp-harness fuzz --json": "harness.cli.fuzz:_document",
    "gtp-harness calibrate --json": "harness.cli.calibrate:_document",
}


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    return {
        "commands.md": commands(),
        "formats.md": formats(),
        "python.md": python(),
        "assignment-keys.md": assignment_keys(),
    }


def _head(title: str, about: str) -> str:
    return f"# {title}\n\n{about} This page is made from the code by `tests/reference.py`.\n"


def _rst(text: str) -> str:
    return f"\n```{{eval-rst}}\n{text}\n```\n"


# --- commands ----------------------------------------------------------------------------------


def commands() -> str:
    """Return the page of all commands: what ``--help`` prints for each."""
    return "".join(
        [
            _head("Commands", "What `--help` prints for each command."),
            *_program("gtp-harness", harness.cli.main, harness.cli.COMMANDS),
            *_program("gtp-oracle", oracle.cli.main, oracle.cli.COMMANDS),
        ]
    )


def _program(name: str, main: Callable[[list[str]], int], listed: Iterable[str]) -> Iterator[str]:
    yield f"\n## {name}\n\n```text\n{_help(main, '--help')}\n```\n"
    for command in listed:
        yield f"\n### {name} {command}\n\n```text\n{_help(main, command, '--help')}\n```\n"


def _help(main: Callable[[list[str]], int], *words: str) -> str:
    printed = io.StringIO()
    with (
        patch.dict(os.environ, COLUMNS=_COLUMNS),
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
    ):
        main(list(words))
    return printed.getvalue().strip("\n")


# --- formats -----------------------------------------------------------------------------------


def formats() -> str:
    """Return the page of the JSON that commands write."""
    text = _head("JSON that commands write", "Members may be added to a document of version 1.")
    return text + "".join(f"\n## {title}\n{_rst(_describe(at))}" for title, at in FORMATS.items())


def _describe(place: str) -> str:
    module, _, name = place.partition(":")
    found = import_module(module)
    return inspect.getdoc(getattr(found, name) if name else found) or ""


# --- the Python interface ----------------------------------------------------------------------


def python() -> str:
    """Return the page of all public names of both packages, for Sphinx to fill."""
    text = _head(
        "Python interface", "All public names. [From Python](../library.md) shows them at work."
    )
    return text + "".join(map(_package, (harness, oracle)))


def _package(package: ModuleType) -> str:
    parts = [_directive(package, name) for name in sorted(package.__all__, key=str.lower)]
    return f"\n## {package.__name__}\n{_rst(chr(10).join(parts))}"


def _directive(package: ModuleType, name: str) -> str:
    found, path = getattr(package, name), f"{package.__name__}.{name}"
    if inspect.isclass(found):
        return f".. autoclass:: {path}\n   :members:\n"
    if inspect.ismodule(found):
        again = ", ".join(sorted(set(package.__all__) & set(vars(found))))
        options = f"   :members:\n   :exclude-members: {again}\n"
        return f".. automodule:: {found.__name__}\n{options}"
    return f".. {'autofunction' if callable(found) else 'autodata'}:: {path}\n"


# --- keys of an assignment ---------------------------------------------------------------------

_TABLES: dict[str, Schema] = {
    "": assignment._SCHEMA,
    "archive": assignment._ARCHIVE,
    "files": assignment._FILES,
    "build": assignment._BUILD,
    "engine": assignment._ENGINE,
    "cases": assignment._CASES,
    "limits": assignment._LIMITS,
    "[marks]": assignment._PART,
    "late": assignment._LATE,
    "reference": declaration._REFERENCE,
    "game": declaration._GAME,
    "game.over": declaration._OVER,
    "[command]": declaration._command_fields(
        declaration.ASKS, declaration.DeclaredCommand("", declaration.ASKS)
    ),
    "[wrong]": declaration._WRONG,
}


def assignment_keys() -> str:
    """Return the page of the keys: what each takes, and what it is if it is missing."""
    page = "[Assignment files](../../cases/ASSIGNMENTS.md)"
    about = (
        f"What each key takes. {page} says what it means, and what may be left out. A limit of 0"
        " means no limit. What is missing of a command that GTP has is as in GTP."
    )
    return _head("Keys of assignment.toml", about) + "".join(map(_table, _TABLES))


def _table(name: str) -> str:
    rows = [
        f"| `{key}` | {_find_expected(field.read)} | {_missing(field.default)} |"
        for key, field in _TABLES[name].items()
    ]
    title = f"`[{name}]`" if name else "At the top"
    head = f"\n## {title}\n\n| key | takes | if missing |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _find_expected(read: Callable[[object, KeyPlace], object]) -> str:
    """Return what a reader says that it expects, when it is given what nobody takes."""
    try:
        read(object(), KeyPlace("file"))
    except AssignmentError as error:
        return error.message.partition(", expected ")[2].replace("|", "\\|")
    raise AssertionError("it takes anything")


def _missing(default: object) -> str:
    if default is REQUIRED:
        return "error"
    if isinstance(default, tuple) and default and all(isinstance(one, str) for one in default):
        return ", ".join(f"`{one}`" for one in default)
    return f"`{default}`" if isinstance(default, int | float | str) and default != "" else "none"
