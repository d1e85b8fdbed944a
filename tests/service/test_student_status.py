"""The first lines of a student's page, for each state that there is; and times in words."""

import datetime

import pytest

from harness.service.courses.progress import (
    SubmissionFacts,
    SubmissionWindow,
    describe_status,
)
from harness.service.local_times import describe_distance

FRIDAY = datetime.datetime(2026, 12, 4, 23, 55)
OPEN = SubmissionWindow("open", FRIDAY)
ALWAYS = SubmissionWindow()
LATE = SubmissionWindow("late", FRIDAY, "20 % of the points reached are taken off")
CLOSED = SubmissionWindow("closed")
BEFORE = SubmissionWindow("before", FRIDAY)
NONE = SubmissionFacts()
CHECKED = SubmissionFacts("checked", passed=17, tests=19)
ALL = CHECKED._replace(passed=19)
REFUSED = SubmissionFacts("refused", refused="It is not a .tgz archive.")
RELEASED = ALL._replace(is_released=True, mark="4 of 5")

NOT_NEEDED = "You need not do anything, and need not wait here."
STATES = [
    # nothing submitted
    (NONE, OPEN, "new", "To do: You have not submitted anything yet. Submit until Friday"),
    (NONE, LATE, "new", "To do: You have not submitted anything yet. Submit late (20 % of the"
     " points reached are taken off) until Friday"),
    (NONE, BEFORE, "off", "Not open yet: This assignment is not open yet. You can submit from"
     " Friday"),
    (NONE, CLOSED, "off", "Nothing submitted: You did not submit anything, and it is closed now."
     " Ask your teacher if you need more time."),
    # on its way
    (SubmissionFacts("waiting", ahead=3), OPEN, "busy",
     f"Waiting: Your submission is waiting to be checked: 3 before it. {NOT_NEEDED}"),
    (SubmissionFacts("checking"), OPEN, "busy",
     f"Being checked: Your submission is being checked now. {NOT_NEEDED}"),
    # the teacher's turn
    (SubmissionFacts("held"), OPEN, "busy",
     "Kept: Your teacher is still preparing this assignment. Your submission is kept and will be"
     f" checked. {NOT_NEEDED}"),
    # ours
    (SubmissionFacts("fault"), OPEN, "look",
     "Not checked: We could not check your submission. It is kept. This is our fault, not yours:"
     " you need not resubmit. Your teacher can start the check again."),
    # checked
    (CHECKED, OPEN, "bad",
     "2 failed: Passed 17 of 19 tests. You can correct it and resubmit until Friday"),
    (CHECKED, CLOSED, "bad", "2 failed: Passed 17 of 19 tests. It is closed now. You see your mark"
     " once your teacher releases it."),
    (CHECKED._replace(archive_faults=1), ALWAYS, "bad", "2 failed: Passed 17 of 19 tests. 1 thing"
     " in your archive is wrong. You can correct it and resubmit."),
    (ALL, OPEN, "good", "All passed: Passed all 19 tests. You may resubmit until Friday"),
    (ALL._replace(unjudged=1), OPEN, "look", "Partly judged: Passed all 19 tests. We failed to"
     " judge 1 case file, which is not your fault. You may resubmit until Friday"),
    (CHECKED._replace(builds=False), OPEN, "bad", "Not built: Your program could not be built, so"
     " no test ran. You can correct it and resubmit until Friday"),
    (SubmissionFacts("checked"), OPEN, "good",
     "Received: No public test was judged. You may resubmit until Friday"),
    # refused
    (REFUSED, OPEN, "bad", "Refused: Your submission could not be used. It is not a .tgz archive."
     " You can correct it and resubmit until Friday"),
    (REFUSED._replace(counts_instead="a.tgz"), OPEN, "bad",
     "Refused: Your submission could not be used. It is not a .tgz archive. a.tgz counts instead."
     " You can resubmit until Friday"),
    (REFUSED, CLOSED, "bad", "Refused: Your submission could not be used. It is not a .tgz"
     " archive. It is closed now: ask your teacher if you need more time."),
    # withdrawn
    (SubmissionFacts("withdrawn"), OPEN, "off", "Withdrawn: You withdrew this submission: it does"
     " not count. You can submit again until Friday"),
    # marks
    (ALL, CLOSED, "good", "All passed: Passed all 19 tests. It is closed now. You see your mark"
     " once your teacher releases it."),  # graded or not: before the release nothing tells
    (ALL._replace(awaits_mark=False), CLOSED, "good",  # of one that does not count
     "All passed: Passed all 19 tests. It is closed now."),
    (RELEASED, CLOSED, "good",
     "Graded: Your mark is 4 of 5. The feedback says why, test by test."),
    (RELEASED._replace(is_given=True), CLOSED, "good",
     "Graded: Your mark is 4 of 5, given by your teacher instead of the computed one. The feedback"
     " says why, test by test."),
    (RELEASED._replace(is_newer=True), OPEN, "new",
     "Graded before: Your mark is 4 of 5. Your newer submission is not in it: the next grading has"
     " it."),
    (RELEASED._replace(mark=""), CLOSED, "look", "No mark yet: There is no mark yet, because we"
     " could not finish the grading of your work. This is not your fault. Your teacher sees it and"
     " grades again."),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "window", "look", "said"), STATES)
def test_what_happened_and_what_to_do(facts, window, look, said):
    found = describe_status(facts, window)
    until = found.until and f" {found.until:%A}"
    assert f"{found.label}: {found.happened} {found.advice}{until or ''}" == said
    assert found.look == look
    assert found.advice.endswith(".") is (found.until is None)
    assert "harness" not in said


NOW = datetime.datetime(2026, 12, 2, 20, 0, 0)
DISTANCES = [
    ((2026, 12, 4, 23, 55), "in 2 days"),
    ((2026, 12, 3, 20, 0), "in 24 hours"),
    ((2026, 12, 2, 21, 59), "in 119 minutes"),
    ((2026, 12, 2, 20, 1), "in 1 minute"),
    ((2026, 12, 2, 20, 0), "now"),
    ((2026, 12, 2, 17, 0), "3 hours ago"),
    ((2026, 11, 2, 20, 0), "30 days ago"),
    ((2999, 1, 1, 0, 0), ""),
]


@pytest.mark.parametrize(("time", "said"), DISTANCES)
def test_how_far_away_a_time_is(time, said):
    assert describe_distance(datetime.datetime(*time), NOW) == said
