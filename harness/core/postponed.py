"""Modules of others that are executed when something is first taken from them.

A run takes little from what pexpect brings along. Pseudo-terminals, tracebacks and what those
import are 15 of the 120 ms that a run of a small file takes (60 pairs).
"""

from __future__ import annotations

import sys
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
    """Postpone the execution of modules: they and their submodules can still be imported.

    Those that were imported before, or are not installed, stay as they are. Only for a process of
    our own with one thread.
    """
    for name in names:
        # As importlib.util.find_spec(), which takes longer to load than to answer.
        specs = (finder.find_spec(name, None) for finder in sys.meta_path)
        if name not in sys.modules and (spec := next(filter(None, specs), None)):
            module = _Postponed(spec.name)
            module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
            module.__file__ = spec.origin
            if spec.submodule_search_locations is not None:
                module.__path__ = spec.submodule_search_locations
            sys.modules[name] = module
