"""Grade a class: read submissions, run the pending attempts, update the marks.

:func:`grade` does all of it. :func:`prepare` reads the source and plans the attempts;
:func:`load_last_plan` reads that plan from the ledger. :func:`run` runs the pending attempts.
:func:`update_marks` computes marks from the ledger and lists which marks in force would change. It
writes new marks into the ledger; it writes changed marks only with ``accept``.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.assignments import workspace
from harness.assignments.assignment import FILE, Assignment
from harness.errors import UsageError
from harness.grading import LEDGER, ORIGINALS, records
from harness.grading.attempts import attempt_plan, orders
from harness.grading.ledger.ledger import CaseRow, Ledger, MarkRow, PlannedAttempt, Run
from harness.grading.ledger.places import Store
from harness.grading.marks.marker import Marker
from harness.grading.marks.regrading import MarkChange
from harness.text import number_of
from harness.work import canonical_json, unit_worker
from harness.work import records as work_records
from harness.work.canonical_json import Level, Sha256
from oracle import __version__

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


# What was submitted, and the case files without images.
GradingInputs = tuple[tuple[records.StudentSubmissions, ...], list[attempt_plan.PlannedCase]]


class GradingPlan(NamedTuple):
    """The submissions, case files and attempts of a grading run."""

    run: int  # in the ledger
    started: str
    submissions: tuple[records.Submission, ...]  # sorted by key
    cases: tuple[attempt_plan.PlannedCase, ...]
    attempts: tuple[PlannedAttempt, ...]


class GradingOutcome(NamedTuple):
    """The result of a grading."""

    result: records.ClassResult  # with the marks that are in force
    changes: tuple[MarkChange, ...]  # of marks in force, made if they were accepted
    accepted: bool
    absent: tuple[str, ...]  # submissions with a mark that were not submitted this time


# --- planning ----------------------------------------------------------------------------------


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
    overlay(options)
    cases = attempt_plan.cases(
        options.assignment, None if options.public_only else options.private
    )
    return sources.read(options.source, options.groups, on_remark=on_remark), cases


def prepare(
    options: GradeOptions, ledger: Ledger, store: Store, inputs: GradingInputs
) -> GradingPlan:
    """Record submissions and case files in the ledger; ``inputs``: see :func:`read_inputs`.

    Raises:
        UsageError: the marks in force have another basis, and no regrading is wanted.
    """
    from harness.grading.ingest.sources import receive

    entries, cases = inputs
    course = overlay(options)
    submissions = [receive(entry, options.assignment, store, course) for entry in entries]
    submissions.sort(key=lambda one: one.key)
    if options.images:
        cases = [*cases, *attempt_plan.images(options.assignment, cases, ledger.seed)]
    return plan_attempts(options, ledger, submissions, cases)


def plan_attempts(
    options: GradeOptions,
    ledger: Ledger,
    submissions: Sequence[records.Submission],
    cases: Sequence[attempt_plan.PlannedCase],
) -> GradingPlan:
    """Record in the ledger which submissions are asked which case files.

    ``submissions``: as :func:`harness.grading.ingest.sources.receive` returns them.

    Raises:
        UsageError: marks are in force that were made of something else, and no regrading is
            wanted.
    """
    planned = attempt_plan.attempts(
        options.assignment, overlay(options), options.sandbox != "off", submissions, cases
    )
    plan = GradingPlan(0, _now(), tuple(submissions), tuple(cases), tuple(planned))
    if not options.regrade:
        now, marks = by_key(planned), ledger.in_force()
        keys = [one.key for one in submissions if one.key in marks]
        stale = [key for key in keys if _bases(now.get(key, ())) != marks[key].bases]
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


def overlay(options: GradeOptions) -> Path | None:
    """Return the course folder that is put beside every submission, if there is to be one.

    Raises:
        UsageError: the assignment wants one, and none is named or there.
    """
    name = options.assignment.engine.overlay
    if not name:
        return None
    found = options.overlay or options.assignment.place / name
    if not found.is_dir():
        raise UsageError(f"course folder {name} not found: give it with --overlay")
    return found


def by_key(attempts: Iterable[PlannedAttempt]) -> dict[str, list[PlannedAttempt]]:
    """Return the attempts with each submission."""
    found: dict[str, list[PlannedAttempt]] = {}
    for one in attempts:
        found.setdefault(one.key, []).append(one)
    return found


def _bases(attempts: Iterable[PlannedAttempt]) -> tuple[str, ...]:
    """Return the fingerprints of the attempts that count for a mark: variants do not."""
    return tuple(sorted(one.basis for one in attempts if one.kind != records.IMAGE))


def load_last_plan(ledger: Ledger, number: int | None = None) -> GradingPlan:
    """Return what a call was about, by default the last one; nothing need be run with it.

    Raises:
        UsageError: there was none.
    """
    found = ledger.last_run() if number is None else ledger.find_run(number)
    if found is None:
        raise UsageError(f"{ledger.name} has no grading yet")
    number, run = found
    texts = ledger.submissions(number).values()
    submissions = tuple(canonical_json.loads(records.Submission, text) for text in texts)
    cases = (attempt_plan.PlannedCase(*one[:4]) for one in ledger.cases(number))
    return GradingPlan(
        number, run.started, submissions, tuple(cases), tuple(ledger.list_planned(number))
    )


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# --- doing it ----------------------------------------------------------------------------------


def units(
    context: orders.GradingContext, plan: GradingPlan, store: Store
) -> list[work_records.WorkUnit]:
    """Return what is to be run, a unit for each submission."""
    assignment, course = context.assignment, context.overlay
    place, packages = assignment.place, assignment.engine.packages
    # What of the assignment's folder decides how its submissions are run.
    paths = [place / FILE, *assignment.public_cases()]
    paths += [Path(assignment.translate)] if assignment.translate else []
    paths += [place / packages] if isinstance(packages, str) else []
    names = [path.relative_to(place).as_posix() for path in paths]
    make_unit = partial(
        work_records.WorkUnit,
        work_records.VERSION,
        assignment=unit_worker.folder_of(place, names),
        course=(
            unit_worker.folder_of(course.absolute(), workspace.of_course(course))
            if course
            else None
        ),
        environment=work_records.Environment(Level(context.sandbox), hidden=context.hidden),
        limits=assignment.limits,
        box=assignment.box,
        alone=False,
        budget=context.budget,
    )
    cases = {
        (case.kind, case.name): orders.unit_case(
            "", case.read(case.path), case.content, is_image=case.kind == records.IMAGE
        )
        for case in plan.cases
    }
    planned = by_key(plan.attempts)
    return [
        make_unit(
            submission=work_records.UnitSubmission(
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


def is_outdated(options: GradeOptions, plan: GradingPlan) -> bool:
    """Whether the attempts of a plan would be others today: what they depend on has changed."""
    today = attempt_plan.attempts(
        options.assignment,
        overlay(options),
        options.sandbox != "off",
        plan.submissions,
        plan.cases,
    )
    return set(today) != set(plan.attempts)


def withdraw_distrusted(options: GradeOptions, ledger: Ledger, plan: GradingPlan) -> list[str]:
    """Withdraw attempts whose machine was set aside since, so that they are rerun.

    Return the keys of the submissions.
    """
    bases = (one.basis for one in plan.attempts)
    again = set(orders.withdraw(ledger, bases, orders.SetAside(options.set_aside)))
    return sorted({one.key for one in plan.attempts if one.basis in again})


def count_pending(ledger: Ledger, plan: GradingPlan) -> int:
    """Return how many attempts have no result yet."""
    states = ledger.states(one.basis for one in plan.attempts)
    return sum(state.state != "done" for state in states.values())


def run(  # noqa: PLR0913, PLR0917 - collaborators are injected by the CLI and the service
    options: GradeOptions,
    ledger: Ledger,
    plan: GradingPlan,
    store: Store,
    listener: orders.GradingListener,
    concurrency: orders.Concurrency = orders.ALONE,
    other_machines: orders.OtherMachines | None = None,
) -> None:
    """Run what has no result yet; what the harness failed in is tried again.

    ``concurrency``: how the machine and the ledger are shared with others that grade.
    ``other_machines``: where engines run; None: on this machine.

    Raises:
        BusyError: another process is at it, and nothing is shared.
        ClassWideError: the first submissions all fail alike, and it is not to continue then.
        SandboxError: there is no such sandbox here, or it does not hold.
    """
    from harness.grading.attempts.attempt_runner import Runner
    from harness.signals import ending_on_signals

    with ending_on_signals():
        context = grading_context(options, plan)
        context = context._replace(other_machines=other_machines, secret=ledger.seed)
        Runner(ledger, context, listener, concurrency).run(units(context, plan, store))


def grading_context(options: GradeOptions, plan: GradingPlan) -> orders.GradingContext:
    """Return what every submission is run with."""
    return orders.GradingContext(
        options.assignment,
        overlay(options),
        options.sandbox,
        tuple(case.path for case in plan.cases if Path(case.path).is_file()),
        options.budget,
        options.jobs,
        options.go_on,
        set_aside=orders.SetAside(options.set_aside),
    )


def find_same_programs(
    options: GradeOptions, conclusion: GradingOutcome, store: Store
) -> GradingOutcome:
    """Add which submissions are the same."""
    from harness.grading import similarity

    result = conclusion.result
    course = options.overlay or options.assignment.place / options.assignment.engine.overlay
    own = course if options.assignment.engine.overlay and course.is_dir() else None
    found = similarity.same((one.submission for one in result.graded), store, own)
    return conclusion._replace(result=result._replace(twins=found))


def grade(wanted: GradeOptions) -> records.ClassResult:
    """Grade a class, print nothing, and return the marks that are in force.

    The ledger and the originals are in the folder ``wanted.output``. If it is ended early,
    the same call continues. The submissions are in ``wanted.source``.

    Raises:
        UsageError: the source cannot be read; private case files are missing; or marks in
            force were made from other inputs, and ``wanted.regrade`` is false.
        ClassWideError: the first submissions all fail alike, and ``wanted.go_on`` is false.
        SandboxError: the wanted sandbox level does not work here.
        LedgerError: the ledger was edited, or is damaged.
    """
    inputs = read_inputs(wanted)
    wanted.output.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store(wanted.output / ORIGINALS)
    with closing(Ledger(wanted.output / LEDGER)) as ledger, ledger.naming_errors():
        ledger.check()
        plan = prepare(wanted, ledger, store, inputs)
        run(wanted, ledger, plan, store, orders.GradingListener())
        return update_marks(wanted, ledger, plan).result


# --- marks -------------------------------------------------------------------------------------


def update_marks(
    options: GradeOptions, ledger: Ledger, plan: GradingPlan, *, is_preview: bool = False
) -> GradingOutcome:
    """Put marks in force, and return those that are now, with what would change them.

    Marks of submissions that had none are written into the ledger. A mark that differs from the
    one in force replaces it only with ``accept``; one that is withheld never does. ``is_preview``:
    nothing is written, and none replaced.

    Raises:
        LedgerError: what they would be made of was edited, or is damaged.
    """
    is_accepted = options.accept and not is_preview
    ledger.check()
    set_aside = orders.SetAside(options.set_aside)
    marker = Marker(options.assignment, ledger, plan.cases, plan.started, set_aside)
    planned = by_key(plan.attempts)
    new = {
        one.key: marker.mark_submission(one, planned.get(one.key, ())) for one in plan.submissions
    }
    rows = {
        key: MarkRow(
            key,
            canonical_json.dumps(one.marks),
            canonical_json.dumps(one.submission),
            _bases(planned.get(key, ())),
        )
        for key, one in new.items()
    }
    marks = ledger.in_force()
    homes = {student.key: key for key, one in new.items() for student in one.submission.students}
    former = {
        key: _keep_mark(marker.load_former(mark), homes)
        for key, mark in marks.items()
        if key in new and mark._replace(run=0, given="") != rows[key]
    }
    old = {key: one for key, one in former.items() if one}
    changes = marker.changes(old.values(), new.values())
    kept = {key for key in old if new[key].marks.withheld}
    kept |= set() if is_accepted else {change.key for change in changes}
    given = [key for key, one in new.items() if key not in kept and not one.marks.withheld]
    in_force = [old[key] if key in kept else graded for key, graded in new.items()]
    absent = tuple(key for key in marks if key not in new)
    known = {key: {student.key for student in old[key].submission.students} for key in kept}
    unmarked = tuple(
        records.Newcomer(student, key)
        for key in sorted(kept)
        for student in new[key].submission.students
        if student.key not in known[key]
    )
    result = marker.result(in_force)._replace(unmarked=unmarked)
    if not is_preview:
        ledger.give(plan.run, _now(), [rows[key] for key in given])
    return GradingOutcome(result, changes, is_accepted, absent)


def _keep_mark(former: records.Graded, homes: Mapping[str, str]) -> records.Graded | None:
    """Keep a mark in force for those of its students who have no other submission now.

    Return None if there are no such students. ``homes``: by students' keys, the keys of their
    present submissions.
    """
    own, before = former.submission, former.submission.students
    left = tuple(one for one in before if homes.get(one.key, own.key) == own.key)
    held = former._replace(submission=own._replace(students=left))
    return held if left or not before else None
