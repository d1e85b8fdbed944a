"""Which submission counts: pages, events and the API name the one that a grading takes."""

import re

import pytest

from harness.assignments import assignment as assignments
from harness.assignments import contents
from harness.core.errors import ReadingFailedError
from harness.grading.ingest import sources
from harness.grading.records import Submission
from harness.service.courses import submissions
from harness.service.jobs import assignment_context
from harness.service.records import Upload
from harness.service.storage import courses, uploads
from harness.work import canonical_json
from tests.harness import small_class
from tests.service.serving import FUTURE, Browser, hand_in, make_course, rows, work
from tests.service.test_api_submissions import client_of, place
from tests.service.test_own_files import FILES, as_archive, send

pytestmark = pytest.mark.processes

ROSTER = "student,name\nada,Ada Right\n"
GOOD = small_class.submission("return 2 * n")
KINDS_OF_UPLOADS = {
    "good": GOOD,
    "junk": b"no archive",
    "none": small_class.archive({"picture.png": "x"}),
    "unread": GOOD,
    "withdrawn": GOOD,
}


def wanting_others(service):
    """Return a course with an assignment that wants other files than its newer upload, FILES."""
    course = make_course(service, ROSTER, source="go-scoring")
    wants = FILES["assignment.toml"].replace('"engine.py", "readme.txt"', '"other.txt"')
    files = {**FILES, "assignment.toml": wants.replace('"*.py"', '"other.py"')}
    answer = send(course, as_archive(files), deadline=FUTURE)
    return course._replace(assignment=answer.url.path)


def use_newer(course):
    place_ = f"{course.assignment}/source"
    answer = course.teacher.post(place_, course.assignment, as_archive(FILES))
    assert answer.status_code == 200


@pytest.fixture(autouse=True)
def unreadable(monkeypatch):
    """Let the harness fail to read what is called unread."""
    inspect = contents.inspect_archive

    def fail_or_inspect(path, assignment, name):
        if "unread" in name:
            raise ReadingFailedError("the disk is full")
        return inspect(path, assignment, name)

    monkeypatch.setattr(contents, "inspect_archive", fail_or_inspect)


def start(service):
    course = make_course(service, ROSTER, deadline=FUTURE)
    return course, Browser(service).enter(course.links["ada"])


def hand_in_all(service, course, ada, words):
    """Hand in uploads of these kinds, each called by its number; withdraw what is to be."""
    pages = [
        hand_in(ada, course, KINDS_OF_UPLOADS[word], f"{number}-{word}.tgz").url.path
        for number, word in enumerate(words)
    ]
    for page, word in zip(pages, words, strict=True):
        if word == "withdrawn":
            assert ada.post(f"{page}/withdraw", page, sure="yes").status_code == 200
    return pages


def taken_by_a_grading(service):
    """Return what a grading takes, by the code of the command line; empty: all is refused."""
    with service.database.reading() as db:
        (assigned,) = courses.ASSIGNMENTS.all(db)
        (entry,) = submissions.entries(db, service.store, assigned)
    found = sources.receive(entry, assignments.find(assigned.source), service.store)
    return "" if found.refused else found.name


# Uploads that are checked; uploads that wait for their check then; what the list says of each.
SEQUENCES = [
    ("good none junk", "", ["counts", "refused", "refused"]),
    ("good good", "", ["passed over", "counts"]),
    ("good unread junk", "", ["passed over", "unread", "refused"]),
    ("good withdrawn", "", ["counts", ""]),
    ("junk withdrawn", "", ["refused", ""]),
    ("good", "good junk", ["counts", "may count", "may count"]),
    ("junk", "good", ["refused", "may count"]),
    ("unread", "good", ["unread", "may count"]),
    ("", "good", ["may count"]),
]


@pytest.mark.parametrize(("checked", "waiting", "expected"), SEQUENCES)
def test_what_counts_is_what_a_grading_takes(service, counting, checked, waiting, expected):
    course, ada = start(service)
    words = checked.split()
    hand_in_all(service, course, ada, words)
    work(service)
    with service.database.reading() as db:
        (assigned,) = courses.ASSIGNMENTS.all(db)
        before = submissions.history_of(db, assigned, "ada")
    assert (before.last.name if before.last else "") == taken_by_a_grading(service)
    hand_in_all(service, course, ada, waiting.split())
    with service.database.reading() as db:
        heap = submissions.history_of(db, assigned, "ada")
        found = [heap.places.get(one.id, "") for one in heap.all]
    assert found == expected
    work(service)
    with service.database.reading() as db:
        last = submissions.history_of(db, assigned, "ada").last
    assert (last.name if last else "") == taken_by_a_grading(service)


def test_page_and_api_say_which_one_counts_before_and_after_the_check(service, counting):
    course, ada = start(service)
    first = hand_in(ada, course, GOOD, "first.tgz").url.path
    assert "Until then none counts." in ada.get(first).text
    work(service)
    second = hand_in(ada, course, b"no archive", "second.tgz").url.path
    told = ada.get(second).text
    assert re.search(
        r'id="place"[^>]*>This one will count if the check does not refuse it\.'
        r" Until then the submission first\.tgz of [\w :,]+ counts\.<",
        told,
    )
    assert states(ada, course) == [
        ("first.tgz", "checked this one counts"),
        ("second.tgz", "waiting to be checked counts if the check does not refuse it"),
    ]
    assert listed(service, course) == [("checked", True, False, ""), ("waiting", False, True, "")]
    assert "a later one waits for its check" in course.teacher.get(course.assignment).text
    work(service)
    told = ada.get(second).text
    why = re.search(r"could not be used\. (The file second\.tgz is refused: .*?\.)<", told)
    assert "You can resubmit" in told
    assert re.search(r"The submission first\.tgz of [\w :,]+ counts instead\.", told)
    assert states(ada, course) == [
        ("first.tgz", "checked this one counts"),
        ("second.tgz", f"refused {why[1]}"),
    ]
    assert listed(service, course) == [
        ("checked", True, False, ""),
        ("refused", False, False, why[1]),
    ]
    page = course.teacher.get(course.assignment).text
    assert re.search(r"Checked</span> <span[^>]*>a later one is refused<", page)
    told = ada.get(course.assignment).text
    why_it_counts = "counts, because it is the last one that is not refused."
    assert re.search(rf"Of your 2 submissions, [^<]*first[^<]* {why_it_counts}", told)
    assert why[1] in course.teacher.get(f"{course.assignment}/students/ada").text
    assert why[1] in course.teacher.get(second).text


def states(ada, course):
    """Return the files of a student's list with their states, without tags."""
    found = rows(ada.get(course.assignment).text)
    return [(row[1], re.sub(r"<[^>]+>", "", row[2])) for row in found]


def listed(service, course):
    with client_of(service, "ada") as client:
        found = list(client.items(place(course).path))
        for one in found:
            alone = client.get(f"{place(course).path}/{one['id']}")
            assert {name: alone[name] for name in one} == one
            assert ("This one counts." in alone["place"]) is one["counts"]
    return [tuple(one[name] for name in ("state", "counts", "may_count", "refused"))
            for one in found]  # fmt: skip


@pytest.mark.parametrize("why", ["", 'it is called "refused":"", as a joke'])
def test_a_refusal_is_read_from_the_record_of_a_check(why):
    submission = Submission("ada", (), name='"refused":""', refused=why)
    record = canonical_json.dumps(submission)
    upload = Upload("u", "a", "ada", "p", "a.tgz", "0" * 64, 1, 1.0, record=record)
    assert submissions.refusal(upload) == why
    assert submissions.refusal(upload._replace(record="")) == ""


def test_the_page_of_the_course_tells_a_student_which_one_counts(service, counting):
    course, ada = start(service)
    assert own_cell(ada, course) == ("nothing submitted", "")
    (first,) = hand_in_all(service, course, ada, ["good"])
    told, link = own_cell(ada, course)
    assert "waiting to be checked <b>counts if the check does not refuse it</b>" in told
    work(service)
    told, link = own_cell(ada, course)
    assert told.endswith(": checked <b>this one counts</b>") and link == first
    hand_in_all(service, course, ada, ["junk"])
    work(service)
    told, link = own_cell(ada, course)
    assert told.endswith("checked; a later one is refused <b>this one counts</b>")
    assert link == first
    assert "Your submission" not in course.teacher.get(course.course).text


def own_cell(student, course):
    """Return what the page of a course says of the student's submissions, and where it leads."""
    text = student.get(course.course).text
    ((*_, told),) = rows(text)
    link = re.search(r'href="([^"]*/uploads/\w+)"', text)
    return told, link[1] if link else ""


def test_events_tell_as_soon_as_an_upload_is_read(service, counting):
    course, ada = start(service)
    first, second = hand_in_all(service, course, ada, ["good", "junk"])
    work(service)
    assert "event: place\ndata: This one counts.\n\n" in ada.get(f"{first}/events").text
    told = ada.get(f"{second}/events").text
    assert "event: place\ndata: This one does not count. The file 1-junk.tgz is refused" in told


def test_a_newer_upload_of_an_assignment_lets_all_be_checked_again(service):
    """Other files are wanted: what was refused before counts now."""
    course = wanting_others(service)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course, GOOD).url.path
    work(service)
    assert "Your submission could not be used." in ada.get(page).text
    use_newer(course)
    assert "Until then none counts." in ada.get(page).text
    work(service)
    assert "This one counts." in ada.get(page).text and "4 passed" in ada.get(page).text
    with service.database.reading() as db:
        assert uploads.UPLOADS.find(db).run


def test_a_check_that_a_newer_upload_overtakes_says_nothing(service, monkeypatch):
    """It read the submission for the upload before; the check queued since reads it anew."""
    course = wanting_others(service)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course, GOOD).url.path
    found = []

    def overtaken(*rest):
        if not found:
            found.append(use_newer(course))
        return sources.receive(*rest)

    monkeypatch.setattr(assignment_context, "receive", overtaken)
    work(service)
    assert found and "This one counts." in ada.get(page).text
    assert "4 passed" in ada.get(page).text


def test_after_one_that_could_not_be_read_no_earlier_one_is_said_to_count(service, counting):
    course, ada = start(service)
    *_, page = hand_in_all(service, course, ada, ["good", "unread"])
    work(service)
    assert "No earlier one counts in its place. Your teacher can start" in ada.get(page).text
    assert states(ada, course)[0] == ("0-good.tgz", "checked")
    last = hand_in(ada, course, b"no archive").url.path
    said = "there is no mark, because we failed to read the submission 1-unread.tgz"
    assert f"Until then {said}" in ada.get(last).text
    work(service)
    assert "1-unread.tgz" in ada.get(last).text and "0-good" not in ada.get(last).text
