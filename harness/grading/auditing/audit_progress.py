"""The progress of an audit: a live line, or one every half minute."""

from __future__ import annotations

from functools import partial

from harness.grading.attempts.grading_progress import UnitsProgress
from harness.grading.records import Audited
from harness.report.progress import bars


class AuditProgress(UnitsProgress):
    """Show how many submissions are audited, and how many of them are wrong."""

    what = "submissions audited"

    def __init__(self, total: int) -> None:
        super().__init__(total, partial(bars, refresh=False), "audit")
        self._wrong = 0

    def on_audited(self, found: Audited) -> None:
        """Take in the findings for a submission."""
        self._done += 1
        self._wrong += bool(found.wrong)
        self._draw(f"audit, {self._summarize()}")

    def _summarize(self) -> str:
        return f"{self._wrong} still wrong"
