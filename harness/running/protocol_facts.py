"""Facts of a protocol about a row of commands and replies. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.core.records import DONE, CaseFile, Reply, Step
from harness.core.text import count_rest, encode
from harness.engine.replies import GTP, Protocol
from oracle.command_properties import PropertyTable

_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f]"
_STATUS_AND_ID = r"[=?]([0-9]*)"


def as_sent(case: CaseFile, protocol: Protocol = GTP) -> list[bytes]:
    """Return what is sent for each step, newline included, in the file's own bytes."""
    if not case.steps:
        return []
    lines = [step.text if protocol.has_ids else step.command for step in case.steps]
    return encode("\n".join(lines) + "\n").splitlines(keepends=True)


def find_awaited(steps: Sequence[Step], command_properties: PropertyTable) -> list[bool]:
    """Return for each step whether its reply must have come before anything else is sent.

    So it is for tests, because some engines stop thinking when input arrives.
    """
    alone = command_properties.alone
    # By their places, and not their names: there may be 100,000 of them.
    return [step[4] or alone[step[3]] for step in steps]


def own_step(command: str) -> Step:
    """Return a command of the harness's own as a step, in no line of the file."""
    return Step(0, command, -1, command, is_test=False, pattern=None)


def count_errors(steps: Iterable[Step], replies: Sequence[Reply | None]) -> int:
    """Return how many setup commands were refused, without those that the file has so."""
    pairs = zip(steps, replies, strict=False)
    odd = [(step, one) for step, one in pairs if one and (not one[0] or one[5])]
    return sum(is_trouble(step, reply) and step.id < 0 for step, reply in odd)


def is_trouble(step: Step, reply: Reply) -> bool:
    """Whether a setup command was refused, and its file does not say that it will be."""
    if step.is_test or not reply.is_refusal:
        return False
    return step.pattern is None or step.pattern.text.rpartition("\n")[2] != reply.status


def warnings(
    steps: Iterable[Step],
    replies: Sequence[Reply | None],
    protocol: Protocol = GTP,
    *,
    without_ids: bool = False,
) -> list[str]:
    """Return a sentence for each kind of breach of the protocol, with the first case of it.

    ``without_ids``: a reply without its command's id is none.
    """
    is_right = _id_is_right if protocol.has_ids else lambda _, raw: raw == DONE
    first: dict[str, str] = {}
    count: dict[str, int] = {}
    plain: str | None = None  # what the last command without an id was answered with, if well
    for step, reply in zip(steps, replies, strict=False):
        if reply is None:
            continue
        # By their places, and not their names: there may be 100,000 of them.
        id_, raw, invalid = step[2], reply[2], reply[4]
        if id_ < 0 and raw is plain and not invalid:
            continue
        if raw.isprintable() and not invalid and is_right(id_, raw):
            plain = raw if id_ < 0 else plain
            continue
        for kind, what in _breaches(step, reply, protocol, without_ids=without_ids):
            place = f"line {step.line}" if step.line else "at the start"
            first.setdefault(kind, f"{place}: {what}")
            count[kind] = count.get(kind, 0) + 1
    return [
        text + count_rest(count[kind] - 1, " (and {:,} more like it)")
        for kind, text in first.items()
    ]


def _id_is_right(command_id: int, raw: str) -> bool:
    if command_id < 0:
        return not "0" <= raw[1:2] <= "9"
    digits = f"{command_id}"
    end = 1 + len(digits)
    if raw.startswith(digits, 1) and not "0" <= raw[end : end + 1] <= "9":
        return True
    found = re.match(_STATUS_AND_ID, raw)
    # Not as a number: there are ids too long to be read as one.
    return found is not None and found[1] != "" and found[1].lstrip("0") == f"{command_id or ''}"


def _breaches(
    step: Step, reply: Reply, protocol: Protocol, *, without_ids: bool
) -> Iterable[tuple[str, str]]:
    command = f"the reply to '{step.command:.60}'"
    found = re.match(_STATUS_AND_ID, reply.raw)
    is_missing = found is not None and not found[1]
    is_right = reply.status or _id_is_right(step.id, reply.raw)  # what has a status has no id
    if not is_right and not (without_ids and is_missing):
        has = f"the id {found[1]:.20}" if found and found[1] else "no id"
        wanted = f"the id {step.id}" if step.id >= 0 else "none"
        yield "id", f"{command} has {has}, the command has {wanted}"
    if odd := protocol.oddity(reply):
        yield "end", f"{command} {odd}"
    if reply.invalid:
        yield "invalid", f"text without = or ? came before {command}: '{reply.invalid:.60}'"
    if control := re.search(_CONTROL, reply.raw):
        yield "control", f"{command} has the control character U+{ord(control[0]):04X}"
