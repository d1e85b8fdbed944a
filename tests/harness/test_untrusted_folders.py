"""Trees that a hostile build has left: walked, counted and removed to the last."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.sandbox import untrusted_folders

IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would be slow
NAMES = [
    b"a",
    b"\xff\xfe",
    b"new\nline",
    b" ",
    b"-rf",
    b"...",
    b"x" * 255,
    "ä".encode(),
    b".hidden",
]


@pytest.fixture
def top() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as name:
        path = os.path.join(name, "top")
        os.mkdir(path)
        yield path
        untrusted_folders.remove(path)


def deepen(top: str, depth: int, name: bytes = b"d") -> None:
    here = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


@pytest.mark.parametrize(("depth", "name"), [(1500, b"d"), (1500, b"x" * 255), (5000, b"d")])
@pytest.mark.long(0.3)
def test_a_deep_tree(depth: int, name: bytes, top: str) -> None:
    deepen(top, depth, name)
    assert sum(1 for _ in untrusted_folders.walk(top)) == depth + 1
    assert untrusted_folders.use(top)[1] == depth + 1
    untrusted_folders.remove(top)
    assert not os.path.exists(top)


def test_few_descriptors_are_enough(top: str) -> None:
    deepen(top, 1500)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 8, before[1]))
    try:
        assert sum(1 for _ in untrusted_folders.walk(top)) == 1501
        untrusted_folders.remove(top)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not os.path.exists(top)


def make(here: int, tree: object) -> None:
    """Make what Hypothesis has drawn: names to modes of folders with more, or to kinds."""
    assert isinstance(tree, dict)
    for name, inner in tree.items():
        if inner == "file":
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=here))
        elif inner == "link":
            os.symlink("/etc", name, dir_fd=here)
        elif inner == "loop":
            os.symlink(".", name, dir_fd=here)
        elif inner == "pipe":
            os.mkfifo(name, dir_fd=here)
        else:
            mode, below = inner
            os.mkdir(name, dir_fd=here)
            deeper = os.open(name, os.O_RDONLY, dir_fd=here)
            make(deeper, below)
            os.fchmod(deeper, mode)
            os.close(deeper)


def size(tree: object) -> int:
    assert isinstance(tree, dict)
    below = (inner[1] for inner in tree.values() if isinstance(inner, tuple))
    return len(tree) + sum(map(size, below))


LEAVES = st.sampled_from(["file", "link", "loop", "pipe"])
MODES = st.sampled_from([0o755, 0o700, 0o500, 0o300, 0o000, 0o555, 0o400])
TREES = st.recursive(
    st.dictionaries(st.sampled_from(NAMES), LEAVES, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(NAMES), LEAVES | st.tuples(MODES, inner), max_size=4
    ),
    max_leaves=12,
)


def check_removal(tree: object) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as name:
        top = os.path.join(name, "top")
        os.mkdir(top)
        here = os.open(top, os.O_RDONLY)
        make(here, tree)
        os.close(here)
        found = [os.fsencode(entry.path) for entry in untrusted_folders.walk(top)]
        assert len(found) == len(set(found)) == size(tree), found
        untrusted_folders.remove(top)
        assert not os.path.lexists(top)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=TREES)
def test_any_tree_is_walked_once_and_removed(tree: object) -> None:
    check_removal(tree)


@pytest.mark.processes
@pytest.mark.parametrize("has_marks", [True, False])
def test_a_folder_that_is_shut_is_opened_by_its_owner(
    has_marks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an ordinary user, too: root needs no right. On other systems than Linux as well."""
    monkeypatch.setattr(untrusted_folders, "_HAS_MARKS", has_marks)
    tree = {b"a": (0, {b"b": (0o400, {b"c": "file"}), b"d": (0o300, {b"e": (0, {b"f": "file"})})})}
    if os.geteuid() != 0:
        check_removal(tree)
        return
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setresgid(54321, 54321, 54321)
            os.setresuid(54321, 54321, 54321)
            check_removal(tree)
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_what_is_outside_stays(top: str) -> None:
    outside = Path(top).parent / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    outside.chmod(0o500)
    os.symlink(outside, f"{top}/link")
    os.link(outside / "kept", f"{top}/hard")
    untrusted_folders.remove(top)
    assert (outside / "kept").read_text() == "kept"
    assert outside.stat().st_mode & 0o777 == 0o500
    os.symlink(outside, top)
    assert list(untrusted_folders.walk(top)) == []
    untrusted_folders.remove(top)
    assert not os.path.lexists(top)
    assert (outside / "kept").exists()


def test_what_is_gone_by_the_time_it_is_looked_at_is_left_out_alone(
    top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        Path(top, name).touch()
    monkeypatch.setattr(untrusted_folders, "names", lambda _: ["a", "gone", "b"])
    assert [entry.name for entry in untrusted_folders.walk(top)] == ["a", "b"]


def test_a_tree_that_is_moved_while_it_is_walked(top: str) -> None:
    """The way back leads elsewhere: nothing there is reported."""
    away = Path(top).parent / "away"
    (away / "private").mkdir(parents=True)
    (Path(top) / "a" / "b").mkdir(parents=True)
    (Path(top) / "a" / "b" / "c").touch()
    seen = []
    for entry in untrusted_folders.walk(top):
        seen.append(entry.path)
        if entry.name == "c":
            (Path(top) / "a" / "b").rename(away / "b")
    assert seen == ["a", "a/b", "a/b/c"]


def test_use_counts_blocks_and_each_file_once(top: str) -> None:
    Path(top, "one").write_bytes(bytes(1 << 20))
    os.link(f"{top}/one", f"{top}/two")
    with open(f"{top}/hole", "wb") as file:
        file.truncate(1 << 30)
    used, files = untrusted_folders.use(top)
    assert 1 << 20 <= used < (1 << 20) + (1 << 16)
    assert files == 3


def test_no_folder_that_was_removed_stays_open(top: str) -> None:
    """Whoever grades a class removes thousands."""
    deepen(top, 3)
    before = set(os.listdir("/proc/self/fd"))
    untrusted_folders.remove(top)
    assert not os.path.exists(top)
    assert set(os.listdir("/proc/self/fd")) == before


@pytest.mark.processes
def test_giving_away(top: str) -> None:
    deepen(top, 1200)
    if os.geteuid() == 0:
        untrusted_folders.give(top, 54321)
        assert {entry.status.st_uid for entry in untrusted_folders.walk(top)} == {54321}
        command = [sys.executable, "-c", "import os; print(os.stat(os.sys.argv[1]).st_uid)", top]
        assert subprocess.run(command, capture_output=True, check=True).stdout == b"54321\n"
