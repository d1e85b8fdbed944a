"""Make pickles harmless: in a process that hears strangers, only known names are looked up.

Dask unpickles much of what it receives: requests of clients to their scheduler, types and
exceptions from workers. A pickle is a program: it may call whatever it can name. So
:func:`restrict` replaces Python's unpickler by one that looks up only allowed names. Anything else
becomes a :class:`Nothing`, and so does an unreadable pickle, so that none can end a connection.
What is looked up cannot be changed: a pickle may also set attributes of whatever it has named. And
a process may say that from some senders it reads no pickle at all (:func:`believe`).

This is what Python's documentation calls *restricting globals*.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Collection
from contextvars import ContextVar
from typing import Any, ClassVar

_PLAIN = ("msgpack",)  # ways in which Dask writes data

Name = tuple[str, str]  # of a module, and of what is in it
_is_believed: ContextVar[bool] = ContextVar("is_believed", default=True)


class Nothing:
    """The stand-in for an object whose name is not allowed: it accepts any arguments."""

    def __new__(cls, *_: object, **__: object) -> Nothing:
        """Make one."""
        return super().__new__(cls)

    def __setstate__(self, _state: object) -> None:
        """Take what a pickle says that it is made of, and forget it."""

    def __call__(self, *_: object, **__: object) -> Nothing:
        """Do nothing."""
        return self


# The one in Python: that in C does not let us see what is changed. Pickles here are short.
class _Reader(pickle._Unpickler):
    """Read pickles without running them."""

    known: frozenset[Name] = frozenset()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._found: list[object] = []

    def find_class(self, module: str, name: str) -> Any:
        """Return what a pickle names, if it may."""
        if (module, name) not in self.known:
            return Nothing
        self._found.append(super().find_class(module, name))
        return self._found[-1]

    def load_build(self) -> None:
        """Give an object the state that it is said to have, unless it is one that was looked up.

        Raises:
            UnpicklingError: it is: it belongs to this process.
        """
        changed = self.stack[-2]  # type: ignore[attr-defined] # typeshed leaves out the insides
        if any(changed is one for one in self._found):
            raise pickle.UnpicklingError(f"{changed!r} may not be changed")
        super().load_build()  # type: ignore[misc]

    dispatch: ClassVar[dict[int, Callable[..., None]]] = {
        **pickle._Unpickler.dispatch,
        pickle.BUILD[0]: load_build,
    }


def reader(allowed: Collection[Name]) -> type[_Reader]:
    """Return an unpickler that looks up these names and no others."""
    return type("Reader", (_Reader,), {"known": frozenset(allowed)})


def believe(is_believed: bool) -> None:
    """Say whether pickles are read from now on, in this task and those that it begins.

    Where they are not, each is a :class:`Nothing`.
    """
    _is_believed.set(is_believed)


def restrict(allowed: Collection[Name]) -> None:
    """Put the reader in the place of Python's own, for all that this process has loaded and will.

    It is for good: it belongs into a process that does nothing else.
    """
    own = reader(allowed)

    def loads(data: Any, /, **options: Any) -> Any:
        return _read(own, io.BytesIO(bytes(data)), options)

    def load(file: Any, /, **options: Any) -> Any:
        return _read(own, file, options)

    ours = {"loads": loads, "load": load, "Unpickler": own}
    # Those written in C, and those in Python beside them.
    _replace(
        {
            id(getattr(pickle, f"{way}{name}")): one
            for name, one in ours.items()
            for way in ("", "_")
        }
    )


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


def _read(own: type[_Reader], file: Any, options: dict[str, Any]) -> Any:
    if not _is_believed.get():
        return Nothing()
    try:
        return own(file, **options).load()
    except Exception:  # noqa: BLE001 - strangers write it: whatever is wrong with it is theirs
        return Nothing()


def _replace(former: dict[int, Any]) -> None:
    """Replace functions wherever a module that is loaded has them under a name of its own."""
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
            if id(value) in former and module is not sys.modules[__name__]:
                setattr(module, name, former[id(value)])
