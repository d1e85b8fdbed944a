"""Options that the commands of the service share: where its data are, and what they need."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness import extras
from harness.cli.arguments import CommandParser
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.service.settings import Settings


def add_place(parser: CommandParser) -> None:
    """Add the options that say where the data of a service are."""
    add = parser.add_argument
    add("--data", default="", metavar="DIR",
        help="folder with everything (default: ~/.local/share/gtp-harness/service)")  # fmt: skip
    add("--database", default="", metavar="ADDRESS",
        help="postgresql://USER@HOST/DATABASE instead of files in --data")  # fmt: skip


def folder_command(name: str, description: str, epilog: str) -> CommandParser:
    """Return the parser of a command that takes a folder and says where the data are."""
    parser = CommandParser(name, description=description, epilog=epilog)
    parser.usage = f"gtp-harness {name} DIR [OPTION…]"
    parser.add_argument("folder", nargs="?", metavar="DIR", help=argparse.SUPPRESS)
    add_place(parser)
    parser.add_argument("--help", "-help", "-h", action="store_true",
        help="print this help and exit")  # fmt: skip
    return parser


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


def place(given: argparse.Namespace) -> Settings:
    """Return settings that say where the data are.

    Raises:
        UsageError: a package is missing, or --database names no server's database.
    """
    extras.require("the service", "service", "fastapi", "jinja2", "multipart", "uvicorn")
    from harness.grading.ledger.places import is_server
    from harness.service.settings import Settings, data_folder

    if given.database and not is_server(given.database):  # which may have a password in it
        raise UsageError("--database: expected postgresql://USER@HOST/DATABASE")
    if given.database:
        extras.require("--database on a server", "postgresql", "psycopg")
    return Settings(Path(given.data).absolute() if given.data else data_folder(), given.database)
