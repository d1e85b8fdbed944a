"""Pythons and environments: the records that travel, and the Pythons on this machine."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import UsageError
from harness.core.text import count_rest, plural

_TOOLS = ("pip", "setuptools", "wheel", "pkg_resources")  # of an environment, not of the course
_SHOWN = 3  # packages that are named


class Interpreter(NamedTuple):
    """A Python, as it describes itself."""

    program: str  # the absolute path that starts it
    version: str  # such as 3.11.7
    implementation: str  # such as cpython
    platform: str  # such as linux-x86_64-glibc
    packages: tuple[tuple[str, str], ...]  # (name, version) of what is installed, sorted
    abi: str = ""  # of compiled packages, such as cpython-311-x86_64-linux-gnu

    @property
    def base(self) -> str:
        """Requirement of an environment made from it on another machine, in words."""
        return f"Python {self.version} ({self.abi or self.implementation}, {self.platform})"

    def describe(self, first: Collection[str] = ("numpy",), path: str = "") -> str:
        """Return such as ``Python 3.11.7 with numpy 1.23.5``.

        ``first``: packages that are named before others; ``path``: to be named.
        """
        heart = [pair for pair in self.packages if pair[0] not in _TOOLS]
        ordered = sorted(heart, key=lambda pair: (pair[0] not in first, pair[0]))
        shown = ", ".join(" ".join(pair) for pair in ordered[:_SHOWN])
        rest = len(ordered) - _SHOWN
        shown += count_rest(rest, f" and {{}} more {plural(rest, 'package')}")
        place = f" ({path})" if path else ""
        return f"Python {self.version}{place} with{f' {shown}' if heart else 'out packages'}"


class EnginePython(NamedTuple):
    """The Python that engines get."""

    program: str  # absolute path
    described: str  # named in results, receipts and pages
    fingerprint: str  # digest of what a result may depend on: not the path


class PackedEnvironment(NamedTuple):
    """An environment as one archive, which another machine can unpack."""

    sha256: str  # of the archive
    size: int  # bytes of the archive
    unpacked: int  # bytes of its files
    base: str  # of the Python that the other machine must have; see :attr:`Interpreter.base`
    fingerprint: str  # of the Python in it; see :class:`EnginePython`


class DeclaredEnvironment(NamedTuple):
    """The environment that an assignment declares."""

    python: str  # a version such as 3.11; "" for the system's; or the absolute path of a program
    requirements: str  # the text of a requirements file

    @property
    def names(self) -> tuple[str, ...]:
        """The packages that are asked for by name, as they are called once installed."""
        found = re.findall(r"^\s*([A-Za-z0-9][\w.-]*)", self.requirements, re.MULTILINE)
        return tuple(normal(name) for name in found)

    def __str__(self) -> str:
        """Such as ``Python 3.11, numpy==1.23.*``."""
        lines = (line.partition("#")[0].strip() for line in self.requirements.splitlines())
        asked = (line for line in lines if line and not line.startswith("-"))
        return ", ".join([f"Python {self.python or 3}", *asked])


def normal(name: str) -> str:
    """Return a package's name as it is compared. Source: PyPA, "Names and normalization"."""
    return re.sub(r"[-_.]+", "-", name).lower()


def fingerprint(interpreter: Interpreter) -> str:
    """Return the digest of what of a Python a result may depend on."""
    return digest(interpreter.version, interpreter.implementation, interpreter.packages)


def digest(*parts: object) -> str:
    """Return the SHA-256 of what JSON can say."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


# The harness's own environment is not a candidate. What is installed there, NumPy above all, is
# what the harness needs; an engine that got it would be judged by an accident of this machine.
_PATIENCE = 60.0  # seconds; a Python describes itself in 0.05
_USUAL = ("/usr/local/bin", "/usr/bin", "/bin")
_ENVIRONMENTS = (".venv", "venv", "env")  # what they are usually called
_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")  # variables that name one
_MINORS = range(6, 20)  # of Pythons 3 that are looked for
# For engines: they must not see the variables and packages of the user who starts them.
ALONE = ("-E", "-s")
# Runs in any Python 3: names and versions are in the names of folders. Its arguments are folders
# that it looks into besides.
_SCRIPT = r"""
import json, os, platform, re, sys, sysconfig
found = {}
for folder in sys.path + sys.argv[1:]:
    for entry in os.listdir(folder) if os.path.isdir(folder) else ():
        match = re.match(r"(.+?)-([^-]+)(-py[\d.]+)?\.(dist|egg)-info$", entry)
        if match:
            found.setdefault(match.group(1), match.group(2))
print(json.dumps([
    sys.version_info[0],
    ".".join(map(str, sys.version_info[:3])),
    sys.implementation.name if sys.version_info[0] > 2 else "",
    sysconfig.get_platform() + "-" + platform.libc_ver()[0],
    sorted(found.items()),
    sysconfig.get_config_var("SOABI") or "",
]))
"""


def inspect_python(program: str, package_folder: str = "") -> Interpreter:
    """Return what a Python says of itself. It runs alone: no variables, no site of the user.

    ``package_folder``: a folder of packages whose code is not run; if empty, its own, as engines
    have them.

    Raises:
        UsageError: it is not a Python 3 that runs.
    """
    script = ["-c", _SCRIPT]
    words = [program, "-I", *(["-S", *script, package_folder] if package_folder else script)]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_PATIENCE, check=True, cwd="/"
        )
        major, version, implementation, platform, packages, abi = json.loads(done.stdout)
        pairs = tuple(sorted((normal(name), number) for name, number in packages))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError):
        raise UsageError(f"{program} is not a Python 3 that can be run") from None
    if major != 3:
        raise UsageError(f"{program} is Python {version}, expected a Python 3")
    return Interpreter(program, version, implementation, platform, pairs, abi)


def environment_of(program: str) -> str:
    """Return the folder of the virtual environment that this Python belongs to, or ""."""
    folder = Path(program).parent.parent
    return str(folder) if (folder / "pyvenv.cfg").is_file() else ""


def environments_near(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the Pythons of virtual environments: those in folders or above, and active ones."""
    places = [Path(one) for key in _ACTIVE if (one := os.environ.get(key))]
    for folder in folders:
        places += (up / name for up in (folder.resolve(), *folder.resolve().parents[:2])
                   for name in _ENVIRONMENTS)  # fmt: skip
    for place in dict.fromkeys(places):
        program = str(place / "bin" / "python3")
        if os.access(program, os.X_OK) and not is_own(program):
            yield program


def is_meant(word: str) -> bool:
    """Whether the first word of a command means a Python: python, python3, python3.9."""
    return re.fullmatch(r"python(3(\.\d+)?)?", word) is not None


@cache
def of_system(name: str = "python3") -> str:
    """Return the path of the first Python of this name that is not the harness's own.

    Only where there is no other it is the harness's own: :func:`is_own` tells. As root, one that
    other users can execute comes first, for engines run as another user.
    """
    name = "python3" if name == "python" else name
    own = sys.executable if name == "python3" else shutil.which(name) or name
    return next(iter(_others([name])), own)


def is_own(program: str) -> bool:
    """Whether a program is the Python of the harness's own environment."""
    if sys.prefix != sys.base_prefix:
        folder = os.path.realpath(Path(program).parent.parent)
        return Path(program).is_relative_to(sys.prefix) or folder == os.path.realpath(sys.prefix)
    return os.path.realpath(program) == os.path.realpath(sys.executable)


def _others(names: Iterable[str]) -> list[str]:
    """Return the Pythons of these names, without the harness's own, the best first."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if sys.prefix != sys.base_prefix:  # from which the harness's own environment was made
        folders.append(f"{sys.base_prefix}/bin")
    found: dict[str, None] = {}
    for path in (Path(folder, name) for name in names for folder in (*folders, *_USUAL)):
        # Pyenv's shims are scripts that look for the real one all over the home directory.
        is_program = (
            path.is_absolute() and path.parent.name != "shims" and os.access(path, os.X_OK)
        )
        if is_program and not is_own(str(path)):
            found[str(path)] = None
    return sorted(found, key=lambda path: os.geteuid() == 0 and not is_open(path))


def of_version(version: str) -> Interpreter:
    """Return a Python of a version such as ``3.11`` or ``3.11.7``.

    Raises:
        UsageError: there is none on this machine; says what to install.
    """
    parts = version.split(".")
    short = ".".join(parts[:2])
    for path in _of_version(short):
        try:
            found = inspect_python(os.path.realpath(path))
        except UsageError:
            continue
        if found.version.split(".")[: len(parts)] == parts:
            return found
    raise UsageError(
        f"there is no Python {version} on this machine: install it (Debian, if it has this one:"
        f" apt install python{short}; anywhere: uv python install {version}),"
        " or name another with --python"
    )


def of_all_versions() -> list[Interpreter]:
    """Return the Pythons on this machine, the best of each kind first."""
    programs = (path for minor in _MINORS for path in _of_version(f"3.{minor}"))
    found = []
    for path in dict.fromkeys(map(os.path.realpath, programs)):
        with contextlib.suppress(UsageError):
            found.append(inspect_python(path))
    return found


def _of_version(short: str) -> Iterator[str]:
    yield from _others([f"python{short}", "python3"])
    own = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")  # noqa: PTH111 - "~" stays
    versions = Path(own, "versions")
    yield from sorted(map(str, versions.glob(f"{short}.*/bin/python3")), reverse=True)
    if (uv := shutil.which("uv")) is not None:
        command = [uv, "python", "find", "--no-project", "--system", short]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        yield from said.stdout.split("\n")[:1] if said.returncode == 0 else []


def is_open(path: str) -> bool:
    """Whether other users too can get to a program or folder, and execute or enter it.

    The folders of a link count, too: a virtual environment in root's home is not open.
    """
    named, real = Path(path).absolute(), Path(path).resolve()
    places = (real, *real.parents, *named.parents)
    return all(place.stat().st_mode & stat.S_IXOTH for place in places)
