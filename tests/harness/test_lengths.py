"""How much of a long text is shown in a sentence: so many characters, and none more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.errors import HarnessError
from harness.grading.attempts import grading_progress
from harness.grading.attempts.grading_progress import Trouble
from harness.grading.attempts.units import quote
from harness.reading import answer_files, last_words, pattern
from harness.reading.named_case_files import Selection
from harness.records import Reply


def expect_refusal(read: Callable[[str], object]) -> Callable[[str], str]:
    """Return what returns the sentence with which a text is refused."""

    def read_refused(text: str) -> str:
        with pytest.raises(HarnessError) as error:
            read(text)
        return str(error.value)

    return read_refused


def quote_reply(text: str) -> str:
    return quote(Reply(True, text, text, 0.0))


def test_an_answer_that_is_an_error_is_called_so() -> None:
    assert quote(Reply(False, "no", "no", 0.0)) == "the error 'no'"
    assert quote(Reply(True, "no", "no", 0.0)) == "'no'"
    assert quote(None) == "no answer"


def describe(text: str) -> str:
    return grading_progress._describe(2, "ada", Trouble("x", text, builds=True), "")


def answers(*lines: str) -> Callable[[str], object]:
    return lambda text: list(answer_files.steps([line.format(text) for line in lines], "a.txt"))


# What shows a text, with how many characters of it; a longer one ends in "…", or is cut off.
SHOWN = [
    (quote_reply, 60, True),
    (describe, 300, True),
    (lambda text: last_words.last_words(text).error, 160, True),
    (lambda text: last_words._make("x", "", last_words._TraceFrame("a", 1, text)).code, 60, True),
    (expect_refusal(lambda text: pattern.matcher(f"{text}(")), 200, False),
    (expect_refusal(lambda text: Selection(ids=text)), 60, False),
    (expect_refusal(answers("{}")), 60, False),
    (expect_refusal(answers("show", "= {}")), 58, False),
]


@pytest.mark.parametrize(("show", "most", "has_mark"), SHOWN)
def test_so_much_of_a_text_is_shown(show, most, has_mark):
    assert "x" * most in show("x" * most)
    assert "…" not in show("x" * most).replace("move: …", "")
    longer = show("x" * (most + 1))
    cut = most - 1 if has_mark else most
    assert "x" * cut in longer
    assert "x" * (cut + 1) not in longer
    assert ("x…" in longer) is has_mark
