"""Texts of help pages: what is a paragraph in them, what a table, what an example.

They are written as they are printed in 80 columns and read back here, so that a page fits any
terminal, and so that manual pages are made of the same text. Lines that are not indented are
paragraphs; indented ones with a gap of two blanks or more are a table of words and their meanings;
other indented ones are to be left alone.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

_ROW = re.compile(r" +(?P<key>\S+(?: \S+)*) {2,}(?P<text>\S.*)")


class Paragraph(NamedTuple):
    """Words that may be broken into lines anywhere."""

    text: str


class DefinitionTable(NamedTuple):
    """Words and what they mean."""

    rows: tuple[tuple[str, str], ...]


class ExampleLines(NamedTuple):
    """Lines that stay as they are."""

    lines: tuple[str, ...]


Block = Paragraph | DefinitionTable | ExampleLines


def blocks(text: str) -> Iterator[list[Block]]:
    """Yield what stands between two empty lines, each as its blocks."""
    for part in re.split(r"\n{2,}", text.strip("\n")):
        found: list[Block] = []
        for indented, lines in groupby(part.split("\n"), lambda line: line.startswith(" ")):
            own = list(lines)
            found.append(_read_indented(own) if indented else Paragraph(" ".join(own)))
        yield found


def _read_indented(lines: list[str]) -> Block:
    rows: list[tuple[str, str]] = []
    column = 0  # of the text of the last row
    for line in lines:
        row = _ROW.fullmatch(line)
        if row:
            column = row.start("text")
            rows.append((row["key"], row["text"]))
        elif rows and len(line) - len(line.lstrip()) == column:
            key, before = rows[-1]
            rows[-1] = (key, f"{before} {line.strip()}")
        else:
            return ExampleLines(tuple(lines))
    return DefinitionTable(tuple(rows))


def fill(text: str, width: int) -> str:
    """Return a text with its paragraphs and tables broken into lines of at most ``width``."""
    parts = ("\n".join(line for block in part for line in _lines(block, width))
             for part in blocks(text))  # fmt: skip
    return "\n\n".join(parts)


def wrap(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph; names such as gogui-regress are not broken."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _lines(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from wrap(block.text, width)
    elif isinstance(block, ExampleLines):
        yield from block.lines
    else:
        longest = max(len(key) for key, _ in block.rows)
        for key, text in block.rows:
            first = f"{key:>{longest}}" if key.isdigit() else f"{key:{longest}}"
            lines = wrap(text, max(width - longest - 4, 20))
            yield f"  {first}  {lines[0]}"
            yield from (f"{'':{longest + 4}}{line}" for line in lines[1:])
