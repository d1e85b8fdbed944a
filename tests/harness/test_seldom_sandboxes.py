"""What happens seldom around a sandbox, each branch by itself."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from harness.errors import (
    SandboxError,
)
from harness.options import GIB, BoxLimits
from harness.reading import casefile
from harness.sandbox import (
    boxed_engines,
    bubblewrap,
    folder_copies,
    inside,
    launcher,
    levels,
    memory,
    server,
    untrusted_folders,
    view,
)
from harness.sandbox.boxed_engines import BoxedLauncher
from harness.sandbox.plan import COPY, LaunchPlan, Mount, Watched
from harness.specifications import EVERYONES


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


@pytest.mark.parametrize("mode", [0o500, 0o700])
@pytest.mark.parametrize("enter", ["_enter_named", "_enter_marked"])
def test_folders_are_entered_and_opened_to_us(mode, enter, tmp_path):
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o055)
    shut.chmod(0o055)
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("shut")
    here = os.open(tmp_path, os.O_RDONLY)
    found = {name: getattr(untrusted_folders, enter)(here, name, mode)
             for name in ("shut", "file", "link", "none")}  # fmt: skip
    assert [found[name] for name in ("file", "link", "none")] == [-1, -1, -1]
    assert os.fstat(found["shut"]).st_ino == shut.stat().st_ino
    assert stat.S_IMODE(shut.stat().st_mode) == mode | 0o055
    for descriptor in (here, found["shut"]):
        os.close(descriptor)


def test_pages_of_no_file_are_none_where_the_kernel_tells_of_none(monkeypatch):
    monkeypatch.setattr(memory, "read", lambda path: "Name:\tx\nVmPTE:\t 12 kB\n")
    assert memory._anonymous(5) == 0
    assert memory._tables(5) == 12 << 10


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

    monkeypatch.setattr(folder_copies.os, "sendfile", note)
    list(folder_copies.copy(str(source), str(target), 0))
    assert modes == [0o600]
    assert stat.S_IMODE((target / "a").stat().st_mode) == 0o644


def test_a_copy_leaves_no_file_open(tmp_path):
    """Those of a large class would be too many."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    (source / "a").write_text("text")
    before = os.listdir("/proc/self/fd")
    list(folder_copies.copy(str(source), str(target), 0))
    assert os.listdir("/proc/self/fd") == before


def test_a_folder_that_cannot_be_opened_is_not_entered(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    here = os.open(tmp_path, os.O_RDONLY)
    own = os.open

    def refuse(name: Any, *words: Any, **named: Any) -> int:
        if name == ".":
            raise OSError("too many open files")
        return own(name, *words, **named)

    monkeypatch.setattr(untrusted_folders.os, "open", refuse)
    assert untrusted_folders._enter_marked(here, "a", 0) < 0
    os.close(here)


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


PLAN = LaunchPlan(
    *(3, ("engine",), "/", {}, 0, (Mount(COPY, "/a", "/b"),), (), 0, "bwrap", b"", (), 0),
    *(Watched(GIB, 2.5, 3, 50, 7), (), (), (0, 0)),
)


@contextlib.contextmanager
def few_open_files() -> Iterator[None]:
    """Have no file open under the numbers of one digit beyond the first three."""
    saved = {}
    for number in range(3, 10):
        with contextlib.suppress(OSError):
            saved[number] = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10)
            os.close(number)
    try:
        yield
    finally:
        for number, copy in saved.items():
            os.dup2(copy, number, inheritable=False)
            os.close(copy)


def test_of_an_engine_that_was_started_only_the_pipe_that_it_waits_at_stays_open(monkeypatch):
    def start(*_: Any, file_actions: list[tuple[int, ...]], **__: Any) -> int:
        connected.extend(one[1] for one in file_actions if one[0] == os.POSIX_SPAWN_DUP2)
        return 77

    connected: list[int] = []
    monkeypatch.setattr(bubblewrap.os, "posix_spawn", start)
    with few_open_files():
        before = set(os.listdir("/proc/self/fd"))
        started = bubblewrap.start(PLAN, (0, 1, 2), 0, 0)
        left = {int(one) for one in set(os.listdir("/proc/self/fd")) - before}
        for number in left:
            os.close(number)
    assert left == {started.hold}
    assert min(connected) > 9  # the engine's own numbers, 8 and 9, are set one by one


def test_a_folder_that_cannot_be_removed_keeps_no_other_one(tmp_path, monkeypatch):
    for name in "abc":
        (tmp_path / name).mkdir()
    enter = untrusted_folders._enter
    monkeypatch.setattr(
        untrusted_folders,
        "_enter",
        lambda top, name, mode: -1 if name == last else enter(top, name, mode),
    )
    last = os.listdir(tmp_path)[-1]  # the first that is entered
    untrusted_folders.remove(str(tmp_path))
    assert os.listdir(tmp_path) == [last]


def test_who_looks_for_other_names_of_a_hidden_file_opens_no_folder(tmp_path):
    """The folders that an engine sees are the teacher's: a shut one stays shut to others."""
    inner = tmp_path / "shown" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (inner / "copy").hardlink_to(tmp_path / "secret")
    inner.chmod(0o700)
    found = view._other_names({str(tmp_path / "secret")}, (str(tmp_path / "shown"),))
    assert found == {str(inner / "copy")}
    assert stat.S_IMODE(inner.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("user", "is_open", "has_other", "is_own"),
    [
        (1000, False, True, True),
        (0, True, True, True),
        (0, False, False, True),
        (0, False, True, False),
    ],
)
def test_which_python_may_run_in_a_box(user, is_open, has_other, is_own, monkeypatch):
    """Root's own may lie where others than root cannot go."""
    asked: list[str] = []
    monkeypatch.setattr(levels.os, "geteuid", lambda: user)
    monkeypatch.setattr(levels, "_open_to_all", lambda path: asked.append(path) or is_open)
    monkeypatch.setattr(levels.os.path, "exists", lambda path: asked.append(path) or has_other)
    own = os.path.realpath(levels.sys.executable)
    assert levels.interpreter() == (own if is_own else "/usr/bin/python3")
    assert asked == [own, "/usr/bin/python3"][: 0 if user else 1 if is_open else 2]


def list_tree(top: str) -> list[str]:
    return [one.path for one in untrusted_folders.walk(top)]


def test_what_vanishes_while_a_tree_is_walked_is_left_out(tmp_path, monkeypatch):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "e").write_text("")
    assert sorted(list_tree(str(tmp_path))) == ["a", "b", "c", "d", "d/e"]
    stat_of = os.stat

    def forget(name: Any, **named: Any) -> os.stat_result:
        if name == "b":
            raise FileNotFoundError(name)
        return stat_of(name, **named)

    monkeypatch.setattr(untrusted_folders.os, "stat", forget)
    assert sorted(list_tree(str(tmp_path))) == ["a", "c", "d", "d/e"]


def test_a_tree_that_is_taken_away_is_walked_no_further(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("")
    before = len(os.listdir("/proc/self/fd"))
    opened = os.open

    def refuse(name: Any, *words: Any, **named: Any) -> int:
        if name == "..":
            raise OSError("it is gone")
        return opened(name, *words, **named)

    monkeypatch.setattr(untrusted_folders.os, "open", refuse)
    assert list_tree(str(tmp_path)) == ["a", "a/b"]
    assert len(os.listdir("/proc/self/fd")) == before


def test_nothing_lies_below_what_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    assert list_tree(str(tmp_path / "file")) == list_tree(str(tmp_path / "none")) == []


class MadeBoxes:
    """A box server that notes what it starts, and when it is closed."""

    made: ClassVar[list[MadeBoxes]] = []

    def __init__(self, level: int, limits: str) -> None:
        self.level, self.limits = level, limits
        self.started: list[float] = []
        self.is_closed = self.fails = False
        self.made.append(self)

    def start(self, seen: str, words: list[str], spent: float, _: object) -> Any:
        if self.fails:
            raise SandboxError("no room")
        self.started.append(spent)
        left = ["sh", "sleep", "sleep"][: 3 * (words == ["leaves"])]
        return SimpleNamespace(end=lambda: SimpleNamespace(cpu=1.5, leftovers=left))

    def close(self) -> None:
        self.is_closed = True


def test_one_engine_beside_another_has_a_box_server_of_its_own(monkeypatch):
    monkeypatch.setattr(boxed_engines, "BoxLauncher", MadeBoxes)
    monkeypatch.setattr(MadeBoxes, "made", [])
    own = MadeBoxes(2, "few")
    boxed = BoxedLauncher(own, (), (), "", lambda *_: "seen")  # type: ignore[arg-type]
    first, second = boxed.start(["a"], "/"), boxed.start(["leaves"], "/")
    _, other = MadeBoxes.made
    assert (other.level, other.limits) == (2, "few")
    assert (own.started, other.started) == ([0.0], [0.0])
    assert boxed.end(second) == ["sh", "sleep × 2"]
    assert (own.is_closed, other.is_closed) == (False, True)
    third = boxed.start(["a"], "/")  # the first one is under way
    assert boxed.end(first) == []
    fourth = boxed.start(["a"], "/")
    assert (own.started, MadeBoxes.made[2].started) == ([0.0, 3.0], [1.5])
    for one in (third, fourth):
        boxed.end(one)
    assert [one.is_closed for one in MadeBoxes.made] == [False, True, True]


def test_a_box_server_of_an_engine_that_does_not_start_is_closed(monkeypatch):
    class NoRoom(MadeBoxes):
        def __init__(self, level: int, limits: str) -> None:
            super().__init__(level, limits)
            self.fails = True

    monkeypatch.setattr(boxed_engines, "BoxLauncher", NoRoom)
    monkeypatch.setattr(MadeBoxes, "made", [])
    own = MadeBoxes(2, "few")
    boxed = BoxedLauncher(own, (), (), "", lambda *_: "seen")  # type: ignore[arg-type]
    boxed.start(["a"], "/")
    with pytest.raises(SandboxError, match="no room"):
        boxed.start(["b"], "/")
    assert [one.is_closed for one in MadeBoxes.made] == [False, True]


class Ending:
    """A box that cannot be ended."""

    def end(self) -> None:
        raise SandboxError("it is gone")


def test_a_box_server_is_closed_even_if_its_engine_cannot_be_ended(monkeypatch):
    monkeypatch.setattr(boxed_engines, "BoxLauncher", MadeBoxes)
    monkeypatch.setattr(MadeBoxes, "made", [])
    boxed = BoxedLauncher(MadeBoxes(1, ""), (), (), "", lambda *_: "seen")  # type: ignore[arg-type]
    boxed.start(["a"], "/")
    second = boxed.start(["b"], "/")
    second.box = Ending()  # type: ignore[assignment]
    with pytest.raises(SandboxError, match="it is gone"):
        boxed.end(second)
    assert [one.is_closed for one in MadeBoxes.made] == [False, True]


@pytest.mark.parametrize("error", [None, OSError(107, "not connected")])
def test_whoever_closes_a_launcher_waits_for_its_server_even_if_that_has_died(error):
    done: list[object] = []

    def shutdown(how: int) -> None:
        done.append(how)
        if error:
            raise error

    made: Any = object.__new__(launcher.BoxLauncher)
    made._control = SimpleNamespace(shutdown=shutdown, close=lambda: done.append("close"))
    made._server = SimpleNamespace(wait=lambda: done.append("wait"))
    made.close()
    assert done == [socket.SHUT_RDWR, "close", "wait"]


@pytest.mark.parametrize("error", [None, ProcessLookupError(3, "nobody is there")])
def test_a_keeper_that_is_to_end_kills_all_that_it_may(error, monkeypatch):
    done: list[tuple[object, ...]] = []

    def kill(*words: object) -> None:
        done.append(("kill", *words))
        if error:
            raise error

    monkeypatch.setattr(inside.os, "kill", kill)
    monkeypatch.setattr(inside.os, "_exit", lambda status: done.append(("exit", status)))
    inside._end_all(15, None)
    assert done == [("kill", -1, 9), ("exit", 0)]


def test_what_one_launcher_of_a_sandbox_saw_another_one_remembers(monkeypatch, tmp_path):
    """One command is started for each case file."""
    monkeypatch.setattr(boxed_engines, "BoxLauncher", MadeBoxes)
    monkeypatch.setattr(MadeBoxes, "refuse_shut", lambda self, paths: list(paths), raising=False)
    asked: list[object] = []
    monkeypatch.setattr(
        boxed_engines.view, "of_program", lambda *words: asked.append(words) or "seen"
    )
    own = boxed_engines.Sandbox("2", BoxLimits(), (), (), EVERYONES, is_proven=True)
    for name in ("a.gtp", "b.gtp"):
        case = casefile.parse(b"10 name\n", str(tmp_path / name))
        started = own.launcher(case, ["/shown"], "/home")
        started.end(started.start(["engine"], "/"))
    assert asked == [(("engine",), "/", ("/shown",), own._hidden, "/home")]
    own.close()
    assert own._boxes == {}


def test_whoever_waits_for_a_process_sleeps_meanwhile(monkeypatch):
    """Else the server would take an engine's core."""
    found = iter([None, None, "it ended"])
    slept: list[float] = []
    monkeypatch.setattr(server.os, "waitid", lambda *_: next(found))
    monkeypatch.setattr(server.time, "sleep", slept.append)
    server._wait_for(1, 60)
    assert slept == [0.0005, 0.0005]


def test_of_two_walks_through_the_processes_the_one_that_found_more_counts():
    engine, other, daemon = (SimpleNamespace(name=name) for name in ("engine", "a", "b"))
    walks = iter([[engine, other, daemon], [engine, daemon]])
    made: Any = object.__new__(server.Box)
    made._plan = SimpleNamespace(level=1)
    made._living = lambda: next(walks)
    made._note_end(0)
    assert made._leftovers == ("a", "b")
