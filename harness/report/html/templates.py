"""Jinja templates: each stands beside the module whose pages it shows.

A template gets records and texts, and escapes whatever is not markup already. Jinja is loaded with
this module: only where a page is written.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import bccache, ext, lexer
from markupsafe import Markup

from harness.core.text import number_of, one_line, show_utc

_HARNESS = Path(__file__).parents[2]
_LINE_BREAK = re.compile(r"[ ]*\n\s*")
# What every template can call; the pieces of all pages add themselves.
GLOBALS: dict[str, object] = {"number_of": number_of, "one_line": one_line, "show_utc": show_utc}


class _SourceLayout(ext.Extension):
    """Lets the source of a template have lines and indentation that pages do not have.

    A line break is nothing beside a tag or a block, and a blank within a text. A blank line is a
    line break of the page.
    """

    def filter_stream(self, stream: lexer.TokenStream) -> Iterator[lexer.Token]:
        for token in stream:
            if token.type != "data":
                yield token
            elif text := _LINE_BREAK.sub(_lay_out, token.value):
                yield lexer.Token(token.lineno, "data", text)


def _lay_out(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    if match[0].count("\n") > 1:
        return "\n"
    is_beside_tag = start == 0 or end == len(text) or text[start - 1] == ">" or text[end] == "<"
    return "" if is_beside_tag else " "


class _CompiledTemplates(bccache.FileSystemBytecodeCache):
    """Compiled templates, beside the modules that Python has compiled, where it can keep some."""

    def __init__(self) -> None:
        super().__init__(str(_HARNESS / "__pycache__"), "%s.template")

    def get_source_checksum(self, source: str) -> str:
        """Return what changes with a template, and with what compiles it."""
        compilers = (Path(path).stat().st_mtime_ns for path in (__file__, jinja2.__file__))
        return super().get_source_checksum(f"{[*compilers]}{source}")

    def dump_bytecode(self, bucket: bccache.Bucket) -> None:
        """Keep a template; an installation may be such that nothing can be written to it."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def make_environment(loader: jinja2.BaseLoader, *, has_layout: bool = True) -> jinja2.Environment:
    """Return what makes pages of the templates of a loader.

    ``has_layout``: whether the layout of their source is left out of the pages.
    """
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        bytecode_cache=None if sys.dont_write_bytecode else _CompiledTemplates(),
        trim_blocks=not has_layout,
        lstrip_blocks=not has_layout,
        extensions=[_SourceLayout] if has_layout else [],
    )


@cache
def _environment() -> jinja2.Environment:
    made = make_environment(jinja2.FileSystemLoader(_HARNESS))
    made.globals |= GLOBALS
    made.globals["parts"] = made.get_template("report/html/parts.html").module
    return made


def render(name: str, /, **values: object) -> Markup:
    """Return what a template shows of some values; ``name``: its path within the package."""
    return Markup(_environment().get_template(name).render(values))


@cache
def pieces(name: str) -> Any:
    """Return the macros of a template, by their names."""
    return _environment().get_template(name).module


def drawing(name: str) -> Callable[..., Markup]:
    """Return a function that draws a piece of a template: a macro's name and values."""
    return lambda piece, *values, **named: getattr(pieces(name), piece)(*values, **named)
