"""Wrong programs asked while a teacher waits: which one is told, and one that hangs is given up.

Each call asks all programs anew, and a program that hangs costs its limits each time. So each
program has a budget of time for all calls together.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence

from harness.banks.bank_runs import EngineAsker
from harness.banks.records import WrongEngine
from harness.records import CaseFile, FailureKind, FileResult
from oracle.natures import Natures

MOST_HUNG = 4  # case files of a draft in which a program may hang, in all calls together
LONGEST = 240.0  # seconds that a program is asked, in all calls together


class WatchedAsker(EngineAsker):
    """Asks programs until they have hung too often, or have taken too long."""

    def __init__(
        self,
        natures: Natures,
        sandbox: str,
        protocol: str,
        tell: Callable[[str], None] = lambda _: None,
        most_hung: float = math.inf,
    ) -> None:
        """``tell``: hears which program is asked, before it is. ``most_hung``: case files."""
        super().__init__(natures, sandbox, protocol=protocol, strict=False)
        self._tell = tell
        self._most_hung = most_hung
        self._hung: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._refused: set[str] = set()

    @property
    def given_up(self) -> tuple[str, ...]:
        """The names of the programs that were not asked to the end."""
        return tuple(sorted(self._refused | {one for one in self._hung if self._has_hung(one)}))

    def _has_hung(self, name: str) -> bool:
        """Whether a program has hung too often: it was not asked to the end even then."""
        return self._hung[name] >= self._most_hung

    def results(self, cases: Sequence[CaseFile], engine: WrongEngine) -> tuple[FileResult, ...]:
        """Return what a program did in each file; nothing if it was given up."""
        name = engine.name
        if self._has_hung(name) or self._seconds.get(name, 0.0) >= LONGEST:
            self._refused.add(name)
            return ()
        self._tell(name)
        begun = time.monotonic()
        found = super().results(cases, engine)
        self._seconds[name] = self._seconds.get(name, 0.0) + time.monotonic() - begun
        self._hung[name] += sum(map(_hangs, found))
        return found


def _hangs(result: FileResult) -> bool:
    return any(one.kind is FailureKind.TIMEOUT for one in result.failures)
