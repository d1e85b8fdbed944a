"""``python -m tests.mutation.serving``: runs tests in forks of a process that is warm.

What others wrote is imported once; the project's own modules are imported by each fork, as they
are then. A request is a line of JSON (:class:`Request`), and so is its :class:`Answer`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.mutation import limiting
from tests.mutation.plugins import Measuring, Trial

_OWN = ("oracle", "harness", "tests")
# A first collection imports what most tests need.
_WARM = ("tests/harness", "tests/oracle")
_FINE = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
_ARGUMENTS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no"]


class Request(NamedTuple):
    """Tests to run.

    ``files``: of tests. ``tests``: ids in the order in which they run until one fails; None runs
    all of the tier and measures what they reach. ``tier``: "short" is the full one. ``cpu``,
    ``wall``: seconds.
    """

    files: list[str]
    tests: list[str] | None
    tier: str
    cpu: float
    wall: float


class Answer(NamedTuple):
    """``failed``: the id of the first test that fails, or file; ``hung``: at which test it was.

    ``cpu``: seconds. ``reached``: what :class:`~tests.mutation.plugins.Measuring` tells.
    """

    failed: str
    hung: str
    cpu: float
    reached: dict[str, object]


def main() -> None:
    """Answer each request on standard input."""
    limiting.adopt_orphans()
    limiting.use_own_mounts()
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        pytest.main([*_ARGUMENTS, "--co", *_WARM])
    for name in list(sys.modules):
        if name.partition(".")[0] in _OWN and not name.startswith("tests.mutation"):
            del sys.modules[name]
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(Request(**json.loads(line)))._asdict()), flush=True)


def _answer(request: Request) -> Answer:
    """Run tests in a fork, and end all that it leaves."""
    told = Path("told.json")
    told.unlink(missing_ok=True)
    before = _cpu()
    if (pid := os.fork()) == 0:
        _run(request, told)
    is_in_time = limiting.wait(pid, request.cpu, request.wall)
    limiting.end_children()
    said = json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
    failed = said.get("failed", "")
    hung = "" if is_in_time and said.get("ended") else said.get("current", "before any test")
    return Answer(failed, "" if failed else hung, _cpu() - before, said.get("reached", {}))


def _run(request: Request, told: Path) -> None:
    """Run tests; never return."""
    status = 1
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        plugin = Measuring(told) if request.tests is None else Trial(told, request.tests)
        tier = "full" if request.tier == "short" else request.tier
        words = [*_ARGUMENTS, f"--tier={tier}", *request.files]
        status = int(pytest.main(words, plugins=[plugin]))
        if status in _FINE:
            plugin.end()
    finally:
        os._exit(status)


def _cpu() -> float:
    """Return the seconds that ended children have computed, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
