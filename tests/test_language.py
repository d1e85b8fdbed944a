"""One word for one thing and one thing for a name: the glossary, sentences, classes, modules."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.architecture import modules
from tests.documents import DOCUMENTS, ROOT, blocks, prose, read

GLOSSARY = ROOT / "docs" / "glossary.md"
MODULES = modules()
END = "\n\0\n"  # between two texts
# What is not prose: code, and values in quotation marks.
_CODE = re.compile(r"``[^`]*``|:\w+:`[^`]*`|`[^`]*`|\"[^\"\n]{1,60}\"")

# How often the words of the last column stand in messages: names in JSON and in the audit log.
MESSAGES = {"processor time": 2, "patience": 5, "handed in": 1, "course's own": 1, "time-out": 1}
# How often a sentence still is of a kind that nobody would say, anywhere. They may only fall.
# Docstrings count twice: as prose and as literals.
SENTENCES = {
    r"\bwho (?:is|was|has)\b": 37,
    r"\bwhat (?:is|was) \w+(?: \w+)? of\b": 6,
    r"\bof (?:which|whom)\b": 4,
    r"\bbut for\b": 0,
    r"\b(?:None|empty|0): (?:it|there|they|that|nobody|nothing)\b": 1,
    r"\bnone of\b": 57,
    r"(?<!there )(?<!of which )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b)\w": 5,
    r"\b(?:what|how) came of\b": 0,
    r"\b(?:it|that|they) (?:is|are) none\b(?! of)": 0,
    r"\bwhoever\b": 2,
}

# Rejected words that are right for something else, such as the image of a container and the sheet
# of a platform: how often they stand anywhere. They may only fall.
AMBIGUOUS = {
    r"\bimages?\b": 85,
    r"\bbox(?:es|ed)?\b": 247,
    r"\bdied\b": 52,
    r"\bsheets?\b": 83,
    r"\bsuspicion\b": 3,
    r"\bbasis\b": 22,
}

# Modules that may share a name, and why. An entry that is needed no longer fails.
SHARED = {
    "__init__": "Python's name for a package",
    "__main__": "Python's name for a program",
    "errors": "the tree of errors of a package",
    "records": "the immutable records of a package",
    "features": "one for each specification, and what they share",
    "conversations": "one for each specification, and what they share",
    "env": "Alembic's name, and a command",
    "version_3": "a step of a database, by its number",
    "go": "all that is about Go, one for each layer of the oracle",
    "gomoku": "all that is about Gomoku, one for each layer of the oracle",
    "go_scoring": "all that is about this assignment, one for each layer of the oracle",
    "gomoku_rules": "all that is about this assignment, one for each layer of the oracle",
    "gomoku_policy": "all that is about this assignment, one for each layer of the oracle",
    "gosensei": "all that is about this assignment, one for each layer",
    "java_go": "all that is about this assignment, one for each layer",
    "canvas": "all that is about this platform",
    "moodle": "all that is about this platform",
    "junit": "all that is about this format",
}


class Said(NamedTuple):
    """What is looked for in a module, without the code; its tree is not kept."""

    classes: list[str]  # names
    functions: list[str]  # names of several words
    prose: list[str]  # docstrings and comments, without the code in them
    literals: list[str]  # help texts, messages and docstrings


@cache
def read_said(path: Path) -> Said:
    """Read a module: once, for that takes longer than all else here."""
    text = read(path)
    nodes = [*ast.walk(ast.parse(text))]
    told = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, told)]
    return Said(
        [node.name for node in nodes if isinstance(node, ast.ClassDef)],
        [one.name for one in nodes if isinstance(one, ast.FunctionDef) and "_" in one.name[1:-1]],
        [_CODE.sub("x", one) for one in [*docstrings, *comments(text)]],
        [
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        ],
    )


# As ``tokenize`` finds them, in a tenth of its time: what begins within a string is none.
_STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}(?:\\.|[^\\])*?\'{3}'''
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(#[^\n]*)""",
    re.DOTALL,
)


def comments(text: str) -> list[str]:
    """Return the comments of a module."""
    return [found[1] for found in _STRING_OR_COMMENT.finditer(text) if found[1]]


@cache
def classes() -> list[tuple[str, str]]:
    """Return the name of each class and its module."""
    return [(name, module) for module, path in MODULES.items() for name in read_said(path).classes]


def find_shared(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the names that are given several times, and the places of each."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, place in names:
        places[name].append(place)
    return {name: sorted(found) for name, found in places.items() if len(found) > 1}


def subjects() -> Iterator[tuple[str, str]]:
    """Yield the name of each module and where it is, its package or the place of its subject.

    A command is named like what it calls, and the service like its subject in each layer: storage,
    rules, pages, API.
    """
    for module in MODULES:
        package, _, name = module.rpartition(".")
        if package in {"harness.cli", "oracle.commands"}:
            continue
        yield name, "harness.service" if package.startswith("harness.service") else module


def test_no_class_name_stands_for_two_things():
    """Nor do two that differ in a leading underscore, or two in one module."""
    assert not find_shared((name.lstrip("_"), module) for name, module in classes())


def test_no_module_name_stands_for_two_things():
    found = find_shared(set(subjects()))
    packages = {path.parent.name for path in MODULES.values() if path.name == "__init__.py"}
    assert {
        name: places for name, places in found.items() if name not in {*SHARED, *packages}
    } == {}


def test_no_shared_name_is_listed_that_is_shared_no_longer():
    files = defaultdict(list)
    for path in MODULES.values():
        files[path.stem].append(path)
    assert [name for name in SHARED if len(files[name]) < 2] == []


def test_a_shared_name_is_found():
    assert find_shared(
        [("Row", "a"), ("Row", "b"), ("Column", "a"), ("Cell", "a"), ("Cell", "a")]
    ) == {
        "Row": ["a", "b"],
        "Cell": ["a", "a"],
    }


# --- the glossary ------------------------------------------------------------------------------


def rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the terms of a glossary with the words that are not to be said for them."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[0] != "term" and not cells[0].startswith("---"):
            yield cells[0], [word.strip() for word in cells[2].split(",") if word.strip()]


TERMS = dict(rows(read(GLOSSARY)))
TWINS = sorted(word for words in TERMS.values() for word in words)


def matches(word: str, text: str) -> list[str]:
    """Return where words stand, with a bit of text around; line ends count as blanks."""
    pattern = re.compile(rf"\b{word}\b".replace(" ", r"\s+"), re.IGNORECASE)
    return [text[max(0, one.start() - 40) : one.end() + 20] for one in pattern.finditer(text)]


def documents() -> list[str]:
    """Return the prose of all documents but the glossary, without code."""
    return [_CODE.sub("x", prose(path)) for path in DOCUMENTS if path != GLOSSARY]


@cache
def sources() -> tuple[list[str], list[str]]:
    """Return all docstrings and comments, and all string literals."""
    named = [path for name, path in MODULES.items() if not name.startswith("oracle.mistakes")]
    return [one for path in named for one in read_said(path).prose], [
        one for path in MODULES.values() for one in read_said(path).literals
    ]


@cache
def prosaic() -> str:
    """Return documents, docstrings and comments; those of mistakes are data."""
    return END.join([*documents(), *sources()[0]])


@cache
def literal() -> str:
    """Return what users read: the string literals of all modules, helps, templates, scripts."""
    served = ROOT / "harness" / "service" / "web"
    files = sorted([*served.glob("templates/*.html"), *served.glob("static/[!h]*.js")])
    helps = blocks(read(ROOT / "docs" / "reference" / "commands.md"), "text")
    return END.join([*sources()[1], *helps, *map(read, files)])


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used(term):
    words = rf"\b{term.partition(', ')[0]}(?:s|es)?\b".replace(" ", r"\s+")
    assert re.search(words, prosaic(), re.IGNORECASE)


@pytest.mark.parametrize("twin", TWINS)
def test_a_rejected_twin_is_not_used(twin):
    assert matches(twin, prosaic()) == []


@pytest.mark.parametrize("twin", TWINS)
def test_a_rejected_twin_is_not_said(twin):
    assert len(matches(twin, literal())) <= MESSAGES.get(twin, 0)


@pytest.mark.parametrize("twin", TWINS)
def test_no_name_is_a_rejected_twin(twin):
    joined = twin.replace(" ", "").lower()
    names = {name.replace("_", "").lower() for name, _ in classes()}
    names |= {module.rpartition(".")[2].replace("_", "").lower() for module in MODULES}
    assert joined not in names


@pytest.mark.parametrize("pattern", SENTENCES)
def test_a_sentence_that_nobody_would_say(pattern):
    found = re.findall(pattern, prosaic() + literal(), re.IGNORECASE)
    assert len(found) <= SENTENCES[pattern]


@pytest.mark.parametrize("pattern", AMBIGUOUS)
def test_a_word_with_two_meanings_gets_rarer(pattern):
    assert len(re.findall(pattern, prosaic() + literal(), re.IGNORECASE)) <= AMBIGUOUS[pattern]


def named_in(path: Path) -> list[str]:
    """Return the functions of a module that stand in its messages, as a careless rename leaves."""
    found = read_said(path)
    names = {name for name in found.functions if not name.startswith("_")}
    texts = (_CODE.sub("x", one) for one in found.literals if one.count(" ") > 2)
    return sorted(names & {word for text in texts for word in re.findall(r"\w+_\w+", text)})


def test_no_message_has_the_name_of_a_function():
    """But in the oracle's engines, whose commands are functions."""
    found = {name: named_in(path) for name, path in MODULES.items() if "oracle.gtp" not in name}
    assert {name: words for name, words in found.items() if words} == {}


def test_a_function_in_a_message_is_seen(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text('def make_it():\n    return "it was make_it by another version"')
    assert named_in(planted) == ["make_it"]


def test_comments_are_those_that_python_finds():
    for path in [Path(__file__), *MODULES.values()][::10]:
        tokens = tokenize.generate_tokens(io.StringIO(read(path)).readline)
        assert comments(read(path)) == [
            token.string for token in tokens if token.type == tokenize.COMMENT
        ]


PLANTED = '''\
"""Counts processor
time; ``patience`` is a name."""
LEARNT = 1  # by no means learnt by heart
'''


def test_planted_twins_are_found(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text(PLANTED)
    found = {twin for twin in TWINS if matches(twin, END.join(read_said(planted).prose))}
    assert found == {"processor time", "learnt by heart"}
    assert matches("processor time", END.join(read_said(planted).literals))
    table = "| term | meaning | do not say |\n|---|---|---|\n| a | b | c, d e |\n| f | g | |\n"
    assert dict(rows(table)) == {"a": ["c", "d e"], "f": []}
