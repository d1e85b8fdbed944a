"""Options that the commands of the service share: where its data are, a token, and who asks."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness import extras
from harness.cli.arguments import CommandParser
from harness.errors import ServerError, UsageError

if TYPE_CHECKING:
    from harness.service.settings import Settings


def add_place(parser: CommandParser) -> None:
    """Add the options that say where the data of a service are."""
    add = parser.add_argument
    add("--data", default="", metavar="DIR",
        help="folder with everything (default: ~/.local/share/gtp-harness/service)")  # fmt: skip
    add("--database", default="", metavar="ADDRESS",
        help="postgresql://USER@HOST/DATABASE instead of files in --data")  # fmt: skip


def add_folder(parser: CommandParser) -> None:
    """Add a folder, and the options that say where the data of a service are."""
    parser.add_argument("folder", nargs="?", metavar="DIR", help=argparse.SUPPRESS)
    add_place(parser)


def add_keep(parser: CommandParser) -> None:
    """Add the option that says how long what is kept."""
    parser.add_argument("--keep", action="append", default=[], metavar="THING=DAYS",
        help="keep logs, mail, sessions, checks, marks, originals or audit for DAYS or"
        " forever; may be repeated (see gtp-harness prune --help)")  # fmt: skip


def require(settings: Settings) -> None:
    """Check that a service exists.

    Raises:
        UsageError: there is none.
    """
    if not settings.keys.is_dir():
        raise UsageError(
            f"found no service in {settings.data}: give its --data; gtp-harness serve makes one"
        )


def place(arguments: argparse.Namespace) -> Settings:
    """Return settings that say where the data are.

    Raises:
        UsageError: a package is missing, or --database names no server's database.
    """
    extras.require("the service", "service", "fastapi", "jinja2", "multipart", "uvicorn")
    from harness.grading.ledger.places import is_server
    from harness.service.settings import Settings, data_folder

    if arguments.database and not is_server(arguments.database):  # which may have a password in it
        raise UsageError("--database: expected postgresql://USER@HOST/DATABASE")
    if arguments.database:
        extras.require("--database on a server", "postgresql", "psycopg")
    return Settings(
        Path(arguments.data).absolute() if arguments.data else data_folder(), arguments.database
    )


# --- Options that all commands share which ask a service: its token, and the package they need ---


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


def token(arguments: argparse.Namespace) -> str:
    """Return the API token.

    Raises:
        UsageError: there is none, or its file cannot be read.
    """
    text = os.environ.get(TOKEN, "")
    if arguments.token_file:
        try:
            text = Path(arguments.token_file).read_text(encoding="ascii")
        except OSError as error:
            raise UsageError(f"cannot read {arguments.token_file}: {error.strerror}") from None
        except UnicodeError:
            raise UsageError(f"{arguments.token_file} has no token in it") from None
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
