"""Files of a teacher's: an assignment of one's own, and the folder that submissions get beside.

They are unpacked beside what an assignment of a course has on the server. An assignment of one's
own may have a reference engine and build steps, which run in a sandbox; what would run outside of
one is refused, for a teacher of one course does not run the service.

A newer upload takes the place of a former one. Both stay on the server, so that it can be said
what has changed, and a grading can be ended with the one that it was begun with.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from harness.archives import archive
from harness.assignments import assignment as assignments
from harness.assignments import needs
from harness.assignments.assignment import FILE, Assignment
from harness.core import file_system
from harness.core.errors import ArchiveError, HarnessError, UsageError
from harness.core.text import begin_sentence
from harness.declared import declaration
from harness.grading.attempts import attempt_plan
from harness.grading.ingest.students import safe
from harness.grading.records import decimal
from harness.service.courses import making
from harness.service.records import CHECK, HELD, CourseAssignment, Job
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import AuditedTransaction

OWN = "uploaded"  # the source of an assignment whose files are on the server
_SOURCE, _OVERLAY = "source", "overlay"
# What students read of a submission that cannot be checked for a reason which is not theirs.
PREPARING = (
    "Your teacher is still preparing this assignment. Your submission is kept and will be checked."
)


class NotSetUpError(UsageError):
    """An assignment lacks something without which no submission can be checked."""


def assignment_of(settings: Settings, assignment: CourseAssignment) -> Assignment:
    """Return what an assignment of a course is made of: what ships, or what was uploaded.

    Raises:
        UsageError: it was uploaded, and removed.
    """
    if assignment.source != OWN:
        return assignments.find(assignment.source)
    return assignments.read(_document(settings, assignment))


def list_private(settings: Settings, assignment: CourseAssignment) -> list[Path]:
    """Return the private case files of an upload, or []; raises as :func:`assignment_of`."""
    return assignment_of(settings, assignment).private_cases() if assignment.source == OWN else []


def _document(settings: Settings, assignment: CourseAssignment) -> Path:
    found = next(_folder(settings, assignment).glob(f"*/{FILE}"), None)
    if found is None:  # after the request had come that asks for it
        raise UsageError(making.REMOVED)
    return found


def _folder(settings: Settings, assignment: CourseAssignment) -> Path:
    """Return the folder of an upload of an assignment, which has nothing else in it."""
    name = f"{_SOURCE}-{assignment.edition}" if assignment.edition else _SOURCE
    return settings.assignment_folder(assignment.id) / name


@contextmanager
def unpack(
    settings: Settings, path: Path, name: str, complete: Callable[[Path], None] | None = None
) -> Iterator[tuple[Path, Assignment]]:
    """Give the folder of an assignment that was sent as an archive called ``name``, read.

    :func:`keep` moves the folder to where it belongs; else it is gone afterwards. ``complete``:
    adds to the folder what its sender does not send; may raise UsageError.

    Raises:
        UsageError: it is not an archive, has no assignment, or one that is wrong, has a wrong case
            file or would run something outside a sandbox.
    """
    with tempfile.TemporaryDirectory(dir=settings.data, prefix=".source-") as room:
        place = Path(room, safe(name.partition(".")[0]))
        _unpack(path, place)
        if complete:
            complete(place)
        if not (place / FILE).exists():
            raise UsageError(f"there is no {FILE} at the top of what you sent")
        try:
            found = assignments.read(place / FILE)
            # Else no submission could be checked later.
            attempt_plan.read_cases(found, ())
        except HarnessError as error:
            raise UsageError(str(error).replace(f"{place}/", "")) from None
        told = found.declaration and found.declaration.reference
        wrong = {
            f"{declaration.FILE} would run": (found.place / declaration.FILE).exists(),
            "its reference would run": bool(told and told.sandbox == "off"),
            "packages would be installed": bool(found.engine.packages),
        }
        for what in (what for what, is_so in wrong.items() if is_so):
            raise UsageError(f"{what} outside a sandbox: ask the service's operator to ship it")
        yield place, found


def make(
    act: AuditedTransaction,
    course_assignment: CourseAssignment,
    place: Path,
    assignment: Assignment,
) -> CourseAssignment:
    """Make an assignment of the folder ``place`` that was sent, which was read as ``assignment``.

    Raises as :func:`making.assign`.
    """
    made = making.assign(act, course_assignment, assignment)
    keep(act.settings, place, made)
    return made


def keep(settings: Settings, place: Path, assignment: CourseAssignment) -> None:
    """Move the folder of an assignment that was sent to where it belongs."""
    target = _folder(settings, assignment)
    shutil.rmtree(target, ignore_errors=True)  # left by an upload that was interrupted here
    target.mkdir(mode=0o700, parents=True)
    place.rename(target / place.name)


def replace(
    act: AuditedTransaction, assignment: CourseAssignment, place: Path
) -> CourseAssignment:
    """Let the folder of an assignment that was sent take the place of the one before.

    The one before stays where it is; gradings that were begun with it continue with it. Dates,
    points and weights of the course stay. What was submitted is checked again.

    Raises:
        UsageError: the assignment was not uploaded or was removed, nothing in it has changed, or
            a private case file in it is called as one that was added.
    """
    if (now := courses.lock(act.db, assignment.id)) is None:
        raise UsageError(making.REMOVED)
    if now.source != OWN:
        raise UsageError("this assignment was not uploaded: it ships with the service")
    if not (changes := _changes(_document(act.settings, now).parent, place)):
        raise UsageError("nothing in it has changed")
    added = act.settings.private_folder(assignment.id)
    for path in assignments.read(place / FILE).private_cases():
        if (added / path.name).exists():
            raise UsageError(
                f"{path.name} was added to the private case files: remove it there, or give the"
                " one in the upload another name"
            )
    made = now._replace(edition=now.edition + 1)
    keep(act.settings, place, made)
    courses.ASSIGNMENTS.change(act.db, {"edition": made.edition}, id=assignment.id)
    _check_anew(act, made)
    act.note("assignment replaced", assignment.id, edition=made.edition, changes=changes)
    return made


def _check_anew(act: AuditedTransaction, assignment: CourseAssignment) -> None:
    """Let all that was submitted be checked again: other files may be wanted now."""
    for upload in uploads.UPLOADS.all(act.db, assignment=assignment.id, withdrawn=0):
        uploads.UPLOADS.change(act.db, {"record": "", "run": 0}, id=upload.id)
        wanted = Job("", CHECK, assignment.id, upload.id, upload.key, due=assignment.deadline)
        queue.put_anew(act.db, wanted._replace(person=upload.person))


def is_different(settings: Settings, assignment: CourseAssignment, place: Path) -> bool:
    """Return whether the folder ``place`` that was sent differs from the one that holds."""
    return bool(_changes(_document(settings, assignment).parent, place))


def forget_editions(settings: Settings, before: CourseAssignment) -> None:
    """Remove the uploads older than ``before``, of an assignment that has no gradings."""
    for number in range(before.edition):
        shutil.rmtree(_folder(settings, before._replace(edition=number)), ignore_errors=True)


def editions(settings: Settings, assignment: CourseAssignment) -> list[list[str]]:
    """Return what each newer upload of an assignment changed, in sentences, in their order."""
    if assignment.source != OWN:
        return []
    places = [
        _document(settings, assignment._replace(edition=number)).parent
        for number in range(assignment.edition + 1)
    ]
    return [_changes_kept(*pair) for pair in pairwise(places)]


def _changes(old: Path, new: Path) -> list[str]:
    """Return which parts of the marks and which files differ, in sentences."""
    points_before, points = (
        {part.name: part.points for part in assignments.read(place / FILE).marks}
        for place in (old, new)
    )
    gone = points_before.keys() - points.keys()
    told = [f"{name!r} is no longer a part of the marks" for name in gone]
    for name, value in points.items():
        former = points_before.get(name)
        if former is None:
            told.append(f"{name!r} is a new part of the marks, with {decimal(value)} points")
        elif value != former:
            told.append(f"{name!r} gives {decimal(value)} instead of {decimal(former)}")
    before, after = _files(old), _files(new)
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            told.append(f"{name} is new")
        elif name not in after:
            told.append(f"{name} is gone")
        elif before[name] != after[name]:
            told.append(f"{name} has changed")
    return told


_changes_kept = lru_cache(256)(_changes)  # of two uploads that were kept: neither ever changes


def _files(place: Path) -> dict[str, bytes]:
    """Return digests of all files of a folder, by their names from there."""
    return {
        path.relative_to(place).as_posix(): hashlib.sha256(path.read_bytes()).digest()
        for path in place.rglob("*")
        if path.is_file()
    }


def take_overlay(
    act: AuditedTransaction, assignment: CourseAssignment, path: Path, name: str
) -> None:
    """Let a folder that was sent be the one that submissions of an assignment get beside them.

    What was submitted is checked again. ``name``: of its archive.

    Raises:
        UsageError: it is not an archive; or the assignment wants no such folder, or was removed.
    """
    assignment = making.hold(act.db, assignment)
    if not assignment_of(act.settings, assignment).engine.overlay:
        raise UsageError("submissions of this assignment get no folder beside them")
    made = act.settings.assignment_folder(assignment.id)
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made, prefix=".overlay-") as room:
        _unpack(path, Path(room, "new"))
        if has_overlay(act.settings, assignment):
            (made / _OVERLAY).rename(Path(room, "old"))
        Path(room, "new").rename(made / _OVERLAY)
    _check_anew(act, assignment)
    act.note("course's own folder taken", assignment.id, name=name)


def has_overlay(settings: Settings, assignment: CourseAssignment) -> bool:
    """Whether a folder was sent that submissions get beside them."""
    return (settings.assignment_folder(assignment.id) / _OVERLAY).is_dir()


def lacks_overlay(
    settings: Settings, course_assignment: CourseAssignment, assignment: Assignment | None = None
) -> bool:
    """Whether submissions get a folder beside them, and nobody has sent it.

    ``assignment``: what the one of the course is made of, if that was read already.
    """
    own = assignment or assignment_of(settings, course_assignment)
    name = own.engine.overlay
    is_there = has_overlay(settings, course_assignment) or (own.place / name).is_dir()
    return bool(name) and not is_there


def list_missing(settings: Settings, assignment: CourseAssignment) -> list[str]:
    """Return what must be there before a submission can be checked, and is not: a clause each.

    It is never a student's failure. Programs are looked for where engines run: on a cluster the
    other machines say themselves what they lack.
    """
    own = assignment_of(settings, assignment)
    found = []
    if lacks_overlay(settings, assignment, own):
        found.append(f"the course folder {own.engine.overlay} is missing: upload it")
    if programs := [] if settings.scheduler else find_missing_programs(own):
        found.append(f"the server lacks {needs.absent(programs)}: ask the operator of the service")
    return found


def explain_held(
    settings: Settings, assignment: CourseAssignment, jobs: Iterable[Job], *, is_staff: bool
) -> str:
    """Return why a submission is not checked yet, in sentences; "" if nothing is missing for it.

    ``jobs``: of the submission. Students read that it is not their failure; the staff reads what
    is missing.
    """
    is_left = any(job.kind == CHECK and (job.is_unfinished or job.state == HELD) for job in jobs)
    missing = list_missing(settings, assignment) if is_left else []
    if not missing:
        return ""
    if not is_staff:
        return PREPARING
    return f"{begin_sentence('; '.join(missing))}. The submission is kept, and checked then."


def find_missing_programs(assignment: Assignment) -> list[needs.Tool]:
    """Return the programs that an assignment needs and this machine has not."""
    return [tool for tool in needs.of(assignment) if not tool.path]


def require_set_up(settings: Settings, assignment: CourseAssignment) -> None:
    """Raise NotSetUpError if something is missing without which no submission can be checked."""
    if missing := list_missing(settings, assignment):
        raise NotSetUpError("; ".join(missing))


def _unpack(path: Path, place: Path) -> None:
    """Unpack an archive; a single folder in it, with all that it has, is ``place`` itself."""
    place.mkdir()
    try:
        names = [one.name for one in archive.examine(str(path)).files]
        tops = {name.partition("/")[0] for name in names}
        is_within = len(tops) == 1 and all("/" in name for name in names)
        places = {name: name.partition("/")[2] if is_within else name for name in names}
        archive.unpack(str(path), place, places)
        # As root, engines run as somebody else; the folders above keep everybody out.
        file_system.open_all(place)
    except ArchiveError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise UsageError(f"the archive is refused: {error}") from None
