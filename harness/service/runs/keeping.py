"""Suites and their runs: made, kept, removed. What a run found is in files, written once.

In the folder of a suite ``runs/ID.json`` is the document as it was posted, and ``runs/ID.kept``
what a history keeps of it.
"""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.escaping import one_line
from harness.history.records import RunKept
from harness.service.records import Suite, SuiteRun
from harness.service.runs import documents
from harness.service.runs.documents import RunDocument
from harness.service.storage import suites
from harness.service.storage.audit_log import Act
from harness.service.storage.rows import new_id
from harness.work import canonical_json

MOST_SUITES = 50  # of one person
KEPT = 200  # runs of a suite; older ones go
MOST_BYTES = 512 << 20  # of all documents in somebody's suites
_TITLE, _ENGINE = 200, 120  # characters
_REVISION = re.compile(r"[\w.+/:@-]{0,100}", re.ASCII)


class Posted(NamedTuple):
    """A document that came, as it is and as it was read."""

    data: bytes
    found: RunDocument
    revision: str

    @classmethod
    def read(cls, data: bytes, revision: str) -> Posted:
        """Check what came.

        Raises:
            UsageError: the document or the revision cannot be read.
        """
        if not _REVISION.fullmatch(revision):
            raise UsageError(
                f"revision: found {revision!r}, expected up to 100 letters, digits, . _ + - / : @"
            )
        return cls(data, documents.read(data), revision)


# --- suites ------------------------------------------------------------------------------------


def make(act: Act, title: str) -> Suite:
    """Make a suite of whoever acts.

    Raises:
        UsageError: it has no title, a very long one, or there are too many.
    """
    if len(suites.SUITES.all(act.db, person=act.by)) >= MOST_SUITES:
        raise UsageError(f"there are {MOST_SUITES} suites already: remove one first")
    made = Suite(new_id(), act.by, _title(title), time.time())
    suites.SUITES.add(act.db, made)
    act.note("suite made", made.id, title=made.title)
    return made


def change(act: Act, suite: Suite, title: str, *, is_open: bool, has_badge: bool) -> Suite:
    """Change what a suite is called, who may read it, and whether it has a badge.

    A badge that is made again has another address.

    Raises:
        UsageError: as :func:`make`.
    """
    badge = (suite.badge or secrets.token_hex(16)) if has_badge else ""
    made = suite._replace(title=_title(title), is_open=is_open, badge=badge)
    values: dict[str, object] = {
        "title": made.title,
        "is_open": int(is_open),
        "badge": badge,
    }
    suites.SUITES.change(act.db, values, id=suite.id)
    act.note("suite changed", suite.id, title=made.title, open=is_open, badge=has_badge)
    return made


def remove(act: Act, suite: Suite, folder: Path) -> None:
    """Remove a suite with all its runs; ``folder``: of the suite."""
    suites.RUNS.remove(act.db, suite=suite.id)
    suites.SUITES.remove(act.db, id=suite.id)
    act.note("suite removed", suite.id, title=suite.title)
    shutil.rmtree(folder, ignore_errors=True)


def badge_path(suite: Suite) -> str:
    """Return the path of the badge of a suite that has one."""
    return f"/badges/{suite.badge}.svg"


def _title(text: str) -> str:
    title = one_line(" ".join(text.split()))
    if not 0 < len(title) <= _TITLE:
        raise UsageError(f"title: found {len(title)} characters, expected 1 to {_TITLE}")
    return title


# --- runs --------------------------------------------------------------------------------------


def post(act: Act, suite: Suite, posted: Posted, folder: Path) -> SuiteRun:
    """Keep a run that was posted; the oldest go if there are too many.

    Raises:
        UsageError: the owner has no room left.
    """
    used = suites.bytes_of(act.db, suite.person)
    if used + len(posted.data) > MOST_BYTES:
        raise UsageError(
            f"the documents of all your runs have {used:,} bytes of {MOST_BYTES:,}: remove some"
        )
    made = SuiteRun(new_id(), suite.id, 0, act.by, time.time(), posted.revision)
    made = _counted(made, posted)._replace(number=suites.next_number(act.db, suite.id))
    _write(folder, made, posted)
    suites.RUNS.add(act.db, made)
    act.note("run posted", made.id, suite=suite.id, number=made.number)
    for old in suites.older(act.db, suite.id, KEPT):
        _forget(act, old, folder)
    return made


def _counted(run: SuiteRun, posted: Posted) -> SuiteRun:
    found = posted.found
    verdicts = Counter(one.verdict for file in found.files for one in file.tests)
    return run._replace(
        started=found.started,
        engine=one_line(found.engine, _ENGINE),
        size=len(posted.data),
        tests=verdicts.total() - verdicts["ignored"],
        passed=verdicts["passed"] + verdicts["PASSED"],
        failed=verdicts["FAILED"],
        undecided=verdicts["not run"] + verdicts["not judged"],
        broken=sum(file.failure is not None for file in found.files),
    )


def _write(folder: Path, run: SuiteRun, posted: Posted) -> None:
    kept = documents.kept(posted.found, run.number, run.revision)
    place = document(folder, run.id)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.write_bytes(posted.data)
    place.with_suffix(".kept").write_text(canonical_json.dumps(kept), encoding="ascii")


def remove_run(act: Act, run: SuiteRun, folder: Path) -> None:
    """Remove a run; the others keep their numbers."""
    act.note("run removed", run.id, suite=run.suite, number=run.number)
    _forget(act, run, folder)


def _forget(act: Act, run: SuiteRun, folder: Path) -> None:
    suites.RUNS.remove(act.db, id=run.id)
    place = document(folder, run.id)
    for path in (place, place.with_suffix(".kept")):
        path.unlink(missing_ok=True)


# --- what was kept -----------------------------------------------------------------------------


def document(folder: Path, run: str) -> Path:
    """Return where the document of a run is; ``folder``: of its suite."""
    return folder / "runs" / f"{run}.json"


def data(folder: Path, run: SuiteRun) -> bytes | None:
    """Return the document of a run as it was posted; None: it was removed meanwhile."""
    try:
        return document(folder, run.id).read_bytes()
    except FileNotFoundError:
        return None


def kept(folder: Path, runs: Sequence[SuiteRun]) -> list[RunKept]:
    """Return runs as a history keeps them; those that were removed meanwhile are left out."""
    found = []
    for run in runs:
        path = document(folder, run.id).with_suffix(".kept")
        if path.is_file():
            found.append(canonical_json.loads(RunKept, path.read_text("ascii")))
    return found
