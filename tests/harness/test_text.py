"""Small words: bytes as text and back, numbers of things, lists cut short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text import (
    at_most,
    begin_sentence,
    count_rest,
    decode,
    encode,
    number_of,
    plural,
    some,
)
from oracle.sentences import count, listing


@given(st.binary())
def test_any_bytes_come_back(data):
    assert encode(decode(data)) == data


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 tests"), (1, "1 test"), (2, "2 tests"), (1000, "1000 tests")]
)
def test_a_number_of_things(count, said):
    assert number_of(count, "test") == said == f"{count} {plural(count, 'test')}"


@pytest.mark.parametrize(
    ("texts", "listed", "sentence"),
    [
        ([], [], ""),
        (["a"], ["a"], "a"),
        (["a", "b"], ["a", "b"], "a, b"),
        (["a", "b", "c"], ["a", "b", "and 1 more"], "a, b and 1 more"),
        (["a", "b", "c", "d"], ["a", "b", "and 2 more"], "a, b and 2 more"),
    ],
)
def test_a_list_cut_short(texts, listed, sentence):
    assert at_most(texts, 2) == at_most(iter(texts), 2) == listed
    assert some(texts, 2) == some(iter(texts), 2) == sentence


def test_the_words_may_be_others():
    assert at_most("abc", 1, "{} others") == ["a", "2 others"]
    assert some("abcd", 2, "; ") == "a; b and 2 more"
    assert count_rest(1234, "({:,} more)") == "(1,234 more)"
    assert count_rest(0) == count_rest(-1) == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "none"),
        (["A1"], "A1"),
        (["A1", "B2"], "A1 and B2"),
        (("A1", "B2", "C3"), "A1, B2 and C3"),
    ],
)
def test_a_whole_list_in_a_sentence(words, said):
    assert listing(words) == said
    assert listing(words, "or") == said.replace(" and ", " or ")
    assert [count(n, "stone") for n in (0, 1, 2)] == ["0 stones", "1 stone", "2 stones"]
    assert count(2, "liberty", "liberties") == "2 liberties"


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("the roster is empty", "The roster is empty"),
        ("deadline: found 'soon'", "Deadline: found 'soon'"),
        ("bad.gtp:2: a bracket is missing", "bad.gtp:2: a bracket is missing"),
        ("assignment.toml is not there", "assignment.toml is not there"),
        ("", ""),
    ],
)
def test_a_name_of_a_file_keeps_its_first_letter(phrase, said):
    assert begin_sentence(phrase) == said
