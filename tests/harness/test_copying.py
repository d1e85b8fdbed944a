"""The copy of a folder that an engine may write into."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox import untrusted_folders

SECONDS = 1_000_000_000


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A folder with one of everything."""
    top = tmp_path / "source"
    (top / "inner" / "deep").mkdir(parents=True)
    (top / "inner" / "deep" / "file").write_bytes(b"x" * 100_000)
    (top / "empty").touch()
    (top / "program").write_text("#!/bin/sh\n")
    (top / "program").chmod(0o4755)
    (top / "private").write_text("secret")
    (top / "private").chmod(0o600)
    (top / "shut").mkdir(0o700)
    (top / "shut" / "file").touch()
    (top / "link").symlink_to("/nowhere")
    (top / "inner" / "up").symlink_to("..")
    os.mkfifo(top / "pipe")
    os.utime(top / "program", ns=(5 * SECONDS + 1, 7 * SECONDS + 3))
    return str(top)


def copy_folder(source: str, tmp_path: Path, *rest: object) -> Path:
    target = tmp_path / "target"
    target.mkdir()
    for _ in untrusted_folders.copy(source, str(target), *rest):
        pass
    return target


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


ALL = {"inner", "inner/deep", "inner/deep/file", "inner/up", "empty", "program", "private", "shut"}


def test_all_but_what_is_no_file_no_folder_and_no_link(source: str, tmp_path: Path) -> None:
    target = copy_folder(source, tmp_path)
    assert names(target) == {*ALL, "shut/file", "link"}
    assert (target / "inner/deep/file").read_bytes() == b"x" * 100_000
    found = (target / "program").stat()
    assert (found.st_mode & 0o7777, found.st_mtime_ns) == (0o755, 7 * SECONDS + 3)
    assert os.readlink(target / "link") == "/nowhere"
    assert (target / "private").stat().st_mode & 0o777 == 0o600


def test_what_is_hidden_is_left_out(source: str, tmp_path: Path) -> None:
    target = copy_folder(source, tmp_path, 0, {f"{source}/inner", f"{source}/private"})
    assert names(target) == {"empty", "program", "shut", "shut/file", "link"}


def test_another_user_gets_what_all_may_read(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    monkeypatch.setattr(os, "chown", lambda name, *_, **__: given.append(name))
    monkeypatch.setattr(
        os, "fchown", lambda number, *_: given.append(os.readlink(f"/proc/self/fd/{number}"))
    )
    target = copy_folder(source, tmp_path, 54321)
    assert names(target) == (ALL | {"link"}) - {"private"}  # and not what is in "shut"
    assert {os.path.relpath(target / name, target) for name in given} == names(target)


def test_what_is_shut_to_others_counts_as_well(source: str) -> None:
    before = untrusted_folders.measure(source)
    Path(source, "shut", "more").write_bytes(b"x" * 50_000)
    after = untrusted_folders.measure(source)
    assert before is not None
    assert after is not None
    assert after.files == before.files + 1
    assert after.used >= before.used + 50_000


def test_it_can_be_stopped(source: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    descriptors = os.listdir("/proc/self/fd")
    begun = untrusted_folders.copy(source, str(target))
    next(begun)
    next(begun)
    begun.close()
    assert len(names(target)) <= 1
    assert os.listdir("/proc/self/fd") == descriptors


def test_a_file_that_shrinks_meanwhile_ends_the_copy_of_it(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = os.sendfile
    monkeypatch.setattr(
        os, "sendfile", lambda to, of, at, size: 0 if size < 100_000 else whole(to, of, at, 9)
    )
    assert (copy_folder(source, tmp_path) / "inner/deep/file").read_bytes() == b"x" * 9


def test_a_file_is_nobody_else_s_while_it_is_copied(source, tmp_path, monkeypatch) -> None:
    modes: list[int] = []
    send = os.sendfile

    def note(writing: int, *words: Any) -> int:
        modes.append(stat.S_IMODE(os.fstat(writing).st_mode))
        return send(writing, *words)

    monkeypatch.setattr(os, "sendfile", note)
    target = copy_folder(source, tmp_path)
    assert {*modes} == {0o600}
    assert stat.S_IMODE((target / "program").stat().st_mode) == 0o755


def test_who_gives_a_link_away_gives_nothing_that_it_leads_to(source, monkeypatch) -> None:
    given: list[tuple[Any, Any]] = []

    def note(path: str, *_: int, follow_symlinks: bool = True, dir_fd: int | None = None) -> None:
        given.append((path, follow_symlinks))

    up = f"{source}/inner/up"
    monkeypatch.setattr(os, "chown", note)
    untrusted_folders.give(up, 54321)
    assert given == [(up, False)]
