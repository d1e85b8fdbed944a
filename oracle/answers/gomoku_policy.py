"""``policy_moves`` of gomoku-policy.txt: the moves a playout chooses from, and why these."""

from __future__ import annotations

from oracle.answers.gomoku_rules import by_name, explain_result, orders
from oracle.explanation import Explanation, Fact, Sentence, a_color, a_point, number, points
from oracle.position import Point, Position, each_bit, opponent, sides
from oracle.rules import gomoku as rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Moves = tuple[str, list[Point]]
    Reason = tuple[Sentence, int, int]  # its stones; its points that must be empty

DEFAULT = "random"  # the policy before any is set; boardsize and clear_board keep it
STOPPING = "no open four left"  # the other reading of BlockOpenFour
MOVE, STONE, ROOM = "+", "*", "-"  # marks: a move, a stone of the pattern, a point it needs empty


def policy_moves(position: Position, color: int, policy: str = "rule_based") -> Moves:
    """Return the type of the moves that a playout considers, and these, sorted as strings.

    ``policy`` is ``"random"`` or ``"rule_based"``. The type is one of ``Win``, ``BlockWin``,
    ``OpenFour``, ``BlockOpenFour`` and ``Random``; it is ``""``, without moves, when the game is
    over by a five or a full board.

    Source: gomoku-policy.txt, "policy_moves".
    """
    mine, theirs = sides(position, color)
    kind, moves = rules.POLICIES[policy](position.grid, mine, theirs)
    return kind, by_name(position.grid, moves)


def readings_policy_moves(
    position: Position, color: int, policy: str = "rule_based"
) -> dict[str, Moves]:
    """Return the moves under each reading of *BlockOpenFour*, and of how they are sorted.

    "Play a move that prevents the opponent from getting an open four", read to the letter, leaves
    out the moves that stop one three while another still becomes an open four. When all are left
    out, the next type is ``Random``.
    """
    kind, moves = settled = policy_moves(position, color, policy)
    readings = {"every three on its own": settled}
    others = list(orders(position, moves).items())[1:]
    readings |= {name: (kind, listed) for name, listed in others}
    if kind == rules.BLOCK_OPEN_FOUR:
        shape, (_, theirs) = position.grid, sides(position, color)
        stopping = [
            point
            for point in moves
            if not rules.open_fours(shape, theirs, position.empty & ~shape.bit(point))
        ]
        everything = policy_moves(position, color, "random")
        readings[STOPPING] = (kind, stopping) if stopping else everything
    return readings


# --- reasons -----------------------------------------------------------------------------------


def explain_policy_moves(
    position: Position, color: int, policy: str = "rule_based"
) -> Explanation:
    """Return why these are the moves: what each makes or prevents.

    Marked are the moves ``+``, the stones of the lines ``*``, and ``-`` the other points of the
    lines, which must be empty.
    """
    mine, theirs = sides(position, color)
    kind, moves = rules.POLICIES[policy](position.grid, mine, theirs)
    if not kind:
        reason = explain_result(position)
        over = Sentence("over", "The game is over: no move is left.")
        return Explanation([*reason.sentences, over], reason.marks)
    if policy == "random":
        return _explanation(position, moves, [(Sentence("any", "Any empty point will do."), 0, 0)])
    opening, is_mine, reasons = _REASONS[kind]
    names = {
        _ME: a_color("me", color, is_first=True),
        _YOU: a_color("you", opponent(color), is_first=True),
    }
    first = Sentence(kind, *(names.get(part, part) for part in opening))
    found = reasons(position, mine if is_mine else theirs, moves)
    return _explanation(position, moves, [(first, 0, 0), *found])


def _fives_made(position: Position, stones: int, moves: int) -> Iterator[Reason]:
    """Yield for each move the line of five or more that it completes."""
    for move in each_bit(moves):
        lines = rules.long_lines(position.grid, stones | move)
        line = next(line for line in lines if line & move)
        length = number("length", line.bit_count(), "in a row", "in a row")
        parts = (_point(position, move), " makes ", length, ": ", _points("line", position, line))
        yield Sentence("five", *parts, "."), line & stones, 0


def _open_fours_made(position: Position, stones: int, moves: int) -> Iterator[Reason]:
    """Yield for each move the open four that it makes."""
    completions = list(_completions(position, stones))
    for move in each_bit(moves):
        whole = next(whole for point, whole in completions if point == move)
        four, ends = whole & stones | move, whole & ~stones & ~move
        made = (" makes the open four ", _points("four", position, four))
        room = (" between the empty points ", _points("ends", position, ends), ".")
        sentence = Sentence("open four", _point(position, move), *made, *room)
        yield sentence, four & stones, ends


def _threes_blocked(position: Position, stones: int, moves: int) -> Iterator[Reason]:
    """Yield for each three what would make it an open four, and what blocks it."""
    threes: dict[int, list[tuple[int, int]]] = {}
    for point, whole in _completions(position, stones):
        threes.setdefault(whole & stones, []).append((point, whole & ~stones))
    for three in sorted(threes, key=lambda three: three & -three):
        room, common = 0, moves
        for _, empty in threes[three]:
            room, common = room | empty, common & empty
        first = _point(position, threes[three][0][0])
        parts = (
            *(first, " turns the three ", _points("three", position, three)),
            *(" into an open four ", _ways(position, threes[three]), "; "),
            *(_points("blocks", position, common), " can block it."),
        )
        yield Sentence("three", *parts), three, room


def _ways(position: Position, completions: list[tuple[int, int]]) -> Fact:
    """Return the points that make an open four of a three, each with the four's two ends.

    As text it follows the first of these points, which begins the sentence.
    """
    pairs = [
        (_point(position, point), _points("ends", position, room & ~point))
        for point, room in completions
    ]
    (_, ends), *others = pairs
    words = [f"between {ends}", *(f"{point} into one between {ends}" for point, ends in others)]
    values = tuple((point.value, ends.value) for point, ends in pairs)
    return Fact("completions", values, ", and ".join(words))


_ME, _YOU = "{me}", "{you}"  # in an opening sentence: the colors
# By type: the opening sentence, whether the lines are the player's own, and the lines.
_REASONS: dict[str, tuple[tuple[str, ...], bool, Callable[..., Iterable[Reason]]]] = {
    "Win": ((_ME, " can win at once."), True, _fives_made),
    "BlockWin": ((_ME, " cannot win at once, but ", _YOU, " could."), False, _fives_made),
    "OpenFour": (("Nobody can win at once.",), True, _open_fours_made),
    "BlockOpenFour": (
        ("Nobody can win at once and ", _ME, " cannot make an open four, but ", _YOU, " could."),
        False,
        _threes_blocked,
    ),
    "Random": (
        ("Nobody can win at once or make an open four, so any empty point will do.",),
        True,
        lambda *_: (),  # no line matters
    ),
}


def _completions(position: Position, stones: int) -> Iterator[tuple[int, int]]:
    """Yield each point that makes an open four, with the six points of its window."""
    for step in rules.steps(position.grid):
        found = rules.almost_open_fours(stones, position.empty, step)
        for place, starts in enumerate(found, start=1):
            for start in each_bit(starts):
                yield start << place * step, rules.window(start, step, 6)


def _explanation(position: Position, moves: int, reasons: list[Reason]) -> Explanation:
    """Join the reasons; of two marks for a point, a stone's or move's counts."""
    layers: dict[str, int] = {ROOM: 0, STONE: 0, MOVE: moves}
    for _, stones, room in reasons:
        layers[STONE] |= stones
        layers[ROOM] |= room
    marks = {p: mark for mark, points in layers.items() for p in position.grid.points(points)}
    return Explanation([sentence for sentence, _, _ in reasons], marks)


def _point(position: Position, bit: int) -> Fact:
    (point,) = position.grid.points(bit)
    return a_point("point", point)


def _points(name: str, position: Position, mask: int) -> Fact:
    return points(name, position.grid.points(mask))
