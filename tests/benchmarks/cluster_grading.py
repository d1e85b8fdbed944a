"""A grading that tells what it took: ``python -m tests.benchmarks.cluster_grading FILE OPTION…``.

It is ``gtp-harness grade OPTION…``, and writes seconds into FILE as JSON: ``running`` of the
processor for doing the attempts, with ``ledger`` of that in the ledger; ``children`` of the
processor for the processes that it started; ``wall`` for doing the attempts, and ``whole`` of the
processor for all that the command does, reading submissions and writing exports included.
"""

import json
import resource
import sys
import time
from pathlib import Path

from harness.cli import main
from harness.grading import grade
from harness.grading.attempts import attempt_runner
from harness.grading.ledger.ledger import Ledger

_ASKED = (
    "states",
    "lease",
    "release",
    "finish_all",
    "settle",
    "record_error",
    "runs",
    "results",
    "figures",
)


def _time(kind: type, name: str, clock, into: dict[str, float], key: str) -> None:
    """Let a method add the seconds that it takes."""
    plain = getattr(kind, name)

    def method(*given, **named):
        begun = clock()
        try:
            return plain(*given, **named)
        finally:
            into[key] = into.get(key, 0.0) + clock() - begun

    setattr(kind, name, method)


def measure(words: list[str]) -> tuple[int, dict[str, float]]:
    """Grade; return the exit status and the seconds."""
    found: dict[str, float] = {}
    for name in _ASKED:
        _time(Ledger, name, time.thread_time, found, "ledger")
    _time(attempt_runner.Runner, "run", time.process_time, found, "running")
    _time(attempt_runner.Runner, "run", time.monotonic, found, "wall")
    status = main(["grade", *words])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found |= {"children": used.ru_utime + used.ru_stime, "whole": time.process_time()}
    return status, found


if __name__ == "__main__":
    assert grade  # the command imports it late: what is timed is there before
    code, seconds = measure(sys.argv[2:])
    Path(sys.argv[1]).write_text(json.dumps(seconds))
    sys.exit(code)
