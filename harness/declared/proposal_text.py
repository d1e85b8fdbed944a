"""A proposal as the text of an ``assignment.toml``: each guess with its reason as a comment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.declared.declaration import DeclaredReference
from harness.declared.proposing import Guess, Proposal, Proposed, Value
from harness.escaping import one_line

_COLUMN = 44  # where comments begin, if there is room
_HEAD = """\
# Proposed by gtp-harness new: what comes after a '#' are reasons for guesses. Change what is
# wrong, and try it with gtp-harness calibrate. cases/ASSIGNMENTS.md describes all keys.
"""


def text(command: str, sandbox: str, proposal: Proposal) -> str:
    """Return the text; ``command``: the reference's, and ``sandbox`` the one in which it runs."""
    return "\n".join(_lines(command, sandbox, proposal)) + "\n"


def _lines(command: str, sandbox: str, proposal: Proposal) -> Iterator[str]:
    yield _HEAD
    yield "[reference]"
    yield f"command = {_value(command)}"
    if sandbox != DeclaredReference(command).sandbox:
        yield f"sandbox = {_value(sandbox)}"
    yield "\n[game]"
    yield from map(_line, proposal.game)
    for one in proposal.commands:
        yield ""
        yield from _command(one)


def _command(one: Proposed) -> Iterator[str]:
    mark = "" if one.is_sure else "# "
    if mark:
        yield f"# The program knows {one_line(one.name)}, and did not answer it:"
    yield f"{mark}[[command]]"
    yield f"{mark}name = {_value(one.name)}"
    yield from (f"{mark}{_line(guess)}" for guess in one.guesses)


def _line(guess: Guess) -> str:
    told = f"{guess.key} = {_value(guess.value)}"
    return f"{told:{_COLUMN}} # {one_line(guess.why)}"


def _value(value: Value | object) -> str:
    """Return a value in TOML: texts are written as in JSON, which TOML reads alike."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
