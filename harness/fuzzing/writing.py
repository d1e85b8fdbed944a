"""A finding as a case file: the shortest script, the board, and why the right answer is right."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.fuzzing.fuzzer import Finding
from harness.fuzzing.judging import Judge
from harness.visible import one_line
from harness.vocabulary.script import name_of

_WIDTH = 97  # of a comment's text
_LONG = 300  # characters of an answer that a comment quotes


def file_name(number: int, finding: Finding) -> str:
    """Return such as ``01-score-too-low.gtp``."""
    command, kind = finding.difference.signature
    words = re.sub(r"[^a-z0-9]+", "-", f"{command} {kind}".lower()).strip("-")
    return f"{number:02}-{words[:50].strip('-')}.gtp"


def write(folder: Path, number: int, finding: Finding, judge: Judge) -> Path:
    """Write a finding and the files it names into a folder; return the case file's path."""
    path = folder / file_name(number, finding)
    path.write_text(text(number, finding, judge), encoding="utf-8")
    names = _names(finding, number)
    for name, content in finding.script.files:
        (folder / names[name]).write_text(content, encoding="utf-8")
    return path


def _names(finding: Finding, number: int) -> dict[str, str]:
    """Return what a finding's files are called beside the case file."""
    files = enumerate(finding.script.files, 1)
    return {name: f"{number:02}-board{index}.txt" for index, (name, _) in files}


def text(number: int, finding: Finding, judge: Judge) -> str:
    """Return the case file of a finding."""
    lines = [
        *_comment(_heading(finding, judge.specification.key)),
        "",
        *_body(number, finding, judge),
    ]
    return "\n".join(lines) + "\n"


def _comment(paragraphs: Iterable[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from (f"# {line}".rstrip() for line in textwrap.wrap(paragraph, _WIDTH) or [""])


def _heading(finding: Finding, key: str) -> Iterator[str]:
    found, times = finding.difference, f"{finding.shown} of {finding.tried}"
    yield f"{key}: {name_of(found.command)}, {found.kind}"
    yield f"The engine's answer: {one_line(found.got, _LONG) or 'nothing'}"
    if finding.mistakes:
        yield f"It answers {_told(finding)}"
    if finding.is_flaky:
        yield f"Not stable: {times} new processes showed it."


def _told(finding: Finding) -> str:
    first, *others = finding.mistakes
    more = f" (or like {len(others)} more mistakes that look the same here)" if others else ""
    return f"{first.clause}{more}."


def _body(number: int, finding: Finding, judge: Judge) -> Iterator[str]:
    names, last = _names(finding, number), len(finding.script.commands) - 1
    for index, (command, wanted, is_test) in enumerate(judge.expectations(finding.script)):
        if index == last and not names.keys() & command.split():
            board, why = judge.picture(finding.script)
            yield from (f"# {line}".rstrip() for line in board.split("\n") if board)
            yield from _comment([why] if why else [])
        sent = " ".join(names.get(word, word) for word in command.split())
        yield f"{10 * (index + 1)} {sent}" if is_test else sent
        if is_test and wanted is not None:
            yield f"#? [{wanted}]"
