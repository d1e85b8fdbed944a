"""``gtp-harness convert``: case files in the other format."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import file_system, read_case_file
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command
from harness.errors import CaseError, ExitCode, UsageError
from harness.reading.suite import expand
from harness.records import ANSWERS_FILE, GTP_FILE, CaseFile
from harness.report import report_files
from harness.text import encode, one_line

_PAGE = """\
usage: gtp-harness convert FILE… --to FORMAT [OPTION…]

Convert case files for GTP (.gtp, .tst) to the format with status lines (.txt), or
back. The commands and the tests stay the same; comments stay. FILE is a case file, a
folder, @FILE, a list of such names, or @NAME, cases that ship.

What the other format cannot express is an error with its line. The format with status
lines has neither test IDs nor tests that are expected to fail. Case files for GTP
cannot test a refusal; --drop leaves such tests out.

[options]

Exit status:
    0  all are converted
    2  a file cannot be read or converted; the others are converted
    3  a file cannot be written

Examples:
  gtp-harness convert --to gtp assignment1-public-tests.txt
  gtp-harness convert --to txt --output mine @go-scoring/public"""


def _run(given: argparse.Namespace) -> int:
    if not given.files or not given.to:
        CONVERT.refuse("give FILE and --to")
    paths = expand(given.files, has_answers=True)
    if len(paths) > 1 and not given.output:
        CONVERT.refuse(f"give --output DIR for {len(paths)} files")
    errors = list(_convert(paths, given.to, given.output, drops=given.drop))
    for error in errors:
        print(f"gtp-harness: {one_line(str(error))}", file=sys.stderr)
    return ExitCode.BROKEN if errors else ExitCode.OK


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="case files, folders, @FILE, @NAME")
    add("--to", choices=(GTP_FILE, ANSWERS_FILE), help="the format to write")
    add("--output", metavar="DIR", default="",
        help="write files of the same names into DIR (default: a single file is"
        " printed)")  # fmt: skip
    add("--drop", action="store_true", help="for GTP: turn tests of refusals into setup commands")


def _convert(paths: Sequence[str], wanted: str, folder: str, *, drops: bool) -> list[CaseError]:
    """Write each file that can be converted; return what is wrong with the others."""
    errors: list[CaseError] = []
    for path in paths:
        try:
            text = _convert_case(read_case_file(path), wanted, drops=drops)
        except CaseError as error:
            errors.append(error)
            continue
        if folder:
            _write(path, folder, wanted, encode(text))
        else:
            sys.stdout.buffer.write(encode(text))
            sys.stdout.flush()
    return errors


def _convert_case(case: CaseFile, wanted: str, *, drops: bool) -> str:
    from harness.reading import conversion

    if case.format == wanted:
        raise CaseError(
            f"found a file in this format already, expected another than {wanted}", case.path
        )
    return (
        conversion.to_answers(case)
        if wanted == ANSWERS_FILE
        else conversion.to_gtp(case, drops=drops)
    )


def _write(path: str, folder: str, wanted: str, data: bytes) -> None:
    """Write a converted file; what is there already is not overwritten."""
    target = Path(folder, f"{Path(path).stem}.{wanted}")
    if target.exists():
        raise UsageError(f"{target} already exists; convert overwrites nothing")
    file_system.make(target.parent)
    report_files.write_bytes(str(target), data)


CONVERT = Command("convert", _PAGE, _add_options, _run)
