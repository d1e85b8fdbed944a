"""The tournament of a grading: who may begin it, and what each student sees of it."""

import fcntl
from pathlib import Path

import pytest

from harness.grading.attempts import attempt_plan
from harness.service.jobs import tournaments
from harness.service.jobs.worker import Worker
from harness.service.records import LEASED, TOURNAMENT, WAITING
from harness.service.storage import courses, queue
from tests.harness import small_class
from tests.service.serving import Browser, grade, hand_in, make_course, work
from tests.service.test_api_gradings import Asker
from tests.service.test_releasing import at

pytestmark = pytest.mark.processes
ROSTER = "student,name\nada,Ada Lovelace\nben,Ben Bitdiddle\ncyd,Cyd Noprogram\n"
ANSWERS = {"ada": "pass", "ben": "resign"}  # to genmove


def program(answer):
    code = small_class.ENGINE.format(body="return 2 * n")

    move = f"    if words[0] == 'genmove': answer = {answer!r}\n    print("
    return code.replace("    print(", move, 1)


def graded(service):
    """Return a course whose submissions play, and the path of their grading."""
    course = make_course(service, ROSTER, deadline=at(-5))
    for name, answer in ANSWERS.items():
        student = Browser(service).enter(course.links[name])
        files = {"engine.py": program(answer), "readme.txt": "Me.\n"}
        hand_in(student, course, small_class.archive(files))
        work(service)
    return course, grade(service, course)


def test_released_submissions_play_and_students_see_their_own_games(service, counting):
    course, grading = graded(service)
    before = course.teacher.get(grading).text
    assert "Start the tournament" not in before
    refused = course.teacher.post(f"{grading}/tournament", grading, points="3")
    assert refused.status_code == 409
    course.teacher.post(f"{grading}/release", grading, sure="yes", early="yes")
    assert "Start the tournament" in course.teacher.get(grading).text
    for wrong in (
        {"points": "many"},
        {"points": "1e999999999"},
        {"points": "3", "format": "gauntlet"},
    ):
        assert course.teacher.post(f"{grading}/tournament", grading, **wrong).status_code == 422
    assert "The submissions are playing" not in course.teacher.get(grading).text

    begun = course.teacher.post(f"{grading}/tournament", grading, points="3", format="round-robin")
    assert "The submissions are playing" in begun.text
    work(service)
    assert "Play again" in course.teacher.get(grading).text
    table = course.teacher.get(f"{grading}/tournament/table.csv").text.splitlines()
    assert [line.split(",")[0] for line in table[1:]] == ["ada", "ben", "cyd"]
    assert table[1].endswith(",3")
    assert table[-1].endswith(",0")
    assert "Ben Bitdiddle" in course.teacher.get(f"{grading}/tournament/index.html").text

    marks = {}
    for name in ANSWERS:
        student = Browser(service).enter(course.links[name])
        own = f"{course.assignment}/mark/tournament"
        marks[name] = student.get(f"{course.assignment}/mark").text
        assert f"{own}/index.html" in marks[name]
        text = student.get(f"{own}/index.html").text
        others = {"ada": "Bitdiddle", "ben": "Lovelace"}
        assert others[name] not in text
        assert "Noprogram" not in text
        assert "No. 3" in text
        assert student.get(f"{own}/../../../options.json").status_code == 404
        assert student.get(f"{own}/table.csv").status_code == 404
        assert student.get(f"{grading}/tournament/index.html").status_code == 404
    with service.database.reading() as db:
        (teacher, *_) = courses.MEMBERS.all(db, role="teacher")
    api = Asker(service, teacher.person)
    shown = api.get(f"{grading}/tournament")
    assert (shown["state"], shown["format"], shown["points"]) == ("played", "round-robin", "3")
    assert [one["student"] for one in shown["ranks"]] == ["ada", "ben", "cyd"]
    assert course.teacher.post(f"{grading}/tournament/count", grading).status_code == 200
    given = api.get(f"{course.assignment}/overrides")["items"]
    assert {one["student"]: one["reason"].partition(",")[0] for one in given} == {
        "ada": "Tournament: rank 1 of 3",
        "ben": "Tournament: rank 2 of 3",
        "cyd": "Tournament: rank 3 of 3",
    }
    again = api.post(f"{grading}/tournament/count", status=200)  # nothing is added twice
    assert again == {"unchanged": []}
    assert [one["points"] for one in api.get(f"{course.assignment}/overrides")["items"]] == [
        one["points"] for one in given
    ]
    own = {"points": "1", "reason": "agreed with Ada"}
    api.ask("PUT", f"{course.assignment}/students/ada/override", json=own)
    api.post(f"{grading}/tournament", {"points": "2"}, status=200)
    assert api.get(f"{grading}/tournament")["state"] == "playing"
    kept = api.post(f"{grading}/tournament/count", status=200)
    assert kept == {"unchanged": ["ada: somebody gave another mark"]}
    counted = course.teacher.post(f"{grading}/tournament/count", grading)
    assert "<li>ada: somebody gave another mark</li>" in counted.text
    cyd = Browser(service).enter(course.links["cyd"])
    assert cyd.get(f"{course.assignment}/mark/tournament/index.html").status_code in (200, 404)


def states(service):
    with service.database.reading() as db:
        return [one.state for one in queue.JOBS.all(db, kind=TOURNAMENT)]


def test_a_tournament_that_is_begun_twice_is_played_by_one_worker(service, counting, monkeypatch):
    """A second click begins it anew while a worker plays, with the same choice or another."""
    course, grading = graded(service)
    course.teacher.post(f"{grading}/release", grading, sure="yes")
    course.teacher.post(f"{grading}/tournament", grading, points="3", format="round-robin")
    worker = Worker(service.settings, service.database)
    folder = service.settings.data / f"assignments/{Path(course.assignment).name}/tournaments"
    folder /= Path(grading).name

    def begin_anew(*about):
        if states(service) == [LEASED]:
            course.teacher.post(f"{grading}/tournament", grading, points="1", format="swiss")
        return load_plan(*about)

    load_plan = attempt_plan.load_last_plan
    with monkeypatch.context() as patch:
        patch.setattr(attempt_plan, "load_last_plan", begin_anew)
        patch.setattr(tournaments, "_PAUSE", 0.0, raising=False)
        worker.step()
    assert states(service) == [WAITING]
    assert not tournaments.load_table(folder)  # of the former choice
    work(service)
    assert tournaments.load_table(folder)[0]["points"] == "1"

    journal = max(folder.glob("games-*.jsonl"), key=lambda path: path.stat().st_mtime)
    course.teacher.post(f"{grading}/tournament", grading, points="3", format="swiss")
    with journal.open("a") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)  # the process of the other worker, which is ending
        worker.step()
        assert states(service) == [WAITING]
