"""The messages of LTI 1.3: a launch that holds, and the answer to a deep linking request.

*Pure.* What a launch says is believed only after its signature is checked with a key of the
platform that the administrator registered.
"""

import secrets
from collections.abc import Callable
from typing import Annotated, Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, RSAKey
from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field

from harness.core.errors import HarnessError
from harness.core.text import one_line
from harness.service.records import ASSISTANT, STUDENT, TEACHER, Platform

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
_DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
_SETTINGS = f"{_DEEP}deep_linking_settings"
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


# --- what a platform says of somebody, whatever the types of its values are ----------------------


def _as_text(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""


def _as_id(value: object) -> str:
    """Return a text that names somebody or something there; "" if it cannot be one."""
    text = _as_text(value)
    return text if len(text) <= _LONGEST_ID and text.isprintable() else ""


def as_line(value: object) -> str:
    """Return a text as one line without signs that control a terminal or a page."""
    return one_line(" ".join(_as_text(value).split()), _LONGEST)


def _as_role(value: object) -> str:
    """Return what somebody is in a course by roles in the course alone; "" for nothing.

    Roles in the institution or the system give nothing. A simple name is of the course.
    """
    roles = {one.removeprefix(f"{_ROLE}#") for one in _as_list(value) if isinstance(one, str)}
    assisting = (f"{_ROLE}/Instructor#TeachingAssistant", f"{_ROLE}/Instructor#Grader")
    if "TeachingAssistant" in roles or any(one.startswith(assisting) for one in roles):
        return ASSISTANT
    if "Instructor" in roles:
        return TEACHER
    return STUDENT if "Learner" in roles else ""


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


_Text = Annotated[str, BeforeValidator(_as_text)]
_Id = Annotated[str, BeforeValidator(_as_id)]
_Line = Annotated[str, BeforeValidator(as_line)]
_Role = Annotated[str, BeforeValidator(_as_role)]
_List = Annotated[list[Any], BeforeValidator(_as_list)]
_NotFalse = Annotated[bool, BeforeValidator(lambda found: found is not False)]


def _at(claim: str, name: str, *others: str) -> Any:
    """Return a field that is in a part of a message, or else has another name."""
    return Field("", validation_alias=AliasChoices(AliasPath(claim, name), *others))


class PlatformPerson(BaseModel):
    """Somebody as a launch or a list of members has them; what is not told is empty."""

    subject: _Id = Field("", validation_alias=AliasChoices("sub", "user_id"))
    whole_name: _Line = Field("", validation_alias="name")
    given_name: _Line = ""
    family_name: _Line = ""
    number: _Id = _at(f"{_CLAIM}lis", "person_sourcedid", "lis_person_sourcedid")
    role: _Role = Field("", validation_alias=AliasChoices(f"{_CLAIM}roles", "roles"))
    status: _Text = "Active"
    groups: _List = Field([], validation_alias="group_enrollments")

    @property
    def name(self) -> str:
        """Return the name; "" if it is not told."""
        parts = f"{self.given_name} {self.family_name}".strip()
        return self.whole_name or one_line(parts, _LONGEST)


class Launch(PlatformPerson):
    """Verified data of a launch."""

    kind: _Text = Field("", validation_alias=f"{_CLAIM}message_type")
    deployment: _Text = Field("", validation_alias=f"{_CLAIM}deployment_id")
    context: _Id = _at(f"{_CLAIM}context", "id")
    course_title: _Line = _at(f"{_CLAIM}context", "title")
    course_label: _Line = _at(f"{_CLAIM}context", "label")
    target: _Text = Field("", validation_alias=f"{_CLAIM}target_link_uri")
    assignment: _Text = _at(f"{_CLAIM}custom", "assignment")  # of our own deep linking answer
    line: _Text = _at(_LINES, "lineitem")  # where marks of the assignment go
    lines_url: _Text = _at(_LINES, "lineitems")
    members_url: _Text = _at(_MEMBERS, "context_memberships_url")
    groups_url: _Text = _at(_GROUPS, "context_groups_url")
    return_url: _Text = _at(_SETTINGS, "deep_link_return_url")
    data: _Text = _at(_SETTINGS, "data")  # that goes back with the answer
    accepts: _List = Field([], validation_alias=AliasPath(_SETTINGS, "accept_types"))
    takes_line: _NotFalse = Field(True, validation_alias=AliasPath(_SETTINGS, "accept_lineitem"))

    @property
    def title(self) -> str:
        """Return the title of the course."""
        return self.course_title or self.course_label or "Course"


_WHEN = "it is too old, or a clock is wrong, or it does not say until when it holds"
_WHO = "it does not say who you are"
_WRONG = {
    "iss": "it is of another issuer",
    "aud": "it is for another service",
    "azp": "it was made for another service",
    "nonce": "it is not for this login",
    "sub": _WHO,
    f"{_CLAIM}version": "its version is not 1.3.0",
    f"{_CLAIM}message_type": "such a message is not known here",
    **dict.fromkeys(("iat", "exp"), _WHEN),
}  # by the claims


def read_launch(
    token: str,
    platform: Platform,
    find_key: Callable[[str], dict[str, Any]],
    nonce: str,
    now: float,
) -> Launch:
    """Return what a message says.

    ``find_key``: returns a key of the platform by its id; ``nonce``: of this one login.

    Raises:
        LaunchRefusedError: it does not hold, or is not for us, or not for this login.
        Whatever ``find_key`` raises.
    """
    claims = _verify(token, platform, find_key)
    _check_claims(claims, platform, nonce, int(now))
    launch = Launch.model_validate(claims)
    if launch.deployment not in platform.deployments.split():
        raise LaunchRefusedError(
            f"the deployment {one_line(launch.deployment, 60)!r} is not registered: the"
            " administrator of this service can add it"
        )
    if not launch.subject:
        raise LaunchRefusedError(_WHO)
    if not launch.context:
        raise LaunchRefusedError("it does not say in which course you are")
    if not launch.role:
        why = "you are neither a teacher nor an assistant nor a student of this course"
        raise LaunchRefusedError(why)
    if launch.kind == DEEP_LINKING and "ltiResourceLink" not in launch.accepts:
        raise LaunchRefusedError("the platform does not take links to assignments here")
    return launch


def _verify(
    token: str, platform: Platform, find_key: Callable[[str], dict[str, Any]]
) -> dict[str, Any]:
    def find(message: Any) -> Any:
        kid = message.headers().get("kid")
        if not isinstance(kid, str) or not 0 < len(kid) <= _LONGEST_ID:
            raise LaunchRefusedError("it does not say which key signed it")
        key = JWKRegistry.import_key(dict(find_key(kid)))
        if isinstance(key, RSAKey) and key.raw_value.key_size < 2048:
            raise LaunchRefusedError("the platform's key is too short")
        return key

    if len(token) > _LARGEST:
        raise LaunchRefusedError("the message is too long")
    try:
        return dict(jwt.decode(token, find, algorithms=[platform.algorithm]).claims)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        why = getattr(error, "error", "") or type(error).__name__
        raise LaunchRefusedError(
            f"it is not signed by {platform.algorithm} with a key of the platform: {why}"
        ) from None


def _check_claims(claims: dict[str, Any], platform: Platform, nonce: str, now: int) -> None:
    audience = claims.get("aud")
    several = isinstance(audience, list) and len(audience) > 1
    registry = jwt.JWTClaimsRegistry(
        now,
        _LEEWAY,
        iss={"essential": True, "value": platform.issuer},
        aud={"essential": True, "value": platform.client_id},
        azp={"essential": several, "value": platform.client_id},
        nonce={"essential": True, "value": nonce},
        iat={"essential": True},
        exp={"essential": True},
        **{
            f"{_CLAIM}version": {"essential": True, "value": "1.3.0"},
            f"{_CLAIM}message_type": {"essential": True, "values": [RESOURCE, DEEP_LINKING]},
        },
    )
    try:
        registry.validate(claims)
    except JoseError as error:
        claim = str(getattr(error, "claim", "")).partition(",")[0]  # of several missing ones
        raise LaunchRefusedError(_WRONG.get(claim, f"its {claim} cannot be")) from None
    if claims["iat"] < now - _LASTS:
        raise LaunchRefusedError(_WHEN)


def answer_deep_linking(
    platform: Platform, launch: Launch, item: dict[str, Any], key: RSAKey, now: float
) -> str:
    """Return the signed message that tells the platform which item was chosen."""
    claims = {
        "iss": platform.client_id,
        "aud": platform.issuer,
        "iat": int(now),
        "exp": int(now) + 300,
        "nonce": secrets.token_urlsafe(16),
        f"{_CLAIM}deployment_id": launch.deployment,
        f"{_CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{_CLAIM}version": "1.3.0",
        f"{_DEEP}content_items": [item],
        **({f"{_DEEP}data": launch.data} if launch.data else {}),
    }
    return str(jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key))
