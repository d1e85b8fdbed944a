"""``submission_metadata.json``: when a submission was made, and when it was due.

Source: "Submission Metadata" of Gradescope's documentation.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import NamedTuple

from harness.clock_changes import to_local, to_seconds
from harness.errors import UsageError

FILE = "submission_metadata.json"


class Times(NamedTuple):
    """Local times of this machine, as an assignment's deadline is one."""

    created: datetime.datetime
    due: datetime.datetime | None  # the latest of all who handed it in; None: never


def read(path: Path) -> Times:
    """Return the times of a submission.

    A student may have got an extension, which stands with the student. Of a group the latest one
    counts.

    Raises:
        UsageError: the file cannot be read, or a time is not one.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON") from None
    found = _object(found)
    users = found.get("users")
    students = users if isinstance(users, list) else []
    dates = [_object(_object(one).get("assignment")).get("due_date") for one in students]
    extended = [_time(path, "due_date", date) for date in dates if date]
    common = _object(found.get("assignment")).get("due_date")
    due = extended or ([_time(path, "due_date", common)] if common else [])
    last = max(due, key=to_seconds, default=None)
    return Times(_time(path, "created_at", found.get("created_at")), last)


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _time(path: Path, name: str, value: object) -> datetime.datetime:
    try:
        time = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None:
        expected = "a time such as 2026-01-29T23:55:00-07:00"
        raise UsageError(f"{path}: {name}: found {value!r}, expected {expected}")
    return to_local(time)
