"""Requests to a platform: its keys, tokens to ask it with, and its services.

It is asked at its own origins alone, without following redirects, for so long and for so much.
"""

import json
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import httpx2
from authlib.oauth2.rfc7523 import private_key_jwt_sign

from harness.core import network
from harness.core.errors import HarnessError, UsageError
from harness.service.lti import platforms
from harness.service.lti.messages import DEEP_LINKING, RESOURCE
from harness.service.lti.platforms import ALGORITHMS, KEYS, LAUNCH, LOGIN
from harness.service.records import Platform
from harness.service.settings import Settings

_PATIENCE = 10.0  # seconds for an answer
_LARGEST = 2 << 20  # bytes of an answer
_FRESH = 86400.0  # seconds until keys are read again
_SELDOM = 60.0  # seconds before keys are read again for an unknown one
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_NEXT = re.compile(r'<([^>]*)>\s*;\s*rel="?next"?', re.IGNORECASE)


class PlatformService(NamedTuple):
    """Request to a platform."""

    scope: str
    kind: str  # of what is sent to it; without a body, of what it answers


_SPEC, _TYPE = "https://purl.imsglobal.org/spec", "application/vnd.ims"
LINE = PlatformService(f"{_SPEC}/lti-ags/scope/lineitem", f"{_TYPE}.lis.v2.lineitem+json")
LINES = LINE._replace(kind=f"{_TYPE}.lis.v2.lineitemcontainer+json")
SCORE = PlatformService(f"{_SPEC}/lti-ags/scope/score", f"{_TYPE}.lis.v1.score+json")
MEMBERS = PlatformService(
    f"{_SPEC}/lti-nrps/scope/contextmembership.readonly",
    f"{_TYPE}.lti-nrps.v2.membershipcontainer+json",
)
GROUPS = PlatformService(
    f"{_SPEC}/lti-gs/scope/contextgroup.readonly", f"{_TYPE}.lti-gs.v1.contextgroupcontainer+json"
)


class PlatformError(HarnessError):
    """The platform cannot be reached, or does not answer as it should. Asked again, it may."""

    def __init__(self, reason: str, *, status: int = 0) -> None:
        """``status``: of its answer; 0: there was none."""
        super().__init__(reason)
        self.status = status


class Answer(NamedTuple):
    """Answer of a platform."""

    value: Any  # JSON; None: nothing
    next: str  # the address of the next page; empty: none


def open_client() -> httpx2.Client:
    """Return what asks platforms."""
    return httpx2.Client(timeout=_PATIENCE, follow_redirects=False)


_keys: dict[str, tuple[float, dict[str, dict[str, Any]]]] = {}  # when read; by address, and id
_tokens: dict[tuple[str, str], tuple[float, str]] = {}  # and until when they hold


class PlatformClient(NamedTuple):
    """Asks a platform, as this service."""

    settings: Settings
    platform: Platform

    def call(
        self, method: str, address: str, service: PlatformService, body: object = None
    ) -> Answer:
        """Return what a service of the platform answers; ``body``: as JSON.

        Raises:
            PlatformError: the address is not one of the platform, or it gives no good answer.
        """
        token, name = self._authorize(service.scope), "content-type" if body else "accept"
        headers = {"authorization": f"Bearer {token}", name: service.kind}
        try:
            return self.ask(method, address, headers, json.dumps(body) if body else "")
        except PlatformError as error:
            if error.status == 401:  # the token is not taken any more
                _tokens.pop((self.platform.id, service.scope), None)
            raise

    def ask(
        self, method: str, address: str, headers: Mapping[str, str] | None = None, body: str = ""
    ) -> Answer:
        """Return what the platform answers at one of its origins; raises as :meth:`call`."""
        name = network.origin_of(address) or "an address"
        if not self.platform.has(address):
            raise PlatformError(
                f"{name} is not registered as an origin of {self.platform.title}: the"
                " administrator of this service can add it",
                status=400,
            )
        if not platforms.is_allowed(self.settings, address):
            raise PlatformError(f"{name} is not asked: expected https://", status=400)
        try:
            with (
                open_client() as client,
                client.stream(method, address, headers=headers, content=body.encode()) as answer,
            ):
                data, until = b"", time.monotonic() + 3 * _PATIENCE
                for piece in answer.iter_bytes():
                    data += piece
                    if len(data) > _LARGEST or time.monotonic() > until:
                        why = f"{name} answered more than {_LARGEST:,} bytes, or too slowly"
                        raise PlatformError(why)
        except httpx2.HTTPError as error:
            raise PlatformError(f"{name}: {network.explain(error)}") from None
        if (status := answer.status_code) // 100 != 2:
            why = f"{name} answered {status} {answer.reason_phrase}".strip()
            raise PlatformError(why, status=status)
        following = _NEXT.search(answer.headers.get("link", ""))
        try:
            value = json.loads(data) if data.strip() else None
        except ValueError:
            raise PlatformError(f"{name} did not answer in JSON") from None
        return Answer(value, following[1] if following else "")

    def _authorize(self, scope: str) -> str:
        own, now = self.platform, time.time()
        until, token = _tokens.get((own.id, scope), (0.0, ""))
        if now < until:
            return token
        key = platforms.signing_key(self.settings, now)
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": _ASSERTION,
            "client_assertion": private_key_jwt_sign(
                key, own.client_id, own.token_url, header={"kid": key.kid}, expires_in=60
            ),
            "scope": scope,
        }
        headers = {"content-type": "application/x-www-form-urlencoded"}
        found = as_dict(self.ask("POST", own.token_url, headers, urlencode(form)).value)
        token = found.get("access_token", "")
        if not _is_token(token):
            raise PlatformError(f"{own.title} gave no token")
        lasts = found.get("expires_in")
        lasts = lasts if isinstance(lasts, int) and 0 < lasts < 86400 else 60
        _tokens[own.id, scope] = now + lasts * 0.8, token
        return str(token)

    def find_key(self, kid: str) -> dict[str, Any]:
        """Return the public key of the platform by its id.

        An unknown id lets the keys be read again, but not often: anybody can make one up.

        Raises:
            PlatformError: the platform has no such key, or cannot be asked.
        """
        own, now = self.platform, time.time()
        read, known = _keys.get(own.jwks_url, (0.0, {}))
        if not 0 <= now - read < (_FRESH if kid in known else _SELDOM):
            _keys[own.jwks_url] = now, known  # nobody else asks meanwhile
            try:
                told = as_dict(self.ask("GET", own.jwks_url).value).get("keys")
                rows = [as_dict(one) for one in told] if isinstance(told, list) else []
                known = {str(one.get("kid")): one for one in rows}
                _keys[own.jwks_url] = now, known
            except PlatformError:
                if kid not in known:
                    raise
        if kid not in known:
            raise PlatformError(f"{own.title} has no key {kid[:40]!r}")
        return known[kid]


def as_dict(value: object) -> dict[str, Any]:
    """Return an object of JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _is_token(text: object) -> bool:
    return isinstance(text, str) and bool(text) and text.isascii() and text.isprintable()


# --- dynamic registration ----------------------------------------------------------------------
# A platform and this service tell each other what the forms would ask for. An administrator makes
# a link that holds once; whoever administers the platform opens it there.

_NAME = "gtp-harness"
_TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
_PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "registration_endpoint")


def register_there(settings: Settings, configuration: str, token: str) -> Platform:
    """Register this service at a platform; return the platform, which is to be registered here.

    ``configuration``: the address at which the platform describes itself; ``token``: it lets the
    platform know that its own administrator wants this; may be empty.

    Raises:
        PlatformError: the platform cannot be asked, or does not take this service.
        UsageError: what it says of itself cannot be.
    """
    own = network.origin_of(configuration)
    asked = PlatformClient(settings, Platform("", own, own, "", own, own, own))
    told = as_dict(asked.ask("GET", configuration).value)
    issuer = str(told.get("issuer", ""))
    login_url, token_url, jwks_url, endpoint = (str(told.get(name, "")) for name in _ENDPOINTS)
    if network.origin_of(issuer) != own:
        raise UsageError(
            f"issuer: found {issuer[:80]!r}, expected an address at {own}, which the link was"
            " opened from"
        )
    known = told.get("id_token_signing_alg_values_supported")
    algorithm = next((a for a in ALGORITHMS if isinstance(known, list) and a in known), "RS256")
    title = str(as_dict(told.get(_PLATFORM)).get("product_family_code", "")).title()
    platform = platforms.check(
        settings, Platform("", title, issuer, "pending", login_url, token_url, jwks_url, algorithm)
    )
    headers = {"content-type": "application/json"}
    if token:
        if not _is_token(token):
            raise PlatformError("the platform's registration token is not one")
        headers["authorization"] = f"Bearer {token}"
    body = json.dumps(_describe_tool(settings.base))
    answer = as_dict(PlatformClient(settings, platform).ask("POST", endpoint, headers, body).value)
    deployment = as_dict(answer.get(_TOOL)).get("deployment_id") or answer.get("deployment_id")
    return platform._replace(
        client_id=str(answer.get("client_id") or ""), deployments=str(deployment or "")
    )


def _describe_tool(base: str) -> dict[str, Any]:
    target = {"target_link_uri": f"{base}{LAUNCH}"}
    return {
        "application_type": "web",
        "response_types": ["id_token"],
        "grant_types": ["implicit", "client_credentials"],
        "initiate_login_uri": f"{base}{LOGIN}",
        "redirect_uris": [f"{base}{LAUNCH}"],
        "client_name": _NAME,
        "jwks_uri": f"{base}{KEYS}",
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join(one.scope for one in (LINE, SCORE, MEMBERS, GROUPS)),
        _TOOL: {
            "domain": urlsplit(base).netloc,
            "description": "Tests programs that play Go and Gomoku, and marks them",
            "claims": ["iss", "sub", "name", "given_name", "family_name"],
            "messages": [
                {"type": kind, "label": _NAME, **target} for kind in (DEEP_LINKING, RESOURCE)
            ],
            **target,
        },
    }
