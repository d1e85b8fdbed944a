"""Several mistakes in one engine: the right engine in parts, and what stands in them."""

from pathlib import Path

import pytest

from oracle.assignments import ASSIGNMENTS, engine_for
from oracle.mistakes import (
    MISTAKES,
    can_meet,
    engine_with,
    go_scoring,
    gomoku_policy,
    gomoku_rules,
    gosensei,
    java_go,
)
from oracle.mistakes.bank import Shelf, collect_used, table_with

CASES = Path(__file__).parents[2] / "cases"
ROUTES = {
    one.SHELF.assignment: one.SHELF.routes
    for one in (go_scoring, gomoku_rules, gomoku_policy, gosensei, java_go)
}


def parts_of(assignment):
    return collect_used(one for route in ROUTES[assignment].values() for one in route.uses)


def commands_of(assignment, monkeypatch):
    """The commands of all case files that ship, each sent in its folder."""
    for path in sorted((CASES / assignment).rglob("*.gtp")):
        monkeypatch.chdir(path.parent)
        yield "clear_board"
        for line in path.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                yield line


def with_layers(assignment, layer):
    """An engine with a layer in every part."""
    shelf = Shelf(assignment, ROUTES[assignment])
    shelf.add("all-at-once", "As if.", {one: layer(one) for one in parts_of(assignment)})
    engine = engine_for(assignment, playouts=0)
    engine.commands = engine.session.commands = table_with(engine.commands, shelf.mistakes)
    return engine


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_in_parts_the_right_engine_answers_the_same(assignment, monkeypatch):
    right = engine_for(assignment, playouts=0)
    in_parts = with_layers(assignment, lambda one: lambda right, *about: right(*about))
    assert set(ROUTES[assignment]) <= set(right.commands)
    for command in commands_of(assignment, monkeypatch):
        theirs = in_parts.handle(command)
        if "genmove" not in command.split():  # any move will do
            assert theirs == right.handle(command), command
        else:
            right.session.game = in_parts.session.game


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_part_uses_what_it_says(assignment, monkeypatch):
    under_way, used = [], set()

    def noting(one):
        def layer(right, *about):
            if under_way:
                used.add((under_way[-1], one))
            under_way.append(one)
            try:
                return right(*about)
            finally:
                under_way.pop()

        return layer

    engine = with_layers(assignment, noting)
    for command in commands_of(assignment, monkeypatch):
        engine.handle(command)
    assert {(one, other) for one, other in used if other not in collect_used([one])} == set()


# --- by hand -----------------------------------------------------------------------------------


def ask_last(names, *commands):
    mistakes = [MISTAKES[name] for name in names.split()]
    engine = engine_with(mistakes, mistakes[0].assignment, playouts=0)
    return [engine.handle(command) for command in commands][-1][1:].strip()


SHARED = ("boardsize 3", "komi 1.5", "play b a1", "play w c1", "score")
# X . O, and all else empty: a draw except for the komi.


@pytest.mark.parametrize(
    ("names", "score"),
    [
        ("komi-twice minus-sign", "W+-3"),
        ("komi-to-black neutral-points-to-black", "B+8.5"),
        ("komi-ignored draw-with-fraction", "0.0"),
        ("stones-not-counted neutral-points-to-white integer-division", "W+8"),
        ("colors-exchanged neutral-points-to-black", "W+8.5"),
    ],
)
def test_scores_by_hand(names, score):
    assert ask_last(names, *SHARED) == score
    assert ask_last(" ".join(reversed(names.split())), *SHARED) == score


def test_mistakes_of_the_rules_show_in_the_policy():
    row = [f"play b {point}" for point in ("a1", "b2", "c3", "d4", "e5")]
    rules, policy = MISTAKES["no-diagonals"], MISTAKES["sorted-by-row"]
    engine = engine_with([rules, policy], "gomoku-policy", playouts=0)
    answers = [engine.handle(line) for line in ["boardsize 5", *row, "policy_moves"]]
    assert answers[-1].startswith("= Random B1 C1 D1")


# --- what cannot meet --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "meet"),
    [
        ("komi-twice minus-sign", True),
        ("komi-twice komi-ignored", False),  # both replace the komi
        ("single-points-only border-regions-dropped", True),  # one on top of the other
        ("region-is-one-point territory-not-counted", False),  # no region is looked at
        ("territory-not-counted board-changed-by-score", True),
        ("random-where-block-exists third-block-lost", False),
        ("random-where-block-exists third-block-lost sorted-by-row", False),
        ("exactly-five no-diagonals", False),
        ("exactly-five sorted-by-row", True),  # of two assignments
        ("stones-never-captured empty-points-never-captured", True),
    ],
)
def test_what_replaces_the_same_cannot_meet(names, meet):
    assert can_meet([MISTAKES[name] for name in names.split()]) is meet
