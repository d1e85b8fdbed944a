"""The cache of environments: one folder each, whole or not there at all.

An environment is built beside its place and renamed. A lock keeps two builders apart, and keeps an
environment from being removed while engines use it.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.core import file_system
from harness.core.errors import UsageError
from harness.environments import environment_archive, interpreters
from harness.environments.environment_archive import UnsendableError
from harness.environments.interpreters import DeclaredEnvironment, Interpreter, PackedEnvironment

_RECORD = "environment.json"
_UNFINISHED = ".building-"
_PACKED, _PACKED_RECORD = ".tar.gz", ".packed.json"  # after a dot and the name of the environment


class Stored(NamedTuple):
    """An environment in the cache."""

    folder: Path
    version: str  # of its Python
    requirements: str
    built: str  # ISO 8601, UTC
    tool: str  # uv or pip

    @property
    def program(self) -> str:
        """Its Python."""
        return str(self.folder / "bin" / "python3")


def root() -> Path:
    """Return the folder of all environments."""
    return Path(file_system.cache(), "environments")


def key(base: Interpreter, environment: DeclaredEnvironment) -> str:
    """Return the name of the folder for an environment made from the Python ``base``."""
    parts = (base.version, base.implementation, base.platform, environment.requirements)
    return f"python{base.version}-{interpreters.digest(*parts)[:12]}"


def find(name: str) -> Stored | None:
    """Return the environment of this name if it is whole and its Python runs."""
    found = _read(root() / name)
    if found is None:
        return None
    try:
        is_sound = interpreters.inspect_python(found.program).version == found.version
    except UsageError:
        return None
    return found if is_sound else None


def all_of_them() -> list[Stored]:
    """Return all environments, by name."""
    return [found for found in map(_read, sorted(root().glob("python*/"))) if found]


def _read(folder: Path) -> Stored | None:
    try:
        record = json.loads((folder / _RECORD).read_bytes())
        return Stored(folder, *(str(record[name]) for name in Stored._fields[1:]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def make(
    name: str, base: Interpreter, environment: DeclaredEnvironment, base_folder: Path
) -> Stored:
    """Return the environment of this name, built from the Python ``base`` if it is not there.

    Another process that builds the same is waited for. ``base_folder``: the folder that relative
    paths in the requirements start from.

    Raises:
        UsageError: the cache cannot be written to; or the environment cannot be made: has the last
            words of the tool.
    """
    try:
        if os.geteuid() == 0:  # engines are other users
            file_system.make_open(root())
        root().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make {root()}: {error.strerror}; XDG_CACHE_HOME names another folder"
        ) from None
    if os.geteuid() == 0 and not interpreters.is_open(str(root())):
        raise UsageError(
            f"other users cannot enter {root()}, and as root engines run as another user: let"
            " XDG_CACHE_HOME name a folder that they can read"
        )
    with _lock(name, fcntl.LOCK_EX):
        if found := find(name):
            return found
        for old in (*root().glob(f"{_UNFINISHED}{name}*"), root() / name):
            shutil.rmtree(old, ignore_errors=True)
        unfinished = root() / f"{_UNFINISHED}{name}"
        try:
            record = _build(unfinished, base, environment, base_folder)._asdict()
            del record["folder"]
            (unfinished / _RECORD).write_text(json.dumps(record, indent=1) + "\n")
            open_to_all(unfinished)
            unfinished.rename(root() / name)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    made = find(name)
    if made is None:
        raise UsageError(f"the environment {root() / name} was built and does not run")
    return made


def open_to_all(folder: Path) -> None:
    """Let everybody read and execute it: as root, engines run as another user."""
    for above, _, names in os.walk(folder):
        Path(above).chmod(file_system.FOLDER)
        for path in (Path(above, name) for name in names):
            if not path.is_symlink():
                is_program = bool(path.stat().st_mode & 0o100)
                path.chmod(file_system.file_mode(is_program=is_program))


def remove(name: str) -> None:
    """Remove an environment.

    Raises:
        UsageError: no environment has that name, or it is in use.
    """
    if "/" in name or not (root() / name / _RECORD).is_file():
        raise UsageError(f"there is no environment {name!r} in {root()} (--list shows all)")
    with _lock(name, fcntl.LOCK_EX | fcntl.LOCK_NB):
        (root() / name / _RECORD).unlink()  # gone from here on
        shutil.rmtree(root() / name, ignore_errors=True)
        for ending in (_PACKED, _PACKED_RECORD):
            (root() / f".{name}{ending}").unlink(missing_ok=True)


def of_program(program: str) -> Stored | None:
    """Return the environment whose Python this is, if it is one of the cache."""
    folder = Path(program).parent.parent
    return _read(folder) if folder.parent == root() else None


def pack(environment: Stored) -> tuple[PackedEnvironment, Path]:
    """Return an environment as an archive, and where that lies; it is made once and kept.

    Raises:
        UnsendableError: it cannot be moved to another machine.
        UsageError: the archive cannot be written.
    """
    name, folder = environment.folder.name, environment.folder
    archive, record = (root() / f".{name}{ending}" for ending in (_PACKED, _PACKED_RECORD))
    try:
        with _lock(f"{name}.packing", fcntl.LOCK_EX):
            now = environment_archive.state(folder)
            found = _find_packed(record, archive, now)
            if found is None:
                found = _pack(environment, archive)
                record.write_text(json.dumps({"state": now, **found._asdict()}) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write {archive}: {error.strerror}") from None
    return found, archive


def _find_packed(record: Path, archive: Path, state: str) -> PackedEnvironment | None:
    """Return the archive that was kept if it is whole, and the environment still what it was."""
    try:
        told = json.loads(record.read_bytes())
        found = PackedEnvironment(*(told[name] for name in PackedEnvironment._fields))
        is_whole = file_system.digest(archive) == found.sha256
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if is_whole and told["state"] == state else None


def _pack(environment: Stored, archive: Path) -> PackedEnvironment:
    unrun = environment_archive.inspect_unrun(environment.folder)
    fingerprint = interpreters.fingerprint(unrun)
    own = interpreters.inspect_python(environment.program)
    if fingerprint != interpreters.fingerprint(own):
        raise UnsendableError("packages are found in other folders than its own")
    unfinished = archive.with_name(f"{_UNFINISHED}{archive.name}")
    try:
        size = environment_archive.pack(environment.folder, unfinished)
        unfinished.replace(archive)
    finally:
        unfinished.unlink(missing_ok=True)
    sha256, packed_size = file_system.digest(archive), archive.stat().st_size
    return PackedEnvironment(sha256, packed_size, size, unrun.base, fingerprint)


@contextmanager
def in_use(name: str) -> Iterator[Stored]:
    """Give an environment, which is not removed meanwhile.

    Raises:
        UsageError: it is not there.
    """
    with _lock(name, fcntl.LOCK_SH):
        found = find(name)
        if found is None:
            raise UsageError(f"the environment {root() / name} was removed")
        yield found


@contextmanager
def _lock(name: str, operation: int) -> Iterator[None]:
    """Hold the lock of an environment; it is let go with this process, however that ends."""
    try:
        descriptor = os.open(root() / f".{name}.lock", os.O_RDONLY | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(f"cannot write to {root()}: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, operation)
        yield
    except BlockingIOError:
        raise UsageError(f"the environment {name} is in use: try again later") from None
    finally:
        os.close(descriptor)


_LAST = 12  # lines of what a tool said that are shown when it fails
# What would send the tools into another environment, or another Python into this one.
_MISLEADING = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE")


def _build(
    folder: Path, base: Interpreter, environment: DeclaredEnvironment, base_folder: Path
) -> Stored:
    """Make an environment in a folder: with uv, else with venv and pip.

    Packages come from the index that these tools are set to. Nothing of a submission is read.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = str(folder / "bin" / "python3")
    if uv := shutil.which("uv"):
        _run([uv, "venv", "--quiet", "--no-project", "--python", base.program, str(folder)])
        tool = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
    else:
        _run([base.program, "-I", "-m", "venv", "--without-pip", str(folder)])
        # Try our own pip first: Debian's Python has none, and old ones know little.
        tool = [sys.executable, "-m", "pip", "--python", python]
        if _call([*tool, "--version"]).returncode:
            if _call([python, "-I", "-m", "ensurepip"]).returncode:
                short = ".".join(base.version.split(".")[:2])
                raise UsageError(
                    f"there is no pip for {base.program}: install uv, or python{short}-venv"
                )
            tool = [python, "-I", "-m", "pip"]
        tool += ["install", "--quiet", "--no-input", "--disable-pip-version-check"]
    if environment.requirements.strip():
        written = folder / "requirements.txt"
        written.write_text(environment.requirements, encoding="utf-8")
        # In a file uv takes paths as relative to that; what it reads from a pipe, to its folder.
        _run([*tool, "-r", "-" if uv else str(written)], base_folder, environment.requirements)
    built = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Stored(folder, base.version, environment.requirements, built, "uv" if uv else "pip")


def _run(command: Sequence[str], folder: Path | None = None, stdin: str = "") -> None:
    done = _call(command, folder, stdin)
    if done.returncode:
        said = "\n".join(done.stdout.strip().splitlines()[-_LAST:])
        raise UsageError(
            "the environment could not be built:"
            f" {Path(command[0]).name} ended with exit status {done.returncode}\n{said}"
        )


def _call(
    command: Sequence[str], folder: Path | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
    return subprocess.run(
        command,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=variables,
        cwd=folder,
        check=False,
    )
