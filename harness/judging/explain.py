"""Why the right answers are right: the oracle is sent the same commands and asked for reasons.

What the engine chose (``genmove``) is played to the oracle as a move; all else is sent to it as
it stands in the case file, whatever the engine made of it.
"""

from __future__ import annotations

from collections.abc import Collection

from harness.records import FileResult, Reply, Step
from oracle.draw import Diagram
from oracle.errors import OracleError
from oracle.gtp import new_engine
from oracle.vertex import Point, parse_vertex

_CHOSEN = ("resign", "pass")
_LOADING = ("loadsgf ", "load_board ")


def reasons(
    file: FileResult, steps: Collection[int], game: str
) -> dict[int, tuple[str, dict[Point, str]]]:
    """Return for some steps the reason of the right answer, and what it marks on the board.

    ``game``: one of :data:`oracle.gtp.GAMES`. Steps whose command needs no reason, or
    whose position the oracle cannot follow, are missing.
    """
    from harness.judging.mistaken import in_folder

    engine = new_engine(game)
    found = {}
    last = max(steps, default=0)
    with in_folder(file.case):  # for the files that commands name
        for index, (step, reply) in enumerate(zip(file.case.steps, file.replies, strict=True)):
            if index in steps:
                answer = engine.handle(f"oracle-explain {step.command}")
                if answer.startswith("="):
                    found[index] = read_explanation(answer)
            if index < last:
                answer = engine.handle(_as_played(step, reply))
                if answer.startswith("?") and _is_loaded(step, reply):
                    break
    return found


def _is_loaded(step: Step, reply: Reply | None) -> bool:
    """Whether the engine read a file. Without it, nobody can say what is right from there on."""
    return step.command.startswith(_LOADING) and reply is not None and reply.ok


def _as_played(step: Step, reply: Reply | None) -> str:
    words = step.command.split()
    if words[:1] != ["genmove"]:
        return step.command
    if reply is None or not reply.ok or reply.text.lower() in _CHOSEN:
        return "#"
    return f"play {' '.join(words[1:2])} {reply.text}"


def read_explanation(answer: str) -> tuple[str, dict[Point, str]]:
    """Return the sentences and the labels of a reply to ``oracle-explain``."""
    text, marks = "", {}
    for line in answer.removeprefix("=").strip().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "TEXT":
            text = rest
        elif kind == "LABEL":
            words = rest.split()
            marks = dict(zip(map(_point, words[::2]), words[1::2], strict=True))
    return text, {point: mark for point, mark in marks.items() if point}


def _point(name: str) -> Point | None:
    try:
        return parse_vertex(name, 25, 25)
    except OracleError:
        return None


def marked(diagram: Diagram, marks: dict[Point, str]) -> Diagram:
    """Return a board with an explanation's marks on it."""
    return Diagram(
        diagram.position, diagram.last, marks, caption=diagram.caption, letters=diagram.letters
    )
