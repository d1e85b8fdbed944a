"""Files that a browser saves and never shows, sent piece by piece: they may be large."""

from __future__ import annotations

from pathlib import Path

from fastapi.responses import FileResponse

_BYTES = "application/octet-stream"


def send_attachment(name: str, path: Path) -> FileResponse:
    """Return a file as an attachment. ``name``: of our own choice."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return FileResponse(path, media_type=_BYTES, headers=headers)
