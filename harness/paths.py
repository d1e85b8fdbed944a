"""Paths as :mod:`pathlib` spells them, without it: it takes longer to load than a small run."""

from __future__ import annotations

import os


def join_path(folder: str, path: str) -> str:
    """Return a path from a folder; ``..`` stays, for what is before it may be a link."""
    whole = os.path.join(folder, path)
    parts = [part for part in whole.split("/") if part not in ("", ".")]
    return ("/" if whole.startswith("/") else "") + "/".join(parts) or "."


def cache() -> str:
    """Return the folder in which the harness keeps what can be made again.

    As root, engines run as another user, who cannot look into root's home.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    home = "/var/cache" if os.geteuid() == 0 else os.path.expanduser("~/.cache")
    return os.path.join(named if named.startswith("/") else home, "gtp-harness")
