"""Docstrings are true where that can be told: trees of errors, references, *Pure.*, examples."""

import ast
import builtins
import contextlib
import copy
import doctest
import functools
import importlib
import re
import sys

import pytest

import harness.errors
import oracle.errors
from tests.architecture import modules

# Trees are made in the tests: every process of a run collects, and few look at them.
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
EXAMPLES = [name for name, text in TEXTS.items() if ">>> " in text]


@functools.cache
def tree_of(name: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(TEXTS[name])


# --- the trees of errors -----------------------------------------------------------------------


def parse_drawn_tree(text: str) -> dict[str, str]:
    """Return the parent of each error of a tree, as it is drawn."""
    parents, above = {}, {}
    for line in text.splitlines():
        if found := re.match(r"    ([│ ]*)(?:[├└]── )?(\w+Error\w*|IllegalMove)\b", line):
            depth = (found.start(2) - 4) // 4
            above[depth] = found[2]
            if depth:
                parents[found[2]] = above[depth - 1]
    return parents


_SUBCLASS = re.compile(r"^ *class \w+\(", re.MULTILINE)  # a tree takes longer


def find_subclasses(package: str, root: str) -> dict[str, str]:
    """Return the parent of each class of a package that comes from ``root``."""
    bases = {
        node.name: base.id
        for name in TEXTS
        if name.partition(".")[0] == package and _SUBCLASS.search(TEXTS[name])
        for node in ast.walk(tree_of(name))
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
    assert parse_drawn_tree(module.__doc__) == find_subclasses(
        module.__name__.partition(".")[0], root
    )


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


def list_calls(tree: ast.AST) -> set[str]:
    """Return the names of what is called anywhere within."""
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {getattr(one, "attr", getattr(one, "id", "")) for one in functions}


def list_imports(tree: ast.AST) -> list[tuple[str, str]]:
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
    found = {module for module, _ in list_imports(tree) if module.partition(".")[0] in TOUCHES}
    for module, name in list_imports(tree):
        for node in tree_of(module).body if module in TEXTS else ():
            if (
                isinstance(node, ast.FunctionDef)
                and node.name == name
                and list_calls(node) & CALLS
            ):
                found.add(f"{module}.{name}")
    return found | (list_calls(tree) & CALLS)


def docstring(name: str) -> str:
    """Return the docstring of a module, which begins its file."""
    found = re.match(r'r?"""(.*?)"""', TEXTS[name], re.DOTALL)
    return found[1] if found else ""


_PURE = re.compile(r"\bPure(?:[.:]|, except ([^.]*))")


def is_pure(name: str) -> bool:
    """Whether a module, or a package that it is in, is called pure."""
    packages = [name.rsplit(".", count)[0] for count in range(name.count(".") + 1)]
    return any(_PURE.search(docstring(one)) for one in packages)


def without_exceptions(tree: ast.Module, text: str) -> ast.Module:
    """Return a module without the functions that its docstring excepts."""
    excepted = [name for one in _PURE.findall(text) for name in re.findall(r"`(\w+)`", one)]

    class Remover(ast.NodeTransformer):
        def visit_FunctionDef(self, node):
            return None if node.name in excepted else self.generic_visit(node)

    return Remover().visit(copy.deepcopy(tree)) if excepted else tree


PURE = [name for name in TEXTS if is_pure(name)]


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_touches_nothing(name):
    assert impurities(without_exceptions(tree_of(name), docstring(name))) == set()


def test_pure_is_said_in_one_of_three_ways():
    """Pure. Pure: why. Pure, except :func:`one`. Any other way would be believed unread."""
    said = {name: re.findall(r"\bPure\b.{0,9}", docstring(name), re.DOTALL) for name in TEXTS}
    assert {
        name: found for name, found in said.items() if found and not _PURE.search(docstring(name))
    } == {}


def test_only_what_a_docstring_excepts_may_touch_the_world():
    tree = ast.parse("def one(path):\n    path.read_text()\ndef two(path):\n    path.is_file()")
    assert impurities(without_exceptions(tree, "Pure.")) == {"read_text", "is_file"}
    assert impurities(without_exceptions(tree, "Pure, except :func:`one`.")) == {"is_file"}


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


# --- references --------------------------------------------------------------------------------

_REFERENCE = re.compile(r":(?:mod|func|class|meth|data|attr):`~?([^`]*)`")
_DEFINED = re.compile(
    r"^ *(?:async )?(?:def|class) (\w+)"
    r"|^ *(?:self\.)?(\w+)(?:: [^=\n]+)?(?: =|$)"
    r"|^ *(\w+): "
    r"|^([A-Z_]+(?:, [A-Z_]+)+) (?==)"  # ONE, TWO = …
    r"|= ([A-Z_]+) =",  # ONE, TWO = ALL = …
    re.MULTILINE,
)
_IMPORTED = re.compile(r"^ *(?:from [\w.]+ )?import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def words_of(pattern: re.Pattern[str], text: str) -> set[str]:
    """Return the names in what a pattern finds."""
    return {
        word for found in pattern.findall(text) for word in re.findall(r"\w+", " ".join(found))
    }


@functools.cache
def defined_in(module: str) -> set[str]:
    """Return the names that a module or something in it defines: without a tree, in a tenth."""
    return words_of(_DEFINED, TEXTS[module])


@functools.cache
def known_in(module: str) -> set[str]:
    """Return the names that a reference in a module may begin with."""
    return defined_in(module) | words_of(_IMPORTED, TEXTS[module]) | set(dir(builtins))


def leads_somewhere(target: str, module: str) -> bool:
    """Whether the target of a reference in a module exists."""
    parts = target.split(".")
    if parts[0] in sys.stdlib_module_names:
        return is_in_library(parts)
    homes = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    if home := next((one for one in homes if one in TEXTS), ""):
        return set(parts[home.count(".") + 1 :]) <= known_in(home)
    return parts[0] in known_in(module)


def is_in_library(parts: list[str]) -> bool:
    """Whether Python's library has a module, or something in it."""
    for count in range(len(parts), 0, -1):
        with contextlib.suppress(ImportError):
            found = importlib.import_module(".".join(parts[:count]))
            for name in parts[count:]:
                found = getattr(found, name, None)
            return found is not None
    return False


def test_every_reference_leads_somewhere():
    found = {
        (name, target)
        for name, text in TEXTS.items()
        for target in _REFERENCE.findall(text)
        if not leads_somewhere(target, name)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("harness.errors.HarnessError", True),
        ("HarnessError", True),
        ("harness.errors", True),
        ("pathlib.Path.glob", True),
        ("ValueError", True),
        ("harness.errors.Nothing", False),
        ("harness.nothing", False),
        ("Nothing", False),
        ("pathlib.Path.nothing", False),
    ],
)  # fmt: skip
def test_a_dead_reference_is_seen(target, leads):
    assert leads_somewhere(target, "harness.errors") is leads


# --- examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_hold(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed
