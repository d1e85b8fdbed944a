"""One game between two engines: who is asked what, and what each does to lose."""

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from harness.core.errors import EngineError, HarnessError, UsageError
from harness.core.file_system import join_path
from harness.core.processes import processors
from harness.core.records import CaseFile, FailureKind, Reply
from harness.core.text import encode, one_line
from harness.declared.program_process import ProgramProcess
from harness.engine.engine_session import EngineSession
from harness.engine.launch import Launcher, with_seed
from harness.engine.process import EngineProcess
from harness.engine.protocols import find_protocol
from harness.match import records as reasons
from harness.match.records import Game, Match, Opening, Plan, Player, TimeControl
from harness.match.referee import REFEREES, DeclaredReferee, Referee, after_opening, draw_opening
from harness.running.runs import sandbox_for
from harness.specifications import EVERYONES
from harness.specifications.record import Specification
from oracle.errors import IllegalMove
from oracle.position import BLACK, EMPTY, NAMES, WHITE, opponent

_OF_KIND = {  # an engine failure as the reason of a loss
    FailureKind.NOT_STARTED: reasons.NOT_READY,
    FailureKind.TIMEOUT: reasons.HUNG,
    FailureKind.OUTPUT: reasons.OUTPUT,
    FailureKind.DIED: reasons.CRASHED,
    FailureKind.PROTOCOL: reasons.CRASHED,
}
_NAMES, _SETTINGS, _LEFT = "list_commands", "time_settings", "time_left"
_OPTIONAL = ("komi", _SETTINGS)  # commands that an engine may not know: the referee counts
_SHOWN = 80  # characters of a reply in a sentence
_USED_UP = "it used up its time"
_MARGIN = 0.05  # seconds after its clock has run out, when an engine is no longer waited for


class GameClock:
    """Clock of a player; see :class:`~harness.match.records.TimeControl`."""

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.is_on = bool(control.main or control.stones)
        self._main, self._period, self._stones = control

    @property
    def settings(self) -> str:
        """``time_settings`` arguments."""
        return "{:g} {:g} {}".format(*self._control)

    @property
    def left(self) -> float:
        """Seconds until the flag falls."""
        return self._main + (self._period if self._stones else 0.0)

    @property
    def words(self) -> str:
        """Arguments of ``time_left``: seconds, stones or 0 in the main time."""
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
    """One engine in one game. Its methods raise :class:`_LostError` when it has lost."""

    def __init__(self, color: int, player: Player, match: Match, launcher: Launcher) -> None:
        """Start the engine.

        Raises:
            EngineError: it does not start.
        """
        self._color, self._limits = color, match.options.limits
        self.clock = GameClock(match.rules.time)
        self.seconds = 0.0
        self.pending: list[str] = []  # commands that tell it of the other's moves, not sent yet
        self._known: frozenset[str] = frozenset()
        protocol = find_protocol(match.rules.protocol)
        words = [with_seed(word) if player.seeded else word for word in player.words]
        folder = player.folder or match.place
        process = EngineProcess(launcher, words, folder, self._limits, protocol=protocol)
        if match.options.jobs >= processors():
            process.sleep_at_once()
        self.session = EngineSession(process, self._limits, strict=True, protocol=protocol)

    def prepare(self, referee: Referee, opening: Opening) -> None:
        """Let the engine begin the game."""
        (listed,) = self._ask([_NAMES])
        self._known = frozenset(listed.text.split()) if listed.ok else frozenset()
        self.session.begin_file()
        commands = list(referee.begin)
        if self.clock.is_on and _SETTINGS in self._known:
            commands.append(f"{_SETTINGS} {self.clock.settings}")
        commands += [referee.tell(*move) for move in opening.moves]
        for command, reply in zip(commands, self._ask(commands), strict=True):
            if referee.refuses(reply) and command.split()[0] not in _OPTIONAL:
                detail = f"it answered {_quote(reply)} to '{command}'"
                raise _LostError(reasons.NOT_READY, detail)

    def choose(self, referee: Referee) -> str:
        """Return the engine's move, once it was told of the other's."""
        moves, self.pending = self.pending, []
        is_timed = self.clock.is_on and _LEFT in self._known
        left = [f"{_LEFT} {'?bw'[self._color]} {self.clock.words}"] if is_timed else []
        *before, move = self._ask([*moves, *left, referee.ask(self._color)], thinks=True)
        for command, reply in zip(moves, before, strict=False):
            if referee.refuses(reply):
                detail = f"it answered {_quote(reply)} to '{command}', which is legal"
                raise _LostError(reasons.REFUSED, detail)
        if referee.refuses(move):
            detail = f"it answered {_quote(move)} when it was its turn"
            raise _LostError(reasons.REFUSED, detail)
        if move.text.strip().lower() == "resign":
            raise _LostError(reasons.RESIGNED, "it resigned")
        return move.text

    def claim(self, question: str) -> str:
        """Return what the engine says of the end, "" if it says nothing; then end it."""
        asked = [question] if question in self._known else []
        try:
            replies = self._ask([*self.pending, *asked])
        except _LostError:
            return ""
        finally:
            self.session.leave()
        return one_line(replies[-1].text, _SHOWN) if asked and replies[-1].ok else ""

    def _ask(self, commands: Sequence[str], *, thinks: bool = False) -> list[Reply]:
        replies: list[Reply] = []
        if not commands:
            return replies
        limit = self._limits.of_command(thinks=thinks)
        is_clock = thinks and self.clock.is_on and not 0 < limit < self.clock.left
        self.session.limit = self.clock.left + _MARGIN if is_clock else limit
        try:
            self.session.ask([encode(one) + b"\n" for one in commands], replies)
        except EngineError as error:
            failure = error.failure
            if failure.kind is FailureKind.TIMEOUT and is_clock:
                raise _LostError(reasons.TIME, _USED_UP) from None
            if failure.limit and failure.limit.name == "file":
                detail = f"it had {failure.limit.allowed:g} s for a whole game, and used them up"
                raise _LostError(reasons.TIME, detail) from None
            reason = _OF_KIND.get(failure.kind, reasons.LIMITS)
            raise _LostError(reason, one_line(error.message, 500)) from None
        spent = sum(reply.seconds for reply in replies)
        self.seconds += spent
        if thinks and not self.clock.spend(spent):
            raise _LostError(reasons.TIME, _USED_UP)
        if self.session.answers_too_often:
            raise _LostError(reasons.TURN, "it sent more replies than it was sent commands")
        return replies


def _quote(reply: Reply) -> str:
    return f"'{'' if reply.ok else '? '}{one_line(reply.text, _SHOWN)}'"


LauncherFactory = Callable[[int, Player], Launcher]  # of a player's engine of a color


class _GameRun:
    """One game under way: both engines, the referee and the moves so far."""

    def __init__(self, plan: Plan, match: Match, referee: Referee) -> None:
        self._plan, self._match, self._referee = plan, match, referee
        self._seats: dict[int, _Seat] = {}
        self._moves: list[tuple[int, str]] = []

    def play(self, launcher: LauncherFactory) -> Game:
        """Play to the end; both engines are gone afterwards."""
        try:
            return self._play(launcher)
        finally:
            for seat in self._seats.values():
                seat.session.close()

    def _play(self, launcher: LauncherFactory) -> Game:
        lost = self._begin(launcher)
        if len(lost) == 2:
            details = (f"{NAMES[color].capitalize()}: {one.detail}" for color, one in lost.items())
            return self._game(EMPTY, reasons.BOTH, "; ".join(details))
        for color, one in lost.items():
            return self._game(opponent(color), one.reason, one.detail)
        referee = self._referee
        while referee.end is None:
            color = referee.to_play
            try:
                move = referee.play(self._seats[color].choose(referee))
            except IllegalMove as error:
                return self._game(opponent(color), reasons.ILLEGAL, one_line(str(error), 200))
            except _LostError as error:
                return self._game(opponent(color), error.reason, error.detail)
            self._moves.append((color, move))
            self._seats[opponent(color)].pending.append(referee.tell(color, move))
        black, white = (self._seats[one].claim(referee.claim) for one in (BLACK, WHITE))
        game = self._game(referee.end.winner, referee.end.reason)
        return game._replace(score=referee.end.score, claims=(black, white))

    def _begin(self, launcher: LauncherFactory) -> dict[int, _LostError]:
        """Let both engines begin; return those who lose by that.

        Neither is started if one is absent.
        """
        match, plan, seats = self._match, self._plan, self._seats
        players = {one: match.players[plan.player(one)] for one in (BLACK, WHITE)}
        lost = {
            color: _LostError(reasons.ABSENT, one.absent)
            for color, one in players.items()
            if one.absent
        }
        for color, player in () if lost else players.items():
            try:
                seats[color] = _Seat(color, player, match, launcher(color, player))
            except EngineError as error:
                lost[color] = _LostError(reasons.NOT_READY, error.message)
        for color, seat in seats.items():
            try:
                seat.prepare(self._referee, match.openings[plan.opening])
            except _LostError as error:
                lost[color] = error
        return lost

    def _game(self, winner: int, reason: str, detail: str = "") -> Game:
        black, white = (
            round(self._seats[one].seconds, 6) if one in self._seats else 0.0
            for one in (BLACK, WHITE)
        )
        return Game(
            self._plan,
            winner,
            reason,
            detail,
            moves=tuple(self._moves),
            seconds=(black, white),
            board=self._referee.board() if self._moves else "",
        )


# --- What plays any game of a match --------------------------------------------------------------


class Arbiter:
    """Plays the games of a match, each when it is told to, in whichever process."""

    def __init__(
        self,
        match: Match,
        specification: Specification | None = None,
        hidden_paths: Iterable[str] = (),
    ) -> None:
        """``specification``: of the game, if its reference is the referee.

        ``hidden_paths``: files that no engine sees.

        Raises:
            SandboxError: this machine has no such sandbox.
        """
        self.match = match
        self._declared = specification
        unseen = [CaseFile(path, (), ()) for path in hidden_paths]
        self._sandboxes = {
            color: sandbox_for(match.options, unseen, EVERYONES) for color in (BLACK, WHITE)
        }
        self._reference: tuple[int, ProgramProcess] | None = None  # by the id of our process
        self._cores: tuple[int, list[list[int]]] | None = None
        self._placed = 0  # the process that has its cores

    @property
    def sandbox(self) -> str:
        """The level of the sandbox, in words."""
        return self._sandboxes[BLACK].description

    def play(self, plan: Plan, _note: object = None) -> Game:
        """Play a game.

        Raises:
            SandboxError, StarvedError, ReferenceFailedError: the harness failed: nobody has lost.
        """
        if self._cores and self._placed != os.getpid():
            self._placed = os.getpid()
            place, shares = self._cores
            with suppress(OSError):  # nothing is left after a process has died: the system decides
                os.sched_setaffinity(0, shares[os.read(place, 1)[0]])
        referee = self.referee(self.match.openings[plan.opening])
        return _GameRun(plan, self.match, referee).play(self._launcher)

    def referee(self, opening: Opening) -> Referee:
        """Return the referee of a new game, after the moves of its opening.

        Raises:
            UsageError: the opening is not one.
        """
        rules = self.match.rules
        if self._declared is None:
            return after_opening(REFEREES[rules.game](rules, opening), opening)
        from harness.declared.reference import ReferenceProgram

        told = self._declared.told
        assert isinstance(told, ReferenceProgram)
        if self._reference is None or self._reference[0] != os.getpid():
            self._reference = os.getpid(), ProgramProcess(told.program)
        referee = DeclaredReferee(told.declaration, rules, opening, self._reference[1])
        return after_opening(referee, opening)

    def draw(self, opening: Opening, moves: int, count: int, seed: str) -> tuple[Opening, ...]:
        """Return so many openings, each with so many moves drawn from the legal ones."""
        named = [opening._replace(name=f"drawn {number + 1}") for number in range(count)]
        return tuple(
            draw_opening(self.referee(opening), one, moves, random.Random(f"{seed}/{number}"))
            for number, one in enumerate(named)
        )

    def _launcher(self, color: int, player: Player) -> Launcher:
        case = CaseFile(join_path(player.folder or self.match.place, "match.gtp"), (), ())
        return self._sandboxes[color].launcher(case, player.show, player.submission)

    def try_engines(self) -> None:
        """Start each engine once, and see that it answers.

        Raises:
            UsageError: an engine does not start.
        """
        for player in self.match.players:
            try:
                seat = _Seat(BLACK, player, self.match, self._launcher(BLACK, player))
                with closing(seat.session):
                    seat.session.ask([b"name\n"], [])
            except EngineError as error:
                raise UsageError(f"engine {player.name}: {error}") from None

    def close(self) -> None:
        """End what this process has started for more than one game."""
        for sandbox in self._sandboxes.values():
            sandbox.close()
        if self._reference and self._reference[0] == os.getpid():
            with suppress(HarnessError):
                self._reference[1].close()
        self._reference = None

    @contextmanager
    def dealing_cores(self, games: int) -> Iterator[None]:
        """Give each of the processes that are forked meanwhile cores of its own.

        ``games``: how many are played at a time. With more than there are cores, or with one, the
        system decides, as with more than a byte can number.
        """
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        if not 1 < games <= min(len(cores), 256):
            yield
            return
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.write(write, bytes(range(games)))
        self._cores = read, [cores[place::games] for place in range(games)]
        try:
            yield
        finally:
            self._cores = None
            os.close(read)
            os.close(write)
