"""Docstrings are true where that can be told: trees of errors, *Pure.*, and examples."""

import ast
import doctest
import importlib
import re

import pytest

import harness.errors
import oracle.errors
from tests.architecture import modules

MODULES = modules()
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
EXAMPLES = [name for name, path in MODULES.items() if ">>> " in path.read_text(encoding="utf-8")]


# --- the trees of errors -----------------------------------------------------------------------


def drawn(text: str) -> dict[str, str]:
    """Return the parent of each error of a tree, as it is drawn."""
    parents, above = {}, {}
    for line in text.splitlines():
        if found := re.match(r"    ([│ ]*)(?:[├└]── )?(\w+Error\w*|IllegalMove)\b", line):
            depth = (found.start(2) - 4) // 4
            above[depth] = found[2]
            if depth:
                parents[found[2]] = above[depth - 1]
    return parents


def defined(package: str, root: str) -> dict[str, str]:
    """Return the parent of each class of a package that comes from ``root``."""
    bases = {
        node.name: base.id
        for name, tree in TREES.items()
        if name.partition(".")[0] == package
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name)
    }

    def is_below(name: str) -> bool:
        return name == root or (name in bases and is_below(bases[name]))

    return {name: base for name, base in bases.items() if is_below(base)}


@pytest.mark.parametrize(
    ("module", "root"), [(harness.errors, "HarnessError"), (oracle.errors, "OracleError")]
)
def test_every_error_is_in_the_tree(module, root):
    assert drawn(module.__doc__) == defined(module.__name__.partition(".")[0], root)


# --- pure modules ------------------------------------------------------------------------------

# What a module that is called pure does not import or call.
TOUCHES = frozenset(
    ["asyncio", "ctypes", "fcntl", "glob", "multiprocessing", "os", "pexpect", "resource",
     "secrets", "select", "shutil", "signal", "socket", "sqlite3", "subprocess", "tempfile",
     "threading", "time"]
)  # fmt: skip
CALLS = frozenset(
    ["chdir", "exists", "getcwd", "iterdir", "is_dir", "is_file", "mkdir", "now", "open",
     "read_bytes", "read_text", "resolve", "urandom", "write_bytes", "write_text"]
)  # fmt: skip


def called(tree: ast.AST) -> set[str]:
    """Return the names of what is called anywhere within."""
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {getattr(one, "attr", getattr(one, "id", "")) for one in functions}


def imported(tree: ast.AST) -> list[tuple[str, str]]:
    """Return the modules that are imported, with the name taken of each."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(one.name, "") for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", one.name) for one in node.names]
    return found


def impurities(tree: ast.AST) -> set[str]:
    """Return what of a module touches the world: imports, calls, and functions that do."""
    found = {module for module, _ in imported(tree) if module.partition(".")[0] in TOUCHES}
    for module, name in imported(tree):
        for node in TREES[module].body if module in TREES else ():
            if isinstance(node, ast.FunctionDef) and node.name == name and called(node) & CALLS:
                found.add(f"{module}.{name}")
    return found | (called(tree) & CALLS)


def is_pure(name: str) -> bool:
    """Whether a module, or a package that it is in, is called pure."""
    packages = [name.rsplit(".", count)[0] for count in range(name.count(".") + 1)]
    texts = [ast.get_docstring(TREES[one]) or "" for one in packages]
    return any(re.search(r"\bPure\.", text) for text in texts)


PURE = [name for name in TREES if is_pure(name)]


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_touches_nothing(name):
    assert impurities(TREES[name]) == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from random import Random", set()),
        ("import os.path", {"os.path"}),
        ("def one(path):\n    return path.read_text()", {"read_text"}),
        ("from harness.vocabulary.script import Script, lay_files",
         {"harness.vocabulary.script.lay_files"}),
    ],
)  # fmt: skip
def test_what_is_not_pure_is_seen(text, found):
    assert impurities(ast.parse(text)) == found


# --- examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_hold(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed
