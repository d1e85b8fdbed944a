"""What a box shows depends on assignment, options and system, never on a submission."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.sandbox import levels, relocating, untrusted_folders, view

# Every name that an interpreter, a loader, a compiler, a build tool or a shell looks for.
NAMES = (
    *("pyvenv.cfg", "../pyvenv.cfg", "python3._pth", "sitecustomize.py", "usercustomize.py"),
    *("evil.pth", "__main__.py", "__init__.py", "__pycache__/Go1.cpython-311.pyc", "numpy.py"),
    *("ld.so.preload", "libc.so.6", "ld-linux-x86-64.so.2", "a.out", "core", "cc", "crt1.o"),
    *("Makefile", "GNUmakefile", "CMakeLists.txt", "configure", "build.sh", "include/stdio.h"),
    *(".bashrc", ".profile", ".env", ".gitconfig", ".npmrc", "pip.conf", "setup.cfg", "tox.ini"),
    *("java.conf", "MANIFEST.MF", "Main.class", "lib.jar", "module-info.class", "@argfile"),
    *("Go1.py", "run", "bin/python3", "bin/run", "shims/python3", "python3", "sh", "env", "java"),
    *("-c", "-u", "-cp", "cases", "a.gtp", "util/__init__.py", "adapter", "x=y", "a:b", "etc"),
)
SECRET = "{secret}"
CONTENTS = st.sampled_from(
    [
        "",
        "home = {secret}\n",
        "home = ../../../..\n",
        "home = /\ninclude-system-site-packages = true\n",
        "#!{secret}/gen.sh\n",
        "#!/usr/bin/env -S {secret}/gen.sh -x\n",
        "#!/usr/bin/env python3\r\n",
        "#!/usr/local/bin/python3\n",
        "#!/usr/bin/python3 it's mine\n",
        "#!/usr/bin/env 'x\n",
        "#!\n",
        "{secret}\n",
        "\x7fELF\x02\x01\x01" + "\0" * 60,
        "\0\udcff",
    ]
)
TARGETS = st.sampled_from(
    ["{secret}", "{secret}/gen.sh", "/", "..", "../..", "/usr/bin/python3", "Go1.py", "loop"]
)


FILES = st.tuples(st.just("file"), CONTENTS, st.sampled_from([0o644, 0o755, 0o4755, 0o000, 0o111]))
LINKS = st.tuples(st.just("link"), TARGETS, st.just(0))
FOLDERS = st.tuples(st.just("folder"), st.just(""), st.sampled_from([0o755, 0o700, 0o777]))
SUBMISSIONS = st.dictionaries(
    st.sampled_from([name for name in NAMES if not name.startswith("..")]),
    st.one_of(FILES, LINKS, FOLDERS),
    max_size=8,
)
# An assignment's commands, as words; {stage} is the folder in which the submission's lies.
COMMANDS = (
    "python3 {stage}/sub/Go1.py",
    "python3 Go1.py",
    "{stage}/sub/run",
    "./run --fast",
    "bin/python3 Go1.py",
    "{stage}/sub/bin/python3 {stage}/sub/Go1.py",
    "{python} {stage}/adapter {stage}/sub",
    "java -cp {stage}/sub:{stage}/sub/lib.jar -Dx={stage}/sub/run Main",
    "/bin/sh -c x make -C {stage}/sub",
    "{stage}/tools/start {stage}/sub/run",
)


@contextmanager
def stage_with(submission: dict[str, tuple[str, str, int]]) -> Iterator[tuple[Path, Path]]:
    """Give a workspace with a submission, the course's things, and secrets elsewhere."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-test-") as place:
        room = Path(place)
        stage, secret = room / "stage", room / "teacher" / "tools"
        for folder in (stage / "sub", stage / "adapter", stage / "tools", secret):
            folder.mkdir(parents=True)
        for program in (stage / "tools" / "start", secret / "gen.sh", secret / "python3"):
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
        for name, thing in submission.items():
            lay(stage / "sub" / name, secret, *thing)
        yield stage, secret


def lay(path: Path, secret: Path, kind: str, text: str, mode: int) -> None:
    text = text.replace(SECRET, str(secret))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            path.symlink_to(text)
        elif kind == "folder":
            path.mkdir()
        else:
            path.write_bytes(os.fsencode(text))
            path.chmod(mode)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)  # one name is a folder of another


def list_shown(command: str, stage: Path) -> tuple[object, ...]:
    """Return all that a box of each level would show, with the places of this run taken out."""
    filled = command.format(stage=stage, python=levels.interpreter())
    seen = view.of_program(
        filled.split(),
        str(stage / "sub"),
        [str(stage / "adapter"), str(stage / "tools")],
        view.own_folders(),
        str(stage / "sub"),
    )
    ground = relocating.relocate(seen, tuple(filled.split()))
    rules = view.reach(ground.view, 1)
    untrusted_folders.remove(ground.folder)
    found = (seen, ground, view.mounts(seen), view.reach(seen, 2), rules)
    return tuple(replace_room(part, str(stage.parent)) for part in found)


def replace_room(part: object, room: str) -> object:
    if isinstance(part, tuple):
        return tuple(replace_room(one, room) for one in part)
    return part.replace(room, "ROOM") if isinstance(part, str) else part


def test_what_is_moved_lies_as_it_lay_whatever_the_working_directory(monkeypatch) -> None:
    with stage_with({"Go1.py": ("file", "", 0o644)}) as (stage, _):
        monkeypatch.chdir(stage / "tools")
        own = stage / "sub"
        words = ("/usr/bin/env", "python3", str(own / "Go1.py"))
        ground = relocating.relocate(view.of_program(words, str(own)), words)
        room = Path(ground.folder, Path(relocating.room_in("")).name)
        files = [str(path.relative_to(room)) for path in room.rglob("*")]
        untrusted_folders.remove(ground.folder)
    assert ground.view.folder == str(room / "sub")
    assert ground.words == (*words[:2], str(room / "sub" / "Go1.py"))
    assert {"sub", "sub/Go1.py"} <= set(files)


VENV = {"pyvenv.cfg": ("file", "home = {secret}\n", 0o644), "Go1.py": ("file", "", 0o644)}
FIRST_LINE = {"Go1.py": ("file", "#!{secret}/gen.sh\n", 0o755)}
LINKED = {"Go1.py": ("link", "{secret}/gen.sh", 0), "bin": ("link", "{secret}", 0)}


@pytest.mark.long(5)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.soak(25)
@settings(max_examples=10, deadline=None)
@example(VENV)
@example(FIRST_LINE)
@example(LINKED)
@example({"run": ("file", "#!/usr/bin/env -S {secret}/gen.sh\n", 0o755)})
@example({"bin/python3": ("link", "{secret}/python3", 0)} | VENV)
@given(SUBMISSIONS)
def test_a_submission_decides_nothing(
    command: str, submission: dict[str, tuple[str, str, int]]
) -> None:
    """For whatever files: names, modes, links and contents. Engines, adapters and build steps."""
    with stage_with({}) as (stage, _):
        expected = list_shown(command, stage)
    with stage_with(submission) as (stage, secret):
        found = list_shown(command, stage)
        assert str(secret) not in str(found)
    assert found == expected


@pytest.mark.parametrize("command", ["python3 {stage}/sub/Go1.py", "{stage}/sub/Go1.py x"])
@settings(max_examples=25, deadline=None)
@example(VENV)
@example(FIRST_LINE)
@given(SUBMISSIONS)
def test_neither_does_what_a_command_without_an_assignment_names(
    command: str, submission: dict[str, tuple[str, str, int]]
) -> None:
    """Its folder is shown, as its path says; nothing in it leads anywhere."""
    with stage_with({"Go1.py": ("file", "#!{secret}/gen.sh\n", 0o755)} | submission) as (stage, _):
        if not os.access(stage / "sub" / "Go1.py", os.X_OK) or (stage / "sub" / "Go1.py").is_dir():
            return
        seen = view.of_program(command.format(stage=stage).split(), str(stage.parent))
        fresh = [path for path in seen.shown if path.startswith(str(stage.parent))]
    assert fresh == [str(stage / "sub")]


def test_an_engine_may_start_in_a_hidden_folder(tmp_path: Path) -> None:
    """Cases that ship lie within the harness: it stays hidden except for the files they name."""
    own = tmp_path / "site" / "harness"
    start = own / "cases" / "gosensei"
    names = ["secret.py", "cli/run.py", "cases/go-scoring/area.gtp"]
    names += [f"cases/gosensei/{one}" for one in ("eyes.gtp", "boards/a.txt", "boards/b.txt")]
    for name in names:
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(name)
    board = str(start / "boards/a.txt")
    case = str(start / "eyes.gtp")
    named = [str(tmp_path), board, str(own / "secret.py"), str(start)]
    seen = view.of_program(["sh"], str(start), named, [case, str(own)])
    assert sorted(os.path.relpath(path, own) for path in seen.hidden) == [
        "cases/go-scoring", "cases/gosensei/boards/b.txt", "cases/gosensei/eyes.gtp",
        "cli", "secret.py",
    ]  # fmt: skip
    assert seen.copied == (str(start),)
    copy = next(mount for mount in view.mounts(seen) if mount.place == str(start))
    assert sorted(copy.left_out) == [str(start / "boards/b.txt"), case]
    elsewhere = view.of_program(["sh"], str(tmp_path), [str(tmp_path)], [case, str(own)])
    assert elsewhere.hidden == (str(own),)


@pytest.mark.parametrize(
    ("level", "writable", "home"),
    [
        (1, (), "/nonexistent"),
        (1, ("/room", "/temporary"), "/temporary"),
        (2, ("/room", "/temporary"), view.HOME),
        (3, (), view.HOME),
    ],
)
def test_an_engine_is_at_home_where_it_may_write(level, writable, home):
    """Level 1 has no folder in memory for it."""
    found = view.environment(level, writable)
    assert found["HOME"] == home
    assert found.get("TMPDIR") == (writable[-1] if writable else None)
