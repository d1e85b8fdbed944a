"""Forms: files and folders that are sent, the second question before a removal."""

import gzip
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from fastapi.responses import Response
from starlette.datastructures import UploadFile

from harness.core.errors import UsageError
from harness.service.courses.roster_files import show_name
from harness.service.web import rendering
from harness.service.web.access import FORM_TOKEN, Context

_PIECE = 1 << 20


class SentArchive(NamedTuple):
    """An archive that was sent; its file is gone when the request is answered."""

    path: Path
    name: str  # as its sender calls it
    is_packed: bool = False  # here, of a folder that is called so


@contextmanager
def receive_files(
    context: Context, folder: str = "", expected: str = "an archive or a folder"
) -> Iterator[SentArchive]:
    """Give the field ``file`` of a form, or its ``files``, packed.

    ``folder``: what a folder is called in the archive; by default as its sender calls it.
    ``expected``: what is to be chosen.

    Raises:
        UsageError: there is neither; or both, and nobody knows which is meant.
    """
    with tempfile.NamedTemporaryFile(dir=context.settings.data, prefix=".upload-") as copy:
        files = [one for one in context.form.getlist("files") if isinstance(one, UploadFile)]
        loose = [one for one in files if one.filename]
        file = context.form.get("file")
        if isinstance(file, UploadFile) and file.filename:
            if loose:
                raise UsageError("choose an archive or a folder, not both")
            shutil.copyfileobj(file.file, copy, _PIECE)
            found = SentArchive(Path(copy.name), file.filename)
        else:
            if not loose:
                raise UsageError(f"choose {expected} first")
            own = next(iter(_path_of(loose[0]).parts), "")
            pack(loose, folder or own, copy)
            found = SentArchive(Path(copy.name), folder or own, is_packed=True)
        copy.flush()
        yield found


def read_upload(context: Context, largest: int) -> tuple[str, bytes] | None:
    """Return the name and the bytes of a small file in a form, or None if there is none.

    The name is without folders. Raises UsageError if the file is too large.
    """
    file = context.form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return None
    name, size = show_name(file.filename), file.size or 0
    if size > largest:
        raise UsageError(f"{name}: found {size:,} bytes, expected at most {largest:,}")
    return name, file.file.read()


# --- The files of a folder as the archive that an assignment wants -------------------------------
# What is packed goes the way of every archive: it is taken in as if its owner had packed it.

MOST = 2000  # files
_LONGEST = 200  # characters of a path
_LEFT_BEHIND = ("__pycache__", "__MACOSX")  # by tools, besides what begins with a dot


def _path_of(file: UploadFile) -> PurePosixPath:
    """Return the path of a file in a folder as a browser names it: with the folder or without."""
    return PurePosixPath((file.filename or "").replace("\\", "/"))


def pack(files: Iterable[UploadFile], folder: str, target: IO[bytes]) -> None:
    """Write a .tgz with the files in a single folder; the same files give the same bytes.

    What systems and tools leave behind is not packed. A folder that all files are in is the
    submission's own: its name does not matter.

    Raises:
        UsageError: there is nothing to be packed, or a name that is not one.
    """
    kept: dict[PurePosixPath, UploadFile] = {}
    for one in files:
        path, name = _path_of(one), one.filename or ""
        if not path.parts or path.is_absolute() or ".." in path.parts or len(name) > _LONGEST:
            found = repr(name[:_LONGEST])
            raise UsageError(f"found {found}, expected the name of a file in a folder")
        if not any(part.startswith(".") or part in _LEFT_BEHIND for part in path.parts):
            kept[path] = one
    if not kept:
        raise UsageError("your upload has no files: choose an archive, or a folder")
    tops = {path.parts[0] for path in kept if len(path.parts) > 1}
    is_within = len(tops) == 1 and all(len(path.parts) > 1 for path in kept)
    with (
        gzip.GzipFile("", "wb", fileobj=target, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path in sorted(kept):
            inside = PurePosixPath(*path.parts[1:]) if is_within else path
            member = tarfile.TarInfo(f"{folder}/{inside}")
            member.size = kept[path].size or 0
            tar.addfile(member, kept[path].file)


# --- Ask once more before something is removed or withdrawn: a page with a button, without script

_SURE = "sure"


def is_sure(context: Context) -> bool:
    """Whether a form says that this is wanted: by a tick, or by the page of a question."""
    return context.field(_SURE) == "yes"


def ask_again(
    context: Context, question: str, back: str, *names: str, words: str = ""
) -> Response:
    """Return the page of a question; its button sends the form once more, with a yes.

    ``question``: its name in ``question.html``; ``back``: the address of the page where the first
    button is; ``names``: of what it is about; ``words``: those of that.
    """
    sent = [
        (name, value)
        for name, value in context.form.multi_items()
        if isinstance(value, str) and name not in (FORM_TOKEN, _SURE)
    ]
    told: dict[str, Any] = {"question": question, "names": names, "words": words, "back": back}
    return rendering.page(context, "question.html", **told, sent=sent, yes=_SURE)
