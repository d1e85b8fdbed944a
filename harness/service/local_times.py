"""Dates and times as people read them: those of the server, each with its time zone."""

import datetime
import time
from html import escape

from harness.assignments.clock_changes import add_zone, measure, read_moment
from harness.core.text import number_of


class ShownTime(str):
    """A time as text, such as ``27 Nov 2026, 23:59 CET``.

    On a page it is an element that a script shows in the reader's zone, a date of an assignment
    with how far away it is. In a sentence it is text as any other.
    """

    __slots__ = ("_has_distance", "_moment")
    _moment: datetime.datetime
    _has_distance: bool

    @classmethod
    def of(
        cls, moment: datetime.datetime, pattern: str, *, has_distance: bool = False, day: str = ""
    ) -> "ShownTime":
        """Return a time; ``pattern``: of its hours and minutes; ``day``: of the week."""
        made = cls(f"{day}{moment.day} {moment:%b %Y}, {moment.strftime(pattern)}")
        made._moment, made._has_distance = moment, has_distance
        return made

    def __html__(self) -> str:
        """Return the element, for templates and markup."""
        kind = ' class="due"' if self._has_distance else ""
        iso = self._moment.isoformat(timespec="seconds")
        return f'<time datetime="{iso}"{kind}>{escape(self)}</time>'


def describe_date(text: str) -> str:
    """Return a teacher's date, such as ``27 Nov 2026, 23:59 CET``; empty for none."""
    return describe_time(read_moment(text)) if text else ""


def describe_time(local: datetime.datetime) -> str:
    """Return a time to the minute; without a zone it is the server's."""
    return ShownTime.of(local if local.tzinfo else add_zone(local), "%H:%M %Z", has_distance=True)


def describe_moment(seconds: float) -> str:
    """Return a time since 1970 to the second; empty for 0."""
    if not seconds:
        return ""
    return ShownTime.of(datetime.datetime.fromtimestamp(seconds).astimezone(), "%H:%M:%S %Z")


def describe_stamp(stamp: str) -> str:
    """Return a time such as ``2026-11-27T09:05:00Z`` to the second; any other text as it is."""
    try:
        return describe_moment(datetime.datetime.fromisoformat(stamp).timestamp())
    except (ValueError, OverflowError, OSError):
        return stamp


def name_zone() -> str:
    """Return the names of the server's time zone: ``CET/CEST`` if its clocks change, else one."""
    return "/".join(dict.fromkeys(time.tzname if time.daylight else time.tzname[:1]))


def add_offset(text: str) -> str:
    """Return a teacher's date in ISO 8601 with the offset of its zone; empty for none."""
    return add_zone(read_moment(text)).isoformat() if text else ""


def to_field(text: str) -> str:
    """Return a teacher's date as a field of a form has it: local, without a zone."""
    return read_moment(text).isoformat() if text else ""


def keep_same(text: str, stored: str) -> str:
    """Return a date that was typed; the kept one if it has the same figures, which come twice."""
    figures = to_field(stored)
    return stored if stored and text in (figures, figures.removesuffix(":00")) else text


def read_seconds(text: str) -> float:
    """Return a teacher's date in seconds since 1970, by which a page sorts; 0 for none."""
    return read_moment(text).timestamp() if text else 0.0


def describe_day(local: datetime.datetime) -> str:
    """Return a time with its day of the week, such as ``Friday 4 Dec 2026, 23:55 CET``."""
    aware = local if local.tzinfo else add_zone(local)
    return ShownTime.of(aware, "%H:%M %Z", day=f"{aware:%A} ")


_FAR = 60  # days beyond which a distance says nothing
# Seconds, from how many on a span is told in them, and their word.
_UNITS = ((86400, 172_800, "day"), (3600, 7200, "hour"), (60, 60, "minute"))


def describe_distance(local: datetime.datetime, now: datetime.datetime) -> str:
    """Return how far away a time is, such as ``in 2 days``, ``3 hours ago`` and ``now``.

    Nothing if it is very far.
    """
    seconds = int(measure(now, local).total_seconds())
    if abs(seconds) > _FAR * 86400:
        return ""
    for unit, least, word in _UNITS:
        if abs(seconds) >= least:
            told = number_of(abs(seconds) // unit, word)
            return f"in {told}" if seconds > 0 else f"{told} ago"
    return "now"
