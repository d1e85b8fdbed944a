"""Dates and times as people read them: those of the server, each with its time zone."""

from __future__ import annotations

import datetime
import time


def describe_date(text: str) -> str:
    """Return a teacher's date, such as ``27 Nov 2026, 23:59 CET``; empty for none."""
    return describe_time(datetime.datetime.fromisoformat(text)) if text else ""


def describe_time(local: datetime.datetime) -> str:
    """Return a time to the minute; without a zone it is the server's."""
    aware = local.astimezone()
    return f"{_day(aware)}, {aware:%H:%M %Z}"


def describe_moment(seconds: float) -> str:
    """Return a time since 1970 to the second; empty for 0."""
    if not seconds:
        return ""
    aware = datetime.datetime.fromtimestamp(seconds).astimezone()
    return f"{_day(aware)}, {aware:%H:%M:%S %Z}"


def _day(aware: datetime.datetime) -> str:
    return f"{aware.day} {aware:%b %Y}"


def name_zone() -> str:
    """Return the names of the server's time zone: ``CET/CEST`` if its clocks change, else one."""
    return "/".join(dict.fromkeys(time.tzname if time.daylight else time.tzname[:1]))


def add_offset(text: str) -> str:
    """Return a teacher's date in ISO 8601 with the offset of its zone; empty for none."""
    return datetime.datetime.fromisoformat(text).astimezone().isoformat() if text else ""


def to_seconds(text: str) -> float:
    """Return a teacher's date in seconds since 1970, by which a page sorts; 0 for none."""
    return datetime.datetime.fromisoformat(text).timestamp() if text else 0.0
