"""The systems that the harness runs on, and what is to be done on one that lacks something.

Linux has all. Where POSIX is all there is, as on macOS, engines run, but nothing contains them.
Elsewhere, as on Windows, no engine can be started.
"""

from __future__ import annotations

import sys

from harness.core.errors import UsageError

_NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


def name() -> str:
    """Return what people call this system."""
    return _NAMES.get(sys.platform, sys.platform)


def has_engines() -> bool:
    """Whether programs can be started here as engines are, with signals and sessions."""
    return sys.platform != "win32"


def no_engines(action: str) -> str:
    """Say that a command, or an action, does not work here, and what to do instead."""
    return (
        f"{action} does not work on {name()}: use WSL (wsl --install, then install gtp-harness"
        " in it) or the container"
    )


def need_engines(action: str) -> None:
    """Raise :class:`UsageError` where no program can be started as an engine is."""
    if not has_engines():
        raise UsageError(no_engines(action))


def has_sandboxes() -> bool:
    """Whether engines can be contained here, if the machine is set up for it."""
    return sys.platform == "linux"


NO_SANDBOX = (
    f"a sandbox needs Linux, and this is {name()}: the container has one; programs that you trust"
    ' run without one (--sandbox off; for a reference, sandbox = "off" in assignment.toml)'
)
