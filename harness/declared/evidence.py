"""Evidence of a program's game: the effects of its commands, and games played with it.

Nothing is known of the game beforehand. So a command is what it does: it moves if answers change
after it and it cannot be said twice, it chooses if what it says can be played, and so on.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice, product
from random import Random
from typing import NamedTuple

from harness.core.records import Reply
from harness.declared import accepted_lines, probes
from harness.declared.accepted_lines import AcceptedLines, Said, ShownCommand
from harness.declared.declaration import ALTERNATE, ANY, POINTS, Argument, DeclaredGame, Kind
from harness.declared.game_state import after, places, vertex_of, width
from harness.declared.probes import A_COLOR, A_VERTEX, ProtocolTrial

_CHOOSES = re.compile(r"(?i)genmove|solve|think|best_?move|choose")
_LEAVES_OUT = re.compile(
    r"(?i)quit|exit|save|load|undo|swap|pass|clear|reset|setup|interrupt|analy[sz]e"
)
_LONGEST = 60  # moves of a game
_GAMES = 2
_LOOKED_AT = 3  # positions in which it is seen whether a choice can be played
_SHORT = 24  # characters of a reply that tells whether a game is over
_WHICH_PLAYS = "No command was found that plays. Which line plays the first move on that board"


class Position(NamedTuple):
    """Position that a game has led to."""

    commands: Said
    turn: str
    answers: dict[str, Reply]  # by question
    is_end: bool = False  # no move was accepted any more


@dataclass
class Evidence(AcceptedLines):
    """A program, and what it has shown; :func:`gather` makes one."""

    mover: ShownCommand | None = None  # the command that plays
    games: list[Position] = field(default_factory=list)  # positions of games that were played
    refusals: Sequence[str] = ()  # texts of moves that were refused as if all were well
    turns_why: str = ""  # how it was seen whether colors take turns
    _questions: Sequence[str] = ()  # that are answered alike as long as nothing moves

    # --- what commands do ------------------------------------------------------------------------

    def find_kinds(self) -> None:
        """Find what each command does, by the questions that are answered otherwise after it."""
        asked = [
            one.name
            for one in self.commands.values()
            if not one.shape and one.sample
            if not (_CHOOSES.search(one.name) or _LEAVES_OUT.search(one.name))
        ]
        replies = self.after_opening(*asked, *asked)
        pairs = zip(asked, replies, replies[len(asked) :], strict=False)
        self._questions = tuple(name for name, one, other in pairs if one.text == other.text)
        before = self._texts(*self._questions)
        for one in self.commands.values():
            one.kind = self._kind(one, before)

    def _kind(self, command: ShownCommand, before: list[str]) -> str:
        """Return what a command does; ``before``: the answers to all questions without it."""
        if _CHOOSES.search(command.name):
            return Kind.CHOOSES
        if not command.sample or not command.shape:
            return Kind.MOVES if command.name == "undo" else Kind.ASKS
        once = self._texts(command.sample, *self._questions)
        twice = self._texts(command.sample, command.sample, *self._questions)
        if once[1:] == before and twice[1] == once[0]:
            return Kind.ASKS if once[0] else Kind.SETS
        if twice[0] == twice[1] and twice[2:] == once[1:] and A_VERTEX not in command.shape:
            return Kind.SETS
        return Kind.MOVES

    def _texts(self, *lines: str) -> list[str]:
        return [f"{'' if one.ok else '?'}{one.text}" for one in self.after_opening(*lines)]

    def find_mover(self) -> None:
        """Find the command that plays."""
        found = {
            one.name: one
            for one in self.commands.values()
            if one.kind == Kind.MOVES and one.shape and one.sample and one.name != "undo"
        }
        self.mover = found.get("play") or next(iter(found.values()), None)

    def take_move(self, line: str) -> None:
        """Take a line with which the teacher plays."""
        name, *words = line.split()
        for known, examples in accepted_lines.find_used((*self.opening.lines, line)).items():
            self.used.setdefault(known, []).extend(examples)
        one = self.take_shape(name, [tuple(words)])
        one.kind, one.sample = Kind.MOVES, line
        self.find_mover()

    # --- moves that are refused ------------------------------------------------------------------

    def find_refusals(self) -> None:
        """Find what is said to moves that are refused as if all were well."""
        if self.mover is None:
            return
        line = self.mover.sample
        (good,) = self.after_opening(line)
        if good.is_refusal:
            return
        name, *words = line.split()
        found = []
        for place, word in enumerate(words):
            wrong = "99" if word.isdigit() else "z99" if self.is_point(word) else "x"
            wrong_line = " ".join([name, *words[:place], wrong, *words[place + 1 :]])
            found.append(self.after_opening(wrong_line)[-1])
        once, twice = (self._texts(*[line] * times, *self._questions) for times in (1, 2))
        if self._questions and once[1:] == twice[2:]:
            found.append(self.after_opening(line, line)[-1])
        texts = [one.text for one in found if not one.is_refusal and one.text != good.text]
        self.refusals = list(dict.fromkeys(filter(None, texts)))
        pattern = probes.pattern_of(self.refusals)
        if pattern and not re.search(pattern, good.text):
            self.game = self.game._replace(refused=pattern)

    def bad(self) -> list[str]:
        """Return templates of moves that the program refuses after a first one."""
        if self.mover is None:
            return []
        name, shape, line = self.mover.name, self.mover.shape, self.mover.sample
        said = self.split(shape, line)
        turn = after(self.game.colors[0], self.game.colors)
        free = vertex_of((1, 0), self.game)
        # Each argument as a template has it, and what stands for that after a first move.
        stand_for = {A_COLOR: ("{turn}", turn), A_VERTEX: ("{vertex}", free)}
        right = [stand_for.get(one, (word, word)) for one, word in zip(shape, said, strict=True)]
        told: dict[str, str] = {}  # by line, its template
        for place, (one, word) in enumerate(zip(shape, said, strict=True)):
            wrongs = [("99", "99")]
            if one == A_COLOR:
                late = [("{other}", self.game.colors[0])] * (self.game.turns == ALTERNATE)
                wrongs = [("x", "x"), *late]
            elif one == A_VERTEX:
                off = "z99" if self.game.vertices == POINTS else "99 99"
                wrongs = [("{stone}", word), (off, off)]
            for wrong in wrongs:
                templates, words = zip(*right[:place], wrong, *right[place + 1 :], strict=True)
                told[" ".join([name, *words])] = " ".join(templates)
        accepted = self.find_accepted((*self.opening.lines, line), told)
        return [template for text, template in told.items() if text not in accepted]

    # --- games -----------------------------------------------------------------------------------

    def find_turns(self) -> None:
        """Find whether two moves of one color in a row are accepted."""
        if self.mover is None or A_COLOR not in self.mover.shape:
            return
        first = list(self.moves(self.opening.size, self.game.colors[0]))
        for line in first[:3]:
            if self.accepts(self.after_opening(line)[-1]):
                same = [one for one in first if one != line][-4:]
                is_any = any(self.accepts(self.after_opening(line, one)[-1]) for one in same)
                said = "accepts" if is_any else "refuses"
                self.turns_why = f"it {said} two stones of one color in a row"
                self.game = self.game._replace(turns=ANY if is_any else ALTERNATE)
                return

    def moves(self, size: tuple[int, int], color: str) -> Iterator[str]:
        """Yield all moves of a color on a board, as the program might take them."""
        if self.mover is None:
            return
        points = [vertex_of(one, self.game) for one in places(size)]
        told = [
            points if one == A_VERTEX else [color] if one == A_COLOR else self.reach(one, size)
            for one in self.mover.shape
        ]
        for words in product(*told):
            yield " ".join([self.mover.name, *words])

    def reach(self, argument: Argument, size: tuple[int, int]) -> Sequence[str]:
        """Return the words of an argument; those numbers, too, that a longer board may have."""
        numbers = [int(word) for word in argument.words if word.isdigit()]
        has_point = self.mover is not None and A_VERTEX in self.mover.shape
        if len(numbers) < len(argument.words) or len(numbers) < 2 or has_point:
            return argument.words
        return [str(n) for n in range(min(numbers), max(*numbers, *size) + 1)]

    def play_games(self) -> None:
        """Play games at random, and ask all questions after each move."""
        sizes = self.sizes[:2] or [self.opening.size]
        small = [size for size in sizes if size[0] * size[1] <= 16] or sizes[:1]
        for seed, size in zip(range(_GAMES), cycle(small), strict=False):
            self._play_game(Random(seed), size)
        for position in self.games:
            for line, reply in position.answers.items():
                self.heard[line.split()[0]].append(reply)
        for one in self.commands.values():
            if one.kind == Kind.SETS and any(reply.text for reply in self.heard[one.name]):
                one.kind = Kind.ASKS

    def _play_game(self, random: Random, size: tuple[int, int]) -> None:
        settings = [one.sample for one in self.commands.values()
                    if one.kind == Kind.SETS and not _may_ask(one)]  # fmt: skip
        said: Said = (*self.opening.of_size(size), *settings)
        colors = cycle(self.game.colors)
        turn = next(colors)
        self._look(said, turn)
        for _ in range(_LONGEST):
            lines = list(self.moves(size, turn))
            random.shuffle(lines)
            for line in lines:
                said = (*said, line)
                if self.accepts(self.trial.last(*said)):
                    break
            else:
                self.games[-1] = self.games[-1]._replace(is_end=True)
                return
            turn = next(colors)
            said = self._look(said, turn)

    def _look(self, commands: Said, turn: str) -> Said:
        """Ask all questions, and note a position; return all that was said."""
        lines = [*self._questions]
        for one in self.commands.values():
            if one.shape and (one.kind == Kind.ASKS or _may_ask(one)):
                lines.append(one.sample or one.name)
        replies = self.trial.replies(*commands, *lines)[len(commands) :]
        self.games.append(Position(commands, turn, dict(zip(lines, replies, strict=True))))
        return (*commands, *lines)

    # --- choices and ends ------------------------------------------------------------------------

    def find_choices(self) -> None:
        """Find what chooses: what it says can be played."""
        if self.mover is None:
            return
        for one in self.commands.values():
            if one.kind == Kind.CHOOSES or (one.kind == Kind.ASKS and one.sample):
                self._see_choice(one, self.mover)

    def _see_choice(self, command: ShownCommand, mover: ShownCommand) -> None:
        is_named = _CHOOSES.search(command.name) is not None
        middle = [each for each in self.games if not each.is_end][:_LOOKED_AT]
        if not is_named:
            # Was a question answered with what may be played, wherever it was asked?
            replies = [each.answers.get(command.name) for each in middle]
            texts = [reply.text for reply in replies if reply]
            if len(texts) < 2 or not all(self._as_move(mover, text, "")[0] for text in texts):
                return
        playable, others = 0, []
        for position in (*middle, *[each for each in self.games if each.is_end][:is_named]):
            words = self.split(command.shape, command.sample)
            said = [position.turn if argument == A_COLOR else word
                    for argument, word in zip(command.shape, words, strict=True)]  # fmt: skip
            line = " ".join([command.name, *said])
            reply = self.trial.last(*position.commands, line)
            if not self.accepts(reply):
                continue
            move, kept = self._as_move(mover, reply.text, position.turn)
            again = bool(move) and self.accepts(self.trial.last(*position.commands, line, move))
            if again or (move and self.accepts(self.trial.last(*position.commands, move))):
                playable += 1
                command.kept.add(kept)
                command.plays = not again
            else:
                others.append(reply.text)
        if playable > 1 and not others:
            command.kind = Kind.CHOOSES
        if command.kind == Kind.CHOOSES:
            heard = [reply.text for reply in self.heard[command.name] if self.accepts(reply)]
            told = [*others, *(text for text in heard if not self._as_move(mover, text, "")[0])]
            command.instead = [text for text in dict.fromkeys(filter(None, told))
                           if text.lower() not in command.kept]  # fmt: skip

    def _as_move(self, mover: ShownCommand, text: str, turn: str) -> tuple[str, str]:
        """Return the move that a reply may name, and a word that stands before it; or nothing."""
        widths = [0 if one == A_COLOR else width(one, self.game) for one in mover.shape]
        words, count = text.split(), sum(widths)
        if len(words) not in (count, count + 1) or not count:
            return "", ""
        kept = words[0].lower() if len(words) > count else ""
        rest = iter(words[bool(kept) :])
        told = [" ".join(islice(rest, number)) or turn for number in widths]
        for one, word in zip(mover.shape, told, strict=True):
            if one == A_VERTEX and not self.is_point(word):
                return "", ""
        return " ".join([mover.name, *told]), kept

    def find_ends(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield questions that show that a game is over: what each says before, and then."""
        for name in sorted(self._questions, key=lambda one: not probes.tells_end(one)):
            if self.command(name).kind != Kind.ASKS:
                continue
            early = {one.answers[name].text for one in self.games if not one.is_end}
            late = {one.answers[name].text for one in self.games if one.is_end}
            is_told = len(early) == 1 and late and not late & early
            if is_told and all("\n" not in one and len(one) <= _SHORT for one in early | late):
                yield name, early.pop(), sorted(late)


def _may_ask(command: ShownCommand) -> bool:
    """Whether what says nothing may have nothing to say yet."""
    return command.kind == Kind.SETS and all(argument.drawn for argument in command.shape)


def gather(
    trial: ProtocolTrial, conversations: Sequence[Said], ask: accepted_lines.Ask
) -> Evidence:
    """Return what a program shows, asked step by step.

    ``conversations``: of tests. ``ask``: a question to the teacher, where nothing else tells.
    """
    listed = probes.list_commands(trial.last)
    opening = accepted_lines.find_opening(trial, listed, conversations, ask)
    game = DeclaredGame(protocol=trial.protocol)
    used = accepted_lines.find_used(chain(*conversations))
    found = Evidence(trial, listed, opening, game, used)
    found.find_sizes()
    found.find_points(conversations)
    found.find_shapes()
    found.find_kinds()
    found.find_mover()
    if found.mover is None and (line := ask(_WHICH_PLAYS)):
        found.take_move(line)
    found.find_refusals()
    found.find_turns()
    found.play_games()
    found.find_choices()
    return found
