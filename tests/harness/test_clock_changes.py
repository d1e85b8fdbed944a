"""Local times around a change of the clocks, in a zone of Europe."""

from __future__ import annotations

import datetime
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assignments import clock_changes

BEFORE, BEHIND = datetime.datetime(2026, 10, 25, 1, 30), datetime.datetime(2026, 10, 25, 3, 30)
TWICE = datetime.datetime(2026, 10, 25, 2, 30)
SKIPPED = datetime.datetime(2026, 3, 29, 2, 30)
FIRST, LAST = datetime.datetime.min, datetime.datetime.max  # in which a machine has no zone


@pytest.fixture(autouse=True, scope="module")
def zone():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Europe/Vienna")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("since", "until", "hours"),
    [
        (BEFORE, BEFORE, 0),
        (BEFORE, TWICE, 1),
        (BEFORE, TWICE.replace(fold=1), 2),
        (TWICE, TWICE.replace(fold=1), 1),
        (TWICE.replace(fold=1), TWICE, -1),
        (BEFORE, BEHIND, 3),
        (SKIPPED.replace(hour=1), SKIPPED.replace(hour=4), 2),
        (FIRST, FIRST + datetime.timedelta(hours=5), 5),
        (LAST, LAST - datetime.timedelta(hours=5), -5),
    ],
)
def test_the_time_that_goes_by(since, until, hours):
    assert clock_changes.measure(since, until) == datetime.timedelta(hours=hours)


@pytest.mark.parametrize(
    ("local", "seconds"),
    [
        (datetime.datetime(1970, 1, 1, 1), 0),
        (TWICE, 1792888200),
        (TWICE.replace(fold=1), 1792888200 + 3600),
        (FIRST, -62135596800),
        (datetime.datetime(1, 1, 1, 0, 0, 1), -62135596799),
    ],
)
def test_times_sort_by_their_seconds(local, seconds):
    assert clock_changes.to_seconds(local) == seconds


@pytest.mark.parametrize(
    ("local", "is_skipped"),
    [
        (SKIPPED, True),
        (SKIPPED.replace(minute=0), True),
        (SKIPPED.replace(hour=1, minute=59), False),
        (SKIPPED.replace(hour=3, minute=0), False),
        (TWICE, False),
    ],
)
def test_a_time_that_never_is(local, is_skipped):
    assert clock_changes.is_skipped(local) is is_skipped


@given(
    st.datetimes(datetime.datetime(1980, 1, 1), datetime.datetime(2037, 1, 1)).map(
        lambda time: time.replace(tzinfo=datetime.UTC)
    )
)
def test_a_moment_is_written_and_read(moment):
    """As a local time, which has the same seconds; the second of two by its fold."""
    local = clock_changes.to_local(moment)
    assert local.tzinfo is None
    assert clock_changes.to_seconds(local) == pytest.approx(moment.timestamp(), abs=1e-5)
    assert clock_changes.read_figures(clock_changes.write(local)) == local
    assert clock_changes.read_figures(clock_changes.write(local)).fold == local.fold
    assert clock_changes.read_moment(moment.isoformat()) == local
    assert clock_changes.read_moment(moment.isoformat()).fold == local.fold
    assert clock_changes.read_moment(local.isoformat()) == local


@pytest.mark.parametrize(
    ("local", "text"),
    [
        (TWICE, "2026-10-25T02:30:00"),
        (TWICE.replace(fold=1), "2026-10-25T02:30:00+01:00"),
        (TWICE.replace(fold=1, microsecond=5), "2026-10-25T02:30:00.000005+01:00"),
        (BEHIND, "2026-10-25T03:30:00"),
    ],
)
def test_only_the_second_of_two_has_its_offset(local, text):
    assert clock_changes.write(local) == text
    assert clock_changes.read_figures(text).fold == local.fold
