"""``NamedTuple`` and ``Protocol`` as :mod:`typing` has them, without it.

A run loads some fifty named tuples. :mod:`typing` compiles the annotation of each field to check
it, and takes its time to be loaded: together a sixth of what a run of a small file costs. Type
checkers see the originals.
"""

from __future__ import annotations

__all__ = ["NamedTuple", "Protocol"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, Protocol
else:
    from collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    Protocol = object

    class _NamedRecord(tuple):
        """Methods of all named tuples, as in :mod:`collections`."""

        __slots__ = ()
        _fields = ()

        @classmethod
        def _make(cls, iterable):
            made = tuple.__new__(cls, iterable)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes):
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            pairs = zip(self._fields, self, strict=True)
            said = ", ".join(f"{field}={value!r}" for field, value in pairs)
            return f"{type(self).__name__}({said})"

    @cache
    def _template(count):
        """Return a function that makes a tuple; to compile one is most of what a class costs."""
        names = ", ".join(f"a{place}" for place in range(count))
        return eval(f"lambda _cls, {names}: _new(_cls, ({names},))", {"_new": tuple.__new__})

    def _new(name, fields, defaults):
        template = _template(len(fields))
        code = template.__code__.replace(co_varnames=("_cls", *fields))
        new = FunctionType(code, template.__globals__, "__new__", defaults)
        new.__qualname__ = f"{name}.__new__"
        return new

    class _Maker(type):
        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in fields if field in namespace}
            getters = {field: _tuplegetter(place, "") for place, field in enumerate(fields)}
            made = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            new = _new(name, fields, tuple(defaults.values()))
            own = {**made, **namespace, **getters, "__slots__": (), "__new__": new}
            return type(name, (_NamedRecord,), own)

    class NamedTuple(metaclass=_Maker):
        """See :class:`typing.NamedTuple`."""
