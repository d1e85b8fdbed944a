"""A finding as a case file: the shortest script, the board, and why the right answer is right."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.fuzzing.fuzzer import Finding
from harness.fuzzing.judging import expectations
from harness.judging.equivalence import expression, is_exact
from harness.judging.explain import explanation
from harness.specifications.record import Specification
from harness.visible import one_line
from harness.vocabulary.script import name_of, with_files
from oracle.draw import Diagram, draw_text

_WIDTH = 97  # of a comment's text
_LONG = 300  # characters of an answer that a comment quotes


def file_name(number: int, finding: Finding) -> str:
    """Return such as ``01-score-too-low.gtp``."""
    command, kind = finding.difference.signature
    words = re.sub(r"[^a-z0-9]+", "-", f"{command} {kind}".lower()).strip("-")
    return f"{number:02}-{words[:50].strip('-')}.gtp"


def write(
    folder: Path, number: int, finding: Finding, specification: Specification, room: Path
) -> Path:
    """Write a finding and the files it names into a folder; return the case file's path.

    ``room``: a folder in which the oracle may find those files meanwhile.
    """
    path = folder / file_name(number, finding)
    path.write_text(text(number, finding, specification, room), encoding="utf-8")
    names = _names(finding, number)
    for name, content in finding.script.files:
        (folder / names[name]).write_text(content, encoding="utf-8")
    return path


def _names(finding: Finding, number: int) -> dict[str, str]:
    """Return what a finding's files are called beside the case file."""
    files = enumerate(finding.script.files, 1)
    return {name: f"{number:02}-board{index}.txt" for index, (name, _) in files}


def text(number: int, finding: Finding, specification: Specification, room: Path) -> str:
    """Return the case file of a finding."""
    lines = [
        *_comment(_heading(finding, specification)),
        "",
        *_body(number, finding, specification, room),
    ]
    return "\n".join(lines) + "\n"


def _comment(paragraphs: Iterable[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from (f"# {line}".rstrip() for line in textwrap.wrap(paragraph, _WIDTH) or [""])


def _heading(finding: Finding, specification: Specification) -> Iterator[str]:
    found, times = finding.difference, f"{finding.shown} of {finding.tried}"
    yield f"{specification.key}: {name_of(found.command)}, {found.kind}"
    yield f"The engine's answer: {one_line(found.got, _LONG) or 'nothing'}"
    if finding.mistakes:
        yield f"It answers {_told(finding)}"
    if finding.is_flaky:
        yield f"Not stable: {times} new processes showed it."


def _told(finding: Finding) -> str:
    first, *others = finding.mistakes
    more = f" (or like {len(others)} more mistakes that look the same here)" if others else ""
    return f"{first.clause}{more}."


def _body(
    number: int, finding: Finding, specification: Specification, room: Path
) -> Iterator[str]:
    names = _names(finding, number)
    answered = expectations(finding.script, specification, room)
    for index, (command, right) in enumerate(answered):
        is_last = index == finding.difference.at
        if is_last and not names.keys() & command.split():
            yield from _board(finding, specification, room)
        sent = " ".join(names.get(word, word) for word in command.split())
        is_test = is_last or (right is not None and is_exact(command, specification))
        yield f"{10 * (index + 1)} {sent}" if is_test else sent
        if is_test and right is not None:
            yield f"#? [{expression(command, right, specification)}]"


def _board(finding: Finding, specification: Specification, room: Path) -> Iterator[str]:
    """Yield the board before the last command, and the oracle's reason, as comments."""
    engine, last = specification.right_engine(), finding.difference.at
    with with_files(finding.script, room):
        for command in finding.script.commands[:last]:
            engine.handle(command)
    why = explanation(engine, finding.difference.command)
    diagram = Diagram(engine.session.game.position, marks=why.marks if why else {})
    yield from (f"# {line}".rstrip() for line in draw_text(diagram, unicode=False).split("\n"))
    yield from _comment([why.text] if why else [])
