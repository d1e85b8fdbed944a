"""The judge of each specification."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.declared.reference import ReferenceProgram
from harness.fuzzing.by_oracle import ByOracle
from harness.fuzzing.by_reference import ByReference
from harness.fuzzing.reply_judge import ReplyJudge
from harness.specifications.record import Specification


def judge_of(
    specification: Specification, folder: Path, openings: Sequence[tuple[str, ...]] = ()
) -> ReplyJudge:
    """Return who judges an engine; ``folder``: where the files lie that scripts name.

    ``openings``: conversations to continue from, where a reference judges.
    """
    if isinstance(specification.truth, ReferenceProgram):
        return ByReference(specification, specification.truth, folder, openings)
    return ByOracle(specification, folder)
