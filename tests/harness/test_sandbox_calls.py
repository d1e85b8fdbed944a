"""What Landlock and resource limits are asked for on each kernel."""

from __future__ import annotations

import os
import resource
from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.options import BoxLimits
from harness.sandbox import inside, landlock, launcher, plan, server

# --- Landlock


# ABI; access to files, to the network, scopes, and the bytes of the record.
RULESETS = [
    (1, 0x1FFF, 0, 0, 8),
    (2, 0x3FFF, 0, 0, 8),
    (3, 0x7FFF, 0, 0, 8),
    (4, 0x7FFF, 3, 0, 16),
    (5, 0xFFFF, 3, 0, 16),
    (6, 0xFFFF, 3, 3, 24),
    (9, 0xFFFF, 3, 3, 24),
]


@pytest.fixture
def landlock_calls(monkeypatch):
    """Note what Landlock is asked for; the ruleset is the descriptor 99."""
    calls = []

    def syscall(name: str, number: int, *given: Any) -> int:
        records = [getattr(one, "_obj", one) for one in given]
        calls.append((name, number, *(fields(one) for one in records)))
        return 99

    monkeypatch.setattr(landlock, "syscall", syscall)
    closed = []
    close = os.close
    monkeypatch.setattr(
        landlock.os, "close", lambda one: closed.append(one) if one == 99 else close(one)
    )
    return calls, closed


def fields(record: Any) -> Any:
    if isinstance(record, landlock._Ruleset):
        return record.files, record.network, record.scoped
    return ("beneath", record.access) if isinstance(record, landlock._Beneath) else record


@pytest.mark.parametrize(("version", "files", "network", "scoped", "size"), RULESETS)
def test_each_kernel_is_asked_for_all_it_knows(
    version, files, network, scoped, size, landlock_calls
):
    landlock.confine([], version)
    assert landlock_calls[0] == [
        ("landlock_create_ruleset", 444, (files, network, scoped), size, 0),
        ("landlock_restrict_self", 446, 99, 0),
    ]
    assert landlock_calls[1] == [99]


def test_what_is_allowed_to_a_path(tmp_path, landlock_calls):
    (tmp_path / "file").touch()
    paths = [str(tmp_path), str(tmp_path / "file"), str(tmp_path / "nothing")]
    landlock.confine([(path, 0xFFFF) for path in paths], 3)
    on_files = 0b111 | 1 << 14
    assert landlock_calls[0][1:-1] == [
        ("landlock_add_rule", 445, 99, 1, ("beneath", 0x7FFF), 0),
        ("landlock_add_rule", 445, 99, 1, ("beneath", on_files), 0),
    ]
    landlock.confine([(paths[1], 0xFFFF)], 5)
    assert landlock_calls[0][-2][4] == ("beneath", on_files | 1 << 15)


@pytest.mark.parametrize(("version", "asked_for"), [(5, []), (6, [(0, 0, 3)]), (7, [(0, 0, 3)])])
def test_signals_are_kept_in_where_the_kernel_can(version, asked_for, landlock_calls):
    landlock.keep_signals_in(version)
    assert [call[2] for call in landlock_calls[0][:1]] == asked_for


def test_attributes_are_added_to_a_mount_and_none_is_cleared(landlock_calls):
    """What the system shows read-only stays so."""
    landlock.set_mount_attributes("/place", 5)
    (call,) = landlock_calls[0]
    assert (call[1], call[3], list(call[5]), call[6]) == (442, b"/place", [5, 0, 0, 0], 32)


# --- limits

NONE = [(resource.RLIMIT_CORE, 0, 0), (resource.RLIMIT_MSGQUEUE, 0, 0),
        (resource.RLIMIT_RTPRIO, 0, 0), (resource.RLIMIT_SIGPENDING, 1024, 1024)]  # fmt: skip
ALLOWED = BoxLimits()._replace(
    address_space=100, cpu=2.5, open_files=30, file_size=40, memory=50, processes=6
)


def test_the_limits_of_a_process():
    assert plan.rlimits(ALLOWED, 9) == [
        (resource.RLIMIT_AS, 100, 100),
        (resource.RLIMIT_CPU, 3, 4),
        (resource.RLIMIT_NOFILE, 30, 30),
        (resource.RLIMIT_FSIZE, 40, 40),
        (resource.RLIMIT_NPROC, 9, 9),
        *NONE,
    ]
    without = dict.fromkeys(("address_space", "cpu", "open_files", "file_size"), 0)
    assert plan.rlimits(ALLOWED._replace(**without), 0) == NONE


@pytest.mark.parametrize(
    ("most", "found"), [(resource.RLIM_INFINITY, (3, 4)), (4, (3, 4)), (3, (3, 3)), (1, (1, 1))]
)
def test_no_limit_is_raised(most, found, monkeypatch):
    calls = []

    def prlimit(pid: int, kind: int, *wanted: object) -> tuple[int, int]:
        calls.extend((pid, kind, one) for one in wanted)
        return (0, most)

    monkeypatch.setattr(plan.resource, "prlimit", prlimit)
    plan.set_limits(7, [(resource.RLIMIT_CPU, 3, 4)])
    assert calls == [(7, resource.RLIMIT_CPU, found)]


def test_a_box_whose_limits_cannot_be_set_is_not_let_go(monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(1, "not allowed")

    monkeypatch.setattr(plan, "set_limits", refuse)
    box: Any = object.__new__(server.Box)
    box._plan = SimpleNamespace(rlimits=())
    box._take("child-pid", "77", -1)  # nothing is written to what bubblewrap waits for
    assert box._fault == "limits cannot be set: not allowed"


def test_a_box_may_take_longer_to_begin_for_what_is_copied_into_it(monkeypatch):
    told = []
    monkeypatch.setattr(server.Box, "_is_late", lambda _, seconds: told.append(seconds) or True)
    box: Any = object.__new__(server.Box)
    box._poll, box._control = SimpleNamespace(register=lambda *_: None), None
    box._plan, box._meter = SimpleNamespace(own=(40 << 20, 3000)), SimpleNamespace(hit=None)
    box._end = plan.BoxEnd()
    box._attend(0, 0)
    assert told == [server._LONGEST_START + 2 + 3]  # 20 MiB, and 1000 files, a second


def test_the_threads_that_run_already_are_no_engine_s(tmp_path, monkeypatch):
    """At level 1 all processes of a user count, and no others."""
    for place in ("1/task/1", "1/task/2", "self/task/1"):
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(launcher, "Path", lambda _: tmp_path)
    beside_ours = launcher._most_threads(9, 1, 0)
    monkeypatch.setattr(launcher.os, "getuid", lambda: 1 << 30)
    beside_others = launcher._most_threads(9, 1, 0)
    assert (beside_ours, beside_others) == (beside_others + 2, 9 + launcher._MEANWHILE)


def test_a_file_is_shown_in_a_folder_of_which_nothing_else_is(tmp_path):
    place = tmp_path / "folder" / "file"
    for _ in range(2):
        inside._make_place(str(place), folder=False)
    assert place.read_bytes() == b""


MAPS = [
    ("0 0 4294967295\n", {"far"}),
    ("0 100000 65536\n", {"near"}),
    ("0 1000 1\n1 100000 65535\n", {"near"}),
    ("0 1000 1\n", {"nobody"}),
    ("0 1000 1000\n", {"none"}),
]


@pytest.mark.parametrize(("mapped", "expected"), MAPS)
def test_an_engine_of_root_is_a_user_that_nobody_is(mapped, expected, tmp_path, monkeypatch):
    file = tmp_path / "uid_map"
    file.write_text(mapped)
    opened = open
    monkeypatch.setattr(
        launcher, "open", lambda path, **named: opened(file, **named), raising=False
    )
    if expected == {"none"}:
        with pytest.raises(launcher.SandboxError, match="no user id is left"):
            launcher.nobody()
        return
    found = {launcher.nobody() for _ in range(20)}
    if expected == {"nobody"}:
        assert found == {0}
        return
    assert len(found) > 1
    first, last = (0x7F00_0000, 0x7FFE_FFFF) if expected == {"far"} else (61184, 65519)
    assert first <= min(found)
    assert max(found) <= last
