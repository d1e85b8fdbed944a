"""``gtp-harness fuzz``: look for commands that an engine answers wrongly."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.assignments import assignment, python
from harness.assignments.assignment import specification_of
from harness.cli import sandbox
from harness.cli.arguments import Parser
from harness.cli.values import number, whole
from harness.engine.launch import as_typed, split_program, with_seed
from harness.engine.protocols import named
from harness.engine.translation import sessions_of
from harness.errors import UsageError
from harness.exits import ExitCode
from harness.fuzzing import home
from harness.options import UNTRUSTED, Limits, Options
from harness.report import files
from harness.sandbox import programs
from harness.text import number_of, plural
from harness.visible import one_line, without_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.fuzzing.fuzzer import Finding, Fuzzer
    from harness.fuzzing.judging import Judge

SCHEMA, VERSION = "gtp-harness/fuzz", 1

_DESCRIPTION = """\
Send PROGRAM, an engine that speaks the Go Text Protocol, commands drawn at
random, and compare its answers with the oracle's, as far as the specification
settles them. What is answered wrongly is made as small as possible and written as
a case file with the board and the reason of the right answer; then the search goes
on for another cause. Crashes, hangs and breaches of the protocol are found, too."""

_EPILOG = """\
Exit status:
    0  nothing was found
    1  something was
    2  the engine could not start, or the input was bad
    3  the harness itself failed; the engine is not to blame
  130  interrupted with Ctrl-C; what was found so far is reported

The same --seed draws the same; with --examples instead of --seconds an engine that
answers alike is found out alike. Of what is drawn, questions and moves that take an
engine long are left out where they would take more than a third of the time; the
last lines tell how many. Commands come from the assignment; undo and
gogui-play_sequence are sent to engines that say they know them.

Examples:
  gtp-harness fuzz "python3 Go1.py" --assignment go-scoring
  gtp-harness fuzz ./Gomoku3.py --assignment gomoku-policy --output found --findings 1"""

_SECONDS, _TIMEOUT = 60.0, 5.0
_TEMPORARY = ("/var/tmp", "/dev/shm")  # besides the usual one


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = command_line()
    given = parser.read(arguments)
    if given is None:
        return ExitCode.OK
    if not given.program or not given.assignment:
        parser.error("PROGRAM and --assignment are needed")
    home.require_hypothesis("fuzz")
    found = assignment.find(given.assignment)
    given.specification = specification_of(found)
    given.spoken = named(found.protocol)
    given.translate = given.translate or found.translate
    if given.json:
        files.try_to_write(given.json)
    findings: list[tuple[Finding, Path]] = []
    with _fuzzer(given) as (fuzzer, judge):
        is_over = _look(given, fuzzer, judge, findings)
    print("\n".join(_summary(fuzzer, findings)))
    if given.engine_python:
        print(f"the engine was run by {given.engine_python}")
    if given.json:
        files.write(given.json, [_document(given, fuzzer, findings)], without_surrogates)
    if not is_over:
        return ExitCode.INTERRUPTED
    return ExitCode.FAILED if findings else ExitCode.OK


@contextlib.contextmanager
def _fuzzer(given: argparse.Namespace) -> Iterator[tuple[Fuzzer, Judge]]:
    """Start a fuzzer in a folder of its own, with which everything of it goes."""
    from harness.fuzzing.engines import Piped, launchers
    from harness.fuzzing.fuzzer import Fuzzer
    from harness.fuzzing.judges import judge_of
    from harness.fuzzing.search import Budget
    from harness.vocabulary.script import BOARDS

    words, given.engine_python = python.in_command(
        as_typed(split_program(with_seed(given.program))), given.python
    )
    budget = Budget(given.seconds, given.examples)
    with tempfile.TemporaryDirectory(prefix="gtp-harness-", dir=_outside(given.show)) as name:
        room = Path(name)
        room.chmod(0o755)  # an engine in a sandbox is another user, who finds board files here
        (room / BOARDS).mkdir()
        needed = programs.paths_of(words[0]) if given.engine_python else []
        options = _options(given, (str(room / BOARDS), *needed))
        natures, begin = given.specification.commands, sessions_of(given.translate)
        with (
            home.hypothesis_at_home_in(room),
            launchers(options, room) as launcher,
            contextlib.closing(
                Piped(words, launcher, options.limits, room, natures, given.spoken, begin)
            ) as program,
        ):
            judge = judge_of(given.specification, room)
            yield Fuzzer(program, judge, budget, given.seed), judge


def _outside(shown: Sequence[str]) -> str:
    """Return a folder for temporary files that lies in none of the folders shown.

    Of a shown folder in which it starts, an engine has a copy, made at that moment: it would never
    see the board files that later scripts need.

    Raises:
        UsageError: there is none.
    """
    folders = [os.path.realpath(path) for path in shown]
    for place in (tempfile.gettempdir(), *_TEMPORARY):
        if os.access(place, os.W_OK) and not programs.is_in_one(os.path.realpath(place), folders):
            return place
    raise UsageError(f"--show {shown[0]} shows all folders for temporary files: show less")


def _options(given: argparse.Namespace, shown: Sequence[str]) -> Options:
    limits = (Limits() if given.sandbox == "off" else UNTRUSTED)._replace(timeout=given.timeout)
    return Options(
        limits=limits,
        sandbox=given.sandbox,
        box=sandbox.box_limits(given),
        show=sandbox.shown(given.program, given.sandbox, (*given.show, *shown)),
    )


def _look(
    given: argparse.Namespace, fuzzer: Fuzzer, judge: Judge, found: list[tuple[Finding, Path]]
) -> bool:
    """Look for causes, and write and tell each as soon as it is found.

    Returns whether it looked to the end: what was found before a Ctrl-C counts.
    """
    from harness.fuzzing import writing

    folder = Path(given.output)
    try:
        for finding in fuzzer.findings():
            folder.mkdir(parents=True, exist_ok=True)
            path = writing.write(folder, len(found) + 1, finding, judge)
            found.append((finding, path))
            print(_told(finding, path), flush=True)
            if len(found) == given.findings:
                break
    except KeyboardInterrupt:
        return False
    return True


# --- the command line --------------------------------------------------------------------------


def command_line() -> Parser:
    """Return the parser of its command line."""
    parser = Parser("fuzz", description=_DESCRIPTION, epilog=_EPILOG)
    parser.usage = "gtp-harness fuzz PROGRAM --assignment A [OPTION…]"
    add = parser.add_argument
    count = whole(0, "a whole number, 0 for no limit")
    add("program", nargs="?", metavar="PROGRAM", help="the engine's command, as in a shell")
    add("--assignment", metavar="A",
        help="which commands it should know: an assignment's, by name or folder")  # fmt: skip
    add("--translate", metavar="FILE", default="",
        help="how its words differ: a table in TOML (default: the assignment's)")  # fmt: skip
    add("--seconds", type=number(0, "seconds, 0 for no limit"), default=_SECONDS, metavar="S",
        help="how long to look (default: %(default)g; 0: no limit)")  # fmt: skip
    add("--examples", type=count, default=0, metavar="N",
        help="how many conversations to draw (default: no limit)")  # fmt: skip
    add("--findings", type=count, default=0, metavar="N",
        help="stop after so many causes (default: no limit)")  # fmt: skip
    add("--seed", type=whole(0, "a whole number"), default=0, metavar="N",
        help="what is drawn depends on it alone (default: %(default)s)")  # fmt: skip
    add("--output", default="fuzz-findings", metavar="DIR",
        help="where case files go, made if need be (default: %(default)s)")  # fmt: skip
    add("--json", metavar="FILE", help="write all of it as JSON")
    add("--timeout", type=number(0.1, "seconds"), default=_TIMEOUT, metavar="S",
        help="seconds without an answer that are a hang (default: %(default)g)")  # fmt: skip
    add(
        "--python",
        metavar="PATH",
        default="",
        help="the Python of a PROGRAM that begins with python3 (default: the system's)",
    )
    sandbox.add_options(parser)
    parser.set_defaults(sandbox="auto")
    add("--help", "-help", "-h", action="store_true", help="print this help and exit")
    return parser


# --- for a reader ------------------------------------------------------------------------------


def _told(finding: Finding, path: Path) -> str:
    """Return the lines that tell of a finding as soon as there is one."""
    found = finding.difference
    lines = [
        f"{path}: {one_line(found.command, 60)}: {found.kind}",
        f"  right: {one_line(found.right, 80)}",
        f"  found: {one_line(found.got, 80)}",
    ]
    if finding.mistakes:
        first, *others = finding.mistakes
        more = f" (or {', '.join(one.name for one in others)})" if others else ""
        lines.append(f"  {first.name}: {first.sentence}{more}")
    return "\n".join(lines)


def _summary(fuzzer: Fuzzer, findings: list[tuple[Finding, Path]]) -> Iterator[str]:
    """Yield the table of all findings and what was done to get them."""
    if findings:
        yield f"\n{'seconds':>8}{'setup':>7}{'shown':>7}  finding"
    for finding, path in findings:
        shown = f"{finding.shown}/{finding.tried}"
        cause = f"  {finding.mistakes[0].name}" if finding.mistakes else ""
        yield f"{finding.seconds:8.1f}{finding.setup:7}{shown:>7}  {path.name}{cause}"
    budget, count = fuzzer.budget, len(findings)
    yield (
        f"\n{number_of(count, 'finding')} in {budget.examples:,}"
        f" {plural(budget.examples, 'conversation')} with {budget.commands:,} commands,"
        f" {budget.seconds:.1f} s"
    )
    for slow in fuzzer.slow:
        yield (
            f"{slow.name} takes {slow.seconds:.1f} s: asked {slow.asked:,}"
            f" {plural(slow.asked, 'time')}, left out {slow.left_out:,}"
        )
    if fuzzer.unconfirmed:
        yield f"{fuzzer.unconfirmed} more could not be seen again in a new process"


# --- for programs ------------------------------------------------------------------------------


def _document(
    given: argparse.Namespace, fuzzer: Fuzzer, findings: list[tuple[Finding, Path]]
) -> str:
    """Return the JSON document."""
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "program": given.program,
        "python": given.engine_python,
        "assignment": given.assignment,
        "seed": given.seed,
        "examples": fuzzer.budget.examples,
        "commands": fuzzer.budget.commands,
        "seconds": round(fuzzer.budget.seconds, 3),
        "unconfirmed": fuzzer.unconfirmed,
        "slow": [one._asdict() | {"seconds": round(one.seconds, 3)} for one in fuzzer.slow],
        "findings": [_entry(finding, path) for finding, path in findings],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _entry(finding: Finding, path: Path) -> dict[str, object]:
    found = finding.difference
    return {
        "file": str(path),
        "command": found.command,
        "kind": found.kind,
        "right": found.right,
        "found": found.got,
        "script": finding.script.commands,
        "files": dict(finding.script.files),
        "setup_commands": finding.setup,
        "shown": finding.shown,
        "tried": finding.tried,
        "mistakes": [{"name": one.name, "sentence": one.sentence} for one in finding.mistakes],
        "seconds": round(finding.seconds, 3),
        "examples": finding.examples,
    }
