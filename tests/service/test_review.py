"""A class as a list: filtered, acted on at once, and reviewed from student to student."""

import re

import pytest

from harness.service.records import FAULT
from harness.service.storage import courses, queue, uploads
from tests.harness import small_class
from tests.service.serving import Browser, grade_public, hand_in, make_course, work
from tests.service.test_live_looks import count_statements
from tests.service.test_standing import keys, table
from tests.service.test_student import at

pytestmark = pytest.mark.processes
GOOD = small_class.submission("return 2 * n")
LATER = "2999-02-03T04:05"


def make_class(service, count, **dates):
    """Make a course of students s1, s2 …; return it."""
    roster = "".join(f"s{i}\n" for i in range(1, count + 1))
    return make_course(service, f"student\n{roster}", **dates)


def submit(service, course, *students, archive=GOOD):
    """Let some students submit."""
    for one in students:
        hand_in(Browser(service).enter(course.links[one]), course, archive)


def links(text):
    """Return where the page of a student leads: to the one before, and to the one after."""
    return dict(re.findall(r'rel="(next|prev)" href="([^"]*)"', text))


def test_a_list_is_filtered_searched_and_sorted_by_its_address(service, counting):
    course = make_class(service, 11, deadline=at(9))
    submit(service, course, "s2", "s10")
    submit(service, course, "s11", archive=b"no archive")
    work(service)
    tess, page = course.teacher, course.assignment
    every = [f"s{i}" for i in range(1, 12)]
    for query, wanted in (
        ("", every),
        ("?order=-student", every[::-1]),
        ("?show=submitted", ["s2", "s10", "s11"]),
        ("?show=refused", ["s11"]),
        ("?show=nothing", [one for one in every if one not in ("s2", "s10", "s11")]),
        ("?find=S1", ["s1", "s10", "s11"]),
        ("?find=s1&show=submitted&order=-submitted", ["s10", "s11"]),
        ("?show=all%27+or+1&order=password&find=%00", []),  # nobody has that in the name
        ("?show=nonsense&order=nonsense", every),
    ):
        assert keys(tess.get(f"{page}{query}").text) == wanted, query
    assert "3 of 11 submitted" not in tess.get(page).text  # one was refused
    assert "2 of 11 submitted" in tess.get(page).text


def test_a_mark_that_is_given_leads_on_or_stays_in_the_list(service, counting):
    """Also where the filter does not fit any longer."""
    course = make_class(service, 3, deadline=at(9))
    submit(service, course, "s1", "s2", "s3")
    grade_public(service, course)
    tess, place = course.teacher, f"{course.assignment}/students"
    for key in ("s1", "s3"):
        with service.database.changing() as db:
            (one,) = uploads.MARKS.all(db, key=key)
            told = one.marks.replace('"withheld":false', '"withheld":true')
            uploads.MARKS.change(db, {"marks": told}, key=key)
    listed = tess.get(course.assignment).text
    assert "2 need you" in listed and "Review 2<" in listed
    first = re.search(r'href="([^"]*)">Review 2<', listed)[1]
    assert first == f"{place}/s1?show=attention"
    told = {"points": "3", "reason": "seen"}
    answer = tess.post(f"{place}/s1/override?show=attention", first, **told, then="next")
    assert str(answer.url).endswith("/students/s3?show=attention") and "1 of 1" in answer.text
    answer = tess.post(f"{place}/s3/override?show=attention", first, **told)
    assert str(answer.url).endswith("/students/s3?show=attention")
    assert "No longer in the list of 0" in answer.text
    listed = tess.get(course.assignment).text
    assert "0 need you" in listed and ">Release marks<" in listed
    wrong = tess.post(f"{place}/s2/override?show=submitted", f"{place}/s2", points="9", reason="x")
    assert wrong.status_code == 422 and "2 of 3" in wrong.text  # in the same list


def test_several_students_are_acted_on_at_once(service, counting):
    course = make_class(service, 4, deadline=at(1))
    tess, page = course.teacher, course.assignment
    submit(service, course, "s1", "s2")
    with service.database.changing() as db:
        queue.JOBS.change(db, {"state": FAULT, "fault": "died"}, key="s1")
        queue.JOBS.change(db, {"state": FAULT, "fault": "died"}, key="s2")
    assert keys(tess.get(f"{page}?show=attention").text) == ["s1", "s2"]
    answer = tess.post(f"{page}/class/check?show=attention", page, chosen=["s1"])
    assert str(answer.url.query, "ascii") == "show=attention" and keys(answer.text) == ["s2"]
    answer = tess.post(f"{page}/class/extension", page, chosen=["s2", "s3"], deadline=LATER)
    assert [row[0] for row in table(answer.text) if "Extension" in row[5]] == ["s2", "s3"]
    tess.post(f"{page}/class/comment?show=nothing", page, all="yes", text="Hello?")
    with service.database.reading() as db:
        assigned = page.rpartition("/")[2]
        assert sorted(courses.extensions(db, assigned)) == ["s2", "s3"]
        assert sorted(one.key for one in uploads.COMMENTS.all(db)) == ["s3", "s4"]
    for action, fields, said in (
        ("extension", {"deadline": LATER}, "choose some in the table first"),
        ("extension", {"chosen": ["s1"]}, "choose one first"),
        ("extension", {"chosen": ["s1", "zoe"], "deadline": LATER}, "&#x27;zoe&#x27; is not in"),
        ("comment", {"chosen": ["s1"], "text": " "}, "found 0 characters"),
        ("check", {"chosen": ["s4"]}, "every submission of these was checked"),
    ):
        refused = tess.post(f"{page}/class/{action}", page, **fields)
        assert refused.status_code == 422, action
        assert said in refused.text.replace("&#39;", "&#x27;"), action
        chosen = re.findall(r'value="(\w+)" aria-label="[^"]*" checked', refused.text)
        assert chosen == [one for one in fields.get("chosen", []) if one != "zoe"]
    with service.database.reading() as db:  # nobody of a form that is refused
        assert sorted(courses.extensions(db, assigned)) == ["s2", "s3"]


def test_a_key_with_any_letters_is_led_to(service, counting):
    course = make_course(service, "student,name,group\nada,Ada,Übung 3/4?&\nben,Ben,\n")
    tess, place = course.teacher, f"{course.assignment}/students"
    address = links(tess.get(f"{place}/ben?find=a").text) or links(tess.get(f"{place}/ben").text)
    for one in address.values():
        assert tess.get(one.replace("&amp;", "&")).status_code == 200


_ONCE = re.compile(r'name="(once|form_token)" value="\w+"')


def test_a_student_sees_no_difference_before_the_release(service, counting):
    """Whether there is a mark, or which filter the address has, which is the staff's."""
    course = make_class(service, 2, deadline=LATER)
    ada = Browser(service).enter(course.links["s1"])
    upload = hand_in(ada, course, GOOD).url.path
    work(service)

    def see():
        paths = (course.assignment, f"{course.assignment}?show=attention&find=s2", upload)
        more = (course.course, f"{course.assignment}/mark")
        pages = [_ONCE.sub("", ada.get(path).text) for path in (*paths, *more)]
        assert pages[0] == pages[1]
        return pages

    before = see()
    assert "Passed all 4 tests." in before[0] and "Passed all 4 tests." in before[2]
    grading, _ = grade_public(service, course)
    page = f"{course.assignment}/students/s1"
    course.teacher.post(f"{page}/override", page, points="1", reason="seen")
    assert see() == before
    course.teacher.post(f"{grading}/release", grading, early="yes")
    work(service)
    after = see()
    assert "Your mark is 1 of 5, given by your teacher" in after[0]
    hand_in(ada, course, small_class.submission("return 7"))
    assert "Your newer submission is not in it" in see()[0]


def test_a_page_asks_the_database_as_often_for_few_students_as_for_many(service, counting):
    before, after = [], []
    for number in (2, 4):
        course = make_class(service, number, deadline=at(9))
        submit(service, course, *(f"s{i}" for i in range(1, number)))
        before.append(count_for_pages(service, course))
        grade_public(service, course)
        for i in range(1, number):
            page = f"{course.assignment}/students/s{i}"
            course.teacher.post(f"{page}/override", page, points="3", reason="x")
        after.append(count_for_pages(service, course))
    for counts in (before, after):
        assert counts[0] == counts[1] and max(counts[1]) < 60


def count_for_pages(service, course):
    """Return how many statements pages of a class take."""
    queries = ("", "?show=submitted&order=-mark&find=s", "/students/s1?show=submitted")
    counts = []
    for query in queries:
        with count_statements(service) as found:
            assert course.teacher.get(course.assignment + query).status_code == 200
        counts.append(len(found))
    return counts
