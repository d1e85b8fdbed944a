"""Small environments, made by hand, and their archives."""

import hashlib
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness.environments import environment_archive, interpreters
from harness.environments.interpreters import Interpreter, PackedEnvironment, fingerprint


class Made(NamedTuple):
    """An environment, its archive, and its description."""

    folder: Path
    archive: Path
    packed: PackedEnvironment


@cache
def base() -> Interpreter:
    """A Python of this machine."""
    return interpreters.inspect_python(os.path.realpath(interpreters.of_system()))


def make(folder: Path, name: str = "oldlib", size: int = 0) -> Path:
    """Make an environment with one package, of ``size`` bytes and a few; return its packages."""
    command = [base().program, "-I", "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    about = packages / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (packages / f"{name}.py").write_text("def twice(n):\n    return 2 * n\n")
    (packages / "data.bin").write_bytes(os.urandom(size))
    return packages


def pack(folder: Path) -> Made:
    """Pack an environment beside itself."""
    archive = folder.with_suffix(".tar.gz")
    unpacked = environment_archive.pack(folder, archive)
    found = interpreters.inspect_python(str(folder / "bin" / "python3"))
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    size = archive.stat().st_size
    told = PackedEnvironment(sha256, size, unpacked, found.base, fingerprint(found))
    return Made(folder, archive, told)
