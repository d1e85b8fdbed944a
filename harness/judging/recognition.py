"""The specification of a case file, recognized by its commands. Pure."""

from __future__ import annotations

import re

from harness.records import CaseFile
from harness.specifications import NAMES, specification
from harness.specifications.record import Specification


def specifications_of(case: CaseFile) -> tuple[Specification, ...]:
    """Return those that a file may belong to, the likeliest first; none is a stranger.

    The likeliest is the one of whose commands the file has most, and then come its relatives: a
    file about the policy may show mistakes in the rules as well.
    """
    commands = {step.command for step in case.steps}
    known = {name: _signs(specification(name), commands) for name in NAMES}
    found = {name for name, count in known.items() if count}
    found -= {other for name in found for other in specification(name).relatives}
    if not found:
        return ()
    likeliest = specification(max(found, key=lambda name: known[name]))
    return likeliest, *map(specification, likeliest.relatives)


def _signs(one: Specification, commands: set[str]) -> int:
    return sum(re.fullmatch(one.signs, command) is not None for command in commands)
