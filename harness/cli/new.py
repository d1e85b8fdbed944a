"""``gtp-harness new``: an assignment of one's own, proposed from a right solution."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import file_system, find_assignment
from harness.assignments import needs
from harness.assignments.assignment import FILE
from harness.cli import calibrate
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command
from harness.cli.console import colors, never_fail_to_encode
from harness.declared import proposal
from harness.declared.evidence import Evidence
from harness.declared.probes import NoProtocolError, try_protocols
from harness.declared.program_process import ProgramStart
from harness.engine.launch import split_program
from harness.environments import interpreters
from harness.errors import CaseError, ExitCode, UsageError
from harness.options import GTP, PROTOCOLS, STATUS_LAST
from harness.reading import casefile, suite
from harness.records import ANSWERS_FILE, CaseFile
from harness.report import report_files
from harness.report.paint import Paint
from harness.text import number_of, one_line
from oracle.command_properties import STANDARD

_QUESTIONS = 3  # at most, at a terminal
_LAST_LINES = 8  # of standard error
_SHOWN = 200  # characters of such a line

_PAGE = """\
usage: gtp-harness new DIR --reference COMMAND [--public FILE…] [OPTION…]

Draft an assignment of your own in DIR from a correct solution. It is any program that
speaks GTP or the course's protocol with a status line at the end. The program is asked
for its commands, the public tests are run with it, some games are played, and
DIR/assignment.toml is written. It declares the game; each guess in it has its reason
beside it. At a terminal, you are asked what nothing tells: three questions at most.

The declaration is then tried out with the solution and the engines that you name, as
gtp-harness calibrate does. Correct what is wrong, and calibrate again.

[options]

Exit status:
    0  written; the report says what to check
    2  the input was bad, or the program does not answer

Examples:
  gtp-harness new nogo --reference "python3 nogo.py" --public public/*.gtp
  gtp-harness new nogo --reference ./nogo --engine "python3 former/nogo.py\""""


def _run(given: argparse.Namespace) -> int:
    if not given.folder or not given.reference:
        NEW.refuse("give DIR and --reference")
    never_fail_to_encode()
    folder = Path(given.folder)
    if (folder / FILE).exists():
        raise UsageError(f"{folder / FILE} already exists: give a new DIR, or calibrate it")
    cases = list(_cases(given.public))
    _make(given, folder, cases)
    assignment = find_assignment(str(folder))
    trial = calibrate.try_declaration(assignment, given)
    print("\n".join(calibrate.lines(trial, Paint(colors(sys.stdout)))))
    print(f"\n{_next_steps(given, folder, cases, bool(trial.notes))}")
    return ExitCode.OK


def _make(arguments: argparse.Namespace, folder: Path, cases: Sequence[CaseFile]) -> None:
    """Ask the program, read the tests, and write the assignment's file beside them."""
    conversations = tuple(tuple(step.command for step in case.steps) for case in cases)
    told = {STATUS_LAST if case.format == ANSWERS_FILE else GTP for case in cases}
    protocol = arguments.protocol or (told.pop() if len(told) == 1 else "")
    file_system.make(folder)
    ask = Questions()
    failure = ""
    for words in _commands(
        _from(folder, split_program(arguments.reference)), arguments.python, ask
    ):
        full, described = needs.in_command(words, "")
        start = ProgramStart(tuple(full), folder.absolute(), STANDARD, arguments.sandbox)
        try:
            with try_protocols(start, conversations, protocol) as trial:
                proposed = proposal.propose(Evidence(trial, conversations, ask))
            break
        except NoProtocolError as error:
            failure = failure or _explain(arguments, full, described, error)
            ask.missing = needs.missing_module(" ".join(error.seen.values()))
            if not ask.missing:
                raise UsageError(failure) from None
    else:
        raise UsageError(failure)
    for path in arguments.public:
        shutil.copy(path, folder)
    report_files.write(
        str(folder / FILE), [proposal.text(shlex.join(words), arguments.sandbox, proposed)]
    )
    print(f"{folder / FILE}: {number_of(len(proposed.commands), 'command')} proposed\n")


class Questions:
    """Asks the person at the terminal; elsewhere there is no answer.

    Attributes: ``missing``, a module that the program needs and its Python lacks.
    """

    def __init__(self) -> None:
        self.missing = ""
        self._left = _QUESTIONS if sys.stdin.isatty() and sys.stdout.isatty() else 0

    def __call__(self, question: str) -> str:
        """Return the answer; "" if there is none."""
        if not self._left:
            return ""
        self._left -= 1
        try:
            return input(f"{question}? ").strip()
        except EOFError:
            self._left = 0
            return ""


def _commands(words: list[str], named: str, ask: Questions) -> Iterator[list[str]]:
    """Yield the command, and while a module is missing, the same with Pythons that may have it."""
    if named or not interpreters.is_meant(words[0]):
        own = needs.in_command(words, named)[0][0] if named else ""
        yield [own or words[0], *words[1:]]
        return
    yield words
    files = [Path(word) for word in words[1:] if Path(word).suffix == ".py"]
    for program in interpreters.environments_near([Path.cwd(), *(one.parent for one in files)]):
        yield [program, *words[1:]]
    for found in interpreters.of_all_versions():
        if ask.missing in dict(found.packages):
            yield [found.program, *words[1:]]
    if answer := ask(f"{ask.missing} is missing. Which Python has it (its path)"):
        yield [needs.in_command(["python3"], answer)[0][0], *words[1:]]


def _explain(
    arguments: argparse.Namespace, full: list[str], described: str, error: NoProtocolError
) -> str:
    """Return why a program is not understood: its last words, and where it ran."""
    lines = [f"{arguments.reference!r} does not answer as a program for a game does:"]
    lines += [f"  as {name!r}: {one_line(what, 2 * _SHOWN)}" for name, what in error.seen.items()]
    if said := [line for line in error.stderr.splitlines() if line.strip()][-_LAST_LINES:]:
        lines.append("The end of its standard error:")
        lines += [f"  {one_line(line, _SHOWN)}" for line in said]
    lines.append(f"It was started as {shlex.join(full)!r}, sandbox: {error.box}.")
    if described:
        lines.append(f"That is {described}.")
    advice = needs.advise_on_module(" ".join(error.seen.values())).partition(", or declare")[0]
    if not advice:
        advice = (
            "Is the command right? --protocol says what it speaks, --sandbox off lets it do all"
        )
    return "\n".join([*lines, f"{advice}."])


def _next_steps(
    arguments: argparse.Namespace, folder: Path, cases: Sequence[CaseFile], has_notes: bool
) -> str:
    """Return what to do now: the last command compares the reference with itself."""
    own = shlex.join(["gtp-harness", "calibrate", arguments.folder])
    steps = [f"Correct {folder / FILE}, and try it again: {own}"] * has_notes
    steps += [
        f"{case.path}: no command counts; write '?' before those whose answers are judged"
        for case in cases
        if not any(step.is_test for step in case.steps) and case.format == ANSWERS_FILE
    ]
    words = ["gtp-harness", "fuzz", arguments.reference, "--assignment", arguments.folder]
    words += ["--seconds", "30"] + ["--sandbox", arguments.sandbox] * (arguments.sandbox != "auto")
    words += ["--python", arguments.python] * bool(arguments.python)
    return "\n".join([*steps, f"Grade the reference against itself: {shlex.join(words)}"])


def _from(folder: Path, words: Sequence[str]) -> list[str]:
    """Return a command with its files as they are called from the assignment's folder."""
    first, *rest = words
    is_interpreter = Path(first).is_absolute() and any(Path(word).is_file() for word in rest)
    named = [
        os.path.relpath(word, folder) if "/" in word or Path(word).is_file() else word
        for word in words
    ]
    return [first, *named[1:]] if is_interpreter else named


def _cases(paths: Sequence[str]) -> Iterator[CaseFile]:
    """Yield the public tests, those too in which no command counts.

    Raises:
        CaseError: one cannot be read.
    """
    for path in suite.expand(paths, has_answers=True):
        case = casefile.read(path)
        if not case.steps:
            raise CaseError("found no command, expected a test", path)
        yield case


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    add(
        "folder",
        nargs="?",
        metavar="DIR",
        help="folder of the assignment; created if it does not exist",
    )
    add("--reference", metavar="COMMAND", help="command of the correct solution, as in a shell")
    add("--public", nargs="+", default=[], metavar="FILE",
        help="public tests to copy into DIR")  # fmt: skip
    add("--protocol", choices=PROTOCOLS, default="",
        help="what the program speaks (default: as in the tests, or as it answers)")  # fmt: skip
    add("--python", default="", metavar="PATH",
        help="the Python of a command that begins with python3 (default: the system's, or one of"
        " an environment beside the program that has the modules it needs)")  # fmt: skip
    calibrate.add_options(parser)


NEW = Command("new", _PAGE, _add_options, _run)
