"""Options that all commands share which ask a service: its token, and the package they need."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import extras
from harness.errors import ServerError, UsageError

TOKEN = "GTP_HARNESS_TOKEN"  # the variable of the environment


def require_httpx(command: str) -> None:
    """See that the client can be imported; a UsageError says what to install."""
    extras.require(command, "client", "httpx")


def add_token_options(parser: argparse.ArgumentParser) -> None:
    """Add what a token is read from and sent by.

    A token itself is never typed: all users see command lines.
    """
    parser.add_argument("--token-file", default="", metavar="FILE",
        help=f"file with an API token (default: the variable {TOKEN})")  # fmt: skip
    parser.add_argument("--allow-http", action="store_true",
        help="send the token to another machine without encryption: everyone on the way can"
        " read it")  # fmt: skip


def token(given: argparse.Namespace) -> str:
    """Return the API token.

    Raises:
        UsageError: there is none, or its file cannot be read.
    """
    text = os.environ.get(TOKEN, "")
    if given.token_file:
        try:
            text = Path(given.token_file).read_text(encoding="ascii")
        except OSError as error:
            raise UsageError(f"cannot read {given.token_file}: {error.strerror}") from None
        except UnicodeError:
            raise UsageError(f"{given.token_file} has no token in it") from None
    if not text.strip().isascii() or not text.strip().isprintable() or not text.strip():
        raise UsageError(
            f"found no API token: make one on the page API tokens of the service, and put it"
            f" into the variable {TOKEN} or a --token-file"
        )
    return text.strip()


@contextmanager
def telling_received(what: str) -> Iterator[None]:
    """Say of what goes wrong here that ``what`` was received: nobody need send it once more."""
    try:
        yield
    except (ServerError, UsageError) as error:
        raise type(error)(f"the {what} was received, but not its results: {error}") from None
