"""Secrets that let somebody in. Each is told once; what is kept is its digest.

A secret has 256 bits of chance, so that a plain digest is enough: nobody can try them all.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Secret:
    """A new secret; how it is printed does not show it."""

    text: str = field(repr=False)  # for the one whom it lets in
    digest: str = field(repr=False)  # for the database


def new(prefix: str = "") -> Secret:
    """Return a secret that begins with a prefix, by which scanners know what was leaked."""
    text = prefix + secrets.token_urlsafe(32)
    return Secret(text, digest(text))


def digest(text: str) -> str:
    """Return what of a secret is kept."""
    return hashlib.sha256(text.encode()).hexdigest()


def form_token(session: str) -> str:
    """Return what the forms of a session must carry: who can read it has the session anyway."""
    return hashlib.sha256(f"form {session}".encode()).hexdigest()
