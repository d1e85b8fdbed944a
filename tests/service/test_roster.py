"""A second roster: it corrects what it says, keeps what it does not say, and tells all it did."""

import html
import itertools
import json
import re
import threading

import pytest

from harness.service.courses import roster
from harness.service.people import accounts
from harness.service.records import STUDENT, TEACHER, Member
from harness.service.storage import courses, people
from tests.harness import archives
from tests.service.serving import BASE, Browser, client_of, make_course, read_roster, rows

FIRST = (
    "student,name,group,email,canvas\nada,Ada,duo,ada@wrong.org,11\nben,Ben,duo,,12\ncyd,Cyd,,,\n"
)


@pytest.fixture
def course(service, counting):
    return make_course(service, FIRST)


def upload(course, text, name="class.csv"):
    """Upload a roster on the page; return the answer."""
    files = {"file": (name, text.encode())}
    return course.teacher.post(f"{course.course}/roster", course.course, files)


def known(service):
    """Return by keys what is known of the students: the person and the member."""
    with service.database.reading() as db:
        members = courses.MEMBERS.all(db, "key", role=STUDENT)
        return {one.key: (people.PEOPLE.find(db, id=one.person), one) for one in members}


def list_groups(service):
    return {key: member.team for key, (_, member) in known(service).items()}


def what_was_noted(service, what):
    with service.database.reading() as db:
        return [one.details for one in service.database.log.entries(db) if one.what == what]


# --- names and addresses -----------------------------------------------------------------------


def test_a_corrected_address_and_name_take_effect(service, course):
    course.teacher.post(f"{course.course}/links/send", page=course.course, sure="yes")
    page = upload(course, "student,name,email\nada,Ada Lovelace,ada@right.org\n").text
    person, member = known(service)["ada"]
    assert (person.name, person.email) == ("Ada Lovelace", "ada@right.org")
    assert member.name == "Ada Lovelace"
    assert ["Ada Lovelace", "name", "Ada", "Ada Lovelace"] in rows(page)
    assert ["Ada Lovelace", "mail address", "ada@wrong.org", "ada@right.org"] in rows(page)
    with service.database.reading() as db:  # a mail that waits goes to the right one
        assert [one.address for one in people.LETTERS.all(db)] == ["ada@right.org"]
    (noted,) = what_was_noted(service, "mail address changed")
    assert json.loads(noted) == {"was": "ada@wrong.org", "now": "ada@right.org"}


def test_who_got_a_link_at_the_wrong_address_is_out(service, course):
    stranger = Browser(service).enter(course.links["ada"])
    made = stranger.post("/tokens", "/tokens", name="x", scope="all", days="9")
    secret = re.search(r"gtph_[-\w]+", made.text)[0]
    headers = {"authorization": f"Bearer {secret}"}
    assert client_of(service).get("/api/v1/me", headers=headers).status_code == 200
    ben = Browser(service).enter(course.links["ben"])
    page = upload(course, "student,email\nada,ada@right.org\nben,ben@right.org\n").text
    assert "Ada (ada) has another mail address: former links no longer work" in page
    assert stranger.get("/").url.path == "/sign-in"
    assert Browser(service).get(course.links["ada"].removeprefix(BASE)).status_code == 404
    assert client_of(service).get("/api/v1/me", headers=headers).status_code == 401
    assert ben.get("/").url.path == "/courses"  # who had none before has lost nothing
    Browser(service).enter(course.links["ben"])


def test_what_a_file_does_not_say_stays(service, course):
    for text in ("student\nada\n", "student,name,email,canvas\nada,,,\n"):
        page = upload(course, text).text
        assert "0 added, 0 changed, 1 as before" in page
    person, member = known(service)["ada"]
    assert (person.name, person.email, member.name) == ("Ada", "ada@wrong.org", "Ada")


@pytest.mark.parametrize("who", ["teaches", "learns", "is an administrator"])
def test_somebody_with_rights_elsewhere_is_not_changed(service, course, who):
    """Else a teacher could sign in as an administrator, or as a teacher of another course."""
    person, before = known(service)["ada"]
    with service.database.acting() as act:
        other = courses.COURSES.all(act.db)[0]._replace(id="other", title="Other")
        courses.COURSES.add(act.db, other)
        role = {"teaches": TEACHER, "learns": STUDENT}.get(who)
        if role:
            courses.MEMBERS.add(act.db, Member("other", person.id, role, key="lovelace"))
        else:
            people.PEOPLE.change(act.db, {"is_admin": 1}, id=person.id)
    page = upload(course, "student,name,email,sub\nada,Ada L,me@evil.org,s1\n").text
    assert "Ada L (ada): not changed: mail address, sub." in page
    with service.database.reading() as db:
        found = people.PEOPLE.find(db, id=person.id)
        member = courses.MEMBERS.find(db, person=person.id, course=before.course)
    assert (found.name, found.email, member.ids) == ("Ada", "ada@wrong.org", before.ids)
    assert member.name == "Ada L"  # the list of the course is the teacher's
    links = course.teacher.post(f"{course.course}/links", sure="yes").text.splitlines()
    assert "ada,Ada L,ada@wrong.org," in links  # without a link, by which the teacher could enter
    Browser(service).enter(course.links["ada"])


def test_a_student_of_two_courses_of_one_teacher_is_changed(service, course):
    person, _ = known(service)["ada"]
    with service.database.acting() as act:
        (teacher,) = courses.MEMBERS.all(act.db, role=TEACHER)
        courses.COURSES.add(act.db, courses.COURSES.all(act.db)[0]._replace(id="other"))
        courses.MEMBERS.add(act.db, Member("other", teacher.person, TEACHER))
        courses.MEMBERS.add(act.db, Member("other", person.id, STUDENT, key="lovelace"))
        assert accounts.may_be_changed_by(act.db, person, teacher.person)
        assert not accounts.may_be_changed_by(act.db, person, "")


def test_a_name_that_somebody_chose_stays(service, course):
    ada = Browser(service).enter(course.links["ada"])
    assert ada.post("/me", "/me", name="Countess").status_code == 200
    upload(course, "student,name\nada,Ada L\n")
    person, member = known(service)["ada"]
    assert (person.name, member.name) == ("Countess", "Ada L")


# --- groups and ids ----------------------------------------------------------------------------

GROUPS = [
    ("student,name\nada,Ada\nben,Ben\ncyd,Cyd\n", {"ada": "duo", "ben": "duo", "cyd": ""}),
    ("student,group\nada,\nben,duo\n", {"ada": "", "ben": "duo", "cyd": ""}),
    ("student,name,group\nada,Ada\ncyd,Cyd,trio\n", {"ada": "", "ben": "duo", "cyd": "trio"}),
]


@pytest.mark.parametrize(("text", "groups"), GROUPS)
def test_groups_change_only_where_the_file_tells_of_groups(service, course, text, groups):
    assert upload(course, text).status_code == 200
    assert list_groups(service) == groups


def test_groups_that_are_spelled_alike_are_told(service, course):
    page = html.unescape(upload(course, "student,group\nben,DUO\n").text)  # duo was there before
    assert "'DUO', 'duo' are 2 groups" in page and "If they are one" in page


ACROSS = [  # rosters one after the other; groups of the same name are one
    (
        ["ada,Team 1\nben,Team 1", "cyd,Team/1"],
        {"ada": "Team 1", "ben": "Team 1", "cyd": "Team/1"},
    ),
    (["ada,Team 1", "cyd,Team/1", "cyd,Team 1"], {"ada": "Team 1", "cyd": "Team 1"}),
    (["ada,Team 1\nben,Team 1", "ada,Team/1\nben,Team/1"], {"ada": "Team/1", "ben": "Team/1"}),
    (["ada,Team 1\nben,Team 1", "ada,TEAM 1"], {"ada": "TEAM 1", "ben": "Team 1"}),
]


@pytest.mark.parametrize(("texts", "names"), ACROSS)
def test_a_group_of_a_later_roster_joins_none_that_is_spelled_otherwise(
    service, course, texts, names
):
    pages = [html.unescape(upload(course, f"student,group\n{one}\n").text) for one in texts]
    found = list_groups(service)
    for one, other in itertools.combinations(names, 2):
        assert (found[one] == found[other]) == (names[one] == names[other])
    spelled = sorted(set(names.values()))
    told = f"{', '.join(map(repr, spelled))} are 2 groups. If they are one"
    assert (told in pages[-1]) == (len(spelled) == 2) and pages[-1].count("2 groups") < 2


def test_a_group_keeps_its_key_whatever_groups_come_later(service, course):
    upload(course, "student,group\nada,Team/1\n")
    before = list_groups(service)["ada"]
    upload(course, "student,group\nada,Team/1\nben,Team 1\n")
    assert list_groups(service)["ada"] == before
    upload(course, "student,group\nada,Team:1\n")  # all of it, in another spelling
    assert list_groups(service)["ada"] == before


def test_ids_of_another_platform_are_added(service, course):
    text = "student;moodle;canvas\nada;501;\nben;502;13\n"
    page = upload(course, text).text
    ids = {key: dict(json.loads(one.ids)) for key, (_, one) in known(service).items()}
    assert ids["ada"] == {"canvas": "11", "moodle": "501", "email": "ada@wrong.org"}
    assert ids["ben"] == {"canvas": "13", "moodle": "502"}
    assert ["Ada", "moodle", "none", "501"] in rows(page)
    assert ["Ben", "canvas", "12", "13"] in rows(page)


# --- what is told ------------------------------------------------------------------------------


def test_the_page_sums_up_what_was_done(service, course):
    text = "student,name,group\nada,Ada L,duo\nben,Ben,duo\ndan,Dan <b>,\ndan,Dan <b>,\n"
    page = upload(course, text, "Class <5>.csv").text
    assert "Class &lt;5&gt;.csv: <b>1 added, 1 changed, 1 as before</b>" in page
    assert "1 student of the course is not in this file: Cyd." in page
    assert "Class &lt;5&gt;.csv:5: dan is also in line 4; both say the same." in page
    assert "<li>Dan &lt;b&gt;" in page
    course.teacher.post(
        f"{course.course}/students/remove", course.course, student="cyd", sure="yes"
    )
    again = upload(course, "student\ncyd\ndan\n").text
    assert "0 added, 1 added again, 0 changed, 1 as before" in again
    assert "2 students of the course are not in this file: Ada L, Ben." in again


REFUSED = [
    ("student,name\nzoe,Zoe\nada,Ada\nada,Eva\n", "found &#39;Eva&#39; for ada"),
    ("student,group\nzoe,ada\n", "a student of this course is called so, too"),
    ("name\nada\n", "Class &lt;5&gt;.csv:1: found name, expected a column"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_a_roster_that_is_refused_changes_nothing(service, course, text, said):
    before = known(service)
    answer = upload(course, text, "Class <5>.csv")
    assert answer.status_code == 422 and said in answer.text
    assert "This was not done." in answer.text and "Unprocessable" not in answer.text
    assert known(service) == before


def test_a_student_who_seems_to_be_there_under_another_key_is_told(service, course):
    upload(course, 'student,name\ncyd,"Charisse, Cyd"\n')
    page = upload(course, "student,name\n4711,Cyd Charisse\n4712,Dan\nada,Ada\n").text
    assert "Cyd Charisse was added as 4711; the course also has Charisse, Cyd as cyd." in page
    assert page.count("If this is one person") == 1


def test_two_rosters_at_once_add_nobody_twice(service, course):
    with service.database.reading() as db:
        (teacher,) = courses.MEMBERS.all(db, role=TEACHER)

    def take():
        with service.database.acting(teacher.person) as act:
            roster.take(act, teacher.course, read_roster(b"student\nzoe\n"))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    with service.database.reading() as db:
        assert len(courses.MEMBERS.all(db, course=teacher.course, key="zoe")) == 1


def test_a_roster_by_the_service_itself_changes_nobodys_address(service, course):
    _, member = known(service)["ada"]
    with service.database.acting() as act:
        found = roster.take(act, member.course, read_roster(b"student,email\nada,x@y.org\n"))
        accounts.add_person(act, "Tom")
    assert found.changed == () and "not changed: mail address" in found.remarks[0]


# --- who is who --------------------------------------------------------------------------------

ALIKE = [  # ids that make one key
    ("anna maria", "anna-maria"),
    (".", ".."),
    ("a/b", "a b"),
    ("con", "student-con"),
]


def shown(service):
    """Return by the ids of a roster the person and the name there."""
    members = [one for _, one in known(service).values()]
    return {one.roster_id: (one.person, one.name) for one in members}


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_an_id_like_another_one_never_gets_its_account(service, counting, first, second):
    course = make_course(service, f"student,name\n{first},First\n")
    for _ in range(2):  # in a later roster, and in one more
        upload(course, f"student,name\n{second},Second\n")
    before, keys = shown(service), sorted(known(service))
    assert {one: name for one, (_, name) in before.items()} == {first: "First", second: "Second"}
    for one, name, other in ((second, "Second", "First"), (first, "First", "Second")):
        page = upload(course, f"student,name,email\n{one},{name},{name}@b.org\n").text
        assert "0 added, 1 changed, 0 as before" in page or "0 added, 0 changed" in page
        assert f"is not in this file: {other}." in page
    assert shown(service) == before and sorted(known(service)) == keys
    for person, name in before.values():
        with service.database.reading() as db:
            assert people.PEOPLE.find(db, id=person).email == f"{name}@b.org"


PEOPLE = [("Käthe", "Größe", "kg@x.org", "101", "55"), ("Alan", "Turing", "at@x.org", "102", "56")]
PARTICIPANTS = "First name,Last name,Email address\n" + "".join(
    f"{first},{last},{mail}\n" for first, last, mail, *_ in PEOPLE
)
WORKSHEET = "Identifier,Full name,Email address,Grade,Feedback comments\n" + "".join(
    f"Participant {moodle},{first} {last},{mail.title()},,\n"
    for first, last, mail, _, moodle in PEOPLE
)
LATER = WORKSHEET.replace("t 5", "t 75")  # Moodle numbers each assignment's participants anew
CANVAS = "Student,ID,SIS Login ID,Section,Games (9)\n" + "".join(
    f'"{last}, {first}",{canvas},{first.lower()},A,\n' for first, last, _, canvas, _ in PEOPLE
)
CANVAS_ZIP = archives.make_zip(
    (f"{(last + first).lower()}_{canvas}_4001_a.tgz", b"x") for first, last, _, canvas, _ in PEOPLE
)
MOODLE_ZIP = archives.make_zip(
    (f"{first} {last}_{moodle}_assignsubmission_file/a.tgz", b"x")
    for first, last, _, _, moodle in PEOPLE
)
DOWNLOADS = [
    (PARTICIPANTS, WORKSHEET),
    (WORKSHEET, PARTICIPANTS),
    (WORKSHEET, LATER),
    (WORKSHEET, MOODLE_ZIP),
    (CANVAS, CANVAS_ZIP),
    (CANVAS_ZIP, CANVAS),
    ("student,name,canvas\nk,Käthe Größe,101\na,Alan Turing,102\n", CANVAS_ZIP),
    ("student,name,email\nk,Käthe Größe,KG@x.org\na,Alan Turing,at@x.org\n", WORKSHEET),
]


def take(service, data):
    """Take a roster as the teacher of the only course."""
    with service.database.acting() as act:
        (teacher,) = courses.MEMBERS.all(act.db, role=TEACHER)
        data = data if isinstance(data, bytes) else data.encode()
        return roster.take(act._replace(by=teacher.person), teacher.course, read_roster(data))


@pytest.mark.parametrize(("first", "second"), DOWNLOADS)
def test_downloads_of_the_same_people_fit_together(service, counting, first, second):
    make_course(service, "student\nzoe\n")
    assert len(take(service, first).added) == 2
    before = {key: (person.id, member.name) for key, (person, member) in known(service).items()}
    for _ in range(2):
        found = take(service, second)
        assert (found.added, [one.key for one in found.missing]) == ((), ["zoe"])
    take(service, first)
    assert len(known(service)) == 3
    for key, (person, member) in known(service).items():
        is_named = isinstance(first, str) or key == "zoe"
        assert before[key] == (person.id, member.name if is_named else before[key][1])


DOUBTFUL = [
    ("ben,Ben,b@x.org,\nbea,Bea,b@x.org,\n", "new,New,b@x.org,\n"),  # of two in the course
    ("ben,Ben,b@x.org,\n", "new,New,b@x.org,\nnewer,Newer,b@x.org,\n"),  # of two in the file
    ("ben,Ben,b@x.org,\n", "ben,Ben,b@x.org,\nnew,New,b@x.org,\n"),  # it is ben's, by the id
    ("ben,Ben,b@x.org,1\n", "new,New,b@x.org,2\n"),  # Canvas knows that they are two
    ("ben,Ben,,1\nbea,Bea,,1\n", "new,New,,1\n"),
]


@pytest.mark.parametrize(("first", "second"), DOUBTFUL)
def test_a_doubtful_address_or_number_finds_nobody(service, counting, first, second):
    head = "student,name,email,canvas\n"
    make_course(service, head + first)
    before = shown(service)
    found = take(service, head + second)
    assert {one.key for one in found.added} <= {"new", "newer"} and found.added
    assert before.items() <= shown(service).items() and found.changed == ()


def test_a_name_in_the_list_of_links_is_no_formula(service, counting):
    course = make_course(service, 'student,name\nada,=cmd|calc!A1\n=ben,"@Ben, B"\n')
    links = course.teacher.post(f"{course.course}/links", sure="yes").text.splitlines()
    assert links[0] == "student,name,email,link"
    assert links[1].startswith(f"ada,'=cmd|calc!A1,,{BASE}/enter/")
    assert links[2].startswith(f'ben,"\'@Ben, B",,{BASE}/enter/')
