r"""Text from engines, made fit to be shown.

An engine may send anything: NUL, escape sequences, bytes that are not UTF-8 (which arrive as lone
surrogates), marks that turn the direction of writing. XML and TAP cannot hold some of these, a
terminal would obey others. Each is shown as programmers write it, a byte as ``\x1b``.
"""

from __future__ import annotations

import re
from functools import cache

_CONTROLS = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"]
_PLAIN = bytes(code for code in range(0x80) if code not in _CONTROLS)
_INVISIBLE = [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069]
_NO_CHARACTERS = [0xFFFE, 0xFFFF]
_UNDECODED = range(0xDC80, 0xDD00)  # bytes that were not UTF-8: "surrogateescape"
_SURROGATES = range(0xD800, 0xE000)
_SIGNS = "✓✗✕·–×…‹›"  # of the harness's own reports


@cache
def _table() -> dict[int, str]:
    return (
        {code: f"\\u{code:04x}" for code in (*_INVISIBLE, *_NO_CHARACTERS, *_SURROGATES)}
        | {code: f"\\x{code:02x}" for code in _CONTROLS}
        | {code: f"\\x{code - 0xDC00:02x}" for code in _UNDECODED}
    )


@cache
def _unfit() -> re.Pattern[str]:
    """Looking is much cheaper than translating; but to compile this takes as long as eighty
    commands, and a plain text needs none of it.
    """
    return re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
    )


def escape_controls(text: str) -> str:
    r"""Return the text with all that cannot be shown as ``\x1b``; CR LF becomes LF."""
    if text.isprintable():
        return text
    return _translate(text) if _fit(text) is None else text


def encode_visible(text: str) -> bytes:
    """Escape as :func:`escape_controls` does, and encode as UTF-8; often that is one step."""
    data = _fit(text)
    return _translate(text).encode() if data is None else data


def _translate(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_table())


def _fit(text: str) -> bytes | None:
    """Return a text as UTF-8 if it can be shown: of a long one hardly more than signs is looked at
    closely.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return None
    rest = data.translate(None, _PLAIN).decode().strip(_SIGNS)
    return data if not rest or not _unfit().search(rest) else None


def encode_without_surrogates(text: str) -> bytes:
    """Return what :func:`without_surrogates` does, as UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()


def without_surrogates(text: str) -> str:
    """Return the text with lone surrogates as U+FFFD, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def one_line(text: str, limit: int = 0) -> str:
    """Return the text fit to be shown on one line, with ``⏎`` for line ends; cut at ``limit``."""
    line = escape_controls(text).replace("\n", " ⏎ ").replace("\t", " ")
    return line if not limit or len(line) <= limit else line[: limit - 1].rstrip() + "…"
