"""``gtp-harness cases``: which case files ship, under which names; and a copy of them."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import find_assignment, read_case_file, shipped
from harness.assignments.assignment import specification_of
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command
from harness.errors import ExitCode, UsageError
from harness.text import plural

_PAGE = """\
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


_LIST = "list"  # what is done anyway, by the word that other programs have for it


def _run(given: argparse.Namespace) -> int:
    is_list = given.names[:1] == [_LIST]
    if is_list and given.copy:
        CASES.refuse("give either list or --copy")
    wanted = [name.removeprefix("@") for name in given.names[is_list:]]
    _refuse_unknown(wanted)
    if given.copy:
        _copy(wanted or shipped.names(), Path(given.copy))
    elif wanted:
        print("\n".join(_files(wanted)))
    else:
        print("\n".join(_overview()))
    return ExitCode.OK


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="an assignment, a set or a file")
    add("--copy", metavar="DIR", help="copy the folders of the assignments into DIR")


def _refuse_unknown(names: Sequence[str]) -> None:
    for name in names:
        if not shipped.find_paths(name):
            from oracle.sentences import hint

            told = hint(name, shipped.every_name()) or f"; known are {', '.join(shipped.names())}"
            raise UsageError(f"no cases are called {name!r}{told}")


def _overview() -> Iterator[str]:
    """Yield a line for each assignment and set, and how they are used."""
    yield f"{'':30}{'files':>5}{'tests':>7}  assignment, and an engine that passes all"
    for name in shipped.names():
        found = find_assignment(name)
        yield _row(
            f"@{name}",
            shipped.find_paths(name),
            f"{found.title}: gtp-oracle gtp --game {specification_of(found).game}",
        )
        for one, paths in shipped.sets(name).items():
            yield _row(f"  @{name}/{one}", paths)
    yield f"\nThey are in {shipped.folder()}."
    yield "gtp-harness run PROGRAM @go-scoring runs those of an assignment."


def _row(name: str, paths: Sequence[str], title: str = "") -> str:
    return f"{name:30}{len(paths):5}{sum(map(_tests, paths)):7}  {title}".rstrip()


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


def _copy(names: Sequence[str], target: Path) -> None:
    """Copy whole folders: case files need the boards that lie beside them."""
    for name in names:
        source, place = shipped.folder() / name, target / name
        if not (source / shipped.ASSIGNMENT).is_file():
            whole = name.partition("/")[0]
            raise UsageError(f"found --copy with {name}, expected an assignment such as {whole}")
        if place.exists():
            raise UsageError(f"{place} already exists; --copy overwrites nothing")
    for name in names:
        try:
            shutil.copytree(shipped.folder() / name, target / name, copy_function=shutil.copyfile)
        except OSError as error:
            raise UsageError(f"cannot copy to {target / name}: {error.strerror}") from error
        print(target / name)


CASES = Command("cases", _PAGE, _add_options, _run)
