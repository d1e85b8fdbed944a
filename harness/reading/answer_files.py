"""Case files of answers that end with a status line, as the course has spoken since 2024."""

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache

from harness.core.errors import CaseError, PatternError
from harness.core.records import DONE, Pattern, Reply, Step, Verdict
from harness.core.text import BLANKS
from harness.reading.dialect import Dialect
from harness.reading.pattern import bind_to_deadline, escape_text

COUNTS = "?"  # before a command in a case file: its answer is judged
REFUSED = "= -1"
ILLEGAL = "= illegal move"  # what a status line begins with that says why
EXPECTED = f"a status line: {DONE}, {REFUSED} or {ILLEGAL}: …"


def is_status(line: str) -> bool:
    """Whether a line, without blanks at its ends, is meant to be a status line."""
    return line.startswith("=") and not line.startswith("==")


def is_known(status: str) -> bool:
    """Whether a status line is one."""
    return status in {DONE, REFUSED} or status.startswith(ILLEGAL)


def is_success(status: str) -> bool:
    """Whether a status line is not an error: a move that is illegal is an answer, as in GTP."""
    return status == DONE or status.startswith(ILLEGAL)


def with_status(answer: str, status: str) -> str:
    """Return an answer with what its status says beyond that it was done.

    So expectations of GTP mean the same: ``= illegal move: "a1" occupied`` is the answer to a
    move, and a refusal has only its status to show.
    """
    return "\n".join(part for part in (answer, _text_of(status)) if part)


def whole(reply: Reply) -> str:
    """Return all of an answer: its lines, and its status. A reply of GTP is given one."""
    if not reply.status:
        if not reply.ok:
            status, text = REFUSED, _text_of(REFUSED)
        elif f"= {reply.text}".startswith(ILLEGAL):
            status, text = f"= {reply.text}", reply.text
        else:
            status, text = DONE, reply.text
        reply = reply._replace(text=text, status=status)
    answer = reply.text.removesuffix(_text_of(reply.status)).removesuffix("\n")
    return f"{answer}\n{reply.status}" if answer else reply.status


def _text_of(status: str) -> str:
    return "" if status == DONE else status[1:].strip()


# --- case files of answers ----------------------------------------------------------------------
# The grammar is in ``cases/README.md``; :mod:`harness.reading.conversion` writes them. Pure.

EXPRESSION = "@"  # before the first line of an answer, or any: a regular expression
REASONS = f"= {EXPRESSION}"  # begins a status: the rest is an expression for what is said in it
_COMMENT = "#"
_SHOWN = 60  # characters of a line in a message


class AnswerDialect(Dialect):
    """Dialect of the course's files: it judges the whole answer, and its status."""

    name = "answers"
    expects_errors = True

    def verdict(self, expected: Pattern | None, reply: Reply) -> Verdict:
        """Judge an answer, which may come from a program that speaks GTP.

        Raises:
            UndecidedError: matching takes too long.
        """
        assert expected is not None  # each command has its answer
        answer, status = split_answer(whole(reply))
        wanted, due = split_answer(expected.text)
        if due.startswith(REASONS):
            is_due = bool(_tester(due.removeprefix("= "))(status.removeprefix("= ")))
        else:
            is_due = status == due
        return Verdict.PASSED if is_due and _tester(wanted)(answer) else Verdict.FAILED

    @staticmethod
    def judged(reply: Reply) -> Reply:
        """Return a reply with the text that is judged: all of it."""
        return reply._replace(text=whole(reply))


ANSWERS = AnswerDialect()


def is_of_answers(lines: Sequence[str]) -> bool:
    """Whether some line of a text is a status line, as in no other kind of text."""
    return any(_is_readable(line.strip(BLANKS)) for line in lines)


def _is_readable(status: str) -> bool:
    """Whether the last line of an answer is one that a file may have."""
    return is_known(status) or status.startswith(REASONS)


def steps(lines: Sequence[str], path: str) -> list[Step]:
    """Return the commands of a file with their answers.

    Raises:
        CaseError: a command has no status, or a line is wrong.
    """
    found: list[Step] = []
    block: list[tuple[int, str]] = []  # a command, its answer, its status: each with its line
    for number, line in enumerate(lines, 1):
        text = line.strip(BLANKS)
        if text and not text.startswith(_COMMENT):
            block.append((number, text))
            if is_status(text):
                found.append(_step(block, path))
                block = []
    if block:
        what = f"found the end of the file after {block[0][1][:_SHOWN]!r}"
        raise CaseError(f"{what}, expected {EXPECTED}", path, block[-1][0])
    return found


def _step(block: list[tuple[int, str]], path: str) -> Step:
    (number, first), *answer = block
    if not answer:
        what = f"found {first[:_SHOWN]!r} without a command before it, expected a command"
        raise CaseError(what, path, number)
    command = first.removeprefix(COUNTS).strip(BLANKS).replace("\t", " ")
    if not command:
        raise CaseError(f"found {first!r} alone, expected a command after it", path, number)
    last, status = answer[-1]
    if not _is_readable(status):
        raise CaseError(f"found {status[:_SHOWN]!r}, expected {EXPECTED}", path, last)
    for place, text in block:
        if re.search(rf"\s{_COMMENT}", text):
            what = f"found '{_COMMENT}' in {text[:_SHOWN]!r}"
            raise CaseError(f"{what}, expected comments in lines of their own", path, place)
    text = "\n".join(text for _, text in answer)
    said, _ = split_answer(text)
    try:
        # It matches the whole answer, the status too, for those who show it.
        expression = f"{part_of(said)}\n" if said else ""
        expression += f"= {part_of(status.removeprefix('= '))}"
    except PatternError as error:
        raise CaseError(str(error), path, answer[0][0]) from None
    expected = Pattern(text, expression, negated=False, expected_fail=False)
    return Step(number, command, -1, command, first.startswith(COUNTS), expected)


def part_of(answer: str) -> str:
    """Return the expression for an answer that others may stand beside; raises PatternError."""
    _tester(answer)  # refuses what is not an expression
    return _group(expression_of(answer)) if is_expression(answer) else escape_text(answer)


def _group(expression: str) -> str:
    return f"(?:{expression})" if "|" in expression else expression


def is_expression(answer: str) -> bool:
    """Whether some line of an expected answer is a regular expression."""
    return answer.startswith(EXPRESSION) or f"\n{EXPRESSION}" in answer


def split_answer(text: str) -> tuple[str, str]:
    """Return the lines of an answer, and its status."""
    answer, _, status = text.rpartition("\n")
    return answer, status


def expression_of(answer: str) -> str:
    """Return the expression for an answer: with a mark before its first line all of it is one."""
    lines = answer.split("\n")
    if lines[0].startswith(EXPRESSION):
        return "\n".join(line.removeprefix(EXPRESSION) for line in lines)
    return "\n".join(
        _group(line.removeprefix(EXPRESSION)) if line.startswith(EXPRESSION) else escape_text(line)
        for line in lines
    )


@cache  # many tests expect the same
def _tester(answer: str) -> Callable[[str], object]:
    """Return a test of whether an answer, without its status, is the expected one.

    Raises:
        PatternError: it is not a regular expression.
    """
    if not is_expression(answer):
        return answer.__eq__
    expression = expression_of(answer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what may change in Python does not concern the user
        try:
            compiled = re.compile(expression, re.DOTALL)
        except (re.error, ValueError, OverflowError, RecursionError) as error:
            what = f"{expression[:_SHOWN]!r} is not a regular expression"
            raise PatternError(f"{what}: {error}") from None
    return bind_to_deadline(expression, compiled, "fullmatch")
