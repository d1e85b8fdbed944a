"""Expectations: the ``#? [...]`` lines and what they match.

Matching means what it means to the two programs that made the format: gogui-regress matches a
Java regular expression against the whole reply text, GNU Go's ``regress.awk`` searches
``^EXPRESSION$`` in its first line, so that ``A|B`` is "begins with A or ends with B".
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache, partial

from harness.engine.replies import BLANKS
from harness.errors import PatternError
from harness.reading import deadline
from harness.records import Pattern

# Alternatives that are plain text, save for escaped punctuation: "A1|A2", "B\+4\.5".
_PLAIN = re.compile(r"(?:[^\\.^$*+?{}\[\]()]|\\[^0-9A-Za-z\s|])*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

# What multiplies the ways to match: repetitions, choices, references; some other (?...) as well.
_WAYS = re.compile(r"[*+?{|\\]")
_NO_WAYS = re.compile(r"\\[^1-9]", re.DOTALL)

# The end of a gnugo pattern, from its last bracket: sub(/\][&*]*$/, "")
_GNUGO_END = re.compile(r"\][&*]*$")


def read_gogui(text: str) -> Pattern | None:
    """Read what follows ``#?`` in gogui's way; None where nothing does.

    Raises:
        PatternError: a bracket is missing, the ending or the expression is wrong.
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
    matcher(expression)
    return Pattern(expected, expression, expected.startswith("!"), text.endswith("*"))


def read_gnugo(text: str) -> Pattern:
    """Read what follows ``#?`` as ``regress.awk`` does, which knows no error.

    Raises:
        PatternError: the expression is none.
    """
    text = text.lstrip(" ")
    expected = _GNUGO_END.sub("", text.removeprefix("["))
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
    """Return the texts that ``expression`` is a choice of; none: it is more than that."""
    if not _PLAIN.fullmatch(expression):
        return ()
    return tuple(_ESCAPED.sub(r"\1", choice) for choice in expression.split("|"))


@cache
def matcher(expression: str) -> Callable[[str], object]:
    """Return a test of whether Java's ``expression`` matches the whole of a text.

    Most patterns are a text or a choice of texts, and need no regular expression: compiling one
    costs a hundred times as much as running it.

    The test raises :class:`UndecidedError` when it takes too long.

    Raises:
        PatternError: it is no regular expression.
    """
    if texts := plain_texts(expression):
        return frozenset(texts).__contains__
    from harness.reading import java_regex

    flags = re.MULTILINE | re.DOTALL | re.ASCII
    compiled = _compile(java_regex.in_python(expression), expression, flags)
    return _bounded(compiled, compiled.fullmatch)


@cache
def searcher(expression: str) -> Callable[[str], object]:
    """Return a test of whether awk finds ``^expression$`` in a line.

    The test raises :class:`UndecidedError` when it takes too long.

    Raises:
        PatternError: it is no regular expression.
    """
    from harness.reading import awk_regex

    compiled = _compile(f"^{awk_regex.in_python(expression)}$", expression, re.ASCII)
    return _bounded(compiled, compiled.search)


def _compile(translated: str, expression: str, flags: re.RegexFlag) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what may change in Python is no business of the user's
        try:
            return re.compile(translated, flags)
        except (re.error, ValueError, OverflowError, RecursionError) as error:
            raise PatternError(f"{expression!r} is no regular expression: {error}") from None


def _bounded(compiled: re.Pattern[str], test: Callable[[str], object]) -> Callable[[str], object]:
    """Return ``test``, under a deadline unless its time can only grow with the text's length."""
    if len(_WAYS.findall(_NO_WAYS.sub("", compiled.pattern))) < 2:
        return test
    return partial(deadline.within, deadline.LIMIT, test)
