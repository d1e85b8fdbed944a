"""The programs that an assignment needs on a machine, and the Python that its engines get."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.core.errors import UsageError
from harness.environments import environment_cache, interpreters
from harness.environments.interpreters import (
    DeclaredEnvironment,
    EnginePython,
    Interpreter,
    fingerprint,
)
from harness.sandbox.view import SEARCH_PATH

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


def absent(tools: Iterable[Tool]) -> str:
    """Return what is missing and how to install it, as the end of a sentence."""
    found = list(tools)
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


# --- Which Python an assignment's engines get: as ``--python`` says, else the environment that the
# assignment declares, else the system's.


_NO_MODULE = re.compile(r"No module named '(?P<name>\w+)")


class EnvironmentChoice(NamedTuple):
    """A declared environment and where it belongs."""

    environment: DeclaredEnvironment
    base: Interpreter
    name: str  # of its folder in the cache


@contextmanager
def with_python(
    assignment: Assignment, python_choice: str = "", build: Callable[[str], None] | None = None
) -> Iterator[Assignment]:
    """Give the assignment with the Python that its engines get, which stays there meanwhile.

    ``python_choice``: by ``--python``. ``build``: called with a sentence before an environment
    that is missing is built; None if it is not built.

    Raises:
        UsageError: there is no such Python; or the environment is not built, and is not to be, or
            cannot be.
    """
    if not assignment.starts_python:
        if python_choice:
            raise UsageError(f"{assignment.key}: its command starts no Python: --python is void")
        yield assignment
        return
    choice = None if python_choice else find_declared_environment(assignment)
    if choice is None:
        if python_choice:
            python = _by_path(python_choice)
        elif path := assignment.engine.python:
            python = _as_it_is(interpreters.inspect_python(_absolute(path, assignment.place)))
        else:
            python = of_system(assignment.python_name)
        yield assignment._replace(python=python)
        return
    if not environment_cache.find(choice.name):
        if build is None:
            raise UsageError(
                f"the Python environment of {assignment.key} ({choice.environment}) is not built:"
                f" gtp-harness env --assignment {assignment.called} builds it once"
            )
        build(f"The Python environment of the course ({choice.environment}) is built, this once.")
        environment_cache.make(choice.name, choice.base, choice.environment, assignment.place)
    with environment_cache.in_use(choice.name) as stored:
        own = interpreters.inspect_python(stored.program)
        described = own.describe(choice.environment.names)
        yield assignment._replace(python=EnginePython(own.program, described, fingerprint(own)))


def in_command(words: list[str], python_choice: str = "") -> tuple[list[str], str]:
    """Return a command with its Python in place, and that in words; as it is without one.

    ``python_choice``: by ``--python``.

    Raises:
        UsageError: a Python is named, and there is no such one, or the command starts none.
    """
    if not interpreters.is_meant(words[0]):
        if python_choice:
            raise UsageError(
                f"--python is for commands that begin with python3, found {words[0]!r}"
            )
        return words, ""
    python = _by_path(python_choice) if python_choice else of_system(words[0])
    return [python.program, *interpreters.ALONE, *words[1:]], python.described


def find_declared_environment(assignment: Assignment) -> EnvironmentChoice | None:
    """Return the environment to be built for an assignment; None if nothing is.

    A path without packages is a Python to be used as it is.

    Raises:
        UsageError: its Python, or the file of its packages, is not there.
    """
    python, packages = assignment.engine.python, assignment.engine.packages
    if not packages and (not python or "/" in python):
        return None
    if isinstance(packages, str):
        path = assignment.place / packages
        try:
            requirements = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {path}: {error}") from None
    else:
        requirements = "".join(f"{line}\n" for line in packages)
    if not python:
        program = os.path.realpath(interpreters.of_system(assignment.python_name))
        base = interpreters.inspect_python(program)
    elif "/" in python:
        base = interpreters.inspect_python(_absolute(python, assignment.place))
    else:
        base = interpreters.of_version(python)
    declared = DeclaredEnvironment(python, requirements)
    return EnvironmentChoice(declared, base, environment_cache.key(base, declared))


def _absolute(path: str, folder: Path) -> str:
    return os.path.abspath(folder / Path(path).expanduser())  # noqa: PTH100 - links stay


# --- in words ----------------------------------------------------------------------------------


def _by_path(path: str) -> EnginePython:
    """Return a Python that somebody has named."""
    program = _absolute(path, Path.cwd())
    if not os.access(program, os.X_OK) or Path(program).is_dir():
        raise UsageError(f"--python {path}: found no program there, expected the path of a Python")
    return _as_it_is(interpreters.inspect_python(program))


def _as_it_is(interpreter: Interpreter) -> EnginePython:
    described = interpreter.describe(path=interpreter.program)
    return EnginePython(interpreter.program, described, fingerprint(interpreter))


def advise_on_module(words: str) -> str:
    """Return what to do about a module that a program's last words miss; "" if they miss none."""
    if not (name := missing_module(words)):
        return ""
    return (
        f"If {name} is a package, name a Python that has it with --python, or declare"
        " it in the assignment's packages, and gtp-harness env builds the course's environment"
    )


def missing_module(words: str) -> str:
    """Return the module that a program's last words miss; "" if they miss none."""
    found = _NO_MODULE.search(words)
    return found["name"] if found else ""


def of_system(name: str = "python3") -> EnginePython:
    """Return the Python for engines that are run by a mere ``python3``.

    Of its packages only NumPy is named and counts: what a system has beside that changes often.
    """
    found = interpreters.inspect_python(interpreters.of_system(name))
    numpy = tuple(pair for pair in found.packages if pair[0] == "numpy")
    known = _as_it_is(found._replace(packages=numpy))
    described = known.described.replace("without packages", "without NumPy")
    if interpreters.is_own(found.program):
        described = f"THE HARNESS'S OWN {described}, for want of any other on this machine"
    return known._replace(described=described)
