"""``gtp-harness restore``: make a service of a backup."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.cli import service_options
from harness.cli.commandline import Command
from harness.errors import ExitCode
from harness.text import number_of

_PAGE = """\
usage: gtp-harness restore DIR [OPTION…]

Restore a service from a folder that gtp-harness backup wrote. Its data folder must
not exist yet. If the backup has a database of a server, give an empty one with
--database. First, every file is compared with its SHA-256. Last, the audit log and
every ledger are checked: each mark is as it was given.

[options]

Exit status:
    1  restored, but the keys of some ledgers are missing, which are named
    2  the input was bad: the backup is not complete, or was edited
    3  the database's server cannot be used now

Examples:
  gtp-harness restore /backups/2026-01-29 --data /srv/tests
  gtp-harness restore /backups/tests --data /srv/tests \\
      --database postgresql://tests@db.example.org/tests"""


_KEYLESS = (
    "the backup has a ledger without its key, which was copied but not checked. Nothing is graded"
    " with it until its key is there: {}"
)


def _run(given: argparse.Namespace) -> int:
    if not given.folder:
        RESTORE.refuse("expected the folder DIR of a backup")
    settings = service_options.place(given)
    from harness.service.operations.backups import restore
    from harness.service.storage import data_folder

    data_folder.keep_files_private()
    made = restore(Path(given.folder).absolute(), settings)
    print(f"{number_of(made.files, 'file')}, {made.size:,} bytes, in {settings.data}")
    for key in made.keyless:
        print(f"warning: {_KEYLESS.format(key)}", file=sys.stderr)
    print(f"The audit log and all {'other ' if made.keyless else ''}ledgers are intact.")
    return ExitCode.FAILED if made.keyless else ExitCode.OK


RESTORE = Command("restore", _PAGE, service_options.add_folder, _run)
