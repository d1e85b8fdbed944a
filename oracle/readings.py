"""Other readings of the documents: engines that differ only where the answer is left open.

Each is the reference engine with one thing done differently, as a document allows or leaves open.
So no case file may fail one of them, and no fuzzing run may find anything in it. (A *mistake*,
:mod:`oracle.mistakes`, breaks a document.) ``gtp-oracle gtp --reading NAME`` is the
engine with one of them. Nothing here is imported by the reference engine.

The list of what is left open stands in ``cases/README.md``, "What a case may ask".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from oracle.answers import gomoku_policy, gosensei
from oracle.assignments import ASSIGNMENTS, engine_for, find_variant, list_variants, told_by
from oracle.errors import GtpError, VertexError
from oracle.games.gomoku import GomokuState
from oracle.gtp import protocol
from oracle.gtp.go import GoSession
from oracle.gtp.gomoku import GomokuSession, is_usual, policy_subject, policy_text
from oracle.gtp.gosensei import GosenseiSession
from oracle.gtp.java_go import JavaGoSession
from oracle.gtp.protocol import Command
from oracle.position import BLACK, WHITE, color_of, opponent, parse_vertex, vertex
from oracle.rules.gomoku import fives

Other = Callable[[Command, Any, list[str]], str]
Register = Callable[[Other], Other]
GO, RULES, POLICY = "go-scoring", "gomoku-rules", "gomoku-policy"
GOMOKU = (RULES, POLICY)
RESULT, LEGAL, MOVES = "gogui-rules_final_result", "gogui-rules_legal_moves", "policy_moves"
_TWO_DIGITS = 10  # rows from which on vertices have one digit or two


class Reading:
    """One reading.

    Attributes: ``name``; ``sentence``, what it takes a document to mean; ``assignments``, whose
    documents; ``commands``, those that replace the reference engine's.
    """

    def __init__(
        self, function: Any, assignments: tuple[str, ...], commands: dict[str, Other]
    ) -> None:
        self.name, self.sentence = told_by(function)
        self.assignments = assignments
        self.commands = commands

    def assignment_of(self, game: str) -> str:
        """Return which of its assignments is of a game; the first if none is."""
        fitting = [one for one in self.assignments if ASSIGNMENTS[one] == game]
        return (*fitting, *self.assignments)[0]

    def engine(self, assignment: str, seed: int = 0, playouts: int = 10) -> protocol.Engine:
        """Return an engine that reads an assignment so; its other commands are the right ones."""
        engine = engine_for(assignment, seed, playouts)
        right = engine.commands
        own = {name: partial(other, right[name]) for name, other in self.commands.items()
               if name in right}  # fmt: skip
        engine.commands = engine.session.commands = {**right, **own}
        return engine


class _Unnumbered(Reading):
    """The reading of engines that never repeat the id of a command."""

    def engine(self, assignment: str, seed: int = 0, playouts: int = 10) -> protocol.Engine:
        engine = super().engine(assignment, seed, playouts)
        return _WithoutIds(engine.session)


class _WithoutIds(protocol.Engine):
    def handle(self, line: str) -> str:
        reply = super().handle(line)
        return reply[:1] + reply[1:].lstrip("0123456789")


READINGS: dict[str, Reading] = {}


def reading(*names: str, of: tuple[str, ...]) -> Register:
    """Return a decorator for a function that stands in for each of some commands."""

    def register(function: Other) -> Other:
        found = Reading(function, of, dict.fromkeys(names, function))
        READINGS[found.name] = found
        return function

    return register


# --- all that come with the course's starter ---------------------------------------------------


@reading("play", "genmove", of=(GO, RULES, POLICY))
def one_letter_colors(right: Command, session: Any, words: list[str]) -> str:
    """Colors are b and w, and black and white are none."""
    if words and words[0].lower() in ("black", "white"):
        if session.record == "gomoku" and len(words) > 1:
            return f'illegal move: "{words[0]}" wrong color'
        raise GtpError("unknown color")
    return right(session, words)


def ids_not_repeated() -> None:
    """A reply needs no id, although the command has one."""


READINGS["ids-not-repeated"] = _Unnumbered(ids_not_repeated, (GO, RULES, POLICY), {})


# --- go-scoring --------------------------------------------------------------------------------


@reading("score", of=(GO,))
def whole_numbers_with_a_fraction(right: Command, session: GoSession, words: list[str]) -> str:
    """A score is a number with a fraction, B+4.0; a draw is 0."""
    answer = right(session, words)
    return answer if answer == "0" or "." in answer else f"{answer}.0"


@reading("boardsize", "clear_board", of=(GO,))
def komi_for_one_board(right: Command, session: GoSession, words: list[str]) -> str:
    """Each test case sets its komi, so a new board may forget it."""
    session.komi = 0
    return right(session, words)


# --- gomoku-rules: errors and coordinates ------------------------------------------------------


@reading("play", of=GOMOKU)
def errors_in_small_letters(right: Command, session: GomokuSession, words: list[str]) -> str:
    """An error is written in small letters, the argument that it copies too."""
    return right(session, words).lower()


@reading("play", of=GOMOKU)
def errors_in_capitals(right: Command, session: GomokuSession, words: list[str]) -> str:
    """An error is written in capitals, the argument that it copies too."""
    return right(session, words).upper()


def _is_odd(words: list[str]) -> bool:
    """Whether a color is right and no board has a point of this name."""
    return len(words) > 1 and color_of(words[0]) is not None and not is_usual(words[1])


@reading("play", of=GOMOKU)
def odd_coordinates_fail(right: Command, session: GomokuSession, words: list[str]) -> str:
    """A coordinate such as i1, a0 or xyz is a GTP error."""
    if _is_odd(words):
        raise GtpError("invalid coordinate")
    return right(session, words)


@reading("play", of=GOMOKU)
def odd_coordinates_ignored(right: Command, session: GomokuSession, words: list[str]) -> str:
    """A coordinate such as i1, a0 or xyz is not mentioned and nothing is played."""
    return "" if _is_odd(words) else right(session, words)


@reading("play", of=GOMOKU)
def column_i_is_column_j(right: Command, session: GomokuSession, words: list[str]) -> str:
    """The column I is the one that others call J."""
    if _is_odd(words) and words[1][:1].lower() == "i" and is_usual(f"j{words[1][1:]}"):
        return right(session, [words[0], f"j{words[1][1:]}"]).replace('"j', '"i')
    return right(session, words)


@reading("boardsize", of=GOMOKU)
def boards_under_5_refused(right: Command, session: GomokuSession, words: list[str]) -> str:
    """A board on which nobody can win has an unacceptable size."""
    if words and words[0].isdigit() and int(words[0]) < 5:
        raise GtpError("unacceptable size")
    return right(session, words)


# --- gomoku-rules: the end of the game ---------------------------------------------------------


def _last(session: GomokuSession) -> GomokuState:
    return session.game._states[-1]


@reading(RESULT, of=GOMOKU)
def full_board_is_a_draw(right: Command, session: GomokuSession, words: list[str]) -> str:
    """A full board is a draw, even with a five on it."""
    return right(session, words) if session.game.position.empty else "draw"


@reading("genmove", of=GOMOKU)
def full_board_is_passed(right: Command, session: GomokuSession, words: list[str]) -> str:
    """On a full board everybody passes, even after a five."""
    return right(session, words) if session.game.position.empty else "pass"


def _is_asked_winner(session: GomokuSession, words: list[str]) -> bool:
    return bool(session.game.winner) and protocol.color(words, 0) == session.game.winner


@reading("genmove", of=GOMOKU)
def winner_resigns(right: Command, session: GomokuSession, words: list[str]) -> str:
    """After a five anyone who is asked for a move resigns, the winner too."""
    return "resign" if _is_asked_winner(session, words) else right(session, words)


@reading("genmove", of=GOMOKU)
def winner_moves_on(right: Command, session: GomokuSession, words: list[str]) -> str:
    """The winner may be asked for another move."""
    position = session.game.position
    if not _is_asked_winner(session, words) or not position.empty:
        return right(session, words)
    point = session.random.choice(position.grid.points(position.empty))
    session.game.play(session.game.winner, point)
    return vertex(point)


@reading("play", of=GOMOKU)
def no_move_after_the_end(right: Command, session: GomokuSession, words: list[str]) -> str:
    """After the end of the game a move is refused."""
    shape = session.game.position.grid
    if session.game.is_over and len(words) > 1 and color_of(words[0]) is not None:
        try:
            point = parse_vertex(words[1], shape.rows, shape.columns)
        except VertexError:
            return right(session, words)
        if session.game.refusal(point) is None:
            return f'illegal move: "{words[1]}" game over'
    return right(session, words)


@reading("play", of=GOMOKU)
def last_five_wins(right: Command, session: GomokuSession, words: list[str]) -> str:
    """Of two fives the last one counts."""
    before, answer = _last(session), right(session, words)
    now = _last(session)
    if now is not before and now.move is not None:
        color, _ = now.move
        if fives(now.position.grid, now.position.stones(color)):
            now.winner = color
    return answer


@reading("genmove", of=GOMOKU)
def pass_ends_a_turn(right: Command, session: GomokuSession, words: list[str]) -> str:
    """After a pass or a resignation it is the other color's turn."""
    answer = right(session, words)
    if answer in ("pass", "resign"):
        _last(session).to_play = opponent(protocol.color(words, 0))
    return answer


@reading("genmove", of=GOMOKU)
def no_turn_after_the_end(right: Command, session: GomokuSession, words: list[str]) -> str:
    """After a pass or a resignation it is the same color's turn."""
    answer = right(session, words)
    if answer in ("pass", "resign"):
        _last(session).to_play = protocol.color(words, 0)
    return answer


# --- both: how moves are sorted and written ----------------------------------------------------


def _sort(answer: str, key: Callable[[str], Any]) -> str:
    """Return a list of moves, with its type or without, in another order."""
    words = answer.split()
    kinds = [word for word in words if not is_usual(word)]
    return " ".join([*kinds, *sorted(words[len(kinds) :], key=key)])


@reading(LEGAL, MOVES, of=GOMOKU)
def sorted_by_letter_and_number(right: Command, session: GomokuSession, words: list[str]) -> str:
    """Moves are sorted by letter, then by number: A9 A10 A11."""
    return _sort(right(session, words), lambda name: (name[0], int(name[1:])))


@reading(LEGAL, MOVES, of=GOMOKU)
def sorted_by_rows_from_10(right: Command, session: GomokuSession, words: list[str]) -> str:
    """From 10 by 10 on moves are sorted by rows: A1 B1 C1."""
    if session.game.position.grid.rows < _TWO_DIGITS:
        return right(session, words)
    return _sort(right(session, words), lambda name: (int(name[1:]), name[0]))


@reading(MOVES, of=(POLICY,))
def policy_in_small_letters(right: Command, session: GomokuSession, words: list[str]) -> str:
    """Vertices are written in small letters, as in the document's example."""
    kind, *moves = right(session, words).split() or [""]
    return " ".join([kind, *(move.lower() for move in moves)])


# --- gomoku-policy -----------------------------------------------------------------------------


def _is_out_of_turn(session: GomokuSession, words: list[str]) -> bool:
    color = color_of((words or [""])[0])
    return not session.game.is_over and color not in (None, session.game.to_play)


@reading("play", of=(POLICY,))
def moves_in_turn_only(right: Command, session: GomokuSession, words: list[str]) -> str:
    """A color that is not to play cannot play."""
    if _is_out_of_turn(session, words):
        return f'illegal move: "{words[0]}" wrong color'
    return right(session, words)


@reading("play", "genmove", of=(POLICY,))
def moves_are_the_side_to_moves(right: Command, session: GomokuSession, words: list[str]) -> str:
    """A move is the side to move's, whatever color is named."""
    if _is_out_of_turn(session, words):
        return right(session, [" bw"[session.game.to_play], *words[1:]])
    return right(session, words)


@reading("play", "genmove", of=(POLICY,))
def turn_by_number_of_stones(right: Command, session: GomokuSession, words: list[str]) -> str:
    """It is Black's turn when both colors have as many stones, else White's."""
    before, answer = _last(session), right(session, words)
    now = _last(session)
    if now is not before:
        black, white = now.position.black.bit_count(), now.position.white.bit_count()
        now.to_play = BLACK if black == white else WHITE
    return answer


def _every_open_four(session: GomokuSession, color: int) -> tuple[str, list[Any]]:
    position, _, policy = policy_subject(session, [])
    found = gomoku_policy.readings_policy_moves(position, color, policy)
    settled, *_ = found.values()
    return found.get(gomoku_policy.STOPPING, settled)


@reading(MOVES, of=(POLICY,))
def blocks_stop_every_open_four(right: Command, session: GomokuSession, words: list[str]) -> str:
    """A move blocks open fours only if it leaves none."""
    return policy_text(_every_open_four(session, session.game.to_play))


@reading("genmove", of=(POLICY,))
def plays_what_stops_every_open_four(
    right: Command, session: GomokuSession, words: list[str]
) -> str:
    """The player chooses among the moves that leave no open four."""
    color = protocol.color(words, 0)
    if session.game.is_over:
        return right(session, words)
    point = session.random.choice(_every_open_four(session, color)[1])
    session.game.play(color, point)
    return vertex(point)


# --- gosensei ----------------------------------------------------------------------------------


@reading("twoeyes", of=("gosensei",))
def two_eyes_in_rows_and_columns(
    right: Command, session: GosenseiSession, words: list[str]
) -> str:
    """Two eyes are within two rows and within two columns of each other."""
    number = gosensei.readings_two_eyes(session.game.position)["rows and columns"]
    return gosensei.two_eyes_sentence(number)


def _spaces(session: GosenseiSession, link: str, small: str) -> str:
    numbers = gosensei.readings_eye_spaces(session.game.position)
    return gosensei.eye_spaces_sentence(numbers[f"stones connect along {link}{small}"])


_NO_POINT = "; a single point is none"


@reading("eyespaces", of=("gosensei",))
def single_points_are_no_spaces(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """An eye space has two points or more."""
    return _spaces(session, "rows and columns", _NO_POINT)


@reading("eyespaces", of=("gosensei",))
def diagonals_connect(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """Stones are connected along diagonals, too."""
    return _spaces(session, "diagonals too", "")


@reading("eyespaces", of=("gosensei",))
def diagonals_connect_around_two_points(
    right: Command, session: GosenseiSession, words: list[str]
) -> str:
    """Diagonals connect, and an eye space has two points or more."""
    return _spaces(session, "diagonals too", _NO_POINT)


# --- java-go -----------------------------------------------------------------------------------


@reading("play", "can_play", of=("java-go",))
def ko_only_if_the_board_repeats(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """A ko may be taken back with more stones than one, for then the board is another."""
    if session.game.ko is not None and not session.game.ko_repeats:
        session.game._states[-1].ko = 0
    return right(session, words)


# --- the program -------------------------------------------------------------------------------


def find_reading(name: str) -> Reading:
    """Return the reading of this name; raises :class:`ValueError` when there is none."""
    return find_variant("reading", name, READINGS)


def listing() -> str:
    """Return all readings by assignment, a line for each with its sentence."""
    sentences: dict[str, dict[str, str]] = {assignment: {} for assignment in ASSIGNMENTS}
    for one in READINGS.values():
        for assignment in one.assignments:
            sentences[assignment][one.name] = one.sentence
    return list_variants(sentences)
