"""The tournament that ``gtp-harness grade --tournament`` holds."""

from __future__ import annotations

import sys
from pathlib import Path

from harness import new_folders
from harness.escaping import escape_controls
from harness.grading import grade
from harness.grading.ledger.places import Store
from harness.grading.tournament import FOLDER, TournamentOptions, hold_tournament, write
from harness.match.standings import Standings
from harness.match.text import lines
from harness.signals import ending_on_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from harness.grading.grade import GradeOptions, GradingPlan


def hold(
    given: argparse.Namespace, wanted: GradeOptions, plan: GradingPlan, originals: Path
) -> tuple[Path, ...]:
    """Let the submissions of a class play each other; return the table that was written.

    Raises:
        KeyboardInterrupt: the games so far are kept.
    """
    chosen = TournamentOptions(given.tournament, given.tournament_size, given.tournament_points)
    output = wanted.output / FOLDER
    new_folders.make(output, mode=0o700)
    units = grade.units(plan, Store(originals))
    try:
        with ending_on_signals():
            held = hold_tournament(
                grade.means(wanted, plan), plan.submissions, units, chosen, output
            )
    except KeyboardInterrupt:
        print("The marks and the games are kept; the same command continues.", file=sys.stderr)
        raise
    print("\nTournament")
    for line in lines(Standings(held)):
        print(escape_controls(line))
    return (write(held, plan.submissions, chosen, output),)
