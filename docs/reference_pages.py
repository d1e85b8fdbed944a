"""What the build of the documentation adds to the pages in ``docs/reference``, from the code.

In the repository each page has its title and says where else the same is found. ``docs/conf.py``
adds the rest while Sphinx reads it, so no text of the code is kept twice.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import harness
import harness.cli
import oracle
import oracle.cli
from harness.assignments import assignment
from harness.core.errors import AssignmentError
from harness.core.toml_schema import REQUIRED, KeyPlace, Schema
from harness.declared import declaration

_COLUMNS = "80"

# The JSON that commands write, and the module or function whose docstring describes it.
FORMATS = {
    "gtp-harness run --json": "harness.report.json",
    "gtp-harness match --json": "harness.match.document",
    "gtp-harness history --json": "harness.history.text",
    "gtp-harness grade, class.json": "harness.grading.exports.class_json",
    "gtp-harness verify --json": "harness.cli.verify:_document",
    "gtp-harness strength --json": "harness.cli.strength:document",
    "gtp-harness fuzz --json": "harness.cli.fuzz:_document",
    "gtp-harness calibrate --json": "harness.cli.own_games:_document",
}


def _rst(text: str) -> str:
    return f"\n```{{eval-rst}}\n{text}\n```\n"


# --- commands ----------------------------------------------------------------------------------


def commands() -> str:
    """Return the page of all commands: what ``--help`` prints for each."""
    return "".join(
        [
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
    return "".join(f"\n## {title}\n{_rst(_describe(at))}" for title, at in FORMATS.items())


def _describe(place: str) -> str:
    module, _, name = place.partition(":")
    found = import_module(module)
    return inspect.getdoc(getattr(found, name) if name else found) or ""


# --- requests of the API -----------------------------------------------------------------------


_GROUPS = (
    "/courses/{course}/assignments/{assignment}",
    "/courses/{course}",
    "/suites/{suite}",
    "",
)


def api() -> str:
    """Return the page of all requests that programs can send to a service."""
    # They need what a service needs, which the other pages do not.
    from fastapi.openapi.utils import get_openapi

    from harness.service.app import ROUTES

    every: list[Any] = [one for routes in ROUTES for one in routes.routes]
    routes = [one for one in every if one.include_in_schema]
    schema = get_openapi(title="gtp-harness", version="1", routes=routes)["paths"]
    rows: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for route in sorted(routes, key=lambda one: one.path):
        path = route.path_format.removeprefix("/api/v1")
        group = next(one for one in _GROUPS if path.startswith(one))
        (method,) = route.methods
        described = schema[route.path_format][method.lower()]
        rows[group].append(_request(f"{method} {path.removeprefix(group)}", described, route))
    head = "| request | what it does | for | scope |\n|---|---|---|---|\n"
    return "".join(
        f"\n## Below `/api/v1{group}`\n\n{head}{''.join(found)}" for group, found in rows.items()
    )


def _request(request: str, described: dict[str, Any], route: Any) -> str:
    """Return the row of a request: what may be asked with it, what it does, who may send it."""
    from harness.service.web.access import guard_of

    guard: Any = guard_of(route)
    query = [one["name"] for one in described.get("parameters", ()) if one["in"] == "query"]
    asks = "&".join(f"{name}=" for name in query if name not in ("after", "limit"))
    told = described["description"].partition("\n\n")[0].replace("``", "`")
    request = f"{request.strip()}{asks and f'?{asks}'}"
    return f"| `{request}` | {told} | {guard.rule.name} | {guard.scope} |\n"


# --- the Python interface ----------------------------------------------------------------------


def python() -> str:
    """Return the page of all public names of both packages, for Sphinx to fill."""
    return "".join(map(_package, (harness, oracle)))


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
    "[command]": declaration.command_fields(
        declaration.Kind.ASKS, declaration.DeclaredCommand("", declaration.Kind.ASKS)
    ),
    "[wrong]": declaration._WRONG,
}


def assignment_keys() -> str:
    """Return the page of the keys: what each takes, and what it is if it is missing."""
    return "".join(map(_table, _TABLES))


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


# --- the evidence of the threat model ------------------------------------------------------------

EVIDENCE = Path(__file__).with_name("evidence.toml")
_CLAIMS = {
    "sandbox": ("The sandbox", "claim", "attacks"),
    "channels": ("Channels between runs", "channel", "attacks"),
    "others": ("Other claims", "claim", "tests"),
}


def evidence() -> str:
    """Return the page of the attacks and tests of each claim, of each threat and each layer."""
    found = tomllib.loads(EVIDENCE.read_text(encoding="utf-8"))
    return "".join([*_claims(found), *_threats(found["service"]), *_layers()])


def _claims(found: dict[str, dict[str, list[str]]]) -> Iterator[str]:
    for key, (title, what, by) in _CLAIMS.items():
        yield f"\n## {title}\n\n| {what} | {by} |\n|---|---|\n"
        yield from (f"| {one} | {_names(names)} |\n" for one, names in found[key].items())


def _threats(found: Any) -> Iterator[str]:
    yield "\n## A service\n\n| threat | what holds it | tests |\n|---|---|---|\n"
    for one in found:
        yield f"| {one['threat']} | {one['held']} | {_names(one['tests'])} |\n"


def _names(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def _layers() -> Iterator[str]:
    """Yield the table of layers: the attack that gets through without each."""
    # What the tests use: it is not installed.
    from tests.harness.sandbox_mutants import MUTANTS

    levels: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}
    for mutant in MUTANTS:
        levels.setdefault((mutant.layer, mutant.attack, mutant.also), []).append(mutant.level)
    yield (
        "\n## Layers\n\nTwo layers stop some attacks. For these the *second lock* is removed in"
        " both runs: the layer alone stops the attack, and without both it gets through."
        " *Identity* is the change to a user without rights, when root starts engines.\n\n"
        "| layer | level | attack that gets through without it | second lock |\n"
        "|---|---|---|---|\n"
    )
    for (layer, attack, also), found in sorted(levels.items()):
        where = ", ".join(map(str, sorted(found, reverse=True)))
        yield f"| {layer} | {where} | `{attack}` | {' and '.join(also) or '–'} |\n"


# By the name of the page in ``docs/reference``.
PAGES = {
    "commands": commands,
    "assignment-keys": assignment_keys,
    "api": api,
    "formats": formats,
    "python": python,
    "evidence": evidence,
}
