"""Results of audits, in the folder ``audit`` of a grading: a folder for each submission.

It has the case files that show a wrong answer, and ``audit.json``. With it an interrupted audit
continues, and a later grading shows the findings again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness import whole_files
from harness.errors import UsageError
from harness.grading.records import Audited
from harness.work import canonical_json

FOLDER, _STATE = "audit", "audit.json"


def read(folder: Path, key: str) -> Audited | None:
    """Return the last findings for a submission, or None if they cannot be read."""
    try:
        found = canonical_json.loads(Audited, (folder / key / _STATE).read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if found.submission == key else None


def write(folder: Path, audited: Audited, files: Mapping[str, str]) -> None:
    """Write the findings for a submission in place of earlier ones.

    Raises:
        UsageError: it cannot be written.
    """
    place = folder / audited.submission
    try:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")
        _write_state(place, audited)
    except OSError as error:
        raise UsageError(f"cannot write {place}: {error.strerror}") from None


def confirm(folder: Path, audited: Audited, sure: Iterable[str]) -> Audited:
    """Keep the wrong answers with these case files, remove the others, and return what is left."""
    place, wanted = folder / audited.submission, set(sure)
    wrong = tuple(one for one in audited.wrong if one.file in wanted)
    for one in set(audited.wrong) - set(wrong):
        for path in place.glob(f"{one.file[:2]}-*"):
            path.unlink()
    unsure = audited.unsure + len(audited.wrong) - len(wrong)
    left = audited._replace(wrong=wrong, unsure=unsure, confirmed=True)
    _write_state(place, left)
    return left


def load_known(folder: Path, builds: Mapping[str, str]) -> tuple[Audited, ...]:
    """Return the findings for these versions of the submissions, sorted by key.

    ``builds``: by key the digest of a submission and its surroundings.
    """
    found = (read(folder, key) for key in sorted(builds))
    return tuple(
        one for one in found if one and one.confirmed and one.build == builds[one.submission]
    )


def case_files(folder: Path, audits: Iterable[Audited]) -> tuple[Path, ...]:
    """Return the case files that show what audits found."""
    return tuple(folder / one.submission / wrong.file for one in audits for wrong in one.wrong)


def _write_state(place: Path, audited: Audited) -> None:
    whole_files.write(place / _STATE, canonical_json.dumps(audited) + "\n")
