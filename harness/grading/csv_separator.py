"""What separates the cells of a table: learning platforms write commas, semicolons or tabs."""

from __future__ import annotations

import re

_SEPARATORS = ",;\t"


def find_separator(text: str) -> str:
    """Return what the first line has most of, outside quotes: a title may have commas, too."""
    first_line = re.split("[\r\n]", re.sub('"[^"]*"', "", text).lstrip("\r\n"), maxsplit=1)[0]
    return max(_SEPARATORS, key=first_line.count)
