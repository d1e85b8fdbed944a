"""Referees, by the oracle's rules or a declared game's reference engine, and openings of games."""

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path

from harness.core.errors import EngineError, ReferenceFailedError, UsageError
from harness.core.records import Reply
from harness.core.text import escape_controls
from harness.core.typed import NamedTuple
from harness.declared import declaration
from harness.declared.declaration import Declaration, DeclaredCommand
from harness.declared.game_state import places, refuses, vertex_of, width
from harness.declared.program_process import ProgramProcess, conversation
from harness.match import records
from harness.match.records import GO, GOMOKU, Opening, Rules
from oracle.boards import SnapshotChoice
from oracle.errors import IllegalMove, SgfError, VertexError
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.komi import parse_komi, result_text
from oracle.position import BLACK, EMPTY, WHITE, Position, grid, opponent, parse_vertex, vertex
from oracle.rules.go import fixed_points, most_fixed, score
from oracle.sgf import games, read_sgf
from oracle.sgf.replay import REASONS

_WHY = {"off board": "it is not on the board", **REASONS}
_SHOWN = 60  # characters of an engine's move
_REFUSED = "illegal move"
_DRAWN = 10_000  # characters of a board


class Ending(NamedTuple):
    """Game result by the rules."""

    winner: int
    reason: str
    score: str = ""


class Referee:
    """The rules of one game. Colors are numbers, whatever engines call them.

    Attributes: ``begin``, the commands that begin the game; ``claim``, the command that asks an
    engine for the result; ``end``, None until the game is over.
    """

    begin: tuple[str, ...]
    claim: str

    def __init__(self, rules: Rules, opening: Opening) -> None:
        """Begin the game; the moves of the opening are still to be played."""
        self.rules = rules
        self.to_play = opening.to_play
        self.end: Ending | None = None

    def play(self, text: str) -> str:
        """Play the move of the color to play; return it as the other engine is told.

        Raises:
            IllegalMove: the sentence says why.
        """
        move = self._move(text)
        self.to_play = opponent(self.to_play)
        self.end = self._find_end()
        return move

    def _move(self, text: str) -> str:
        """Play a move if it is legal; see :meth:`play`."""
        raise NotImplementedError

    def _find_end(self) -> Ending | None:
        """Return how the game has ended; None if it goes on."""
        raise NotImplementedError

    def points(self) -> list[str]:
        """Return where a move may be, legal or not."""
        raise NotImplementedError

    def board(self) -> str:
        """Return the position as it is drawn; "" where the moves tell it, or nobody draws it."""
        return ""

    def tell(self, color: int, move: str) -> str:
        """Return the command that tells an engine of a move."""
        return f"play {'?bw'[color]} {move}"  # the course's engines know b and w alone

    def ask(self, color: int) -> str:
        """Return the command that asks an engine for its move."""
        return f"genmove {'?bw'[color]}"

    def refuses(self, reply: Reply) -> bool:
        """Whether an engine's reply refuses a command.

        The course's engines say so in replies that report success.
        """
        return not reply.ok or _REFUSED in reply.text[:_SHOWN].lower()


def start_of(rules: Rules, opening: Opening) -> Position:
    """Return the position that a game of Go or Gomoku begins with, before the opening's moves."""
    columns, rows = rules.size
    position = Position(grid(rows, columns))
    for color, name in opening.setup:
        position = position.place(parse_vertex(name, rows, columns), color)
    return position


class _BoardReferee(Referee):
    """Base of referees for the oracle's two games."""

    game: GoGame | GomokuGame

    def __init__(self, rules: Rules, opening: Opening, settings: Sequence[str] = ()) -> None:
        super().__init__(rules, opening)
        setup = (self.tell(*stone) for stone in opening.setup)
        self.begin = (f"boardsize {rules.size[0]}", "clear_board", *settings, *setup)

    def points(self) -> list[str]:
        columns, rows = self.rules.size
        return [vertex(point) for point in product(range(rows), range(columns))]

    def _move(self, text: str) -> str:
        word, (columns, rows) = text.strip(), self.rules.size
        is_pass = word.lower() == "pass" and self.rules.game == GO
        try:
            point = None if is_pass else parse_vertex(word, rows, columns)
            self.game.play(self.to_play, point)  # type: ignore[arg-type]
        except VertexError:
            raise IllegalMove(f"{word[:_SHOWN]!r} is not a point of the board") from None
        except IllegalMove as error:
            raise IllegalMove(f"{word}: {_WHY[error.reason]}") from None
        return vertex(point) if point else "pass"


class GoReferee(_BoardReferee):
    """Go: area scoring, no suicide, simple ko or positional superko; two passes end it."""

    game: GoGame
    claim = "final_score"

    def __init__(self, rules: Rules, opening: Opening) -> None:
        super().__init__(rules, opening, (f"komi {rules.komi}",))
        self.game = GoGame(start_of(rules, opening), opening.to_play)
        self._seen = {self.game.position} if rules.ko == records.POSITIONAL else None

    def _move(self, text: str) -> str:
        move = super()._move(text)
        if move != "pass" and self._seen is not None:
            if self.game.position in self._seen:
                self.game.undo()
                raise IllegalMove(f"{text.strip()}: it repeats an earlier position")
            self._seen.add(self.game.position)
        return move

    def _find_end(self) -> Ending | None:
        game = self.game
        if not game.is_over and len(game.moves) < self.rules.move_limit:
            return None
        board = game.position
        area = score(board.grid, board.black, board.white)
        told = result_text(area, parse_komi(self.rules.komi))
        winner = {"B": BLACK, "W": WHITE}.get(told[0], EMPTY)
        return Ending(winner, records.SCORE if game.is_over else records.LIMIT, told)


class GomokuReferee(_BoardReferee):
    """Gomoku: five or more in a row win; a full board is a draw."""

    game: GomokuGame
    claim = "gogui-rules_final_result"

    def __init__(self, rules: Rules, opening: Opening) -> None:
        super().__init__(rules, opening)
        self.game = GomokuGame(start_of(rules, opening), opening.to_play)

    def _find_end(self) -> Ending | None:
        if self.game.winner:
            return Ending(self.game.winner, records.FIVE)
        return Ending(EMPTY, records.FULL, "0") if self.game.is_over else None


REFEREES = {GO: GoReferee, GOMOKU: GomokuReferee}


class DeclaredReferee(Referee):
    """The reference engine of a declared game: it is told each move, and may refuse.

    Black is the color that begins. Colors take turns; a pass is a move if the reference plays it.
    """

    def __init__(
        self, declared: Declaration, rules: Rules, opening: Opening, reference: ProgramProcess
    ) -> None:
        """``reference``: the one that knows the rules; it begins a new game. See :func:`check`.

        Raises:
            ReferenceFailedError: it broke, here or later. Nobody has lost by that.
        """
        super().__init__(rules, opening)
        self._game, self._reference = declared.game, reference
        self._said: list[str] = []
        self._left = rules.move_limit
        over, move = declared.game.over, declared.move
        assert over
        assert move
        self._over, self._playing, self._choosing = over, move, _choosing(declared)[0]
        self._refuses = refuses(self._game)
        self.claim = over.ask
        columns, rows = rules.size
        known = {declaration.Drawn.SIZE: columns, declaration.Drawn.COLUMN_COUNT: columns,
                 declaration.Drawn.ROW_COUNT: rows}  # fmt: skip
        self.begin = tuple(
            " ".join([one.name, *(str(known.get(size.drawn, "")) for size in one.arguments)])
            for one in declared.of_kind(declaration.Kind.STARTS)
        )
        for command in self.begin:
            if self.refuses(self._say(command)):
                raise ReferenceFailedError(f"the reference refuses '{command}'")

    def refuses(self, reply: Reply) -> bool:
        return self._refuses(reply)

    def _say(self, command: str) -> Reply:
        self._said.append(command)
        try:
            said = conversation(tuple(self._said), self._reference.command_properties)
            return self._reference.replies(said)[-1]
        except EngineError as error:
            told = f"the reference did not answer '{command}': {error}"
            raise ReferenceFailedError(told) from None

    def _move(self, text: str) -> str:
        words = text.split()
        if not words or len(words) > 4 or not text.isprintable():
            raise IllegalMove(f"{text[:_SHOWN]!r} is not a move")
        reply = self._say(self.tell(self.to_play, text))
        if self.refuses(reply):
            raise IllegalMove(f"{text[:_SHOWN]}: the reference says '{reply.text[:_SHOWN]}'")
        self._left -= 1
        return " ".join(words)

    def _find_end(self) -> Ending | None:
        said = self._say(self._over.ask)
        if said.ok and re.fullmatch(self._over.is_, said.text):
            first = said.text.strip().lower()
            named = [first.startswith(name.lower()) for name in self._game.colors]
            winner = named.index(True) + 1 if any(named) else EMPTY
            return Ending(winner, records.OVER, said.text)
        # Nobody but the rules could count a game that is cut short.
        return None if self._left else Ending(EMPTY, records.LIMIT, "0")

    def tell(self, color: int, move: str) -> str:
        rest = iter(move.split())
        words = [self._playing.name]
        for argument in self._playing.arguments:
            if argument.drawn == declaration.Drawn.COLOR:
                words.append(self._game.colors[color - 1])
            else:
                words += [next(rest, "") for _ in range(width(argument, self._game))]
        return " ".join([*words, *rest])

    def ask(self, color: int) -> str:
        colors = [self._game.colors[color - 1] for one in self._choosing.arguments if one.drawn]
        return " ".join([self._choosing.name, *colors])

    def points(self) -> list[str]:
        return [vertex_of(place, self._game) for place in places(self.rules.size)]

    def board(self) -> str:
        """Return what the reference answers to ``showboard``; "" if it does not know that."""
        with suppress(ReferenceFailedError):
            reply = self._say("showboard")
            return escape_controls(reply.text)[:_DRAWN] if reply.ok else ""
        return ""


def _choosing(declared: Declaration) -> list[DeclaredCommand]:
    """Return the commands that choose and play a move."""
    return [one for one in declared.of_kind(declaration.Kind.CHOOSES) if one.plays]


def check(declared: Declaration, name: str) -> None:
    """See that a declared game can be played by two engines.

    Raises:
        UsageError: it cannot.
    """
    needs = {
        "two colors": len(declared.game.colors) == 2,
        "over": declared.game.over,
        "a command that plays": declared.move,
        "a command that chooses and plays a move, such as genmove": _choosing(declared),
    }
    for what, is_there in needs.items():
        if not is_there:
            raise UsageError(f"{name}: no match of it can be refereed: its [game] lacks {what}")


# --- Openings: handicaps, moves of SGF files, and moves that are drawn ---------------------------


def after_opening(referee: Referee, opening: Opening) -> Referee:
    """Play the moves of an opening.

    Raises:
        UsageError: one is illegal, or the game is over after it.
    """
    for color, move in opening.moves:
        try:
            if color != referee.to_play:
                raise IllegalMove(f"{move}: the colors do not take turns")
            referee.play(move)
        except IllegalMove as error:
            raise UsageError(f"opening {opening.name}: {error}") from None
    if referee.end:
        raise UsageError(f"opening {opening.name}: the game is over after it")
    return referee


def draw_opening(referee: Referee, opening: Opening, moves: int, dice: random.Random) -> Opening:
    """Return an opening with so many more moves, each drawn from the legal ones.

    Raises:
        UsageError: no such opening was found.
    """
    drawn: list[tuple[int, str]] = []
    points = referee.points()
    dice.shuffle(points)
    for point in points:
        if len(drawn) == moves or referee.end:
            break
        color = referee.to_play
        with suppress(IllegalMove):
            drawn.append((color, referee.play(point)))
    if len(drawn) < moves or referee.end:
        raise UsageError(f"no opening of {moves} moves was found on this board; draw fewer")
    return opening._replace(moves=(*opening.moves, *drawn))


def handicap_opening(rules: Rules) -> Opening:
    """Return the opening of a handicap game: stones on the standard points, White begins.

    Raises:
        UsageError: the board has no such points.
    """
    if not rules.handicap:
        return Opening()
    columns, rows = rules.size
    most = most_fixed(rows) if rows == columns else 0
    if rules.game != GO or not 2 <= rules.handicap <= most:
        raise UsageError(
            f"--handicap {rules.handicap}: found a board for {most} stones, expected"
            " a game of Go with 2 stones or more on a board that has points for them"
        )
    stones = [(BLACK, vertex(point)) for point in fixed_points(rows, rules.handicap)]
    return Opening(f"handicap {rules.handicap}", tuple(stones), (), WHITE)


def read_openings(paths: Sequence[str], rules: Rules, max_moves: int | None) -> Iterator[Opening]:
    """Yield an opening for each game of some SGF files; ``max_moves``: moves that are kept.

    Of a folder, its ``*.sgf`` are read.

    Raises:
        UsageError: a file is not a record of a game on such a board.
    """
    for name in paths:
        files = sorted(Path(name).glob("*.sgf")) if Path(name).is_dir() else [Path(name)]
        if not files:
            raise UsageError(f"--openings {name}: the folder has no *.sgf files")
        for path in files:
            try:
                data = path.read_bytes()
                for number in range(1, len(games(data, str(path))) + 1):
                    yield _opening(data, path, number, rules, max_moves)
            except OSError as error:
                raise UsageError(f"--openings {path}: {error.strerror}") from None
            except SgfError as error:
                raise UsageError(f"--openings {error}") from None


def _opening(data: bytes, path: Path, number: int, rules: Rules, max_moves: int | None) -> Opening:
    whole = read_sgf(data, str(path), SnapshotChoice(number=number, game=rules.game))
    board, start = whole.position.grid, whole.start
    if (board.columns, board.rows) != rules.size:
        columns, rows = rules.size
        raise UsageError(
            f"--openings {path}: game {number} has a board of {board.columns} columns and"
            f" {board.rows} rows, expected {columns} and {rows} (--size)"
        )
    setup = tuple(
        (color, vertex(point))
        for color in (BLACK, WHITE)
        for point in board.points(start.stones(color))
    )
    moves = ((color, vertex(point) if point else "pass") for color, point in whole.moves)
    first = whole.moves[0][0] if whole.moves else whole.to_play or BLACK
    return Opening(f"{path.name}, game {number}", setup, tuple(moves)[:max_moves], first)
