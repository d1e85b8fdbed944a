"""``gtp-harness grade``: the command line of a grading, its audit and tournament."""

import argparse
import datetime
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from fractions import Fraction
from pathlib import Path

from harness import find_assignment
from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.cli import arguments
from harness.cli.commandline import Command, add_shared, number, refusal, whole
from harness.cli.console import paint_for
from harness.core import file_system, requirements
from harness.core.errors import ExitCode, SandboxError, UsageError
from harness.core.processes import processors
from harness.core.signals import ending_on_signals
from harness.core.text import escape_controls, number_of
from harness.fuzzing import require_hypothesis
from harness.grading import LEDGER, ORIGINALS, SET_ASIDE, grade
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.attempt_plan import GradeOptions, GradingPlan
from harness.grading.attempts.grading_progress import GradingProgress
from harness.grading.attempts.orders import OtherMachines, SetAside
from harness.grading.auditing import audit
from harness.grading.exports import exporters, summary
from harness.grading.exports.exporters import Downloaded
from harness.grading.exports.sheet import ColumnError
from harness.grading.grade import GradingOutcome
from harness.grading.ledger import places
from harness.grading.marks.findings import concerns
from harness.grading.records import exact
from harness.reading import shipped

_LATE = ("deadline", "refused_after", "deduction", "grace_minutes")  # terms of the assignment
TOURNAMENTS = ("round-robin", "swiss")
_DOWNLOADS = [one.download for one in exporters.EXPORTS if one.download]  # to be filled in
_NUMBERS = {2: "two", 3: "three", 4: "four"}

_PAGE = """\
usage: gtp-harness grade [OPTION…] SOURCE --assignment NAME

Grade a class, from the submissions to the filled gradebook. SOURCE is a folder of
archives or of folders, a download from Canvas or Moodle (a folder, or the zip
itself), or a CSV that names them. Every submission is unpacked, built and run in a
sandbox, as gtp-harness check does it.

Results are kept in the ledger, a file or a database on a server. After Ctrl-C,
SIGKILL or a power cut, the same command continues and runs nothing twice. A mark
that was given changes only with --accept; the old one stays in the ledger.

[options]

Exit status:
    0  every submission has its mark
    1  marks would change (--accept makes it so)
    2  the input was bad
    3  the harness itself failed and marks are withheld; or the first submissions all
       fail to start for the same reason (--go-on grades anyway); or the
       ledger's server cannot be used: results are kept, the same command continues
    4  every submission has its mark, but several of them share something to look at:
       nobody has points for a part or a test, engines crash in the same way, or
       programs are the same; or no test counts for any part of the marks
  130  interrupted with Ctrl-C; the same command continues

Examples:
  gtp-harness grade submissions.zip --assignment go-scoring --private ~/private
  gtp-harness grade downloaded --assignment go-scoring --public-only \\
      --canvas gradebook.csv --deadline 2018-01-29T23:55
  gtp-harness grade downloaded --assignment go-scoring --private ~/private \\
      --regrade
  gtp-harness grade downloaded --assignment go-scoring --public-only --audit 60
  gtp-harness grade --marks-only --assignment go-scoring --output graded"""


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.assignment:
        GRADE.refuse(f"give --assignment: {', '.join(shipped.names())}")
    if (arguments.source is None) is not arguments.marks_only:
        GRADE.refuse("give either SOURCE or --marks-only")
    if arguments.tournament and arguments.marks_only:
        GRADE.refuse("--marks-only runs nothing, but a tournament runs engines")
    if arguments.audit and arguments.marks_only:
        GRADE.refuse("--marks-only runs nothing, but --audit runs engines: give only one of them")
    requirements.require("grade", "grade", "sqlalchemy")
    assignment = find_assignment(arguments.assignment)
    if not (arguments.marks_only or arguments.scheduler):
        needs.require(assignment)
    with (
        nullcontext(assignment)
        if arguments.marks_only
        else needs.with_python(assignment, arguments.python) as assignment
    ):
        return _Command(arguments, assignment).run()


@contextmanager
def _telling_kept(kept: str) -> Iterator[None]:
    """Say after a Ctrl-C what is kept of what was done until then."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"{kept}; the same command continues.", file=sys.stderr)
        raise


class _Command:
    """One call of the command: what is read and tried before anything is run."""

    def __init__(self, arguments: argparse.Namespace, assignment: Assignment) -> None:
        self._arguments = arguments
        self._paint = paint_for(arguments)
        key = Path(arguments.key) if arguments.key else None
        private = (path for path in arguments.private if not path.startswith("@"))
        inputs = (arguments.source, arguments.groups, arguments.overlay, key and key.parent)
        for path in (*inputs, *private):
            if path and not Path(path).exists():
                raise UsageError(f"there is no {path}")
        if arguments.unsafe_no_sandbox and arguments.sandbox != "auto":
            raise UsageError("--sandbox and --unsafe-no-sandbox exclude each other")
        late = {name: getattr(arguments, name) for name in _LATE}
        late = {name: value for name, value in late.items() if value is not None}
        self._options = GradeOptions(
            assignment=assignment._replace(late=assignment.late._replace(**late)),
            source=Path(arguments.source) if arguments.source else None,
            output=Path(arguments.output),
            groups=Path(arguments.groups) if arguments.groups else None,
            overlay=Path(arguments.overlay) if arguments.overlay else None,
            private=tuple(arguments.private),
            public_only=arguments.public_only,
            images=not arguments.no_images,
            sandbox="off" if arguments.unsafe_no_sandbox else arguments.sandbox,
            jobs=arguments.jobs or processors(),
            budget=arguments.budget * 60,
            regrade=arguments.regrade,
            accept=arguments.accept,
            go_on=arguments.go_on,
            set_aside=Path(arguments.output) / SET_ASIDE,
        )
        self._sheets: dict[str, Downloaded] = {}
        for one in _DOWNLOADS:
            if path := getattr(arguments, one.name):
                columns = getattr(arguments, one.columns.replace("-", "_"))
                self._sheets[one.name] = Downloaded(Path(path), columns)
        self._ledger = places.of(arguments.ledger or self._options.output / LEDGER, key)
        beside = self._ledger.path.parent if isinstance(self._ledger, places.LedgerFile) else None
        self._originals = (beside or self._options.output) / ORIGINALS

    def run(self) -> int:
        """Grade, write what is wanted, say the result, and return the exit status."""
        for one in _DOWNLOADS:
            own = {name: sheet for name, sheet in self._sheets.items() if name == one.name}
            try:
                exporters.check(own, self._options.assignment.title)
            except ColumnError as error:
                raise UsageError(f"{error}; --{one.columns} names another") from None
        if self._arguments.audit:
            require_hypothesis("--audit")
            audit.require_oracle(self._options.assignment)
        if self._arguments.tournament:
            from harness.grading import tournament

            tournament.rules_of(self._options.assignment, self._arguments.tournament_size)
        outcome, plan = self._grade()
        store = places.Store(self._originals)
        outcome = grade.find_same_programs(self._options, outcome, store)
        output = self._options.output
        outcome = self._add_audits(outcome, plan)
        if self._arguments.audit:  # after the marks are written
            exporters.write(outcome.result, output, self._sheets)
            for broke in self._audit(outcome, plan, store):
                self._warn(broke)
            outcome = self._add_audits(outcome, plan)
        notes: list[str] = []
        files = exporters.write(
            outcome.result, output, self._sheets, lambda _, filled: notes.extend(filled.notes)
        )
        files += audit.case_files(output / audit.FOLDER, outcome.result.audits)
        if self._arguments.tournament:
            files += (self._hold_tournament(plan, store),)
        self._say(outcome)
        for note in notes:
            self._warn(note)
        for path in exporters.find_stale(output, files):
            self._warn(f"{path} was not rewritten: it has the marks of an earlier grading.")
        names = [path.relative_to(output).parts for path in files]
        single = [parts[0] for parts in names if len(parts) == 1]
        folders = Counter(parts[0] for parts in names if len(parts) > 1)
        heaps = [f"{folder}/ ({number_of(count, 'file')})" for folder, count in folders.items()]
        print(f"\nWritten to {output}: {', '.join([*single, *heaps])}")
        if any(one.marks.withheld for one in outcome.result.graded):
            return ExitCode.FAULT
        if outcome.changes and not outcome.accepted:
            return ExitCode.FAILED
        is_odd = concerns(outcome.result) or summary.has_no_test(outcome.result)
        return ExitCode.ATTENTION if is_odd else ExitCode.OK

    def _add_audits(self, outcome: GradingOutcome, plan: GradingPlan) -> GradingOutcome:
        """Add what audits found, now or before, of the submissions as they are now."""
        builds = {one.key: one.build for one in plan.attempts}
        found = audit.load_known(self._options.output / audit.FOLDER, builds)
        return outcome._replace(result=outcome.result._replace(audits=found))

    def _audit(self, outcome: GradingOutcome, plan: GradingPlan, store: places.Store) -> list[str]:
        """Look for wrong answers of those with nearly full marks, for some seconds each.

        Returns a sentence for each submission in which the harness failed.
        """
        options = self._options
        keys = set(audit.nearly_full(outcome.result.graded, options.assignment))
        context = grade.grading_context(options, plan)
        units = [
            one for one in attempt_plan.units(context, plan, store) if one.submission.key in keys
        ]
        own = audit.Audit(context, self._arguments.audit, options.output / audit.FOLDER)
        left = own.list_pending(units)
        found = number_of(len(units), "submission")
        print(f"{found} with nearly full marks, {len(left)} to be audited", flush=True)
        with (
            _telling_kept("The marks and the audit's results are kept"),
            audit.AuditProgress(len(left)) as progress,
        ):
            return own.run(left, progress)

    def _hold_tournament(self, plan: GradingPlan, store: places.Store) -> Path:
        """Let the submissions play each other; return the table that was written."""
        from harness.grading import tournament  # with NumPy, which computes ratings
        from harness.match.standings import Standings, lines

        given, output = self._arguments, self._options.output / tournament.FOLDER
        chosen = tournament.TournamentOptions(
            given.tournament, given.tournament_size, given.tournament_points
        )
        file_system.make(output, mode=0o700)
        context = grade.grading_context(self._options, plan)
        units = attempt_plan.units(context, plan, store)
        with _telling_kept("The marks and the games are kept"), ending_on_signals():
            held = tournament.hold_tournament(context, plan.submissions, units, chosen, output)
        print("\nTournament")
        for line in lines(Standings(held)):
            print(escape_controls(line))
        return tournament.write(held, plan.submissions, chosen, output)

    def _grade(self) -> tuple[GradingOutcome, GradingPlan]:
        from harness.grading.ledger.ledger import Ledger

        options = self._options
        if not self._arguments.marks_only:  # before anything is made: it may be refused
            inputs = attempt_plan.read_inputs(options, self._warn)
        elif isinstance(self._ledger, places.LedgerFile) and not self._ledger.path.exists():
            raise UsageError(f"{self._ledger.name} has no grading yet")
        for folder in (options.output, self._originals.parent):
            file_system.make(folder, mode=0o700)  # marks and private case files lie there
        with closing(Ledger(self._ledger)) as ledger, ledger.naming_errors():
            ledger.check()
            if self._arguments.marks_only:
                plan = attempt_plan.load_last_plan(ledger)
                return grade.update_marks(options, ledger, plan), plan
            store = places.Store(self._originals)
            plan = attempt_plan.prepare(options, ledger, store, inputs)
            if again := grade.withdraw_distrusted(options, ledger, plan):
                self._warn(
                    "rerun, because a machine that had a part in them was set aside since:"
                    f" {', '.join(again)}"
                )
            left = grade.count_pending(ledger, plan)
            print(f"{number_of(len(plan.submissions), 'submission')},"
                  f" {number_of(len(plan.cases), 'case file')},"
                  f" {left} of {number_of(len(plan.attempts), 'attempt')} to be run")  # fmt: skip
            distant: AbstractContextManager[OtherMachines | None] = nullcontext()
            try:
                with _telling_kept("Results are kept"):
                    if self._arguments.scheduler:
                        from harness.cli import cluster
                        from harness.cluster.dispatcher import Dispatcher

                        found = cluster.connector_settings(self._arguments)
                        book = SetAside(options.output / SET_ASIDE)
                        distant = closing(Dispatcher(found, self._warn, book=book))
                    with distant as machines, GradingProgress(left) as progress:
                        grade.run(options, ledger, plan, store, progress, other_machines=machines)
            except SandboxError as error:
                raise SandboxError(
                    f"{error}. Submissions run in a sandbox; --unsafe-no-sandbox runs them with"
                    " your own rights instead"
                ) from None
            return grade.update_marks(options, ledger, plan), plan

    def _warn(self, remark: str) -> None:
        print(self._paint("warn", escape_controls(remark)))

    def _say(self, outcome: GradingOutcome) -> None:
        result, paint = outcome.result, self._paint
        if result.is_unsafe:
            print(paint("bad", f"The sandbox was {result.sandbox}."))
        for line in summary.lines(result, paint):
            print(line)
        if outcome.changes:
            count = number_of(len(outcome.changes), "mark")
            open_ = "would change; the same command with --accept changes them"
            done = "changed" if outcome.accepted else open_
            print(paint("bold", f"\n{count} {done}:"))
        for change in outcome.changes:
            names = ", ".join(student.name or student.key for student in change.students)
            print(escape_controls(f"  {names or change.key}: {change}"))
        for newcomer in result.unmarked:
            print(paint("warn", escape_controls(f"\nno mark yet: {newcomer}")))
        if outcome.absent:
            names = ", ".join(map(escape_controls, outcome.absent))
            print(paint("warn", f"\nmarked before, but not submitted this time: {names}"))


# --- the command line --------------------------------------------------------------------------


def _names(metavar: str) -> Callable[[str], tuple[str, ...]]:
    """Return the reader of as many names as there are in a metavar, with commas between them."""
    count = len(metavar.split(","))

    def read(text: str) -> tuple[str, ...]:
        names = tuple(name.strip() for name in text.split(",")) if count > 1 else (text,)
        if len(names) != count:
            raise refusal(text, f"{_NUMBERS[count]} names with commas between them")
        return names

    return read


def _moment(text: str) -> datetime.datetime:
    with suppress(ValueError):
        moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment
    raise refusal(text, "a local time such as 2018-01-29T23:55")


def _fraction(most: float, expected: str) -> Callable[[str], Fraction]:
    """Return a reader of exact numbers from 0 to ``most``."""

    def read(text: str) -> Fraction:
        value = exact(text)
        if value is None or value > most:
            raise refusal(text, expected)
        return value

    return read


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", metavar="SOURCE", help=argparse.SUPPRESS)
    add = parser.add_argument_group("what to grade").add_argument
    arguments.add_assignment(add)
    add_shared(add, "--private", "--public-only", "--overlay")
    add("--groups", metavar="FILE", help="CSV with the groups and their members")
    add("--deadline", type=_moment, metavar="TIME",
        help="deadline in local time, such as 2018-01-29T23:55")  # fmt: skip
    add("--refused-after", type=_moment, metavar="TIME",
        help="refuse submissions after this local time")  # fmt: skip
    add("--grace", type=whole(0, "minutes"), dest="grace_minutes", metavar="MINUTES",
        help="grace period after --deadline and --refused-after")  # fmt: skip
    add("--deduction", type=_fraction(100, "a percentage from 0 to 100"), metavar="PERCENT",
        help="late penalty in percent of the points earned")  # fmt: skip
    add = parser.add_argument_group("how to run it").add_argument
    add("--jobs", type=whole(1), default=0, metavar="N",
        help="submissions run at a time (default: the number of cores)")  # fmt: skip
    add("--budget", type=number(0.01, "minutes"), default=30.0, metavar="MINUTES",
        help="most minutes for all case files of a submission (default: %(default)g)")  # fmt: skip
    add_shared(add, "--sandbox")
    add("--python", metavar="PATH", default="",
        help="Python that runs the engines, instead of the assignment's environment or the"
        " system's")  # fmt: skip
    add_shared(add, "--unsafe-no-sandbox", "--scheduler", "--tls", "--bytes-at")
    add("--no-images", action="store_true",
        help="do not run variants of the public tests (turned, mirrored and so on)")  # fmt: skip
    add("--audit", type=number(0.1, "seconds"), default=0.0, metavar="S",
        help="after the marks, send random commands for S seconds to each submission with at least"
        " 90 %% of the points for case files, and report wrong answers; marks do not"
        " change")  # fmt: skip
    add("--tournament", choices=TOURNAMENTS, default="",
        help="after the marks, let the submissions play each other: everybody everybody, or those"
        " with as many points; marks do not change")  # fmt: skip
    add("--tournament-size", type=whole(2, most=25), default=0, metavar="N",
        help="lines of the tournament's board (default: 9; a declared game: its"
        " largest)")  # fmt: skip
    points = _fraction(math.inf, "points, such as 3 or 2.5")
    add("--tournament-points", type=points, default=Fraction(0), metavar="N",
        help="points that the first rank is worth in the tournament's table, the last none; they"
        " are no part of the mark")  # fmt: skip
    add("--go-on", action="store_true",
        help="grade even if the first submissions all fail to start for the same"
        " reason")  # fmt: skip
    add = parser.add_argument_group("what to write").add_argument
    for one in _DOWNLOADS:
        add(f"--{one.name}", metavar="FILE", help=one.what)
        add(f"--{one.columns}", type=_names(one.metavar), default=(), metavar=one.metavar,
            help=one.which)  # fmt: skip
    add("--output", default="graded", metavar="DIR",
        help="folder for everything that is written (default: %(default)s)")  # fmt: skip
    add("--ledger", metavar="FILE",
        help=f"file of the ledger (default: {LEDGER} in --output), or"
        " postgresql://USER@HOST/DATABASE")  # fmt: skip
    add("--key", metavar="FILE",
        help="file with the key that signs the ledger (default: beside it; for a server's, in"
        " ~/.local/share/gtp-harness/keys)")  # fmt: skip
    add_shared(add, "--no-color")
    arguments.add_help(add)
    add = parser.add_argument_group("marks that were given before").add_argument
    add("--regrade", action="store_true",
        help="rerun what changed, and show which marks would change, and why")  # fmt: skip
    add("--accept", action="store_true", help="change the marks; the old ones stay in the ledger")
    add("--marks-only", action="store_true", help="recompute marks from the ledger; run nothing")


GRADE = Command("grade", _PAGE, _add_options, _run)
