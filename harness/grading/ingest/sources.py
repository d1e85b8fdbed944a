"""Submissions of a class, from a folder, a download or a CSV file to the one that is graded.

Of each kind it is known here how names are made there. That gives pieces, of which entries are
made. Times, which decide about lateness, come only from a CSV file: a file's own time is that of
the download.
"""

import atexit
import os
import re
import shutil
import stat
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from harness.archives import archive, archive_streams, reading
from harness.archives.archive_streams import MIB, IntakeLimits, Meter, mend_name
from harness.assignments import contents
from harness.assignments.assignment import Assignment
from harness.core.errors import ArchiveError, ReadingFailedError, UsageError
from harness.core.text import escape_controls, one_line
from harness.grading import records
from harness.grading.ingest import csv_source, students
from harness.grading.ingest.log_evidence import read_log
from harness.grading.ledger.places import Store
from harness.grading.records import SourcePiece, Student, StudentSubmissions, SubmittedFile

_ROOM = "gtp-harness-download-"
_TOLD = 20  # names in one sentence
_SHOWN = 200  # characters of a name
# A download of a whole class. It comes from the teacher's own platform; the names and bytes in it
# are the students'.
_DOWNLOAD = IntakeLimits(
    compressed=4096 * MIB, unpacked=8192 * MIB, members=100_000, seconds=1800.0
)
_JUNK = ("__macosx", "thumbs.db", "desktop.ini")
_OF_SYSTEMS = (".DS_Store", "._", ".Spotlight", ".Trash", ".fseventsd", ".directory")
_MOST_FILES = 2_000  # of one student


def read(
    source: Path, groups: Path | None = None, on_remark: Callable[[str], None] = lambda _: None
) -> tuple[StudentSubmissions, ...]:
    """Return what every student or group submitted, sorted by key.

    ``groups``: a CSV of the members of groups. ``on_remark``: is told what is not read.

    Raises:
        UsageError: it does not exist, is not a source of any kind, or a CSV has a mistake.
        ArchiveError: a zip is damaged.
    """
    pieces = read_pieces(source, on_remark=on_remark)
    if groups:
        members = csv_source.read_groups(groups)
        pieces = students.group_pieces(pieces, members)
    found = students.entries(pieces)
    if not found:
        raise UsageError(f"there are no submissions in {source}")
    return found


def read_pieces(
    source: Path, room: Path | None = None, on_remark: Callable[[str], None] = lambda _: None
) -> Iterable[SourcePiece]:
    """Return the pieces of a source, as they are called there; all else as :func:`read`.

    ``room``: an empty folder for what is in a zip; by default one that is gone with the process.
    """
    if not source.exists():
        raise UsageError(f"there is no {source}")
    is_table = source.suffix.lower() == ".csv" and source.is_file()
    if not is_table:
        return _download_pieces(source, room, on_remark)
    return csv_source.pieces(source)


def _download_pieces(
    source: Path, room: Path | None, on_remark: Callable[[str], None]
) -> list[SourcePiece]:
    """Return the pieces of a folder or a zip; parameters as for :func:`read_pieces`."""
    if source.is_dir():
        folder = source
    elif is_zip(source):
        folder = room or _room()
        unzip(source, folder)
    else:
        raise UsageError(f"{source} is neither a folder, nor a zip, nor a CSV file")
    # A student may have wanted a name that begins with a dot: no submission is lost unsaid.
    dotted = (path.name for path in folder.iterdir() if path.name.startswith("."))
    if names := sorted(name for name in dotted if not name.startswith(_OF_SYSTEMS)):
        told = ", ".join(names[:_TOLD]) + (" …" if len(names) > _TOLD else "")
        on_remark(
            f"not read in {source}, because the name begins with a dot: {told}."
            " If it is a submission, rename it"
        )
    paths = children(folder)
    for name, pieces_of in _PLATFORMS:
        found = [(path, name.fullmatch(path.name)) for path in paths]
        if sum(match is not None for _, match in found) * 2 > len(paths):  # most look like that
            named = (piece for path, match in found if match for piece in pieces_of(path, match))
            # What is not called as the platform does is not lost: it is its own student's.
            return [*named, *folder_pieces([path for path, match in found if match is None])]
    return [*folder_pieces(paths)]


def _room() -> Path:
    """Return a new folder, gone when this process ends; those of killed ones go now."""
    for left in Path(tempfile.gettempdir()).glob(f"{_ROOM}*"):
        if not Path("/proc", left.name.removeprefix(_ROOM).partition("-")[0]).exists():
            shutil.rmtree(left, ignore_errors=True)
    owner = os.getpid()
    place = tempfile.mkdtemp(prefix=f"{_ROOM}{owner}-")

    def clear_away() -> None:
        if os.getpid() == owner:  # and not one of its workers
            shutil.rmtree(place, ignore_errors=True)

    atexit.register(clear_away)
    return Path(place)


# --- What lies in a download ---------------------------------------------------------------------


def children(folder: Path) -> list[Path]:
    """Return what people put in a folder, sorted; raises UsageError if it cannot be read."""
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}") from None
    plain = (path for path in found if not path.name.startswith("."))
    return [path for path in plain if path.name.casefold() not in _JUNK]


def own_files(folder: Path, *, below: bool = False) -> list[Path]:
    """Return the regular files of a student's folder, ``below``: and of the folders in it.

    No link counts: it might lead to what another student submitted. Of far too many files some
    are left out.
    """
    found: list[Path] = []
    for path in children(folder):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            found.append(path)
        elif below and stat.S_ISDIR(mode):
            found += own_files(path, below=True)
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def is_zip(path: Path) -> bool:
    """Whether a file is a zip, told by its content."""
    return path.is_file() and _kind_of(path) == archive_streams.ZIP


def _kind_of(path: Path) -> str:
    """Return the kind of archive that a file is; UsageError: it cannot be read."""
    try:
        with path.open("rb") as file:
            return archive_streams.kind(file.read(archive_streams.HEAD))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def unzip(path: Path, room: Path) -> None:
    """Unpack a download into an empty folder.

    Names that no file system should see are mended rather than refused: one student's file name
    must not stand in the way of a class.

    Raises:
        ArchiveError: it is damaged, or far larger than any class.
        UsageError: it cannot be read.
    """
    with path.open("rb") as file:
        meter = Meter(_DOWNLOAD, os.fstat(file.fileno()).st_size)
        taken: set[str] = set()
        for member in reading.read(file, meter).members:
            meter.member()
            if member.is_folder:
                continue
            name = mend_name(member.name)
            # Names that are one to some file system are told apart by tildes.
            while (same := unicodedata.normalize("NFC", name).casefold()) in taken:
                name += "~"
            taken.add(same)
            place = room / name
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as copy:
                    copy.writelines(member.content)
            except OSError as error:
                raise UsageError(f"cannot write {place}: {error.strerror}") from None


# --- Downloads from Canvas and Moodle, and folders with an archive or a folder for each student --


_CANVAS_ID = "canvas"  # the kind of the users' ids, as in the gradebook's column ID
_ANONYMOUS_ID = "canvas-anonymous"
_WHO = r"(?:(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)|(?P<late2>LATE_)?anon_(?P<anon>[^\W_]+))"
_WHAT = r"(?:(?P<attachment>\d+)_(?P<file>.+)|(?P<page>(?:text|link)\.html))"
CANVAS_NAME = re.compile(f"{_WHO}_{_WHAT}", re.DOTALL)


def canvas_pieces(path: Path, match: re.Match[str]) -> Iterator[SourcePiece]:
    """Yield the submission with a file; ``match``: its name, as :data:`CANVAS_NAME` matches it."""
    file = match["file"] or match["page"]
    submitted = SubmittedFile(path, file, late=bool(match["late"] or match["late2"]))
    name, user, number = match["name"], match["user"], match["anon"]
    student = Student(f"{name}_{user}", name or f"user {user}", ((_CANVAS_ID, user),))
    if number:
        student = Student(f"anon_{number}", f"anonymous {number}", ((_ANONYMOUS_ID, number),))
    yield SourcePiece(student, submitted, (int(match["attachment"] or 0), version(file)))


# --- A download from Moodle: a folder for each student, or as it was before Moodle 3.1, none -----
# Source: Moodle, ``mod/assign/classes/downloader.php``: the prefix is ``str_replace('_', ' ',
# $fullname)``, ``_`` and the participant's id, put through ``clean_filename``. "Create a folder
# for each user for each assignment plugin": ``$prefix . '_' . $subtype . '_' . $type`` and below
# it the file's path; or "a single folder for all users": ``$prefix . '_' . $subtype . '_' . $type
# . '_' . $zipfilename``. The folders of versions before 4 end in ``_``. For files the subtype and
# type are ``assignsubmission`` and ``file``. With blind marking the name is ``Participant``. Of a
# team, the prefix is the group's name and its id, or ``Default group`` alone; before version 4,
# the group's name, ``-`` and each member's own prefix.
#
# The id is the one of the grading worksheet's ``Identifier``. A team's name looks like a
# student's: only a file of groups tells them apart. Neither lateness nor times are in the
# download.


_MOODLE_ID = "moodle"
MOODLE_NAME = re.compile(
    r"(?P<name>[^_]*)(?:_(?P<id>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<file>.*))?",
    re.DOTALL,
)


def moodle_pieces(path: Path, match: re.Match[str]) -> Iterator[SourcePiece]:
    """Yield a student's files: of a text typed in there is the student alone.

    ``match``: the name of a file or folder, as :data:`MOODLE_NAME` matches it.
    """
    who, number = match["name"].strip(), match["id"] or ""
    ids = ((_MOODLE_ID, number),) if number else ()
    key = f"{who}_{number}" if number else who
    student = Student(key, who or f"participant {number}", ids)
    yield SourcePiece(student)
    if match["plugin"] != "file":
        return
    for file in own_files(path, below=True) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else match["file"] or path.name
        yield SourcePiece(student, SubmittedFile(file, name), version(name))


# --- A folder with an archive or a folder for each student, named after the student --------------
# A student's folder has archives, or the unpacked submission itself; it comes before the
# archives, in case none of them can be read. Of several archives the one last changed
# counts as the last. File times are not used otherwise: copying files, or fetching them from a
# repository, often changes them, so they are not evidence of lateness.


_SUFFIXES = (
    *(".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tar"),
    *(".zip", ".gz", ".rar", ".7z"),
)
_DOCUMENTS = (
    *(".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".pages", ".numbers", ".key", ".epub"),
    *(".jar", ".whl", ".npz"),
)
_SHEETS = (".csv",)  # beside the submissions these are the teacher's


def folder_pieces(paths: list[Path]) -> Iterator[SourcePiece]:
    """Yield the submissions."""
    for path in paths:
        if path.is_dir():
            student = Student(path.name, path.name)
            yield SourcePiece(student)
            archives = [file for file in own_files(path) if _is_archive(file)]
            if len(children(path)) > len(archives):
                yield SourcePiece(student, SubmittedFile(path, path.name), (0,))
        elif path.suffix.lower() in _SHEETS:
            continue
        else:
            lower = path.name.lower()
            suffix = next((end for end in _SUFFIXES if lower.endswith(end)), path.suffix)
            name = path.name[: len(path.name) - len(suffix)] or path.name
            student, archives = Student(name, name), [path]
        for file in archives:
            order = (file.lstat().st_mtime_ns, version(file.name))
            yield SourcePiece(student, SubmittedFile(file, file.name), order)


def version(name: str) -> tuple[str, int]:
    """Return what sorts files of one student: ``a1.tgz``, ``a1-1.tgz``, ``a1 (2).tgz``.

    Platforms and browsers add a number to tell files of one name apart.
    """
    stem, dot, suffix = name.partition(".")
    found = re.fullmatch(r"(.*?)(?:-(\d{1,9})| ?\((\d{1,9})\))", stem, re.DOTALL)
    if not found:
        return (f"{stem}{dot}{suffix}", 0)
    return (f"{found[1]}{dot}{suffix}", int(found[2] or found[3]))


def _is_archive(path: Path) -> bool:
    """Whether a file is an archive, or was meant to be one. Documents of many kinds are zips."""
    if path.name.lower().endswith(_SUFFIXES):
        return True
    return path.suffix.lower() not in _DOCUMENTS and bool(_kind_of(path))


# The names that a platform gives, and the submission under such a name.
_PLATFORMS = ((CANVAS_NAME, canvas_pieces), (MOODLE_NAME, moodle_pieces))


# --- Choose the file of a student that is graded: the last submission that can be read -----------
# Archives are inspected by the code of ``check``, so reports are the same before and after the
# deadline.


def receive(
    entry: StudentSubmissions, assignment: Assignment, store: Store, overlay: Path | None = None
) -> records.Submission:
    """Return what of an entry is graded, its bytes kept in the store.

    The last archive that can be read and has a file of the assignment counts. If there is none,
    the submission is refused, with the reason for the last. If the harness fails to read one, the
    submission is ``unread``: nobody knows whether that one counts.

    ``overlay``: the course folder, to tell whether a copy of it was changed.

    Raises:
        UsageError: a file cannot be read at all, or the store not be written.
    """
    submission = records.Submission(entry.key, entry.students)
    if not entry.files:
        return submission._replace(refused="Nothing was submitted.")
    refusals: list[str] = []
    course = assignment.engine.overlay
    for index, file in reversed(list(enumerate(entry.files))):
        submission = submission._replace(name=file.name, time=file.time, late=file.late)
        name, odd = file.name, ""
        try:
            if file.path.is_dir():
                sha256, odd = _folder(file.path, assignment, store)
                name = "folder.tar"  # as it is packed, nobody called it otherwise
            else:
                sha256 = store.keep(file.path)
            path = str(store.path(sha256))
            inside = contents.inspect_archive(path, assignment, name)
            if not set(inside.found.kept) - {assignment.files.log}:
                raise ArchiveError(contents.describe_empty(inside.found, assignment))
            faults = contents.faults(inside.found, assignment)
            remarks = [odd, *inside.remarks, *contents.remarks(inside.found, course)]
            if overlay:
                remarks += contents.describe_changes(path, inside.found, course, overlay)
            log = read_log(inside, assignment, path)
        except ArchiveError as error:
            what = "folder" if file.path.is_dir() else "file"
            refusals.append(f"The {what} {one_line(file.name, _SHOWN)} is refused: {error}.")
            continue
        except ReadingFailedError as error:  # an earlier one must not count in its place
            return submission._replace(unread=str(error))
        said = map(escape_controls, filter(None, remarks))
        return submission._replace(
            sha256=sha256,
            root=inside.root,
            kept=inside.found.kept,
            forbidden=inside.found.forbidden,
            faults=tuple(faults),
            remarks=(*refusals, *_earlier(entry.files[:index], store), *said),
            log=log,
        )
    last = entry.files[-1]
    submission = submission._replace(name=last.name, time=last.time, late=last.late)
    return submission._replace(refused=refusals[0], remarks=tuple(refusals[1:]))


def _earlier(files: Sequence[SubmittedFile], store: Store) -> list[str]:
    """Return a sentence about the files that were submitted before, which are kept too."""
    archives = [file for file in files if not file.path.is_dir()]
    for one in archives:
        with suppress(ArchiveError):  # too large to be kept, and not used
            store.keep(one.path)
    names = ", ".join(dict.fromkeys(one_line(one.name, _SHOWN) for one in archives))
    return [f"Submitted earlier, and not used: {names}."] if names else []


def _folder(folder: Path, assignment: Assignment, store: Store) -> tuple[str, str]:
    """Keep a student's folder; return its SHA-256, and a sentence about what is not a file.

    The folder is the student's own, or has the assignment's folder in it; what it is called is
    the source's business.
    """
    try:
        names, odd = archive.files_in(folder)
    except archive.TooManyFilesError as error:
        raise ArchiveError(f"it has far too many files ({error})") from None
    form = assignment.archive.folder
    within = "" if contents.locate_folder(names, form).root else f"{form}/"
    sha256 = store.keep_folder(folder, {name: within + name for name in names})
    return sha256, f"left out, links and the like: {', '.join(odd)}" if odd else ""
