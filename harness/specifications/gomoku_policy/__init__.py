"""Playout policies of a Gomoku player (gomoku-policy.txt)."""

from dataclasses import replace

from harness.specifications import gomoku_rules
from harness.vocabulary import answers
from harness.vocabulary.answers import CASELESS, SETTING, Wording
from oracle.command_properties import ASKS, STANDARD, CommandProperties

_RULES = gomoku_rules.SPECIFICATION
_POLICY = "policy"  # what an engine remembers beside the game

SPECIFICATION = replace(
    _RULES,
    key="gomoku-policy",
    forms={**_RULES.forms, "policy": SETTING, "policy_moves": CASELESS},
    plays="gomoku",
    signs=r"policy.*",
    command_properties={
        # The default is random, and outlives boards.
        "policy": CommandProperties(sets=frozenset({_POLICY}), initial="policy random"),
        "policy_moves": ASKS.needing(_POLICY),
        "genmove": STANDARD["genmove"].needing(_POLICY),
    },
    relatives=(_RULES.key,),  # a file about the policy may show mistakes in the rules
    wordings={
        **_RULES.wordings,
        "policy_moves": Wording("Which moves does the policy consider, and of which type?"),
    },
    depends={**_RULES.depends, "policy_moves": answers.policy},
    reset=("policy random",),
)
