"""``gtp-harness submit``: submit an archive to a service, and wait for its public tests."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli import service_options
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command
from harness.cli.console import never_fail_to_encode
from harness.errors import ExitCode
from harness.text import escape_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.client.client import Client, RemoteAssignment

_PAGE = """\
usage: gtp-harness submit ADDRESS FILE [OPTION…]

Submit an archive to an assignment of a service (gtp-harness serve). ADDRESS is the
address of the assignment's page. The receipt is printed when the archive is stored;
the results of the public tests follow when they have run. The API token needs the
scope all; with --no-wait the scope submit is enough.

[options]

Exit status:
    0  submitted, and all public tests passed
    1  submitted; something is wrong with the archive, or a public test failed
    2  refused, or the input was bad
    3  the service cannot be reached, or failed

Examples:
  gtp-harness submit https://tests.example.org/courses/12ab/assignments/34cd a1.tgz
  gtp-harness submit --no-wait --token-file token.txt ADDRESS a1.tgz"""


def _run(given: argparse.Namespace) -> int:
    if not given.address or not given.file:
        SUBMIT.refuse("give ADDRESS and FILE")
    service_options.require_httpx("submit")
    from harness.client import Client, place_of

    never_fail_to_encode()
    place = place_of(given.address)
    token = service_options.token(given)
    with Client(place.base, token, allow_http=given.allow_http) as client:
        return submit(client, place, given)


def submit(client: Client, place: RemoteAssignment, arguments: argparse.Namespace) -> int:
    """Submit, print what is to be known, and return the exit status."""
    found = client.submit(place, Path(arguments.file))
    print(escape_controls(f"Received: {found['name']}, {found['size']:,} bytes"))
    if found.get("late"):  # a service of an earlier version says nothing
        print(escape_controls(f"Late: {found['late']}"))
    print(escape_controls(f"SHA-256: {found['sha256']}\nPage: {found['page']}"), flush=True)
    return ExitCode.OK if arguments.no_wait else _wait(client, place, found["id"])


def _wait(client: Client, place: RemoteAssignment, submission: str) -> int:
    """Wait until it is checked, print how that ended, and return the exit status."""
    with service_options.telling_received("archive"):
        *_, found = client.watch(place, submission)
    if found["state"] == "withdrawn":
        print("It was withdrawn.")
        return ExitCode.BROKEN
    status = _tell_end(found)
    print(escape_controls(found["place"]))
    return status


def _tell_end(found: dict[str, Any]) -> int:
    """Print how the check of a submission ended; return the exit status."""
    if found["state"] == "fault" or found["check"] is None:
        print("It was received, but the service failed to check it: ask your teacher.")
        return ExitCode.FAULT
    return _tell(found["check"])


def _tell(check: dict[str, Any]) -> int:
    """Print the result of a check; return the exit status."""
    for fault in filter(None, [check["refused"], *check["faults"]]):
        print(escape_controls(f"The archive: {fault}"))
    if check["builds"] is False:
        print("It does not build.")
    for one in check["cases"]:
        passed = f"{one['passed']} of {one['tests']} tests passed" if one["tests"] else ""
        print(escape_controls(f"{one['case']}: {passed or one['result']}"))
    return _status(check)


def _status(check: dict[str, Any]) -> int:
    results = {one["result"] for one in check["cases"]}
    if check["refused"] or check["faults"] or check["builds"] is False or "failed" in results:
        return ExitCode.FAILED
    return ExitCode.FAULT if "harness error" in results else ExitCode.OK


def _add_options(parser: CommandParser) -> None:
    parser.add_argument("address", nargs="?", metavar="ADDRESS", help=argparse.SUPPRESS)
    parser.add_argument("file", nargs="?", metavar="FILE", help=argparse.SUPPRESS)
    service_options.add_token_options(parser)
    add = parser.add_argument
    add("--no-wait", action="store_true", help="end as soon as the archive is received")


SUBMIT = Command("submit", _PAGE, _add_options, _run)
