"""What all tests share: real programs from Debian, and no skip unnoticed.

A test that needs a program takes its fixture (``gnugo``, ``chromium`` …). On a machine without it
the test is reported by name as skipped; with ``GTP_HARNESS_NO_SKIPS=1`` (continuous integration
sets it) a run with any skip fails.

Hypothesis draws anew in every run, but for continuous integration: there the same examples each
time, so that what fails is the change and not the luck.
"""

import os
import shutil

import pytest
from hypothesis import settings

settings.register_profile("alike", derandomize=True, deadline=None)  # on a busy machine, too
if os.environ.get("GTP_HARNESS_NO_SKIPS"):
    settings.load_profile("alike")

# Debian puts gnugo into /usr/games, which is not on root's PATH.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games", "/usr/sbin"])


def program(name: str) -> str:
    """Return the path of an installed program, or skip the test that asks."""
    path = shutil.which(name, path=SEARCH_PATH)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.fixture(scope="session")
def gnugo() -> str:
    return program("gnugo")


@pytest.fixture(scope="session")
def chromium() -> str:
    return program("chromium")


@pytest.fixture(scope="session")
def cc() -> str:
    return program("cc")


@pytest.fixture(scope="session")
def bwrap() -> str:
    return program("bwrap")


@pytest.fixture(scope="session")
def c_tools(cc: str) -> str:
    """What builds a C program: the compiler, make and CMake."""
    program("make")
    program("cmake")
    return cc


@pytest.fixture(scope="session")
def java() -> str:
    """What builds and runs a Java program."""
    program("javac")
    return program("java")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a test was skipped, where that is not allowed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("GTP_HARNESS_NO_SKIPS"):
        return
    if reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
