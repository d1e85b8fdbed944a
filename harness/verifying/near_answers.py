r"""Wrong answers close to a right one: what a loose expectation accepts by accident. Pure.

They are slips of programs (another sign, a number off by one, a move too many) and of those who
write patterns (a point that is no ``\.`` matches any character, no ``^`` is needed but ``.*`` is
often there). Whether they are wrong is for :func:`harness.judging.equivalence.same` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_OTHERS = {
    "true": ("false",),
    "false": ("true",),
    "black": ("white", "draw", "unknown"),
    "white": ("black", "draw", "unknown"),
    "draw": ("black", "white", "unknown"),
    "unknown": ("black", "white", "draw"),
    "resign": ("pass",),
    "pass": ("resign",),
}
_TYPES = ("Win", "BlockWin", "OpenFour", "BlockOpenFour", "Random")
_REASONS = ("wrong color", "wrong coordinate", "occupied")
_SCORE = re.compile(r"[BW]\+.+|0")
_ERROR = re.compile(r'illegal move: "(.*)" (.*)')


def near(text: str) -> Iterator[str]:
    """Yield texts that are like a right answer and most of them wrong."""
    yield from _OTHERS.get(text, ())
    yield from ("", f"{text} {text}", f"{text}x", f"x{text}", f"{text} a", f"[{text}]")
    if text:
        yield from _with_other_numbers(text)
        yield from _without_punctuation(text)
    if _SCORE.fullmatch(text):
        yield from _scores(text)
    elif error := _ERROR.fullmatch(text):
        yield from _errors(error[1], error[2])
    elif not text.startswith("There "):
        yield from _lists(text.split(" "))


def _with_other_numbers(text: str) -> Iterator[str]:
    """Yield the text with each of its numbers one more, one less, ten times as much."""
    for number in _NUMBER.finditer(text):
        whole, point, fraction = number[0].partition(".")
        tail = point + fraction
        for value in (int(whole) + 1, abs(int(whole) - 1), int(whole) * 10):
            yield f"{text[: number.start()]}{value}{tail}{text[number.end() :]}"


def _without_punctuation(text: str) -> Iterator[str]:
    """Yield the text with something else where it has a point, a bar or the like, or nothing."""
    for place, character in enumerate(text):
        if character in ".+*?|()-":
            yield from (f"{text[:place]}{other}{text[place + 1 :]}" for other in ("0", "!", ""))


def _scores(text: str) -> Iterator[str]:
    """Yield a score with other signs, fractions and winners."""
    yield from ("0.0", "B+0", "W+0", "B+0.0", "W+0.0")
    if text != "0":
        other = {"B": "W", "W": "B"}[text[0]]
        yield from ("0", text[2:], f"{text[0]}-{text[2:]}", f"{text[0]}+-{text[2:]}")
        yield from (other + text[1:], f"{text}.0", f"{text}.5", f"{text}0", text.partition(".")[0])


def _errors(argument: str, reason: str) -> Iterator[str]:
    """Yield an error with other reasons and copies."""
    yield from (f'illegal move: "{argument}" {other}' for other in _REASONS)
    yield from (f"illegal move: {argument} {reason}", f'illegal move: "" {reason}')
    yield from (f'illegal move: "b {argument}" {reason}', f'"{argument}" {reason}', "illegal move")


def _lists(words: list[str]) -> Iterator[str]:
    """Yield a list of moves, with a type or without, with one less, one more, or turned."""
    first = words[0]
    for place in range(len(words)):
        yield " ".join(words[:place] + words[place + 1 :])
    yield from (" ".join(turned) for turned in (words[::-1], [first, *words[:0:-1]]))
    yield " ".join([*words, words[-1]])
    if first in _TYPES:
        yield from (" ".join([kind, *words[1:]]) for kind in _TYPES)
