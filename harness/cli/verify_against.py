"""Other programs beside a reference: if it stands alone, the teacher decides."""

from __future__ import annotations

from collections.abc import Sequence

from harness.banks.bank_runs import EngineAsker
from harness.records import CaseFile
from harness.text import number_of
from harness.verifying.records import CaseFinding, FindingKind, Verified


def with_questions(
    found: Verified, cases: Sequence[CaseFile], commands: Sequence[str], asker: EngineAsker
) -> Verified:
    """Return what was found; a wrong test that all other programs pass is a question instead.

    Raises:
        SandboxError: the harness failed, or there is no sandbox here.
    """
    from harness.assignments import banked

    wrong = {(one.path, one.line) for one in found.findings if one.kind is FindingKind.WRONG}
    asked = [case for case in cases if any(path == case.path for path, _ in wrong)]
    for command in commands if wrong else ():
        wrong -= asker.find_failed(asked, banked.engine_of(command, command))
    findings = (
        _question(one, len(commands)) if (one.path, one.line) in wrong else one
        for one in found.findings
    )
    return found._replace(findings=tuple(findings))


def _question(found: CaseFinding, others: int) -> CaseFinding:
    told = number_of(others, "other program")
    agree = "agrees" if others == 1 else "agree"
    text = f"{told} {agree} with the test, and only the reference disagrees: who is right?"
    return found._replace(kind=FindingKind.QUESTION, message=text)
