"""Where an engine of level 1 runs: a folder of its own, with the same paths between its parts."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from harness.sandbox import relocating, untrusted_folders
from harness.sandbox.view import View

OWNERS = [0, pytest.param(54321, marks=pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can give files to others"))]  # fmt: skip


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    """Return a workspace: a submission, the course's folders, a small file and a large one."""
    made = tmp_path / "stage"
    for name in ("sub/inner", "course", "far"):
        (made / name).mkdir(parents=True)
    (made / "sub" / "run").write_text("#!/bin/sh\n")
    (made / "sub" / "inner" / "file").write_text("x")
    (made / "course" / "game.sgf").write_text("(;)")
    (made / "course" / "large").write_bytes(bytes((1 << 20) + 1))
    (made / "course" / "secret").write_text("x")
    return made


def seen_of(stage: Path, **more: object) -> View:
    sub = str(stage / "sub")
    near = tuple(str(stage / name) for name in ("course/game.sgf", "course/large", "sub/run"))
    found = View(
        shown=("/usr", str(stage / "course"), sub), hidden=(f"{sub}/inner",), links=(),
        folder=sub, program=f"{sub}/run", copied=(sub,), near=near, stage=str(stage),
    )  # fmt: skip
    return found._replace(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("is_shut", [False, True])
def test_all_that_lies_in_the_new_folder(owner, is_shut, stage, monkeypatch):
    """Others than root cannot get into a shut folder: what is small there is copied for them."""
    monkeypatch.setattr(relocating, "is_unreachable", lambda path: is_shut)
    for name in ("game.sgf", "large"):
        (stage / "course" / name).chmod(0o644)
    words = (f"{stage}/sub/run", "../course/game.sgf", f"-x={stage}/sub:{stage}/subs")
    made = relocating.relocate(seen_of(stage), words, owner)
    try:
        assert made.folder == str(stage / ".run")
        room = Path(made.folder, "stage")
        found = {str(path.relative_to(made.folder)): path for path in Path(made.folder).rglob("*")}
        assert set(found) == {
            "home", "stage", "stage/sub", "stage/sub/run", "stage/course",
            "stage/course/game.sgf", "stage/course/large",
        }  # fmt: skip
        is_copied = is_shut and bool(owner)
        assert found["stage/course/game.sgf"].is_symlink() != is_copied
        assert os.readlink(found["stage/course/large"]) == str(stage / "course/large")
        if is_copied:
            assert stat.S_IMODE(found["stage/course/game.sgf"].stat().st_mode) == 0o644
            assert found["stage/course/game.sgf"].read_text() == "(;)"
        folders = ("home", "stage", "stage/sub", "stage/course")
        assert {found[name].stat().st_uid for name in folders} == {owner or os.geteuid()}
        assert {found[name].stat().st_gid for name in folders} == {owner or os.getegid()}
        assert {stat.S_IMODE(found[name].stat().st_mode) for name in folders} == {0o755}
        assert (room / "sub/run").stat().st_uid == (owner or os.geteuid())
        assert made.words == (
            f"{room}/sub/run", "../course/game.sgf", f"-x={room}/sub:{stage}/subs"
        )  # fmt: skip
        assert made.view == seen_of(stage)._replace(
            shown=("/usr", str(stage / "course"), str(stage / "sub/run")),
            folder=f"{room}/sub", program=f"{room}/sub/run",
            writable=(str(room), f"{made.folder}/home"), copied=(),
        )  # fmt: skip
    finally:
        untrusted_folders.remove(made.folder)


def test_what_a_link_shows_already_needs_none_and_what_comes_after_it_does(stage):
    (stage / "far" / "map").write_text("x")
    near = tuple(str(stage / name) for name in ("course", "course/game.sgf", "far/map"))
    made = relocating.relocate(seen_of(stage, near=near), ("run",))
    links = [path for path in sorted(Path(made.folder).rglob("*")) if path.is_symlink()]
    assert [os.readlink(path) for path in links] == [near[0], near[2]]
    untrusted_folders.remove(made.folder)


def test_a_folder_that_is_empty_is_made_for_the_start(stage):
    """It is not shown: the engine starts in an empty folder at its place."""
    seen = seen_of(stage, folder=str(stage / "far"), shown=("/usr", str(stage / "sub")))
    made = relocating.relocate(seen, ("run",))
    room = Path(made.folder, "stage")
    assert made.view.folder == str(room / "far")
    assert list((room / "far").iterdir()) == []
    untrusted_folders.remove(made.folder)
