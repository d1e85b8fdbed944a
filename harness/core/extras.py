"""Packages that only some commands need: whether they are there, and how to install them.

The hint names the packages themselves. An extra such as ``gtp-harness[cluster]`` can be installed
only where an index has this project, and not from a checkout or a wheel.
"""

import importlib.util
import re
import shlex

from harness.core.errors import UsageError

_PROJECT = "gtp-harness"


def require(feature: str, extra: str, *modules: str) -> None:
    """See that modules can be imported; ``feature``: the command or option that needs them.

    Raises:
        UsageError: one is missing; it says how to install all packages of the extra.
    """
    for name in modules:
        if importlib.util.find_spec(name) is None:
            raise UsageError(f"{feature} needs {name}: {hint(extra) or f'install {name}'}")


def hint(extra: str) -> str:
    """Return the command that installs the packages of an extra, or "" if they are not known."""
    packages = [shlex.quote(one) for one in list_packages(extra)]
    return " ".join(["pip install", *packages]) if packages else ""


def explain(error: ModuleNotFoundError) -> str:
    """Return what to install for a module that an extra brings; "" if no extra does."""
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
        found = metadata.requires(_PROJECT) or []
    except metadata.PackageNotFoundError:  # the code was copied, not installed
        return []
    halves = [one.partition(";") for one in found]
    ends = (f"extra == '{extra}'", f'extra == "{extra}"')
    return [package.strip() for package, _, marker in halves if marker.strip().endswith(ends)]
