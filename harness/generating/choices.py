"""Choices that are the same in every run with the same key, and that nobody guesses without it.

Every choice is drawn from HMAC-SHA-256 of what it is about, never from the order in which work
happens to be done: so runs with any number of processes agree, and who lacks a secret key learns
nothing from the program, the games and the public cases.
"""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from random import Random

from harness.errors import UsageError

LEAST = 16  # bytes of a secret: what nobody tries out


class Choices:
    """The choices under one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def rank(self, *about: object) -> int:
        """Return a number of 64 bits that stands for what it is about."""
        return int.from_bytes(self._digest(about)[:8])

    def random(self, *about: object) -> Random:
        """Return a source of random numbers for what it is about."""
        return Random(self._digest(about))

    def _digest(self, about: tuple[object, ...]) -> bytes:
        return hmac.digest(self._key, repr(about).encode(), "sha256")


def choices(seed: int, secret: bytes | None = None) -> Choices:
    """Return the choices for a seed, which anybody can repeat, or those only a secret gives."""
    return Choices(b"public " + str(seed).encode() if secret is None else _mix(secret, seed))


def _mix(secret: bytes, seed: int) -> bytes:
    return hmac.digest(secret, b"private %d" % seed, "sha256")


def read_secret(place: str) -> bytes:
    """Return the secret in a file, or (``env:NAME``) in a variable of the environment.

    Blanks around it do not count. On the command line itself others could read it in the list of
    processes, so it cannot stand there.

    Raises :class:`UsageError` when there is none, or one that can be tried out.
    """
    kind, _, name = place.partition(":")
    if kind == "env":
        secret = os.environ.get(name, "").encode("utf-8", "surrogateescape").strip()
        what = f"the variable {name}"
    else:
        secret, what = _content(place).strip(), place
    if len(secret) < LEAST:
        found = f"{len(secret)} bytes" if secret else "no secret"
        raise UsageError(f"{what}: found {found}, expected at least {LEAST} bytes")
    return secret


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: the secret cannot be read: {error.strerror}") from None
