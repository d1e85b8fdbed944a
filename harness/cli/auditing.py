"""The audit and the tournament that ``gtp-harness grade`` holds on request."""

from __future__ import annotations

import sys
from pathlib import Path

from harness import file_system
from harness.grading import grade
from harness.grading.ledger.places import Store
from harness.grading.tournament import FOLDER, TournamentOptions, hold_tournament, write
from harness.match.standings import Standings, lines
from harness.signals import ending_on_signals
from harness.text import escape_controls, number_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    import argparse

    from harness.assignments.assignment import Assignment
    from harness.grading.grade import GradeOptions, GradingPlan
    from harness.grading.records import ClassResult


def require(assignment: Assignment) -> None:
    """See before a long grading whether there can be an audit after it.

    Raises:
        UsageError: Hypothesis is not installed, or nobody knows which answers are right.
    """
    from harness.fuzzing.hypothesis_setup import require_hypothesis
    from harness.grading.auditing.audit import require_oracle

    require_hypothesis("--audit")
    require_oracle(assignment)


def run(
    options: GradeOptions,
    plan: GradingPlan,
    result: ClassResult,
    seconds: float,
    store: Store,
) -> list[str]:
    """Look for wrong answers of those with nearly full marks, for some seconds each.

    Returns a sentence for each submission in which the harness failed.
    """
    from harness.grading import grade
    from harness.grading.auditing.audit import FOLDER, Audit, AuditProgress, nearly_full

    keys = set(nearly_full(result.graded, options.assignment))
    units = [one for one in grade.units(plan, store) if one.submission.key in keys]
    audit = Audit(grade.grading_context(options, plan), seconds, options.output / FOLDER)
    left = audit.list_pending(units)
    found = number_of(len(units), "submission")
    print(f"{found} with nearly full marks, {len(left)} to be audited", flush=True)
    try:
        with AuditProgress(len(left)) as progress:
            return audit.run(left, progress)
    except KeyboardInterrupt:
        print("The marks and the audit's results are kept; the same command continues.",
              file=sys.stderr)  # fmt: skip
        raise


def add_audits(result: ClassResult, plan: GradingPlan, output: Path) -> ClassResult:
    """Add what audits found, now or before, of the submissions as they are now."""
    from harness.grading.auditing import audit

    builds = {one.key: one.build for one in plan.planned}
    return result._replace(audits=audit.load_known(output / audit.FOLDER, builds))


def case_files(result: ClassResult, output: Path) -> tuple[Path, ...]:
    """Return the case files that show which submissions are still wrong."""
    from harness.grading.auditing import audit

    return audit.case_files(output / audit.FOLDER, result.audits)


# --- The tournament that ``gtp-harness grade --tournament`` holds --------------------------------


def hold(
    arguments: argparse.Namespace, options: GradeOptions, plan: GradingPlan, originals: Path
) -> tuple[Path, ...]:
    """Let the submissions of a class play each other; return the table that was written.

    Raises:
        KeyboardInterrupt: the games so far are kept.
    """
    chosen = TournamentOptions(
        arguments.tournament, arguments.tournament_size, arguments.tournament_points
    )
    output = options.output / FOLDER
    file_system.make(output, mode=0o700)
    units = grade.units(plan, Store(originals))
    try:
        with ending_on_signals():
            held = hold_tournament(
                grade.grading_context(options, plan), plan.submissions, units, chosen, output
            )
    except KeyboardInterrupt:
        print("The marks and the games are kept; the same command continues.", file=sys.stderr)
        raise
    print("\nTournament")
    for line in lines(Standings(held)):
        print(escape_controls(line))
    return (write(held, plan.submissions, chosen, output),)
