"""java-go.txt's program as an engine: its three methods, and its game for two.

The methods are asked about the board as the case file has set it. The game is played from its
beginning, by the moves of the case file, and judged by the board that it prints: so only games
that begin on an empty board of 11 by 11 can be asked about.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .adapter_protocol import AdapterEngine
from .go_board import AdapterBoard, Refusal, color_of
from .methods import Methods

if TYPE_CHECKING:
    from .playing import Player


class JavaGo(AdapterEngine):
    """Answers with what the methods return, and with what the game does."""

    name = "java-go"
    size = 11

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        super().__init__(settings)
        self._folder = folder
        self._methods = Methods(settings, folder)
        self._player: Player | None = None
        self.commands |= {
            "is_captured": self.is_captured,
            "score": self.score,
            "is_legal": self.is_legal,
            "can_play": self.can_play,
            "captures": self.captures,
            "is_over": self.is_over,
        }

    def close(self) -> None:
        """End Java."""
        self._methods.close()
        if self._player:
            self._player.close()

    def load_board(self, words: list[str]) -> str:
        """Load a text board of 0, 1 and 2."""
        path = Path(" ".join(words))
        try:
            rows = [[*map(int, line.split())] for line in path.read_text().splitlines() if line]
        except (OSError, ValueError):
            raise Refusal(f"cannot load file: {path.name}") from None
        stones = {(x, y): n for y, row in enumerate(rows) for x, n in enumerate(row) if n}
        self.set(AdapterBoard(len(rows[0]), len(rows), stones))
        return ""

    def is_captured(self, words: list[str]) -> str:
        """The method isCaptured."""
        return self._methods.at_point("isCaptured", self.board, self.board.point(words[0]))

    def score(self, words: list[str]) -> str:
        """The method score."""
        return self._methods.ask("score", self.board, color_of(words[0]))

    def is_legal(self, words: list[str]) -> str:
        """The method isLegal."""
        color, point = color_of(words[0]), self.board.point(words[1])
        return self._methods.at_point("isLegal", self.board, point, color)

    def can_play(self, words: list[str]) -> str:
        """Whether the game takes the move."""
        color, point = color_of(words[0]), self.board.point(words[1])
        return str(self._in_game().accepts(self.moves, (color, point))).lower()

    def captures(self, words: list[str]) -> str:
        """Number of stones of the other color gone from the game's board."""
        return str(self._in_game().prisoners(self.moves, color_of(words[0])))

    def is_over(self, _words: list[str]) -> str:
        """Whether the game has ended."""
        return str(self._in_game().is_over(self.moves)).lower()

    def _in_game(self) -> Player:
        if not self.begun:
            raise Refusal(f"the game begins on an empty board of {self.size} by {self.size}")
        if self._player is None:
            from .playing import Player

            self._player = Player(self.settings, self._folder)
        return self._player
