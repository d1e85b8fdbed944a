"""Game records read as a stream, by several processes: from files to a pool of finds.

Memory holds only a few games in each process and the pool, whatever the number of files and
games.
"""

from __future__ import annotations

import mmap
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.generating.choices import Choices
from harness.generating.moves import Moves
from harness.generating.pool import Pool
from harness.generating.record_replay import Unusable, is_private, moment, replay
from harness.running.jobs import Fault, Note, run_all
from harness.vocabulary.features import FeatureKind
from harness.vocabulary.scenes import Find, Played
from oracle.errors import SgfError
from oracle.sgf import SgfGame, games

_PIECE = 1 << 17  # bytes of a collection that are read at a time
_TOGETHER = 64  # small files that make one task
_DAMAGED = "damaged or cut off; used up to there"
_SIGNS = re.compile(rb"\[(?:[^\\\]]|\\.)*\]|[()]", re.DOTALL)


class RecordPiece(NamedTuple):
    """A part of a file that holds whole games."""

    path: str
    start: int
    end: int


class HarvestOptions(NamedTuple):
    """What is looked for in the records."""

    kind: FeatureKind
    choices: Choices
    moves: Moves
    sizes: range
    private: bool | None  # which half of the games; None: all
    without: frozenset[str] = frozenset()  # names of games that are not to be used
    strict: bool = False  # whether a game is used only as far as SGF and the rules allow


class Harvest(NamedTuple):
    """What was found; ``counts`` has ``games``, ``used`` and reasons why some were not used."""

    pool: Pool
    counts: Counter[str]
    seen: Counter[str]  # feature: positions that had it
    notes: Counter[str]  # what is odd about games that were used: games

    @classmethod
    def empty(cls) -> Harvest:
        """Return a harvest of nothing yet."""
        return cls(Pool(), Counter(), Counter(), Counter())


# --- which files -------------------------------------------------------------------------------


def records(paths: Sequence[str]) -> list[str]:
    """Return the files that paths name: themselves, and the ``.sgf`` files of folders, sorted.

    Raises :class:`UsageError` for what is not there, and a folder without records.
    """
    return [file for path in paths for file in _records(path)]


def _records(path: str) -> list[str]:
    if not Path(path).is_dir():
        if not Path(path).exists():
            raise UsageError(f"{path}: no such file or folder")
        return [path]
    found = [
        str(Path(folder, name))
        for folder, _, names in os.walk(path)
        for name in names
        if name.lower().endswith(".sgf")
    ]
    if not found:
        raise UsageError(f"{path}: found no game records in this folder, expected *.sgf")
    return sorted(found)


def tasks(files: Sequence[str]) -> Iterator[list[RecordPiece]]:
    """Yield what one process reads at a time: a piece of a large file, or some small files."""
    together: list[RecordPiece] = []
    for path in files:
        size = _size(path)
        if size > _PIECE:
            yield from ([piece] for piece in _pieces(path))
            continue
        together.append(RecordPiece(path, 0, size))
        if len(together) == _TOGETHER:
            yield together
            together = []
    if together:
        yield together


def weight(files: Sequence[str]) -> int:
    """Return how many bytes files have together."""
    return sum(map(_size, files))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _pieces(path: str) -> Iterator[RecordPiece]:
    """Cut a collection where games end; brackets inside values do not count."""
    with (
        Path(path).open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        start, depth = 0, 0
        for sign in _SIGNS.finditer(data):
            first = data[sign.start()]
            depth += (first == ord("(")) - (first == ord(")") and depth > 0)
            if first == ord(")") and not depth and sign.end() - start >= _PIECE:
                yield RecordPiece(path, start, sign.end())
                start = sign.end()
        if data[start:].strip():
            yield RecordPiece(path, start, len(data))


# --- reading -----------------------------------------------------------------------------------


def harvest(
    files: Sequence[str], wanted: HarvestOptions, workers: int, on_note: Callable[[int, int], None]
) -> Harvest:
    """Return what all files have to give; ``on_note`` is told of the bytes and games done."""
    found = Harvest.empty()
    found.counts["files"] = len(files)
    pieces, done = list(tasks(files)), 0

    def work(task: list[RecordPiece], note: Note) -> Harvest:
        return _read(task, wanted)

    for place, part in run_all(pieces, work, workers, _silent):
        if isinstance(part, Fault):
            raise RuntimeError(f"{part.message}\n{part.details}")
        found.pool.add(part.pool)
        for whole, more in zip(found[1:], part[1:], strict=True):
            whole.update(more)
        done += sum(piece.end - piece.start for piece in pieces[place])
        on_note(done, found.counts["games"])
    return found


def _silent(task: int, note: object) -> None:
    """Take no notes of tasks under way: they are short."""


def _read(pieces: Sequence[RecordPiece], wanted: HarvestOptions) -> Harvest:
    """Read some pieces in this process."""
    found = Harvest.empty()
    for piece in pieces:
        for game, name in _games(piece, found.counts):
            found.counts["games"] += 1
            try:
                played = replay(game.root, name, strict=wanted.strict)
                if game.fault:
                    played = played._replace(notes=(*played.notes, _DAMAGED))
                found.pool.add(_finds(played, wanted, found))
            except Unusable as reason:
                found.counts[str(reason)] += 1
    return found


def _games(piece: RecordPiece, counts: Counter[str]) -> Iterator[tuple[SgfGame, str]]:
    """Yield the games of a piece, each with its name for a reader."""
    try:
        with Path(piece.path).open("rb") as file:
            file.seek(piece.start)
            data = file.read(piece.end - piece.start)
        found = games(data, piece.path)
    except (OSError, SgfError):
        counts["a file is not a game record"] += 1
        return
    where = f", from byte {piece.start}" if piece.start else ""
    for game in found:
        several = len(found) > 1 or piece.start
        yield game, f"game {game.number} of {piece.path}{where}" if several else piece.path


def _finds(played: Played, wanted: HarvestOptions, found: Harvest) -> Iterator[Find]:
    """Yield the features of a game's moments."""
    _check(played, wanted)
    found.counts["used"] += 1
    found.notes.update(played.notes)
    identity = played.origin.game
    for number in wanted.moves.of(played, wanted.choices):
        for one in wanted.kind.fitting(moment(played, number)):
            found.counts["positions"] += 1
            for feature in wanted.kind.features:
                answer = feature.find(one)
                if answer:
                    found.seen[feature.name] += 1
                    # Nothing of where the file lies: moved elsewhere, it gives the same cases.
                    rank = wanted.choices.rank(identity, number, feature.name, one.size, one.board)
                    yield Find(rank, feature.name, answer, one)


def _check(played: Played, wanted: HarvestOptions) -> None:
    """Raise :class:`Unusable` when the game is not for this run."""
    if played.kind != wanted.kind.game:
        raise Unusable("another game")
    if played.size not in wanted.sizes:
        raise Unusable("a size that the assignment does not use")
    if not played.moves and not played.boards[0].stones:
        raise Unusable("no stone and no sound move")
    if wanted.private is not None and is_private(played.origin.game) != wanted.private:
        raise Unusable(f"kept for {'public' if wanted.private else 'private'} cases")
