"""What becomes of expressions, to the letter: their Python, their effort, their words.

The tests beside Java and gawk prove what is right, and take long. Here is what was right the last
time, for expressions that are drawn alike each time.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from harness.errors import PatternError
from harness.reading import awk_regex, expectation, java_regex, matchers
from harness.records import Pattern
from tests import golden
from tests.harness import random_patterns, test_awk_regex, test_expectation, test_java_regex
from tests.harness.random_patterns import Grammar

GOLDEN = Path(__file__).parent / "golden" / "expressions"
BEYOND = "Áé²\u0301\u2028中"
LONGEST = 160  # characters; of a longer one its digest is kept
# What authors of expectations write.
ANSWERS = Grammar(
    atoms=[
        "a1",
        "b2",
        "c3",
        "A1",
        "B+4",
        r"B\+",
        r"\.",
        "5",
        " ",
        "pass",
        "a",
        "B",
        ".*",
        ".",
        "^",
    ],
    members=["a-e", "1-5", "abc", "x", "B", "9", " "],
    ends=["?", "{2}", "{1,2}", "{0,9}", "*", "+", "*?"],
    openings=["(", "(", "(?:", "(?=.*", "(?!"],
    flags=["|", "|", "|", r"\s*", r"\b", "$"],
    letters="ab1",
    odd="",
)


def draw(grammar: Grammar, seed: int, count: int, longest: int) -> list[str]:
    generator = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        drawn = random_patterns.expression(generator, grammar)
        if 0 < len(drawn) <= longest:
            found[drawn] = None
    return list(found)


def examples(module: object) -> list[str]:
    """Return the expressions of a module's own tests."""
    return [one[0] for name in ("MATCHES", "REFUSED") for one in getattr(module, name)]


def is_short(expression: str) -> bool:
    return len(expression) < LONGEST


JAVA = [*examples(test_java_regex), *draw(random_patterns.JAVA, 1, 700, 30)]
AWK = [*examples(test_awk_regex), *draw(random_patterns.AWK, 2, 400, 30)]
WORDS = [*(one[0] for one in test_expectation.TABLE), *draw(ANSWERS, 3, 300, 30)]


def check(name: str, asked: Iterable[str], answer: Callable[[str], object]) -> None:
    lines = [f"{one!r}: {shorten(answer(one))}\n" for one in filter(is_short, asked)]
    golden.check(GOLDEN / f"{name}.txt", "".join(lines))


def shorten(answer: object) -> str:
    text = ascii(answer)
    if len(text) <= LONGEST:
        return text
    return f"{text[:40]}… {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def or_refused(translate: Callable[[str], str]) -> Callable[[str], str]:
    def answer(expression: str) -> str:
        try:
            return translate(expression)
        except PatternError as error:
            return f"refused: {error}"

    return answer


@pytest.mark.parametrize(
    ("name", "asked", "translate"),
    [
        ("java", JAVA, java_regex.in_python),
        ("awk", AWK, awk_regex.translate_search),
        (
            "java-with-other-scripts",
            [*filter(java_regex.depends_on_script, JAVA)],
            lambda one: java_regex.in_python(one, BEYOND),
        ),
    ],
)
def test_what_an_expression_is_in_python(name, asked, translate):
    check(name, asked, or_refused(translate))


def test_how_long_an_expression_takes():
    def measure(expression: str) -> list[object]:
        nodes = list(matchers._parser.parse(expression, re.ASCII))
        return [tuple(matchers._sequence(nodes, length)) for length in (0, 3, 70)]

    translated = map(or_refused(java_regex.in_python), JAVA)
    check("effort", (one for one in translated if not one.startswith("refused")), measure)


def test_what_a_reader_is_told():
    def tell(expression: str) -> list[object]:
        pattern = Pattern(expression, expression.removeprefix("!"), expression[:1] == "!", False)
        near = expectation.put_in_words(pattern, "b2 A1")
        return [
            expectation.in_a_sentence(pattern),
            near.example,
            near.any_case,
            expectation.is_literal(pattern),
            *expectation.examples(pattern.expression)[1:],
        ]

    check("words", WORDS, tell)
