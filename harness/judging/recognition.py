"""Which assignment a case file belongs to, told by its commands. Pure."""

from __future__ import annotations

from harness.records import CaseFile

# The beginnings of the commands that tell an assignment; the first that fits a file counts.
_SIGNS = (
    (("eyes", "twoeyes", "eyespaces", "display", "is_valid"), ("gosensei",)),
    (("is_captured", "is_legal", "can_play", "is_over", "score "), ("java-go",)),
    (("policy",), ("gomoku-policy", "gomoku-rules")),
    (("gogui-rules_",), ("gomoku-rules",)),
    (("score", "final_score"), ("go-scoring",)),
)


def assignments_of(case: CaseFile) -> tuple[str, ...]:
    """Return the assignments that a file may belong to, the likeliest first; none is a stranger.

    A file about the policy may show mistakes in the rules as well, so both are named.
    """
    commands = tuple({step.command for step in case.steps})
    for beginnings, assignments in _SIGNS:
        if any(command.startswith(beginnings) for command in commands):
            return assignments
    return ()
