"""What processes hold in memory, added up by hand from what ``/proc`` says of them."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from harness.sandbox import memory
from harness.sandbox.seccomp import LARGEST_SHARED

KIB = 1024
ONE, OTHER = 99_999_991, 99_999_992  # no processes: they have no descriptors
STATUS = "Name:\tengine\nVmPTE:\t10 kB\nVmSwap:\t20 kB\nHugetlbPages:\t4 kB\nRssAnon:\t100 kB\n"
ROLLUP = "0-1 ---p 0 00:00 0 [rollup]\nPss_Anon: 60 kB\nPss_File: 7 kB\nPss_Shmem: 50 kB\n"
MAPS = """\
1000-3000 rw-p 00000000 00:00 0
10000-30000 rw-s 00001000 00:01 77 /dev/zero (deleted)
"""
LARGE = "0-ffff0000 rw-s 00010000 00:01 77 /dev/zero (deleted)\n"  # 4 GiB with its offset
FILES: dict[str, str | type[OSError]] = {
    "/proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 600 kB\nShmem: 50 kB\n",
    **{f"/proc/{one}/status": STATUS for one in (ONE, OTHER)},
    **{f"/proc/{one}/smaps_rollup": ROLLUP for one in (ONE, OTHER)},
    **{f"/proc/{one}/maps": MAPS for one in (ONE, OTHER)},
}


class Facts(NamedTuple):
    task: int = ONE
    threads: int = 2
    virtual: int = 1 << 20
    resident: int = 200 * KIB


ROUGH = 5 + 200 * KIB + 2 * 24 * KIB  # five bytes of files in memory
KERNEL = 34 * KIB + 2 * 384  # page tables, swap and huge pages; two mappings
WHOLE = ROUGH + KERNEL + LARGEST_SHARED
MUCH = 1 << 40

HELD = [
    pytest.param([Facts()], (0, 5, 0), {}, ROUGH, id="no limit"),
    pytest.param([Facts()], (MUCH, 5, 0), {}, ROUGH, id="far from the limit"),
    pytest.param([Facts()], (ROUGH + 50 * KIB + (1 << 20) + 256 * 384, 5, 0), {}, ROUGH,
                 id="at most at the limit"),
    pytest.param([Facts()], (ROUGH + 50 * KIB + (1 << 20) + 256 * 384 - 1, 5, 0), {},
                 WHOLE - 133 * KIB, id="perhaps over it"),
    pytest.param([Facts()], (MUCH, 5, 0, True), {}, WHOLE, id="closely"),
    pytest.param([Facts()], (MUCH, 5, 0, True), {"maps": LARGE},
                 ROUGH + 34 * KIB + 384 + (1 << 32), id="a large piece of shared memory"),
    pytest.param([Facts(), Facts(OTHER)], (MUCH, 5, 0, True), {}, 2 * (ROUGH + KERNEL) - 5
                 + LARGEST_SHARED, id="two that share a piece"),
    pytest.param([Facts()], (99 * KIB, 5, 0), {}, 5 + 100 * KIB, id="its own pages are too much"),
    pytest.param([Facts(), Facts(OTHER)], (99 * KIB, 5, 0), {}, 2 * ROUGH - 5 + KERNEL,
                 id="the first one's tables are too much"),
    pytest.param([Facts()], (WHOLE - 1, 5, 0, True), {}, WHOLE - 133 * KIB,
                 id="of pages that others have as well its share"),
    pytest.param([Facts()], (WHOLE, 5, 0, True), {}, WHOLE, id="all of them are at the limit"),
    pytest.param([Facts()], (WHOLE - 1, 5, 0, True), {"smaps_rollup": FileNotFoundError},
                 WHOLE - 200 * KIB, id="it has just ended"),
    pytest.param([Facts()], (WHOLE - 1, 5, 0, True), {"smaps_rollup": PermissionError}, WHOLE,
                 id="its share is secret"),
    pytest.param([Facts()], (WHOLE - 1, 5, 0, True),
                 {"smaps_rollup": "0-1 ---p 0 00:00 0 [rollup]\nPss: 67 kB\n"}, WHOLE,
                 id="its share has no parts"),
    pytest.param([Facts()], (MUCH, 5, 0, True), {"maps": PermissionError},
                 ROUGH + 34 * KIB + 50 * KIB - 5, id="its mappings are secret"),
    pytest.param([Facts()], (MUCH, 5, 30 * KIB, True), {"maps": PermissionError},
                 ROUGH + 34 * KIB + 20 * KIB - 5, id="and others had shared memory before"),
    pytest.param([Facts()], (MUCH, 5, 0, True), {"maps": FileNotFoundError}, ROUGH + 34 * KIB,
                 id="its mappings are gone"),
    pytest.param([Facts()], (MUCH, 5, 0, True), {"status": FileNotFoundError},
                 WHOLE - 34 * KIB, id="its tables are gone"),
]  # fmt: skip


@pytest.fixture
def proc(monkeypatch):
    files = dict(FILES)

    def read(path: str) -> str:
        found = files.get(path, FileNotFoundError)
        if isinstance(found, str):
            return found
        raise found(path)

    monkeypatch.setattr(memory, "read", read)
    return files


@pytest.mark.parametrize(("engine", "look", "changed", "held"), HELD)
def test_what_is_held(engine, look, changed, held, proc):
    proc.update({f"/proc/{ONE}/{name}": found for name, found in changed.items()})
    assert memory.measure_held(engine, *look) == held


def test_the_whole_machine(proc):
    assert tuple(map(memory.of_machine, ("Shmem:", "MemAvailable:"))) == (50 * KIB, 600 * KIB)
    del proc["/proc/meminfo"]
    assert tuple(map(memory.of_machine, ("Shmem:", "MemAvailable:"))) == (0, 0)
