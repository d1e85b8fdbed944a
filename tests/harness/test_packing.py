"""The result of a file as it travels between processes comes out as it went in."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.options import Limit
from harness.core.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Restart,
    Verdict,
)
from harness.running.runs import pack


@pytest.fixture(autouse=True, scope="module")
def registered_transfer() -> Iterator[None]:
    before = dict(copyreg.dispatch_table)
    copyreg.pickle(FileResult, pack)
    yield
    copyreg.dispatch_table.clear()
    copyreg.dispatch_table.update(before)


_DONE = Reply(True, "", "= ", 0.0)  # that many commands have
_MADE = st.builds(Reply, st.booleans(), st.text(), st.text(), st.floats(0))
_LIMITS = st.none() | st.builds(
    Limit, st.text(), st.none() | st.floats(0), st.floats(0), st.text()
)
_REPLIES = st.none() | st.just(_DONE) | _MADE
_EXCHANGES = st.lists(st.builds(Exchange, st.text(), _REPLIES), max_size=4).map(tuple)


@st.composite
def _results(draw: st.DrawFn) -> FileResult:
    replies = draw(st.lists(_REPLIES, max_size=12))
    tests = draw(st.sets(st.integers(0, 11)))
    outcomes = tuple(
        # A reply as it was judged may be another than the one that came.
        Outcome(step, draw(st.sampled_from(Verdict)), draw(st.just(reply) | _REPLIES))
        for step, reply in enumerate(replies)
        if step in tests
    )
    computed = st.floats(0, 9)  # said here, or Hypothesis draws what is no number, now and then
    ends = st.builds(
        Failure, st.sampled_from(FailureKind), st.text(), computed=computed, limit=_LIMITS
    )
    return FileResult(
        CaseFile("", (), ()),
        outcomes,
        tuple(replies),
        draw(_EXCHANGES),
        draw(_EXCHANGES),
        draw(st.integers(0, 9)),
        tuple(draw(st.lists(st.text(), max_size=2))),
        tuple(draw(st.lists(ends, max_size=2))),
        *draw(st.tuples(*[st.text()] * 3)),
        *draw(st.tuples(*[st.floats(0, 9)] * 2)),
        tuple(draw(st.lists(st.builds(Restart, st.integers(0, 9), _EXCHANGES), max_size=2))),
    )


@given(_results())
def test_a_result_comes_out_as_it_went_in(file: FileResult) -> None:
    found = pickle.loads(pickle.dumps(file))
    assert found == file
    assert repr(found) == repr(file)  # tuples are equal to plain ones: the types are the same, too
