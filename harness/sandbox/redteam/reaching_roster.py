"""Attacks through what a box shows, and on what processes share; and what stops each."""

from __future__ import annotations

from harness.sandbox.redteam.attack import Attack

_VIEW = dict.fromkeys((3, 2, 1), "what is shown is not told by a submission")
_CALLS = dict.fromkeys((3, 2, 1), "seccomp")
_OTHERS = {3: "pid namespace", 2: "pid namespace", 1: "seccomp"}
_FILES = {3: "mount namespace", 2: "mount namespace", 1: "Landlock"}
_LIMIT = dict.fromkeys((3, 2, 1), "resource limit")


def _row(program: str, title: str, layer: dict[int, str], leaks: tuple[int, ...] = ()) -> Attack:
    return Attack(program, title, layer, leaks=frozenset(leaks), source="reaching")


ROSTER = (
    _row("read_what_its_first_line_names", "read what its first line names", _VIEW),
    _row("read_what_its_settings_name", "read what its pyvenv.cfg names", _VIEW),
    _row("read_mounts", "see the machine's mounts and sockets", _FILES),
    _row(
        "enter_private_folder",
        "stand in a private folder",
        _FILES | {1: "nothing: Landlock does not see chdir"},
        leaks=(1,),
    ),
    _row("watch_private_folder", "watch what others do with files", _CALLS),
    _row("lock_shown_files", "tell others something by locks on shown files", _CALLS),
    _row("limit_others", "set the limits of the harness", _OTHERS),
    _row("slow_others", "take the processors from the harness", _OTHERS),
    _row("take_slots", "take the machine's slots for input and output", _CALLS),
    _row("hoard_timers", "make 5,000 timers", _LIMIT),
)
