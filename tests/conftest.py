"""What all tests share: real programs from Debian, and no skip unnoticed.

A test that needs a program takes its fixture (``gnugo``, ``chromium`` …). On a machine without it
the test is reported by name as skipped; with ``GTP_HARNESS_NO_SKIPS=1`` (continuous integration
sets it) a run with any skip fails.

Whatever signals are ignored or blocked where the tests are started (``nohup … &``), the tests and
what they start begin with the default ones; and a test that fails ends the processes it started.

Programs are tested as they are where they are installed: compiled. Else each of thousands of
processes would compile what it imports.

Hypothesis draws anew in every run, except in continuous integration: there the same examples each
time, so that what fails is the change and not the luck.
"""

import contextlib
import gc
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sgfmill
from hypothesis import HealthCheck, settings

import harness
import oracle
from harness.engine import launch

pytest_plugins = ["tests.forks", "tests.tiers", "tests.progress", "tests.postgresql", "tests.warm"]

ROOT = Path(__file__).parents[1]

# Some machines say so for all programs; then nothing that a test starts finds anything compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# On a busy machine, too: how long an example takes, or to draw it, says nothing.
_BUSY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("busy", _BUSY)
settings.register_profile("alike", _BUSY, derandomize=True)
settings.load_profile("alike" if os.environ.get("GTP_HARNESS_NO_SKIPS") else "busy")

for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
    if signal.getsignal(_number) is signal.SIG_IGN:
        is_int = _number == signal.SIGINT
        signal.signal(_number, signal.default_int_handler if is_int else signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())


# What a user who may not write imports, or ``python -B``, would be compiled again and again.
_COMPILED = [Path(package.__file__).parent for package in (harness, oracle, sgfmill)]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while tests are collected, go over none of them again, and seldom at all.

    What is loaded and collected stays to the end: a million objects, looked through in vain.
    Meanwhile another process compiles all that tests start.
    """
    # Of what others made, sgfmill warns when it is compiled; a warning is an error in a test.
    words = [sys.executable, "-W", "ignore", "-m", "compileall", "-qq"]
    compiling = subprocess.Popen([*words, *map(str, _COMPILED), str(ROOT / "tests/harness")])
    gc.disable()
    try:
        return (yield)
    finally:
        compiling.wait()
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


# Pyenv's python3 is a script: it takes longer to find the real one than most engines take at all.
if Path(shutil.which("python3") or "").parent.name == "shims":
    os.environ["PATH"] = os.pathsep.join([f"{sys.base_prefix}/bin", os.environ["PATH"]])

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
    """Return Debian's headless Chromium: it takes half the processor time of the full browser."""
    return program("chromium-headless-shell")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[object]:
    """Debian's Chromium, once for all tests of a module, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def gawk() -> str:
    return program("gawk")


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


_FOLDERS = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for one test.

    For each one pytest would look at the names of all folders there are, and renew a link: with
    thousands of them ten times the work of making it.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}{next(_FOLDERS)}", numbered=False)


@contextlib.contextmanager
def open_folder(above: str | None = None) -> Iterator[Path]:
    """Make a folder that engines of any user may enter, which pytest's own are not.

    Without namespaces nothing can be mounted for root's engines, which run without rights.
    ``above``: where it is made; None: where temporary files are.
    """
    with tempfile.TemporaryDirectory(prefix="gtp-harness-open-", dir=above) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that engines of any user may enter."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def open_places() -> Iterator[Path]:
    """A folder for the tests of a module that engines of any user may enter."""
    with open_folder() as folder:
        yield folder


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Note that a test has failed, in this run of it."""
    report = yield
    if report.failed or report.when == "setup":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture(autouse=True)
def _end_what_a_failed_test_started(request: pytest.FixtureRequest):
    """A process that nobody ends computes on for ever, and the tests after it are slow."""
    from tests import postgresql

    before = set(launch.children())
    yield
    if request.node.stash.get(_FAILED, False):
        for pid in set(launch.children()) - before - postgresql.KEPT:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module", autouse=True)
def _end_references() -> Iterator[None]:
    """A command ends with what it asked; a process with the tests of many modules lives on."""
    yield
    if asked := sys.modules.get("harness.declared.reference"):
        asked.end_processes()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a test was skipped, where that is not allowed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("GTP_HARNESS_NO_SKIPS"):
        return
    if reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
