"""Status lines, with which the answers of some programs end, and what they say. Pure."""

from __future__ import annotations

from harness.records import DONE, Reply

COUNTS = "?"  # before a command in a case file: its answer is judged
REFUSED = "= -1"
ILLEGAL = "= illegal move"  # what a status line begins with that says why
EXPECTED = f"a status line: {DONE}, {REFUSED} or {ILLEGAL}: …"


def is_status(line: str) -> bool:
    """Whether a line, without blanks at its ends, is meant to be a status line."""
    return line.startswith("=") and not line.startswith("==")


def is_known(status: str) -> bool:
    """Whether a status line is one."""
    return status in {DONE, REFUSED} or status.startswith(ILLEGAL)


def is_success(status: str) -> bool:
    """Whether a status line is not an error: a move that is illegal is an answer, as in GTP."""
    return status == DONE or status.startswith(ILLEGAL)


def with_status(answer: str, status: str) -> str:
    """Return an answer with what its status says beyond that it was done.

    So expectations of GTP mean the same: ``= illegal move: "a1" occupied`` is the answer to a
    move, and a refusal has only its status to show.
    """
    return "\n".join(part for part in (answer, _text_of(status)) if part)


def whole(reply: Reply) -> str:
    """Return all of an answer: its lines, and its status. A reply of GTP is given one."""
    if not reply.status:
        reply = _of_gtp(reply)
    answer = reply.text.removesuffix(_text_of(reply.status)).removesuffix("\n")
    return f"{answer}\n{reply.status}" if answer else reply.status


def make_judged_reply(reply: Reply) -> Reply:
    """Return a reply with the text that is judged: all of it."""
    return reply._replace(text=whole(reply))


def _of_gtp(reply: Reply) -> Reply:
    if not reply.ok:
        status, text = REFUSED, _text_of(REFUSED)
    elif f"= {reply.text}".startswith(ILLEGAL):
        status, text = f"= {reply.text}", reply.text
    else:
        status, text = DONE, reply.text
    return reply._replace(text=text, status=status)


def _text_of(status: str) -> str:
    return "" if status == DONE else status[1:].strip()
