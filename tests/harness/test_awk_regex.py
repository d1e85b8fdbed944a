"""Patterns of the dialect gnugo: what gawk 5.2 answered when it was asked."""

import pytest

from harness.errors import PatternError
from harness.reading.pattern import read_gnugo, searcher

MATCHES = [
    ("A1", ["A1"], ["xA1", "A1x", ""]),
    ("A1|B2", ["A1", "A1x", "xB2"], ["xA1", "B2x"]),
    ("(A1|B2)", ["A1", "B2"], ["A1x", "xB2"]),
    ("", [""], ["x"]),
    (".*", ["", "x y"], []),
    ("[[:digit:]]+", ["12"], ["", "1a"]),
    ("[^[:alpha:]]", ["1", "]"], ["a"]),
    ("[[:upper:]a-c.]", ["A", "b", "."], ["d", ":"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("[[a]", ["[", "a"], ["b"]),
    ("[a\\]]", ["]"], ["\\"]),
    ("\\<b\\>", ["b"], ["bb"]),
    ("a\\yb", [], ["ab", "a b"]),
    ("\\d", ["d"], ["1"]),
    ("\\w\\s\\.", ["a ."], ["ax."]),
    ("\\101", ["A"], ["101"]),
    ("a+?", ["", "a", "aa"], ["b"]),
    ("a**", ["", "aa"], ["b"]),
    ("a++a", ["aa", "aaa"], ["a"]),
    ("a{2}", ["aa"], ["a", "a{2}"]),
    ("B\\+[0-9.]+", ["B+4.5"], ["B4"]),
]


@pytest.mark.parametrize(("expression", "found", "missed"), MATCHES)
def test_searches_as_awk(expression: str, found: list[str], missed: list[str]) -> None:
    searches = searcher(expression)
    assert [text for text in [*found, *missed] if searches(text)] == found


@pytest.mark.parametrize("expression", ["*", "(", "a|+", "[a"])
def test_refuses_what_python_cannot_repeat_or_close(expression: str) -> None:
    with pytest.raises(PatternError, match="is not a regular expression"):
        searcher(expression)


READ = [
    ("[A1]", "A1", False, False, False),
    (" [A1]", "A1", False, False, False),
    ("[!A1]*", "!A1", True, True, False),
    ("[A1]&", "A1", False, False, True),
    ("[A1]*&", "A1", False, False, True),
    ("[A1]&*", "A1", False, True, False),
    ("[A1", "A1", False, False, False),
    ("A1]", "A1", False, False, False),
    ("[A1*", "A1*", False, True, False),
    ("[A1] ", "A1] ", False, False, False),
    ("[[A1]]", "[A1]", False, False, False),
    ("", "", False, False, False),
]


@pytest.mark.parametrize(("text", "expected", "negated", "fail", "ignored"), READ)
def test_reads_as_awk(text: str, expected: str, negated: bool, fail: bool, ignored: bool) -> None:
    assert read_gnugo(text) == (expected, expected.lstrip("!"), negated, fail, ignored)
