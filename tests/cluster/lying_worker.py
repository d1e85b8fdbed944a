"""A worker that brings good reports of tests that all failed, as if it had run them.

``python -m tests.cluster.lying_worker`` is as ``python -m harness.cluster worker``.
"""

import sys

from harness.cluster.__main__ import main
from harness.cluster.unit_executor import UnitExecutor
from harness.core.records import FileResult, Verdict
from harness.work import canonical_json, records
from harness.work.records import NOTHING, AttemptFinished
from tests.cluster.quick_worker import announce_pace

_run_unit = UnitExecutor._run_unit


def lie(self, unit, is_wanted):
    """Yield what an honest worker says, with each test failed."""
    for line in _run_unit(self, unit, is_wanted):
        word = records.parse(line.encode())[0]
        if isinstance(word, AttemptFinished) and word.result != NOTHING:
            word = word._replace(result=failed(word.result), failed=True)
        yield records.line(word).decode().rstrip("\n")


def failed(text):
    result = canonical_json.loads(FileResult, text)
    outcomes = tuple(one._replace(verdict=Verdict.FAILED) for one in result.outcomes)
    return canonical_json.dumps(result._replace(outcomes=outcomes))


if __name__ == "__main__":
    UnitExecutor._run_unit = lie
    announce_pace()
    sys.exit(main(["worker"]))
