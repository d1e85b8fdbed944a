"""A finding as a case file: the shortest script, the board, and why the right answer is right."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness.escaping import one_line
from harness.fuzzing.fuzzer import FuzzFinding
from harness.fuzzing.reply_judge import Expected, ReplyJudge
from harness.options import GTP, STATUS_LAST
from harness.reading import casefile, conversion
from harness.reading.answer_files import REASONS
from harness.reading.statuses import COUNTS, ILLEGAL
from harness.vocabulary.script import name_of

_WIDTH = 97  # of a comment's text
_UNSAID = (
    "The right answer is an error, which no file for GTP can expect: the tests here ask what holds"
    " after it, and an engine may pass them. Send it the commands to see what it answers."
)
_LONG = 300  # characters of an answer that a comment quotes


def file_name(number: int, finding: FuzzFinding, protocol: str = GTP) -> str:
    """Return such as ``01-score-too-low.gtp``; ``protocol``: what the engine speaks."""
    command, kind = finding.difference.signature
    words = re.sub(r"[^a-z0-9]+", "-", f"{command} {kind}".lower()).strip("-")
    return f"{number:02}-{words[:50].strip('-')}{_FORMATS[protocol].ending}"


def write(
    folder: Path, number: int, finding: FuzzFinding, judge: ReplyJudge, protocol: str = GTP
) -> Path:
    """Write a finding and the files it names into a folder; return the case file's path."""
    path = folder / file_name(number, finding, protocol)
    path.write_text(text(number, finding, judge, protocol), encoding="utf-8")
    names = _names(finding, number)
    for name, content in finding.script.files:
        (folder / names[name]).write_text(content, encoding="utf-8")
    return path


def _names(finding: FuzzFinding, number: int) -> dict[str, str]:
    """Return what a finding's files are called beside the case file."""
    files = enumerate(finding.script.files, 1)
    return {name: f"{number:02}-board{index}.txt" for index, (name, _) in files}


def text(number: int, finding: FuzzFinding, judge: ReplyJudge, protocol: str = GTP) -> str:
    """Return the case file of a finding."""
    beyond = [_UNSAID] if protocol == GTP and finding.difference.right.startswith("?") else []
    lines = [
        *_comment([*_heading(finding, judge.specification.key), *beyond]),
        "",
        *_body(number, finding, judge, _FORMATS[protocol].lines),
    ]
    return "\n".join(lines) + "\n"


def _comment(paragraphs: Iterable[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from (f"# {line}".rstrip() for line in textwrap.wrap(paragraph, _WIDTH) or [""])


def _heading(finding: FuzzFinding, key: str) -> Iterator[str]:
    found, times = finding.difference, f"{finding.shown} of {finding.tried}"
    yield f"{key}: {name_of(found.command)}, {found.kind}"
    yield f"The engine's answer: {one_line(found.got, _LONG) or 'nothing'}"
    if finding.mistakes:
        yield f"It answers {_describe(finding)}"
    for one in finding.engines:
        yield f"It goes wrong as {one.name} does: {one.sentence}"
    if finding.is_flaky:
        yield f"Flaky: {times} new processes showed it."


def _describe(finding: FuzzFinding) -> str:
    first, *others = finding.mistakes
    more = f" (or like {len(others)} more mistakes that look the same here)" if others else ""
    return f"{first.clause}{more}."


def _body(number: int, finding: FuzzFinding, judge: ReplyJudge, lines: _Lines) -> Iterator[str]:
    names, last = _names(finding, number), len(finding.script.commands) - 1
    for index, expected in enumerate(judge.expectations(finding.script)):
        is_last, words = index == last, expected.command.split()
        if is_last and not names.keys() & words:
            board, why = judge.picture(finding.script)
            yield from (f"# {line}".rstrip() for line in board.split("\n") if board)
            yield from _comment([why] if why else [])
        sent = " ".join(names.get(word, word) for word in words)
        yield from lines(expected._replace(command=sent), 10 * (index + 1), is_last)


# --- formats -----------------------------------------------------------------------------------


def _for_gtp(expected: Expected, number: int, is_last: bool) -> Iterator[str]:
    """Yield the lines of a command of a case file for GTP; ``number``: its id."""
    yield f"{number} {expected.command}" if expected.is_test else expected.command
    if expected.is_test and expected.expression is not None:
        yield f"#? [{expected.expression}]"


def _as_answer(expected: Expected, number: int, is_last: bool) -> Iterator[str]:
    """Yield a command of a case file with status lines, with its answer, maybe a refusal."""
    if not expected.refused:
        lines = "\n".join(_for_gtp(expected, number, is_last))
        case = casefile.parse(f"{lines}\n".encode(), f"{number}.gtp")
        yield from conversion.to_answers(case).splitlines()
        return
    is_told = expected.refused.startswith(ILLEGAL)  # right programs give other reasons
    status = f"{REASONS}{ILLEGAL.removeprefix('= ')}.*" if is_told else expected.refused
    yield from (f"{COUNTS if is_last else ''}{expected.command}", status)


_Lines = Callable[[Expected, int, bool], Iterator[str]]  # the last one: whether it is the finding


class _Format(NamedTuple):
    """How case files of a protocol are written."""

    ending: str  # of their names
    lines: _Lines


_FORMATS = {GTP: _Format(".gtp", _for_gtp), STATUS_LAST: _Format(".txt", _as_answer)}
