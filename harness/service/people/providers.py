"""The provider by which people may sign in; what it needs is loaded only if there is one."""

from __future__ import annotations

from harness.service.people import oidc
from harness.service.settings import Settings


def open_provider(settings: Settings) -> oidc.Provider | None:
    """Return the provider of the settings; None: people sign in by links alone.

    Raises:
        UsageError: something is missing or cannot be.
    """
    if not settings.oidc:
        return None
    oidc.check(settings)
    from harness.service.people.authlib_provider import AuthlibProvider

    return AuthlibProvider(settings)
