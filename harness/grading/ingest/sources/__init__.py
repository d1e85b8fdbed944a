"""Sources of submissions: a folder, a download from Canvas or Moodle, or a CSV file.

Each kind has a module that knows how names are made there and yields pieces, from which
``pieces`` makes entries. Times, which decide about lateness, come only from a CSV file: a file's
own time is that of the download.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.errors import UsageError
from harness.grading.ingest.sources import csv_source, listing
from harness.grading.records import StudentSubmissions

_ROOM = "gtp-harness-download-"
_TOLD = 20  # names in one sentence
KINDS = ("folder", "canvas", "moodle", "csv")
# The names that a platform gives, and the submission under such a name.
_PLATFORMS = {
    "canvas": (listing.CANVAS_NAME, listing.canvas_pieces),
    "moodle": (listing.MOODLE_NAME, listing.moodle_pieces),
}


def read(
    source: Path,
    groups_file: Path | None = None,
    kind: str | None = None,
    room: Path | None = None,
    on_remark: Callable[[str], None] = lambda _: None,
) -> tuple[StudentSubmissions, ...]:
    """Return what every student or group submitted, sorted by key.

    ``groups_file``: a CSV of the members of groups. ``kind``: one of :data:`KINDS`, by default
    what it looks like. ``room``: an empty folder for what is in a zip, as downloaded; by default
    one that is gone when the process ends. ``on_remark``: is told what of it is not read.

    Raises:
        UsageError: it does not exist, is not a source of any kind, or a CSV has a mistake.
        ArchiveError: a zip is damaged.
    """
    found = read_pieces(source, kind, room, on_remark)
    if groups_file:
        found = csv_source.group_pieces(found, csv_source.read_groups(groups_file))
    read_in = listing.entries(found)
    if not read_in:
        raise UsageError(f"there are no submissions in {source}")
    return read_in


def read_pieces(
    source: Path,
    kind: str | None = None,
    room: Path | None = None,
    on_remark: Callable[[str], None] = lambda _: None,
) -> Iterable[listing.SourcePiece]:
    """Return the pieces of a source, as they are called there; all else as :func:`read`."""
    if not source.exists():
        raise UsageError(f"there is no {source}")
    if kind == "csv" or (kind is None and source.suffix.lower() == ".csv" and source.is_file()):
        return csv_source.pieces(source)
    if source.is_dir():
        folder = source
    elif listing.is_zip(source):
        folder = room or _room()
        listing.unzip(source, folder)
    else:
        raise UsageError(f"{source} is neither a folder, nor a zip, nor a CSV file")
    # A name that begins with a dot is hidden: no submission may be lost without a word.
    if names := listing.list_hidden(folder):
        told = ", ".join(names[:_TOLD]) + (" …" if len(names) > _TOLD else "")
        on_remark(
            f"not read in {source}, because the name begins with a dot: {told}."
            " If it is a submission, rename it"
        )
    return _of_folder(folder, kind)


def _of_folder(folder: Path, kind: str | None) -> list[listing.SourcePiece]:
    """Return what lies in a folder. What is not called as the platform does is not lost: it is
    its own student's.
    """
    paths = listing.children(folder)
    platform = kind or _kind(paths)
    if platform not in _PLATFORMS:
        return [*listing.folder_pieces(paths)]
    name, pieces = _PLATFORMS[platform]
    found = [(path, name.fullmatch(path.name)) for path in paths]
    rest = [path for path, match in found if match is None]
    named = (piece for path, match in found if match for piece in pieces(path, match))
    return [*named, *listing.folder_pieces(rest)]


def _kind(paths: list[Path]) -> str:
    """Return what most of the names look like."""
    for kind, (name, _) in _PLATFORMS.items():
        if sum(name.fullmatch(path.name) is not None for path in paths) * 2 > len(paths):
            return kind
    return "folder"


def _room() -> Path:
    """Return a new folder, gone when this process ends; those of killed ones go now."""
    for left in Path(tempfile.gettempdir()).glob(f"{_ROOM}*"):
        if not Path("/proc", left.name.removeprefix(_ROOM).partition("-")[0]).exists():
            shutil.rmtree(left, ignore_errors=True)
    place = tempfile.mkdtemp(prefix=f"{_ROOM}{os.getpid()}-")
    atexit.register(_clear_away, place, os.getpid())
    return Path(place)


def _clear_away(place: str, owner: int) -> None:
    if os.getpid() == owner:  # and not one of its workers
        shutil.rmtree(place, ignore_errors=True)
