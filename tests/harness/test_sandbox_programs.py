"""What a program needs of the machine: found by its place, its first line and links to it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.core.errors import UsageError
from harness.sandbox import view


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tools" / "bin").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    return tmp_path


def make(path: Path, text: str = "", mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_name_with_a_slash_is_one_of_the_folder_of_the_start(place, monkeypatch):
    run = make(place / "tools" / "bin" / "run")
    assert view.find("bin/run", str(place / "tools")) == run
    assert view.find("../tools/bin/run", str(place / "sub")) == run
    assert view.find(run, "/") == run
    monkeypatch.setenv("PATH", str(place / "tools" / "bin"))
    assert view.find("run", "/") == run


@pytest.mark.parametrize("kind", ["missing", "folder", "not executable"])
def test_what_cannot_be_executed_is_refused(kind, place):
    path = place / "tools" / "it"
    if kind == "folder":
        path.mkdir()
    elif kind == "not executable":
        make(path, mode=0o644)
    with pytest.raises(UsageError) as told:
        view.find("./it", str(place / "tools"))
    assert str(told.value) == "there is no program './it' that could be executed"
    with pytest.raises(UsageError, match=r"there is no program 'no-such-program' that could be"):
        view.find("no-such-program", "/", str(place))


def test_of_a_submission_nothing_is_looked_at(place):
    sub = str(place / "sub")
    assert view.find("./nothing", sub, sub) == f"{sub}/nothing"
    assert view.find("./nothing", sub, str(place)) == f"{sub}/nothing"
    assert view.paths_of(f"{sub}/nothing", sub) == []
    assert not view.is_given(f"{sub}/nothing", sub)
    assert view.is_given(str(place / "subs"), sub)


def test_without_an_assignment_only_folders_of_programs_are_given(place, monkeypatch):
    monkeypatch.setenv("PATH", f"/elsewhere:{place}/tools/bin")
    assert view.is_given(f"{place}/tools/bin/run")
    assert not view.is_given(f"{place}/tools/bin/deep/run")
    assert not view.is_given(f"{place}/tools/run")
    assert view.is_given("/usr/games/gnugo")
    assert view.is_given("/usr/local/bin/x")
    assert view.is_given(str(Path(sys.executable).with_name("another")))
    assert view.is_given(os.path.join(os.path.dirname(os.path.realpath(sys.executable)), "x"))
    monkeypatch.delenv("PATH")
    assert view.is_given("/bin/sh")


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("/opt/java/bin/java", "/opt/java"),
        ("/opt/java/java", "/opt/java"),
        ("/home/bin/java", "/home/bin"),
        ("/home/java", "/home/java"),
        ("/usr/bin/env", "/usr"),
        ("/tmp/x", "/tmp/x"),
    ],
)
def test_what_is_shown_of_an_installed_program(program, found, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    assert view.installation(program) == found


@pytest.mark.parametrize(
    ("path", "outer", "expected"),
    [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/a", "/a/b", False),
     ("/a", "/", True), ("/a/b", "/a/", True)],
)  # fmt: skip
def test_what_lies_within(path, outer, expected):
    assert view.is_within(path, outer) is expected
    assert view.is_in_one(path, ["/x", outer]) is expected
    assert not view.is_in_one(path, [])
