"""``gtp-harness backup``: copy all of a service into a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.cli import service_options
from harness.cli.commandline import Command
from harness.errors import ExitCode
from harness.text import number_of

_PAGE = """\
usage: gtp-harness backup DIR [OPTION…]

Copy a whole service into a new folder: its database, ledgers, keys, submissions, and
what grading wrote. The service may be running; unfinished work is redone after a
restore. A database on a server is copied by pg_dump. The copy contains the keys and
all submissions: keep it as safe as the service.

[options]

Exit status:
    1  backed up, but the keys of some ledgers are missing, which are named
    2  the input was bad, such as a DIR that exists
    3  the database cannot be used now

Examples:
  gtp-harness backup /backups/$(date +%F)
  gtp-harness backup /backups/tests --data /srv/tests \\
      --database postgresql://tests@db.example.org/tests"""


_KEYLESS = (
    "the service has a ledger without its key. The backup has the ledger, but nothing is graded"
    " with it, here or after a restore, until its key is there: {}"
)


def _run(given: argparse.Namespace) -> int:
    if not given.folder:
        BACKUP.refuse("expected the new folder DIR")
    settings = service_options.place(given)
    from harness.service.operations.backups import back_up
    from harness.service.storage import data_folder

    data_folder.keep_files_private()
    made = back_up(settings, Path(given.folder).absolute())
    print(f"{number_of(made.files, 'file')}, {made.size:,} bytes, in {given.folder}")
    for key in made.keyless:
        print(f"warning: {_KEYLESS.format(key)}", file=sys.stderr)
    return ExitCode.FAILED if made.keyless else ExitCode.OK


BACKUP = Command("backup", _PAGE, service_options.add_folder, _run)
