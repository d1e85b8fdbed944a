"""The ways to spend what is limited, and what counts each."""

from __future__ import annotations

from harness.sandbox.redteam.attack import Attack

_CLOCK = dict.fromkeys((3, 2, 1), "the clock of the whole tree")


def _cpu(program: str, title: str) -> Attack:
    return Attack(program, f"compute in {title}", _CLOCK, source="spending", patience=9, cpu=1)


ROSTER = (
    _cpu("ignored_children", "children that nobody waits for"),
    _cpu("short_children", "short children that nobody waits for"),
    _cpu("unwaited_children", "children without a SIGCHLD"),
    _cpu("adopted_children", "children of others"),
    _cpu("many_threads", "a process without its first thread"),
)
