"""The playable program of java-go.txt: two people play Go at the terminal.

:class:`GameTable` answers lines of text and knows no terminal; :func:`converse` is the loop around
it.

Source: java-go.txt, "The Game", "Rules" and "Notes": "the code should be playable on the command
line (ie show the game board and allow for users to input coordinates to play their pieces)".
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from oracle.answers import java_go
from oracle.draw import Diagram, draw_text
from oracle.errors import IllegalMove, VertexError
from oracle.games.go import BLACK_FIRST, GoGame
from oracle.position import (
    BLACK,
    EXAMPLE,
    LETTERS,
    NAMES,
    WHITE,
    Move,
    Point,
    Position,
    opponent,
    parse_vertex,
    vertex,
)
from oracle.sentences import count

_REASONS = {
    "off board": "there is no such point on this board",
    "occupied": "a stone lies there already",
    "ko": "the ko rule: it would take back at once the stone that has just taken one",
    "suicide": "self capture: the stone would have no liberty and take nothing",
}


class GameTable:
    """A game, and what is said at the table.

    Attribute ``is_open``: false when the game has ended or the players have left.
    """

    def __init__(
        self,
        start: Position,
        to_play: int = BLACK,
        moves: Sequence[Move] = (),
        *,
        unicode: bool = True,
    ) -> None:
        """Sit down at a board: ``to_play`` moves after the ``moves`` that were played already."""
        self.game = GoGame(start, to_play, ending=BLACK_FIRST)
        for move in moves:
            self.game.play(*move)
        self.is_open = True
        self._unicode = unicode
        self._saved: set[Path] = set()  # files of this game, which may be written again

    # --- what is shown -------------------------------------------------------------------------

    def welcome(self) -> str:
        """Return what is said before the first move."""
        shape = self.game.position.grid
        signs = "● and ○" if self._unicode else "X and O"
        return (
            f"Go on a board of {shape.columns} by {shape.rows}. "
            f"Black and White ({signs}) take turns.\n"
            "Type a point such as C3, or pass; help tells what else there is.\n\n" + self.board()
        )

    def board(self) -> str:
        """Return the board, the prisoners and the score."""
        move = self.game.moves[-1] if self.game.moves else None
        diagram = Diagram(self.game.position, move[1] if move else None)
        state = [
            f"{NAMES[color].capitalize()}: {count(self.game.prisoners(color), 'prisoner')}, "
            f"score {self.score(color)}"
            for color in (BLACK, WHITE)
        ]
        return "\n".join([draw_text(diagram, unicode=self._unicode), *state])

    def prompt(self) -> str:
        """Return the question for the next move."""
        return f"{NAMES[self.game.to_play].capitalize()} to play: "

    def score(self, color: int) -> int:
        """Return a color's territory, and its prisoners (those still on the board count too)."""
        return self.game.prisoners(color) + java_go.score(self.game.position, color)

    # --- what is answered ----------------------------------------------------------------------

    def handle(self, line: str) -> str:
        """Return the answer to what a player has typed; ``""`` to an empty line."""
        word, _, rest = line.strip().partition(" ")
        command = _COMMANDS.get(word.lower())
        if not word:
            return ""
        if command is None:
            shape = self.game.position.grid
            try:
                return self._play(parse_vertex(line.strip(), shape.rows, shape.columns))
            except VertexError as error:
                told = str(error).removesuffix(EXAMPLE)
                return f"{told}. Type a point such as C3, pass or help."
        return command[0](self, rest.strip())

    def _play(self, point: Point | None) -> str:
        color = self.game.to_play
        name = NAMES[color].capitalize()
        try:
            taken = self.game.play(color, point)
        except IllegalMove as error:
            assert point is not None
            return f"{vertex(point)} is not legal: {_REASONS[error.reason]}."
        if point is None:
            return f"{name} passes.\n{self._outcome()}"
        stones = count(taken, f"{NAMES[opponent(color)]} stone")
        capture = f" and takes {stones}" if taken else ""
        return f"{name} plays {vertex(point)}{capture}.\n\n{self.board()}"

    def _outcome(self) -> str:
        """Return the end of the game after a pass, or that it continues."""
        if not self.game.is_over:
            return f"\n{self.board()}"
        self.is_open = False
        black, white = self.score(BLACK), self.score(WHITE)
        return (
            f"\n{self.board()}\n\nThe game is over: Black passed and White passed after it.\n"
            f"Black has {count(black, 'point')}, White {white}: {_verdict(black - white)}."
        )

    # --- what can be typed instead of a point --------------------------------------------------

    def pass_(self, _: str) -> str:
        """Make no move."""
        return self._play(None)

    def undo(self, _: str) -> str:
        """Take the last move back."""
        try:
            color, point = self.game.undo()
        except IndexError:
            return "There is no move to take back."
        move = vertex(point) if point else "the pass"
        return f"{NAMES[color].capitalize()} takes {move} back.\n\n{self.board()}"

    def explain(self, _: str) -> str:
        """Return how the score is counted."""
        return "\n".join(self._count(color) for color in (BLACK, WHITE))

    def _count(self, color: int) -> str:
        text = java_go.explain_score(self.game.position, color).text
        prisoners = self.game.prisoners(color)
        if not prisoners:
            return text
        stones = count(prisoners, "prisoner")
        return f"{text} With {stones} taken in the game: {self.score(color)}."

    def redraw(self, _: str) -> str:
        """Draw the board again."""
        return self.board()

    def save(self, name: str) -> str:
        """Write the game so far as an SGF file; a file of something else is not touched."""
        if not name:
            return "Say where: save FILE."
        path = Path(name)
        if path.exists() and path not in self._saved:
            return f"{name} exists already; choose another name."
        try:
            path.write_bytes(self.record())
        except (OSError, ValueError) as error:
            return f"{name} cannot be written: {getattr(error, 'strerror', None) or error}."
        self._saved.add(path)
        return f"The game is in {name}."

    def help_(self, _: str) -> str:
        """Return what can be typed."""
        words = {"C3": "play a stone on a point: its column and row; small letters will do"}
        words |= {word: purpose for word, (_, purpose) in _COMMANDS.items()}
        return "\n".join(f"{word:6} {purpose}" for word, purpose in words.items())

    def leave(self, _: str) -> str:
        """Leave the game."""
        self.is_open = False
        return "The game is left as it stands."

    def record(self) -> bytes:
        """Return the game so far as SGF, with the result when it is over."""
        from oracle.sgf import write_sgf

        lead = self.score(BLACK) - self.score(WHITE)
        result = f"{LETTERS[BLACK if lead > 0 else WHITE]}+{abs(lead)}" if lead else "0"
        moves = self.game.moves
        return write_sgf(
            self.game.start,
            moves,
            to_play=moves[0][0] if moves else self.game.to_play,
            result=result if self.game.is_over else "",
        )


# What can be typed: a word, what it does, and what help says of it.
_COMMANDS: dict[str, tuple[Callable[[GameTable, str], str], str]] = {
    "pass": (GameTable.pass_, "make no move; Black's and then White's pass end the game"),
    "undo": (GameTable.undo, "take the last move back"),
    "score": (GameTable.explain, "how the score is counted"),
    "board": (GameTable.redraw, "draw the board again"),
    "save": (GameTable.save, "save FILE writes the game so far as SGF"),
    "help": (GameTable.help_, "this list"),
    "quit": (GameTable.leave, "leave the game"),
}


def _verdict(lead: int) -> str:
    if not lead:
        return "nobody wins"
    winner = NAMES[BLACK if lead > 0 else WHITE].capitalize()
    return f"{winner} wins by {count(abs(lead), 'point')}"


def converse(table: GameTable, ask: Callable[[str], str], say: Callable[[str], None]) -> None:
    """Let the players type until the game ends; the end of the input is like ``quit``."""
    say(table.welcome())
    while table.is_open:
        try:
            answer = table.handle(ask(table.prompt()))
        except (EOFError, KeyboardInterrupt):
            answer = f"\n{table.leave('')}"
        if answer:
            say(f"{answer}\n")
