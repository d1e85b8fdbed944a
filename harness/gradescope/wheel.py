"""The wheel of this very installation, made without a network and without a build tool.

A wheel is a zip of the packages beside a ``.dist-info`` folder. Source: "Binary distribution
format" of the Python Packaging User Guide.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import oracle
from harness import shipped
from harness.errors import UsageError

_NAME = "gtp-harness"
_TAGS = "Wheel-Version: 1.0\nGenerator: gtp-harness\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_LICENSE = "licenses/LICENSE"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same files make the same bytes

Member = tuple[str, bytes]  # a name in a zip, and the content


def wheel() -> Member:
    """Return the name of the wheel and its bytes.

    Raises:
        UsageError: gtp-harness runs from a folder into which it was not installed.
    """
    try:
        found = distribution(_NAME)
    except PackageNotFoundError:
        raise UsageError(
            "the wheel is made from the installed package, but gtp-harness is not installed:"
            " pip install it first"
        ) from None
    stem = f"{_NAME.replace('-', '_')}-{oracle.__version__}"
    members = [*_packages(), *_about(found, f"{stem}.dist-info")]
    record = f"{stem}.dist-info/RECORD"
    return f"{stem}-py3-none-any.whl", zip_members([*members, (record, _record(members, record))])


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder by their names in it, without hidden and compiled ones."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_left = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not is_left:
            yield "/".join(parts), path


def zip_members(members: Iterable[Member], executable: frozenset[str] = frozenset()) -> bytes:
    """Return a zip of the members; those named in ``executable`` may be executed."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, _LONG_AGO)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(info, content)
    return written.getvalue()


def _packages() -> Iterator[Member]:
    """Yield both packages and the cases that ship, which a wheel has within ``harness``."""
    packages = [Path(oracle.__file__).parent, Path(shipped.__file__).parent]
    cases = shipped.folder()
    for folder in packages:
        for name, path in files(folder):
            if not path.is_relative_to(cases):
                yield f"{folder.name}/{name}", path.read_bytes()
    for name, path in files(cases):
        if "private" not in Path(name).parts:  # a teacher's own, beside those that ship
            yield f"harness/cases/{name}", path.read_bytes()


def _about(found: Distribution, folder: str) -> Iterator[Member]:
    for name in ("METADATA", "entry_points.txt", _LICENSE):
        text = found.read_text(name)
        if text is not None:
            yield f"{folder}/{name}", text.encode()
    yield f"{folder}/WHEEL", _TAGS.encode()


def _record(members: Iterable[Member], own: str) -> bytes:
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in members]
    return "".join(f"{line}\n" for line in [*lines, f"{own},,"]).encode()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
