"""Decisions of an audit: which submissions it checks, which findings are sure. No processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from fractions import Fraction
from types import SimpleNamespace

import pytest

from harness.assignments import assignment as assignments
from harness.core.records import Build, Failure, FailureKind, Outcome, Verdict
from harness.fuzzing.findings import FuzzFinding
from harness.fuzzing.judges import WrongReply
from harness.fuzzing.search import FuzzBudget
from harness.grading.attempts.orders import GradingContext
from harness.grading.auditing import audit, wrong_answers
from harness.grading.auditing.audit import _shows, nearly_full
from harness.grading.records import Audited, Graded, Marks, PartMark, Submission, WrongAnswer
from harness.reading import casefile
from harness.running.file_runner import not_run
from harness.vocabulary.script import Script
from harness.work import canonical_json, records
from harness.work.records import AttemptFinished
from tests.harness.made_attempts import unit_of
from tests.harness.test_audit import write_class


def make_graded(key: str, public: Fraction | int, deduction: int = 0, *, withheld: bool = False):
    parts = (
        PartMark("files", Fraction(0), Fraction(1), ""),
        PartMark("public", Fraction(public), Fraction(4), ""),
    )
    total = Fraction(public) - deduction
    all_of_it = Marks(parts, Fraction(deduction), "", total, Fraction(5), withheld=withheld)
    return Graded(Submission(key, ()), (), all_of_it)


def test_nearly_full_marks_are_nine_tenths_of_the_points_for_case_files(tmp_path):
    """Neither a missing readme nor being late says that a program is wrong."""
    found = assignments.find(str(write_class(tmp_path, {}) / "scoring"))
    some = [
        make_graded("all", 4),
        make_graded("just", Fraction(36, 10)),
        make_graded("less", Fraction(35, 10)),
        make_graded("late", 4, deduction=1),
        make_graded("unknown", 4, withheld=True),
    ]
    assert list(nearly_full(some, found)) == ["all", "just", "late"]


def make_finding(shown: int, got: str = "0") -> FuzzFinding:
    found = WrongReply(0, "score", "an error", "B+3", got)
    return FuzzFinding(Script(("score",)), found, (), shown, 3, 1.0, 1)


@pytest.mark.parametrize(
    ("name", "got", "shown", "sure"),
    [
        ("go-scoring", "0", 3, True),
        ("go-scoring", "? cannot score", 3, True),
        ("go-scoring", "0", 2, False),
        ("java-go", "false", 3, True),
        ("java-go", "? the game begins on an empty board of 11 by 11", 3, False),
    ],
)
def test_only_what_the_submission_answers_each_time_is_told(name, got, shown, sure):
    finding = make_finding(shown, got)
    assert wrong_answers.is_sure(finding, assignments.find(name)) is sure


WRONG = WrongAnswer("01-score.gtp", "score", "0 for B+3", "B+3", "0", ())
AUDITED = Audited("ada", "build", 5.0, 10, 0, (WRONG,))


def test_only_what_is_true_of_the_submission_as_it_is_now_is_known(tmp_path):
    for key, one in {
        "ada": AUDITED,
        "ben": AUDITED._replace(submission="ben", build="another"),
        "cyd": AUDITED._replace(submission="cyd", confirmed=False),
    }.items():
        audit.write(tmp_path, one, {"01-score.gtp": "10 score\n"})
        assert audit.read(tmp_path, key) == one
    assert audit.load_known(tmp_path, dict.fromkeys(["ben", "ada", "cyd", "dan"], "build")) == (
        AUDITED,
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '{"submission": 1}', "\xff"])
def test_a_damaged_record_is_none(tmp_path, text):
    audit.write(tmp_path, AUDITED, {})
    (tmp_path / "ada" / "audit.json").write_text(text, encoding="latin-1")
    assert audit.read(tmp_path, "ada") is None


SCORE = casefile.parse(b"boardsize 2\n10 score\n#? [0]\n", "score.gtp")


@pytest.mark.parametrize(
    ("verdict", "failure", "shows"),
    [
        (Verdict.FAILED, None, True),
        (Verdict.PASSED, None, False),
        (Verdict.NOT_RUN, Failure(FailureKind.DIED, "It died.", 1), True),
        (Verdict.NOT_RUN, Failure(FailureKind.DIED, "It died.", 0), False),
        (Verdict.NOT_RUN, Failure(FailureKind.NOT_STARTED, "It did not start."), False),
    ],
)
def test_only_the_last_command_shows_what_was_found(verdict, failure, shows):
    result = not_run(SCORE, failure)._replace(outcomes=(Outcome(1, verdict, None),))
    text = canonical_json.dumps(records.strip_measurements(result, "/nowhere"))
    done = AttemptFinished(
        "01-score.gtp", text, records.Measurements(), failed=True, doubtful=False
    )
    assert _shows(done, {"01-score.gtp": SCORE}) is shows


def test_a_program_that_could_not_be_built_shows_nothing():
    done = AttemptFinished(
        "", records.NOTHING, records.Measurements(), failed=True, doubtful=False
    )
    assert not _shows(done, {"": SCORE})


# --- a worker's search of one submission


class MadeFuzzer:
    """Finds something in its third and fourth conversation, and no more after the fifth."""

    unconfirmed, shortfall = 1, "too few"

    def __init__(self, _program: object, _judge: object, budget: FuzzBudget, _seed: int) -> None:
        self.budget = budget

    def findings(self) -> Iterator[FuzzFinding]:
        for found in (None, None, make_finding(3), make_finding(2), None):
            if self.budget.is_over:
                return
            self.budget.examples += 1
            if found:
                yield found


@pytest.fixture
def search(monkeypatch, tmp_path):
    """Return what searches a submission, built with such a result, and tells its findings."""
    monkeypatch.setattr(wrong_answers, "die_with_parent", bool)
    monkeypatch.setattr(wrong_answers, "FuzzedProgram", lambda *_: SimpleNamespace(close=bool))
    monkeypatch.setattr(wrong_answers, "Fuzzer", MadeFuzzer)

    def search(built: Build | None) -> tuple[Audited, dict[str, str]]:
        bench = SimpleNamespace(furnish=lambda *_: nullcontext((tmp_path, built)))
        monkeypatch.setattr(wrong_answers, "unit_runner_of", lambda *_: bench)
        grading = GradingContext(assignments.find("go-scoring"), None, "off", (), 0.0, 1)
        unit = unit_of("ada", path=str(tmp_path / "a.tgz"))
        return wrong_answers.Looker(grading, seconds=600.0).look(unit, lambda *_: None)

    return search


@pytest.mark.parametrize("built", [None, Build(ok=True)])
def test_a_submission_is_asked_for_as_long_as_there_is_time(built, search):
    found, files = search(built)
    assert (found.conversations, found.unsure, found.trouble) == (5, 2, "")
    (wrong,) = found.wrong
    assert (wrong.command, wrong.right, wrong.found) == ("score", "B+3", "0")
    assert list(files) == [wrong.file]


def test_a_submission_that_cannot_be_built_is_not_asked(search):
    found, files = search(Build(ok=False, message="make failed"))
    assert (found[3:], files) == ((0, 0, (), "make failed", True), {})
