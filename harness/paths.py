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
    if not named.startswith("/"):
        named = "/var/cache" if os.geteuid() == 0 else os.path.join(home(), ".cache")
    return os.path.join(named, "gtp-harness")


def user_data() -> str:
    """Return the folder in which the harness keeps data of the user that must not be lost."""
    named = os.environ.get("XDG_DATA_HOME", "")
    if not named.startswith("/"):
        named = os.path.join(home(), ".local", "share")
    return os.path.join(named, "gtp-harness")


def home() -> str:
    """Return the user's home folder.

    Raises:
        UsageError: the user has none, as some in containers.
    """
    found = os.path.expanduser("~")
    if found == "~":
        from harness.errors import UsageError

        raise UsageError(f"the user {os.geteuid()} has no home folder: set the variable HOME")
    return found
