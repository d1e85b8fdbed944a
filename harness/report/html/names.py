"""Names of pages: gogui-regress's, made unique."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def page_names(paths: Sequence[str]) -> list[str]:
    """Return for each case file the name of its page without ``.html``.

    As with gogui it is the file's name without ``.tst``, then ``name_2`` and so on. The log of
    ``name`` is ``name.out``, so that both must be free, and ``index`` is taken.
    """
    taken = {"index"}
    names = []
    for path in paths:
        name = _free(PurePath(path).name.removesuffix(".tst"), taken)
        taken |= {name, log_name(name)}
        names.append(name)
    return names


def log_name(name: str) -> str:
    """Return the name of the log page that belongs to a page."""
    return f"{name}.out"


def _free(name: str, taken: set[str]) -> str:
    tried, number = name, 1
    while tried in taken or log_name(tried) in taken:
        number += 1
        tried = f"{name}_{number}"
    return tried


def link(name: str) -> str:
    """Return a page's name as a relative address."""
    quoted = "".join(
        chr(byte) if chr(byte) in _SAFE else f"%{byte:02X}" for byte in os.fsencode(name)
    )
    return f"{quoted}.html"
