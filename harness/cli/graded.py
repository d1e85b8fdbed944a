"""The options that say what is graded, for each command that has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import shipped
from harness.assignments import assignment

Add = Callable[..., Any]  # ``add_argument`` of a parser, or of a group of one


def add_assignment(add: Add) -> None:
    """Add the option that names the assignment."""
    add("--assignment", metavar="NAME",
        help=f"{', '.join(shipped.names())}, or a folder with {assignment.FILE}")  # fmt: skip


def add_private(add: Add) -> None:
    """Add the options for case files that students do not have."""
    add("--private", action="append", default=[], metavar="PATH",
        help="case files that only you have: a file, a folder or @FILE")  # fmt: skip
    add("--public-only", action="store_true", help="grade without private case files")
