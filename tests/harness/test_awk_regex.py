"""Patterns of the dialect gnugo: what gawk 5.2 answered when it was asked."""

import pytest

from harness.core.errors import PatternError
from harness.reading.pattern import read_gnugo, searcher
from tests.harness import random_patterns
from tests.harness.ascii_classes import ASCII, CLASSES

MATCHES = [
    (r"[[.:.][=.=]a]+", [":", ".", "a"], ["=", "["]),
    ("A1", ["A1"], ["xA1", "A1x", ""]),
    ("A1|B2", ["A1", "A1x", "xB2"], ["xA1", "B2x"]),
    ("", [""], ["x"]),
    (".*", ["", "x y"], []),
    ("[[:digit:]]+", ["12"], ["", "1a"]),
    ("[[:upper:]a-c.]", ["A", "b", "."], ["d", ":"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("[[a]", ["[", "a"], ["b"]),
    ("[a\\]]", ["]"], ["\\"]),
    ("\\<b\\>", ["b"], ["bb"]),
    ("a\\.+", ["a.", "a.."], ["a", "a+"]),
    ("\\`a\\'", ["a"], ["ab", "ba"]),
    ("a\\yb", [], ["ab", "a b"]),
    ("\\d", ["d"], ["1"]),
    ("\\w\\s\\.", ["a ."], ["ax."]),
    ("\\101", ["A"], ["101"]),
    ("a+?", ["", "a", "aa"], ["b"]),
    ("a++a", ["aa", "aaa"], ["a"]),
    ("a{2}", ["aa"], ["a", "a{2}"]),
    ("*", ["*"], [""]),
    ("a|+", ["a1", "1+"], ["1"]),
    ("a{1", ["a{1"], ["a"]),
    ("{2}", ["{2}"], [""]),
    ("a{2}{2}", ["aaaa"], ["aa"]),
    ("a{255}", ["a" * 255], ["a" * 254, "a" * 256]),  # awk itself takes more
    ("a\\52", ["", "aa"], ["a*"]),
    ("[[.-.]-/][[=a=]]", [".a"], ["a"]),
    ("B\\+[0-9.]+", ["B+4.5"], ["B4"]),
]


@pytest.mark.parametrize(("expression", "found", "missed"), MATCHES)
def test_searches_as_awk(expression: str, found: list[str], missed: list[str]) -> None:
    searches = searcher(expression)
    assert [text for text in [*found, *missed] if searches(text)] == found


SETS = [
    *((f"[[:{name}:]]", members) for name, members in CLASSES.items()),
    ("\\w", f"{CLASSES['alnum']}_"),
    ("\\s", CLASSES["space"]),
]


@pytest.mark.parametrize(("expression", "members"), SETS)
def test_the_members_of_a_class(expression: str, members: str) -> None:
    searches = searcher(expression)
    assert {one for one in ASCII if searches(one)} == set(members)


@pytest.mark.parametrize("letter", ["w", "s"])
def test_a_capital_means_all_others(letter: str) -> None:
    those, others = searcher(f"\\{letter}"), searcher(f"\\{letter.upper()}")
    assert all(bool(those(one)) is not bool(others(one)) for one in ASCII)


REFUSED = [
    ("[[:a:]]", r"found '\[:a:\]' in a set, which is not a class of characters"),
    ("[[=ab=]]", r"found '\[=ab=\]' in a set, which is not a class of characters"),
    ("(", r"a '\(' that is not closed"),
    ("[a", r"a '\[' that is not closed"),
    ("a{2,1}", r"found '\{2,1\}', which is not a number of repetitions"),
    ("a{}", r"found '\{\}', which is not a number of repetitions"),
    ("[b-a]", "ends before it begins"),
    ("[a-c-e]", "right behind another"),
    ("[[:foo:]]", "not a class of characters"),
    ("[[:alpha:]-z]", "something else than a character"),
    ("a$*", "a repetition behind an anchor"),
    ("a\\y*", "a repetition behind an anchor"),
    ("a\\134", "cannot be used here"),
    ("a{256}", r"'\{256\}', which is too many repetitions"),
    ("[[:alpha]", r"a '\[' that is not closed"),
    ("[[.a]", r"a '\[' that is not closed"),
]


@pytest.mark.parametrize(("expression", "why"), REFUSED)
def test_refuses_with_a_reason(expression: str, why: str) -> None:
    with pytest.raises(PatternError, match=f"is not a regular expression: .*{why}"):
        searcher(expression)


def test_with_the_examples_gawk_agrees(gawk: str) -> None:
    asked = [(expression, [*found, *missed]) for expression, found, missed in MATCHES]
    expected = ["1" * len(found) + "0" * len(missed) for _, found, missed in MATCHES]
    assert random_patterns.gawk(asked) == expected


@pytest.mark.long(4)
@pytest.mark.parametrize("number", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_random_expressions_side_by_side_with_gawk(gawk: str, number: int) -> None:
    """As with Java: ``python -m tests.harness.random_patterns`` asks as many as one likes."""
    count = random_patterns.compare_with_gawk(seed=11, count=number)
    assert count["differs"] == count["refused by them alone"] == 0, count
    assert count["same"] > number / 2
    assert count["refused by us alone"] < 0.03 * (count["same"] + count["refused by us alone"])


READ = [
    ("[A1]", "A1", False, False, False),
    ("[!A1]*", "!A1", True, True, False),
    ("[A1]&", "A1", False, False, True),
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
