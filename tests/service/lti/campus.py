"""A platform of a university, whose messages are those of the library ``lti1p3platform``.

The library makes and signs logins, launches and tokens, and checks what the service sends: the
assertions for tokens, the answers to deep linking, the access to its services. Only its storage
(people, columns, scores) is here, as its abstract classes want it.
"""

from __future__ import annotations

import functools
import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from joserfc.jwk import RSAKey
from lti1p3platform.exceptions import LtiException, LtiServiceException
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.membership import Context
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request
from lti1p3platform.score import UpdateScoreStatus
from lti1p3platform.service_connector import AssignmentsGradesService, NamesRoleProvisioningService

ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership"
TEACHER, LEARNER = f"{ROLE}#Instructor", f"{ROLE}#Learner"
ASSISTANT = f"{ROLE}/Instructor#TeachingAssistant"
CLIENT, DEPLOYMENT, COURSE = "service-1", "7", "course-42"


@functools.cache
def key_of(name: str) -> RSAKey:
    """Return a key of a platform: to make one takes longer than a launch."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"})


class _Request(Request):
    def build_metadata(self, request: dict[str, Any]) -> Any:
        return request


class _Registration(Registration):
    """The library's, with the private key as an object: to read it takes longer than a launch."""

    def get_kid(self) -> str:
        return self.get_jwks()[0]["kid"]


class _Platform(LTI1P3PlatformConfAbstract):
    """The library's part of the platform, for one tool."""

    def init_platform_config(self, campus: Campus) -> None:
        tool = campus.tool
        self._registration = (
            _Registration()
            .set_iss(campus.base)
            .set_client_id(CLIENT)
            .set_deployment_id(campus.deployment)
            .set_oidc_login_url(f"{tool}/lti/login")
            .set_launch_url(f"{tool}/lti/launch")
            .set_deeplink_launch_url(f"{tool}/lti/launch")
            .set_tool_key_set_url(f"{tool}/lti/keys")
            .set_platform_public_key(campus.key.as_pem(private=False).decode())
            .set_platform_private_key(campus.key.private_key)
        )
        self._campus = campus

    def get_registration_by_params(self, **_: Any) -> Registration:
        return self._registration

    def fetch_public_key(self, key_set_url: str) -> Any:
        return self._campus.fetch_tool_keys()


class _Login(OIDCLoginAbstract):
    def set_lti_message_hint(self, **named: Any) -> None:
        self._lti_message_hint = json.dumps(named)

    def get_redirect(self, url: str) -> str:
        return url


class _Launch(LTIAdvantageMessageLaunchAbstract):
    def render_launch_form(self, launch_data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return launch_data


class _Gradebook(AssignmentsGradesService):
    campus: Campus

    def find_lineitems(self, page=1, limit=None, line_item_id=None, **named: Any) -> Any:
        wanted = named.get("resource_id")
        found = [one for one in self.campus.lines.values() if one.get("resourceId") == wanted]
        return {"content": found, "has_next": False}

    def find_lineitem(self, line_item_id: str) -> Any:
        return self.campus.lines[line_item_id]

    def create_lineitem(self, creation_data: Any) -> Any:
        return self.campus.add_line(creation_data)

    def update_lineitem(self, update_data: Any) -> Any:
        raise NotImplementedError

    def delete_lineitem(self, line_item_id: str) -> None:
        raise NotImplementedError

    def update_score(self, line_item_id: str, score: Any) -> UpdateScoreStatus:
        self.campus.scores.append({"line": line_item_id, **score})
        return UpdateScoreStatus.SUCCESS

    def get_results(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


class _Members(NamesRoleProvisioningService):
    campus: Campus

    def get_member_data_page(self, page=1, limit=None, **_: Any) -> Any:
        return {"content": self.campus.members, "has_next": False}

    def get_context_by_id(self) -> Context:
        return Context(COURSE, "Games", "Games 2026")


class Campus:
    """A platform with one course; what it is asked is kept."""

    def __init__(self, tool: str, base: str = "https://moodle.example.org") -> None:
        self.tool, self.base = tool, base
        self.deployment = DEPLOYMENT
        self.key = key_of("campus")
        self.members: list[dict[str, Any]] = []
        self.groups: list[dict[str, Any]] = []
        self.lines: dict[str, dict[str, Any]] = {}
        self.scores: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.broken: dict[str, int] = {}  # status by the beginning of a path
        self.fetch_tool_keys = lambda: {"keys": []}
        self.more_keys: list[dict[str, Any]] = []
        self.registered: dict[str, Any] = {}

    @property
    def fields(self) -> dict[str, str]:
        """What the form of an administrator is filled in with."""
        return {
            "title": "Moodle",
            "issuer": self.base,
            "client_id": CLIENT,
            "login_url": f"{self.base}/mod/lti/auth.php",
            "token_url": f"{self.base}/mod/lti/token.php",
            "jwks_url": f"{self.base}/mod/lti/certs.php",
            "algorithm": "RS256",
            "deployments": self.deployment,
            "hosts": "",
        }

    # --- messages ---

    def begin(self, target: str = "") -> str:
        """Return where the platform sends a browser that opens a link."""
        login = _Login(None, _Platform(campus=self))
        login.set_lti_message_hint(link=1)
        if target:
            login.set_launch_url(target)
        return str(login.initiate_login("user-hint"))

    def launch(self, query: dict[str, str], user: str, roles: list[str], **more: Any) -> dict:
        """Return the form that the platform lets a browser send, for what the tool asked."""
        platform = _Platform(campus=self)
        made = _Launch(_Request({"get_data": query, "form_data": {}}), platform)
        made.set_user_data(user, roles, more.pop("name", user.title()), more.pop("email", None))
        made.set_resource_link_claim("link-1", title="A link")
        made.set_launch_context_claim(
            more.pop("context", COURSE), context_title=more.pop("title", "Games 2026")
        )
        if target := more.pop("target", ""):
            made.set_launch_url(target)
        if more.pop("services", True):
            made.set_ags(f"{self.base}/lines", more.pop("line", None))
            made.set_nrps(f"{self.base}/members")
        if more.pop("deep", False):
            made.set_dl(f"{self.base}/return", extra_data=more.pop("data", None))
        if custom := more.pop("custom", None):
            made.set_custom_parameters_claim(custom)
        made.set_extra_claims({
            "https://purl.imsglobal.org/spec/lti/claim/lis": {"person_sourcedid": f"s-{user}"},
            **({"https://purl.imsglobal.org/spec/lti-gs/claim/groupsservice": {
                "context_groups_url": f"{self.base}/groups"}} if self.groups else {}),
            **more.pop("claims", {}),
        })  # fmt: skip
        return dict(made.lti_launch())

    def read_choice(self, token: str) -> list[dict[str, Any]]:
        """Return what an answer to deep linking chose, if the library takes it."""
        return _Platform(campus=self).validate_deeplinking_resp({"JWT": token})

    def add_line(self, told: dict[str, Any]) -> dict[str, Any]:
        name = f"{self.base}/lines/{len(self.lines) + 1}/lineitem?type_id=3"
        self.lines[name] = {**told, "id": name}
        return self.lines[name]

    # --- its services ---

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request of the tool."""
        path = request.url.path
        self.asked.append(f"{request.method} {path}")
        for start, status in self.broken.items():
            if path.startswith(start):
                return httpx2.Response(status)
        try:
            return self._serve(request, path)
        except (LtiServiceException, LtiException) as error:
            return httpx2.Response(getattr(error, "status_code", 400), text=str(error))

    def _serve(self, request: httpx2.Request, path: str) -> httpx2.Response:
        body, platform = request.read(), _Platform(campus=self)
        plain = {
            "/mod/lti/certs.php": lambda: {
                "keys": [*platform.get_jwks()["keys"], *self.more_keys]
            },
            "/mod/lti/token.php": lambda: platform.get_access_token(
                dict(parse_qsl(body.decode()))
            ),
            "/.well-known/openid-configuration": self.describe,
            "/register": lambda: self.register(request.headers.get("authorization"), body),
            "/groups": lambda: {"id": "groups", "groups": self.groups},
        }
        if path in plain:
            return httpx2.Response(200, json=plain[path]())
        asked = _Request({
            "method": request.method,
            "headers": {name.title(): value for name, value in request.headers.items()},
            "get_data": dict(request.url.params),
            "form_data": {},
            "json": json.loads(body) if body else None,
        })  # fmt: skip
        if path == "/members":
            service: Any = _Members(asked, platform, f"{self.base}/members")
            service.campus = self
            found = service.handle_resp(service.handle_get_members)
            return httpx2.Response(found.code, json=found.result)
        return self._serve_gradebook(asked, platform, path)

    def _serve_gradebook(self, asked: _Request, platform: _Platform, path: str) -> httpx2.Response:
        service: Any = _Gradebook(asked, platform, f"{self.base}/lines")
        service.campus = self
        if path == "/lines" and asked.method == "GET":
            found = service.handle_resp(service.handle_get_lineitems)
            return httpx2.Response(found.code, json=found.result["content"])
        if path == "/lines":
            found = service.handle_resp(service.handle_create_lineitem)
        else:
            line = f"{self.base}{path.removesuffix('/scores')}?type_id=3"
            if line not in self.lines:
                return httpx2.Response(404)
            found = service.handle_resp(service.handle_update_score, line_item_id=line)
        return httpx2.Response(found.code, json=found.result)

    def register(self, token: str | None, body: bytes) -> dict[str, Any]:
        self.registered = {"token": token, **json.loads(body)}
        return self.answer_registration()

    def describe(self) -> dict[str, Any]:
        """What the platform says of itself: the example of Dynamic Registration 1.0, 3.2.1."""
        own = self.fields
        return {
            "issuer": self.base,
            "authorization_endpoint": own["login_url"],
            "token_endpoint": own["token_url"],
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": ["RS256"],
            "jwks_uri": own["jwks_url"],
            "registration_endpoint": f"{self.base}/register",
            "scopes_supported": ["openid"],
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public", "pairwise"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
            "claims_supported": ["sub", "iss", "name", "given_name", "family_name"],
            "https://purl.imsglobal.org/spec/lti-platform-configuration": {
                "product_family_code": "moodle",
                "messages_supported": [
                    {"type": "LtiResourceLinkRequest"},
                    {"type": "LtiDeepLinkingRequest"},
                ],
                "variables": ["CourseSection.timeFrame.end", "Context.id.history"],
            },
        }

    def answer_registration(self) -> dict[str, Any]:
        """What the platform answers to a registration: the example of the same, 3.6."""
        told = {name: value for name, value in self.registered.items() if name != "token"}
        configuration = "https://purl.imsglobal.org/spec/lti-tool-configuration"
        return {
            **told,
            "client_id": CLIENT,
            configuration: {**told[configuration], "deployment_id": self.deployment},
        }


def query_of(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))
