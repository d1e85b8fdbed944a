"""The long description of the package: the README without what works only beside the other files.

A page of a package index has no other files beside it. A link to one becomes its text, and a
picture goes. Addresses stay.
"""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parent
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)\s]*\)\n*")
_LINK = re.compile(r"\[([^\[\]]*)\]\([A-Za-z][\w./-]*(?:#[^)\s]*)?\)")


class LongDescription(MetadataHookInterface):
    """Makes ``readme``, which ``pyproject.toml`` says is dynamic."""

    def update(self, metadata: dict) -> None:
        """Add it to the metadata of the project."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        pieces = _FENCED.split(text)  # every other one is code
        pieces[::2] = map(without_neighbors, pieces[::2])
        metadata["readme"] = {"content-type": "text/markdown", "text": "".join(pieces)}


def without_neighbors(text: str) -> str:
    """Return Markdown without pictures from, and links to, files beside it."""
    return _LINK.sub(r"\1", _PICTURE.sub("", text))
