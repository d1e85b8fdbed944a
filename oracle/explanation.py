"""The explanation of an answer: why it is so, and whether the document leaves it open.

An explanation is made of sentences, and a sentence of words and *facts*: numbers, points, colors.
Anyone who reads it for the facts takes them from there; the words are for people.
"""

from __future__ import annotations

from oracle.position import GTP_LETTERS, NAMES, Point, vertex
from oracle.sentences import count, listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


class Record:
    """An object that is given its attributes once; equal to another that has the same.

    A named tuple would cost an engine too much of its start.
    """

    __slots__: tuple[str, ...] = ()

    def _give(self, **attributes: object) -> None:
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def _attributes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or type(self) is not type(other):
            return NotImplemented
        return self._attributes() == other._attributes()

    def __hash__(self) -> int:
        return hash(tuple(self._attributes().values()))

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        self._give(**state[1])

    def __repr__(self) -> str:
        pairs = [f"{name}={value!r}" for name, value in self._attributes().items()]
        return f"{type(self).__name__}({', '.join(pairs)})"


class Fact(Record):
    """One thing that a sentence says.

    Attributes: ``name``, what it is, such as ``stones``; ``value``, a number, a color, a point
    (row, column), an answer as text, or a tuple of these; ``words``, how the sentence says it.
    """

    __slots__ = ("name", "value", "words")

    name: str
    value: Any
    words: str

    def __init__(self, name: str, value: object, words: str) -> None:
        self._give(name=name, value=value, words=words)

    def __str__(self) -> str:
        return self.words


class Sentence(Record):
    """One sentence of an explanation.

    Attributes: ``name``, what it says, the same for all positions where it is true;
    ``parts``, its words and facts in order.
    """

    __slots__ = ("name", "parts")

    name: str
    parts: tuple[str | Fact, ...]

    def __init__(self, name: str, *parts: str | Fact) -> None:
        self._give(name=name, parts=parts)

    @property
    def text(self) -> str:
        """The sentence itself."""
        return "".join(map(str, self.parts))

    @property
    def facts(self) -> dict[str, Any]:
        """The values of its facts, by their names."""
        return {part.name: part.value for part in self.parts if isinstance(part, Fact)}


class Explanation(Record):
    """The reason of an answer, for a student.

    Attributes: ``sentences``, a few short ones; ``labels``, pairs of a point and the one or two
    characters that mark it on the board.
    """

    __slots__ = ("labels", "sentences")

    labels: tuple[tuple[Point, str], ...]
    sentences: tuple[Sentence, ...]

    def __init__(
        self, sentences: Iterable[Sentence], marks: Mapping[Point, str] | None = None
    ) -> None:
        self._give(sentences=tuple(sentences), labels=tuple((marks or {}).items()))

    @property
    def text(self) -> str:
        """All its sentences."""
        return " ".join([sentence.text for sentence in self.sentences])

    @property
    def marks(self) -> dict[Point, str]:
        """The labels by point, as :class:`oracle.draw.Diagram` shows them."""
        return dict(self.labels)


class Readings(Record):
    """Answers of a command under each reading that a document leaves open.

    Attributes: ``answers``, pairs of a reading in a few words and the answer as the command
    writes it, the reference engine's reading first; ``is_open``, whether they differ or there are
    none; ``left_open``, why the document leaves the answer open whatever its readings, ``""`` if
    it does not.
    """

    __slots__ = ("answers", "is_open", "left_open")

    answers: tuple[tuple[str, str], ...]
    is_open: bool
    left_open: str

    def __init__(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        is_open: bool = False,
        left_open: str = "",
    ) -> None:
        found = tuple((answers or {}).items())
        self._give(answers=found, is_open=is_open or left_open != "", left_open=left_open)


def is_underspecified(readings: Mapping[str, object]) -> bool:
    """Whether the readings of a document (name to answer) give different answers."""
    first, *others = readings.values()
    return any(other != first for other in others)


# --- facts and words ---------------------------------------------------------------------------


def number(name: str, value: int, one: str, many: str | None = None) -> Fact:
    """Return a number with its noun, such as ``1 stone``."""
    return Fact(name, value, count(value, one, many))


def figure(name: str, value: object) -> Fact:
    """Return a bare number, or an answer."""
    return Fact(name, value, str(value))


def numbers(name: str, values: Iterable[int]) -> Fact:
    """Return a list of numbers, such as ``1, 3 and 5``."""
    found = tuple(values)
    return Fact(name, found, listing([str(value) for value in found]))


def a_point(name: str, point: Point, letters: str = GTP_LETTERS) -> Fact:
    """Return a point by its vertex."""
    return Fact(name, point, vertex(point, letters))


def points(name: str, points: Iterable[Point], letters: str = GTP_LETTERS) -> Fact:
    """Return a list of points, such as ``A1, B2 and C3``."""
    listed = tuple(points)
    return Fact(name, listed, listing([vertex(point, letters) for point in listed]))


def a_color(name: str, color: int, *, is_first: bool = False) -> Fact:
    """Return a color; ``is_first``: of the words of its sentence, with a capital."""
    return Fact(name, color, NAMES[color].capitalize() if is_first else NAMES[color])
