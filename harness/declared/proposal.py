"""A declaration proposed from what a program shows of itself and from public tests, as text."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from harness.core.options import GTP
from harness.core.records import Reply
from harness.core.text import one_line
from harness.declared import declaration
from harness.declared.accepted_lines import ShownCommand
from harness.declared.declaration import NUMBERED, STANDARD, Argument, Drawn, Form, Kind
from harness.declared.evidence import Evidence
from harness.declared.probes import is_about_engine
from harness.reading.pattern import escape_text

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_ZEROS = re.compile(r"0[0-9]+")  # a number would lose them
_PLACE = re.compile(r"[A-Za-z][0-9]{1,2}")


class Guess(NamedTuple):
    """A key of a table, its value, and why."""

    key: str
    value: object
    why: str


class ProposedCommand(NamedTuple):
    """A command that is proposed; without guesses for what is as in GTP."""

    name: str
    guesses: tuple[Guess, ...]
    is_sure: bool = True  # it was seen to answer


class Proposal(NamedTuple):
    """A declaration that is proposed."""

    game: tuple[Guess, ...]
    commands: tuple[ProposedCommand, ...]


_OPTIONAL = ("genmove", "undo", "komi", "final_score", "showboard")  # commands of GTP


def propose(evidence: Evidence) -> Proposal:
    """Return what a program and tests seem to mean."""
    names = dict.fromkeys((*sorted(evidence.opening.starts), *evidence.names))
    every = [_command(evidence, name) for name in names if not is_about_engine(name)]
    kept = tuple(one for one in every if one and (one.guesses or one.name in _OPTIONAL))
    return Proposal(tuple(_game(evidence)), kept)


# --- the game ----------------------------------------------------------------------------------


def _game(evidence: Evidence) -> Iterator[Guess]:
    game = evidence.game
    if game.protocol != GTP:
        yield Guess("protocol", game.protocol, "its answers end with a status line")
    if game.colors != ("b", "w"):
        yield Guess("colors", list(game.colors), "as in the tests; the first one begins")
    if evidence.sizes:
        sizes = [list(one) if len(set(one)) > 1 else one[0] for one in evidence.sizes]
        why = "as in the tests; small boards find more"
        yield Guess("sizes", sizes, why if evidence.used else "of 2 to 7, it takes these")
    if game.vertices == NUMBERED:
        yield Guess("vertices", NUMBERED, "what plays is given two numbers")
        if game.origin:
            yield Guess("origin", game.origin, "the tests have points from 1 on")
    if evidence.turns_why:
        yield Guess("turns", game.turns, evidence.turns_why)
    if game.refused:
        why = f"it answers a wrong move with '{evidence.refusals[0]}'"
        yield Guess("refused", game.refused, why)
    for ask, first, last in islice(evidence.find_ends(), 1):
        then = " or ".join(map(repr, last))
        why = f"it says '{first}' while moves are accepted, and then {then}"
        yield Guess("over", {"ask": ask, "is": f"(?!{escape_text(first)}$).+"}, why)


# --- commands ----------------------------------------------------------------------------------


def _command(evidence: Evidence, name: str) -> ProposedCommand | None:
    if name in evidence.opening.starts:
        return _start(evidence, name)
    one = evidence.command(name)
    is_standard = name in STANDARD and evidence.game.protocol == GTP
    if not one.sample and not (is_standard and name in _OPTIONAL):
        if name in STANDARD or name not in evidence.names:
            return None
        return ProposedCommand(
            name, (Guess("kind", Kind.ASKS, "it refused all arguments tried"),), False
        )
    usual = STANDARD.get(name) if is_standard else None
    is_usual = usual and usual.kind == one.kind and not evidence.used.get(name)
    if usual and (is_usual or not one.sample or usual.arguments == one.shape):
        return ProposedCommand(name, tuple(_unlike_standard(evidence, one, usual)))
    return ProposedCommand(name, tuple(_not_standard(evidence, one)))


def _not_standard(evidence: Evidence, command: ShownCommand) -> Iterator[Guess]:
    """Yield all that is to be said of a command that is not as in GTP."""
    replies = evidence.heard.get(command.name, ())
    yield Guess("kind", command.kind, _why(command, replies))
    if command.shape or command.name in STANDARD:
        why = "as in the tests" if evidence.used.get(command.name) else "it takes them"
        largest = max(evidence.sizes or [evidence.opening.size], key=max)
        moves = command.kind == Kind.MOVES
        told = [_value_of(each, evidence.reach(each, largest) if moves else each.words)
                for each in command.shape]  # fmt: skip
        yield Guess("arguments", told, why)
    if command.kind == Kind.MOVES and command.shape:
        if found := evidence.bad():
            yield Guess("bad", found, "it refused these")
        said = {reply.text for reply in replies if evidence.accepts(reply)}
        yield from _question(command, replies) if len(said) > 1 else ()
    if command.kind == Kind.CHOOSES:
        if command.plays:
            yield Guess("plays", True, "what it chose cannot be played after it")
        if any(command.kept):
            why = "another word stands before what can be played"
            yield Guess("keeps", Form.FIRST_WORD, why)
        if command.instead:
            yield Guess("instead", command.instead, "it said so where it did not choose")
    if command.kind == Kind.ASKS:
        yield from _question(command, replies)


def _start(evidence: Evidence, name: str) -> ProposedCommand | None:
    used = [words for words in evidence.used.get(name, ()) if words]
    line = next((one for one in evidence.opening.lines if one.split()[0] == name), "")
    words = line.split()[1:]
    sided = [word for word in words[:2] if word.isdigit()]
    sizes = ((), (Drawn.SIZE,), (Drawn.COLUMN_COUNT, Drawn.ROW_COUNT))
    shape: list[Argument] = [Argument(one) for one in sizes[len(sided)]]
    for place in range(len(shape), len(words)):
        told = dict.fromkeys(one[place] for one in used if place < len(one))
        shape.append(Argument(words=tuple(told) or (words[place],)))
    usual = STANDARD.get(name)
    if not line or (usual and usual.kind == Kind.STARTS and usual.arguments == tuple(shape)):
        return None
    why = "the tests begin with it" if used else "it begins a board"
    values = [_value_of(one, one.words) for one in shape]
    arguments = Guess("arguments", values, f"as in '{line}'")
    return ProposedCommand(name, (Guess("kind", Kind.STARTS, why), arguments))


def _value_of(argument: Argument, words: Sequence[str]) -> object:
    """Return an argument as it is declared."""
    numbers = [int(word) for word in words if word.isdigit()]
    if len(numbers) == len(words) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return {"from": numbers[0], "to": numbers[-1]}
    return argument.drawn or list(words)


def _why(command: ShownCommand, replies: Sequence[Reply]) -> str:
    said = next((reply.text for reply in replies if reply.text), "")
    said = f"it said '{_short(said)}'" if said else "it says nothing"
    return {
        Kind.MOVES: "answers change after it, and it is not accepted twice",
        Kind.SETS: "it may be said twice",
        Kind.CHOOSES: f"{'what it says can be played:' if command.kept else 'its name;'} {said}",
    }.get(command.kind, said)


def _unlike_standard(
    evidence: Evidence, command: ShownCommand, usual: declaration.DeclaredCommand
) -> Iterator[Guess]:
    """Yield what is not as in GTP of a command that GTP has."""
    if command.kind == Kind.MOVES and usual.arguments:
        found = evidence.bad()
        if len(found) < 3 + (evidence.game.turns == "alternate"):
            yield Guess("bad", found, "it refused these, and not all that are usual")
    if command.kind == Kind.CHOOSES:
        more = [text for text in command.instead if text.lower() not in usual.instead]
        if more:
            yield Guess("instead", [*usual.instead, *more], "it said so where it could not choose")
        if command.plays is (not usual.plays):
            yield Guess("plays", command.plays, "what it chose could be played after it")


def _question(command: ShownCommand, replies: Sequence[Reply]) -> Iterator[Guess]:
    how, said = _reply(replies)
    usual = STANDARD.get(command.name)
    is_move = command.kind == Kind.MOVES
    if (how != Form.EXACT or is_move) and not (usual and usual.reply == (how,)):
        yield Guess("reply", how, f"it said '{_short(said)}'")


def _reply(replies: Sequence[Reply]) -> tuple[str, str]:
    """Return how replies seem to be compared, and one that tells."""
    texts = [reply.text for reply in replies if reply.text and not reply.is_refusal]
    lists = [text.split() for text in texts]
    for text in texts:
        if "\n" in text:
            return Form.FREE, text
    are_lists = [all(map(_PLACE.fullmatch, words)) for words in lists]
    if sum(are_lists) > len(texts) / 2 and any(len(words) > 1 for words in lists):
        return Form.ANY_ORDER, max(texts, key=len)
    words = [word for one in lists for word in one]
    if words and all(map(_NUMBER.fullmatch, words)) and not any(map(_ZEROS.fullmatch, words)):
        return Form.NUMBERS, texts[0]
    return Form.EXACT, next(iter(texts), "")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else flat[:39] + "…"


# --- A proposal as the text of an ``assignment.toml``: each guess with its reason as a comment ---


_COLUMN = 44  # where comments begin, if there is room
_HEAD = """\
# Proposed by gtp-harness new: what comes after a '#' are reasons for guesses. Change what is
# wrong, and try it with gtp-harness calibrate. cases/ASSIGNMENTS.md describes all keys.
"""


def text(command: str, sandbox: str, proposal: Proposal) -> str:
    """Return the text; ``command``: the reference's, and ``sandbox`` the one in which it runs."""
    lines = [_HEAD, "[reference]", f"command = {_value(command)}"]
    if sandbox != declaration.DeclaredReference(command).sandbox:
        lines.append(f"sandbox = {_value(sandbox)}")
    lines += ["\n[game]", *map(_line, proposal.game)]
    for one in proposal.commands:
        mark = "" if one.is_sure else "# "
        unsure = f"# The program knows {one_line(one.name)}, and did not answer it:"
        lines += ["", *([unsure] if mark else []), f"{mark}[[command]]"]
        lines.append(f"{mark}name = {_value(one.name)}")
        lines += [f"{mark}{_line(guess)}" for guess in one.guesses]
    return "\n".join(lines) + "\n"


def _line(guess: Guess) -> str:
    told = f"{guess.key} = {_value(guess.value)}"
    return f"{told:{_COLUMN}} # {one_line(guess.why)}"


def _value(value: object) -> str:
    """Return a value in TOML: texts are written as in JSON, which TOML reads alike."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
