"""What a reader is shown of an expectation: an answer that meets it, and more of them."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from harness.core.records import Pattern
from harness.reading.expectation import EMPTY, examples, in_words, is_literal, put_in_words
from harness.reading.pattern import matcher


def pattern(text: str) -> Pattern:
    return Pattern(text, text.removeprefix("!"), text.startswith("!"), False)


TABLE = [
    (r"W\+0\.5", "W+0.5"),
    (r"B\+4(\.0)?", "B+4 or B+4.0"),
    (r"B\+4|B\+4\.0", "B+4 or B+4.0"),
    ("", "(nothing)"),
    ("(|pass)", "(nothing) or pass"),
    ("C3|D4|E5|F6|G7|H8", "C3 or D4 or E5 or F6 or G7 or H8"),
    ("C3|D4|E5|F6|G7|H8|J9", "one of 7 answers, such as C3"),
    ("a" * 30 + "|" + "b" * 30, "a" * 30 + " or " + "b" * 30),
    ("a" * 30 + "|" + "b" * 31, "one of 2 answers, such as " + "a" * 30),
    ("(?i)Win a1", "Win a1 (upper or lower case)"),
    ("(?i)(a1|b2)", "a1 or b2 (upper or lower case)"),
    ("(?i)(a1|A1)", "a1 (upper or lower case)"),
    (r"(?i)illegal move: \"a10\" wrong coordinate", 'illegal move: "a10" wrong coordinate'
     " (upper or lower case)"),
    ("[a-e][1-5]", "any point from a1 to e5"),
    ("b2|a1|a2|b1", "any point from a1 to b2"),
    ("(?i)[ghj]9|[ghj]10", "any point from g9 to j10 (upper or lower case)"),
    ("a1|a2|a3|a4", "a1 or a2 or a3 or a4"),
    ("a1|a2|b1|B2|b2", "a1 or a2 or b1 or B2 or b2"),
    (r"(?i)[a-hj-z]([1-9]|1[0-9]|2[0-5])", "such as a1 (upper or lower case)"),
    ("A1 B2|B2 A1", "these, in any order: A1 B2"),
    ("A1 B2 C3|A1 C3 B2|B2 A1 C3|B2 C3 A1|C3 A1 B2|C3 B2 A1", "these, in any order: A1 B2 C3"),
    ("A1 B2 C3|A1 C3 B2|B2 A1 C3|B2 C3 A1|C3 A1 B2", "A1 B2 C3 or A1 C3 B2 or B2 A1 C3"
     " or B2 C3 A1 or C3 A1 B2"),
    (r"(?=.*\bA1\b)(?=.*\bB2\b).*", "an answer that contains these, in any order: A1 B2"),
    (r"(?=.*A1)(?=.*B2)\w+ \w+", "these, in any order: A1 B2"),
    (r"(?i)(?=.*a1)(?=.*b2).*", "an answer that contains these, in any order: a1 b2"
     " (upper or lower case)"),
    (r"(?=.*A1)(?=.*B2)x", r"an answer that matches the pattern (?=.*A1)(?=.*B2)x"),
    (r"There is 1 eye for black\.", "There is 1 eye for black."),
    (r"\QB+1\E", "B+1"),
    (r"a1\s+b1", "a1 b1"),
    ("^a1$", "a1"),
    ("a{3}b{1,2}", "aaab or aaabb"),
    ("a{64}", "a" * 64),
    ("a{65}", "an answer that matches the pattern a{65}"),
    (".", "any single character"),
    (".*", "any answer"),
    ("B.*", "an answer that begins with B"),
    ("(B|W).*", "an answer that begins with B or W"),
    ("(?i)win.*", "an answer that begins with win (upper or lower case)"),
    (".*pass", "an answer that ends with pass"),
    (".*[Ee]rror.*", "an answer that contains Error or error"),
    ("B.+", "an answer that matches the pattern B.+"),
    (r"B\b.*", r"an answer that matches the pattern B\b.*"),
    ("(?!B1)B.*", "an answer that matches the pattern (?!B1)B.*"),
    ("B.*C.*", "an answer that matches the pattern B.*C.*"),
    ("a|.*b", "an answer that matches the pattern a|.*b"),
    (r"B\+[0-9]+", r"an answer that matches the pattern B\+[0-9]+"),
    (r"(a|b)\1", r"an answer that matches the pattern (a|b)\1"),
    ("(?!a)a", "an answer that matches the pattern (?!a)a"),
    ("!", "anything but (nothing)"),
    ("!a1", "anything but a1"),
    ("!a1|b1", "anything but a1 or b1"),
    ("!B.*", "anything but an answer that begins with B"),
    ("B+1", "an answer that matches the pattern B+1"),
    ("a" * 30_000, "a" * 30_000),
    ("a?" * 11_000, "an answer that matches the pattern " + "a?" * 11_000),
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
        ("C3|D4|E5|F6|G7|H8|J9", "F7", "F6", "one of 7 answers, such as F6"),
        ("A1 B2|B2 A1", "B2 A2", "B2 A1", "these, in any order: B2 A1"),
        (r"B\+4(\.0)?", "B+5.0", "B+4.0", "B+4 or B+4.0"),
        (
            "(?i)(win a1|blockwin b1 b2|random c3 c4|openfour d1)",
            "BLOCKWIN B1",
            "blockwin b1 b2",
            "win a1 or blockwin b1 b2 or random c3 c4 or openfour d1 (upper or lower case)",
        ),
    ],
)
def test_the_nearest_answer_is_compared(text, near, example, told):
    found = put_in_words(pattern(text), near)
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


@pytest.mark.processes  # a few expressions need one to be matched
@given(_EXPRESSIONS, st.booleans())
@example("^(?:^)?(a|^|(?:a)?)", False)  # places that match nothing are many ways, not many texts
def test_every_example_is_right_and_more_are_there_where_more_are_told(expression, any_case):
    expression = f"{'(?i)' * any_case}{expression}"
    found = examples(expression)
    assume(found.texts)
    matches = matcher(expression)
    assert all(map(matches, found.texts))
    assume(expression not in {".", ".*", ".+"})
    told = in_words(pattern(expression))
    assert any((text or EMPTY) in told for text in found.texts)
    right = {text for text in _TEXTS if text == text.strip() and matches(text)}
    if "such as" in told:
        assert len(right | {*found.texts}) > 1
    if found.complete and not any_case and "." not in expression.replace(r"\.", ""):
        assert {"".join(t.split()) for t in right} <= {"".join(t.split()) for t in found.texts}


@pytest.mark.parametrize(
    ("expression", "texts", "any_case"),
    [("(?i)a|1", ("a", "1"), True), ("(?i)1|2", ("1", "2"), False), ("a|1", ("a", "1"), False)],
)
def test_upper_case_is_spoken_of_where_a_text_has_letters(expression, texts, any_case):
    found = examples(expression)
    assert (found.texts, found.any_case) == (texts, any_case)


_FIXED = st.sampled_from(["a", "b", "ab", "(a|b)", "[ab]", r"\.", "a?", r"\b", "$", "(?!a)"])
_OPEN = st.sampled_from([("", ".*"), (".*", ""), (".*", ".*")])


@given(st.lists(_FIXED, min_size=1, max_size=3).map("".join), _OPEN)
def test_what_is_said_of_a_beginning_or_an_end_is_so_of_all_texts(fixed, around):
    expression = fixed.join(around)
    told = in_words(pattern(expression))
    verb = re.search("that (begins with|ends with|contains) (.*)", told)
    assume(verb)
    parts = tuple(verb[2].split(" or "))
    says = {
        "begins with": lambda text: text.startswith(parts),
        "ends with": lambda text: text.endswith(parts),
        "contains": lambda text: any(part in text for part in parts),
    }[verb[1]]
    matches = matcher(expression)
    assert [text for text in _TEXTS if bool(matches(text)) != says(text)] == []
