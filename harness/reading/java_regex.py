r"""Java's regular expressions, as gogui-regress compiles and matches them, in Python's notation.

An expression is parsed as Java 17 parses it, and each part is written so that Python's flags have
no say in it: line ends, cases, blanks and word boundaries are Java's. What Java refuses is refused
with a reason. What Java takes and Python has nothing for (``\X``, ``\p{IsGreek}``, references that
Python's groups do not serve) is refused as well: no verdict rather than a wrong one.

gogui-regress compiles with ``MULTILINE`` and ``DOTALL``.

Source: the documentation of ``java.util.regex.Pattern``, Java SE 17, and its answers on random
expressions (``tests/harness/test_java_regex.py``).
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import chain, groupby

from harness.core.typed import NamedTuple
from harness.reading import regex_reader
from harness.reading.regex_reader import Ranges, RegexReader

_LINE_ENDS = "\n\r\x85\u2028\u2029"
_CLASSES = {
    "d": regex_reader.POSIX["Digit"],
    "s": regex_reader.POSIX["Space"],
    "w": regex_reader.WORD,
    "h": regex_reader.of([*" \t\xa0\u1680\u180e\u202f\u205f\u3000", "\u2000\u200a"]),
    "v": regex_reader.of(["\n\r", *"\x85\u2028\u2029"]),
}
_CONTROLS = {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Unicode's categories, each beside the letter that means all of its kind.
_KINDS = ("Lultmo", "Mnec", "Ndlo", "Zslp", "Ccfo", "Pdsecoif", "Smcko")
_CATEGORIES = {kind[0] + more for kind in _KINDS for more in ("", *kind[1:])}

_END = r"(?:\Z|(?=[\r\x85\u2028\u2029])|(?<!\r)(?=\n))"
_LAST_END = r"(?:\Z|(?=[\r\x85\u2028\u2029]\Z)|(?=\r\n\Z)|(?<!\r)(?=\n\Z))"
# Java's ^ never matches at the end of the text, not even of an empty one.
_BEGIN = r"(?!\Z)(?:\A|(?<=[\n\x85\u2028\u2029])|(?<=\r)(?!\n))"
_ANCHORS = {  # (sign, MULTILINE, UNIX_LINES)
    ("^", False, False): r"\A",
    ("^", False, True): r"\A",
    ("^", True, False): _BEGIN,
    ("^", True, True): r"(?!\Z)(?:\A|(?<=\n))",
    ("$", False, False): _LAST_END,
    ("$", False, True): r"(?=\n?\Z)",
    ("$", True, False): _END,
    ("$", True, True): r"(?=\n|\Z)",
}
# Blanks and comments under (?x), by UNIX_LINES.
_BLANKS = {
    False: r"(?:[ \t\n\v\f\r]|#[^\n\r\x85\u2028\u2029]*)*",
    True: r"(?:[ \t\n\v\f\r]|#[^\n]*)*",
}
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_LONGEST_COUNT = 9  # digits; Python and Java both stop soon after


class Flags(NamedTuple):
    """Flags that ``(?imsdxu)`` switches."""

    ignore_case: bool = False
    multiline: bool = True
    dotall: bool = True
    unix_lines: bool = False
    comments: bool = False
    unicode_case: bool = False


_FLAGS = dict(zip("imsdxu", Flags._fields, strict=True))


def in_python(expression: str, non_ascii: str = "") -> str:
    """Return what matches in Python what ``expression`` matches in Java.

    ``non_ascii``: the characters of the texts that are not ASCII. Categories and word boundaries
    depend on them: Java 17 knows letters and digits of all scripts there, and counts accents with
    the letter before them.

    Raises:
        PatternError: Java refuses it, or Python has nothing for it.
    """
    # Quotes come first of all, in sets too.
    plain = _QUOTED.sub(
        lambda one: one[0] if one[1] is None else _escape_quoted(one[1]), expression
    )
    return _JavaParser(plain, non_ascii).whole()


def depends_on_script(expression: str) -> bool:
    """Whether the translation depends on the characters of a text that are not ASCII."""
    return any(escape in expression for escape in (r"\b", r"\B", r"\p", r"\P"))


def _escape_quoted(text: str) -> str:
    # A digit as it stands might continue a reference before it.
    text = re.sub(r"[\0-/:-@\[-`{-\x7f]", r"\\\g<0>", text)
    return re.sub("[0-9]", r"\\x3\g<0>", text)


class _JavaParser(RegexReader):
    """Reads an expression from left to right; each method returns the Python of what it read."""

    def __init__(self, text: str, non_ascii: str) -> None:
        super().__init__(text)
        self._flags = Flags()
        self._beyond = non_ascii
        self._groups = 0  # that have begun
        self._closed: set[int] = set()  # those that have ended
        self._looped: set[int] = set()  # those within something that is repeated
        self._named: dict[str, int] = {}
        self._references: list[int] = []
        self._early: list[int] = []  # references to groups that had not ended then
        self._early_looped: set[int] = set()

    def whole(self) -> str:
        found = self.alternatives()
        if self._place < len(self._text):
            self._refuse("found a ')' without a '('")
        if any(number in self._looped for number in self._references):
            self._refuse("it refers to a group that is repeated, which Python may take otherwise")
        if any(number <= self._groups for number in self._early_looped):
            self._refuse("it refers to a group before the group's end, and is repeated")
        return found

    # --- characters

    def _skip(self) -> None:
        """Under ``(?x)`` go past blanks and comments."""
        if self._flags.comments:
            self._run(_BLANKS[self._flags.unix_lines])

    def _peek(self) -> str:
        self._skip()
        return self._raw()

    # --- structure

    def _sequence(self) -> str:
        parts: list[str] = []
        while (character := self._peek()) not in ("", "|", ")"):
            if character in "?*+":
                self._refuse(f"found {character!r} with nothing before it to repeat")
            before, early = self._groups, len(self._early)
            atom = self._atom(character)
            if atom is None:
                continue  # flags
            signs = self._repetition()
            if signs:
                self._early_looped |= set(self._early[early:])
                self._looped |= set(range(before + 1, self._groups + 1))
                atom = f"(?:{atom}){signs}"
            parts.append(atom)
        return "".join(parts)

    def _atom(self, character: str) -> str | None:
        if character == "{":
            return ""  # with a repetition behind it: Java repeats nothing at all
        self._place += 1
        if character == "(":
            return self._group()
        if character == "\\":
            return self._escape()
        if character in "^$":
            return _ANCHORS[character, self._flags.multiline, self._flags.unix_lines]
        if character not in ".[":
            return self._literal(character)
        if character == "[":
            members = self._set()
        elif self._flags.dotall:
            members = regex_reader.EVERYTHING
        else:
            ends = "\n" if self._flags.unix_lines else _LINE_ENDS
            members = regex_reader.complement(regex_reader.of(ends))
        return regex_reader.in_python(members)

    def _literal(self, character: str) -> str:
        if 0xD800 <= ord(character) < 0xDC00:
            self._refuse("it has half of a surrogate pair")
        return regex_reader.in_python(self._apply_case(regex_reader.of([character])))

    def _apply_case(self, ranges: Ranges) -> Ranges:
        if self._flags.ignore_case and self._flags.unicode_case:
            self._refuse("the flags 'i' and 'u' together have no counterpart here")
        return regex_reader.of_either_case(ranges) if self._flags.ignore_case else ranges

    def _repetition(self) -> str:
        sign = self._peek()
        if sign and sign in "?*+":
            self._place += 1
        elif sign == "{":
            # Read ``{2}``, ``{2,}`` or ``{2,3}``.
            self._place += 1
            least = self._number()
            if not least:
                self._refuse("found '{' that no number follows; '\\{' is the character itself")
            most = least
            if self._takes(","):
                most = self._number()
            if not self._takes("}"):
                self._refuse("found a repetition such as '{2,3}' that is not closed")
            if most and int(most) < int(least):
                self._refuse(f"found a repetition from {least} to fewer, {most}")
            sign = f"{{{least},{most}}}"
        else:
            return ""
        following = self._peek()
        if following and following in "?+":
            self._place += 1
            return sign + following
        return sign

    def _number(self) -> str:
        found = self._run("[0-9]*")
        if len(found) > _LONGEST_COUNT:
            self._refuse(f"found a repetition of {found[:12]}…, which is too many")
        return found

    # --- groups

    def _group(self) -> str | None:
        outer = self._flags
        if self._raw() != "?":
            self._skip()
            return self._read_capturing("(", outer)
        self._place += 1
        for opening in ("?:", "?=", "?!", "?>", "?<=", "?<!"):
            if self._takes(opening[1:]):
                return self._read_group(f"({opening}", outer)
        if self._takes("<"):
            return self._read_capturing(f"(?P<{self._name()}>", outer)
        return self._read_flags(outer)

    def _read_capturing(self, opening: str, outer: Flags) -> str:
        self._groups += 1
        number = self._groups
        found = self._read_group(opening, outer)
        self._closed.add(number)
        return found

    def _name(self) -> str:
        name = self._run("[0-9A-Za-z]*")
        if not name[:1].isalpha() or not self._takes(">"):
            self._refuse("found '(?<' without '=', '!' or a name in '<...>' of letters and digits")
        if name in self._named:
            self._refuse(f"found a second group with the name {name!r}")
        self._named[name] = self._groups + 1
        return name

    def _read_group(self, opening: str, outer: Flags) -> str:
        before, references = self._groups, len(self._references) + len(self._early)
        found = self.alternatives()
        if self._peek() != ")":
            self._refuse("found a '(' that is not closed")
        if opening in ("(?<=", "(?<!") and len(self._references) + len(self._early) > references:
            self._refuse("found a reference in a look-behind, which has no greatest length then")
        self._place += 1
        self._flags = outer
        if opening in ("(?!", "(?<!", "(?=", "(?<=", "(?>"):
            self._looped |= set(range(before + 1, self._groups + 1))
        return f"{opening}{found})"

    def _read_flags(self, outer: Flags) -> str | None:
        on = True
        while (letter := self._peek()) and (letter in _FLAGS or (letter == "-" and on)):
            self._place += 1
            if letter == "-":
                on = False
            else:
                self._flags = self._flags._replace(**{_FLAGS[letter]: on})
        if letter and letter in "Uc":
            self._refuse(f"the flag {letter!r} has no counterpart here")
        self._place += 1
        if letter == ")":
            return None
        if letter != ":":
            self._refuse("found '(?' that no kind of group follows")
        return self._read_group("(?:", outer)

    # --- escapes

    def _escape(self) -> str:
        if number := self._run("[1-9][0-9]{0,8}"):
            while len(number) > 1 and int(number) > self._groups:
                number = number[:-1]
                self._place -= 1
            return self._refers_to(int(number))
        letter = self._next(1)
        if letter == "b" and self._raw() == "{":
            self._refuse(r"\b{g} has no counterpart here")
        fixed: dict[str, Callable[[], str]] = {
            "A": lambda: r"\A",
            "G": lambda: r"\A",
            "z": lambda: r"\Z",
            "Z": lambda: _ANCHORS["$", False, self._flags.unix_lines],
            "b": lambda: _boundary(self._beyond),
            "B": lambda: f"(?!{_boundary(self._beyond)})",
            "R": lambda: rf"(?:\r\n|{regex_reader.in_python(_CLASSES['v'])})",
        }
        if letter in fixed:
            return fixed[letter]()
        if letter == "k":
            name = self._run("<[^>]*>")[1:-1]
            if name not in self._named:
                self._refuse(f"'\\k' refers to {name!r}, and no group before it has that name")
            return self._refers_to(self._named[name])
        found = self._read_escaped_set(letter)
        if found is not None:
            return regex_reader.in_python(found)
        return self._literal(chr(self._character(letter)))

    def _read_escaped_set(self, letter: str) -> Ranges | None:
        """Return the set that an escape stands for, None if it is not a set."""
        if letter.lower() not in ("p", *_CLASSES):
            return None
        found = self._property() if letter in "pP" else _CLASSES[letter.lower()]
        return regex_reader.complement(found) if letter.isupper() else found

    def _property(self) -> Ranges:
        """Read ``{Alpha}``, ``{Lu}``, ``{IsLu}`` or ``L``."""
        name = self._in_braces() if self._raw() == "{" else self._next(1)
        if name in regex_reader.POSIX:
            return self._apply_case(regex_reader.POSIX[name])
        category = name.removeprefix("Is")
        if category not in _CATEGORIES:
            self._refuse(f"'\\p' knows a category such as Lu, and {', '.join(regex_reader.POSIX)}")
        import unicodedata

        cases = ("Lu", "Ll", "Lt")
        wanted = cases if category in cases and self._flags.ignore_case else category
        kinds = {one: unicodedata.category(one) for one in [*map(chr, range(128)), *self._beyond]}
        return _of_kind(kinds, lambda kind: kind.startswith(wanted))

    def _character(self, letter: str) -> int:
        """Return the code of the character that an escape stands for."""
        readers = {"0": self._octal, "x": self._hexadecimal, "u": self._utf16, "c": self._control}
        if letter in _CONTROLS:
            return ord(_CONTROLS[letter])
        if letter in readers:
            return readers[letter]()
        if not letter:
            self._refuse("found '\\' at the end")
        if letter.isascii() and letter.isalnum():
            self._refuse(f"'\\{letter}' means nothing")
        return ord(letter)

    def _octal(self) -> int:
        """Read one to three digits; three only if the first is at most 3."""
        digits = self._run("[0-3]?[0-7]{1,2}")
        if not digits:
            self._refuse("'\\0' is not followed by an octal digit")
        return int(digits, 8)

    def _hexadecimal(self) -> int:
        if self._raw() == "{":
            code = self._from_hex(self._in_braces())
            if code > regex_reader.LAST:
                self._refuse(f"the code point {code:X} is greater than 10FFFF")
            return self._whole(code)
        return self._from_hex(self._next(2))

    def _utf16(self) -> int:
        code = self._from_hex(self._next(4))
        if 0xD800 <= code < 0xDC00 and self._takes("\\u"):
            low = self._from_hex(self._next(4))
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + (code - 0xD800 << 10) + low - 0xDC00
        return self._whole(code)

    def _whole(self, code: int) -> int:
        if 0xD800 <= code < 0xE000:
            self._refuse("it has half of a surrogate pair")
        return code

    def _from_hex(self, digits: str) -> int:
        if not re.fullmatch("[0-9a-fA-F]+", digits):
            self._refuse("found '\\x' or '\\u' without its hexadecimal digits")
        return int(digits, 16) if len(digits.lstrip("0")) <= 6 else regex_reader.LAST + 1

    def _in_braces(self) -> str:
        return self._run(r"\{[^}]*\}")[1:-1]

    def _control(self) -> int:
        r"""Return what ``\cA`` means: any character, with one bit changed."""
        letter = self._next(1)
        if not letter:
            self._refuse("'\\c' is not followed by a character")
        return ord(letter) ^ 64

    # --- references

    def _refers_to(self, number: int) -> str:
        if number not in self._closed:
            self._early.append(number)
            return "(?!)"  # a group that is not there, or not yet, never matches
        self._references.append(number)
        flag = "i" if self._flags.ignore_case else ""
        return f"(?{flag}:\\{number})"

    # --- sets

    def _set(self) -> Ranges:
        """Read what follows ``[``."""
        negated = self._raw() == "^"
        self._place += negated
        found = self._members()
        if self._peek() != "]":
            self._refuse("found a '[' that is not closed")
        self._place += 1
        return regex_reader.complement(found) if negated else found

    def _members(self) -> Ranges:
        """Read members up to the end of the set; ``&&`` binds as in Java: ``a&&[b]c&&d`` is
        ``a&&([b]|(c&&d))``.
        """
        parts: list[Ranges] = []  # together the set; one of them may be empty
        while (character := self._peek()) and not (character == "]" and parts):
            if character != "&" or self._raw(1) != "&":
                parts.append(self._member(character))
                continue
            self._place += 2
            right: list[Ranges] = []
            while (following := self._peek()) and following not in "]&":
                right.append(self._member("[") if following == "[" else self._members())
            if not right:
                self._refuse("found '&&' in a set with nothing behind it")
            if following == "&" and self._raw(1) != "&":
                self._refuse("found '&&[...]&' in a set: '\\&' is the character itself")
            found, left = regex_reader.of(chain(*right)), regex_reader.of(chain(*parts))
            parts = [regex_reader.intersection(left, found) if parts else found]
        return regex_reader.of(chain(*parts))

    def _member(self, character: str) -> Ranges:
        self._place += 1
        if character == "[":
            return self._set()
        if character != "\\":
            return self._range(ord(character))
        letter = self._next(1)
        is_code = letter == "v" and self._raw() == "-"
        known = None if is_code else self._read_escaped_set(letter)
        return self._range(self._member_code(letter)) if known is None else known

    def _member_code(self, letter: str) -> int:
        return 0x0B if letter == "v" else self._character(letter)

    def _range(self, first: int) -> Ranges:
        last = first
        if self._peek() == "-" and self._raw(1) not in ("]", "["):
            self._place += 1
            character = self._peek()
            self._place += 1
            last = self._member_code(self._next(1)) if character == "\\" else ord(character or " ")
            if last < first:
                self._refuse("found a range in a set that ends before it begins")
        return self._apply_case(((first, last),))


@lru_cache(1)  # an expression has several
def _boundary(non_ascii: str) -> str:
    """Return Java's word boundary for texts with no others than ``non_ascii`` outside ASCII.

    A character of a word is ``_``, a letter or digit of any script, or an accent behind one (with
    up to seven accents between).
    """
    if not non_ascii:
        return r"\b"
    import unicodedata

    kinds = {one: unicodedata.category(one) for one in non_ascii}
    words = _of_kind(kinds, lambda kind: kind[0] == "L" or kind == "Nd")
    accents = _of_kind(kinds, lambda kind: kind == "Mn")
    letters, both = ((*regex_reader.WORD, *words, *more) for more in ((), accents))
    sets = map(regex_reader.of, (letters, accents, both))
    letter, accent, either = map(regex_reader.in_python, sets)
    accented = "".join(f"|(?<={letter}{accent}{{{count}}})" for count in range(1, 9))
    before = f"(?:(?<={letter}){accented})"
    # An accent behind a word belongs to it, and any other one does not begin a word.
    return f"(?:{before}(?!{either})|(?!{before})(?={letter}))"


def _of_kind(kinds: Mapping[str, str], is_wanted: Callable[[str], bool]) -> Ranges:
    """Return the characters of some categories among those of a text, which are sorted.

    So that there are few ranges, whatever lies between them and is not in the text is in it, too.
    """
    runs = groupby(kinds, key=lambda one: is_wanted(kinds[one]))
    found = [list(run) for is_one, run in runs if is_one]
    return regex_reader.of((ord(run[0]), ord(run[-1])) for run in found)
