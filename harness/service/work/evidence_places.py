"""Where the evidence about each case file of a submission is, for links from a student's page."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness import whole_files
from harness.grading.exports.class_page import addresses
from harness.grading.records import IMAGE, ClassResult, Graded
from harness.service.work import check_results
from harness.service.work.check_results import CaseChecked
from harness.work import canonical_json


class EvidencePlace(NamedTuple):
    """The evidence about a case file."""

    address: str  # in the folder of the grading
    found: CaseChecked


class EvidenceOf(NamedTuple):
    """The evidence about a submission."""

    key: str
    places: tuple[EvidencePlace, ...]


class _Every(NamedTuple):
    submissions: tuple[EvidenceOf, ...]


def write(result: ClassResult, folder: Path) -> None:
    """Write where the evidence is, beside the folder of a grading."""
    every = _Every(tuple(EvidenceOf(one.submission.key, _places(one)) for one in result.graded))
    whole_files.write(path_of(folder), canonical_json.dumps(every))


def _places(one: Graded) -> tuple[EvidencePlace, ...]:
    own = (attempt for attempt in one.attempts if attempt.kind != IMAGE)
    return tuple(
        EvidencePlace(
            addresses.evidence(one, addresses.file_anchor(one, attempt.kind, attempt.case)),
            check_results.of_attempt(attempt),
        )
        for attempt in own
    )


def path_of(folder: Path) -> Path:
    """Return the file beside the folder of a grading that has these places."""
    return folder.with_name(f"{folder.name}.cases")


def read(folder: Path, key: str) -> tuple[EvidencePlace, ...]:
    """Return the evidence about a submission; none if a former version made the grading."""
    try:
        every = canonical_json.loads(_Every, path_of(folder).read_text("ascii"))
    except FileNotFoundError:
        return ()
    return next((one.places for one in every.submissions if one.key == key), ())
