"""Folders that a box is given, and machines without one."""

from __future__ import annotations

import os
import stat
from typing import Any

import pytest

from harness.errors import (
    SandboxError,
)
from harness.sandbox import levels, untrusted_folders
from harness.sandbox.boxed_engines import BoxedLauncher


@pytest.mark.parametrize("start", [levels.strongest, lambda: levels.make_proven(3)])
def test_a_machine_without_sandboxes(start, monkeypatch):
    monkeypatch.setattr(levels.platforms, "has_sandboxes", lambda: False)
    with pytest.raises(SandboxError) as told:
        start()
    assert str(told.value) == levels.platforms.NO_SANDBOX


def test_there_is_no_terminal_in_a_box():
    with pytest.raises(SandboxError) as told:
        BoxedLauncher(None, (), ()).start(["x"], "/", output=1)  # type: ignore[arg-type]
    assert str(told.value) == "there is no terminal in a sandbox: --pty does not go with it"


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
