"""The records that travel: an environment declared, a Python found, the one engines get."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection
from typing import NamedTuple

from harness.text import count_rest, plural

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
        """What an environment made from it works with on another machine, in words."""
        return f"Python {self.version} ({self.abi or self.implementation}, {self.platform})"

    def describe(self, first: Collection[str] = ("numpy",), where: str = "") -> str:
        """Return such as ``Python 3.11.7 with numpy 1.23.5``.

        ``first``: packages that are named before others; ``where``: a path to be named.
        """
        heart = [pair for pair in self.packages if pair[0] not in _TOOLS]
        ordered = sorted(heart, key=lambda pair: (pair[0] not in first, pair[0]))
        shown = ", ".join(" ".join(pair) for pair in ordered[:_SHOWN])
        rest = len(ordered) - _SHOWN
        shown += count_rest(rest, f" and {{}} more {plural(rest, 'package')}")
        place = f" ({where})" if where else ""
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


def fingerprint(found: Interpreter) -> str:
    """Return the digest of what of a Python a result may depend on."""
    return digest(found.version, found.implementation, found.packages)


def digest(*parts: object) -> str:
    """Return the SHA-256 of what JSON can say."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
