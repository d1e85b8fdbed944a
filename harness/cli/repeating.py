"""The command line of a run, made anew: for the same engine and judgment, without its reports."""

from __future__ import annotations

import argparse

from harness.reading.dialect import named
from harness.records import Repeat
from harness.report.context import shell_word

# What an engine is told, how it is listened to and how it is judged; all else is for one run.
_KEPT = ("gtpfile", "restart", "lockstep", "pty", "dialect", "game", "sandbox", "show")
_LIMITS = ("timeout", "startup", "file", "quit")


def repeat(parser: argparse.ArgumentParser, given: argparse.Namespace, program: str) -> Repeat:
    """Return how tests are repeated.

    ``program``: what to run, which need not be what was typed: its seed is drawn by then.
    """
    words = [*parser.prog.split()]
    for action in parser._actions:
        value = getattr(given, action.dest, None)
        is_kept = action.dest in _KEPT or action.dest in _LIMITS or action.dest[:4] == "max_"
        if is_kept and value != action.default and action.option_strings:
            words += _words(action.option_strings[0], value)
    start = " ".join(map(shell_word, [*words, program]))
    return Repeat(start, named(given.dialect).settles_late)


def _words(option: str, value: object) -> list[str]:
    if value is True:
        return [option]
    values = value if isinstance(value, list) else [value]
    return [f"{option}={f'{one:g}' if isinstance(one, float) else one}" for one in values]
