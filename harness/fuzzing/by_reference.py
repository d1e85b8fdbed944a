"""Batches of scripts on their way: to the engine, then to the reference, then to be judged.

Both are at work at the same time, and beside the harness: while the engine answers one batch, the
reference answers the one before, with the moves that the engine has chosen there; and the one
before that is judged, and the next one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import Declaration, DeclaredCommand, Kind
from harness.declared.engine import ReferenceEngine, accepts
from harness.declared.game_state import Allowing, ConversationState
from harness.declared.reference import ReferenceProgram
from harness.engine.protocols import find_protocol
from harness.fuzzing.drawing import Unasked
from harness.fuzzing.judges import (
    PROTOCOL,
    ByOracle,
    Drawing,
    Expected,
    HeardScript,
    ReplyJudge,
    ScriptSearch,
    SentScripts,
    Shows,
    WrongReply,
    breakdown,
    kind,
    text_of,
)
from harness.judging.in_process import expression, is_exact, same
from harness.records import Reply
from harness.running import protocol_facts
from harness.specifications.record import Specification
from harness.vocabulary.answer_forms import literally
from harness.vocabulary.script import Script, Trace, lay_files, name_of


def judge_of(
    specification: Specification, folder: Path, openings: Sequence[tuple[str, ...]] = ()
) -> ReplyJudge:
    """Return who judges an engine; ``folder``: where the files lie that scripts name.

    ``openings``: conversations to continue from, where a reference judges.
    """
    if isinstance(specification.truth, ReferenceProgram):
        return ByReference(specification, specification.truth, folder, openings)
    return ByOracle(specification, folder)


class Replies(Protocol):
    """Conversations under way to a reference."""

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""

    def replies(self) -> list[tuple[Reply, ...]]:
        """Wait, and return the right replies to each conversation."""


class Answered(NamedTuple):
    """A script that both have answered."""

    heard: HeardScript
    said: tuple[str, ...]  # what the reference was asked: moves instead of choices
    right: tuple[Reply, ...]  # its replies


class Relay:
    """Hands batches on."""

    def __init__(
        self,
        looking: ScriptSearch,
        said: Callable[[Trace], tuple[str, ...]],
        begin: Callable[[Sequence[tuple[str, ...]]], Replies],
    ) -> None:
        """``said``: what the reference is asked. ``begin``: asks it, and does not wait."""
        self._looking = looking
        self._said = said
        self._begin = begin
        self._asked: SentScripts | None = None
        self._told: Replies | None = None

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        if self._asked:
            self._asked.go_on()
        if self._told:
            self._told.go_on()

    def run(self, batches: Iterator[Sequence[Script]]) -> Iterator[list[Answered]]:
        """Yield each batch when both have answered it; the last but one is drawn by then."""
        before: list[tuple[HeardScript, tuple[str, ...]]] = []
        batch: Sequence[Script] = next(batches, ())
        while batch or self._asked or self._told:
            heard = list(self._asked.collect()) if self._asked else []
            right = self._told.replies() if self._told else []
            self._asked = self._looking.begin(batch) if batch else None
            both = [(one, self._said(one.trace)) for one in heard]
            self._told = self._begin([said for _, said in both]) if both else None
            yield [Answered(*one, replies) for one, replies in zip(before, right, strict=True)]
            before, batch = both, next(batches, ())


# --- Whether an engine answered a whole script as the reference did: cheap, and nearly always so
# No state is followed here. Where anything differs, :mod:`~harness.fuzzing.by_reference` follows
# the conversation and sees whether that is wrong.


_REMEMBERED = 20_000  # pairs of replies, commands


class _Plays(dict[str, DeclaredCommand | None]):
    """The declarations of commands that choose and play, by whole commands; None for others."""

    def __init__(self, declaration: Declaration) -> None:
        super().__init__()
        self._plays = {one.name: one for one in declaration.commands if one.plays}

    def __missing__(self, command: str) -> DeclaredCommand | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[command] = self._plays.get(name_of(command))
        return found


class Likeness:
    """Compares with one reference."""

    def __init__(self, specification: Specification, reference: ReferenceProgram) -> None:
        self._specification = specification
        self._reference = reference
        declaration = reference.declaration
        self._spoken = find_protocol(declaration.game.protocol)
        self._plays = _Plays(declaration)
        self._chooses = {one.name for one in declaration.commands if one.kind == Kind.CHOOSES}
        self._state = ConversationState(declaration)
        self._known: dict[tuple[str, str, str], bool] = {}
        self._clean: set[str] = set()  # replies that keep to the protocol

    def list_asked_commands(self, trace: Trace) -> tuple[str, ...]:
        """Return a script as the reference is asked it: with the moves that the engine chose."""
        commands, plays, replies = trace.script.commands, self._plays, trace.replies
        found = [index for index, command in enumerate(commands) if plays[command]]
        if not found:
            return commands
        told = list(commands)
        for index in found:
            got = replies[index] if index < len(replies) else None
            told[index] = self._move(commands[index], got) or commands[index]
        return tuple(told)

    def _move(self, command: str, got: Reply | None) -> str:
        """Return the command that plays what was chosen in reply to one; "" if none does.

        Where neither says whose move it is, it may be the wrong one: then the answers are not
        alike.
        """
        declared = self._plays[command]
        if declared is None or got is None or self._is_no_move(declared, got):
            return ""
        return self._state.as_move(command, got.text)

    def _is_no_move(self, declared: DeclaredCommand, got: Reply) -> bool:
        is_none = bool(declared.keeps) or got.text in declared.instead
        return is_none or self._reference.program.refuses(got)

    def is_alike(self, answered: Answered) -> bool:
        """Whether all answers are right if those of the reference are."""
        trace = answered.heard.trace
        if trace.failure or trace.has_surplus:
            return False
        rows = zip(
            trace.script.commands, answered.said, answered.right, trace.replies, strict=True
        )
        clean = self._clean
        for command, said, right, got in rows:
            # By their places, and not their names: there are millions of them.
            is_equal = said is command and right[2] == got[2] and got[2] in clean
            if (not is_equal or got[4]) and not self._is_right(command, said, right, got):
                return False
        return True

    def _is_right(self, command: str, said: str, right: Reply, got: Reply) -> bool:
        if said != command and self._reference.program.refuses(right):
            return False  # a move that the reference does not play
        key = command, right.raw if said == command else "", got.raw
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
                self._clean.clear()
            is_same = said != command or self._is_same(command, right, got)
            found = self._known[key] = is_same and self._is_clean(command, got)
        if found and right.raw == got.raw:
            self._clean.add(got.raw)
        return found and not got.invalid

    def _is_same(self, command: str, right: Reply, got: Reply) -> bool:
        if name_of(command) in self._chooses:
            return right.raw == got.raw
        return same(command, right, got, self._specification)

    def _is_clean(self, command: str, got: Reply) -> bool:
        """Whether a reply keeps to the protocol, if nothing comes before it."""
        return not protocol_facts.warnings([protocol_facts.own_step(command)], [got], self._spoken)


# --- A reference as judge: a program that a teacher trusts, asked what the engine was asked ------
# The moves that an engine chooses are right if the reference plays them; it continues from there.
# What is not declared is left open: no script has it, and nothing after it is judged.


_SHOW = "showboard"
_AT_ONCE = 16  # scripts that are sent together
_MORE = 8  # times as many scripts are drawn as of those that wait for replies: they need a start


class ByReference:
    """The program of a declared assignment; see ``Judge``."""

    def __init__(
        self,
        specification: Specification,
        reference: ReferenceProgram,
        folder: Path,
        openings: Sequence[tuple[str, ...]] = (),
    ) -> None:
        """``openings``: conversations that others continue from."""
        self.specification = specification
        self.folder = folder
        self._reference = reference
        self._spoken = find_protocol(reference.declaration.game.protocol)
        self._openings = openings
        self._at_hand: Answered | None = None  # what is looked at
        self._likeness = Likeness(specification, reference)

    def look(self, looking: ScriptSearch, drawing: Drawing) -> None:
        """Draw scripts while the last ones are on their way; see ``Judge``."""
        drawer = self._drawer(Random(drawing.seed))
        relay = Relay(looking, self._likeness.list_asked_commands, self._begin)
        for batch in relay.run(self._batches(drawer, drawing, looking, relay)):
            for one in batch:
                drawer.learn(one.said, one.right)
                self._at_hand = one
                if looking.has_news(one.heard):
                    return
                relay.go_on()

    def _batches(
        self, drawer: Unasked, drawing: Drawing, looking: ScriptSearch, relay: Relay
    ) -> Iterator[list[Script]]:
        for _ in range(0, _MORE * drawing.most, _AT_ONCE):
            if looking.is_over:
                return
            batch = []
            for _ in range(_AT_ONCE):
                batch.append(drawer.draw())
                relay.go_on()
            yield batch

    def _drawer(self, random: Random) -> Unasked:
        asked = self._reference
        drawer = Drawer(asked.declaration, random, asked.program.folder, self._openings)
        return Unasked(drawer, random)

    def _begin(self, conversations: Sequence[tuple[str, ...]]) -> Replies:
        return self._reference.begin(conversations, str(self.folder))

    def draw(self, shows: Shows, drawing: Drawing) -> Script | None:
        """Draw scripts one by one; see ``Judge``."""
        drawer = self._drawer(Random(drawing.seed))
        drawn = (drawer.draw() for _ in range(drawing.most))
        return next(filter(shows, map(self.cut_to_allowed, drawn)), None)

    def cut_to_allowed(self, script: Script) -> Script:
        """Return the script without what is left open; see ``Judge``."""
        kept: list[str] = []
        lay_files(script, self.folder)
        walk = _ReferenceWalk(self._engine(), script)
        for index, command in enumerate(script.commands):
            if walk.allows(command):
                kept.append(command)
                walk.look_ahead(index)
                walk.go_on(index, walk.get_right_reply(command))
        return Script(tuple(kept), script.files)

    def find_wrong_answers(self, trace: Trace) -> Iterator[WrongReply]:
        """Yield where the reference answers otherwise; see ``Judge``.

        Commands that both engines have already answered alike need no second look: a reply that
        the rules leave open is not wrong.
        """
        known = self._at_hand if self._at_hand and self._at_hand.heard.trace is trace else None
        if known and self._likeness.is_alike(known):
            return
        engine = self._engine()
        if known:
            engine.foresee(known.said, known.right)
        lay_files(trace.script, self.folder)
        walk = _ReferenceWalk(engine, trace.script)
        for index, command in enumerate(trace.script.commands):
            if not walk.allows(command):
                return  # since it was drawn by guesses, or the engine has chosen otherwise
            walk.look_ahead(index)
            if index == len(trace.replies):
                yield breakdown(trace, walk.get_right_reply(command))
                return
            found = self._difference(walk, index, trace.replies[index])
            if found:
                yield found
                if self.specification.commands[name_of(command)].sets_up:
                    return
            walk.go_on(index, trace.replies[index] if not found else walk.get_right_reply(command))

    def ways(self, trace: Trace, at: int) -> Iterable[Script]:
        """Return the script with the engine's moves as commands that play them; see ``Judge``.

        Before a wrong choice there may be a question already that is answered wrongly.
        """
        declared = self._reference.declaration
        said: list[str] = []
        lay_files(trace.script, self.folder)
        walk = _ReferenceWalk(self._engine(), trace.script)
        answered = zip(trace.script.commands[:at], trace.replies, strict=False)
        for index, (command, got) in enumerate(answered):
            plays = walk.chooses(command) and walk.plays(command, got)
            said.append(walk.move(command, got) if plays else command)
            walk.go_on(index, got)
        followed = trace.script._replace(commands=(*said, trace.script.commands[at]))
        chooses = declared.command(name_of(trace.script.commands[at]))
        if chooses and chooses.plays:
            yield followed._replace(commands=(*followed.commands[:-1], *_questions(declared)))
        yield followed
        yield trace.script

    def expectations(self, script: Script) -> Iterator[Expected]:
        """Yield what the reference answers; see ``Judge``."""
        last = len(script.commands) - 1
        lay_files(script, self.folder)
        walk = _ReferenceWalk(self._engine(), script)
        for index, command in enumerate(script.commands):
            right = walk.get_right_reply(command)
            yield self._make_expected(walk, command, right, is_last=index == last)
            walk.go_on(index, right)
        if not right.ok:
            for name in _questions(walk.engine.declaration):
                yield self._make_expected(walk, name, walk.get_right_reply(name), is_last=True)

    def picture(self, script: Script) -> tuple[str, str]:
        """Return the board as the reference shows it, if it does; see ``Judge``."""
        lay_files(script, self.folder)
        walk = _ReferenceWalk(self._engine(), script)
        for index, command in enumerate(script.commands[:-1]):
            walk.go_on(index, walk.get_right_reply(command))
        is_shown = walk.engine.declaration.command(_SHOW) is not None
        return walk.get_right_reply(_SHOW).text if is_shown else "", ""

    def _make_expected(
        self, walk: _ReferenceWalk, command: str, right: Reply, *, is_last: bool
    ) -> Expected:
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

    def _difference(self, walk: _ReferenceWalk, index: int, got: Reply) -> WrongReply | None:
        command = walk.script.commands[index]
        if breach := protocol_facts.warnings(
            [protocol_facts.own_step(command)], [got], self._spoken
        ):
            return WrongReply(
                index, command, PROTOCOL, text_of(walk.get_right_reply(command)), breach[0]
            )
        if walk.chooses(command) and walk.plays(command, got):
            return None
        right = walk.get_right_reply(command)
        if walk.chooses(command):
            is_right = accepts(walk.engine, command, right, got)
        else:
            is_right = same(command, right, got, self.specification)
        if is_right:
            return None
        return WrongReply(
            index, command, _kind(walk.engine, right, got), text_of(right), text_of(got)
        )

    def _engine(self) -> ReferenceEngine:
        return self._reference.engine().in_folder(str(self.folder))


class _ReferenceWalk:
    """A conversation with the reference, followed as a script and an engine's choices lead it.

    It asks whether the game is over where the script does not: after the end all is left open.
    """

    def __init__(self, engine: ReferenceEngine, script: Script) -> None:
        self.engine = engine
        self.script = script
        self._now = Allowing(engine.declaration)
        self._seen = 0  # commands whose replies were asked for in advance

    def allows(self, command: str) -> bool:
        return self._now.allows(command)

    def get_right_reply(self, command: str) -> Reply:
        """Return the reference's reply."""
        return self.engine.get_right_reply(command)

    def look_ahead(self, index: int) -> None:
        """Ask at once for the replies from a command on up to the next move, if that is new."""
        if index < self._seen or self.engine.foresees:
            return
        ahead: list[str] = []
        for place, command in enumerate(self.script.commands[index:], index):
            self._seen = place + 1
            declared, plays = self._find_declared(command), self._plays(command)
            if self.allows(command) and not plays:
                ahead.append(command)
            if declared and (declared.kind in (Kind.STARTS, Kind.SETS, Kind.MOVES) or plays):
                ahead += () if plays or self._asks(place + 1) else self._list_hidden(place)
                break
        self.engine.expect(tuple(ahead))

    def chooses(self, command: str) -> bool:
        declared = self._find_declared(command)
        return declared is not None and declared.kind == Kind.CHOOSES

    def plays(self, command: str, got: Reply) -> bool:
        """Whether a reply is a move that the reference plays, and need not keep anything."""
        declared = self._find_declared(command)
        if declared is None or declared.keeps or not got.ok or got.text in declared.instead:
            return False
        move = self.move(command, got)
        return bool(move) and not self.engine.refuses(self.get_right_reply(move))

    def move(self, command: str, got: Reply) -> str:
        """Return the command that plays the chosen move, or ""."""
        return self._now.state.as_move(command, got.text)

    def go_on(self, index: int, reply: Reply) -> None:
        """Continue after the command at an index, which was answered so."""
        command = self.script.commands[index]
        self._hear(command, reply)
        if not self.engine.refuses(reply):
            for question in self._list_hidden(index):
                self._hear(question, self.get_right_reply(question))

    def _list_hidden(self, index: int) -> tuple[str, ...]:
        """Return what is asked after a command because the script does not ask it."""
        declared, over = self._find_declared(self.script.commands[index]), self._over
        moves = declared is not None and (declared.kind == Kind.MOVES or declared.plays)
        is_asked = self.script.commands[index + 1 : index + 2] == (over,)
        return (over,) if over and moves and not is_asked else ()

    def _asks(self, index: int) -> bool:
        """Whether there is a question at an index."""
        declared = self._find_declared("".join(self.script.commands[index : index + 1]))
        return declared is not None and declared.kind == Kind.ASKS

    def _hear(self, command: str, reply: Reply) -> None:
        self.engine.follow(command, reply)
        self._now.observe(command, reply)

    def _plays(self, command: str) -> bool:
        declared = self._find_declared(command)
        return declared is not None and declared.plays

    def _find_declared(self, command: str) -> DeclaredCommand | None:
        return self.engine.declaration.command(name_of(command))

    @property
    def _over(self) -> str:
        over = self.engine.declaration.game.over
        return over.ask if over else ""


def _questions(declared: Declaration) -> tuple[str, ...]:
    """Return the questions without arguments whose answers are compared."""
    asks = declared.of_kind(Kind.ASKS)
    return tuple(one.name for one in asks if not (one.is_free or one.arguments))


def _kind(engine: ReferenceEngine, right: Reply, got: Reply) -> str:
    """Say in what way two answers differ; a refusal is an error, however it is written."""
    is_refused = engine.refuses(right)
    if is_refused is not engine.refuses(got):
        return "no error" if is_refused else "an error"
    return kind(right, got)
