"""Counts from the trial of a declaration, without a judgement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from harness.declared.declaration import Declaration
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
        self.broken: Counter[str] = Counter()  # conversations that ended an engine
        self.questions: list[ObservedQuestion] = []
        self.unfollowed: list[str] = []  # what the reference names and its answers are kept beside
