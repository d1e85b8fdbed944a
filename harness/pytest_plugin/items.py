"""Case files and their tests as pytest knows them. What is run and judged is a run's own.

A file's engine is run once, when the first of its tests is set up. What a test comes to:

* a wrong answer fails the test's *call*; expected to be wrong, it is an xfail;
* an engine that broke, an expectation that cannot be judged and a harness error are
  *errors*, in the setup of the tests that they leave without an answer, or, when there is none,
  in the tear-down of the file.
"""

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness import read_case_file
from harness.cli.engine_options import visible_paths
from harness.core.errors import CaseError, SandboxError, UsageError
from harness.core.options import GTP, Options, limits_of
from harness.core.records import CaseFile, Outcome, Verdict
from harness.core.text import escape_controls, one_line
from harness.engine.launch import split_program
from harness.reading.expectation import in_a_sentence
from harness.reading.suite import is_case_in_folder, narrow
from harness.report.file_view import FileView, view
from harness.report.junit import mismatch
from harness.report.paint import Paint
from harness.report.terminal_report import Terminal
from harness.running.runs import not_judged, run_cases


class UnexpectedReply(Exception):  # noqa: N818 - no error: an answer
    """A reply that is not the one expected. The text is the report; ``sentence`` is its sum."""

    def __init__(self, report: str, sentence: str) -> None:
        super().__init__(report)
        self.sentence = sentence


class GtpWarning(pytest.PytestWarning):
    """Something odd about a case file's run that costs no test."""


class Collecting:
    """The hooks of a session that has an engine."""

    def __init__(self, config: pytest.Config) -> None:
        try:
            split_program(config.option.gtp_engine)
        except UsageError as error:
            raise pytest.UsageError(f"--gtp-engine: {error}") from None

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> "CaseFileCollector | None":
        """Take case files; hidden ones only if they are named, as ``gtp-harness run`` does."""
        hidden = file_path.name.startswith(".") and not parent.session.isinitpath(file_path)
        has_answers = (parent.config.option.gtp_protocol or GTP) != GTP
        if hidden or not is_case_in_folder(str(file_path), has_answers=has_answers):
            return None
        return CaseFileCollector.from_parent(parent, path=file_path)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell each file which of its tests are left after ``-k``, ``--lf`` and the like."""
        for item in session.items:
            if isinstance(item, CaseTest):
                item.file.chosen.add(item.index)


def _harness_failed(message: str) -> NoReturn:
    pytest.fail(f"THE HARNESS FAILED, not the engine: {escape_controls(message)}", pytrace=False)


class CaseFileCollector(pytest.File):
    """A case file and, once a test of it is set up, what happened to it."""

    case: CaseFile

    def __init__(self, **node: Any) -> None:
        super().__init__(**node)
        self.chosen: set[int] = set()  # the steps that are tests of this session
        self.outcomes: dict[int, Outcome] = {}  # by step
        self._view: FileView | None = None
        self._told = False  # of the engine's failure

    def collect(self) -> "Iterator[CaseTest]":
        """Yield an item for each test, named by its id: ``10``, or ``10[line7]`` if it recurs."""
        dialect, home = self.config.option.gtp_dialect, self.config.invocation_params.dir
        path = self.path.relative_to(home) if self.path.is_relative_to(home) else self.path
        try:
            with self._at_home():
                self.case = read_case_file(str(path), dialect)
        except CaseError as error:
            raise self.CollectError(escape_controls(str(error))) from None
        tests = [(index, step) for index, step in enumerate(self.case.steps) if step.is_test]
        counts = Counter(step.id for _, step in tests)
        for index, step in tests:
            # Names differ; as with parametrized tests, file::10 selects all of id 10.
            name = f"line{step.line}" if step.id < 0 else str(step.id)
            if step.id >= 0 and counts[step.id] > 1:
                name += f"[line{step.line}]"
            yield CaseTest.from_parent(self, name=name, index=index)

    def setup(self) -> None:
        """Run the file, unless that is done."""
        if self._view is None:
            self._view = self._run()
            self.outcomes = {outcome.step: outcome for outcome in self._view.file.outcomes}
            for note in self.terminal.notes(self._view.file):
                self.warn(GtpWarning(note.strip()))

    def teardown(self) -> None:
        """Tell of an engine that broke when all tests had their answers."""
        if self._view is not None and self._view.file.failure and not self._told:
            pytest.fail(self.engine_failure(), pytrace=False)

    def _run(self) -> FileView:
        given, steps = self.config.option, self.case.steps
        limits = limits_of(given.gtp_sandbox)
        if given.gtp_timeout is not None:
            limits = limits._replace(timeout=given.gtp_timeout)
        table, home = given.gtp_translate, self.config.invocation_params.dir
        options = Options(
            dialect=given.gtp_dialect,
            protocol=given.gtp_protocol or GTP,
            translate=str(home / table) if table else "",
            jobs=1,
            limits=limits,
            sandbox=given.gtp_sandbox,
            show=visible_paths(given.gtp_engine, given.gtp_sandbox),
        )
        # Tests that share an id belong together: GNU Go's dialect judges them by the last reply.
        ids = {steps[index].id for index in self.chosen} - {-1}
        chosen = [
            step.is_test and (index in self.chosen or step.id in ids)
            for index, step in enumerate(steps)
        ]
        with self._at_home():
            try:
                result = run_cases(given.gtp_engine, [narrow(self.case, chosen)], options)
            except SandboxError as error:
                _harness_failed(str(error))
            if result.faults:
                _harness_failed(result.faults[0])
            return view(result.files[0])

    def _at_home(self) -> contextlib.AbstractContextManager[None]:
        """Be where pytest was called, wherever tests may have gone: names are relative to it."""
        return contextlib.chdir(self.config.invocation_params.dir)

    # --- for its tests ---

    @property
    def terminal(self) -> Terminal:
        """The report, as text: pytest has its own colors, and other plugins take none."""
        encoding = getattr(sys.__stdout__, "encoding", None) or ""
        return Terminal(Paint(False), unicode="utf" in encoding.lower(), patterns=True)

    def report(self, outcome: Outcome) -> str:
        """Return the difference and the board."""
        assert self._view is not None
        return self.terminal.result(self._view, outcome).rstrip()

    def engine_failure(self) -> str:
        """Return how the engine failed: in full the first time, then in a sentence."""
        assert self._view is not None
        file = self._view.file
        assert file.failure is not None, "a test is left out for no other reason"
        if self._told:
            return f"not run: {escape_controls(file.failure.message)}"
        self._told = True
        return "\n".join(self.terminal.failures(file)).rstrip()


class CaseTest(pytest.Item):
    """A test of a case file."""

    def __init__(self, *, index: int, parent: CaseFileCollector, **node: Any) -> None:
        super().__init__(parent=parent, **node)
        self.index = index
        self.file = parent
        self.step = parent.case.steps[index]
        self.extra_keyword_matches.add(self.step.command)
        pattern = self.step.pattern
        if pattern is not None and pattern.expected_fail:
            reason = one_line(f"expected not to answer {in_a_sentence(pattern)}")
            self.add_marker(pytest.mark.xfail(raises=UnexpectedReply, strict=False, reason=reason))

    def setup(self) -> None:
        """Make an error of a test that has no verdict."""
        verdict = self.file.outcomes[self.index].verdict
        if verdict is Verdict.NOT_RUN:
            pytest.fail(self.file.engine_failure(), pytrace=False)
        if verdict is Verdict.NOT_JUDGED:
            error = not_judged(self.file.case, self.step)
            pytest.fail(f"not judged: {escape_controls(str(error))}", pytrace=False)

    def runtest(self) -> None:
        """Raise what the verdict is for pytest; nothing is left to run."""
        outcome = self.file.outcomes[self.index]
        if outcome.verdict is Verdict.IGNORED:
            pytest.skip("ignored: the expectation ends in &")
        sentence = one_line(mismatch(self.step, outcome))
        if outcome.verdict is Verdict.EXPECTED_FAIL:
            pytest.xfail(sentence)  # does nothing under --runxfail
        if outcome.verdict in (Verdict.EXPECTED_FAIL, Verdict.FAILED):
            raise UnexpectedReply(self.file.report(outcome), sentence)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: object) -> object:  # type: ignore[override]
        """Show a wrong answer's report, and its sentence in pytest's short summary."""
        if not isinstance(excinfo.value, (UnexpectedReply, pytest.xfail.Exception)):
            return super().repr_failure(excinfo)
        shown = excinfo.getrepr(style="value")
        if shown.reprcrash is not None and isinstance(excinfo.value, UnexpectedReply):
            shown.reprcrash.message = excinfo.value.sentence
        return shown

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line from 0, and heading."""
        heading = f"{self.path.name}: {one_line(self.step.text, 60)}"
        return self.path, self.step.line - 1, heading
