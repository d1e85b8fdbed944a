"""The zip of an autograder: the scripts, the wheel, the assignment and the case files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.errors import UsageError
from harness.gradescope import autograder_settings, scripts
from harness.gradescope.autograder_settings import GradescopeSettings
from harness.gradescope.wheel import Member, files, wheel, zip_members
from harness.grading.attempts import attempt_plan
from harness.grading.records import PRIVATE
from harness.options import GTP
from harness.reading import suite

_ASSIGNMENT, _PRIVATE = "assignment", "private"
_EXECUTABLE = frozenset({"setup.sh", "run_autograder"})


def bundle(
    assignment: Assignment,
    private: Sequence[str],
    overlay: Path | None,
    wanted: GradescopeSettings,
) -> bytes:
    """Return the zip.

    ``private``: case files that only the teacher has, as for a grading. ``overlay``: the course's
    folder, if it is not beside the assignment. ``wanted``: its paths are filled in here.

    Raises:
        CaseError: a case file is wrong.
        UsageError: something that grading needs is missing.
    """
    _check(assignment, None if wanted.public_only else private)
    place = f"{_ASSIGNMENT}/{assignment.key}"
    kept = [] if wanted.public_only else [*_private(assignment, private)]
    members = [
        *_assignment(assignment, place, public_only=wanted.public_only),
        *_overlay(assignment, place, overlay),
        *((name, path.read_bytes()) for _, name, path in kept),
    ]
    named = tuple(dict.fromkeys(given for given, _, _ in kept))
    found = wanted._replace(assignment=place, private=named)
    return zip_members([*_own(assignment, found), *members], _EXECUTABLE)


def _check(assignment: Assignment, private: Sequence[str] | None) -> None:
    """Check that a grading would take the case files and that a course folder exists."""
    for path in private or ():
        if not path.startswith("@") and not Path(path).exists():
            raise UsageError(f"there is no {path}")
    attempt_plan.cases(assignment, private, seed="")


def _own(assignment: Assignment, found: GradescopeSettings) -> Iterator[Member]:
    name, content = wheel()
    tools = " ".join(tool.package for tool in needs.of(assignment))
    packages = list(dict.fromkeys(tools.split()))
    yield "setup.sh", scripts.setup(name, found.assignment, packages).encode()
    yield "run_autograder", scripts.run(found.timeout).encode()
    yield autograder_settings.FILE, autograder_settings.to_json(found).encode()
    yield name, content


def _assignment(assignment: Assignment, place: str, *, public_only: bool) -> Iterator[Member]:
    left_out = set(assignment.private_cases()) if public_only else set()
    for name, path in files(assignment.place):
        if path not in left_out:
            yield f"{place}/{name}", path.read_bytes()


def _overlay(assignment: Assignment, place: str, overlay: Path | None) -> Iterator[Member]:
    """Yield the course's folder, if it does not lie beside the assignment."""
    name = assignment.engine.overlay
    if not name or (overlay is None and (assignment.place / name).is_dir()):
        return
    if overlay is None or not overlay.is_dir():
        raise UsageError(f"course folder {name} not found; give it with --overlay")
    for own, path in files(overlay):
        yield f"{place}/{name}/{own}", path.read_bytes()


def _private(assignment: Assignment, named: Sequence[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield (what grading is given, name in the zip, file) of all that is named.

    A folder goes as it is. A file goes with the files that its commands name.
    """
    for number, one in enumerate(named, 1):
        place = f"{_PRIVATE}/{number}"
        if Path(one).is_dir():
            yield from ((place, f"{place}/{name}", path) for name, path in files(Path(one)))
            continue
        paths = suite.expand([one], has_answers=assignment.protocol != GTP)
        for count, path in enumerate(map(Path, paths), 1):
            given = f"{place}/{count}/{path.name}"
            yield given, given, path
            case = attempt_plan.PlannedCase(
                PRIVATE, path.name, path.read_bytes(), str(path.absolute())
            )
            for word, companion in attempt_plan.companions(case):
                yield given, f"{place}/{count}/{_within(word, path)}", companion


def _within(word: str, path: Path) -> str:
    if Path(word).is_absolute() or ".." in Path(word).parts:
        raise UsageError(f"{path} names {word}, which is not below its own folder")
    return Path(word).as_posix()
