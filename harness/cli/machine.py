"""``gtp-harness doctor`` and ``env``: what this machine has for engines."""

import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from harness.cli import arguments
from harness.cli.commandline import Command
from harness.core import requirements
from harness.core.errors import ExitCode, SandboxError, UsageError
from harness.core.text import number_of
from harness.environments import environment_cache, interpreters
from harness.sandbox import cgroup, landlock, levels, watch
from harness.sandbox.redteam import referee, scene
from harness.sandbox.redteam.attack_table import ROSTER
from harness.sandbox.redteam.referee import AttackResult

_DOCTOR_PAGE = """\
usage: gtp-harness doctor [OPTION…]

Show which sandbox levels work on this machine. Each is tried with a canary, a program
that looks for a way out. With --attack, hostile programs (a red team) are sent
through every level that works, or through --level; the report says whether each was
stopped, and by what. They are limited: a machine without any sandbox would survive
them. Those in C and Java are left out if cc or a JDK is missing. With --assignment,
also show which of its programs are installed, and the Debian packages of the others.

[options]

Exit status:
    0  a level works; with --attack: every attack was stopped, except those that a
       level cannot stop according to the threat model (docs/threat-model.md)
    1  no level works; an attack escaped; with --assignment: something is missing
    3  the level asked for cannot be used here"""


def _run_doctor(arguments: argparse.Namespace) -> int:
    asked = (arguments.level,) if arguments.level else (3, 2, 1)
    facts, found = _facts(), _find_levels()
    if not arguments.json:
        _describe(facts, found)
    if arguments.assignment and not _describe_needs(arguments.assignment):
        return ExitCode.FAILED
    working = [level for level, why in found.items() if not why]
    attacked = [level for level in asked if level in working or arguments.level]
    attacks = _attack(attacked) if arguments.attack else {}
    if arguments.json:
        document = {
            "schema": "gtp-harness doctor",
            "version": 1,
            "machine": facts,
            "levels": [
                {"level": level, "works": not why, "why_not": why or None}
                for level, why in found.items()
            ],
            "left_out": [
                {"attack": attack.name, "missing": list(missing)}
                for attack in (ROSTER if attacks else ())
                if (missing := scene.missing_programs(attack))
            ],
            "attacks": [_attack_document(one) for ones in attacks.values() for one in ones],
        }
        print(json.dumps(document, indent=2))
    elif attacks:
        print("\n".join(_describe_attacks(attacks)))
    good = all(_is_held(one) for found in attacks.values() for one in found)
    return ExitCode.OK if working and good else ExitCode.FAILED


def _add_doctor_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--attack", action="store_true", help="send the red team")
    add("--level", type=int, choices=(3, 2, 1), help="attack only this level")
    add("--json", action="store_true", help="print everything as JSON")
    add("--assignment", metavar="NAME", help="show what the assignment needs on this machine")


def _facts() -> dict[str, str]:
    """Return what matters of the machine, by the name that it is printed with."""
    found = {"machine": f"{platform.system()} {platform.release()}, {platform.machine()}"}
    if not requirements.has_sandboxes():
        return found
    root, groups = os.geteuid() == 0, cgroup.usable_parents()
    no_groups = "not ours to use: memory is counted every 50 ms or sooner"
    with contextlib.closing(watch.BoxClock()) as clock:
        has_clock = clock.seconds() is not None
    counted = "counted by a clock of the whole process tree"
    return found | {
        "user": "root: engines run as a user without rights" if root else "an ordinary user",
        "bubblewrap": _bubblewrap(),
        "Landlock": f"ABI {landlock.abi()}" if landlock.abi() else "not in this kernel",
        "control groups": "count memory and processes" if groups else no_groups,
        "CPU time": counted if has_clock else "estimated for children that nobody waits for",
    }


def _describe_needs(name: str) -> bool:
    """Print what an assignment needs; return whether all of it is there."""
    from harness import find_assignment  # `doctor` runs on any Python, without pexpect
    from harness.assignments import needs

    assignment = find_assignment(name)
    tools = needs.of(assignment)
    print(f"\n{assignment.key} needs")
    for tool in tools:
        missing = f"missing (Debian: apt install {tool.package})"
        there = f"{tool.version()} ({tool.path})".strip()
        print(f"  {tool.name:14}{there if tool.path else missing}")
    is_there = True
    try:
        with needs.with_python(assignment) as chosen:
            python = chosen.python.described if chosen.python else "none"
    except UsageError as error:
        python, is_there = str(error), False
    print(f"  {'Python':14}{python}")
    return is_there and all(tool.path for tool in tools)


def _bubblewrap() -> str:
    path = shutil.which("bwrap")
    if path is None:
        return "not installed (Debian: apt install bubblewrap)"
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return f"{said.stdout.strip().removeprefix('bubblewrap ')} ({path})"


def _find_levels() -> dict[int, str]:
    """Return for each level why it does not work, empty if it does."""
    found = {}
    for level in (3, 2, 1):
        found[level] = ""
        try:
            levels.make_proven(level).close()
        except SandboxError as error:
            found[level] = str(error)
    return found


def _describe(facts: dict[str, str], problems: dict[int, str]) -> None:
    for name, value in facts.items():
        print(f"{name:16}{value}")
    reasons = set(problems.values())
    if len(reasons) == 1 and all(reasons):
        print(f"levels 3 to 1   no: {reasons.pop()}")
        problems = {}
    for level, why in problems.items():
        print(f"level {level}         {'no: ' + why if why else 'works: ' + levels.NAMES[level]}")
        if not why:
            if level in levels.GAPS:
                print(f"{'':16}does not hold: {levels.GAPS[level]}")
            if level in levels.REMARKS:
                print(f"{'':16}{levels.REMARKS[level]}")
    best = max((level for level, why in problems.items() if not why), default=0)
    cannot = "Engines cannot be contained here: untrusted ones are refused"
    print(f"{'':16}{f'Engines are run at level {best}' if best else cannot}.")


def _attack(level_numbers: list[int]) -> dict[int, list[AttackResult]]:
    """Send the red team through the levels; return what was found, in the order of the roster."""
    found: dict[int, list[AttackResult]] = {level: [] for level in level_numbers}
    total = sum(map(scene.can_run, ROSTER)) * len(level_numbers)
    _show_progress(0, total)
    try:
        with contextlib.closing(referee.play_at_once(level_numbers)) as findings:
            for number, finding in enumerate(findings, 1):
                found[finding.level].append(finding)
                _show_progress(number, total)
    finally:
        _show_progress(0, 0)
    order = {attack.name: number for number, attack in enumerate(ROSTER)}
    for ones in found.values():
        ones.sort(key=lambda finding: order[finding.attack.name])
    return found


def _show_progress(done: int, total: int) -> None:
    """Show how far it is, on a terminal alone; 0 of 0 clears the line."""
    if sys.stderr.isatty():
        text = f"attacks: {done} of {total}" if total else ""
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _is_held(finding: AttackResult) -> bool:
    """Whether an attack was held, or is one that its level is known not to hold."""
    return not finding.escapes or finding.level in finding.attack.leaks


def _is_stopped(finding: AttackResult) -> bool:
    """Whether an attack was tried, and held."""
    return not finding.escapes and not finding.untested


def _describe_attacks(attacks: dict[int, list[AttackResult]]) -> Iterator[str]:
    """Yield all lines about attacks on some levels."""
    held_by: dict[str, dict[int, str]] = {}  # how many attacks each layer holds on each level
    leaking: dict[str, dict[int, str]] = {}  # bits a second through each channel that is not held
    for level, findings in attacks.items():
        yield f"\nAttacks on level {level}: an engine or a build step that tries to"
        for finding in findings:
            attack = finding.attack
            if finding.untested:
                yield f"  untried  {attack.title:62}{finding.untested}"
            elif not finding.escapes:
                by = str(finding.end.hit) if finding.end.hit else finding.layer
                yield f"  held     {attack.title:62}{by}"
            else:
                gap = " (this level cannot hold it)" if level in attack.leaks else ""
                yield f"  ESCAPED  {attack.title:62}{'; '.join(finding.escapes)}{gap}"
            if finding.bandwidth:
                leaking.setdefault(attack.title, {})[level] = f"{finding.bandwidth:,g}"
        stopped = [finding.layer for finding in findings if _is_stopped(finding)]
        for name, count in Counter(stopped).items():
            held_by.setdefault(name, {})[level] = str(count)
        told = f"{len(stopped)} of {len(findings)} held at level {level}"
        yield f"{told}{_count_untested(findings)}."
    for attack in ROSTER:
        if missing := scene.missing_programs(attack):
            yield f"  left out {attack.title:61}{' and '.join(missing)} not installed"
    yield from _table("attacks held by", attacks, dict(sorted(held_by.items())))
    if leaking:
        yield from _table("bits a second that get through, at least", attacks, leaking)
    every = [one for findings in attacks.values() for one in findings]
    held = sum(map(_is_stopped, every))
    bad = sorted({finding.level for finding in every if not _is_held(finding)})
    known = sum(bool(one.escapes) for one in every if _is_held(one))
    told = f", {known} not: their level cannot hold them (docs/threat-model.md)" if known else ""
    yield f"\n{held} of {len(every)} attacks held{told}{_count_untested(every)}."
    if bad:
        where = " and ".join(map(str, bad))
        yield f"Do not run programs that you do not trust at level {where}: attacks ESCAPED there."


def _table(heading: str, levels: Iterable[int], rows: dict[str, dict[int, str]]) -> Iterator[str]:
    yield f"\n{heading:62}" + "".join(f"level {level:<4}" for level in levels).rstrip()
    for title, cells in rows.items():
        columns = (cells.get(level, "-") for level in levels)
        yield f"  {title:60}" + "".join(f"{cell:<10}" for cell in columns).rstrip()


def _count_untested(findings: Iterable[AttackResult]) -> str:
    number = sum(bool(finding.untested) for finding in findings)
    return f", {number} could not be tried" if number else ""


def _attack_document(finding: AttackResult) -> dict[str, object]:
    attack = finding.attack
    return {
        "attack": attack.name,
        "title": attack.title,
        "at": attack.at,
        "level": finding.level,
        "held": _is_stopped(finding),
        "seconds": finding.seconds,
        "layer": finding.layer,
        "limit": str(finding.end.hit) if finding.end.hit else None,
        "escapes": list(finding.escapes),
        "known": finding.level in attack.leaks,
        "bandwidth": finding.bandwidth,
        "untested": finding.untested or None,
    }


DOCTOR = Command("doctor", _DOCTOR_PAGE, _add_doctor_options, _run_doctor)


# --- ``gtp-harness env``: the Python environment of a course, built once and kept ----------------


_ENV_PAGE = """\
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


def _run_env(arguments: argparse.Namespace) -> int:
    if sum(map(bool, (arguments.assignment, arguments.list, arguments.remove))) != 1:
        ENV.refuse("give --assignment, --list or --remove")
    if arguments.remove:
        environment_cache.remove(arguments.remove)
        print(f"{arguments.remove} is removed")
    elif arguments.list:
        found = environment_cache.all_of_them()
        for one in found:
            lines = [line for line in one.requirements.splitlines() if line.strip()]
            print(f"{one.folder.name}  {one.built}  {', '.join(lines) or 'without packages'}")
        print(f"{number_of(len(found), 'environment')} in {environment_cache.root()}")
    else:
        _build_environment(arguments.assignment)
    return ExitCode.OK


def _build_environment(name: str) -> None:
    """Build the environment of an assignment, if it is not there, and say what it has."""
    from harness import find_assignment
    from harness.assignments import needs

    assignment = find_assignment(name)
    if not assignment.starts_python:
        print(f"{assignment.key}: its command starts no Python")
    elif choice := needs.find_declared_environment(assignment):
        if not environment_cache.find(choice.name):
            print(f"building {choice.environment} …", file=sys.stderr, flush=True)
        base, environment = choice.base, choice.environment
        made = environment_cache.make(choice.name, base, environment, assignment.place)
        found = interpreters.inspect_python(made.program)
        print(f"{made.folder}\nPython {found.version}")
        for package, version in found.packages:
            print(f"{package}=={version}")
    else:
        with needs.with_python(assignment) as chosen:
            assert chosen.python
            own = chosen.python.described
            print(f"{assignment.key} declares no environment; its engines get {own}")


def _add_env_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    arguments.add_assignment(add)
    add("--list", action="store_true", help="list the environments that are built")
    add("--remove", metavar="ENVIRONMENT", help="remove one, named as in the list")


ENV = Command("env", _ENV_PAGE, _add_env_options, _run_env)
