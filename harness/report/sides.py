"""The question, the right answer and the reply, in plain words: one form for every report.

Anyone who reads it need know neither regular expressions nor GTP: an expectation is told by the
answers that meet it, an error is called one, and a move to an occupied point says so.
"""

from __future__ import annotations

from collections import Counter

from harness.reading.expectation import EMPTY, examples, in_words, put_in_words
from harness.records import Outcome, Pattern, Step, Verdict
from harness.report.board_evidence import objection
from harness.report.difference import Segment, difference
from harness.typed import NamedTuple
from harness.vocabulary.wordings import word_answer, word_question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.report.file_view import FileView
    from harness.vocabulary.wordings import Wordings

LONG = 60  # characters of a text, from which on its differing words are listed
_WRONG = (Verdict.FAILED, Verdict.EXPECTED_FAIL)


class Side(NamedTuple):
    """The expectation, or the reply."""

    segments: tuple[Segment, ...]  # of its text, with what differs
    said: str = ""  # what it says, in words; "": the text says it itself
    pattern: str = ""  # the expression, if the text only mentions it

    def __str__(self) -> str:
        told = "".join(text for text, _ in self.segments)
        return " ".join(filter(None, (told, self.pattern, self.said and f"({self.said})")))


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
    step = view.file.case.steps[outcome.step]
    is_wrong = outcome.verdict in _WRONG and outcome.reply is not None
    expected, got, hint = _mark_difference(step, outcome) if is_wrong else _plain(step, outcome)
    is_long = max(len(_text(side)) for side in (expected, got) if side) > LONG
    missing, extra = _compare_words(expected, got) if is_wrong and got and is_long else ("", "")
    if got and (diagram := view.boards.get(outcome.step)):
        against = objection(step, outcome, diagram)
        got = got._replace(segments=(*got.segments, *_plain_segments(against)))
    question = word_question(view.wordings, step.command, komi_of(view, outcome.step))
    expected, got = _with_words(view.wordings, step, outcome, expected, got)
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


def _plain(step: Step, outcome: Outcome) -> tuple[Side, Side | None, str]:
    reply = outcome.reply
    got = Side(_reply(outcome, _plain_segments(reply.text))) if reply else None
    return _make_expected_side(step.pattern), got, ""


def _mark_difference(step: Step, outcome: Outcome) -> tuple[Side, Side, str]:
    """Return both with what differs marked, and a hint."""
    reply = outcome.reply
    assert reply is not None
    found, expected = difference(step.pattern, reply, step.id), _make_expected_side(step.pattern)
    if found.expected and not expected.pattern:
        expected = Side(found.expected)
    return expected, Side(_reply(outcome, found.got)), found.hint


def _text(side: Side) -> str:
    return "".join(text for text, _ in side.segments)


def _compare_words(expected: Side, got: Side) -> tuple[str, str]:
    """Return the words that only one of two lists has; one at another place is in both.

    ("", "") where a side is no list: a board, an error, or an expectation that only an expression
    tells.
    """
    texts = [_text(side) for side in (expected, got)]
    marked = any(differs for side in (expected, got) for _, differs in side.segments)
    whole = all(differs for _, differs in got.segments) and not any(
        differs for _, differs in expected.segments
    )
    if EMPTY in texts or not marked or whole or not all(map(_is_list, texts)):
        return "", ""
    left, right = (
        Counter(word for text, differs in side.segments if differs for word in text.split())
        for side in (expected, got)
    )
    return " ".join((left - right).elements()), " ".join((right - left).elements())


def _is_list(text: str) -> bool:
    lines = [line.split() for line in text.splitlines()]
    return len(lines) == 1 or all(len(words) <= 1 for words in lines)


def _make_expected_side(pattern: Pattern | None) -> Side:
    if pattern is None:
        return Side(_plain_segments(in_words(None)))
    told = put_in_words(pattern)
    return Side(_plain_segments(told.words), pattern=told.pattern)


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


def _with_words(
    wordings: Wordings, step: Step, outcome: Outcome, expected: Side, got: Side | None
) -> tuple[Side, Side | None]:
    """Return both with what they say; if they say the same, it is the form that is wrong."""
    right = _find_common_words(wordings, step, _texts(step.pattern))
    reply = outcome.reply
    came = _find_common_words(wordings, step, [reply.text] if reply and reply.ok else [])
    if right == came and outcome.verdict in _WRONG:
        return expected, got
    return expected._replace(said=right), got._replace(said=came) if got else None


def _texts(pattern: Pattern | None) -> Sequence[str]:
    """Return all right answers, none where there is no telling."""
    if pattern is None or pattern.negated:
        return ()
    found = examples(pattern.expression)
    return found.texts if found.complete else ()


def _find_common_words(wordings: Wordings, step: Step, answers: Sequence[str]) -> str:
    """Return what all answers say, "" if that is not one and the same."""
    words = {word_answer(wordings, step.command, answer) for answer in answers}
    return words.pop() if len(words) == 1 else ""
