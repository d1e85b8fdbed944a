"""Paths as :mod:`pathlib` spells them, without it: it takes longer to load than a small run."""

from __future__ import annotations

import os


def joined(folder: str, path: str) -> str:
    """Return a path from a folder; ``..`` stays, for what is before it may be a link."""
    whole = os.path.join(folder, path)
    parts = [part for part in whole.split("/") if part not in ("", ".")]
    return ("/" if whole.startswith("/") else "") + "/".join(parts) or "."
