"""Signing in by an OpenID provider: the code flow with PKCE, by Authlib, and its settings.

What must be the same before and after (state, nonce, verifier of PKCE) is made of one secret,
which the browser keeps in a cookie while it is at the provider. So nothing is kept here.
"""

import hashlib
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from harness.core import network
from harness.core.errors import HarnessError, UsageError
from harness.service.settings import Settings

BACK = "/sign-in/oidc/back"  # where a provider sends people back to
EMAIL = "email"
_SCOPE = "openid email profile"
_PATIENCE = 10.0  # seconds for an answer of the provider
_KNOWN = 3600.0  # seconds until its metadata and the trusted certificates are read again
_LEEWAY = 60  # seconds by which its clock and ours may differ
# What signs with a key that it alone has: never "none", never with the secret of the client.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class ProviderUnavailableError(HarnessError):
    """The provider cannot be reached, or does not answer as one."""


class SignInRefusedError(HarnessError):
    """The provider's answer lets nobody in."""


class Claims(NamedTuple):
    """A provider's claims of a person."""

    subject: str
    email: str  # a verified one; empty if the provider verified none
    name: str
    settings_claim: str  # the claim that the settings name, if it is another than the address


def is_safe(address: str) -> bool:
    """Whether nobody on the way can read or change what is said: by TLS, or on this machine."""
    parts = urlsplit(address)
    is_here = network.is_this_machine(parts.hostname or "")
    return parts.scheme == "https" or (parts.scheme == "http" and is_here)


def check(settings: Settings) -> None:
    """See that the settings name a provider whole, or none; raises UsageError if not."""
    if not settings.oidc:  # nobody could sign in at a provider that is not named
        beside = {
            "--oidc-client": settings.oidc_client,
            "--oidc-secret": settings.oidc_secret,
            "--oidc-add": settings.oidc_add,
        }
        for option in filter(beside.get, beside):
            raise UsageError(f"{option} needs --oidc, the address of the provider")
        return
    if not is_safe(settings.oidc):
        raise UsageError(f"--oidc: found {settings.oidc!r}, expected https://ISSUER")
    if not settings.oidc_client:
        raise UsageError("--oidc needs --oidc-client, as the provider calls this service")
    if settings.oidc_add and settings.oidc_claim != EMAIL:
        raise UsageError("--oidc-add goes with mail addresses alone: leave out --oidc-claim")
    client_secret(settings)


def client_secret(settings: Settings) -> str:
    """Return the secret of this service at the provider; UsageError if its file cannot be read."""
    try:
        return Path(settings.oidc_secret).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise UsageError(f"--oidc-secret: cannot read {settings.oidc_secret or 'it'}") from None


def name_of(settings: Settings) -> str:
    """Return the provider's name for the sign-in page, or "" without a provider."""
    return urlsplit(settings.oidc).hostname or ""


class Provider:
    """The provider of the settings, which lets people sign in. It may be shared by threads."""

    def __init__(self, settings: Settings) -> None:
        """Raises as :func:`check`."""
        check(settings)
        self._settings = settings
        self._found: dict[str, Any] = {}
        self._until = 0.0
        self._trusted: ssl.SSLContext | None = None  # which certificates are
        self._trusted_until = 0.0

    def begin(self, secret: str) -> str:
        """Return the address at the provider where somebody signs in, if it can be reached."""
        with self._client() as client:
            address, _ = client.create_authorization_url(
                self._metadata(client)["authorization_endpoint"],
                state=derive("state", secret),
                nonce=derive("nonce", secret),
                code_verifier=derive("verifier", secret),
            )
        return str(address)

    def finish(self, secret: str, state: str, code: str) -> Claims:
        """Return who came back with a code.

        Raises:
            ProviderUnavailableError: the provider cannot be reached.
            SignInRefusedError: what it says does not hold, or is not for us.
        """
        if not secret or not compare_digest(state.encode(), derive("state", secret).encode()):
            raise SignInRefusedError("it was begun in another browser, or too long ago")
        if not code:
            raise SignInRefusedError("the provider did not let you in")
        with self._client() as client, _naming_errors():
            metadata = self._metadata(client)
            token = client.fetch_token(
                metadata["token_endpoint"], code=code, code_verifier=derive("verifier", secret)
            )
            keys = client.request("GET", metadata["jwks_uri"], withhold_token=True)
            keys.raise_for_status()
            # The id token holds, is for us and for this one sign-in.
            own, key_set = self._settings.oidc_client, KeySet.import_key_set(keys.json())
            found = jwt.decode(token["id_token"], key_set, algorithms=_ALGORITHMS)
            wanted = {
                "iss": {"essential": True, "value": metadata["issuer"]},
                "aud": {"essential": True, "value": own},
            }
            nonce, access = derive("nonce", secret), token.get("access_token")
            given = {"nonce": nonce, "client_id": own, "access_token": access}
            claims = CodeIDToken(found.claims, found.header, wanted, given)
            claims.validate(leeway=_LEEWAY)
        email = _text(claims, EMAIL) if claims.get("email_verified") is True else ""
        named = self._settings.oidc_claim
        other = "" if named == EMAIL else _text(claims, named)
        return Claims(_text(claims, "sub"), email, _text(claims, "name"), other)

    def probe(self) -> str:
        """Return what the provider is, in words; raises ProviderUnavailableError, UsageError."""
        with self._client() as client:
            self._metadata(client)
        return f"{self._settings.oidc}, as {self._settings.oidc_client}"

    def _client(self) -> OAuth2Client:
        settings, now = self._settings, time.monotonic()
        # Which certificates are trusted: to read all takes longer than to ask.
        if self._trusted is None or now > self._trusted_until:
            self._trusted = httpx2.create_ssl_context()
            self._trusted_until = time.monotonic() + _KNOWN
        return OAuth2Client(
            settings.oidc_client,
            client_secret(settings),
            scope=_SCOPE,
            redirect_uri=f"{settings.base}{BACK}",
            code_challenge_method="S256",
            timeout=_PATIENCE,
            verify=self._trusted,
        )

    def _metadata(self, client: OAuth2Client) -> dict[str, Any]:
        """Return what the provider says of itself (OpenID Connect Discovery)."""
        if time.monotonic() > self._until:
            issuer = self._settings.oidc
            path = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
            with _naming_errors():
                answer = client.request("GET", path, withhold_token=True)
                answer.raise_for_status()
                found = answer.json()
                if found["issuer"] != issuer:
                    raise ValueError(found["issuer"])
                for name in _ENDPOINTS:
                    if not is_safe(str(found[name])):
                        raise ValueError(name)
                self._found = found
            self._until = time.monotonic() + _KNOWN
        return self._found


def _text(claims: CodeIDToken, name: str) -> str:
    value = claims.get(name, "")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def derive(purpose: str, secret: str) -> str:
    """Return a value that only a holder of the secret can compute and that does not reveal it."""
    return hashlib.sha256(f"oidc {purpose} {secret}".encode()).hexdigest()


@contextmanager
def _naming_errors() -> Iterator[None]:
    """Turn what goes wrong into sentences; none repeats a code or a token."""
    try:
        yield
    except httpx2.HTTPStatusError as error:
        why = f"the provider answered {error.response.status_code}"
        raise ProviderUnavailableError(why) from None
    except httpx2.HTTPError as error:
        why = network.explain(error)
        raise ProviderUnavailableError(f"the provider cannot be reached: {why}") from None
    except (AuthlibBaseError, JoseError) as error:
        told = getattr(error, "error", "") or type(error).__name__
        claim = getattr(error, "claim", "")
        why = f"{told} ({claim})" if claim else told
        raise SignInRefusedError(f"the provider's statement is not valid: {why}") from None
    except (KeyError, ValueError, TypeError) as error:
        why = f"the provider's answer cannot be read: {type(error).__name__}"
        raise ProviderUnavailableError(why) from None
