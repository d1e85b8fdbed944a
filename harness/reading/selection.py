"""Which tests of a file are wanted: ``--only`` and ``--ids``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.errors import UsageError
from harness.records import CaseFile, Step

_RANGE = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")

_LONGEST = 60  # characters of a range: no id has so many digits


class Selection:
    """The tests wanted: ``only`` is a regular expression searched in their commands, ``ids`` a
    list such as ``10,20-29``; None selects all.

    Raises:
        UsageError: one of them cannot be read.
    """

    def __init__(self, only: str | None = None, ids: str | None = None) -> None:
        self._words = [f"--only '{only}'"] if only is not None else []
        self._words += [f"--ids {ids}"] if ids is not None else []
        self._everything = only is None and ids is None
        self._only = _expression(only) if only is not None else re.compile("")
        self._ids = None if ids is None else [_range(part) for part in ids.split(",")]

    def __str__(self) -> str:
        return " with ".join(self._words)

    def of(self, case: CaseFile) -> CaseFile | None:
        """Return ``case`` with no other tests than those selected, None if it has none of them.

        The other tests are still sent, for what they do to the game, but not judged; and
        nothing is sent after the last one selected.
        """
        if self._everything:
            return case
        wanted = [self._wants(step) for step in case.steps]
        return narrowed(case, wanted) if True in wanted else None

    def _wants(self, step: Step) -> bool:
        in_ids = self._ids is None or any(step.id in ids for ids in self._ids)
        return step.is_test and in_ids and self._only.search(step.command) is not None


def narrowed(case: CaseFile, wanted: Sequence[bool]) -> CaseFile:
    """Return ``case`` with no other tests than those ``wanted`` (one word for each step).

    The steps up to the last one wanted keep their indices; those after it are left out.
    """
    end = len(wanted) - wanted[::-1].index(True)
    steps = [
        step if chosen else step._replace(is_test=False, pattern=None)
        for step, chosen in zip(case.steps[:end], wanted, strict=False)
    ]
    return case._replace(steps=tuple(steps))


def _expression(only: str) -> re.Pattern[str]:
    try:
        return re.compile(only)
    except re.error as error:
        raise UsageError(f"--only {only!r} is not a regular expression: {error}") from None


def _range(part: str) -> range:
    found = _RANGE.fullmatch(part)
    if found is None or len(part) > _LONGEST:
        raise UsageError(f"--ids: found {part[:_LONGEST]!r}, expected ids such as 10,20-29")
    first = int(found[1])
    return range(first, int(found[2] or first) + 1)
