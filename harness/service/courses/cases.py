"""The private case files of a course, and those of an engine author."""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import FILE, Assignment
from harness.core.errors import CaseError, UsageError
from harness.core.records import CaseFile
from harness.core.text import number_of, some
from harness.grading.ingest.students import safe
from harness.reading import casefile
from harness.service.courses import engine_suites, own_files
from harness.service.records import CourseAssignment, Suite
from harness.service.settings import Settings
from harness.service.storage import courses
from harness.service.storage.audit import AuditedTransaction

LARGEST = 4 << 20  # bytes of a case file
_SUFFIX = ".gtp"


def added(folder: Path) -> list[Path]:
    """Return the case files that were added to the folder of private ones, sorted."""
    return sorted(path for path in folder.glob(f"*{_SUFFIX}") if path.is_file())


def paths(settings: Settings, assignment: CourseAssignment) -> list[Path]:
    """Return all private case files, sorted by their names, which differ."""
    own = own_files.list_private(settings, assignment)
    every = [*added(settings.private_folder(assignment.id)), *own]
    return sorted(every, key=lambda path: path.name)


def find(settings: Settings, assignment: CourseAssignment, name: str) -> Path | None:
    """Return the private case file of that name, or None."""
    return next((path for path in paths(settings, assignment) if path.name == name), None)


def read(files: Sequence[Path]) -> list[CaseFile]:
    """Return case files as steps, called by their paths: others lie beside them."""
    return [casefile.parse(path.read_bytes(), str(path)) for path in files]


def digest(files: Sequence[Path]) -> str:
    """Return a digest of the names and bytes of files."""
    found = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        found.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:32]


def name_of(text: str) -> str:
    """Return what a case file is called that somebody calls so."""
    return f"{safe(Path(text).stem)}{_SUFFIX}"


def find_free_name(files: Sequence[Path]) -> str:
    """Return a name without suffix that no case file has: ``positions``, or with a number."""
    taken = {path.stem for path in files}
    names = itertools.chain(["positions"], (f"positions-{n}" for n in itertools.count(2)))
    return next(name for name in names if name not in taken)


def put(folder: Path, name: str, data: bytes, files: Mapping[str, bytes] = {}) -> None:
    """Write a case file, in the place of one of the same name.

    ``folder``: of private case files. ``files``: files that its commands name, such as boards.

    Raises:
        UsageError: a line of it is wrong, or it has no test; nothing is written.
    """
    called = name_of(name)
    try:
        found = casefile.parse(data, called)
    except CaseError as error:
        raise UsageError(str(error)) from None
    if not any(step.is_test for step in found.steps):
        count = len(found.steps)
        said = f"{number_of(count, 'command')} and no test" if count else "no command"
        raise UsageError(
            f"{called}: found {said if data else 'an empty file'}, expected a command with a"
            " number before it, such as 1 score, or with the answer in the next line, such as"
            " #? [4]"
        )
    for own, content in {**files, called: data}.items():
        path = folder / own
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.new")
        unfinished.write_bytes(content)
        unfinished.replace(path)


def require(folder: Path, name: str) -> Path:
    """Return the path of a case file that was added; raises UsageError if there is none."""
    found = {path.name: path for path in added(folder)}
    if name not in found:
        raise UsageError(f"nobody has added a private case file {name!r} here")
    return found[name]


# --- Case files of an engine author's own, by which the engines of a suite are run here ----------
# An author is a stranger to the service. So case files come without an ``assignment.toml``, which
# would have limits of the author's choice: it is written here. Engines are built and run in a
# sandbox, as everywhere.


_ENDINGS = (".gtp", ".tst")
_MOST_FILES = 500  # case files of a suite
_MOST_BYTES = 64 << 20  # of all files of a suite
_LONGEST = 500  # characters of a command
_FORM = """\
title = "Test suite"

[archive]
name = "engine.tgz"
folder = "engine"

[files]
required = ["*"]
allowed = ["*"]

[engine]
command = {command}
starts_in = "cases"
{build}
[cases]
public = {cases}

[limits]
timeout = 60
file = 300

[[marks]]
name = "tests"
points = 1
judged_by = "public"
rule = "share"

[late]
deduction = 0
"""
_BUILD = """
[build]
steps = [{step}]
"""


class EngineCommands(NamedTuple):
    """Build and start commands of suite engines."""

    command: str  # starts the engine; {folder} is where its archive was unpacked
    build: str = ""  # a command to run there first; may be empty


def unpack(
    settings: Settings, path: Path, name: str, how: EngineCommands
) -> AbstractContextManager[tuple[Path, Assignment]]:
    """Give the folder of case files that were sent as an archive, with the assignment they make.

    Raises (when it is entered):
        UsageError: it is not an archive, has no case files, a wrong one, too much or an
            ``assignment.toml``, or the commands are not ones.
    """
    return own_files.unpack(settings, path, name, lambda place: _complete(place, how))


def _complete(place: Path, how: EngineCommands) -> None:
    """Write the assignment beside case files that were sent."""
    for name, text in how._asdict().items():
        if len(text) > _LONGEST or not text.isprintable():
            raise UsageError(f"{name}: expected one line of at most {_LONGEST} characters")
    if "{folder}" not in how.command:
        raise UsageError(
            f"command: found {how.command!r}, expected a command with {{folder}}, the folder of"
            " the engine, such as python3 {folder}/engine.py"
        )
    files = [path for path in sorted(place.rglob("*")) if path.is_file()]
    if any(path.name == FILE for path in files):
        raise UsageError(f"{FILE} is not taken here: send the case files alone")
    if (size := sum(path.stat().st_size for path in files)) > _MOST_BYTES:
        raise UsageError(f"the files have {size:,} bytes; the limit is {_MOST_BYTES:,}")
    cases = [path.relative_to(place).as_posix() for path in files if path.suffix in _ENDINGS]
    if not 0 < len(cases) <= _MOST_FILES:
        raise UsageError(
            f"found {len(cases)} case files, expected 1 to {_MOST_FILES} whose names end in"
            f" {' or '.join(_ENDINGS)}"
        )
    if odd := [name for name in cases if set(name) & set("*?[")]:
        raise UsageError(f"case files with *, ? or [ in their names: {some(odd, 3)}")
    build = _BUILD.format(step=_toml(how.build)) if how.build else ""
    text = _FORM.format(command=_toml(how.command), build=build, cases=_toml(cases))
    (place / FILE).write_text(text, encoding="utf-8")


def _toml(value: object) -> str:
    """Return a text or a list of texts as TOML writes it, which differs from JSON in none."""
    return json.dumps(value, ensure_ascii=False)


def take(act: AuditedTransaction, suite: Suite, place: Path, assignment: Assignment) -> None:
    """Run the engines of a suite by these case files from now on.

    ``place``, ``assignment``: as :func:`unpack` gave them.

    Raises:
        UsageError: the suite runs engines by the case files of an assignment that ships.
    """
    suite = courses.lock_suite(act.db, suite.id)
    if not suite.bench:
        made = engine_suites.make_bench(act, suite.title, own_files.OWN, assignment)
        own_files.keep(act.settings, place, made)
        courses.SUITES.change(act.db, {"bench": made.id}, id=suite.id)
        act.note("case files taken", suite.id)
        return
    bench = courses.ASSIGNMENTS.find(act.db, id=suite.bench)
    assert bench  # it goes with the suite
    if bench.source != own_files.OWN:
        raise UsageError(
            f"this suite runs engines by the case files of {bench.source}: make another suite"
        )
    if own_files.is_different(act.settings, bench, place):
        own_files.replace(act, bench, place)
        own_files.forget_editions(act.settings, bench)
