"""Expectations: the ``#? [...]`` lines, what they match, and a deadline for the matching.

``(a+)+b`` has two ways to match every further ``a`` of a text without a ``b``. Which texts are
too much for which expression cannot be told beforehand, and the text is an untrusted program's.

What takes few steps for certain is matched here. All else is matched by a process of its own,
which the kernel ends when it has computed for too long: see :mod:`harness.reading.matchers`. The
engine is that of :mod:`re` in both, and so are verdicts, look-around and back-references. The
limit counts what the process computes, not what the clock shows: however busy the machine, no
verdict depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial

from harness.core.errors import PatternError
from harness.core.records import Pattern
from harness.core.text import BLANKS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Literal

    How = Literal["fullmatch", "search"]

LIMIT = 2.0  # seconds; what is in order takes microseconds


def within(seconds: float, pattern: re.Pattern[str], method: How) -> Callable[[str], bool]:
    """Return a test of whether an expression matches a text, as a method of ``pattern`` says.

    The test raises :class:`~harness.core.errors.UndecidedError` when it took longer than
    ``seconds`` of computing.
    """
    from harness.reading import matchers

    bound = matchers.find_bound(pattern.pattern, pattern.flags, is_search=method == "search")
    here = getattr(pattern, method)

    def test(text: str) -> bool:
        if bound.allows(len(text)):
            return here(text) is not None
        return matchers.ask([seconds, pattern.pattern, pattern.flags, method, text])

    return test


# Matching means what it means to the two programs that made the format: gogui-regress matches a
# Java regular expression against the whole reply text, GNU Go's ``regress.awk`` searches
# ``^EXPRESSION$`` in its first line, so that ``A|B`` is "begins with A or ends with B".


Test = Callable[[str], object]  # of a text: whether it matches

# Alternatives that are plain text, save for escaped punctuation: "A1|A2", "B\+4\.5".
_PLAIN = r"(?:[^\\.^$*+?{}\[\]()]|\\[^0-9A-Za-z\s|])*"
_ESCAPED = r"(?s)\\(.)"
_SPECIAL = frozenset("\\.^$*+?{}[]()")  # nearly all expressions have none of these

# What multiplies the ways to match: repetitions, choices, references; some other (?...) as well.
# Java's \R is a choice, and awk's \52 and \x2a are stars.
_WAYS = r"[*+?{|\\]"
_NO_WAYS = r"(?s)\\[^0-9kRx]"

_SHOWN = 200  # characters of an expression in a message

# The end of a gnugo pattern, from its last bracket: sub(/\][&*]*$/, "")
_GNUGO_END = r"\][&*]*$"


@cache  # many tests expect the same
def read_gogui(text: str) -> Pattern | None:
    """Read what follows ``#?`` in gogui's way; None where nothing does.

    Raises:
        PatternError: a bracket is missing, the ending or the expression is wrong.
    """
    found = split_gogui(text)
    if found:
        matcher(found.expression)
    return found


def split_gogui(text: str) -> Pattern | None:
    """Return the same, whatever the expression is.

    Raises:
        PatternError: a bracket is missing, or the ending is wrong.
    """
    text = text.strip(BLANKS)
    if not text:
        return None
    if not text.startswith("["):
        raise PatternError(f"expected '[' after '#?', found {text!r}")
    body = text.removesuffix("*")
    if not body.endswith("]") or len(body) < 2:
        raise PatternError(f"expected ']' or ']*' at the end of the pattern, found {text!r}")
    expected = body[1:-1].strip(BLANKS)
    expression = expected.removeprefix("!")
    return Pattern(expected, expression, expected.startswith("!"), text.endswith("*"))


def read_gnugo(text: str) -> Pattern:
    """Read what follows ``#?`` as ``regress.awk`` does, which knows no error.

    Raises:
        PatternError: the expression is not valid.
    """
    text = text.lstrip(" ")
    expected = re.sub(_GNUGO_END, "", text.removeprefix("["))
    expression = expected.removeprefix("!")
    ignored = text.endswith("&")
    if not ignored:
        searcher(expression)
    return Pattern(
        text=expected,
        expression=expression,
        negated=expected.startswith("!"),
        expected_fail=text.endswith("*"),
        ignored=ignored,
    )


def plain_texts(expression: str) -> tuple[str, ...]:
    """Return the texts if ``expression`` is a choice of texts, else ()."""
    if _SPECIAL.isdisjoint(expression):
        return tuple(expression.split("|"))
    if not re.fullmatch(_PLAIN, expression):
        return ()
    return tuple(re.sub(_ESCAPED, r"\1", choice) for choice in expression.split("|"))


def escape_text(text: str) -> str:
    """Return the expression that matches a text and nothing else, its line ends as they are."""
    return re.sub(r"[\\.^$*+?{}\[\]()|]", r"\\\g<0>", text)


def escape_answer(text: str) -> str:
    """Return the same in a line; an expectation that begins with a bare ``!`` is negated."""
    found = escape_text(text).replace("\n", r"\n")
    return rf"\{found}" if found.startswith("!") else found


@cache
def matcher(expression: str) -> Test:
    """Return a test of whether Java's ``expression`` matches the whole of a text.

    Most patterns are a text or a choice of texts, and do not need one: compiling one
    costs a hundred times as much as running it.

    The test raises :class:`~harness.core.errors.UndecidedError` when it takes too long.

    Raises:
        PatternError: it is not a regular expression.
    """
    if texts := plain_texts(expression):
        return frozenset(texts).__contains__
    from harness.reading import java_regex

    @lru_cache(64)  # an engine may print other characters each time
    def knowing(non_ascii: str) -> Test:
        in_python = partial(java_regex.in_python, non_ascii=non_ascii)
        return bind_to_deadline(expression, _compile(in_python, expression), "fullmatch")

    def by_script(text: str) -> object:
        beyond = "" if text.isascii() else {one for one in text if not one.isascii()}
        return knowing("".join(sorted(beyond)))(text)

    test = knowing("")
    return by_script if java_regex.depends_on_script(expression) else test


@cache
def searcher(expression: str) -> Test:
    """Return a test of whether awk finds ``^expression$`` in a line.

    The test raises :class:`~harness.core.errors.UndecidedError` when it takes too long.

    Raises:
        PatternError: it is not a regular expression.
    """
    from harness.reading import awk_regex

    return bind_to_deadline(expression, _compile(awk_regex.translate_search, expression), "search")


def _compile(in_python: Callable[[str], str], expression: str) -> re.Pattern[str]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what may change in Python does not concern the user
        try:
            return re.compile(in_python(expression), re.ASCII)
        except (PatternError, re.error, ValueError, OverflowError, RecursionError) as error:
            what = f"{expression[:_SHOWN]!r} is not a regular expression"
            raise PatternError(f"{what}: {error}") from None


def bind_to_deadline(expression: str, pattern: re.Pattern[str], method: How) -> Test:
    """Return the test that a method of ``pattern`` is, under a deadline where it needs one.

    It needs none if its time can only grow with the text's length.
    """
    if len(re.findall(_WAYS, re.sub(_NO_WAYS, "", expression))) < 2:
        test: Test = getattr(pattern, method)
        return test
    return within(LIMIT, pattern, method)
