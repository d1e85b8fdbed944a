"""The trial of a declaration before it judges anybody: what was seen, without a judgement.

:func:`calibrate` draws conversations and has the reference answer them. New processes of the
reference and other engines are asked the same, and their replies compared. The first conversations
are also changed a little (a wrong argument, a stone of the other color, a question left out): what
the reference says then tells what a declaration forgot. :mod:`~harness.declared.remarks` has the
sentences.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.core.errors import EngineError
from harness.core.records import Reply
from harness.declared import probes
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import Declaration, DeclaredCommand, Kind
from harness.declared.engine import accepts
from harness.declared.game_state import ConversationState
from harness.declared.program_process import ProgramProcess, ProgramStart, conversation
from harness.declared.reference import ReferenceProgram, find_unlisted_files
from harness.judging.in_process import same
from harness.specifications.record import Specification

AskProgram = Callable[[tuple[str, ...]], tuple[Reply, ...]]  # fewer replies where it breaks

_LENGTHS = (6, 12, 6, 80)  # moves, questions and the like of conversations, in turn
_FRESH = 20  # conversations that a new process of the reference is asked
_CHANGED = 30  # conversations that are changed


# --- what is tried, and what is seen -----------------------------------------------------------


class TrialBudget(NamedTuple):
    """Limits of a trial: whichever ends first; 0: no limit."""

    seconds: float
    conversations: int


class Exchange(NamedTuple):
    """A command as the reference was asked it."""

    commands: tuple[str, ...]  # before it
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
    answer: Reply
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


class ObservedQuestion(NamedTuple):
    """The reference alone, and engines that agree with each other."""

    commands: tuple[str, ...]
    command: str
    right: str
    answer: str
    engines: int


class Observations:
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


def calibrate(
    specification: Specification,
    reference: ReferenceProgram,
    engines: Mapping[str, ProgramStart],
    budget: TrialBudget,
    seed: int,
) -> Observations:
    """Try a declaration with its reference, new processes of that, and engines at hand by name.

    Raises:
        ReferenceFailedError: the reference does not answer.
        SandboxError: this machine has no such sandbox.
    """
    began = time.monotonic()
    with ExitStack() as ends:

        def ask(program: ProgramStart) -> AskProgram:
            process = ends.enter_context(closing(ProgramProcess(program)))

            def hear(commands: tuple[str, ...]) -> tuple[Reply, ...]:
                try:
                    said = conversation(commands, program.command_properties)
                    return tuple(process.replies(said))
                except EngineError:
                    return process.answered

            return hear

        program, told = reference.program, reference.declaration.reference
        fresh = ask(program._replace(fresh=True))
        others = {name: ask(one) for name, one in engines.items()}
        trial = Trial(specification, reference, seed, fresh, others)
        seen, files = trial.seen, told.files if told else ()
        seen.unfollowed = find_unlisted_files(program.words, program.folder, files)
        trial.begin()
        while not (
            (budget.seconds and time.monotonic() - began >= budget.seconds)
            or (budget.conversations and seen.conversations >= budget.conversations)
        ):
            trial.hold_conversation()
    return seen


class _NotingDrawer(Drawer):
    """Remembers which commands it drew to be refused."""

    def __init__(self, declaration: Declaration, random: Random, folder: Path) -> None:
        super().__init__(declaration, random, folder)
        self.wrong: set[str] = set()

    def bad(self, command: DeclaredCommand, state: ConversationState, template: str = "") -> str:
        line = super().bad(command, state, template)
        self.wrong.add(line)
        return line


class Trial:
    """Asks the reference and others, and counts what they answer in :attr:`seen`.

    Its methods raise ReferenceFailedError where the reference does not answer.
    """

    def __init__(
        self,
        specification: Specification,
        reference: ReferenceProgram,
        seed: int,
        ask_fresh: AskProgram,
        engines: Mapping[str, AskProgram],
    ) -> None:
        """``ask_fresh``: asks a new process of the reference each time. ``engines``: others."""
        self._declaration = declaration = reference.declaration
        self._specification = specification
        self._reference = reference
        self._drawer = _NotingDrawer(declaration, Random(seed), reference.program.folder)
        self._fresh = ask_fresh
        self._engines = engines
        self._refuses = reference.program.refuses
        self.seen = Observations(one.name for one in declaration.commands)

    # --- what is asked once ---

    def begin(self) -> None:
        """Ask for the list of commands, for each size of a board, and for what is not declared."""
        declaration, seen = self._declaration, self.seen
        seen.listed = probes.list_commands(lambda line: self._last((line,)))
        state = ConversationState(declaration)
        for command in [one for one in declaration.of_kind(Kind.STARTS) if one.is_sized]:
            for size in declaration.game.sizes:
                line = self._drawer.command(command, state, size)
                if self._refuses(self._last((line,))):
                    seen.sizes_refused.append(line)
        # Commands that are not declared: what is refused is nobody's loss.
        names = [one for one in seen.listed
                 if not (declaration.command(one) or probes.is_about_engine(one))]  # fmt: skip
        opening = tuple(self._drawer.opening(ConversationState(declaration)))
        for shape in probes.TRIED if names else ():
            words = [probes.sample(one, declaration.game) for one in shape]
            lines = tuple(" ".join([name, *words]) for name in names)
            replies = self._fresh((*opening, *lines))[len(opening) :]
            for name, reply in zip(names, replies, strict=False):
                if name not in seen.unused and not self._refuses(reply):
                    seen.unused.append(name)

    # --- one conversation ---

    def hold_conversation(self) -> None:
        """Draw a conversation with the reference; ask others the same, and the reference more."""
        engine, drawer, seen = self._reference.engine(), self._drawer, self.seen
        heard: list[Exchange] = []

        def answer(command: str) -> Reply:
            said = engine.said
            reply = engine.reply(command)
            line = " ".join(engine.said[len(said) :])
            heard.append(Exchange(said, command, reply, line, command in drawer.wrong))
            return reply

        drawer.wrong.clear()
        drawer.draw(_LENGTHS[seen.conversations % len(_LENGTHS)], answer)
        seen.conversations += 1
        for one in heard:
            if tally := seen.tallies.get(one.name):
                refused = self._refuses(one.reply)
                tally.asked += 1
                tally.right += not one.is_bad
                tally.refused += refused and not one.is_bad
                tally.texts.update([one.reply.text] * (not one.reply.is_refusal))
                tally.errors += not one.reply.ok
                tally.refusal = tally.refusal or (one.reply.text if refused else "")
        self._count_moves(heard)
        said = [one for one in heard if one.line]
        if seen.conversations <= _FRESH:
            self._compare_with_itself(said)
        self._look_for_question(said, [self._compare(name, said) for name in self._engines])
        if seen.conversations <= _CHANGED:
            self._try_wrong_moves(said)
            self._try_choice(said)
            self._try_without_questions(said)

    def _count_moves(self, exchanges: Sequence[Exchange]) -> None:
        """Count what happens to moves right after each reply to a question; and ends of games."""
        last: dict[str, str] = {}
        over = self._declaration.game.over
        for one in exchanges:
            kind, refused = self._kind(one), self._refuses(one.reply)
            if kind == Kind.ASKS:
                last[one.command] = one.reply.text
                if over and one.command == over.ask and one.reply.ok:
                    self.seen.ends += re.fullmatch(over.is_, one.reply.text) is not None
                continue
            if kind == Kind.MOVES and not one.is_bad:
                for asked in last.items():
                    self.seen.moves_after.setdefault(asked, [0, 0])[not refused] += 1
            if not refused:
                last.clear()

    # --- other processes, asked the same ---

    def _compare_with_itself(self, exchanges: Sequence[Exchange]) -> None:
        replies = self._fresh(tuple(one.line for one in exchanges))
        for one, got in zip(exchanges, replies, strict=False):
            if one.is_choice or self._same(one, got):
                continue
            if tally := self.seen.tallies.get(one.name):
                tally.unlike_itself += 1
            if self._kind(one) != Kind.ASKS:
                return  # what follows is about another board

    def _compare(self, name: str, exchanges: Sequence[Exchange]) -> tuple[Reply, ...]:
        """Return the replies of another engine; those up to a first other board are compared."""
        replies = self._engines[name](tuple(one.line for one in exchanges))
        self.seen.broken[name] += len(replies) < len(exchanges)
        for one, got in zip(exchanges, replies, strict=False):
            kind, tally = self._kind(one), self.seen.tallies.get(one.name)
            if tally is None or one.is_choice:
                continue
            is_same = self._is_right(one, got) if kind == Kind.CHOOSES else self._same(one, got)
            tally.pairs.setdefault(name, []).append(ReplyPair(one.reply, got, is_same))
            if not is_same and kind not in (Kind.ASKS, Kind.CHOOSES):
                break  # what follows is about another board
        for one in [one for one in exchanges if one.is_choice][:1]:
            chosen = self._engines[name]((*one.commands, one.command))
            if len(chosen) == len(one.commands) + 1:
                pair = ReplyPair(one.reply, chosen[-1], self._is_right(one, chosen[-1]))
                self.seen.tallies[one.name].pairs.setdefault(name, []).append(pair)
        return replies

    def _look_for_question(
        self, exchanges: Sequence[Exchange], answers: Sequence[tuple[Reply, ...]]
    ) -> None:
        """Note the first reply for which the reference stands alone, if the others agree on it."""
        for place, one in enumerate(exchanges):
            got = [replies[place] for replies in answers if place < len(replies)]
            if len(got) < 2 or self._kind(one) == Kind.CHOOSES:
                continue
            if any(self._same(one, reply) for reply in got):
                continue
            if all(same(one.command, got[0], other, self._specification) for other in got):
                texts = one.reply.text, got[0].text
                question = ObservedQuestion(one.commands, one.command, *texts, len(got))
                self.seen.questions.append(question)
            return

    # --- the reference, asked something else ---

    def _try_wrong_moves(self, exchanges: Sequence[Exchange]) -> None:
        """Send each wrong argument after the first move; then a stone of the color not to move."""
        engine = self._reference.engine()
        state = engine.session.state
        for one in exchanges:
            engine.reply(one.line)
            if state.moves:
                break
        else:
            return
        for command in self._declaration.commands:
            for template in command.bad:
                line = self._drawer.bad(command, state, template)
                tally, reply = self.seen.tallies[command.name], self._last((*engine.said, line))
                counts = tally.bad.setdefault(template, [0, 0])
                counts[0] += 1
                counts[1] += self._refuses(reply)
                tally.errors += not reply.ok
        choice = self._drawer.choice(state)
        right, wrong = (state.move_of(color, choice) for color in (state.turn, state.other))
        if right != wrong and not self._refuses(self._last((*engine.said, right))):
            self.seen.second_stones[0] += 1
            self.seen.second_stones[1] += self._refuses(self._last((*engine.said, wrong)))

    def _try_choice(self, exchanges: Sequence[Exchange]) -> None:
        """See whether the reference's first choice is right by its own play, and was played."""
        for one in exchanges:
            command = self._declaration.command(one.name)
            if command is None or command.kind != Kind.CHOOSES or self._refuses(one.reply):
                continue
            if one.reply.text.lower() in map(str.lower, command.instead):
                continue
            tally = self.seen.tallies[one.name]
            if not self._is_right(one, one.reply):
                tally.own_refused[one.reply.text] += 1
            elif one.is_choice:
                replies = self._reference.replies((*one.commands, one.command, one.line))
                chose_again = replies[-2].text == one.reply.text  # it may draw its choice
                tally.played_twice += chose_again and not self._refuses(replies[-1])
            return

    def _try_without_questions(self, exchanges: Sequence[Exchange]) -> None:
        """Leave the questions of each name out: the other replies are to stay as they are."""
        commands = {one.name: self._declaration.command(one.name) for one in exchanges}
        for name, command in sorted(commands.items()):
            if command and (
                command.kind == Kind.ASKS or (command.kind == Kind.CHOOSES and not command.plays)
            ):
                rest = [one for one in exchanges if one.name != name]
                replies = self._reference.replies(tuple(one.line for one in rest))
                self.seen.tallies[name].changed += any(
                    not one.is_choice and not self._same(one, got)
                    for one, got in zip(rest, replies, strict=False)
                )

    # --- small words ---

    def _same(self, exchange: Exchange, reply: Reply) -> bool:
        if self._refuses(exchange.reply) and self._refuses(reply):
            return exchange.reply.ok is reply.ok
        return same(exchange.command, exchange.reply, reply, self._specification)

    def _is_right(self, exchange: Exchange, reply: Reply) -> bool:
        """Whether the reference's own play accepts a choice."""
        engine = self._reference.engine()
        for command in exchange.commands:
            engine.reply(command)
        return accepts(engine, exchange.command, exchange.reply, reply)

    def _kind(self, exchange: Exchange) -> str:
        command = self._declaration.of_line(exchange.command)
        return command.kind if command else Kind.ASKS

    def _last(self, commands: tuple[str, ...]) -> Reply:
        return self._reference.replies(commands)[-1]
