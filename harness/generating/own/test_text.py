"""Tests for a declared game as the text of a case file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.declared.declaration import Declaration
from harness.generating.own.records import Draft
from harness.generating.scene_text import comment

_REFUSED = "# refused, on purpose:"  # above a command, so that verify knows


def case_file(drafts: Sequence[Draft], heading: Iterable[str]) -> str:
    """Return the text of a case file: a heading, then each test with all that leads to it."""
    lines = [f"# {line}" for line in heading]
    for number, one in enumerate(drafts, 1):
        lines += ["", *comment(f"{one.name}. {describe_origin(one)}")]
        for place, line in enumerate(commands(one, 10 * number)):
            lines += [*([_REFUSED] if place in one.refused else []), line]
    return "\n".join(lines) + "\n"


def describe_origin(one: Draft) -> str:
    """Return the sentence that says where the position of a test comes from."""
    taken = "taken " if one.origin.startswith("from ") else ""
    return f"The position was {taken}{one.origin}."


def commands(one: Draft, number: int) -> Iterator[str]:
    """Yield the lines of a test; ``number``: its id."""
    yield from one.setup
    yield f"{number} {one.command}"
    yield f"#? [{one.expression}]"


def find_named_files(drafts: Iterable[Draft], declaration: Declaration, folder: Path) -> list[str]:
    """Return the files that tests name, as they name them; ``folder``: in which they lie."""
    lines = (line.split() for one in drafts for line in (*one.setup, one.command))
    return sorted(
        {
            word
            for name, *words in lines
            for word in words
            if _names_files(declaration, name) and (folder / word).is_file()
        }
    )


def _names_files(declaration: Declaration, name: str) -> bool:
    command = declaration.command(name)
    return command is not None and any(one.files for one in command.arguments)


def plain(drafts: Iterable[Draft], *, alone: bool = True) -> tuple[str, list[int]]:
    """Return tests as the text of a case file to be run, and the line of each one's command.

    Without ``alone`` what leads to several tests in a row is said once, which is much faster.
    """
    lines: list[str] = []
    places = []
    before: tuple[str, ...] | None = None
    for one in drafts:
        added = list(commands(one, 1))
        lines += added if alone or one.setup != before else added[len(one.setup) :]
        places.append(len(lines) - 1)
        before = one.setup
    return "\n".join(lines) + "\n", places
