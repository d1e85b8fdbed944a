r"""Awk's regular expressions, as GNU Go's ``regress.awk`` searches them, in Python's notation.

They are POSIX extended ones with gawk's escapes. What gawk refuses is refused. Classes and words
are ASCII's, as in the C locale.

Source: POSIX.1-2017, XBD 9.4 and the awk utility; gawk 5.2, compared with on random expressions.
"""

import re

from harness.core.errors import PatternError
from harness.reading import regex_reader

_CLASSES = {name.lower(): one for name, one in regex_reader.POSIX.items() if name != "ASCII"}
_SETS = {
    "w": regex_reader.WORD,
    "W": regex_reader.complement(regex_reader.WORD),
    "s": _CLASSES["space"],
    "S": regex_reader.complement(_CLASSES["space"]),
}
_ANCHORS = {
    "y": r"\b",
    "B": r"(?!\b)",
    "<": r"\b(?=\w)",
    ">": r"\b(?<=\w)",
    "`": r"\A",
    "'": r"\Z",
}
_CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_COUNT = re.compile(r"\{(?P<least>\d*)(?P<comma>,?)(?P<most>\d*)\}")
_MOST_REPEATS = 255
_SIGNS = ("*", "+", "?")
# Awk puts the character there before it reads the expression: \52 is a star that repeats.
_CODE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_NAMED = re.compile(r"\[([:.=])(.*?)\1\]")


def translate_search(expression: str) -> str:
    """Return what finds in Python what awk finds with ``^EXPRESSION$``.

    Raises:
        PatternError: gawk refuses it, or it has a NUL.
    """
    return _AwkParser(_CODE.sub(_encode, f"^{expression}$")).alternatives()


def _encode(match: re.Match[str]) -> str:
    digits, base = (match[1], 8) if match[1] else (match[2], 16)
    if not digits:
        return match[0]
    character = chr(int(digits, base) & 0xFF)
    if character in "\0\\":
        raise PatternError(f"{match[0]!r} cannot be used here")
    return character


class _AwkParser(regex_reader.RegexReader):
    """Reads an expression from left to right; each method returns the Python of what it read."""

    _depth = 0  # of the groups that are open here

    def _sequence(self) -> str:
        parts: list[str] = []
        at_start = True  # up to the first atom, what repeats stands for itself
        while (sign := self._peek()) not in ("", "|") and not (sign == ")" and self._depth):
            atom, is_anchor = self._atom()
            at_start &= is_anchor
            for count in [] if at_start else self._repetitions():
                if is_anchor:
                    self._refuse("found a repetition behind an anchor, on which gawk is not sure")
                atom = f"(?:{atom}){count}"
            parts.append(atom)
        return "".join(parts)

    def _atom(self) -> tuple[str, bool]:
        """Return the Python of an atom, and whether it is an anchor."""
        sign = self._next()
        if sign in ("^", "$"):
            return (r"\A" if sign == "^" else r"\Z"), True
        if sign == "\\":
            return self._escape()
        if sign == "(":
            self._depth += 1
            found = self.alternatives()
            if self._next() != ")":
                self._refuse("found a '(' that is not closed")
            self._depth -= 1
            return f"(?:{found})", False
        if sign == "[":
            return regex_reader.in_python(self._set()), False
        members = regex_reader.EVERYTHING if sign == "." else regex_reader.of([sign])
        return regex_reader.in_python(members), False

    def _escape(self) -> tuple[str, bool]:
        letter = self._next()
        if letter in _ANCHORS:
            return _ANCHORS[letter], True
        if letter in _SETS:
            return regex_reader.in_python(_SETS[letter]), False
        return regex_reader.escape_character(ord(_CONTROLS.get(letter, letter))), False

    # --- repetitions

    def _repetitions(self) -> list[str]:
        """Return what repeats, the inner one first. Several signs are one: ``a+?`` is ``a*``."""
        found: list[str] = []
        while once := self._repetition():
            if found and found[-1] in _SIGNS and once in _SIGNS:
                found[-1] = once if once == found[-1] else "*"
            else:
                found.append(once)
        return found

    def _repetition(self) -> str:
        if self._peek() in _SIGNS:
            return self._next()
        counted = _COUNT.match(self._text, self._place)
        if not counted:
            return ""  # any other { stands for itself
        least, most = counted["least"] or "0", counted["most"]
        if not (counted["least"] or counted["comma"]) or (most and int(most) < int(least)):
            self._refuse(f"found {counted[0]!r}, which is not a number of repetitions")
        if int(most or least) > _MOST_REPEATS:
            self._refuse(f"found {counted[0]!r}, which is too many repetitions")
        self._place = counted.end()
        return f"{{{least},{most if counted['comma'] else least}}}"

    # --- sets

    def _set(self) -> regex_reader.Ranges:
        negated = self._peek() == "^"
        self._place += negated
        found: list[tuple[int, int]] = []
        start = self._place
        while self._peek() != "]" or self._place == start:
            if not self._peek():
                self._refuse("found a '[' that is not closed")
            found += self._member()
        self._place += 1
        members = regex_reader.of(found)
        return regex_reader.complement(members) if negated else members

    def _member(self) -> regex_reader.Ranges:
        is_class = self._is_class()
        first = self._element()
        if not self._is_range():
            return first
        self._place += 1
        is_class |= self._is_class()
        last = self._element() if self._peek() else ()
        are_single = all(len(one) == 1 and one[0][0] == one[0][1] for one in (first, last))
        if is_class or not are_single:
            self._refuse("found a range in a set with something else than a character at an end")
        if last[0][0] < first[0][0]:
            self._refuse("found a range in a set that ends before it begins")
        if self._is_range():
            self._refuse("found a range in a set right behind another")
        return ((first[0][0], last[0][0]),)

    def _is_class(self) -> bool:
        return self._text.startswith(("[:", "[="), self._place)

    def _is_range(self) -> bool:
        return self._peek() == "-" and self._raw(1) != "]"

    def _element(self) -> regex_reader.Ranges:
        """Read a character, ``[:class:]``, ``[.a.]`` or ``[=a=]``."""
        if named := _NAMED.match(self._text, self._place):
            self._place = named.end()
            if named[1] == ":" and named[2] in _CLASSES:
                return _CLASSES[named[2]]
            if named[1] != ":" and len(named[2]) == 1:
                return regex_reader.of([named[2]])
            self._refuse(f"found {named[0]!r} in a set, which is not a class of characters")
        if self._text.startswith(("[:", "[.", "[="), self._place):
            self._refuse("found a '[' that is not closed")
        character = self._next()
        if character == "\\":
            letter = self._next()
            character = {**_CONTROLS, "y": "b"}.get(letter, letter or "\\")
        return regex_reader.of([character])
