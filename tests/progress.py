"""``pytest --progress``: a line that a person understands, now and then, instead of dots.

How many tests have run, of how many, and how long that took; a failure is named as soon as it is
there. On a terminal the line is renewed in its place.
"""

from __future__ import annotations

import time

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--progress", action="store_true", help="tell progress in words")


@pytest.hookimpl(trylast=True)  # when there is what writes to the terminal
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if config.getoption("progress") and reporter and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(reporter), "progress")


def in_minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """Counts the tests that have run, and writes about them."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter
        self._reporter.showfspath = False
        self._pause = 0.5 if reporter.isatty else 10.0
        self._begun = self._told = time.monotonic()
        self._most = self._done = self._failed = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._begin(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        if not self._most:
            self._begin(len(ids))

    def _begin(self, most: int) -> None:
        self._most, self._begun = most, time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Give what has happened no letter of its own."""
        if hasattr(report, "wasxfail"):
            return None
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        if report.skipped:
            return "skipped", "", "SKIPPED"
        return ("passed" if report.when == "call" else ""), "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._done += report.when == "teardown"
        if report.failed:
            self._failed += 1
            self._write(f"FAILED {report.nodeid}", stays=True)
        now = time.monotonic()
        if now - self._told >= self._pause:
            self._told = now
            self._write(self.line(now - self._begun), stays=not self._reporter.isatty)

    def line(self, seconds: float) -> str:
        """Return how far the run is."""
        found = f"{self._done:,} of {self._most:,} tests in {in_minutes(seconds)}"
        return f"{found}, {self._failed} FAILED" if self._failed else found

    def _write(self, text: str, *, stays: bool) -> None:
        if self._reporter.isatty:
            self._reporter.rewrite(text, erase=True)
        if stays:
            self._reporter.write_line("" if self._reporter.isatty else text)
