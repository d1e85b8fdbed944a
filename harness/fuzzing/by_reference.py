"""A reference as judge: a program that a teacher trusts, asked what the engine was asked.

The moves that an engine chooses are right if the reference plays them; it continues from there.
What is not declared is left open: no script has it, and nothing after it is judged.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.core.records import Reply
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import Kind
from harness.declared.engine import ReferenceEngine, accepts
from harness.declared.game_state import AllowedLines, ConversationState
from harness.declared.reference import ReferenceHearing, ReferenceProgram
from harness.engine.protocols import find_protocol
from harness.fuzzing import judges
from harness.fuzzing.drawing import GuessingDrawer
from harness.fuzzing.judges import Drawing, ExpectedCommand, HeardScript, ScriptSearch, WrongReply
from harness.judging.in_process import expression, is_exact, same
from harness.reading.pattern import escape_answer
from harness.running import protocol_facts
from harness.specifications.record import Specification
from harness.vocabulary.script import Script, Trace, lay_files, name_of

_SHOW = "showboard"
_AT_ONCE = 16  # scripts that are sent together
_REMEMBERED = 20_000  # pairs of replies, commands
_MORE = 8  # times as many scripts are drawn as of those that wait for replies: they need a start


def judge_of(
    specification: Specification, folder: Path, openings: Sequence[tuple[str, ...]] = ()
) -> judges.ReplyJudge:
    """Return who judges an engine; ``folder``: where the files lie that scripts name.

    ``openings``: conversations to continue from, where a reference judges.
    """
    if isinstance(specification.truth, ReferenceProgram):
        return ByReference(specification, specification.truth, folder, openings)
    return judges.ByOracle(specification, folder)


class ByReference:
    """The program of a declared assignment; see ``ReplyJudge`` for the public methods."""

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
        self._at_hand: AnsweredScript | None = None  # what is looked at
        self._questions = [one.name for one in reference.declaration.plain_questions]
        self._likeness = Likeness(specification, reference)

    def look(self, search: ScriptSearch, drawing: Drawing) -> None:
        """Draw scripts while the last ones are on their way."""
        drawer = self._drawer(drawing)
        relay = Relay(search, self._likeness, self._reference, str(self.folder))

        def draw_batches() -> Iterator[list[Script]]:
            for _ in range(0, _MORE * drawing.most, _AT_ONCE):
                if search.is_over:
                    return
                batch = []
                for _ in range(_AT_ONCE):
                    batch.append(drawer.draw())
                    relay.go_on()
                yield batch

        for batch in relay.run(draw_batches()):
            for one in batch:
                drawer.learn(one.commands, one.right)
                self._at_hand = one
                if search.has_news(one.script):
                    return
                relay.go_on()

    def _drawer(self, drawing: Drawing) -> GuessingDrawer:
        random, asked = Random(drawing.seed), self._reference
        drawer = Drawer(asked.declaration, random, asked.program.folder, self._openings)
        return GuessingDrawer(drawer, random)

    def draw(self, shows: judges.Shows, drawing: Drawing) -> Script | None:
        """Draw scripts one by one."""
        drawer = self._drawer(drawing)
        drawn = (drawer.draw() for _ in range(drawing.most))
        return next(filter(shows, map(self.cut_to_allowed, drawn)), None)

    def cut_to_allowed(self, script: Script) -> Script:
        """Return the script without what is left open."""
        kept: list[str] = []
        walk = self._walk(script)
        for command in walk:
            if walk.allows(command):
                kept.append(command)
                walk.look_ahead()
                walk.go_on(walk.right_reply())
        return Script(tuple(kept), script.files)

    def find_wrong_answers(self, trace: Trace) -> Iterator[WrongReply]:
        """Yield where the reference answers otherwise.

        Commands that both engines have already answered alike need no second look: a reply that
        the rules leave open is not wrong.
        """
        known = self._at_hand if self._at_hand and self._at_hand.script.trace is trace else None
        if known and self._likeness.is_alike(known):
            return
        walk = self._walk(trace.script)
        if known:
            walk.engine.foresee(known.commands, known.right)
        for index, command in enumerate(walk):
            if not walk.allows(command):
                return  # since it was drawn by guesses, or the engine has chosen otherwise
            walk.look_ahead()
            if index == len(trace.replies):
                yield judges.breakdown(trace, walk.right_reply())
                return
            got = trace.replies[index]
            found = self._difference(walk, got)
            if found:
                yield found
                if self.specification.commands[name_of(command)].sets_up:
                    return
            walk.go_on(walk.right_reply() if found else got)

    def ways(self, trace: Trace, at: int) -> Iterable[Script]:
        """Return the script with the engine's moves as commands that play them.

        Before a wrong choice there may be a question already that is answered wrongly.
        """
        script = trace.script
        last = script.commands[at]
        said: list[str] = []
        walk = self._walk(script)
        for got, command in zip(trace.replies[:at], walk, strict=False):
            said.append(walk.chosen_move(got) or command)
            walk.go_on(got)
        declared = walk.engine.declaration.of_line(last)
        if declared and declared.plays:
            yield script._replace(commands=(*said, *self._questions))
        yield script._replace(commands=(*said, last))
        yield script

    def expectations(self, script: Script) -> Iterator[ExpectedCommand]:
        """Yield what the reference answers."""
        last = len(script.commands) - 1
        walk = self._walk(script)
        for index, command in enumerate(walk):
            right = walk.right_reply()
            yield self._make_expected(walk.engine, command, right, is_last=index == last)
            walk.go_on(right)
        if not right.ok:
            for name in self._questions:
                right = walk.engine.get_right_reply(name)
                yield self._make_expected(walk.engine, name, right, is_last=True)

    def picture(self, script: Script) -> tuple[str, str]:
        """Return the board as the reference shows it, if it does; it gives no reasons."""
        walk = self._walk(script)
        for _ in islice(walk, len(script.commands) - 1):
            walk.go_on(walk.right_reply())
        is_shown = walk.engine.declaration.command(_SHOW) is not None
        return walk.engine.get_right_reply(_SHOW).text if is_shown else "", ""

    def _make_expected(
        self, engine: ReferenceEngine, command: str, right: Reply, *, is_last: bool
    ) -> ExpectedCommand:
        """Return what a case file expects; it cannot expect an error."""
        asked = self.specification
        refused = right.status if engine.refuses(right) else ""
        if not right.ok:
            return ExpectedCommand(command, None, False, refused)
        if self._chooses(command):
            told = asked.choices(engine, command) if is_last else ()
            wanted = "|".join(map(escape_answer, told)) or expression(command, right, asked)
            return ExpectedCommand(command, wanted if is_last else None, is_last)
        is_test = is_last or is_exact(command, asked)
        found = expression(command, right, asked) if is_test else None
        return ExpectedCommand(command, found, is_test, refused)

    def _difference(self, walk: "_ReferenceWalk", got: Reply) -> WrongReply | None:
        engine, command = walk.engine, walk.command
        step = protocol_facts.own_step(command)
        if breach := protocol_facts.warnings([step], [got], self._spoken):
            wanted = judges.text_of(walk.right_reply())
            return WrongReply(walk.index, command, judges.PROTOCOL, wanted, breach[0])
        if walk.chosen_move(got):
            return None
        right = walk.right_reply()
        if self._chooses(command):
            is_right = accepts(engine, command, right, got)
        else:
            is_right = same(command, right, got, self.specification)
        if is_right:
            return None
        what = judges.kind(right, got)
        if (is_refused := engine.refuses(right)) is not engine.refuses(got):
            what = "no error" if is_refused else "an error"  # however the refusal is written
        return WrongReply(walk.index, command, what, judges.text_of(right), judges.text_of(got))

    def _chooses(self, command: str) -> bool:
        declared = self._reference.declaration.of_line(command)
        return declared is not None and declared.kind == Kind.CHOOSES

    def _walk(self, script: Script) -> "_ReferenceWalk":
        """Return a walk that begins, with the files in place that the script names."""
        lay_files(script, self.folder)
        return _ReferenceWalk(self._reference.engine().in_folder(str(self.folder)), script)


class _ReferenceWalk:
    """A conversation with the reference, followed as a script and an engine's choices lead it.

    To iterate gives the script's commands; each is either left out or followed by :meth:`go_on`.
    The walk asks whether the game is over where the script does not: after the end all is left
    open.

    Attributes: ``command``, the one that it stands before, and ``index``, its place.
    """

    def __init__(self, engine: ReferenceEngine, script: Script) -> None:
        self.engine = engine
        self.index, self.command = 0, ""
        self._commands = script.commands
        self._now = AllowedLines(engine.declaration)
        self._seen = 0  # commands whose replies were asked for in advance

    def __iter__(self) -> Iterator[str]:
        for index, command in enumerate(self._commands):
            self.index, self.command = index, command
            yield command

    def allows(self, command: str) -> bool:
        return self._now.allows(command)

    def right_reply(self) -> Reply:
        """Return the reference's reply."""
        return self.engine.get_right_reply(self.command)

    def look_ahead(self) -> None:
        """Ask at once for the replies from the command on up to the next move, if that is new."""
        if self.index < self._seen or self.engine.ahead:
            return
        ahead: list[str] = []
        for place, command in enumerate(self._commands[self.index :], self.index):
            self._seen = place + 1
            declared = self.engine.declaration.of_line(command)
            plays = declared is not None and declared.plays
            if self.allows(command) and not plays:
                ahead.append(command)
            if plays:
                break
            if declared and declared.kind in (Kind.STARTS, Kind.SETS, Kind.MOVES):
                following = self.engine.declaration.of_line(self._at(place + 1))
                if not (following and following.kind == Kind.ASKS):
                    ahead += self._list_hidden(place)
                break
        self.engine.expect(tuple(ahead))

    def chosen_move(self, got: Reply) -> str:
        """Return the command that plays what an engine chose, if the reference plays it.

        Where no move was to be chosen, or something is to be kept beside it, that is "".
        """
        declared = self.engine.declaration.of_line(self.command)
        if declared is None or declared.kind != Kind.CHOOSES or declared.keeps:
            return ""
        if not got.ok or got.text in declared.instead:
            return ""
        move = self._now.state.as_move(self.command, got.text)
        is_played = move and not self.engine.refuses(self.engine.get_right_reply(move))
        return move if is_played else ""

    def go_on(self, reply: Reply) -> None:
        """Continue after the command, which was answered so."""
        self._hear(self.command, reply)
        if not self.engine.refuses(reply):
            for question in self._list_hidden(self.index):
                self._hear(question, self.engine.get_right_reply(question))

    def _list_hidden(self, index: int) -> tuple[str, ...]:
        """Return what is asked after a command because the script does not ask it."""
        over = self.engine.declaration.game.over
        declared = self.engine.declaration.of_line(self._at(index))
        moves = declared is not None and (declared.kind == Kind.MOVES or declared.plays)
        return (over.ask,) if over and moves and self._at(index + 1) != over.ask else ()

    def _at(self, index: int) -> str:
        """Return the command at an index; "" after the last one."""
        return self._commands[index] if index < len(self._commands) else ""

    def _hear(self, command: str, reply: Reply) -> None:
        self.engine.follow(command, reply)
        self._now.observe(command, reply)


# --- Batches on their way: to the engine, then to the reference, then to be judged ---------------
# Both are at work at the same time, and beside the harness: while the engine answers one batch,
# the reference answers the one before, with the moves that the engine has chosen there; and the
# one before that is judged, and the next one is drawn.


class AnsweredScript(NamedTuple):
    """A script that both have answered."""

    script: HeardScript
    commands: tuple[str, ...]  # what the reference was asked: moves instead of choices
    right: tuple[Reply, ...]  # its replies


class Relay:
    """Hands batches on."""

    def __init__(
        self, search: ScriptSearch, likeness: "Likeness", reference: ReferenceProgram, folder: str
    ) -> None:
        """``folder``: where the files lie that scripts name."""
        self._search = search
        self._likeness = likeness
        self._reference = reference
        self._folder = folder
        self._under_way: tuple[judges.SentScripts | ReferenceHearing, ...] = ()

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        for one in self._under_way:
            one.go_on()

    def run(self, batches: Iterator[Sequence[Script]]) -> Iterator[list[AnsweredScript]]:
        """Yield each batch when both have answered it; the last but one is drawn by then."""
        sent: judges.SentScripts | None = None  # to the engine
        # What the engine has answered and is under way to the reference: also as that is asked it.
        asked: tuple[list[HeardScript], list[tuple[str, ...]], ReferenceHearing] | None = None
        batch: Sequence[Script] = next(batches, ())
        while batch or sent or asked:
            heard = list(sent.collect()) if sent else []
            answered = []
            if asked:
                scripts, commands, hearing = asked
                rows = zip(scripts, commands, hearing.replies(), strict=True)
                answered = [AnsweredScript(*row) for row in rows]
            sent = self._search.begin(batch) if batch else None
            asked = None
            if heard:
                commands = [self._likeness.list_asked_commands(one.trace) for one in heard]
                asked = heard, commands, self._reference.begin(commands, self._folder)
            pair = sent, asked and asked[-1]
            self._under_way = tuple(one for one in pair if one)
            yield answered
            batch = next(batches, ())


class Likeness:
    """Whether an engine answered a whole script as the reference did: cheap, and nearly always so.

    No state is followed here. Where anything differs, :class:`ByReference` follows the
    conversation and sees whether that is wrong.
    """

    def __init__(self, specification: Specification, reference: ReferenceProgram) -> None:
        declaration = reference.declaration
        playing = {one.name: one for one in declaration.commands if one.plays}
        self._find_playing = lru_cache(_REMEMBERED)(lambda command: playing.get(name_of(command)))
        self._chooses = {one.name for one in declaration.of_kind(Kind.CHOOSES)}
        self._specification = specification
        self._refuses = reference.program.refuses
        self._spoken = find_protocol(declaration.game.protocol)
        self._state = ConversationState(declaration)
        self._known: dict[tuple[str, str, str], bool] = {}
        self._clean: set[str] = set()  # replies that keep to the protocol

    def list_asked_commands(self, trace: Trace) -> tuple[str, ...]:
        """Return a script as the reference is asked it: with the moves that the engine chose.

        Where neither says whose move it is, it may be the wrong one: then the answers are not
        alike.
        """
        told = list(trace.script.commands)
        for index, (command, got) in enumerate(zip(told, trace.replies, strict=False)):
            declared = self._find_playing(command)
            if declared is None or declared.keeps or got.text in declared.instead:
                continue
            if not self._refuses(got):
                told[index] = self._state.as_move(command, got.text) or command
        return tuple(told)

    def is_alike(self, exchange: AnsweredScript) -> bool:
        """Whether all answers are right if those of the reference are."""
        trace = exchange.script.trace
        if trace.failure or trace.has_surplus:
            return False
        rows = zip(
            trace.script.commands, exchange.commands, exchange.right, trace.replies, strict=True
        )
        clean = self._clean
        for command, said, right, got in rows:
            # By their places, and not their names: there are millions of them.
            is_equal = said is command and right[2] == got[2] and got[2] in clean
            if (not is_equal or got[4]) and not self._is_right(command, said, right, got):
                return False
        return True

    def _is_right(self, command: str, asked_command: str, right: Reply, got: Reply) -> bool:
        is_move = asked_command != command
        if is_move and self._refuses(right):
            return False  # a move that the reference does not play
        key = command, "" if is_move else right.raw, got.raw
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
                self._clean.clear()
            if is_move:
                found = True
            elif name_of(command) in self._chooses:
                found = right.raw == got.raw
            else:
                found = same(command, right, got, self._specification)
            # Does it keep to the protocol, if nothing comes before it?
            step = protocol_facts.own_step(command)
            found = found and not protocol_facts.warnings([step], [got], self._spoken)
            self._known[key] = found
        if found and right.raw == got.raw:
            self._clean.add(got.raw)
        return found and not got.invalid
