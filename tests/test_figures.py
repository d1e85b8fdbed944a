"""Figures that several documents have come from one place: the code, or docs/figures.toml."""

from collections import Counter

import pytest

from tests import golden
from tests.documents import DOCUMENTS, PAGES, ROOT, name, read
from tests.figures import figures, fill, places

PLACED = [path for path in DOCUMENTS if places(read(path))]


@pytest.mark.parametrize("path", PLACED, ids=name)
def test_figures_are_those_of_their_source(path):
    golden.check(path, fill(read(path), figures()))


def test_each_figure_has_a_place_and_a_measured_one_that_is_shared_has_several():
    counts = Counter(one for path in PLACED for one in places(read(path)))
    assert set(counts) == set(figures())
    assert counts["copy.folder"] == counts["memory.held"] == 2


def test_a_figure_that_is_marked_stands_nowhere_unmarked():
    """As far as it has a unit: a bare number may be another one."""
    bare = {path: fill(read(path), dict.fromkeys(figures(), "")) for path in [*PAGES, *PLACED]}
    several = [text for text in figures().values() if text.count(" ") > 1]
    found = [(name(path), text) for path in bare for text in several if text in bare[path]]
    assert found == []


def test_the_table_of_fuzzing_is_as_old_as_is_said():
    table = read(ROOT / "tests" / "benchmarks" / "fuzz.md")
    assert table.splitlines()[2].startswith(f"{figures()['fuzz.mistakes']} mistakes: ")
    assert int(figures()["fuzz.mistakes"]) <= int(figures()["bank.mistakes"])


def test_a_place_is_filled_and_one_whose_lines_break_is_left():
    known = {"a.b": "1 MiB"}
    assert fill("at <!--=a.b-->2 MiB<!--/-->, not", known) == "at <!--=a.b-->1 MiB<!--/-->, not"
    broken = "<!--=a.b-->1\nMiB<!--/-->"
    assert fill(broken, known) == broken
    assert places(broken) == ["a.b"]
