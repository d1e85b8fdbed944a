"""What SQLAlchemy has made of a statement, kept for all engines of the process of the tests.

A service has one engine as long as it lives, and a grading has one; each test has some of its own,
and every one of them would make SQL of the same statements again: a tenth of what tests of the
service compute.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

_KEPT: LRUCache[Any, Any] = LRUCache(5000)


def _is_alike(self: DefaultDialect, other: object) -> bool:
    """Whether both write the same SQL; a version is known once a server has been asked."""
    version = getattr(other, "server_version_info", None)
    return type(self) is type(other) and self.server_version_info == version


Engine._compiled_cache = property(lambda _: _KEPT, lambda _self, _own: None)  # type: ignore[assignment]
DefaultDialect.__eq__ = _is_alike  # type: ignore[method-assign]
DefaultDialect.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
