"""``gtp-harness fuzz``: look for commands that an engine answers wrongly."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from harness import find_assignment, fuzzing, read_case_file
from harness.assignments import needs
from harness.assignments.assignment import specification_of
from harness.banks.banks import EngineAsker, WrongEngine
from harness.cli import engine_options
from harness.cli.bank import wrong_engines
from harness.cli.commandline import Command, add_shared, count_limit, number, time_limit
from harness.core import file_system
from harness.core.errors import ExitCode, UsageError
from harness.core.options import GTP, TRIED_TIMEOUT, UNTRUSTED, Limits, Options
from harness.core.text import number_of, one_line, plural
from harness.engine.launch import as_typed, split_program, with_seed
from harness.engine.protocols import find_protocol
from harness.engine.translation import sessions_of
from harness.reading import casefile
from harness.report import report_files
from harness.sandbox import view
from harness.vocabulary.script import BOARDS, Trace, lay_files
from oracle.command_properties import STANDARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.fuzzing.findings import FuzzFinding
    from harness.fuzzing.fuzzed_engine import FuzzedProgram
    from harness.fuzzing.fuzzer import Fuzzer
    from harness.judging.strength import KnownWrong
    from harness.specifications.record import Specification

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
engine that gives the same replies gets the same findings. Slow questions and moves
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
    return _FuzzCommand(arguments).run()


class _FuzzCommand:
    """One call of the command: who judges, in which words, and how engines are started."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._given = arguments
        self.engine_python = ""  # in words; "" if the engine is not started by Python
        own = find_assignment(arguments.assignment) if arguments.assignment else None
        self._assignment, self._protocol = own, own.protocol if own else GTP
        self._translate = arguments.translate or (own.translate if own else "")
        self._declaration = own.declaration if own else None
        self._witnesses = [self._words(one) for one in arguments.against]
        self._judging: list[str] = []  # the words of the engine that is right
        self._specification: Specification | None = None
        declared = self._declaration
        if own and not (arguments.against and declared and declared.reference is None):
            self._specification = specification_of(own)
        else:
            self._judging = self._witnesses.pop(0)
        paths = [*arguments.go_on, *map(str, own.public_cases() if own else ())]
        read = (read_case_file(path) for path in paths)
        self._openings = [tuple(step.command for step in one.steps) for one in read if one.steps]
        report_files.try_to_write(arguments.json)

    def run(self) -> int:
        """Look for causes, write and tell each as soon as it is found; return the exit status."""
        from harness.fuzzing.findings import write

        given = self._given
        findings: list[tuple[FuzzFinding, Path]] = []
        is_over = True
        with (
            self._open_fuzzer() as fuzzer,
            wrong_engines(given, self._assignment)
            if self._assignment
            else contextlib.nullcontext(()) as engines,
        ):
            asker = EngineAsker(
                fuzzer.judge.specification.commands, given.sandbox, protocol=self._protocol
            )
            try:
                for new in fuzzer.findings():
                    finding = new._replace(engines=_find_alike(new, engines, asker, fuzzer))
                    folder = Path(given.output)
                    folder.mkdir(parents=True, exist_ok=True)
                    number = len(findings) + 1
                    path = write(folder, number, finding, fuzzer.judge, self._protocol)
                    findings.append((finding, path))
                    print(_describe(finding, path), flush=True)
                    if number == given.findings:
                        break
            except KeyboardInterrupt:  # findings before it count
                is_over = False
        print("\n".join(_summary(fuzzer, findings)))
        if self.engine_python:
            print(f"the engine was run by {self.engine_python}")
        if given.json:
            document = _document(given, self.engine_python, fuzzer, findings)
            report_files.write_json(given.json, "gtp-harness/fuzz", document)
        if not is_over:
            return ExitCode.INTERRUPTED
        if findings:
            is_wrong = any(not one.is_question for one, _ in findings)
            return ExitCode.FAILED if is_wrong else ExitCode.OK
        return ExitCode.BROKEN if fuzzer.shortfall else ExitCode.OK

    def _words(self, command: str, python_named: str = "") -> list[str]:
        """Return the words of an engine's command, and note the Python that runs it."""
        words, told = needs.in_command(as_typed(split_program(with_seed(command))), python_named)
        self.engine_python = self.engine_python or told
        return words

    @contextlib.contextmanager
    def _open_fuzzer(self) -> Iterator[Fuzzer]:
        """Start a fuzzer in a folder of its own, with which everything of it goes."""
        from harness.fuzzing.by_reference import judge_of
        from harness.fuzzing.fuzzer import Fuzzer
        from harness.fuzzing.search import FuzzBudget

        given = self._given
        # Of a shown folder in which it starts, an engine has a copy, made at that moment: it would
        # never see the board files that later scripts need.
        shown = list(map(os.path.realpath, given.show))
        outside = (
            place
            for place in (tempfile.gettempdir(), *_TEMPORARY)
            if os.access(place, os.W_OK) and not view.is_in_one(os.path.realpath(place), shown)
        )
        if (folder := next(outside, None)) is None:
            raise UsageError(
                f"--show {given.show[0]} shows all folders for temporary files: show less"
            )
        with (
            tempfile.TemporaryDirectory(prefix="gtp-harness-", dir=folder) as name,
            contextlib.ExitStack() as stack,
        ):
            room = Path(name)
            room.chmod(0o755)  # an engine in a sandbox is another user, who finds board files here
            file_system.make_open(room / BOARDS)
            stack.enter_context(fuzzing.hypothesis_at_home_in(room))
            words = self._words(given.program, given.python)
            program = stack.enter_context(self._open_engine(words, room, self._translate))
            own = self._specification = self._specification or self._ask_engine(program, room)
            witnesses = [
                stack.enter_context(self._open_engine(one, room)) for one in self._witnesses
            ]
            budget = FuzzBudget(given.seconds, given.examples)
            judge = judge_of(own, room, self._openings)
            yield Fuzzer(program, judge, budget, given.seed, witnesses)

    @contextlib.contextmanager
    def _open_engine(
        self, words: list[str], room: Path, translate: str = ""
    ) -> Iterator[FuzzedProgram]:
        """Give an engine in its box; ``translate``: the table of its words, "" for none."""
        from harness.fuzzing.fuzzed_engine import FuzzedProgram, launchers

        given = self._given
        needed = view.paths_of(words[0]) if self.engine_python else ()
        shown = (*given.show, str(room / BOARDS), *needed)
        limits = Limits() if given.sandbox == "off" else UNTRUSTED
        options = Options(
            limits=limits._replace(timeout=given.timeout),
            sandbox=given.sandbox,
            box=engine_options.box_limits(given),
            show=engine_options.visible_paths(given.program, given.sandbox, shown),
        )
        commands = self._specification.commands if self._specification else STANDARD
        spoken, begin = find_protocol(self._protocol), sessions_of(translate)
        with (
            launchers(options, room) as launcher,
            contextlib.closing(
                FuzzedProgram(words, launcher, options.limits, room, commands, spoken, begin)
            ) as program,
        ):
            yield program

    def _ask_engine(self, program: FuzzedProgram, room: Path) -> Specification:
        """Return the specification by which the first engine of --against is right."""
        from harness.fuzzing import two_engines
        from harness.fuzzing.fuzzed_engine import board_sizes

        declaration = self._declaration
        if declaration is None:
            with self._open_engine(self._judging, room) as other:
                both = program, other
                taken = [board_sizes(one, two_engines.SIZES) for one in both]
                sizes = two_engines.common_sizes(*taken)
                common, slow = two_engines.find_common_commands(both, sizes[0])
            if slow:
                print(f"left out, because it takes too long: {', '.join(slow)}", flush=True)
            declaration = two_engines.standard(common, sizes)
        return two_engines.specify_for(
            self._judging, declaration, Path.cwd(), self._given.sandbox, self._given.timeout
        )


def _find_alike(
    finding: FuzzFinding, engines: Sequence[WrongEngine], asker: EngineAsker, fuzzer: Fuzzer
) -> tuple[WrongEngine, ...]:
    """Return the known wrong engines that answer the last command of a finding as wrongly."""
    script, found, folder = finding.script, [], fuzzer.judge.folder
    for engine in engines:
        text = "\n".join(script.commands)
        case = casefile.parse(f"{text}\n".encode(), str(folder / "finding.gtp"))
        lay_files(script, folder)
        (result,) = asker.results([case], engine)
        # What it answered until it broke; a new one may have gone on.
        failure = next(iter(result.failures), None)
        end = len(script.commands) if failure is None else failure.step or 0
        replies = takewhile(lambda one: one is not None, result.replies[:end])
        trace = Trace(script, tuple(one for one in replies if one), failure)
        if fuzzer.shows(trace, finding.difference):
            found.append(engine)
    return tuple(found)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
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
    add("--seconds", type=time_limit, default=_SECONDS, metavar="S",
        help="how long to search, in seconds (default: %(default)g; 0: no limit)")  # fmt: skip
    add("--examples", type=count_limit, default=0, metavar="N",
        help="number of conversations to draw (default: no limit)")  # fmt: skip
    add("--findings", type=count_limit, default=0, metavar="N",
        help="stop after N causes (default: no limit)")  # fmt: skip
    add_shared(add, "--seed")
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
    budget, count = fuzzer.budget, sum(not one.is_question for one, _ in findings)
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


def _document(
    given: argparse.Namespace, python: str, fuzzer: Fuzzer, found: list[tuple[FuzzFinding, Path]]
) -> dict[str, object]:
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
    return {
        "program": given.program,
        "python": python,
        "assignment": given.assignment,
        "against": given.against,
        "seed": given.seed,
        "examples": fuzzer.budget.examples,
        "commands": fuzzer.budget.commands,
        "seconds": round(fuzzer.budget.seconds, 3),
        "asked": fuzzer.asked,
        "shortfall": "" if found else fuzzer.shortfall,
        "unconfirmed": fuzzer.unconfirmed,
        "slow": [one._asdict() | {"seconds": round(one.seconds, 3)} for one in fuzzer.slow],
        "findings": [
            {
                "file": str(path),
                "command": finding.difference.command,
                "kind": finding.difference.kind,
                "right": finding.difference.right,
                "found": finding.difference.got,
                "script": finding.script.commands,
                "files": dict(finding.script.files),
                "setup_commands": finding.setup,
                "shown": finding.shown,
                "tried": finding.tried,
                "mistakes": [_name(one) for one in finding.mistakes],
                "engines": [_name(one) for one in finding.engines],
                "seconds": round(finding.seconds, 3),
                "examples": finding.examples,
                "question": finding.is_question,
            }
            for finding, path in found
        ],
    }


def _name(wrong: KnownWrong) -> dict[str, str]:
    return {"name": wrong.name, "sentence": wrong.sentence}


FUZZ = Command("fuzz", _PAGE, _add_options, _run)
