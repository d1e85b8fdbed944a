"""Messages about case files and expressions that cannot be read: each sentence, whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from harness.errors import HarnessError
from harness.reading import casefile, conversion, suite
from harness.reading.pattern import matcher, read_gnugo, read_gogui, searcher
from harness.records import CaseFile
from tests import golden
from tests.harness import test_answers, test_awk_regex, test_casefile, test_java_regex

GOLDEN = Path(__file__).parent / "golden" / "refusals.txt"
JAVA = [
    *(expression for expression, _ in test_java_regex.REFUSED if len(expression) < 99),
    *("(?iu)a", "(?z)a", "(?-i-m)a", r"\p{Foo}", r"\u12", r"\x{zz}", "[z-a]", "a{99999999999}"),
]
AWK = [*(expression for expression, _ in test_awk_regex.REFUSED), "a\0", "[[:alpha:]-z]", "[a-"]
PATTERNS = ["", "a]", "[a", "]", "[", "[!", "[(]", "[a]x", "[a]**", "[a]&&"]
CASE_FILES = [
    *(text for text, _, _ in test_casefile.ERRORS),
    *(b"", b"a\n10 b\n#? [a]\n#? [b]\n", b"1" * 1001 + b" a\n#? [1]\n", b"10 a\n10 b\n"),
]
ANSWERS = [
    *("show\n1 0\n= 1\nlegal\nyes\n", "= 1\nshow\n= 1\n", "show\n= 1\n= 1\n", "?\n= 1\n"),
    *("show\n=1\nshow\n= 1\n", "score\n= B+3\nshow\n= 1\n"),
    *("?show\n1 0 # so far\n= 1\n", "show\n" + "x" * 99 + "\n", "?x\n= " + "y" * 99 + "\n"),
]
TO_ANSWERS = [
    *("score\n#? [0]*", "play b a1\n#? [illegal move: x|0]", "?x\n#? [1]"),
    *("1x\n#? [1]", "a\n10 play b a1\n#? [(?i)illegal move: x]", "a\n#? [!illegal move: x]"),
]
TO_GTP = [
    *("?a\n= 1\n?x\n= -1", "?7 x\n= 1", "7 x\n= 1", "?x\n@(?P<a>b)\n= 1", "?x\n@a$\n= 1"),
    *("?x\n= illegal move: 0 0", "a\n= 1\n?#x\n= 1"),
]


def find_messages(kind: str, given: object, read: Callable[[], object]) -> str:
    """Return the messages about something, with its beginning."""
    shown = repr(given)[:70]
    try:
        read()
    except HarnessError as error:
        return f"{kind} {shown}\n    {error}\n"
    return f"{kind} {shown}\n    is read\n"


def sentences() -> Iterator[str]:
    for one in JAVA:
        yield find_messages("java", one, lambda one=one: matcher(one))
    for one in AWK:
        yield find_messages("awk", one, lambda one=one: searcher(one))
    for one in PATTERNS:
        yield find_messages("gogui", one, lambda one=one: read_gogui(one))
        yield find_messages("gnugo", one, lambda one=one: read_gnugo(one))
    for data in CASE_FILES:
        yield find_messages("case", data, lambda data=data: casefile.parse(data, "a.gtp"))
    for one in ANSWERS:
        yield find_messages("answers", one, lambda one=one: test_answers.read(one))
    for one in TO_ANSWERS:
        yield find_messages("to answers", one, lambda one=one: conversion.to_answers(of_gtp(one)))
    for one in TO_GTP:
        yield find_messages("to GTP", one, lambda one=one: conversion.to_gtp(of_answers(one)))
        yield find_messages("for GTP", one, lambda one=one: suite.refuse_answers(of_answers(one)))


def of_gtp(text: str) -> CaseFile:
    return test_answers.read(f"{text}\n", "a.gtp")


def of_answers(text: str) -> CaseFile:
    return test_answers.read(f"{text}\n")


def test_each_sentence_is_the_one_that_was_looked_at():
    golden.check(GOLDEN, "".join(sentences()))
