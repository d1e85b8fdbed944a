"""What being late costs, and by whose dates: as the pages say it before and after submitting."""

import datetime
import functools
import re
import time
from fractions import Fraction

import pytest
from markupsafe import escape

from harness.assignments import clock_changes
from harness.assignments.assignment import Late
from harness.core.errors import UsageError
from harness.service.courses import making
from harness.service.courses.deadlines import describe_late, describe_terms
from harness.service.courses.submissions import explain_closed
from harness.service.local_times import (
    add_offset,
    describe_date,
    describe_moment,
    describe_time,
    name_zone,
)
from harness.service.storage import courses
from harness.work import canonical_json
from tests.service.serving import Browser, hand_in, make_course, without_times
from tests.service.test_api_gradings import Asker

ROSTER = "student,name,group\nada,Ada,\nben,Ben,\ncyd,Cyd,duo\ndan,Dan,duo\n"
DUE = datetime.datetime(2026, 11, 27, 23, 59)


@pytest.fixture
def zone(monkeypatch):
    """Let the server be in a zone whose clocks change, by its rule: no list of zones is needed."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("shown", "element"),
    [
        (
            lambda: describe_date("2026-11-27T23:59"),
            '<time datetime="2026-11-27T23:59:00+01:00" class="due">27 Nov 2026, 23:59 CET</time>',
        ),
        (
            lambda: describe_moment(1.0),
            '<time datetime="1970-01-01T01:00:01+01:00">1 Jan 1970, 01:00:01 CET</time>',
        ),
    ],
)
def test_a_page_lets_a_script_show_a_time_in_the_readers_zone(zone, shown, element):
    """A sentence has the text alone, with the zone that it is in."""
    assert escape(shown()) == element
    assert "<time" not in f"The deadline is {shown()}."


def test_a_date_has_its_time_zone(zone):
    assert describe_date("2026-11-27T23:59") == "27 Nov 2026, 23:59 CET"
    assert describe_date("2026-06-01T08:05") == "1 Jun 2026, 08:05 CEST"
    assert describe_date("") == ""
    assert describe_moment(1.0) == "1 Jan 1970, 01:00:01 CET"
    assert describe_moment(0.0) == ""
    assert add_offset("2026-06-01T08:05") == "2026-06-01T08:05:00+02:00"
    assert name_zone() == "CET/CEST"


def rule(days, deduction=10, grace=0, deadline=DUE):
    """Return a rule; ``days``: from the deadline on, for which late submissions are taken."""
    last = days is not None and deadline and deadline + datetime.timedelta(days)
    return Late(deadline, last or None, Fraction(deduction), grace)


TERMS = [
    (rule(2), f"Late submissions are accepted until {describe_time(DUE + datetime.timedelta(2))}:"
              " 10 % of the points reached are taken off."),
    (rule(0.5, 0), "Late submissions are accepted until"
                   f" {describe_time(DUE + datetime.timedelta(0.5))}: no points are taken off."),
    (rule(0), "Late submissions are refused."),
    (rule(None), "Late submissions are accepted at any time:"
                 " 10 % of the points reached are taken off."),
    (rule(0, grace=5), "Late submissions are refused."
                       " The first 5 minutes after a date still count."),
    (rule(None, deadline=None), ""),
]  # fmt: skip


@pytest.mark.parametrize(("dates", "said"), TERMS)
def test_what_being_late_costs(dates, said):
    assert describe_terms(dates) == said


LATE = [
    (rule(2), 0, ""),
    (rule(2), 3, "late by 3 min: 10 % of the points reached are taken off"),
    (rule(2, 0), 3, "late by 3 min: no points are taken off"),
    (rule(2, grace=5), 3, ""),
    (rule(1), 24 * 60 + 1, "too late: it gets no points"),
    (rule(None, deadline=None), 3, ""),
]


@pytest.mark.parametrize(("dates", "minutes", "said"), LATE)
def test_how_late_a_submission_is(dates, minutes, said):
    at = DUE + datetime.timedelta(minutes=minutes)
    assert describe_late(dates, at.timestamp()) == said


@functools.cache
def now():
    """Return the minute of the first call: dates of a test are as far apart as they say."""
    return datetime.datetime.now().replace(second=0, microsecond=0)


def at(hours):
    return (now() + datetime.timedelta(hours=hours)).isoformat()


def facts(text):
    """Return the terms of a page with what they are."""
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", without_times(text)))


def test_an_extension_moves_all_dates_of_who_has_it(service, counting):
    dates = {"deadline": at(-3), "closes": at(-2), "deduction": "50"}
    course, own = make_course(service, ROSTER, **dates), at(5)
    page = f"{course.assignment}/students/duo"
    course.teacher.post(f"{page}/extension", page, deadline=own)
    cyd, ben = (Browser(service).enter(course.links[key]) for key in ("cyd", "ben"))
    told = facts(cyd.get(course.assignment).text)
    assert (told["Your deadline"], told["Closed after"]) == (describe_date(own),) * 2
    assert told["Deadline of the others"] == describe_date(dates["deadline"])
    assert told["If you are late"] == "Late submissions are refused."
    others = facts(ben.get(course.assignment).text)
    assert others["Closed after"] == describe_date(dates["closes"])
    assert others["If you are late"].endswith(": 50 % of the points reached are taken off.")
    assert facts(course.teacher.get(page).text)["Closed after"] == describe_date(own)
    assert describe_date(own) in cyd.get(course.course).text
    assert describe_date(own) not in ben.get(course.course).text


@pytest.mark.processes
def test_a_late_submission_is_called_late(service, counting):
    course = make_course(service, ROSTER, deadline=at(-2), deduction="50")
    page = f"{course.assignment}/students/ada"
    course.teacher.post(f"{page}/extension", page, deadline=at(5))
    ada, ben = (Browser(service).enter(course.links[key]) for key in ("ada", "ben"))
    late = re.compile(r"late by [^:]*: 50 % of the points reached are taken off")
    for student, is_late in ((ada, False), (ben, True)):
        receipt = hand_in(student, course)
        for path in (receipt.url.path, course.assignment):
            assert bool(late.search(student.get(path).text)) is is_late
        assert bool(late.search(course.teacher.get(receipt.url.path).text)) is is_late
    staff = course.teacher.get(course.assignment).text
    assert staff.count('<span class="chip look">Late</span>') == 1
    assert late.search(course.teacher.get(f"{course.assignment}/students/ben").text)


@pytest.mark.processes
def test_who_submits_late_is_warned_before(service, counting):
    course = make_course(service, ROSTER, deadline=at(2), deduction="50")
    ada, ben = (Browser(service).enter(course.links[key]) for key in ("ada", "ben"))
    hand_in(ada, course)
    assert "You are late now" not in ada.get(course.assignment).text
    with service.database.acting() as act:
        courses.ASSIGNMENTS.change(act.db, {"deadline": at(-1)}, id=course.assignment[-16:])
    cost = "You are late now: 50 % of the points reached are taken off."
    warned = ada.get(course.assignment).text
    assert f"{cost} A new submission counts instead of a1.tgz of " in warned
    assert ", and cannot be withdrawn.</p>" in warned
    assert f"{cost}</p>" in ben.get(course.assignment).text


def test_the_dates_of_an_upload_are_those_of_who_has_it_now(service, counting):
    """A roster moved the one with an extension out of the group that sent it."""
    course = make_course(service, ROSTER, deadline=at(-2), deduction="50")
    cyd, dan = (Browser(service).enter(course.links[key]) for key in ("cyd", "dan"))
    receipt = hand_in(cyd, course).url.path
    moved = "student,name,group\ncyd,Cyd,\ndan,Dan,\n"
    course.teacher.post(f"{course.course}/roster", files={"file": ("r.csv", moved.encode())})
    page = f"{course.assignment}/students/cyd"
    course.teacher.post(f"{page}/extension", page, deadline=at(5))
    assert "late by" not in cyd.get(receipt).text
    assert "late by" in dan.get(receipt).text
    assert "late by" in dan.get(course.assignment).text


# --- changes of the clocks ---------------------------------------------------------------------

TWICE = "2026-10-25T02:30"  # in summer time, and an hour later in winter time


def utc(hour, minute):
    return datetime.datetime(2026, 10, 25, hour, minute, tzinfo=datetime.UTC).timestamp()


COMES_TWICE = [  # the deadline as it is kept, minutes of grace, when it came (UTC), what is said
    (TWICE, 0, (0, 20), ""),
    (TWICE, 0, (0, 40), "late by 10 min"),
    (TWICE, 0, (1, 10), "late by 40 min"),
    (TWICE, 0, (2, 10), "late by 1 h 40 min"),
    (TWICE, 30, (1, 1), "late by 31 min"),
    (f"{TWICE}:00+01:00", 0, (0, 40), ""),
    (f"{TWICE}:00+01:00", 0, (1, 30), ""),
    (f"{TWICE}:00+01:00", 0, (1, 40), "late by 10 min"),
    ("2026-10-25T01:55", 10, (1, 1), "late by 1 h 6 min"),
]


@pytest.mark.parametrize(("kept", "grace", "came", "said"), COMES_TWICE)
def test_lateness_in_the_hour_that_comes_twice(zone, kept, grace, came, said):
    dates = rule(None, grace=grace, deadline=making.moment(kept))
    assert describe_late(dates, utc(*came)).partition(": ")[0] == said


def test_a_submission_in_the_hour_that_comes_twice_is_kept_with_its_fold(zone):
    for at_, text in ((utc(0, 10), "02:10:00"), (utc(1, 10), "02:10:00+01:00")):
        time_ = datetime.datetime.fromtimestamp(at_)
        written = canonical_json.dumps(time_)
        assert written == f'"2026-10-25T{text}"'
        read = canonical_json.loads(datetime.datetime, written)
        assert (read, read.fold) == (time_, time_.fold)


def test_only_a_time_that_comes_twice_has_a_fold(zone):
    for microsecond in (0, 1, 499_999, 999_999):
        time_ = datetime.datetime(2026, 6, 1, 8, 5, 7, microsecond, datetime.UTC)
        assert clock_changes.to_local(time_).fold == 0


def test_a_time_that_comes_twice_is_taken_by_its_offset(zone):
    for given in (f"{TWICE}:00+02:00", f"{TWICE}:00+01:00"):
        assert add_offset(making.date("deadline", given)) == given
    assert add_offset(making.date("deadline", TWICE)) == f"{TWICE}:00+02:00"


def test_a_time_that_the_clocks_skip_is_refused(zone):
    with pytest.raises(UsageError, match=r"^deadline: found '2027-03-28T02:30', but the clocks"):
        making.date("deadline", "2027-03-28T02:30")
    shown = describe_date("2027-03-28T02:30")  # a service of before may have kept one
    assert shown == "28 Mar 2027, 03:30 CEST"
    dates = rule(None, deadline=making.moment("2027-03-28T02:30"))
    shown_at = datetime.datetime.fromisoformat(add_offset("2027-03-28T02:30")).timestamp()
    assert (describe_late(dates, shown_at), bool(describe_late(dates, shown_at + 1))) == ("", True)


def test_a_closed_assignment_stays_closed_when_the_hour_comes_again(service, counting, zone):
    course = make_course(service, ROSTER, deadline=TWICE, closes=TWICE)
    with service.database.reading() as db:
        assigned = courses.ASSIGNMENTS.all(db, "id")[0]
        for moment_, is_open in ((utc(0, 20), True), (utc(0, 40), False), (utc(1, 10), False)):
            now = datetime.datetime.fromtimestamp(moment_)
            assert (not explain_closed(db, assigned, "ada", now)) is is_open
    page = f"{course.assignment}/students/ada"
    course.teacher.post(f"{page}/extension", page, deadline=f"{TWICE}:00+01:00")
    assert f'value="{TWICE}:00"' in course.teacher.get(page).text
    course.teacher.post(f"{page}/extension", page, deadline=TWICE)  # the form as it was shown
    assert facts(course.teacher.get(page).text)["Own deadline"] == "25 Oct 2026, 02:30 CET"


def test_an_extension_to_the_second_of_two_equal_times_is_told(service, counting, zone):
    course = make_course(service, ROSTER, deadline=TWICE)
    page = f"{course.assignment}/students/ada"
    course.teacher.post(f"{page}/extension", page, deadline=f"{TWICE}:00+01:00")
    with service.database.reading() as db:
        person = courses.MEMBERS.find(db, key="ada").person
    told = Asker(service, person).get(course.assignment)
    assert (told["deadline"], told["own_deadline"]) == (f"{TWICE}:00+02:00", f"{TWICE}:00+01:00")
