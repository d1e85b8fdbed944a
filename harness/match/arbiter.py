"""What plays single games: the sandboxes, the referee and the core of each."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from harness.errors import HarnessError
from harness.file_system import join_path
from harness.match.game import play_game
from harness.match.records import GO, GOMOKU, Game, Match, Opening, Plan, Player, Rules
from harness.match.referee import GomokuReferee, GoReferee, Referee, after_opening, draw_opening
from harness.records import CaseFile
from harness.running.runs import sandbox_for
from harness.specifications import EVERYONES
from oracle.position import BLACK, WHITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.declared.program_process import ProgramProcess
    from harness.engine.launch import Launcher
    from harness.specifications.record import Specification

_OF_ORACLE: dict[str, Callable[[Rules, Opening], Referee]] = {GO: GoReferee, GOMOKU: GomokuReferee}


class Arbiter:
    """Plays the games of a match, each when it is told to, in whichever process."""

    def __init__(
        self, match: Match, declared: Specification | None = None, hidden: Iterable[str] = ()
    ) -> None:
        """``declared``: of the game, if its reference is the referee. ``hidden``: files that no
        engine sees.

        Raises:
            SandboxError: there is no such sandbox here.
        """
        self.match = match
        self._declared = declared
        unseen = [CaseFile(path, (), ()) for path in hidden]
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
        """Play a game; see :func:`~harness.match.game.play_game`."""
        self._take_cores()
        referee = self.referee(self.match.openings[plan.opening])
        seating = {color: partial(self.launcher, color) for color in self._sandboxes}
        return play_game(plan, self.match, referee, seating)

    def referee(self, opening: Opening) -> Referee:
        """Return the referee of a new game, after the moves of its opening.

        Raises:
            UsageError: the opening is not one.
        """
        rules = self.match.rules
        if self._declared is None:
            return after_opening(_OF_ORACLE[rules.game](rules, opening), opening)
        from harness.declared.reference import ReferenceProgram
        from harness.match.declared_referee import DeclaredReferee

        told = self._declared.told
        assert isinstance(told, ReferenceProgram)
        declared = DeclaredReferee(told.declaration, rules, opening, self._ask(told))
        return after_opening(declared, opening)

    def _ask(self, told: object) -> ProgramProcess:
        """Return the reference of this process."""
        from harness.declared.program_process import ProgramProcess

        if self._reference is None or self._reference[0] != os.getpid():
            self._reference = os.getpid(), ProgramProcess(told.program)  # type: ignore[attr-defined]
        return self._reference[1]

    def draw(self, opening: Opening, moves: int, count: int, seed: str) -> tuple[Opening, ...]:
        """Return so many openings, each with so many moves drawn from the legal ones."""
        return tuple(
            draw_opening(
                self.referee(opening),
                opening._replace(name=f"drawn {number + 1}"),
                moves,
                random.Random(f"{seed}/{number}"),
            )
            for number in range(count)
        )

    def launcher(self, color: int, player: Player) -> Launcher:
        """Return what starts a player's engine."""
        folder = player.folder or self.match.place
        case = CaseFile(join_path(folder, "match.gtp"), (), ())
        return self._sandboxes[color].launcher(case, player.show, player.submission)

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
        system decides.
        """
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        if not 1 < games <= len(cores):
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

    def _take_cores(self) -> None:
        if self._cores is None or self._placed == os.getpid():
            return
        self._placed = os.getpid()
        place, shares = self._cores
        with suppress(OSError):  # nothing is left after a process has died: the system decides
            os.sched_setaffinity(0, shares[os.read(place, 1)[0]])
