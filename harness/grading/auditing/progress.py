"""What is told of an audit while it lasts: a live line, or one every half minute."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.grading.attempts.units import Unit
from harness.grading.records import Audited
from harness.report.heartbeat import Heartbeat, waiting_for
from harness.report.progress import bars


class AuditProgress:
    """Drawn on standard error if that is a terminal; use it as a context.

    It has no thread of its own, for processes are forked meanwhile.
    """

    def __init__(self, total: int) -> None:
        self._done, self._total, self._wrong = 0, total, 0
        self._heartbeat = Heartbeat()
        self._live = bars(refresh=False) if sys.stderr.isatty() and total else None
        if self._live:
            self._line = self._live.add_task("audit", total=total)

    def __enter__(self) -> AuditProgress:
        if self._live:
            self._live.start()
            self._live.refresh()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def on_audited(self, found: Audited) -> None:
        """Take in what was found of a submission."""
        self._done += 1
        self._wrong += bool(found.wrong)
        if self._live:
            said = f"audit, {self._said()}"
            self._live.update(self._line, completed=self._done, description=said)
            self._live.refresh()

    def on_time(self, under_way: Sequence[Unit]) -> None:
        """Say how far it is, if that cannot be drawn and was not said for a while."""
        if not self._live:
            keys = sorted({unit.submission.key for unit in under_way})
            far = f"{self._done} of {self._total} submissions audited"
            self._heartbeat.beat(lambda: f"{far}, {self._said()}{waiting_for(keys)}")

    def _said(self) -> str:
        return f"{self._wrong} wrong all the same"
