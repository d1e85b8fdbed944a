"""Launches from a platform: who gets in where, as what, in a frame and without cookies."""

import re

import jwt as pyjwt
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from harness.service.lti import connection, platforms
from harness.service.records import Platform
from harness.service.storage import courses
from harness.service.storage.lti import PLATFORMS
from tests.service.lti.campus import ASSISTANT, CLIENT, LEARNER, ROLE, TEACHER, Campus, query_of
from tests.service.lti.conftest import BASE, Visitor

PARENT = {"lti_storage_target": "_parent"}


def members_of(service, **named):
    with service.database.reading() as db:
        return courses.MEMBERS.all(db, "name", "role", **named)


def test_a_teacher_makes_the_course_and_a_student_joins_it(service, campus, open_course):
    tess, course = open_course()
    assert "Games 2026" in tess.get(course).text
    page = Visitor(service, campus).launch("ada", [LEARNER], name="Ada Right")
    assert page.url.path == course
    (member,) = members_of(service, role="student")
    assert (member.key, member.name) == ("s-ada", "Ada Right")


ROLES = [
    ([TEACHER], "teacher"),
    ([TEACHER, ASSISTANT], "assistant"),
    ([f"{ROLE}/Instructor#Grader", TEACHER], "assistant"),
    ([LEARNER], "student"),
    ([LEARNER, TEACHER], "teacher"),
    (["Learner"], "student"),
    ([LEARNER, "http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"], "student"),
    ([LEARNER, "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"], "student"),
    ([LEARNER, f"{ROLE}#Administrator"], "student"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ROLES)))
def test_roles_in_the_course_alone_count(linked, number):
    roles, role = ROLES[number]
    assert linked.visitor().launch(f"una{number}", roles).status_code == 200
    (found,) = members_of(linked.service, name=f"Una{number}")
    assert found.role == role


def test_a_changed_role_counts_from_the_next_launch_on(linked):
    una = linked.visitor()
    for roles, role in (([LEARNER], "student"), ([TEACHER], "teacher"), ([LEARNER], "student")):
        una.launch("una", roles)
        (found,) = members_of(linked.service, name="Una")
        assert found.role == role
        assert (una.get(f"{linked.course}/settings").status_code == 200) is (role == "teacher")


def test_a_course_that_is_here_is_linked_by_a_code_of_its_teacher(service, campus, open_course):
    tess, course = open_course()
    tom = Visitor(service, campus)
    page = tom.launch("tom", [TEACHER], context="course-43", title="Games, second group")
    wrong = tom.submit(page, "/lti/link", code="guessed")
    assert wrong.status_code == 422
    assert "unknown, used already" in wrong.text
    made = tess.submit(tess.get(f"{course}/lti"), f"{course}/lti/code")
    code = re.search("<code>(.+)</code>", made.text)[1]
    assert tom.submit(wrong, "/lti/link", code=code).url.path == course
    eve = Visitor(service, campus)
    page = eve.launch("eve", [TEACHER], context="course-44", title="Mine")
    assert eve.submit(page, "/lti/link", code=code).status_code == 422


def test_a_session_in_a_frame_is_for_the_platforms_pages_alone(service, campus, open_course):
    tess, course = open_course(framed=True)
    (cookie,) = [one for one in tess.client.cookies.jar if one.name == "gtp_harness_frame"]
    assert cookie.secure
    assert {"SameSite", "Partitioned"} <= set(cookie._rest)
    assert cookie._rest["SameSite"] == "None"
    for path in (course, f"{course}/lti", f"{course}/assignments/0"):
        policy = tess.get(path).headers["content-security-policy"]
        assert f"frame-ancestors {campus.base};" in f"{policy};"
    other = Visitor(service, campus)
    other.launch("ada", [LEARNER])
    assert "frame-ancestors 'none'" in other.get(course).headers["content-security-policy"]
    assert "gtp_harness_frame" not in other.client.cookies
    # In a frame, too, a form must be of a page of this service.
    form = tess.client.post(f"{course}/lti/code", headers={"origin": campus.base})
    assert form.status_code == 403


def test_a_refused_launch_is_told_in_the_frame(service, campus):
    page = Visitor(service, campus, framed=True).launch("ada", [LEARNER])
    assert page.status_code == 403
    assert f"frame-ancestors {campus.base}" in page.headers["content-security-policy"]
    unknown = Visitor(service, campus, framed=True).begin(iss="https://evil.example")
    assert "frame-ancestors 'none'" in unknown.headers["content-security-policy"]


def without_cookies(service, campus, **asked):
    ada = Visitor(service, campus, framed=True, cookies=False)
    shown = ada.begin(**asked)
    place = re.search(r'data-next="([^"]+)"', shown.text)
    address = place[1].replace("&amp;", "&") if place else shown.headers["location"]
    page = ada.send(campus.launch(query_of(address), "ada", [LEARNER]))
    return ada, shown, page


def told(page, name):
    return re.search(f'data-{name}="([^"]+)"', page.text)[1]


def test_without_cookies_the_platforms_storage_shows_that_it_is_the_same_browser(
    linked,
):
    service, campus, _, course = linked
    ada, shown, page = without_cookies(service, campus, **PARENT)
    assert told(shown, "key") == told(page, "key")
    assert told(shown, "origin") == told(page, "origin") == campus.base
    opened = ada.submit(page, "/lti/confirm", value=told(shown, "value"))
    assert "keeps no cookies in this frame" in opened.text
    path = re.search('action="(/lti/window/[^"]+)"', opened.text)[1]
    window = Visitor(service, campus)
    window.launch("bea", [LEARNER])  # a window may know a session that the frame does not
    assert window.submit(opened, path).url.path == course
    assert "Ada" in window.get("/me").text
    assert Visitor(service, campus).submit(opened, path).status_code == 410  # once


@pytest.mark.parametrize("value", ["", "guessed"])
def test_another_value_of_the_storage_lets_nobody_in(linked, value):
    ada, _, page = without_cookies(linked.service, linked.campus, **PARENT)
    assert ada.submit(page, "/lti/confirm", value=value).status_code == 403


def test_without_cookies_and_storage_the_launch_begins_anew_in_a_window(
    linked,
):
    service, campus, _, course = linked
    _, _, page = without_cookies(service, campus)
    again = re.search('href="(/lti/login[^"]+)" target="_blank"', page.text)[1]
    window = Visitor(service, campus)
    answer = window.ask("GET", again.replace("&amp;", "&"), follow_redirects=False)
    form = campus.launch(query_of(answer.headers["location"]), "ada", [LEARNER])
    assert window.send(form).url.path == course


def test_the_launch_opens_the_page_that_the_link_names(linked, counting):
    service, campus, tess, course = linked
    made = tess.submit(tess.get(course), f"{course}/assignments", source="counting")
    ada = Visitor(service, campus)
    one = made.url.path
    assert ada.launch("ada", [LEARNER], target=f"{BASE}{one}").url.path == one
    custom = {"assignment": one.rpartition("/")[2]}
    assert ada.launch("ada", [LEARNER], custom=custom).url.path == one
    assert ada.launch("ada", [LEARNER], custom={"assignment": "0"}).url.path == course


def test_a_shut_out_person_gets_in_by_no_launch(service, campus, open_course):
    from harness.service.operations import administration

    open_course()
    ada = Visitor(service, campus)
    ada.launch("ada", [LEARNER])
    with service.database.acting() as act:
        administration.shut_out(act, administration.find(act.db, "Ada"))
    assert ada.launch("ada", [LEARNER]).status_code == 403


def test_the_same_student_comes_back_when_a_link_is_made_anew(service, campus, open_course):
    tess, course = open_course()
    Visitor(service, campus).launch("ada", [LEARNER])
    (before,) = members_of(service, role="student")
    made = tess.submit(tess.get(f"{course}/lti"), f"{course}/lti/code")
    code = re.search("<code>(.+)</code>", made.text)[1]
    asked = tess.submit(tess.get(f"{course}/lti"), f"{course}/lti/unlink")
    assert "End the link?" in asked.text
    tess.submit(tess.get(f"{course}/lti"), f"{course}/lti/unlink", sure="yes")
    assert Visitor(service, campus).launch("ada", [LEARNER]).status_code == 403
    page = tess.launch("tess", [TEACHER])
    assert tess.submit(page, "/lti/link", code=code).url.path == course
    assert Visitor(service, campus).launch("ada", [LEARNER]).url.path == course
    assert members_of(service, role="student") == [before]


def test_the_same_name_on_another_platform_is_another_student(service, campus, open_course):
    tess, course = open_course()
    Visitor(service, campus).launch("ada", [LEARNER])
    made = tess.submit(tess.get(f"{course}/lti"), f"{course}/lti/code")
    code = re.search("<code>(.+)</code>", made.text)[1]
    other = Campus(BASE, "https://canvas.example.org")
    other.fetch_tool_keys = campus.fetch_tool_keys
    with service.database.acting() as act:
        platforms.register(act, service.settings, Platform("", **other.fields))
    campus.base = other.base  # whom the service asks from now on
    tom = Visitor(service, other)
    assert tom.submit(tom.launch("tom", [TEACHER]), "/lti/link", code=code).url.path == course
    assert Visitor(service, other).launch("ada", [LEARNER]).url.path == course
    found = members_of(service, role="student")
    assert len({one.person for one in found}) == len({one.key for one in found}) == 2


def test_each_deployment_has_courses_of_its_own(service, campus, open_course):
    _, first = open_course()
    with service.database.changing() as db:
        PLATFORMS.change(db, {"deployments": "7 8"})
    campus.deployment = "8"
    tess = Visitor(service, campus)
    second = tess.submit(tess.launch("tess", [TEACHER]), "/lti/link").url.path
    assert first != second


def test_a_login_may_be_a_form_of_the_platforms_page(linked):
    service, campus, _, course = linked
    ada = Visitor(service, campus)
    told = query_of(campus.begin())
    answer = ada.client.post(
        "/lti/login", data=told, headers={"origin": campus.base, "sec-fetch-site": "cross-site"},
        follow_redirects=False,
    )  # fmt: skip
    asked = query_of(answer.headers["location"])
    assert asked.items() >= {
        "scope": "openid", "response_type": "id_token", "response_mode": "form_post",
        "prompt": "none", "client_id": CLIENT, "redirect_uri": f"{BASE}/lti/launch",
        "login_hint": "user-hint", "lti_message_hint": told["lti_message_hint"],
    }.items()  # fmt: skip
    assert ada.send(campus.launch(asked, "ada", [LEARNER])).url.path == course


def test_a_platform_may_sign_with_an_elliptic_curve(service, campus, open_course):
    _, course = open_course()
    own = ECKey.generate_key("P-256", {"kid": "curve"})
    campus.more_keys = [own.as_dict(private=False)]
    with service.database.changing() as db:
        PLATFORMS.change(db, {"algorithm": "ES256"})
    connection._keys.clear()
    ada = Visitor(service, campus)
    form = campus.launch(query_of(ada.begin().headers["location"]), "ada", [LEARNER])
    assert ada.send(form).status_code == 403  # RS256 is not what is registered
    claims = pyjwt.decode(form["id_token"], options={"verify_signature": False})
    token = jwt.encode({"alg": "ES256", "kid": "curve"}, claims, own)
    assert ada.send({**form, "id_token": token}).url.path == course
