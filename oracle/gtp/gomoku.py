"""``--game gomoku``: the gomoku-rules and gomoku-policy assignments, and a game for GoGui."""

from __future__ import annotations

from oracle.answers import gomoku_policy, gomoku_rules
from oracle.errors import GtpError, IllegalMove, VertexError
from oracle.games.gomoku import GomokuGame
from oracle.gtp import common, protocol
from oracle.position import GTP_LETTERS, NAMES, color_of, opponent, parse_vertex, vertex
from oracle.rules.gomoku import POLICIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.gtp.common import Questions
    from oracle.gtp.protocol import Table
    from oracle.position import Point, Position


class GomokuSession(common.Session):
    """A game of Gomoku; the policy outlives ``boardsize`` and ``clear_board``."""

    __slots__ = ("playouts", "policy", "refused_to_move")

    game: GomokuGame
    knows_letters_only = True
    record = "gomoku"  # programs that know nothing but Go's GM[1] write Gomoku as that

    def __init__(self, commands: Table, questions: Questions, seed: int, playouts: int) -> None:
        super().__init__(commands, questions, seed)
        self.playouts = playouts
        self.policy = gomoku_policy.DEFAULT

    def new_game(self, position: Position, to_play: int) -> GomokuGame:
        """Return a game; a five on its first board has won it."""
        self.refused_to_move = False  # whether genmove has answered pass or resign
        return GomokuGame(position, to_play)

    def explain_open_answer(self, words: list[str]) -> str:
        """Return what the document does not say of a game that was played on, or of an argument.

        What the stones alone leave open is a matter of the readings.
        """
        game, name = self.game, (words or [""])[0]
        if name in ("boardsize", "clear_board"):
            size = (words[1:] or [""])[0]
            is_number = size.isascii() and size.isdigit() and len(size) < 3
            return _SIZES if is_number and int(size) not in gomoku_rules.SIZES else ""
        if game.position.grid.rows not in gomoku_rules.SIZES:
            return _SIZES
        if game.played_on:
            return "a stone was played after the game was over"
        if not game.in_turn and self._takes_turns(name):
            return "a color has played out of turn"
        reason = _OPEN[name](self, words[1:]) if name in _OPEN else ""
        return reason or super().explain_open_answer(words)

    def is_out_of_turn(self, words: list[str]) -> bool:
        """Return whether a move by this color would be out of turn where that is left open."""
        color = color_of((words or [""])[0])
        return self._takes_turns("") and color not in (None, self.game.to_play)

    def _takes_turns(self, name: str) -> bool:
        """Return whether the document of a command has the colors take turns.

        gomoku-policy.txt: "play commands will be for the color toPlay". gomoku-rules.html has no
        such sentence and no ``policy_moves``.
        """
        return self.assignment == "gomoku-policy" or name == "policy_moves"


# --- answers left open, except for the readings ------------------------------------------------


_SIZES = "boards have 5 to 19 rows"
_OUT_OF_TURN = "it is the other color's turn"


def _open_play(session: GomokuSession, words: list[str]) -> str:
    game = session.game
    if len(words) < 2:
        return "an argument is missing"
    if color_of(words[0]) is None:
        return ""  # the first of the errors, whatever the coordinate
    if not is_usual(words[1]):
        return "no board has a point of this name"
    if session.is_out_of_turn(words):
        return _OUT_OF_TURN
    shape = game.position.grid
    try:
        is_empty = game.refusal(parse_vertex(words[1], shape.rows, shape.columns)) is None
    except VertexError:
        return ""
    return "the game is over" if game.is_over and is_empty else ""


def is_usual(text: str) -> bool:
    """Whether a text names a point of some board: a letter other than I, and 1 to 99."""
    letter, number = text[:1].upper(), text[1:]
    is_number = number.isascii() and number.isdigit() and number[0] != "0" and len(number) < 3
    return letter != "" and letter in GTP_LETTERS and is_number


def _open_genmove(session: GomokuSession, words: list[str]) -> str:
    game = session.game
    if session.is_out_of_turn(words) and not game.is_over:
        return _OUT_OF_TURN
    color = color_of((words or [""])[0])
    if game.winner and color == game.winner:
        return "the winner is asked for a move"
    if not game.is_over and color is not None:
        found = gomoku_policy.readings_policy_moves(game.position, color, session.policy)
        if len({(kind, frozenset(moves)) for kind, moves in found.values()}) > 1:  # in any order
            return "the policy's moves are open"
    return "the board is full and has a five" if game.winner and not game.position.empty else ""


_OPEN: dict[str, Callable[[GomokuSession, list[str]], str]] = {
    "play": _open_play,
    "genmove": _open_genmove,
    # Nothing says whose turn it is after a pass, or after resigning: the game is over.
    "gogui-rules_side_to_move": lambda session, words: (
        "genmove has answered pass or resign"
        if session.refused_to_move and session.game.is_over
        else ""
    ),
}


# --- playing: gomoku-rules.html, "Details of the play command", "Details for end of game" ------


def play(session: GomokuSession, words: list[str]) -> str:
    """COLOR VERTEX: play a stone, or say why not.

    gogui-regress fails every reply that begins with ``?``, so the errors that are tested must not.
    The first of the three reasons that holds is given, with the argument that it is about.
    """
    color_text, point_text = protocol.word(words, 0), protocol.word(words, 1)
    color = color_of(color_text)
    if color is None:
        return f'illegal move: "{color_text}" wrong color'
    try:
        shape = session.game.position.grid
        session.game.play(color, parse_vertex(point_text, shape.rows, shape.columns))
    except VertexError:
        return f'illegal move: "{point_text}" wrong coordinate'
    except IllegalMove as error:
        return f'illegal move: "{point_text}" {error.reason}'
    return ""


def genmove(session: GomokuSession, words: list[str]) -> str:
    """COLOR: play a move, or resign, or pass on a full board."""
    color = protocol.color(words, 0)
    answer = choice(session, color)
    if isinstance(answer, str):
        session.refused_to_move = True
        return answer
    session.game.play(color, answer)
    return vertex(answer)


def reg_genmove(session: GomokuSession, words: list[str]) -> str:
    """COLOR: choose a move without playing it."""
    answer = choice(session, protocol.color(words, 0), fresh=True)
    return answer if isinstance(answer, str) else vertex(answer)


def choice(session: GomokuSession, color: int, *, fresh: bool = False) -> Point | str:
    """Return the point to play, or ``resign`` or ``pass`` when the game is over.

    What the winner answers is left open by the document; here it is ``pass``.
    """
    game = session.game
    if game.winner == opponent(color):
        return "resign"
    if game.is_over:
        return "pass"
    from oracle.montecarlo import choose_move

    random = session.new_random() if fresh else session.random
    return choose_move(game.position, color, random, session.policy, session.playouts)


# --- the rules: gomoku-rules.html, "GTP Commands" ----------------------------------------------


def game_id(session: GomokuSession, words: list[str]) -> str:
    """: the name of the game, for GoGui."""
    return "gomoku"


def board(session: GomokuSession, words: list[str]) -> str:
    """: the board for GoGui: rows of . X O, the top row first."""
    rows = session.game.position.to_rows()
    return "\n".join("".join(".XO"[color] for color in row) for row in rows)


def board_size(session: GomokuSession, words: list[str]) -> str:
    """: the number of rows and columns."""
    return str(session.game.position.grid.rows)


def legal_moves(session: GomokuSession, words: list[str]) -> str:
    """: the empty points, sorted; none when the game is over."""
    moves = session.game.position.grid.points(session.game.legal_moves())
    return moves_text(sorted(moves, key=vertex))


def moves_text(moves: list[Point]) -> str:
    """Return moves as ``gogui-rules_legal_moves`` writes them."""
    return " ".join(vertex(point).lower() for point in moves)


def side_to_move(session: GomokuSession, words: list[str]) -> str:
    """: black or white."""
    return NAMES[session.game.to_play]


def final_result(session: GomokuSession, words: list[str]) -> str:
    """: black, white, draw or unknown."""
    return session.game.result


# --- the policy: gomoku-policy.txt -------------------------------------------------------------


def policy(session: GomokuSession, words: list[str]) -> str:
    """TYPE: set the playout policy, random or rule_based."""
    name = protocol.word(words, 0)
    if name not in POLICIES:
        raise GtpError(f"the policy is {' or '.join(POLICIES)}, not {name!r}")
    session.policy = name
    return ""


def policy_moves(session: GomokuSession, words: list[str]) -> str:
    """: the type and the moves that the policy considers."""
    return policy_text(gomoku_policy.policy_moves(*policy_subject(session, words)))


def policy_text(answer: tuple[str, list[Point]]) -> str:
    """Return a type and its moves as ``policy_moves`` writes them."""
    kind, moves = answer
    return " ".join([kind, *(vertex(point) for point in moves)])


def analyze_commands(session: GomokuSession, words: list[str]) -> str:
    """: what GoGui's analyze menu offers."""
    return (
        "pstring/Legal Moves For ToPlay/gogui-rules_legal_moves\n"
        "pstring/Policy Moves/policy_moves\n"
        "gfx/Explain Policy Moves/oracle-explain policy_moves\n"
        "string/Side to Play/gogui-rules_side_to_move\n"
        "string/Final Result/gogui-rules_final_result\n"
        "gfx/Explain Final Result/oracle-explain gogui-rules_final_result\n"
        "string/Board Size/gogui-rules_board_size\n"
        "string/Rules GameID/gogui-rules_game_id\n"
        "string/Show Board/gogui-rules_board\n"
        "none/Use Random Policy/policy random\n"
        "none/Use Rule-based Policy/policy rule_based"
    )


def policy_subject(session: GomokuSession, words: list[str]) -> tuple[Position, int, str]:
    """Return the board, the side to move and the policy."""
    return session.game.position, session.game.to_play, session.policy


QUESTIONS: Questions = {
    "gogui-rules_final_result": (
        common.position,
        gomoku_rules.explain_result,
        gomoku_rules.readings_result,
        str,
    ),
    "gogui-rules_legal_moves": (
        common.position,
        gomoku_rules.explain_legal_moves,
        gomoku_rules.readings_legal_moves,
        moves_text,
    ),
    "policy_moves": (
        policy_subject,
        gomoku_policy.explain_policy_moves,
        gomoku_policy.readings_policy_moves,
        policy_text,
    ),
}

COMMANDS: Table = {
    **common.COMMANDS,
    "play": play,
    "genmove": genmove,
    "reg_genmove": reg_genmove,
    "gogui-rules_game_id": game_id,
    "gogui-rules_board": board,
    "gogui-rules_board_size": board_size,
    "gogui-rules_legal_moves": legal_moves,
    "gogui-rules_side_to_move": side_to_move,
    "gogui-rules_final_result": final_result,
    "policy": policy,
    "policy_moves": policy_moves,
    "gogui-analyze_commands": analyze_commands,
}


def new_engine(seed: int, playouts: int) -> protocol.Engine:
    """Return an engine for Gomoku."""
    return protocol.Engine(GomokuSession(COMMANDS, QUESTIONS, seed, playouts))
