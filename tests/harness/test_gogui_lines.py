"""gogui-regress's own lines and data file, to the letter; see also ``test_gogui_parity``."""

from __future__ import annotations

import pytest

from harness.report.gogui import at_most_one_decimal, lines, summary, summary_dat
from harness.report.tally import Tally, tally
from tests.harness.made_run import Line, V, made_file

# (line of the case file, plain line, long line)
LINES = [
    (
        Line("12 score", "=12 {0}%s\x1b", "[{1}]", V.FAILED),
        "12 unexpected FAIL: Correct '{1}', got '{0}%s\\x1b'",
        "12 FAILED: Correct '{1}', got '{0}%s\\x1b'",
    ),
    (Line("12 score", None, "[x]", V.NOT_RUN), "12 not run", "12 not run"),
    (Line("12 score", "=12 x", "[y]", V.IGNORED), "", "12 x"),
    (Line("score", "? setup"), "", ""),
]


@pytest.mark.parametrize(("line", "plain", "long"), LINES)
def test_lines(line, plain, long):
    file = made_file("a/b.tst", [line])
    with_prefix = [f"a/b.tst {plain}"] if plain else []
    assert list(lines(file, prefix=False)) == ([plain] if plain else [])
    assert list(lines(file, prefix=True)) == with_prefix
    *judged, last = lines(file, prefix=False, long=True)
    assert judged == ([long] if long else [])
    assert last == summary(tally(file))


def test_summary_line_has_no_prefix():
    assert list(lines(made_file("x.gtp", []), prefix=True, long=True)) == [
        "Summary: 0/0 passes. 0 unexpected passes, 0 unexpected failures"
    ]
    counts = Tally(tests=5, failed=2, unexpected_passes=1, passed=2)
    assert summary(counts) == "Summary: 3/5 passes. 1 unexpected passes, 2 unexpected failures"


def test_summary_dat():
    counts = Tally(12, 3, 1, 2, 6, 4, 61.25, 0.5, not_run=1)
    assert summary_dat(counts) == (
        "#Tests\tFAIL\tfail\tPASS\tpass\tError\tTime\tCpuTime\n12\t3\t1\t2\t6\t4\t61.2\t0.5\t\n"
    )


@pytest.mark.parametrize(
    ("number", "text"),
    # Java's NumberFormat rounds halves to even and drops a zero behind the point.
    [
        (0, "0"),
        (0.04, "0"),
        (0.25, "0.2"),
        (0.75, "0.8"),
        (2.0, "2"),
        (9.96, "10"),
        (1e4, "10000"),
    ],
)
def test_at_most_one_decimal(number, text):
    assert at_most_one_decimal(number) == text
