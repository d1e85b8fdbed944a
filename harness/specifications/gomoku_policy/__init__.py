"""Playout policies of a Gomoku player (gomoku-policy.txt)."""

from __future__ import annotations

from dataclasses import replace

from harness.specifications import gomoku_rules
from harness.vocabulary import facts
from harness.vocabulary.forms import CASELESS, SETTING

_RULES = gomoku_rules.SPECIFICATION

SPECIFICATION = replace(
    _RULES,
    key="gomoku-policy",
    forms={**_RULES.forms, "policy": SETTING, "policy_moves": CASELESS},
    signs=r"policy.*",
    relatives=(_RULES.key,),  # a file about the policy may show mistakes in the rules
    depends={**_RULES.depends, "policy_moves": facts.policy},
    reset=("policy random",),
)
