"""Defaults of a declared assignment: how a submission is submitted and marked.

The defaults are those of a submission that is run as the reference is: the same files, in an
archive named after the assignment's folder; a point for the public tests, one more for private
ones if there are any.
"""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.core.errors import AssignmentError
from harness.core.toml_schema import KeyPlace
from harness.reading import shipped

_DECLARING = ("reference", "game", "command")  # keys: a declaration has one
_CASES = ("*.gtp", "*.tst", "*.txt")
_LEFT_OUT = (*("__pycache__/", "*.pyc", ".DS_Store", "._*", "__MACOSX/", ".git/", "gtp_log"),)


def complete(table: Mapping[str, Any], folder: Path, place: KeyPlace) -> dict[str, Any]:
    """Return the table of an assignment file with what a declared one may leave out.

    ``folder``: in which the file lies. What is there stays as it is, right or wrong.

    Raises:
        AssignmentError: a submission should be run as the reference is, which has no file there.
    """
    if not any(key in table for key in _DECLARING):
        return dict(table)
    return {**dict(_usual(table, folder, place)), **table}


def _usual(table: Mapping[str, Any], folder: Path, place: KeyPlace) -> Iterator[tuple[str, Any]]:
    yield "title", folder.name
    yield "archive", {"name": f"{folder.name}.tgz", "folder": folder.name}
    yield "cases", {"public": _patterns(folder), "private": _patterns(folder, "private/")}
    yield (
        "marks",
        [_part("public"), *([_part("private")] if _patterns(folder, "private/") else [])],
    )
    yield "late", {"deduction": 0}
    words, files = _reference_command(table, folder)
    if files:
        yield "engine", {"command": shlex.join(words)}
        others = sorted({f"*{Path(name).suffix}" for name in files})
        yield "files", {"required": files, "allowed": others, "left_out": list(_LEFT_OUT)}
    elif words and not {"engine", "files"} <= table.keys():
        lacking = [word for word in words if Path(word).suffix or "/" in word]
        found = f"there is no file {lacking[-1]!r}" if lacking else "its command names no file"
        raise AssignmentError(
            f"{found} beside {shipped.ASSIGNMENT}: put the reference there, or say with [engine]"
            " and [files] what students submit",
            place.file,
            "reference.command",
        )


def _patterns(folder: Path, within: str = "") -> list[str]:
    """Return the patterns of case files that some file has."""
    return [f"{within}{one}" for one in _CASES if any(folder.glob(f"{within}{one}"))]


def _part(cases: str) -> dict[str, Any]:
    return {"name": f"{cases} tests", "points": 1, "judged_by": cases, "rule": "share"}


def _reference_command(table: Mapping[str, Any], folder: Path) -> tuple[list[str], list[str]]:
    """Return the reference's command for a submission, and the names of its files."""
    reference = table.get("reference")
    command = reference.get("command") if isinstance(reference, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        words = []  # it is refused where it stands
    names = [word for word in words if (folder / word).is_file() and not word.startswith("/")]
    started = [f"{{folder}}/{Path(word).name}" if word in names else word for word in words]
    return started, [Path(name).name for name in names]
