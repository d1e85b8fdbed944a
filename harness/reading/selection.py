"""The selection of a file's tests: ``--only``, ``--ids`` and ``--lines``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.errors import UsageError
from harness.records import CaseFile, Step

_RANGE = r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?"

_LONGEST = 60  # characters of a range: no id has so many digits


class Selection:
    """The tests wanted: ``only`` is a regular expression searched in their commands, ``ids`` and
    ``lines``, of their commands, are lists such as ``10,20-29``; None selects all.

    Raises:
        UsageError: one of them cannot be read.
    """

    def __init__(
        self, only: str | None = None, ids: str | None = None, lines: str | None = None
    ) -> None:
        self._words = [f"--only '{only}'"] if only is not None else []
        self._words += [f"--ids {ids}"] if ids is not None else []
        self._words += [f"--lines {lines}"] if lines is not None else []
        self._everything = not self._words
        self._only = _expression(only) if only is not None else re.compile("")
        self._ids = None if ids is None else _ranges("--ids", ids)
        self._lines = None if lines is None else _ranges("--lines", lines)

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
        return narrow(case, wanted) if True in wanted else None

    def _wants(self, step: Step) -> bool:
        numbers = _among(step.id, self._ids) and _among(step.line, self._lines)
        return step.is_test and numbers and self._only.search(step.command) is not None


def narrow(case: CaseFile, wanted: Sequence[bool]) -> CaseFile:
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


def _among(number: int, ranges: list[range] | None) -> bool:
    return ranges is None or any(number in one for one in ranges)


def _ranges(option: str, text: str) -> list[range]:
    return [_range(option, part) for part in text.split(",")]


def _range(option: str, part: str) -> range:
    found = re.fullmatch(_RANGE, part)
    if found is None or len(part) > _LONGEST:
        what = f"found {part[:_LONGEST]!r}, expected {option.lstrip('-')} such as 10,20-29"
        raise UsageError(f"{option}: {what}")
    first = int(found[1])
    return range(first, int(found[2] or first) + 1)
