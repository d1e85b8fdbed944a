"""The submissions of a class play each other, in the box and with the limits of their marks.

Marks do not change. The teacher gets all games with names, and a table in which a rank may be
worth points. Each student's own pages show the whole table and the student's own games. Others are
known there by their rank alone, and nothing that their programs wrote is shown but moves.
"""

import csv
import hashlib
import io
import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from harness.assignments import workspace
from harness.assignments.assignment import Assignment, specification_of
from harness.core.errors import UsageError
from harness.core.options import Options
from harness.grading.attempts.orders import GradingContext, unit_runner_of
from harness.grading.records import Submission, decimal
from harness.match.game import Arbiter
from harness.match.records import Match, Player, Rules
from harness.match.referee import check
from harness.match.standings import Standings
from harness.match.tournament import SWISS, Journal, MatchResult, Schedule, Tournament
from harness.report import report_files
from harness.work.records import WorkUnit

FOLDER, TABLE, STUDENTS = "tournament", "table.csv", "students"
_SIZE = 9
_DRAWN, _OPENINGS, _SEED = 2, 20, "tournament"  # moves of each opening, and how many there are
_PER_PAIRING = 2  # games


class TournamentOptions(NamedTuple):
    """Choices of the teacher."""

    format: str = SWISS
    size: int = 0  # lines of the board; 0: the usual ones
    points: Fraction = Fraction(0)  # of the first rank; the last has none


def rules_of(assignment: Assignment, size: int = 0) -> Rules:
    """Return what the submissions of an assignment play.

    Raises:
        UsageError: they play nothing that could be refereed.
    """
    declaration = assignment.declaration
    if (asked := assignment.specification) and (game := asked.plays):
        return Rules(game, (size or _SIZE, size or _SIZE))
    if declaration is None or declaration.reference is None or assignment.adapter:
        raise UsageError(f"--tournament: the submissions of {assignment.title} do not play games"
                         " that can be refereed")  # fmt: skip
    check(declaration, assignment.title)
    sizes = [one for one in declaration.game.sizes if size in (0, one[0])]
    if not sizes:
        raise UsageError(f"--tournament-size: found {size}, which {assignment.title} has not")
    return Rules(assignment.title, sizes[-1], protocol=assignment.protocol)


def hold_tournament(
    context: GradingContext,
    submissions: Sequence[Submission],
    units: Sequence[WorkUnit],
    choices: TournamentOptions,
    output: Path,
) -> MatchResult:
    """Let all submissions play; games that were played before, with the same ones, are kept.

    A submission that was refused, or whose build fails, loses its games. One that the harness
    could not read takes no part.

    Raises:
        SandboxError: this machine has no such sandbox.
        KeyboardInterrupt: what was played is kept.
    """
    assignment, rules = context.assignment, rules_of(context.assignment, choices.size)
    declared = specification_of(assignment) if assignment.declaration else None
    options = Options(
        limits=assignment.limits,
        box=assignment.box,
        sandbox=context.sandbox,
        jobs=context.jobs,
        strict=True,
    )
    about = {
        "builds": [[one.key, one.sha256, one.refused] for one in submissions],
        "rules": rules._asdict(),
        "format": choices.format,
    }
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    journal = str(output / f"games-{digest[:12]}.jsonl")  # another one if others play
    with ExitStack() as open_:
        players = tuple(_players(context, submissions, units, open_))
        match = Match(players, rules, options=options, place=str(output))
        arbiter = open_.enter_context(closing(Arbiter(match, declared, context.hidden)))
        drawn = arbiter.draw(match.openings[0], _DRAWN, _OPENINGS, _SEED)
        arbiter.match = match._replace(openings=drawn)
        schedule = Schedule(choices.format, len(players), _PER_PAIRING, len(drawn))
        kept = open_.enter_context(closing(Journal(journal, about)))
        tournament = Tournament(arbiter, schedule, kept)
        tournament.hold()
        return tournament.result()


def competitors(submissions: Sequence[Submission]) -> list[Submission]:
    """Return who takes part, in the order of the players."""
    return [one for one in submissions if not one.unread]


def _players(
    context: GradingContext,
    submissions: Sequence[Submission],
    units: Sequence[WorkUnit],
    open_: ExitStack,
) -> Iterator[Player]:
    """Yield a player for each submission, which lies unpacked and built until ``open_`` ends."""
    runner = open_.enter_context(closing(unit_runner_of(context, context.assignment.box)))
    by_key = {unit.submission.key: unit for unit in units}
    for one in competitors(submissions):
        name = ", ".join(student.name or student.key for student in one.students) or one.key
        if one.refused or one.key not in by_key:
            yield Player(name, "", absent=one.refused or "there is nothing to run")
            continue
        unit = by_key[one.key]
        archive = Path(unit.submission.path)
        furnished = runner.furnish(archive, one.root, one.kept, unit.build, lambda _: None)
        room, built = open_.enter_context(furnished)
        if built and not built.ok:
            yield Player(name, "", absent=built.message)
            continue
        command, folder = context.assignment.start(room)
        home = room / context.assignment.archive.folder
        words, beside = tuple(shlex.split(command)), tuple(workspace.beside_submission(home))
        yield Player(name, "", words, folder or str(room), beside, str(home))


# --- what is written ---------------------------------------------------------------------------


def write(
    result: MatchResult,
    submissions: Sequence[Submission],
    options: TournamentOptions,
    output: Path,
) -> Path:
    """Write the teacher's pages and table, and each student's own pages; return the table's."""
    from harness.match import pages  # with what makes pages of templates

    found, keys = Standings(result), [one.key for one in competitors(submissions)]
    report_files.try_to_write_into(str(output))
    pages.report(str(output), found)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    head = ["student", "rank", "won", "drawn", "lost", "elo"]
    rows.writerow([*head, *(["points"] if options.points else [])])
    for row in found.ranked:
        rank = found.ranks[row.place]
        worth = Fraction(0)
        if row.score.wins:
            worth = rank_points(rank, len(found.rows), options.points)
        cells = [keys[row.place], rank, *row.score, round(row.rating.elo)]
        rows.writerow([*cells, *([decimal(worth)] if options.points else [])])
    table = output / TABLE
    report_files.write(str(table), [text.getvalue()])
    for place, key in enumerate(keys):
        own = output / STUDENTS / key
        report_files.try_to_write_into(str(own))
        seen = of_student(result, found, place)
        games = tuple(one for one in seen.result.games if place in one.plan.players)
        pages.write_pages(str(own), seen, games, "Tournament")
    return table


def rank_points(rank: int, players: int, points: Fraction) -> Fraction:
    """Return what a rank is worth: all points for the first, none for the last."""
    return points * (players - rank) / max(1, players - 1)


def of_student(result: MatchResult, standings: Standings, place: int) -> Standings:
    """Return the standings as a student may see them: without what others' programs wrote."""
    order = [row.place for row in standings.ranked]
    players = tuple(
        Player(player.name if one == place else f"No. {order.index(one) + 1}", "")
        for one, player in enumerate(result.match.players)
    )
    games = []
    for game in result.games:
        black, white = game.plan.players
        claims = game.claims[0] if place == black else "", game.claims[1] if place == white else ""
        loser = (None, white, black)[game.winner]
        detail = game.detail if loser == place else ""
        games.append(game._replace(detail=detail, claims=claims))
    match = result.match._replace(players=players)
    return Standings(result._replace(match=match, games=tuple(games), unplayed=()))
