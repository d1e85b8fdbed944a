"""Attacks in C and Java: how they are compiled, and started.

Their sources lie beside this file. They are compiled once for all levels, into memory; where the
compiler is missing, their attacks are left out by name.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from harness.errors import SandboxError
from harness.sandbox import levels
from harness.sandbox.redteam.attack_table import Attack

_HERE = Path(__file__).parent
_PATIENCE = 120.0  # seconds for a compiler on a busy machine
# A virtual machine that soon ends; and as small as one gets, for the limits of the red team are.
_SHORT = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SMALL = (*_SHORT, "-XX:-UsePerfData", "-Xmx48m")
_DIRECT = "-XX:MaxDirectMemorySize=2g"


class Language(NamedTuple):
    """How attacks of one ``source`` are made and run."""

    needs: tuple[str, ...]  # programs
    compiler: tuple[str, ...]  # the command; its last word is the source
    run: tuple[str, ...]  # with {folder}, {program}, {aim} and {secret}


_JAVAC = (
    *("javac", *(f"-J{option}" for option in _SHORT)),
    *("-nowarn", "-proc:none", "-d", ".", "Hostile.java"),
)
LANGUAGES = {
    "cc": Language(
        ("cc",),
        ("cc", "-E", "-P", "-o", "checked", '-DSECRET="/dev/null"', "include.c"),
        ("cc", "-E", "-P", '-DSECRET="{secret}"', "{folder}/include.c"),
    ),
    "c": Language(
        ("cc",),
        ("cc", "-w", "-O1", "-o", "calls", "calls.c"),
        ("{folder}/calls", "{program}", "{aim}"),
    ),
    "java": Language(
        ("javac", "java"),
        _JAVAC,
        ("java", *_SMALL, _DIRECT, "-cp", "{folder}/", "Hostile", "{program}", "{aim}"),
    ),
    "javac": Language(
        ("javac",),
        _JAVAC,
        (
            *("javac", *(f"-J{option}" for option in _SMALL), "-proc:only"),
            *("-processorpath", "{folder}/", "-processor", "Hostile"),
            *("-Aprogram={program}", "-Aaim={aim}", "java.lang.Object"),
        ),
    ),
}


def can_run(attack: Attack) -> bool:
    """Whether what an attack is written in is installed."""
    return not missing(attack)


def missing(attack: Attack) -> tuple[str, ...]:
    """Return the programs that an attack's language needs and that are not installed."""
    needs = LANGUAGES[attack.source].needs if attack.source in LANGUAGES else ()
    return tuple(name for name in needs if shutil.which(name) is None)


def command(attack: Attack, program: str, folder: str, aim: str) -> list[str]:
    """Return the words that start ``program`` of an attack from ``folder``, its place."""
    if attack.source not in LANGUAGES:
        script = os.path.join(folder, f"{attack.source}.py")
        return [levels.interpreter(), "-I", "-S", script, program, aim]
    values = {"{folder}": folder, "{program}": program, "{aim}": aim}
    values["{secret}"] = json.loads(aim)["secret"]
    return [_fill(word, values) for word in LANGUAGES[attack.source].run]


def _fill(word: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        if name in word:  # a value may hold braces: it is not looked into
            return word.replace(name, value)
    return word


def compile_needed(attacks: Iterable[Attack]) -> dict[str, bytes]:
    """Return the files that these attacks need besides Python's, by their names.

    Raises:
        SandboxError: a compiler failed.
    """
    used = {attack.source for attack in attacks if can_run(attack)} & LANGUAGES.keys()
    files: dict[str, bytes] = {}
    for name in sorted(used):
        files |= _compile(LANGUAGES[name].compiler)
    return files


@functools.cache
def _compile(words: tuple[str, ...]) -> dict[str, bytes]:
    """Return what lies in a folder of the source when it is compiled."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-doctor-") as folder:
        shutil.copy(_HERE / words[-1], folder)
        try:
            done = subprocess.run(
                words, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise SandboxError(
                f"the attacks in {words[-1]} cannot be compiled: {error}"
            ) from error
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no message"])[0]
            raise SandboxError(f"the attacks in {words[-1]} cannot be compiled: {said}")
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}
