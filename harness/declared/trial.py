"""The trial of a declaration before it judges anybody: what was counted, without a judgement."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.declared.commands import is_sized, refuses
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import ASKS, CHOOSES, MOVES, STARTS, Declaration, DeclaredCommand
from harness.declared.engine import ReferenceEngine, accepts
from harness.declared.game_state import ConversationState
from harness.declared.probes import LISTERS, TRIED, is_about_engine, names_in, sample
from harness.declared.program_process import ProgramProcess, ProgramStart, conversation
from harness.declared.reference import find_unlisted_files
from harness.errors import EngineError
from harness.judging.in_process import same
from harness.records import Reply
from harness.specifications.record import Specification

AskProgram = Callable[[tuple[str, ...]], tuple[Reply, ...]]  # what a program answers


class TrialDeclaration(NamedTuple):
    """The declaration that is tried."""

    declaration: Declaration
    specification: Specification  # made of it
    folder: Path  # in which it lies


class ObservedExchange(NamedTuple):
    """A command as the reference was asked it."""

    said: tuple[str, ...]  # before it
    command: str
    reply: Reply
    line: str  # how the conversation has it: a choice as the move that it is
    is_bad: bool  # it was meant to be refused

    @property
    def name(self) -> str:
        """The command's name."""
        return self.command.partition(" ")[0]

    @property
    def is_choice(self) -> bool:
        """Whether the conversation has what was chosen in its place."""
        return self.line != self.command


class ReplyPair(NamedTuple):
    """A reply of the reference and one of another engine."""

    right: Reply
    got: Reply
    is_same: bool


class CommandTally:
    """The observations of one command."""

    def __init__(self) -> None:
        self.asked = 0
        self.right = 0  # of those, with arguments that should be right
        self.refused = 0  # of the right ones
        self.bad: dict[str, list[int]] = {}  # by template: times asked, times refused
        self.texts: Counter[str] = Counter()  # of replies that say all is well
        self.refusal = ""  # the first
        self.errors = 0  # refusals that are errors of the protocol
        self.pairs: dict[str, list[ReplyPair]] = {}  # by engine
        self.unlike_itself = 0  # times that a new process of the reference answered otherwise
        self.changed = 0  # times that later replies were others without it
        self.own_refused: Counter[str] = Counter()  # its own choices that its play refuses
        self.played_twice = 0  # times that its choice could be played after it

    def keep(self, engine: str, pair: ReplyPair) -> None:
        """Take a reply of another engine."""
        self.pairs.setdefault(engine, []).append(pair)


class ObservedQuestion(NamedTuple):
    """The reference alone, and engines that agree with each other."""

    said: tuple[str, ...]
    command: str
    right: str
    got: str
    engines: int


class Observed:
    """All that was seen."""

    def __init__(self, names: Iterable[str]) -> None:
        self.tallies = {name: CommandTally() for name in names}
        self.conversations = 0
        self.ends = 0  # times that a game was over
        # By a question and its reply: moves that were refused and accepted right after it.
        self.moves_after: dict[tuple[str, str], list[int]] = {}
        self.sizes_refused: list[str] = []
        self.second_stones = [0, 0]  # of one color in a row: asked, refused
        self.listed: tuple[str, ...] = ()  # commands that the reference says it knows
        self.unused: list[str] = []  # of those, accepted ones that are not declared
        self.broken: Counter[str] = Counter()  # conversations that ended an engine
        self.questions: list[ObservedQuestion] = []
        self.unfollowed: list[str] = []  # what the reference names and its answers are kept beside


# --- The trial: the reference, new processes of it and other engines
# What is asked is drawn (:mod:`~harness.declared.conversation_drawing`), changed and counted.


_LENGTHS = (6, 12, 6, 80)  # moves, questions and the like of conversations, in turn
_FRESH = 20  # conversations that a new process of the reference is asked
_PROBED = 30  # conversations whose changes are asked about


class Observer:
    """Tries a declaration."""

    def __init__(
        self,
        tried: TrialDeclaration,
        seed: int,
        fresh: AskProgram,
        engines: Mapping[str, AskProgram],
    ) -> None:
        """``fresh``: a new process of the reference for each conversation. ``engines``: others, by
        name.
        """
        declaration = self._declaration = tried.declaration
        self._specification = tried.specification
        self._drawer = _Noting(declaration, Random(seed), tried.folder)
        self._fresh = fresh
        self._engines = engines
        self._refuses = refuses(declaration.game)
        self.seen = Observed(one.name for one in declaration.commands)
        self._prober = Prober(self.seen, self._drawer, tried.specification, self._same)

    def begin(self) -> None:
        """Ask what is asked once.

        Raises:
            ReferenceFailedError: the reference does not answer.
        """
        self._prober.begin()
        self._find_unused()

    def _find_unused(self) -> None:
        """Try the commands that are not declared: what is refused is nobody's loss."""
        game, known = self._declaration.game, self._declaration.command
        names = [one for one in self.seen.listed if not (known(one) or is_about_engine(one))]
        opening = tuple(self._drawer.opening(ConversationState(self._declaration)))
        for shape in TRIED if names else ():
            words = [sample(one, game) for one in shape]
            lines = tuple(" ".join([name, *words]) for name in names)
            replies = self._fresh((*opening, *lines))[len(opening) :]
            self.seen.unused += [
                name
                for name, reply in zip(names, replies, strict=False)
                if name not in self.seen.unused and not self._refuses(reply)
            ]

    def observe(self) -> None:
        """Try one conversation; raises as :meth:`begin`."""
        heard = self._draw()
        self.seen.conversations += 1
        self._count(heard)
        self._follow_moves(heard)
        said = [one for one in heard if one.line]
        if self.seen.conversations <= _FRESH:
            self._against_itself(said)
        self._against_engines(said)
        if self.seen.conversations <= _PROBED:
            self._prober.probe(said)

    def _draw(self) -> list[ObservedExchange]:
        engine = self._specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        heard: list[ObservedExchange] = []

        def answer(command: str) -> Reply:
            said = engine.said
            reply = engine.reply(command)
            line = " ".join(engine.said[len(said) :])
            heard.append(
                ObservedExchange(said, command, reply, line, command in self._drawer.wrong)
            )
            return reply

        self._drawer.wrong.clear()
        self._drawer.draw(_LENGTHS[self.seen.conversations % len(_LENGTHS)], answer)
        return heard

    def _count(self, heard: list[ObservedExchange]) -> None:
        for one in heard:
            if tally := self.seen.tallies.get(one.name):
                refused = self._refuses(one.reply)
                tally.asked += 1
                tally.right += not one.is_bad
                tally.refused += refused and not one.is_bad
                tally.texts.update([one.reply.text] * (not one.reply.is_refusal))
                tally.errors += not one.reply.ok
                tally.refusal = tally.refusal or (one.reply.text if refused else "")

    def _follow_moves(self, heard: list[ObservedExchange]) -> None:
        """Count what happens to moves right after each reply to a question; and ends of games."""
        last: dict[str, str] = {}
        for one in heard:
            kind = self._kind(one.command)
            if kind == ASKS:
                last[one.command] = one.reply.text
                self.seen.ends += self._is_end(one)
                continue
            refused = self._refuses(one.reply)
            if kind == MOVES and not one.is_bad:
                for asked in last.items():
                    self.seen.moves_after.setdefault(asked, [0, 0])[not refused] += 1
            if not refused:
                last.clear()

    def _is_end(self, one: ObservedExchange) -> bool:
        over = self._declaration.game.over
        is_asked = over is not None and one.command == over.ask and one.reply.ok
        return bool(over and is_asked and re.fullmatch(over.is_, one.reply.text))

    # --- other programs ---

    def _against_itself(self, said: list[ObservedExchange]) -> None:
        replies = self._fresh(tuple(one.line for one in said))
        for one, got in zip(said, replies, strict=False):
            if one.is_choice or self._same(one, got):
                continue
            if tally := self.seen.tallies.get(one.name):
                tally.unlike_itself += 1
            if self._kind(one.command) != ASKS:
                return  # what follows is about another board

    def _against_engines(self, said: list[ObservedExchange]) -> None:
        answers = {name: self._answers(name, said) for name in self._engines}
        for name, replies in answers.items():
            self._compare(name, said, replies)
        self._look_for_question(said, list(answers.values()))

    def _answers(self, name: str, said: list[ObservedExchange]) -> tuple[Reply, ...]:
        replies = self._engines[name](tuple(one.line for one in said))
        self.seen.broken[name] += len(replies) < len(said)
        return replies

    def _compare(
        self, name: str, said: list[ObservedExchange], replies: tuple[Reply, ...]
    ) -> None:
        for one, got in zip(said, replies, strict=False):
            kind, tally = self._kind(one.command), self.seen.tallies.get(one.name)
            if tally is None or one.is_choice:
                continue
            is_same = self._is_right(one, got) if kind == CHOOSES else self._same(one, got)
            tally.keep(name, ReplyPair(one.reply, got, is_same))
            if not is_same and kind not in (ASKS, CHOOSES):
                break  # what follows is about another board
        for one in [one for one in said if one.is_choice][:1]:
            self._compare_choice(name, one)

    def _compare_choice(self, name: str, one: ObservedExchange) -> None:
        replies = self._engines[name]((*one.said, one.command))
        if len(replies) == len(one.said) + 1:
            pair = ReplyPair(one.reply, replies[-1], self._is_right(one, replies[-1]))
            self.seen.tallies[one.name].keep(name, pair)

    def _is_right(self, one: ObservedExchange, got: Reply) -> bool:
        engine = self._specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        return accepts(engine.after(one.said), one.command, one.reply, got)

    def _look_for_question(
        self, said: list[ObservedExchange], answers: list[tuple[Reply, ...]]
    ) -> None:
        """Note the first reply for which the reference stands alone."""
        for place, one in enumerate(said):
            got = [replies[place] for replies in answers if place < len(replies)]
            if len(got) < 2 or self._kind(one.command) == CHOOSES:
                continue
            if any(self._same(one, reply) for reply in got):
                continue
            if all(same(one.command, got[0], other, self._specification) for other in got):
                texts = one.reply.text, got[0].text
                self.seen.questions.append(
                    ObservedQuestion(one.said, one.command, *texts, len(got))
                )
            return

    # --- small words ---

    def _same(self, one: ObservedExchange, got: Reply) -> bool:
        if self._refuses(one.reply) and self._refuses(got):
            return one.reply.ok is got.ok
        return same(one.command, one.reply, got, self._specification)

    def _kind(self, line: str) -> str:
        command = self._declaration.command(line.partition(" ")[0])
        return command.kind if command else ASKS


class _Noting(Drawer):
    """Remembers which commands it drew to be refused."""

    def __init__(self, declaration: Declaration, random: Random, folder: Path) -> None:
        super().__init__(declaration, random, folder)
        self.wrong: set[str] = set()

    def bad(self, command: DeclaredCommand, state: ConversationState, template: str = "") -> str:
        """Return a command with one of its wrong arguments."""
        line = super().bad(command, state, template)
        self.wrong.add(line)
        return line


# --- Small changes of a conversation, by which a reference tells what a declaration forgot -------


class Prober:
    """Asks the reference about changes, and counts what happens to them."""

    def __init__(
        self,
        seen: Observed,
        drawer: Drawer,
        specification: Specification,
        same: Callable[[ObservedExchange, Reply], bool],
    ) -> None:
        """``same``: whether a reply is as good as the one that was heard."""
        self._seen = seen
        self._drawer = drawer
        self._declaration = drawer.declaration
        self._specification = specification
        self._same = same
        self._refuses = refuses(drawer.declaration.game)

    def begin(self) -> None:
        """Ask which commands there are, and for a board of each size."""
        listed = map(self._last, zip(LISTERS))
        self._seen.listed = next(filter(None, map(names_in, LISTERS, listed)), ())
        state = ConversationState(self._declaration)
        for command in self._declaration.of_kind(STARTS):
            for size in self._declaration.game.sizes if is_sized(command) else ():
                line = self._drawer.command(command, state, size)
                if self._refuses(self._last((line,))):
                    self._seen.sizes_refused.append(line)

    def probe(self, said: list[ObservedExchange]) -> None:
        """Change a conversation in each way."""
        if early := self._after_first_move(said):
            self._try_templates(early)
            self._try_second_stone(early)
        self._try_choice(said)
        self._try_without(said)

    def _after_first_move(self, said: list[ObservedExchange]) -> ReferenceEngine | None:
        """Return the reference where a game has begun and is not over yet, if it ever was."""
        engine = self._engine()
        for one in said:
            engine.reply(one.line)
            if engine.session.state.moves:
                return engine
        return None

    def _try_templates(self, engine: ReferenceEngine) -> None:
        """Send each wrong argument after a conversation."""
        for command in self._declaration.commands:
            for template in command.bad:
                line = self._drawer.bad(command, engine.session.state, template)
                tally, reply = self._seen.tallies[command.name], self._last((*engine.said, line))
                counts = tally.bad.setdefault(template, [0, 0])
                counts[0] += 1
                counts[1] += self._refuses(reply)
                tally.errors += not reply.ok

    def _try_second_stone(self, engine: ReferenceEngine) -> None:
        """Play where a stone may be played, but one of the color that is not to move."""
        state = engine.session.state
        choice = self._drawer.choice(state)
        own, others = (state.move_of(color, choice) for color in (state.turn, state.other))
        if own == others or self._refuses(self._last((*engine.said, own))):
            return
        self._seen.second_stones[0] += 1
        self._seen.second_stones[1] += self._refuses(self._last((*engine.said, others)))

    def _try_choice(self, said: list[ObservedExchange]) -> None:
        """See whether a choice of the reference's own is right, and whether it was played."""
        for one in said:
            command = self._command(one)
            if command and command.kind == CHOOSES and not self._is_nothing(command, one.reply):
                tally = self._seen.tallies[one.name]
                if not self._is_own_right(one):
                    tally.own_refused[one.reply.text] += 1
                elif one.is_choice:
                    replies = self._specification.truth.replies((*one.said, one.command, one.line))
                    chose_again = replies[-2].text == one.reply.text  # it may draw its choice
                    tally.played_twice += chose_again and not self._refuses(replies[-1])
                return

    def _is_own_right(self, one: ObservedExchange) -> bool:
        engine = self._engine().after(one.said)
        return accepts(engine, one.command, one.reply, one.reply)

    def _is_nothing(self, command: DeclaredCommand, reply: Reply) -> bool:
        instead = map(str.lower, command.instead)
        return self._refuses(reply) or reply.text.lower() in instead

    def _try_without(self, said: list[ObservedExchange]) -> None:
        """Leave the questions of each name out: the other replies are to stay as they are."""
        names = {one.name for one in said if self._only_asks(one)}
        for name in sorted(names):
            rest = [one for one in said if one.name != name]
            replies = self._specification.truth.replies(tuple(one.line for one in rest))
            pairs = zip(rest, replies, strict=False)
            self._seen.tallies[name].changed += any(
                not one.is_choice and not self._same(one, got) for one, got in pairs
            )

    def _only_asks(self, one: ObservedExchange) -> bool:
        command = self._command(one)
        if command is None:
            return False
        return command.kind == ASKS or (command.kind == CHOOSES and not command.plays)

    def _command(self, one: ObservedExchange) -> DeclaredCommand | None:
        return self._declaration.command(one.name)

    def _engine(self) -> ReferenceEngine:
        engine = self._specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        return engine

    def _last(self, commands: tuple[str, ...]) -> Reply:
        return self._specification.truth.replies(commands)[-1]


# --- A declaration put to the test before it judges anybody --------------------------------------


class TrialBudget(NamedTuple):
    """How long to try: whichever ends first; 0 means no limit."""

    seconds: float
    conversations: int

    def is_over(self, began: float, done: int) -> bool:
        """Whether nothing more is to be tried; ``began``: of ``time.monotonic()``."""
        late = bool(self.seconds) and time.monotonic() - began >= self.seconds
        return late or bool(self.conversations and done >= self.conversations)


def calibrate(
    tried: TrialDeclaration,
    reference: ProgramStart,
    engines: Mapping[str, ProgramStart],
    budget: TrialBudget,
    seed: int,
) -> Observed:
    """Try a declaration with its reference, new processes of that, and engines at hand by name.

    Raises:
        ReferenceFailedError: the reference does not answer.
        SandboxError: there is no such sandbox here.
    """
    began = time.monotonic()
    with ExitStack() as ends:
        fresh = ends.enter_context(_open_program(reference._replace(fresh=True)))
        heard = {
            name: ends.enter_context(_open_program(program)) for name, program in engines.items()
        }
        observer = Observer(tried, seed, fresh, heard)
        observer.seen.unfollowed = _find_unlisted_files(tried, reference)
        observer.begin()
        while not budget.is_over(began, observer.seen.conversations):
            observer.observe()
    return observer.seen


def _find_unlisted_files(tried: TrialDeclaration, reference: ProgramStart) -> list[str]:
    told = tried.declaration.reference
    return find_unlisted_files(reference.words, reference.folder, told.files if told else ())


@contextlib.contextmanager
def _open_program(program: ProgramStart) -> Iterator[AskProgram]:
    """Give what a program answers; fewer replies than commands where it breaks."""
    asked = ProgramProcess(program)

    def hear(commands: tuple[str, ...]) -> tuple[Reply, ...]:
        try:
            return tuple(asked.replies(conversation(commands, program.command_properties)))
        except EngineError:
            return asked.answered

    with contextlib.closing(asked):
        yield hear
