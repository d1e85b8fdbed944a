"""Where in an archive the one folder of a submission is."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Placing(NamedTuple):
    """Where the folder is, and what to say about that."""

    root: str  # what the names of its files begin with: "", or ends in a slash
    remark: str  # a sentence when it is not where it should be


def place(names: Collection[str], folder: str) -> Placing:
    """Return where the folder that should be called ``folder`` is among files' names.

    One folder around it is allowed, another name of it too, and even none; each is said.
    """
    if _any_below(names, f"{folder}/"):
        return Placing(f"{folder}/", "")
    tops = {name.partition("/")[0] for name in names}
    top = tops.pop() if len(tops) == 1 else ""
    if not top or not all("/" in name for name in names):
        return Placing("", f"The files are not in a folder {folder}, as they should be.")
    if _any_below(names, f"{top}/{folder}/"):
        remark = f"The folder {folder} is wrapped in another, {top!r}: one is allowed."
        return Placing(f"{top}/{folder}/", remark)
    return Placing(f"{top}/", f"The folder is called {top!r}, it should be called {folder}.")


def _any_below(names: Collection[str], prefix: str) -> bool:
    return any(name.startswith(prefix) for name in names)
