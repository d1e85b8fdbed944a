"""``gtp-harness ledger``: check a ledger, and save what can be read of a damaged one."""

import argparse
from pathlib import Path

from harness.cli.commandline import Command
from harness.core import file_system, requirements
from harness.core.errors import ExitCode
from harness.core.text import at_most, escape_controls, plural
from harness.grading.ledger import places

_PAGE = """\
usage: gtp-harness ledger check LEDGER [--key FILE]
       gtp-harness ledger salvage LEDGER -o NEW [OPTION…]

Check the ledger of a grading, or rescue what can be read of a damaged one.

check finds rows behind marks that were edited, added or removed after they were
written: each row has a digest under the ledger's key. It changes nothing. salvage
writes the rows whose digests are right into a new ledger with its own key, and says
what is lost; gtp-harness grade --ledger NEW continues with it and reruns what is
missing. A ledger is a file, or a database on a server
(postgresql://USER@HOST/DATABASE); salvage also copies one kind into the other.

[options]

Exit status:
    0  the ledger is intact; all of it was saved
    1  the ledger was edited or is damaged; something is lost
    2  the input was bad: it is not a ledger, or its key is missing
    3  its server cannot be used now

Examples:
  gtp-harness ledger check graded/ledger.sqlite
  gtp-harness ledger salvage graded/ledger.sqlite -o graded/saved.sqlite"""

_SHOWN = 100  # rows that are named
_NAMES = {"case_file": "case files", "wanted": "attempts"}  # of tables, in plural


def _run(arguments: argparse.Namespace) -> int:
    if arguments.action not in ("check", "salvage") or not arguments.ledger:
        LEDGER.refuse("expected check LEDGER or salvage LEDGER -o NEW")
    if (arguments.action == "salvage") is not bool(arguments.output):
        LEDGER.refuse("give -o NEW with salvage, and only there")
    if arguments.unchecked and arguments.action != "salvage":
        LEDGER.refuse("--unchecked goes with salvage")
    requirements.require("ledger", "grade", "sqlalchemy")
    from harness.grading.ledger import salvage

    key = Path(arguments.key) if arguments.key else None
    if arguments.action == "check":
        facts, wrong = salvage.check(arguments.ledger, key)
        for text in facts:
            print(escape_controls(text))
        _list(wrong)
        if not wrong:
            print("it holds")
            return ExitCode.OK
        print("it was edited or is damaged; gtp-harness ledger salvage saves what is intact")
        return ExitCode.FAILED
    place = places.of(arguments.output)
    if isinstance(place, places.LedgerFile):
        file_system.make(place.path.parent)
    checked = not arguments.unchecked
    saved = salvage.salvage(arguments.ledger, arguments.output, key, checked=checked)
    for one in saved.tables:
        name = _NAMES.get(one.table, plural(2, one.table))
        lost = f", {len(one.lost)} lost" if one.lost else ""
        print(f"{one.saved} {name} saved{lost}")
    _list([text for one in saved.tables for text in one.lost])
    print(f"Written to {saved.name}, and its key to {saved.key}")
    if not checked:
        print("Nobody checked whether these rows were edited.")
    return ExitCode.FAILED if any(one.lost for one in saved.tables) else ExitCode.OK


def _list(texts: list[str]) -> None:
    for text in at_most(texts, _SHOWN):
        print(escape_controls(f"  {text}"))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("check", "salvage"), help=argparse.SUPPRESS)
    parser.add_argument("ledger", nargs="?", metavar="LEDGER", help=argparse.SUPPRESS)
    add = parser.add_argument
    add("-o", "--output", metavar="NEW", help="the new ledger; it must not exist yet")
    add("--key", metavar="FILE",
        help="file with the key of LEDGER (default: beside it, with .key appended; for a server's,"
        " in ~/.local/share/gtp-harness/keys)")  # fmt: skip
    add("--unchecked", action="store_true",
        help="save all rows that can be read, without checking their digests")  # fmt: skip


LEDGER = Command("ledger", _PAGE, _add_options, _run)
