"""Private case files: added and removed, and how many mistakes they catch, told by a worker."""

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import NamedTuple

from harness.assignments import banked
from harness.banks import banks
from harness.core.errors import UsageError
from harness.core.records import CaseFile, FailureKind, FileResult
from harness.core.text import one_line
from harness.grading.records import PRIVATE
from harness.judging import in_process, strength
from harness.reading import expectation
from harness.service.courses import cases, own_files, point_weights
from harness.service.jobs import result_files
from harness.service.jobs.assignment_context import AssignmentContext
from harness.service.records import DONE, FAULT, MEASURE, CourseAssignment, Job
from harness.service.settings import Settings
from harness.service.storage import courses, queue
from harness.service.storage.audit import AuditedTransaction
from harness.specifications.record import Specification, reply_of
from oracle.command_properties import PropertyTable
from oracle.mistakes import Breakdown


class WrongTest(NamedTuple):
    """A test that the reference fails."""

    line: int
    id: int  # -1: none
    command: str
    expected: str  # in words
    answer: str  # of the reference, in words


class CaseFileCatch(NamedTuple):
    """Catch of one case file."""

    name: str
    tests: int
    caught: int  # mistakes
    wrong: tuple[int, ...]  # lines of tests that the reference engine fails
    answers: tuple[WrongTest, ...] = ()  # the same tests


class CaughtMistakes(NamedTuple):
    """Mistakes that an assignment's private files catch."""

    files: tuple[CaseFileCatch, ...]
    caught: int  # mistakes that some file catches
    of: int  # mistakes that are known; 0: none are
    survivors: tuple[str, ...]  # sentences
    given_up: tuple[str, ...] = ()  # wrong programs that took too long to be asked to the end


class MeasuredCases(NamedTuple):
    """The private case files of an assignment as they are, and what they catch."""

    paths: list[Path]  # of the case files
    about: str  # what a job about these files is about
    caught: CaughtMistakes | None  # None: no worker has told it yet


class NewCase(NamedTuple):
    """A case file that is to be added; in the place of one of the same name."""

    name: str
    data: bytes
    files: Mapping[str, bytes] = {}  # files that its commands name


def add(act: AuditedTransaction, assignment: CourseAssignment, new: NewCase) -> None:
    """Add a private case file, and let a worker measure them all.

    Raises:
        UsageError: it has no test, or a line of it is wrong; or the assignment has one of its own
            with that name.
    """
    assignment = courses.lock(act.db, assignment.id) or assignment
    own = own_files.list_private(act.settings, assignment)
    if (name := cases.name_of(new.name)) in {path.name for path in own}:
        raise UsageError(
            f"{name} is in the upload of the assignment: choose another name, or change it with a"
            " newer upload"
        )
    cases.put(act.settings.private_folder(assignment.id), *new)
    act.note("private case file added", assignment.id, name=name)
    let_measure(act, assignment)


def remove(act: AuditedTransaction, assignment: CourseAssignment, name: str) -> None:
    """Remove a private case file that was added, and let a worker measure the others.

    Raises:
        UsageError: no such case file has that name.
    """
    assignment = courses.lock(act.db, assignment.id) or assignment
    cases.require(act.settings.private_folder(assignment.id), name).unlink()
    act.note("private case file removed", assignment.id, name=name)
    let_measure(act, assignment)


def lack_some(settings: Settings, assignment: CourseAssignment) -> str:
    """Return the first part that needs private case files if there are none, or ""."""
    own = own_files.assignment_of(settings, assignment)
    if own.private_cases() or cases.added(settings.private_folder(assignment.id)):
        return ""
    parts = point_weights.apply_weights(own, point_weights.load_weights(assignment)).marks
    return next((one.name for one in parts if one.judged_by == PRIVATE and one.points), "")


def let_measure(
    act: AuditedTransaction, assignment: CourseAssignment, over: Collection[str] = (DONE, FAULT)
) -> None:
    """Let a worker measure the case files, unless their result is known.

    A job about them may be over without one: other files were in their place then, or it failed.
    ``over``: the states in which it is done again.
    """
    found = load_measured(act.settings, assignment)
    if found.paths and found.caught is None:
        options = Job("", MEASURE, assignment.id, found.about, person=act.by)
        if queue.put(act.db, options).state in over:
            queue.put_anew(act.db, options)


def measure(context: AssignmentContext, job: Job) -> None:
    """Measure the private case files, if they still are those that the job is about."""
    paths = cases.paths(context.settings, context.assigned)
    if cases.digest(paths) != job.about.rpartition("-")[2]:
        return  # another job is about the present ones
    files = cases.read(paths)
    found = _measure_with(files, context)
    if specification := context.options.assignment.specification:
        told = (
            one._replace(answers=list_wrong_tests(case, one.wrong, specification))
            for one, case in zip(found.files, files, strict=True)
        )
        found = found._replace(files=tuple(told))
    result_files.save(_place(context.folder, job.about), found)


def _place(assignment_folder: Path, subject: str) -> Path:
    return assignment_folder / "strength" / f"{subject}.json"


def load_result(assignment_folder: Path, subject: str) -> CaughtMistakes | None:
    """Return the result of a job about ``subject``, or None before it has one."""
    return result_files.load(CaughtMistakes, _place(assignment_folder, subject))


def load_measured(settings: Settings, assignment: CourseAssignment) -> MeasuredCases:
    """Return the private case files with what they catch, once for all that a page says."""
    paths = cases.paths(settings, assignment)
    about = f"{assignment.id}-{cases.digest(paths)}"
    made = settings.assignment_folder(assignment.id)
    return MeasuredCases(paths, about, load_result(made, about))


def _measure_with(files: Sequence[CaseFile], context: AssignmentContext) -> CaughtMistakes:
    """Return what case files catch: of the mistakes of what ships, or of the declared programs."""
    assignment = context.options.assignment
    specification = assignment.specification
    if specification is None:  # nobody knows any mistake
        return CaughtMistakes(tuple(_of(one, None) for one in files), 0, 0, ())
    if not (assignment.declaration and assignment.declaration.wrong):
        parts = [strength.measure([one], specification) for one in files]
        return _together(files, parts, [one.sentence for one in specification.settled_mistakes])
    asked = WatchedAsker(specification.commands, context.options.sandbox, assignment.protocol)
    with banked.engines(assignment, (), (), context.options.sandbox) as engines:
        parts = []
        for one in files:
            bad = banks.find_failing([one], specification)
            find = partial(asked.find_failed, [one])
            parts.append(banks.measure([one], specification.key, bad, engines, find))
    known = [f"{one.name}: {one.sentence}" for one in engines]
    unknown = {place for place, one in enumerate(engines) if one.name in asked.given_up}
    return _together(files, parts, known, unknown)._replace(given_up=asked.given_up)


def _together(
    files: Sequence[CaseFile],
    parts: Sequence[strength.Strength],
    mistakes: Sequence[str],
    unknown: Collection[int] = (),
) -> CaughtMistakes:
    """Return what case files catch; ``unknown``: places of mistakes not asked about to the end."""
    caught = reduce(or_, (part.caught for part in parts), 0)
    missed = [place for place in range(len(mistakes)) if not caught >> place & 1]
    alive = [mistakes[place] for place in missed if place not in unknown]
    own = tuple(_of(one, part) for one, part in zip(files, parts, strict=True))
    return CaughtMistakes(own, caught.bit_count(), len(mistakes), tuple(alive))


def _of(case: CaseFile, result: strength.Strength | None) -> CaseFileCatch:
    name, tests = Path(case.path).name, sum(step.is_test for step in case.steps)
    caught = result.caught.bit_count() if result else 0
    wrong = tuple(one.step.line for one in result.wrong) if result else ()
    return CaseFileCatch(name, tests, caught, wrong)


# --- Tests that the reference fails, with what it answers instead --------------------------------


_LONGEST = 200  # characters of an answer


def list_wrong_tests(
    case: CaseFile, lines: Sequence[int], specification: Specification
) -> tuple[WrongTest, ...]:
    """Return the tests in these lines of a case file, with what the reference answers.

    Those of a command that it does not know are left out: it says nothing of them.
    """
    if not lines:
        return ()
    engine = specification.reference_engine()
    answers = {step.line: _in_words(raw) for step, raw in in_process.answers(case, engine)}
    found = []
    for step in (one for one in case.steps if one.line in lines):
        name, command = step.command.partition(" ")[0], one_line(step.command, _LONGEST)
        if reply_of(engine.handle(f"known_command {name}")).text == "true":
            expected = expectation.in_a_sentence(step.pattern)
            answer = answers.get(step.line, "nothing")
            found.append(WrongTest(step.line, step.id, command, expected, answer))
    return tuple(found)


def _in_words(raw: str | Breakdown) -> str:
    if isinstance(raw, Breakdown):
        return "nothing"
    reply = reply_of(raw)
    text = one_line(reply.text, _LONGEST)
    return f"'{text}'" if reply.ok else f"the error '{text}'"


# --- Wrong programs asked while a teacher waits: which one is told, and one that hangs is given up
# Each call asks all programs anew, and a program that hangs costs its limits each time. So each
# program has a budget of time for all calls together.


MOST_HUNG = 4  # case files of a draft in which a program may hang, in all calls together
LONGEST = 240.0  # seconds that a program is asked, in all calls together


class WatchedAsker(banks.EngineAsker):
    """Asks programs until they have hung too often, or have taken too long."""

    def __init__(
        self,
        command_properties: PropertyTable,
        sandbox: str,
        protocol: str,
        tell: Callable[[str], None] = lambda _: None,
        most_hung: float = math.inf,
    ) -> None:
        """``tell``: hears which program is asked, before it is. ``most_hung``: case files."""
        super().__init__(command_properties, sandbox, protocol=protocol, strict=False)
        self._tell = tell
        self._most_hung = most_hung
        self._hung: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._refused: set[str] = set()

    @property
    def given_up(self) -> tuple[str, ...]:
        """The names of the programs that were not asked to the end."""
        return tuple(sorted(self._refused | {one for one in self._hung if self._has_hung(one)}))

    def _has_hung(self, name: str) -> bool:
        """Whether a program has hung too often: it was not asked to the end even then."""
        return self._hung[name] >= self._most_hung

    def results(
        self, cases: Sequence[CaseFile], engine: banks.WrongEngine
    ) -> tuple[FileResult, ...]:
        """Return what a program did in each file; nothing if it was given up."""
        name = engine.name
        if self._has_hung(name) or self._seconds.get(name, 0.0) >= LONGEST:
            self._refused.add(name)
            return ()
        self._tell(name)
        begun = time.monotonic()
        found = super().results(cases, engine)
        self._seconds[name] = self._seconds.get(name, 0.0) + time.monotonic() - begun
        hung = (any(o.kind is FailureKind.TIMEOUT for o in one.failures) for one in found)
        self._hung[name] += sum(hung)
        return found
