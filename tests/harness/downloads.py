"""Downloads as Canvas and Moodle make them, by their own rules written down once more.

Source: Canvas LMS, ``lib/content_zipper.rb``; Moodle, ``mod/assign/classes/downloader.php`` and
``clean_param(…, PARAM_FILE)`` in ``lib/moodlelib.php``.
"""

import re
import unicodedata
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tests.harness.archives import write_zip


def canvas_name(
    sortable: str, user: int, attachment: int, file: str, late: bool = False, anonymous: str = ""
) -> str:
    name = re.sub(r"_(\d+)_", r"\1", sortable).lower()
    parts = [] if anonymous else [name]
    parts += ["LATE"] * late + [f"anon_{anonymous}" if anonymous else str(user)]
    kept = "".join(c for c in "_".join(parts) if unicodedata.category(c)[0] in "LMN" or c == "_")
    return f"{kept}_{attachment}_" + re.sub(r'[\x00/\\:*?"<>|]+', "_", file)


def moodle_prefix(full_name: str, number: int) -> str:
    return _clean(f"{full_name.replace('_', ' ')}_{number}")


def moodle_folder(full_name: str, number: int, old: bool = False) -> str:
    return f"{moodle_prefix(full_name, number)}_assignsubmission_file" + "_" * old


def moodle_flat(full_name: str, number: int, file: str) -> str:
    return _clean(f"{moodle_prefix(full_name, number)}_assignsubmission_file_{file}")


def _clean(name: str) -> str:
    return re.sub(r"\.\.+", "", re.sub(r'[\x00-\x1f\x7f&<>"`|\':\\/]', "", name))


def write(folder: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zip_files(path: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    write_zip(path, files, zipfile.ZIP_DEFLATED)
    return path
