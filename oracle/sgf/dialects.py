"""What programs write that SGF does not know, and how SGF would have it.

A value that SGF does not know is spelled anew where its meaning is plain (``SZ[9x9]`` is
``SZ[9]``), and is left out where no board depends on it (``HA[even]``). Nothing is guessed: where
a board would depend on a guess (``SZ[x]``, ``B[C3]``), there is no other spelling.

Source: records of servers and programs as they are found; GNU Go 3.8, by what it does.
"""

from __future__ import annotations

import re
from functools import partial

from oracle.sgf import values
from oracle.sgf.replay import MOVES
from oracle.sgf.tree import Faults, Node, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# What the first node says of the whole game, and how SGF reads it.
HEADER = {"GM": values.game, "SZ": values.shape, "KM": values.komi, "HA": values.number}

# The games that have a number in SGF FF[4]; a Go program's number may be another (GM[0]).
OTHER_GAMES = frozenset(map(str, [2, 3, *range(5, 41)]))

_SIZE = re.compile(r"(\d{1,3})(?:\s*[xX×*:;,/\s]\s*(\d{1,3}))?(?:\D.*)?", re.DOTALL | re.ASCII)
_KOMI = re.compile(r"([+-]?)(\d{0,18})(?:[.,](\d{1,18}))?[.,]?(?![\d.,]|[eE][+-]?\d)", re.ASCII)
_NUMBER = re.compile(r"\d{1,3}(?!\d)", re.ASCII)
_POINT = re.compile(r"[A-Za-z]{2}", re.ASCII)
_AREA = re.compile(r"([A-Za-z])([A-Za-z])\s*:\s*(?:([A-Za-z])([A-Za-z]))?", re.ASCII)
_PASSES = frozenset({"pass", "--", "zz"})  # no board here has a point zz
# FF[3] was misread: some programs write the numbers of the colors.
_COLORS = {"1": "B", "2": "W"}


def spell(name: str, value: str) -> str | None:
    """Return a value as SGF has it; None if nobody can tell what is meant.

    ``""`` leaves the property out (a move: it is a pass). ``value``: one that SGF does not know.
    """
    return _SPELLINGS[name](value.strip())


def respell(
    name: str, value: str, read: Callable[[str], object], note: Callable[[str], None]
) -> str:
    """Return a value as SGF has it; ``""`` leaves the property out (a move: it is a pass).

    Args:
        name: the property.
        value: as it stands in the record.
        read: raises :class:`ValueError` for what is not a value of SGF.
        note: is told how such a value is read, in one sentence.

    Raises the error of ``read`` if nobody can tell what is meant.
    """
    try:
        read(value)
    except ValueError as error:
        spelled = spell(name, value)
        if spelled is None:
            raise
        is_left_out = not spelled and name not in MOVES
        if not is_left_out:
            try:
                read(spelled)
            except ValueError:
                raise error from None
        note(f"{error}; {'left out' if is_left_out else f'read as {name}[{spelled}]'}")
        return spelled
    return value


def respell_header(root: Node, names: Iterable[str], faults: Faults) -> Node:
    """Return a copy of the first node with each of some facts of the game stated once at most.

    Of several values the first counts; a fact without a value is left out. ``names``: a few of
    :data:`HEADER`.
    """
    first = Node(root.number)
    first.properties = dict(root.properties)
    for name in names:
        stated = [value.strip() for value in first.properties.pop(name, [])]
        found = list(dict.fromkeys(filter(None, stated)))
        if not found:
            continue
        place = where(root, name, found[0])
        if len(found) > 1:
            faults.warn(place, f"expected one value, found {len(found)}; the first counts")
        try:
            value = respell(name, found[0], HEADER[name], partial(faults.warn, place))
        except ValueError as error:
            raise faults.error(place, str(error)) from None
        if value:
            first.properties[name] = [value]
    return first


def is_other_game(root: Node) -> bool:
    """Whether a record says that it is of another game than those that are known here.

    Some programs write the size of a Go board as the game: ``GM[19]`` is Go if the board has 19
    lines, which is the size of a record without ``SZ``.
    """
    game = root.properties.get("GM", [""])[0].strip()
    size = _size(root.properties.get("SZ", [""])[0].strip() or "19")
    return game in OTHER_GAMES and game != size


def _size(value: str) -> str | None:
    found = _SIZE.fullmatch(value)
    if not found:
        return None
    columns, rows = found.groups()
    return f"{columns}:{rows}" if rows and rows != columns else str(columns)


def _komi(value: str) -> str:
    """Return the number that a value begins with; a comma or ½ may be in it."""
    found = _KOMI.match(value.replace("½", ".5"))
    if not found or not (found[2] or found[3]):
        return ""
    return f"{found[1]}{found[2] or '0'}.{found[3] or '0'}".removesuffix(".0")


def _number(value: str) -> str:
    found = _NUMBER.match(value)
    return found[0] if found else ""


def _color(value: str) -> str:
    return _COLORS.get(value, "")


def _move(value: str) -> str | None:
    """Return a move in small letters: none of these boards has points in capitals."""
    if value.lower() in _PASSES:
        return ""
    return value.lower() if _POINT.fullmatch(value) else None


def _points(value: str) -> str | None:
    """Return a point or a rectangle in small letters, its upper left corner first."""
    if _POINT.fullmatch(value):
        return value.lower()
    found = _AREA.fullmatch(value.lower())
    if not found:
        return None
    left, top, right, bottom = found.groups()
    columns, rows = sorted([left, right or left]), sorted([top, bottom or top])
    return f"{columns[0]}{rows[0]}:{columns[1]}{rows[1]}"


_SPELLINGS: dict[str, Callable[[str], str | None]] = {
    "GM": lambda _: "1",
    "SZ": _size,
    "KM": _komi,
    "HA": _number,
    "PL": _color,
    **dict.fromkeys(("B", "W"), _move),
    **dict.fromkeys(("AB", "AW", "AE"), _points),
}
