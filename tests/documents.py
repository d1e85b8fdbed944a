"""The documents of the project: which there are, and what tests read in them.

A test that needs a section or a table asks for it by its heading. So a text may move from one
document to another and its tests go with it.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("**/*.md"))
CASES = [ROOT / "cases" / "README.md", ROOT / "cases" / "ASSIGNMENTS.md"]
FOR_HOSTS = sorted((ROOT / ".github").glob("*.md"))  # a code host shows them at their places
DOCUMENTS = [README, ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", *CASES, *PAGES, *FOR_HOSTS]

# Whose blocks a test of its own follows: a recipe changes a copy of the project.
RECIPES = ROOT / "docs" / "recipes.md"

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    """Return how a document is called in the ids of tests: its path within the project."""
    return str(path.relative_to(ROOT))


def read(path: Path) -> str:
    """Return the text of a document."""
    return path.read_text(encoding="utf-8")


def everything() -> str:
    """Return the text of the README and all pages."""
    return "".join(map(read, [README, *PAGES]))


def prose(path: Path) -> str:
    """Return the text of a document without its code blocks."""
    return _FENCED.sub("", read(path))


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks in one language, without their fences."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def section(heading: str) -> str:
    """Return what the README and the pages have under a heading, up to the next one."""
    pattern = rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)"
    found = re.compile(pattern, re.MULTILINE | re.DOTALL)
    (only,) = [text for path in (README, *PAGES) for text in found.findall(read(path))]
    return only


def table(head: str) -> list[str]:
    """Return the rows, as they are written, of the one table with this first line."""
    found = re.compile(rf"^{re.escape(head)}\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
    (rows,) = [text for path in DOCUMENTS for text in found.findall(read(path))]
    return rows.splitlines()


def links(path: Path) -> list[str]:
    """Return what the links and pictures of a document lead to."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(path))
