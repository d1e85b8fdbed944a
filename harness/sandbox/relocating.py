"""Level 1's folders to write into, which no mount can put in another's place.

Without a mount namespace an engine runs in a new folder: a copy of what it may change, links to
what else it is shown beside it, and the same relative paths between them.
"""

from __future__ import annotations

import os
import re
import tempfile
from typing import NamedTuple

from harness.sandbox import copying
from harness.sandbox.programs import is_in_one, is_within
from harness.sandbox.view import View

GROUND = ".run"  # in the folder above a submission's, which is the harness's own
_ROOM = "stage"  # what an engine sees as the folder above its own


class Ground(NamedTuple):
    """A new folder, and the engine's view and command as they are in there."""

    folder: str  # to be removed afterwards
    seen: View
    words: tuple[str, ...]


def room_in(stage: str) -> str:
    """Return what stands for a harness's folder ``stage`` at level 1, one engine at a time."""
    return os.path.join(stage, GROUND, _ROOM)


def relocate(seen: View, words: tuple[str, ...]) -> Ground:
    """Make a folder in which the engine ``words`` may write, and lay its files there."""
    ground = _new_folder(seen.stage)
    home, room = os.path.join(ground, "home"), os.path.join(ground, _ROOM)
    os.mkdir(home, 0o755)
    os.mkdir(room, 0o755)
    top = _top(seen)
    places = {path: _moved(path, top, room) for path in seen.places_to_write}
    for path, place in places.items():
        os.makedirs(place, 0o755, exist_ok=True)
        if path in seen.copied:
            copying.copy(path, place, left_out=seen.hidden)
    _link_others(seen, top, room)
    moved = seen._replace(
        shown=tuple(path for path in seen.shown if path not in seen.copied),
        folder=places.get(seen.folder, seen.folder),
        program=_renamed(seen.program, places),
        writable=(room, home),
        copied=(),
    )
    return Ground(ground, moved, tuple(_renamed(word, places) for word in words))


def _new_folder(stage: str) -> str:
    """Return a new folder: in ``stage`` the first of its name that is free, else somewhere."""
    number = 1
    while stage:
        folder = os.path.join(stage, GROUND if number == 1 else f"{GROUND}{number}")
        try:
            os.mkdir(folder, 0o755)
        except FileExistsError:
            number += 1
        else:
            return folder
    folder = tempfile.mkdtemp(prefix="gtp-harness-")
    os.chmod(folder, 0o755)
    return folder


def _top(seen: View) -> str:
    """Return the folder that contains all that relative paths may lead to."""
    above = [os.path.dirname(path) if path in seen.copied else path for path in _own(seen)]
    return os.path.commonpath([*above, *map(os.path.dirname, seen.near)])


def _own(seen: View) -> tuple[str, ...]:
    return seen.places_to_write or ("/",)


def _moved(path: str, top: str, room: str) -> str:
    return os.path.normpath(os.path.join(room, os.path.relpath(path, top)))


def _link_others(seen: View, top: str, room: str) -> None:
    """Put links where relative paths look for what is shown, and is not copied."""
    for path in seen.near:
        if is_within(path, top) and path != top and not is_in_one(path, seen.copied):
            place = _moved(path, top, room)
            os.makedirs(os.path.dirname(place), 0o755, exist_ok=True)
            if not os.path.lexists(place):
                os.symlink(path, place)


def _renamed(word: str, places: dict[str, str]) -> str:
    """Return a word of a command with the new places of what it names."""
    for path, place in places.items():
        word = place.join(re.split(rf"{re.escape(path)}(?![\w.-])", word))
    return word
