"""``gtp-oracle play``, the playable program of java-go.txt: two people play Go at the terminal.

:class:`GameTable` answers lines of text and knows no terminal; :func:`converse` is the loop around
it.

Source: java-go.txt, "The Game", "Rules" and "Notes": "the code should be playable on the command
line (ie show the game board and allow for users to input coordinates to play their pieces)".
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path

from oracle.answers import java_go
from oracle.commands import ask as shared
from oracle.draw import Diagram, draw_text
from oracle.errors import IllegalMove, OracleError, VertexError
from oracle.games.go import BLACK_FIRST, GoGame
from oracle.komi import result_text
from oracle.position import BLACK, EXAMPLE, NAMES, WHITE, Point, Position, parse_vertex, vertex
from oracle.sentences import count

USUAL_SIZE = 11  # java-go.txt, "The Game"

DESCRIPTION = """\
A game of Go between two people at the terminal, by the rules of java-go.txt: self capture and the
immediate recapture of a ko are not allowed, prisoners and territory are a point each, and the game
ends when Black passes and White passes after it.

It begins on an empty board (11 by 11, or --size), or continues with the position of FILE. Type
points such as C3, pass, undo, score, board, save FILE, help or quit.
"""

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

    def __init__(self, start: Position, to_play: int = BLACK, *, unicode: bool = True) -> None:
        """Sit down at a board on which ``to_play`` moves first."""
        self.game = GoGame(start, to_play, ending=BLACK_FIRST)
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
                return self.play(parse_vertex(line.strip(), shape.rows, shape.columns))
            except VertexError as error:
                told = str(error).removesuffix(EXAMPLE)
                return f"{told}. Type a point such as C3, pass or help."
        return command[0](self, rest.strip())

    def play(self, point: Point | None) -> str:
        """Play a stone, or pass, and return what is said to it."""
        color = self.game.to_play
        name = NAMES[color].capitalize()
        try:
            taken = self.game.play(color, point)
        except IllegalMove as error:
            assert point is not None
            return f"{vertex(point)} is not legal: {_REASONS[error.reason]}."
        if point is None:
            passed = f"{name} passes.\n\n{self.board()}"
            if not self.game.is_over:
                return passed
            self.is_open = False
            black, white = self.score(BLACK), self.score(WHITE)
            winner = "Black" if black > white else "White" if white > black else "nobody"
            margin = f" by {count(abs(black - white), 'point')}" if black != white else ""
            return (
                f"{passed}\n\nThe game is over: Black passed and White passed after it.\n"
                f"Black has {count(black, 'point')}, White {white}: {winner} wins{margin}."
            )
        stones = count(taken, f"{NAMES[self.game.to_play]} stone")
        capture = f" and takes {stones}" if taken else ""
        return f"{name} plays {vertex(point)}{capture}.\n\n{self.board()}"

    # --- what can be typed instead of a point --------------------------------------------------

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
        lines = []
        for color in (BLACK, WHITE):
            lines.append(java_go.explain_score(self.game.position, color).text)
            if prisoners := self.game.prisoners(color):
                stones = count(prisoners, "prisoner")
                lines[-1] += f" With {stones} taken in the game: {self.score(color)}."
        return "\n".join(lines)

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
        moves = self.game.moves
        return write_sgf(
            self.game.start,
            moves,
            to_play=moves[0][0] if moves else self.game.to_play,
            result=result_text(lead, 0) if self.game.is_over else "",
        )


# What can be typed: a word, what it does, and what help says of it.
_COMMANDS: dict[str, tuple[Callable[[GameTable, str], str], str]] = {
    "pass": (
        lambda table, _: table.play(None),
        "make no move; Black's and then White's pass end the game",
    ),
    "undo": (GameTable.undo, "take the last move back"),
    "score": (GameTable.explain, "how the score is counted"),
    "board": (lambda table, _: table.board(), "draw the board again"),
    "save": (GameTable.save, "save FILE writes the game so far as SGF"),
    "help": (GameTable.help_, "this list"),
    "quit": (GameTable.leave, "leave the game"),
}


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


def main(arguments: list[str]) -> int:
    """Run the game and return the exit status."""
    parser = shared.OptionParser("play", DESCRIPTION, rules="go")
    shared.add_position(parser, needed=False)
    shared.add_color(parser, "color to begin")
    parser.add_argument("--ascii", action="store_true", help="draw the board in plain ASCII")
    options = parser.parse_args(arguments)
    unicode = not options.ascii and shared.can_draw_unicode()
    if options.file is None:
        start = GoGame.empty(*(options.size or (USUAL_SIZE, USUAL_SIZE))).position
        table = GameTable(start, options.color or BLACK, unicode=unicode)
    else:
        snapshot = shared.read(options)
        shared.print_notes(snapshot)
        turn = snapshot.to_play or options.color or BLACK
        if options.color and options.color != turn:
            raise OracleError(f"{options.file}: it is {NAMES[turn].capitalize()}'s turn")
        table = GameTable(snapshot.start, turn, unicode=unicode)
        for move in snapshot.moves:
            table.game.play(*move)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    converse(table, input, shared.print_text)
    return 0
