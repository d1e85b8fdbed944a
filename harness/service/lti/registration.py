"""Dynamic registration: a platform and this service tell each other what the forms would ask for.

An administrator makes a link that holds once; whoever administers the platform opens it there.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from harness.errors import UsageError
from harness.service.lti import connection, platforms
from harness.service.lti.connection import SCOPES, PlatformError
from harness.service.lti.messages import DEEP_LINKING, RESOURCE
from harness.service.lti.platforms import ALGORITHMS, KEYS, LAUNCH, LOGIN, REGISTER, Platform
from harness.service.settings import Settings
from harness.service.storage.audit import AuditedTransaction

NAME = "gtp-harness"
_LASTS = 86400.0  # seconds that a link to register holds
_TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
_PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
_CLAIMS = ("iss", "sub", "name", "given_name", "family_name")


def describe_tool(settings: Settings) -> dict[str, Any]:
    """Return what this service tells a platform of itself."""
    base = settings.base
    return {
        "application_type": "web",
        "response_types": ["id_token"],
        "grant_types": ["implicit", "client_credentials"],
        "initiate_login_uri": f"{base}{LOGIN}",
        "redirect_uris": [f"{base}{LAUNCH}"],
        "client_name": NAME,
        "jwks_uri": f"{base}{KEYS}",
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join(SCOPES),
        _TOOL: {
            "domain": urlsplit(base).netloc,
            "description": "Tests programs that play Go and Gomoku, and marks them",
            "target_link_uri": f"{base}{LAUNCH}",
            "claims": [*_CLAIMS],
            "messages": [
                {"type": DEEP_LINKING, "target_link_uri": f"{base}{LAUNCH}", "label": NAME},
                {"type": RESOURCE, "target_link_uri": f"{base}{LAUNCH}", "label": NAME},
            ],
        },
    }


def make_link(act: AuditedTransaction, base: str) -> str:
    """Return a new address by which a platform registers itself, once within a day."""
    code = platforms.put_secret(act.db, "register", {"by": act.by}, _LASTS)
    act.note("link to register a platform made", "")
    return f"{base}{REGISTER}/{code}"


def perform(settings: Settings, configuration: str, token: str) -> Platform:
    """Register this service at a platform; return the platform, which is to be registered here.

    ``configuration``: the address at which the platform describes itself; ``token``: it lets the
    platform know that its own administrator wants this; may be empty.

    Raises:
        PlatformError: the platform cannot be asked, or does not take this service.
        UsageError: what it says of itself cannot be.
    """
    told = _read(connection.send(settings, "GET", configuration, {}).value)
    own, issuer = platforms.origin_of(configuration), _text(told, "issuer")
    if platforms.origin_of(issuer) != own:
        raise UsageError(
            f"issuer: found {issuer[:80]!r}, expected an address at {own}, which the link was"
            " opened from"
        )
    endpoint = _text(told, "registration_endpoint")
    algorithms = told.get("id_token_signing_alg_values_supported")
    known = [one for one in ALGORITHMS if isinstance(algorithms, list) and one in algorithms]
    platform = Platform(
        "",
        str(_read(told.get(_PLATFORM)).get("product_family_code", "")).title(),
        issuer,
        "pending",
        _text(told, "authorization_endpoint"),
        _text(told, "token_endpoint"),
        _text(told, "jwks_uri"),
        known[0] if known else ALGORITHMS[0],
    )
    platform = platforms.check(settings, platform)
    if not platform.has(endpoint):
        raise UsageError(f"registration_endpoint: found {endpoint[:80]!r}, expected one at {own}")
    answer = _read(_post(settings, endpoint, token).value)
    deployment = _read(answer.get(_TOOL)).get("deployment_id") or answer.get("deployment_id")
    return platform._replace(
        client_id=_text(answer, "client_id"),
        deployments=str(deployment) if isinstance(deployment, str | int) else "",
    )


def _post(settings: Settings, endpoint: str, token: str) -> connection.Answer:
    headers = {"content-type": "application/json"}
    if token:
        if not token.isascii() or not token.isprintable():
            raise PlatformError("the platform's registration token is not one")
        headers["authorization"] = f"Bearer {token}"
    body = json.dumps(describe_tool(settings)).encode()
    return connection.send(settings, "POST", endpoint, headers, body)


def _read(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(told: dict[str, Any], name: str) -> str:
    found = told.get(name)
    return found if isinstance(found, str) else ""
