"""A page of one student reads that one alone, and finds what a page of all finds for it."""

from __future__ import annotations

import random

import pytest

from harness.service.courses import deadlines, making, submissions
from harness.service.people import accounts
from harness.service.records import FORMER, STUDENT, CourseAssignment, Member, Upload
from harness.service.storage import courses, uploads

pytestmark = pytest.mark.processes
SEEDS = range(6)
# A student whose key is the name of a group of others is what rosters refuse, and old ones had.
KEYS = ("ada", "ben", "cyd", "dan", "eve", "Öl", "a b")
TEAMS = ("", "", "", "red", "blue", "ada")


def make(act, seed):
    """Make a course of random students and groups, with what they own; return its assignment."""
    dice, by = random.Random(seed), accounts.add_person(act, "Tess")
    own = act._replace(by=by.id)
    course = making.course(own, f"Course {seed}").id
    wanted = CourseAssignment("", course, "", "go-scoring", "", "", "", "", 0, 0.0)
    assigned = making.assign(own, wanted)
    for key in KEYS:
        role, team = dice.choice((STUDENT, STUDENT, STUDENT, FORMER)), dice.choice(TEAMS)
        person = accounts.add_person(act, key)
        courses.MEMBERS.add(act.db, Member(course, person.id, role, key, key, team=team))
    for number in range(dice.randrange(12)):
        key, is_withdrawn = dice.choice((*KEYS, *TEAMS[3:])), dice.random() < 0.2
        upload = Upload(f"{seed}-{number}", assigned.id, key, by.id, "a.tgz", "0" * 64, 1,
                        float(number), withdrawn=is_withdrawn)  # fmt: skip
        uploads.UPLOADS.add(act.db, upload)
        uploads.give_to(act.db, upload.id, dice.sample(KEYS, dice.randrange(1, 4)))
    extended = dice.sample(KEYS, 2)
    courses.extend(act.db, assigned.id, extended, "2030-01-01T12:00")
    return assigned


def test_what_one_has_is_what_it_has_among_all(service):
    for seed in SEEDS:
        with service.database.acting() as act:
            assigned = make(act, seed)
        with service.database.reading() as db:
            everybody = courses.students(db, assigned.course)
            heaps = submissions.all_histories(db, assigned)
            for key in {one.submits_as for one in everybody}:
                theirs = [one for one in everybody if one.submits_as == key]
                assert courses.submitting_as(db, assigned.course, key) == theirs
                assert submissions.history_of(db, assigned, key) == heaps[key]
            for key in {*KEYS, *TEAMS, "nobody"} - set(heaps):
                assert courses.submitting_as(db, assigned.course, key) == []
                assert submissions.history_of(db, assigned, key) == submissions.SubmissionHistory()


def test_the_dates_of_one_are_those_of_its_group(service):
    for seed in SEEDS:
        with service.database.acting() as act:
            assigned = make(act, seed)
        with service.database.reading() as db:
            for key, heap in submissions.all_histories(db, assigned).items():
                found = deadlines.load_rules(db, assigned, heap.all, key)
                rule = deadlines.load_rule(db, assigned, key)
                assert found == {one.id: rule for one in heap.all}
