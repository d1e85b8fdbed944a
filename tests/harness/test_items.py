"""Item statistics against numpy and a recomputation; the remarks by example."""

from math import isclose, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.marks.findings import correlation, interval, items
from harness.grading.records import IMAGE, PRIVATE, Graded, Marks
from tests.harness.made_attempts import attempt_of, fault_of, submission_of

NO_MARKS = Marks((), 0, "", 0, 0)


def class_of(*rows, replies=None):
    """A class in which each row is one submission's verdicts, of a.gtp and perhaps b.gtp."""
    graded = []
    for number, row in enumerate(rows):
        public, _, private = row.partition(" ")
        attempts = [attempt_of(public, replies=(replies or {}).get(number, ()))]
        attempts += [attempt_of(private, "b.gtp", PRIVATE)] if private else []
        graded.append(Graded(submission_of(key=str(number)), tuple(attempts), NO_MARKS))
    return graded


# --- the numbers ---


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 7).map(lambda n: n / 7)), max_size=30))
def test_a_correlation_is_numpy_s(pairs):
    passes, rest = [p for p, _ in pairs], [r for _, r in pairs]
    got = correlation(passes, rest)
    with np.errstate(all="ignore"):
        wanted = np.corrcoef(passes, rest)[0, 1] if len(pairs) > 1 else nan
    if got is None:
        assert len(set(passes)) < 2 or len(set(rest)) < 2
    else:
        assert got == pytest.approx(wanted, abs=1e-12)
        assert -1 <= got <= 1


@pytest.mark.parametrize(
    ("r", "count", "low", "high"),
    [  # tables of Fisher's z: 0.5 with 28 pairs is 0.5493 ± 1.96 / 5
        (0.5, 28, 0.1560, 0.7358),
        (0.0, 103, -0.1935, 0.1935),
        (-0.9, 12, -0.9719, -0.6744),  # -1.4722 ± 1.96 / 3,
    ],
)
def test_an_interval_is_fisher_s(r, count, low, high):
    assert interval(r, count) == pytest.approx((low, high), abs=2e-4)


@pytest.mark.parametrize(("r", "count"), [(0.5, 3), (1.0, 50), (-1.0, 50)])
def test_an_interval_is_not_always_defined(r, count):
    assert interval(r, count) is None


# --- a class ---

ROWS = st.lists(st.text("pf?-", min_size=4, max_size=4), min_size=2, max_size=12)


@given(ROWS)
def test_items_are_those_of_a_recomputation(rows):
    rows = [row.rstrip("-") + "-" * (4 - len(row.rstrip("-"))) for row in rows]
    rows = [row.replace("-", "f", row.rstrip("-").count("-")) for row in rows]
    runs = [row for row in rows if set(row) != {"-"}]
    for number, item in enumerate(items(class_of(*rows))):
        seen = [row for row in runs if row[number] != "?"]
        passes = [row[number] == "p" for row in seen]
        rest = []
        for row in seen:
            others = [letter for i, letter in enumerate(row) if i != number and letter != "?"]
            rest.append(sum(x == "p" for x in others) / len(others) if others else 0)
        assert (item.judged, item.passed) == (len(seen), sum(passes))
        if len(set(passes)) == 2 and len(set(rest)) > 1:
            wanted = np.corrcoef(np.array(passes, float), np.array(rest))[0, 1]
            assert isclose(item.correlation, wanted, abs_tol=1e-12)
        else:
            assert item.correlation is None
            assert item.interval is None


def test_what_was_not_run_or_does_not_run_says_nothing():
    graded = class_of("pp", "pf", "--")
    graded.append(Graded(submission_of(), (fault_of(), attempt_of("ff", kind=IMAGE)), NO_MARKS))
    assert [(item.judged, item.passed) for item in items(graded)] == [(2, 2), (2, 1)]
    assert items([]) == ()


def test_a_test_that_separates_nobody_has_no_correlation():
    found = items(class_of("pfp", "pff", "pfp", "pff"))
    assert [item.correlation for item in found] == [None, None, None]
    assert [item.remarks[:1] for item in found] == [
        ("Everybody passes it.",),
        ("Nobody passes it.",),
        (),
    ]


def test_a_test_that_weak_submissions_pass_is_told():
    strong, weak = ["fppppp"] * 10 + ["ppfppp"], ["pffffp"] * 10 + ["fpffff"]
    found = items(class_of(*strong, *weak))
    assert found[0].correlation < -0.5
    assert found[0].interval[1] < 0
    assert found[0].remarks[0] == (
        "Submissions that are weak otherwise pass it rather than strong ones."
    )
    assert not any("weak" in remark for remark in found[1].remarks)


def test_strong_submissions_that_disagree_with_the_oracle_are_told():
    rows = ["fppp", "fppp", "fppp", "pppp", "pfff", "pfff", "ffff", "pfff"]
    replies = dict.fromkeys((0, 1, 2), ("4", "2", "3", "4"))
    found = items(class_of(*rows, replies=replies))
    assert found[0].remarks[-1] == (
        "Strong submissions disagree with the oracle: 3 of the 4 best at the other tests"
        " give '4' where '1' is expected."
    )
    assert not any("disagree" in remark for item in found[1:] for remark in item.remarks)
    replies[1] = ("5", "2", "3", "4")  # two of four are no majority
    found = items(class_of(*rows, replies=replies))
    assert not any("disagree" in remark for item in found for remark in item.remarks)


def test_a_majority_of_the_strong_is_one_of_three_at_least():
    """A quarter of five submissions is two, which is too few."""
    replies = dict.fromkeys((0, 1), ("4", "2", "3", "4"))
    found = items(class_of("fppp", "fppp", "pppp", "ppff", "pfff", replies=replies))
    assert (
        found[0]
        .remarks[-1]
        .startswith(
            "Strong submissions disagree with the oracle: 2 of the 3 best at the other tests"
        )
    )
    found = items(class_of("fppp", "fppp", "pppp", "pppp", "pfff", replies=replies))
    assert not any("disagree" in remark for item in found for remark in item.remarks)


def test_of_four_submissions_the_best_are_looked_at_and_of_three_not():
    replies = dict.fromkeys((0, 1), ("4", "2", "3", "4"))
    for rows, told in [(["fppp", "fppp", "pppp", "pfff"], 1), (["fppp", "fppp", "pppp"], 0)]:
        found = items(class_of(*rows, replies=replies))
        assert sum("disagree" in remark for remark in found[0].remarks) == told
