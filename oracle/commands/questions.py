"""The commands about one position: ``show``, and ``score``, ``captured`` and other questions."""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from oracle.boards import Snapshot, read_bytes
from oracle.boards.diagram import format_diagram, format_digits, format_drawing
from oracle.boards.gosensei import SIZE, draw_gosensei, format_gosensei
from oracle.commands import ask
from oracle.commands.ask import Answer, OptionParser
from oracle.draw import Diagram, draw_svg
from oracle.errors import OracleError
from oracle.explanation import Explanation, Sentence, a_color, a_point, number, points
from oracle.komi import plain_text
from oracle.position import BLACK, GTP_LETTERS, NAMES, SENSEI_LETTERS, WHITE, Point, vertex


class Question(NamedTuple):
    """A command: what it is about, its options beside those of all, and what it answers."""

    description: str
    answer: Callable[[Snapshot, argparse.Namespace], list[Answer]]
    add_options: Callable[[OptionParser], None] = lambda _parser: None
    rules: str | None = None  # the game that it is about, if it is about one
    letters: str = GTP_LETTERS  # of the columns in the answers


def main(name: str, arguments: list[str]) -> int:
    """Run the command of this name and return the exit status."""
    if name == "show":
        return show(arguments)
    question = QUESTIONS[name]
    parser = ask.question(name, question.description, question.rules)
    question.add_options(parser)
    return ask.run(arguments, parser, question.answer, question.letters)


def _add_points(parser: OptionParser, noun: str) -> None:
    parser.add_argument(
        "points", metavar="POINT", nargs="*", help=f"points such as C3 (default: list all {noun})"
    )


# --- score ---------------------------------------------------------------------------------------


def _add_score_options(parser: OptionParser) -> None:
    parser.add_argument(
        "--assignment",
        choices=("go-scoring", "java-go"),
        help="way of counting (default: java-go for boards of 0, 1 and 2, else go-scoring)",
    )
    parser.add_argument(
        "--komi",
        type=ask.komi,
        metavar="N",
        help="go-scoring: White's komi (default: the file's, or 0)",
    )


def score(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the result, or the score of each color."""
    from oracle.answers import go_scoring

    chosen = options.assignment or ("java-go" if snapshot.game == "java-go" else "go-scoring")
    position, amount = snapshot.position, options.komi
    if chosen == "go-scoring":
        if amount is None:
            amount = snapshot.komi
        if amount is None and snapshot.kind == "sgf":
            snapshot.notes.append("the file states no komi: 0 is assumed")
        amount = amount or 0
        result = go_scoring.answer(position, amount)
        reason = go_scoring.explain(position, amount)
        return [Answer("score", result, result, reason, go_scoring.readings(position, amount))]
    from oracle.answers import java_go

    answers = []
    for color in (BLACK, WHITE):
        points, name = java_go.score(position, color), NAMES[color]
        reason = java_go.explain_score(position, color)
        readings = _as_text(java_go.readings_score(position, color))
        text = f"{name.capitalize()}: {points}"
        answers.append(Answer(f"score {name}", text, points, reason, readings))
    return answers


def _as_text(readings: Mapping[str, object]) -> dict[str, str]:
    return {reading: str(value) for reading, value in readings.items()}


# --- captured ------------------------------------------------------------------------------------


def captured(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return whether each point is captured, or all points that are."""
    from oracle.answers import java_go

    answers, position = [], snapshot.position
    for point in ask.points(options.points, snapshot):
        is_captured, name = java_go.is_captured(position, point), vertex(point)
        readings = java_go.readings_captured(position, point)
        answers.append(
            Answer(
                f"captured {name}",
                f"{name} is {'' if is_captured else 'not '}captured",
                is_captured,
                java_go.explain_captured(position, point),
                {reading: str(value).lower() for reading, value in readings.items()},
            )
        )
    if answers:
        return answers
    shape = position.grid
    found = [point for point in shape.points(shape.full) if java_go.is_captured(position, point)]
    stones = [point for point in found if position.color_at(point)]
    names = [vertex(point) for point in found]
    dead = number("stones", len(stones), "stone")
    own = number("points", len(found) - len(stones), "point")
    parts = (dead, " without liberties and ", own, " of territory are captured.")
    reason = Sentence("captured", *parts)
    marks = {p: java_go.TAKEN if position.color_at(p) else java_go.TERRITORY for p in found}
    return [Answer("captured", " ".join(names) or "none", names, Explanation([reason], marks))]


# --- legal ---------------------------------------------------------------------------------------

_NOT = "x"  # mark: an empty point on which a stone is not legal
_KO = "It would take back at once the stone that has just taken one: ko, not legal."


def legal_moves(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return whether each move is legal, or all moves that are."""
    asked = ask.points(options.points, snapshot)
    if snapshot.game == "gomoku":
        return _legal_in_gomoku(snapshot, asked)
    return _legal_in_go(snapshot, ask.color_to_play(options, snapshot), asked)


def _one_move(point: Point, legal: bool, explanation: Explanation) -> Answer:
    name = vertex(point)
    text = f"{name} is {'' if legal else 'not '}legal"
    return Answer(f"legal {name}", text, legal, explanation)


def _legal_in_go(snapshot: Snapshot, color: int, asked: list[Point]) -> list[Answer]:
    from oracle.answers import java_go

    position, answers = snapshot.position, []
    ko = snapshot.ko if color == snapshot.to_play else None
    for point in asked:
        is_legal = point != ko and java_go.is_legal(position, point, color)
        why = Explanation([Sentence("ko", _KO)], {point: java_go.SUBJECT})
        if point != ko:
            why = java_go.explain_legal(position, point, color)
        answers.append(_one_move(point, is_legal, why))
    if answers:
        return answers
    empty = position.grid.points(position.empty)
    legal = [p for p in empty if p != ko and java_go.is_legal(position, p, color)]
    others = [point for point in empty if point not in legal]
    moves = number("moves", len(legal), "empty point is", "empty points are")
    rest = ("; not so ", points("others", others)) if others else ()
    reason = Sentence("legal", moves, " legal for ", a_color("color", color), *rest, ".")
    names = [vertex(point) for point in legal]
    explanation = Explanation([reason], dict.fromkeys(others, _NOT))
    return [Answer(f"legal {NAMES[color]}", " ".join(names) or "none", names, explanation)]


def _legal_in_gomoku(snapshot: Snapshot, asked: list[Point]) -> list[Answer]:
    from oracle.answers import gomoku_rules
    from oracle.gtp.gomoku import moves_text

    position, answers = snapshot.position, []
    legal, why = gomoku_rules.legal_moves(position), gomoku_rules.explain_legal_moves(position)
    for point in asked:
        reason = why
        if stone := position.color_at(point):
            who = a_color("stone", stone)
            parts = (a_point("point", point), " is occupied by a ", who, " stone.")
            reason = Explanation([Sentence("occupied", *parts)])
        answers.append(_one_move(point, point in legal, reason))
    if answers:
        return answers
    names = [vertex(point).lower() for point in legal]
    readings = gomoku_rules.readings_legal_moves(position)
    by_reading = {name: moves_text(moves) or "none" for name, moves in readings.items()}
    return [Answer("legal", moves_text(legal) or "none", names, why, by_reading)]


def _add_legal_options(parser: OptionParser) -> None:
    _add_points(parser, "legal")
    ask.add_color(parser, "color to move")
    ask.add_rules(parser)


# --- eyes ----------------------------------------------------------------------------------------

_EYES = ("eyes", "twoeyes", "eyespaces")


def eyes(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the numbers that are asked for."""
    columns = snapshot.position.grid.columns
    if columns > len(SENSEI_LETTERS):
        raise OracleError(f"the columns A to I are not enough for a board of {columns}")
    from oracle.answers import gosensei

    position, color, answers = snapshot.position, options.color or BLACK, []
    for name in [options.only] if options.only else _EYES:
        find, sentence, explain, readings = gosensei.OPTIONS[name]
        number, reason = len(find(position, color)), explain(position, color)
        by_reading = _as_text(readings(position, color))
        answers.append(Answer(name, sentence(number, color), number, reason, by_reading))
    return answers


def _add_eye_options(parser: OptionParser) -> None:
    parser.add_argument("--only", choices=_EYES, help="one of the three (default: all)")
    ask.add_color(parser, "color of the eyes", "black")


# --- Gomoku: winner, policy ----------------------------------------------------------------------


def winner(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the result."""
    from oracle.answers import gomoku_rules

    position = snapshot.position
    result = gomoku_rules.result(position)
    reason = gomoku_rules.explain_result(position)
    readings = gomoku_rules.readings_result(position)
    return [Answer("winner", result, result, reason, readings)]


def policy(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the type and the moves."""
    from oracle.answers import gomoku_policy
    from oracle.gtp.gomoku import policy_text

    about = snapshot.position, ask.color_to_play(options, snapshot), options.policy
    kind, moves = gomoku_policy.policy_moves(*about)
    readings = gomoku_policy.readings_policy_moves(*about)
    return [
        Answer(
            "policy_moves",
            policy_text((kind, moves)) or "none: the game is over",
            {"type": kind, "moves": [vertex(point) for point in moves]},
            gomoku_policy.explain_policy_moves(*about),
            {name: policy_text(reading) for name, reading in readings.items()},
        )
    ]


def _add_policy_options(parser: OptionParser) -> None:
    parser.add_argument(
        "--policy",
        choices=("rule_based", "random"),
        default="rule_based",
        help="the playout policy (default: rule_based)",
    )
    ask.add_color(parser, "color to move")


# --- all of them ---------------------------------------------------------------------------------

QUESTIONS = {
    "score": Question(
        """\
The score of a board as it is: no stones count as dead.

go-scoring   stones, and empty regions that touch one color only, with komi: B+4, W+0.5 or 0
java-go      for each color: prisoners (stones without liberties, which leave the board) and
             empty points in regions that touch that color only
""",
        score,
        _add_score_options,
        rules="go",
    ),
    "captured": Question(
        """\
Which points of a board are captured, by the rules of java-go.txt: a stone whose chain has no
liberty (a prisoner), and an empty point whose region touches one color only (territory).
""",
        captured,
        lambda parser: _add_points(parser, "captured"),
        rules="go",
    ),
    "legal": Question(
        """\
Which moves are legal.

go       a stone on an empty point that has a liberty or captures (java-go.txt, "Self Capture");
         the immediate recapture of a ko is not, if the file shows the capture
gomoku   any empty point until the game is over; sorted as strings, in lower case
""",
        legal_moves,
        _add_legal_options,
    ),
    "eyes": Question(
        """\
The eyes, two eyes and eye spaces of a color, as gosensei.txt defines them. As there, columns are
called A to I, with I, so boards have at most nine.
""",
        eyes,
        _add_eye_options,
        rules="go",
        letters=SENSEI_LETTERS,
    ),
    "winner": Question(
        """\
The winner of a game of Gomoku, by the rules of gomoku-rules.html: black, white, draw or unknown
(nobody yet). Five or more in a row win.
""",
        winner,
        rules="gomoku",
    ),
    "policy": Question(
        """\
The moves that a playout of Gomoku considers (policy_moves of gomoku-policy.txt): their type, which
is the first of Win, BlockWin, OpenFour, BlockOpenFour and Random that has any, and the moves,
sorted as strings. Nothing when the game is over.
""",
        policy,
        _add_policy_options,
        rules="gomoku",
    ),
}


# --- show: the position itself -------------------------------------------------------------------

_SHOW = """\
The position itself, as a picture and with its known facts; or the games of an SGF file; or
the position in another format.
"""


def show(arguments: list[str]) -> int:
    """Print what a file has, and return the exit status."""
    parser = ask.question("show", _SHOW)
    ask.add_rules(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--games", action="store_true", help="list the games of an SGF file")
    what.add_argument("--to", choices=_WRITERS, help="write the position in another format")
    options = parser.parse_args(arguments)
    if options.games:
        from oracle.sgf import games
        from oracle.sgf.replay import title

        found = games(read_bytes(options.file), options.file)
        if options.json:
            names = ("number", "nodes", "fault")
            ask.print_json(
                [{n: getattr(one, n) for n in names} | {"title": title(one.root)} for one in found]
            )
            return 0
        lines = []
        for one in found:
            damage = f"; damaged: {one.fault}" if one.fault else ""
            name = title(one.root) or "without title"
            lines.append(f"{one.number:3}  {name} ({one.nodes} nodes{damage})")
        ask.print_text("\n".join(lines))
        return 0
    snapshot = ask.read(options)
    if options.json:
        ask.print_json(ask.describe_position(snapshot, options.file))
        return 0
    ask.print_notes(snapshot)
    if options.to:
        sys.stdout.write(_WRITERS[options.to](snapshot))
        return 0
    facts = {
        "Format": snapshot.kind,
        "Title": snapshot.title,
        "Game": snapshot.game,
        "To play": snapshot.to_play and NAMES[snapshot.to_play],
        "Komi": None if snapshot.komi is None else plain_text(snapshot.komi),
        "Ko": snapshot.ko and f"{vertex(snapshot.ko)} may not be taken back",
    }
    stated = [f"{name}: {fact}" for name, fact in facts.items() if fact]
    picture = ask.draw_board(Diagram(snapshot.position, snapshot.last), not options.ascii)
    ask.print_text("\n".join([picture, "", *stated]))
    return 0


def _nine(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot whose board gosensei can draw."""
    shape = snapshot.position.grid
    if (shape.rows, shape.columns) != (SIZE, SIZE):
        raise OracleError(
            f"gosensei's boards are {SIZE} by {SIZE}, not {shape.columns} by {shape.rows}"
        )
    return snapshot


def _to_sgf(snapshot: Snapshot) -> str:
    from oracle.sgf import write_sgf

    game = "gomoku" if snapshot.game == "gomoku" else "go"
    turn = snapshot.to_play or BLACK
    return write_sgf(snapshot.position, [], game=game, to_play=turn, komi=snapshot.komi).decode()


# How to write a position in each format, with its last newline.
_WRITERS: dict[str, Callable[[Snapshot], str]] = {
    "text": lambda snapshot: format_digits(snapshot.position),
    "diagram": lambda snapshot: format_diagram(snapshot.position) + "\n",
    "drawing": lambda snapshot: format_drawing(snapshot.position),
    "gosensei": lambda snapshot: format_gosensei(_nine(snapshot).position),
    "picture": lambda snapshot: draw_gosensei(_nine(snapshot).position) + "\n",
    "sgf": _to_sgf,
    "svg": lambda snapshot: draw_svg(Diagram(snapshot.position, snapshot.last)) + "\n",
}
