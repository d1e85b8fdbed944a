"""Case files in the other format: for GTP as answers with status lines, and back. Pure.

What is asked and judged is the same in both. What only one format can say is an error at its line:
files of answers know no test that is expected to fail, those for GTP none of a refusal (``= -1``).
Answers have no numbers: on the way back, tests are numbered in tens.
"""

import re
from collections.abc import Iterator

from harness.core.errors import CaseError, PatternError
from harness.core.records import ANSWERS_FILE, DONE, CaseFile, Pattern, Step
from harness.core.text import BLANKS
from harness.reading import answer_files, java_regex
from harness.reading.pattern import escape_answer, escape_text, matcher, plain_texts

_ANY = f"{answer_files.EXPRESSION}.*"
_ILLEGAL = answer_files.ILLEGAL.removeprefix("= ")
_MARKS = (answer_files.COUNTS, "=", "#")  # what begins no command
_COMMENT, _EXPECTATION = "#", "#?"
_REFUSAL = "# refused, which no test for GTP can expect:"
# What Java and Python read alike: characters, escaped punctuation, choices, simple sets.
_COMMON = re.compile(
    r"(?:[^\\^$*+?{}\[\]()#\s]| (?!#)|\\[^\w\s]|\((?:\?:)?|\)|[*+?](?![*+?])|\[\^?[\w ,.-]+\])*",
    re.ASCII,
)
_ANY_CASE, _ASCII, _BOTH = "(?i)", "(?a)", "(?ai)"
_PLAIN = re.compile(r"(?:[^\\^$.*+?{}\[\]()|]|\\[^\w\s]|\\n)*", re.ASCII)  # a single text
_ESCAPED = re.compile(r"\\(.)")
_NEGATED = re.compile(r"(\(\?ai?\))?\(\?!\(\?:(.*)\)\\Z\)\.\*")  # as _for_python() writes it
_PYTHON_ONLY = re.compile(r"\(\?P|\(\?\(|\\[AZ]|(?<!\\)(?<!\[)\^|(?<!\\)\$")


class _CannotError(Exception):
    """Something that the other format cannot say: found, expected."""


# --- answers with status lines -----------------------------------------------------------------


def to_answers(case: CaseFile) -> str:
    """Return a case file for GTP as one of answers with status lines.

    Raises:
        CaseError: a test of it cannot be written so.
    """
    steps = {step.line: step for step in case.steps}
    found: list[str] = []
    for number, line in enumerate(case.lines, 1):
        if step := steps.get(number):
            try:
                what = f"found the command {step.command!r}"
                if step.command.startswith(_MARKS):
                    raise _CannotError(f"{what}, expected one that begins with a letter")
                if re.search(rf"\s{_COMMENT}", step.command):
                    raise _CannotError(f"{what}, expected one without a comment")
                found.append(f"{answer_files.COUNTS if step.is_test else ''}{step.command}")
                if not step.is_test:
                    found.append(DONE)
                else:
                    found += _answer(step.pattern) if step.pattern else (_ANY, DONE)
            except _CannotError as error:
                raise CaseError(str(error), case.path, number) from None
        elif not line.strip(BLANKS).startswith(_EXPECTATION):
            found.append(line.strip(BLANKS))
    return "".join(f"{line}\n" for line in found)


def _answer(pattern: Pattern) -> Iterator[str]:
    """Yield the lines that an expectation for GTP becomes."""
    if pattern.expected_fail or pattern.ignored:
        found = "&" if pattern.ignored else "*"
        raise _CannotError(
            f"found an expectation that ends in {found}, expected a test that passes"
        )
    texts = plain_texts(pattern.expression)
    if _PLAIN.fullmatch(pattern.expression):  # with line ends in it
        texts = (_ESCAPED.sub(lambda one: "\n" if one[1] == "n" else one[1], pattern.expression),)
    illegal = [text for text in texts if text.startswith(_ILLEGAL)]
    if illegal and (len(texts) > 1 or pattern.negated or "\n" in illegal[0]):
        raise _CannotError("found a choice with an illegal move in it, expected this answer alone")
    if not texts and re.match(
        r"(?:\(\?i\)|\(|\[)*illegal move", pattern.expression, re.IGNORECASE
    ):
        what = "found an expression for an illegal move"
        raise _CannotError(f"{what}, expected its text: a status line is compared to the letter")
    if illegal:
        yield f"= {illegal[0]}"
    elif len(texts) == 1 and not pattern.negated:
        yield from (*_literal(texts[0]), DONE)
    else:
        yield from (f"{answer_files.EXPRESSION}{_for_python(pattern)}", DONE)


def _literal(text: str) -> list[str]:
    """Return the lines of an answer that is a text."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if any(  # one of them would be taken for something else
        line.startswith((answer_files.EXPRESSION, _COMMENT))
        or answer_files.is_status(line)
        or " #" in line
        for line in lines
    ):
        whole = r"\n".join(escape_text(line).replace(_COMMENT, rf"\{_COMMENT}") for line in lines)
        return [f"{answer_files.EXPRESSION}{whole}"]
    return lines


def _for_python(pattern: Pattern) -> str:
    """Return the expression of an expectation as Python reads it."""
    expression = pattern.expression
    if _COMMON.fullmatch(expression.removeprefix(_ANY_CASE)):
        found = expression.replace(_ANY_CASE, _BOTH, 1)
    else:
        found = f"{_ASCII}{java_regex.in_python(expression)}"
    if not pattern.negated:
        return found
    flags = next((one for one in (_BOTH, _ASCII) if found.startswith(one)), "")
    return rf"{flags}(?!(?:{found.removeprefix(flags)})\Z).*"


# --- for GTP -----------------------------------------------------------------------------------


def to_gtp(case: CaseFile, *, drops: bool = False) -> str:
    """Return a case file of answers with status lines as one for GTP.

    ``drops``: tests of refusals become setup, with a comment that says so.

    Raises:
        CaseError: a test of it cannot be written so.
    """
    assert case.format == ANSWERS_FILE
    steps = {step.line: step for step in case.steps}
    found, number = list[str](), 0
    for place, line in enumerate(case.lines, 1):
        text = line.strip(BLANKS)
        if step := steps.get(place):
            number += 10 * step.is_test
            try:
                found += _with_expectation(step, number, drops)
            except (_CannotError, PatternError) as error:
                raise CaseError(str(error), case.path, place) from None
        elif not text:
            found.append("")
        elif text.startswith(_COMMENT):  # "#?" would be an expectation
            found.append(f"# ?{text[2:]}" if text.startswith(_EXPECTATION) else text)
    return "".join(f"{line}\n" for line in found)


def _with_expectation(step: Step, number: int, drops: bool) -> list[str]:
    assert step.pattern is not None
    if re.match(r"[0-9+-]", step.command):
        raise _CannotError(
            f"found the command {step.command!r}, expected one that begins with a letter"
        )
    if not step.is_test:
        return [step.command]
    answer, status = answer_files.split_answer(step.pattern.text)
    if status != DONE and not status.startswith((answer_files.ILLEGAL, answer_files.REASONS)):
        if not drops:
            what = f"found a test whose answer is {status!r}, expected {DONE!r}"
            raise _CannotError(f"{what}: GTP's files expect no error (--drop leaves it out)")
        return [_REFUSAL, step.command]
    return [f"{number} {step.command}", f"{_EXPECTATION} [{_for_gtp(answer, status)}]"]


def _for_gtp(answer: str, status: str) -> str:
    """Return the expression of an expectation for GTP, as Java reads it."""
    if status != DONE:
        reason = status.removeprefix("= ")
        if answer.startswith(answer_files.EXPRESSION):  # its mark would hold for the reason, too
            answer = f"{answer_files.EXPRESSION}{answer_files.part_of(answer)}"
            reason = answer_files.part_of(reason)
        answer = "\n".join(filter(None, (answer, reason)))
    if not answer_files.is_expression(answer):
        return escape_answer(answer)
    found = answer_files.expression_of(answer).replace("\n", r"\n")
    if negated := _NEGATED.fullmatch(found):
        return "!" + _in_java((negated[1] or "") + negated[2])
    expression = _in_java(found)
    is_safe = not expression.startswith("!") and expression == expression.strip(BLANKS)
    return expression if is_safe else f"(?:{expression})"


def _in_java(expression: str) -> str:
    found = expression.removeprefix(_ASCII).replace(_BOTH, _ANY_CASE, 1)
    if other := _PYTHON_ONLY.search(found):
        raise _CannotError(
            f"found {other[0]!r} in an expression, expected what GTP's files read alike"
        )
    matcher(found)
    return found
