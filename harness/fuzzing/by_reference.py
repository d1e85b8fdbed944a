"""A reference as judge: a program that a teacher trusts, asked what the engine was asked.

The moves that an engine chooses are right if the reference plays them, and it goes on from there.
What is not declared is left open: no script has it, and nothing after it is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from harness.declared.allowing import Allowing
from harness.declared.choosing import accepts
from harness.declared.declaration import ASKS, CHOOSES, MOVES, SETS, STARTS, Command, Declaration
from harness.declared.drawing import Drawer
from harness.declared.engine import ReferenceEngine
from harness.declared.following import places, vertex_of
from harness.declared.reference import Reference
from harness.engine.protocols import named
from harness.fuzzing.judging import (
    PROTOCOL,
    Difference,
    Drawing,
    Expected,
    Shows,
    breakdown,
    kind,
    text_of,
)
from harness.judging.equivalence import expression, is_exact, same
from harness.records import Reply
from harness.running import protocol
from harness.specifications.record import Specification
from harness.vocabulary.forms import literally
from harness.vocabulary.script import Script, Trace, lay_files, name_of

_SHOW = "showboard"
_LONGER = 5  # pieces of a conversation for each unit of length, which counts what is in a game


class ByReference:
    """The program of a declared assignment; see ``Judge``."""

    def __init__(
        self,
        specification: Specification,
        reference: Reference,
        folder: Path,
        openings: Sequence[tuple[str, ...]] = (),
    ) -> None:
        """``openings``: conversations that others go on from."""
        self.specification = specification
        self.folder = folder
        self._reference = reference
        self._spoken = named(reference.declaration.game.protocol)
        self._openings = openings
        self._drawn: set[Script] = set()  # of which all is allowed

    def draw(self, shows: Shows, drawing: Drawing) -> Script | None:
        """Draw scripts with the reference's answers; see ``Judge``."""
        random, place = Random(drawing.seed), self._reference.program.folder
        drawer = Drawer(self._reference.declaration, random, place, self._openings)
        self._drawn.clear()
        for _ in range(drawing.most):
            length = random.randint(1, _LONGER * drawing.length)
            script = drawer.draw(length, _Drawn(self._engine(), random).answer)
            self._drawn.add(script)
            if script.commands and shows(script):
                return script
        return None

    def allowed(self, script: Script) -> Script:
        """Return the script without what is left open; see ``Judge``."""
        if script in self._drawn:
            return script
        kept: list[str] = []
        lay_files(script, self.folder)
        walk = _Walk(self._engine(), script)
        for index, command in enumerate(script.commands):
            if walk.allows(command):
                kept.append(command)
                walk.look_ahead(index)
                walk.go_on(index, walk.right(command))
        return Script(tuple(kept), script.files)

    def wrong_answers(self, trace: Trace) -> Iterator[Difference]:
        """Yield where the reference answers otherwise; see ``Judge``."""
        lay_files(trace.script, self.folder)
        walk = _Walk(self._engine(), trace.script, is_known=trace.script in self._drawn)
        for index, command in enumerate(trace.script.commands):
            if not walk.allows(command):
                return  # since the engine has chosen another move than was drawn
            walk.look_ahead(index)
            if index == len(trace.replies):
                yield breakdown(trace, walk.right(command))
                return
            found = self._difference(walk, index, trace.replies[index])
            if found:
                yield found
                if self.specification.commands[name_of(command)].sets_up:
                    return
            walk.go_on(index, trace.replies[index] if not found else walk.right(command))

    def ways(self, trace: Trace, at: int) -> Iterable[Script]:
        """Return the script with the engine's moves as commands that play them; see ``Judge``.

        Before a wrong choice there may be a question already that is answered wrongly.
        """
        declared = self._reference.declaration
        followed = self._followed(trace, at)
        chooses = declared.command(name_of(trace.script.commands[at]))
        if chooses and chooses.plays:
            yield followed._replace(commands=(*followed.commands[:-1], *_questions(declared)))
        yield followed
        yield trace.script

    def _followed(self, trace: Trace, at: int) -> Script:
        """Return the script up to a command, with the moves that were chosen as if drawn."""
        said: list[str] = []
        lay_files(trace.script, self.folder)
        walk = _Walk(self._engine(), trace.script)
        answered = zip(trace.script.commands[:at], trace.replies, strict=False)
        for index, (command, got) in enumerate(answered):
            plays = walk.chooses(command) and walk.plays(command, got)
            said.append(walk.move(command, got) if plays else command)
            walk.go_on(index, got)
        return trace.script._replace(commands=(*said, trace.script.commands[at]))

    def expectations(self, script: Script) -> Iterator[Expected]:
        """Yield what the reference answers; see ``Judge``."""
        last = len(script.commands) - 1
        lay_files(script, self.folder)
        walk = _Walk(self._engine(), script)
        for index, command in enumerate(script.commands):
            right = walk.right(command)
            yield self._expected(walk, command, right, is_last=index == last)
            walk.go_on(index, right)
        if not right.ok:
            for name in _questions(walk.engine.declaration):
                yield self._expected(walk, name, walk.right(name), is_last=True)

    def picture(self, script: Script) -> tuple[str, str]:
        """Return the board as the reference shows it, if it does; see ``Judge``."""
        lay_files(script, self.folder)
        walk = _Walk(self._engine(), script)
        for index, command in enumerate(script.commands[:-1]):
            walk.go_on(index, walk.right(command))
        is_shown = walk.engine.declaration.command(_SHOW) is not None
        return walk.right(_SHOW).text if is_shown else "", ""

    def _expected(self, walk: _Walk, command: str, right: Reply, *, is_last: bool) -> Expected:
        """Return what a case file expects; it cannot expect an error."""
        asked = self.specification
        refused = right.status if walk.engine.refuses(right) else ""
        if not right.ok:
            return Expected(command, None, False, refused)
        if walk.chooses(command):
            told = asked.choices(walk.engine, command) if is_last else ()
            wanted = "|".join(map(literally, told)) or expression(command, right, asked)
            return Expected(command, wanted if is_last else None, is_last)
        is_test = is_last or is_exact(command, asked)
        found = expression(command, right, asked) if is_test else None
        return Expected(command, found, is_test, refused)

    def _difference(self, walk: _Walk, index: int, got: Reply) -> Difference | None:
        command = walk.script.commands[index]
        if breach := protocol.warnings([protocol.own_step(command)], [got], self._spoken):
            return Difference(index, command, PROTOCOL, text_of(walk.right(command)), breach[0])
        if walk.chooses(command) and walk.plays(command, got):
            return None
        right = walk.right(command)
        if walk.chooses(command):
            is_right = accepts(walk.engine, command, right, got)
        else:
            is_right = same(command, right, got, self.specification)
        if is_right:
            return None
        return Difference(
            index, command, _kind(walk.engine, right, got), text_of(right), text_of(got)
        )

    def _engine(self) -> ReferenceEngine:
        return self._reference.engine().in_folder(str(self.folder))


class _Walk:
    """A conversation with the reference, followed as a script and an engine's choices lead it.

    It asks whether the game is over where the script does not: after the end all is left open.
    """

    def __init__(self, engine: ReferenceEngine, script: Script, *, is_known: bool = False) -> None:
        """``is_known``: all of it is allowed, and was asked as it stands."""
        self.engine = engine
        self.script = script
        self._now = Allowing(engine.declaration)
        self._seen = 0  # commands whose replies were asked for in advance
        if is_known and not any(map(self._plays, script.commands)):
            self._seen = len(script.commands)
            engine.expect(script.commands)

    def allows(self, command: str) -> bool:
        return self._now.allows(command)

    def right(self, command: str) -> Reply:
        """Return the reference's reply."""
        return self.engine.right(command)

    def look_ahead(self, index: int) -> None:
        """Ask at once for the replies from a command on up to the next move, if that is new."""
        if index < self._seen:
            return
        ahead: list[str] = []
        for place, command in enumerate(self.script.commands[index:], index):
            self._seen = place + 1
            declared, plays = self._declared(command), self._plays(command)
            if self.allows(command) and not plays:
                ahead.append(command)
            if declared and (declared.kind in (STARTS, SETS, MOVES) or plays):
                ahead += () if plays or self._asks(place + 1) else self._hidden(place)
                break
        self.engine.expect(tuple(ahead))

    def chooses(self, command: str) -> bool:
        declared = self._declared(command)
        return declared is not None and declared.kind == CHOOSES

    def plays(self, command: str, got: Reply) -> bool:
        """Whether a reply is a move that the reference plays, and need not keep anything."""
        declared = self._declared(command)
        if declared is None or declared.keeps or not got.ok or got.text in declared.instead:
            return False
        move = self.move(command, got)
        return bool(move) and not self.engine.refuses(self.right(move))

    def move(self, command: str, got: Reply) -> str:
        """Return the command that plays what was chosen; "" if there is none."""
        return self._now.state.as_move(command, got.text)

    def go_on(self, index: int, reply: Reply) -> None:
        """Go on after the command at an index, which was answered so."""
        command = self.script.commands[index]
        self._hear(command, reply)
        if not self.engine.refuses(reply):
            for question in self._hidden(index):
                self._hear(question, self.right(question))

    def _hidden(self, index: int) -> tuple[str, ...]:
        """Return what is asked after a command because the script does not ask it."""
        declared, over = self._declared(self.script.commands[index]), self._over
        moves = declared is not None and (declared.kind == MOVES or declared.plays)
        is_asked = self.script.commands[index + 1 : index + 2] == (over,)
        return (over,) if over and moves and not is_asked else ()

    def _asks(self, index: int) -> bool:
        """Whether there is a question at an index."""
        declared = self._declared("".join(self.script.commands[index : index + 1]))
        return declared is not None and declared.kind == ASKS

    def _hear(self, command: str, reply: Reply) -> None:
        self.engine.follow(command, reply)
        self._now.hear(command, reply)

    def _plays(self, command: str) -> bool:
        declared = self._declared(command)
        return declared is not None and declared.plays

    def _declared(self, command: str) -> Command | None:
        return self.engine.declaration.command(name_of(command))

    @property
    def _over(self) -> str:
        over = self.engine.declaration.game.over
        return over.ask if over else ""


class _Drawn:
    """The reference's answers to a conversation while it is drawn."""

    def __init__(self, engine: ReferenceEngine, random: Random) -> None:
        self._engine = engine
        self._random = random

    def answer(self, command: str) -> Reply:
        """Return the reply to the next command."""
        declared = self._engine.declaration.command(name_of(command))
        if declared and declared.plays and (chosen := self._chosen(command)):
            return chosen
        if declared and declared.kind == MOVES and (over := self._engine.declaration.game.over):
            self._engine.expect((command, over.ask))
        return self._engine.reply(command)

    def _chosen(self, command: str) -> Reply | None:
        """Return a move for the reference, whose own choice would have to be said once more."""
        state, game = self._engine.session.state, self._engine.declaration.game
        free = [one for one in places(state.size) if one not in state.taken]
        chosen = vertex_of(self._random.choice(free), game) if free else ""
        move = state.as_move(command, chosen)
        if not (chosen and move) or self._engine.refuses(self._engine.right(move)):
            return None
        reply = Reply(True, chosen, f"= {chosen}", 0.0)
        self._engine.follow(command, reply)
        return reply


def _questions(declared: Declaration) -> tuple[str, ...]:
    """Return the questions without arguments whose answers are compared."""
    asks = declared.of_kind(ASKS)
    return tuple(one.name for one in asks if not (one.is_free or one.arguments))


def _kind(engine: ReferenceEngine, right: Reply, got: Reply) -> str:
    """Say in what way two answers differ; a refusal is an error, however it is written."""
    is_refused = engine.refuses(right)
    if is_refused is not engine.refuses(got):
        return "no error" if is_refused else "an error"
    return kind(right, got)
