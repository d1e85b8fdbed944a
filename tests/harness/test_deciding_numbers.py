"""Numbers that decide, and what holds where nobody says anything: a change must be meant.

A limit that is a little larger, or a default that is another one, breaks nothing at once. So the
golden files hold each constant that has a number in it, and each default, of the modules that
decide marks, verdicts and sandboxes.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from tests import golden
from tests.mutation.modules import ROOT, deciding

GOLDEN = Path(__file__).with_name("golden")
# What these say differs from machine to machine.
MACHINE = {"os", "resource", "select", "signal", "socket", "stat", "sys"}
LONGEST = 600  # characters; a longer table is tested by what it does


def test_numbers_that_decide():
    golden.check(GOLDEN / "deciding-numbers.txt", "".join(sorted(list_constants())))


def test_what_holds_where_nothing_is_said():
    golden.check(GOLDEN / "deciding-defaults.txt", "".join(sorted(list_defaults())))


def list_constants() -> Iterator[str]:
    for path, module in modules():
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
            for name in assigned(node):
                value = getattr(module, name, None)
                line = f"{path} {name} = {value!r}\n"
                if is_plain(value) and has_number(value) and len(line) <= LONGEST:
                    yield line


def modules() -> Iterator[tuple[str, ModuleType]]:
    for path in deciding():
        if not path.endswith("__main__.py"):
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            yield path, importlib.import_module(name)


def assigned(node: ast.stmt) -> list[str]:
    """Return the names that a statement gives values that are alike on all machines."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    value = getattr(node, "value", None)
    if value is None or MACHINE & {one.id for one in names_in(value)}:
        return []
    return [one.id for target in targets for one in names_in(target)]


def names_in(node: ast.AST) -> list[ast.Name]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Name)]


def is_plain(value: object) -> bool:
    if type(value) is dict:
        return all(is_plain(one) for pair in value.items() for one in pair)
    if type(value) in (tuple, list):
        return all(map(is_plain, value))  # type: ignore[call-overload]
    return value is None or type(value) in (bool, int, float, str, bytes, range, slice)


def has_number(value: object) -> bool:
    if isinstance(value, dict):
        return any(has_number(one) for pair in value.items() for one in pair)
    if isinstance(value, tuple | list):
        return any(map(has_number, value))
    return type(value) in (int, float, range, slice)


def list_defaults() -> Iterator[str]:
    for path, module in modules():
        for name, one in owned(module, module.__name__):
            for parameter in inspect.signature(one).parameters.values():
                if parameter.default is not parameter.empty:
                    yield f"{path} {name}({parameter.name}={shown(parameter.default)})\n"


def owned(place: Any, module: str) -> Iterator[tuple[str, Any]]:
    """Yield the functions and records of a module, those within its classes too."""
    for one in list(vars(place).values()):
        found = inspect.unwrap(getattr(one, "__func__", one)) if callable(one) else one
        if getattr(found, "__module__", None) != module:
            continue
        if inspect.isfunction(found):
            yield found.__qualname__, found
        elif inspect.isclass(found):
            if hasattr(found, "_fields"):
                yield found.__qualname__, found.__new__
            yield from owned(found, module)


def shown(default: object) -> str:
    if is_plain(default) or isinstance(default, tuple):
        return repr(default)
    return getattr(default, "__name__", f"a {type(default).__name__}")
