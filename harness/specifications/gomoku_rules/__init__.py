"""The rules of Gomoku and a random player (gomoku-rules.html)."""

from harness.specifications.record import Specification
from harness.vocabulary import GOMOKU, answers
from harness.vocabulary.answers import CASELESS, EXACT, GTP, MOVE, Wording, one_of
from oracle.answers.gomoku_policy import policy_moves
from oracle.gtp.protocol import Engine, split
from oracle.position import color_of, vertex


def choices(engine: Engine, command: str) -> tuple[str, ...]:
    """Return the moves among which ``genmove`` may choose; none where the game is over."""
    words, session = split(command), engine.session
    color = color_of(words[1]) if words[:1] == ["genmove"] and len(words) > 1 else None
    if color is None or session.game.is_over:
        return ()
    _, moves = policy_moves(session.game.position, color, session.policy)
    return tuple(vertex(point) for point in moves)


def _refusal(answer: str) -> str:
    return "" if answer else "Nothing: the move is legal"


_COLORS = one_of({"black": "Black's", "white": "White's"})
_RESULTS = one_of(
    {
        "black": "Black has won",
        "white": "White has won",
        "draw": "A draw",
        "unknown": "Nobody yet: the game goes on",
    }
)

SPECIFICATION = Specification(
    "gomoku-rules",
    {
        **GTP,
        "play": CASELESS,  # its errors are successful replies and copy the argument
        "genmove": MOVE,
        "gogui-rules_legal_moves": CASELESS,
        "gogui-rules_side_to_move": EXACT,
        "gogui-rules_final_result": EXACT,
        "gogui-rules_board_size": EXACT,
    },
    plays="gomoku",
    signs=r"gogui-rules_.*",
    board=GOMOKU,
    legend={
        "*": "a stone of the line",
        "+": "a move of the answer",
        "-": "a point that must be empty",
    },
    wordings={
        "play": Wording("{0} plays at {1}: what does the engine answer?", _refusal),
        "genmove": Wording("Which move does {0} make?"),
        "gogui-rules_legal_moves": Wording("Which moves are legal?"),
        "gogui-rules_side_to_move": Wording("Whose turn is it?", _COLORS),
        "gogui-rules_final_result": Wording("Who has won?", _RESULTS),
        "gogui-rules_board_size": Wording("How many lines has the board?"),
    },
    depends={
        "gogui-rules_side_to_move": answers.turn,
        "gogui-rules_final_result": answers.result,
        "gogui-rules_legal_moves": answers.result,
        "genmove": answers.policy,
    },
    ends=True,
    choices=choices,
    smallest=5,  # "between 5 and 19"
)
