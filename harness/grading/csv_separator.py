"""What separates the cells of a table: learning platforms write commas, semicolons or tabs."""

from __future__ import annotations

import re

_SEPARATORS = ",;\t"
_HINT = re.compile(r'"?sep=.?"?(?=[\r\n])', re.IGNORECASE)


def blank_hint(text: str) -> str:
    """Return a table with an empty first line where Excel is told the separator: ``sep=;``."""
    found = _HINT.match(text)
    return text[found.end() :] if found else text


def find_separator(text: str) -> str:
    """Return what the first line has most of, outside quotes: a title may have commas, too."""
    first_line = re.split("[\r\n]", re.sub('"[^"]*"', "", text).lstrip("\r\n"), maxsplit=1)[0]
    return max(_SEPARATORS, key=first_line.count)
