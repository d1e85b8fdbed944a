"""How Sphinx builds the documentation: ``tox -e docs``, strictly and without a network.

The source folder is the whole project, so that links between documents are the same here, on a
code host and in an editor. Sphinx and not MkDocs, because docstrings are in reStructuredText, and
because all that Furo's pages need is beside them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import oracle

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from docs.reference_pages import PAGES  # noqa: E402 - it is found only now

project = "gtp-harness"
version = release = oracle.__version__
project_copyright = "the authors of gtp-harness"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
include_patterns = [
    "docs/**",
    "cases/*.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "tests/benchmarks/*.md",
]
exclude_patterns = [".*", "**/.*"]
root_doc = "docs/index"

html_theme = "furo"
html_title = "gtp-harness"
html_show_sphinx = False
html_copy_source = False
html_extra_path = ["site"]

myst_heading_anchors = 4
myst_links_external_new_tab = False

_ITEM = re.compile(r"^- \[[^\]]*\]\(([^)]*)\.md\)$", re.MULTILINE)


def add_contents(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Make the site's table of contents of the lists of links on its first page.

    In the Markdown source they are plain lists.
    """
    if docname != root_doc:
        return
    for part in re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]:
        caption, _, body = part.partition("\n")
        paths = [(ROOT / "docs" / one).resolve() for one in _ITEM.findall(body)]
        entries = "\n".join(f"/{path.relative_to(ROOT)}" for path in paths)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def add_reference(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Add to the pages of the reference what is made from the code."""
    folder, _, name = docname.rpartition("/")
    if folder == "docs/reference":
        source[0] += PAGES[name]()


def leave_out_fields(
    _app: Sphinx, _what: str, _name: str, found: object, skip: bool, _options: object
) -> bool:
    """Leave out what Python says by itself of the fields of a named tuple."""
    text = str(getattr(found, "__doc__", ""))
    return skip or text.startswith("Alias for field number")


def setup(app: Sphinx) -> None:
    """Add what Sphinx does not know by itself."""
    for language in ("mermaid", "gtp", "txt"):
        app.add_lexer(language, TextLexer)
    app.connect("source-read", add_contents)
    app.connect("source-read", add_reference)
    app.connect("autodoc-skip-member", leave_out_fields)
