"""Level 1's folders to write into, which no mount can put in another's place.

Without a mount namespace an engine runs in a new folder: a copy of what it may change, links to
what else it is shown beside it, and the same relative paths between them.
"""

import contextlib
import os
import re
import shutil
import stat
import tempfile
from itertools import count
from pathlib import Path
from typing import NamedTuple

from harness.core import file_system
from harness.sandbox import untrusted_folders
from harness.sandbox.view import View, is_in_one, is_within

GROUND = ".run"  # in the folder above a submission's, which is the harness's own
_MOST_BROUGHT = 1 << 20  # bytes of a file that is copied for each start: a record of a game
_ROOM = "stage"  # what an engine sees as the folder above its own


class RelocatedView(NamedTuple):
    """A new folder, and the engine's view and command as they are in there."""

    folder: str  # to be removed afterwards
    view: View
    words: tuple[str, ...]


def room_in(stage: str) -> str:
    """Return what stands for a harness's folder ``stage`` at level 1, one engine at a time."""
    return os.path.join(stage, GROUND, _ROOM)


def relocate(view: View, words: tuple[str, ...], owner: int = 0) -> RelocatedView:
    """Make a folder in which the engine ``words`` may write, and lay its files there.

    ``owner``: the user and group that it is given to; 0: ours.
    """
    ground = _new_folder(view.stage)
    home, room = os.path.join(ground, "home"), os.path.join(ground, _ROOM)
    top = _top(view)
    places = {path: _move(path, top, room) for path in view.places_to_write}
    for place in (home, room, *places.values()):
        _make(place, owner)
    for path in view.copied:
        for _ in untrusted_folders.copy(path, places[path], owner, view.hidden):
            pass
    # Put links, or copies, where relative paths look for what is shown, and is not copied.
    brought = bring_files(view) if owner else ()
    for path in _others(view):
        place = _move(path, top, room)
        _make(os.path.dirname(place), owner)
        if os.path.lexists(place):
            continue
        if path in brought:
            shutil.copyfile(path, place)
            os.chmod(place, 0o644)
        else:
            os.symlink(path, place)
    # Commands name files by whole paths, also those beside an assignment's own program.
    inside = (path for path in view.near if is_in_one(path, view.copied))
    moved = view._replace(
        shown=(*(path for path in view.shown if path not in view.copied), *inside),
        folder=places.get(view.folder, view.folder),
        program=_rename(view.program, places),
        writable=(room, home),
        copied=(),
    )
    return RelocatedView(ground, moved, tuple(_rename(word, places) for word in words))


def _new_folder(stage: str) -> str:
    """Return a new folder: in ``stage`` the first of its name that is free, else somewhere."""
    for number in count(1) if stage else ():
        folder = os.path.join(stage, GROUND if number == 1 else f"{GROUND}{number}")
        with contextlib.suppress(FileExistsError):
            file_system.make_new(Path(folder))
            return folder
    folder = tempfile.mkdtemp(prefix="gtp-harness-")
    os.chmod(folder, file_system.FOLDER)
    return folder


def _top(view: View) -> str:
    """Return the folder that contains all that relative paths may lead to."""
    own = view.places_to_write or ("/",)
    above = [os.path.dirname(path) if path in view.copied else path for path in own]
    return os.path.commonpath([*above, *map(os.path.dirname, view.near)])


def _move(path: str, top: str, room: str) -> str:
    return os.path.normpath(os.path.join(room, os.path.relpath(path, top)))


def _make(folder: str, owner: int) -> None:
    """Make a folder, and those above it, with their owner, unless they are there."""
    try:
        file_system.make_new(Path(folder))
    except FileNotFoundError:
        _make(os.path.dirname(folder), owner)
        file_system.make_new(Path(folder))
    except FileExistsError:
        return
    if owner:
        os.chown(folder, owner, owner)


def bring_files(view: View) -> tuple[str, ...]:
    """Return the files beside the engine's that are copied, for root's engines cannot reach them.

    They are small, open to all themselves, and in a folder that is not.
    """
    found = []
    for path in _others(view):
        if is_unreachable(path):
            status = os.stat(path)
            is_open = stat.S_ISREG(status.st_mode) and status.st_mode & 0o004
            if is_open and status.st_size <= _MOST_BROUGHT:
                found.append(path)
    return tuple(found)


def is_unreachable(path: str) -> bool:
    """Whether a folder above is shut to users without rights."""
    return any(not parent.stat().st_mode & 0o001 for parent in Path(path).parents)


def _others(view: View) -> list[str]:
    """Return what is shown beside the engine's folders and may be named by relative paths."""
    top = _top(view)
    return [
        path
        for path in view.near
        if is_within(path, top) and path != top and not is_in_one(path, view.copied)
    ]


def _rename(word: str, places: dict[str, str]) -> str:
    for path, place in places.items():
        word = place.join(re.split(rf"{re.escape(path)}(?![\w.-])", word))
    return word
