"""``gtp-harness new`` and ``calibrate``: an assignment of one's own, drafted and tried out."""

import argparse
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import find_assignment
from harness.assignments import needs
from harness.assignments.assignment import FILE, Assignment
from harness.cli.commandline import Command, add_shared, count_limit, time_limit
from harness.cli.console import colors, paint_for
from harness.core import file_system
from harness.core.errors import CaseError, ExitCode, UsageError
from harness.core.options import GTP, PROTOCOLS, SANDBOXES, STATUS_LAST, TRIED_TIMEOUT
from harness.core.records import ANSWERS_FILE, CaseFile
from harness.core.text import number_of, one_line
from harness.declared import proposal
from harness.declared.evidence import gather
from harness.declared.probes import NoProtocolError, try_protocols
from harness.declared.program_process import ProgramStart
from harness.declared.reference import ReferenceProgram
from harness.declared.remarks import Note, bounds, notes
from harness.declared.trial import Observations, TrialBudget, calibrate
from harness.engine.launch import as_typed, split_program
from harness.environments import interpreters
from harness.reading import casefile, suite
from harness.report import report_files
from harness.report.paint import Paint
from oracle.command_properties import STANDARD

_SECONDS, _CONVERSATIONS = 20.0, 200
_WRAP = 88

_CALIBRATE_PAGE = """\
usage: gtp-harness calibrate ASSIGNMENT [--engine PROGRAM]… [OPTION…]

Try out an assignment of your own before it grades anybody. Random conversations
are sent to its reference, to new processes of the reference, and to other engines
that you believe to be right (--engine). Their replies are compared.

For each command it reports:
  too strict      nearly all replies of another engine differ
  not repeatable  a new process of the reference answers otherwise
  never refused   wrong arguments that the reference takes, or none to try
  always refused  the reference takes none of its arguments
  never reached   no conversation used it, or it never said what it sometimes should
  not declared    the reference knows the command, but nothing uses it
  another kind    it does more than ask, or does not play what it chooses
  its own choice  the reference's play refuses a move that the reference chose
and for the game: sizes, turns, refusals, the end. If the reference stands alone
against engines that agree with each other, it asks you who is right. Last it lists
what no case file can ask, such as errors of GTP.

[options]

Exit status:
    0  nothing was reported
    1  something was reported
    2  the input was bad, or the reference does not answer

Examples:
  gtp-harness calibrate nogo/
  gtp-harness calibrate nogo/ --engine "python3 former/nogo.py" --seconds 60"""


def _calibrate(arguments: argparse.Namespace) -> int:
    if not arguments.assignment:
        CALIBRATE.refuse("give ASSIGNMENT")
    report_files.try_to_write(arguments.json)
    seen, told, beyond = try_declaration(find_assignment(arguments.assignment), arguments)
    print("\n".join(lines(seen, told, beyond, paint_for(arguments))))
    if arguments.json:
        document = _document(seen, told, beyond)
        report_files.write_json(arguments.json, "gtp-harness/calibrate", document)
    return ExitCode.FAILED if told else ExitCode.OK


def try_declaration(
    assignment: Assignment, arguments: argparse.Namespace
) -> tuple[Observations, list[Note], list[str]]:
    """Try the declaration of an assignment as the command line says.

    Returns what was seen, notes on it, and sentences about what cases cannot ask. The reference is
    asked about all, also where it extends another.

    Raises:
        UsageError: it has none, or no reference.
        ReferenceFailedError: the reference does not answer.
    """
    given = assignment.declaration
    if given is None:
        raise UsageError(f"{assignment.place}: found no [reference], [game] or [[command]] to try")
    declaration, specification = given, assignment.specification
    if given.extends:
        declaration = given.alone()
        specification = assignment._replace(declaration=declaration).specification
    if specification is None or not isinstance(specification.truth, ReferenceProgram):
        raise UsageError(f"{assignment.place}: found no [reference], expected one: it is asked")
    reference = specification.truth
    engines = {one: _program(one, reference.program, arguments) for one in arguments.engine}
    seen = calibrate(
        specification,
        reference,
        engines,
        TrialBudget(arguments.seconds, arguments.conversations),
        arguments.seed,
    )
    return seen, notes(seen, declaration), bounds(seen, given)


def _program(command: str, reference: ProgramStart, arguments: argparse.Namespace) -> ProgramStart:
    """Return an engine at hand, started in the folder of its first file, or here."""
    words, _ = needs.in_command(as_typed(split_program(command)), "")
    named = [Path(word) for word in words[1:] if Path(word).is_file()]
    return reference._replace(
        words=tuple(words),
        folder=named[0].parent if named else Path.cwd(),
        sandbox=arguments.sandbox,
        timeout=TRIED_TIMEOUT,
    )


def _add_calibrate_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("assignment", nargs="?", metavar="ASSIGNMENT", help="an assignment.toml, or its folder")
    _add_trial_options(parser)
    add("--json", metavar="FILE", help="write the observations and the report as JSON")
    add_shared(add, "--no-color")


def _add_trial_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how long is tried, and with which engines."""
    add = parser.add_argument
    add("--engine", action="append", default=[], metavar="PROGRAM",
        help="another engine for the game; may be repeated")  # fmt: skip
    add("--seconds", type=time_limit, default=_SECONDS, metavar="S",
        help="how long to try, in seconds (default: %(default)g; 0: no limit)")  # fmt: skip
    add("--conversations", type=count_limit, default=_CONVERSATIONS, metavar="N",
        help="number of conversations to draw (default: %(default)s; 0: no limit)")  # fmt: skip
    add_shared(add, "--seed")
    add("--sandbox", choices=SANDBOXES, default="auto",
        help="sandbox level of the engines; the assignment sets the reference's (default:"
        " %(default)s)")  # fmt: skip


def lines(seen: Observations, told: list[Note], beyond: list[str], paint: Paint) -> Iterator[str]:
    """Yield a table of the commands, and what should be looked at."""
    width = max((len(name) for name in seen.tallies), default=7)
    engines = list(dict.fromkeys(name for one in seen.tallies.values() for name in one.pairs))
    heads = [f"engine {place}" for place, _ in enumerate(engines, 1)]
    yield f"{'command':{width}} {'asked':>7} {'refused':>8}" + "".join(f" {h:>12}" for h in heads)
    for name, tally in seen.tallies.items():
        shares = ""
        for engine in engines:
            pairs = tally.pairs.get(engine, [])
            share = f"{sum(pair.is_same for pair in pairs)} of {len(pairs)}" if pairs else "-"
            shares += f" {share:>12}"
        refused = tally.refused + sum(count[1] for count in tally.bad.values())
        yield f"{one_line(name):{width}} {tally.asked:>7,} {refused:>8,}{shares}"
    for head, engine in zip(heads, engines, strict=True):
        yield f"{head}: replies of {one_line(engine)} that are the reference's"
    yield ""
    for note in told:
        matter, command = note.matter.value.upper(), one_line(note.command)
        yield f"{paint('warn', matter)}  {paint('bold', command)}".rstrip()
        yield from (f"    {line}" for line in textwrap.wrap(one_line(note.text, 400), _WRAP))
        yield ""
    for sentence in beyond:
        yield from (*textwrap.wrap(one_line(sentence, 400), _WRAP), "")
    count = f"{number_of(len(told), 'thing')} to look at" if told else "nothing to look at"
    yield f"{number_of(seen.conversations, 'conversation')}: {count}"


def _document(
    seen: Observations, told: Sequence[Note], beyond: Sequence[str]
) -> dict[str, object]:
    """Return what trying a declaration showed as JSON.

    The document is an object with these members::

        schema         "gtp-harness/calibrate", and version: 1
        conversations  how many were held
        commands       by name {asked, refused, bad, engines}: how often the command was asked and
                       refused; bad: the same for each wrong argument; engines: by name {replies,
                       same}, how many replies there were and how many are the reference's
        notes          [{matter, command, text}]: what to look at
        bounds         [text]: what no case file can ask
    """
    commands = {
        name: {
            "asked": tally.asked,
            "refused": tally.refused,
            "bad": {text: dict(zip(("asked", "refused"), counts, strict=True))
                    for text, counts in tally.bad.items()},
            "engines": {name: {"replies": len(pairs), "same": sum(one.is_same for one in pairs)}
                        for name, pairs in tally.pairs.items()},
        }
        for name, tally in seen.tallies.items()
    }  # fmt: skip
    return {
        "conversations": seen.conversations,
        "commands": commands,
        "notes": [one._asdict() | {"matter": one.matter.value} for one in told],
        "bounds": beyond,
    }


CALIBRATE = Command("calibrate", _CALIBRATE_PAGE, _add_calibrate_options, _calibrate)


# --- ``gtp-harness new``: an assignment of one's own, proposed from a right solution -------------


_QUESTIONS = 3  # at most, at a terminal
_LAST_LINES = 8  # of standard error
_SHOWN = 200  # characters of such a line

_NEW_PAGE = """\
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


def _new(arguments: argparse.Namespace) -> int:
    if not arguments.folder or not arguments.reference:
        NEW.refuse("give DIR and --reference")
    folder = Path(arguments.folder)
    if (folder / FILE).exists():
        raise UsageError(f"{folder / FILE} already exists: give a new DIR, or calibrate it")
    cases = []  # those too in which no command counts
    for path in suite.expand(arguments.public, has_answers=True):
        cases.append(casefile.read(path))
        if not cases[-1].steps:
            raise CaseError("found no command, expected a test", path)
    _make(arguments, folder, cases)
    seen, told, beyond = try_declaration(find_assignment(str(folder)), arguments)
    print("\n".join(lines(seen, told, beyond, Paint(colors(sys.stdout)))) + "\n")
    if told:
        own = shlex.join(["gtp-harness", "calibrate", arguments.folder])
        print(f"Correct {folder / FILE}, and try it again: {own}")
    for case in cases:
        if not any(step.is_test for step in case.steps) and case.format == ANSWERS_FILE:
            asked = "write '?' before those whose answers are judged"
            print(f"{case.path}: no command counts; {asked}")
    # This compares the reference with itself.
    words = ["gtp-harness", "fuzz", arguments.reference, "--assignment", arguments.folder]
    words += ["--seconds", "30"] + ["--sandbox", arguments.sandbox] * (arguments.sandbox != "auto")
    words += ["--python", arguments.python] * bool(arguments.python)
    print(f"Grade the reference against itself: {shlex.join(words)}")
    return ExitCode.OK


def _make(arguments: argparse.Namespace, folder: Path, cases: Sequence[CaseFile]) -> None:
    """Ask the program, read the tests, and write the assignment's file beside them."""
    conversations = tuple(tuple(step.command for step in case.steps) for case in cases)
    told = {STATUS_LAST if case.format == ANSWERS_FILE else GTP for case in cases}
    protocol = arguments.protocol or (told.pop() if len(told) == 1 else "")
    file_system.make(folder)
    ask = Questions()
    failure = ""
    # The command with its files as they are called from the assignment's folder.
    typed = split_program(arguments.reference)
    named = [
        os.path.relpath(word, folder) if "/" in word or Path(word).is_file() else word
        for word in typed
    ]
    if Path(typed[0]).is_absolute() and any(Path(word).is_file() for word in typed[1:]):
        named[0] = typed[0]  # an interpreter
    for words in _commands(named, arguments.python, ask):
        full, described = needs.in_command(words, "")
        start = ProgramStart(tuple(full), folder.absolute(), STANDARD, arguments.sandbox)
        try:
            with try_protocols(start, conversations, protocol) as trial:
                proposed = proposal.propose(gather(trial, conversations, ask))
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
    text = proposal.text(shlex.join(words), arguments.sandbox, proposed)
    report_files.write(str(folder / FILE), [text])
    print(f"{folder / FILE}: {number_of(len(proposed.commands), 'command')} proposed\n")


class Questions:
    """Asks the person at the terminal; without a terminal it gives no answer.

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


def _commands(words: list[str], named: str, questions: Questions) -> Iterator[list[str]]:
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
        if questions.missing in dict(found.packages):
            yield [found.program, *words[1:]]
    if answer := questions(f"{questions.missing} is missing. Which Python has it (its path)"):
        yield [needs.in_command(["python3"], answer)[0][0], *words[1:]]


def _explain(
    arguments: argparse.Namespace, full: list[str], description: str, error: NoProtocolError
) -> str:
    """Return why a program is not understood: its last words, and where it ran."""
    lines = [f"{arguments.reference!r} does not answer as a program for a game does:"]
    lines += [f"  as {name!r}: {one_line(what, 2 * _SHOWN)}" for name, what in error.seen.items()]
    if said := [line for line in error.stderr.splitlines() if line.strip()][-_LAST_LINES:]:
        lines.append("The end of its standard error:")
        lines += [f"  {one_line(line, _SHOWN)}" for line in said]
    lines.append(f"It was started as {shlex.join(full)!r}, sandbox: {error.box}.")
    if description:
        lines.append(f"That is {description}.")
    advice = needs.advise_on_module(" ".join(error.seen.values())).partition(", or declare")[0]
    usual = "Is the command right? --protocol says what it speaks, --sandbox off lets it do all"
    return "\n".join([*lines, f"{advice or usual}."])


def _add_new_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", nargs="?", metavar="DIR",
        help="folder of the assignment; created if it does not exist")  # fmt: skip
    add("--reference", metavar="COMMAND", help="command of the correct solution, as in a shell")
    add("--public", nargs="+", default=[], metavar="FILE", help="public tests to copy into DIR")
    add("--protocol", choices=PROTOCOLS, default="",
        help="what the program speaks (default: as in the tests, or as it answers)")  # fmt: skip
    add("--python", default="", metavar="PATH",
        help="the Python of a command that begins with python3 (default: the system's, or one of"
        " an environment beside the program that has the modules it needs)")  # fmt: skip
    _add_trial_options(parser)


NEW = Command("new", _NEW_PAGE, _add_new_options, _new)
