"""A case file put to the oracle: what each test asks, and which lines cannot be reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.judging import equivalence, mistaken
from harness.judging.explain import read_explanation
from harness.records import CaseFile, Reply, Step
from harness.verifying.records import Asked, Finding, Kind
from harness.visible import one_line
from oracle.answers.gomoku_policy import policy_moves
from oracle.color import color_of
from oracle.games.gomoku import GomokuGame
from oracle.gtp.java_go import JavaGoSession
from oracle.gtp.protocol import Engine, split
from oracle.vertex import vertex

# Their answers are the same wherever the stones lie.
_ANYWHERE = ("gogui-rules_side_to_move", "gogui-rules_board_size")
_SETS_UP = "the document leaves open what this command of the set-up does: {}"
NEW_BOARD = ("boardsize", "clear_board", "load_board", "loadsgf")


def asked(case: CaseFile, assignment: str) -> Iterator[Asked | Finding]:
    """Yield what each test asks, and a finding for each line that goes wrong before one.

    What is asked in one place and repeated as set-up in another may be refused: that is known.
    The caller sees to it that the working directory is the file's.
    """
    engine = mistaken.right_engine(assignment)
    is_free, ended = False, 0
    opened: dict[str, Finding] = {}  # by the reason: a file that is written so says it once
    tested = {step.command for step in case.steps if step.is_test}
    for step in case.steps:
        if ended:
            if step.is_test:
                text = f"the engine has quit in line {ended}"
                yield Finding(Kind.UNREACHABLE, case.path, step.line, step.text, text)
            continue
        name = step.command.partition(" ")[0]
        is_free = is_free and name not in NEW_BOARD
        choices = _choices(engine, step.command)
        late = _after_the_end(engine, step.command)
        depends = is_free and name not in _ANYWHERE
        told = _told(engine, step, choices, is_free=depends) if step.is_test else None
        if _sets_up(step, assignment) and not late and (why := _why_open(engine, step.command)):
            finding = Finding(Kind.OPEN, case.path, step.line, step.text, _SETS_UP.format(why))
            opened.setdefault(why, finding)
        right = mistaken.reply_of(engine.handle(step.text))
        if told:
            yield told._replace(right=right)
        elif fault := late or (step.command not in tested and _refused(right, name)):
            yield Finding(Kind.UNREACHABLE, case.path, step.line, step.text, fault)
        is_free = is_free or len(choices) > 1
        ended = 0 if engine.session.running else step.line
    yield from opened.values()


def _told(engine: Engine, step: Step, choices: tuple[str, ...], *, is_free: bool) -> Asked:
    """Return a test without its right answer."""
    readings, why_open = _open(engine, step.command)
    reason, _ = read_explanation(engine.handle(f"oracle-explain {step.command}"))
    return Asked(step, Reply(False, "", "", 0.0), readings, why_open, choices, is_free, reason)


def _open(engine: Engine, command: str) -> tuple[tuple[str, ...] | None, str]:
    """Return the answers under each reading where they differ, or else why there are none."""
    if not equivalence.underspecified(engine, command):
        return None, ""
    if reason := engine.session.left_open(split(command)):
        return (), reason
    reply = mistaken.reply_of(engine.handle(f"oracle-readings {command}"))
    pairs = [line.partition(":") for line in reply.text.splitlines()[1:]]
    ways = "; or ".join(name for name, _, _ in pairs)
    return tuple(answer.strip() for _, _, answer in pairs), f"it may be read as {ways}"


def _sets_up(step: Step, assignment: str) -> bool:
    """Return whether nothing but what a command does to the board matters."""
    is_test = step.is_test and equivalence.is_judged(step.command, assignment)
    return not is_test or (step.pattern is None and step.command.startswith("play "))


def _why_open(engine: Engine, command: str) -> str:
    """Return what a command of the set-up itself does that is left open.

    What it inherits from one before, the wrong side to move for instance, was said there.
    """
    session = engine.session
    if command.startswith(NEW_BOARD):
        return ""  # tests on a board of such a size are reported by themselves
    reason: str = session.left_open(split(command))
    return "" if reason == session.left_open([""]) else reason


def _choices(engine: Engine, command: str) -> tuple[str, ...]:
    """Return the moves among which a Gomoku engine's ``genmove`` may choose."""
    words = split(command)
    color = color_of(words[1]) if words[:1] == ["genmove"] and len(words) > 1 else None
    session: Any = engine.session
    if color is None or not isinstance(session.game, GomokuGame) or session.game.is_over:
        return ()
    _, moves = policy_moves(session.game.position, color, session.policy)
    return tuple(vertex(point) for point in moves)


def _after_the_end(engine: Engine, command: str) -> str:
    """Return that a stone comes after the end of the game, where the document has such an end."""
    session: Any = engine.session
    ends = isinstance(session.game, GomokuGame) or isinstance(session, JavaGoSession)
    is_late = ends and command.startswith("play ") and session.game.is_over
    return "the game is over before this move" if is_late else ""


def _refused(right: Reply, name: str) -> str:
    """Return that a command of the set-up is refused: as an error, or in Gomoku's own way."""
    if not right.ok or (name == "play" and right.text):
        return f"this command of the set-up is refused: {one_line(right.raw, 80)}"
    return ""
