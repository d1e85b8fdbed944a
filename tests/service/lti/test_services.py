"""Deep linking, the roster, and marks in the platform's gradebook."""

import json
import re
import time

import pytest

from harness import cli
from harness.core.errors import HarnessError, UsageError
from harness.service.lti import connection, linked_courses, platforms
from harness.service.storage import courses
from harness.service.storage.database import Database
from harness.service.storage.lti import LINES, LINKS, PLATFORMS, SCORES
from tests.harness import small_class
from tests.service.lti.campus import ASSISTANT, CLIENT, LEARNER, TEACHER
from tests.service.lti.conftest import BASE, Visitor, admin
from tests.service.serving import KINDS, ship_counting, work

pytestmark = pytest.mark.processes
FULL, MOST = 4.0, 5.0  # of public tests alone; it is late
GROUPS = [{"id": "g1", "name": "Team 1"}, {"id": "g2", "name": "Team 2"}]


def choose(tess, course, assignment="new:counting", **more):
    """Choose an assignment in the platform; return the page that leads back."""
    page = tess.launch("tess", [TEACHER], deep=True, target=f"{BASE}/lti/launch", **more)
    assert page.url.path == f"{course}/lti/pick", page.text
    code = page.url.params["code"]
    return tess.submit(page, f"{course}/lti/pick", code=code, assignment=assignment)


def answer_of(page):
    return re.search('name="JWT" value="([^"]+)"', page.text)[1]


def deliver(service):
    count = 0
    while linked_courses.deliver_next_score(service.settings, service.database):
        count += 1
    return count


@pytest.mark.parametrize("framed", [False, True])
def test_a_teacher_chooses_an_assignment_in_the_platform(
    service, campus, open_course, counting, framed
):
    tess, course = open_course(framed=framed)
    page = choose(tess, course, data="opaque")
    policy = page.headers["content-security-policy"]
    assert f"form-action 'self' {campus.base};" in policy
    assert (f"frame-ancestors {campus.base}" in policy) is framed
    (item,) = campus.read_choice(answer_of(page))
    (own,) = assignments_of(service)
    address = f"{BASE}{course}/assignments/{own.id}"
    assert item == {
        "type": "ltiResourceLink",
        "title": own.title,
        "url": address,
        "custom": {"assignment": own.id},
        "lineItem": {"scoreMaximum": 7.0, "label": own.title, "resourceId": own.id},
    }
    # The same one again, and then what a student gets.
    again = choose(tess, course, f"own:{own.id}")
    assert campus.read_choice(answer_of(again))[0]["url"] == address
    assert len(assignments_of(service)) == 1
    ada = Visitor(service, campus)
    assert (
        ada.launch("ada", [LEARNER], target=address).url.path == f"{course}/assignments/{own.id}"
    )


def assignments_of(service):
    with service.database.reading() as db:
        return courses.ASSIGNMENTS.all(db)


REFUSED = [
    ({"assignment": "new:nothing"}, 422, "There is no assignment"),
    ({"assignment": "own:0"}, 422, "hoose one of the list"),
    ({"assignment": ""}, 422, "hoose one of the list"),
    ({"assignment": "new:counting", "code": "0"}, 410, "begun too long ago"),
]


@pytest.mark.parametrize(("fields", "status", "why"), REFUSED)
def test_what_cannot_be_chosen_is_refused(linked, counting, fields, status, why):
    _, _, tess, course = linked
    page = tess.launch("tess", [TEACHER], deep=True)
    sent = {"code": page.url.params["code"], **fields}
    answer = tess.submit(page, f"{course}/lti/pick", **sent)
    assert answer.status_code == status
    assert why in answer.text


# --- the roster --------------------------------------------------------------------------------


def person(name, role=LEARNER, **more):
    """A member as the example of Names and Role Provisioning Services 2.0 has them."""
    return {
        "status": "Active",
        "name": name.title(),
        "user_id": name,
        "lis_person_sourcedid": f"s-{name}",
        "roles": [role],
        "email": f"{name}@example.org",
        **more,
    }


def synchronize(service):
    with service.database.changing() as db:
        LINKS.change(db, {"due": 0.0, "tries": 0})
    assert linked_courses.synchronize_next(service.settings, service.database)
    with service.database.reading() as db:
        (link,) = LINKS.all(db)
        found = courses.MEMBERS.all(db, "name", course=link.course)
    return link, {one.name: (one.role, one.key, one.team_name) for one in found}


def test_the_roster_follows_the_platform(service, campus, open_course):
    _, course = open_course()
    campus.groups = GROUPS
    Visitor(service, campus).launch("tess", [TEACHER])
    tess, tom = person("tess", TEACHER), person("tom", ASSISTANT)
    ada = person("ada", group_enrollments=[{"group_id": "g1"}])
    bea = person("bea", group_enrollments=[{"group_id": "g1"}, {"group_id": "g2"}])
    gone = person("cy", status="Inactive")
    campus.members = [
        tess,
        tom,
        ada,
        bea,
        gone,
        person("sam", "System"),
        {"user_id": 7, "roles": [LEARNER]},
    ]
    _, found = synchronize(service)
    assert found == {
        "Ada": ("student", "s-ada", "Team 1"),
        "Bea": ("student", "s-bea", ""),
        "Tess": ("teacher", "", ""),
        "Tom": ("assistant", "", ""),
    }
    campus.members = [tess, {**ada, "name": "Ada Lovelace"}]
    link, found = synchronize(service)
    assert found["Ada Lovelace"][0] == "student"
    assert found["Bea"][0] == "former"
    assert "Tom" not in found
    assert "Bea was removed" in link.remarks
    # Who was only listed signs in as the same person.
    page = Visitor(service, campus).launch("ada", [LEARNER], name="Ada Lovelace")
    assert page.url.path == course
    assert synchronize(service)[1] == found


MEMBERS_BROKEN = [
    ({"/members": 500}, "answered 500"),
    ({"/mod/lti/token.php": 403}, "answered 403"),
]


@pytest.mark.parametrize(("broken", "why"), MEMBERS_BROKEN)
def test_a_platform_that_does_not_answer_changes_nobody(linked, broken, why, monkeypatch):
    service, campus, tess, course = linked
    campus.members = [person("tess", TEACHER), person("ada")]
    _, before = synchronize(service)
    connection._tokens.clear()
    monkeypatch.setattr(campus, "broken", broken)
    link, found = synchronize(service)
    assert found == before
    assert why in link.trouble
    assert link.due > time.time()
    assert why in tess.get(f"{course}/lti").text


def test_an_empty_list_removes_nobody(service, campus, open_course):
    open_course()
    campus.members = []
    link, found = synchronize(service)
    assert "lists nobody" in link.trouble
    assert found["Tess"][0] == "teacher"


# --- marks -------------------------------------------------------------------------------------


class Class:
    """An assignment that a platform links to, with a submission of a student."""

    def __init__(self, service, campus, open_course, body="return 2 * n"):
        self.service, self.campus = service, campus
        self.tess, self.course = open_course()
        page = choose(self.tess, self.course)
        (item,) = campus.read_choice(answer_of(page))
        self.line = campus.add_line(item["lineItem"])["id"]
        self.one, self.custom = item["url"].removeprefix(BASE), item["custom"]
        self.ada = Visitor(service, campus)
        self.ada.launch("ada", [LEARNER], target=item["url"], custom=self.custom, line=self.line)
        self.hand_in(body)

    def hand_in(self, body):
        files = {"file": ("mine.tgz", small_class.submission(body))}
        token = re.search('name="form_token" value="(.+?)"', self.ada.get(self.one).text)[1]
        sent = self.ada.ask("POST", f"{self.one}/uploads", data={"form_token": token}, files=files)
        assert sent.status_code == 200, sent.text
        work(self.service)

    def grade(self):
        page = self.tess.submit(self.tess.get(self.one), f"{self.one}/gradings", public_only="yes")
        work(self.service)
        return page.url.path

    def release(self, grading):
        page = self.tess.get(grading)
        answer = self.tess.submit(page, f"{grading}/release", early="yes", unchanged="yes")
        assert answer.status_code == 200, answer.text

    def override(self, points):
        page = f"{self.one}/students/s-ada"
        answer = self.tess.submit(
            self.tess.get(page), f"{page}/override", points=points, reason="A good idea"
        )
        assert answer.status_code == 200, answer.text

    @property
    def sent(self):
        return [(one["line"], one["userId"], one["scoreGiven"], one["scoreMaximum"])
                for one in self.campus.scores]  # fmt: skip


@pytest.fixture
def course(service, campus, open_course, counting):
    return Class(service, campus, open_course)


@pytest.fixture(scope="module")
def graded(linked, tmp_path_factory):
    """A class with a released mark that the platform has, once for all troubles."""
    with pytest.MonkeyPatch.context() as patch:
        ship_counting(tmp_path_factory.mktemp("graded"), patch)
        made = Class(linked.service, linked.campus, lambda: (linked.tess, linked.course))
        made.release(made.grade())
        assert deliver(linked.service) == 1
        yield made


@pytest.mark.parametrize("settings", KINDS, indirect=True)
def test_a_released_mark_goes_to_the_gradebook_and_so_does_what_changes_it(service, course):
    grading = course.grade()
    deliver(service)
    assert course.sent == []  # not released
    course.override("3")
    deliver(service)
    assert course.sent == []
    page = course.tess.get(f"{course.one}/students/s-ada")
    course.tess.submit(page, f"{course.one}/students/s-ada/override/end", sure="yes")
    course.release(grading)
    deliver(service)
    (first,) = course.campus.scores
    assert (first["line"], first["userId"], first["scoreGiven"]) == (course.line, "ada", FULL)
    assert (first["activityProgress"], first["gradingProgress"]) == ("Completed", "FullyGraded")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first["timestamp"])
    assert f"{BASE}{course.one}/mark" in first["comment"]
    course.override("3")  # an override
    deliver(service)
    assert course.sent[1:] == [(course.line, "ada", 3.0, MOST)]
    assert "A good idea" in course.campus.scores[-1]["comment"]
    page = course.tess.get(f"{course.one}/students/s-ada")
    course.tess.submit(page, f"{course.one}/students/s-ada/override/end", sure="yes")
    course.tess.submit(page, f"{course.one}/students/s-ada/comment", text="Well done")
    deliver(service)
    assert course.sent[2:] == [(course.line, "ada", FULL, MOST)]
    assert "Well done" in course.campus.scores[-1]["comment"]
    course.hand_in("return 2 * n if n != 2 else 5")  # a regrade
    second = course.grade()
    deliver(service)
    assert len(course.sent) == 3
    course.tess.submit(course.tess.get(second), f"{second}/accept")
    work(service)
    course.release(second)
    deliver(service)
    assert len(course.sent) == 4
    assert course.sent[3][2] < FULL
    assert "Marks sent: 1. Marks that wait: 0." in course.tess.get(f"{course.course}/lti").text


def test_a_launch_that_tells_no_column_leaves_the_known_one(graded):
    graded.ada.launch("ada", [LEARNER], custom=graded.custom, services=False)
    choose(graded.tess, graded.course, f"own:{graded.custom['assignment']}")
    graded.campus.scores.clear()
    graded.override("2")
    deliver(graded.service)
    assert graded.sent == [(graded.line, "ada", 2.0, MOST)]


def test_the_same_mark_is_not_sent_twice(graded):
    graded.override("2.5")
    deliver(graded.service)
    graded.campus.scores.clear()
    graded.override("3")
    graded.override("2.5")
    assert deliver(graded.service) == 1
    assert graded.sent == []


def test_a_mark_that_changes_while_the_last_one_is_sent_is_sent_too(graded, monkeypatch):
    campus, serve = graded.campus, graded.campus._serve

    def serve_slowly(request, path):
        if path.endswith("/scores") and not campus.scores:
            graded.override("0.5")
        return serve(request, path)

    monkeypatch.setattr(campus, "_serve", serve_slowly)
    campus.scores.clear()
    graded.override("1.5")
    assert deliver(graded.service) == 2
    assert [one[2] for one in graded.sent] == [1.5, 0.5]
    assert deliver(graded.service) == 0


TROUBLE = [
    ({"/lines": 500}, "answered 500"),
    ({"/lines": 401}, "answered 401"),
    ({"/mod/lti/token.php": 503}, "answered 503"),
]


@pytest.mark.parametrize(("broken", "why"), TROUBLE)
def test_a_mark_that_is_not_taken_waits_and_is_seen(graded, broken, why):
    course, service = graded, graded.service
    course.campus.broken = broken
    course.campus.scores.clear()
    points = 1.0 + TROUBLE.index((broken, why)) / 10
    course.override(str(points))
    connection._tokens.clear()
    assert deliver(service) == 1
    with service.database.reading() as db:
        (one,) = SCORES.all(db)
    assert (one.state, one.tries) == ("waiting", 1)
    assert 30 < one.due - time.time() <= 61
    page = course.tess.get(f"{course.course}/lti")
    assert why in page.text
    assert "Marks that wait: 1." in page.text
    course.campus.broken = {}
    assert deliver(service) == 0  # not yet due
    course.tess.submit(page, f"{course.course}/lti/now")
    deliver(service)
    assert course.sent == [(course.line, "ada", points, MOST)]


def test_tries_become_seldom_and_never_end(graded, monkeypatch):
    course, service = graded, graded.service
    monkeypatch.setattr(course.campus, "broken", {"/lines": 500})
    course.override("4.5")
    waits = []
    for _ in range(14):
        with service.database.changing() as db:
            SCORES.change(db, {"due": 0.0}, state="waiting")
        assert deliver(service) == 1
        with service.database.reading() as db:
            (one,) = SCORES.all(db)
        waits.append(round((one.due - time.time()) / 60))
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert waits[-1] == 360
    assert waits == sorted(waits)


def test_a_column_is_found_or_made_if_no_launch_told_it(graded):
    course, campus, service = graded, graded.campus, graded.service
    campus.scores.clear()
    with service.database.changing() as db:
        LINES.change(db, {"url": ""})
    course.override("3.5")
    deliver(service)
    assert course.sent == [(course.line, "ada", 3.5, MOST)]
    campus.lines.clear()  # the platform's teacher has removed it
    course.override("3")
    deliver(service)
    with service.database.changing() as db:
        SCORES.change(db, {"due": 0.0}, state="waiting")
    deliver(service)
    assert [one[2] for one in course.sent] == [3.5, 3.0]
    (course.line,) = campus.lines


# --- registration ------------------------------------------------------------------------------


def test_a_platform_registers_itself_by_a_link_once(service, campus):
    with service.database.acting() as act:
        (known,) = PLATFORMS.all(act.db)
        platforms.remove(act, known.id)
    boss = admin(service)
    page = boss.submit(boss.get("/lti"), "/lti/registrations")
    link = re.search("<code>(.+/lti/register/.+)</code>", page.text)[1].removeprefix(BASE)
    there = Visitor(service, campus)
    query = {"openid_configuration": f"{campus.base}/.well-known/openid-configuration",
             "registration_token": "reg-token"}  # fmt: skip
    asked = there.ask("GET", link, params=query)
    assert f"frame-ancestors {campus.base}" in asked.headers["content-security-policy"]
    assert campus.registered == {}
    done = there.submit(asked, link)
    assert "know each other" in done.text
    assert campus.registered["token"] == "Bearer reg-token"
    assert campus.registered["initiate_login_uri"] == f"{BASE}/lti/login"
    assert there.ask("GET", link, params=query).status_code == 404
    with service.database.reading() as db:
        (found,) = PLATFORMS.all(db)
    assert (found.client_id, found.deployments, found.title) == (CLIENT, "7", "Moodle")
    tess = Visitor(service, campus)
    assert "A new course" in tess.launch("tess", [TEACHER]).text


UNTRUE = [
    {"issuer": "https://evil.example"},
    {"registration_endpoint": "https://evil.example/register"},
    {"jwks_uri": "http://moodle.example.org/keys"},
    {"token_endpoint": None},
]


def test_a_platform_that_speaks_for_another_is_not_registered(service, campus):
    plain, address = campus.describe(), f"{campus.base}/.well-known/openid-configuration"
    for told in UNTRUE:
        campus.describe = lambda told=told: {**plain, **told}
        with pytest.raises(HarnessError):
            connection.register_there(service.settings, address, "")
    assert campus.registered == {}


def test_an_administrator_registers_changes_and_removes_a_platform(service, campus):
    boss = admin(service)
    page = boss.get("/lti")
    refused = boss.submit(page, "/lti/platforms", platform="", **campus.fields)
    assert refused.status_code == 422
    assert "registered with this one already" in refused.text
    second = {**campus.fields, "client_id": "service-2", "title": "Second"}
    boss.submit(page, "/lti/platforms", platform="", **second)
    with service.database.reading() as db:
        one = PLATFORMS.find(db, title="Second")
    changed = {**second, "deployments": "8 9", "hosts": "https://other.example.org"}
    boss.submit(page, "/lti/platforms", platform=one.id, **changed)
    with service.database.reading() as db:
        one = PLATFORMS.find(db, title="Second")
    assert one.deployments == "8 9"
    assert one.has("https://other.example.org/x")
    asked = boss.submit(page, "/lti/platforms/remove", platform=one.id)
    assert "Remove Second?" in asked.text
    boss.submit(page, "/lti/platforms/remove", platform=one.id, sure="yes")
    with service.database.reading() as db:
        assert len(PLATFORMS.all(db)) == 1


def test_an_operator_registers_and_removes_a_platform_by_command(settings, capsys):
    def run(*words):
        assert cli.main(["admin", *words, "--data", str(settings.data)]) == 0
        return capsys.readouterr().out.strip()

    Database(settings).close()
    own = ["--issuer", "https://m.example.org", "--client-id", "abc", "--deployment", "1"]
    for name in ("login", "token", "keyset"):
        own += [f"--{name}-url", f"https://m.example.org/{name}"]
    made = run("add-platform", "Moodle", *own)
    assert run("platforms") == f"{made}  https://m.example.org  abc  1"
    assert "any more" in run("remove-platform", made.split()[0])
    assert run("platforms") == ""
    link = run("platform-link", "--address", "https://tests.example.org")
    assert link.startswith("https://tests.example.org/lti/register/")


def test_keys_are_rotated_while_both_are_published(service, campus, monkeypatch):
    with service.database.acting() as act:
        now, settings = time.time(), service.settings
        before = platforms.signing_key(settings, now).kid
        monkeypatch.undo()
        platforms.rotate_keys(act, settings, now)
        kids = [one["kid"] for one in platforms.publish_keys(settings)["keys"]]
        assert len(kids) == 2
        assert not any("d" in one for one in platforms.publish_keys(settings)["keys"])
        assert platforms.signing_key(settings, now).kid == before
        assert platforms.signing_key(settings, now + 3601).kid == kids[0]
        with pytest.raises(UsageError, match="wait for an hour"):
            platforms.rotate_keys(act, settings, now + 60)
    (path,) = settings.keys.glob("lti.json")
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text())[1]["key"]["kid"] == before
