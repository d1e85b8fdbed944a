"""Private cases found by a worker, and chosen by a teacher.

A worker does what ``gtp-harness generate`` does, with game records if there are some, and keeps
all candidates that can be used. A teacher looks at those that were chosen, drops some and
exchanges others, and makes a case file of the rest. The kill rate of any choice is known at once:
each candidate has with it which mistakes its tests catch.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.core.errors import InvalidGradingStateError, UsageError
from harness.service.courses import cases, own_files
from harness.service.jobs import candidates, private_cases, result_files
from harness.service.jobs.assignment_context import AssignmentContext
from harness.service.jobs.candidates import Candidate, DraftFindings
from harness.service.records import DONE, DRAFT, FAULT, CourseAssignment, Job, new_id
from harness.service.storage import courses, queue
from harness.service.storage.audit import AuditedTransaction

MOST_TESTS = 200
LARGEST = 4 << 20  # bytes of all game records of a draft
_GAMES, _TESTS, _PROGRESS = "games", "tests", "progress.json"
_FOUND, _KEPT = "candidates.json", "choice.json"
LONG = 300.0  # seconds after which a page says why it may take so long


class KeptCandidates(NamedTuple):
    """Chosen and dropped candidates: their places."""

    chosen: tuple[int, ...]
    dropped: tuple[int, ...] = ()


class KeptCaseFile(NamedTuple):
    """Content of a case file, and its name."""

    name: str  # empty: one that is free
    kept: KeptCandidates


class DraftProgress(NamedTuple):
    """Progress of a worker."""

    step: str = ""
    program: str = ""  # the wrong program that is asked in this step


class DraftFolder:
    """The folder of a draft."""

    def __init__(self, assignment_folder: Path, name: str) -> None:
        """``name``: the id of the draft."""
        self.folder = assignment_folder / "drafts" / name

    def begin(self, tests: int, games: Iterable[bytes]) -> None:
        """Write down how many tests are wanted at most, and the game records to make them of."""
        (self.folder / _GAMES).mkdir(mode=0o700, parents=True)
        for number, data in enumerate(games, 1):
            (self.folder / _GAMES / f"{number}.sgf").write_bytes(data)
        (self.folder / _TESTS).write_text(str(tests))

    @property
    def games(self) -> list[str]:
        """The game records."""
        return [str(path) for path in sorted((self.folder / _GAMES).iterdir())]

    @property
    def tests(self) -> int:
        """How many tests are wanted at most."""
        return int((self.folder / _TESTS).read_text())

    def keep(self, findings: DraftFindings) -> None:
        """Write down what was found, and that what was chosen first is chosen."""
        result_files.save(self.folder / _FOUND, findings)
        self.choose(KeptCandidates(findings.first))

    def tell_step(self, step: str) -> None:
        """Write down what is done now."""
        result_files.save(self.folder / _PROGRESS, DraftProgress(step))

    def tell_program(self, program: str) -> None:
        """Write down which program is asked now."""
        now = self.load_progress()._replace(program=program)
        result_files.save(self.folder / _PROGRESS, now)

    def load_progress(self) -> DraftProgress:
        """Return what is done now, as far as it is known."""
        return result_files.load(DraftProgress, self.folder / _PROGRESS) or DraftProgress()

    def require_findings(self) -> DraftFindings:
        """Return what was found; raises InvalidGradingStateError if there is nothing yet."""
        if (found := self.load_findings()) is None:
            raise InvalidGradingStateError("no positions have been found yet")
        return found

    def load_findings(self) -> DraftFindings | None:
        """Return the results, or None if there are none yet."""
        is_whole = (self.folder / _KEPT).exists()  # written last
        return result_files.load(DraftFindings, self.folder / _FOUND) if is_whole else None

    def load_choice(self) -> KeptCandidates:
        """Return what is chosen: nothing as long as nothing is found."""
        return result_files.load(KeptCandidates, self.folder / _KEPT) or KeptCandidates(())

    def choose(self, selection: KeptCandidates) -> None:
        """Write down what is chosen now."""
        result_files.save(self.folder / _KEPT, selection)

    def change(self, how: Callable[[DraftFindings, KeptCandidates], KeptCandidates]) -> None:
        """Choose something else, of what is chosen now; two people may at once."""
        found = self.require_findings()
        with result_files.lock_folder(self.folder / _KEPT):
            self.choose(how(found, self.load_choice()))


def begin(
    act: AuditedTransaction, assignment: CourseAssignment, tests: int, games: Sequence[bytes]
) -> str:
    """Let a worker find candidates for so many tests at most; return the id of the draft.

    Raises:
        UsageError: none can be found for the assignment, or so many nobody gets.
    """
    if not 1 <= tests <= MOST_TESTS:
        raise UsageError(f"tests: found {tests}, expected a number from 1 to {MOST_TESTS}")
    if why := why_not(own_files.assignment_of(act.settings, assignment)):
        raise UsageError(f"positions cannot be found: {why}")
    made = new_id()
    DraftFolder(act.settings.assignment_folder(assignment.id), made).begin(tests, games)
    queue.put(act.db, Job("", DRAFT, assignment.id, made, person=act.by))
    act.note("positions wanted", assignment.id, draft=made, games=len(games))
    return made


# --- found by a worker -------------------------------------------------------------------------


def draft(context: AssignmentContext, job: Job) -> None:
    """Find candidates.

    Raises:
        UsageError: only the case files of this assignment know the right answers; or nothing
            can be asked.
    """
    assignment, own = context.options.assignment, DraftFolder(context.folder, job.about)
    specification = assignment.specification
    if (why := why_not(assignment)) or specification is None:
        raise UsageError(f"positions cannot be found: {why}")
    # Where nobody here knows the rules, the reference is asked.
    is_own = _is_own_game(assignment)
    find = candidates.find_conversations if is_own else candidates.find_scenes
    found = find(
        candidates.CandidateQuery(
            assignment,
            specification,
            own.games,
            own.tests,
            tuple(cases.read(cases.paths(context.settings, context.assigned))),
            tuple(cases.read(assignment.public_cases())),
            context.options.sandbox,
            own.tell_step,
            own.tell_program,
        )
    )
    if not found.candidates:
        raise UsageError("nothing was found that can be asked: upload case files")
    own.keep(found)


def why_not(assignment: Assignment) -> str:
    """Return why no positions can be found for an assignment, or "" if they can."""
    if assignment.specification is None:
        return (
            "the assignment has neither a specification nor a reference, so nobody knows the right"
            " answers but its case files"
        )
    told = assignment.declaration
    if _is_own_game(assignment) and not (told and told.reference):
        return "the game is declared without a reference, so the right answers are unknown"
    return ""


def _is_own_game(assignment: Assignment) -> bool:
    """Whether a game is declared that is not one of those that ship."""
    told = assignment.declaration
    return told is not None and not told.extends


def why_nothing(job: Job, findings: DraftFindings | None) -> str:
    """Return why a draft has no positions, or "" if it has or a worker still searches."""
    if findings is None and job.state == DONE:
        return "Another version of the service found them: search again."
    return job.fault if job.state == FAULT else ""


# --- chosen by a teacher -----------------------------------------------------------------------


def drop(selection: KeptCandidates, place: int) -> KeptCandidates:
    """Return a choice without a position."""
    if place not in selection.chosen:
        raise UsageError("this position is no longer among the chosen ones")
    chosen = tuple(one for one in selection.chosen if one != place)
    return KeptCandidates(chosen, (*selection.dropped, place))


def exchange(findings: DraftFindings, selection: KeptCandidates, place: int) -> KeptCandidates:
    """Return a choice with another position for one: of its kind if there is one, else any.

    Of several the one is taken with which the choice catches most.

    Raises:
        UsageError: there is no other.
    """
    rest = drop(selection, place)
    able = [one for one in range(len(findings.candidates)) if _is_open(findings, rest, one)]
    if not able:
        raise UsageError("every other position equals one that is there already")
    kind = findings.candidates[place].kind

    def gain(one: int) -> tuple[bool, int, int]:
        new = findings.candidates[one]
        total = find_caught(findings, (*rest.chosen, one)).bit_count()
        return new.kind == kind, total, -one

    best = max(able, key=gain)
    return rest._replace(chosen=tuple(best if one == place else one for one in selection.chosen))


def take_back(findings: DraftFindings, selection: KeptCandidates, place: int) -> KeptCandidates:
    """Return a choice with a position, the last one, that was dropped or exchanged before.

    Raises:
        UsageError: it was not, or its tests equal some that were chosen since.
    """
    if place not in selection.dropped:
        raise UsageError("this position is not among those that were left out")
    rest = selection._replace(dropped=tuple(one for one in selection.dropped if one != place))
    if not _is_open(findings, rest, place):
        raise UsageError("this position equals one that is there already")
    return rest._replace(chosen=(*rest.chosen, place))


def _is_open(findings: DraftFindings, selection: KeptCandidates, place: int) -> bool:
    if place in selection.chosen or place in selection.dropped:
        return False
    taken = {same for one in selection.chosen for same in findings.candidates[one].identities}
    return taken.isdisjoint(findings.candidates[place].identities)


def find_caught(findings: DraftFindings, places: Iterable[int]) -> int:
    """Return the mistakes that positions catch together with other case files, as bits."""
    return reduce(or_, (findings.candidates[one].caught for one in places), findings.beside)


def write(
    act: AuditedTransaction,
    course_assignment: CourseAssignment,
    findings: DraftFindings,
    new: KeptCaseFile,
) -> None:
    """Make a private case file of what is chosen; it counts from now on.

    Raises:
        UsageError: nothing is chosen, or the name is not one of a case file.
        InvalidGradingStateError: a case file has that name: nobody would see that it is replaced.
    """
    if not new.kept.chosen:
        raise UsageError("no position is left: there is nothing to write")
    # Two drafts may be written at once, or a newer upload may have come.
    course_assignment = courses.lock(act.db, course_assignment.id) or course_assignment
    files = cases.paths(act.settings, course_assignment)
    name = new.name or cases.find_free_name(files)
    if (called := cases.name_of(name)) in {path.name for path in files}:
        raise InvalidGradingStateError(
            f"there is a private case file {called} already; choose another name"
        )
    assignment = own_files.assignment_of(act.settings, course_assignment)
    chosen = [findings.candidates[place] for place in new.kept.chosen]
    is_own = _is_own_game(assignment)
    write_text = candidates.write_conversations if is_own else candidates.write_scenes
    text, beside = write_text(assignment, chosen)
    case = private_cases.NewCase(name, text.encode(), beside)
    private_cases.add(act, course_assignment, case)


class ShownCandidate(NamedTuple):
    """A candidate that is chosen, with what it is worth in the choice."""

    place: int  # among the candidates
    candidate: Candidate
    caught: int  # mistakes
    only: int  # those that nothing else chosen catches


class OnlyPublic(NamedTuple):
    """A mistake that public tests catch, and no private one."""

    mistake: str
    files: tuple[str, ...]  # the public case files that catch it


class ShownChoice(NamedTuple):
    """The candidates that are chosen."""

    candidates: tuple[ShownCandidate, ...]
    alive: tuple[str, ...]  # mistakes that no test catches, public ones too
    caught: int  # mistakes, by these and the existing private case files
    only_public: tuple[OnlyPublic, ...]


def describe_choice(findings: DraftFindings, selection: KeptCandidates) -> ShownChoice:
    """Return a choice as it is shown."""
    bits = find_caught(findings, selection.chosen)
    missed = [
        OnlyPublic(one, tuple(each.file for each in findings.public if each.caught >> place & 1))
        for place, one in enumerate(findings.mistakes)
        if not bits >> place & 1
    ]
    public = reduce(or_, (each.caught for each in findings.public), 0)
    shown = []
    for place in selection.chosen:
        one = findings.candidates[place]
        others = find_caught(findings, (other for other in selection.chosen if other != place))
        only = one.caught & ~(others | public)
        shown.append(ShownCandidate(place, one, one.caught.bit_count(), only.bit_count()))
    return ShownChoice(
        tuple(shown),
        tuple(one.mistake for one in missed if not one.files),
        bits.bit_count(),
        tuple(one for one in missed if one.files),
    )
