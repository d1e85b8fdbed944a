"""The rooms of the two packages and what they import, read from the code.

A room is a folder of ``oracle``, ``harness``, ``harness/grading`` or ``harness/service``, or a
module beside these folders that :data:`LAYERS` names; all other modules there are on the ground of
their package.

Every import counts: within functions and under ``TYPE_CHECKING`` too, for a reader follows them
just as well; and so does a string that is the name of a module, which is imported later.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = ("oracle", "harness")
GROUND = "ground"

# From top to bottom. A room imports from those in lower lines, and from none beside it.
LAYERS = {
    "harness": (
        ("pytest_plugin",),
        ("cli",),
        ("service.serving",),
        ("service.keeper",),
        ("service.app",),
        ("service.lti",),
        ("service.pages", "service.api"),
        ("service.operations",),
        ("service.web",),
        ("service.jobs",),
        ("service.courses",),
        ("service.people",),
        ("service.machines",),
        ("service.processes",),
        ("service.storage",),
        ("service.monitoring",),
        ("service.settings", "service.records", "service.local_times"),
        ("cluster",),
        ("client",),
        ("grading.exports", "grading.grade"),
        (
            "grading.marks",
            "grading.similarity",
            "grading.auditing",
            "grading.banking",
            "grading.tournament",
        ),
        ("grading.attempts",),
        ("grading.ingest",),
        ("grading.ledger",),
        ("grading.records", "check", "verifying", "fuzzing", "history", "work"),
        ("assignments",),
        ("generating", "match"),
        ("report", "environments", "declared"),
        ("banks",),
        ("judging", "adapters", "archives"),
        ("running",),
        ("specifications",),
        ("vocabulary", "sandbox"),
        ("engine",),
        ("reading",),
        ("core",),
        (GROUND,),
    ),
    "oracle": (
        ("__main__",),
        ("cli",),
        ("commands",),
        ("mistakes", "readings"),
        ("assignments", "formats"),
        ("gtp",),
        ("sgf",),
        ("boards",),
        ("games", "montecarlo"),
        ("answers", "batch", "batch_gomoku"),
        ("rules",),
        (GROUND,),
    ),
}

# Rooms that decide: none of their modules imports what touches processes, clocks or signals.
PURE = (
    *("oracle.answers", "oracle.batch", "oracle.batch_gomoku", "oracle.games", "oracle.rules"),
    *("oracle.sgf", "harness.grading.marks", "harness.judging", "harness.specifications"),
)
IMPURE = frozenset(
    {"asyncio", "ctypes", "fcntl", "glob", "multiprocessing", "os", "pexpect", "resource"}
    | {"secrets", "select", "shutil", "signal", "socket", "sqlite3", "subprocess", "tempfile"}
    | {"threading", "time"}
)

_DIVIDED = (["grading"], ["service"])  # folders that are several rooms


class Import(NamedTuple):
    """One import: who, of what, and in which line."""

    importer: str
    imported: str
    line: int
    is_named: bool = False  # by a string, and loaded when it is needed


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Return the modules of both packages by name."""
    paths = [path for name in PACKAGES for path in sorted((root / name).rglob("*.py"))]
    return {_name(path.relative_to(root)): path for path in paths}


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(found: dict[str, Path]) -> list[Import]:
    """Return every import of one of the modules by another."""
    return [
        one
        for name, path in found.items()
        for one in _imports(name, path, found)
        if one.imported != name
    ]


@cache
def every_import() -> list[Import]:
    """Return every import of a module of both packages by another."""
    return imports(modules())


_NAMED = re.compile(r"""["']((?:oracle|harness)(?:\.\w+)+)\.?["'{]""")


def _imports(name: str, path: Path, known: Iterable[str]) -> Iterator[Import]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    text = path.read_text(encoding="utf-8")
    for node in statements(ast.parse(text).body):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name in known]
        elif isinstance(node, ast.ImportFrom):
            names = [*_from(node, package, known)]
        else:
            continue
        for one in names:
            yield Import(name, one, node.lineno)
    for found in _NAMED.finditer(text):
        if found[1] in known:
            yield Import(name, found[1], text.count("\n", 0, found.start()) + 1, True)


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements, and those within them: a tenth of a tree's nodes."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, part, ()))


def _from(node: ast.ImportFrom, package: str, known: Iterable[str]) -> Iterator[str]:
    """Yield the modules of a ``from … import …``: what is no module is in the one before it.

    A public name of a package is in the module where it lives.
    """
    base = node.module or ""
    if node.level:
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) + 1 - node.level], *base.split(".")]).rstrip(".")
    homes = import_module(base)._HOMES if base in PACKAGES else {}
    for alias in node.names:
        home = homes.get(alias.name, alias.name).partition(":")[0]
        whole = f"{base}.{home}"
        if whole in known or base in known:
            yield whole if whole in known else base


# --- rooms -------------------------------------------------------------------------------------


def room(module: str, root: Path = ROOT) -> str:
    """Return the room of a module, such as ``harness.grading.marks`` or ``oracle.ground``."""
    package, *parts = module.split(".")
    depth = 2 if parts[:1] in _DIVIDED else 1
    name = ".".join(parts[:depth])
    is_named = any(name in layer for layer in LAYERS[package])
    is_folder = (
        (root / package / Path(*parts[:depth])).is_dir() and [name] not in _DIVIDED and name
    )
    return f"{package}.{name if is_named or is_folder else GROUND}"


def height(name: str) -> int:
    """Return how high a room lies; all of the oracle lies below the harness."""
    package, _, short = name.partition(".")
    below = 0 if package == "oracle" else len(LAYERS["oracle"])
    layers = LAYERS[package]
    return below + next(len(layers) - i for i, layer in enumerate(layers) if short in layer)


def upward(found: Iterable[Import]) -> list[str]:
    """Return the imports that do not lead to a lower room or stay in one, with their places."""
    return [
        f"{one.importer}:{one.line} imports {one.imported}"
        for one in found
        for importer, imported in [(room(one.importer), room(one.imported))]
        if importer != imported and height(importer) <= height(imported)
    ]


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return a way from one node back to itself; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def impure(path: Path) -> set[str]:
    """Return the modules of Python's library that a file imports and a pure room does not."""
    names = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            names.update(one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names & IMPURE
