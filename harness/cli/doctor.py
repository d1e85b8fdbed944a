"""``gtp-harness doctor``: which sandbox this machine has; with ``--attack``, whether it holds."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from typing import TYPE_CHECKING

from harness.cli.arguments import Parser
from harness.errors import SandboxError, UsageError
from harness.exits import ExitCode
from harness.sandbox import cgroup, landlock, levels

if TYPE_CHECKING:
    from harness.assignments.assignment import Assignment
    from harness.sandbox.redteam.referee import Finding

_DESCRIPTION = """\
Tell which sandbox engines can be run in on this machine: each level is tried with
a canary, a program that looks for a way out. With --attack, send a red team of
hostile programs through the strongest level (or --level) and tell of each whether
it was held, and by what. They are bounded: a machine without any sandbox would
survive them. With --assignment, also tell which of the programs that it needs are
installed, and the Debian packages of the others."""

_EPILOG = """\
Exit status:
    0  a level works; with --attack: every attack was held
    1  none works; an attack escaped; with --assignment: something is missing
    3  the level asked for cannot be used here"""


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = Parser("doctor", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--attack", action="store_true", help="send the red team")
    parser.add_argument("--level", type=int, choices=(3, 2, 1), help="instead of the strongest")
    parser.add_argument("--assignment", metavar="NAME", help="tell what it needs on this machine")
    parser.add_argument("--help", "-h", action="store_true", help="print this help and exit")
    given = parser.read(arguments)
    if given is None:
        return ExitCode.OK
    _describe_machine()
    best = _describe_levels()
    if given.assignment and not _describe_needs(given.assignment):
        return ExitCode.FAILED
    if given.attack and (best or given.level):
        return _attack(given.level or best)
    return ExitCode.OK if best else ExitCode.FAILED


def _describe_machine() -> None:
    root = os.geteuid() == 0
    groups = cgroup.usable_parents()
    facts = {
        "machine": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "user": "root: engines run as a user without rights" if root else "an ordinary user",
        "bubblewrap": _bubblewrap(),
        "Landlock": f"ABI {landlock.abi()}" if landlock.abi() else "not in this kernel",
        "control groups": "count memory and processes" if groups else _NO_GROUPS,
    }
    for name, value in facts.items():
        print(f"{name:16}{value}")


def _describe_needs(name: str) -> bool:
    """Print what an assignment needs; return whether all of it is there."""
    from harness.assignments import assignment, needs

    found = assignment.find(name)
    tools = needs.of(found)
    print(f"\n{found.key} needs")
    for tool in tools:
        missing = f"missing (Debian: apt install {tool.package})"
        there = f"{tool.version()} ({tool.path})".strip()
        print(f"  {tool.name:14}{there if tool.path else missing}")
    python, is_there = _python_of(found)
    print(f"  {'Python':14}{python}")
    return is_there and all(tool.path for tool in tools)


def _python_of(found: Assignment) -> tuple[str, bool]:
    """Return the Python of engines in words, and whether it is there."""
    from harness.environments.choosing import with_python

    try:
        with with_python(found) as chosen:
            return chosen.python.described if chosen.python else "none", True
    except UsageError as error:
        return str(error), False


_NO_GROUPS = "not ours to use: memory is looked at every 50 ms instead"


def _bubblewrap() -> str:
    path = shutil.which("bwrap")
    if path is None:
        return "not installed (Debian: apt install bubblewrap)"
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return f"{said.stdout.strip().removeprefix('bubblewrap ')} ({path})"


def _describe_levels() -> int:
    """Print what becomes of each level; return the strongest that works, 0 if none does."""
    working = []
    for level in (3, 2, 1):
        try:
            levels.proven(level).close()
        except SandboxError as error:
            print(f"level {level}         no: {error}")
        else:
            print(f"level {level}         works: {levels.NAMES[level]}")
            _remark(level)
            working.append(level)
    best = max(working, default=0)
    print(f"{'':16}{'Engines are run at level ' + str(best) if best else _NONE}.")
    return best


def _remark(level: int) -> None:
    """Say what a level does not hold, and what else one may wonder about."""
    if level in levels.GAPS:
        print(f"{'':16}does not hold: {levels.GAPS[level]}")
    if level in levels.REMARKS:
        print(f"{'':16}{levels.REMARKS[level]}")


_NONE = "Engines cannot be contained here: untrusted ones are refused"


def _attack(level: int) -> ExitCode:
    """Send the red team through ``level``, and report."""
    from harness.sandbox.redteam import referee

    launcher = levels.proven(level, referee.LIMITS)
    print(f"\nAttacks on level {level}: an engine that tries to")
    findings = []
    for finding in referee.play(launcher):
        print(_line(finding, level), flush=True)
        findings.append(finding)
    launcher.close()
    held = sum(not finding.escapes for finding in findings)
    print(f"{held} of {len(findings)} held at level {level}.")
    return ExitCode.OK if held == len(findings) else ExitCode.FAILED


def _line(finding: Finding, level: int) -> str:
    attack = finding.attack
    if not finding.escapes:
        by = str(finding.end.hit) if finding.end.hit else attack.layer[level]
        return f"  held     {attack.title:52}{by}"
    known = " (this level cannot hold it)" if level in attack.leaks else ""
    return f"  ESCAPED  {attack.title:52}{'; '.join(finding.escapes)}{known}"
