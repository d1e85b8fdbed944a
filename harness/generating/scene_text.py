"""The records that travel while case files are made, and chosen scenes as their text."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.judging.strength import KnownWrong
from harness.records import CaseFile
from harness.vocabulary.scenes import FeatureKind, Scene, SceneMoment
from oracle.command_properties import SIZE, PropertyTable
from oracle.position import Position


class SceneTest(NamedTuple):
    """A test of a scene: the right answer, why it is right, and what it looks at."""

    command: str
    expression: str
    reason: str
    identity: tuple[object, ...]  # equal for tests that are the same except for a symmetry


class Staged(NamedTuple):
    """A scene with its answers."""

    scene: Scene
    asked: tuple[SceneTest, ...]  # in the order of the steps that ask
    caught: int  # the mistakes that its tests catch, as bits of their places


class TestBench(Protocol):
    """Wrong engines, and what they do with tests."""

    @property
    def engines(self) -> tuple[KnownWrong, ...]:
        """Return the engines."""

    @property
    def folder(self) -> Path:
        """Return the folder of the case files, in which lie the files that commands name."""

    def map_catches(self, texts: Sequence[str], engine_bits: int) -> list[dict[int, int]]:
        """Return of case files, by the line of each test, the engines that it catches.

        ``engine_bits``: the engines to be asked, as bits.
        """

    def find_caught(self, cases: Sequence[CaseFile]) -> int:
        """Return the engines that case files catch, as bits."""

    def find_wrong(self, text: str) -> set[int]:
        """Return the lines of the tests of a case file that the reference engine fails."""


# --- Chosen scenes as the text of a case file, with comments for a reader ------------------------


_WIDTH = 98


def case_file(
    kind: FeatureKind,
    staged: Sequence[Staged],
    heading: Sequence[str],
    command_properties: PropertyTable,
) -> str:
    """Return the text of a case file: a heading, then each scene with its comments."""
    sentences = {feature.name: feature.sentence for feature in kind.features}
    lines = [f"# {line}" for line in heading]
    number = 10
    for one in staged:
        lines += ["", *_scene(kind, one, sentences, number, command_properties)]
        number += 10 * len(one.asked)
    return "\n".join(lines) + "\n"


def files(staged: Sequence[Staged]) -> Mapping[str, str]:
    """Return the board files that the scenes need."""
    return dict(file for one in staged for file in one.scene.files)


def _scene(
    kind: FeatureKind,
    staged: Staged,
    sentences: dict[str, str],
    number: int,
    command_properties: PropertyTable,
) -> Iterator[str]:
    """Yield a scene: what it is about, where it comes from, the board, the commands."""
    find = staged.scene.find
    sentence = sentences[find.feature]
    yield from comment(f"{find.feature}: {sentence}.")
    yield from comment(provenance(find.moment))
    yield from picture(find.moment.position(), kind.marks)
    yield from commands(staged, number, command_properties, with_reasons=True)


def provenance(moment: SceneMoment) -> str:
    """Return the sentence that says where a position comes from."""
    text = moment.origin.sentence
    if not moment.origin.game:
        return f"The position was {text}."
    return f"From {text}, {f'after move {moment.number}' if moment.number else 'at its start'}."


def commands(
    staged: Staged, first_id: int, command_properties: PropertyTable, *, with_reasons: bool = False
) -> Iterator[str]:
    """Yield the lines of a scene's commands and expectations.

    Before each test stands all that leads to it, from a new board on. So a run can continue after
    an engine failed (:mod:`harness.running.restarting`), and a crash costs one test. What was
    asked before is sent, too: an answer may have changed the board, which must show.
    """
    asked = iter(staged.asked)
    led = [] if _begins_anew(staged.scene, command_properties) else ["clear_board"]
    number = first_id
    for step in staged.scene.steps:
        if step.asked:
            test = next(asked)
            is_told = number > first_id and with_reasons
            if is_told:
                yield ""
                yield "# The same again, for a test of its own."
            yield from led
            yield from comment(test.reason) if with_reasons else ()
            yield f"{number} {test.command}"
            yield f"#? [{test.expression}]"
            number += 10
        led.append(step.command)


def _begins_anew(scene: Scene, command_properties: PropertyTable) -> bool:
    """Whether the board is cleared before anything else is done with it."""
    done = (command_properties[step.command.partition(" ")[0]] for step in scene.steps)
    first = next((one for one in done if one.lays or SIZE not in one.sets), None)
    return first is not None and first.clears


def comment(text: str) -> Iterator[str]:
    """Yield a comment of as many lines as it needs."""
    yield from (f"# {line}" for line in textwrap.wrap(text, _WIDTH, break_long_words=False))


def picture(position: Position, marks: str) -> Iterator[str]:
    """Yield a board as a comment, the top row first."""
    for row in position.to_rows():
        yield f"# {' '.join(marks[color] for color in row)}"
