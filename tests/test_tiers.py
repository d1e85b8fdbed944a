"""The tiers of tests: what each has, in which order, and that the quick one starts no process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tiers import TIERS, arrange, has, limit_examples

ROOT = Path(__file__).parents[1]
SAMPLE = """\
import subprocess, sys
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

drawn, by_default = [], []

def test_plain():
    pass

@pytest.mark.processes
def test_process():
    subprocess.run([sys.executable, "-c", ""], check=True)

@pytest.mark.processes
@pytest.mark.quick
def test_one_of_few():
    subprocess.run([sys.executable, "-c", ""], check=True)

@pytest.fixture(scope="session")
def java():
    pass

def test_program(java):
    pass

@pytest.fixture
def service():
    pass

@pytest.fixture
def browser(service):
    pass

def test_of_a_service(browser):
    pass

@pytest.mark.quick
def test_that_is_chosen(service):
    pass

@pytest.mark.long(5)
def test_long():
    pass

@pytest.mark.long(4)
@pytest.mark.full
def test_long_that_is_chosen():
    pass

@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.processes)])
def kind(request):
    return request.param

def test_of_both(kind):
    pass

@pytest.mark.parametrize("count", [5, pytest.param(500, marks=pytest.mark.slow)])
def test_soak(count):
    pass

@pytest.mark.soak(300)
@settings(max_examples=60, database=None)
@given(st.integers())
def test_drawn(number):
    drawn.append(number)

@settings(database=None)
@given(st.integers())
def test_drawn_by_default(number):
    by_default.append(number)

@pytest.mark.soak(0)
def test_drawn_are():
    print("DRAWN", len(drawn), len(by_default))
"""
DRAWN_TESTS = ["drawn", "drawn_by_default", "drawn_are"]
ORDER = {
    "quick": [
        *("plain", "one_of_few", "that_is_chosen", "of_both[sqlite]", "soak[5]", *DRAWN_TESTS),
    ],
    "full": [
        *("long_that_is_chosen", "plain", "process", "one_of_few", "program", "of_a_service"),
        *("that_is_chosen", "of_both[sqlite]", "soak[5]", *DRAWN_TESTS),
    ],
    "ci": [
        *("long", "long_that_is_chosen", "plain", "process", "one_of_few", "program"),
        *("of_a_service", "that_is_chosen", "of_both[sqlite]", "of_both[postgresql]"),
        *("soak[5]", *DRAWN_TESTS),
    ],
    "slow": ["soak[500]", *DRAWN_TESTS],
}
DRAWN = {"quick": "20 20", "full": "60 50", "ci": "60 50", "slow": "300 100"}
HIDDEN = """\
import subprocess, sys

def test_hides_its_process():
    try:
        subprocess.run([sys.executable, "-c", ""])
    except Exception:
        pass

def test_hides_it_better():
    try:
        subprocess.run([sys.executable, "-c", ""])
    except BaseException:
        pass
"""

pytestmark = [pytest.mark.processes, pytest.mark.quick]


def run(folder: Path, text: str, tier: str) -> str:
    """Return what pytest says of a file of tests in one tier."""
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.tiers"]\n')
    return _pytest_says(folder, text, tier)


def _pytest_says(folder: Path, text: str, tier: str) -> str:
    (folder / "test_sample.py").write_text(text)
    words = [sys.executable, "-m", "pytest", "-vsp", "no:cacheprovider", "--tier", tier]
    done = subprocess.run(
        [*words, "--strict-markers", "test_sample.py"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTEST_ADDOPTS": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("tier", TIERS)
def test_each_tier_has_its_tests_and_examples(tier, tmp_path):
    said = run(tmp_path, SAMPLE, tier)
    lines = [line for line in said.splitlines() if "::test_" in line]
    names = [line.partition("::test_")[2].split()[0] for line in lines]
    assert names == ORDER[tier], said
    assert f"{len(names)} passed" in said
    assert f"DRAWN {DRAWN[tier]}\n" in said


def test_a_process_that_is_not_marked_fails_the_quick_tier_alone(tmp_path):
    said = run(tmp_path, HIDDEN, "quick")
    assert "2 failed" in said, said
    assert said.count("starts a process: mark it with @pytest.mark.processes") >= 2
    assert "2 passed" in run(tmp_path, HIDDEN, "full")


class Drawn:
    """As much of a test with parameters as its number of examples needs."""

    def __init__(self, function):
        self.obj = function

    def get_closest_marker(self, _name):
        return None


def test_a_test_may_have_thousands_of_sets_of_parameters():
    drawn = []

    @settings(database=None)
    @given(st.integers())
    def test(number):
        drawn.append(number)

    for _ in range(2000):
        limit_examples(Drawn(test), "quick")
    test()
    assert len(drawn) == 20


class Item:
    """As much of a test as its place needs."""

    def __init__(self, name, seconds=0, module=None):
        self.name, self.seconds, self.nodeid = name, seconds, name
        self.module = module and Item(module)

    def get_closest_marker(self, name):
        return pytest.mark.long(self.seconds).mark if name == "long" and self.seconds else None

    def iter_markers_with_node(self, name):
        if mark := self.get_closest_marker(name):
            yield self.module or self, mark


@pytest.mark.parametrize("workers", [1, 2, 3, 5, 40])
def test_long_tests_begin_the_shares_of_all_workers(workers):
    """As xdist cuts them: pieces as equal as they can be."""
    long = [Item("a", 30), Item("b", 5), Item("c", 90), Item("d", 20, "m"), Item("e", 20, "m")]
    short = [Item(str(number)) for number in range(96)]
    order = arrange([*short[:50], *long, *short[50:]], workers)
    assert sorted(one.name for one in order) == sorted(one.name for one in [*long, *short])
    shares = []
    for place in range(workers):
        size = len(order) // (workers - place)
        shares.append(order[:size])
        del order[:size]
    if workers == 40:
        return  # a share may be smaller than a module
    for share in shares:
        kinds = [has(one, "long") for one in share]
        assert kinds == sorted(kinds, reverse=True)
        assert sum(kinds) <= -(-5 // workers) + 1
    assert shares[0][0].name == "c"
    assert [one.name for share in shares for one in share if one.module] == ["d", "e"]
    assert any({"d", "e"} <= {one.name for one in share} for share in shares)


SHARED = """\
import pytest

pytestmark = pytest.mark.long(9)

@pytest.fixture(scope="module", params=["one", "two"])
def made(request):
    return request.param

@pytest.mark.parametrize("number", [1, 2])
def test_with_a_number(made, number):
    pass

@pytest.mark.parametrize("number", [3, 4])
def test_with_another(made, number):
    pass
"""


class Collected:
    """Keeps the tests that pytest collects."""

    def pytest_collection_finish(self, session):
        self.found = session.items


@pytest.mark.long(4)
def test_tests_that_share_what_is_made_are_one_workers(tmp_path):
    """Whatever parameters of their own they have: else each worker would make it anew."""
    (tmp_path / "test_sample.py").write_text(SHARED)
    tests = Collected()
    words = [str(tmp_path), "--collect-only", "-q", "-p", "no:cacheprovider", "--noconftest"]
    assert pytest.main(words, plugins=[tests]) == 0
    kinds = ["one" in item.name for item in arrange(tests.found, 2)]
    assert kinds == sorted(kinds, reverse=True)
    assert sum(kinds) == 4


FAILING = """\
import subprocess
import pytest
from harness.engine import leftovers

leftovers.become_subreaper()  # as engines make it

@pytest.fixture
def server(request):
    return request.getfixturevalue("postgresql")  # late, as a parameter asks for it

def test_fails(server):
    test_fails.left = subprocess.Popen(["sleep", "60"])
    raise AssertionError

def test_passes(server):
    assert test_fails.left.wait(10) == -9
    with server.new_database():
        pass
"""


def test_a_test_that_fails_ends_what_it_started_and_not_what_all_share(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.conftest"]\n')
    said = _pytest_says(tmp_path, FAILING, "full")
    assert "1 failed, 1 passed" in said, said
