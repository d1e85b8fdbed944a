"""Make pickles harmless: a process that hears strangers reads none.

Dask unpickles much of what it receives: graphs of clients, types and exceptions from workers. A
pickle is a program: it may call whatever it can name. What we send is plain data. So
:func:`refuse` replaces Python's unpickler: whatever a pickle says, it becomes a :class:`Nothing`.
An unreadable one does so, too, so that no pickle can end a connection.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

_PLAIN = ("msgpack",)  # ways in which Dask writes data


class Nothing:
    """The stand-in for what a pickle is to become."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take what a pickle is read from, and forget it."""

    def load(self) -> Nothing:
        """Read nothing, as an unpickler."""
        return self


def refuse() -> None:
    """Read no pickle from now on, in all that this process has loaded and will.

    It is for good: it belongs into a process that does nothing else.
    """
    # Those written in C, and those in Python beside them.
    names = [f"{way}{name}" for way in ("", "_") for name in ("loads", "load", "Unpickler")]
    _replace({id(getattr(pickle, name)): Nothing for name in names})


def refuse_objects() -> None:
    """Let what Dask brings be plain data: of anything else nothing is made, and nothing fails."""
    from distributed.protocol import core

    merge = core.merge_and_deserialize

    def merge_plain(header: Any, frames: Any, deserializers: object = None) -> Any:
        try:
            return merge(header, frames, deserializers=_PLAIN)
        except Exception:  # noqa: BLE001 - strangers write it: whatever is wrong with it is theirs
            return Nothing()

    core.merge_and_deserialize = merge_plain


def _replace(former: dict[int, Any]) -> None:
    """Replace functions wherever a module that is loaded has them under a name of its own."""
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
            if id(value) in former and module is not sys.modules[__name__]:
                setattr(module, name, former[id(value)])
