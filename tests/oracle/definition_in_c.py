"""A plain C program that answers by the documents' definitions, and the oracle held against it.

``tests/benchmarks/exhaustive.c`` shares no code with the oracle. A :class:`Question` says who
answers the same in the oracle; :meth:`Definition.differences` asks everybody.

Boards are arrays as :mod:`oracle.batch` takes them: int8, (boards, rows, columns), the bottom row
first.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oracle.draw import Diagram, draw_text
from oracle.position import BLACK, WHITE, Grid, Position, grid

SOURCE = Path(__file__).parents[1] / "benchmarks" / "exhaustive.c"
BATCH, RULE, ANSWER = "batch", "rule", "answer"

Rule = Callable[[Grid, int, int], object]


class Question(NamedTuple):
    """One question, and the oracle's function for it, or None.

    Attributes: ``name``, as ``exhaustive.c`` has it, with the color; ``values``, 0 for one number,
    or how many values a point may have beside 0; ``batch``, answers to many boards; ``rule``, the
    answer to the integers of one board; ``answer``, what users get for one position. The last two
    give a number, or a list of masks: the points of value 1, those of value 2 and so on.
    """

    name: str
    values: int
    batch: Callable[[np.ndarray], np.ndarray] | None
    rule: Rule | None
    answer: Callable[[Position], object] | None


class Difference(NamedTuple):
    """A board on which somebody's answer is not that of the definitions."""

    question: str
    way: str
    board: np.ndarray
    expected: object
    found: object

    def __str__(self) -> str:
        position = Position.from_rows(self.board[::-1].tolist())
        picture = draw_text(Diagram(position), unicode=False)
        said = f"{self.found}, by the definition {self.expected}"
        return f"{self.question}, {self.way}: {said}\n{picture}"


class Definition:
    """The C program, for boards of one shape and some questions; a context manager."""

    def __init__(
        self, program: Path, shape: tuple[int, int], questions: Iterable[Question]
    ) -> None:
        self._questions = list(questions)
        self._grid = grid(*shape)
        words = [program, *map(str, shape), *(question.name for question in self._questions)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Definition:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.stdin.close()

    def answers(self, boards: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the C program's answers to each question, in the boards' order.

        They are int16 (boards,) for a number and int8 (boards, rows, columns) for points.
        """
        self._process.stdin.write(np.int32(len(boards)).tobytes() + boards.tobytes())
        self._process.stdin.flush()
        for question in self._questions:
            yield self._read(question, boards.shape)

    def differences(self, boards: np.ndarray, ways: Iterable[str]) -> Iterator[Difference]:
        """Yield for each question and way the first board on which the answer differs."""
        packed = self._packed(boards) if {RULE, ANSWER} & set(ways) else []
        for question, expected in zip(self._questions, self.answers(boards), strict=True):
            if BATCH in ways and question.batch:
                yield from _in_batch(question, boards, expected)
            for way in sorted({RULE, ANSWER} & set(ways)):
                yield from self._singly(question, way, boards, packed, expected)

    def _read(self, question: Question, shape: tuple[int, ...]) -> np.ndarray:
        size, kind = (shape, np.int8) if question.values else (shape[:1], np.int16)
        wanted = int(np.prod(size)) * np.dtype(kind).itemsize
        answers = self._process.stdout.read(wanted)
        assert len(answers) == wanted, "the C program ended"
        return np.frombuffer(answers, kind).reshape(size)

    def _singly(
        self,
        question: Question,
        way: str,
        boards: np.ndarray,
        packed: list[tuple[int, int]],
        expected: np.ndarray,
    ) -> Iterator[Difference]:
        ask = self._asker(question, way)
        if ask is None:
            return
        right = self._masks(expected, question) if question.values else expected.tolist()
        for board, masks, one in zip(boards, packed, right, strict=True):
            if (found := ask(*masks)) != one:
                yield Difference(question.name, way, board, one, found)
                return

    def _asker(self, question: Question, way: str) -> Callable[[int, int], object] | None:
        if way == RULE:
            return question.rule and partial(question.rule, self._grid)
        shape, answer = self._grid, question.answer
        return answer and (lambda black, white: answer(Position(shape, black, white)))

    def _packed(self, boards: np.ndarray) -> list[tuple[int, int]]:
        return list(zip(*(self._pack(boards == color) for color in (BLACK, WHITE)), strict=True))

    def _masks(self, maps: np.ndarray, question: Question) -> list[list[int]]:
        values = range(1, question.values + 1)
        return list(map(list, zip(*(self._pack(maps == value) for value in values), strict=True)))

    def _pack(self, points: np.ndarray) -> list[int]:
        """Return sets of points as the masks of :mod:`oracle.position`."""
        count, rows, columns = points.shape
        padded = np.zeros((count, rows, self._grid.stride), np.bool_)
        padded[:, :, :columns] = points
        padded = padded.reshape(count, rows * self._grid.stride)
        packed = np.packbits(padded, axis=1, bitorder="little")
        return [int.from_bytes(row, "little") for row in map(np.ndarray.tobytes, packed)]


def _in_batch(
    question: Question, boards: np.ndarray, expected: np.ndarray
) -> Iterator[Difference]:
    found = question.batch(boards)
    differ = (found != expected).any(axis=tuple(range(1, expected.ndim)))
    if differ.any():
        place = int(differ.argmax())
        yield Difference(
            question.name, BATCH, boards[place], expected[place].tolist(), found[place].tolist()
        )


def build(compiler: str, folder: Path) -> Path:
    """Compile the C program into a folder and return its path."""
    program = folder / SOURCE.stem
    subprocess.run([compiler, "-O2", "-o", program, SOURCE], check=True)
    return program
