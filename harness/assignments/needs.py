"""The programs that an assignment needs on a machine, looked for where engines and steps look.

A course without a compiler, a cmake or a JDK on the grading machine would give everybody 0.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.errors import UsageError
from harness.sandbox.programs import SEARCH_PATH

# program: Debian packages. A program that is not here is in a package of its own name, perhaps.
PACKAGES = {
    "c++": "g++",
    "cargo": "cargo",
    "cc": "gcc libc6-dev",
    "clang": "clang",
    "cmake": "cmake",
    "g++": "g++",
    "gcc": "gcc libc6-dev",
    "ghc": "ghc",
    "go": "golang-go",
    "java": "default-jre-headless",
    "javac": "default-jdk-headless",
    "make": "make",
    "mono": "mono-runtime",
    "node": "nodejs",
    "ocaml": "ocaml",
    "perl": "perl",
    "python3": "python3",
    "ruby": "ruby",
    "rustc": "rustc",
    "sbcl": "sbcl",
    "swipl": "swi-prolog-nox",
}
_PATIENCE = 20.0  # seconds to say a version
_NOT_FOUND = re.compile(
    r"[‘'\"]?([\w.+-]+)[’'\"]?: (?:\d+: )?(?:command )?(?:not found|No such file)"
)
_BETWEEN = re.compile(r"[;&|(){}\n]")  # commands of a shell
_KEYWORDS = {"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "exec"}
_NUMBER = re.compile(r"\d+(\.\d+)+\S*")


class Tool(NamedTuple):
    """A program that is needed."""

    name: str
    path: str  # empty if it is not installed

    @property
    def package(self) -> str:
        """The Debian packages it comes in, with blanks between them."""
        return PACKAGES.get(self.name, self.name)

    def version(self) -> str:
        """Return the version that it tells, "" if it tells none."""
        words = [self.path, "version" if self.name == "go" else "--version"]
        try:
            said = subprocess.run(
                words, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        found = _NUMBER.search(said.stdout or said.stderr)
        return found[0].rstrip(",)") if found else ""


def tools(names: Iterable[str]) -> list[Tool]:
    """Return programs with where they are, in the folders that steps and engines see."""
    return [Tool(name, shutil.which(name, path=SEARCH_PATH) or "") for name in names]


def of(assignment: Assignment) -> list[Tool]:
    """Return all programs that an assignment says it needs."""
    build = assignment.build.needs if assignment.build else ()
    return tools(dict.fromkeys((*build, *assignment.engine.needs)))


def require(assignment: Assignment) -> None:
    """Make sure that everything an assignment says it needs is there.

    Raises:
        UsageError: something is not; names the Debian packages.
    """
    if missing := [tool for tool in of(assignment) if not tool.path]:
        raise UsageError(f"{assignment.key} needs {absent(missing)}")


def absent(missing: Iterable[Tool]) -> str:
    """Return what is missing and how to install it, as the end of a sentence."""
    found = list(missing)
    packages = " ".join(dict.fromkeys(" ".join(tool.package for tool in found).split()))
    names = " and ".join(tool.name for tool in found)
    are = "is" if len(found) == 1 else "are"
    return f"{names}, which {are} not installed (Debian: apt install {packages})"


def missing_programs(assignment: Assignment, step: tuple[str, ...], output: str) -> list[Tool]:
    """Return the programs without which a build step that failed could not succeed.

    These are programs that the assignment says it needs, and those that its own step calls and of
    which the ``output`` says that they were not found; all of them are not installed. A program
    that only a submission's Makefile calls is the submission's business.
    """
    called = set(_programs_of(step))
    undeclared = [name for name in _NOT_FOUND.findall(output) if name in called]
    return [tool for tool in (*of(assignment), *tools(dict.fromkeys(undeclared))) if not tool.path]


def _programs_of(step: Sequence[str]) -> Iterator[str]:
    """Yield the programs that a step names: the first words of its commands."""
    yield step[0]
    if len(step) == 3 and step[0] in ("sh", "bash") and step[1] == "-c":
        for part in _BETWEEN.split(step[2]):
            words = [word for word in part.split() if word not in _KEYWORDS and "=" not in word]
            yield from words[:1]
    yield from (after for word, after in pairwise(step) if word == "-exec")
