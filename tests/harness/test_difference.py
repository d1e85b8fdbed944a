"""What a reader is shown of expectation against reply; marks stand in braces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.records import Pattern, Reply
from harness.reading.expectation import put_in_words
from harness.report.difference import difference


def pattern(text: str) -> Pattern:
    return Pattern(text, text.removeprefix("!"), text.startswith("!"), False)


def reply(text: str, ok: bool = True) -> Reply:
    return Reply(ok, text, f"{'=' if ok else '?'} {text}", 0.0)


def braces(segments) -> str:
    return "".join(f"{{{text}}}" if differs else text for text, differs in segments)


CONTAINED = "The reply contains the expected text, but is more than that."
ORDER = "The same words, in another order."
CASES = [
    (r"W\+14.5", "W+13.5", "W+{14.5}", "W+{13.5}", ""),
    (r"W\+0.5", "B+5", "{W}+{0.5}", "{B}+{5}", ""),  # that both have a 5 means nothing
    (r"W\+5", "B+5", "{W}+5", "{B}+5", ""),
    (r"B\+5", "B+50", "B+{5}", "B+{50}", CONTAINED),
    (r"W\+R", "W+Resign", "W+{R}", "W+{Resign}", CONTAINED),
    ("-3.5", "3.5", "{-}3.5", "3.5", ""),
    ("1,2,10", "1,3,10", "1,{2},10", "1,{3},10", ""),
    (r"B\+4(\.0)?", "B+5", "B+{4} or B+4.0", "B+{5}", ""),
    ("a1 a2 b3", "a1 b3 c4", "a1 {a2 }b3", "a1 b3 {c4}", ""),
    ("unknown", "black", "{unknown}", "{black}", ""),
    ("C3|D4", "D5", "C3 or D{4}", "D{5}", ""),
    (r"(B\+1|W\+12)", "W+13", "B+1 or W+{12}", "W+{13}", ""),
    (r"(a|b)|c\|d", "c|e", "a or b or c|{d}", "c|{e}", ""),
    ("(?i)Win a1 b2", "WIN a1 c2", "Win a1 {b2} (upper or lower case)", "WIN a1 {c2}", ""),
    ("(?i)Win a1 b2", "win b2 a1", "Win a1 {b2} (upper or lower case)", "win {b2 }a1", ORDER),
    ("A1 A2", "a1 a2", "{A1 A2}", "{a1 a2}", "Only upper and lower case differ."),
    ("A1 B1 C1", "B1 C1 A1", "{A1 }B1 C1", "B1 C1 {A1}", ORDER),
    ("a b", "a\nb", "a b", "a\nb", "Only blanks or line ends differ."),
    ("a1", "a10", "a{1}", "a{10}", CONTAINED),
    ("", "x", "{(nothing)}", "{x}", "The reply should be empty."),
    ("(|pass)", "x", "{(nothing)} or pass", "{x}", ""),
    ("x", "", "{x}", "", "The reply is empty."),
    ("!x", "x", "anything but x", "{x}", "This reply must not come."),
    (
        "(",
        "x",
        "an answer that matches the pattern",
        "x",
        "",
    ),  # no expression of Python's: no hint, and no error
]


@pytest.mark.parametrize(("expected", "got", "marked_expected", "marked_got", "hint"), CASES)
def test_difference(expected, got, marked_expected, marked_got, hint):
    found = difference(pattern(expected), reply(got))
    assert (braces(found.expected), braces(found.got), found.hint) == (
        marked_expected,
        marked_got,
        hint,
    )


def test_a_special_character_without_backslash_is_explained():
    found = difference(pattern("B+1"), reply("B+1"))
    assert braces(found.got) == "B+1"
    assert "backslash" in found.hint


@pytest.mark.processes
@pytest.mark.parametrize("expected", ["know nothing", "!know not", "(", "(a+)+b", None])
def test_an_error_is_wrong_as_a_whole(expected):
    text = "a" * 40 if expected == "(a+)+b" else "know not"
    found = difference(pattern(expected) if expected else None, reply(text, ok=False))
    assert "".join(part for part, _ in found.expected).endswith((expected or "").lstrip("!"))
    assert (braces(found.got), found.hint) == (f"{{{text}}}", "")


def test_an_error_in_the_very_words_expected_is_told_from_an_answer():
    found = difference(pattern("illegal move"), reply("illegal move", ok=False))
    assert braces(found.got) == "{illegal move}"
    assert "begins with ?, not with =" in found.hint


@given(
    st.text(alphabet="aB1+\\.|()[]* \n", max_size=40), st.text(alphabet="aB1+. \n", max_size=40)
)
def test_nothing_is_lost_whatever_is_compared(expected, got):
    found = difference(pattern(expected), reply(got))
    assert "".join(text for text, _ in found.got) == got
    told = put_in_words(pattern(expected), got).words
    assert "".join(text for text, _ in found.expected) == told


def test_long_texts_are_compared_fast():
    """Quadratic work on these would take minutes."""
    left = " ".join(f"a{i}" for i in range(20_000))
    found = difference(pattern(left), reply(left.replace("a777 ", "b777 ")))
    assert braces(found.got).count("{") == 1
    assert "{b777 }" in braces(found.got)
