"""What a reader is shown of an expectation: an answer that meets it, and more of them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.reading.expectation import examples, in_words, is_literal, shown
from harness.reading.pattern import matcher
from harness.records import Pattern


def pattern(text: str) -> Pattern:
    return Pattern(text, text.removeprefix("!"), text.startswith("!"), False)


TABLE = [
    (r"W\+0\.5", "W+0.5"),
    (r"B\+4(\.0)?", "B+4 or B+4.0"),
    (r"B\+4|B\+4\.0", "B+4 or B+4.0"),
    ("0", "0"),
    ("", "(empty)"),
    ("(|pass)", "(empty) or pass"),
    ("C3|D4|E5", "C3 or D4 or E5"),
    ("C3|D4|E5|F6", "C3 or …"),
    ("(?i)Win a1", "Win a1 (upper or lower case)"),
    ("(?i)(a1|b2)", "a1 or b2 (upper or lower case)"),
    ("(?i)(a1|A1)", "a1 (upper or lower case)"),
    (r"(?i)illegal move: \"a10\" wrong coordinate", 'illegal move: "a10" wrong coordinate'
     " (upper or lower case)"),
    ("(?i)10", "10"),
    ("[a-e][1-5]", "a1 or …"),
    (r"There is 1 eye for black\.", "There is 1 eye for black."),
    (r"\QB+1\E", "B+1"),
    ("W.14", "W.14"),
    (r"a1\s*b1 *", "a1b1"),
    (r"a1\s+b1", "a1 b1"),
    ("^a1$", "a1"),
    ("a{3}b{1,2}", "aaab or aaabb"),
    (".", "any single character"),
    (".*", "any answer"),
    (".+", "any answer that is not empty"),
    ("B.*", "an answer that matches the pattern B.*"),
    (r"B\+[0-9]+", r"an answer that matches the pattern B\+[0-9]+"),
    (r"(a|b)\1", r"an answer that matches the pattern (a|b)\1"),
    ("[^x]", "an answer that matches the pattern [^x]"),
    ("(?!a)a", "an answer that matches the pattern (?!a)a"),
    ("!", "anything but (empty)"),
    ("!a1", "anything but a1"),
    ("!a1|b1", "anything but a1 or b1"),
    ("!.*", "anything but any answer"),
    ("!B.*", "anything but an answer that matches the pattern B.*"),
    ("B+1", "an answer that matches the pattern B+1"),
    ("a" * 30_000, "a" * 30_000),
    ("a?" * 11_000, "an answer that matches the pattern " + "a?" * 11_000),
    ("(" * 3_000 + ")" * 3_000, "an answer that matches the pattern " + "(" * 3_000 + ")" * 3_000),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), TABLE, ids=range(len(TABLE)))
def test_in_words(text, told):
    assert in_words(pattern(text)) == told


def test_without_an_expression_any_answer_will_do():
    assert in_words(None) == "any answer but an error"
    assert is_literal(None)


@pytest.mark.parametrize(
    ("text", "near", "example", "told"),
    [
        ("C3|D4|E5|F6", "F7", "F6", "F6 or …"),
        (r"B\+4(\.0)?", "B+5.0", "B+4.0", "B+4 or B+4.0"),
        (
            "(?i)(win a1|blockwin b1 b2|random c3 c4|openfour d1)",
            "BLOCKWIN B1",
            "blockwin b1 b2",
            "blockwin b1 b2 or … (upper or lower case)",
        ),
    ],
)
def test_the_nearest_answer_is_compared(text, near, example, told):
    found = shown(pattern(text), near)
    assert (found.example, str(found)) == (example, told)


def test_what_is_literal():
    assert is_literal(pattern(r"W\+0\.5"))
    assert not any(is_literal(pattern(text)) for text in (r"B\+4(\.0)?", "(?i)a", ".", ".*"))


# --- by properties: all texts of up to four characters -------------------------------------------

_ALPHABET = "ab.A "
_TEXTS = ["".join(text) for size in range(5) for text in product(_ALPHABET, repeat=size)]
_ATOMS = st.sampled_from(["a", "b", r"\.", ".", "[ab]", "[a-b]", " ", r"\s", "^", "$", "[^a]", ""])
_EXPRESSIONS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda ways: f"({'|'.join(ways)})"),
        st.tuples(inner, st.sampled_from(["?", "{2}", "{1,2}", "*", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda text: f"(?={text})"),
    ),
    max_leaves=6,
)


@given(_EXPRESSIONS, st.booleans())
def test_every_example_is_right_and_more_are_there_where_more_are_told(expression, any_case):
    expression = f"{'(?i)' * any_case}{expression}"
    found = examples(expression)
    assume(found.texts)
    matches = matcher(expression)
    assert all(map(matches, found.texts))
    told = in_words(pattern(expression))
    assert told.startswith(tuple(text or "(empty)" for text in found.texts))
    right = {text for text in _TEXTS if text == text.strip() and matches(text)}
    if "or …" in told:
        assert len(right | {*found.texts}) > 1
    if found.complete and not any_case and "." not in expression.replace(r"\.", ""):
        assert {"".join(t.split()) for t in right} <= {"".join(t.split()) for t in found.texts}
