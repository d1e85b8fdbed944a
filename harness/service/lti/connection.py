"""What is asked of a platform: its keys, tokens to ask it with, and its services.

It is asked at its own origins alone, without following redirects, for so long and for so much.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx2
from joserfc import jwt

from harness import network
from harness.errors import HarnessError
from harness.service.lti import platforms
from harness.service.lti.platforms import PLATFORMS, Platform
from harness.service.settings import Settings
from harness.service.storage.database import Database

_PATIENCE = 10.0  # seconds for an answer
_LARGEST = 2 << 20  # bytes of an answer
_FRESH = 86400.0  # seconds until keys are read again
_SELDOM = 60.0  # seconds before keys are read again for an unknown one
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_NEXT = re.compile(r'<([^>]*)>\s*;\s*rel="?next"?', re.IGNORECASE)
LINE_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
SCORE_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
MEMBER_SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
GROUP_SCOPE = "https://purl.imsglobal.org/spec/lti-gs/scope/contextgroup.readonly"
SCOPES = (LINE_SCOPE, SCORE_SCOPE, MEMBER_SCOPE, GROUP_SCOPE)


class PlatformError(HarnessError):
    """The platform cannot be reached, or does not answer as it should. Asked again, it may."""

    def __init__(self, why: str, *, status: int = 0) -> None:
        """``status``: of its answer; 0: there was none."""
        super().__init__(why)
        self.status = status


class Answer(NamedTuple):
    """What a platform answered."""

    value: Any  # JSON; None: nothing
    next: str  # the address of the next page; empty: none


def open_client() -> httpx2.Client:
    """Return what asks platforms."""
    return httpx2.Client(timeout=_PATIENCE, follow_redirects=False)


_tokens: dict[tuple[str, str], tuple[float, str]] = {}  # and until when they hold
_lock = threading.Lock()


class PlatformClient(NamedTuple):
    """Asks a platform, as this service."""

    settings: Settings
    platform: Platform
    now: float

    def call(
        self, method: str, address: str, scope: str, kind: str, body: object = None
    ) -> Answer:
        """Return what a service of the platform answers.

        ``kind``: the type of the body, as JSON; without a body, of the answer.

        Raises:
            PlatformError: the address is not one of the platform, or it gives no good answer.
        """
        headers = {"authorization": f"Bearer {self._authorize(scope)}"}
        headers |= {"accept": kind} if body is None else {"content-type": kind}
        data = None if body is None else json.dumps(body).encode()
        try:
            return self.ask(method, address, headers, data)
        except PlatformError as error:
            if error.status == 401:  # the token is not taken any more
                with _lock:
                    _tokens.pop((self.platform.id, scope), None)
            raise

    def ask(
        self, method: str, address: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer:
        """Return what the platform answers at one of its origins; raises as :meth:`call`."""
        if not self.platform.has(address):
            raise PlatformError(
                f"{platforms.origin_of(address) or 'an address'} is not registered as an origin of"
                f" {self.platform.title}: the administrator of this service can add it",
                status=400,
            )
        return send(self.settings, method, address, headers, body)

    def _authorize(self, scope: str) -> str:
        """Return a token by which a service is asked."""
        key = self.platform.id, scope
        with _lock:
            until, token = _tokens.get(key, (0.0, ""))
        if self.now >= until:
            until, token = self._fetch_token(scope)
            with _lock:
                _tokens[key] = until, token
        return token

    def _fetch_token(self, scope: str) -> tuple[float, str]:
        own, key = self.platform, platforms.signing_key(self.settings, self.now)
        claims = {
            "iss": own.client_id,
            "sub": own.client_id,
            "aud": own.token_url,
            "iat": int(self.now),
            "exp": int(self.now) + 60,
            "jti": secrets.token_urlsafe(16),
        }
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": _ASSERTION,
            "client_assertion": jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key),
            "scope": scope,
        }
        headers = {"content-type": "application/x-www-form-urlencoded"}
        found = self.ask("POST", own.token_url, headers, urlencode(form).encode()).value
        token = found.get("access_token") if isinstance(found, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise PlatformError(f"{own.title} gave no token")
        lasts = found.get("expires_in")
        lasts = lasts if isinstance(lasts, int) and 0 < lasts < 86400 else 60
        return self.now + lasts * 0.8, token


def send(
    settings: Settings,
    method: str,
    address: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
) -> Answer:
    """Return what is answered at an address that an administrator gave.

    Raises:
        PlatformError: there is no good answer.
    """
    name = platforms.origin_of(address)
    if not platforms.is_allowed(settings, address):
        raise PlatformError(f"{name or 'an address'} is not asked: expected https://", status=400)
    try:
        with (
            open_client() as client,
            client.stream(method, address, headers=dict(headers), content=body) as answer,
        ):
            data = _read(answer, name)
    except httpx2.HTTPError as error:
        raise PlatformError(f"{name}: {network.explain(error)}") from None
    if answer.status_code // 100 != 2:
        raise PlatformError(
            f"{name} answered {answer.status_code} {answer.reason_phrase}".strip(),
            status=answer.status_code,
        )
    following = _NEXT.search(answer.headers.get("link", ""))
    try:
        value = json.loads(data) if data.strip() else None
    except ValueError:
        raise PlatformError(f"{name} did not answer in JSON") from None
    return Answer(value, following[1] if following else "")


def _read(answer: httpx2.Response, name: str) -> bytes:
    data, until = b"", time.monotonic() + 3 * _PATIENCE
    for piece in answer.iter_bytes():
        data += piece
        if len(data) > _LARGEST or time.monotonic() > until:
            raise PlatformError(f"{name} answered more than {_LARGEST:,} bytes, or too slowly")
    return data


# --- its keys ----------------------------------------------------------------------------------


def find_key(client: PlatformClient, database: Database, kid: str) -> dict[str, Any]:
    """Return the public key of a platform by its id, from the database if that has it.

    An unknown id lets the keys be read again, but not often: anybody can make one up.

    Raises:
        PlatformError: the platform has no such key, or cannot be asked.
    """
    platform, now = client.platform, client.now
    found = _find(platform.keys, kid)
    is_old = not 0 <= now - platform.keys_at < _FRESH
    if (found is None or is_old) and not 0 <= now - platform.keys_at < _SELDOM:
        with database.changing() as db:  # before it is asked: nobody else does so meanwhile
            values: dict[str, object] = {"keys_at": now}
            PLATFORMS.change(db, values, id=platform.id, keys_at=platform.keys_at)
        try:
            text = json.dumps(client.ask("GET", platform.jwks_url, {}).value)
        except PlatformError:
            if found is None:
                raise
            return found
        found = _find(text, kid)
        with database.changing() as db:
            PLATFORMS.change(db, {"keys": text}, id=platform.id)
    if found is None:
        raise PlatformError(f"{platform.title} has no key {kid[:40]!r}")
    return found


def _find(text: str, kid: str) -> dict[str, Any] | None:
    known = json.loads(text) if text else None
    keys = known.get("keys") if isinstance(known, dict) else None
    for one in keys if isinstance(keys, list) else ():
        if isinstance(one, dict) and one.get("kid") == kid:
            return one
    return None
