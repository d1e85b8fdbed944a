"""Asking an engine why: the reason of an answer, and whether the document settles it.

A game's session lists its questions: for the command that answers, a function of the session and
the command's arguments that gives what the answer depends on (the position and perhaps more), a
function of that that explains the answer, one that gives it under every reading that the document
leaves open, and a function that writes an answer as the command does.
"""

from __future__ import annotations

from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Session
    from oracle.position import Position


def explain(session: Session, words: list[str]) -> str:
    """COMMAND ...: why it answers as it does, as graphics for GoGui.

    The marks of the explanation become a ``LABEL`` line, its sentences a ``TEXT`` line.
    """
    found = session.explain(words)
    labels = [f"{vertex(point)} {mark}" for point, mark in sorted(found.labels)]
    text = f"TEXT {found.text}"
    return f"LABEL {' '.join(labels)}\n{text}" if labels else text


def readings(session: Session, words: list[str]) -> str:
    """COMMAND ...: settled or underspecified; its answers."""
    found = session.readings(words)
    verdict = "underspecified" if found.is_open else "settled"
    left_open = [found.left_open] if found.left_open else []
    answers = [f"{name}: {answer}" for name, answer in found.answers]
    return "\n".join([verdict, *left_open, *answers])


def position(session: Session, words: list[str]) -> tuple[Position]:
    """Return the subject of a question about the position alone."""
    return (session.game.position,)


COMMANDS: Table = {"oracle-explain": explain, "oracle-readings": readings}
