"""``gtp-harness run``: the command line of a run, and what is written while and after it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

from harness.cli import commandline, engine_options, status_of, version
from harness.cli.console import Console
from harness.core.errors import ExitCode, ReportError, UsageError
from harness.core.options import GTP, Options
from harness.core.records import CaseFile, FileResult, Outcome, Repeat, RunResult, Verdict
from harness.core.text import escape_controls
from harness.engine.launch import with_seed
from harness.reading.dialect import Compatible, GnuGo, find_dialect
from harness.reading.suite import gather, is_case_like
from harness.report import report_files, reporters
from harness.report.file_view import FileView, view
from harness.report.report_files import STDOUT
from harness.report.tally import exit_code, summary, tally
from harness.running.runs import Interrupted, run_gathered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from harness.history.records import RunKept
    from harness.report.baseline import Comparison
    from harness.vocabulary import BoardKind

_PAGE = """\
usage: gtp-harness run [OPTION…] PROGRAM TEST…

Run case files against PROGRAM, an engine that speaks the Go Text Protocol (or
another --protocol), and judge its replies. PROGRAM is one argument, split into
words as a shell does. TEST is a .gtp or .tst file (or .txt, of another
protocol), a folder of them, @FILE, a list of such names, or @NAME, cases that
ship, such as @go-scoring (gtp-harness cases lists them). Each file gets a fresh
engine, started in the file's folder. If common mistakes (gtp-oracle gtp --mistake
list) explain the failures, the end of the report names them.

[options]

Exit status:
    0  no test failed unexpectedly
    1  at least one test did (with --baseline: a test broke that passed before)
    2  an engine crashed, hung or could not start, or the input was bad
    3  the harness itself failed, or could not write; the engine is not to blame
  130  interrupted with Ctrl-C
  141  the reader of standard output has gone; the reports are still written

Examples:
  gtp-harness run "gnugo --mode gtp" reading.tst
  gtp-harness run --output report --jobs 4 "./engine -x 'a b'" cases/
  gtp-harness run --json now.json --baseline before.json ./engine @all
  gtp-harness run -long ./engine @suite | grep FAILED"""


def _remark(option: str, words: list[str], first: int) -> str:
    from harness.cli import hints

    return hints.of_option(option, words, first)


class _CommandRun:
    """One run from its command line: what is asked for is read and tried before it begins."""

    def __init__(self, arguments: Namespace, plain: commandline.Plain) -> None:
        self.given = arguments
        program, *tests = arguments.arguments
        self.program = with_seed(program)
        self.repeat = repeat(plain, arguments, self.program)
        if is_case_like(self.program) and (
            os.path.isdir(self.program) or not os.access(self.program, os.X_OK)
        ):
            from harness.cli import hints

            hints.refuse_swapped(self.program, tests)
        if arguments.compatible:
            if arguments.dialect == GnuGo.name:
                raise UsageError("--compatible: found --dialect gnugo, expected gogui-regress's")
            arguments.dialect = Compatible.name
        self.dialect = find_dialect(arguments.dialect)
        self.options = read_options(arguments)
        chosen = arguments.only, arguments.ids, arguments.lines
        self.found = gather(
            tests,
            self.dialect,
            *chosen,
            protocol=arguments.protocol,
            gtpfile=arguments.gtpfile,
        )
        if self.found.errors:
            from harness.cli import hints

            hints.refuse_unquoted(self.program, tests)
        self.former: dict[str, Any] | None = None
        if arguments.baseline is not None:
            from harness.report import json

            self.former = json.load(arguments.baseline)
        self.faults: list[str] = []  # of our own
        self.kind: BoardKind | None = None  # how boards are drawn; None: as the commands tell
        if arguments.game != "auto":  # the games take longer to load than a file to run
            from harness.vocabulary import GO, GOMOKU

            self.kind = {"go": GO, "gomoku": GOMOKU}[arguments.game]
        if arguments.history in STDOUT:
            raise UsageError(f"--history: found {arguments.history}, expected a file")
        outputs: dict[str, str] = {}
        self.reports = report_places(arguments, reporters.REPORTERS, outputs)
        if arguments.history:
            _try_file("--history", arguments.history, outputs)
        self.views: list[FileView] = []
        self.entered: RunKept | None = None  # in the history
        if arguments.history and self.found.cases:
            from harness.history import history_file

            run = history_file.begin_run(program, vars(arguments))
            self.entered = run._replace(number=history_file.enter(arguments.history, run))
        aside = any(path in STDOUT for path in self.reports.values())
        self.console = Console(self.found.named, arguments, aside=aside, repeat=self.repeat)

    def main(self) -> int:
        """Run, report, and return the exit status; after a Ctrl-C, of what was found before."""
        console = self.console
        progress, on_test = console.on_progress, self._on_test if console.lines else None
        try:
            result = run_gathered(
                self.program, self.found, self.options, progress, self._on_file, on_test=on_test
            )
        except Interrupted as interrupted:
            result = interrupted.result
            for file in result.files[len(self.views) :]:
                self._on_file(file, is_cut=True)
        finally:
            console.close()
        status = ExitCode.FAULT if self._is_useless else self._report(result)
        return status_of(console.lost) if console.lost else status

    @property
    def _is_useless(self) -> bool:
        """Whether results reach nobody: no output is left, and no report is requested."""
        return self.console.lost is not None and not (self.reports or self.entered)

    def _report(self, result: RunResult) -> int:
        """Write all reports; return the exit status."""
        console = self.console
        result = result._replace(faults=(*result.faults, *self.faults), repeat=self.repeat)
        if exit_code(result) in (ExitCode.FAILED, ExitCode.BROKEN):  # else it costs nothing
            from harness.judging.diagnosis import diagnoses

            result = result._replace(diagnoses=diagnoses(result.files))
        comparison: Comparison | None = None
        if self.former is not None:
            from harness.report import baseline

            comparison = baseline.compare(self.former, result)
        finished = reporters.Finished(result, self.views, comparison)
        written = [
            self._write(one.option, path, partial(one.write, path, finished))
            for one, path in self.reports.items()
        ]
        if self.entered:
            keep = partial(self._keep, result)
            written.append(self._write("--history", self.given.history, keep))
        if console.lines:
            for file in result.files:
                for failure in file.failures:
                    console.complain(f"{file.case.path}: {failure.message}")
        console.say_aside(summary(result, [shown.tally for shown in self.views], console.paint))
        status = exit_code(result, needs_answers=self.dialect.needs_answers)
        if status in (ExitCode.FAILED, ExitCode.BROKEN):
            from harness.cli import hints

            for sentence in tuple(hints.of_run(result)):
                console.say_aside(escape_controls(f"gtp-harness: {sentence}"))
        if comparison is not None:
            console.comparison(comparison)
            status = ExitCode.INTERRUPTED if result.unfinished else comparison.exit_code
        return status if all(written) else max(status, ExitCode.FAULT)

    def _on_test(self, case: CaseFile, outcome: Outcome) -> None:
        self.console.on_test(case, outcome)
        if self._is_useless:
            raise KeyboardInterrupt

    def _on_file(self, file: FileResult, *, is_cut: bool = False) -> None:
        """Show a file; ``is_cut``: it need not have begun when all was broken off."""
        try:
            shown = view(file, self.kind)
        except Exception as error:  # noqa: BLE001 - it costs the boards: the verdicts are known
            self.faults.append(f"{file.case.path}: no boards: {type(error).__name__}: {error}")
            shown = FileView(file, tally(file), (), {})
        self.views.append(shown)
        if not is_cut or any(one.verdict is not Verdict.NOT_RUN for one in file.outcomes):
            self.console.on_file(shown)
        if self._is_useless and not is_cut:
            raise KeyboardInterrupt

    def _write(self, option: str, path: str, write: Callable[[], None]) -> bool:
        """Write a report; return whether it was written. If not, say why."""
        try:
            write()
        except ReportError as error:
            if path in report_files.STDOUT and isinstance(error.__cause__, OSError):
                self.console.lose(sys.stdout, error.__cause__)
            else:
                self.console.complain(str(error))
        except Exception as error:  # noqa: BLE001 - a fault of ours, reported as one
            why = f"{type(error).__name__}: {error}"
            self.console.complain(f"the harness itself failed at {option} {path}: {why}")
        else:
            return True
        return False

    def _keep(self, result: RunResult) -> None:
        from harness.history import history_file

        assert self.entered
        history_file.complete(self.given.history, history_file.finish_run(self.entered, result))


# --- the command line --------------------------------------------------------------------------


def add_options(parser: commandline.Plain | ArgumentParser) -> None:
    """Add all options of its command line."""
    title = "options of gogui-regress (also with a single dash)"
    add = parser.add_argument_group(title).add_argument
    _add_reports(add, is_gogui=True)
    add("--long", "-long", action="store_true", help="a line for each test, as GNU Go's eval.sh")
    add("--verbose", "-verbose", action="store_true", help="the GTP stream on standard error")
    add("--gtpfile", "-gtpfile", metavar="FILE", help="commands to send before each test file")
    add("--config", "-config", metavar="FILE", help="more options and arguments, in a file")
    add("--version", "-version", action="store_true", help="print the version and exit")
    add("--help", "-help", "-h", action="store_true", help="print this help and exit")
    add = parser.add_argument_group("the engine").add_argument
    engine_options.add_limits(add)
    add("--protocol", type=commandline.protocol, default=GTP, metavar="NAME",
        help="protocol of the engine: gtp, or 'status last', replies that end with a line such as"
        " = 1 (default: %(default)s)")  # fmt: skip
    add("--translate", metavar="FILE", default="",
        help="TOML table of words that the engine uses for those of the case files")  # fmt: skip
    add("--restart", action="store_true",
        help="after an engine failure, start the engine again at the file's next new"
        " board")  # fmt: skip
    add("--lockstep", action="store_true",
        help="wait for each reply before sending the next command")  # fmt: skip
    add("--pty", action="store_true", help="let the engine write to a terminal (pty)")
    add = parser.add_argument_group("what to run and how to judge it").add_argument
    add("--jobs", type=commandline.whole(1), default=0, metavar="N",
        help="case files run at a time (default: the number of cores)")  # fmt: skip
    add("--only", metavar="PATTERN",
        help="only tests whose command has a match of this regular expression")  # fmt: skip
    add("--ids", metavar="IDS", help="only tests with these IDs, such as 10,20-29")
    add("--lines", metavar="LINES", help="only tests in these lines of the file, such as 12,20-29")
    add("--rerun", type=commandline.whole(0), default=Options().rerun, metavar="N",
        help="run everything N more times; verdicts that change are flaky")  # fmt: skip
    add("--fail-fast", action="store_true", help="stop at the first unexpected failure")
    commandline.add_shared(add, "--dialect")
    add("--compatible", action="store_true",
        help="exit with gogui-regress's own status: 0 also if nothing is tested, or if only tests"
        " without a pattern failed; a pattern is not looked at before the command is"
        " answered")  # fmt: skip
    add("--game", choices=("auto", "go", "gomoku"), default="auto",
        help="whether drawn boards have captures (default: as the commands show)")  # fmt: skip
    engine_options.add_options(parser)
    add = parser.add_argument_group("output").add_argument
    _add_reports(add, is_gogui=False)
    add("--baseline", metavar="FILE", help="compare with the --json of an earlier run")
    add("--history", metavar="FILE", help="add the run to this file, for gtp-harness history")
    add("--report", action="store_true",
        help="results with boards and a summary, even when not on a terminal")  # fmt: skip
    add("--plain", action="store_true", help="gogui-regress's lines, even on a terminal")
    commandline.add_shared(add, "--ascii", "--no-color")


def _add_reports(add: Callable[..., object], *, is_gogui: bool) -> None:
    """Add the options of reports: of those that gogui-regress has too, or of the others."""
    for one in reporters.REPORTERS:
        if one.is_gogui is is_gogui:
            flags = (one.option, one.option[1:]) if is_gogui else (one.option,)
            add(*flags, metavar=one.metavar, help=one.what)


def read_options(arguments: Namespace) -> Options:
    """Return the options of a run from its command line."""
    show = engine_options.visible_paths(arguments.arguments[0], arguments.sandbox, arguments.show)
    # Worked out above, or not the user's.
    excluded = {"limits", "box", "show", "strict", "submission", "folder", "python", "most_hung"}
    return Options(
        limits=engine_options.read_limits(arguments),
        box=engine_options.box_limits(arguments),
        show=show,
        **{name: getattr(arguments, name) for name in Options._fields if name not in excluded},
    )


def report_places(
    arguments: Namespace, formats: Sequence[reporters.Reporter], outputs: dict[str, str]
) -> dict[reporters.Reporter, str]:
    """Return the path of each requested report, all of which can be written.

    ``outputs``: options by the files that they write; those of the reports are added.

    Raises:
        UsageError: a report cannot be written, or two options would write one file.
    """
    paths = {one: getattr(arguments, one.attribute) for one in formats}
    places = {one: path for one, path in paths.items() if path}
    for one, path in places.items():
        if one.is_folder:
            if path in STDOUT:
                raise UsageError(f"{one.option}: found {path}, expected a folder for many files")
            report_files.try_to_write_into(path)
        else:
            _try_file(one.option, path, outputs)
    return places


def _try_file(option: str, path: str, outputs: dict[str, str]) -> None:
    """Raise UsageError if a file cannot be written; add it to the ``outputs`` of other options."""
    report_files.try_to_write(path)
    real = STDOUT[0] if path in STDOUT else os.path.realpath(path)
    if other := None if real == os.devnull else outputs.get(real):
        raise UsageError(f"{other} and {option} would both be written to {path}")
    outputs[real] = option


# --- the command line that repeats tests of a run -----------------------------------------------

# Options for the engine, its protocol and the judgement; all others are for one run.
_KEPT = {"gtpfile", "protocol", "translate", "restart", "lockstep", "pty", "dialect", "compatible",
         "game", "sandbox", "show", "timeout", "startup", "file", "quit"}  # fmt: skip


def repeat(plain: commandline.Plain, arguments: Namespace, program: str) -> Repeat:
    """Return how tests are repeated.

    ``plain``: all options of the command. ``program``: as typed, but with the seed drawn.
    """
    words = ["gtp-harness", "run"]
    for option in plain.options:
        value = getattr(arguments, option.name, None)
        if value == option.default or not (option.name in _KEPT or option.name[:4] == "max_"):
            continue
        if value is True:
            words.append(option.flag)
            continue
        for one in value if isinstance(value, list) else [value]:
            words.append(f"{option.flag}={f'{one:g}' if isinstance(one, float) else one}")
    start = " ".join(map(reporters.shell_word, [*words, program]))
    return Repeat(start, find_dialect(arguments.dialect).settles_late)


class _RunCommand(commandline.Command):
    """``gtp-harness run``, which reads a plain command line without argparse."""

    def main(self, words: list[str]) -> int:
        if {"--version", "-version"} & set(words):
            print(version())
            return ExitCode.OK
        words, plain = commandline.with_config(words), commandline.Plain()
        add_options(plain)
        given = plain.read(words) or self.parser().read(words, _remark)
        if given is None:
            return ExitCode.OK
        if len(given.arguments) < 2:
            self.refuse("give PROGRAM and at least one TEST")
        # The records of a large run are many and hold no cycles: looking for some is a waste.
        gc.disable()
        return _CommandRun(given, plain).main()


def _add_all(parser: ArgumentParser) -> None:
    import argparse

    parser.add_argument("arguments", nargs="*", metavar="PROGRAM TEST", help=argparse.SUPPRESS)
    add_options(parser)


RUN = _RunCommand("run", _PAGE, _add_all)
