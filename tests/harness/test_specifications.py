"""What an assignment is stands in one room, and everything else is handed it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness import specifications
from harness.assignments import assignment
from harness.assignments.assignment import specification_of
from harness.core.errors import UsageError
from harness.judging.in_process import specifications_of
from harness.reading import casefile
from harness.specifications import NAMES, specification
from oracle.command_properties import STANDARD

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_each_has_all_that_the_rooms_ask_of_it(name):
    one = specification(name)
    assert one.key == name
    assert assignment.find(name).specification is one
    assert one.mistakes
    assert one.kind.features
    assert one.conversation
    assert set(one.forms) <= set(one.reference_engine().commands)
    assert set(one.depends) <= set(one.forms)
    assert set(one.first) | set(one.first.values()) <= set(one.forms)


TOLD = [
    (["score"], ["go-scoring"]),
    (["score b"], ["java-go"]),
    (["score b", "is_over"], ["java-go"]),
    (["final_score"], ["go-scoring"]),
    (["twoeyes"], ["gosensei"]),
    (["gogui-rules_legal_moves"], ["gomoku-rules"]),
    (["gogui-rules_legal_moves", "gogui-rules_side_to_move", "policy random"],
     ["gomoku-policy", "gomoku-rules"]),
    (["showboard", "play b a1"], []),
    # Of as many commands of several the first is taken, in each process.
    *((pair, ["go-scoring"]) for pair in (["score", "display"], ["score", "is_over"])),
    *((pair, ["gosensei"]) for pair in (["eyes", "is_over"], ["score b", "twoeyes"])),
    (["gogui-rules_board_size", "is_over"], ["gomoku-rules"]),
    (["score", "eyes", "policy random"], ["go-scoring"]),
]  # fmt: skip


@pytest.mark.parametrize(("commands", "expected"), TOLD)
def test_commands_tell_whose_a_case_file_is(commands, expected):
    case = casefile.parse("\n".join(commands).encode(), "some.gtp")
    assert [one.key for one in specifications_of(case)] == expected


@pytest.fixture
def own(tmp_path):
    """A teacher's folder: another name than any that ships."""
    folder = tmp_path / "counting-points"
    shutil.copytree(ROOT / "cases" / "go-scoring", folder)
    return folder


def test_without_a_specification_nobody_knows_what_is_right(own):
    toml = own / "assignment.toml"
    toml.write_text(toml.read_text().replace('specification = "go-scoring"\n', ""))
    found = assignment.find(str(own))
    assert found.specification is None
    with pytest.raises(UsageError, match=r"no key 'specification' in its assignment\.toml"):
        specification_of(found)


@pytest.mark.parametrize("name", NAMES)
def test_what_each_of_its_commands_does_is_known(name):
    one = specification(name)
    strangers = {command for command in one.forms if not one.commands[command].is_known}
    assert not strangers
    assert set(one.command_properties) <= set(one.reference_engine().commands)
    assert {one.commands[first].is_setting for first in one.first.values()} <= {True}


def test_what_two_take_for_different_things_is_known_by_its_name_only(monkeypatch):
    rules, scoring = specification("gomoku-rules"), specification("go-scoring")
    command_properties = {
        **rules.command_properties,
        "score": STANDARD["play"],
        "mine": STANDARD["komi"],
    }
    changed = {
        rules.key: replace(rules, command_properties=command_properties),
        scoring.key: scoring,
    }
    monkeypatch.setattr(specifications, "NAMES", tuple(changed))
    monkeypatch.setattr(specifications, "specification", changed.__getitem__)
    found = specifications._of_all()
    assert not found["score"].is_known
    assert found["mine"].is_setting
