"""A declaration proposed from what a program says of itself and from public tests, as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.declared.declaration import (
    ANY_ORDER,
    ASKS,
    CHOOSES,
    COLOR,
    COLUMN_COUNT,
    EXACT,
    FIRST_WORD,
    FREE,
    MOVES,
    NUMBERED,
    NUMBERS,
    ROW_COUNT,
    SETS,
    SIZE,
    STANDARD,
    STARTS,
    VERTEX,
    DeclaredGame,
    DeclaredReference,
)
from harness.declared.game_state import place_of
from harness.declared.protocol_trial import ProtocolTrial
from harness.escaping import one_line
from harness.options import GTP
from harness.records import CaseFile, Reply
from oracle import natures

_COLORS = re.compile(r"(?i)b|w|black|white")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_RESULTS = ("black", "white", "draw")
_SIZES = (2, 3, 4, 5, 6, 7)
_FIRST = ("boardsize {}", "clear_board")
# Arguments to try where no test has any, the likeliest first.
_TRIED = ((), (COLOR,), (VERTEX,), (COLOR, VERTEX))
_NUMBERED = DeclaredGame(vertices=NUMBERED)
_SAMPLES = {COLOR: "b", VERTEX: "a1", SIZE: "3"}
Value = str | bool | Sequence[object] | dict[str, str]


class Guess(NamedTuple):
    """A key of a table, its value, and why."""

    key: str
    value: Value
    why: str


class Proposed(NamedTuple):
    """A command that is proposed; without guesses for what is as in GTP."""

    name: str
    guesses: tuple[Guess, ...]
    is_sure: bool = True  # it was seen to answer


class Proposal(NamedTuple):
    """A declaration that is proposed."""

    game: tuple[Guess, ...]
    commands: tuple[Proposed, ...]


def propose(trial: ProtocolTrial, cases: Sequence[CaseFile]) -> Proposal:
    """Ask a program and read tests; return what they seem to mean."""
    used = _collect_arguments(cases)
    names = dict.fromkeys((*trial.list_commands(), *used))
    if not trial.list_commands() and trial.protocol == GTP:
        names.update(dict.fromkeys(name for name in STANDARD if trial.knows(name)))
    opening = _guess_opening(trial, cases)
    commands = [
        _command(
            trial,
            name,
            _join_pairs(used, name, cases),
            opening,
            cases,
        )
        for name in names
        if not _is_about_engine(name)
    ]
    kept = tuple(one for one in commands if one.guesses or one.name in _OPTIONAL)
    game = [*_board(trial, used, cases), *_game(trial, opening, kept)]
    return Proposal(tuple(game), kept)


_OPTIONAL = ("genmove", "undo", "komi", "final_score", "showboard")


def _are_numbered(used: dict[str, list[list[str]]]) -> bool:
    """Whether points seem to be two numbers, as what plays is given them."""
    plays = [words for name, every in used.items() if "play" in name for words in every]
    pairs = [words for words in plays if len(words) > 1 and all(map(str.isdigit, words[:2]))]
    return len(pairs) > len(plays) / 2


def _join_pairs(
    used: dict[str, list[list[str]]], name: str, cases: Sequence[CaseFile]
) -> list[list[str]]:
    """Return arguments with the two numbers of a point as one word, where points have two."""
    every = used.get(name, [])
    if name == _first_of_all(cases) or not _are_numbered(used):
        return every
    return [[" ".join(words[:2]), *words[2:]] if len(words) > 1 else words for words in every]


def _is_about_engine(name: str) -> bool:
    nature = natures.STANDARD.get(name)
    return nature is not None and not nature.needs and not nature.sets_up


def _collect_arguments(cases: Sequence[CaseFile]) -> dict[str, list[list[str]]]:
    """Return by name the arguments with which commands stand in tests."""
    found: dict[str, list[list[str]]] = {}
    for case in cases:
        for step in case.steps:
            name, *words = step.command.split()
            found.setdefault(name, []).append(words)
    return found


def _guess_opening(trial: ProtocolTrial, cases: Sequence[CaseFile]) -> list[str]:
    """Return what begins a board: as in GTP, or as the first test does."""
    usual = [line.format(3) for line in _FIRST]
    if all(reply.ok for reply in trial.replies(*usual)) or not cases:
        return usual
    return [cases[0].steps[0].command]


# --- the game ----------------------------------------------------------------------------------


def _board(
    trial: ProtocolTrial, used: dict[str, list[list[str]]], cases: Sequence[CaseFile]
) -> Iterator[Guess]:
    if trial.protocol != GTP:
        yield Guess("protocol", trial.protocol, "it does not answer as GTP engines do")
    first = _first_of_all(cases) or "boardsize"
    sides = [[int(one) for one in words if one.isdigit()][:2] for words in used.get(first, [])]
    sizes = sorted({side[0] if len(set(side)) == 1 else tuple(side) for side in sides if side},
                   key=str)  # fmt: skip
    if sizes:
        found = [list(one) if isinstance(one, tuple) else one for one in sizes]
        yield Guess("sizes", found, "as in the tests; small boards find more")
    elif taken := [n for n in _SIZES if trial.last(f"boardsize {n}").ok]:
        yield Guess("sizes", list(taken), "of 2 to 7, it takes these")
    if _are_numbered(used):
        yield Guess("vertices", NUMBERED, "what plays is given two numbers in the tests")


def _first_of_all(cases: Sequence[CaseFile]) -> str:
    """Return the first command of every test, or ""."""
    names = {case.steps[0].command.split()[0] for case in cases if case.steps}
    return names.pop() if len(names) == 1 else ""


def _game(
    trial: ProtocolTrial, opening: list[str], commands: Sequence[Proposed]
) -> Iterator[Guess]:
    yield from _turns(trial, opening)
    wrong = trial.last(*opening, "play x a1")
    if wrong.text and (wrong.ok or trial.protocol != GTP):
        words = " ".join(re.findall(r"[^\W\d]+", wrong.text)[:2])
        yield Guess("refused", f"(?i){words}", f"it answers 'play x a1' with '{wrong.text}'")
    if ask := _guess_ending(trial, opening, commands):
        found = {"ask": ask, "is": "|".join(_RESULTS)}
        yield Guess("over", found, f"the name of {ask}, and what it says at first")


def _turns(trial: ProtocolTrial, opening: list[str]) -> Iterator[Guess]:
    first, second = trial.replies(*opening, "play b a1", "play b b2")[-2:]
    if _well(first):
        is_any = _well(second)
        said = "accepts" if is_any else "refuses"
        why = f"it {said} two stones of one color in a row"
        yield Guess("turns", "any" if is_any else "alternate", why)


def _guess_ending(trial: ProtocolTrial, opening: list[str], commands: Sequence[Proposed]) -> str:
    """Return a question that seems to tell who has won; "" for none."""
    for one in commands:
        if re.search(r"result|winner|over|final", one.name):
            reply = trial.last(*opening, one.name)
            if reply.ok and len(reply.text.split()) == 1 and reply.text.lower() not in _RESULTS:
                return one.name
    return ""


def _well(reply: Reply) -> bool:
    return reply.ok and not reply.text


# --- commands ----------------------------------------------------------------------------------


def _command(
    trial: ProtocolTrial,
    name: str,
    used: list[list[str]],
    opening: list[str],
    cases: Sequence[CaseFile],
) -> Proposed:
    if name in STANDARD and trial.protocol == GTP:
        return Proposed(name, ())
    arguments, why = _arguments(trial, name, used, opening)
    if arguments is None:
        return Proposed(name, (Guess("kind", ASKS, "it refused all arguments tried"),), False)
    given = used[0] if used else [_SAMPLES[str(one)] for one in arguments]
    line = " ".join([name, *given])
    reply = trial.last(*opening, line)
    kind, reason = _kind(name, arguments, reply, cases)
    if kind == STARTS:
        sides = (SIZE,) if len(arguments) == 1 else (COLUMN_COUNT, ROW_COUNT)
        arguments = (*sides, *arguments[len(sides) :])
    guesses = [Guess("kind", kind, reason)]
    if arguments or name in STANDARD:
        guesses.append(Guess("arguments", list(arguments), why))
    more = _of_choice(name, reply) if kind == CHOOSES else _of_question(reply)
    return Proposed(name, (*guesses, *(more if kind in (ASKS, CHOOSES) else ())))


def _of_choice(name: str, reply: Reply) -> Iterator[Guess]:
    words = reply.text.split()
    if name in STANDARD:
        yield Guess("plays", STANDARD[name].plays, "as in GTP")
    if _names_winner(words):
        yield Guess("keeps", FIRST_WORD, f"it said '{reply.text}'")
    elif words and not any(map(_is_place, words)) and not all(map(_NUMBER.fullmatch, words)):
        yield Guess("instead", [reply.text], "it said so where it could choose")


def _of_question(reply: Reply) -> Iterator[Guess]:
    if (how := _reply(reply)) != EXACT:
        yield Guess("reply", how, f"it said '{_short(reply.text)}'")


def _arguments(
    trial: ProtocolTrial, name: str, used: list[list[str]], opening: list[str]
) -> tuple[tuple[object, ...] | None, str]:
    """Return the arguments of a command: as tests have them, or the first that it takes."""
    if used:
        most = max(used, key=len)
        places = range(len(most))
        columns = [[words[place] for words in used if place < len(words)] for place in places]
        return tuple(map(_argument, columns)), "as in the tests"
    for arguments in _TRIED:
        if trial.last(*opening, " ".join([name, *(_SAMPLES[one] for one in arguments)])).ok:
            return arguments, "it takes them"
    return None, ""


def _argument(words: list[str]) -> object:
    if all(_COLORS.fullmatch(word) for word in words):
        return COLOR
    if all(place_of(word, DeclaredGame()) or place_of(word, _NUMBERED) for word in words):
        return VERTEX
    return list(dict.fromkeys(words))


def _kind(
    name: str, arguments: Sequence[object], reply: Reply, cases: Sequence[CaseFile]
) -> tuple[str, str]:
    if name == _first_of_all(cases):
        return STARTS, "every test begins with it"
    if _well(reply) and VERTEX in arguments:
        return MOVES, "it is given a point and says nothing"
    if _well(reply) and arguments:
        return SETS, "it is given something and says nothing"
    words = reply.text.split()
    if "genmove" in name or "solve" in name or _names_winner(words):
        return CHOOSES, f"its name, or what it said: '{_short(reply.text)}'"
    return ASKS, f"it said '{_short(reply.text)}'" if reply.ok else "its name"


def _names_winner(words: list[str]) -> bool:
    """Whether a reply is a color and a point, as solvers answer."""
    is_color = len(words) > 1 and _COLORS.fullmatch(words[0]) is not None
    return is_color and place_of(words[1], DeclaredGame()) is not None


def _reply(reply: Reply) -> str:
    words = reply.text.split()
    if "\n" in reply.text:
        return FREE
    if len(words) > 1 and all(map(_is_place, words)):
        return ANY_ORDER
    if words and all(_NUMBER.fullmatch(word) for word in words):
        return NUMBERS
    return EXACT


def _is_place(word: str) -> bool:
    return place_of(word, DeclaredGame()) is not None


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
    return "\n".join(_lines(command, sandbox, proposal)) + "\n"


def _lines(command: str, sandbox: str, proposal: Proposal) -> Iterator[str]:
    yield _HEAD
    yield "[reference]"
    yield f"command = {_value(command)}"
    if sandbox != DeclaredReference(command).sandbox:
        yield f"sandbox = {_value(sandbox)}"
    yield "\n[game]"
    yield from map(_line, proposal.game)
    for one in proposal.commands:
        yield ""
        yield from _command_text(one)


def _command_text(one: Proposed) -> Iterator[str]:
    mark = "" if one.is_sure else "# "
    if mark:
        yield f"# The program knows {one_line(one.name)}, and did not answer it:"
    yield f"{mark}[[command]]"
    yield f"{mark}name = {_value(one.name)}"
    yield from (f"{mark}{_line(guess)}" for guess in one.guesses)


def _line(guess: Guess) -> str:
    told = f"{guess.key} = {_value(guess.value)}"
    return f"{told:{_COLUMN}} # {one_line(guess.why)}"


def _value(value: Value | object) -> str:
    """Return a value in TOML: texts are written as in JSON, which TOML reads alike."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
