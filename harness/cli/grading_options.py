"""The options that say what is graded, for each command that has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import shipped
from harness.assignments import assignment
from harness.options import SANDBOXES

Add = Callable[..., Any]  # ``add_argument`` of a parser, or of a group of one


def add_assignment(add: Add) -> None:
    """Add the option that names the assignment."""
    add("--assignment", metavar="NAME",
        help=f"{', '.join(shipped.names())}, or a folder with {assignment.FILE}")  # fmt: skip


def add_private(add: Add) -> None:
    """Add the options for case files that students do not have."""
    add("--private", action="append", default=[], metavar="PATH",
        help="private case files: a file, a folder or @FILE")  # fmt: skip
    add("--public-only", action="store_true", help="grade without private case files")


def add_sandbox(add: Add) -> None:
    """Add the option for the level of the sandbox; none is below 1."""
    add("--sandbox", choices=[one for one in SANDBOXES if one != "off"], default="auto",
        help="sandbox level, 3 to 1; auto: the strongest that works (default: auto)")  # fmt: skip


def add_cluster(add: Add) -> None:
    """Add the options that say which machines run engines instead of this one."""
    add("--scheduler", metavar="ADDRESS", default="",
        help="run engines on the machines of a cluster: tls://HOST:PORT, or tcp://127.0.0.1:PORT"
        " on this machine")  # fmt: skip
    add("--tls", metavar="DIR", default="",
        help="folder of certificates, made by gtp-harness cluster")  # fmt: skip
    add("--bytes-at", metavar="HOST[:PORT]", default="",
        help="address of this machine from which workers fetch files (default: the one by which"
        " it reaches the scheduler)")  # fmt: skip


def add_unsafe(add: Add) -> None:
    """Add the option that does without a sandbox, which is never chosen by itself."""
    add("--unsafe-no-sandbox", action="store_true",
        help="run submissions without a sandbox, with all your rights; every report says"
        " so")  # fmt: skip
