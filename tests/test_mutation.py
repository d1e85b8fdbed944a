"""The mutation tool: what it marks in modules, and what the documentation says of its sample."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import tomllib
from types import SimpleNamespace

import pytest

from tests.mutation import blocks, known, reach, results, table, trying
from tests.mutation.modules import ROOT
from tests.mutation.sharing import share

MODULE = '''\
"""A module."""

from __future__ import annotations

LIMIT = 3


def one(limit=LIMIT):
    """A function."""
    if limit > 2:
        return "many"
    elif limit:
        return "some"
    for number in range(
        limit
    ):
        try:
            print(number)
        except ValueError:
            pass
    return "none"


class Shape:
    sides = 4

    @property
    def name(self): return "square"

    async def draw(self):
        @staticmethod
        def inner():
            return 1
        return inner()
'''

# A line of the module, and the block around it.
AROUND = [
    (5, ""),
    (8, "one 1"),
    (10, "one 1"),
    (11, "one 2"),
    (12, "one 1"),
    (13, "one 3"),
    (15, "one 1"),
    (18, "one 5"),
    (20, "one 6"),
    (21, "one 1"),
    (25, ""),
    (28, ""),
    (30, "Shape.draw 1"),
    (31, "Shape.draw.inner 1"),
    (33, "Shape.draw.inner 1"),
    (34, "Shape.draw 1"),
]


@pytest.mark.parametrize(("line", "is_head"), [(5, False), (8, True), (10, False), (32, True)])
def test_what_a_function_says_before_it_begins_runs_on_import(line, is_head):
    assert blocks.is_head(MODULE, line) == is_head


@pytest.mark.parametrize(("line", "block"), AROUND)
def test_the_block_around_a_line(line, block):
    assert blocks.enclosing(MODULE, line) == block


def test_a_marked_module_does_the_same_and_notes_what_it_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "_reach_marks", None, raising=False)  # which is taken back afterwards
    del sys._reach_marks
    found = blocks.find(MODULE)
    marks = tmp_path / "marks"
    marks.write_bytes(bytes(2 + len(found)))
    room: dict = {}
    exec(compile(blocks.mark_blocks(MODULE, 2, str(marks), 0), "module", "exec"), room)
    assert not any(marks.read_bytes())
    assert room["one"](1) == "some"
    names = [one.name for one, mark in zip(found, marks.read_bytes()[2:], strict=True) if mark]
    assert names == ["one 1", "one 3"]


def test_each_change_that_is_named_as_equivalent_can_still_be_made():
    entries = tomllib.loads((ROOT / "tests/mutation/equivalent.toml").read_text())["change"]
    for one in entries:
        assert known.is_equivalent(one["module"], one["before"], one["after"])
        lines = [line.strip() for line in (ROOT / one["module"]).read_text().splitlines()]
        assert one["before"] in lines, f"{one['module']} has no line {one['before']!r}"


def test_the_page_shows_the_sample():
    page = table.PAGE.read_text(encoding="utf-8")
    assert page == table.page(list(results.read(results.SAMPLE)), page)


@pytest.mark.parametrize(
    ("file", "tier", "asked"),
    [
        ("tests/harness/test_ledger_key.py", "short", "short"),
        ("tests/harness/test_work.py", "short", "short"),
        ("tests/harness/test_deciding_constants.py", "short", "short"),
        ("tests/harness/test_grade.py", "short", "short"),
        ("tests/harness/test_gradescope.py", "short", "quick"),
        ("tests/harness/test_grade_summary.py", "short", "short"),
        ("tests/cluster/test_worker.py", "short", "quick"),
        ("tests/cluster/test_worker.py", "ci", "ci"),
        ("tests/harness/test_work.py", "quick", "quick"),
    ],
)
def test_which_tests_of_a_file_are_asked(file, tier, asked):
    assert (ROOT / file).exists()
    assert reach._tier_of(file, tier) == asked


@pytest.mark.parametrize(("most", "asked"), [(0.0, 1), (1.5, 2), (99.0, 3)])
def test_no_more_tests_are_asked_once_it_takes_too_long(most, asked, monkeypatch):
    """Each batch takes a second."""
    trial = object.__new__(trying.Trial)
    trial._copy = SimpleNamespace(original=lambda module: "")
    trial._reach = SimpleNamespace(tests=lambda *place: ["a", "b", "c"], collecting=None)
    trial._most = most
    batches = []

    def noticing(change, batch):
        batches.append(batch)
        trial._cpu += 1.0
        return ""

    monkeypatch.setattr(trying, "_batches", lambda reachers, collecting: iter("abc"))
    trial._sorted = lambda reachers, module: reachers
    trial._noticing = noticing
    found = trial.attempt(SimpleNamespace(module="a.py", line=1))
    assert (found.outcome, found.tests, found.cpu) == (trying.Outcome.SURVIVED, 3, asked)
    assert batches == list("abc")[:asked]


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_copy_that_a_change_destroyed_is_made_again(is_whole, tmp_path, monkeypatch):
    restored, closed = [], []
    trial = object.__new__(trying.Trial)
    trial._folder, trial._number = tmp_path / "0", 0
    copy = trial._copy = SimpleNamespace(is_whole=lambda: is_whole, restore=restored.append)
    trial._server = SimpleNamespace(close=lambda: closed.append(1))
    monkeypatch.setattr(trying, "Copy", lambda folder: folder)
    monkeypatch.setattr(trying, "Server", lambda made: made)
    trial._restore("a.py")
    again = tmp_path / "0-1"
    assert (trial._copy, trial._server == again) == (copy if is_whole else again, not is_whole)
    assert (restored, closed) == (["a.py"] * is_whole, [1] * (not is_whole))


@pytest.mark.parametrize(
    ("outcomes", "share"),
    [("", 1.0), ("N", 1.0), ("NE", 1.0), ("NS", 0.5), ("NNNSE", 0.75), ("S", 0.0)],
)
def test_the_share_of_changes_that_are_noticed(outcomes, share):
    names = {"N": "noticed", "E": "equivalent", "S": "survived"}
    assert table.share(names[one] for one in outcomes) == share


def test_a_table_has_a_row_for_each_folder():
    later = make_result("survived")._replace(later="a test")
    found = [
        make_result("noticed"),
        make_result("survived"),
        make_result("noticed", "harness/work/crew.py"),
        later,
    ]
    assert table.markdown(found).splitlines()[2:] == [
        "| `harness/work` | 1 | 1 | 0 | 0 | 0 |",
        "| `oracle` | 3 | 1 | 0 | 2 | 1 |",
        "| all | 4 | 2 | 0 | 2 | 1 |",
    ]


def test_the_page_tells_what_was_noticed_at_first_and_what_is_now():
    later = make_result("survived")._replace(later="a test", before="x")
    text = table.paragraph([make_result("noticed"), make_result("survived"), later])
    assert "33.3% of those that change something were noticed" in text
    assert "with the tests that were written since: 66.7%" in text
    assert text.endswith("Not noticed:\n\n- `oracle/play.py`: ``a`` became ``b``\n")


def test_the_page_tells_how_much_of_a_sample_was_tried():
    whole = [make_result("noticed")] * 400
    outcomes = ("noticed", "survived")
    part = [make_result(one)._replace(commit="def", seed=2) for one in outcomes]
    text = table.paragraph([*whole, *part])
    assert text.startswith("402 changes were tried.\n")
    assert "seed 1: 400 changes; 100.0% of" in text
    assert "commit def, seed 2: 2 of 400 changes; 50.0% of" in text


@pytest.mark.processes
def test_a_survivor_that_is_noticed_later_keeps_its_place(tmp_path):
    path = tmp_path / "results.jsonl"
    found = [make_result("survived")._replace(line=line) for line in (1, 2, 3)]
    path.write_text("".join(json.dumps(one._asdict()) + "\n" for one in found))
    results.note_later(path, found[1], "a test")
    found = list(results.read(path))
    assert [one.line for one in found] == [1, 2, 3]
    assert [one.now for one in found] == ["survived", "noticed", "survived"]
    assert [one.first for one in found] == ["survived"] * 3


class Worker:
    """Notes that it was closed."""

    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_what_takes_long_holds_back_nothing_else():
    workers = [Worker(), Worker()]
    is_last_one_done = threading.Event()

    def do(worker: Worker, thing: str) -> str:
        assert not worker.is_closed
        if thing == "long":
            assert is_last_one_done.wait(60)
        return thing.upper()

    found = []
    for thing, made_of_it in share(["long", "b", "c"], workers, do):
        found.append((thing, made_of_it))
        if thing == "c":
            is_last_one_done.set()
    assert found == [("b", "B"), ("c", "C"), ("long", "LONG")]
    assert all(one.is_closed for one in workers)


def test_who_stops_early_begins_no_more():
    begun = []
    shared = share(
        range(100), [Worker()], lambda _, thing: begun.append(thing) or time.sleep(0.01)
    )
    next(shared)
    shared.close()
    assert len(begun) < 100


def test_nothing_to_do_needs_no_worker():
    assert not list(share([], (pytest.fail("made one") for _ in range(2)), Worker))


def make_result(outcome: str, module: str = "oracle/play.py") -> results.Result:
    return results.Result(module, 1, "a", "b", outcome, "", 1, 0.5, 1, "2026-01-01", "abc")


TESTS = """
import pytest

def test_passes(): pass

def test_fails(): assert 0

def test_is_skipped(): pytest.skip("not here")

@pytest.mark.parametrize("value", ["new"])
def test_other_parameters(value): assert value == "old"
"""

# The tests that are wanted, in that order; the one that notices.
NOTICING = [
    (["test_passes"], ""),
    (["test_passes", "test_fails"], "test_fails"),
    (["test_is_skipped", "test_fails"], "test_is_skipped"),
    (["test_fails", "test_is_skipped"], "test_fails"),
    (["test_passes", "test_other_parameters[old]"], "test_other_parameters[new]"),
]


@pytest.mark.long(2)
@pytest.mark.processes
@pytest.mark.parametrize(("wanted", "noticing"), NOTICING)
def test_the_first_test_that_does_not_pass_notices(wanted, noticing, tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    wanted = [f"test_it.py::{one}" for one in wanted]
    code = (
        "import sys; from pathlib import Path; import pytest\n"
        "from tests.mutation.plugins import Trial\n"
        "trial = Trial(Path('told.json'), sys.argv[1:])\n"
        "pytest.main(['-p', 'no:cacheprovider', 'test_it.py'], plugins=[trial])\n"
        "trial.end()"
    )
    subprocess.run(
        [sys.executable, "-c", code, *wanted],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    told = json.loads((tmp_path / "told.json").read_text())
    assert told.get("failed", "") == (noticing and f"test_it.py::{noticing}")
    assert told["ended"]


# It starts a process and sleeps until that ends; the other one computes.
SLEEPS = "import os, time; os.fork() or (os.setsid(), time.sleep(99)); os.wait()"
COMPUTES = "while True: pass"


@pytest.mark.processes
@pytest.mark.parametrize(
    ("code", "cpu", "wall", "in_time"),
    [("", 50, 50, True), (SLEEPS, 50, 0.5, False), (COMPUTES, 0.1, 50, False)],
)
def test_what_takes_too_long_is_ended_with_all_that_it_started(code, cpu, wall, in_time):
    server = (
        "import os, subprocess, sys; from tests.mutation import limiting\n"
        "limiting.adopt_orphans()\n"
        "pid = subprocess.Popen([sys.executable, '-c', sys.argv[1]]).pid\n"
        "print(limiting.wait(pid, *map(float, sys.argv[2:])))\n"
        "limiting.end_children()\n"
        "try: os.wait()\n"
        "except ChildProcessError: print('nobody is left')"
    )
    words = [sys.executable, "-c", server, code, str(cpu), str(wall)]
    done = subprocess.run(
        words,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == f"{in_time}\nnobody is left\n", done.stderr


@pytest.mark.processes
def test_what_a_changed_sandbox_mounts_is_its_own(tmp_path):
    """A user without the right to mount gets an error instead."""
    program = (
        "import ctypes, sys; from tests.mutation import limiting\n"
        "limiting.use_own_mounts()\n"
        "libc = ctypes.CDLL(None)\n"
        "print(libc.mount(b'tmpfs', sys.argv[1].encode(), b'tmpfs', 0, None))\n"
        "open(sys.argv[1] + '/seen', 'w').close()\n"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    ran = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    mounted = ran.stdout == "0\n"
    assert (tmp_path / "seen").exists() is not mounted
