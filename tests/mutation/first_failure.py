"""A plugin of pytest: writes the id of the first test that fails, or file that does not load."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PLACE = "MUTATION_FIRST_FAILURE"  # names the file that is written


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _tell(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _tell(report.nodeid)


def _tell(failed: str) -> None:
    place = Path(os.environ[PLACE])
    if not place.exists():
        place.write_text(failed, encoding="utf-8")
