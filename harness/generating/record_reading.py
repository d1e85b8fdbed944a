"""Game records read into a pool of positions, of which a key chooses.

Every choice is drawn from HMAC-SHA-256 of what it is about, never from the order in which work
happens to be done: so runs with any number of processes agree, and who lacks a secret key learns
nothing from the program, the games and the public cases.
"""

import hmac
import mmap
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.core.errors import UsageError
from harness.generating.record_replay import Unusable, is_private, moment, replay
from harness.running.jobs import Fault, Note, run_all
from harness.vocabulary.scenes import FeatureKind, Find, PlayedGame
from oracle.errors import SgfError
from oracle.sgf import SgfGame, games

LEAST = 16  # bytes of a secret: what nobody tries out


class Choices:
    """The choices under one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def rank(self, *subject: object) -> int:
        """Return a number of 64 bits that stands for what it is about."""
        return int.from_bytes(self._digest(subject)[:8])

    def random(self, *subject: object) -> Random:
        """Return a source of random numbers for what it is about."""
        return Random(self._digest(subject))

    def _digest(self, subject: tuple[object, ...]) -> bytes:
        return hmac.digest(self._key, repr(subject).encode(), "sha256")


def choices(seed: int, secret: bytes | None = None) -> Choices:
    """Return the choices for a seed, which anybody can repeat, or those only a secret gives."""
    if secret is None:
        return Choices(b"public %d" % seed)
    return Choices(hmac.digest(secret, b"private %d" % seed, "sha256"))


def read_secret(place: str) -> bytes:
    """Return the secret in a file, or (``env:NAME``) in a variable of the environment.

    Blanks around it do not count. On the command line itself others could read it in the list of
    processes, so it cannot stand there.

    Raises :class:`UsageError` when there is none, or one that can be tried out.
    """
    kind, _, name = place.partition(":")
    if kind == "env":
        secret = os.environ.get(name, "").encode("utf-8", "surrogateescape").strip()
        what = f"the variable {name}"
    else:
        what = place
        try:
            secret = Path(place).read_bytes().strip()
        except OSError as error:
            raise UsageError(f"{place}: the secret cannot be read: {error.strerror}") from None
    if len(secret) < LEAST:
        found = f"{len(secret)} bytes" if secret else "no secret"
        raise UsageError(f"{what}: found {found}, expected at least {LEAST} bytes")
    return secret


# --- After which moves of a game its positions are looked at -------------------------------------


_PART = re.compile(r"(\d{1,4})(?:-(\d{1,4})(?:/(\d{1,4}))?)?")
_EVENTS, _QUIET, _LATE = 3, 1, 5  # moments of a game where nothing else was asked for


class Moves(NamedTuple):
    """The moves that ``--moves`` names; ``numbers`` is empty where something must happen."""

    numbers: frozenset[int] = frozenset()
    end: bool = True

    def of(self, played: PlayedGame, choices: Choices) -> list[int]:
        """Return after which moves to look at a game."""
        last = len(played.moves)
        if self.numbers or not self.end:
            found = {number for number in self.numbers if number <= last}
            return sorted(found | {last} if self.end else found)
        if not last:
            return [0]  # a position that was set up
        # The end, where stones were taken, and a few others.
        game = played.origin.game
        found = {last, *(1 + choices.rank(game, turn) % last for turn in range(_QUIET))}
        if played.kind == "gomoku":
            return sorted(found | set(range(max(1, last - _LATE), last)))
        sizes = [board.stones.bit_count() for board in played.boards]
        steps = zip(sizes, sizes[1:], played.moves, strict=False)
        takes = {
            number: before + 1 - after
            for number, (before, after, (_, move)) in enumerate(steps, 1)
            if move and after <= before
        }
        largest = sorted(takes, key=lambda number: (-takes[number], choices.rank(game, number)))
        some = sorted(takes, key=lambda number: choices.rank(game, number))
        return sorted(found | set(largest[:1]) | set(some[: _EVENTS - 1]))


def parse(text: str) -> Moves:
    """Return what ``--moves`` says: numbers, ranges (``20-60/10``: every tenth) and ``end``.

    Raises :class:`UsageError` for anything else.
    """
    numbers: set[int] = set()
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        match = _PART.fullmatch(part)
        if match:
            first, last, step = (int(number) if number else 0 for number in match.groups())
            numbers |= set(range(first, (last or first) + 1, step or 1))
        elif part != "end":
            raise UsageError(f"--moves: found {part!r}, expected such as 10, 20-60/10 or end")
    return Moves(frozenset(numbers), "end" in parts)


# --- A pool of positions: of each kind a few, whatever the order in which they come --------------


DEPTH = 4  # finds of a kind that are kept, each of another game

Cell = tuple[str, int, str]  # feature, size, kind of answer


class Pool:
    """The finds of the lowest ranks in each cell of *features × sizes × kinds of answer*.

    Its size does not depend on the number of games, nor its content on their order: so it can be
    filled in pieces, by several processes, and merged.
    """

    def __init__(self) -> None:
        self._cells: dict[Cell, list[Find]] = {}

    def add(self, finds: Iterable[Find]) -> None:
        """Take the finds that are among the lowest of their cells."""
        for find in finds:
            key = (find.feature, find.moment.size, find.answer)
            kept = self._cells.setdefault(key, [])
            if len(kept) < DEPTH or _order(find) < _order(kept[-1]):
                kept.append(find)
                # Of each game only the first find; made ones have none.
                games: set[str] = set()
                self._cells[key] = first = []
                for one in sorted(kept, key=_order):
                    game = one.moment.origin.game
                    if not game or game not in games:
                        first.append(one)
                        games.add(game)
                del first[DEPTH:]

    def __iter__(self) -> Iterator[Find]:
        """Yield all finds, by cell, the lowest ranks first."""
        for key in sorted(self._cells):
            yield from self._cells[key]


def _order(find: Find) -> tuple[int, str]:
    """Return what finds are sorted by; copies of a game in two files have the same rank."""
    return find.rank, find.moment.origin.text


# --- Game records read as a stream, by several processes: from files to a pool of finds ----------
# Memory holds only a few games in each process and the pool, whatever the number of files and
# games.


_PIECE = 1 << 17  # bytes of a collection that are read at a time
_TOGETHER = 64  # small files that make one task
DAMAGED = "damaged or cut off; used up to there"
_SIGNS = re.compile(rb"\[(?:[^\\\]]|\\.)*\]|[()]", re.DOTALL)


class RecordPiece(NamedTuple):
    """A part of a file that holds whole games."""

    path: str
    start: int
    end: int  # -1: that of the file


class HarvestOptions(NamedTuple):
    """Options for reading records."""

    kind: FeatureKind
    choices: Choices
    moves: Moves
    sizes: range
    private: bool | None  # which half of the games; None: all
    strict: bool = False  # whether a game is used only as far as SGF and the rules allow


class Harvest(NamedTuple):
    """Finds; ``counts`` has ``games``, ``used`` and reasons why some were not used."""

    pool: Pool
    counts: Counter[str]
    seen: Counter[str]  # feature: positions that had it
    notes: Counter[str]  # what is odd about games that were used: games

    @classmethod
    def empty(cls) -> "Harvest":
        """Return a harvest of nothing yet."""
        return cls(Pool(), Counter(), Counter(), Counter())


# --- which files -------------------------------------------------------------------------------


def records(paths: Sequence[str]) -> list[str]:
    """Return the files that paths name: themselves, and the ``.sgf`` files of folders, sorted.

    Raises :class:`UsageError` for what is not there, and a folder without records.
    """
    found: list[str] = []
    for path in paths:
        if not Path(path).exists():
            raise UsageError(f"{path}: no such file or folder")
        if not Path(path).is_dir():
            found.append(path)
            continue
        walk = ((folder, name) for folder, _, names in os.walk(path) for name in names)
        inside = [str(Path(*place)) for place in walk if place[1].lower().endswith(".sgf")]
        if not inside:
            raise UsageError(f"{path}: found no game records in this folder, expected *.sgf")
        found += sorted(inside)
    return found


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
    files: Sequence[str],
    options: HarvestOptions,
    workers: int,
    on_note: Callable[[int, int], None],
) -> Harvest:
    """Return what all files have to give; ``on_note`` is told of the bytes and games done."""
    found = Harvest.empty()
    found.counts["files"] = len(files)
    pieces, done = list(tasks(files)), 0

    def work(task: list[RecordPiece], note: Note) -> Harvest:
        return _read(task, options)

    # No notes are taken of tasks under way: they are short.
    for place, part in run_all(pieces, work, workers, lambda *_: None):
        if isinstance(part, Fault):
            raise RuntimeError(f"{part.message}\n{part.details}")
        found.pool.add(part.pool)
        for whole, more in zip(found[1:], part[1:], strict=True):
            whole.update(more)
        done += sum(piece.end - piece.start for piece in pieces[place])
        on_note(done, found.counts["games"])
    return found


def _read(pieces: Sequence[RecordPiece], options: HarvestOptions) -> Harvest:
    """Read some pieces in this process."""
    found = Harvest.empty()
    for piece in pieces:
        for game, name in read_games(piece, found.counts):
            try:
                played = replay(game.root, name, strict=options.strict)
                if game.fault:
                    played = played._replace(notes=(*played.notes, DAMAGED))
                found.pool.add(_finds(played, options, found))
            except Unusable as reason:
                found.counts[str(reason)] += 1
    return found


def read_games(piece: RecordPiece, counts: Counter[str]) -> Iterator[tuple[SgfGame, str]]:
    """Yield the games of a piece, which are counted, each with its name for a reader."""
    try:
        with Path(piece.path).open("rb") as file:
            file.seek(piece.start)
            data = file.read(piece.end - piece.start if piece.end >= 0 else -1)
        found = games(data, piece.path)
    except (OSError, SgfError):
        counts["a file is not a game record"] += 1
        return
    where = f", from byte {piece.start}" if piece.start else ""
    for game in found:
        several = len(found) > 1 or piece.start
        counts["games"] += 1
        yield game, f"game {game.number} of {piece.path}{where}" if several else piece.path


def _finds(played: PlayedGame, options: HarvestOptions, harvest: Harvest) -> Iterator[Find]:
    """Yield the features of a game's moments.

    Raises :class:`Unusable` when the game is not for this run.
    """
    if played.kind != options.kind.game:
        raise Unusable("another game")
    if played.size not in options.sizes:
        raise Unusable("a size that the assignment does not use")
    if not played.moves and not played.boards[0].stones:
        raise Unusable("no stone and no sound move")
    if options.private is not None and is_private(played.origin.game) != options.private:
        raise Unusable(f"kept for {'public' if options.private else 'private'} cases")
    harvest.counts["used"] += 1
    harvest.notes.update(played.notes)
    identity = played.origin.game
    for number in options.moves.of(played, options.choices):
        for one in options.kind.fitting(moment(played, number)):
            harvest.counts["positions"] += 1
            for feature in options.kind.features:
                answer = feature.find(one)
                if answer:
                    harvest.seen[feature.name] += 1
                    # Nothing of where the file lies: moved elsewhere, it gives the same cases.
                    rank = options.choices.rank(
                        identity, number, feature.name, one.size, one.board
                    )
                    yield Find(rank, feature.name, answer, one)
