"""What a program shows of its game: conversations of tests, and games that are played with it.

Nothing is known of the game beforehand. So a command is what it does: it moves if answers change
after it and it cannot be said twice, it chooses if what it says can be played, and so on.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from harness.declared.declaration import (
    ALTERNATE,
    ANY,
    NUMBERED,
    POINTS,
    Argument,
    DeclaredGame,
    Kind,
)
from harness.declared.game_state import after, places, vertex_of, width
from harness.declared.probes import (
    A_COLOR,
    A_VERTEX,
    TRIED,
    ProtocolTrial,
    Shape,
    is_about_engine,
    list_pairs,
    pattern_of,
    resize,
    sample,
    sides,
    size_of,
    tells_end,
)
from harness.records import Reply
from oracle import command_properties

Words = tuple[str, ...]
Said = tuple[str, ...]  # lines
Ask = Callable[[str], str]  # a question to the teacher; "" if there is no answer

_COLORS = re.compile(r"(?i)b|w|black|white")
_BEGINS = re.compile(r"(?i)game|board|size|init|new|start|begin|reset")
_CHOOSES = re.compile(r"(?i)genmove|solve|think|best_?move|choose")
_LEAVES_OUT = re.compile(
    r"(?i)quit|exit|save|load|undo|swap|pass|clear|reset|setup|interrupt|analy[sz]e"
)
_LONGEST = 60  # moves of a game
_GAMES = 2
_SIDE = 3  # of the first board to try
_MOST = 0.8  # of the pairs of numbers in tests lie on the board, if they are points
_FEW_DIGITS = 3  # that are taken where tests have one; more are a number of any size
_LOOKED_AT = 3  # positions in which it is seen whether a choice can be played
_SHORT = 24  # characters of a reply that tells whether a game is over


class Position(NamedTuple):
    """Where a game that was played has led to."""

    said: Said
    turn: str
    answers: dict[str, Reply]  # by question
    is_end: bool  # no move was accepted any more


class Evidence:
    """A program, and what it has shown.

    Attributes: ``game``, its points, colors and refusals as far as they are known; ``opening``,
    the lines that begin a board; ``starts``, the names of what begins one; ``sizes``, of boards;
    ``shapes``, the arguments of commands that were accepted; ``kinds``, what commands do;
    ``heard``, the replies to each command; ``games``, positions of games that were played.
    """

    def __init__(self, trial: ProtocolTrial, conversations: Sequence[Said], ask: Ask) -> None:
        """``conversations``: of tests. ``ask``: a question to the teacher."""
        self.trial = trial
        self.game = DeclaredGame(protocol=trial.protocol)
        self.heard: dict[str, list[tuple[Words, Reply]]] = {}
        self.shapes: dict[str, Shape] = {}
        self.samples: dict[str, str] = {}  # by name: a line that was accepted
        self.kinds: dict[str, str] = {}
        self.games: list[Position] = []
        self.refusals: list[str] = []  # texts of moves that were refused, though all is well
        self.turns_why = ""
        self._ask = ask
        self._conversations = list(conversations)
        self._listed = trial.list_commands()
        self._begin_boards()
        self._replay()
        self._find_shapes()
        self._find_kinds()
        self._read_refusals()
        self._see_turns()
        self._play_games()
        self._find_choices()

    # --- tests -----------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The commands that it says it has, and those of tests."""
        known: Sequence[str] = self._listed
        if not known:
            known = [name for name in command_properties.STANDARD if self.trial.knows(name)]
        return list(dict.fromkeys((*known, *self.used)))

    @property
    def used(self) -> dict[str, list[Words]]:
        """By name the arguments with which commands stand in tests."""
        found: dict[str, list[Words]] = {}
        for line in itertools.chain.from_iterable(self._conversations):
            name, *words = line.split()
            found.setdefault(name, []).append(tuple(words))
        return found

    def accepts(self, reply: Reply) -> bool:
        """Whether a command was accepted, as far as refusals are known."""
        is_refused = self.game.refused and re.search(self.game.refused, reply.text)
        return not reply.is_refusal and not is_refused

    def _begin_boards(self) -> None:
        """Find what begins a board: as tests do, as in GTP, or by a name like ``new_game``."""
        if self._conversations:
            firsts = {one[0].split()[0] for one in self._conversations}
            self.starts = firsts if len(firsts) == 1 else {*firsts, "boardsize", "clear_board"}
            own = itertools.takewhile(self._is_start, self._conversations[0])
            found = [tuple(own), *self._usual_openings()]
        else:
            found = [*self._usual_openings(), *self._named_openings()]
        self.opening = next((one for one in found if self._opens(one)), ())
        if not self.opening and (line := self._ask(_WHICH_BEGINS)):
            self.opening = (line,)
        self.starts = {line.split()[0] for line in self.opening} | (
            self.starts if self._conversations else set()
        )
        self.sizes = list(self._find_sizes())

    def _is_start(self, line: str) -> bool:
        return line.split(maxsplit=1)[0] in self.starts

    def _opens(self, lines: Said) -> bool:
        return bool(lines) and all(map(self.accepts, self.trial.replies(*lines)))

    def _usual_openings(self) -> Iterator[Said]:
        yield f"boardsize {_SIDE}", "clear_board"
        yield (f"boardsize {_SIDE}",)
        yield f"boardsize {_SIDE} {_SIDE}", "clear_board"

    def _named_openings(self) -> Iterator[Said]:
        for name in filter(_BEGINS.search, self._listed):
            yield (f"{name} {_SIDE}",)
            yield (f"{name} {_SIDE} {_SIDE}",)
            yield (name,)

    def _find_sizes(self) -> Iterator[tuple[int, int]]:
        """Yield the sizes of tests, the smaller ones first; without any, those that are taken."""
        sized = [sides(line.split()[1:]) for line in self.opening]
        count = next((len(one) for one in sized if one), 0)
        if not count:
            return
        sizer = next(line for line, one in zip(self.opening, sized, strict=True) if one)
        used = self.used.get(sizer.split()[0], ())
        told = {size_of(sides(words)) for words in used if sides(words)}
        if told:
            yield from sorted(told, key=lambda size: (size[0] * size[1], size))
            return
        sizes = [(n, n) for n in range(2, 8)] + [(3, 2)] * (count > 1)
        lines = {resize(sizer, size): size for size in sizes}
        replies = self.trial.replies(*lines)
        yield from (lines[line] for line, reply in zip(lines, replies, strict=True)
                    if self.accepts(reply))  # fmt: skip

    def open(self, size: tuple[int, int]) -> Said:
        """Return what begins a board of another size."""
        return tuple(resize(line, size) for line in self.opening)

    # --- arguments -------------------------------------------------------------------------------

    def _replay(self) -> None:
        """Hear the conversations of tests, and see whether their points are two numbers."""
        pairs: dict[tuple[str, int, int], list[bool]] = {}
        for said in self._conversations:
            size = (0, 0)
            for line, reply in zip(said, self.trial.replies(*said), strict=True):
                name, *words = line.split()
                self.heard.setdefault(name, []).append((tuple(words), reply))
                if name in self.starts and sides(words):
                    size = size_of(sides(words))
                elif not reply.is_refusal:
                    for key, is_on in list_pairs(name, words, size):
                        pairs.setdefault(key, []).append(is_on)
        self._see_points(pairs)

    def _see_points(self, pairs: dict[tuple[str, int, int], list[bool]]) -> None:
        """See where the two numbers of points are: they nearly always lie on the board."""
        self._places: dict[str, int] = {}  # by name: where they begin
        fit = {key for key, on in pairs.items() if len(on) > 1 and sum(on) >= _MOST * len(on)}
        for name, place, origin in sorted(fit, key=lambda one: one[1:]):
            if name not in self._places:
                self._places[name] = place
                if self.game.vertices == POINTS or (name, place, 1 - origin) not in fit:
                    self.game = self.game._replace(vertices=NUMBERED, origin=origin)

    def _find_shapes(self) -> None:
        """Find the arguments of each command: as tests have them, or the first that it takes."""
        unused: dict[str, list[tuple[str, Shape, DeclaredGame]]] = {}
        for name in self.names:
            if name in self.starts or is_about_engine(name):
                continue
            if used := self.used.get(name):
                self._take_shape(name, used)
            else:
                unused[name] = self._try_shapes(name)
        if not self.used:
            self._vote_on_points(unused)
        for name, accepted in unused.items():
            for line, shape, game in accepted:
                if game.vertices == self.game.vertices or A_VERTEX not in shape:
                    self.shapes[name], self.samples[name] = shape, line
                    break

    def _vote_on_points(
        self, accepted: Mapping[str, list[tuple[str, Shape, DeclaredGame]]]
    ) -> None:
        """See whether points are two numbers: for ``play``, else for most that take one form.

        One command among many may take two numbers of another kind, or any word.
        """
        forms = {
            name: {game.vertices for _, shape, game in found if A_VERTEX in shape}
            for name, found in accepted.items()
        }
        votes = list(forms.values())
        is_played = POINTS in forms.get("play", ())
        if not is_played and votes.count({NUMBERED}) > votes.count({POINTS}):
            self.game = self.game._replace(vertices=NUMBERED)

    def _take_shape(self, name: str, used: list[Words]) -> None:
        joined = [self._join(name, words) for words in used]
        most = max(map(len, joined))
        self.shapes[name] = tuple(
            self._argument([words[place] for words in joined if place < len(words)], place)
            for place in range(most)
        )
        for words in dict.fromkeys(used):
            line = " ".join([name, *words])
            if not self.trial.last(*self.opening, line).is_refusal:
                self.samples[name] = line
                places = range(len(self.shapes[name]))
                self.shapes[name] = tuple(self._widen(name, place) for place in places)
                return

    def _widen(self, name: str, place: int) -> Argument:
        """Return an argument with the digits beside the only one in tests that are accepted."""
        one, said = self.shapes[name][place], self._words_by_place(self.samples[name])
        if len(one.words) != 1 or not one.words[0].isdigit():
            return one
        lines = {" ".join([name, *said[:place], digit, *said[place + 1 :]]): digit
                 for digit in "0123456789"}  # fmt: skip
        accepted = [lines[line] for line in self._accepted(self.opening, list(lines))]
        return one._replace(words=tuple(accepted)) if 1 < len(accepted) <= _FEW_DIGITS else one

    def _join(self, name: str, words: Words) -> Words:
        """Return words with the two numbers of a point as one."""
        place = self._places.get(name)
        if place is None or len(words) < place + 2:
            return words
        return *words[:place], " ".join(words[place : place + 2]), *words[place + 2 :]

    def _argument(self, words: list[str], place: int) -> Argument:
        if all(map(_COLORS.fullmatch, words)):
            if not {"b", "w"} & set(words):
                ordered = sorted(dict.fromkeys(words), key=str.lower)
                self.game = self.game._replace(colors=tuple(ordered)) if place == 0 else self.game
            return A_COLOR
        if all(map(self._is_point, words)):
            return A_VERTEX
        return Argument(words=tuple(dict.fromkeys(words)))

    def _is_point(self, text: str) -> bool:
        if self.game.vertices == NUMBERED:
            return re.fullmatch(r"\d+ \d+", text) is not None
        return re.fullmatch(r"[A-Za-z]\d{1,2}", text) is not None

    def _try_shapes(self, name: str) -> list[tuple[str, Shape, DeclaredGame]]:
        """Return lines that are accepted, each with its arguments and the game that has them."""
        forms = [self.game.vertices, *([NUMBERED] if not self.used else [])]
        tried: list[tuple[str, Shape, DeclaredGame]] = []
        for form in dict.fromkeys(forms):
            game = self.game._replace(vertices=form)
            for shape in TRIED:
                if form != self.game.vertices and A_VERTEX not in shape:
                    continue
                tried.append(
                    (" ".join([name, *(sample(one, game) for one in shape)]), shape, game)
                )
        accepted = self._accepted(self.opening, [line for line, _, _ in tried])
        return [one for one in tried if one[0] in accepted]

    def _accepted(self, said: Said, lines: Sequence[str]) -> list[str]:
        """Return which of some lines are accepted, each after the same conversation.

        They are said one after the other as long as they are refused, for that changes nothing.
        """
        found: list[str] = []
        rest = list(lines)
        while rest:
            replies = self.trial.replies(*said, *rest)[len(said) :]
            are_good = [self.accepts(reply) or not reply.raw for reply in replies]
            place = are_good.index(True) if True in are_good else len(rest)
            found += rest[place : place + 1] * (place < len(rest) and bool(replies[place].raw))
            rest = rest[place + 1 :]
        return found

    # --- what commands do ------------------------------------------------------------------------

    def _find_kinds(self) -> None:
        """Find what each command does, by the questions that are answered otherwise after it."""
        plain = [name for name, shape in self.shapes.items() if not shape and name in self.samples]
        self._questions = [
            name for name in plain if not (_CHOOSES.search(name) or _LEAVES_OUT.search(name))
        ]
        twice = self.trial.replies(*self.opening, *self._questions, *self._questions)
        replies, count = twice[len(self.opening) :], len(self._questions)
        self._questions = [
            name
            for name, one, other in zip(
                self._questions, replies[:count], replies[count:], strict=True
            )
            if one.text == other.text
        ]
        for name in self.shapes:
            self.kinds[name] = self._kind(name)
        if self.mover is None and (line := self._ask(_WHICH_PLAYS)):
            name, *words = line.split()
            self._conversations.append((*self.opening, line))
            self._take_shape(name, [tuple(words)])
            self.kinds[name], self.samples[name] = Kind.MOVES, line

    def _kind(self, name: str) -> str:
        if _CHOOSES.search(name):
            return Kind.CHOOSES
        if name not in self.samples or not self.shapes[name]:
            return Kind.MOVES if name == "undo" else Kind.ASKS
        line, asked = self.samples[name], tuple(self._questions)
        before = self._texts(asked)
        once = self._texts((line, *asked))
        twice = self._texts((line, line, *asked))
        if once[1:] == before and twice[1] == once[0]:
            return Kind.ASKS if once[0] else Kind.SETS
        if twice[0] == twice[1] and twice[2:] == once[1:] and not self._has_point(name):
            return Kind.SETS
        return Kind.MOVES

    def _has_point(self, name: str) -> bool:
        return A_VERTEX in self.shapes[name]

    def _texts(self, lines: Said) -> list[str]:
        replies = self.trial.replies(*self.opening, *lines)[len(self.opening) :]
        return [f"{'' if reply.ok else '?'}{reply.text}" for reply in replies]

    @property
    def mover(self) -> str | None:
        """The command that plays; None if none was found."""
        found = [name for name, kind in self.kinds.items() if kind == Kind.MOVES
                 and self.shapes[name] and name in self.samples and name != "undo"]  # fmt: skip
        return "play" if "play" in found else next(iter(found), None)

    # --- moves that are refused ------------------------------------------------------------------

    def _read_refusals(self) -> None:
        """Find what is said to moves that are refused as if all were well."""
        if self.mover is None:
            return
        line = self.samples[self.mover]
        good = self.trial.last(*self.opening, line)
        if good.is_refusal:
            return
        found = [self.trial.last(*self.opening, one) for one in self._wrong_moves(line)]
        asked = tuple(self._questions)
        once, twice = (self._texts((*[line] * times, *asked)) for times in (1, 2))
        if asked and once[1:] == twice[2:]:
            found.append(self.trial.last(*self.opening, line, line))
        texts = [one.text for one in found if not one.is_refusal and one.text != good.text]
        self.refusals = list(dict.fromkeys(filter(None, texts)))
        pattern = pattern_of(self.refusals)
        if pattern and not re.search(pattern, good.text):
            self.game = self.game._replace(refused=pattern)

    def _wrong_moves(self, line: str) -> Iterator[str]:
        """Yield a move with each of its words replaced by one that cannot be right."""
        name, *words = line.split()
        for place, word in enumerate(words):
            wrong = "99" if word.isdigit() else "z99" if self._is_point(word) else "x"
            yield " ".join([name, *words[:place], wrong, *words[place + 1 :]])

    def bad(self) -> list[str]:
        """Return templates of moves that the program refuses after a first one."""
        if self.mover is None:
            return []
        line, shape = self.samples[self.mover], self.shapes[self.mover]
        said = self._words_by_place(line)
        turn = after(self.game.colors[0], self.game.colors)
        free = vertex_of((1, 0), self.game)
        stand_for = {A_COLOR: ("{turn}", turn), A_VERTEX: ("{vertex}", free)}
        right = [stand_for.get(one, (word, word)) for one, word in zip(shape, said, strict=True)]
        told: dict[str, str] = {}  # by line, its template
        for place, one in enumerate(shape):
            for wrong in self._wrong_words(one, said[place]):
                each = [*right[:place], wrong, *right[place + 1 :]]
                text = " ".join(word for _, word in each)
                told[f"{self.mover} {text}"] = " ".join(template for template, _ in each)
        accepted = self._accepted((*self.opening, line), list(told))
        return [template for text, template in told.items() if text not in accepted]

    def _wrong_words(self, one: Argument, word: str) -> list[tuple[str, str]]:
        """Return templates of wrong arguments, each with what stands for it after a first move."""
        if one == A_COLOR:
            late = [("{other}", self.game.colors[0])] * (self.game.turns == ALTERNATE)
            return [("x", "x"), *late]
        if one == A_VERTEX:
            off = "z99" if self.game.vertices == POINTS else "99 99"
            return [("{stone}", word), (off, off)]
        return [("99", "99")]

    def _words_by_place(self, line: str) -> list[str]:
        name, *words = line.split()
        rest = iter(words)
        return [
            " ".join(next(rest, "") for _ in range(self._width(one))) for one in self.shapes[name]
        ]

    # --- games -----------------------------------------------------------------------------------

    def _see_turns(self) -> None:
        """See whether two moves of one color in a row are accepted."""
        if self.mover is None or A_COLOR not in self.shapes[self.mover]:
            return
        first = list(self.moves(self.sample_size, self.game.colors[0]))
        for line in first[:3]:
            if self.accepts(self.trial.last(*self.opening, line)):
                same = [one for one in first if one != line][-4:]
                is_any = any(
                    self.accepts(self.trial.last(*self.opening, line, one)) for one in same
                )
                said = "accepts" if is_any else "refuses"
                self.turns_why = f"it {said} two stones of one color in a row"
                self.game = self.game._replace(turns=ANY if is_any else ALTERNATE)
                return

    @property
    def sample_size(self) -> tuple[int, int]:
        """The size of the board that the opening begins."""
        return next((size_of(one) for line in self.opening if (one := sides(line.split()[1:]))),
                    (_SIDE, _SIDE))  # fmt: skip

    def moves(self, size: tuple[int, int], color: str) -> Iterator[str]:
        """Yield all moves of a color on a board, as the program might take them."""
        if self.mover is None:
            return
        points = [vertex_of(one, self.game) for one in places(size)]
        told = [
            points if one == A_VERTEX else [color] if one == A_COLOR else self.reach(one, size)
            for one in self.shapes[self.mover]
        ]
        for words in itertools.product(*told):
            yield " ".join([self.mover, *words])

    def reach(self, one: Argument, size: tuple[int, int]) -> Sequence[str]:
        """Return the words of an argument; those numbers, too, that a longer board may have."""
        numbers = [int(word) for word in one.words if word.isdigit()]
        if len(numbers) < len(one.words) or len(numbers) < 2 or self._has_point(self.mover or ""):
            return one.words
        return [str(n) for n in range(min(numbers), max(*numbers, *size) + 1)]

    def _play_games(self) -> None:
        """Play games at random, and ask all questions after each move."""
        sizes = self.sizes[:2] or [self.sample_size]
        small = [size for size in sizes if size[0] * size[1] <= 16] or sizes[:1]
        for seed, size in zip(range(_GAMES), itertools.cycle(small), strict=False):
            self._play_game(Random(seed), size)
        for position in self.games:
            for line, reply in position.answers.items():
                name, *words = line.split()
                self.heard.setdefault(name, []).append((tuple(words), reply))
        for name, kind in self.kinds.items():
            if kind == Kind.SETS and any(reply.text for _, reply in self.heard.get(name, ())):
                self.kinds[name] = Kind.ASKS

    def _play_game(self, random: Random, size: tuple[int, int]) -> None:
        settings = [self.samples[n] for n, kind in self.kinds.items() if kind == Kind.SETS
                    and not self._may_ask(n)]  # fmt: skip
        said: Said = (*self.open(size), *settings)
        colors = itertools.cycle(self.game.colors)
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

    def _look(self, said: Said, turn: str) -> Said:
        """Ask all questions, and note a position; return all that was said."""
        lines = [*self._questions]
        for name, kind in self.kinds.items():
            if self.shapes[name] and (kind == Kind.ASKS or self._may_ask(name)):
                lines.append(self.samples.get(name, name))
        replies = self.trial.replies(*said, *lines)[len(said) :]
        self.games.append(Position(said, turn, dict(zip(lines, replies, strict=True)), False))
        return (*said, *lines)

    def _may_ask(self, name: str) -> bool:
        """Whether what says nothing may have nothing to say yet."""
        return self.kinds[name] == Kind.SETS and all(one.drawn for one in self.shapes[name])

    # --- choices and ends ------------------------------------------------------------------------

    def _find_choices(self) -> None:
        """Find what chooses: what it says can be played."""
        self.kept: dict[str, set[str]] = {}  # by name: words before the choice, such as winners
        self.plays: dict[str, bool] = {}
        self.instead: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            if kind in (Kind.ASKS, Kind.CHOOSES) and (
                name in self.samples or kind == Kind.CHOOSES
            ):
                self._see_choice(name)

    def _see_choice(self, name: str) -> None:
        is_named = _CHOOSES.search(name) is not None
        middle = [one for one in self.games if not one.is_end][:_LOOKED_AT]
        if self.mover is None or not (is_named or self._names_moves(name, middle)):
            return
        playable, others = 0, []
        for position in (*middle, *[one for one in self.games if one.is_end][:is_named]):
            line = self._with_color(name, position.turn)
            reply = self.trial.last(*position.said, line)
            if not self.accepts(reply):
                continue
            move, kept = self._as_move(reply.text, position.turn)
            again = self.accepts(self.trial.last(*position.said, line, move)) if move else False
            if move and (again or self.accepts(self.trial.last(*position.said, move))):
                playable += 1
                self.kept.setdefault(name, set()).add(kept)
                self.plays[name] = not again
            else:
                others.append(reply.text)
        if playable > 1 and not others:
            self.kinds[name] = Kind.CHOOSES
        if self.kinds[name] == Kind.CHOOSES:
            heard = [reply.text for _, reply in self.heard.get(name, ())
                     if self.accepts(reply) and not self._as_move(reply.text, "")[0]]  # fmt: skip
            known = self.kept.get(name, set())
            told = dict.fromkeys(filter(None, [*others, *heard]))
            self.instead[name] = [one for one in told if one.lower() not in known]

    def _names_moves(self, name: str, positions: Sequence[Position]) -> bool:
        """Whether a question was answered with what may be played, wherever it was asked."""
        texts = [one.answers[name].text for one in positions if name in one.answers]
        return len(texts) > 1 and all(self._as_move(text, "")[0] for text in texts)

    def _with_color(self, name: str, turn: str) -> str:
        words = [turn if one == A_COLOR else word for one, word in
                 zip(self.shapes.get(name, ()), self._words_by_place(self.samples.get(name, name)),
                     strict=False)]  # fmt: skip
        return " ".join([name, *words])

    def _as_move(self, text: str, turn: str) -> tuple[str, str]:
        """Return the move that a reply may name, and a word that stands before it; or nothing."""
        assert self.mover is not None
        shape = self.shapes[self.mover]
        words, count = text.split(), sum(self._width(one) for one in shape if one != A_COLOR)
        if len(words) not in (count, count + 1) or not count:
            return "", ""
        kept = words[0].lower() if len(words) > count else ""
        rest = iter(words[bool(kept) :])
        told = [
            turn if one == A_COLOR else " ".join(next(rest) for _ in range(self._width(one)))
            for one in shape
        ]
        are_points = all(
            self._is_point(word) for one, word in zip(shape, told, strict=True) if one == A_VERTEX
        )
        return (" ".join([self.mover, *told]), kept) if are_points else ("", "")

    def _width(self, one: Argument) -> int:
        return width(one, self.game)

    def find_ends(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield questions that show that a game is over: what each says before, and then."""
        for name in sorted(self._questions, key=lambda one: not tells_end(one)):
            if self.kinds.get(name) != Kind.ASKS:
                continue
            early = {one.answers[name].text for one in self.games if not one.is_end}
            late = {one.answers[name].text for one in self.games if one.is_end}
            is_told = len(early) == 1 and late and not late & early
            if is_told and all("\n" not in one and len(one) <= _SHORT for one in early | late):
                yield name, early.pop(), sorted(late)


_WHICH_BEGINS = "No command was found that begins a board. Which line begins one of size 3"
_WHICH_PLAYS = "No command was found that plays. Which line plays the first move on that board"
