"""``gtp-harness cases`` and ``convert``: case files that ship, and files in the other format."""

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import find_assignment, read_case_file
from harness.assignments.assignment import specification_of
from harness.cli.commandline import Command
from harness.core import file_system
from harness.core.errors import CaseError, ExitCode, UsageError
from harness.core.records import ANSWERS_FILE, GTP_FILE
from harness.core.text import encode, one_line, plural
from harness.reading import shipped
from harness.reading.suite import expand
from harness.report import report_files

_CASES_PAGE = """\
usage: gtp-harness cases [list] [NAME…]
       gtp-harness cases [NAME…] --copy DIR

List the case files that ship with gtp-harness, or copy them. Every command that takes
case files takes their names, too: @go-scoring for all of an assignment,
@go-scoring/public and @go-scoring/thorough for one set, @go-scoring/area for one
file. (If the current folder has a file of that name, @FILE means that file, a list
of case files.) NAME is one of these names, with or without the @.

[options]

Exit status:
    0  listed, or copied
    2  NAME is unknown, or a folder cannot be written or exists already

Examples:
  gtp-harness cases
  gtp-harness cases go-scoring
  gtp-harness run gtp-oracle @go-scoring
  gtp-harness cases go-scoring --copy mine"""


def _list_or_copy(arguments: argparse.Namespace) -> int:
    is_list = arguments.names[:1] == ["list"]  # what is done anyway, as other programs call it
    if is_list and arguments.copy:
        CASES.refuse("give either list or --copy")
    wanted = [name.removeprefix("@") for name in arguments.names[is_list:]]
    for name in wanted:
        if not shipped.find_paths(name):
            from oracle.sentences import hint

            told = hint(name, shipped.every_name()) or f"; known are {', '.join(shipped.names())}"
            raise UsageError(f"no cases are called {name!r}{told}")
    if not arguments.copy:
        print("\n".join(_files(wanted) if wanted else _overview()))
        return ExitCode.OK
    # Whole folders: case files need the boards that lie beside them.
    copies = {name: Path(arguments.copy) / name for name in wanted or shipped.names()}
    for name, target in copies.items():
        if not (shipped.folder() / name / shipped.ASSIGNMENT).is_file():
            whole = name.partition("/")[0]
            raise UsageError(f"found --copy with {name}, expected an assignment such as {whole}")
        if target.exists():
            raise UsageError(f"{target} already exists; --copy overwrites nothing")
    for name, target in copies.items():
        try:
            shutil.copytree(shipped.folder() / name, target, copy_function=shutil.copyfile)
        except OSError as error:
            raise UsageError(f"cannot copy to {target}: {error.strerror}") from error
        print(target)
    return ExitCode.OK


def _add_cases_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="an assignment, a set or a file")
    add("--copy", metavar="DIR", help="copy the folders of the assignments into DIR")


def _overview() -> Iterator[str]:
    """Yield a line for each assignment and set, and how they are used."""
    rows = []
    for name in shipped.names():
        found = find_assignment(name)
        title = f"{found.title}: gtp-oracle gtp --game {specification_of(found).game}"
        rows.append((f"@{name}", shipped.find_paths(name), title))
        rows += [(f"  @{name}/{one}", paths, "") for one, paths in shipped.sets(name).items()]
    yield f"{'':30}{'files':>5}{'tests':>7}  assignment, and an engine that passes all"
    for name, paths, title in rows:
        yield f"{name:30}{len(paths):5}{sum(map(_tests, paths)):7}  {title}".rstrip()
    yield f"\nThey are in {shipped.folder()}."
    yield "gtp-harness run PROGRAM @go-scoring runs those of an assignment."


def _tests(path: str) -> int:
    return sum(step.is_test for step in read_case_file(path).steps)


def _files(names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each file that is named: what it is about stands in its first line."""
    paths = list(dict.fromkeys(path for name in names for path in shipped.find_paths(name)))
    width = max(len(shipped.short(path)) for path in paths)
    for path in paths:
        first = read_case_file(path).lines[0].lstrip("# ")
        count = _tests(path)
        about = first.partition(": ")[2] or first
        yield f"@{shipped.short(path):{width}}{count:5} {plural(count, 'test'):5}  {about}"


CASES = Command("cases", _CASES_PAGE, _add_cases_options, _list_or_copy)


# --- ``gtp-harness convert``: case files in the other format -------------------------------------


_CONVERT_PAGE = """\
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


def _add_convert_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="case files, folders, @FILE, @NAME")
    add("--to", choices=(GTP_FILE, ANSWERS_FILE), help="the format to write")
    add("--output", metavar="DIR", default="",
        help="write files of the same names into DIR (default: a single file is"
        " printed)")  # fmt: skip
    add("--drop", action="store_true", help="for GTP: turn tests of refusals into setup commands")


def _run_convert(arguments: argparse.Namespace) -> int:
    """Write each file that can be converted, and say what is wrong with the others."""
    if not arguments.files or not arguments.to:
        CONVERT.refuse("give FILE and --to")
    paths = expand(arguments.files, has_answers=True)
    if len(paths) > 1 and not arguments.output:
        CONVERT.refuse(f"give --output DIR for {len(paths)} files")
    from harness.reading import conversion

    errors: list[CaseError] = []
    for path in paths:
        try:
            case = read_case_file(path)
            if case.format == arguments.to:
                what = f"expected another than {case.format}"
                raise CaseError(f"found a file in this format already, {what}", case.path)
            if arguments.to == ANSWERS_FILE:
                text = conversion.to_answers(case)
            else:
                text = conversion.to_gtp(case, drops=arguments.drop)
            data = encode(text)
        except CaseError as error:
            errors.append(error)
            continue
        if arguments.output:
            target = Path(arguments.output, f"{Path(path).stem}.{arguments.to}")
            if target.exists():
                raise UsageError(f"{target} already exists; convert overwrites nothing")
            file_system.make(target.parent)
            report_files.write_bytes(str(target), data)
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
    for one in errors:
        print(f"gtp-harness: {one_line(str(one))}", file=sys.stderr)
    return ExitCode.BROKEN if errors else ExitCode.OK


CONVERT = Command("convert", _CONVERT_PAGE, _add_convert_options, _run_convert)
