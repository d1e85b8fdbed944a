"""The games of a match on disk, a line of JSON each: a match that was killed continues from here.

The first line says what is played. A line is written at once and whole, or it is cut off when the
file is opened again: so no game counts twice, and none that was counted is lost.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from typing import Any

from harness.errors import BusyError, UsageError
from harness.match.records import Game, game_from_json

SCHEMA, VERSION = "gtp-harness/match-journal", 1


class Journal:
    """The games so far. ``games``: by their numbers."""

    def __init__(self, path: str = "", about: Mapping[str, Any] | None = None) -> None:
        """Open the file, or begin one; ``path``: "" keeps all in memory.

        ``about``: what is played: a match with other rules or players does not continue here.

        Raises:
            UsageError: the file is of another match, is damaged or cannot be written.
        """
        self.games: dict[int, Game] = {}
        self._path = path
        self._file = -1
        if path:
            head = {"schema": SCHEMA, "version": VERSION, **(about or {})}
            try:
                self._open(json.loads(json.dumps(head)))
            except OSError as error:
                raise UsageError(f"--journal {path}: {error.strerror}") from None

    def _open(self, head: dict[str, Any]) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            # (flock would stay with processes that play games when this one is killed.)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"--journal {self._path}: another process is at this match") from None
        size = os.fstat(self._file).st_size
        *lines, torn = os.pread(self._file, size, 0).split(b"\n")
        os.ftruncate(self._file, size - len(torn))
        os.lseek(self._file, 0, os.SEEK_END)
        if not lines:
            self._write(head)
        for number, line in enumerate(lines, 1):
            try:
                self._read(json.loads(line), head if number == 1 else None)
            except (ValueError, KeyError, TypeError):
                where = f"--journal {self._path}: line {number}"
                raise UsageError(f"{where} is not a game of a match; name a new file") from None

    def _read(self, found: Any, head: Mapping[str, Any] | None) -> None:
        if head is None:
            game = game_from_json(found)
            self.games[game.plan.number] = game
            return
        if found["schema"] != SCHEMA:
            raise ValueError
        for key, value in head.items():
            if found.get(key) != value:
                raise UsageError(
                    f"--journal {self._path}: it is of another match: {key} was"
                    f" {json.dumps(found.get(key))[:200]}, and is {json.dumps(value)[:200]};"
                    " name a new file"
                )

    def add(self, game: Game) -> None:
        """Keep a game, on the disk before anybody is told.

        Raises:
            OSError: it cannot be written.
        """
        self.games[game.plan.number] = game
        if self._file >= 0:
            self._write(game.as_json())

    def _write(self, value: object) -> None:
        data = json.dumps(value).encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Let others continue the match."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
