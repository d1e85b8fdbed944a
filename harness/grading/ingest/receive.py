"""Choose the file of a student that is graded: the last submission that can be read.

Archives are inspected by the code of ``check``, so reports are the same before and after the
deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from harness.archives import archive
from harness.archives.archive import place
from harness.archives.archive_writing import TooManyFilesError, files_in
from harness.assignments import receipt
from harness.assignments.assignment import Assignment
from harness.assignments.contents import (
    describe_changed_copy,
    describe_empty,
    faults,
    foreign,
    likeness,
    remarks,
)
from harness.assignments.workspace import InspectedArchive, changes, inspect_archive
from harness.errors import ArchiveError, ReadingFailedError
from harness.escaping import escape_controls, one_line
from harness.grading.ingest import log_evidence
from harness.grading.ingest.log_evidence import LONGEST
from harness.grading.ledger.places import Store
from harness.grading.records import CheckLog, StudentSubmissions, Submission, SubmittedFile


def receive(
    entry: StudentSubmissions, assignment: Assignment, store: Store, overlay: Path | None = None
) -> Submission:
    """Return what of an entry is graded, its bytes kept in the store.

    The last archive that can be read and has a file of the assignment counts. If there is none,
    the submission is refused, with the reason for the last. If the harness fails to read one, the
    submission is ``unread``: nobody knows whether that one counts.

    ``overlay``: the course folder, to tell whether a copy of it was changed.

    Raises:
        UsageError: a file cannot be read at all, or the store not be written.
    """
    own = Submission(entry.key, entry.students)
    if not entry.handed:
        return own._replace(refused="Nothing was submitted.")
    refusals: list[str] = []
    for index, handed in reversed(list(enumerate(entry.handed))):
        named = own._replace(name=handed.name, time=handed.time, late=handed.late)
        try:
            found = _receive_one(named, handed, assignment, store, overlay)
        except ArchiveError as error:
            what = "folder" if handed.path.is_dir() else "file"
            refusals.append(f"The {what} {_format_name(handed)} is refused: {error}.")
            continue
        except ReadingFailedError as error:  # an earlier one must not count in its place
            return named._replace(unread=str(error))
        said = (*refusals, *_earlier(entry.handed[:index], store), *found.remarks)
        return found._replace(remarks=said)
    last = entry.handed[-1]
    return own._replace(
        name=last.name, time=last.time, late=last.late,
        refused=refusals[0], remarks=tuple(refusals[1:]),
    )  # fmt: skip


def _format_name(handed: SubmittedFile) -> str:
    return one_line(handed.name, 200)


def _earlier(handed: Sequence[SubmittedFile], store: Store) -> list[str]:
    """Return a sentence about the files that were submitted before, which are kept too."""
    files = [one for one in handed if not one.path.is_dir()]
    for one in files:
        with suppress(ArchiveError):  # too large to be kept, and not used
            store.keep(one.path)
    names = ", ".join(dict.fromkeys(map(_format_name, files)))
    return [f"Submitted earlier, and not used: {names}."] if names else []


def _receive_one(
    own: Submission,
    handed: SubmittedFile,
    assignment: Assignment,
    store: Store,
    overlay: Path | None,
) -> Submission:
    """Return a submission from one archive or folder; raises ArchiveError if it is refused."""
    name, odd = handed.name, ""
    if handed.path.is_dir():
        sha256, odd = _folder(handed.path, assignment, store)
        name = "folder.tar"  # as it is packed, nobody called it otherwise
    else:
        sha256 = store.keep(handed.path)
    path = str(store.path(sha256))
    inside = inspect_archive(path, assignment, name)
    if not set(inside.found.kept) - {assignment.files.log}:
        raise ArchiveError(describe_empty(inside.found, assignment))
    return own._replace(
        sha256=sha256,
        root=inside.root,
        kept=inside.found.kept,
        forbidden=inside.found.forbidden,
        faults=(*faults(inside.found), *foreign(inside.found, assignment)),
        remarks=tuple(
            map(escape_controls, filter(None, [odd, *_remarks(inside, assignment, path, overlay)]))
        ),
        log=_log(inside, assignment, path),
    )


def _folder(folder: Path, assignment: Assignment, store: Store) -> tuple[str, str]:
    """Keep a student's folder; return its SHA-256, and a sentence about what is not a file.

    The folder is the student's own, or has the assignment's folder in it; what it is called is
    the source's business.
    """
    try:
        names, odd = files_in(folder)
    except TooManyFilesError as error:
        raise ArchiveError(f"it has far too many files ({error})") from None
    form = assignment.archive.folder
    within = "" if place(names, form).root else f"{form}/"
    sha256 = store.keep_folder(folder, {name: within + name for name in names})
    return sha256, f"left out, links and the like: {', '.join(odd)}" if odd else ""


def _remarks(
    inside: InspectedArchive, assignment: Assignment, path: str, overlay: Path | None
) -> Iterable[str]:
    name = assignment.engine.overlay
    yield from inside.remarks
    yield from remarks(inside.found, name)
    if overlay and (changed := changes(path, inside.found, name, overlay)):
        yield describe_changed_copy(changed)


# --- the log -----------------------------------------------------------------------------------


def _log(inside: InspectedArchive, assignment: Assignment, path: str) -> CheckLog:
    """Return what the log in an archive shows, read with the digests of the files beside it."""
    name = assignment.files.log
    if not name:
        return CheckLog()
    if not inside.found.has_log:
        others = (*inside.found.kept, *inside.found.extra)
        return log_evidence.absent(
            name, [one for one in others if likeness(one) == likeness(name)]
        )
    wanted = {inside.root + kept: kept for kept in inside.found.kept}
    digests: dict[str, str] = {}
    data = b""
    for file in archive.files(path):
        kept = wanted.get(file.name)
        if kept == name:
            data = _both_ends(file.content)
        elif kept is not None:
            digests[kept] = receipt.digest(file.content)
    return log_evidence.of_log(name, data, receipt.make_receipt(assignment, digests))


def _both_ends(pieces: Iterable[bytes]) -> bytes:
    """Return all bytes, or of very many the first and the last."""
    half = LONGEST // 2
    first, last = b"", b""
    for piece in pieces:
        room = half - len(first)
        first += piece[:room]
        last = (last + piece[room:])[-half:]
    return first + last
