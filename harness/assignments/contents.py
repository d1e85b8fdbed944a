"""The files of a submission, compared with what its assignment asks for: names only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness import shipped
from harness.assignments import misplaced
from harness.assignments.assignment import Assignment, FilePatterns, find, matches
from harness.text import count_rest, plural, some


class SortedFiles(NamedTuple):
    """The files of a submission. Those kept go by their names within the folder, the others by
    those in the archive.
    """

    kept: tuple[str, ...]
    left_out: tuple[str, ...]  # what tools leave behind
    forbidden: tuple[str, ...]  # of the course folder, or a copy of one
    extra: tuple[str, ...]  # what the assignment does not know
    missing: tuple[str, ...]  # required, and not there
    required: tuple[str, ...]  # and there, of those with a full name
    has_log: bool


def sort_files(names: Iterable[str], root: str, files: FilePatterns) -> SortedFiles:
    """Sort files by what the assignment says of them.

    ``names``: of files, with ``/``. ``root``: what those in the folder begin with, or "".
    """
    heaps: dict[str, list[str]] = {"kept": [], "left_out": [], "forbidden": [], "extra": []}
    there = sorted(names)
    environments = misplaced.environments(there)
    for name in there:
        is_tools = misplaced.is_environments(name, environments)
        kind = "left_out" if is_tools else _kind(name, root, files)
        heaps[kind].append(name.removeprefix(root) if kind == "kept" else name)
    kept = heaps["kept"]
    return SortedFiles(
        **{kind: tuple(heap) for kind, heap in heaps.items()},
        missing=missing_of(kept, files),
        required=tuple(name for name in files.required if name in kept),
        has_log=files.log in kept,
    )


def missing_of(kept: Sequence[str], files: FilePatterns) -> tuple[str, ...]:
    """Return the required patterns that no file has.

    A name in full must lie in the folder itself: where else would ``{folder}/Go1.py`` be?
    """
    return tuple(
        pattern
        for pattern in files.required
        if not any(matches(name, pattern) and _in_place(name, pattern) for name in kept)
    )


def _in_place(name: str, pattern: str) -> bool:
    return name == pattern or any(sign in pattern for sign in "*?[")


def _kind(name: str, root: str, files: FilePatterns) -> str:
    def is_one(patterns: Iterable[str]) -> bool:
        return any(matches(name.removeprefix(root), pattern) for pattern in patterns)

    if is_one(files.left_out):
        return "left_out"
    if is_one(files.forbidden):
        return "forbidden"
    wanted = (*files.required, *files.allowed, files.log)
    return "kept" if name.startswith(root) and is_one(wanted) else "extra"


def faults(found: SortedFiles) -> list[str]:
    """Return what is wrong with the contents, a phrase for each; none when nothing is."""
    there = [name for name in (*found.kept, *found.extra) if name not in found.required]
    return [f"{name} is missing{misplaced.hint(name, there)}" for name in found.missing]


def foreign(found: SortedFiles, assignment: Assignment) -> list[str]:
    """Return the phrase that the files are those of another assignment, if they are."""
    if not found.missing:
        return []
    others = (find(name) for name in shipped.names() if name != assignment.key)
    phrase = misplaced.other_assignment((*found.kept, *found.extra), assignment.files, others)
    return [phrase] if phrase else []


def describe_empty(found: SortedFiles, assignment: Assignment) -> str:
    """Return the sentence, without its end, that no file of the assignment is there."""
    there = some([*found.extra, *found.left_out, *found.forbidden], misplaced.MOST)
    wanted = ", ".join(assignment.files.required)
    what = f"expected {wanted} in {assignment.archive.folder}, found {there or 'no file'}"
    return "; ".join(
        [f"it contains none of the assignment's files ({what})", *foreign(found, assignment)]
    )


def likeness(name: str) -> str:
    """Return what two names have in common that are meant to be one: readme.txt, README.md."""
    return name.rpartition("/")[2].partition(".")[0].casefold()


def remarks(found: SortedFiles, overlay: str) -> list[str]:
    """Return sentences about files that are not taken along."""
    heaps = (
        ("left out, made by tools", found.left_out),
        (f"ignored: the course's {overlay} is used instead", found.forbidden),
        ("left out, no part of this assignment", found.extra),
    )
    return [f"{what}: {_some(names)}" for what, names in heaps if names]


def describe_changed_copy(names: Iterable[str]) -> str:
    """Return the sentence about a copy of the course's folder that is not as it was."""
    return f"your copy is changed, and not used: {_some(tuple(names))}"


def _some(names: tuple[str, ...], most: int = 6) -> str:
    rest = len(names) - most
    shown = ", ".join(names[:most])
    return shown + count_rest(rest, f" and {{}} more {plural(rest, 'file')}")
