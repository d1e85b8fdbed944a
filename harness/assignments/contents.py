"""A submitted archive, looked into: its files, compared with what its assignment asks for."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.archives import archive
from harness.assignments import workspace
from harness.assignments.assignment import Assignment, FilePatterns, find
from harness.core.errors import ArchiveError
from harness.core.text import count_rest, plural, some
from harness.reading import shipped

_COPY = re.compile(r"\s*\(\d+\)|[ _-]+(copy|final|new|v?\d+)\b.*", re.IGNORECASE)
_VENV = "pyvenv.cfg"
_LINKS = re.compile(r"(^|/)(\.?v?env|virtualenv)/|(^|/)(bin/python[\d.]*|lib64)$")
_PARTS = ("bin", "lib", "lib64", "include", "share", "Scripts", "Lib", "Include")
MOST = 4  # names in a phrase


def hint(name: str, others: Iterable[str]) -> str:
    """Return in brackets what there is instead of a required file; "" if nothing is.

    ``others``: names of files, those in the folder by their names within it.
    """
    there = [other for other in others if other != name]
    wanted = PurePosixPath(name)
    if near := nearest(name, there):
        place = ", expected in the folder itself" if PurePosixPath(near).name == name else ""
        return f" (there is {near}{place})"
    same = [other for other in there if PurePosixPath(other).suffix == wanted.suffix]
    return f" (found {some(same, MOST)})" if same and wanted.suffix and "*" not in name else ""


def nearest(name: str, others: Iterable[str]) -> str:
    """Return the file that is most like one of this name, "" if none is like it."""
    there = list(others)
    for essence in _ESSENCES:
        wanted = essence(PurePosixPath(name).name)
        if near := [one for one in there if essence(PurePosixPath(one).name) == wanted]:
            return min(near, key=lambda other: (other.count("/"), other))
    return ""


# What names of files have in common that may be meant to be one, the most alike first.
_ESSENCES: tuple[Callable[[str], str], ...] = (
    str.casefold,
    # readme.txt, README.md; Go1.py, Go1 (1).py, Go1.py.txt
    lambda name: _COPY.sub("", name.partition(".")[0]).casefold(),
    lambda name: re.sub(r"\d", "", name.casefold()),  # Go1.py, Go3.py
)


# --- another assignment ------------------------------------------------------------------------


def other_assignment(
    names: Sequence[str], patterns: FilePatterns, others: Iterable[Assignment]
) -> str:
    """Return the phrase that files are another assignment's, "" if that is not so.

    They are if none of the own files with a full name is there, and all of the other's are.
    """
    own_names = _distinctive_names(patterns)
    bare = {PurePosixPath(name).name for name in names}
    if not own_names or own_names & bare:
        return ""
    for other in others:
        theirs = _distinctive_names(other.files) - own_names
        if theirs and theirs <= bare:
            wanted = some(sorted(own_names), MOST)
            found = some(sorted(theirs), MOST)
            return f"this looks like {other.title}: found {found}, expected {wanted}"
    return ""


def _distinctive_names(files: FilePatterns) -> set[str]:
    """Return the required names that tell one assignment from others."""
    return {
        name
        for name in files.required
        if "*" not in name and not name.casefold().startswith("readme")
    }


# --- virtual environments ----------------------------------------------------------------------


def environments(names: Iterable[str]) -> tuple[str, ...]:
    """Return what the names of files in virtual environments begin with.

    One that was made in the folder of the work itself is only the parts that it has.
    """
    there, found = list(names), list[str]()
    for name in there:
        folder, _, last = name.rpartition("/")
        if last == _VENV:
            within = f"{folder}/" if folder else ""
            parts = tuple(f"{within}{part}/" for part in _PARTS)
            inside = [other for other in there if other.startswith(within)]
            if within and all(other.startswith(parts) or other == name for other in inside):
                found.append(within)
            else:
                found += [name, *parts]
    return tuple(found)


# --- The files of a submission, compared with what its assignment asks for: names only -----------


class SortedFiles(NamedTuple):
    """The files of a submission. Those kept go by their names within the folder, the others by
    those in the archive.
    """

    kept: tuple[str, ...]
    left_out: tuple[str, ...]  # what tools leave behind
    forbidden: tuple[str, ...]  # of the course folder, or a copy of one
    extra: tuple[str, ...]  # what the assignment does not know
    missing: tuple[str, ...]  # required, and not there
    required: tuple[str, ...]  # and there, of those with a full name
    has_log: bool


def matches(name: str, pattern: str) -> bool:
    """Whether a file's name within the folder, such as ``boards/a.txt``, is meant by a pattern.

    A pattern that ends in ``/`` means a folder of that name, wherever it lies, with all in it;
    one with another ``/`` the whole name; any other the last part of it. ``*`` means any
    characters; capitals and small letters differ.
    """
    path = PurePosixPath(name)
    if pattern.endswith("/"):
        return any(fnmatchcase(part, pattern[:-1]) for part in path.parts[:-1])
    return fnmatchcase(name if "/" in pattern else path.name, pattern)


def sort_files(names: Iterable[str], root: str, files: FilePatterns) -> SortedFiles:
    """Sort files by what the assignment says of them.

    ``names``: of files, with ``/``. ``root``: what those in the folder begin with, or "".
    """
    heaps: dict[str, list[str]] = {"kept": [], "left_out": [], "forbidden": [], "extra": []}
    there = sorted(names)
    folders = environments(there)
    for name in there:
        is_tools = name.startswith(folders) or matches(name, "site-packages/")
        kind = "left_out" if is_tools else _kind(name, root, files)
        heaps[kind].append(name.removeprefix(root) if kind == "kept" else name)
    kept = heaps["kept"]
    return SortedFiles(
        **{kind: tuple(heap) for kind, heap in heaps.items()},
        missing=missing_of(kept, files),
        required=tuple(name for name in files.required if name in kept),
        has_log=files.log in kept,
    )


def missing_of(names: Sequence[str], files: FilePatterns) -> tuple[str, ...]:
    """Return the required patterns that no file has.

    A name in full must lie in the folder itself: where else would ``{folder}/Go1.py`` be?
    """
    return tuple(
        pattern
        for pattern in files.required
        if not any(
            matches(name, pattern) and (name == pattern or not set("*?[").isdisjoint(pattern))
            for name in names
        )
    )


def _kind(name: str, root: str, files: FilePatterns) -> str:
    def is_one(patterns: Iterable[str]) -> bool:
        return any(matches(name.removeprefix(root), pattern) for pattern in patterns)

    if is_one(files.left_out):
        return "left_out"
    if is_one(files.forbidden):
        return "forbidden"
    wanted = (*files.required, *files.allowed, files.log)
    return "kept" if name.startswith(root) and is_one(wanted) else "extra"


def faults(files: SortedFiles, assignment: Assignment) -> list[str]:
    """Return what is wrong with the contents, a phrase for each; none when nothing is."""
    there = [name for name in (*files.kept, *files.extra) if name not in files.required]
    missing = [f"{name} is missing{hint(name, there)}" for name in files.missing]
    return [*missing, *_foreign(files, assignment)]


def _foreign(files: SortedFiles, assignment: Assignment) -> list[str]:
    """Return the phrase that the files are those of another assignment, if they are."""
    if not files.missing:
        return []
    others = (find(name) for name in shipped.names() if name != assignment.key)
    phrase = other_assignment((*files.kept, *files.extra), assignment.files, others)
    return [phrase] if phrase else []


def describe_empty(files: SortedFiles, assignment: Assignment) -> str:
    """Return the sentence, without its end, that no file of the assignment is there."""
    there = some([*files.extra, *files.left_out, *files.forbidden], MOST)
    wanted = ", ".join(assignment.files.required)
    what = f"expected {wanted} in {assignment.archive.folder}, found {there or 'no file'}"
    return "; ".join(
        [f"it contains none of the assignment's files ({what})", *_foreign(files, assignment)]
    )


def likeness(name: str) -> str:
    """Return what two names have in common that are meant to be one: readme.txt, README.md."""
    return name.rpartition("/")[2].partition(".")[0].casefold()


def remarks(files: SortedFiles, overlay: str) -> list[str]:
    """Return sentences about files that are not taken along."""
    heaps = (
        ("left out, made by tools", files.left_out),
        (f"ignored: the course's {overlay} is used instead", files.forbidden),
        ("left out, no part of this assignment", files.extra),
    )
    return [f"{what}: {_some(names)}" for what, names in heaps if names]


def describe_changed_copy(names: Iterable[str]) -> str:
    """Return the sentence about a copy of the course's folder that is not as it was."""
    return f"your copy is changed, and not used: {_some(tuple(names))}"


def _some(names: tuple[str, ...], most: int = 6) -> str:
    rest = len(names) - most
    shown = ", ".join(names[:most])
    return shown + count_rest(rest, f" and {{}} more {plural(rest, 'file')}")


# --- An archive that was submitted, looked into with its assignment's eyes -----------------------
# Before the deadline (``check``) and after it (``grade``) the same is found and said.


class FolderLocation(NamedTuple):
    """The place of a submission's one folder in an archive, with a note about it."""

    root: str  # what the names of its files begin with: "", or ends in a slash
    remark: str  # a sentence when it is not where it should be


def locate_folder(names: Collection[str], folder: str) -> FolderLocation:
    """Return where the folder that should be called ``folder`` is among files' names.

    One folder around it is allowed, another name of it too, and even none; each is said.
    """
    root = f"{folder}/"
    if own := [name for name in names if name.startswith(root)]:
        # The folder is the one of the same name in it, if that has all its files.
        while all(name.startswith(f"{root}{folder}/") for name in own):
            root += f"{folder}/"
        remark = f"The folder {folder} is wrapped in another of the same name: one is expected."
        return FolderLocation(root, remark if root != f"{folder}/" else "")
    tops = {name.partition("/")[0] for name in names}
    top = tops.pop() if len(tops) == 1 else ""
    if not top or not all("/" in name for name in names):
        return FolderLocation("", f"The files are not in a folder {folder}, as they should be.")
    if any(name.startswith(f"{top}/{folder}/") for name in names):
        remark = f"The folder {folder} is wrapped in another, {top!r}: one is allowed."
        return FolderLocation(f"{top}/{folder}/", remark)
    return FolderLocation(
        f"{top}/", f"The folder is called {top!r}, it should be called {folder}."
    )


class InspectedArchive(NamedTuple):
    """Its contents."""

    contents: archive.Contents
    root: str  # what the names of the submission's own files begin with
    found: SortedFiles
    remarks: tuple[str, ...]  # sentences about the archive and its folder

    @property
    def sizes(self) -> dict[str, int]:
        """Return the bytes of the files that are kept, by name."""
        sizes = {file.name: file.size for file in self.contents.files}
        return {name: sizes[self.root + name] for name in self.found.kept}


def inspect_archive(path: str, assignment: Assignment, name: str = "") -> InspectedArchive:
    """Examine an archive and sort its files by what the assignment says of them.

    ``name``: as of :func:`harness.archives.archive.examine`; raises as that does.
    """
    try:
        contents = archive.examine(path, name=name)
    except ArchiveError as error:
        message = error.message
        if _LINKS.search(error.member):  # its programs are links, which no archive may have
            message += "; it belongs to a virtual environment: hand in without that"
        raise ArchiveError(message, error.member) from None
    names = [file.name for file in contents.files]
    # Junk does not decide where the folder is.
    junk = set(sort_files(names, "", assignment.files).left_out)
    seen = [one for one in names if one not in junk]
    folder = locate_folder(seen or names, assignment.archive.folder)
    found = sort_files(names, folder.root, assignment.files)
    remarks = (*contents.remarks, *filter(None, [folder.remark]))
    return InspectedArchive(contents, folder.root, found, remarks)


def describe_changes(path: str, files: SortedFiles, name: str, overlay: Path) -> list[str]:
    """Return the sentence that the course's folder came along in an archive, and was changed.

    ``name``: that the folder has. ``overlay``: the course's own. None if all is as it was.
    """
    if not files.forbidden:
        return []
    with workspace.workspace() as room:
        workspace.unpack_copy(path, room / "copy", files.forbidden, name)
        changed = workspace.list_differences(room / "copy", overlay)
    return [describe_changed_copy(changed)] if changed else []
