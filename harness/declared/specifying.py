"""Turns a declaration into a specification, the record that all other rooms work with.

Replies to declared commands are compared as their ``reply`` says, in forms. A form reads a reply
as words. Forms of one command are applied together: ``any order`` with ``caseless``, say. A
refusal that says ``=`` has the form that ``refusals`` names, whatever the command's own is.
"""

import re
from dataclasses import replace
from decimal import Decimal, localcontext
from functools import partial
from pathlib import Path
from random import Random

from harness.core.records import Reply
from harness.declared import engine
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import (
    STANDARD,
    Declaration,
    DeclaredCommand,
    DeclaredGame,
    Form,
    Kind,
)
from harness.declared.engine import ReferenceEngine
from harness.declared.game_state import ConversationState, refuses
from harness.declared.program_process import ProgramStart
from harness.declared.reference import ReferenceProgram
from harness.reading.pattern import escape_answer
from harness.specifications import specification
from harness.specifications.record import InProcess, Specification, Truth, reply_of
from harness.vocabulary import BoardKind, answers
from harness.vocabulary.answers import SETTING, AnswerForm, is_a_move
from harness.vocabulary.scenes import Feature, FeatureKind, SceneCommand, SceneMoment
from oracle import command_properties
from oracle.command_properties import BOARD, MOVED, CommandProperties
from oracle.gtp.protocol import Engine, is_number, split

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)", re.ASCII)
_PLACES = Decimal("0.001")  # to which numbers are compared
_REFUSED = "refused"  # stands for every refusal where their texts do not count


def form_of(command: DeclaredCommand, game: DeclaredGame) -> AnswerForm:
    """Return how replies to a command are compared."""
    if command.kind == Kind.CHOOSES:
        # Which choices are right, the reply alone does not tell: harness.declared.engine does.
        form = _of_words((Form.FIRST_WORD, Form.CASELESS))
        form = form._replace(samples=lambda text: (text,), is_exact=False)
    else:
        form = SETTING if command.is_free else _of_words(command.reply)
    if not game.refused:
        return form
    refused = re.compile(game.refused)
    refusal = SETTING if game.refusals == Form.FREE else _of_words((game.refusals,))

    def of(text: str) -> AnswerForm:
        return refusal if refused.search(text) else form

    def normal(text: str) -> str:
        return f"{_REFUSED} {refusal.normal(text)}" if refused.search(text) else form.normal(text)

    def expression(text: str) -> str:
        if refused.search(text) and refusal is SETTING:
            return match_anywhere(refused.pattern)
        return of(text).expression(text)

    return form._replace(
        normal=normal, expression=expression, samples=lambda text: of(text).samples(text)
    )


def _of_words(reply: tuple[str, ...]) -> AnswerForm:
    if reply == (Form.EXACT,):
        return answers.EXACT
    if reply == (Form.CASELESS,):
        return answers.CASELESS
    return AnswerForm(
        partial(_normal, reply=reply),
        partial(_expression, reply=reply),
        partial(_samples, reply=reply),
    )


def match_anywhere(pattern: str) -> str:
    """Return what matches a whole text in which a pattern is found; its flags stay in front."""
    flags = re.match(r"(\(\?[a-z]+\))?", pattern)
    assert flags is not None
    # (Not [\s\S], which takes milliseconds to compile where case is ignored; nor a flag for all
    # signs, which the other format of case files does not know.)
    return rf"{flags[0]}([^\n]|\n)*({pattern[flags.end() :]})([^\n]|\n)*"


# --- normal texts ------------------------------------------------------------------------------


def _normal(text: str, reply: tuple[str, ...]) -> str:
    """Return what is the same for replies that are the same."""
    words = text.split()
    if Form.FIRST_WORD in reply:
        words = words[:1]
    if Form.CASELESS in reply:
        words = [word.lower() for word in words]
    if Form.NUMBERS in reply or Form.COLUMNS in reply:
        words = [_number(word) for word in words]
    if Form.COLUMNS in reply:
        # n names and then n values are pairs in the order of the names.
        names, values = words[: len(words) // 2], words[len(words) // 2 :]
        if len(names) == len(values):
            pairs = sorted(zip(names, values, strict=True))
            words = [f"{name}:{value}" for name, value in pairs]
    if Form.ANY_ORDER in reply:
        words = sorted(words)
    return " ".join(words)


def _number(word: str) -> str:
    """Return a number as it reads to three places; other words as they are."""
    if not _NUMBER.fullmatch(word):
        return word
    with localcontext(prec=len(word) + 3):  # all of its digits, however many
        value = Decimal(word).quantize(_PLACES).normalize()
        return f"{value + 0:f}"  # no minus zero


# --- expressions -------------------------------------------------------------------------------


def _expression(text: str, reply: tuple[str, ...]) -> str:
    """Return an expression that matches the replies that are the same as ``text``, or most."""
    words = text.split()
    flag = "(?i)" if Form.CASELESS in reply and text.lower() != text.upper() else ""
    if Form.FIRST_WORD in reply:
        return flag + (rf"{escape_answer(words[0])}(\s[\s\S]*)?" if words else "")
    counts = Form.NUMBERS in reply or Form.COLUMNS in reply
    each = [
        _number_expression(_number(word))
        if counts and _NUMBER.fullmatch(word)
        else escape_answer(word)
        for word in words
    ]
    if Form.ANY_ORDER not in reply or len(words) < 2:
        return flag + r"\s+".join(each)
    # As many words, each of these as often as it is there.
    times = {word: words.count(word) for word in words}
    ahead = "".join(
        rf"(?=(\S+\s+)*?{one}(?!\S)" + rf"(\s+(\S+\s+)*?{one}(?!\S))" * (n - 1) + ")"
        for n, one in zip(times.values(), dict.fromkeys(each), strict=True)
    )
    return rf"{flag}{ahead}\S+(\s+\S+){{{len(words) - 1}}}"


def _number_expression(number: str) -> str:
    """Return what matches the numbers that are this one to three places, however written."""
    sign, digits = ("-", number[1:]) if number.startswith("-") else (r"\+?", number)
    whole, _, fraction = digits.partition(".")
    if not fraction:
        return rf"{sign}0*{whole}(\.0*)?"
    full = fraction.ljust(3, "0")
    below = f"{int(full) - 1:03}"
    zeros = "0*" if whole == "0" else f"0*{whole}"
    return rf"{sign}{zeros}\.({fraction}0*|{full}[0-4][0-9]*|{below}[5-9][0-9]*)"


def _samples(text: str, reply: tuple[str, ...]) -> tuple[str, ...]:
    """Return texts that are the same, the text itself the first."""
    found = [text]
    words = text.split()
    if Form.ANY_ORDER in reply and Form.FIRST_WORD not in reply:
        found.append(" ".join(reversed(words)))
    if Form.CASELESS in reply:
        found += [one.lower() for one in found] + [one.upper() for one in found]
    return tuple(dict.fromkeys(found))


# --- Commands of a teacher's own, beside an assignment that ships --------------------------------


class _EngineBeside(Engine):
    """An engine of two: the reference answers what is declared, the oracle all else.

    Both are told of the game: declared commands ask and set, and do not move.
    """

    def __init__(self, shipped: Engine, truth: Truth, declaration: Declaration) -> None:
        super().__init__(shipped.session)
        self._shipped = shipped
        self._own = truth
        self._declaration = declaration
        self._said: tuple[str, ...] = ()  # to the reference

    def handle(self, line: str) -> str:
        """Return the reply to a line; see :meth:`oracle.gtp.protocol.Engine.handle`."""
        words = split(line)
        number = words.pop(0) if words and is_number(words[0]) else ""
        declared = self._declaration.command(words[0]) if words else None
        if declared is None:
            raw = self._shipped.handle(line)
            if words:
                self._follow(words, reply_of(raw))
            return raw
        command = " ".join(words)
        reply = self._own.replies((*self._said, command), self.session.folder)[-1]
        if declared.kind == Kind.SETS:
            self._said += (command,)
        return f"{'=' if reply.ok else '?'}{number} {reply.text}\n\n"

    def _follow(self, words: list[str], reply: Reply) -> None:
        """Tell the reference of what the oracle has heard."""
        properties = command_properties.STANDARD.at_hand(words[0])
        if properties.moves and properties.chooses:
            self._said += (f"play {words[1]} {reply.text}",) if is_a_move(reply.text) else ()
        elif properties.sets_up and reply.ok:
            self._said += (" ".join(words),)


# What generated tests of such an assignment are about, too. Positions are those of the features
# that ship, laid as these lay them: nobody here knows what a command asks, and they are where
# something happens. In place of their questions it is asked.


def with_declared(kind: FeatureKind, declaration: Declaration, folder: Path) -> FeatureKind:
    """Return what tests are made about, with the declared questions that have one answer.

    ``folder``: in which the files lie that commands name.
    """
    whole = declaration.alone()
    asks = [one for one in declaration.of_kind(Kind.ASKS) if not one.is_free]
    own = (_ask_declared(one, kind.features, whole, folder) for one in asks)
    return kind._replace(features=(*kind.features, *own))


def _ask_declared(
    command: DeclaredCommand, shipped: tuple[Feature, ...], whole: Declaration, folder: Path
) -> Feature:
    """Return the feature that asks a declared command where a shipped one asks something else."""

    def find(moment: SceneMoment) -> str:
        """Return the shipped feature that a moment has, as the kind of its answer."""
        return next((one.name for one in shipped if one.find(moment)), "")

    def at(moment: SceneMoment) -> Feature:
        name = find(moment)
        return next(one for one in shipped if one.name == name)

    def draw_steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        laid = [one for one in at(moment).steps(moment, random) if not one.asked]
        # Every test sets itself what the teacher's commands set.
        drawer, state = Drawer(whole, random, folder), ConversationState(whole)
        settings = [SceneCommand(drawer.command(one, state)) for one in drawer.settings]
        for one in laid:
            state.observe(one.command)
        drawn = Drawer(whole, random, folder).command(command, state)
        asked = SceneCommand(drawn, asked=True, why="This is what the reference answers.")
        return [*laid, *settings, asked]

    return Feature(
        command.name,
        f"What {command.name} answers.",
        find,
        draw_steps,
        lambda random: random.choice(shipped).make(random),
        lambda moment, random: at(moment).files(moment, random),
    )


# --- The specification of a declaration ----------------------------------------------------------


# The signs of a case file that is recognized by nothing but its folder: no command matches.
_NO_SIGNS = r"(?!)"


def specify(
    key: str, declaration: Declaration, place: Path, words: tuple[str, ...]
) -> Specification:
    """Return the specification of a declared assignment.

    ``key``: its name. ``place``: the folder of its file, in which the reference is started.
    ``words``: the reference's command as this machine has it; empty without a reference.
    """
    game, names = declaration.game, {one.name for one in declaration.commands}
    settings = [one.name for one in declaration.of_kind(Kind.SETS)]
    # Nobody declares what every program has.
    usual = ("name", "version", "list_commands", "known_command", "showboard")
    standard = {name: form_of(STANDARD[name], DeclaredGame()) for name in usual}
    own = Specification(
        key,
        standard | {one.name: form_of(one, game) for one in declaration.commands},
        signs=_NO_SIGNS,
        command_properties={one.name: _properties(one, settings) for one in declaration.commands},
        board=BoardKind(captures=False, letters=game.letters),
        smallest=min(min(size) for size in game.sizes),
        swaps=False,
        is_alike=list_commands_on_board,
        choices=engine.choices,
        unfit=engine.unfit(declaration),
        begun=partial(engine.BegunBoard, allowed=engine.Allowed(declaration)),
        own_mistakes=(),
    )
    truth: Truth | None = None
    if words:
        told = declaration.reference
        assert told is not None
        translate = str(place / told.translate) if told.translate else ""
        limits = told.sandbox, told.timeout, told.fresh
        start = ProgramStart(
            words, place, own.commands, *limits, game.protocol, refuses(game), translate
        )
        truth = ReferenceProgram(start, declaration, told.files)
    if not declaration.extends:
        return replace(own, told=truth)
    shipped = specification(declaration.extends)
    return replace(
        shipped,
        forms={**shipped.forms, **{name: own.forms[name] for name in names}},
        command_properties={**shipped.command_properties, **own.command_properties},
        told=truth
        and InProcess(lambda: _EngineBeside(shipped.truth.engine(), truth, declaration)),
        own_commands=frozenset(names),
        about=partial(with_declared, declaration=declaration, folder=place),
    )


def list_commands_on_board(engine: Engine, command: str) -> tuple[str, ...]:
    """Return what was said since the board was begun: nobody knows the symmetries of a game."""
    if not isinstance(engine, ReferenceEngine):
        return (command,)
    starts = {one.name for one in engine.declaration.of_kind(Kind.STARTS) if one.arguments}
    said = engine.said
    begun = [place for place, one in enumerate(said) if one.partition(" ")[0] in starts]
    return (*said[begun[-1] if begun else 0 :], command)


# --- the properties of commands -----------------------------------------------------------------


def _properties(command: DeclaredCommand, settings: list[str]) -> CommandProperties:
    usual = STANDARD.get(command.name)
    if usual and usual.kind == command.kind and usual.plays == command.plays:
        parts = BOARD.union(settings)  # final_score, say, needs no komi where there is none
        return command_properties.STANDARD[command.name].among(parts).needing(*settings)
    names_file = bool(command.arguments and command.arguments[0].files)
    if command.kind == Kind.STARTS:
        parts = BOARD if command.is_sized or names_file else MOVED
        return CommandProperties(sets=parts, names_file=names_file, lays=names_file)
    if command.kind == Kind.SETS:
        return CommandProperties(sets=frozenset({command.name}), names_file=names_file)
    if command.kind == Kind.MOVES:
        return CommandProperties(changes=MOVED, moves=bool(command.arguments)).needing(*settings)
    if command.kind == Kind.CHOOSES:
        return CommandProperties(
            changes=MOVED if command.plays else command_properties.NOTHING,
            moves=command.plays,
            chooses=True,
            thinks=True,
            tells=command.plays,
        ).needing(*settings)
    return CommandProperties(names_file=names_file).needing(*settings)
