"""The answers of a submission to tests, to find two that behave alike. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from harness.records import FileResult, Outcome, Verdict
from harness.report.tally import never_answers

Place = tuple[str, str, int]  # kind and name of the case file, and the line of the command

# Last words of programs that die for where they are, not for what they are asked.
_SURROUNDINGS = re.compile(
    r"ModuleNotFoundError|ImportError|No module named|FileNotFoundError|PermissionError"
    r"|cannot open shared object|NoClassDefFoundError|UnsupportedClassVersionError"
)


class ProgramBehaviour(NamedTuple):
    """The behaviour of a program: its wrong answers; all others are right."""

    wrong: Mapping[Place, str]

    tests: int  # in all

    def where(self, counts: Callable[[Place], bool]) -> ProgramBehaviour:
        """Return what it did with the tests that count."""
        wrong = {place: how for place, how in self.wrong.items() if counts(place)}
        return self._replace(wrong=wrong)

    @property
    def signature(self) -> tuple[tuple[Place, str], ...]:
        """The same for programs that do the same."""
        return tuple(sorted(self.wrong.items()))


def behaviour(results: Iterable[tuple[str, str, FileResult]]) -> ProgramBehaviour:
    """Return what a program did in files, each with its kind and the assignment's name for it."""
    said = {
        (kind, name, result.case.steps[outcome.step].line): _how(outcome, result)
        for kind, name, result in results
        for outcome in result.outcomes
    }
    return ProgramBehaviour({place: how for place, how in said.items() if how}, len(said))


def _how(outcome: Outcome, result: FileResult) -> str:
    """Say how a test was failed; "" if it was not, or nobody can tell."""
    if outcome.verdict is Verdict.NOT_RUN and result.failure:
        return result.failure.kind.value
    if outcome.verdict is not Verdict.FAILED or outcome.reply is None:
        return ""
    sign = "=" if outcome.reply.ok else "?"
    return f"{sign} {' '.join(outcome.reply.text.casefold().split())}"


def surroundings(results: Iterable[FileResult]) -> str:
    """Return the last words of a program that died for its surroundings; "" if it did not."""
    for result in results:
        for failure in result.failures:
            if _SURROUNDINGS.search(failure.reason):
                return failure.reason
    return ""


def starts(results: Iterable[FileResult]) -> bool:
    """Whether a program answered anything."""
    return not never_answers(results)
