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
from random import Random
from typing import NamedTuple

from harness.judging.in_process import expression, folder_of, is_exact, is_underspecified
from harness.reading import casefile
from harness.records import CaseFile, Reply, Step
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.transformations import (
    KINDS,
    ORDER,
    UNCHANGED,
    Beginning,
    Transformation,
    reorder,
)
from oracle.command_properties import CommandProperties
from oracle.gtp.protocol import Engine
from oracle.position import Position

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
            found = [_translate(scene, kind, number, specification, random) for _ in range(_TRIES)]
            lines += max(found, key=lambda one: one.tests).lines
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
    position: Position


class _VariantScene(NamedTuple):
    start: Beginning
    settings: list[str]  # in force when it begins
    commands: list[_AnsweredCommand]
    folder: str  # of the files that are loaded


def _scenes(case: CaseFile, specification: Specification, folder: str) -> Iterator[_VariantScene]:
    engine, settings = specification.reference_engine(folder), _settings(case, specification)
    scene = _VariantScene(specification.beginning(engine), list(settings.values()), [], folder)
    for step in case.steps:
        asked = _ask(engine, step, specification)
        if asked.properties.begins_game:
            yield scene
            start = specification.beginning(engine)
            scene = _VariantScene(start, list(settings.values()), [], folder)
        else:
            scene.commands.append(asked)
        if asked.properties.is_setting:
            settings |= dict.fromkeys(asked.properties.lasting, step.command)
    yield scene


def _settings(case: CaseFile, specification: Specification) -> dict[str, str]:
    """Return by part the settings that matter in a case file, as they begin.

    A setting matters where it is made, and where a question depends on it that does not ask for it
    to be made first. One that nobody makes, such as a komi, stays an engine's own.
    """
    names = {step.command.partition(" ")[0] for step in case.steps}
    used: set[str] = set()
    for name in names:
        properties = specification.commands[name]
        if properties.is_setting:
            used |= properties.lasting
        elif properties.asks and name in specification.forms and name not in specification.first:
            used |= properties.needs
    begun = (one for one in specification.commands.values() if one.initial)
    return {part: one.initial for one in begun for part in one.lasting & used}


def _ask(engine: Engine, step: Step, specification: Specification) -> _AnsweredCommand:
    is_settled = not is_underspecified(engine, step.command)
    properties = specification.commands[step.command.partition(" ")[0]]
    reply = reply_of(engine.handle(step.command))
    return _AnsweredCommand(step, properties, reply, is_settled, _board(engine))


def _board(engine: Engine) -> Position:
    position: Position = engine.session.game.position
    return position


# --- a scene's image ---------------------------------------------------------------------------


class _Image(NamedTuple):
    lines: list[str]
    tests: int


_NONE = _Image([], 0)


def _translate(
    scene: _VariantScene, kind: str, number: int, specification: Specification, random: Random
) -> _Image:
    fits = kind not in specification.unfit
    change = scene.start.draw(kind, random) if fits else None
    if change is None:
        return _NONE
    opening, plain = (scene.start.opening(scene.settings, one) for one in (change, UNCHANGED))
    stage = _VariantStage(specification, scene, opening, number, differs=opening != plain)
    commands = _commands(scene, change, random)
    for asked, command in zip(scene.commands, commands, strict=True):
        if not stage.play(asked, command, change):
            break
    if not stage.kept:
        return _NONE
    first = scene.commands[0].step.line
    return _Image([f"# From line {first}: {change}.", *opening, *stage.kept], stage.tests)


def _commands(scene: _VariantScene, change: Transformation, random: Random) -> list[str]:
    """Return what is sent for each command of the scene."""
    commands = [one.step.command for one in scene.commands]
    if change.kind == ORDER:
        return reorder(commands, random)
    return [scene.start.command(command, change) for command in commands]


class _VariantStage:
    """The image of a scene while it is made, on an engine of the oracle."""

    def __init__(
        self,
        specification: Specification,
        scene: _VariantScene,
        opening: list[str],
        number: int,
        *,
        differs: bool,
    ) -> None:
        self._engine = specification.reference_engine(scene.folder)
        for command in opening:
            self._engine.handle(command)
        self._specification = specification
        self._start = scene.start
        self._number = number
        self._differs = differs  # from the original, in what was sent so far
        self._pending: list[str] = []  # what is needed if a test follows
        self.kept: list[str] = []
        self.tests = 0

    def play(self, entry: _AnsweredCommand, command: str, change: Transformation) -> bool:
        """Take the next command; return whether what follows is still known."""
        builds = _builds(entry, self._specification)
        if not self._start.allows(self._engine, command):
            return False
        if not builds and not is_exact(entry.step.command, self._specification):
            return entry.properties.is_known and entry.properties.asks  # others may do anything
        self._differs = self._differs or command != entry.step.command
        got = _ask(self._engine, entry.step._replace(command=command), self._specification)
        settled = entry.is_settled and got.is_settled and entry.reply.ok is got.reply.ok
        known = settled and got.reply.ok  # what is refused in both does nothing
        alike = change.kind != ORDER or got.position == entry.position  # not so between two plays
        if (
            known
            and alike
            and _is_test(entry)
            and is_exact(entry.step.command, self._specification)
        ):
            self._keep(entry, command, got.reply, builds=builds)
        elif builds and known:
            self._pending.append(command)
        return settled or not builds

    def _keep(self, entry: _AnsweredCommand, command: str, reply: Reply, *, builds: bool) -> None:
        if not self._differs or entry.properties.names_file:
            self._pending += [command] * builds
            return
        wanted = expression(command, reply, self._specification)
        test = f"{entry.step.line * 10 + self._number} {command}"
        self.kept += [*self._pending, test, f"#? [{wanted}]"]
        self._pending = []
        self.tests += 1


def _builds(entry: _AnsweredCommand, specification: Specification) -> bool:
    """Whether what follows depends on a command that all have, and is known after it."""
    properties, name = entry.properties, entry.step.command.partition(" ")[0]
    is_free = properties.chooses or properties.begins_board or properties.ends
    is_had = properties.is_setting or name in specification.forms
    return properties.is_known and properties.sets_up and is_had and not is_free


def _is_test(entry: _AnsweredCommand) -> bool:
    """Whether it is a test that may be relied on."""
    pattern = entry.step.pattern
    unreliable = pattern is not None and (pattern.expected_fail or pattern.ignored)
    return entry.step.is_test and not unreliable
