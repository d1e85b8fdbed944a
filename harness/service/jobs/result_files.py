"""Files that jobs write: records, folders of gradings, results of checks, places of evidence."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from harness.core import file_system
from harness.grading.exports.class_page import parts
from harness.grading.records import IMAGE, Attempt, ClassResult, Graded
from harness.report.tally import tally
from harness.work import canonical_json

T = TypeVar("T")


def save(path: Path, record: object) -> None:
    """Write a record to a file, in the place of the one before; its folder is made if need be."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file_system.write_whole(path, canonical_json.dumps(record))


def load(kind: type[T], path: Path) -> T | None:
    """Return a record that :func:`save` wrote to a file, or None if there is no file."""
    try:
        return canonical_json.loads(kind, path.read_text("ascii"))
    except FileNotFoundError:
        return None


def check_page(assignment_folder: Path, upload: str) -> Path:
    """Return where the result of a check is; ``assignment_folder``: of its assignment."""
    return assignment_folder / "checks" / f"{upload}.html"


def folder_of(assignment_folder: Path, grading: str) -> Path:
    """Return where the pages and sheets of a grading are."""
    return assignment_folder / "gradings" / grading


def folders_of_all(assignment_folder: Path) -> list[Path]:
    """Return the folders of all gradings of an assignment; one may be exchanged just now."""
    names = {path.stem for path in (assignment_folder / "gradings").glob("*")}
    return [folder_of(assignment_folder, name) for name in sorted(names)]


@contextmanager
def lock_folder(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Give a time in which nobody else writes a folder anew; ``shared``: others may read it."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


# --- The result of a check, for programs: kept beside the page of it, and as long ----------------
# It has public case files alone, for a check runs no others.


PASSED, FAILED, FAULT = "passed", "failed", "harness error"


class CaseOutcome(NamedTuple):
    """The result of one public case file."""

    case: str
    result: str  # PASSED, FAILED, or FAULT: the harness failed, which says nothing
    tests: int
    passed: int


class CheckOutcome(NamedTuple):
    """The result of a check."""

    refused: str  # why nothing was run; else empty
    faults: tuple[str, ...]  # what is wrong with the archive, a phrase each
    builds: bool | None  # None without build steps
    cases: tuple[CaseOutcome, ...]


def _find_case_outcome(attempt: Attempt) -> CaseOutcome:
    name = Path(attempt.case).name
    if attempt.fault or attempt.result is None:  # None: there was no program to be run
        return CaseOutcome(name, FAULT if attempt.fault else FAILED, 0, 0)
    counts = tally(attempt.result)
    not_passed = counts.failed + counts.not_run + counts.not_judged
    is_right = not attempt.result.failures and not not_passed
    return CaseOutcome(name, PASSED if is_right else FAILED, counts.tests, counts.passes)


def write_check_result(path: Path, graded: Graded) -> None:
    """Keep the result of a check; ``path``: of its page."""
    build, submission = graded.build, graded.submission
    found = CheckOutcome(
        submission.refused,
        submission.faults,
        build.ok if build else None,
        tuple(map(_find_case_outcome, graded.attempts)),
    )
    save(path.with_suffix(".json"), found)


def read_check_result(path: Path) -> CheckOutcome | None:
    """Return the result of a check by the path of its page; None if not yet there."""
    return load(CheckOutcome, path.with_suffix(".json"))


# --- Where the evidence about each case file of a submission is, for links from a student's page -


class EvidencePlace(NamedTuple):
    """The evidence about a case file."""

    address: str  # in the folder of the grading
    found: CaseOutcome


_Evidence = tuple[tuple[str, tuple[EvidencePlace, ...]], ...]  # with the keys of submissions


def write_evidence_places(result: ClassResult, folder: Path) -> None:
    """Write where the evidence is, beside the folder of a grading."""
    every = []
    for graded in result.graded:
        own = [attempt for attempt in graded.attempts if attempt.kind != IMAGE]
        anchors = (parts.file_anchor(graded, one.kind, one.case) for one in own)
        addresses = (parts.evidence_address(graded, anchor) for anchor in anchors)
        places = map(EvidencePlace, addresses, map(_find_case_outcome, own))
        every.append((graded.submission.key, tuple(places)))
    save(path_of_evidence_places(folder), every)


def path_of_evidence_places(folder: Path) -> Path:
    """Return the file beside the folder of a grading that has these places."""
    return folder.with_name(f"{folder.name}.cases")


def read_evidence_places(folder: Path, key: str) -> tuple[EvidencePlace, ...]:
    """Return the evidence about a submission; none before it is written."""
    every = load(_Evidence, path_of_evidence_places(folder)) or ()
    return next((places for name, places in every if name == key), ())
