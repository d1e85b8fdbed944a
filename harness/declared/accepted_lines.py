"""Lines that a program accepts: how a board begins, and which arguments its commands have.

Nothing is known of the game beforehand. Lines of tests come first, and then what is usual.
:func:`find_opening` asks how a board begins. :class:`AcceptedLines` then learns step by step: the
sizes of boards (:meth:`~AcceptedLines.find_sizes`), whether points are two numbers
(:meth:`~AcceptedLines.find_points`), and what commands take (:meth:`~AcceptedLines.find_shapes`).
:func:`harness.declared.evidence.gather` takes all steps.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile, zip_longest
from typing import NamedTuple

from harness.core.records import Reply
from harness.declared import probes
from harness.declared.declaration import NUMBERED, POINTS, Argument, DeclaredGame, Kind
from harness.declared.game_state import width
from harness.declared.probes import A_COLOR, A_VERTEX, ProtocolTrial, Shape, sides, size_of
from oracle.command_properties import STANDARD

Words = tuple[str, ...]
Said = tuple[str, ...]  # lines
Ask = Callable[[str], str]  # asks the teacher a question and returns the answer; "" for none

_COLORS = re.compile(r"(?i)b|w|black|white")
_BEGINS = re.compile(r"(?i)game|board|size|init|new|start|begin|reset")
_SIDE = 3  # of the first board to try
_USUAL = (  # what begins a board of that size in GTP, and nearly so
    (f"boardsize {_SIDE}", "clear_board"),
    (f"boardsize {_SIDE}",),
    (f"boardsize {_SIDE} {_SIDE}", "clear_board"),
)
_MOST = 0.8  # of the pairs of numbers in tests lie on the board, if they are points
_FEW_DIGITS = 3  # that are taken where tests have one; more are a number of any size
_WHICH_BEGINS = "No command was found that begins a board. Which line begins one of size 3"


@dataclass
class ShownCommand:
    """Evidence of one command."""

    name: str
    shape: Shape = ()  # the arguments that were accepted
    sample: str = ""  # a line that was accepted
    kind: str = Kind.ASKS
    # Of what chooses:
    kept: set[str] = field(default_factory=set)  # words before the choice, such as winners
    plays: bool | None = None
    instead: Sequence[str] = ()  # replies that are not a choice


class _Attempt(NamedTuple):
    """A line that is tried, and how it was made."""

    line: str
    shape: Shape
    vertices: str


class Opening(NamedTuple):
    """Beginning of a board.

    ``lines`` that begin one of :attr:`size`; ``starts``, the names of all that begins one.
    """

    lines: Said
    starts: frozenset[str]

    @property
    def sizer(self) -> str:
        """The line that tells the size; "" if none does."""
        return next((one for one in self.lines if sides(one.split()[1:])), "")

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return size_of(sides(self.sizer.split()[1:])) if self.sizer else (_SIDE, _SIDE)

    def of_size(self, size: tuple[int, int]) -> Said:
        """Return what begins a board of another size."""
        return tuple(probes.resize(line, size) for line in self.lines)


def find_used(lines: Iterable[str]) -> dict[str, list[Words]]:
    """Return by name the arguments with which commands stand in lines."""
    found: dict[str, list[Words]] = {}
    for name, *words in map(str.split, lines):
        found.setdefault(name, []).append(tuple(words))
    return found


def find_opening(
    trial: ProtocolTrial, listed: Sequence[str], conversations: Sequence[Said], ask: Ask
) -> Opening:
    """Return what begins a board: as tests do, as in GTP, or by a name like ``new_game``.

    ``listed``: the commands that the program says it has. ``conversations``: of tests. ``ask``: a
    question to the teacher, if all else fails.
    """
    starts: set[str] = set()
    tried = list(_USUAL)
    if conversations:
        firsts = {one[0].split()[0] for one in conversations}
        starts = firsts if len(firsts) == 1 else {*firsts, "boardsize", "clear_board"}
        own = takewhile(lambda line: line.split()[0] in starts, conversations[0])
        tried.insert(0, tuple(own))
    else:
        for name in filter(_BEGINS.search, listed):
            tried += [(f"{name} {_SIDE}",), (f"{name} {_SIDE} {_SIDE}",), (name,)]
    for lines in filter(None, tried):
        if not any(reply.is_refusal for reply in trial.replies(*lines)):
            break
    else:
        line = ask(_WHICH_BEGINS)
        lines = (line,) if line else ()
    return Opening(lines, frozenset({*starts, *(line.split()[0] for line in lines)}))


@dataclass
class AcceptedLines:
    """A program, and the lines that it accepts. Nothing is asked before the first step."""

    trial: ProtocolTrial
    listed: Sequence[str]  # the commands that it says it has
    opening: Opening
    game: DeclaredGame  # its points, colors and refusals as far as they are known
    used: dict[str, list[Words]]  # by name the arguments with which commands stand in tests
    sizes: list[tuple[int, int]] = field(default_factory=list)  # of boards
    # What commands other than those of the opening have shown, and the replies to each, by name.
    commands: dict[str, ShownCommand] = field(default_factory=dict)
    heard: dict[str, list[Reply]] = field(default_factory=lambda: defaultdict(list))
    # By name: where the two numbers of a point begin.
    _places: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The commands that it says it has, and those of tests."""
        known = self.listed or [name for name in STANDARD if self.trial.knows(name)]
        return list(dict.fromkeys((*known, *self.used)))

    def command(self, name: str) -> ShownCommand:
        """Return what a command has shown, which may be nothing."""
        return self.commands.get(name) or ShownCommand(name)

    def accepts(self, reply: Reply) -> bool:
        """Whether a command was accepted, as far as refusals are known."""
        is_refused = self.game.refused and re.search(self.game.refused, reply.text)
        return not reply.is_refusal and not is_refused

    def after_opening(self, *lines: str) -> tuple[Reply, ...]:
        """Return the replies to lines on a board that has just begun."""
        opening = self.opening.lines
        return self.trial.replies(*opening, *lines)[len(opening) :]

    def find_accepted(self, commands: Said, lines: Iterable[str]) -> list[str]:
        """Return which of some lines are accepted, each after the same conversation.

        They are said one after the other as long as they are refused, for that changes nothing.
        """
        found: list[str] = []
        rest = list(lines)
        while rest:
            replies = self.trial.replies(*commands, *rest)[len(commands) :]
            ends = (n for n, one in enumerate(replies) if self.accepts(one) or not one.raw)
            place = next(ends, len(rest))
            if place < len(rest) and replies[place].raw:
                found.append(rest[place])
            rest = rest[place + 1 :]
        return found

    def is_point(self, text: str) -> bool:
        """Whether a text may be a point."""
        pattern = r"\d+ \d+" if self.game.vertices == NUMBERED else r"[A-Za-z]\d{1,2}"
        return re.fullmatch(pattern, text) is not None

    def split(self, shape: Shape, line: str) -> list[str]:
        """Return the arguments of a line; what is missing is empty."""
        rest = iter(line.split()[1:])
        return [" ".join(next(rest, "") for _ in range(width(one, self.game))) for one in shape]

    # --- boards and points -----------------------------------------------------------------------

    def find_sizes(self) -> None:
        """Find the sizes of tests, the smaller ones first; without any, those that are taken."""
        sizer = self.opening.sizer
        if not sizer:
            return
        name, *words = sizer.split()
        used = map(sides, self.used.get(name, ()))
        if told := {size_of(one) for one in used if one}:
            self.sizes = sorted(told, key=lambda size: (size[0] * size[1], size))
            return
        sizes = [(n, n) for n in range(2, 8)] + [(3, 2)] * (len(sides(words)) > 1)
        lines = {probes.resize(sizer, size): size for size in sizes}
        replies = zip(lines.values(), self.trial.replies(*lines), strict=True)
        self.sizes = [size for size, reply in replies if not reply.is_refusal]

    def find_points(self, conversations: Iterable[Said]) -> None:
        """Hear tests, and find whether points are two numbers: these nearly always lie on the
        board.
        """
        pairs: dict[tuple[str, int, int], list[bool]] = defaultdict(list)
        for said in conversations:
            size = (0, 0)
            for line, reply in zip(said, self.trial.replies(*said), strict=True):
                name, *words = line.split()
                self.heard[name].append(reply)
                if name in self.opening.starts and sides(words):
                    size = size_of(sides(words))
                elif not reply.is_refusal:
                    for key, is_on in probes.list_pairs(name, words, size):
                        pairs[key].append(is_on)
        fit = {key for key, on in pairs.items() if len(on) > 1 and sum(on) >= _MOST * len(on)}
        for name, place, origin in sorted(fit, key=lambda one: one[1:]):
            if name not in self._places:
                self._places[name] = place
                if self.game.vertices == POINTS or (name, place, 1 - origin) not in fit:
                    self.game = self.game._replace(vertices=NUMBERED, origin=origin)

    # --- arguments -------------------------------------------------------------------------------

    def find_shapes(self) -> None:
        """Find the arguments of each command: as tests have them, or the first that it takes."""
        unused: dict[str, list[_Attempt]] = {}
        for name in self.names:
            if name in self.opening.starts or probes.is_about_engine(name):
                continue
            if used := self.used.get(name):
                self.take_shape(name, used)
            else:
                unused[name] = self._try_shapes(name)
        # Are points two numbers: to ``play``, else to most that take one form? One command among
        # many may take two numbers of another kind, or any word.
        forms = {
            name: {one.vertices for one in found if A_VERTEX in one.shape}
            for name, found in unused.items()
        }
        votes, is_played = list(forms.values()), POINTS in forms.get("play", ())
        is_numbered = not is_played and votes.count({NUMBERED}) > votes.count({POINTS})
        if is_numbered and not self.used:
            self.game = self.game._replace(vertices=NUMBERED)
        for name, accepted in unused.items():
            for one in accepted:
                if one.vertices == self.game.vertices or A_VERTEX not in one.shape:
                    self.commands[name] = ShownCommand(name, one.shape, one.line)
                    break

    def take_shape(self, name: str, examples: Sequence[Words]) -> ShownCommand:
        """Take the arguments of a command as tests have them."""
        joined = [self._join(name, words) for words in examples]
        columns = [filter(None, one) for one in zip_longest(*joined)]
        shape = tuple(self._argument(list(one), place) for place, one in enumerate(columns))
        lines = (" ".join([name, *words]) for words in dict.fromkeys(examples))
        line = next((one for one in lines if not self.after_opening(one)[-1].is_refusal), "")
        if line:
            shape = tuple(self._widen(shape, line))
        self.commands[name] = ShownCommand(name, shape, line)
        return self.commands[name]

    def _join(self, name: str, words: Words) -> Words:
        """Return words with the two numbers of a point as one."""
        place = self._places.get(name)
        if place is None or len(words) < place + 2:
            return words
        return *words[:place], " ".join(words[place : place + 2]), *words[place + 2 :]

    def _argument(self, words: list[str], place: int) -> Argument:
        if all(map(_COLORS.fullmatch, words)):
            if not {"b", "w"} & set(words) and place == 0:
                ordered = sorted(dict.fromkeys(words), key=str.lower)
                self.game = self.game._replace(colors=tuple(ordered))
            return A_COLOR
        if all(map(self.is_point, words)):
            return A_VERTEX
        return Argument(words=tuple(dict.fromkeys(words)))

    def _widen(self, shape: Shape, line: str) -> Iterator[Argument]:
        """Yield arguments, each with the digits beside its only one in tests that are accepted."""
        name, said = line.split(maxsplit=1)[0], self.split(shape, line)
        for place, one in enumerate(shape):
            if len(one.words) == 1 and one.words[0].isdigit():
                lines = {
                    " ".join([name, *said[:place], digit, *said[place + 1 :]]): digit
                    for digit in "0123456789"
                }
                accepted = self.find_accepted(self.opening.lines, lines)
                if 1 < len(accepted) <= _FEW_DIGITS:
                    yield one._replace(words=tuple(lines[line] for line in accepted))
                    continue
            yield one

    def _try_shapes(self, name: str) -> list[_Attempt]:
        """Return which usual arguments are accepted; without tests, with both forms of points."""
        tried: list[_Attempt] = []
        for form in dict.fromkeys((self.game.vertices, *(() if self.used else (NUMBERED,)))):
            game = self.game._replace(vertices=form)
            for shape in probes.TRIED:
                if form == self.game.vertices or A_VERTEX in shape:
                    line = " ".join([name, *(probes.sample(one, game) for one in shape)])
                    tried.append(_Attempt(line, shape, form))
        accepted = self.find_accepted(self.opening.lines, [one.line for one in tried])
        return [one for one in tried if one.line in accepted]
