"""Imports lead one way: from upper rooms to lower ones, and never in a circle."""

from pathlib import Path

import pytest

from tests.architecture import (
    LAYERS,
    PACKAGES,
    PURE,
    circle,
    every_import,
    imports,
    impure,
    modules,
    room,
    upward,
)


def test_every_folder_is_a_room_in_one_layer():
    layers = [(package, layer) for package in PACKAGES for layer in LAYERS[package]]
    named = [f"{package}.{name}" for package, layer in layers for name in layer]
    assert sorted(named) == sorted({room(name) for name in modules()})


def test_no_arrow_leads_upward_or_to_the_side():
    assert not upward(every_import())


def test_the_oracle_imports_nothing_of_the_harness():
    assert not [
        one
        for one in every_import()
        if one.importer.startswith("oracle") and one.imported.startswith("harness")
    ]


def test_there_is_no_circle_even_within_a_room():
    graph: dict[str, set[str]] = {}
    for one in every_import():
        if not one.is_named:  # the table of commands names the modules that print it
            graph.setdefault(one.importer, set()).add(one.imported)
    assert not circle(graph)


@pytest.mark.parametrize("pure", PURE)
def test_a_room_that_decides_touches_no_process_clock_or_signal(pure):
    found = {name: impure(path) for name, path in modules().items() if room(name) == pure}
    assert found
    assert {name: names for name, names in found.items() if names} == {}


# --- the reader of imports ---------------------------------------------------------------------

UPPER = '''\
"""Not an import: harness.text.lower."""
from __future__ import annotations

import os
import oracle.vertex
from harness.text import lower
from harness import text as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.color import BLACK

TABLE = {"later": "oracle.grid", "word": "oracle"}

def late(name):
    from harness.records import Step
    return import_module(f"harness.cli.{name}")
'''


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    """Two packages with one module that imports in every way."""
    names = ("oracle/vertex", "oracle/color", "oracle/grid", "harness/text", "harness/records")
    for name in (*names, "oracle/__init__", "harness/cli/__init__", "harness/cli/near"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "harness" / "cli" / "upper.py").write_text(UPPER)
    (tmp_path / "harness" / "cli" / "side.py").write_text(
        "from . import near\nfrom .near import x\n"
    )
    return modules(tmp_path)


def test_every_import_is_seen(small):
    seen = [
        (one.imported, one.line) for one in imports(small) if one.importer == "harness.cli.upper"
    ]
    assert sorted(seen) == [
        ("harness.cli", 17),
        ("harness.records", 16),
        ("harness.text", 6),
        ("harness.text", 7),
        ("oracle.color", 11),
        ("oracle.grid", 13),
        ("oracle.vertex", 5),
    ]


def test_relative_imports_are_seen(small):
    seen = [one.imported for one in imports(small) if one.importer == "harness.cli.side"]
    assert seen == ["harness.cli.near", "harness.cli.near"]


@pytest.mark.parametrize(
    ("path", "text", "wrong"),
    [
        ("harness/text.py", "def late():\n    import harness.cli.near", "harness.cli.near"),
        ("oracle/color.py", "\nif TYPE_CHECKING: from harness import text", "harness.text"),
        ("oracle/sgf/replay.py", "\nREADERS = ['oracle.gtp.go']", "oracle.gtp.go"),
        ("harness/check/one.py", "\nfrom harness.fuzzing import two", "harness.fuzzing.two"),
        ("harness/cli/near.py", "from harness import text\nfrom oracle import vertex", None),
    ],
)
def test_an_arrow_upward_or_to_the_side_is_found(small, tmp_path, path, text, wrong):
    for name in ("oracle/gtp/go", "oracle/sgf/read", "harness/check/one", "harness/fuzzing/two"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / path).write_text(text)
    name = path.removesuffix(".py").replace("/", ".")
    assert upward(imports(modules(tmp_path))) == ([f"{name}:2 imports {wrong}"] if wrong else [])


def test_a_circle_is_found():
    assert circle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}})) == {"b", "c", "d"}
