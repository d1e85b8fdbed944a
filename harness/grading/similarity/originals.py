"""The programs of a class as they were submitted, read for the similarity check."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.errors import ArchiveError, UsageError
from harness.grading.ledger.store import Store
from harness.grading.records import Submission, Twins
from harness.grading.similarity.twins import is_program, twins
from harness.intake import archive

_LARGEST = 1 << 20  # bytes of a file; nobody writes more of a program


def same(
    submissions: Iterable[Submission], store: Store, overlay: Path | None
) -> tuple[Twins, ...]:
    """Return the submissions that are the same but for blanks and comments.

    ``overlay``: the course's own folder, whose files are nobody's.
    """
    found = {one.key: _files(one, store) for one in submissions if one.sha256}
    return twins(found, [_folder(overlay)] if overlay else [])


def _files(submission: Submission, store: Store) -> dict[str, bytes]:
    """Return the files of a program that are graded; none if the original is gone."""
    wanted = {submission.root + name: name for name in submission.kept if is_program(name)}
    try:
        return {
            wanted[member.name]: b"".join(member.content)
            for member in archive.files(str(store.path(submission.sha256)))
            if member.name in wanted and member.size <= _LARGEST
        }
    except (ArchiveError, UsageError):
        return {}


def _folder(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and is_program(path.name)
    }
