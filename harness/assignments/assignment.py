"""An assignment: what a submission is, how it is run, who may see what, what it is worth.

It is read from ``cases/<assignment>/assignment.toml``, described key by key in
``cases/ASSIGNMENTS.md``, into frozen records. Nothing here looks at a submission.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from harness.adapters import ADAPTERS, Adapter
from harness.assignments import usual
from harness.assignments.clock_changes import to_seconds
from harness.core import requirements, toml_schema
from harness.core.errors import UsageError
from harness.core.options import GTP, BoxLimits, Limits
from harness.core.toml_schema import Field, KeyPlace
from harness.declared import declaration as declared
from harness.engine import translation
from harness.environments import interpreters
from harness.environments.interpreters import EnginePython
from harness.reading import shipped
from oracle.assignments import ASSIGNMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.specifications.record import Specification
    from oracle.command_properties import PropertyTable

FILE = shipped.ASSIGNMENT
ADAPTER = "adapter"  # the folder beside the submission's in which an adapter lies
VISIBLE = ("nothing", "verdict", "command", "everything")  # each shows what those before it do


class Archive(NamedTuple):
    """The submitted archive."""

    name: str  # such as a1.tgz
    folder: str  # the single folder in it


class FilePatterns(NamedTuple):
    """Patterns of names in the folder; see :func:`harness.assignments.contents.matches`."""

    required: tuple[str, ...]
    allowed: tuple[str, ...]  # besides the required ones
    left_out: tuple[str, ...]  # what tools leave behind: named, left out, no fault
    forbidden: tuple[str, ...]  # ignored and reported: the files of the course folder are used
    log: str  # of the test before submitting; required too, and written by check. "": none is


# Where an engine may be started: in the folder of the submission, or in that of the case file.
SUBMISSION, CASES = "submission", "cases"


class EngineSettings(NamedTuple):
    """Settings of the engine."""

    command: str  # with {folder}, the unpacked one; {adapter}, its folder; {python}, to run it
    overlay: str  # a folder of the course's that is put beside the submission's; may be empty
    python: str = ""  # of the engine: a version such as 3.11, or a path; empty: the system's
    # To be installed for it: requirements, or the name of a file of them beside the assignment.
    packages: tuple[str, ...] | str = ()
    needs: tuple[str, ...] = ()  # programs that must be installed to run it
    starts_in: str = SUBMISSION  # the folder in which it is started


class BuildSteps(NamedTuple):
    """Steps that make a program of the files, with the limits of each step."""

    steps: tuple[tuple[str, ...], ...]  # commands in words, with {folder} and {adapter}
    makes: tuple[str, ...]  # names of files; one must be in the folder afterwards
    time: float  # seconds, of one step, by the clock
    memory: int  # bytes
    output: int  # bytes kept of what a step writes, from both ends
    needs: tuple[str, ...] = ()  # programs that must be installed
    files: tuple[str, ...] = ()  # one must be in the folder itself to begin with


class Cases(NamedTuple):
    """Case files: patterns relative to the assignment's folder, and who may see what of them."""

    public: tuple[str, ...]
    private: tuple[str, ...]
    private_visible: str  # one of VISIBLE; public ones are there to be seen
    restart: bool = True  # continue with a new engine after one broke


class MarkPart(NamedTuple):
    """A part of the marks."""

    name: str
    points: Fraction
    judged_by: str  # files, public or private
    rule: str  # all (or nothing) or share
    weights: dict[str, Fraction]  # of tests, by FILE or FILE:ID; 1 for all others
    commands: tuple[str, ...] = ()  # whose tests count, by name; none: those of all commands


class Late(NamedTuple):
    """Cost of submitting late. Times are the teacher's local ones; None: no deadline."""

    deadline: datetime.datetime | None
    refused_after: datetime.datetime | None
    deduction: Fraction  # per cent of the points reached
    grace_minutes: int
    # Later deadlines of single students, by their keys.
    own: tuple[tuple[str, datetime.datetime], ...] = ()

    def of(self, students: Iterable[str]) -> Late:
        """Return the rule for what these students submit: by the latest deadline of theirs.

        Nothing is refused before it.
        """
        known = dict(self.own)
        own = max((known[key] for key in students if key in known), key=to_seconds, default=None)
        if own is None:
            return self
        last = self.refused_after and max(self.refused_after, own, key=to_seconds)
        return self._replace(deadline=own, refused_after=last)


class Assignment(NamedTuple):
    """All that is known of an assignment."""

    key: str  # the name of its folder
    place: Path  # that folder
    title: str
    specification_key: str  # says what is right; "" if only the case files do
    archive: Archive
    files: FilePatterns
    engine: EngineSettings
    cases: Cases
    limits: Limits
    box: BoxLimits
    marks: tuple[MarkPart, ...]
    late: Late
    does_not_run: Fraction  # points of a submission whose engine never answers
    build: BuildSteps | None = None  # None if there is nothing to be built
    adapter: Adapter | None = None  # None: the engine speaks GTP itself
    declaration: declared.Declaration | None = None  # of a game of the teacher's own
    # The path of a table: how the words of submissions differ from those of the case files.
    translate: str = ""
    python: EnginePython | None = None  # what engines get on this machine, once that is chosen

    @property
    def specification(self) -> Specification | None:
        """The questions and their right answers; None if only the case files have them."""
        from harness.specifications import specification  # the oracle, which takes its time

        if self.declaration is None:
            return specification(self.specification_key) if self.specification_key else None
        words: tuple[str, ...] = ()
        state: Sequence[object] = ()  # of the reference's files: another one once one is written
        if reference := self.declaration.reference:
            requirements.need_engines("starting a reference")
            from harness.declared.reference import state as state_of

            words = tuple(self.fill_in(shlex.split(reference.command), self.place))
            table = (reference.translate,) if reference.translate else ()
            state = state_of(words, self.place, (*reference.files, *table))
        return _load_declared(self.key, self.declaration, self.place, words, state)

    @property
    def command_properties(self) -> PropertyTable:
        """Properties of the commands of its case files, by its specification or anyone's."""
        from harness.specifications import EVERYONES

        return self.specification.commands if self.specification else EVERYONES

    @property
    def protocol(self) -> str:
        """Submissions' protocol, one of :data:`harness.core.options.PROTOCOLS`."""
        return self.declaration.game.protocol if self.declaration else GTP

    @property
    def called(self) -> str:
        """Value of ``--assignment`` for this one."""
        return (
            self.key if self.place == shipped.folder() / self.key else shlex.quote(str(self.place))
        )

    @property
    def starts_python(self) -> bool:
        """Whether its command needs a Python."""
        first = shlex.split(self.engine.command)[0]
        return interpreters.is_meant(first) or "{python}" in self.engine.command

    @property
    def python_name(self) -> str:
        """Name of the Python that its command starts: python3, or such as python3.9."""
        word = shlex.split(self.engine.command)[0]
        return word if re.fullmatch(r"python3\.\d+", word) else "python3"

    def start(self, stage: Path) -> tuple[str, str]:
        """Return the engine's command, and the folder in which it is started.

        ``stage``: the folder in which the submission's lies, and the course's beside it. An
        adapter is started where the case file is ("" means that), for it reads the files that
        commands name; a submission's own engine in its own folder, unless it does so, too.
        """
        words = self.fill_in(shlex.split(self.engine.command), stage)
        is_at_case = self.adapter or self.engine.starts_in == CASES
        return shlex.join(words), "" if is_at_case else str(stage / self.archive.folder)

    def fill_in(self, words: Sequence[str], stage: Path) -> list[str]:
        """Return the words of a command with all that stands for something on this machine.

        A first word that means a Python is :attr:`python`, or the system's: never, by accident of
        a PATH, the one of the harness's own environment.
        """
        python = self.python.program if self.python else interpreters.of_system(self.python_name)
        places = {
            "{folder}": str(stage / self.archive.folder),
            "{adapter}": str(stage / ADAPTER),
            "{python}": python,
        }
        is_python = words[0] == "{python}" or interpreters.is_meant(words[0])
        found = [python, *interpreters.ALONE] if is_python else [words[0]]
        found += words[1:]
        for name, path in places.items():
            found = [word.replace(name, path) for word in found]
        return found

    def public_cases(self) -> list[Path]:
        """Return the public case files, sorted."""
        return self._cases(self.cases.public)

    def private_cases(self) -> list[Path]:
        """Return the private case files that are there, sorted."""
        return self._cases(self.cases.private)

    def _cases(self, patterns: tuple[str, ...]) -> list[Path]:
        return sorted({path for pattern in patterns for path in self.place.glob(pattern)})

    def cases_digest(self) -> str:
        """Return the SHA-256 of the assignment file and its public cases, names included."""
        digest = hashlib.sha256()
        for path in (self.place / FILE, *self.public_cases()):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(self.place)}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()


@cache
def _load_declared(
    key: str,
    declaration: declared.Declaration,
    place: Path,
    words: tuple[str, ...],
    state: Sequence[object],
) -> Specification:
    """Return the specification of a declaration: one for all, for its reference has a process.

    ``state``: of the reference's files: another one where they have been written to since.
    """
    from harness.declared.declaration import extend
    from harness.declared.specifying import specify

    return extend(specify(key, declaration, place, words), place)


def find(name: str | os.PathLike[str]) -> Assignment:
    """Return an assignment by the name of one that ships, or by its folder or file.

    Raises:
        UsageError: no assignment has that name.
        AssignmentError: its file has an error.
    """
    name = os.fspath(name)
    if name in shipped.names():
        return read(shipped.folder() / name / FILE)
    path = Path(name)
    if path.is_dir():
        path /= FILE
    if not path.is_file():
        from oracle.sentences import hint

        known = shipped.names()
        raise UsageError(
            f"there is no assignment {name!r}; there are {', '.join(known)}, or name a folder"
            f" with {FILE}{hint(name, known)}"
        )
    return read(path)


def specification_of(assignment: Assignment) -> Specification:
    """Return the specification of an assignment that needs one.

    Raises:
        UsageError: it has none.
    """
    if assignment.specification is None:
        raise UsageError(
            f"{assignment.place}: found no key 'specification' in its {FILE}, expected one of"
            f" {', '.join(ASSIGNMENTS)}, or a [reference], which knows the right answers"
        )
    return assignment.specification


def read(path: Path) -> Assignment:
    """Read an assignment file.

    Raises:
        AssignmentError: names the file, the key, what was found and what is expected.
    """
    place = KeyPlace(os.fspath(path))
    table = toml_schema.load(place.file)
    folder = path.resolve().parent
    values = toml_schema.read_table(usual.complete(table, folder, place), _SCHEMA, place)
    declaration = declared.parse_declaration(
        {key: values.pop(key) for key in declared.FIELDS}, place
    )
    limits, table = values.pop("limits"), values.pop("translate")
    assignment = Assignment(
        key=folder.name,
        place=folder,
        limits=Limits(**{key: limits[key] for key in Limits._fields}),
        box=BoxLimits(**{key: limits[key] for key in BoxLimits._fields}),
        specification_key=values.pop("specification"),
        declaration=declaration,
        translate=str(folder / table) if table else "",
        **values,
    )
    for key, found, wrong, expected in _contradictions(assignment):
        if wrong:
            place.at(key).refuse(found, expected)
    if assignment.translate:
        translation.read(assignment.translate)  # a fault in it is told before anything is run
    return assignment


# --- the schema --------------------------------------------------------------------------------


def _file_name(value: Any, place: KeyPlace) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", value, re.ASCII):
        place.refuse(value, "a file name of letters, digits and . _ - +")
    return value


def _archive_name(value: Any, place: KeyPlace) -> str:
    if not _file_name(value, place).endswith((".tgz", ".tar.gz")):
        place.refuse(value, "a name that ends in .tgz or .tar.gz")
    return str(value)


def _pattern(value: Any, place: KeyPlace) -> str:
    parts = PurePosixPath(toml_schema.text(value, place)).parts
    if value.startswith("/") or ".." in parts or "\\" in value or "**" in value:
        place.refuse(value, "a pattern of names below the folder, such as '*.py' or 'util/'")
    return str(value)


def _command(value: Any, place: KeyPlace) -> str:
    if "{folder}" not in toml_schema.text(value, place):
        place.refuse(value, "a command with {folder} in it, such as 'python3 {folder}/Go1.py'")
    if re.search(r"[{}]", re.sub(r"\{(folder|adapter|python)\}", "", value)):
        place.refuse(value, "a command with no other braces than {folder}, {adapter}, {python}")
    _step(value, place)
    return str(value)


def _step(value: Any, place: KeyPlace) -> tuple[str, ...]:
    """Read a build step: a command to be split as a shell would, or its words."""
    if isinstance(value, list):
        words = toml_schema.list_of(toml_schema.text, 1)(value, place)
        return tuple(map(str, words))
    try:
        return tuple(shlex.split(toml_schema.text(value, place)))
    except ValueError as error:
        place.refuse(value, f"a command that can be split ({error})")


def _python(value: Any, place: KeyPlace) -> str:
    """Read which Python engines get: a version, or a path."""
    if "/" not in toml_schema.text(value, place) and not re.fullmatch(r"3(\.\d+){1,2}", value):
        place.refuse(value, "a version such as '3.11', as text, or the path of a Python")
    return str(value)


def _packages(value: Any, place: KeyPlace) -> tuple[str, ...] | str:
    """Read requirements for pip, or the name of a file of them."""
    if isinstance(value, str):
        return _file_name(value, place)
    found = toml_schema.list_of(toml_schema.text, 1)(value, place)
    for index, one in enumerate(found):
        if one.startswith("-") or not one.isprintable():
            place.item(index).refuse(one, "a requirement such as 'numpy==1.23.*'")
    return tuple(map(str, found))


def _number(kind: type[Fraction] | type[float], *bounds: int) -> toml_schema.Reader:
    """Return a reader of numbers within bounds, as values of a type."""
    read = toml_schema.number(*bounds)
    return lambda value, place: kind(read(value, place))


_points = _number(Fraction)


def _weights(value: Any, place: KeyPlace) -> dict[str, Fraction]:
    if not isinstance(value, dict):
        place.refuse(value, "a table of weights, such as { 'seki.gtp' = 2, 'ko.gtp:10' = 0.5 }")
    return {key: _points(weight, place.at(key)) for key, weight in value.items()}


def _moment(value: Any, place: KeyPlace) -> datetime.datetime:
    if not isinstance(value, datetime.datetime) or value.tzinfo is not None:
        place.refuse(value, "a local date and time such as 2018-01-29T23:55:00")
    return value


def _adapter(value: Any, place: KeyPlace) -> Adapter:
    """Read an adapter's name and its settings, which differ by adapter."""
    if not isinstance(value, dict) or "name" not in value:
        place.refuse(value, "a table with the name of an adapter")
    name = toml_schema.one_of(*ADAPTERS)(value["name"], place.at("name"))
    fields = {"name": Field(toml_schema.text), **ADAPTERS[name]}
    return Adapter(name, toml_schema.read_table(value, fields, place))


def _limits(value: Any, place: KeyPlace) -> dict[str, Any]:
    """Read limits by the names they have in the records; seconds as floats."""
    found = toml_schema.read_table(value, _LIMITS, place)
    return {
        key: float(limit) if isinstance(_USUAL_LIMITS[key], float) else limit
        for key, limit in found.items()
    }


_USUAL_LIMITS = Limits()._asdict() | BoxLimits()._asdict()
_LIMITS = {
    name: Field(toml_schema.number() if isinstance(usual, float) else toml_schema.whole(), usual)
    for name, usual in _USUAL_LIMITS.items()
}
_PROGRAMS = toml_schema.list_of(_file_name)
_PATTERNS = toml_schema.list_of(_pattern)
_ARCHIVE = {"name": Field(_archive_name), "folder": Field(_file_name)}
_FILES = {
    "required": Field(toml_schema.list_of(_pattern, 1)),
    "allowed": Field(_PATTERNS),
    "left_out": Field(_PATTERNS, ()),
    "forbidden": Field(_PATTERNS, ()),
    "log": Field(_file_name, ""),
}
_ENGINE = {
    "command": Field(_command),
    "overlay": Field(_file_name, ""),
    "python": Field(_python, ""),
    "packages": Field(_packages, ()),
    "needs": Field(_PROGRAMS, ()),
    "starts_in": Field(toml_schema.one_of(SUBMISSION, CASES), SUBMISSION),
}
_BUILD = {
    "steps": Field(toml_schema.list_of(_step, 1)),
    "makes": Field(toml_schema.list_of(_pattern), ()),
    "time": Field(_number(float), 120.0),
    "memory": Field(toml_schema.whole(), 2 << 30),
    "output": Field(toml_schema.whole(), 1 << 16),
    "needs": Field(_PROGRAMS, ()),
    "files": Field(toml_schema.list_of(_file_name), ()),
}
_CASES = {
    "public": Field(_PATTERNS),
    "private": Field(_PATTERNS, ()),
    "private_visible": Field(toml_schema.one_of(*VISIBLE), "nothing"),
    "restart": Field(toml_schema.flag, True),
}
_PART = {
    "name": Field(toml_schema.text),
    "points": Field(_points),
    "judged_by": Field(toml_schema.one_of("files", "public", "private")),
    "rule": Field(toml_schema.one_of("all", "share")),
    "weights": Field(_weights, {}),
    "commands": Field(toml_schema.list_of(toml_schema.text, 1), ()),
}
_LATE = {
    "deadline": Field(_moment, None),
    "refused_after": Field(_moment, None),
    "deduction": Field(_number(Fraction, 0, 100)),
    "grace_minutes": Field(toml_schema.whole(), 0),
}
_SCHEMA = {
    "title": Field(toml_schema.text),
    "specification": Field(toml_schema.one_of(*ASSIGNMENTS), ""),
    "archive": Field(toml_schema.table(_ARCHIVE, Archive)),
    "files": Field(toml_schema.table(_FILES, FilePatterns)),
    "engine": Field(toml_schema.table(_ENGINE, EngineSettings)),
    "cases": Field(toml_schema.table(_CASES, Cases)),
    "limits": Field(_limits, _USUAL_LIMITS),
    "marks": Field(toml_schema.list_of(toml_schema.table(_PART, MarkPart), 1)),
    "late": Field(toml_schema.table(_LATE, Late)),
    "does_not_run": Field(_points, Fraction(0)),
    "translate": Field(_file_name, ""),
    "build": Field(toml_schema.table(_BUILD, BuildSteps), None),
    "adapter": Field(_adapter, None),
    **declared.FIELDS,
}


# --- what holds between keys -------------------------------------------------------------------


def _contradictions(assignment: Assignment) -> Iterator[tuple[str, object, bool, str]]:
    """Yield (key, what was found, whether it is wrong, what is expected)."""
    files, late, engine = assignment.files, assignment.late, assignment.engine
    hidden = [p for p in (*files.left_out, *files.forbidden) if p in files.required]
    yield "files.required", hidden, bool(hidden), "no pattern that is left out or forbidden too"
    yield "files.required", files.log, files.log in files.required, "the log under 'log' alone"
    taken = (assignment.archive.folder, ADAPTER)
    yield "engine.overlay", engine.overlay, engine.overlay in taken, f"neither of {taken}"
    unknown = "{adapter}" in engine.command and assignment.adapter is None
    yield "engine.command", engine.command, unknown, "an [adapter] for its {adapter}"
    key = "engine.python" if engine.python else "engine.packages"
    idle = bool(engine.python or engine.packages) and not assignment.starts_python
    yield key, engine.command, idle, "a command that begins with python3, or has {python} in it"
    if isinstance(engine.packages, str):
        absent = not (assignment.place / engine.packages).is_file()
        yield "engine.packages", engine.packages, absent, "a file beside the assignment's"
    key, both_told = "specification", assignment.specification_key and assignment.declaration
    yield key, assignment.specification_key, bool(both_told), "no such key beside a declaration"
    is_none = not (assignment.cases.public or assignment.declaration)
    yield "cases.public", [], is_none, "a list of at least 1"
    for pattern in assignment.cases.public:
        absent = not any(assignment.place.glob(pattern))
        yield "cases.public", pattern, absent, "a pattern that some case file has"
    both = set(assignment.public_cases()) & set(assignment.private_cases())
    shown = sorted(path.name for path in both)
    yield "cases.private", shown, bool(both), "no case file that is public"
    parts = [part.name for part in assignment.marks]
    yield "marks", parts, len(set(parts)) < len(parts), "parts of different names"
    if late.deadline and late.refused_after:
        early = late.refused_after < late.deadline
        yield "late.refused_after", str(late.refused_after), early, "a time after the deadline"
    known = {path.name for path in assignment.public_cases()}
    for number, part in enumerate(assignment.marks, 1):
        for name in part.weights if part.judged_by == "public" else ():
            unknown = re.sub(r":\d+$", "", name) not in known
            key = f"marks[{number}].weights"
            yield key, name, unknown, "the name of a public case file, with :ID or without"
