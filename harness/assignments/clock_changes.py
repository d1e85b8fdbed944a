"""Local times around a change of the clocks: one hour comes twice, and one does not come.

A local time here has no zone; its zone is this machine's. Its ``fold`` tells the second of two
equal times from the first. Python compares and subtracts such times by their figures alone.
"""

import datetime


def measure(since: datetime.datetime, until: datetime.datetime) -> datetime.timedelta:
    """Return the time that goes by from one local time to another, negative if it is earlier."""
    try:
        return datetime.timedelta(seconds=until.timestamp() - since.timestamp())
    except (OverflowError, ValueError, OSError):  # years in which a machine has no zone
        return until - since


def to_seconds(local: datetime.datetime) -> float:
    """Return a local time by which others sort: in seconds since 1970, if it has them."""
    try:
        return local.timestamp()
    except (OverflowError, ValueError, OSError):
        return (local - datetime.datetime(1970, 1, 1)).total_seconds()


def is_skipped(local: datetime.datetime) -> bool:
    """Whether the clocks of this machine go over a local time, so that it never is."""
    return datetime.datetime.fromtimestamp(local.timestamp()) != local


def write(local: datetime.datetime) -> str:
    """Return a local time in ISO 8601; the second of two equal ones with its offset."""
    # Its own figures with the offset: to go by seconds since 1970 and back rounds them.
    return (local.replace(tzinfo=add_zone(local).tzinfo) if local.fold else local).isoformat()


def read_figures(text: str) -> datetime.datetime:
    """Return what :func:`write` wrote, with the same figures on each machine."""
    time = datetime.datetime.fromisoformat(text)
    return time.replace(tzinfo=None, fold=1) if time.tzinfo else time


def read_moment(text: str) -> datetime.datetime:
    """Return a time in ISO 8601 as a local one; one with an offset is converted."""
    time = datetime.datetime.fromisoformat(text)
    return to_local(time) if time.tzinfo else time


def to_local(time: datetime.datetime) -> datetime.datetime:
    """Return a time with a zone as a local one; ``astimezone`` does not tell the second of two."""
    local = time.astimezone().replace(tzinfo=None)
    is_first = abs(to_seconds(local) - time.timestamp()) < 1  # both are rounded
    return local if is_first else local.replace(fold=1)


def add_zone(local: datetime.datetime) -> datetime.datetime:
    """Return a local time with its zone; one that never is as the clocks show it then."""
    return datetime.datetime.fromtimestamp(local.timestamp(), datetime.UTC).astimezone()
