"""Wrong programs asked while a teacher waits: which one is told, and one that hangs is given up.

Each call asks all programs anew, and a program that hangs costs its limits each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from harness.banks.bank_runs import EngineAsker
from harness.banks.records import WrongEngine
from harness.records import CaseFile, FailureKind, FileResult
from oracle.natures import Natures

MOST_HUNG = 4  # case files in which a program may hang, in all calls together


class WatchedAsker(EngineAsker):
    """Asks programs until they have hung too often."""

    def __init__(
        self, natures: Natures, sandbox: str, protocol: str, tell: Callable[[str], None]
    ) -> None:
        """``tell``: hears which program is asked, before it is."""
        super().__init__(natures, sandbox, protocol=protocol, strict=False)
        self._tell = tell
        self._hung: Counter[str] = Counter()

    @property
    def given_up(self) -> tuple[str, ...]:
        """The names of the programs that are asked no more."""
        return tuple(sorted(name for name, times in self._hung.items() if times >= MOST_HUNG))

    def results(self, cases: Sequence[CaseFile], engine: WrongEngine) -> tuple[FileResult, ...]:
        """Return what a program did in each file; nothing if it was given up."""
        if engine.name in self.given_up:
            return ()
        self._tell(engine.name)
        found = super().results(cases, engine)
        self._hung[engine.name] += sum(map(_has_hung, found))
        return found


def _has_hung(result: FileResult) -> bool:
    return any(one.kind is FailureKind.TIMEOUT for one in result.failures)
