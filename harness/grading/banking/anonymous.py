"""Make programs anonymous. Pure.

Parts of a submission that identify a person, and what happens to them here:

- comments, docstrings, layout: removed, as the program is printed again from its parsed form;
- names and ids of the class, in identifiers, texts and names of files: one neutral word for each;
- mail addresses, folders of homes, ``__author__``: replaced;
- files that are neither programs nor say how to build one (readme, logs, pictures): left out.

A nickname in a text, or a programming style, stays. This module does not know whether the program
still behaves the same: its callers run the result.
"""

import ast
import builtins
import io
import keyword
import re
import sys
import tokenize
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

_SEVERAL = 3  # programs that use a word before it is nobody's name
_SHORTEST = 2  # letters of a name
_SHORTEST_ID = 4  # letters and digits of an id
# Letters of a word with which a login begins or ends: of anybody's, and of the author's own.
_SHORTEST_PART, _SHORTEST_OWN = 5, 3

_C = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".java")
_BUILD = ("makefile", "gnumakefile", "cmakelists.txt")
_C_TOKENS = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_HOME = re.compile(r"(?P<above>/home/|/Users/|[A-Z]:\\{1,2}Users\\{1,2})[^/\\\s\"']+")
# One word of an identifier: HTTPServer is HTTP and Server, max_size is max and size.
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"[A-ZÀ-ÖØ-Þ]+(?![a-zß-öø-ÿ])|[A-ZÀ-ÖØ-Þ]?[a-zß-öø-ÿ]+|[^\W\d_]")
_AUTHORS = re.compile(r"__(author|authors|credits|maintainer|email|contact|copyright|license)__")
# What every program may say: of the language, and of the protocol.
_COMMON = frozenset(
    part.casefold()
    for word in (*keyword.kwlist, *dir(builtins), *sys.stdlib_module_names)
    for part in _HUMP.findall(word)
) | frozenset(("black", "white", "pass", "play", "move", "main", "self", "args", "name"))


class UnreadableError(Exception):
    """A program that cannot be made anonymous; the text says why, and names nobody."""


class BankPerson(NamedTuple):
    """A person whose program may be in the bank."""

    name: str
    ids: tuple[str, ...] = ()  # such as a login, a number, a mail address


Files = Mapping[str, bytes]


# --- files -------------------------------------------------------------------------------------


def strip_comments(files: Files) -> dict[str, bytes]:
    """Return the files of a program without comments, by the same names; others are left out.

    Raises:
        UnreadableError: one of them is not what its name says.
    """
    found = {}
    for name, content in files.items():
        path = PurePosixPath(name)
        suffix, first = path.suffix.lower(), content.split(b"\n", 1)[0]
        is_script = first.startswith(b"#!")
        if suffix == ".py" or (is_script and b"python" in first):
            text = _python(content)
        elif suffix in _C:
            text = _C_TOKENS.sub(_drop_c_comment, _text(content))
        elif is_script or path.name.lower() in _BUILD or suffix in (".mk", ".cmake", ".sh"):
            text = _with_hashes(content)
        else:
            continue
        found[name] = text.encode("utf-8", "surrogateescape")
    return found


def _python(content: bytes) -> str:
    """Write a Python program anew, without comments, docstrings and authors."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        tree = ast.parse(content.decode(encoding))
        text = ast.unparse(_Nameless().visit(tree))
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError):
        raise UnreadableError("it is not a program of Python 3") from None
    return f"{_shebang(content)}{text}\n"


class _Nameless(ast.NodeTransformer):
    """Takes out what only people read."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        names = [one.id for one in node.targets if isinstance(one, ast.Name)]
        if any(map(_AUTHORS.fullmatch, names)):
            node.value = ast.Constant("")
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        had_body = bool(getattr(node, "body", None))
        super().generic_visit(node)
        if had_body and not node.body and not isinstance(node, ast.Module):  # type: ignore[attr-defined]
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node


def _shebang(content: bytes) -> str:
    """Return the first line of a script without the folder of somebody's own interpreter."""
    first = content.split(b"\n", 1)[0]
    if not first.startswith(b"#!"):
        return ""
    return "#!/usr/bin/env python3\n" if b"python" in first else "#!/bin/sh\n"


def _drop_c_comment(token: re.Match[str]) -> str:
    """Return a text of C, C++ or Java as it is, and of a comment the line ends."""
    if token[0][0] in "\"'":
        return token[0]
    return "\n" * token[0].count("\n") or " "


def _with_hashes(content: bytes) -> str:
    """Take the comments out of a shell script or a file for make; texts stay."""
    lines = _text(content).splitlines()
    first: list[str] = []
    if lines and lines[0].startswith("#!"):
        first, lines = [_shebang(content).rstrip()], lines[1:]
    return "\n".join([*first, *map(_before_hash, lines)]) + "\n"


def _before_hash(line: str) -> str:
    quote = ""
    for place, sign in enumerate(line):
        if sign in "\"'" and quote in ("", sign):
            quote = "" if quote else sign
        elif sign == "#" and not quote and not line[:place][-1:].strip():
            return line[:place].rstrip()
    return line.rstrip()


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


# --- names -------------------------------------------------------------------------------------


class NeutralNames:
    """The names of a class, and the neutral words that stand for them."""

    def __init__(self, people: Iterable[BankPerson], programs: Iterable[Files]) -> None:
        """``programs``: of the whole class: what several of them say is not a name of anybody."""
        self._words: set[str] = set()
        self._ids: set[str] = set()
        people = tuple(people)
        phrases: set[str] = set()
        for one in people:
            parts = [part for part in _WORD.findall(_plain(one.name)) if len(part) >= _SHORTEST]
            self._words.update(parts)
            if len(parts) > 1:  # what logins are made of: adalovelace, alovelace and others
                first, last = parts[0], parts[-1]
                joined = (first + last, last + first, first[0] + last, last + first[0])
                self._words.update(joined)
            phrases.update(_phrases(one.name))
            for text in one.ids:  # whole, before an @, and the words in it
                local = text.partition("@")[0]
                self._ids |= {i.casefold() for i in (text, local) if len(i) >= _SHORTEST_ID}
                words = _WORD.findall(_plain(local))
                self._words |= {word for word in words if len(word) >= _SHORTEST_ID}
        counts: Counter[str] = Counter()
        for files in programs:
            text = "\n".join(each.decode("utf-8", "surrogateescape") for each in files.values())
            spoken = (part for w in _WORD.findall(text) for part in (w, *_HUMP.findall(w)))
            counts.update(set(map(_plain, spoken)))
        self._common = _COMMON | {word for word, count in counts.items() if count >= _SEVERAL}
        self._words -= self._common
        self._parts = _affixes(people, _SHORTEST_PART)
        self._phrases = _any_of(phrases)
        self._any_id = _any_of(self._ids)

    def without(
        self, files: Files, fixed_names: Collection[str] = (), authors: Sequence[BankPerson] = ()
    ) -> dict[str, tuple[str, bytes]]:
        """Return a program's files with neutral words for all names.

        By its name each file's new name and content.
        ``fixed_names``: names of files that stay, as the course wants them.
        """
        own = (self._parts | _affixes(authors, _SHORTEST_OWN)) - self._common
        words = _Neutral(self._words | own)
        found = {}
        for name, content in sorted(files.items()):
            called = name if name in fixed_names else self._clean(name, words)
            text = self._clean(content.decode("utf-8", "surrogateescape"), words)
            found[name] = called, text.encode("utf-8", "surrogateescape")
        return found

    def _clean(self, text: str, words: "_Neutral") -> str:
        text = _MAIL.sub("someone@example.org", text)
        text = _HOME.sub(r"\g<above>someone", text)
        for wanted in (self._phrases, self._any_id):
            if wanted:
                text = wanted.sub(lambda match: words.like(match[0]), text)
        return _WORD.sub(lambda match: words.instead(match[0]), text)


class _Neutral:
    """Neutral words, one for each name, in the order in which they are met."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._known: dict[str, str] = {}

    def instead(self, word: str) -> str:
        """Return a word, or what stands for it or for names in it."""
        if _plain(word) in self._names:
            return self.like(word)
        return _HUMP.sub(
            lambda match: self.like(match[0]) if _plain(match[0]) in self._names else match[0],
            word,
        )

    def like(self, name: str) -> str:
        """Return the word for a name, in capitals where that is."""
        word = self._known.setdefault(_plain(name), f"name{_letters(len(self._known))}")
        if name.isupper() and len(name) > 1:
            return word.upper()
        return word.capitalize() if name[:1].isupper() else word


def _letters(number: int) -> str:
    """Return a, b, …, z, aa, ab …: digits could run into those of an identifier."""
    found = ""
    while number >= 0:
        found = chr(ord("a") + number % 26) + found
        number = number // 26 - 1
    return found


@cache
def _plain(text: str) -> str:
    """Return a text without accents and capitals."""
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(one for one in parts if not unicodedata.combining(one)).casefold()


def _affixes(people: Iterable[BankPerson], shortest: int) -> set[str]:
    """Return with what logins begin and end: a platform may tell of a name no more than that."""
    texts = (text for one in people for text in (one.name, *one.ids))
    logins = {part for text in texts for part in _WORD.findall(_plain(text.partition("@")[0]))}
    return {
        part
        for login in logins
        for length in range(shortest, len(login))
        for part in (login[:length], login[-length:])
    }


def _phrases(name: str) -> set[str]:
    """Return a whole name in both orders, as it is and without accents."""
    parts = re.findall(r"[^\W\d_][\w'’-]*", name)
    if len(parts) < 2:
        return set()
    told = (" ".join(parts), " ".join([parts[-1], *parts[:-1]]))
    return {one for text in told for one in (text, _plain(text))}


def _any_of(texts: Collection[str]) -> re.Pattern[str] | None:
    """Return the expression for any of some texts that stand alone, the longest first."""
    if not texts:
        return None
    ordered = sorted(map(re.escape, texts), key=lambda one: (-len(one), one))
    joined = "|".join(ordered).replace(r"\ ", r"[\s,_]+")
    return re.compile(rf"(?<![^\W_])(?:{joined})(?![^\W_])", re.IGNORECASE)
