"""What a command needs: a system that can do it, and packages that only some commands need.

Linux has all. Where POSIX is all there is, as on macOS, engines run, but nothing contains them.
Elsewhere, as on Windows, no engine can be started.

The hint on packages names the packages themselves. An extra such as ``gtp-harness[cluster]`` can
be installed only where an index has this project, and not from a checkout or a wheel.
"""

from __future__ import annotations

import sys

from harness.core.errors import UsageError

_PROJECT = "gtp-harness"
_NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


def _system() -> str:
    """Return what people call this system."""
    return _NAMES.get(sys.platform, sys.platform)


def has_engines() -> bool:
    """Whether programs can be started here as engines are, with signals and sessions."""
    return sys.platform != "win32"


def no_engines(action: str) -> str:
    """Say that a command, or an action, does not work here, and what to do instead."""
    return (
        f"{action} does not work on {_system()}: use WSL (wsl --install, then install gtp-harness"
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
    f"a sandbox needs Linux, and this is {_system()}: the container has one; programs that you"
    ' trust run without one (--sandbox off; for a reference, sandbox = "off" in assignment.toml)'
)


# --- packages ------------------------------------------------------------------------------------


def require(feature: str, extra: str, *modules: str) -> None:
    """Raise :class:`UsageError` if a module is missing, with the command that installs the extra.

    ``feature``: the command or option that needs the modules.
    """
    import importlib.util

    for one in modules:
        if importlib.util.find_spec(one) is None:
            raise UsageError(f"{feature} needs {one}: {hint(extra) or f'install {one}'}")


def hint(extra: str) -> str:
    """Return the command that installs the packages of an extra, or "" if they are not known."""
    import shlex

    packages = [shlex.quote(one) for one in list_packages(extra)]
    return " ".join(["pip install", *packages]) if packages else ""


def explain(error: ModuleNotFoundError) -> str:
    """Return what to install for a module that an extra brings; "" if no extra does."""
    import re
    from importlib import metadata

    module = (error.name or "").partition(".")[0]
    owners = {"multipart": "python-multipart"}  # where the names differ
    try:
        extras = metadata.metadata(_PROJECT).get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return ""
    for extra in sorted(extras, key=lambda extra: len(list_packages(extra))):  # the least first
        names = [re.split(r"[^\w.-]", one)[0] for one in list_packages(extra)]
        if module and owners.get(module, module) in names:
            return f"this needs {module}, which is not installed: {hint(extra)}"
    return ""


def list_packages(extra: str) -> list[str]:
    """Return the requirements of an extra, from the metadata of the installed project."""
    from importlib import metadata

    try:
        requirements = metadata.requires(_PROJECT) or []
    except metadata.PackageNotFoundError:  # the code was copied, not installed
        return []
    parts = [one.partition(";") for one in requirements]
    ends = (f"extra == '{extra}'", f'extra == "{extra}"')
    return [package.strip() for package, _, marker in parts if marker.strip().endswith(ends)]
