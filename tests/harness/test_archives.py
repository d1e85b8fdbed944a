"""Tests pack archives that do not depend on the clock: the same files are the same bytes."""

import re
import time
import zipfile

import pytest

from tests.documents import ROOT
from tests.harness import archives, small_class
from tests.harness.hostile_archives import python_tar

FILES = [("a/b.txt", b"x" * 100)]
MADE = [
    lambda: archives.make_zip(FILES, zipfile.ZIP_DEFLATED),
    lambda: archives.gzip_bytes(b"x"),
    lambda: python_tar(FILES),
    lambda: small_class.submission("return 2 * n"),
]
# What puts the time of its making into an archive.
_WITH_TIME = re.compile(r"\.writestr\(|\"w:gz\"|gzip\.compress\((?!.*mtime=)")
_OWN = {
    "archives.py", "test_archives.py", "hostile_archives.py", "test_receive.py",
    "test_status_last_class.py", "test_declared_class.py",
    "test_at_home.py",  # of files, which have times anyway
}  # fmt: skip


@pytest.mark.parametrize("make", MADE)
def test_an_archive_is_the_same_bytes_an_hour_later(make, monkeypatch):
    first, later = make(), time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(later))
    assert make() == first


def test_no_test_packs_the_time_into_an_archive():
    """Else it fails once in a while: when a second ends between two of them."""
    found = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        if _WITH_TIME.search(path.read_text(encoding="utf-8"))
    ]
    assert set(found) <= _OWN, sorted(set(found) - _OWN)
