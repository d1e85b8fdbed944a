"""Case files put to engines in this process, and answers and tests that count as the same."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.core.records import CaseFile, Reply, Step, Verdict
from harness.reading.casefile import dialect_of
from harness.reading.dialect import Dialect
from harness.specifications import NAMES, specification
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.answers import EXACT, MOVE, SETTING, UNDEFINED, AnswerForm, is_a_move
from oracle.errors import OracleError, VertexError
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Breakdown, Crash, Mistake, engine_with, mistaken_engine
from oracle.position import color_of, parse_vertex
from oracle.symmetry import ALL, image, transform

_PLAYOUTS = 0  # any move of the policy will do; to find the best would only take time


def mutant_engine(mistake: Mistake) -> Engine:
    """Return the engine that makes a mistake."""
    return mistaken_engine(mistake, playouts=_PLAYOUTS)


def mutant(mistakes: Iterable[Mistake], assignment: str) -> Engine:
    """Return the engine for an assignment that makes all of some mistakes."""
    return engine_with(mistakes, assignment, playouts=_PLAYOUTS)


def answers(case: CaseFile, engine: Engine) -> Iterator[tuple[Step, str | Breakdown]]:
    """Yield each step with the engine's raw reply, as ``truth.reply_of`` reads it.

    It reads files where an engine of a run would. Where it breaks down, that comes instead, and
    nothing more is asked of it, nor after ``quit``.
    """
    return replay(case.steps, engine.in_folder(folder_of(case)))


def replay(steps: Iterable[Step], engine: Engine) -> Iterator[tuple[Step, str | Breakdown]]:
    """Yield the same for steps of a conversation, wherever the engine is."""
    for step in steps:
        raw = answer(engine, step.text)
        yield step, raw
        if isinstance(raw, Breakdown) or not engine.session.running:
            return


def answer(engine: Engine, text: str) -> str | Breakdown:
    """Return an engine's raw reply to a line, or how it breaks down."""
    try:
        return engine.handle(text)
    except Breakdown as how:
        return how
    except Exception as error:  # noqa: BLE001 - a mistaken program may fail in any way
        return Crash(repr(error))


def failing_lines(case: CaseFile, engine: Engine, dialect: Dialect) -> set[int]:
    """Return the lines of the tests that the engine fails.

    When it breaks down, that is the test under way or the next one.
    """
    dialect = dialect_of(case, dialect)
    found = (find_failed(case, step, raw, dialect) for step, raw in answers(case, engine))
    return {line for lines in found for line in lines}


def find_failed(
    case: CaseFile, step: Step, raw: str | Breakdown, dialect: Dialect
) -> Collection[int]:
    """Return the line of the test, if any, that an engine fails by what it does at a step."""
    if isinstance(raw, Breakdown):  # the first test from there on, if there is one
        return set([t.line for t in case.steps if t.is_test and t.line >= step.line][:1])
    if step.is_test and dialect.verdict(step.pattern, reply_of(raw)) is Verdict.FAILED:
        return (step.line,)
    return ()


def folder_of(case: CaseFile) -> str:
    """Return where an engine of a run would be started: in the folder of the case file."""
    return str(Path(case.path).parent)


# --- The specification of a case file, recognized by its commands. Pure --------------------------


def specifications_of(case: CaseFile) -> tuple[Specification, ...]:
    """Return those that a file may belong to, the likeliest first; none is a stranger.

    The likeliest is the one of whose commands the file has most, of several the first of NAMES.
    Then come its relatives: a file about the policy may show mistakes in the rules as well.
    """
    commands = {step.command for step in case.steps}
    known = {}
    for name in NAMES:
        signs = specification(name).signs
        known[name] = sum(re.fullmatch(signs, command) is not None for command in commands)
    found = [name for name, count in known.items() if count]
    related = {other for name in found for other in specification(name).relatives}
    if not found:
        return ()
    leading = [name for name in found if name not in related]
    likeliest = specification(max(leading, key=known.__getitem__))
    return likeliest, *map(specification, likeliest.relatives)


# --- Answers that count as the same, and tests that are equal up to a symmetry -------------------


def same(command: str, right: Reply, reply: Reply, specification: Specification) -> bool:
    """Return whether the specification accepts ``reply`` where the oracle answers ``right``."""
    form = _form(command, right.text, specification)
    if form is UNDEFINED:
        return True
    if not (right.ok and reply.ok):
        return right.ok is reply.ok
    return form.normal(right.text) == form.normal(reply.text)


def expression(command: str, right: Reply, specification: Specification) -> str:
    """Return the expression for a ``#? [...]`` line that accepts what the specification accepts.

    Raises :class:`ValueError` where the right answer is an error: no expectation accepts one.
    """
    if not right.ok:
        raise ValueError(f"the right answer to {command!r} is an error: {right.text}")
    return _form(command, right.text, specification).expression(right.text)


def forms(command: str, right: Reply, specification: Specification) -> tuple[str, ...]:
    """Return sample texts that the specification accepts, the oracle's own first."""
    samples = _form(command, right.text, specification).samples(right.text)
    return tuple(dict.fromkeys(samples))


def is_exact(command: str, specification: Specification) -> bool:
    """Return whether the position determines the answer.

    It does not for ``genmove``, whose choice is free (though ``pass`` and ``resign`` are not), for
    settings, whose answer nobody reads, and for what the assignment does not define.
    """
    return _find_form(command, specification).is_exact


def is_judged(command: str, specification: Specification) -> bool:
    """Return whether the assignment calls some answers right and some wrong, errors aside.

    It does not for settings, nor for commands that it does not define.
    """
    return _find_form(command, specification) not in (SETTING, UNDEFINED)


def is_underspecified(engine: Engine, command: str) -> bool:
    """Return whether the document leaves open what an oracle's engine answers to a command now."""
    with suppress(OracleError):
        return engine.readings(command).is_open
    return False


def _form(command: str, text: str, specification: Specification) -> AnswerForm:
    form = _find_form(command, specification)
    return EXACT if form is MOVE and not is_a_move(text) else form


def _find_form(command: str, specification: Specification) -> AnswerForm:
    words = command.split()
    table = specification.forms
    if words[:1] == ["known_command"]:  # nobody can tell what else an engine knows
        return EXACT if words[1:] and words[1] in table else UNDEFINED
    return table.get(words[0], UNDEFINED) if words else UNDEFINED


# --- A test for equal tests: equal up to a symmetry of the board and an exchange of colors -------
# A test is its command, the position that it is about, and whatever else its answer depends on:
# side to move, ko, komi, policy, prisoners, the last passes.

Identity = tuple[Any, ...]


def identity(engine: Engine, command: str, specification: Specification) -> Identity:
    """Return what is equal for two tests if they are the same.

    ``engine``: the oracle's, before the command.
    """
    if specification.is_alike:
        return specification.is_alike(engine, command)
    game = engine.session.game
    words = split(command)
    read = specification.depends.get(words[0]) if words else None
    colors, rest = read(engine.session, words) if read else ((), ())
    swaps = (False, True) if specification.swaps else (False,)
    images = []
    for symmetry in ALL:
        turned = transform(game.position, symmetry)
        shape = turned.grid
        for swap in swaps:
            board = turned.swap_colors() if swap else turned
            named = tuple(_word(word, game.position, symmetry, swap) for word in words)
            sided = tuple(_swap_color(color) for color in colors) if swap else colors
            images.append((shape.rows, shape.columns, board.black, board.white, named, sided))
    return (specification.key, *min(images), rest)


def _swap_color(value: int) -> int:
    """Return the other color; codes above those of colors come in pairs, too."""
    return value ^ 3 if value else value


def _word(word: str, position: Any, symmetry: int, swap: bool) -> tuple[Any, ...]:
    """Return a word of a command as it reads after a symmetry: vertices and colors change."""
    shape = position.grid
    color = color_of(word)
    if color is not None:
        return ("color", _swap_color(color) if swap else color)
    try:
        point = parse_vertex(word, shape.rows, shape.columns)
    except VertexError:
        return ("word", word.lower())
    return ("point", *image(point, shape, symmetry))


def identities(case: CaseFile, specification: Specification) -> Iterator[tuple[Step, Identity]]:
    """Yield the tests of a case file with their identities."""
    engine = specification.reference_engine(folder_of(case))
    for step in case.steps:
        if step.is_test:
            yield step, identity(engine, step.command, specification)
        for _, raw in replay((step,), engine):
            if isinstance(raw, Breakdown):
                return
