"""The blocks of a module: pieces of code that run as a whole, unless one raises.

A block is the body of a function, of a branch, of a loop or of a handler. In a marked module each
block begins with a line that notes in a file that it was reached, whatever process runs it and
however that process ends.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import NamedTuple

# Programs that import next to nothing, and from elsewhere, find the file of marks by its path.
# Those that cannot open it, as in a sandbox, note it nowhere.
_PREAMBLE = """\
import sys as _reach_sys
try:
    _reach_marks = _reach_sys._reach_marks
except AttributeError:
    try:
        import mmap as _reach_mmap
        with open({file!r}, "r+b") as _reach_file:
            _reach_marks = _reach_mmap.mmap(_reach_file.fileno(), 0)
    except (ImportError, OSError):
        _reach_marks = bytearray({size})
    _reach_sys._reach_marks = _reach_marks
"""


class Block(NamedTuple):
    """A block.

    ``name``: of its function, and which block there; ``first``, ``last``: its lines, from 1;
    ``start``, ``column``: where its first statement is.
    """

    name: str
    first: int
    last: int
    start: int
    column: int


def find(text: str) -> list[Block]:
    """Return the blocks of a module; each before those within it."""
    finder = _Finder(text)
    finder.visit(ast.parse(text))
    return finder.found


def enclosing(text: str, line: int) -> str:
    """Return the name of the innermost block around a line; "" if none is."""
    block = _innermost(text, line)
    return block.name if block else ""


def is_head(text: str, line: int) -> bool:
    """Return whether a line is before the first statement of the function around it."""
    block = _innermost(text, line)
    return block is not None and line < block.start


def _innermost(text: str, line: int) -> Block | None:
    around = [one for one in find(text) if one.first <= line <= one.last]
    return max(around, key=lambda one: one.first, default=None)


def mark_blocks(text: str, number: int, file: str, size: int) -> str:
    """Return a module that notes which blocks are reached; ``number`` is the first one's.

    ``file``: has a byte for each block of all marked modules; ``size``: how many these are.
    """
    lines = text.splitlines(keepends=True)
    for place, one in sorted(enumerate(find(text), number), key=lambda pair: -pair[1].start):
        lines.insert(one.start - 1, f"{' ' * one.column}_reach_marks[{place}] = 1\n")
    lines.insert(_head(ast.parse(text)), _PREAMBLE.format(file=file, size=size))
    return "".join(lines)


class _Finder(ast.NodeVisitor):
    """Walks through a module and notes its blocks."""

    def __init__(self, text: str) -> None:
        self.found: list[Block] = []
        self._lines = text.splitlines()
        self._names: list[str] = []
        self._functions = 0  # that are around
        self._counts: Counter[str] = Counter()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        super().generic_visit(node)
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._names.append(node.name)
        self._functions += 1
        self._note(node.body[_is_docstring(node.body[0]) :], _first_line(node))
        super().generic_visit(node)
        self._functions -= 1
        self._names.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def generic_visit(self, node: ast.AST) -> None:
        if self._functions:
            for field in ("body", "orelse", "finalbody"):
                suite = getattr(node, field, None)
                if isinstance(suite, list) and suite:
                    self._note(suite, _first_line(suite[0]))
        super().generic_visit(node)

    def _note(self, suite: list[ast.stmt], first: int) -> None:
        """Note a block, if a line can be put before it: there is none before ``elif``."""
        if not suite:
            return
        start, column = _first_line(suite[0]), suite[0].col_offset
        line = self._lines[start - 1]
        if line[:column].strip() or line[column:].startswith("elif"):
            return
        function = ".".join(self._names)
        self._counts[function] += 1
        name = f"{function} {self._counts[function]}"
        self.found.append(Block(name, first, suite[-1].end_lineno or first, start, column))


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def _head(module: ast.Module) -> int:
    """Return how many lines must stay first: the docstring and the future imports."""
    head = 0
    for one in module.body:
        if not _is_docstring(one) and getattr(one, "module", "") != "__future__":
            break
        head = one.end_lineno or 0
    return head
