"""Names of pages, gogui-regress's made unique; their addresses; the style and script in them."""

import os
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PART = re.compile(r"\.part\d+\Z")  # ends the name of a part of a page


def page_names(paths: Sequence[str]) -> list[str]:
    """Return for each case file the name of its page without ``.html``.

    As with gogui it is the file's name without ``.tst``, then ``name_2`` and so on. The log of
    ``name`` is ``name.out``, so that both must be free, and ``index`` is taken.
    """
    taken = {"index"}
    names = []
    for path in paths:
        name = own = os.path.basename(path).removesuffix(".tst")
        number = 1
        while {name, log_name(name)} & taken or _PART.search(name):
            number += 1
            name = f"{own}_{number}"
        taken |= {name, log_name(name)}
        names.append(name)
    return names


def log_name(name: str) -> str:
    """Return the name of the log page that belongs to a page."""
    return f"{name}.out"


def part_name(name: str, part: int) -> str:
    """Return the name of a part of a page that is cut; the first part, 1, has that of the page."""
    return name if part == 1 else f"{name}.part{part}"


class LogPages:
    """The addresses of a log, which may be cut into parts.

    ``links``: of the parts; "": the page that links to it has it. ``starts``: the first line of
    the case file in each part. ``prefix``: what all names in it begin with.
    """

    def __init__(self, links: Sequence[str], starts: Sequence[int], prefix: str = "") -> None:
        self._links, self._starts, self._prefix = links, starts, prefix
        self.first = links[0]
        self.stderr = f"{links[-1]}#{prefix}stderr"

    def at(self, line: int) -> str:
        """Return the address of a line of the case file."""
        part = max(1, bisect_right(self._starts, line)) - 1
        return f"{self._links[part]}#{self._prefix}L{line}"


def link(name: str) -> str:
    """Return a page's name as a relative address."""
    if _SAFE.issuperset(name):  # as most are
        return f"{name}.html"
    quoted = "".join(
        chr(byte) if chr(byte) in _SAFE else f"%{byte:02X}" for byte in os.fsencode(name)
    )
    return f"{quoted}.html"


# --- The style and the script of pages, put into each, for pages must open from a mail attachment
# They are files in ``static``, with comments and indentation, which no page gets. What only cards
# and boards need is left out of pages without them. Without a script a page shows all it has; a
# click can do less. A script loads nothing and sends nothing, and a page allows it alone, by its
# digest: see :func:`harness.report.html.parts.page`.


_FOLDER = os.path.join(os.path.dirname(__file__), "static")


@cache
def _read(file: str, end: str = "*/\n") -> list[str]:
    """Return the lines of a file without the comment at its beginning, and without indentation."""
    with open(file, encoding="utf-8") as opened:
        _, found, text = opened.read().partition(end)
    assert found, file
    return [line.strip() for line in text.splitlines()]


def read_style(file: str | os.PathLike[str]) -> str:
    """Return a style sheet as pages have it."""
    return "".join(_read(os.fspath(file)))


def style(*names: str) -> str:
    """Return some of our style sheets as pages have them."""
    return "".join(read_style(os.path.join(_FOLDER, name)) for name in names)


def _script(*names: str) -> str:
    lines = [line for name in names for line in _read(os.path.join(_FOLDER, name))]
    kept = [line for line in lines if line and not line.startswith("//")]
    return "\n".join(["(function () {", '"use strict";', *kept, "})();"])


BOARD_DEFINITIONS = "".join(_read(os.path.join(_FOLDER, "boards.svg"), "-->\n")) + "\n"
STYLE = style("base.css", "cards.css", "narrow.css", "cards_on_paper.css")
PLAIN = style("base.css", "narrow.css")  # of pages without cards
MATRIX = style("matrix.css")
SCRIPT = _script("common.js", "page.js", "filter.js", "anchors.js")
LOG_SCRIPT = _script("common.js", "log.js", "filter.js", "anchors.js")

# In base 64, as a page's policy has it; to work it out at each start would take too long.
SHA256 = "CTgFwYi9sqkyy5xz1JuZCrNyyzy6tXLBec4YfTgmLI4="
LOG_SHA256 = "fSBma3myVklQHAO57E4dLcDcelnIyB3YygxAUWtq5yI="
