"""Folders that a box is given, and machines without one."""

from __future__ import annotations

import os
import stat
from typing import Any

from harness.sandbox import untrusted_folders


def test_a_file_is_nobody_else_s_while_it_is_copied(tmp_path, monkeypatch):
    source, target = tmp_path / "source", tmp_path / "target"
    for folder in (source, target):
        folder.mkdir()
    (source / "a").write_text("x")
    (source / "a").chmod(0o644)
    modes: list[int] = []
    send = os.sendfile

    def note(writing: int, *words: Any) -> int:
        modes.append(stat.S_IMODE(os.fstat(writing).st_mode))
        return send(writing, *words)

    monkeypatch.setattr(untrusted_folders.os, "sendfile", note)
    list(untrusted_folders.copy(str(source), str(target), 0))
    assert modes == [0o600]
    assert stat.S_IMODE((target / "a").stat().st_mode) == 0o644


def test_who_gives_a_link_away_gives_nothing_that_it_leads_to(tmp_path, monkeypatch):
    given: list[tuple[Any, Any]] = []

    def note(path: str, *_: int, follow_symlinks: bool = True, dir_fd: int | None = None) -> None:
        given.append((path, follow_symlinks))

    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    link = tmp_path / "link"
    link.symlink_to("folder")
    monkeypatch.setattr(untrusted_folders.os, "chown", note)
    untrusted_folders.give(str(link), 54321)
    assert given == [(str(link), False)]
