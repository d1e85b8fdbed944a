"""A game of a file: its header, the chosen line, and what the nodes do to the board."""

from __future__ import annotations

from oracle.boards import Snapshot, SnapshotChoice
from oracle.errors import IllegalMove, SgfError
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.position import BLACK, NAMES, WHITE, Grid, Point, Position, grid, opponent
from oracle.sgf import write
from oracle.sgf.tree import Faults, Node, SgfGame, games, shorten, where

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from oracle.komi import Komi

    Value = TypeVar("Value")

# Fox writes hundredths: 50 for half a point, 375 for 3.75 stones, 650 for 6.5 points.
ABSURD_KOMI = 50


class Header:
    """The first node's properties.

    Attributes: ``game``, ``"go"`` or ``"gomoku"``; ``board``; ``komi`` or None; ``handicap``, the
    number that ``HA`` states, or 0; ``title``, players, event, date and result, or ``""``.
    """

    def __init__(
        self, game: str, board: Grid, komi: Komi | None, handicap: int, title: str
    ) -> None:
        self.game = game
        self.board = board
        self.komi = komi
        self.handicap = handicap
        self.title = title


def read_header(root: Node, choice: SnapshotChoice, faults: Faults) -> Header:
    """Return what the first node says.

    A game and a size that cannot be understood are errors; a komi and a handicap, faults.
    """
    if choice.game is None:
        game = _value(root, "GM", write.game, faults.error) or "go"
    else:
        game, stated = choice.game, root.properties.get("GM", [])
        if any(write.GAMES.get(value.strip()) != game for value in stated):
            faults.note(f"GM[{shorten(stated[0])}] is overruled: played as {game}")
    board = _value(root, "SZ", write.shape, faults.error)
    if board is None:
        usual = write.USUAL_SIZE[game]
        if not choice.size:
            faults.note(f"SZ is missing: a board of {usual} by {usual} is assumed")
        board = grid(*(choice.size or (usual, usual)))
    komi = _value(root, "KM", write.komi, faults.fault)
    if komi is not None and not -ABSURD_KOMI < komi < ABSURD_KOMI:
        reason = "no game has such a komi; some servers write 375 for 3.75 stones, 7.5 points"
        faults.warn(where(root, "KM", root.properties["KM"][0]), reason)
    handicap = _value(root, "HA", write.number, faults.fault) or 0
    return Header(game, board, komi, handicap, title(root))


def _value(
    root: Node,
    name: str,
    interpret: Callable[[str], Value],
    refuse: Callable[[str, str], Exception | None],
) -> Value | None:
    """Return what a property means, None if it is not there or its fault is kept."""
    found = root.properties.get(name, [])
    try:
        if len(found) > 1:
            raise ValueError(f"expected one value, found {len(found)}")
        return interpret(found[0]) if found else None
    except ValueError as error:
        refused = refuse(where(root, name, found[0]), str(error))
        if refused:
            raise refused from None
        return None


def title(root: Node) -> str:
    """Return the players, and whatever else tells a game from others; ``""`` if nothing does."""
    black, white = (_text(root, name) for name in ("PB", "PW"))
    players = f"{black or '?'} (Black) – {white or '?'} (White)" if black or white else ""
    parts = [players, *(_text(root, name) for name in ("GN", "EV", "DT", "RE"))]
    return ", ".join(part for part in parts if part)


def _text(root: Node, name: str) -> str:
    from sgfmill.sgf_grammar import simpletext_value

    raw = root.properties.get(name, [""])[0]
    text: str = simpletext_value(raw.encode()).decode()
    return shorten(text, 60)


# --- Replays nodes on a board by the rules of the game -------------------------------------------

MOVES = {"B": BLACK, "W": WHITE}
SETUP = {"AB": BLACK, "AW": WHITE, "AE": 0}
REASONS = {
    "occupied": "the point is occupied",
    "ko": "it takes a ko back at once",
    "suicide": "the stone has no liberty and takes nothing",
}


class Replay:
    """The game as it goes along.

    Attributes: ``game``, since the last setup; ``start``, the position it began with; ``count``,
    the moves of the record so far; ``turn``, whose turn it is, or None where the record leaves
    that open.
    """

    def __init__(self, header: Header, faults: Faults) -> None:
        self._header = header
        self._faults = faults
        self.count = 0
        self.turn: int | None = BLACK
        self._free = 0  # handicap stones that Black may place as moves
        self._begin(Position(header.board))

    def _begin(self, position: Position) -> None:
        """Continue from a position that no moves led to."""
        self.start = position
        kind = GoGame if self._header.game == "go" else GomokuGame
        self.game: GoGame | GomokuGame = kind(position, self.turn or BLACK)

    # --- setup ---------------------------------------------------------------------------------

    def setup(self, node: Node) -> bool:
        """Apply a node's ``AB``, ``AW``, ``AE`` and ``PL``; return whether it has any."""
        placed: dict[Point, int] = {}  # the color that it gives to each of its points
        for name, color in SETUP.items():
            for value in node.properties.get(name, []):
                try:
                    points = write.points(value, self._header.board)
                except ValueError as error:
                    raise self._faults.error(where(node, name, value), str(error)) from None
                for point in points:
                    if placed.get(point, color) != color:
                        reason = "another color is set up on the same point"
                        self._faults.fault(where(node, name, value), reason)
                    placed[point] = color
        if placed:
            self.turn = None
        for value in node.properties.get("PL", []):
            try:
                self.turn = write.color(value)
            except ValueError as error:
                raise self._faults.error(where(node, "PL", value), str(error)) from None
        if not placed and "PL" not in node.properties:
            return False
        position = self.game.position
        for point, color in placed.items():
            position = position.place(point, color)
        self._begin(position)
        return True

    def handicap(self, root: Node) -> None:
        """Take the first node's ``HA`` into account, after its setup.

        White has the first move then. Where ``AB`` sets up no stones, Black may place them as
        moves.
        """
        stated, stones = self._header.handicap, self.start.black.bit_count()
        if stated < 2:
            return
        if not stones:
            self._free = stated
        if "PL" not in root.properties:
            self.turn = WHITE if stones else None
        if stones != stated:
            self._faults.note(f"HA[{stated}] does not agree with the {stones} stones of AB")

    # --- moves ---------------------------------------------------------------------------------

    def move(self, node: Node, name: str, value: str) -> None:
        """Play a move, even against the rules if faults are kept."""
        self.count += 1
        color, place = MOVES[name], where(node, name, value, self.count)
        try:
            point = write.move(value, self._header.board)
        except ValueError as error:
            raise self._faults.error(place, str(error)) from None
        if self.turn not in (None, color):
            self._faults.fault(place, f"it is {NAMES[opponent(color)].capitalize()}'s turn")
        if point is None:
            if isinstance(self.game, GoGame):
                self.game.play(color, None)
            else:
                self._faults.fault(place, "Gomoku has no pass")
        else:
            if self.game.is_over:
                self._faults.fault(place, "the game is over")
            try:
                self.game.play(color, point)
            except IllegalMove as error:
                self._faults.fault(place, REASONS[error.reason])
                self.turn = opponent(color)
                self.game.record(color, point)
                self._begin(self.game.position)
        placing = color == BLACK and self.count < self._free
        self.turn = None if placing else opponent(color)


# --- Reads the position after some moves of one of a file's games --------------------------------


def read_sgf(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read the position after some moves of a game.

    Args:
        data: the file's content.
        file: its name, for errors.
        choice: which game, variation and move; else the end of the first variations.

    What SGF or the rules of the game forbid (a stone on an occupied point, suicide, ko, a wrong
    turn, a stone after the end, a damaged file …) is refused, or kept with a note if
    ``choice.keep_faults``. What lies behind the chosen move is not looked at.

    Of several games one must be chosen: taking the first without a word would be a trap.

    Raises :class:`SgfError` naming game, node, property and reason.
    """
    choice = choice or SnapshotChoice()
    found = games(data, file)
    game = _choose(found, choice.number, file)
    faults = Faults(file, f"game {game.number}, " if len(found) > 1 else "", choice.keep_faults)
    line = _line(game.root, choice.variation, faults)
    header = read_header(game.root, choice, faults)
    replay = Replay(header, faults)
    rest = _follow(line, replay, choice.move, faults)
    if not rest and game.fault:
        faults.fault(game.fault, "the rest of the game cannot be read")
    if not rest and choice.move is not None and replay.count != choice.move:
        has = "1 move" if replay.count == 1 else f"{replay.count} moves"
        raise faults.error(f"move {choice.move}", f"the line has only {has}")
    return Snapshot(
        replay.game.position,
        "sgf",
        game=header.game,
        to_play=replay.turn
        or next((MOVES[name] for node in rest for name, _ in _moves(node)), None),
        komi=header.komi,
        start=replay.start,
        moves=list(replay.game.moves),
        ko=replay.game.ko if isinstance(replay.game, GoGame) else None,
        title=header.title,
        notes=faults.notes,
    )


def _choose(games_found: list[SgfGame], number: int | None, file: str | None) -> SgfGame:
    has = "1 game" if len(games_found) == 1 else f"{len(games_found)} games"
    if number is None and len(games_found) > 1:
        raise SgfError(f"the file has {has}; choose one by its number", file)
    number = 1 if number is None else number
    if not 1 <= number <= len(games_found):
        damaged = " (the last is damaged, so there may be more)" if games_found[-1].fault else ""
        raise SgfError(f"there is no game {number}: the file has {has}{damaged}", file)
    return games_found[number - 1]


def _line(root: Node, variation: tuple[int, ...], faults: Faults) -> list[Node]:
    """Return the nodes of a variation: the branches to take, then always the first."""
    wanted, line = list(variation), [root]
    while children := line[-1].children:
        branch = wanted.pop(0) if wanted and len(children) > 1 else 1
        if not 1 <= branch <= len(children):
            reason = f"there is no variation {branch}, only {len(children)}"
            raise faults.error(where(line[-1]), reason)
        line.append(children[branch - 1])
    if wanted:
        parts = len(variation) - len(wanted)
        raise faults.error(where(line[-1]), f"the line has ended after {parts} choices")
    return line


def _follow(line: list[Node], replay: Replay, last: int | None, faults: Faults) -> list[Node]:
    """Apply nodes until the one whose move would be the first too many; return what is left."""
    for index, node in enumerate(line):
        moves = _moves(node)
        if moves and replay.count == last:
            return line[index:]
        if replay.setup(node) and moves:
            faults.note(f"{where(node)} has setup and a move; the setup comes first")
        if index == 0:
            replay.handicap(node)
        if len(moves) > 1:
            faults.fault(where(node), f"the node has {len(moves)} moves")
        for name, value in moves:
            if replay.count == last:
                return line[index:]
            replay.move(node, name, value)
    return []


def _moves(node: Node) -> list[tuple[str, str]]:
    """Return the moves of a node in the file's order; SGF allows one."""
    return [
        (name, value)
        for name in node.properties
        if name in MOVES
        for value in node.properties[name]
    ]
