"""Docstrings are true where that can be told: trees of errors, references, examples."""

import builtins
import contextlib
import doctest
import functools
import importlib
import re
import sys

import pytest

import harness.core.errors
import oracle.errors
from tests.architecture import modules

TEXTS = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
EXAMPLES = [name for name, text in TEXTS.items() if ">>> " in text]


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


_SUBCLASS = re.compile(r"^ *class (\w+)\((\w+)\b", re.MULTILINE)


def find_subclasses(package: str, root: str) -> dict[str, str]:
    """Return the parent of each class of a package that comes from ``root``."""
    texts = [text for name, text in TEXTS.items() if name.partition(".")[0] == package]
    bases = dict(one for text in texts for one in _SUBCLASS.findall(text))

    def is_below(name: str) -> bool:
        return name == root or (name in bases and is_below(bases[name]))

    return {name: base for name, base in bases.items() if is_below(base)}


@pytest.mark.parametrize(
    ("module", "root"), [(harness.core.errors, "HarnessError"), (oracle.errors, "OracleError")]
)
def test_every_error_is_in_the_tree(module, root):
    assert parse_drawn_tree(module.__doc__) == find_subclasses(
        module.__name__.partition(".")[0], root
    )


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


def test_a_dead_reference_is_seen():
    leads = "harness.core.errors.HarnessError HarnessError pathlib.Path.glob ValueError"
    dead = "harness.core.errors.Nothing harness.nothing Nothing pathlib.Path.nothing"
    for targets, are_there in ((leads, True), (dead, False)):
        for target in targets.split():
            assert leads_somewhere(target, "harness.core.errors") is are_there, target


# --- examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_hold(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed
