"""Submissions of every kind, from the Canvas download to the filled gradebook.

One of each kind and a sample of the mistakes; all mistakes, and so many right ones that the class
is two hundred, in the slow tier.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from tests.harness import whole_class

pytestmark = [pytest.mark.processes, pytest.mark.long(90)]

ROOT = Path(__file__).parents[2]
COLUMN = "Assignment 1 (771)"


def exactly(mark):
    """Return a mark as the gradebook should have it: half up to two places, none as nothing."""
    return "" if mark is None else two_places(Decimal(mark.numerator) / mark.denominator)


def two_places(number):
    return str(Decimal(number).quantize(Decimal("0.01"), ROUND_HALF_UP)) if number != "" else ""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="one of each kind"),
        pytest.param(True, id="two hundred", marks=pytest.mark.slow),
    ],
)
def graded_whole_class(request, c_tools, java):
    """Return the class, and the folder that its grading wrote."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        made = whole_class.make(folder, request.param)
        command = [sys.executable, "-m", "harness.cli", "grade", made.download]
        options = ["--assignment", made.assignment, "--canvas", made.gradebook]
        options += ["--canvas-column", "Assignment 1"]
        done = subprocess.run(
            [*command, *options, "--output", folder / "marks"],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert done.returncode in (0, 1, 4), done.stdout[-2000:] + done.stderr[-2000:]
        yield made, folder / "marks", done.stdout


def test_every_mark_is_the_true_one(graded_whole_class):
    made, output, _ = graded_whole_class
    with (output / "canvas.csv").open(newline="", encoding="utf-8") as file:
        found = {row["ID"]: two_places(row[COLUMN]) for row in csv.DictReader(file) if row["ID"]}
    assert len(made.cases) == len(found)
    assert "right 0" in [case.label for _, case in made.cases]  # after all other kinds
    truth = {str(number): (case.label, exactly(case.mark)) for number, case in made.cases}
    assert {number: (label, found[number]) for number, (label, _) in truth.items()} == truth


def test_only_who_learnt_by_heart_is_suspected(graded_whole_class):
    made, output, _ = graded_whole_class
    found = json.loads((output / "class.json").read_text())["submissions"]
    labels = {f"{whole_class.surname(number)}_{number}": case.label for number, case in made.cases}
    assert [labels[one["key"]] for one in found if one["suspicion"]] == ["learnt by heart"]


def test_the_summary_names_who_handed_in_nothing(graded_whole_class):
    made, _, said = graded_whole_class
    assert f"{len(made.cases) - 1} marks, 0 withheld" in said
    assert "1 row of gradebook.csv without a submission" in said
