"""The specification of an assignment, a record that everything else reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

from harness.core.records import Reply
from harness.vocabulary import GO, BoardKind
from harness.vocabulary.answers import Forms, Read, Wordings
from harness.vocabulary.transformations import Beginning
from oracle.assignments import ASSIGNMENTS, engine_for
from oracle.command_properties import STANDARD, CommandProperties, PropertyTable
from oracle.gtp.protocol import Engine
from oracle.mistakes import MISTAKES, Mistake

TYPE_CHECKING = False

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from harness.vocabulary.conversations import Drawn
    from harness.vocabulary.scenes import FeatureKind


class Truth(Protocol):
    """Source of right replies."""

    def replies(self, commands: tuple[str, ...], folder: str = "") -> tuple[Reply, ...]:
        """Return the right replies to a conversation with an engine that has just been started.

        ``folder``: in which the files lie that commands name; "": the working directory. There are
        fewer replies than commands where one of them has ended the engine.
        """

    def engine(self) -> Engine:
        """Return an engine that answers rightly and has heard nothing yet."""


class InProcess:
    """A :class:`Truth`, the oracle: engines in this process."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        """``make``: returns a new engine."""
        self._make = make

    def replies(self, commands: tuple[str, ...], folder: str = "") -> tuple[Reply, ...]:
        engine, found = self.engine().in_folder(folder), []
        for command in commands:
            found.append(reply_of(engine.handle(command)))
            if not engine.session.running:
                break
        return tuple(found)

    def engine(self) -> Engine:
        return self._make()


def reply_of(raw: str) -> Reply:
    """Return an engine's answer to one command as the harness reads it off a pipe."""
    raw = raw[:-2]  # the empty line that ends it
    return Reply(raw.startswith("="), raw.partition(" ")[2].strip(), raw, 0.0)


@dataclass(frozen=True)
class Specification:
    """The questions to submissions and their right answers. All defaults mean: nothing special.

    Two assignments, which say how submissions are run and marked, may share a specification.
    Those that ship are :data:`harness.specifications.NAMES`; others come of a declaration
    (:mod:`harness.declared`).
    """

    key: str
    forms: Forms  # of the right answers, by command; others are not defined
    # A pattern of the commands by which a case file of it is known, and keys of specifications
    # whose mistakes such a file may show as well.
    signs: str
    # What its own commands do, by name, beside those of oracle.command_properties.STANDARD.
    command_properties: Mapping[str, CommandProperties] = field(default_factory=dict)
    relatives: tuple[str, ...] = ()
    board: BoardKind = GO
    # What the marks mean that explanations put on a board.
    legend: Mapping[str, str] = field(default_factory=dict)

    # What its commands ask and answer, in words.
    wordings: Wordings = field(default_factory=dict)

    # Likeness of tests, and images of them:
    # What answers depend on beside the position, by command.
    depends: Mapping[str, Read] = field(default_factory=dict)
    swaps: bool = True  # whether exchanging the colors leaves a test as it is
    # What is equal for two tests that are the same; None: what harness.judging.in_process says,
    # of which the symmetries are a part. It is given the reference engine, before the command.
    is_alike: Callable[[Engine, str], tuple[Any, ...]] | None = None
    unfit: tuple[str, ...] = ()  # kinds of harness.vocabulary.transformations without an image
    # Where a scene begins, told by the reference engine that stands there; None: its position.
    begun: Callable[[Engine], Beginning] | None = None

    # A game of it:
    ends: bool = False  # after its end no stone is played
    plays: str = ""  # what its engines play against each other: "go" or "gomoku"; "": nothing
    # The moves that a command may choose, before it is asked; none for commands that do not.
    choices: Callable[[Engine, str], tuple[str, ...]] = lambda engine, command: ()

    # Conversations with an engine:
    smallest: int = 1  # board that may be asked for
    first: Mapping[str, str] = field(default_factory=dict)  # the setting that a question needs
    reset: tuple[str, ...] = ()  # what takes back the settings of a conversation before

    # Where it is not one that ships:
    told: Truth | None = None  # who knows the right answers; None: the oracle
    # Mistakes that its tests may catch; None: those of the bank under its key.
    own_mistakes: tuple[Mistake, ...] | None = None
    # Commands of a teacher's own beside those that ship, which engines of the bank do not know.
    own_commands: frozenset[str] = frozenset()
    # What its tests are about, made of what they are about as it ships.
    about: Callable[[FeatureKind], FeatureKind] = lambda kind: kind
    # Returns its module "features" or "conversations"; None if they lie in its folder here.
    module: Callable[[str], Any] | None = None

    @property
    def game(self) -> str:
        """The game of the oracle's engine, of :data:`oracle.gtp.GAMES`."""
        return ASSIGNMENTS[self.key]

    @cached_property
    def commands(self) -> PropertyTable:
        """Properties of each command; the standard's, if it is not its own."""
        return PropertyTable({**STANDARD, **self.command_properties})

    @cached_property
    def truth(self) -> Truth:
        """Source of right answers; the oracle does not think long about its own moves."""
        return self.told or InProcess(lambda: engine_for(self.key, playouts=0))

    def reference_engine(self, folder: str = "") -> Engine:
        """Return an engine that answers rightly and has heard nothing yet.

        ``folder``: in which the files lie that commands name; "": the working directory.
        """
        return self.truth.engine().in_folder(folder)

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """All mistakes that belong to it."""
        if self.own_mistakes is not None:
            return self.own_mistakes
        return tuple(one for one in MISTAKES.values() if one.assignment == self.key)

    @property
    def settled_mistakes(self) -> tuple[Mistake, ...]:
        """Those that show where the specification says what is right: tests may catch them."""
        return tuple(one for one in self.mistakes if not one.is_open)

    @property
    def kind(self) -> FeatureKind:
        """Kind of features tested, from game records or from nothing."""
        found: FeatureKind = self._module("features").KIND
        return self.about(found)

    @property
    def conversation(self) -> Callable[[frozenset[str], int], SearchStrategy[Drawn]]:
        """Conversations that find mistakes; needs Hypothesis."""
        found: Callable[[frozenset[str], int], SearchStrategy[Drawn]] = self._module(
            "conversations"
        ).conversation
        return found

    def _module(self, name: str) -> Any:
        if self.module:
            return self.module(name)
        return import_module(f"{__package__}.{self.key.replace('-', '_')}.{name}")
