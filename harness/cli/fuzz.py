"""``gtp-harness fuzz``: look for commands that an engine answers wrongly."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from harness import file_system, find_assignment, fuzzing, read_case_file
from harness.assignments import needs
from harness.assignments.assignment import Assignment, specification_of
from harness.banks.banks import EngineAsker, WrongEngine
from harness.cli import engine_options
from harness.cli.arguments import CommandParser
from harness.cli.bank import wrong_engines
from harness.cli.commandline import Command, number, whole
from harness.engine.launch import as_typed, split_program, with_seed
from harness.engine.protocols import find_protocol
from harness.engine.translation import sessions_of
from harness.errors import ExitCode, UsageError
from harness.options import GTP, TRIED_TIMEOUT, UNTRUSTED, Limits, Options
from harness.reading import casefile
from harness.report import report_files
from harness.sandbox import view
from harness.text import encode_without_surrogates, number_of, one_line, plural
from harness.vocabulary.script import BOARDS, Trace, lay_files
from oracle.command_properties import STANDARD

TYPE_CHECKING = False

if TYPE_CHECKING:
    from harness.fuzzing.findings import FuzzFinding
    from harness.fuzzing.fuzzed_engine import FuzzedProgram
    from harness.fuzzing.fuzzer import Fuzzer
    from harness.specifications.record import Specification

SCHEMA, VERSION = "gtp-harness/fuzz", 1

_PAGE = """\
usage: gtp-harness fuzz PROGRAM --assignment A [OPTION…]
       gtp-harness fuzz PROGRAM --against PROGRAM [OPTION…]

Send random commands to PROGRAM, an engine that speaks the Go Text Protocol, and
compare its replies with the oracle's wherever the specification decides them. Each
wrong reply is made as small as possible and written as a case file with the board
and the reason for the right answer. Then the search continues for other causes.
Crashes, hangs and violations of the protocol are found, too.

[options]

Exit status:
    0  nothing was found
    1  something was found
    2  the engine could not start, or the input was bad; or nothing was found, but so
       little was asked that this means nothing: no question, or, before the time was
       over, fewer than 100 conversations
    3  the harness itself failed; the engine is not to blame
  130  interrupted with Ctrl-C; the findings so far are reported

The same --seed draws the same commands. With --examples instead of --seconds, an
engine that gives the same replies gets the same findings. SlowCommand questions and moves
are left out if they would take more than a third of the time; the last lines say how
many. Commands come from the assignment. undo and gogui-play_sequence are sent to
engines that list them.

Without --assignment, the first engine of --against says what is right: boards of the
smallest sizes that both take are started and stones played in turn, and both engines
are asked what both answer of score, final_score, showboard (if both draw alike),
list_stones, captures, all_legal and GoGui's questions about rules; komi and undo are
sent if both take them. The last lines say how often each question was asked. With an
assignment, a finding in which all engines of --against answer as PROGRAM does becomes
a question to the teacher.

Examples:
  gtp-harness fuzz "python3 Go1.py" --assignment go-scoring
  gtp-harness fuzz ./Gomoku3.py --assignment gomoku-policy --output found --findings 1
  gtp-harness fuzz "python3 nogo.py" --assignment nogo/ --against "python3 other.py"
  gtp-harness fuzz ./mine --against ./theirs"""

_SECONDS = 60.0
_TEMPORARY = ("/var/tmp", "/dev/shm")  # besides the usual one


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.program or not (arguments.assignment or arguments.against):
        FUZZ.refuse("give PROGRAM, and --assignment or --against")
    if arguments.bank and not arguments.assignment:
        FUZZ.refuse("--bank needs --assignment: the bank belongs to one")
    fuzzing.require_hypothesis("fuzz")
    _find_out(arguments)
    if arguments.json:
        report_files.try_to_write(arguments.json)
    findings: list[tuple[FuzzFinding, Path]] = []
    with _fuzzer(arguments) as fuzzer, _known_engines(arguments, arguments.found, fuzzer) as known:
        is_over = _look(arguments, fuzzer, known, findings)
    print("\n".join(_summary(fuzzer, findings)))
    if arguments.engine_python:
        print(f"the engine was run by {arguments.engine_python}")
    if arguments.json:
        report_files.write(
            arguments.json, [_document(arguments, fuzzer, findings)], encode_without_surrogates
        )
    if not is_over:
        return ExitCode.INTERRUPTED
    if findings:
        return ExitCode.FAILED if _without_questions(findings) else ExitCode.OK
    return ExitCode.BROKEN if fuzzer.shortfall else ExitCode.OK


def _without_questions(findings: Sequence[tuple[FuzzFinding, Path]]) -> list[FuzzFinding]:
    return [finding for finding, _ in findings if not finding.is_question]


def _find_out(arguments: argparse.Namespace) -> None:
    """See who judges, in which words, and from where conversations may continue."""
    assignment = find_assignment(arguments.assignment) if arguments.assignment else None
    arguments.found, arguments.protocol = assignment, assignment.protocol if assignment else GTP
    arguments.spoken = find_protocol(arguments.protocol)
    arguments.translate = arguments.translate or (assignment.translate if assignment else "")
    arguments.declaration = assignment.declaration if assignment else None
    arguments.engine_python = ""
    arguments.witnesses = [_words(arguments, one) for one in arguments.against]
    has_truth = assignment and not (
        arguments.declaration and arguments.declaration.reference is None
    )
    if assignment and (has_truth or not arguments.against):
        arguments.specification, arguments.judging = specification_of(assignment), []
    else:
        arguments.specification, arguments.judging = None, arguments.witnesses.pop(0)
    paths = [*arguments.go_on, *map(str, assignment.public_cases() if assignment else ())]
    cases = (read_case_file(path) for path in paths)
    arguments.openings = [
        tuple(step.command for step in case.steps) for case in cases if case.steps
    ]


def _words(arguments: argparse.Namespace, command: str, python_named: str = "") -> list[str]:
    """Return the words of an engine's command, and note the Python that runs it."""
    words, told = needs.in_command(as_typed(split_program(with_seed(command))), python_named)
    arguments.engine_python = arguments.engine_python or told
    return words


@contextlib.contextmanager
def _fuzzer(arguments: argparse.Namespace) -> Iterator[Fuzzer]:
    """Start a fuzzer in a folder of its own, with which everything of it goes."""
    from harness.fuzzing.by_reference import judge_of
    from harness.fuzzing.fuzzer import Fuzzer
    from harness.fuzzing.search import FuzzBudget

    budget = FuzzBudget(arguments.seconds, arguments.examples)
    # Of a shown folder in which it starts, an engine has a copy, made at that moment: it would
    # never see the board files that later scripts need.
    shown = list(map(os.path.realpath, arguments.show))
    outside = (
        place
        for place in (tempfile.gettempdir(), *_TEMPORARY)
        if os.access(place, os.W_OK) and not view.is_in_one(os.path.realpath(place), shown)
    )
    if (folder := next(outside, None)) is None:
        raise UsageError(
            f"--show {arguments.show[0]} shows all folders for temporary files: show less"
        )
    with (
        tempfile.TemporaryDirectory(prefix="gtp-harness-", dir=folder) as name,
        contextlib.ExitStack() as open_,
    ):
        room = Path(name)
        room.chmod(0o755)  # an engine in a sandbox is another user, who finds board files here
        file_system.make_open(room / BOARDS)
        open_.enter_context(fuzzing.hypothesis_at_home_in(room))
        words = _words(arguments, arguments.program, arguments.python)
        program = open_.enter_context(_open_engine(arguments, words, room, arguments.translate))
        arguments.specification = arguments.specification or _by_engine(arguments, program, room)
        witnesses = [
            open_.enter_context(_open_engine(arguments, one, room, ""))
            for one in arguments.witnesses
        ]
        judge = judge_of(arguments.specification, room, arguments.openings)
        yield Fuzzer(program, judge, budget, arguments.seed, witnesses)


@contextlib.contextmanager
def _open_engine(
    arguments: argparse.Namespace, words: list[str], room: Path, translate: str
) -> Iterator[FuzzedProgram]:
    """Give an engine in its box; ``translate``: the table of its words, "" for none."""
    from harness.fuzzing.fuzzed_engine import FuzzedProgram, launchers

    needed = view.paths_of(words[0]) if arguments.engine_python else []
    options = _options(arguments, (str(room / BOARDS), *needed))
    command_properties = arguments.specification.commands if arguments.specification else STANDARD
    with (
        launchers(options, room) as launcher,
        contextlib.closing(
            FuzzedProgram(
                words,
                launcher,
                options.limits,
                room,
                command_properties,
                arguments.spoken,
                sessions_of(translate),
            )
        ) as program,
    ):
        yield program


def _by_engine(arguments: argparse.Namespace, program: FuzzedProgram, room: Path) -> Specification:
    """Return the specification by which the first engine of --against is right."""
    from harness.fuzzing import two_engines
    from harness.fuzzing.fuzzed_engine import board_sizes

    if arguments.declaration is None:
        with _open_engine(arguments, arguments.judging, room, "") as other:
            both = program, other
            taken = [board_sizes(one, two_engines.SIZES) for one in both]
            sizes = two_engines.common_sizes(*taken)
            common, slow = two_engines.find_common_commands(both, sizes[0])
        if slow:
            print(f"left out, because it takes too long: {', '.join(slow)}", flush=True)
        arguments.declaration = two_engines.standard(common, sizes)
    words, place = arguments.judging, Path.cwd()
    return two_engines.specify_for(
        words, arguments.declaration, place, arguments.sandbox, arguments.timeout
    )


def _options(arguments: argparse.Namespace, folders: Sequence[str]) -> Options:
    limits = (Limits() if arguments.sandbox == "off" else UNTRUSTED)._replace(
        timeout=arguments.timeout
    )
    return Options(
        limits=limits,
        sandbox=arguments.sandbox,
        box=engine_options.box_limits(arguments),
        show=engine_options.visible_paths(
            arguments.program, arguments.sandbox, (*arguments.show, *folders)
        ),
    )


def _look(
    arguments: argparse.Namespace,
    fuzzer: Fuzzer,
    engines: _KnownEngines,
    results: list[tuple[FuzzFinding, Path]],
) -> bool:
    """Look for causes, and write and tell each as soon as it is found.

    ``engines``: the wrong engines that findings may be like. Returns whether it looked to the end:
    findings before a Ctrl-C count.
    """
    from harness.fuzzing import findings

    folder, judge = Path(arguments.output), fuzzer.judge
    try:
        for new in fuzzer.findings():
            finding = new._replace(engines=engines.like(new))
            folder.mkdir(parents=True, exist_ok=True)
            path = findings.write(folder, len(results) + 1, finding, judge, arguments.protocol)
            results.append((finding, path))
            print(_describe(finding, path), flush=True)
            if len(results) == arguments.findings:
                break
    except KeyboardInterrupt:
        return False
    return True


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    count = whole(0, "a whole number, 0 for no limit")
    add("program", nargs="?", metavar="PROGRAM", help="the engine's command, as in a shell")
    add("--assignment", metavar="A", help="the assignment that PROGRAM is for, by name or folder")
    add("--against", metavar="PROGRAM", action="append", default=[],
        help="another engine, which says what is right if nobody else does; else, where it answers"
        " as PROGRAM does, a finding is a question to the teacher; may be repeated")  # fmt: skip
    add("--from", dest="go_on", metavar="FILE", action="append", default=[],
        help="a case file whose positions are used, too, beside the assignment's public ones; may"
        " be repeated")  # fmt: skip
    add("--bank", action="append", default=[], metavar="BANK",
        help="a folder of wrong engines (gtp-harness bank), which findings are compared with; may"
        " be repeated")  # fmt: skip
    add("--translate", metavar="FILE", default="",
        help="TOML table of words that PROGRAM uses for others (default: the"
        " assignment's)")  # fmt: skip
    add("--seconds", type=number(0, "seconds, 0 for no limit"), default=_SECONDS, metavar="S",
        help="how long to search, in seconds (default: %(default)g; 0: no limit)")  # fmt: skip
    add("--examples", type=count, default=0, metavar="N",
        help="number of conversations to draw (default: no limit)")  # fmt: skip
    add("--findings", type=count, default=0, metavar="N",
        help="stop after N causes (default: no limit)")  # fmt: skip
    add("--seed", type=whole(0, "a whole number"), default=0, metavar="N",
        help="random seed; it alone decides the draws (default: %(default)s)")  # fmt: skip
    add("--output", default="fuzz-findings", metavar="DIR",
        help="folder for case files; created if it does not exist (default:"
        " %(default)s)")  # fmt: skip
    add("--json", metavar="FILE", help="write all findings as JSON")
    add("--timeout", type=number(0.1, "seconds"), default=TRIED_TIMEOUT, metavar="S",
        help="seconds without a reply that count as a hang (default: %(default)g)")  # fmt: skip
    add("--python", metavar="PATH", default="",
        help="the Python of a PROGRAM that begins with python3 (default: the"
        " system's)")  # fmt: skip
    engine_options.add_options(parser)
    parser.set_defaults(sandbox="auto", engine=[], mutants=0)


def _describe(finding: FuzzFinding, path: Path) -> str:
    """Return the lines that tell of a finding as soon as there is one."""
    found = finding.difference
    question = "a question, for the other engines answer the same: " if finding.is_question else ""
    lines = [
        f"{path}: {question}{one_line(found.command, 60)}: {found.kind}",
        f"  right: {one_line(found.right, 80)}",
        f"  found: {one_line(found.got, 80)}",
    ]
    if finding.mistakes:
        first, *others = finding.mistakes
        more = f" (or {', '.join(one.name for one in others)})" if others else ""
        lines.append(f"  {first.name}: {first.sentence}{more}")
    lines += [f"  like {one.name}: {one.sentence}" for one in finding.engines]
    return "\n".join(lines)


def _summary(fuzzer: Fuzzer, findings: list[tuple[FuzzFinding, Path]]) -> Iterator[str]:
    """Yield the table of all findings and of the work done to get them."""
    if findings:
        yield f"\n{'seconds':>8}{'setup':>7}{'shown':>7}  finding"
    for finding, path in findings:
        shown = f"{finding.shown}/{finding.tried}"
        cause = "".join(f"  {one.name}" for one in (*finding.mistakes, *finding.engines)[:1])
        yield f"{finding.seconds:8.1f}{finding.setup:7}{shown:>7}  {path.name}{cause}"
    budget, count = fuzzer.budget, len(_without_questions(findings))
    yield (
        f"\n{number_of(count, 'finding')} in {budget.examples:,}"
        f" {plural(budget.examples, 'conversation')} with {budget.commands:,} commands,"
        f" {budget.seconds:.1f} s"
    )
    if questions := len(findings) - count:
        yield (
            f"{number_of(questions, 'question')} to the teacher: the reference stands"
            " alone against engines that agree"
        )
    if fuzzer.asked:
        yield f"asked: {', '.join(f'{name} {count:,}' for name, count in fuzzer.asked.items())}"
    if not findings and (shortfall := fuzzer.shortfall):
        yield f"this says nothing about the engine: {shortfall}"
    for slow in fuzzer.slow:
        yield (
            f"{slow.name} takes {slow.seconds:.1f} s: asked {slow.asked:,}"
            f" {plural(slow.asked, 'time')}, left out {slow.left_out:,}"
        )
    if fuzzer.unconfirmed:
        yield f"{fuzzer.unconfirmed} more could not be reproduced in a new process"


# --- for programs ------------------------------------------------------------------------------


def _document(
    arguments: argparse.Namespace, fuzzer: Fuzzer, findings: list[tuple[FuzzFinding, Path]]
) -> str:
    """Return what ``fuzz`` found as JSON.

    The document is an object with these members::

        schema       "gtp-harness/fuzz", and version: 1
        program, python, assignment, against, seed (as given; null where they were not)
        examples     how many conversations were drawn, commands: how many were sent
        seconds      wall time
        asked        how often each question was asked whose answer is judged, by name
        shortfall    why nothing follows from no findings: too little was asked; "" otherwise
        unconfirmed  how many findings could not be seen again in a new process
        slow         [{name, seconds, asked, left_out}]: commands that were left out at times,
                     because each takes the engine so many seconds
        findings     in the order in which they were found:
          file       where the case file is
          command, kind, right, found: the command that was answered wrongly, and how
          script     all commands; files: what they name, by name
          setup_commands  how many of them come before the test
          shown      in how many of the (tried) new processes it was seen again
          mistakes   [{name, sentence}] that explain it, the likeliest first; engines: those of
                     --bank that go wrong in the same way
          seconds, examples  when it was found
          question   whether all programs of --against answer as the engine does
    """
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "program": arguments.program,
        "python": arguments.engine_python,
        "assignment": arguments.assignment,
        "against": arguments.against,
        "seed": arguments.seed,
        "examples": fuzzer.budget.examples,
        "commands": fuzzer.budget.commands,
        "seconds": round(fuzzer.budget.seconds, 3),
        "asked": fuzzer.asked,
        "shortfall": "" if findings else fuzzer.shortfall,
        "unconfirmed": fuzzer.unconfirmed,
        "slow": [one._asdict() | {"seconds": round(one.seconds, 3)} for one in fuzzer.slow],
        "findings": [_entry(finding, path) for finding, path in findings],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _entry(finding: FuzzFinding, path: Path) -> dict[str, object]:
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
        "engines": [{"name": one.name, "sentence": one.sentence} for one in finding.engines],
        "seconds": round(finding.seconds, 3),
        "examples": finding.examples,
        "question": finding.is_question,
    }


FUZZ = Command("fuzz", _PAGE, _add_options, _run)


# --- The engines of a bank that go wrong as the fuzzed engine does: findings are tried on them ---


class _KnownEngines:
    """The wrong engines that somebody knows already."""

    def __init__(self, engines: Sequence[WrongEngine], asker: EngineAsker, fuzzer: Fuzzer) -> None:
        self._engines = engines
        self._asker = asker
        self._fuzzer = fuzzer

    def like(self, finding: FuzzFinding) -> tuple[WrongEngine, ...]:
        """Return the engines that answer the last command of a finding as wrongly."""
        script, found = finding.script, []
        for engine in self._engines:
            folder = self._fuzzer.judge.folder
            text = "\n".join(script.commands)
            case = casefile.parse(f"{text}\n".encode(), str(folder / "finding.gtp"))
            lay_files(script, folder)
            (result,) = self._asker.results([case], engine)
            # What it answered until it broke; a new one may have gone on.
            failure = next(iter(result.failures), None)
            end = len(script.commands) if failure is None else failure.step or 0
            replies = takewhile(lambda one: one is not None, result.replies[:end])
            trace = Trace(script, tuple(one for one in replies if one), failure)
            if self._fuzzer.shows(trace, finding.difference):
                found.append(engine)
        return tuple(found)


@contextlib.contextmanager
def _known_engines(
    arguments: argparse.Namespace, assignment: Assignment | None, fuzzer: Fuzzer
) -> Iterator[_KnownEngines]:
    """Give the engines of the banks that the command line names, and those of the assignment."""
    asker = EngineAsker(
        fuzzer.judge.specification.commands, arguments.sandbox, protocol=arguments.protocol
    )
    with (
        wrong_engines(arguments, assignment)
        if assignment
        else contextlib.nullcontext(()) as engines
    ):
        yield _KnownEngines(engines, asker, fuzzer)
