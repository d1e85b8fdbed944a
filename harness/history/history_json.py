"""A history as JSON: ``gtp-harness/history``, version 1.

Members: ``schema``, ``version`` (of this document), ``path``, ``format`` (the version of the
SQLite file), ``program``, ``others`` (programs that are not looked at), ``runs``, ``broken``,
``changes``, ``flaky``, ``slower``, ``whole`` (like a member of ``slower``, or null) and
``compared``, the number of tests whose times could be compared. A test is ``path``, ``id`` (-1:
none), ``command``, ``alike`` (how many such come before it in its file) and ``line``. Times are
seconds; a spread has the quartiles ``low`` and ``high``, the ``median`` and the ``size``, how many
times it is made of. What was ``seen`` of a flaky test are pairs of run and verdict, ``before`` and
``now`` of a slower one pairs of run and seconds.
"""

from __future__ import annotations

import json
from typing import Any

from harness.history.history_text import counts
from harness.history.records import (
    Flaky,
    RunKept,
    Slower,
    TestIdentity,
    TestInRun,
    Trends,
    VerdictChange,
)

SCHEMA, VERSION = "gtp-harness/history", 1


def document(found: Trends) -> str:
    """Return the document."""
    members = {
        "schema": SCHEMA,
        "version": VERSION,
        "path": found.path,
        "format": found.version,
        "program": found.program,
        "others": found.others,
        "runs": [_run(run) for run in found.runs],
        "broken": [_change(one) for one in found.broken],
        "changes": [_change(one) for one in found.changes],
        "flaky": [_flaky(one) for one in found.flaky],
        "slower": [_slower(one) for one in found.slower],
        "whole": _slower(found.whole) if found.whole else None,
        "compared": found.compared,
    }
    return json.dumps(members, ensure_ascii=False, indent=1) + "\n"


def _run(run: RunKept) -> dict[str, Any]:
    kept = run._asdict()
    del kept["files"]
    files = [
        {
            "path": file.path,
            "engine": file.engine,
            "failure": file.failure,
            "seconds": round(file.seconds, 6),
            "cpu_seconds": round(file.cpu_seconds, 6),
            "tests": len(file.results),
        }
        for file in run.files
    ]
    return kept | {"state": run.state.value, "counts": counts(run), "files": files}


def _test(test: TestIdentity, line: int) -> dict[str, Any]:
    return test._asdict() | {"line": line}


def _as_json(seen: TestInRun) -> dict[str, Any]:
    return {
        "run": seen.run.number,
        "started": seen.run.started,
        "engine": seen.engine,
        "verdict": seen.result.verdict,
    }


def _change(one: VerdictChange) -> dict[str, Any]:
    told = {"before": _as_json(one.before), "now": _as_json(one.now), "cause": one.cause}
    return _test(one.test, one.now.result.line) | told


def _flaky(one: Flaky) -> dict[str, Any]:
    return _test(one.test, one.line) | {
        "failed": one.failed,
        "changes": one.changes,
        "interval": [round(end, 4) for end in one.interval],
        "rerun": one.rerun,
        "seen": [[seen.run.number, seen.result.verdict] for seen in one.seen],
    }


def _slower(one: Slower) -> dict[str, Any]:
    return _test(one.test, one.line) | {
        "before": [list(pair) for pair in one.before],
        "now": [list(pair) for pair in one.now],
        "spread_before": one.spread_before._asdict(),
        "spread_now": one.spread_now._asdict(),
        "ratio": round(one.ratio, 4),
        "chance": one.chance,
    }
