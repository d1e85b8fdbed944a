"""List the constants, or the defaults, of the modules that decide.

``python -m tests.harness.constant_listing constants`` in a process of its own: what tests have
done to modules before is not in the list.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from tests.mutation.modules import ROOT, deciding

# What these say differs from machine to machine.
MACHINE = {"os", "resource", "select", "signal", "socket", "stat", "sys"}
LONGEST = 900  # characters; a longer table is tested by what it does


def list_constants() -> Iterator[str]:
    for path, module in modules():
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
            for name in set(assigned(node)) - {"TYPE_CHECKING"}:
                found = shown(getattr(module, name, None))
                if found and len(found) <= LONGEST:
                    yield f"{path} {name} = {found}\n"


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


def shown(value: object) -> str:
    """Return a value as text; "" if it has no text that is alike each time."""
    if isinstance(value, dict):
        return shown_pairs(value)
    if isinstance(value, set | frozenset):
        return shown(sorted(value, key=shown))
    if type(value) in (tuple, list):
        parts = [shown(one) for one in value]  # type: ignore[attr-defined]
        return f"({', '.join(parts)})" if all(parts) else ""
    if isinstance(value, re.Pattern):
        return f"{value.pattern!r} {value.flags}"
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__qualname__
    is_plain = value is None or isinstance(value, bool | int | float | str | bytes | range | slice)
    return repr(value) if is_plain or isinstance(value, tuple) else ""


def shown_pairs(value: dict[object, object]) -> str:
    pairs = [(shown(key), shown(one)) for key, one in value.items()]
    texts = [f"{key}: {one}" for key, one in pairs if key and one]
    return f"{{{', '.join(texts)}}}" if len(texts) == len(pairs) else ""


def list_defaults() -> Iterator[str]:
    for path, module in modules():
        for name, one in owned(module, module.__name__):
            for parameter in inspect.signature(one).parameters.values():
                if parameter.default is not parameter.empty:
                    yield f"{path} {name}({parameter.name}={described(parameter.default)})\n"


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


def described(default: object) -> str:
    return shown(default) or f"a {type(default).__name__}"


if __name__ == "__main__":
    listing = {"constants": list_constants, "defaults": list_defaults}[sys.argv[1]]
    sys.stdout.write("".join(sorted(listing())))
