"""A view turned into mounts and rules: the whole of both, for a small machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.sandbox import bubblewrap, view
from harness.sandbox.plan import Mount, WritableSpace
from harness.sandbox.view import View

ITSELF = [
    "auxv",
    "cmdline",
    "comm",
    "environ",
    "exe",
    "fd",
    "fdinfo",
    "limits",
    "maps",
    "oom_score",
    "oom_score_adj",
    "personality",
    "smaps",
    "smaps_rollup",
    "stat",
    "statm",
    "status",
    "wchan",
]
READ, LIST, WRITE, DEVICE = 0b1101, 0b1000, 0x7FFF, 0b110 | 1 << 14


@pytest.fixture
def example_view(tmp_path: Path) -> View:
    """Return a view of a folder, a copy of a submission, results and a hidden file and folder."""
    for name in ("shown/cases", "sub/cases", "results", "real"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("shown/a", "shown/secret", "sub/run", "sub/hidden"):
        (tmp_path / name).touch()
    (tmp_path / "shown" / "link").symlink_to("secret")
    (tmp_path / "out").symlink_to("real")
    sub = str(tmp_path / "sub")
    hidden = ("shown/cases", "shown/secret", "sub/hidden")
    return View(
        shown=("/usr", str(tmp_path / "shown"), sub),
        hidden=tuple(str(tmp_path / name) for name in hidden),
        links=(("/bin", "usr/bin"),), folder=sub, program=f"{sub}/run",
        writable=(str(tmp_path / "out"),), copied=(sub,),
    )  # fmt: skip


def test_the_file_tree_of_a_box(example_view, tmp_path):
    top = str(tmp_path)
    devices = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
    links = {"/dev/shm": "/tmp", "/dev/fd": "/proc/self/fd", "/bin": "usr/bin"}
    links |= {
        f"/dev/std{name}": f"/proc/self/fd/{n}" for n, name in enumerate(("in", "out", "err"))
    }
    machine = tuple(
        f"/proc/{name}"
        for name in ("keys", "key-users", "timer_list", "vmstat", "cmdline", "swaps")
    )
    expected = [
        Mount("bind", "/usr", os.path.realpath("/usr")),
        Mount("bind", f"{top}/shown", f"{top}/shown"),
        Mount("copy", f"{top}/sub", f"{top}/sub", (f"{top}/sub/hidden",)),
        Mount("writable", f"{top}/out", f"{top}/real"),
        *(Mount("link", place, target) for place, target in links.items()),
        Mount("mask folder", f"{top}/shown/cases"),
        Mount("mask file", f"{top}/shown/secret"),
        *(Mount("device", path, path) for path in devices if os.path.exists(path)),
        Mount("scratch", "/tmp"),
        Mount("proc", "/proc"),
        Mount("mask folder", "/proc/1"),
        *(Mount("mask file", path) for path in machine if os.path.exists(path)),
    ]
    assert view.mounts(example_view) == tuple(sorted(expected, key=lambda one: one.place))
    assert view.scratch_places(example_view) == ("/tmp", f"{top}/sub")


def test_the_rules_of_level_2(example_view, tmp_path):
    writable = ("/tmp", f"{tmp_path}/sub", f"{tmp_path}/out", "/proc")
    assert view.reach(example_view, 2) == (
        ("/", READ), *((place, WRITE) for place in writable),
        *((path, DEVICE) for path in view.DEVICES),
    )  # fmt: skip


def test_the_rules_of_level_1(example_view, tmp_path):
    """What is hidden gets no rule, nor does a link, which would be one for what it leads to."""
    top = str(tmp_path)
    found = view.reach(example_view, 1)
    shown = [rule for rule in found if rule[0].startswith((top, "/usr"))]
    assert set(shown[:-1]) == {
        ("/usr", READ), (f"{top}/shown", LIST), (f"{top}/shown/a", READ),
        (f"{top}/sub", LIST), (f"{top}/sub/run", READ), (f"{top}/sub/cases", READ),
    }  # fmt: skip
    machine = [f"/proc/{name}" for name in ("cpuinfo", "meminfo", "stat", "loadavg")]
    own = [f"/proc/self/{name}" for name in ITSELF]
    assert found[len(shown) - 1 :] == (
        *((path, READ) for path in (*machine, *own)), ("/proc/self", LIST),
        (f"{top}/out", WRITE), *((path, DEVICE) for path in view.DEVICES),
    )  # fmt: skip


# --- the view


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("/", ("/s",)), ("/tmp", ("/s",)), ("/s/deep", ("/s",)), ("/out", ("/s",)),
     ("/usr/share", ("/s",)), ("/else", ("/s", "/else"))],
)  # fmt: skip
def test_where_an_engine_may_write(folder, expected):
    seen = View(("/usr",), (), (), folder, "/s/run", writable=("/out",), copied=("/s",))
    assert seen.places_to_write == expected


def test_paths_that_a_word_names(tmp_path):
    for name in ("sub", "lib/inner"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("lib/a.jar", "lib/b.jar", "sub/x"):
        (tmp_path / name).touch()
    (tmp_path / "lib" / "away").symlink_to(tmp_path / "sub")
    top, sub = str(tmp_path), str(tmp_path / "sub")

    def find_named(word: str, submission: str = "") -> list[str]:
        return list(view._find_named_paths(word, f"{top}/lib", submission))

    assert find_named("a.jar") == [f"{top}/lib"]
    assert find_named("-Dx=a.jar:b.jar") == [f"{top}/lib"] * 2
    assert find_named("inner") == [f"{top}/lib/inner"]
    assert find_named("../sub:a.jar") == [sub, f"{top}/lib"]
    assert find_named("../sub:../sub/x:a.jar", sub) == [f"{top}/lib"]
    assert find_named("away") == []  # a link out of its folder
    assert find_named("nothing") == []
    assert find_named("") == []


@pytest.mark.parametrize("owner", [0, 1234])
def test_only_a_box_of_another_user_begins_with_the_right_to_become_that_user(owner):
    words = bubblewrap.options((), WritableSpace(0, 0, owner=owner), "/", {}).split(b"\0")
    assert (b"CAP_SETUID" in words, b"CAP_SETGID" in words) == (bool(owner),) * 2
    assert (b"--unshare-user" in words) is (not owner)
