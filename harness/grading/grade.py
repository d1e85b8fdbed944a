"""Grade a class: plan the attempts, run the pending ones, update the marks.

:func:`grade` does all of it. :func:`run` runs the pending attempts of a plan
(:mod:`harness.grading.attempts.attempt_plan`). :func:`update_marks` computes marks from the ledger
and lists which marks in force would change. It writes new marks into the ledger; it writes changed
marks only with ``accept``.
"""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from harness.core import requirements
from harness.grading import LEDGER, ORIGINALS, records
from harness.grading.attempts import attempt_plan, orders
from harness.grading.attempts.attempt_plan import GradeOptions, GradingPlan
from harness.grading.ledger.places import Store
from harness.grading.ledger.records import MarkRow
from harness.grading.marks.marker import Marker
from harness.grading.marks.regrading import MarkChange
from harness.work.canonical_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.grading.ledger.ledger import Ledger


class GradingOutcome(NamedTuple):
    """The result of a grading."""

    result: records.ClassResult  # with the marks that are in force
    changes: tuple[MarkChange, ...]  # of marks in force, made if they were accepted
    accepted: bool
    absent: tuple[str, ...]  # submissions with a mark that were not submitted this time


def withdraw_distrusted(options: GradeOptions, ledger: "Ledger", plan: GradingPlan) -> list[str]:
    """Withdraw attempts whose machine was set aside since, so that they are rerun.

    Return the keys of the submissions.
    """
    bases = (one.basis for one in plan.attempts)
    again = set(orders.withdraw(ledger, bases, orders.SetAside(options.set_aside)))
    return sorted({one.key for one in plan.attempts if one.basis in again})


def count_pending(ledger: "Ledger", plan: GradingPlan) -> int:
    """Return how many attempts have no result yet."""
    states = ledger.states(one.basis for one in plan.attempts)
    return sum(state.state != "done" for state in states.values())


def run(  # noqa: PLR0913, PLR0917 - collaborators are injected by the CLI and the service
    options: GradeOptions,
    ledger: "Ledger",
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
    from harness.core.signals import ending_on_signals
    from harness.grading.attempts.attempt_runner import Runner

    with ending_on_signals():
        context = grading_context(options, plan)
        units = attempt_plan.units(context, plan, store)
        context = context._replace(other_machines=other_machines, secret=ledger.seed)
        Runner(ledger, context, listener, concurrency).run(units)


def grading_context(options: GradeOptions, plan: GradingPlan) -> orders.GradingContext:
    """Return what every submission is run with."""
    return orders.GradingContext(
        options.assignment,
        options.course_folder(),
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
    requirements.require("grade", "grade", "sqlalchemy")
    from harness.grading.ledger.ledger import Ledger

    inputs = attempt_plan.read_inputs(wanted)
    wanted.output.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store(wanted.output / ORIGINALS)
    with closing(Ledger(wanted.output / LEDGER)) as ledger, ledger.naming_errors():
        ledger.check()
        plan = attempt_plan.prepare(wanted, ledger, store, inputs)
        run(wanted, ledger, plan, store, orders.GradingListener())
        return update_marks(wanted, ledger, plan).result


def update_marks(
    options: GradeOptions, ledger: "Ledger", plan: GradingPlan, *, is_preview: bool = False
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
    planned, bases = plan.by_key(), plan.bases()
    every = [one.basis for one in plan.attempts]
    distrusted = orders.SetAside(options.set_aside).find_distrusted(ledger, every)
    marker = Marker(options.assignment, ledger, plan, distrusted)
    new = {
        one.key: marker.mark_submission(one, planned.get(one.key, ())) for one in plan.submissions
    }
    rows = {
        key: MarkRow(key, dumps(one.marks), dumps(one.submission), bases[key])
        for key, one in new.items()
    }
    marks = ledger.in_force()
    homes = {student.key: key for key, one in new.items() for student in one.submission.students}
    former = {
        key: marker.load_former(mark, homes)
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
        ledger.give(plan.run, attempt_plan.now(), [rows[key] for key in given])
    return GradingOutcome(result, changes, is_accepted, absent)
