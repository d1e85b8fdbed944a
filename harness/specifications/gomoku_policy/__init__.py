"""Playout policies of a Gomoku player (gomoku-policy.txt)."""

from __future__ import annotations

from dataclasses import replace

from harness.judging import likeness
from harness.judging.forms import CASELESS, SETTING
from harness.specifications import gomoku_rules

_RULES = gomoku_rules.SPECIFICATION

SPECIFICATION = replace(
    _RULES,
    key="gomoku-policy",
    forms={**_RULES.forms, "policy": SETTING, "policy_moves": CASELESS},
    signs=r"policy.*",
    relatives=(_RULES.key,),  # a file about the policy may show mistakes in the rules
    depends={**_RULES.depends, "policy_moves": likeness.policy},
    reset=("policy random",),
)
