"""What was found where something else was expected: names that are nearly right, another
assignment's files, a virtual environment. Pure: names only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from harness.assignments.assignment import Assignment, FilePatterns, matches
from harness.text import some

_COPY = re.compile(r"\s*\(\d+\)|[ _-]+(copy|final|new|v?\d+)\b.*", re.IGNORECASE)
_VENV = "pyvenv.cfg"
_LINKS = re.compile(r"(^|/)(\.?v?env|virtualenv)/|(^|/)(bin/python[\d.]*|lib64)$")
_PARTS = ("bin", "lib", "lib64", "include", "share", "Scripts", "Lib", "Include")
MOST = 4  # names in a phrase


def hint(name: str, others: Iterable[str]) -> str:
    """Return in brackets what there is instead of a required file; "" if nothing is.

    ``others``: names of files, those in the folder by their names within it.
    """
    there = [other for other in others if other != name]
    wanted = PurePosixPath(name)
    if near := nearest(name, there):
        place = ", expected in the folder itself" if PurePosixPath(near).name == name else ""
        return f" (there is {near}{place})"
    same = [other for other in there if PurePosixPath(other).suffix == wanted.suffix]
    return f" (found {some(same, MOST)})" if same and wanted.suffix and "*" not in name else ""


def nearest(name: str, others: Iterable[str]) -> str:
    """Return the file that is most like one of this name, "" if none is like it."""
    wanted, there = PurePosixPath(name), list(others)
    for alike in (_same_name, _same_stem, _same_letters):
        if near := [other for other in there if alike(wanted, PurePosixPath(other))]:
            return min(near, key=lambda other: (other.count("/"), other))
    return ""


def _same_name(wanted: PurePosixPath, other: PurePosixPath) -> bool:
    return wanted.name.casefold() == other.name.casefold()


def _same_stem(wanted: PurePosixPath, other: PurePosixPath) -> bool:
    """Whether both are meant to be one: readme.txt, README.md; Go1.py, Go1 (1).py, Go1.py.txt."""
    stems = [_COPY.sub("", one.name.partition(".")[0]).casefold() for one in (wanted, other)]
    return stems[0] == stems[1]


def _same_letters(wanted: PurePosixPath, other: PurePosixPath) -> bool:
    """Whether they differ in digits only: Go1.py, Go3.py."""
    first, second = (re.sub(r"\d", "", one.name.casefold()) for one in (wanted, other))
    return first == second


# --- another assignment ------------------------------------------------------------------------


def other_assignment(names: Sequence[str], own: FilePatterns, others: Iterable[Assignment]) -> str:
    """Return the phrase that files are another assignment's, "" if that is not so.

    They are if none of the own files with a full name is there, and all of the other's are.
    """
    own_names = _distinctive_names(own)
    bare = {PurePosixPath(name).name for name in names}
    if not own_names or own_names & bare:
        return ""
    for other in others:
        theirs = _distinctive_names(other.files) - own_names
        if theirs and theirs <= bare:
            wanted = some(sorted(own_names), MOST)
            found = some(sorted(theirs), MOST)
            return f"this looks like {other.title}: found {found}, expected {wanted}"
    return ""


def _distinctive_names(files: FilePatterns) -> set[str]:
    """Return the required names that tell one assignment from others."""
    return {
        name
        for name in files.required
        if "*" not in name and not name.casefold().startswith("readme")
    }


# --- virtual environments ----------------------------------------------------------------------


def environments(names: Iterable[str]) -> tuple[str, ...]:
    """Return what the names of files in virtual environments begin with.

    One that was made in the folder of the work itself is only the parts that it has.
    """
    there = list(names)
    return tuple(prefix for name in there for prefix in _environment(name, there))


def _environment(name: str, names: Sequence[str]) -> Iterator[str]:
    folder, _, last = name.rpartition("/")
    if last != _VENV:
        return
    within = f"{folder}/" if folder else ""
    parts = tuple(f"{within}{part}/" for part in _PARTS)
    if all(
        other.startswith(parts) or other == name for other in names if other.startswith(within)
    ):
        yield within or name
        yield from parts if not within else ()
    else:
        yield name
        yield from parts


def of_environment(member: str) -> str:
    """Return what to do about a member that is refused, if it is of a virtual environment.

    Its programs are links, which no archive may have.
    """
    if not _LINKS.search(member):
        return ""
    return "it belongs to a virtual environment: hand in without that"


def is_environments(name: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a file lies in a virtual environment; ``prefixes``: of :func:`environments`."""
    return name.startswith(prefixes) or matches(name, "site-packages/")
