"""The table of reporters: a new format is one file and one row, and everything else follows."""

import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.report import reporters
from harness.report.reporters import REPORTERS, Reporter
from tests.documents import everything

ROOT = Path(__file__).parents[2]
TEXT = everything()
ENGINE = f"{sys.executable} -m oracle gtp"
CASES = "1 name\n#? [gtp-oracle]\n2 known_command name\n#? [true]\n3 name\n#? [other]\n"

COUNTS = '''\
"""How many tests had each verdict."""

from collections import Counter

from harness.report import report_files


def report(path, finished):
    tests = (outcome.verdict.value for file in finished.result.files for outcome in file.outcomes)
    counts = Counter(tests).items()
    report_files.write(path, [f"{verdict} {count}\\n" for verdict, count in counts])
'''
LEAVES = """\
import os

def report(path, finished):
    for view in finished.views:
        with open(os.path.join(path, "leaf"), "a") as file:
            file.write(f"{view.tally.tests} of {view.file.case.path}")
"""
ROWS = (
    Reporter("counts", "FILE", "write how many tests had each verdict", "format_of_counts"),
    Reporter("leaves-of", "DIR", "write a leaf for each file", "format_of_leaves"),
)


@pytest.fixture
def more(tmp_path, monkeypatch):
    """Two formats more: a file and a row for each."""
    (tmp_path / "format_of_counts.py").write_text(COUNTS)
    (tmp_path / "format_of_leaves.py").write_text(LEAVES)
    (tmp_path / "some.gtp").write_text(CASES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reporters, "REPORTERS", (*REPORTERS, *ROWS))
    return tmp_path


@pytest.mark.processes
def test_a_format_is_one_file_and_one_row(more, capfd):
    line = ["run", "--counts", "counts.txt", "--leaves-of", "tree", "--tap", "run.tap"]
    assert main([*line, ENGINE, "some.gtp"]) == 1
    assert (more / "counts.txt").read_text() == "passed 2\nFAILED 1\n"
    assert (more / "tree" / "leaf").read_text() == "3 of some.gtp"
    assert (more / "run.tap").exists()
    capfd.readouterr()
    assert main(["run", "--counts", "-", ENGINE, "some.gtp"]) == 1
    out, err = capfd.readouterr()
    assert out == "passed 2\nFAILED 1\n"
    assert "3 tests" in err
