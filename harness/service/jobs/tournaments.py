"""Tournaments of a class: begun by teachers once marks are released, played by a worker.

What a rank is worth changes no mark, until a teacher lets it count: then each student has the
computed mark and these points, up to what can be reached, as a mark that was given.
"""

import csv
import multiprocessing
import os
from collections.abc import Sequence
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path

from harness.assignments.assignment import Assignment
from harness.core.errors import BusyError, HarnessError, InvalidGradingStateError, UsageError
from harness.core.signals import ending_on_signals
from harness.grading import grade, tournament
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.orders import GradingContext
from harness.grading.records import Marks, Submission, decimal, exact
from harness.match.pages import INDEX
from harness.match.tournament import ROUND_ROBIN, SWISS
from harness.service.courses import gradings, own_files
from harness.service.jobs import result_files
from harness.service.jobs.assignment_context import AssignmentContext
from harness.service.records import CourseAssignment, Grading, Job
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import AuditedTransaction
from harness.work import canonical_json
from harness.work.machine import die_with_parent
from harness.work.records import WorkUnit

_OPTIONS = "options.json"
_PAUSE = 1.0  # seconds between two looks whether the job still is this worker's
_REASON = "Tournament: "  # so begin the reasons of marks that were given here
# In a class, nobody is the first engine that all others play.
FORMATS = (ROUND_ROBIN, SWISS)


def folder_in(settings: Settings, grading: Grading, key: str = "") -> Path:
    """Return where the tournament of a grading is; ``key``: the pages of a student or group."""
    folder = settings.assignment_folder(grading.assignment) / "tournaments" / grading.id
    return folder / tournament.STUDENTS / key if key else folder


def has_pages(folder: Path) -> bool:
    """Whether a folder has the pages of a tournament that was played."""
    return (folder / INDEX).is_file()


def can_play(assignment: Assignment) -> bool:
    """Whether submissions of an assignment play games that can be refereed."""
    try:
        tournament.rules_of(assignment)
    except UsageError:
        return False
    return True


def begin(
    act: AuditedTransaction,
    assignment: CourseAssignment,
    grading: Grading,
    choice: tuple[str, str],
) -> None:
    """Let the submissions of a grading play each other.

    ``choice``: points that the first rank is worth and who plays whom, as typed.

    Raises:
        UsageError: the assignment has no games, it is not a number of points, or no such format.
        InvalidGradingStateError: marks are not released, or a later grading has marks.
    """
    points, format_ = choice
    tournament.rules_of(own_files.assignment_of(act.settings, assignment))
    gradings.begin_tournament(act, grading)
    if format_ not in FORMATS:
        known = " or ".join(FORMATS)
        raise UsageError(f"format: found {format_[:40]!r}, expected {known}")
    worth = exact(points.strip() or "0")
    if worth is None or worth > 1000:
        raise UsageError(f"points: found {points[:40]!r}, expected a number from 0 to 1000")
    options = tournament.TournamentOptions(format_, points=worth)
    result_files.save(folder_in(act.settings, grading) / _OPTIONS, options)


def load_choice(folder: Path) -> tournament.TournamentOptions:
    """Return what the teacher chose last; the usual if nothing was chosen."""
    chosen = result_files.load(tournament.TournamentOptions, folder / _OPTIONS)
    return chosen or tournament.TournamentOptions()


def load_table(folder: Path) -> list[dict[str, str]]:
    """Return the rows of the table, the best first; none if nothing was played."""
    try:
        text = (folder / tournament.TABLE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return list(csv.DictReader(text.splitlines()))


def count_points(
    act: AuditedTransaction, assignment: CourseAssignment, grading: Grading
) -> list[str]:
    """Let ranks count in marks; return a sentence for each student whose mark stays.

    Raises:
        UsageError: no rank is worth anything, nothing was played, or a later grading has marks.
    """
    courses.lock(act.db, assignment.id)  # somebody may give another mark at this moment
    if gradings.find_later(act.db, grading):
        raise InvalidGradingStateError("a later grading has marks: play with those")
    rows = load_table(folder_in(act.settings, grading))
    if not (table := [row for row in rows if row.get("points")]):
        raise UsageError("points: let the submissions play first, for more points than 0")
    own, stays = uploads.overrides(act.db, assignment.id), []
    marks = {one.key: one for one in uploads.MARKS.all(act.db, grading=grading.id)}
    for row in table:
        key = row["student"]
        students = courses.students_of(act.db, assignment.course, key)
        given = [own[one] for one in students if one in own]
        if not students or key not in marks:
            stays.append(f"{key}: not in the course any more")
        elif any(not one.reason.startswith(_REASON) for one in given):
            stays.append(f"{key}: somebody gave another mark")
        elif (computed := canonical_json.loads(Marks, marks[key].marks)).withheld:
            stays.append(f"{key}: there is no computed mark yet")
        else:
            worth = min(computed.of, computed.total + Fraction(row["points"]))
            said = f"{_REASON}rank {row['rank']} of {len(table)}, {row['points']} points"
            told = f"{said}, besides the computed {decimal(computed.total)}"
            gradings.override(act, assignment, key, computed, gradings.Decision(str(worth), told))
    return stays


def hold(context: AssignmentContext, job: Job) -> None:
    """Let the submissions of a grading play each other, in a process of its own.

    That process is forked for each game, which must not have the threads of a worker. Games that
    were played before it ended are kept. It ends if the tournament is begun anew meanwhile: its
    table would replace the one of the new choice.

    Raises:
        BusyError: another worker has the job by now, or still plays.
        HarnessError: the tournament failed.
    """
    grading = context.find_grading(job)
    plan = attempt_plan.load_last_plan(context.ledger, grading.run)
    folder = folder_in(context.settings, grading)
    shared = grade.grading_context(context.options_of(grading), plan)
    units = [
        unit._replace(cases=())  # no case file is needed to play
        for unit in attempt_plan.units(shared, plan, context.store)
    ]
    spawn = multiprocessing.get_context("spawn")
    told, tell = spawn.Pipe(duplex=False)
    given = os.getpid(), tell, shared, plan.submissions, units, load_choice(folder), folder
    child = spawn.Process(target=_hold, args=given)
    with context.concurrency.together():
        child.start()
        tell.close()
        try:
            while not told.poll(_PAUSE):
                with context.database.reading() as db:
                    if queue.JOBS.find(db, id=job.id, token=job.token) is None:
                        raise BusyError("the tournament: another worker has it now")
            trouble = told.recv()
        except EOFError:
            trouble = "its process has ended"
        finally:
            child.terminate()
            child.join()
            told.close()
    if trouble is None:
        raise BusyError("the tournament: another worker still plays")
    if trouble:
        raise HarnessError(f"the tournament: {trouble}")


def _hold(  # noqa: PLR0913, PLR0917 - what a process can be sent
    parent: int,
    connection: Connection,
    context: GradingContext,
    submissions: Sequence[Submission],
    units: Sequence[WorkUnit],
    options: tournament.TournamentOptions,
    folder: Path,
) -> None:
    """Play, write the pages, and tell what went wrong: "" for nothing, None if others play."""
    die_with_parent(parent)
    with ending_on_signals():
        try:
            result = tournament.hold_tournament(context, submissions, units, options, folder)
            tournament.write(result, submissions, options, folder)
            connection.send("; ".join(why for _, why in result.unplayed[:1]))
        except BusyError:
            connection.send(None)
        except HarnessError as error:
            connection.send(str(error))
