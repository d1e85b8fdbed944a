"""What a form sends as a file: an archive as it is, or the files of a folder, packed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from starlette.datastructures import UploadFile

from harness.errors import UsageError
from harness.service.handing_in import packing
from harness.service.web.here import Here

_PIECE = 1 << 20


class Sent(NamedTuple):
    """An archive that was sent; its file is gone when the request is answered."""

    path: Path
    name: str  # as its sender calls it
    is_packed: bool = False  # here, of a folder that is called so


@contextmanager
def receive_files(here: Here, folder: str = "") -> Iterator[Sent]:
    """Give the field ``file`` of a form, or its ``files``, packed.

    ``folder``: what a folder is called in the archive; by default as its sender calls it.

    Raises:
        UsageError: there is neither; or both, and nobody knows which is meant.
    """
    with tempfile.NamedTemporaryFile(dir=here.service.settings.data, prefix=".upload-") as copy:
        file, loose = here.form.get("file"), list(_loose(here))
        if isinstance(file, UploadFile) and file.filename:
            if loose:
                raise UsageError("choose an archive or a folder, not both")
            shutil.copyfileobj(file.file, copy, _PIECE)
            found = Sent(Path(copy.name), file.filename)
        else:
            if not loose:
                raise UsageError("choose an archive or a folder first")
            own = next(iter(PurePosixPath(loose[0].path.replace("\\", "/")).parts), "")
            packing.pack(loose, folder or own, copy)
            found = Sent(Path(copy.name), folder or own, is_packed=True)
        copy.flush()
        yield found


def _loose(here: Here) -> Iterator[packing.Loose]:
    for one in here.form.getlist("files"):
        if isinstance(one, UploadFile) and one.filename:
            yield packing.Loose(one.filename, one.file, one.size or 0)
