"""Templates: each stands beside the module whose pages it shows.

A template is HTML with Python in it, as Tornado's are. ``{{ value }}`` shows a value, escaped
unless it is markup already. ``{% if %}``, ``{% elif %}``, ``{% else %}`` and ``{% for %}`` are
Python's, ``{% set a = b %}`` assigns, and ``{% def name(value) %}`` is a function, which returns
what it shows. ``{% call name(value) %}`` shows a function, which gets what stands in it as
``content``. All of these but ``set`` end with ``{% end %}``. ``{# #}`` is a comment.

The source has lines and indentation that pages do not have: a line break is nothing beside a tag
or a block, and a blank within a text. A blank line is a line break of the page.

Jinja would take half of the time of a short run to be loaded (58 of 112 ms); a service has it.
"""

import os
import re
from collections.abc import Callable, Iterable
from importlib.machinery import SourceFileLoader
from types import CodeType

from harness.core.text import number_of, one_line, show_utc
from harness.report.tally import phrases

_HARNESS = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_TAG = r"(?s)\{\{(.*?)\}\}|\{%(.*?)%\}|\{#.*?#\}"
_BREAKS_OF_PAGE = r' "(\\n)+" '
_LINE_BREAK = r"[ ]*\n\s*"  # these are compiled only with a template


class Markup(str):
    """A text that is markup already."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return it for Jinja, which asks for it before it escapes a text."""
        return self

    def __add__(self, other: str) -> "Markup":
        return Markup(super().__add__(escape(other)))


def escape(value: object) -> str:
    """Return a value as markup."""
    if type(value) is Markup:
        return value
    if type(value) is not str and hasattr(value, "__html__"):
        return str(value.__html__())
    text = str(value)
    # To look is faster than to replace nothing, as with nearly all texts.
    if "&" in text or "<" in text or ">" in text or '"' in text or "'" in text:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return text.replace('"', "&#34;").replace("'", "&#39;")
    return text


def join(separator: str, parts: Iterable[object]) -> Markup:
    """Return values with a separator between them, each escaped unless it is markup."""
    return Markup(escape(separator).join(map(escape, parts)))


class Template:
    """The functions of a template, as attributes; it is loaded when the first one is taken.

    ``name``: its path within the package. ``given``: what it can take beside what all can.
    """

    def __init__(self, name: str, **given: object) -> None:
        self._path, self._given = os.path.join(_HARNESS, name), given

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        if name.startswith("__"):
            raise AttributeError(name)
        functions = vars(self)
        functions.update(_GLOBALS | self._given)
        exec(_Loader(self._path, f"{self._path}.py").get_code(self._path) or "", functions)
        return super().__getattribute__(name)  # type: ignore[no-any-return]


PIECES = Template("report/html/parts.html")  # of all pages

# What every template can take.
_GLOBALS: dict[str, object] = {
    "Markup": Markup,
    "escape": escape,
    "join": join,
    "number_of": number_of,
    "one_line": one_line,
    "parts": PIECES,
    "phrases": phrases,
    "show_utc": show_utc,
}


class _Loader(SourceFileLoader):
    """Compiles a template; the result is kept as that of a module, named as its path says."""

    def path_stats(self, path: str) -> dict[str, float]:
        """Return what changes with a template, and with what compiles it."""
        own, compiler = map(super().path_stats, (self.name, __file__))
        return {"mtime": own["mtime"] + compiler["mtime"], "size": own["size"]}

    def get_data(self, path: str) -> bytes:
        return super().get_data(self.name if path == self.path else path)

    def source_to_code(  # type: ignore[override]
        self, data: bytes, path: str, *, _optimization: int = -1
    ) -> CodeType:
        return super().source_to_code(_write_python(data.decode()), self.name)


def _write_python(template: str) -> str:
    """Return a template as a module."""
    lines: list[str] = []
    ends: list[list[str]] = []  # of each block that is open: the lines after it
    shown: list[str] = []  # values, since the last statement
    pieces = iter([*re.split(_TAG, template), None, None])

    def write(*written: str) -> None:
        lines.extend(" " * len(ends) + line for line in written)

    for text, value, tag in zip(pieces, pieces, pieces, strict=True):
        if ends and (laid := re.sub(_LINE_BREAK, _lay_out, text or "")):
            shown.append(repr(laid))
        if value:
            is_plain = re.fullmatch(_BREAKS_OF_PAGE, value)
            shown.append(value if is_plain else f"escape({value.strip()})")
        if not tag:
            continue
        if shown:
            write(f"_shown += ({', '.join(shown)},)")
            shown.clear()
        word, _, rest = tag.strip().partition(" ")
        if word == "end":
            write(*ends.pop())
        elif word == "set":
            write(rest)
        elif word in ("if", "for", "elif", "else"):
            ends += [[]] * (word in ("if", "for"))
            lines.append(" " * (len(ends) - 1) + f"{tag.strip()}:")
        elif word not in ("def", "call"):
            raise SyntaxError(
                f"found {{%{tag}%}}, expected for, if, elif, else, set, def, call or end"
            )
        else:
            write(f"def {rest if word == 'def' else '_content()'}:", " _shown = []")
            ends.append([" return Markup(''.join(_shown))"])
            if word == "call":
                call = rest.removesuffix(")") + ", " * (rest[-2] != "(")
                ends[-1].append(f"_shown += (escape({call}content=_content())),)")
    return "\n".join(lines)


def _lay_out(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    if match[0].count("\n") > 1:
        return "\n"
    is_beside_tag = start == 0 or end == len(text) or text[start - 1] == ">" or text[end] == "<"
    return "" if is_beside_tag else " "
