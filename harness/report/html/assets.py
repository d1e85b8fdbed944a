"""The style and the script of pages, put into each, for pages must open from a mail attachment.

They are files in ``static``, with comments and indentation, which no page gets. What only cards
and boards need is left out of pages without them. Without a script a page shows all it has; a
click can do less. A script loads nothing and sends nothing, and a page allows it alone, by its
digest: see :func:`harness.report.html.parts.page`.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).with_name("static")


def _read(file: Path) -> list[str]:
    """Return the lines of a file without the comment at its beginning, and without indentation."""
    _, end, text = file.read_text("ascii").partition("*/\n")
    assert end, file
    return [line.strip() for line in text.splitlines()]


def read_style(file: Path) -> str:
    """Return a style sheet as pages have it."""
    return "".join(_read(file))


def _style(*names: str) -> str:
    return "".join(read_style(_FOLDER / name) for name in names)


def _script(*names: str) -> str:
    lines = [line for name in names for line in _read(_FOLDER / name)]
    kept = [line for line in lines if line and not line.startswith("//")]
    return "\n".join(["(function () {", '"use strict";', *kept, "})();"])


STYLE = _style("base.css", "cards.css", "narrow.css", "cards_on_paper.css")
PLAIN = _style("base.css", "narrow.css")  # of pages without cards
MATRIX = _style("matrix.css")
SCRIPT = _script("common.js", "page.js", "filter.js", "anchors.js")
LOG_SCRIPT = _script("common.js", "log.js", "filter.js", "anchors.js")

# In base 64, as a page's policy has it; to work it out at each start would take too long.
SHA256 = "CTgFwYi9sqkyy5xz1JuZCrNyyzy6tXLBec4YfTgmLI4="
LOG_SHA256 = "fSBma3myVklQHAO57E4dLcDcelnIyB3YygxAUWtq5yI="
