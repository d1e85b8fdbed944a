"""``gtp-harness env``: the Python environment of a course, built once and kept."""

from __future__ import annotations

import argparse
import sys

from harness import find_assignment
from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.cli import arguments
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command
from harness.environments import environment_cache
from harness.environments.environment_cache import Stored
from harness.errors import ExitCode
from harness.text import number_of

_PAGE = """\
usage: gtp-harness env --assignment NAME | --list | --remove ENVIRONMENT

Build the Python environment that an assignment declares for its engines (keys python
and packages of [engine]). Print where it is and what was installed. It is built once,
with uv if that is installed, else with venv and pip, from the package index that they
are set to. check builds a missing environment, too; grade asks for it. Engines can
only read it.

[options]

Environments are kept in ~/.cache/gtp-harness or, for root, whose engines run as
another user, in /var/cache/gtp-harness; XDG_CACHE_HOME names another folder.

Exit status:
    0  the environment is built, or none is declared
    2  it cannot be built, or the input was bad
  130  interrupted with Ctrl-C: nothing half-built is left

Examples:
  gtp-harness env --assignment my/assignment
  gtp-harness env --list
  gtp-harness env --remove python3.11.7-4790efd77e2e"""


def _run(given: argparse.Namespace) -> int:
    if sum(map(bool, (given.assignment, given.list, given.remove))) != 1:
        ENV.refuse("give --assignment, --list or --remove")
    if given.remove:
        environment_cache.remove(given.remove)
        print(f"{given.remove} is removed")
    elif given.list:
        _list()
    else:
        _build(find_assignment(given.assignment))
    return ExitCode.OK


def _build(assignment: Assignment) -> None:
    choice = needs.find_declared_environment(assignment) if assignment.starts_python else None
    if choice is None:
        _tell_undeclared(assignment)
        return
    if not environment_cache.find(choice.name):
        print(f"building {choice.wanted} …", file=sys.stderr, flush=True)
    _describe(needs.build_environment(assignment, choice))


def _describe(made: Stored) -> None:
    """Print where an environment is, and what is in it as ``pip freeze`` would."""
    from harness.environments import interpreters

    found = interpreters.inspect_python(made.program)
    print(made.folder)
    print(f"Python {found.version}")
    for name, version in found.packages:
        print(f"{name}=={version}")


def _tell_undeclared(assignment: Assignment) -> None:
    if not assignment.starts_python:
        print(f"{assignment.key}: its command starts no Python")
        return
    with needs.with_python(assignment) as chosen:
        assert chosen.python
        print(
            f"{assignment.key} declares no environment; its engines get {chosen.python.described}"
        )


def _list() -> None:
    found = environment_cache.all_of_them()
    for one in found:
        lines = [line for line in one.requirements.splitlines() if line.strip()]
        print(f"{one.folder.name}  {one.built}  {', '.join(lines) or 'without packages'}")
    print(f"{number_of(len(found), 'environment')} in {environment_cache.root()}")


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    arguments.add_assignment(add)
    add("--list", action="store_true", help="list the environments that are built")
    add("--remove", metavar="ENVIRONMENT", help="remove one, named as in the list")


ENV = Command("env", _PAGE, _add_options, _run)
