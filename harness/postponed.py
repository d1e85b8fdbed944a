"""Modules of others that are executed when something is first taken from them.

A run takes little from what pexpect brings along: pseudo-terminals, tracebacks and what those
import cost as much as a thousand commands.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Postponed(ModuleType):
    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]
        assert self.__spec__ is not None
        assert self.__spec__.loader is not None
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def postpone(*names: str) -> None:
    """Let modules be imported, and their submodules too, without being executed themselves.

    Those that were imported before, or are not installed, stay as they are. Only for a process of
    our own with one thread.
    """
    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec is not None:
            module = module_from_spec(spec)
            module.__class__ = _Postponed
            sys.modules[name] = module
