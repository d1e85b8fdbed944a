"""Mutants of a program in Python: each with a single small change, drawn by a seed.

They compare sets of tests, and show where a declaration has gaps. How many of them a set tells
from the program says nothing of its worth: many are equivalent to it, and many only die or hang.
"""

import ast
import contextlib
import copy
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness import file_system
from harness.banks.banks import WrongEngine
from harness.engine.launch import as_typed, split_program
from harness.errors import UsageError

_LONGEST = 60  # characters of code in a sentence

_COMPARED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COUNTED: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_Change = Callable[[ast.AST], None]


class Mutant(NamedTuple):
    """A program with one change."""

    name: str  # the same for the same change, whatever else is drawn
    sentence: str  # what was changed, and where: for a teacher, who knows the program
    file: str
    source: str


class _Site(NamedTuple):
    """Something that can be changed."""

    file: str
    number: int  # of the node in the walk through its tree
    kind: int  # of the changes of that node
    line: int


def mutants(files: Mapping[str, str], count: int, seed: int) -> list[Mutant]:
    """Return some mutants of a program, in the order of its lines.

    ``files``: the text of its files by name. There are fewer where there is little to change.
    A file that is not Python gives none.
    """
    trees = {name: tree for name, text in sorted(files.items()) if (tree := _parse(text))}
    sites = [site for name, tree in trees.items() for site in _sites(name, tree)]
    Random(seed).shuffle(sites)
    found: dict[str, Mutant] = {}
    written = {name: ast.unparse(tree) for name, tree in trees.items()}
    for site in sites:
        if len(found) == count:
            break
        source = _apply(trees[site.file], site)
        if source != written[site.file]:
            sentence = f"{site.file}:{site.line}: {_describe(written[site.file], source)}"
            found.setdefault(_name(site), Mutant(_name(site), sentence, site.file, source))
    order = {_name(one): (one.file, one.line, one.number, one.kind) for one in sites}
    return sorted(found.values(), key=lambda one: order[one.name])


def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _sites(name: str, tree: ast.Module) -> Iterator[_Site]:
    for number, node in enumerate(ast.walk(tree)):
        for kind, _ in enumerate(_changes(node)):
            yield _Site(name, number, kind, getattr(node, "lineno", 0))


def _name(site: _Site) -> str:
    digest = sha256(repr(site[:3]).encode()).hexdigest()[:6]
    return f"line-{site.line}-{digest}"


def _apply(tree: ast.Module, site: _Site) -> str:
    """Return the source of the program with the change of a site."""
    changed = copy.deepcopy(tree)
    node = list(ast.walk(changed))[site.number]
    _changes(node)[site.kind](node)
    return ast.unparse(ast.fix_missing_locations(changed))


def _describe(before: str, after: str) -> str:
    """Return the first line that differs, as it is and as it was."""
    lines = zip_longest(before.splitlines(), after.splitlines(), fillvalue="")
    one, other = next(pair for pair in lines if pair[0] != pair[1])
    return f"{_short(other)} for {_short(one)}"


def _short(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# --- changes -----------------------------------------------------------------------------------


def _changes(node: ast.AST) -> Sequence[_Change]:
    """Return what can be done to a node; each changes it in place."""
    for kind, changes in _CHANGES.items():
        if isinstance(node, kind):
            return changes(node)
    return []


def _compare(place: int) -> _Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Compare)
        node.ops[place] = _COMPARED[type(node.ops[place])]()

    return change


def _other_word(node: ast.AST) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _without(place: int) -> _Change:
    """Forget one of several conditions: the commonest of mistakes."""

    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.BoolOp)
        del node.values[place]

    return change


def _count(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp | ast.AugAssign)
    node.op = _COUNTED[type(node.op)]()


def _twice_not(node: ast.AST) -> None:
    assert isinstance(node, ast.UnaryOp)
    node.operand = ast.UnaryOp(ast.Not(), node.operand)


def _constant(node: ast.AST) -> list[_Change]:
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, bool):
        return [_make_setter(not node.value)]
    if isinstance(node.value, int):
        return [_make_setter(node.value + 1), _make_setter(node.value - 1)]
    return []


def _make_setter(value: object) -> _Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Constant)
        node.value = value  # type: ignore[assignment]

    return change


def _negate(node: ast.AST) -> None:
    assert isinstance(node, ast.If | ast.While)
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _can_go(node: ast.stmt) -> bool:
    """Whether a statement can be forgotten, and the program be one still."""
    return isinstance(node, ast.Expr | ast.AugAssign | ast.If | ast.Return) and not (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _make_dropper(place: int) -> _Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.FunctionDef | ast.For | ast.With)
        node.body[place] = ast.Pass()

    return change


def _comparisons(node: ast.AST) -> list[_Change]:
    assert isinstance(node, ast.Compare)
    return [_compare(place) for place, one in enumerate(node.ops) if type(one) in _COMPARED]


def _conditions(node: ast.AST) -> list[_Change]:
    assert isinstance(node, ast.BoolOp)
    return [_other_word, *(_without(place) for place in range(len(node.values)))]


def _counts(node: ast.AST) -> list[_Change]:
    assert isinstance(node, ast.BinOp | ast.AugAssign)
    return [_count] if type(node.op) in _COUNTED else []


def _negations(node: ast.AST) -> list[_Change]:
    assert isinstance(node, ast.UnaryOp)
    return [_twice_not] if isinstance(node.op, ast.Not) else []


def _statements(node: ast.AST) -> list[_Change]:
    assert isinstance(node, ast.FunctionDef | ast.For | ast.With)
    return [_make_dropper(place) for place, one in enumerate(node.body) if _can_go(one)]


# By the type of a node, what can be done to one.
_CHANGES: Mapping[type[ast.AST], Callable[[ast.AST], Sequence[_Change]]] = {
    ast.Compare: _comparisons,
    ast.BoolOp: _conditions,
    ast.BinOp: _counts,
    ast.AugAssign: _counts,
    ast.UnaryOp: _negations,
    ast.Constant: _constant,
    ast.If: lambda node: [_negate],
    ast.While: lambda node: [_negate],
    ast.FunctionDef: _statements,
    ast.For: _statements,
    ast.With: _statements,
}


# --- Mutants of a reference as engines: each in a copy of the reference's folder with one change -


_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.gtp", "*.tst")


def mutant_engines(command: str, count: int, seed: int, room: Path) -> list[WrongEngine]:
    """Return mutants of a program, each in a folder of its own in ``room``.

    ``command``: as typed in a shell; it names a file of Python.

    Raises:
        UsageError: it names none.
    """
    words = as_typed(split_program(command))
    place = next(
        (n for n, word in enumerate(words) if (word.endswith(".py") and Path(word).is_file())),
        None,
    )
    if place is None:
        raise UsageError(f"mutants are made of a program in Python, and {command!r} names none")
    program = Path(words[place])
    found = mutants(_own_files(program), count, seed)
    return [_engine(one, words, place, room) for one in found]


def _own_files(program: Path) -> dict[str, str]:
    """Return a program and what it imports of its own folder, by name."""
    found: dict[str, str] = {}
    waiting = [program.name]
    while waiting:
        name = waiting.pop()
        path = program.parent / name
        if name not in found and path.is_file():
            found[name] = path.read_text(encoding="utf-8", errors="surrogateescape")
            waiting += [f"{one}.py" for one in _find_imported_modules(found[name])]
    return found


def _find_imported_modules(text: str) -> Iterator[str]:
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from (alias.name.replace(".", "/") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.replace(".", "/")


def _engine(one: Mutant, words: list[str], place: int, room: Path) -> WrongEngine:
    program = Path(words[place])
    folder = room / one.name
    shutil.copytree(program.parent, folder, ignore=_NOT_COPIED)
    (folder / one.file).write_text(one.source, encoding="utf-8", errors="surrogateescape")
    file_system.open_all(folder)  # an engine of root is another user
    changed = [*words[:place], str(folder / program.name), *words[place + 1 :]]
    return WrongEngine(one.name, one.sentence, shlex.join(changed), str(folder))
