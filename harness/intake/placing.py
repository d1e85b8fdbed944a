"""The place of a submission's one folder in an archive."""

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
        return _within_itself(names, folder)
    tops = {name.partition("/")[0] for name in names}
    top = tops.pop() if len(tops) == 1 else ""
    if not top or not all("/" in name for name in names):
        return Placing("", f"The files are not in a folder {folder}, as they should be.")
    if _any_below(names, f"{top}/{folder}/"):
        remark = f"The folder {folder} is wrapped in another, {top!r}: one is allowed."
        return Placing(f"{top}/{folder}/", remark)
    return Placing(f"{top}/", f"The folder is called {top!r}, it should be called {folder}.")


def _within_itself(names: Collection[str], folder: str) -> Placing:
    """Return where the folder is, or the one of the same name in it, if that has all its files."""
    root = f"{folder}/"
    own = [name for name in names if name.startswith(root)]
    while all(name.startswith(f"{root}{folder}/") for name in own):
        root += f"{folder}/"
    remark = f"The folder {folder} is wrapped in another of the same name: one is expected."
    return Placing(root, remark if root != f"{folder}/" else "")


def _any_below(names: Collection[str], prefix: str) -> bool:
    return any(name.startswith(prefix) for name in names)
