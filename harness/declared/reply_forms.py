"""Comparison of replies to declared commands: the ``reply`` of ``[[command]]`` as forms. Pure.

A form reads a reply as words. Forms of one command are applied together: ``any order`` with
``caseless``, say. A refusal that says ``=`` has the form that ``refusals`` names, whatever the
command's own is.
"""

from __future__ import annotations

import re
from decimal import Decimal

from harness.declared.declaration import DeclaredCommand, DeclaredGame, Form, Kind
from harness.vocabulary import answer_forms
from harness.vocabulary.answer_forms import SETTING, AnswerForm, literally

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)", re.ASCII)
_PLACES = Decimal("0.001")  # to which numbers are compared
_REFUSED = "refused"  # stands for every refusal where their texts do not count


def form_of(command: DeclaredCommand, game: DeclaredGame) -> AnswerForm:
    """Return how replies to a command are compared."""
    form = _form(command)
    if not game.refused:
        return form
    refusal = SETTING if game.refusals == Form.FREE else _of_words((game.refusals,))
    return _with_refusals(form, re.compile(game.refused), refusal)


def _form(command: DeclaredCommand) -> AnswerForm:
    if command.kind == Kind.CHOOSES:
        # Which choices are right, the reply alone does not tell: harness.declared.engine
        # does.
        form = _of_words((Form.FIRST_WORD, Form.CASELESS))
        return form._replace(samples=lambda text: (text,), is_exact=False)
    if command.is_free:
        return SETTING
    return _of_words(command.reply)


def _of_words(reply: tuple[str, ...]) -> AnswerForm:
    if reply == (Form.EXACT,):
        return answer_forms.EXACT
    if reply == (Form.CASELESS,):
        return answer_forms.CASELESS
    return AnswerForm(
        lambda text: _normal(text, reply),
        lambda text: _expression(text, reply),
        lambda text: _samples(text, reply),
    )


def _with_refusals(form: AnswerForm, refused: re.Pattern[str], refusal: AnswerForm) -> AnswerForm:
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
        words = _pairs(words)
    if Form.ANY_ORDER in reply:
        words = sorted(words)
    return " ".join(words)


def _number(word: str) -> str:
    """Return a number as it reads to three places; other words as they are."""
    if not _NUMBER.fullmatch(word):
        return word
    value = Decimal(word).quantize(_PLACES).normalize()
    return f"{value + 0:f}"  # no minus zero


def _pairs(words: list[str]) -> list[str]:
    """Return n names and then n values as pairs in the order of the names."""
    names, values = words[: len(words) // 2], words[len(words) // 2 :]
    if len(names) != len(values):
        return words
    return [f"{name}:{value}" for name, value in sorted(zip(names, values, strict=True))]


# --- expressions -------------------------------------------------------------------------------


def _expression(text: str, reply: tuple[str, ...]) -> str:
    """Return an expression that matches the replies that are the same as ``text``, or most."""
    words = text.split()
    flag = "(?i)" if Form.CASELESS in reply and text.lower() != text.upper() else ""
    if Form.FIRST_WORD in reply:
        return flag + (rf"{literally(words[0])}(\s[\s\S]*)?" if words else "")
    each = [_word(word, reply) for word in words]
    if Form.ANY_ORDER in reply and len(words) > 1:
        return flag + _in_any_order(words, each)
    return flag + r"\s+".join(each)


def _word(word: str, reply: tuple[str, ...]) -> str:
    is_number = _NUMBER.fullmatch(word) and (Form.NUMBERS in reply or Form.COLUMNS in reply)
    return _number_expression(_number(word)) if is_number else literally(word)


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


def _in_any_order(words: list[str], each: list[str]) -> str:
    """Return what matches as many words, each of these as often as it is there."""
    times = {word: words.count(word) for word in words}
    ahead = "".join(
        rf"(?=(\S+\s+)*?{expression}(?!\S)" + rf"(\s+(\S+\s+)*?{expression}(?!\S))" * (n - 1) + ")"
        for (word, n), expression in zip(times.items(), dict.fromkeys(each), strict=True)
    )
    return rf"{ahead}\S+(\s+\S+){{{len(words) - 1}}}"


def _samples(text: str, reply: tuple[str, ...]) -> tuple[str, ...]:
    """Return texts that are the same, the text itself the first."""
    found = [text]
    words = text.split()
    if Form.ANY_ORDER in reply and Form.FIRST_WORD not in reply:
        found.append(" ".join(reversed(words)))
    if Form.CASELESS in reply:
        found += [one.lower() for one in found] + [one.upper() for one in found]
    return tuple(dict.fromkeys(found))
