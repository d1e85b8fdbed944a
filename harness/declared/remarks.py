"""Remarks for a teacher on a declaration that was tried. Pure."""

import enum
import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.core.options import GTP
from harness.core.text import number_of, one_line, some
from harness.declared.declaration import ANY, STANDARD, Declaration, DeclaredCommand, Form, Kind
from harness.declared.engine import unfit
from harness.declared.probes import tells_end
from harness.declared.specifying import form_of
from harness.declared.trial import CommandTally, Observations, ReplyPair
from harness.reading.pattern import escape_answer
from harness.vocabulary.transformations import COLORS, SYMMETRY

_TURNED = {SYMMETRY: "with the board turned", COLORS: "with colors exchanged"}


def bounds(observations: Observations, declaration: Declaration) -> list[str]:
    """Return sentences for a teacher on what tests cannot do."""
    sentences = []
    names = [name for name, tally in observations.tallies.items() if tally.errors]
    if names and declaration.game.protocol == GTP:
        sentences.append(
            f"No case file for GTP can expect an error (a reply that begins with ?), as to wrong"
            f" arguments of {', '.join(names)}: tests ask what holds after one, and fuzz compares"
            " errors themselves."
        )
    ways = " or ".join(way for kind, way in _TURNED.items() if kind not in unfit(declaration))
    if ways and not declaration.extends:
        sentences.append(
            f"grade asks public tests {ways} as well, up to a move that an engine chooses."
        )
    elif not declaration.extends:
        sentences.append(
            "grade asks no variants of public tests: no argument is a vertex, and none a color"
            " that may play at any time."
        )
    return sentences


# --- Notes on a declaration that was tried -------------------------------------------------------
# A declaration that is too strict accuses everybody, one that is too lax is blind. Each note names
# the command, the key, and what would be better as far as that was found out.


_SHOWN = 50  # characters of a reply
_FEW = 4  # less often, nothing follows
_NEARLY_ALL = 0.9
_SOME = 0.1
# Ways to compare that may do where a stricter one does not, the strictest first.
_LOOSER = (
    *((Form.CASELESS,), (Form.NUMBERS,), (Form.COLUMNS,), (Form.ANY_ORDER,)),
    *((Form.ANY_ORDER, Form.CASELESS), (Form.FIRST_WORD,)),
)
_ABOUT = dict(zip(Kind.ALL, ("starts", "sets", "plays", "asks", "chooses"), strict=True))
_DOING = f'"{Kind.SETS}", "{Kind.MOVES}", "{Kind.STARTS}" or "{Kind.CHOOSES}"'
_RESULTS = {"black", "white", "draw", "tie"}


class Matter(enum.Enum):
    """Faults that a declaration may have."""

    STRICT = "too strict"
    CHANCE = "not repeatable"
    NEVER_REFUSED = "never refused"
    ALWAYS_REFUSED = "always refused"
    NEVER_REACHED = "never reached"
    FORGOTTEN = "not declared"
    KIND = "another kind"
    CHOICE = "its own choice"
    GAME = "the game"
    QUESTION = "a question"


class Note(NamedTuple):
    """Something that a teacher should look at."""

    command: str  # "" for the game
    matter: Matter
    text: str


def notes(observations: Observations, declaration: Declaration) -> list[Note]:
    """Return what should be looked at, in the order of the declaration."""
    found = [*_of_game(observations, declaration)]
    for command in declaration.commands:
        tally = observations.tallies[command.name]
        every = (
            *_uses(command, tally, observations),
            *_replies(command, tally, declaration),
            *_effects(command, tally),
        )
        found += [Note(command.name, *notice) for notice in every]
    found += _unasked(observations)
    # One note for all commands of which the same is to be said.
    commands: dict[Notice, list[str]] = {}
    for one in found:
        commands.setdefault((one.matter, one.text), []).append(one.command)
    return [Note(", ".join(names), *notice) for notice, names in commands.items()]


Notice = tuple[Matter, str]


def _uses(
    command: DeclaredCommand, tally: CommandTally, observations: Observations
) -> Iterator[Notice]:
    if not tally.asked:
        yield Matter.NEVER_REACHED, f"no conversation of {observations.conversations} had it"
    elif observations.listed and command.name not in observations.listed and not tally.texts:
        yield Matter.NEVER_REACHED, "the reference does not have it in list_commands"
    if tally.right >= _FEW and tally.refused == tally.right:
        first = f"; the first time it said {_quote(tally.refusal)}"
        text = f"the reference refused it {_times(tally.refused, tally.right)}{first}: are its"
        yield Matter.ALWAYS_REFUSED, f"{text} arguments, colors, vertices and sizes right?"
    if command.instead and tally.asked >= _FEW and tally.texts.keys().isdisjoint(command.instead):
        words = " or ".join(map(_quote, command.instead))
        yield Matter.NEVER_REACHED, f"the reference never said {words} (instead)"
    has_arguments = any(one.drawn for one in command.arguments)
    if command.kind == Kind.MOVES and has_arguments and not command.bad:
        yield Matter.NEVER_REFUSED, "no wrong arguments are tried: 'bad' has none"
    for template, (asked, refused) in tally.bad.items():
        accepted = asked - refused
        if command.kind != Kind.ASKS and accepted >= max(_FEW, _SOME * asked):
            text = f"the reference took the wrong arguments {_quote(template)}"
            yield Matter.NEVER_REFUSED, f"{text} {_times(accepted, asked)}: are they wrong?"


def _replies(
    command: DeclaredCommand, tally: CommandTally, declaration: Declaration
) -> Iterator[Notice]:
    if tally.unlike_itself:
        text = f"a new process of the reference answered otherwise {tally.unlike_itself} times"
        yield Matter.CHANCE, f"{text}: chance, or a mode that outlives a game (fresh = true)"
    for name, pairs in tally.pairs.items():
        other = [pair for pair in pairs if not pair.is_same]
        differ = len(other)
        looser = _looser(command, pairs, declaration) if command.kind == Kind.ASKS else ""
        nearly_all = differ >= max(_FEW, _NEARLY_ALL * len(pairs))
        if not (nearly_all or (looser and differ >= max(2, _SOME * len(pairs)))):
            continue
        better = f"; with reply = {looser} they would be the same" if looser else ""
        example = f"{_quote(other[0].right.text)} and {_quote(other[0].answer.text)}"
        text = f"{differ} of {len(pairs)} replies of {name} differ{better}"
        yield Matter.STRICT, f"{text}: {example}"


def _looser(command: DeclaredCommand, pairs: Sequence[ReplyPair], declaration: Declaration) -> str:
    """Return the strictest way to compare by which all replies are the same; "" if none is."""
    for reply in _LOOSER:
        form = form_of(command._replace(reply=reply), declaration.game)
        if reply != command.reply and all(
            form.normal(pair.right.text) == form.normal(pair.answer.text) for pair in pairs
        ):
            return f'"{reply[0]}"' if len(reply) == 1 else str(list(reply)).replace("'", '"')
    return f'"{Form.FREE}"' if Form.FREE not in command.reply else ""


def _effects(command: DeclaredCommand, tally: CommandTally) -> Iterator[Notice]:
    if tally.changed and command.kind == Kind.CHOOSES:
        yield Matter.KIND, "later replies are others without it: plays = true?"
    elif tally.changed:
        text = f"later replies are others without it ({number_of(tally.changed, 'time')})"
        yield Matter.KIND, f"{text}: does it ask? kind = {_DOING}"
    elif command.kind == Kind.ASKS and not command.is_free and set(tally.texts) == {""}:
        text = "it never says anything: does it ask?"
        yield Matter.KIND, f'{text} kind = "{Kind.SETS}", or reply = "{Form.FREE}"'
    if command.plays and tally.played_twice >= 2:
        yield Matter.KIND, "what it chose could be played after it: plays = false?"
    for text, times in tally.own_refused.most_common(2):
        hint = "a word of 'instead'"
        if len(text.split()) > 1 and not command.keeps:
            hint = f'keeps = "{Form.FIRST_WORD}"'
        refusal = f"the reference's play refuses its own choice {_quote(text)}"
        yield Matter.CHOICE, f"{refusal} ({number_of(times, 'time')}): is it {hint}?"


# --- of the game -------------------------------------------------------------------------------


def _of_game(observations: Observations, declaration: Declaration) -> Iterator[Note]:
    for text in _refused(observations, declaration):
        yield Note("", Matter.GAME, text)
    if declaration.game.over is None:
        yield from (Note("", Matter.GAME, text) for text in _over(observations, declaration))
    elif not observations.ends:
        ask, is_ = declaration.game.over
        text = f"no game ended: {ask} never said {_quote(is_)} (over)"
        yield Note("", Matter.NEVER_REACHED, text)
    for name, times in observations.broken.items():
        if times:
            text = f"{name} broke in {number_of(times, 'conversation')}"
            yield Note("", Matter.GAME, f"{text} of {observations.conversations}")


def _refused(observations: Observations, declaration: Declaration) -> Iterator[str]:
    """Yield sentences on sizes, on two stones of one color in a row, and on other refusals."""
    if sizes := observations.sizes_refused:
        yield f"the reference refuses {some(map(_quote, sizes), 4)} (sizes)"
    asked, refused = observations.second_stones
    if asked >= _FEW and declaration.game.turns != ANY and not refused:
        yield f'two stones of one color in a row were never refused, {asked} times: turns = "any"?'
    elif asked >= _FEW and declaration.game.turns == ANY and refused == asked:
        text = f"two stones of one color in a row were always refused, {asked} times"
        yield f'{text}: turns = "alternate"?'
    # Where moves seem to be refused by a reply that says all is well:
    pattern = declaration.game.refused
    for command in declaration.of_kind(Kind.MOVES):
        texts = observations.tallies[command.name].texts
        said = [text for text in texts if text]
        if not pattern and texts[""] and said:
            text = f"{command.name} says nothing, and sometimes {_quote(said[0])}"
            yield f"{text}: is that a refusal (refused = …)?"
    if pattern and not any(
        re.search(pattern, text)
        for tally in observations.tallies.values()
        for text in (*tally.texts, tally.refusal)
    ):
        yield f"no reply matched {_quote(pattern)} (refused)"


def _over(observations: Observations, declaration: Declaration) -> Iterator[str]:
    """Yield a sentence on the question that seems to tell the end of a game, if there is one.

    Of several it is the one that says the fewest things then.
    """
    plain = [one.name for one in declaration.plain_questions]
    ends: dict[str, list[str]] = {}
    for (ask, text), (refused, accepted) in observations.moves_after.items():
        if ask in plain and refused >= _FEW and not accepted and len(text.split()) == 1:
            ends.setdefault(ask, []).append(text)
    goes_on = {ask for (ask, _), (_, accepted) in observations.moves_after.items() if accepted}
    for ask, texts in sorted(ends.items(), key=lambda one: (not tells_end(one[0]), len(one[1]))):
        if ask in goes_on:
            said = " or ".join(sorted(texts))
            pattern = "|".join(map(escape_answer, sorted(texts)))
            is_ = json.dumps(pattern, ensure_ascii=False)  # a text of TOML, too
            hint = f'does that end a game? over = {{ ask = "{ask}", is = {is_} }}'
            yield f"no move was accepted after {ask} had said {said}: {hint}"
            return
    for name in plain:
        words = {text.lower() for text in observations.tallies[name].texts}
        if words & _RESULTS and words - _RESULTS:
            said = " or ".join(sorted(words & _RESULTS))
            yield f'{name} says {said}: does that end a game? over = {{ ask = "{name}", is = … }}'
            return


def _unasked(observations: Observations) -> Iterator[Note]:
    """Yield notes on what is not declared, and on answers that the reference gives alone."""
    for name in observations.unfollowed:
        text = f"the reference names {name}, and its answers are kept although that changes"
        yield Note("", Matter.FORGOTTEN, f'{text}: [reference] files = ["{name}"]?')
    for name in observations.unused:
        if name != "showboard":
            hint = f"; as in GTP it {_ABOUT[STANDARD[name].kind]}" if name in STANDARD else ""
            text = f"the reference knows it, and nothing asks it{hint}"
            yield Note(name, Matter.FORGOTTEN, text)
    for name in dict.fromkeys(one.command.partition(" ")[0] for one in observations.questions):
        every = [one for one in observations.questions if one.command.partition(" ")[0] == name]
        one = min(every, key=lambda question: len(question.commands))
        said = "; ".join((*one.commands, one.command))
        yield Note(
            name,
            Matter.QUESTION,
            f"{one.engines} engines agree on {_quote(one.answer)} where the reference says"
            f" {_quote(one.right)} ({number_of(len(every), 'time')}): who is right? {said}",
        )


def _times(count: int, total: int) -> str:
    return f"{count} of {number_of(total, 'time')}"


def _quote(text: str) -> str:
    return f"'{one_line(text, _SHOWN)}'" if text else "nothing"
