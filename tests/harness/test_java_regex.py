"""Patterns as Java 17 reads them: by example, and side by side with a Java virtual machine."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest

from harness.core.errors import PatternError
from harness.reading.pattern import matcher
from tests.harness import random_patterns
from tests.harness.ascii_classes import ASCII, CLASSES

# What expectations use, and where Python's re would take something else without a word.
MATCHES = [
    (r"B\+4(\.0)?", ["B+4", "B+4.0"], ["B+4.", "b+4"]),
    (r"(?i)b1|c(?-i)d", ["B1", "Cd"], ["CD"]),
    (r"a(?i)b|c", ["aB", "C"], ["Ab"]),
    (r"(?i)[a-c&&[^b]]", ["A", "c"], ["b", "B"]),
    (r"[a[bc]]", ["a", "c"], ["d", "["]),
    (r"[^a&&b]", ["a", "c"], []),
    (r"[a&&b&&c]|[[a&&b]&&c]", [], ["a", "b", "c"]),  # an empty set is not nothing
    (r"[^[a&&b]&&c]", ["a", "c"], []),
    (r"[abc&&[ab]c&&b]", ["a", "b"], ["c"]),  # [ab] or c&&b
    (r"(?x) a [ b c ] # more", ["ab", "ac"], ["a ", "a"]),
    (r"\bé\b", ["é"], []),
    (r"a\b.", ["a-"], ["a\u0663", "aé"]),  # a digit of another script
    (r"e\b\u0301", [], ["e\u0301"]),
    (r"²\b1", ["²1"], []),
    (r"a\Bé", ["aé"], []),
    ("a$.", ["a\n", "a\x85", "a\u2028"], ["ab", "a\v"]),
    ("a.^b", ["a\nb", "a\u2029b"], ["a b", "a\x0cb"]),
    (r"a\Z\n", ["a\n"], ["a"]),
    (r"a\z", ["a"], ["a\n"]),
    (r"(?-s)a.", ["ab"], ["a\n", "a\u2028"]),
    (r"(?d)a$.", ["a\n"], ["a\u2028"]),
    (r"\0101\x42\x{43}\u0044\cE\e", ["ABCD\x05\x1b"], []),
    (r"\ud83d\ude00", ["😀"], []),
    (r"\ud7ff\ue000", ["\ud7ff\ue000"], []),  # beside the halves of surrogate pairs
    (r"[\x{1F600}-\x{1F64F}]", ["😀"], ["a"]),
    (r"\Qa.b*\E+", ["a.b*", "a.b**"], ["acb*"]),
    (r"[\Q^-\E]", ["^", "-"], ["Q", "E"]),
    (r"\p{Alpha}\P{Digit}[\p{Punct}]", ["ab."], ["éb.", "a1."]),
    (r"\p{Lu}\PL[\pN&&\P{ASCII}]", ["Á.²"], ["á.²", "A.1"]),
    (r"\H\V\h\v\R", ["ab\t\n\r\n"], ["\tb\t\n\n"]),
    (r"a{2}{3}", ["aa"], ["aaaaaa"]),
    (r"(a)\1", ["aa"], ["a"]),
    (r"(a)\11", ["aa1"], ["aa"]),
    (r"(a)\1X", ["aaX"], ["aa"]),
    (r"a|\2", ["a"], [""]),
    (r"(?<n>a|b)\k<n>", ["aa", "bb"], ["ab"]),
    (r"x*+y", ["xxy"], []),
    (r"a*X+", ["aXX", "X"], ["a"]),
    (r"^", [], [""]),
]


@pytest.mark.parametrize(("expression", "found", "missed"), MATCHES)
def test_matches_as_java(expression: str, found: list[str], missed: list[str]) -> None:
    matches = matcher(expression)
    assert [text for text in [*found, *missed] if matches(text)] == found


NAMES = {"alnum": "Alnum", "alpha": "Alpha", "blank": "Blank", "cntrl": "Cntrl", "digit": "Digit",
         "graph": "Graph", "lower": "Lower", "print": "Print", "punct": "Punct", "space": "Space",
         "upper": "Upper", "xdigit": "XDigit"}  # fmt: skip
SETS = [
    *((f"\\p{{{name}}}", CLASSES[key]) for key, name in NAMES.items()),
    (r"\p{ASCII}", ASCII),
    (r"\d", CLASSES["digit"]),
    (r"\s", CLASSES["space"]),
    (r"\w", f"{CLASSES['alnum']}_"),
    (r"\h", " \t\xa0"),
    (r"\v", "\n\v\f\r\x85"),
]


@pytest.mark.parametrize(("expression", "members"), SETS)
def test_the_members_of_a_class(expression: str, members: str) -> None:
    those, others = matcher(expression), matcher(expression.replace("\\p", "\\P", 1))
    latin = [chr(code) for code in range(256)]
    assert {one for one in latin if those(one)} == set(members)
    if "\\p" in expression:
        assert {one for one in latin if not others(one)} == set(members)


CATEGORIES = "Lu Ll Lt Lm Lo Mn Me Mc Nd Nl No Zs Zl Zp Cc Cf Co Pd Ps Pe Pc Po Pi Pf Sm Sc Sk So"


@pytest.mark.parametrize("category", [*CATEGORIES.split(), *"LMNZCPS"])
def test_each_category_of_unicode_is_known(category: str) -> None:
    is_one = matcher(rf"\p{{{category}}}")
    found = {one for one in map(chr, range(128)) if is_one(one)}
    assert found == {
        one for one in map(chr, range(128)) if unicodedata.category(one).startswith(category)
    }


REFUSED = [
    ("[a&&[b]&c]", r"'&&\[...\]&' in a set"),
    ("{", "found '{' that no number follows"),
    ("a{,2}", "found '{' that no number follows"),
    ("a{1000000000}", "found a repetition of 1000000000…, which is too many"),
    ("a{2,1}", "found a repetition from 2 to fewer, 1"),
    ("a{2", r"found a repetition such as '\{2,3\}' that is not closed"),
    ("(?P<n>a)", "that no kind of group follows"),
    ("(?#a)", "that no kind of group follows"),
    ("(", r"a '\(' that is not closed"),
    ("a)", r"'\)' without a '\('"),
    ("[a", r"a '\[' that is not closed"),
    ("*a", "'*' with nothing before it".replace("*", r"\*")),
    ("a**", "nothing before it to repeat"),
    ("a\\", "at the end"),
    (r"\y", r"'\\y' means nothing"),
    (r"\x{110000}", "the code point 110000 is greater than 10FFFF"),
    (r"\x4", "without its hexadecimal digits"),
    (r"\p{IsGreek}", "a category such as Lu, and Lower"),
    (r"\k<n>", r"'\\k' refers to 'n', and no group before it has that name"),
    (r"(?<n>a)(?<n>b)", "second group with the name 'n'"),
    (r"[b-a]", "ends before it begins"),
    (r"(?:(a)|b)*\1", "it refers to a group that is repeated, which Python may take otherwise"),
    (r"(?:\1|(a))+", "it refers to a group before the group's end, and is repeated"),
    ("a{" + "9" * 5000 + "}", "found a repetition of 999999999999…, which is too many"),
    (r"\ud800", "it has half of a surrogate pair"),
    (r"\x{dfff}", "it has half of a surrogate pair"),
    ("(\ud800)", "it has half of a surrogate pair"),
    ("(a\udbff)", "it has half of a surrogate pair"),
    ("(?U)a", "the flag 'U' has no counterpart here"),
    ("(?ic:a)", "the flag 'c' has no counterpart here"),
    ("(?<1>a)", "without '=', '!' or a name in '<...>' of letters and digits"),
    ("(?<n)", "without '=', '!' or a name in '<...>' of letters and digits"),
    (r"(a)(?<=\1)b", "a reference in a look-behind, which has no greatest length then"),
    (r"\b{g}", r"\\b{g} has no counterpart here"),
    (r"\08", r"'\\0' is not followed by an octal digit"),
    ("\\c", r"'\\c' is not followed by a character"),
    ("[a&&]", "'&&' in a set with nothing behind it"),
    ("[a&&&&b]", "'&&' in a set with nothing behind it"),
]


@pytest.mark.parametrize("expression", [r"\bA1\b.*\bB2\b", r"A1\p{L}*[\P{Lu}]B2"])
def test_a_reply_of_all_letters_takes_no_longer_than_others(expression: str) -> None:
    """It has half a megabyte, and every other letter, so that none is beside another."""
    letters = [one for one in map(chr, range(128, 0x30000)) if unicodedata.category(one)[0] == "L"]
    begun = time.process_time()
    assert not matcher(expression)(f"A1{''.join(letters[::2])}")
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(("expression", "why"), REFUSED)
def test_refuses_with_a_reason(expression: str, why: str) -> None:
    with pytest.raises(PatternError, match=f"is not a regular expression: .*{why}"):
        matcher(expression)


@pytest.mark.parametrize("character", ["\ud7ff", "\udc00", "\udfff", "\ue000"])
def test_characters_beside_first_halves_of_pairs_are_taken(character: str) -> None:
    assert matcher(f"(?:{character})")(character)


def test_with_the_examples_java_agrees(java: str, tmp_path: Path) -> None:
    random_patterns.compile_java(tmp_path)
    asked = [(expression, [*found, *missed]) for expression, found, missed in MATCHES]
    expected = ["1" * len(found) + "0" * len(missed) for _, found, missed in MATCHES]
    assert random_patterns.java(tmp_path, asked) == expected


@pytest.mark.long(6)
@pytest.mark.parametrize("number", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_random_expressions_side_by_side_with_java(java: str, tmp_path: Path, number: int) -> None:
    """No verdict differs, nothing that Java refuses is taken, little that it takes is refused.

    ``python -m tests.harness.random_patterns 100000`` asks as many as one likes.
    """
    count = random_patterns.compare_with_java(tmp_path, seed=17, count=number)
    assert count["differs"] == count["refused by them alone"] == 0, count
    assert count["same"] > number / 2
    assert count["refused by us alone"] < 0.03 * (count["same"] + count["refused by us alone"])
