"""The folder with everything of a service: other users of the machine may not look into it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from harness.errors import UsageError

OURS = 0o700
_OTHERS = 0o077  # the permissions of the group and of everybody
_SIGNS = ("keys", "service.sqlite")  # one of them is in each folder that a service has used


def make(folder: Path) -> None:
    """Make a folder, or close one that is there to other users.

    A folder that has other things in it as well stays as it is. What the service writes is its
    own in any case: see :func:`keep_files_private`.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        folder.mkdir(mode=OURS, parents=True, exist_ok=True)
        if _is_open(folder) and folder.stat().st_uid == os.geteuid() and _is_for_a_service(folder):
            folder.chmod(OURS)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from None


def keep_files_private() -> None:
    """Let all files that this process and its children make be their user's only."""
    os.umask(_OTHERS)


def close_to_others(path: Path) -> None:
    """Let a file that was copied with its permissions be its user's only; raises OSError."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & OURS)


def find_exposed(folder: Path) -> Path | None:
    """Return something of a service that other users can read, or None.

    ``folder``: with the data, or that will have them.
    """
    if not folder.is_dir() or not _is_open(folder) or not _is_used(folder):
        return None
    return next((one for one in sorted(folder.iterdir()) if _is_open(one)), None)


def _is_open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & _OTHERS)


def _is_for_a_service(folder: Path) -> bool:
    """Whether nothing is in a folder, or what a service has made."""
    return _is_used(folder) or not any(folder.iterdir())


def _is_used(folder: Path) -> bool:
    return any((folder / name).exists() for name in _SIGNS)
