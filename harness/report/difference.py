"""The question, the right answer and the reply in plain words, and where the reply differs."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from harness.core.errors import UndecidedError
from harness.core.records import Outcome, Pattern, Reply, Step, Verdict
from harness.engine.replies import foreign_id
from harness.reading.expectation import EMPTY, examples, in_words, put_in_words
from harness.reading.pattern import within
from harness.report.board_evidence import objection, right_answers
from harness.report.file_view import FileView
from harness.vocabulary.answers import Wordings, word_answer, word_question

# Longer texts are only compared from both ends: aligning takes quadratic time.
_MAX_WORDS = 600
# A hint tries the pattern again, in ways that may be slower than the judgment's.
_MAX_HINT = 2_000
_HINT_SECONDS = 0.1
_FLAGS = re.MULTILINE | re.DOTALL | re.ASCII


class Segment(NamedTuple):
    """A piece of text, and whether it has no partner on the other side."""

    text: str
    differs: bool


class TextDifference(NamedTuple):
    """Both sides in pieces that join to the whole text, and a remark or ``""``."""

    expected: tuple[Segment, ...]
    got: tuple[Segment, ...]
    hint: str


def difference(pattern: Pattern | None, reply: Reply, id_: int = -1) -> TextDifference:
    """Compare a reply with the expectation that it did not meet; ``id_``: the command's id."""
    compare = _difference if len(reply.text) > _MAX_HINT else _known_difference
    found = compare(pattern, reply.ok, reply.text)
    if not reply.status and (other := foreign_id(reply.raw, id_)):
        hint = f"The reply has the id {other:.20}, the command has {id_}: it answers another one."
        return found._replace(hint=hint)
    return found


def _difference(pattern: Pattern | None, ok: bool, text: str) -> TextDifference:
    hint = _hint(pattern, ok, text)
    if pattern is None:
        return TextDifference((), (Segment(text, True),), hint)
    if pattern.negated or not ok:  # all of it is unwanted
        return TextDifference((Segment(in_words(pattern), False),), (Segment(text, True),), hint)
    wanted = put_in_words(pattern, text)
    if wanted.example is None:  # an expression says nothing of where the difference is
        return TextDifference((Segment(wanted.before, False),), (Segment(text, False),), hint)
    expected, got = _align(wanted.example, text, any_case=wanted.any_case)
    if not wanted.example:
        expected = [Segment(EMPTY, bool(text))]
    whole = _merge([Segment(wanted.before, False), *expected, Segment(wanted.after, False)])
    return TextDifference(whole, _merge(got), hint)


# In a class the same wrong answers come again and again.
_known_difference = lru_cache(2048)(_difference)


# --- alignment ---------------------------------------------------------------------------------


def _align(
    expected: str, text: str, *, any_case: bool = False
) -> tuple[list[Segment], list[Segment]]:
    """Mark what differs between two texts."""
    words, answers = _words(expected), _words(text)
    if len(words) <= 1 and len(answers) <= 1:
        words, answers = _UNITS.findall(expected), _UNITS.findall(text)
    left, right = (
        [word.strip().lower() if any_case else word.strip() for word in some]
        for some in (words, answers)
    )
    blocks: Sequence[tuple[int, int, int]]
    if max(len(left), len(right)) > _MAX_WORDS:
        shorter = min(len(left), len(right))
        head = next((i for i in range(shorter) if left[i] != right[i]), shorter)
        rest = shorter - head
        tail = next((i for i in range(rest) if left[-1 - i] != right[-1 - i]), rest)
        blocks = [(0, 0, head), (len(left) - tail, len(right) - tail, tail)]
    else:
        from difflib import SequenceMatcher

        blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    marked = [Segment(word, True) for word in words], [Segment(word, True) for word in answers]
    for i, j, size in blocks:
        for place in range(size):
            marked[0][i + place] = Segment(words[i + place], False)
            marked[1][j + place] = Segment(answers[j + place], False)
    return marked


# What a reader takes in at once: a number, a name, a sign. W+0.5 and B+5 have another winner and
# another number; that their letters have a 5 in common means nothing.
_UNITS = re.compile(r"[0-9]+(?:\.[0-9]+)?|[^\W\d_]+|.", re.DOTALL)


def _words(text: str) -> list[str]:
    """Split into words, each with the blanks after it."""
    return re.findall(r"^\s+|\S+\s*", text)


def _merge(segments: list[Segment]) -> tuple[Segment, ...]:
    """Join neighbors of one kind."""
    shown = (segment for segment in segments if segment.text)
    return tuple(
        Segment("".join(text for text, _ in run), differs)
        for differs, run in groupby(shown, key=attrgetter("differs"))
    )


# --- hints -------------------------------------------------------------------------------------


def _hint(pattern: Pattern | None, ok: bool, text: str) -> str:
    """Return what the difference may come from, in words that are true whatever it was."""
    if pattern is None or len(text) > _MAX_HINT:
        return ""
    if pattern.negated:
        return "This reply must not come." if ok else ""
    hints, expression = _HINTS if ok else _ERROR_HINTS, pattern.expression
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sets that later versions of re may read otherwise
        try:
            return next((hint for test, hint in hints if test(expression, text)), "")
        except (re.error, UndecidedError):  # an expression of another dialect, or a heavy one
            return ""


def _matches(expression: str, text: str, flags: int = 0) -> bool:
    return within(_HINT_SECONDS, re.compile(expression, _FLAGS | flags), "fullmatch")(text)


def _contains(expression: str, text: str) -> bool:
    matches = within(_HINT_SECONDS, re.compile(expression, _FLAGS), "search")
    return "|" not in expression and matches(text)


def _same_words(expression: str, text: str) -> bool:
    texts, words = examples(expression).texts, sorted(text.lower().split())
    return any(sorted(one.lower().split()) == words for one in texts)


_Hints = tuple[tuple[Callable[[str, str], bool], str], ...]
_HINTS: _Hints = (
    (lambda _, text: not text, "The reply is empty."),
    (lambda expression, _: not expression, "The reply should be empty."),
    (
        str.__eq__,
        "The expectation is a regular expression: a special character such as + "
        "needs a backslash to stand for itself.",
    ),
    (
        lambda expression, text: _matches(expression, text, re.IGNORECASE),
        "Only upper and lower case differ.",
    ),
    (
        lambda expression, text: _matches(expression, " ".join(text.split())),
        "Only blanks or line ends differ.",
    ),
    (_same_words, "The same words, in another order."),
    (_contains, "The reply contains the expected text, but is more than that."),
)
# An engine behind an adapter need not know GTP: its signs are named where they matter.
_ERROR_HINTS: _Hints = (
    (_matches, "The words are as expected, but it is an error: it begins with ?, not with =."),
)


# --- The question, the right answer and the reply, in plain words: one form for every report -----
# Anyone who reads it need know neither regular expressions nor GTP: an expectation is told by the
# answers that meet it, an error is called one, and a move to an occupied point says so.


LONG = 60  # characters of a text, from which on its differing words are listed
_WRONG = (Verdict.FAILED, Verdict.EXPECTED_FAIL)


class Side(NamedTuple):
    """The expectation, or the reply."""

    segments: tuple[Segment, ...]  # of its text, with what differs
    said: str = ""  # what it says, in words; "": the text says it itself
    pattern: str = ""  # the expression, if the text only mentions it

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.segments)

    def __str__(self) -> str:
        return " ".join(filter(None, (self.text, self.pattern, self.said and f"({self.said})")))


class Sides(NamedTuple):
    """One test for a reader."""

    asked: str  # what its command asks; "" if there are no words for it
    expected: Side
    got: Side | None  # None: no reply
    hint: str  # what the difference may come from, or ""
    is_long: bool  # either text, so that words tell more than marks below it
    missing: str  # the words that a long reply lacks, if it is a list of words
    extra: str  # those that are not expected in it
    is_wrong: bool  # whether the reply is not what is expected


def sides(view: FileView, outcome: Outcome) -> Sides:
    """Return what a reader is told of one result of a file."""
    step, reply = view.file.case.steps[outcome.step], outcome.reply
    is_wrong = outcome.verdict in _WRONG and reply is not None
    expected, got, hint = Side(_plain_segments(in_words(None))), None, ""
    if step.pattern:
        told = put_in_words(step.pattern)
        expected = Side(_plain_segments(told.words), pattern=told.pattern)
    missing = extra = ""
    if is_wrong and reply:
        found = difference(step.pattern, reply, step.id)
        got, hint = Side(_reply(outcome, found.got)), found.hint
        if found.expected and not expected.pattern:
            expected = Side(found.expected)
    elif reply:
        got = Side(_reply(outcome, _plain_segments(reply.text)))
    is_long = max(len(side.text) for side in (expected, got) if side) > LONG
    if is_wrong and got and is_long:
        missing, extra = _compare_words(expected, got)
    if got and (diagram := view.boards.get(outcome.step)):
        against = objection(step, outcome, diagram)
        got = got._replace(segments=(*got.segments, *_plain_segments(against)))
    question = word_question(view.wordings, step.command, komi_of(view, outcome.step))
    right = _find_common_words(view.wordings, step, right_answers(step.pattern))
    came = _find_common_words(view.wordings, step, [reply.text] if reply and reply.ok else [])
    if right != came or outcome.verdict not in _WRONG:  # else it is the form that is wrong
        expected, got = expected._replace(said=right), got and got._replace(said=came)
    return Sides(question, expected, got, hint, is_long, missing, extra, is_wrong)


def komi_of(view: FileView, test: int) -> str:
    """Return the komi that the setup of a test sets, "" if it sets none."""
    setup = view.setups.get(test)
    for step in reversed(view.file.case.steps[setup.first if setup else 0 : test]):
        name, _, value = step.command.partition(" ")
        if name == "komi":
            return value.strip()
    return ""


# --- both texts --------------------------------------------------------------------------------


def _compare_words(expected: Side, got: Side) -> tuple[str, str]:
    """Return the words that only one of two lists has; one at another place is in both.

    ("", "") where a side is no list: a board, an error, or an expectation that only an expression
    tells.
    """
    texts = [side.text for side in (expected, got)]
    marked = [any(differs for _, differs in side.segments) for side in (expected, got)]
    whole = not marked[0] and all(differs for _, differs in got.segments)
    lines = [[line.split() for line in text.splitlines()] for text in texts]
    are_lists = all(len(one) == 1 or max(map(len, one), default=0) <= 1 for one in lines)
    if EMPTY in texts or not any(marked) or whole or not are_lists:
        return "", ""
    left, right = (
        Counter(word for text, differs in side.segments if differs for word in text.split())
        for side in (expected, got)
    )
    return " ".join((left - right).elements()), " ".join((right - left).elements())


def _reply(outcome: Outcome, segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Return the pieces of a reply, after a word that it is an error if it is one."""
    has_words = any(text for text, _ in segments)
    if outcome.reply is None or outcome.reply.ok:
        return segments if has_words else (Segment(EMPTY, outcome.verdict in _WRONG),)
    word = "an error: " if has_words else "an error without a word"
    return (Segment(word, outcome.verdict in _WRONG), *segments)


def _plain_segments(text: str) -> tuple[Segment, ...]:
    return (Segment(text, False),) if text else ()


# --- what they say -----------------------------------------------------------------------------


def _find_common_words(wordings: Wordings, step: Step, answers: Sequence[str]) -> str:
    """Return what all answers say, "" if that is not one and the same."""
    words = {word_answer(wordings, step.command, answer) for answer in answers}
    return words.pop() if len(words) == 1 else ""
