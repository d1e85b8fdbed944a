"""The plan of a grading: what was submitted, its case files, and the attempts at them.

:func:`read_inputs` reads the source, :func:`prepare` records in the ledger what is to be run, and
:func:`load_last_plan` reads that plan again. :func:`units` makes units of work of it.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.assignments import workspace
from harness.assignments.assignment import FILE, Assignment
from harness.core.errors import UsageError
from harness.core.options import GTP
from harness.core.records import CaseFile, Step
from harness.core.text import encode, number_of
from harness.grading.ledger.places import Store
from harness.grading.ledger.records import CaseRow, PlannedAttempt, Run
from harness.grading.records import IMAGE, PRIVATE, PUBLIC, StudentSubmissions, Submission
from harness.reading import casefile, suite
from harness.work import canonical_json, unit_worker
from harness.work.canonical_json import Level, Sha256
from harness.work.records import VERSION, Environment, UnitCase, UnitSubmission, WorkUnit
from oracle import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.grading.attempts.orders import GradingContext
    from harness.grading.ledger.ledger import Ledger

BUDGET = 1800.0  # seconds of wall time for all case files of a submission


class GradeOptions(NamedTuple):
    """The options of a grading."""

    assignment: Assignment  # with this year's dates
    source: Path | None  # None: what was graded the last time
    output: Path
    groups: Path | None = None
    overlay: Path | None = None
    private: tuple[str, ...] = ()  # case files that only the teacher has
    public_only: bool = False
    images: bool = True
    sandbox: str = "auto"
    jobs: int = 1
    budget: float = BUDGET
    regrade: bool = False
    accept: bool = False
    go_on: bool = False  # even if the first submissions all fail alike
    set_aside: Path | None = None  # the file of machines whose results count for nothing

    def course_folder(self) -> Path | None:
        """Return the course folder that is put beside every submission, if there is to be one.

        Raises:
            UsageError: the assignment wants one, and none is named or there.
        """
        name = self.assignment.engine.overlay
        if not name:
            return None
        found = self.overlay or self.assignment.place / name
        if not found.is_dir():
            raise UsageError(f"course folder {name} not found: give it with --overlay")
        return found


class PlannedCase(NamedTuple):
    """A case file of a grading."""

    kind: str  # PUBLIC, PRIVATE or IMAGE
    name: str  # as the assignment calls it
    content: bytes
    path: str  # where it lies, and with it the files it names

    @property
    def sha256(self) -> str:
        """Return the digest of its content."""
        return _digest(self.content)

    def parse(self, path: str | None = None) -> CaseFile:
        """Return it as steps; by default it is called by its name.

        Raises:
            CaseError: a line of it is wrong.
        """
        return casefile.parse(self.content, self.name if path is None else path)


# What was submitted, and the case files without images.
GradingInputs = tuple[tuple[StudentSubmissions, ...], list[PlannedCase]]


class GradingPlan(NamedTuple):
    """The submissions, case files and attempts of a grading run."""

    run: int  # in the ledger
    started: str
    submissions: tuple[Submission, ...]  # sorted by key
    cases: tuple[PlannedCase, ...]
    attempts: tuple[PlannedAttempt, ...]

    def by_key(self) -> dict[str, list[PlannedAttempt]]:
        """Return the attempts with each submission."""
        found: dict[str, list[PlannedAttempt]] = {}
        for one in self.attempts:
            found.setdefault(one.key, []).append(one)
        return found

    def bases(self) -> dict[str, tuple[str, ...]]:
        """Return by submission the fingerprints of what counts for its mark: no variants."""
        planned = self.by_key()
        return {
            key: tuple(sorted(one.basis for one in planned.get(key, ()) if one.kind != IMAGE))
            for key in (one.key for one in self.submissions)
        }


def read_inputs(
    options: GradeOptions, on_remark: Callable[[str], None] = lambda _: None
) -> GradingInputs:
    """Return what was submitted, and the case files. Nothing is written.

    ``on_remark``: gets a sentence for each part of the source that is not read.

    Raises:
        UsageError: the source cannot be read; or private case files or a course folder are
            missing.
    """
    from harness.grading.ingest import sources

    assert options.source is not None
    options.course_folder()
    planned = cases(options.assignment, None if options.public_only else options.private)
    return sources.read(options.source, options.groups, on_remark=on_remark), planned


def prepare(
    options: GradeOptions, ledger: "Ledger", store: Store, inputs: GradingInputs
) -> GradingPlan:
    """Record submissions and case files in the ledger; ``inputs``: see :func:`read_inputs`.

    Raises:
        UsageError: the marks in force have another basis, and no regrading is wanted.
    """
    from harness.grading.ingest.sources import receive

    entries, cases = inputs
    course = options.course_folder()
    submissions = [receive(entry, options.assignment, store, course) for entry in entries]
    submissions.sort(key=lambda one: one.key)
    if options.images:
        cases = [*cases, *images(options.assignment, cases, ledger.seed)]
    return plan_attempts(options, ledger, submissions, cases)


def plan_attempts(
    options: GradeOptions,
    ledger: "Ledger",
    submissions: Sequence[Submission],
    cases: Sequence[PlannedCase],
) -> GradingPlan:
    """Record in the ledger which submissions are asked which case files.

    ``submissions``: as :func:`harness.grading.ingest.sources.receive` returns them.

    Raises:
        UsageError: marks are in force that were made of something else, and no regrading is
            wanted.
    """
    planned = attempts(options, submissions, cases)
    plan = GradingPlan(0, now(), tuple(submissions), tuple(cases), tuple(planned))
    if not options.regrade:
        marks = ledger.in_force()
        today = ((key, bases) for key, bases in plan.bases().items() if key in marks)
        stale = [key for key, bases in today if bases != marks[key].bases]
        if stale:
            raise UsageError(
                f"{number_of(len(stale), 'submission')} with a mark in {ledger.name} would be"
                " tested otherwise now: the archive, the case files, the assignment or the harness"
                " has changed. --regrade runs that again and shows which marks would change"
            )
    assignment = options.assignment
    digest = hashlib.sha256((assignment.place / FILE).read_bytes()).hexdigest()
    told = canonical_json.dumps([list(map(str, options[1:]))])
    run = ledger.begin(Run(plan.started, __version__, assignment.key, digest, told))
    ledger.set_cases(run, [CaseRow(*one, one.sha256) for one in plan.cases])
    ledger.set_submissions(run, {one.key: canonical_json.dumps(one) for one in plan.submissions})
    ledger.plan(run, plan.attempts)
    return plan._replace(run=run)


def load_last_plan(ledger: "Ledger", number: int | None = None) -> GradingPlan:
    """Return what a call was about, by default the last one; nothing need be run with it.

    Raises:
        UsageError: there was none.
    """
    found = ledger.find_run(number)
    if found is None:
        raise UsageError(f"{ledger.name} has no grading yet")
    number, run = found
    texts = ledger.submissions(number).values()
    submissions = tuple(canonical_json.loads(Submission, text) for text in texts)
    cases = (PlannedCase(*one[:4]) for one in ledger.cases(number))
    return GradingPlan(
        number, run.started, submissions, tuple(cases), tuple(ledger.list_planned(number))
    )


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def is_outdated(options: GradeOptions, plan: GradingPlan) -> bool:
    """Whether the attempts of a plan would be others today: what they depend on has changed."""
    return set(attempts(options, plan.submissions, plan.cases)) != set(plan.attempts)


# --- Its case files and attempts ---------------------------------------------------------------


def cases(assignment: Assignment, named: Sequence[str] | None) -> list[PlannedCase]:
    """Return the public and private case files of a grading.

    ``named``: see :func:`read_cases`.

    Raises:
        CaseError: a suite or folder has none, or a line of one is wrong.
        UsageError: private ones are worth points, and there are none; or two have the same name.
    """
    found = read_cases(assignment, named)
    worth = [part.name for part in assignment.marks if part.judged_by == PRIVATE and part.points]
    if worth and named is not None and all(case.kind == PUBLIC for case in found):
        raise UsageError(
            f"{worth[0]!r} needs private case files, but none are given: name files or folders"
            " with --private (gtp-harness generate --secret makes some), or grade without"
            " them with --public-only"
        )
    return found


def read_cases(assignment: Assignment, named: Sequence[str] | None = None) -> list[PlannedCase]:
    """Return the public case files and, unless ``named`` is None, private ones.

    These are those beside the assignment, and those that are ``named``: files, folders or
    ``@suites``, as for a run. In a folder that is named they are called by their names within it.

    Raises:
        CaseError: a suite or folder has none, or a line of one is wrong.
        UsageError: two private ones have the same name, or one cannot be read.
    """
    place, is_gtp = assignment.place, assignment.protocol == GTP
    files = [(PUBLIC, one, one.relative_to(place).as_posix()) for one in assignment.public_cases()]
    if named is not None:
        files += [(PRIVATE, path, path.name) for path in assignment.private_cases()]
    for folder in map(Path, named or ()):
        for path in map(Path, suite.expand([str(folder)], has_answers=not is_gtp)):
            name = path.relative_to(folder).as_posix() if folder.is_dir() else path.name
            files.append((PRIVATE, path, name))
    found = []
    for kind, path, name in files:
        try:
            case = PlannedCase(kind, name, path.read_bytes(), str(path.absolute()))
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        parsed = case.parse(str(path))  # a mistake in it is told before anything is run
        if is_gtp:
            casefile.refuse_answers(parsed)
        found.append(case)
    names = Counter(case.name for case in found if case.kind == PRIVATE)
    if doubled := sorted(name for name, count in names.items() if count > 1):
        raise UsageError(f"two private case files have the same name: {', '.join(doubled)}")
    return found


def images(assignment: Assignment, cases: Iterable[PlannedCase], seed: str) -> list[PlannedCase]:
    """Return the images of the public ones of case files; they lie where the originals do.

    See :mod:`harness.grading.attempts.variants`.
    """
    from harness.grading.attempts.variants import image_of

    if assignment.specification is None:
        return []  # the right answers are unknown
    found = []
    for one in (one for one in cases if one.kind == PUBLIC):
        folder = str(Path(one.path).parent)
        image = image_of(one.parse(), assignment.specification, seed, folder)
        if image is not None:
            text = "".join(f"{line}\n" for line in image.lines)
            found.append(PlannedCase(IMAGE, one.name, encode(text), one.path))
    return found


def attempts(
    options: GradeOptions, submissions: Iterable[Submission], cases: Sequence[PlannedCase]
) -> list[PlannedAttempt]:
    """Return the attempts of a grading: every case file with whatever can be graded.

    Raises as :meth:`GradeOptions.course_folder`.
    """
    assignment, overlay = options.assignment, options.course_folder()
    files = sorted(path for path in overlay.rglob("*") if path.is_file()) if overlay else []
    course = [
        (str(path.relative_to(overlay or "")), _digest(path.read_bytes()))
        for path in files
        if "__pycache__" not in path.parts
    ]
    parts = (assignment.archive.folder, assignment.engine, assignment.build, assignment.adapter)
    python = assignment.python.fingerprint if assignment.python else ""
    limits = assignment.limits._asdict()
    if not assignment.limits.thinking:  # attempts of former gradings stay valid
        del limits["thinking"]
    rules = (limits, assignment.box, assignment.cases.restart)
    table = Path(assignment.translate).read_bytes() if assignment.translate else b""
    protocol = [assignment.protocol, _digest(table) if table else ""]
    # The inputs of all attempts, without those of marks, lateness and visibility.
    inputs = [__version__, *parts, *rules, course, options.sandbox != "off", python]
    inputs += protocol if protocol != [GTP, ""] else []
    ground = canonical_json.dumps(inputs)
    beside = {
        case: [
            (word, _digest(path.read_bytes()))
            for word, path in companions(case.parse().steps, Path(case.path).parent)
        ]
        for case in cases
    }
    found = []
    for one in submissions:
        if one.refused or one.unread:
            continue
        build = _digest(canonical_json.dumps([ground, (one.key, one.sha256, one.root, one.kept)]))
        for case in cases:
            kind, name, sha256 = case.kind, case.name, case.sha256
            basis = _digest(canonical_json.dumps([build, kind, name, sha256, beside[case]]))
            found.append(PlannedAttempt(basis, one.key, kind, name, sha256, build))
    return found


def companions(steps: Iterable[Step], folder: Path) -> list[tuple[str, Path]]:
    """Return the files that commands name, such as records and boards, by these names, sorted."""
    words = {word for step in steps for word in step.command.split()[1:]}
    files = [(word, folder / word) for word in sorted(words) if "." in word]
    return [(word, path) for word, path in files if path.is_file()]


def _digest(content: bytes | str) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


# --- The plan as units of work (:mod:`harness.work`) ---------------------------------------------


def units(context: "GradingContext", plan: GradingPlan, store: Store) -> list[WorkUnit]:
    """Return what is to be run, a unit for each submission."""
    planned = plan.by_key()
    assignment, course = context.assignment, context.overlay
    place, packages = assignment.place, assignment.engine.packages
    own = unit_worker.folder_of(course.absolute(), workspace.of_course(course)) if course else None
    # What of the assignment's folder decides how its submissions are run.
    paths = [place / FILE, *assignment.public_cases()]
    paths += [Path(assignment.translate)] if assignment.translate else []
    paths += [place / packages] if isinstance(packages, str) else []
    names = [path.relative_to(place).as_posix() for path in paths]
    make_unit = partial(
        WorkUnit,
        VERSION,
        assignment=unit_worker.folder_of(place, names),
        course=own,
        environment=Environment(Level(context.sandbox), hidden=context.hidden),
        limits=assignment.limits,
        box=assignment.box,
        alone=False,
        budget=context.budget,
    )
    cases = {
        (case.kind, case.name): unit_case(
            "", case.parse(case.path), case.content, is_image=case.kind == IMAGE
        )
        for case in plan.cases
    }
    return [
        make_unit(
            submission=UnitSubmission(
                one.key,
                Sha256(one.sha256),
                one.root,
                one.kept,
                str(store.path(one.sha256).absolute()),
            ),
            build=planned[one.key][0].build,
            cases=tuple(
                cases[attempt.kind, attempt.name]._replace(basis=attempt.basis)
                for attempt in planned[one.key]
            ),
        )
        for one in plan.submissions
        if one.key in planned
    ]


def unit_case(basis: str, case: CaseFile, content: bytes, *, is_image: bool = False) -> UnitCase:
    """Return a case file of a unit; ``case``: by its real path.

    Beside it are the files that its commands name, such as records and boards.
    """
    path = Path(case.path).absolute()
    beside = tuple(
        unit_worker.file_of(companion, Path(word).as_posix())
        for word, companion in companions(case.steps, path.parent)
        if not word.startswith(("/", ".")) and ".." not in Path(word).parts
    )
    sha256 = Sha256(hashlib.sha256(content).hexdigest())
    return UnitCase(basis, path.name, sha256, beside, str(path.parent), is_image)
