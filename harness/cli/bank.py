"""``gtp-harness bank``, and the options of commands that measure tests by wrong engines."""

import argparse
import contextlib
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from harness import find_assignment
from harness.assignments.assignment import Assignment
from harness.banks import banks
from harness.banks.mutants import mutant_engines
from harness.cli.commandline import Command, add_shared, whole
from harness.core import requirements
from harness.core.errors import ExitCode, UsageError
from harness.core.options import SANDBOXES
from harness.core.processes import processors
from harness.core.text import escape_controls, number_of
from harness.engine.launch import as_typed
from harness.reading import shipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.grading.ledger.ledger import Ledger


def add_wrong_engines(parser: argparse.ArgumentParser) -> None:
    """Add what names wrong engines, and how they are started."""
    add = parser.add_argument_group("wrong engines, started in a sandbox").add_argument
    add("--bank", action="append", default=[], metavar="BANK",
        help="a folder of wrong engines (gtp-harness bank); may be repeated")  # fmt: skip
    add("--engine", action="append", default=[], metavar="COMMAND",
        help="a wrong engine's command, as in a shell; may be repeated")  # fmt: skip
    add("--mutants", type=whole(1, "a number of mutants"), default=0, metavar="N",
        help="number of mutants to make of a reference in Python, each with one"
        " change")  # fmt: skip
    add("--reference", metavar="COMMAND",
        help="the program to make mutants of (default: the assignment's)")  # fmt: skip
    add("--sandbox", choices=SANDBOXES, default="auto",
        help="sandbox level, 3 to 1; auto: the strongest that works (default: auto)")  # fmt: skip


def are_known(arguments: argparse.Namespace, assignment: Assignment) -> bool:
    """Whether there are wrong engines: the command line names them, or the assignment does."""
    return bool(arguments.mutants) or are_known_wrong(arguments, assignment)


def are_known_wrong(arguments: argparse.Namespace, assignment: Assignment) -> bool:
    """Whether there are engines that somebody has found to be wrong, as mutants need not be."""
    declared = assignment.declaration.wrong if assignment.declaration else ()
    return bool(arguments.bank or arguments.engine or declared)


@contextlib.contextmanager
def wrong_engines(
    arguments: argparse.Namespace, assignment: Assignment
) -> Iterator[list[banks.WrongEngine]]:
    """Give the wrong engines that the command line and the assignment name, meanwhile.

    Raises:
        UsageError: the named banks contain no wrong engine.
    """
    requirements.need_engines("starting wrong engines")
    from harness.assignments import banked
    from harness.assignments.needs import with_python

    with contextlib.ExitStack() as stack:
        own = assignment
        if arguments.bank and assignment.starts_python:
            own = stack.enter_context(with_python(assignment))
        named = banked.engines(own, arguments.bank, arguments.engine, arguments.sandbox)
        found = list(stack.enter_context(named))
        if arguments.mutants:
            room = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gtp-harness-")))
            room.chmod(0o755)  # an engine in a sandbox is another user
            if not (reference := arguments.reference):
                told = assignment.declaration and assignment.declaration.reference
                if not told:
                    raise UsageError(
                        "--mutants needs a program in Python: give it with --reference"
                    )
                words = assignment.fill_in(shlex.split(told.command), assignment.place)
                reference = shlex.join(as_typed(words, str(assignment.place)))
            found += mutant_engines(reference, arguments.mutants, arguments.seed, room)
        if arguments.bank and not found:
            raise UsageError(f"found no engines in {', '.join(arguments.bank)}")
        yield found


# --- ``gtp-harness bank``: wrong engines of former years, by which tests are measured ------------


_PAGE = """\
usage: gtp-harness bank add GRADED [OPTION…]
       gtp-harness bank list BANK

Make a bank of wrong engines. strength, fuzz and generate use it to measure tests.

add takes wrong submissions from GRADED, the output folder of a grading. Of several
that answered all its case files alike, it takes one. Comments, docstrings and layout
are removed. Names and IDs of the class, mail addresses and home folders become
neutral words, in file names too. Files that are not programs are left out. Each
submission is then rerun, and taken only if it still answers as it did. This command
prints why each of the others was left out; the bank stores only how many. A
programming style can still reveal its author: keep a bank to yourself.

list shows what is in a bank. You can also write one by hand: bank.toml has a table
[[engine]] with a name and a command for each engine.

[options]

Exit status:
    0  something was added; a bank was listed
    1  nothing was added
    2  the input was bad
    3  the harness itself failed, or there is no sandbox

Examples:
  gtp-harness bank add graded --commands score
  gtp-harness bank add ~/2017/graded --bank ~/banks/go1 --assignment ~/course/go1
  gtp-harness bank list ~/banks/go1
  gtp-harness strength @go-scoring --assignment go-scoring --bank ~/banks/go1"""


def _run(arguments: argparse.Namespace) -> int:
    if arguments.action not in ("add", "list") or not arguments.folder:
        BANK.refuse("expected add GRADED or list BANK")
    if arguments.action == "list":
        bank = banks.read(Path(arguments.folder))
        of = f" of {bank.assignment}" if bank.assignment else ""
        print(f"{number_of(len(bank.entries), 'engine')}{of}")
        for one in bank.entries:
            print(escape_controls(f"  {one.name}  {one.sentence or one.command}"))
        if bank.left_out:
            print("left out:")
        for why, count in sorted(bank.left_out.items()):
            print(escape_controls(f"  {count:4}  {why}"))
        return ExitCode.OK
    path = Path(arguments.folder)
    path = path / "ledger.sqlite" if path.is_dir() else path
    if not path.is_file():
        raise UsageError(f"{arguments.folder} is not the folder of a grading: there is no {path}")
    requirements.require("bank add", "grade", "sqlalchemy")
    # Here: what it loads is not on every system, and `generate` loads this module.
    from harness.assignments import needs
    from harness.grading.ledger.ledger import Ledger
    from harness.grading.ledger.places import LedgerFile

    key = Path(arguments.key) if arguments.key else None
    with closing(Ledger(LedgerFile(path, key))) as ledger, ledger.naming_errors():
        name = arguments.assignment
        if not name:  # the one that was graded
            last = ledger.find_run()
            name = last[1].assignment if last else ""
            if name not in shipped.names():
                raise UsageError(
                    f"{path} is of the assignment {name!r}: give its folder with --assignment"
                )
        found = find_assignment(name)
        needs.require(found)
        with needs.with_python(found, arguments.python) as found:
            return _take(arguments, found, ledger, path.parent / "originals")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("add", "list"), help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", metavar="DIR", help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--bank", default="bank", metavar="DIR",
        help="the bank; created if it does not exist (default: %(default)s)")  # fmt: skip
    add("--commands", nargs="+", action="extend", default=[], metavar="NAME",
        help="count only the tests of these commands (default: all)")  # fmt: skip
    add("--assignment", metavar="A",
        help="the assignment, by name or folder (default: the one that was graded, if it"
        " ships)")  # fmt: skip
    add_shared(add, "--overlay")
    add("--key", metavar="FILE", help="file with the ledger's key (default: beside the ledger)")
    add("--jobs", type=whole(1), default=0, metavar="N",
        help="submissions run at a time (default: the number of cores)")  # fmt: skip
    add_shared(add, "--sandbox")
    add("--python", metavar="PATH", default="", help="Python that runs the engines")


def _take(
    arguments: argparse.Namespace, assignment: Assignment, ledger: "Ledger", originals: Path
) -> int:
    """Add engines of a class that was graded, and say which; return the exit status."""
    from harness.grading import grade
    from harness.grading.attempts import attempt_plan
    from harness.grading.banking import bank_selection
    from harness.grading.ledger.places import Store
    from harness.grading.marks.marker import AttemptReader

    ledger.check()
    plan, folder = attempt_plan.load_last_plan(ledger), Path(arguments.bank)
    options = attempt_plan.GradeOptions(
        assignment,
        None,
        folder,
        overlay=Path(arguments.overlay) if arguments.overlay else None,
        sandbox=arguments.sandbox,
        jobs=arguments.jobs or processors(),
    )
    cases = {(one.kind, one.name): one.path for one in plan.cases}
    reader, planned = AttemptReader(ledger, assignment, cases), plan.by_key()
    students = {one.key: one.students for one in plan.submissions}
    context = grade.grading_context(options, plan)
    class_ = [
        bank_selection.Former(unit, reader.attempts(planned[key]), students[key])
        for unit in attempt_plan.units(context, plan, Store(originals))
        for key in [unit.submission.key]
    ]
    commands = {
        (case.kind, case.name, step.line): step.command.partition(" ")[0]
        for case in plan.cases
        for step in case.parse().steps
        if step.is_test
    }
    names = arguments.commands
    for name in names:
        if name not in commands.values():
            known = ", ".join(sorted(set(commands.values())))
            raise UsageError(f"--commands: no test of that grading is of {name!r}, but of {known}")
    # The last argument tells whether a test counts.
    selection = bank_selection.BankSelection(
        class_, assignment.files.required, lambda place: not names or commands[place] in names
    )
    before = banks.read(folder) if (folder / banks.FILE).exists() else banks.Bank("", (), {})
    if class_:
        unit = class_[0].unit
        trial = bank_selection.ProgramTrial(context, unit, plan)
        added = selection.into(folder, before, trial.run)
    else:
        added = selection.into(folder, before, lambda _: {})
    refused = [(one.key, bank_selection.NOTHING) for one in plan.submissions if one.refused]
    added = added._replace(left_out=tuple(sorted([*refused, *added.left_out])))
    banks.keep_course(folder, options.course_folder())
    left_out = bank_selection.count_left_out(before, added)
    banks.write(folder, banks.Bank(assignment.key, (*before.entries, *added.entries), left_out))
    count = number_of(len(added.entries), "engine")
    print(f"{count} added to {folder}, {number_of(len(added.left_out), 'submission')} left out")
    for one in added.entries:
        print(escape_controls(f"  {one.name}  {one.sentence}"))
    for key, why in added.left_out:
        print(escape_controls(f"  not {key}: {why}"))
    return ExitCode.OK if added.entries else ExitCode.FAILED


BANK = Command("bank", _PAGE, _add_options, _run)
