"""Files of a teacher's: an assignment of one's own, and the folder that submissions get beside.

They are unpacked beside what an assignment of a course has on the server. An assignment of one's
own may have a reference engine and build steps, which run in a sandbox; what would run outside of
one is refused, for a teacher of one course does not run the service.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.assignments import assignment as assignments
from harness.assignments.assignment import FILE, Assignment
from harness.declared import declared_extension
from harness.errors import ArchiveError, HarnessError, UsageError
from harness.grading.taking_in.sources.pieces import safe
from harness.intake import archive
from harness.service.records import Assigned
from harness.service.settings import Settings

OWN = "uploaded"  # the source of an assignment whose files are on the server
_SOURCE, _OVERLAY = "source", "overlay"


def assignment_of(settings: Settings, one: Assigned) -> Assignment:
    """Return what an assignment of a course is made of: what ships, or what was uploaded."""
    if one.source != OWN:
        return assignments.find(one.source)
    (document,) = (settings.made(one.id) / _SOURCE).glob(f"*/{FILE}")
    return assignments.read(document)


@contextmanager
def unpacked(settings: Settings, path: Path, name: str) -> Iterator[tuple[Path, Assignment]]:
    """Give the folder of an assignment that was sent as an archive called ``name``, read.

    :func:`keep` moves the folder to where it belongs; else it is gone afterwards.

    Raises:
        UsageError: it is not an archive, has no assignment, or one that is wrong or would run
            something outside a sandbox.
    """
    with tempfile.TemporaryDirectory(dir=settings.data, prefix=".source-") as room:
        place = Path(room, safe(name.partition(".")[0]))
        _unpack(path, place)
        try:
            found = assignments.read(place / FILE)
        except HarnessError as error:
            raise UsageError(str(error).replace(f"{place}/", "")) from None
        _check(found)
        yield place, found


def keep(settings: Settings, place: Path, one: Assigned) -> None:
    """Move the folder of an assignment that was sent to where it belongs."""
    target = settings.made(one.id) / _SOURCE
    target.mkdir(mode=0o700, parents=True)
    place.rename(target / place.name)


def _check(found: Assignment) -> None:
    told = found.declaration and found.declaration.reference
    wrong = {
        f"{declared_extension.FILE} would run": (found.place / declared_extension.FILE).exists(),
        "its reference would run": bool(told and told.sandbox == "off"),
        "packages would be installed": bool(found.engine.packages),
    }
    for what in (what for what, is_so in wrong.items() if is_so):
        raise UsageError(f"{what} outside a sandbox: ask whoever runs the service to ship it")


def take_overlay(settings: Settings, one: Assigned, path: Path) -> None:
    """Let a folder that was sent be the one that submissions of an assignment get beside them.

    Raises:
        UsageError: it is not an archive; or the assignment wants no such folder.
    """
    if not assignment_of(settings, one).engine.overlay:
        raise UsageError("submissions of this assignment get no folder beside them")
    made = settings.made(one.id)
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made, prefix=".overlay-") as room:
        _unpack(path, Path(room, "new"))
        if has_overlay(settings, one):
            (made / _OVERLAY).rename(Path(room, "old"))
        Path(room, "new").rename(made / _OVERLAY)


def has_overlay(settings: Settings, one: Assigned) -> bool:
    """Whether a folder was sent that submissions get beside them."""
    return (settings.made(one.id) / _OVERLAY).is_dir()


def _unpack(path: Path, place: Path) -> None:
    """Unpack an archive; a single folder in it, with all that it has, is ``place`` itself."""
    place.mkdir()
    try:
        names = [one.name for one in archive.examine(str(path)).files]
        tops = {name.partition("/")[0] for name in names}
        is_within = len(tops) == 1 and all("/" in name for name in names)
        places = {name: name.partition("/")[2] if is_within else name for name in names}
        archive.unpack(str(path), place, places)
    except ArchiveError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise UsageError(f"the archive is refused: {error}") from None
