"""Mutants of a program in Python: each with a single small change, drawn by a seed.

They compare sets of tests, and show where a declaration has gaps. How many of them a set tells
from the program says nothing of its worth: many are equivalent to it, and many only die or hang.
"""

import ast
import copy
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.banks.banks import WrongEngine
from harness.core import file_system
from harness.core.errors import UsageError
from harness.engine.launch import as_typed, split_program

_LONGEST = 60  # characters of code in a sentence

_COMPARISONS: tuple[tuple[type[ast.cmpop], type[ast.cmpop]], ...] = (
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
)  # fmt: skip
_COMPARED = {one: other for pair in _COMPARISONS for one, other in (pair, pair[::-1])}
_COUNTED: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


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
    sites = [
        _Site(name, number, kind, getattr(node, "lineno", 0))
        for name, tree in trees.items()
        for number, node in enumerate(ast.walk(tree))
        for kind, _ in enumerate(_changes(node))
    ]
    Random(seed).shuffle(sites)
    found: dict[str, Mutant] = {}
    written = {name: ast.unparse(tree) for name, tree in trees.items()}
    for site in sites:
        if len(found) == count:
            break
        changed = copy.deepcopy(trees[site.file])
        node = list(ast.walk(changed))[site.number]
        _changes(node)[site.kind]()
        source = ast.unparse(ast.fix_missing_locations(changed))
        if source != written[site.file]:
            before, after = written[site.file].splitlines(), source.splitlines()
            lines = zip_longest(before, after, fillvalue="")
            one, other = next(pair for pair in lines if pair[0] != pair[1])
            sentence = f"{site.file}:{site.line}: {_short(other)} for {_short(one)}"
            found.setdefault(_name(site), Mutant(_name(site), sentence, site.file, source))
    order = {_name(one): (one.file, one.line, one.number, one.kind) for one in sites}
    return sorted(found.values(), key=lambda one: order[one.name])


def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: it is too deep
        return None


def _name(site: _Site) -> str:
    digest = sha256(repr(site[:3]).encode()).hexdigest()[:6]
    return f"line-{site.line}-{digest}"


def _short(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# --- changes -----------------------------------------------------------------------------------


def _changes(node: ast.AST) -> list[Callable[[], None]]:
    """Return what can be done to a node; each changes it in place."""
    found: list[Callable[[], None]] = []
    match node:
        case ast.Compare(ops=ops):
            places = [place for place, one in enumerate(ops) if type(one) in _COMPARED]
            found = [partial(ops.__setitem__, n, _COMPARED[type(ops[n])]()) for n in places]
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            # To forget one of several conditions is the commonest of mistakes.
            forget = [partial(values.__delitem__, place) for place in range(len(values))]
            found = [partial(setattr, node, "op", other), *forget]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _COUNTED:
            found = [partial(setattr, node, "op", _COUNTED[type(op)]())]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = [partial(setattr, node, "operand", ast.UnaryOp(ast.Not(), operand))]
        case ast.Constant(value=bool(value)):
            found = [partial(setattr, node, "value", not value)]
        case ast.Constant(value=int(value)):
            found = [partial(setattr, node, "value", other) for other in (value + 1, value - 1)]
        case ast.If(test=test) | ast.While(test=test):
            found = [partial(setattr, node, "test", ast.UnaryOp(ast.Not(), test))]
        case ast.FunctionDef(body=body) | ast.For(body=body) | ast.With(body=body):
            places = [place for place, one in enumerate(body) if _can_go(one)]
            found = [partial(body.__setitem__, place, ast.Pass()) for place in places]
    return found


def _can_go(node: ast.stmt) -> bool:
    """Whether a statement can be forgotten, and the program be one still."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Expr | ast.AugAssign | ast.If | ast.Return) and not is_text


# --- Mutants of a reference as engines: each in a copy of the reference's folder with one change -


_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.gtp", "*.tst")


def mutant_engines(command: str, count: int, seed: int, room: Path) -> list[WrongEngine]:
    """Return mutants of a program, each in a folder of its own in ``room``.

    ``command``: as typed in a shell; it names a file of Python.

    Raises:
        UsageError: it names none.
    """
    words = as_typed(split_program(command))
    named = (n for n, word in enumerate(words) if word.endswith(".py") and Path(word).is_file())
    place = next(named, None)
    if place is None:
        raise UsageError(f"mutants are made of a program in Python, and {command!r} names none")
    program = Path(words[place])
    files: dict[str, str] = {}  # the program, and what it imports of its own folder
    waiting = [program.name]
    while waiting:
        name = waiting.pop()
        path = program.parent / name
        if name not in files and path.is_file():
            files[name] = path.read_text(encoding="utf-8", errors="surrogateescape")
            waiting += [f"{one}.py" for one in _find_imported_modules(files[name])]
    engines = []
    for one in mutants(files, count, seed):
        folder = room / one.name
        shutil.copytree(program.parent, folder, ignore=_NOT_COPIED)
        (folder / one.file).write_text(one.source, encoding="utf-8", errors="surrogateescape")
        file_system.open_all(folder)  # an engine of root is another user
        changed = [*words[:place], str(folder / program.name), *words[place + 1 :]]
        engines.append(WrongEngine(one.name, one.sentence, shlex.join(changed), str(folder)))
    return engines


def _find_imported_modules(text: str) -> Iterator[str]:
    for node in ast.walk(_parse(text) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            yield from (alias.name.replace(".", "/") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.replace(".", "/")
