"""Writing a report: beside its place and renamed, whole or not at all."""

from __future__ import annotations

import errno
import os

import pytest

from harness.core.errors import ReportError
from harness.report import report_files
from harness.report.report_files import write, write_bytes

TEXT = "one\ntwo é\n" * 3_000


def test_a_file_that_takes_a_part_at_a_time_is_whole_in_the_end(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:1_000]))
    write(f"{tmp_path}/report", TEXT.splitlines(keepends=True))
    write_bytes(f"{tmp_path}/data", TEXT.encode())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ("report", "data"), TEXT
    )


@pytest.mark.parametrize("lasting", [True, False])
def test_a_disk_that_is_full_leaves_the_last_report(tmp_path, monkeypatch, lasting):
    def take_some(descriptor: int, data: bytes) -> int:
        if len(data) < 2_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data[:500])

    real, place = os.write, tmp_path / "report"
    place.write_text("of yesterday")
    monkeypatch.setattr(os, "write", take_some)
    with pytest.raises(ReportError, match=f"cannot write {place}: No space left on device"):
        write(str(place), [TEXT], lasting=lasting)
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert place.read_text() == "of yesterday"


def test_parts_that_break_off_leave_the_last_report(tmp_path):
    def parts():
        yield "begun\n" * 5_000
        raise KeyboardInterrupt

    place = tmp_path / "report"
    place.write_text("of yesterday")
    with pytest.raises(KeyboardInterrupt):
        write(str(place), parts())
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert place.read_text() == "of yesterday"


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path, is_there):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/report")
    if is_there:
        (tmp_path / "far" / "report").write_text("of yesterday")
    write(f"{tmp_path}/link", ["new\n"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "report").read_text() == "new\n"
    assert os.listdir(tmp_path / "far") == ["report"]


def test_the_mode_of_the_last_report_is_kept(tmp_path):
    place = tmp_path / "report"
    place.write_text("of yesterday")
    place.chmod(0o640)
    write(str(place), ["new\n"])
    assert place.stat().st_mode & 0o777 == 0o640


def test_a_report_is_never_empty_to_whoever_looks(tmp_path, monkeypatch):
    """Its place has the last one until all of the new one is written."""
    place, seen = tmp_path / "report", []
    place.write_text("of yesterday")
    real = report_files.os.write

    def look(descriptor: int, data: bytes) -> int:
        seen.append(place.read_text())
        return real(descriptor, data[:10_000])

    monkeypatch.setattr(os, "write", look)
    write(str(place), [TEXT])
    assert len(seen) > 1
    assert set(seen) == {"of yesterday"}
    assert place.read_text() == TEXT
