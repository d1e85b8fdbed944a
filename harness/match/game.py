"""One game between two engines: who is asked what, and what each does to lose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress

from harness.engine.engine_session import EngineSession
from harness.engine.launch import Launcher, with_seed
from harness.engine.process import EngineProcess
from harness.engine.protocols import find_protocol
from harness.errors import EngineError
from harness.match.records import (
    ABSENT,
    BOTH,
    CRASHED,
    HUNG,
    ILLEGAL,
    LIMITS,
    NOT_READY,
    OUTPUT,
    REFUSED,
    RESIGNED,
    TIME,
    TURN,
    Game,
    Match,
    Opening,
    Plan,
    Player,
    TimeControl,
    loss,
)
from harness.match.referee import Referee
from harness.processes import processors
from harness.records import FailureKind, Reply
from harness.text import encode, one_line
from oracle.errors import IllegalMove
from oracle.position import BLACK, EMPTY, WHITE, opponent

_OF_KIND = {  # an engine failure as the reason of a loss
    FailureKind.NOT_STARTED: NOT_READY,
    FailureKind.TIMEOUT: HUNG,
    FailureKind.OUTPUT: OUTPUT,
    FailureKind.DIED: CRASHED,
    FailureKind.PROTOCOL: CRASHED,
}
_NAMES, _SETTINGS, _LEFT = "list_commands", "time_settings", "time_left"
_OPTIONAL = ("komi",)  # commands that an engine may not know: the referee counts
_SHOWN = 80  # characters of a reply in a sentence
_MARGIN = 0.05  # seconds after its clock has run out, when an engine is no longer waited for
_FLAG = "it used up its time"
_COLORS = {BLACK: "Black", WHITE: "White"}


class GameClock:
    """What is left of a player's time; see :class:`~harness.match.records.TimeControl`."""

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.is_on = bool(control.main or control.stones)
        self._main, self._period, self._stones = control

    @property
    def settings(self) -> str:
        """What ``time_settings`` says."""
        return "{:g} {:g} {}".format(*self._control)

    @property
    def left(self) -> float:
        """Seconds until the flag falls."""
        return self._main + (self._period if self._stones else 0.0)

    @property
    def words(self) -> str:
        """What ``time_left`` says: seconds, and stones or 0 in the main time."""
        is_main = self._main > 0 or not self._stones
        return f"{int(self._main)} 0" if is_main else f"{int(self._period)} {self._stones}"

    def spend(self, seconds: float) -> bool:
        """Take the time of a move; return whether it was there."""
        if not self.is_on:
            return True
        if seconds > self.left:
            return False
        main = self._main
        self._main = max(0.0, main - seconds)
        if seconds > main or not main:
            self._period -= max(0.0, seconds - main)
            self._stones -= 1
            if self._stones < 1:
                _, self._period, self._stones = self._control
        return True


class _LostError(Exception):
    """A player has lost; ``reason`` is one of :mod:`harness.match.records`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


class _Seat:
    """One engine in one game."""

    def __init__(self, color: int, player: Player, match: Match, launcher: Launcher) -> None:
        """Start the engine.

        Raises:
            EngineError: it does not start.
        """
        self._color, self._limits = color, match.options.limits
        self.clock = GameClock(match.rules.time)
        self.seconds = 0.0
        self._known: frozenset[str] = frozenset()
        spoken = find_protocol(match.rules.protocol)
        words = [with_seed(word) if player.seeded else word for word in player.words]
        folder = player.folder or match.place
        process = EngineProcess(launcher, words, folder, self._limits, protocol=spoken)
        if match.options.jobs >= processors():
            process.sleep_at_once()
        self.session = EngineSession(process, self._limits, strict=True, protocol=spoken)

    def prepare(self, referee: Referee, opening: Opening) -> None:
        """Let the engine begin the game.

        Raises:
            _LostError: it does not.
        """
        (listed,) = self._ask([_NAMES])
        self._known = frozenset(listed.text.split()) if listed.ok else frozenset()
        self.session.begin_file()
        commands = list(referee.begin)
        if self.clock.is_on and _SETTINGS in self._known:
            commands.append(f"{_SETTINGS} {self.clock.settings}")
        commands += [referee.tell(*move) for move in opening.moves]
        for command, reply in zip(commands, self._ask(commands), strict=True):
            if referee.refuses(reply) and command.split()[0] not in (*_OPTIONAL, _SETTINGS):
                raise _LostError(NOT_READY, f"it answered {_quote(reply)} to '{command}'")

    def choose(self, heard: Sequence[str], referee: Referee) -> str:
        """Tell the engine what it has not heard; return its move.

        Raises:
            _LostError: it has none in time.
        """
        left = [f"{_LEFT} {'?bw'[self._color]} {self.clock.words}"]
        left = left if self.clock.is_on and _LEFT in self._known else []
        *before, move = self._ask([*heard, *left, referee.ask(self._color)], thinks=True)
        for command, reply in zip(heard, before, strict=False):
            if referee.refuses(reply):
                told = f"it answered {_quote(reply)} to '{command}', which is legal"
                raise _LostError(REFUSED, told)
        if referee.refuses(move):
            raise _LostError(REFUSED, f"it answered {_quote(move)} when it was its turn")
        return move.text

    def claim(self, heard: Sequence[str], question: str) -> str:
        """Return what the engine says of the end; "" if it says nothing."""
        asked = [question] if question in self._known else []
        with suppress(_LostError):
            replies = self._ask([*heard, *asked])
            return one_line(replies[-1].text, _SHOWN) if asked and replies[-1].ok else ""
        return ""

    def _ask(self, commands: Sequence[str], *, thinks: bool = False) -> list[Reply]:
        if not commands:
            return []
        replies: list[Reply] = []
        limit = self._limits.of_command(thinks=thinks)
        is_clock = thinks and self.clock.is_on and not 0 < limit < self.clock.left
        self.session.limit = self.clock.left + _MARGIN if is_clock else limit
        try:
            self.session.ask([encode(one) + b"\n" for one in commands], replies)
        except EngineError as error:
            raise self._explain(error, is_clock) from None
        spent = sum(reply.seconds for reply in replies)
        self.seconds += spent
        if thinks and not self.clock.spend(spent):
            raise _LostError(TIME, _FLAG)
        if self.session.answers_too_often:
            raise _LostError(TURN, "it sent more replies than it was sent commands")
        return replies

    def _explain(self, error: EngineError, is_clock: bool) -> _LostError:
        failure = error.failure
        if failure.kind is FailureKind.TIMEOUT and is_clock:
            return _LostError(TIME, _FLAG)
        if failure.limit and failure.limit.name == "file":
            allowed = f"{failure.limit.allowed:g} s"
            return _LostError(TIME, f"it had {allowed} for a whole game, and used them up")
        return _LostError(_OF_KIND.get(failure.kind, LIMITS), one_line(error.message, 500))


Seating = Mapping[int, Callable[[Player], Launcher]]  # by color: what starts its engine


def play_game(plan: Plan, match: Match, referee: Referee, seating: Seating) -> Game:
    """Play a game and return it; both engines are gone afterwards.

    ``referee``: after the moves of the opening.

    Raises:
        SandboxError, StarvedError, ReferenceFailedError: the harness failed: nobody has lost.
    """
    with ExitStack() as ends:
        return _Table(plan, match, referee, ends).play(seating)


def try_engine(player: Player, match: Match, launcher: Launcher) -> None:
    """Start an engine, and see that it answers.

    Raises:
        EngineError: it does not.
    """
    seat = _Seat(BLACK, player, match, launcher)
    with closing(seat.session):
        seat.session.ask([encode("name") + b"\n"], [])


class _Table:
    """The game as it goes along."""

    def __init__(self, plan: Plan, match: Match, referee: Referee, ends: ExitStack) -> None:
        self._plan, self._match, self._referee, self._ends = plan, match, referee, ends
        self._opening = match.openings[plan.opening]
        self._seats: dict[int, _Seat] = {}
        self._moves: list[tuple[int, str]] = []
        self._unheard: dict[int, list[str]] = {BLACK: [], WHITE: []}

    def play(self, seating: Seating) -> Game:
        """Play to the end."""
        lost = self._sit_down(seating) or self._prepare()
        if len(lost) == 2:
            told = "; ".join(f"{_COLORS[color]}: {one.detail}" for color, one in lost.items())
            return self._game(EMPTY, BOTH, told)
        for loser, one in lost.items():
            return loss(self._plan, loser, one.reason, one.detail, **self._known())
        color = self._referee.to_play
        try:
            while self._referee.end is None:
                color = self._referee.to_play
                self._move(color)
        except _LostError as error:
            return loss(self._plan, color, error.reason, error.detail, **self._known())
        end, claims = self._referee.end, self._claims()
        return self._game(end.winner, end.reason, score=end.score, claims=claims)

    def _sit_down(self, seating: Seating) -> dict[int, _LostError]:
        """Start both engines; return those who lose before the game."""
        players = {color: self._match.players[self._plan.player(color)] for color in seating}
        absent = {
            color: _LostError(ABSENT, one.absent) for color, one in players.items() if one.absent
        }
        if absent:
            return absent
        lost: dict[int, _LostError] = {}
        for color, player in players.items():
            try:
                seat = _Seat(color, player, self._match, seating[color](player))
            except EngineError as error:
                lost[color] = _LostError(NOT_READY, error.message)
                continue
            self._ends.callback(seat.session.close)
            self._seats[color] = seat
        return lost

    def _prepare(self) -> dict[int, _LostError]:
        lost: dict[int, _LostError] = {}
        for color, seat in self._seats.items():
            try:
                seat.prepare(self._referee, self._opening)
            except _LostError as error:
                lost[color] = error
        return lost

    def _move(self, color: int) -> None:
        heard, self._unheard[color] = self._unheard[color], []
        text = self._seats[color].choose(heard, self._referee)
        if text.strip().lower() == "resign":
            raise _LostError(RESIGNED, "it resigned")
        try:
            move = self._referee.play(text)
        except IllegalMove as error:
            raise _LostError(ILLEGAL, one_line(str(error), 200)) from None
        self._moves.append((color, move))
        self._unheard[opponent(color)].append(self._referee.tell(color, move))

    def _claims(self) -> tuple[str, str]:
        """Ask both engines of the end, and let them go in peace."""
        told = []
        for color in (BLACK, WHITE):
            seat = self._seats[color]
            told.append(seat.claim(self._unheard[color], self._referee.claim))
            seat.session.leave()
        return told[0], told[1]

    def _known(self) -> dict[str, object]:
        seconds = [self._seats[one].seconds if one in self._seats else 0.0 for one in _COLORS]
        return {
            "moves": tuple(self._moves),
            "seconds": tuple(round(one, 6) for one in seconds),
            "board": self._referee.board() if self._moves else "",
        }

    def _game(self, winner: int, reason: str, detail: str = "", **more: object) -> Game:
        return Game(self._plan, winner, reason, detail, **self._known(), **more)  # type: ignore[arg-type]


def _quote(reply: Reply) -> str:
    return f"'{'' if reply.ok else '? '}{one_line(reply.text, _SHOWN)}'"
