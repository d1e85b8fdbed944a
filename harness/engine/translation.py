"""Another engine's words for the same things: what is sent to it, and what it answers.

Programs for one game differ in whose sides are whose (a transposed board), in which color begins,
in the names of commands and in words. A table says how, key by key in ``cases/README.md``. Case
files keep their own words: they are translated on the way to the engine, and its answers on the
way back. What an engine really said stays in ``Reply.raw``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from harness.core import toml_schema
from harness.core.records import DONE, Reply
from harness.core.text import decode, encode
from harness.core.toml_schema import Field, KeyPlace
from harness.engine.engine_session import EngineSession

SAME, EXCHANGED = "same", "exchanged"
_WORD = r"\w+(?:-\w+)*"
_TOKEN = re.compile(_WORD)
_ID = re.compile(r"(\d+ +)?(.*)", re.DOTALL)
_COLORS = {"b": "w", "w": "b", "black": "white", "white": "black"}
_LETTERS = "abcdefghjklmnopqrstuvwxyz"  # of GTP's columns
_VERTEX = re.compile(r"([a-z])([1-9]\d?)", re.ASCII)
_ASKS_NAME, _LISTS_NAMES = "known_command", "list_commands"


class Rules(NamedTuple):
    """Changes to the words of a command and of its answer."""

    words: Mapping[str, str] = {}  # ours, in small letters: the engine's
    transposed: bool = False  # columns are rows
    exchanged: bool = False  # Black is White
    letters: str = _LETTERS  # of the columns, in small letters
    arguments: tuple[int, ...] = ()  # from 1: which of ours are the engine's; none: as they come
    reply: tuple[int, ...] = ()  # from 1: which words of each line of its answer are ours

    def theirs(self, text: str) -> str:
        """Return a text of ours in the engine's words."""
        return self._replace_words(text, self.words)

    def ours(self, text: str) -> str:
        """Return a text of the engine's in our words."""
        return self._replace_words(text, {their.lower(): our for our, their in self.words.items()})

    def _replace_words(self, text: str, words: Mapping[str, str]) -> str:
        return _TOKEN.sub(lambda found: self._word(found[0], words), text)

    def _word(self, word: str, words: Mapping[str, str]) -> str:
        """Return one word changed: by the table alone, if that has it."""
        small = word.lower()
        if small in words:
            return words[small]
        if self.exchanged and small in _COLORS:
            return _in_case_of(word, _COLORS[small])
        turned = self._turn(small) if self.transposed else small
        return word if turned == small else _in_case_of(word, turned)

    def _turn(self, vertex: str) -> str:
        """Return a vertex on the other side of the diagonal; of other words the word."""
        found = _VERTEX.fullmatch(vertex)
        if not found or found[1] not in self.letters or int(found[2]) > len(self.letters):
            return vertex
        return f"{self.letters[int(found[2]) - 1]}{self.letters.index(found[1]) + 1}"


class Translation(NamedTuple):
    """Dialect of one engine."""

    everywhere: Rules = Rules()
    commands: Mapping[str, Rules] = {}  # by our names, in place of what holds everywhere
    names: Mapping[str, str] = {}  # of commands: ours, the engine's

    def translate_command(self, line: str) -> str:
        """Return a command, perhaps with an id, as the engine is sent it."""
        found = _ID.fullmatch(line)
        assert found is not None
        name, blank, rest = found[2].partition(" ")
        rules = self.of(name)
        words = _in_order(rules.theirs(rest), rules.arguments)
        if name == _ASKS_NAME:
            words = self.names.get(rest, rest)
        return f"{found[1] or ''}{self.names.get(name, name)}{blank}{words}"

    def translate_reply(self, line: str, reply: Reply) -> Reply:
        """Return the engine's reply to a command of ours in our words."""
        found = _ID.fullmatch(line)
        assert found is not None
        name = found[2].partition(" ")[0]
        rules = self.of(name)
        if name == _LISTS_NAMES:
            ours = {their: our for our, their in self.names.items()}
            lines = [ours.get(one, one) for one in reply.text.split("\n")]
        else:
            lines = [_in_order(rules.ours(one), rules.reply) for one in reply.text.split("\n")]
        status = rules.ours(reply.status) if reply.ok and reply.status != DONE else reply.status
        return reply._replace(text="\n".join(lines), status=status)

    def of(self, name: str) -> Rules:
        """Return what holds for a command of ours."""
        return self.commands.get(name, self.everywhere)


class TranslatedSession(EngineSession):
    """A session with an engine that has other words."""

    def __init__(self, translation: Translation, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._translation = translation

    def send(self, lines: Sequence[bytes], replies: list[Reply], *, judged: bool = False) -> None:
        """Send lines of ours; see :meth:`EngineSession.send`."""
        self._ours = [decode(line).removesuffix("\n") for line in lines]
        self._said: list[Reply] = []  # in the engine's words
        self._replies = replies
        theirs = [encode(self._translation.translate_command(line)) + b"\n" for line in self._ours]
        super().send(theirs, self._said, judged=judged)

    def receive(self) -> None:
        """Append the replies in our words; see :meth:`EngineSession.receive`."""
        try:
            super().receive()
        finally:
            self._replies += map(self._translation.translate_reply, self._ours, self._said)


def sessions_of(table: str) -> Callable[..., EngineSession]:
    """Return what begins a conversation with an engine; ``table``: a file, "" if it has our words.

    Raises:
        AssignmentError: the table cannot be used.
    """
    return partial(TranslatedSession, read(table)) if table else EngineSession


def _in_case_of(word: str, other: str) -> str:
    """Return another word in capitals if this one is."""
    if word[:1].islower():
        return other
    return other.upper() if word.isupper() else other.capitalize()


def _in_order(text: str, order: Sequence[int]) -> str:
    """Return the words of a text in another order, if it has as many."""
    words = text.split()
    if not order or len(words) != len(order):
        return text
    return " ".join(words[place - 1] for place in order)


def read(path: str) -> Translation:
    """Read a table.

    Raises:
        AssignmentError: names the file, the key, what was found and what is expected.
    """
    place = KeyPlace(path)
    values = toml_schema.read_table(toml_schema.load(path), _SCHEMA, place)
    values |= {"arguments": (), "reply": ()}
    names, commands, place = values.pop("names"), values.pop("command"), place.at("command")
    if not isinstance(commands, dict):
        place.refuse(commands, "a table for each command, such as [command.play]")
    fields = {  # what a command leaves out is as everywhere
        key: Field(field.read, values.get(key, field.default)) for key, field in _OF_ONE.items()
    }
    found = {
        name: _rules(toml_schema.read_table(own, fields, place.at(name)))
        for name, own in commands.items()
    }
    return Translation(_rules(values), found, names)


def _rules(values: dict[str, Any]) -> Rules:
    exchanged = values["colors"] == EXCHANGED
    others = {key: value for key, value in values.items() if key != "colors"}
    return Rules(exchanged=exchanged, **others)


def _words(value: Any, place: KeyPlace) -> dict[str, str]:
    """Read a table of words: ours, in small letters, and the engine's."""
    return {our.lower(): their for our, their in _pairs(value, place, _WORD).items()}


def _pairs(value: Any, place: KeyPlace, expression: str) -> dict[str, str]:
    """Read a table of pairs that can be read in both directions."""
    if not isinstance(value, dict):
        place.refuse(value, "a table of words, ours on the left and the engine's on the right")
    seen: dict[str, str] = {}
    for our, their in value.items():
        for word in (our, their):
            if not isinstance(word, str) or not re.fullmatch(expression, word):
                place.at(our).refuse(word, "one word")
        if their.lower() in seen:
            place.at(our).refuse(their, f"another word than for {seen[their.lower()]!r}")
        seen[their.lower()] = our
    return value


def _order(value: Any, place: KeyPlace) -> tuple[int, ...]:
    found: tuple[int, ...] = toml_schema.list_of(toml_schema.whole(1), 1)(value, place)
    if sorted(found) != list(range(1, len(found) + 1)):
        place.refuse(value, f"each number from 1 to {len(found)} once, such as [2, 1]")
    return found


def _letters(value: Any, place: KeyPlace) -> str:
    text: str = toml_schema.text(value, place).lower()
    if not text.isalpha() or not text.isascii() or len(set(text)) < len(text):
        place.refuse(value, "the letters of the columns, each once")
    return text


_OF_ONE = {
    "words": Field(_words, {}),
    "transposed": Field(toml_schema.flag, False),
    "colors": Field(toml_schema.one_of(SAME, EXCHANGED), SAME),
    "letters": Field(_letters, _LETTERS),
    "arguments": Field(_order, ()),
    "reply": Field(_order, ()),
}
_SCHEMA = {
    **{key: _OF_ONE[key] for key in ("words", "transposed", "colors", "letters")},
    "names": Field(lambda value, place: _pairs(value, place, r"\S+"), {}),
    "command": Field(lambda value, _: value, {}),
}
