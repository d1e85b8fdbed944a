"""What a program needs of the machine: found by its place, its first line and links to it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.sandbox import programs


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


def test_where_programs_are_looked_for():
    assert programs.SEARCH_PATH == "/usr/local/bin:/usr/bin:/bin:/usr/games:/usr/local/games"


def test_a_name_with_a_slash_is_one_of_the_folder_of_the_start(place, monkeypatch):
    run = make(place / "tools" / "bin" / "run")
    assert programs.find("bin/run", str(place / "tools")) == run
    assert programs.find("../tools/bin/run", str(place / "sub")) == run
    assert programs.find(run, "/") == run
    monkeypatch.setenv("PATH", str(place / "tools" / "bin"))
    assert programs.find("run", "/") == run


@pytest.mark.parametrize("kind", ["missing", "folder", "not executable"])
def test_what_cannot_be_executed_is_refused(kind, place):
    path = place / "tools" / "it"
    if kind == "folder":
        path.mkdir()
    elif kind == "not executable":
        make(path, mode=0o644)
    with pytest.raises(UsageError) as told:
        programs.find("./it", str(place / "tools"))
    assert str(told.value) == "there is no program './it' that could be executed"
    with pytest.raises(UsageError, match=r"there is no program 'no-such-program' that could be"):
        programs.find("no-such-program", "/", str(place))


def test_of_a_submission_nothing_is_looked_at(place):
    sub = str(place / "sub")
    assert programs.find("./nothing", sub, sub) == f"{sub}/nothing"
    assert programs.find("./nothing", sub, str(place)) == f"{sub}/nothing"
    assert programs.paths_of(f"{sub}/nothing", sub) == []
    assert not programs.is_given(f"{sub}/nothing", sub)
    assert programs.is_given(str(place / "subs"), sub)


def test_without_an_assignment_only_folders_of_programs_are_given(place, monkeypatch):
    monkeypatch.setenv("PATH", f"/elsewhere:{place}/tools/bin")
    assert programs.is_given(f"{place}/tools/bin/run")
    assert not programs.is_given(f"{place}/tools/bin/deep/run")
    assert not programs.is_given(f"{place}/tools/run")
    assert programs.is_given("/usr/games/gnugo")
    assert programs.is_given("/usr/local/bin/x")
    assert programs.is_given(str(Path(sys.executable).with_name("another")))
    assert programs.is_given(os.path.join(os.path.dirname(os.path.realpath(sys.executable)), "x"))
    monkeypatch.delenv("PATH")
    assert programs.is_given("/bin/sh")


def test_the_real_program_behind_a_shim(place, monkeypatch):
    shim = make(place / "shims" / "python3")
    assert programs._without_shim(shim) == os.path.join(os.path.dirname(sys.executable), "python3")
    unknown = make(place / "shims" / "no-such-program-anywhere")
    assert programs._without_shim(unknown) == unknown
    own = make(place / "bin" / "python3")
    assert programs._without_shim(own) == own
    assert programs.find(shim, "/") == os.path.join(os.path.dirname(sys.executable), "python3")


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
    assert programs.installation(program) == found


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/", True), ("/home", True), ("/home/ada", True), ("/home/ada/x", False),
        ("/home/adam", False), ("/var", True), ("/var/tmp", True), ("/var/lib", False),
        ("/mnt", True), ("/media", True), ("/srv", True), ("/etc", True), ("/run", True),
        ("/root", True), ("/tmp", True), ("/proc", True), ("/sys", True), ("/dev", True),
        ("/dev/shm", True), ("/usr", False),
    ],
)  # fmt: skip
def test_folders_that_are_too_much(folder, expected, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    assert programs.is_too_much(folder) is expected


@pytest.mark.parametrize(
    ("path", "outer", "expected"),
    [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/a", "/a/b", False),
     ("/a", "/", True), ("/a/b", "/a/", True)],
)  # fmt: skip
def test_what_lies_within(path, outer, expected):
    assert programs.is_within(path, outer) is expected
    assert programs.is_in_one(path, ["/x", outer]) is expected
    assert not programs.is_in_one(path, [])


def test_links_are_followed_one_by_one(place):
    real = make(place / "real" / "bin" / "python3", "\0")
    for name, target in (("second", "../real/bin/python3"), ("first", "second")):
        (place / "tools" / name).symlink_to(target)
    first = str(place / "tools" / "first")
    assert programs._steps(first) == [first, str(place / "tools" / "second"), real]
    assert programs.paths_of(first) == [str(place / "tools")] * 2 + [str(place / "real")]


def test_links_in_a_circle_end(place):
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    assert len(programs._steps(str(place / "a"))) == 40


def test_the_base_of_a_virtual_environment(place):
    run = make(place / "venv" / "bin" / "python", "\0")
    assert programs._base_python(run) == []
    settings = "home =  /opt/python/bin \nversion = 3\nhomes = /x\n home=/opt/other/bin\n"
    (place / "venv" / "pyvenv.cfg").write_text(settings)
    assert programs._base_python(run) == ["/opt/python/bin/python3", "/opt/other/bin/python3"]
    assert programs.paths_of(run) == [str(place / "venv"), "/opt/python", "/opt/other"]
    (place / "venv" / "pyvenv.cfg").write_bytes(b"\xff\nhome = /opt/x/bin\n")
    assert programs._base_python(run) == ["/opt/x/bin/python3"]


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("#!{inner}", True),
        ("#!{inner} -u", True),
        ("#! {inner}", True),
        ("#!/usr/bin/env {inner}", True),
        ("#!/usr/bin/env -S A=1 {inner} -u", True),
        ("#!/no/such/program", False),
        ("#!", False),
        ("#!/usr/bin/env", False),
        ("!#{inner}", False),
        ("# !{inner}", False),
        ("x" * 300 + "\n#!{inner}", False),
    ],
)
def test_the_interpreter_of_a_script(first, found, place):
    inner = make(place / "inner" / "bin" / "python3", "\0")
    script = make(place / "tools" / "script", f"{first.format(inner=inner)}\nprint()\n")
    shown = programs._interpreter_paths(script, "")
    assert (str(place / "inner") in shown) is found
    within = programs._interpreter_paths(script, str(place / "inner"))
    assert str(place / "inner") not in within
