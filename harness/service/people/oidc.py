"""Signing in by an OpenID provider: what it says of somebody, and which settings name it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from harness import extras
from harness.errors import HarnessError, UsageError
from harness.network import is_this_machine
from harness.service.settings import Settings

BACK = "/sign-in/oidc/back"  # where a provider sends people back to
EMAIL = "email"


class ProviderUnavailableError(HarnessError):
    """The provider cannot be reached, or does not answer as one."""


class SignInRefusedError(HarnessError):
    """What the provider says lets nobody in."""


class Claims(NamedTuple):
    """What a provider says of somebody."""

    subject: str
    email: str  # a verified one; empty if the provider verified none
    name: str
    own: str  # the claim that the settings name, if it is another than the address


class Provider(Protocol):
    """Lets people sign in. It may be shared by threads."""

    def begin(self, secret: str) -> str:
        """Return the address at the provider where somebody signs in.

        Raises:
            ProviderUnavailableError: the provider cannot be reached.
        """

    def finish(self, secret: str, state: str, code: str) -> Claims:
        """Return who came back with a code.

        Raises:
            ProviderUnavailableError: the provider cannot be reached.
            SignInRefusedError: what it says does not hold, or is not for us.
        """

    def probe(self) -> str:
        """Return what the provider is, in words; raises ProviderUnavailableError."""


def is_safe(address: str) -> bool:
    """Whether nobody on the way can read or change what is said: by TLS, or on this machine."""
    parts = urlsplit(address)
    is_here = is_this_machine(parts.hostname or "")
    return parts.scheme == "https" or (parts.scheme == "http" and is_here)


def check(settings: Settings) -> None:
    """See that the settings name a provider whole, or none.

    Raises:
        UsageError: something is missing or cannot be.
    """
    if not settings.oidc:
        _see_none(settings)
        return
    if not is_safe(settings.oidc):
        raise UsageError(f"--oidc: found {settings.oidc!r}, expected https://ISSUER")
    if not settings.oidc_client:
        raise UsageError("--oidc needs --oidc-client, as the provider calls this service")
    if settings.oidc_add and settings.oidc_claim != EMAIL:
        raise UsageError("--oidc-add goes with mail addresses alone: leave out --oidc-claim")
    extras.require("--oidc", "service", "authlib")
    client_secret(settings)


def _see_none(settings: Settings) -> None:
    """See that nothing is said of a provider that is not named: nobody could sign in there."""
    beside = {
        "--oidc-client": settings.oidc_client,
        "--oidc-secret": settings.oidc_secret,
        "--oidc-add": settings.oidc_add,
    }
    for option in filter(beside.get, beside):
        raise UsageError(f"{option} needs --oidc, the address of the provider")


def client_secret(settings: Settings) -> str:
    """Return the secret of this service at the provider.

    Raises:
        UsageError: its file cannot be read.
    """
    try:
        return Path(settings.oidc_secret).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise UsageError(f"--oidc-secret: cannot read {settings.oidc_secret or 'it'}") from None


def name_of(settings: Settings) -> str:
    """Return the provider's name for the sign-in page, or "" without a provider."""
    return urlsplit(settings.oidc).hostname or ""
