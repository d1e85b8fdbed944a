"""``gtp-harness prune``: remove what a service need not keep any longer."""

from __future__ import annotations

import argparse
from contextlib import closing

from harness.cli import service_options
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command
from harness.errors import ExitCode

_PAGE = """\
usage: gtp-harness prune [OPTION…]

Delete data that a service no longer needs. The service itself does so once a day,
by the --keep that it was started with. It may be running.

Log files are deleted after 90 days; mails that were sent, and sessions, links and
tokens that ended, after 30; results of public tests after 365. Questions about the
marks of an assignment may come up to 1095 days after its last date, submission or
grading (marks). Until then its originals and the audit log since its start stay,
whatever their own rules say. Originals are deleted after 1095 days, the audit log
never, unless you say so. Marks, ledgers and the output of gradings stay. The audit
log records what was deleted.

[options]

Exit status:
    2  the input was bad, such as a DIR without a service
    3  the database cannot be used now, or was edited

Examples:
  gtp-harness prune --dry-run
  gtp-harness prune --keep logs=14 --keep originals=forever --data /srv/tests"""


def _run(given: argparse.Namespace) -> int:
    settings = service_options.place(given)._replace(keep=",".join(given.keep))
    from harness.service.operations import pruning
    from harness.service.storage.database import Database

    pruning.read(settings.keep)
    service_options.require(settings)
    with closing(Database(settings)) as database:
        found = pruning.prune(settings, database, is_dry=given.dry_run)
    for one in found:
        print(f"{one.kind:10}{one.number:8,}{f'  {one.size:,} bytes' if one.size else ''}")
    if given.dry_run:
        print("nothing was deleted: --dry-run")
    return ExitCode.OK


def _add_options(parser: CommandParser) -> None:
    service_options.add_place(parser)
    service_options.add_keep(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="only show how much would be deleted"
    )


PRUNE = Command("prune", _PAGE, _add_options, _run)
