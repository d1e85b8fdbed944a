"""The new folder in which a submission is run, the course's beside it."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from harness.archives import archive
from harness.core import file_system
from harness.core.errors import UsageError
from harness.sandbox import untrusted_folders


@contextmanager
def workspace() -> Iterator[Path]:
    """Give a new folder, which is gone afterwards. Who runs in a sandbox may look into it."""
    folder = Path(tempfile.mkdtemp(prefix="gtp-harness-")).resolve()
    try:
        folder.chmod(0o755)  # as root, engines run as somebody else
        yield folder
    finally:
        untrusted_folders.remove(str(folder))  # a build may have left anything


def unpack(path: str, folder: Path, root: str, names: Iterable[str]) -> None:
    """Unpack the files that are kept, by their names below ``root`` in the archive."""
    file_system.make_open(folder)
    archive.unpack(path, folder, {root + name: name for name in names})


def unpack_copy(path: str, folder: Path, names: Iterable[str], name: str) -> None:
    """Unpack what an archive has of a folder called ``name``, wherever that lies in it."""
    file_system.make_open(folder)
    places = {member: f"/{member}".partition(f"/{name}/")[2] for member in names}
    # Two copies in different places may have a file of the same name, or one a file where the
    # other has a folder: the first is enough, and the file.
    first = {place: member for member, place in reversed(places.items()) if place}
    above = {place: [str(one) for one in PurePosixPath(place).parents] for place in first}
    clear = [place for place in first if not any(one in first for one in above[place])]
    archive.unpack(path, folder, {first[place]: place for place in clear})


def beside_submission(folder: Path) -> list[str]:
    """Return what lies in a workspace beside the submission: all of it is the course's."""
    beside = (path for path in folder.parent.iterdir() if not path.name.startswith("."))
    return sorted(str(path) for path in beside if path != folder)


# What editors, version control and Python leave in the course's folder.
_NOT_THE_COURSES = ("__pycache__", "*.pyc", ".*")


def of_course(folder: Path) -> list[str]:
    """Return the files of the course's folder that submissions get, by their names, sorted."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = (path.relative_to(folder) for path in paths)
    return [
        name.as_posix()
        for name in names
        if not any(fnmatch(part, each) for part in name.parts for each in _NOT_THE_COURSES)
    ]


def overlay(source: Path, target: Path) -> int:
    """Copy the course's folder; return the number of its files.

    Raises:
        UsageError: it cannot be copied.
    """
    left_out = shutil.ignore_patterns(*_NOT_THE_COURSES)
    try:
        shutil.copytree(source, target, ignore=left_out, symlinks=False)
        file_system.open_all(target)
    except (OSError, shutil.Error) as error:
        raise UsageError(f"cannot copy {source}: {error}") from None
    return sum(path.is_file() for path in target.rglob("*"))


def list_differences(folder: Path, other: Path) -> list[str]:
    """Return the files of ``folder`` that ``other`` has not, or has with other content.

    What Python compiles for itself does not count.
    """
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".pyc"
        and not _same(path, other / path.relative_to(folder))
    )


def _same(path: Path, other: Path) -> bool:
    return other.is_file() and path.read_bytes() == other.read_bytes()
