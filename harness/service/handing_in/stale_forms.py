"""A form that was filled before somebody else's change must not take that back: it is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.service.courses.grading import NotNowError


class ShownValues(NamedTuple):
    """What a form is filled from when a page shows it."""

    about: str  # such as ``assignment``
    values: Sequence[str]  # of its fields, as they are kept
    said: Mapping[str, str]  # the same in words, by the labels of the fields

    @property
    def digest(self) -> str:
        """Return what a form carries: it tells these values from other ones."""
        return digest_of([*self.values])

    def require(self, filled: str | None) -> None:
        """Refuse a form that was filled from other values than these, which are in force.

        ``filled``: the digest that the form carries, or None without a form.

        Raises:
            NotNowError: somebody has changed them since.
        """
        if filled is None or filled == self.digest:
            return
        said = "; ".join(f"{label}: {value}" for label, value in self.said.items())
        raise NotNowError(
            f"Somebody has changed this {self.about} since you opened the page. "
            f"These values are in force now: {said}. The form has what you typed: "
            "correct it and send it again"
        )


def digest_of(value: object) -> str:
    """Return what tells a value from others, as short as a form may carry it."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]
