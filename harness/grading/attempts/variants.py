"""Images of public tests: the same questions in another form, with answers from the oracle.

A case file falls into *scenes*. Each begins with an empty board (or one from a file). For
each kind of change every scene is translated command by command and put to the oracle, whose
answers become the expectations. What has no image: commands without an exact answer, positions
that the document leaves open, whatever comes after a move that an engine chooses itself or after a
command that has another result in the image (no capture on a larger board, say), and what the
change leaves as it was, to the letter. A board from a file is set up by commands instead; one that
is not a square, and files that are asked about as files (``is_valid``), have no image. Of a
declared game (:mod:`harness.declared.engine`) a board is begun as the case file begins it.

An image is a case file like any other. The number of a test in it says which one it is an image
of: see :func:`origin`. The same seed gives the same file.
"""

from collections.abc import Iterator
from itertools import groupby
from random import Random
from typing import NamedTuple

from harness.core.records import CaseFile, Reply, Step
from harness.judging.in_process import expression, folder_of, is_exact, is_underspecified
from harness.reading import casefile
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.transformations import (
    KINDS,
    ORDER,
    UNCHANGED,
    Beginning,
    OracleBeginning,
    Transformation,
)
from oracle.command_properties import CommandProperties
from oracle.gtp.protocol import Engine
from oracle.position import Position, color_of

_TRIES = 4  # draws of a change for a scene; the one with most tests is taken


class VariantOrigin(NamedTuple):
    """The test from which an image was made."""

    kind: str  # of change: one of KINDS
    line: int  # 1-based, in the case file of the same name


def origin(step: Step) -> VariantOrigin:
    """Return what a test of an image is the image of: its number is ten times the line, and more.

    The last digit is the kind's place in :data:`KINDS`.
    """
    line, kind = divmod(step.id, 10)
    return VariantOrigin(KINDS[kind], line)


def image_of(
    case: CaseFile, specification: Specification, seed: str, folder: str | None = None
) -> CaseFile | None:
    """Return the variants of a case file's tests as a case file of that name, or None.

    ``seed``: a secret of the grading. ``folder``: the boards that the file loads are there; None
    for its own folder.
    """
    place = folder_of(case) if folder is None else folder
    scenes = [scene for scene in _scenes(case, specification, place) if scene.commands]
    lines: list[str] = []
    for number, kind in enumerate(KINDS):
        random = Random(f"{seed}\0{case.path}\0{kind}")
        for scene in scenes:
            found = [
                _translate(scene, number, specification, place, random) for _ in range(_TRIES)
            ]
            lines += max(found, key=lambda image: image[0])[1]
    if not lines:
        return None
    text = "\n".join([f"# Images of the tests of {case.path}.", *lines, ""])
    return casefile.parse(text.encode("utf-8", "surrogateescape"), case.path)


# --- a case file as scenes ---------------------------------------------------------------------


class _AnsweredCommand(NamedTuple):
    """A command with the oracle's answer, and the board after it."""

    step: Step
    properties: CommandProperties
    reply: Reply
    is_settled: bool
    is_exact: bool  # the position determines the answer
    builds: bool  # what follows depends on it, all have it, and what it does is known
    position: Position


class _VariantScene(NamedTuple):
    start: Beginning
    settings: list[str]  # in force when it begins
    commands: list[_AnsweredCommand]


def _scenes(case: CaseFile, specification: Specification, folder: str) -> Iterator[_VariantScene]:
    engine, settings = specification.reference_engine(folder), _settings(case, specification)

    def begin() -> _VariantScene:
        return _VariantScene(_beginning(engine, specification), list(settings.values()), [])

    scene = begin()
    for step in case.steps:
        asked = _ask(engine, step, specification)
        if asked.properties.begins_game:
            yield scene
            scene = begin()
        else:
            scene.commands.append(asked)
        if asked.properties.is_setting:
            settings |= dict.fromkeys(asked.properties.lasting, step.command)
    yield scene


def _beginning(engine: Engine, specification: Specification) -> Beginning:
    """Return where a scene begins; ``engine``: the right one, which stands there."""
    if specification.begun:
        return specification.begun(engine)
    return OracleBeginning(engine.session.game.position, specification.board)


def _settings(case: CaseFile, specification: Specification) -> dict[str, str]:
    """Return by part the settings that matter in a case file, as they begin.

    A setting matters where it is made, and where a question depends on it that does not ask for it
    to be made first. One that nobody makes, such as a komi, stays an engine's own.
    """
    used: set[str] = set()
    for name in {step.name for step in case.steps}:
        properties = specification.commands[name]
        if properties.is_setting:
            used |= properties.lasting
        elif properties.asks and name in specification.forms and name not in specification.first:
            used |= properties.needs
    begun = (one for one in specification.commands.values() if one.initial)
    return {part: one.initial for one in begun for part in one.lasting & used}


def _ask(engine: Engine, step: Step, specification: Specification) -> _AnsweredCommand:
    one = specification.commands[step.name]
    is_free = one.chooses or one.begins_board or one.ends
    is_had = one.is_setting or step.name in specification.forms
    return _AnsweredCommand(
        step,
        one,
        is_settled=not is_underspecified(engine, step.command),
        is_exact=is_exact(step.command, specification),
        builds=one.is_known and one.sets_up and is_had and not is_free,
        reply=reply_of(engine.handle(step.command)),
        position=engine.session.game.position,
    )


# --- a scene's image ---------------------------------------------------------------------------


class _Image:
    """The image of a scene while it is made, on an engine of the oracle."""

    def __init__(
        self,
        specification: Specification,
        engine: Engine,
        number: int,
        *,
        differs: bool,
    ) -> None:
        self._specification = specification
        self._engine = engine
        self._number = number
        self._differs = differs  # from the original, in what was sent so far
        self._pending: list[str] = []  # what is needed if a test follows
        self.lines: list[str] = []
        self.tests = 0

    def play(self, entry: _AnsweredCommand, command: str, change: Transformation) -> bool:
        """Take the next command; return whether what follows is still known."""
        if not entry.builds and not entry.is_exact:
            return entry.properties.is_known and entry.properties.asks  # others may do anything
        self._differs = self._differs or command != entry.step.command
        got = _ask(self._engine, entry.step._replace(command=command), self._specification)
        settled = entry.is_settled and got.is_settled and entry.reply.ok is got.reply.ok
        known = settled and got.reply.ok  # what is refused in both does nothing
        alike = change.kind != ORDER or got.position == entry.position  # not so between two plays
        pattern, is_test = entry.step.pattern, entry.is_exact and entry.step.is_test
        unreliable = pattern is not None and (pattern.expected_fail or pattern.ignored)
        if unreliable or not (known and alike and is_test):
            self._pending += [command] * (entry.builds and known)
        elif not self._differs or entry.properties.names_file:
            self._pending += [command] * entry.builds
        else:
            wanted = expression(command, got.reply, self._specification)
            test = f"{entry.step.line * 10 + self._number} {command}"
            self.lines += [*self._pending, test, f"#? [{wanted}]"]
            self._pending = []
            self.tests += 1
        return settled or not entry.builds


def _translate(
    scene: _VariantScene,
    number: int,
    specification: Specification,
    folder: str,
    random: Random,
) -> tuple[int, list[str]]:
    """Return the number of tests in an image of a scene, and its lines, if it has tests.

    ``number``: the place of the kind of change in :data:`KINDS`.
    """
    kind, start = KINDS[number], scene.start
    change = None if kind in specification.unfit else start.draw(kind, random)
    if change is None:
        return 0, []
    opening, plain = (start.opening(scene.settings, one) for one in (change, UNCHANGED))
    engine = specification.reference_engine(folder)
    for command in opening:
        engine.handle(command)
    image = _Image(specification, engine, number, differs=opening != plain)
    commands = [one.step.command for one in scene.commands]
    if change.kind == ORDER:
        commands = reorder(commands, random)
    else:
        commands = [start.command(command, change) for command in commands]
    for asked, command in zip(scene.commands, commands, strict=True):
        if not (start.allows(engine, command) and image.play(asked, command, change)):
            break
    if not image.lines:
        return 0, []
    first = scene.commands[0].step.line
    return image.tests, [f"# From line {first}: {change}.", *opening, *image.lines]


def reorder(commands: list[str], random: Random) -> list[str]:
    """Return commands that set stones, in another order in which colors follow each other alike.

    A row of ``play`` keeps its colors and exchanges the points of each; a ``gogui-setup`` puts
    its stones in any order.
    """
    done: list[str] = []
    for _, row in groupby(commands, key=lambda command: command.partition(" ")[0]):
        same = list(row)
        run = [command.split() for command in same]
        name = run[0][0]
        if name == "play":
            points: dict[int | None, list[str]] = {}
            for words in run:
                points.setdefault(color_of(words[1]), []).append(" ".join(words[2:]))
            for own in points.values():
                random.shuffle(own)
            done += [f"play {words[1]} {points[color_of(words[1])].pop()}" for words in run]
        elif name == "gogui-setup":
            for words in run:
                pairs = list(zip(words[1::2], words[2::2], strict=False))
                random.shuffle(pairs)
                done.append(" ".join([name, *(word for pair in pairs for word in pair)]))
        else:
            done += same
    return done
