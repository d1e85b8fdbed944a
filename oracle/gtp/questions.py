"""Asking an engine why: the reason of an answer, and whether the document settles it.

A game's session lists its questions: for the command that answers, a function of the session and
the command's arguments that gives what the answer depends on (the position and perhaps more), two
functions of that, of which one explains the answer and the other gives it under every reading that
the document leaves open, and a function that writes an answer as the command does.
"""

from __future__ import annotations

from oracle.errors import GtpError
from oracle.explanation import is_underspecified
from oracle.gtp import arguments
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Question, Session
    from oracle.position import Position


def explain(session: Session, words: list[str]) -> str:
    """COMMAND ...: why it answers as it does, as graphics for GoGui.

    The marks of the explanation become a ``LABEL`` line, its sentences a ``TEXT`` line.
    """
    subject, explain_, _, _ = _question(session, words)
    explanation = explain_(*subject(session, words[1:]))
    labels = [f"{vertex(point)} {mark}" for point, mark in sorted(explanation.marks.items())]
    text = f"TEXT {explanation.text}"
    return f"LABEL {' '.join(labels)}\n{text}" if labels else text


def readings(session: Session, words: list[str]) -> str:
    """COMMAND ...: settled or underspecified; its answers."""
    if reason := session.left_open(words):
        return f"underspecified\n{reason}"
    subject, _, readings_, write = _question(session, words)
    found = readings_(*subject(session, words[1:]))
    verdict = "underspecified" if is_underspecified(found) else "settled"
    return "\n".join([verdict, *(f"{name}: {write(answer)}" for name, answer in found.items())])


def _question(session: Session, words: list[str]) -> Question:
    name = arguments.word(words, 0)
    if name not in session.questions:
        raise GtpError(f"no explanation for {name!r}, only for {', '.join(session.questions)}")
    return session.questions[name]


def position(session: Session, words: list[str]) -> tuple[Position]:
    """Return the subject of a question about the position alone."""
    return (session.game.position,)


COMMANDS: Table = {"oracle-explain": explain, "oracle-readings": readings}
