"""Which files of tests reach a module: the nearest by imports."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

from tests import architecture
from tests.mutation.modules import ROOT

_ENOUGH = 3  # files; then no farther ones are looked for
_MOST = 10


def files(module: str) -> list[str]:
    """Return the files of tests that import a module, or what imports it, by path; nearest first.

    ``module``: by path. One that is loaded by its name alone has the tests of its folder.
    """
    beside = (str(one.relative_to(ROOT)) for one in sorted((ROOT / module).parent.glob("*.py")))
    return _nearest(module) or list({one: 0 for near in beside for one in _nearest(near)})[:_MOST]


def _nearest(module: str) -> list[str]:
    """Return the nearest files; of equally near ones those come first that are named like it."""
    name = _name(Path(module))
    seen, ring, found = {name}, {name}, []
    while ring and len(found) < _ENOUGH:
        ring = {one for near in ring for one in _importers()[near]} - seen
        seen |= ring
        stem = name.rpartition(".")[2]
        tests = [one for one in ring if one.rpartition(".")[2].startswith("test_")]
        found += sorted(tests, key=lambda one: (stem not in one, one))
    return [f"{one.replace('.', '/')}.py" for one in found[:_MOST]]


@cache
def _importers() -> dict[str, set[str]]:
    """Return which modules import each one, tests among them."""
    known = architecture.modules()
    known |= {_name(path.relative_to(ROOT)): path for path in (ROOT / "tests").rglob("*.py")}
    found: dict[str, set[str]] = defaultdict(set)
    for one in architecture.imports(known):
        found[one.imported].add(one.importer)
    return found


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
