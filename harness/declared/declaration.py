"""A game as a teacher declares it in ``assignment.toml``: ``[reference]``, ``[game]``, commands.

Described key by key in ``cases/ASSIGNMENTS.md``. What may be forgotten has a default, which that
page tells. Pure, except :func:`read`.
"""

import re
import runpy
import shlex
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from harness.core import toml_schema
from harness.core.errors import AssignmentError
from harness.core.options import GTP, PROTOCOLS, SANDBOXES
from harness.core.toml_schema import Field, KeyPlace
from harness.specifications.record import Specification
from oracle.assignments import ASSIGNMENTS
from oracle.position import GTP_LETTERS


class Kind:
    """Kinds of commands."""

    STARTS, SETS, MOVES, ASKS, CHOOSES = ALL = ("starts", "sets", "moves", "asks", "chooses")


class Form:
    """Comparisons of replies."""

    EXACT, CASELESS, ANY_ORDER, NUMBERS = ("exact", "caseless", "any order", "numbers")
    COLUMNS, FIRST_WORD, FREE = ("columns", "first word", "free")
    ALL = (EXACT, CASELESS, ANY_ORDER, NUMBERS, COLUMNS, FIRST_WORD, FREE)


class Drawn:
    """Kinds of a command's arguments."""

    COLOR, VERTEX, SIZE, COLUMN_COUNT, ROW_COUNT = ("color", "vertex", "size", "columns", "rows")
    COUNTS = (SIZE, COLUMN_COUNT, ROW_COUNT)
    ALL = (COLOR, VERTEX, *COUNTS)


ALTERNATE, ANY = TURNS = ("alternate", "any")
POINTS, NUMBERED = VERTICES = ("A1", "x y")
_LARGEST = 25
_SMALL = tuple((side, side) for side in (2, 3, 4, 5, 6, 7))


class DeclaredReference(NamedTuple):
    """The program that a teacher trusts."""

    command: str  # {python} stands for the Python of engines; files are beside the declaration
    # Patterns of files beside it that its answers depend on; its command's own are known.
    files: tuple[str, ...] = ()
    fresh: bool = False  # a new process for each conversation: its modes outlive its games
    timeout: float = 60.0  # seconds for a reply
    sandbox: str = "auto"  # one of SANDBOXES
    translate: str = ""  # a file beside the declaration: how its words differ from those of cases


class WrongProgram(NamedTuple):
    """A program that is wrong, as a teacher knows: tests are measured by it."""

    name: str
    command: str  # as typed in a shell; files are beside the declaration
    sentence: str = ""  # what is wrong with it


class GameEndQuery(NamedTuple):
    """Command that asks whether a game is over."""

    ask: str  # the command
    is_: str  # a pattern of the whole reply if it is


class DeclaredGame(NamedTuple):
    """Properties of a declared game."""

    protocol: str = GTP
    colors: tuple[str, ...] = ("b", "w")
    sizes: tuple[tuple[int, int], ...] = _SMALL  # columns, rows
    vertices: str = POINTS
    letters: str = GTP_LETTERS  # of the columns, where vertices are "A1"
    origin: int = 0  # the number of the first column and row, where vertices are "x y"
    turns: str = ALTERNATE
    refused: str = ""  # a pattern found in replies that refuse, though they say that all is well
    refusals: str = Form.FREE  # how the texts of refusals are compared: one of Form.ALL
    over: GameEndQuery | None = None


class Argument(NamedTuple):
    """One argument of a command: a word of Drawn.ALL, or the words that it is one of.

    ``files``: a pattern of files beside the declaration; it names one of them.
    """

    drawn: str = ""
    words: tuple[str, ...] = ()  # "" is not a word at all
    files: str = ""


class DeclaredCommand(NamedTuple):
    """One command, and its known replies."""

    name: str
    kind: str
    arguments: tuple[Argument, ...] = ()
    bad: tuple[str, ...] = ()  # templates of arguments that are to be refused
    # How two replies are compared: of Form.ALL, all together.
    reply: tuple[str, ...] = (Form.EXACT,)
    # A refusal, and whether there is one, is compared in any case. Of what chooses:
    keeps: str = ""  # "first word": this of the reply does not change, whatever is chosen
    instead: tuple[str, ...] = ()  # replies that are not a choice
    plays: bool = False  # what it chooses

    @property
    def is_sized(self) -> bool:
        """Whether it tells the size of a board."""
        return any(one.drawn in Drawn.COUNTS for one in self.arguments)

    @property
    def is_free(self) -> bool:
        """Whether any reply will do."""
        return Form.FREE in self.reply


class _Declared(NamedTuple):
    game: DeclaredGame = DeclaredGame()
    commands: tuple[DeclaredCommand, ...] = ()
    reference: DeclaredReference | None = None
    extends: str = ""  # the assignment that ships and has all other commands
    wrong: tuple[WrongProgram, ...] = ()


class Declaration(_Declared):
    """A game, its commands and who knows its rules."""

    @cached_property
    def command(self) -> Callable[[str], DeclaredCommand | None]:
        """Lookup of a command by name; None if it is not declared."""
        return {one.name: one for one in self.commands}.get

    def of_line(self, line: str) -> DeclaredCommand | None:
        """Return the command that a line says; None if it is not declared."""
        return self.command(line.strip().partition(" ")[0])

    def of_kind(self, *kinds: str) -> tuple[DeclaredCommand, ...]:
        """Return the commands of some kinds."""
        return tuple(one for one in self.commands if one.kind in kinds)

    @cached_property
    def plain_questions(self) -> tuple[DeclaredCommand, ...]:
        """The questions without arguments that have one answer."""
        return tuple(one for one in self.of_kind(Kind.ASKS) if not (one.is_free or one.arguments))

    def alone(self) -> "Declaration":
        """Return the same game with GTP's usual commands in place of an assignment that ships."""
        return self._replace(commands=with_standard(self.commands, self.game), extends="")

    @property
    def move(self) -> DeclaredCommand | None:
        """The command that plays a stone, or None."""
        return next(iter(self.of_kind(Kind.MOVES)), None)


_LATE = "{other} {vertex}"  # wrong where colors take turns
_BAD = ("{turn} {stone}", "{turn} z99", "x {vertex}", _LATE)
_ANY, _NO_MOVE = (Form.FREE,), ("resign", "pass")
_COLOR, _VERTEX, _SIZE = (Argument(word) for word in (Drawn.COLOR, Drawn.VERTEX, Drawn.SIZE))
# What need not be declared of commands that the Go Text Protocol has, version 2, section 6.3.
STANDARD: Mapping[str, DeclaredCommand] = {
    one.name: one
    for one in (
        DeclaredCommand("boardsize", Kind.STARTS, (_SIZE,), reply=_ANY),
        DeclaredCommand("clear_board", Kind.STARTS, reply=_ANY),
        DeclaredCommand("komi", Kind.SETS, (Argument(words=("0", "5.5", "-3")),), reply=_ANY),
        DeclaredCommand("play", Kind.MOVES, (_COLOR, _VERTEX), _BAD, _ANY),
        DeclaredCommand("genmove", Kind.CHOOSES, (_COLOR,), (), _ANY, "", _NO_MOVE, plays=True),
        DeclaredCommand("reg_genmove", Kind.CHOOSES, (_COLOR,), (), _ANY, "", _NO_MOVE),
        DeclaredCommand("undo", Kind.MOVES, reply=_ANY),
        *(
            DeclaredCommand(name, Kind.ASKS, reply=_ANY)
            for name in ("showboard", "name", "version", "list_commands", "known_command")
        ),
        DeclaredCommand("final_score", Kind.ASKS, reply=(Form.NUMBERS,)),
    )
}


# --- from a table ------------------------------------------------------------------------------


def read(path: Path) -> Declaration:
    """Read a file with nothing but a declaration.

    Raises:
        AssignmentError: names the file, the key, what was found and what is expected.
    """
    place = KeyPlace(str(path))
    table = toml_schema.load(place.file)
    found = parse_declaration(toml_schema.read_table(table, FIELDS, place), place)
    return found or Declaration(commands=with_standard((), DeclaredGame()))


def parse_declaration(values: Mapping[str, Any], place: KeyPlace) -> Declaration | None:
    """Return what the values of :data:`FIELDS` declare; None if they declare nothing.

    Raises:
        AssignmentError: what they say does not hold together.
    """
    if not any(values[key] for key in FIELDS):
        return None
    game: DeclaredGame = values["game"] or DeclaredGame()
    commands = values["command"]
    _refuse_twice(commands, place.at("command"), "each command once")
    if values["extends"]:
        for index, one in enumerate(commands):
            if one.kind not in (Kind.ASKS, Kind.SETS):
                expected = f"'{Kind.ASKS}' or '{Kind.SETS}' beside an assignment that ships"
                place.at("command").item(index).at("kind").refuse(one.kind, expected)
    else:
        commands = with_standard(commands, game)
    _refuse_twice(values["wrong"], place.at("wrong"), "each name once")
    return Declaration(game, commands, values["reference"], values["extends"], values["wrong"])


def _refuse_twice(
    items: Sequence[DeclaredCommand | WrongProgram], place: KeyPlace, expected: str
) -> None:
    names = [one.name for one in items]
    for index, name in enumerate(names):
        if name in names[:index]:
            place.item(index).at("name").refuse(name, expected)


def with_standard(
    commands: tuple[DeclaredCommand, ...], game: DeclaredGame
) -> tuple[DeclaredCommand, ...]:
    """Return the commands with those of GTP that begin a game and play, where others do not."""
    if game.protocol != GTP:
        return tuple(_fit_to_game(one, game) for one in commands)
    kinds = {one.kind for one in commands if one.name not in STANDARD}
    names = {one.name for one in commands}
    added = [
        STANDARD[name]
        for name in ("boardsize", "clear_board", "play")
        if name not in names and STANDARD[name].kind not in kinds
    ]
    return tuple(_fit_to_game(one, game) for one in (*added, *commands))


def _fit_to_game(command: DeclaredCommand, game: DeclaredGame) -> DeclaredCommand:
    """Return a command without those usual wrong arguments that are right in this game."""
    if command.bad != _BAD:
        return command
    if command.arguments != (_COLOR, _VERTEX):
        return command._replace(bad=())
    fits = _BAD if game.turns == ALTERNATE else tuple(one for one in _BAD if one != _LATE)
    return command._replace(bad=fits)


# --- readers of values -------------------------------------------------------------------------


def _pattern(value: Any, place: KeyPlace) -> str:
    try:
        re.compile(toml_schema.text(value, place))
    except (re.error, OverflowError, RecursionError) as error:
        place.refuse(value, f"a regular expression ({error})")
    return str(value)


def _program(value: Any, place: KeyPlace) -> str:
    try:
        shlex.split(toml_schema.text(value, place))
    except ValueError as error:
        place.refuse(value, f"a command that can be split ({error})")
    return str(value)


def _size(value: Any, place: KeyPlace) -> tuple[int, int]:
    sides = value if isinstance(value, list) else [value, value]
    if len(sides) != 2 or not all(type(one) is int and 1 <= one <= _LARGEST for one in sides):
        place.refuse(value, f"a size from 1 to {_LARGEST}, or [columns, rows]")
    return sides[0], sides[1]


def _seconds(value: Any, place: KeyPlace) -> float:
    return float(toml_schema.number(0)(value, place))


def _reply(value: Any, place: KeyPlace) -> tuple[str, ...]:
    """Read one word of Form.ALL, or several in a list."""
    if isinstance(value, list):
        return tuple(toml_schema.list_of(toml_schema.one_of(*Form.ALL), 1)(value, place))
    return (toml_schema.one_of(*Form.ALL)(value, place),)


def _argument(value: Any, place: KeyPlace) -> Argument:
    """Read one argument: a word of Drawn.ALL, a list to draw from, a range or files."""
    if value in Drawn.ALL:
        return Argument(value)
    if isinstance(value, list) and value:
        return Argument(words=tuple(_word(one, place.item(i)) for i, one in enumerate(value)))
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        least, most = (_whole(value[key], place.at(key)) for key in ("from", "to"))
        if least <= most < least + 1000:
            return Argument(words=tuple(map(str, range(least, most + 1))))
    if isinstance(value, dict) and value.keys() == {"files"}:
        return Argument(files=toml_schema.text(value["files"], place.at("files")))
    kinds = ", ".join(map(repr, Drawn.ALL))
    return place.refuse(
        value, f"one of {kinds}, a list, {{ from = 1, to = 9 }} or {{ files = '*.txt' }}"
    )


def _word(value: Any, place: KeyPlace) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        place.refuse(value, "a word or a number")
    return str(value)


def _whole(value: Any, place: KeyPlace) -> int:
    if type(value) is not int:
        place.refuse(value, "a whole number")
    return value


def _command(value: Any, place: KeyPlace) -> DeclaredCommand:
    """Read a command; what is missing is as in GTP, if that has one of its name."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        place.at("name").refuse(value, "the name of a command")
    usual = STANDARD.get(value["name"], DeclaredCommand(value["name"], Kind.ASKS))
    kind = toml_schema.one_of(*Kind.ALL)(value.get("kind", usual.kind), place.at("kind"))
    usual = usual if kind == Kind.ASKS else usual._replace(reply=(Form.FREE,))
    return DeclaredCommand(**toml_schema.read_table(value, command_fields(kind, usual), place))


def command_fields(kind: str, usual: DeclaredCommand) -> toml_schema.Schema:
    """Return the keys of a command; ``usual``: what it is where a key is missing."""
    return {
        "name": Field(toml_schema.text),
        "kind": Field(toml_schema.one_of(*Kind.ALL), kind),
        "arguments": Field(toml_schema.list_of(_argument), usual.arguments),
        "bad": Field(toml_schema.list_of(_template), usual.bad),
        "reply": Field(_reply, usual.reply),
        "keeps": Field(toml_schema.one_of(Form.FIRST_WORD), usual.keeps),
        "instead": Field(toml_schema.list_of(toml_schema.text), usual.instead),
        "plays": Field(toml_schema.flag, usual.plays),
    }


TEMPLATE_WORDS = ("turn", "other", "color", "vertex", "stone", "size")


def _template(value: Any, place: KeyPlace) -> str:
    known = dict.fromkeys(TEMPLATE_WORDS, "")
    try:
        str(toml_schema.text(value, place)).format(**known)
    except (KeyError, ValueError, IndexError):
        words = ", ".join(f"{{{word}}}" for word in TEMPLATE_WORDS)
        place.refuse(value, f"arguments with no other braces than {words}")
    return str(value)


_OVER = {"ask": Field(toml_schema.text), "is": Field(_pattern)}
_REFERENCE = {
    "command": Field(_program),
    "files": Field(toml_schema.list_of(toml_schema.text), ()),
    "fresh": Field(toml_schema.flag, False),
    "timeout": Field(_seconds, DeclaredReference("").timeout),
    "sandbox": Field(toml_schema.one_of(*SANDBOXES), DeclaredReference("").sandbox),
    "translate": Field(toml_schema.text, ""),
}
_WRONG = {
    "name": Field(toml_schema.text),
    "command": Field(_program),
    "sentence": Field(toml_schema.text, ""),
}
_USUAL = DeclaredGame()
_GAME = {
    "protocol": Field(toml_schema.one_of(*PROTOCOLS), _USUAL.protocol),
    "colors": Field(toml_schema.list_of(toml_schema.text, 1), _USUAL.colors),
    "sizes": Field(toml_schema.list_of(_size, 1), _USUAL.sizes),
    "vertices": Field(toml_schema.one_of(*VERTICES), _USUAL.vertices),
    "letters": Field(toml_schema.text, _USUAL.letters),
    "origin": Field(toml_schema.whole(), _USUAL.origin),
    "turns": Field(toml_schema.one_of(*TURNS), _USUAL.turns),
    "refused": Field(_pattern, _USUAL.refused),
    "refusals": Field(toml_schema.one_of(Form.EXACT, Form.CASELESS, Form.FREE), _USUAL.refusals),
    "over": Field(
        toml_schema.table(_OVER, lambda ask, **rest: GameEndQuery(ask, rest["is"])), None
    ),
}
# The keys of a declaration, wherever they stand.
FIELDS = {
    "extends": Field(toml_schema.one_of(*ASSIGNMENTS), ""),
    "reference": Field(toml_schema.table(_REFERENCE, DeclaredReference), None),
    "game": Field(toml_schema.table(_GAME, DeclaredGame), None),
    "command": Field(toml_schema.list_of(_command), ()),
    "wrong": Field(toml_schema.list_of(toml_schema.table(_WRONG, WrongProgram)), ()),
}


# --- ``specification.py`` beside a declaration: what TOML cannot say, such as features of tests --
# It has a function ``specify``, which is given the record that the declaration makes and returns
# the record to be used, changed with :func:`dataclasses.replace`: a module for ``features``, say,
# as the assignments that ship have one, or a legend. It is the teacher's own code and runs in this
# process.


FILE = "specification.py"
_FUNCTION = "specify"


def extend(declared: Specification, folder: Path) -> Specification:
    """Return the specification that a folder's own file makes of the declared one, if it has one.

    Raises:
        AssignmentError: the file fails, or does not return a specification.
    """
    path = folder / FILE
    if not path.is_file():
        return declared
    try:
        found = runpy.run_path(str(path))[_FUNCTION](declared)
    except KeyError:
        raise AssignmentError(f"found no function {_FUNCTION}, expected one", str(path)) from None
    except Exception as error:  # noqa: BLE001 - a teacher's program may fail in any way
        text = f"{type(error).__name__}: {error}"
        raise AssignmentError(f"fails with {text}", str(path)) from None
    if not isinstance(found, Specification):
        expected = "expected the Specification that it was given, or one made of it"
        raise AssignmentError(f"{_FUNCTION} returned {found!r:.60}, {expected}", str(path))
    return found
