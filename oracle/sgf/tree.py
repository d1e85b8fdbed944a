"""The trees of nodes in a file, as far as it is sound: its encoding, text and faults."""

import codecs
import re

from oracle.errors import SgfError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"CA\s*\[\s*([!-\\^-~]{1,40})\s*\]")
# Families of encodings in which ASCII text stands for itself. Python knows others by name:
# UTF-7, ``unicode_escape``, ``idna``, ``rot13``; and in the family cp there is EBCDIC.
_FAMILIES = ("utf-8", "ascii", "iso", "cp", "koi8", "mac", "gb", "big5", "shift_jis", "euc")
_SIGNS = b"(;AB[aa])"

# Four letters above ASCII in a row are two Chinese characters; European names have no such run.
# Shift JIS begins most characters with a byte that Western texts and GB 2312 do not have.
_CHINESE = re.compile(rb"[\x80-\xff]{4}")
_JAPANESE = re.compile(rb"(?:[\x81-\x9f][\x40-\x7e\x80-\xfc]){2}")
_VALUE = re.compile(r"\[[^\\\]]*(?:\\.[^\\\]]*)*(?:(\])|\\?\Z)", re.DOTALL)

_BETWEEN = re.compile(r"[A-Za-z0-9;()\s]*", re.ASCII)


def decode(data: bytes) -> tuple[str, str]:
    """Return a file's text, and the encoding if that is a mere guess (else ``""``).

    The encoding is what a byte-order mark or ``CA`` says, if the file bears it out, or else UTF-8.
    Where neither fits, GBK, Shift JIS, Big5 and Latin-1, which SGF has by default, are tried: in a
    wrong one values swallow their ``]`` or end too early. If several are equal in that, the one
    whose signs the text has is taken.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace"), ""
    declared = _DECLARED.search(data)
    codec = _codec(declared[1].decode("ascii")) if declared else None
    for name in [codec, "utf-8"] if codec else ["utf-8"]:
        text = data.decode(name, "replace")
        if _fits(text):
            return text, ""
    likely = []
    if _CHINESE.search(data) and _share(data, "gb18030", "gb2312") >= 0.5:
        likely.append("gb18030")  # contains GBK and GB 2312
    if _JAPANESE.search(data) and _share(data, "cp932", "shift_jis") >= 0.5:
        likely.append("cp932")
    names = dict.fromkeys([*likely, "latin-1", "gb18030", "cp932", "big5"])
    texts = [(data.decode(name, "replace"), name) for name in names]
    return max((guess for guess in texts if _fits(guess[0])), key=lambda guess: _values(guess[0]))


def _share(data: bytes, name: str, subset: str) -> float:
    """Return which share of the characters above ASCII is in the usual part of an encoding.

    Half-width letters of Shift JIS are not: each byte of a Chinese character is one of them.
    """
    foreign = [char for char in data.decode(name, "replace") if not char.isascii()]
    known = [char for char in foreign if len(char.encode(subset, "ignore")) > 1]
    return len(known) / len(foreign) if foreign else 0.0


def _values(text: str) -> int:
    """Return how many values a text has; -1 if text between them cannot be from a game record."""
    rest, count = _VALUE.subn(lambda value: "" if value[1] else "[", text)
    game = rest[rest.find("(") : rest.rfind(")") + 1]
    return count if _BETWEEN.fullmatch(game) else -1


def _codec(name: str) -> str | None:
    """Return Python's name of an encoding in which ASCII stands for itself, None for others."""
    try:
        codec = codecs.lookup(name).name
        signs = _SIGNS.decode(codec) if codec.startswith(_FAMILIES) else ""
    except (LookupError, ValueError):
        return None
    return codec if signs == _SIGNS.decode("ascii") else None


def _fits(text: str) -> bool:
    """Whether at most one in ten of the characters above ASCII could not be decoded."""
    foreign = sum(not character.isascii() for character in text)
    return text.count("\N{REPLACEMENT CHARACTER}") * 10 <= foreign


# --- The trees of nodes in a file, as far as it is sound -----------------------------------------

Token = tuple[str, bytes]

_PIECE = re.compile(
    rb"\[[^\\\]]*(?:\\.[^\\\]]*)*(?:\]|\\?\Z)"  # a value, maybe without end: left as it is
    rb"|([A-Za-z0-9]{1,64})(?=\s*\[)",  # the name of a property
    re.DOTALL,
)
_START = re.compile(rb"\(\s*;")
_EXPECTED = "expected a property, ';', '(' or ')'"
_DOUBT = " (maybe because of its encoding, neither UTF-8 nor stated by CA; read as {})"
_DIGITS = bytes.maketrans(b"0123456789", b"X" * 10)


class Node:
    """A node: its properties (name to raw values, as UTF-8 text) in the file's order.

    ``number`` counts the nodes of its game in the file's order, from 1.
    """

    __slots__ = ("children", "number", "properties")

    def __init__(self, number: int) -> None:
        self.number = number
        self.properties: dict[str, list[str]] = {}
        self.children: list[Node] = []


class SgfGame:
    """One game of a file.

    Attributes: ``number``, from 1; ``root``, its first node; ``nodes``, how many it has;
    ``fault``, why the rest of it cannot be read, or ``""``.
    """

    def __init__(self, number: int, root: Node, nodes: int, fault: str) -> None:
        self.number = number
        self.root = root
        self.nodes = nodes
        self.fault = fault


def games(data: bytes, file: str | None = None) -> list[SgfGame]:
    """Return all games of a file.

    A game that is cut off or damaged has a ``fault`` and the nodes before it. Where a game does
    not end, no other is looked for: what follows may be its own variations.

    Raises :class:`SgfError` when the file has no game at all.
    """
    from sgfmill.sgf_grammar import tokenise

    text, guess = decode(data)
    doubt = _DOUBT.format(guess) if guess else ""
    spelled = _PIECE.sub(_spell, text.encode("utf-8", "replace"))
    found: list[SgfGame] = []
    start = _START.search(spelled)
    while start:
        tokens, end = tokenise(spelled, start.start())
        root, nodes, place, fault = _build(tokens)
        signs = [token for kind, token in tokens if kind == "D"]
        ended = signs.count(b"(") == signs.count(b")")
        if not ended:
            fault = fault or _stop(spelled, end)
        fault = f"{place}: {fault}{doubt}" if fault else ""
        found.append(SgfGame(len(found) + 1, root, nodes, fault))
        start = _START.search(spelled, end) if ended else None
    if not found:
        raise SgfError("found no game record; expected one that begins with '(;'", file)
    return found


def _spell(piece: re.Match[bytes]) -> bytes:
    """Return the name of a property in capitals and without digits; a value as it is.

    sgfmill drops lower-case letters, which FF[3] allows as decoration (``SiZe``), and so reads
    ``sz`` as no name at all. It stops at digits, which some renju programs have in names (``5A``);
    no property of SGF has an X, so these stay apart. No byte moves.
    """
    if piece[1] is None:
        return piece[0]
    name = piece[1].translate(_DIGITS)
    return name.upper() if name.islower() else name


def shorten(value: str, length: int = 20) -> str:
    """Return a value as it is quoted: on one line and not too long."""
    line = " ".join(value.split())
    return line if len(line) <= length else f"{line[:length]}…"


def _stop(text: bytes, end: int) -> str:
    """Return why sgfmill read no further than ``end``."""
    rest = text[end:].strip()
    line = text.count(b"\n", 0, len(text) - len(text[end:].lstrip())) + 1
    if not rest:
        return f"the file ends (line {line}) before the game does; expected ')'"
    if rest.startswith(b"["):
        return f"the file ends inside a value that begins in line {line}; expected ']'"
    found = shorten(rest[:60].decode("utf-8", "replace"))
    return f"found {found!r} in line {line}; {_EXPECTED}"


def _build(tokens: list[Token]) -> tuple[Node, int, str, str]:
    """Return a game's first node, how many it has, where they end, and what is wrong there, or "".

    The first two tokens are ``(`` and ``;``.
    """
    root = parent = Node(0)  # the parent of the first node, so that each has one
    parents: list[Node] = []  # where the open variations part
    node: Node | None = None  # the node that properties belong to, None between nodes
    is_closed = False  # whether a variation has just ended
    name, last, number, fault = "", "D", 0, ""
    for kind, data in tokens:
        token = data.decode()
        if kind != "V" and last != "I":
            name = ""  # the property that values belong to
        if kind == "V" and node and name:
            node.properties.setdefault(name, []).append(token)
        elif fault := _find_fault(kind, token, last, node, is_closed):
            break
        elif kind == "I":
            name = token
        elif token == ";":
            number += 1
            node = Node(number)
            parent.children.append(node)
            parent = node
        else:
            node, is_closed = None, token == ")"
            if is_closed:
                parent = parents.pop()
            else:
                parents.append(parent)
        last = kind
    return root.children[0], number, f"node {number}, {name}" if name else f"node {number}", fault


def _find_fault(kind: str, token: str, last: str, node: Node | None, is_closed: bool) -> str:
    """Return what is wrong with a token after one of kind ``last``, or ""."""
    if kind == "V":
        return f"found the value [{shorten(token)}] without a property"
    if last == "I":
        return "the property has no value"
    if kind == "I" and node is None:
        return f"found the property {token} outside a node; expected ';' before it"
    if kind == "I" and not token:
        return f"found a word in small letters; {_EXPECTED}"
    if token == ";" and is_closed:
        return "found ';' after a variation; expected '(' or ')'"
    return ""


# --- Faults of a record, with their places: refused, or kept with a note -------------------------


class Faults:
    """The errors and notes of one reading.

    A record that cannot be understood is an *error*. What can be understood but is against SGF or
    the rules of the game is a *fault*: an error too, or only a note if faults are kept.

    Attribute ``notes``: the sentences so far.
    """

    def __init__(self, file: str | None, game: str, keep: bool) -> None:
        self._file = file
        self._game = game  # which game of a collection, or ""
        self._keep = keep
        self.notes: list[str] = []

    def error(self, location: str, reason: str) -> SgfError:
        """Return an error to raise."""
        return SgfError(f"{self._game}{location}: {reason}", self._file)

    def fault(self, location: str, reason: str) -> None:
        """Raise :class:`SgfError`, or keep the sentence as a note."""
        if not self._keep:
            raise self.error(location, reason)
        self.warn(location, reason)

    def warn(self, location: str, reason: str) -> None:
        """Tell what is not as it should be, although it is read."""
        self.note(f"{self._game}{location}: {reason}")

    def note(self, sentence: str) -> None:
        """Tell what was assumed or overlooked."""
        self.notes.append(sentence)


def where(node: Node, name: str = "", value: str = "", move: int = 0) -> str:
    """Return a place in a record, such as ``node 12, B[dd] (move 11)``."""
    prop = f", {name}[{shorten(value)}]" if name else ""
    return f"node {node.number}{prop}{f' (move {move})' if move else ''}"
