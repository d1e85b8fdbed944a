"""A folder with an archive or a folder for each student, named after the student.

A student's folder has archives, or the unpacked submission itself; it comes before the
archives, in case none of them can be read. Of several archives the one last changed
counts as the last. File times are not used otherwise: copying files, or fetching them from a
repository, often changes them, so they are not evidence of lateness.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.grading.records import Student, SubmittedFile
from harness.grading.taking_in.sources.listing import children, head, own_files
from harness.grading.taking_in.sources.pieces import SourcePiece, version
from harness.intake import archive_streams

_SUFFIXES = (
    *(".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tar"),
    *(".zip", ".gz", ".rar", ".7z"),
)
_DOCUMENTS = (
    *(".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".pages", ".numbers", ".key", ".epub"),
    *(".jar", ".whl", ".npz"),
)
_SHEETS = (".csv",)  # beside the submissions these are the teacher's


def pieces(paths: list[Path]) -> Iterator[SourcePiece]:
    """Yield the submissions."""
    for path in paths:
        if path.is_dir():
            yield from _of_folder(path)
        elif path.suffix.lower() not in _SHEETS:
            student = Student(_stem(path.name), _stem(path.name))
            yield SourcePiece(student, SubmittedFile(path, path.name), _order(path))


def _of_folder(folder: Path) -> Iterator[SourcePiece]:
    student = Student(folder.name, folder.name)
    yield SourcePiece(student)
    archives = [path for path in own_files(folder) if _is_archive(path)]
    if len(children(folder)) > len(archives):
        yield SourcePiece(student, SubmittedFile(folder, folder.name), (0,))
    for path in archives:
        yield SourcePiece(student, SubmittedFile(path, path.name), _order(path))


def _is_archive(path: Path) -> bool:
    """Whether a file is an archive, or was meant to be one. Documents of many kinds are zips."""
    named = path.name.lower().endswith(_SUFFIXES)
    return named or (
        path.suffix.lower() not in _DOCUMENTS and bool(archive_streams.kind(head(path)))
    )


def _order(path: Path) -> tuple[object, ...]:
    return (path.lstat().st_mtime_ns, version(path.name))


def _stem(name: str) -> str:
    suffix = next((end for end in _SUFFIXES if name.lower().endswith(end)), Path(name).suffix)
    return name[: len(name) - len(suffix)] or name
