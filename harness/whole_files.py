"""Files that others find whole: what was there before, or what is written now."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a file of UTF-8 in the place of another one, or of none.

    One writer at a time. A process that is killed leaves ``NAME.new`` beside it, which the next
    writer writes anew.

    Raises:
        OSError: that cannot be done; what was there is there still.
    """
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
