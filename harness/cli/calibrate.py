"""``gtp-harness calibrate``: does a declaration accuse nobody, and see what it should?"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness import find_assignment
from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command, number, whole
from harness.cli.console import colors, never_fail_to_encode
from harness.declared import declaration as declarations
from harness.declared.program_process import ProgramStart
from harness.declared.reference import ReferenceProgram
from harness.declared.remarks import Note, bounds, notes
from harness.declared.trial import CommandTally, Observed, TrialBudget, TrialDeclaration, calibrate
from harness.engine.launch import as_typed, split_program
from harness.errors import ExitCode, UsageError
from harness.options import SANDBOXES
from harness.report import report_files
from harness.report.paint import Paint
from harness.text import encode_without_surrogates, number_of, one_line

SCHEMA, VERSION = "gtp-harness/calibrate", 1
_SECONDS, _CONVERSATIONS, _TIMEOUT = 20.0, 200, 5.0
_WRAP = 88

_PAGE = """\
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


def _run(given: argparse.Namespace) -> int:
    if not given.assignment:
        CALIBRATE.refuse("give ASSIGNMENT")
    if given.json:
        report_files.try_to_write(given.json)
    never_fail_to_encode()
    assignment = find_assignment(given.assignment)
    trial = try_declaration(assignment, given)
    paint = Paint(0 if given.no_color else colors(sys.stdout))
    print("\n".join(lines(trial, paint)))
    if given.json:
        report_files.write(given.json, [_document(trial)], encode_without_surrogates)
    return ExitCode.FAILED if trial.notes else ExitCode.OK


class TriedDeclaration(NamedTuple):
    """A declaration after it was tried."""

    seen: Observed
    notes: list[Note]
    bounds: list[str]  # what cases cannot ask, in sentences


def try_declaration(assignment: Assignment, arguments: argparse.Namespace) -> TriedDeclaration:
    """Try the declaration of an assignment as the command line says.

    Raises:
        UsageError: it has none, or no reference.
        ReferenceFailedError: the reference does not answer.
    """
    whole_one = _without_extension(assignment)
    specification, declaration = whole_one.specification, whole_one.declaration
    assert declaration is not None
    if specification is None or not isinstance(specification.truth, ReferenceProgram):
        raise UsageError(f"{assignment.place}: found no [reference], expected one: it is asked")
    reference = specification.truth.program
    engines = {one: _program(one, reference, arguments) for one in arguments.engine}
    seen = calibrate(
        TrialDeclaration(declaration, specification, assignment.place),
        reference,
        engines,
        TrialBudget(arguments.seconds, arguments.conversations),
        arguments.seed,
    )
    return TriedDeclaration(
        seen, notes(seen, declaration), bounds(seen, assignment.declaration or declaration)
    )


def _without_extension(assignment: Assignment) -> Assignment:
    """Return an assignment whose reference is asked about all, also where it extends another."""
    declaration = assignment.declaration
    if declaration is None:
        raise UsageError(f"{assignment.place}: found no [reference], [game] or [[command]] to try")
    commands = declarations.with_standard(declaration.commands, declaration.game)
    alone = declaration._replace(extends="", commands=commands)
    return assignment._replace(declaration=alone) if declaration.extends else assignment


def _program(command: str, reference: ProgramStart, arguments: argparse.Namespace) -> ProgramStart:
    """Return an engine at hand, started in the folder of its first file, or here."""
    words, _ = needs.in_command(as_typed(split_program(command)), "")
    named = [Path(word) for word in words[1:] if Path(word).is_file()]
    return reference._replace(
        words=tuple(words),
        folder=named[0].parent if named else Path.cwd(),
        sandbox=arguments.sandbox,
        timeout=_TIMEOUT,
    )


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    add("assignment", nargs="?", metavar="ASSIGNMENT",
        help="an assignment.toml, or its folder")  # fmt: skip
    add_options(parser)
    add("--json", metavar="FILE", help="write the observations and the report as JSON")
    add("--no-color", action="store_true", help="no colors (also: NO_COLOR in the environment)")


def add_options(parser: CommandParser) -> None:
    """Add the options that say how long is tried, and with which engines."""
    add = parser.add_argument
    add("--engine", action="append", default=[], metavar="PROGRAM",
        help="another engine for the game; may be repeated")  # fmt: skip
    add("--seconds", type=number(0, "seconds, 0 for no limit"), default=_SECONDS, metavar="S",
        help="how long to try, in seconds (default: %(default)g; 0: no limit)")  # fmt: skip
    add("--conversations", type=whole(0, "a whole number, 0 for no limit"),
        default=_CONVERSATIONS, metavar="N",
        help="number of conversations to draw (default: %(default)s; 0: no limit)")  # fmt: skip
    add("--seed", type=whole(0, "a whole number"), default=0, metavar="N",
        help="random seed; it alone decides the draws (default: %(default)s)")  # fmt: skip
    add("--sandbox", choices=SANDBOXES, default="auto",
        help="sandbox level of the engines; the assignment sets the reference's (default:"
        " %(default)s)")  # fmt: skip


# --- for a reader ------------------------------------------------------------------------------


def lines(trial: TriedDeclaration, paint: Paint) -> Iterator[str]:
    """Yield a table of the commands, and what should be looked at."""
    seen, told, beyond = trial
    width = max((len(name) for name in seen.tallies), default=7)
    engines = list(dict.fromkeys(name for one in seen.tallies.values() for name in one.pairs))
    heads = [f"engine {place}" for place, _ in enumerate(engines, 1)]
    yield f"{'command':{width}} {'asked':>7} {'refused':>8}" + "".join(f" {h:>12}" for h in heads)
    for name, tally in seen.tallies.items():
        shares = "".join(f" {_share(tally, engine):>12}" for engine in engines)
        refused = tally.refused + sum(count[1] for count in tally.bad.values())
        yield f"{one_line(name):{width}} {tally.asked:>7,} {refused:>8,}{shares}"
    for head, engine in zip(heads, engines, strict=True):
        yield f"{head}: replies of {one_line(engine)} that are the reference's"
    yield ""
    for note in told:
        yield from _paragraph(note, paint)
    for sentence in beyond:
        yield from (*textwrap.wrap(one_line(sentence, 400), _WRAP), "")
    yield f"{number_of(seen.conversations, 'conversation')}: {_many(told)}"


def _share(tally: CommandTally, engine: str) -> str:
    pairs = tally.pairs.get(engine, [])
    return f"{sum(pair.is_same for pair in pairs)} of {len(pairs)}" if pairs else "-"


def _paragraph(note: Note, paint: Paint) -> Iterator[str]:
    head = f"{paint('warn', note.matter.value.upper())}  {paint('bold', one_line(note.command))}"
    yield head.rstrip()
    yield from (f"    {line}" for line in textwrap.wrap(one_line(note.text, 400), _WRAP))
    yield ""


def _many(notes: list[Note]) -> str:
    return f"{number_of(len(notes), 'thing')} to look at" if notes else "nothing to look at"


# --- for programs ------------------------------------------------------------------------------


def _document(trial: TriedDeclaration) -> str:
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
    seen, told, beyond = trial
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
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "conversations": seen.conversations,
        "commands": commands,
        "notes": [one._asdict() | {"matter": one.matter.value} for one in told],
        "bounds": beyond,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


CALIBRATE = Command("calibrate", _PAGE, _add_options, _run)
