"""What is tried with a program of which nothing is known, and what its words tell. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from harness.declared.declaration import COLOR, VERTEX, Argument, DeclaredGame
from harness.declared.game_state import vertex_of
from harness.declared.protocol_trial import LISTERS
from harness.reading.answer_files import escape_text
from oracle import natures

Shape = tuple[Argument, ...]

_ENDS = ("quit", "exit")
_OVER = re.compile(r"(?i)result|winner|over|final|status|end")
A_COLOR, A_VERTEX = Argument(COLOR), Argument(VERTEX)
# Arguments to try where no test has any, the likeliest first.
TRIED: tuple[Shape, ...] = (
    (),
    (A_COLOR,),
    (A_VERTEX,),
    (A_COLOR, A_VERTEX),
    (A_VERTEX, Argument(words=("1", "2", "3"))),
    (Argument(words=("5",)),),
)


def tells_end(name: str) -> bool:
    """Whether a question seems to be about the end of a game, by its name."""
    return _OVER.search(name) is not None


def is_about_engine(name: str) -> bool:
    """Whether a command says nothing of a game."""
    if name in _ENDS or name in LISTERS:
        return True
    nature = natures.STANDARD.get(name)
    return nature is not None and not nature.needs and not nature.sets_up


def pattern_of(texts: Sequence[str]) -> str:
    """Return an expression found in all of some texts, as short as it tells; "" if none is.

    That is the beginning that they share, without the arguments in it, or each of them.
    """
    if not texts:
        return ""
    shared = texts[0] if len(texts) == 1 else "".join(_shared(texts))
    words = re.match(r"[^\W\d]+( [^\W\d]+)*(?=\W|$)", shared)
    if len(texts) == 1 and (not words or words[0] == texts[0]):
        return f"^{escape_text(texts[0])}$"
    if words:
        found = " ".join(words[0].split()[:2])
        return f"(?i){escape_text(found)}"
    return f"^({'|'.join(map(escape_text, texts))})$"


def _shared(texts: Sequence[str]) -> Iterator[str]:
    """Yield the signs with which all texts begin."""
    for signs in zip(*texts, strict=False):
        if len(set(signs)) > 1:
            return
        yield signs[0]


def sides(words: Sequence[str]) -> list[int]:
    """Return the one or two numbers at the beginning of what begins a board."""
    return [int(one) for one in itertools.takewhile(str.isdigit, words)][:2]


def size_of(numbers: Sequence[int]) -> tuple[int, int]:
    """Return columns and rows, of which one number tells both."""
    return numbers[0], numbers[-1]


def resize(line: str, size: tuple[int, int]) -> str:
    """Return what begins a board of another size."""
    name, *words = line.split()
    count = len(sides(words))
    return " ".join([name, *map(str, size[:count]), *words[count:]])


def list_pairs(
    name: str, words: Sequence[str], size: tuple[int, int]
) -> Iterable[tuple[tuple[str, int, int], bool]]:
    """Yield neighboring numbers: whose, where, from which origin, and whether they are on it."""
    for place, (one, other) in enumerate(itertools.pairwise(words)):
        if one.isdigit() and other.isdigit():
            for origin in (0, 1):
                column, row = int(one) - origin, int(other) - origin
                yield (name, place, origin), 0 <= column < size[0] and 0 <= row < size[1]


def sample(one: Argument, game: DeclaredGame) -> str:
    """Return a text that may be an argument of a first command."""
    if one == A_VERTEX:
        return vertex_of((0, 0), game)
    return game.colors[0] if one == A_COLOR else one.words[0]
