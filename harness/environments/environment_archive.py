"""An environment as one archive, and from there into another place, perhaps on another machine.

A virtual environment cannot be moved as it is: it names its own place and that of the Python that
it was made from. So all that is the machine's own stays behind (the links to its Python,
``pyvenv.cfg``), and is made anew where the packages are unpacked, by the Python there. Times of
files stay, for by these Python knows which compiled modules are up to date.

Packages that are not in the environment itself, and compiled ones that need a library which the
other machine does not have, are found out: a program would end there with an error that is not
its own. Nothing of an environment is run for that.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

from harness.core import file_system
from harness.core.errors import HarnessError, UsageError
from harness.environments import interpreters

# Compressing more takes three times as long, and makes the archive a tenth smaller.
_LEVEL = 1
_ABOUT = "gtp-harness.json"  # in the archive, the first: what else must be known
_MACHINES_OWN = re.compile(r"lib64/|bin/(python[\d.]*t?$|(de)?activate)", re.IGNORECASE)
_LONGEST_ABOUT = 1 << 20
_LONGEST_NAME = 1024
_MOST_FILES = 1 << 19
_PIECE = 1 << 20


class UnsendableError(HarnessError):
    """An environment that cannot be moved to another machine; says what of it."""


class DamagedError(HarnessError):
    """An archive that is not an environment as :func:`pack` writes them."""


def pack(folder: Path, into: Path) -> int:
    """Write an environment into an archive, alike for alike ones; return the bytes of its files.

    Raises:
        UnsendableError: it has parts that lie, or lead, elsewhere.
        OSError: it cannot be written.
    """
    names = sorted(_names(folder))
    for name in names:
        if not _is_plain(name):
            raise UnsendableError(f"{name!r} is not the name of a file that can be sent")
        if (folder / name).is_symlink():
            raise UnsendableError(f"{name} is a link")
        lines = (folder / name).read_bytes().splitlines() if name.endswith(".pth") else ()
        if any(line.startswith((b"/", b"..")) for line in lines):
            raise UnsendableError(f"{name} leads to a folder elsewhere")
        if name.endswith("/direct_url.json") and _is_editable((folder / name).read_bytes()):
            raise UnsendableError(f"{Path(name).parent.stem} is installed in place (editable)")
    about = json.dumps({"unloadable": sorted(_unloadable(folder, names))}).encode()
    with (
        into.open("wb") as raw,
        gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive,
    ):
        member, total = tarfile.TarInfo(_ABOUT), len(about)
        member.size = total
        archive.addfile(member, io.BytesIO(about))
        for name in names:
            status = (folder / name).stat()
            member = tarfile.TarInfo(name)
            member.size, member.mtime = status.st_size, int(status.st_mtime)
            member.mode = file_system.file_mode(is_program=bool(status.st_mode & 0o100))
            with (folder / name).open("rb") as file:
                archive.addfile(member, file)
            total += status.st_size
        return total


def state(folder: Path) -> str:
    """Return a digest that is another one when a file of an environment has changed."""
    told = ((name, (folder / name).lstat()) for name in sorted(_names(folder)))
    rows = [(name, one.st_size, one.st_mtime_ns) for name, one in told]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _names(folder: Path) -> Iterator[str]:
    """Yield the files of an environment that are not the machine's own."""
    for above, _, files in os.walk(folder):
        for path in (Path(above, name) for name in files):
            name = path.relative_to(folder).as_posix()
            if not _is_machines_own(name):
                yield name


def _is_machines_own(name: str) -> bool:
    return "/" not in name or _MACHINES_OWN.match(name) is not None


def _is_editable(text: bytes) -> bool:
    """Whether a package lies where it is developed. Source: PEP 610."""
    try:
        return bool(json.loads(text).get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError, RecursionError):
        return True  # nobody knows where it lies


def unpack(archive: Path, folder: Path, base: interpreters.Interpreter, most: int) -> None:
    """Make an environment of an archive, in a folder that is not there yet, from a Python.

    ``most``: bytes of its files.

    Raises:
        DamagedError: it is not an archive of an environment, or has more bytes.
        UnsendableError: it does not work on this machine; says what is missing.
        UsageError: the Python makes no environment.
        OSError: it cannot be written.
    """
    file_system.make_new(folder)
    with archive.open("rb") as raw:
        about = _unpack(raw, folder, most)
    lost = set(_unloadable(folder, sorted(_names(folder)))) - about
    if lost:
        raise UnsendableError(f"a library that {min(lost)} needs is not there, or is too old")
    # Make the packages of the folder an environment of this machine's.
    command = [base.program, "-I", "-m", "venv", "--without-pip", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise UsageError(f"{base.program} makes no environment: {' '.join(said)}")


def _unpack(raw: IO[bytes], folder: Path, most: int) -> set[str]:
    try:
        with tarfile.open(fileobj=raw, mode="r|gz") as archive:
            about, left = None, most
            for number, one in enumerate(archive):
                left -= one.size
                if one.type != tarfile.REGTYPE or one.size < 0:
                    raise DamagedError(f"{one.name!r} is not a file")
                if left < 0 or number > _MOST_FILES:
                    raise DamagedError(f"it has more than {most:,} bytes or {_MOST_FILES:,} files")
                if about is None:
                    about = _about(archive, one)
                else:
                    _write(archive, one, folder)
            if about is None or left:
                raise DamagedError(f"{left:,} of {most:,} bytes are missing")
            return about
    except (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise DamagedError(f"it cannot be read: {error}") from None
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise DamagedError(f"it has two files of one name: {error.filename}") from None


def _about(archive: tarfile.TarFile, member: tarfile.TarInfo) -> set[str]:
    if member.name != _ABOUT or member.size > _LONGEST_ABOUT:
        raise DamagedError(f"it begins with {member.name!r}, expected {_ABOUT}")
    try:
        names = json.loads(_content(archive, member).read())["unloadable"]
        return {str(name) for name in names}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DamagedError(f"{_ABOUT} cannot be read") from None


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a file. No link is there, so that it lies where its name says."""
    if not _is_plain(member.name) or _is_machines_own(member.name):
        raise DamagedError(f"{member.name!r} is not the name of a file of an environment")
    path = folder / member.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        shutil.copyfileobj(_content(archive, member), file, _PIECE)
        os.fchmod(file.fileno(), file_system.file_mode(is_program=bool(member.mode & 0o100)))
    os.utime(path, (member.mtime, member.mtime))


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    found = archive.extractfile(member)
    assert found
    return found


def _is_plain(name: str) -> bool:
    is_short = len(name) <= _LONGEST_NAME and name.isprintable()
    return is_short and not {"", ".", ".."} & set(name.split("/"))


def inspect_unrun(folder: Path) -> interpreters.Interpreter:
    """Return what is in an environment; nothing of it is run but its Python itself.

    Raises:
        UsageError: its Python does not run.
    """
    packages = next(folder.glob("lib/python3*/site-packages"), folder)
    return interpreters.inspect_python(str(folder / "bin" / "python3"), str(packages))


def _unloadable(folder: Path, names: Collection[str]) -> Iterator[str]:
    """Yield the compiled modules and libraries that need something that this machine has not.

    Raises:
        UsageError: there is no ldd, by which this is known.
    """
    libraries = [name for name in names if re.search(r"\.so(\.\d+)*$", name)]
    ldd = shutil.which("ldd")
    if libraries and ldd is None:
        raise UsageError("there is no ldd on this machine")
    for name in libraries:
        words = [str(ldd), str(folder / name)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        # The loader must find all that a library needs, in versions that are new enough.
        if done.returncode or "not found" in done.stdout + done.stderr:
            yield name
