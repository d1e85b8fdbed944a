"""The messages of LTI 1.3: a launch that holds, and the answer to a deep linking request.

*Pure.* What a launch says is believed only after its signature is checked with a key of the
platform that the administrator registered.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from hmac import compare_digest
from typing import Any, NamedTuple

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, RSAKey

from harness.errors import HarnessError
from harness.service.lti.platforms import Platform
from harness.service.records import ASSISTANT, STUDENT, TEACHER
from harness.text import one_line

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
_DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
_LINES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
_MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
_GROUPS = "https://purl.imsglobal.org/spec/lti-gs/claim/groupsservice"
RESOURCE, DEEP_LINKING = "LtiResourceLinkRequest", "LtiDeepLinkingRequest"
_ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership"
_LARGEST = 65_536  # characters of a message
_LEEWAY = 60  # seconds by which two clocks may differ
_LASTS = 3600  # seconds after it was made that a launch is taken at most
_LONGEST = 200  # characters of a name or a title
_LONGEST_ID = 255


class LaunchRefusedError(HarnessError):
    """A launch does not hold."""


class Launch(NamedTuple):
    """What a launch says that holds."""

    kind: str
    subject: str
    name: str
    number: str  # of the person at the institution; may be empty
    role: str
    deployment: str
    context: str
    title: str  # of the course
    target: str  # the address that is to be opened
    assignment: str = ""  # as our own deep linking answer said
    line: str = ""  # where marks of the assignment go
    lines: str = ""
    members_url: str = ""
    groups_url: str = ""
    return_url: str = ""  # where the answer to a deep linking request goes
    data: str = ""  # that goes back with it
    takes_line: bool = True


def find_kid(token: str, platform: Platform) -> str:
    """Return the id of the key that signed a message.

    Raises:
        LaunchRefusedError: it is too long, not a message, or signed in another way than the
            platform is registered with.
    """
    if len(token) > _LARGEST:
        raise LaunchRefusedError("the message is too long")
    try:
        header = jws.extract_compact(token.encode()).headers()
    except (JoseError, ValueError, TypeError):
        raise LaunchRefusedError("the message is not a signed one") from None
    if header.get("alg") != platform.algorithm:
        raise LaunchRefusedError(f"it is not signed by {platform.algorithm}")
    kid = header.get("kid")
    if not isinstance(kid, str) or not 0 < len(kid) <= _LONGEST_ID:
        raise LaunchRefusedError("it does not say which key signed it")
    return kid


def read_launch(
    token: str, platform: Platform, key: Mapping[str, Any], nonce: str, now: float
) -> Launch:
    """Return what a message says.

    ``key``: of the platform; ``nonce``: of this one login.

    Raises:
        LaunchRefusedError: it does not hold, or is not for us, or not for this login.
    """
    claims = _verify(token, platform, key)
    _check_audience(claims, platform)
    _check_times(claims, now)
    if not compare_digest(_text(claims, "nonce").encode(), nonce.encode()):
        raise LaunchRefusedError("it is not for this login")
    if _text(claims, f"{_CLAIM}version") != "1.3.0":
        raise LaunchRefusedError("its version is not 1.3.0")
    deployment = _text(claims, f"{_CLAIM}deployment_id")
    if deployment not in platform.deployments.split():
        raise LaunchRefusedError(
            f"the deployment {one_line(deployment, 60)!r} is not registered: the administrator of"
            " this service can add it"
        )
    kind = _text(claims, f"{_CLAIM}message_type")
    if kind not in (RESOURCE, DEEP_LINKING):
        raise LaunchRefusedError(f"a message {one_line(kind, 60)!r} is not known here")
    return _read(claims, kind, deployment)


def _verify(token: str, platform: Platform, key: Mapping[str, Any]) -> dict[str, Any]:
    kind = RSAKey if platform.algorithm == "RS256" else ECKey
    try:
        own = JWKRegistry.import_key(dict(key))
        if not isinstance(own, kind) or (
            isinstance(own, RSAKey) and own.raw_value.key_size < 2048
        ):
            raise LaunchRefusedError("the platform's key is not one for its signatures")
        claims = jwt.decode(token, own, algorithms=[platform.algorithm]).claims
    except (JoseError, ValueError, TypeError, KeyError):
        raise LaunchRefusedError("its signature does not hold") from None
    if not isinstance(claims, dict):
        raise LaunchRefusedError("it says nothing")
    return claims


def _check_audience(claims: Mapping[str, Any], platform: Platform) -> None:
    own = claims.get("aud")
    audience = own if isinstance(own, list) else [own]
    party = claims.get("azp")
    if _text(claims, "iss") != platform.issuer:
        raise LaunchRefusedError("it is of another issuer")
    if platform.client_id not in audience or (len(audience) > 1 and party is None):
        raise LaunchRefusedError("it is for another service")
    if party is not None and party != platform.client_id:
        raise LaunchRefusedError("it was made for another service")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    made, until = claims.get("iat"), claims.get("exp")
    for one in (made, until):
        if isinstance(one, bool) or not isinstance(one, int | float):
            raise LaunchRefusedError("it does not say when it was made, and until when it holds")
    assert isinstance(made, int | float) and isinstance(until, int | float)
    if not (now - _LASTS <= made <= now + _LEEWAY and until > now - _LEEWAY):
        raise LaunchRefusedError("it is too old, or a clock is wrong")


def _read(claims: Mapping[str, Any], kind: str, deployment: str) -> Launch:
    context, lines = _part(claims, f"{_CLAIM}context"), _part(claims, _LINES)
    deep = _part(claims, f"{_DEEP}deep_linking_settings")
    subject, course = id_of(claims, "sub"), id_of(context, "id")
    if not subject or not course:
        raise LaunchRefusedError("it does not say who you are, or in which course")
    role = role_of(claims.get(f"{_CLAIM}roles"))
    if not role:
        raise LaunchRefusedError(
            "you are neither a teacher nor an assistant nor a student of this course"
        )
    if kind == DEEP_LINKING and "ltiResourceLink" not in _list(deep.get("accept_types")):
        raise LaunchRefusedError("the platform does not take links to assignments here")
    return Launch(
        kind,
        subject,
        name_of(claims),
        id_of(_part(claims, f"{_CLAIM}lis"), "person_sourcedid"),
        role,
        deployment,
        course,
        line_of(context, "title") or line_of(context, "label") or "Course",
        _text(claims, f"{_CLAIM}target_link_uri"),
        _text(_part(claims, f"{_CLAIM}custom"), "assignment"),
        _text(lines, "lineitem"),
        _text(lines, "lineitems"),
        _text(_part(claims, _MEMBERS), "context_memberships_url"),
        _text(_part(claims, _GROUPS), "context_groups_url"),
        _text(deep, "deep_link_return_url"),
        _text(deep, "data"),
        deep.get("accept_lineitem", True) is not False,
    )


def role_of(roles: object) -> str:
    """Return what somebody is in a course by roles in the course alone; "" for nothing.

    Roles in the institution or the system give nothing. A simple name is of the course.
    """
    found = {one.removeprefix(f"{_ROLE}#") for one in _list(roles) if isinstance(one, str)}
    assisting = (f"{_ROLE}/Instructor#TeachingAssistant", f"{_ROLE}/Instructor#Grader")
    if "TeachingAssistant" in found or any(one.startswith(assisting) for one in found):
        return ASSISTANT
    if "Instructor" in found:
        return TEACHER
    return STUDENT if "Learner" in found else ""


def name_of(claims: Mapping[str, Any]) -> str:
    """Return the name of somebody; "" if it is not told."""
    parts = f"{line_of(claims, 'given_name')} {line_of(claims, 'family_name')}".strip()
    return line_of(claims, "name") or one_line(parts, _LONGEST)


def line_of(claims: Mapping[str, Any], name: str) -> str:
    """Return a text as one line without signs that control a terminal or a page."""
    return one_line(" ".join(_text(claims, name).split()), _LONGEST)


def id_of(claims: Mapping[str, Any], name: str) -> str:
    """Return a text that names somebody or something there; "" if it cannot be one."""
    text = _text(claims, name)
    return text if len(text) <= _LONGEST_ID and text.isprintable() else ""


def _text(claims: Mapping[str, Any], name: str) -> str:
    found = claims.get(name)
    return found if isinstance(found, str) and "\0" not in found else ""


def _part(claims: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = claims.get(name)
    return found if isinstance(found, dict) else {}


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


# --- the answer to a deep linking request ------------------------------------------------------


class LinkedAssignment(NamedTuple):
    """An assignment as an answer names it."""

    id: str
    title: str
    address: str
    most: float  # points that can be reached; 0: no marks go back


def answer_deep_linking(
    platform: Platform,
    launch: Launch,
    chosen: LinkedAssignment,
    key: RSAKey,
    now: float,
) -> str:
    """Return the signed message that tells the platform which assignment was chosen."""
    claims: dict[str, Any] = {
        "iss": platform.client_id,
        "aud": platform.issuer,
        "iat": int(now),
        "exp": int(now) + 300,
        "nonce": secrets.token_urlsafe(16),
        f"{_CLAIM}deployment_id": launch.deployment,
        f"{_CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{_CLAIM}version": "1.3.0",
        f"{_DEEP}content_items": [_item(chosen, launch)],
    }
    if launch.data:
        claims[f"{_DEEP}data"] = launch.data
    return str(jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key))


def _item(one: LinkedAssignment, launch: Launch) -> dict[str, Any]:
    item: dict[str, Any] = {
        "type": "ltiResourceLink",
        "title": one.title,
        "url": one.address,
        "custom": {"assignment": one.id},
    }
    if launch.takes_line and one.most > 0:
        item["lineItem"] = {
            "scoreMaximum": one.most,
            "label": one.title,
            "resourceId": one.id,
        }
    return item
