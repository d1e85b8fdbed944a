"""The records of verifying, and what is wrong with an expectation, given the oracle's answer."""

import enum
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.core.errors import UndecidedError
from harness.core.records import Reply, Step, Verdict
from harness.core.text import one_line, some
from harness.judging import in_process
from harness.reading.dialect import Dialect
from harness.specifications.record import Specification


class FindingKind(enum.Enum):
    """Faults of a line of a case file, the worst first."""

    WRONG = "wrong"  # the right answer is refused, in every form
    LOOSE = "too loose"  # a wrong answer is accepted
    TIGHT = "too tight"  # the right answer is refused in some form
    OPEN = "underspecified"  # readings of the document differ, and one is refused
    UNREACHABLE = "unreachable"  # the position cannot be set up, or the test is never reached
    QUESTION = "a question"  # the reference refuses what other programs answer
    DUPLICATE = "duplicate"  # an earlier test asks the same


class CaseFinding(NamedTuple):
    """One fault of a case file."""

    kind: FindingKind
    path: str
    line: int
    command: str  # as in the file, number included
    message: str  # one sentence
    found: str = ""  # the expectation, or the answer to a command of the setup
    expected: str = ""  # what should stand there
    reason: str = ""  # why the right answer is right


class OracleAnswer(NamedTuple):
    """A test, and what the oracle knows of it."""

    step: Step
    right: Reply
    readings: tuple[str, ...] | None  # the answers under each reading, where they differ
    why_open: str  # or why the document leaves the answer open without readings
    choices: tuple[str, ...]  # of genmove: the moves that are right, at least one; else none
    is_free: bool  # an engine's own choice has led here: other engines are elsewhere
    reason: str  # the oracle's explanation


class Verified(NamedTuple):
    """The result for some case files."""

    files: int
    tests: int
    unchecked: int  # tests of settings, and of commands that the assignment does not define
    findings: tuple[CaseFinding, ...]  # in the order of the files and lines


# --- Wrong answers close to a right one: what a loose expectation accepts by accident. Pure ------
# They are slips of programs (another sign, a number off by one, a move too many) and of those who
# write patterns (a point that is no ``\.`` matches any character, no ``^`` is needed but ``.*`` is
# often there). Whether they are wrong is for :func:`harness.judging.in_process.same` to say.


_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
# Answers that are taken for each other.
_ALTERNATIVES = (("true", "false"), ("black", "white", "draw", "unknown"), ("resign", "pass"))
_TYPES = ("Win", "BlockWin", "OpenFour", "BlockOpenFour", "Random")
_REASONS = ("wrong color", "wrong coordinate", "occupied")
_SCORE = re.compile(r"[BW]\+.+|0")
_ERROR = re.compile(r'illegal move: "(.*)" (.*)')


def near(text: str) -> Iterator[str]:
    """Yield texts that are like a right answer and most of them wrong."""
    for words in _ALTERNATIVES:
        yield from (word for word in words if text in words and word != text)
    yield from ("", f"{text} {text}", f"{text}x", f"x{text}", f"{text} a", f"[{text}]")
    if text:
        for number in _NUMBER.finditer(text):
            whole, point, fraction = number[0].partition(".")
            for value in (int(whole) + 1, abs(int(whole) - 1), int(whole) * 10):
                yield f"{text[: number.start()]}{value}{point}{fraction}{text[number.end() :]}"
        for place, character in enumerate(text):  # what a pattern may take for something else
            if character in ".+*?|()-":
                begin, end = text[:place], text[place + 1 :]
                yield from (f"{begin}{other}{end}" for other in ("0", "!", ""))
    if _SCORE.fullmatch(text):
        yield from ("0.0", "B+0", "W+0", "B+0.0", "W+0.0")
        if text != "0":
            other = {"B": "W", "W": "B"}[text[0]]
            yield from ("0", text[2:], f"{text[0]}-{text[2:]}", f"{text[0]}+-{text[2:]}")
            yield from (other + text[1:], f"{text}.0", f"{text}.5", f"{text}0")
            yield text.partition(".")[0]
    elif error := _ERROR.fullmatch(text):
        argument, reason = error.groups()
        yield from (f'illegal move: "{argument}" {other}' for other in _REASONS)
        yield from (f"illegal move: {argument} {reason}", f'illegal move: "" {reason}')
        yield f'illegal move: "b {argument}" {reason}'
        yield from (f'"{argument}" {reason}', "illegal move")
    elif not text.startswith("There "):
        yield from _lists(text.split(" "))


def _lists(words: list[str]) -> Iterator[str]:
    first = words[0]
    for place in range(len(words)):
        yield " ".join(words[:place] + words[place + 1 :])
    yield from (" ".join(turned) for turned in (words[::-1], [first, *words[:0:-1]]))
    yield " ".join([*words, words[-1]])
    if first in _TYPES:
        yield from (" ".join([kind, *words[1:]]) for kind in _TYPES)


# --- One expectation against the right answer, its forms, and wrong answers. Pure ----------------


_SHOWN = 60  # characters of an answer
_A_POINT = re.compile(r"(.*?)([A-Za-z])([0-9]+)", re.ASCII)
_NEVER = ("pass", "resign", "A0", "I1", "Z99")  # no moves, on any board of Gomoku


class ExpectationJudge:
    """Holds the expectations of one file against what the oracle knows."""

    def __init__(self, path: str, specification: Specification, dialect: Dialect) -> None:
        self._path = path
        self._specification = specification
        self._dialect = dialect

    def findings(
        self, answer: OracleAnswer, mistaken: Iterable[tuple[str, Reply]]
    ) -> Iterator[CaseFinding]:
        """Yield what is wrong with a test.

        ``mistaken``: the replies of mutants to it, with the names of their mistakes.
        """
        try:
            if answer.readings is not None:
                yield from self._open(answer)
            elif not answer.right.ok:
                if not (self._dialect.expects_errors and self._passes(answer.step, answer.right)):
                    text = f"the right answer is an error: {one_line(answer.right.text, _SHOWN)}"
                    yield self._finding(FindingKind.WRONG, answer, text)
            else:
                forms = self._forms(answer)
                refused = [text for text in forms if not self.accepts(answer.step, text)]
                if len(refused) == len(forms):
                    kind = FindingKind.WRONG
                    text = f"the right answer is {_quote([answer.right.text])}"
                elif refused:
                    kind = FindingKind.TIGHT
                    text = f"it refuses {_quote(refused)}, which is right, too"
                else:
                    kind = FindingKind.LOOSE
                    text = next(self._wrongly_accepted(answer, mistaken), "")
                if text:
                    yield self._finding(kind, answer, text, self._suggest_better(answer))
        except UndecidedError as error:
            yield self._finding(FindingKind.WRONG, answer, str(error))

    def accepts(self, step: Step, text: str) -> bool:
        """Return whether a test passes with this answer; a star changes nothing in that."""
        return self._passes(step, Reply(True, text, f"= {text}", 0.0))

    def _passes(self, step: Step, reply: Reply) -> bool:
        pattern = step.pattern and step.pattern._replace(expected_fail=False, ignored=False)
        return self._dialect.verdict(pattern, reply) is Verdict.PASSED

    def _open(self, answer: OracleAnswer) -> Iterator[CaseFinding]:
        answers = answer.readings or ()
        if answer.step.pattern is None or (
            answers and all(self.accepts(answer.step, text) for text in answers)
        ):
            return  # whatever the document means, the answer is accepted
        text = f"the document leaves the answer open: {answer.why_open}"
        either = " or ".join(one_line(one, _SHOWN) or "nothing" for one in answers)
        yield self._finding(FindingKind.OPEN, answer, text, either)

    def _forms(self, answer: OracleAnswer) -> tuple[str, ...]:
        if answer.choices:
            return tuple(dict.fromkeys(t for one in answer.choices for t in (one, one.lower())))
        return in_process.forms(answer.step.command, answer.right, self._specification)

    def _wrongly_accepted(
        self, answer: OracleAnswer, mistaken: Iterable[tuple[str, Reply]]
    ) -> Iterator[str]:
        """Yield a sentence for each wrong answer that is accepted."""
        if answer.is_free:
            return  # which answers are wrong depends on the engine's own choice
        step = answer.step
        if choices := answer.choices:
            # The points of the smallest board around some moves that are none of them. What comes
            # before a move in each choice, the winner for instance, stays.
            moves = [match for match in map(_A_POINT.fullmatch, choices) if match]
            rows = range(1, max((int(match[3]) for match in moves), default=0) + 1)
            starts = sorted({match[1] + match[2] for match in moves})
            points = [f"{start}{row}" for start in starts for row in rows]
            others = (*_NEVER, *(point for point in points if point not in choices))
            yield from (_accepts_wrong(text) for text in others if self.accepts(step, text))
            return
        for name, reply in mistaken:
            if self._is_wrong(answer, reply.text) and reply.ok and self.accepts(step, reply.text):
                yield f"{_accepts_wrong(reply.text)} (mistake {name})"
        for text in (wrong for form in self._forms(answer) for wrong in near(form)):
            if self._is_wrong(answer, text) and self.accepts(step, text):
                yield _accepts_wrong(text)

    def _is_wrong(self, answer: OracleAnswer, text: str) -> bool:
        if text == answer.right.text:
            return False
        got = Reply(True, text.strip(), "", 0.0)
        return not in_process.same(answer.step.command, answer.right, got, self._specification)

    def _suggest_better(self, answer: OracleAnswer) -> str:
        """Return the expectation that accepts what it should, and no more."""
        if answer.choices:
            return f"(?i)({'|'.join(choice.lower() for choice in answer.choices)})"
        if answer.is_free:
            return ""
        return in_process.expression(answer.step.command, answer.right, self._specification)

    def _finding(
        self, kind: FindingKind, answer: OracleAnswer, message: str, expected: str = ""
    ) -> CaseFinding:
        step = answer.step
        found = step.pattern.text if step.pattern else "any answer but an error"
        return CaseFinding(
            kind, self._path, step.line, step.text, message, found, expected, answer.reason
        )


def _accepts_wrong(text: str) -> str:
    return f"it accepts {_quote([text])}, which is wrong"


def _quote(texts: Sequence[str]) -> str:
    shown = (f"'{one_line(text, _SHOWN)}'" if text else "an empty answer" for text in texts)
    return some(shown, 3)
