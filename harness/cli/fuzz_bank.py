"""The engines of a bank that go wrong as the fuzzed engine does: findings are tried on them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import takewhile

from harness.assignments.assignment import Assignment
from harness.banks.banks import EngineAsker, WrongEngine
from harness.cli.banks import wrong_engines
from harness.fuzzing.findings import FuzzFinding
from harness.fuzzing.fuzzer import Fuzzer
from harness.reading import casefile
from harness.records import FileResult
from harness.vocabulary.script import Script, Trace, lay_files


class KnownEngines:
    """The wrong engines that somebody knows already."""

    def __init__(self, engines: Sequence[WrongEngine], asker: EngineAsker, fuzzer: Fuzzer) -> None:
        self._engines = engines
        self._asker = asker
        self._fuzzer = fuzzer

    def like(self, finding: FuzzFinding) -> tuple[WrongEngine, ...]:
        """Return the engines that answer the last command of a finding as wrongly.

        Raises:
            SandboxError: the harness failed, or there is no sandbox here.
        """
        return tuple(one for one in self._engines if self._is_like(one, finding))

    def _is_like(self, engine: WrongEngine, finding: FuzzFinding) -> bool:
        trace = self._run_script(engine, finding.script)
        return self._fuzzer.shows(trace, finding.difference)

    def _run_script(self, engine: WrongEngine, script: Script) -> Trace:
        folder = self._fuzzer.judge.folder
        text = "\n".join(script.commands)
        case = casefile.parse(f"{text}\n".encode(), str(folder / "finding.gtp"))
        lay_files(script, folder)
        (result,) = self._asker.results([case], engine)
        return _trace(script, result)


def _trace(script: Script, result: FileResult) -> Trace:
    """Return what an engine answered until it broke; a new one may have gone on."""
    failure = next(iter(result.failures), None)
    end = len(script.commands) if failure is None else failure.step or 0
    replies = takewhile(lambda one: one is not None, result.replies[:end])
    return Trace(script, tuple(one for one in replies if one), failure)


@contextmanager
def load_engines(
    arguments: Namespace, assignment: Assignment | None, fuzzer: Fuzzer
) -> Iterator[KnownEngines]:
    """Give the engines of the banks that the command line names, and those of the assignment."""
    asker = EngineAsker(
        fuzzer.judge.specification.commands, arguments.sandbox, protocol=arguments.protocol
    )
    with wrong_engines(arguments, assignment) if assignment else nullcontext(()) as engines:
        yield KnownEngines(engines, asker, fuzzer)
