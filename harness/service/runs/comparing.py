"""A run of a suite beside a former one, with the code that ``run --baseline`` uses."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import Connection

from harness.exits import ExitCode
from harness.report import baseline
from harness.report.baseline import Comparison
from harness.service.records import SuiteRun
from harness.service.runs import keeping
from harness.service.storage import suites


def before(db: Connection, run: SuiteRun) -> SuiteRun | None:
    """Return the last run before one that found something; None for the first."""
    return next(iter(suites.last_runs(db, run.suite, 1, run.number)), None)


def compare(folder: Path, former: SuiteRun, run: SuiteRun) -> Comparison | None:
    """Compare a run with a former one; None: one of them was removed meanwhile.

    ``folder``: of their suite.
    """
    before, now = (keeping.data(folder, one) for one in (former, run))
    if before is None or now is None:
        return None
    return baseline.between(json.loads(before), json.loads(now))


def is_worse(found: Comparison) -> bool:
    """Whether a run is worse than the former one, as the exit status of a run says."""
    return found.exit_code is not ExitCode.OK
