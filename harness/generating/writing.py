"""Chosen scenes as the text of a case file, with comments for a reader."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from harness.generating.features import Kind
from harness.generating.records import Moment, Staged
from oracle.position import Position

_WIDTH = 98


def case_file(kind: Kind, staged: Sequence[Staged], heading: Sequence[str]) -> str:
    """Return the text of a case file: a heading, then each scene with its comments."""
    sentences = {feature.name: feature.sentence for feature in kind.features}
    lines = [f"# {line}" for line in heading]
    number = 10
    for one in staged:
        lines += ["", *_scene(kind, one, sentences, number)]
        number += 10 * len(one.asked)
    return "\n".join(lines) + "\n"


def files(staged: Sequence[Staged]) -> Mapping[str, str]:
    """Return the board files that the scenes need."""
    return dict(file for one in staged for file in one.scene.files)


def _scene(kind: Kind, staged: Staged, sentences: dict[str, str], number: int) -> Iterator[str]:
    """Yield a scene: what it is about, where it comes from, the board, the commands."""
    find = staged.scene.find
    sentence = sentences[find.feature]
    yield from comment(f"{find.feature}: {sentence}.")
    yield from comment(provenance(find.moment))
    yield from picture(find.moment.position(), kind.marks)
    yield from commands(staged, number, with_reasons=True)


def provenance(moment: Moment) -> str:
    """Return the sentence that says where a position comes from."""
    text = moment.origin.sentence
    if not moment.origin.game:
        return f"The position was {text}."
    return f"From {text}, {f'after move {moment.number}' if moment.number else 'at its start'}."


def commands(staged: Staged, first_id: int, *, with_reasons: bool = False) -> Iterator[str]:
    """Yield the lines of a scene's commands and expectations."""
    asked = iter(staged.asked)
    number = first_id
    for step in staged.scene.steps:
        if not step.asked:
            yield step.command
            continue
        test = next(asked)
        if with_reasons:
            yield from comment(test.reason)
        yield f"{number} {test.command}"
        yield f"#? [{test.expression}]"
        number += 10


def comment(text: str) -> Iterator[str]:
    """Yield a comment of as many lines as it needs."""
    yield from (f"# {line}" for line in textwrap.wrap(text, _WIDTH, break_long_words=False))


def picture(position: Position, marks: str) -> Iterator[str]:
    """Yield a board as a comment, the top row first."""
    for row in position.to_rows():
        yield f"# {' '.join(marks[color] for color in row)}"
