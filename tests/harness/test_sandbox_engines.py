"""Engines in boxes without a box: which starts where, why one broke, which level is taken."""

from __future__ import annotations

import os
import stat
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from harness.core.errors import EngineError, SandboxError
from harness.core.options import CPU_SECONDS, GIB, BoxLimits, Limit
from harness.core.records import FailureKind
from harness.sandbox import canary, levels, untrusted_folders, view
from harness.sandbox.boxed_engines import BoxedLauncher
from harness.sandbox.launcher import Boxed
from harness.sandbox.plan import BoxEnd
from harness.sandbox.untrusted_folders import Size

ENDED = BoxEnd(0, "", None, 0, 0.25, ())


class FakeBox:
    """A box that ends as it is told to."""

    def __init__(self, end: BoxEnd | None) -> None:
        self.result = end
        self.asked: list[float] = []

    def wait(self, seconds: float) -> BoxEnd | None:
        self.asked.append(seconds)
        return self.result

    def end(self) -> BoxEnd:
        if self.result is None:
            raise SandboxError("the box server died")
        return self.result


class FakeBoxes:
    """A launcher of boxes. ``made``: all of them, in order."""

    made: list[FakeBoxes] = []  # noqa: RUF012
    fails = False

    def __init__(self, level: int = 3, limits: BoxLimits = BoxLimits()) -> None:  # noqa: B008
        self.level, self.limits = level, limits
        self.started: list[tuple[object, ...]] = []
        self.is_closed = False
        self.made.append(self)

    def start(self, *given: object) -> Any:
        if self.fails:
            raise SandboxError("it failed")
        self.started.append(given)
        return FakeBox(ENDED)

    def close(self) -> None:
        self.is_closed = True


BROKEN = [
    (None, 0.0, None),
    (ENDED, 0.0, None),
    (ENDED._replace(unstarted="Exec format error"), 0.0,
     (FailureKind.NOT_STARTED, "could not be executed in the sandbox (exec format error)", None)),
    *((ENDED._replace(hit=Limit(name, 2, 1, "bytes")), 9.0,
       (kind, "went over its ", Limit(name, 2, 1, "bytes")))
      for name, kind in [("memory", FailureKind.MEMORY), ("processes", FailureKind.PROCESSES),
                         ("disk", FailureKind.DISK)]),
    (ENDED._replace(hit=Limit("time", 2.5, 2, CPU_SECONDS)), 9.0,
     (FailureKind.CPU, "went over its ", Limit("time", 11.5, 11.0, CPU_SECONDS))),
    (ENDED._replace(hit=Limit("time", None, 2, CPU_SECONDS)), 9.0,
     (FailureKind.CPU, "went over its ", Limit("time", None, 2, CPU_SECONDS))),
]  # fmt: skip


@pytest.mark.parametrize(("end", "spent", "expected"), BROKEN)
def test_why_an_engine_in_a_box_broke(end, spent, expected):
    """Of the time limit of a case file, those that ran before have used a part."""
    box: Any = FakeBox(end)
    box._spent = spent
    broken = Boxed.find_end_cause(box)
    if expected is None:
        assert broken is None
    else:
        assert isinstance(broken, EngineError)
        found = broken.failure
        kind, text, limit = expected
        message = f"{text}{limit}" if limit else text
        assert (found.kind, found.message, found.limit) == (kind, message, limit)
    assert box.asked == [0]


@pytest.fixture
def boxes(monkeypatch):
    monkeypatch.setattr(FakeBoxes, "made", [])
    monkeypatch.setattr("harness.sandbox.boxed_engines.BoxLauncher", FakeBoxes)
    return FakeBoxes(2, BoxLimits()._replace(cpu=7))


def launcher_of(boxes: FakeBoxes) -> BoxedLauncher:
    asked: list[tuple[object, ...]] = []

    def make_view(*given: object) -> Any:
        asked.append(given)
        return "a view"

    made = BoxedLauncher(boxes, ["/shown"], ["/hidden"], "/sub", make_view)  # type: ignore[arg-type]
    made.asked = asked  # type: ignore[attr-defined]
    return made


def test_what_is_started_while_another_runs_has_a_server_of_its_own(boxes):
    made = launcher_of(boxes)
    first = made.start(["run", "x"], "/folder")
    assert made.asked == [(("run", "x"), "/folder", ("/shown",), ("/hidden",), "/sub")]
    assert boxes.started == [("a view", ["run", "x"], 0.0, {})]
    second = made.start(["other"], "/folder")
    (_, extra) = FakeBoxes.made
    assert (extra.level, extra.limits) == (2, boxes.limits)
    assert extra.started == [("a view", ["other"], 0.0, {})]
    assert made.end(second) == []
    assert (extra.is_closed, boxes.is_closed) == (True, False)
    assert made.end(first) == []
    assert not boxes.is_closed
    third = made.start(["run"], "/folder")
    assert boxes.started[-1] == ("a view", ["run"], 0.5, {})
    third.result = ENDED._replace(leftovers=("sh", "sleep", "sh"))
    assert made.end(third) == ["sh × 2", "sleep"]


# --- the harness's end of a box


# --- levels


class Canary:
    """A launcher whose box says what it is told to."""

    level = 2

    def __init__(self, said: bytes = b"done\n", complaint: bytes = b"", ends: bool = True) -> None:
        self.limits = BoxLimits()._replace(memory=1)
        self.said, self.complaint, self.ends = said, complaint, ends
        self.seen: list[tuple[view.View, list[str], BoxLimits, str, int, int]] = []
        self.is_closed = False

    def start(self, seen: view.View, words: list[str]) -> Any:
        egg = Path(seen.folder, canary.EGG)
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (egg, egg.parent)]
        above = stat.S_IMODE(egg.parents[1].stat().st_mode)
        assert above == 0o755
        self.seen.append((seen, words, self.limits, egg.read_text(), *modes))
        return CanaryBox(self)

    def close(self) -> None:
        self.is_closed = True


class CanaryBox:
    def __init__(self, owner: Canary) -> None:
        self.owner = owner
        self.stdin, self.stdout, self.stderr = (
            self.file(b""), self.file(owner.said), self.file(owner.complaint)
        )  # fmt: skip
        self.waited: list[float] = []

    def file(self, content: bytes) -> FileIO:
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
        return FileIO(reading, "r")

    def wait(self, seconds: float) -> BoxEnd | None:
        assert self.stdin.closed
        assert seconds == 60
        return ENDED if self.owner.ends else None

    def end(self) -> BoxEnd:
        return ENDED

    def close(self) -> None:
        for one in (self.stdout, self.stderr):
            one.close()


PROVEN = [
    (Canary(b"reads a private file\nopens a socket\ndone\n"), levels.EscapeError,
     "level 2 does not hold: an engine reads a private file, opens a socket"),
    (Canary(b"", b"Traceback\nno such file\n"), SandboxError,
     "level 2 does not work here: no such file"),
    (Canary(b"half\n"), SandboxError,
     f"level 2 does not work here: a program in it failed ({ENDED})"),
    (Canary(ends=False), SandboxError, "level 2 does not work here: a program in it did not end"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "kind", "said"), PROVEN)
def test_a_level_that_does_not_hold_is_told(sent, kind, said, monkeypatch):
    monkeypatch.setattr(levels, "BoxLauncher", lambda level, allowed: sent)
    with pytest.raises(SandboxError) as failed:
        levels.make_proven(2)
    assert (type(failed.value), str(failed.value)) == (kind, said)
    assert sent.is_closed
    assert sent.limits.memory == 1


def test_the_strongest_level_that_works_is_taken(monkeypatch):
    tried = []

    def proven(level: int, allowed: BoxLimits, *, is_proven: bool) -> str:
        tried.append((level, allowed.memory))
        if level > 1:
            raise SandboxError("not here")
        return "a launcher"

    monkeypatch.setattr(levels, "make_proven", proven)
    assert levels.choose() == "a launcher"
    assert tried == [(3, GIB), (2, GIB), (1, GIB)]

    def escapes(level: int, allowed: BoxLimits, *, is_proven: bool) -> str:
        raise levels.EscapeError("out")

    monkeypatch.setattr(levels, "make_proven", escapes)
    with pytest.raises(levels.EscapeError):
        levels.choose()

    def never(level: int, allowed: BoxLimits, *, is_proven: bool) -> str:
        raise SandboxError("not here")

    monkeypatch.setattr(levels, "make_proven", never)
    with pytest.raises(
        SandboxError, match=r"^no sandbox works on this machine; gtp-harness doctor"
    ):
        levels.choose()


# --- copies of folders


@pytest.fixture
def source(tmp_path):
    made = tmp_path / "source"
    (made / "folder").mkdir(parents=True)
    (made / "folder" / "deep").write_bytes(b"x" * 5000)
    (made / "folder").chmod(0o555)
    (made / "run").write_text("run")
    (made / "run").chmod(0o4751)
    os.utime(made / "run", (1000, 2000))
    (made / "link").symlink_to("nowhere")
    os.mkfifo(made / "pipe")
    (made / "secret").write_text("x")
    (tmp_path / "target").mkdir()
    yield made
    (made / "folder").chmod(0o755)


def test_a_copy_is_like_the_folder(source, tmp_path):
    target = tmp_path / "target"
    steps = list(untrusted_folders.copy(str(source), str(target), 0, (str(source / "secret"),)))
    assert len(steps) == 5
    found = {str(path.relative_to(target)) for path in target.rglob("*")}
    assert found == {"folder", "folder/deep", "run", "link"}
    assert (target / "folder/deep").read_bytes() == b"x" * 5000
    assert (target / "run").stat().st_mode & 0o7777 == 0o751
    assert ((target / "run").stat().st_atime, (target / "run").stat().st_mtime) == (1000, 2000)
    assert (target / "folder").stat().st_mode & 0o777 == 0o755
    assert os.readlink(target / "link") == "nowhere"
    assert {path.lstat().st_uid for path in target.rglob("*")} == {os.geteuid()}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_a_copy_for_another_user_has_what_all_may_read(source, tmp_path):
    target = tmp_path / "target"
    (source / "shut").mkdir()
    (source / "shut" / "inner").touch()
    (source / "shut").chmod(0o751)
    (source / "secret").chmod(0o640)
    (source / "run").chmod(0o704)
    list(untrusted_folders.copy(str(source), str(target), 54321))
    found = {str(path.relative_to(target)) for path in target.rglob("*")}
    assert found == {"folder", "folder/deep", "run", "link", "shut"}
    assert {path.lstat().st_uid for path in target.rglob("*")} == {54321}
    assert {path.lstat().st_gid for path in target.rglob("*")} == {54321}


def test_what_a_copy_takes(source, monkeypatch):
    """Two pages and one and one for files, and one for each folder, link and pipe."""
    assert untrusted_folders.measure(str(source)) == Size(7 * 4096, 6)
    for name, most, expected in (
        ("MOST_BYTES", 7 * 4096, Size(7 * 4096, 6)),
        ("MOST_BYTES", 7 * 4096 - 1, None),
        ("MOST_FILES", 6, Size(7 * 4096, 6)),
        ("MOST_FILES", 5, None),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(untrusted_folders, name, most)
            assert untrusted_folders.measure(str(source)) == expected
    assert (untrusted_folders.MOST_BYTES, untrusted_folders.MOST_FILES) == (256 << 20, 50_000)
