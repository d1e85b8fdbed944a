"""Draws changes: a line of a deciding module first, then one of the changes it allows."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import Mutation, MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

from tests.mutation.modules import ROOT


class Change(NamedTuple):
    """One change of one syntax element.

    ``module``: path below the project; ``line``: from 1; ``before``, ``after``: that line, without
    blanks around it; ``text``: the whole module, changed.
    """

    module: str
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}\n    - {self.before}\n    + {self.after}"


class Draft(NamedTuple):
    """A change that is not written out yet: that takes long, and few are drawn."""

    module: str
    line: int
    tree: libcst.Module
    old: libcst.CSTNode
    new: libcst.CSTNode


def draw(modules: Iterable[str], count: int, seed: int) -> Iterator[Change]:
    """Yield ``count`` changes, or all there are; each line is as likely as any other."""
    by_line: dict[tuple[str, int], list[Draft]] = defaultdict(list)
    for module in modules:
        for one in drafts(module):
            by_line[one.module, one.line].append(one)
    chance = random.Random(seed)
    places = sorted(by_line)
    drawn = chance.sample(places, min(count, len(places)))
    for place in drawn:
        yield write_draft(chance.choice(by_line[place]))


def drafts(module: str) -> Iterator[Draft]:
    """Yield each change that a module allows."""
    whole = MetadataWrapper(libcst.parse_module((ROOT / module).read_text(encoding="utf-8")))
    places = whole.resolve(PositionProvider)
    visitor = _Visitor(OPERATORS, IgnoredCode(set(), set(), set()))
    whole.visit(visitor)
    for one in visitor.mutations:
        if not _only_breaks_or_names_a_type(one):
            line = places[one.original_node].start.line
            yield Draft(module, line, whole.module, one.original_node, one.mutated_node)


def find(module: str, line: int, before: str, after: str) -> Change | None:
    """Return a change that was drawn before, where its line is now; None if there is none."""
    if not (path := ROOT / module).exists():
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    places = [number for number, text in enumerate(lines, 1) if text.strip() == before]
    for place in sorted(places, key=lambda one: abs(one - line)):
        above = [one for one in drafts(module) if one.line <= place]
        for change in map(write_draft, sorted(above, key=lambda one: -one.line)):
            if change[1:4] == (place, before, after):
                return change
    return None


class _Visitor(MutationVisitor):
    """Looks into functions with decorators too, which mutmut leaves out for reasons of its own."""

    def on_visit(self, node: libcst.CSTNode) -> bool:
        if isinstance(node, libcst.FunctionDef) and node.decorators:
            node.body.visit(self)
            return False
        return super().on_visit(node)


def _only_breaks_or_names_a_type(one: Mutation) -> bool:
    """Return whether a module's own name is set to nothing, or ``TYPE_CHECKING`` to true."""
    is_outside = one.contained_by_top_level_function is None
    return is_outside and isinstance(
        one.original_node, libcst.Assign | libcst.AnnAssign | libcst.Name
    )


def write_draft(draft: Draft) -> Change:
    """Write a change out."""
    after = draft.tree.deep_replace(draft.old, draft.new).code  # type: ignore[union-attr]
    old, new = draft.tree.code.splitlines(), after.splitlines()
    pairs = zip_longest(old, new, fillvalue="")
    line, one, other = next((n, a, b) for n, (a, b) in enumerate(pairs, 1) if a != b)
    return Change(draft.module, line, one.strip(), other.strip(), after)


# --- operators of our own -----------------------------------------------------------------------


def _left_out(node: libcst.Expr) -> Iterator[libcst.CSTNode]:
    """Leave a call out that stands by itself: a check, a write."""
    if isinstance(node.value, libcst.Call):
        yield node.with_changes(value=libcst.Name("None"))


_TWINS = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list"}


def _twin(node: libcst.Call) -> Iterator[libcst.CSTNode]:
    """Exchange a function with the one that it is mixed up with; ``list`` does not sort."""
    if isinstance(node.func, libcst.Name) and node.func.value in _TWINS:
        yield node.with_changes(
            func=libcst.Name(_TWINS[node.func.value]),
            args=[one for one in node.args if one.keyword is None or node.func.value != "sorted"],
        )


OPERATORS = [*mutation_operators, (libcst.Expr, _left_out), (libcst.Call, _twin)]
