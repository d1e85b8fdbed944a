"""An engine of this process as the fuzzer's program: no pipe, no start, many mistakes a minute."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from harness.core.records import Failure, FailureKind
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import FuzzBudget
from harness.specifications import specification
from harness.specifications.record import reply_of
from harness.vocabulary.script import Script, Trace, lay_files
from oracle.mistakes import Breakdown, Hang


class Known(NamedTuple):
    """What an engine did at once; see :class:`harness.fuzzing.fuzzed_engine.UnderWay`."""

    found: list[Any]

    def go_on(self) -> None:
        pass

    def traces(self) -> list[Any]:
        return self.found

    def replies(self) -> list[Any]:
        """Return those of a reference."""
        return self.found


class InProcess:
    """See :class:`harness.fuzzing.fuzzed_engine.FuzzedProgram`; ``start`` returns a new engine."""

    def __init__(self, start: Callable[[], Any], folder: Path) -> None:
        self.start = start
        self.folder = folder
        self.engine: Any = None

    def begin(self, scripts: Sequence[Script]) -> Known | None:
        if self.engine is None:
            return None
        traces: list[Trace] = []
        for script in scripts:
            traces.append(self.answer(script))
            if traces[-1].failure:
                break
        return Known(traces)

    def answer(self, script: Script) -> Trace:
        self.engine = self.engine or self.start()
        replies: list[Any] = []
        lay_files(script, self.folder)
        with chdir(self.folder):  # as a process of its own would be there
            try:
                replies.extend(reply_of(self.engine.handle(one)) for one in script.commands)
            except Breakdown as how:
                self.renew()
                kind = FailureKind.TIMEOUT if isinstance(how, Hang) else FailureKind.DIED
                return Trace(script, tuple(replies), Failure(kind, "It broke.", len(replies)))
        return Trace(script, tuple(replies))

    def send_again(self, script: Script) -> Trace:
        self.renew()
        trace = self.answer(script)
        self.renew()
        return trace

    def renew(self) -> None:
        self.engine = None

    def be_patient(self) -> None:
        pass


@contextmanager
def start_fuzzer(
    start: Callable[[], Any], assignment: str, *, examples: int, seed: int = 0, seconds: float = 0
) -> Iterator[Fuzzer]:
    """Give a fuzzer of an engine in this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = InProcess(start, folder)
        judge = judge_of(specification(assignment), folder)
        yield Fuzzer(program, judge, FuzzBudget(seconds, examples), seed)
