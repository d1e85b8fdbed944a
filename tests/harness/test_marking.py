"""Marks: every rule by example, and all of them against a recomputation of its own."""

from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assignments.assignment import Late, MarkPart
from harness.core.records import Build, Failure, FailureKind, Verdict
from harness.grading.marks import marker
from harness.grading.marks.marking import (
    describe_span,
    find_tested,
    lateness,
    marks,
    sentence,
)
from harness.grading.records import IMAGE, PRIVATE, PUBLIC, Attempt, CheckLog, decimal
from tests.harness.made_attempts import (
    GOOD_LOG,
    assignment_of,
    attempt_of,
    fault_of,
    result_of,
    submission_of,
    unbuilt,
)

PUBLIC_SHARE = MarkPart("public", Fraction(2), PUBLIC, "share", {})
PUBLIC_ALL = PUBLIC_SHARE._replace(rule="all")
PRIVATE_SHARE = MarkPart("private", Fraction(2), PRIVATE, "share", {})
FILES_ALL = MarkPart("log and readme", Fraction(1), "files", "all", {})
DEADLINE = datetime(2018, 1, 29, 23, 55)
LATE = Late(DEADLINE, DEADLINE + timedelta(days=1), Fraction(20), 15)


def total(*attempts, part=PUBLIC_SHARE):
    return marks(assignment_of(part), submission_of(), attempts).total


def reason(*attempts, part=PUBLIC_SHARE):
    return marks(assignment_of(part), submission_of(), attempts).parts[0].reason


# --- the rules of a part ---


@pytest.mark.parametrize(
    ("verdicts", "share", "everything"),
    [
        ("pppp", 2, 2),
        ("pppf", Fraction(3, 2), 0),
        ("ffff", 0, 0),
        ("p---", Fraction(1, 2), 0),  # what a dead engine did not reach is failed
        ("pp??", 2, 2),  # what could not be judged does not count
        ("pf??", 1, 0),
        ("ppxX", 2, 2),  # nor what the file itself does not rely on, come what may
        ("pfxX", 1, 0),
        ("pfXX", 1, 0),
        ("ppii", 2, 2),
    ],
)
def test_verdicts_become_points(verdicts, share, everything):
    assert total(attempt_of(verdicts)) == share
    assert total(attempt_of(verdicts), part=PUBLIC_ALL) == everything


def test_tests_of_all_files_of_a_kind_are_one_heap():
    attempts = [attempt_of("ppp", "a.gtp"), attempt_of("f", "b.gtp")]
    other = [attempt_of("ffff", "c.gtp", PRIVATE), attempt_of("ffff", "d.gtp", IMAGE)]
    assert total(*attempts, *other) == Fraction(3, 2)


def test_a_number_s_weight_goes_before_its_file_s():
    weights = {"a.gtp": Fraction(3), "a.gtp:20": Fraction(1, 2), "b.gtp:10": Fraction(0)}
    part = PUBLIC_SHARE._replace(weights=weights)
    attempts = [attempt_of("pf", "a.gtp"), attempt_of("ff", "folder/b.gtp")]
    assert total(*attempts, part=part) == 2 * Fraction(3) / (Fraction(7, 2) + 1)
    assert reason(*attempts, part=part) == (
        "1 of 3 tests passed, by weight 3 of 4.5; 1 left out by weight 0."
    )
    assert total(attempt_of("pf"), attempt_of("fp", "b.gtp"), part=part._replace(rule="all")) == 0
    assert total(attempt_of("pp"), attempt_of("fp", "b.gtp"), part=part._replace(rule="all")) == 2


def test_a_reason_says_all_that_happened():
    flaky = attempt_of("pf?")._replace(flaky=(1,))
    assert reason(flaky, attempt_of("p--", "b.gtp")) == (
        "2 of 5 tests passed; 2 not reached because of an engine failure;"
        " 1 could not be judged and does not count, which is not your fault;"
        " 1 had another verdict when rerun."
    )
    assert reason(attempt_of("p"), part=PUBLIC_ALL) == "1 of 1 test passed."
    assert reason(attempt_of("pf"), part=PUBLIC_ALL) == "1 of 2 tests passed; all must be."


def test_parts_say_whether_they_are_complete():
    parts = marks(
        assignment_of(PUBLIC_SHARE, FILES_ALL), submission_of(), [attempt_of("p?")]
    ).parts
    assert [part.complete for part in parts] == [False, True]


@pytest.mark.parametrize(
    ("fields", "points", "why"),
    [
        ({}, 1, "All files are there."),
        ({"kept": ("Go1.py", "readme.txt")}, 0, "gtp_connection_go1.py missing."),
        ({"log": CheckLog()}, 0, "presubmission.log missing."),
        (
            {"log": CheckLog(present=True, transcript=True, ran=True)},
            0,
            "presubmission.log does not show the test before submitting.",
        ),
        (
            {"kept": ("Go1.py",), "log": CheckLog()},
            0,
            "gtp_connection_go1.py, readme.txt missing; presubmission.log missing.",
        ),
    ],
)
def test_files_and_log(fields, points, why):
    got = marks(assignment_of(FILES_ALL), submission_of(**fields), [attempt_of("f")])
    assert got.total == points
    assert got.parts[0].reason == why


def test_files_by_share():
    part = FILES_ALL._replace(rule="share")
    got = marks(assignment_of(part), submission_of(kept=("Go1.py",)), [])
    assert got.total == Fraction(2, 4)


def test_a_part_may_count_the_tests_of_some_commands_only():
    part = PUBLIC_SHARE._replace(commands=("score",))
    assert total(attempt_of("pf"), part=part) == 1
    got = marks(
        assignment_of(part._replace(commands=("komi",))), submission_of(), [attempt_of("p")]
    )
    assert (got.total, got.of, got.withheld) == (0, 0, False)


# --- all or nothing ---


def test_what_cannot_be_used_gets_nothing_and_the_reason():
    got = marks(assignment_of(), submission_of(refused="it is no archive"), [])
    assert (got.total, got.of, got.withheld, got.note) == (0, 5, False, "It is no archive.")


def test_what_the_harness_cannot_read_has_no_mark_yet():
    got = marks(assignment_of(), submission_of(unread="the reader died"), [])
    assert (got.total, got.of, got.withheld) == (0, 5, True)
    assert got.note == "No mark yet: The reader died."


def test_what_cannot_be_built_or_never_answers_does_not_run():
    dead = [attempt_of("---"), attempt_of("--", "b.gtp", PRIVATE)]
    for attempts in ([unbuilt(), unbuilt("b.gtp", PRIVATE)], dead):
        for points in (Fraction(0), Fraction(1, 2)):
            got = marks(assignment_of(does_not_run=points), submission_of(), attempts)
            assert (got.total, got.of, got.withheld) == (points, 5, False)
            assert sum(part.points for part in got.parts) == points
    assert got.note == "It does not run: it answers nothing in any case file."
    other = unbuilt("b.gtp")._replace(build=Build(ok=False, message="make ended with status 3"))
    for attempts in ([unbuilt()], [unbuilt(), other]):  # of several messages the first one is told
        assert marks(assignment_of(), submission_of(), attempts).note == (
            "It cannot be built: make ended with status 2."
        )


def test_an_engine_that_answers_once_runs():
    attempts = [attempt_of("---"), attempt_of("f--", "b.gtp", PRIVATE)]
    assert marks(assignment_of(), submission_of(), attempts).total == 1  # log and readme


def test_an_adapter_s_own_answers_are_no_sign_of_life():
    result = result_of("ff", replies=("no sentence", "no sentence"))
    errors = tuple(reply._replace(ok=False) for reply in result.replies)
    outcomes = tuple(
        one._replace(reply=reply) for one, reply in zip(result.outcomes, errors, strict=True)
    )
    attempt = Attempt("ada", PUBLIC, "a.gtp", result._replace(outcomes=outcomes, replies=errors))
    alone = assignment_of(FILES_ALL, PUBLIC_SHARE)
    assert marks(alone, submission_of(), [attempt]).total == 1
    assert marks(alone._replace(adapter=object()), submission_of(), [attempt]).total == 0


# --- the harness's failures cost nothing ---


@pytest.mark.parametrize(
    "attempts",
    [
        [fault_of(), attempt_of("p", "b.gtp", PRIVATE)],
        [fault_of(), fault_of("b.gtp", PRIVATE)],
        [attempt_of("---"), fault_of("b.gtp", PRIVATE)],  # it may well run there
        [attempt_of("p"), Attempt("ada", PRIVATE, "b.gtp", None)],  # not run yet
        [attempt_of("??"), attempt_of("p", "b.gtp", PRIVATE)],  # nothing could be judged
    ],
)
def test_a_mark_that_is_not_known_is_withheld(attempts):
    got = marks(assignment_of(), submission_of(), attempts)
    assert got.withheld
    assert got.note.startswith("No mark yet: ")
    assert sum(part.points for part in got.parts) - got.deduction == got.total


@pytest.mark.parametrize(
    ("attempts", "note"),
    [
        ([Attempt("ada", PRIVATE, "b.gtp", None)], "No mark yet: 1 case file not run."),
        (
            [Attempt("ada", PRIVATE, f"{name}.gtp", None) for name in "bc"],
            "No mark yet: 2 case files not run.",
        ),
        (
            [fault_of("b.gtp", PRIVATE), Attempt("ada", PRIVATE, "c.gtp", None)],
            "No mark yet: 1 case file with a harness error and 1 case file not run.",
        ),
    ],
)
def test_why_a_mark_is_withheld(attempts, note):
    assert marks(assignment_of(), submission_of(), [attempt_of("p"), *attempts]).note == note


def test_a_part_with_an_attempt_that_is_not_known_is_not_complete():
    known, other = attempt_of("pf", "b.gtp", PRIVATE), attempt_of("p")
    for attempts, expected in (([known], True), ([known, fault_of("c.gtp", PRIVATE)], False)):
        got = marks(assignment_of(), submission_of(), [other, *attempts])
        by_kind = dict(
            zip((one.judged_by for one in assignment_of().marks), got.parts, strict=True)
        )
        assert by_kind[PRIVATE].complete is expected
        assert by_kind[PUBLIC].complete


def test_tests_that_the_harness_did_not_come_to_do_not_count():
    cut = Attempt("ada", PUBLIC, "a.gtp", result_of("pp--")._replace(failures=()))
    assert total(cut) == 2
    broke = Failure(FailureKind.TIMEOUT, "No answer.", 2)
    late = Attempt("ada", PUBLIC, "a.gtp", result_of("pp--")._replace(failures=(broke,)))
    assert total(late) == 1


def test_what_no_part_is_judged_by_withholds_nothing():
    got = marks(
        assignment_of(PUBLIC_SHARE), submission_of(), [attempt_of("p"), fault_of(kind=IMAGE)]
    )
    assert (got.total, got.withheld) == (2, False)
    got = marks(
        assignment_of(PUBLIC_SHARE, PRIVATE_SHARE._replace(points=Fraction(0))),
        submission_of(),
        [attempt_of("p"), fault_of(kind=PRIVATE)],
    )
    assert (got.total, got.withheld) == (2, False)


def test_parts_without_case_files_are_no_part_of_this_grading():
    attempts = [attempt_of("p")]
    got = marks(assignment_of(), submission_of(), attempts)
    assert (got.total, got.of, got.withheld) == (3, 3, False)
    assert got.parts[2].reason == "There are no private tests in this grading."
    everything = {part.name for part in assignment_of().marks}
    got = marks(assignment_of(), submission_of(), attempts, everything)
    assert (got.total, got.of, got.withheld) == (3, 5, True)


@pytest.mark.parametrize(
    ("part", "is_tested"),
    [
        (FILES_ALL, True),
        (PUBLIC_SHARE, True),
        (PRIVATE_SHARE, False),
        (PUBLIC_SHARE._replace(commands=frozenset({"score"})), True),
        (PUBLIC_SHARE._replace(commands=frozenset({"is_legal"})), False),
        (PUBLIC_SHARE._replace(weights={"a.gtp": Fraction(0)}), False),
        (PUBLIC_SHARE._replace(weights={"a.gtp": Fraction(0), "a.gtp:10": Fraction(1)}), True),
        (PUBLIC_SHARE._replace(weights={"a.gtp:10": Fraction(0)}), False),  # 20 has a star
    ],
)
def test_as_much_can_be_reached_whether_it_runs_or_not(part, is_tested):
    """A part that no test of the grading asks is worth nothing, for those who were absent, too."""
    assignment, attempt = assignment_of(part), attempt_of("px", "folder/a.gtp")
    tested = find_tested(assignment, [(PUBLIC, "folder/a.gtp", attempt.result.case)])
    assert tested == ({part.name} if is_tested else set())
    broken = unbuilt("folder/a.gtp")
    results = [
        (submission_of(), [attempt]),
        (submission_of(), [broken]),
        (submission_of(refused="it is no archive"), []),
    ]
    of = {marks(assignment, *one, tested).of for one in results}
    assert of == {part.points if is_tested else 0}


# --- late ---


@pytest.mark.parametrize(
    ("minutes", "flag", "points"),
    [
        (-1, False, 2),
        (0, True, 2),  # the clock goes before the flag
        (15, False, 2),  # the last moment of grace
        (15 + Fraction(1, 60), False, Fraction(8, 5)),
        (24 * 60 + 15, False, Fraction(8, 5)),
        (24 * 60 + 16, False, 0),
        (None, False, 2),
        (None, True, Fraction(8, 5)),
    ],
)
def test_lateness_costs_a_share_of_the_points_reached(minutes, flag, points):
    time = None if minutes is None else DEADLINE + timedelta(minutes=float(minutes))
    one = submission_of(time=time, late=flag)
    got = marks(assignment_of(PUBLIC_SHARE, late=LATE), one, [attempt_of("p")])
    assert got.total == points
    assert got.of == 2
    assert bool(got.deduction_reason) is (points == Fraction(8, 5))


@pytest.mark.parametrize(
    ("own", "handed", "expected"),  # hours after the deadline; late, refused
    [
        ({}, 2, (True, False)),
        ({"ada": 3}, 2, (False, False)),
        ({"ada": 3}, 4, (True, False)),
        ({"ada": 3}, 25, (True, True)),
        ({"ada": 48}, 47, (False, False)),
        ({"ada": 48}, 49, (True, True)),
        ({"ben": 48}, 47, (True, True)),
        ({"ada": 3, "cyd": 5}, 4, (False, False)),  # who submit together have the latest of theirs
        ({"ada": 3, "cyd": 5}, 6, (True, False)),
    ],
)
def test_a_deadline_of_ones_own_goes_before_that_of_all(own, handed, expected):
    later = tuple((key, DEADLINE + timedelta(hours=hours)) for key, hours in own.items())
    rule = LATE._replace(own=later).of(["ada", "cyd"])
    found = lateness(rule, submission_of(time=DEADLINE + timedelta(hours=handed)))
    assert (found.late, found.refused) == expected


def test_lateness_is_told_with_its_figures():
    time = DEADLINE + timedelta(hours=2, minutes=3)
    got = marks(assignment_of(late=LATE), submission_of(time=time), [attempt_of("p")])
    assert got.deduction_reason == (
        "20 % less: it was submitted at 2018-01-30 01:58:00, 2 h 3 min after the deadline."
    )
    assert lateness(LATE, submission_of(time=DEADLINE)) == (False, False, "")


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ({"microseconds": 1}, "1 s"),
        ({"seconds": 59, "microseconds": 1}, "1 min"),
        ({"hours": 23, "minutes": 59, "seconds": 59}, "23 h 59 min 59 s"),
        ({"days": 2, "hours": 3, "minutes": 4, "seconds": 5}, "2 days 3 h 4 min 5 s"),
        ({}, "0 s"),
    ],
)
def test_how_late_is_told_in_units(span, words):
    assert describe_span(timedelta(**span)) == words


# --- properties, and a recomputation ---

WEIGHTS = st.dictionaries(
    st.sampled_from(["a.gtp", "b.gtp", "a.gtp:10", "b.gtp:20", "c.gtp:30"]),
    st.fractions(0, 5, max_denominator=10),
)
PARTS = st.lists(
    st.builds(
        MarkPart,
        st.just("part"),
        st.fractions(0, 10, max_denominator=100),
        st.sampled_from([PUBLIC, PRIVATE, "files"]),
        st.sampled_from(["all", "share"]),
        WEIGHTS,
        st.sampled_from([(), ("score",), ("score", "komi")]),
    ),
    min_size=1,
    max_size=4,
)


@st.composite
def classes(draw):
    attempts = []
    for kind, name in [(PUBLIC, "a.gtp"), (PUBLIC, "b.gtp"), (PRIVATE, "c.gtp")]:
        verdicts = draw(st.text("pf?xXi", min_size=1, max_size=5)) + "-" * draw(st.integers(0, 2))
        attempts.append(attempt_of(verdicts, name, kind))
    if draw(st.integers(0, 5)) == 0:
        kind = draw(st.sampled_from([PUBLIC, IMAGE]))
        attempts[draw(st.integers(0, 2))] = fault_of("a.gtp", kind)
    late = LATE._replace(deduction=draw(st.fractions(0, 100, max_denominator=10)))
    minutes = draw(st.none() | st.integers(-100, 2000))
    time = None if minutes is None else DEADLINE + timedelta(minutes=minutes)
    log = draw(st.sampled_from([GOOD_LOG, CheckLog()]))
    submission = submission_of(time=time, late=draw(st.booleans()), log=log)
    return assignment_of(*draw(PARTS), late=late), submission, tuple(attempts)


@given(classes(), st.randoms())
def test_a_breakdown_adds_up_exactly_in_any_order_and_is_that_of_a_recomputation(made, random):
    assignment, submission, attempts = made
    got = marks(*made)
    shuffled = random.sample(attempts, len(attempts))
    assert marks(assignment, submission, shuffled).total == got.total
    if not got.withheld:
        assert got.total == recompute_marks(*made)
    assert sum(part.points for part in got.parts) - got.deduction == got.total
    assert sum(part.of for part in got.parts) == got.of
    for part, wanted in zip(got.parts, made[0].marks, strict=True):
        assert 0 <= part.points <= part.of <= wanted.points
    assert 0 <= got.total <= got.of
    assert all(isinstance(n, Fraction) for n in (got.total, got.of, got.deduction))
    assert all(part.reason.endswith(".") for part in got.parts)
    assert got.withheld == got.note.startswith("No mark yet")


@given(classes(), st.integers(0, 2), st.integers(0, 4))
def test_passing_one_more_test_never_costs(made, file, test):
    assignment, submission, attempts = made
    result = attempts[file].result
    if result is None or attempts[file].kind == IMAGE or test >= len(result.outcomes):
        return
    better = list(result.outcomes)
    if better[test].verdict is not Verdict.FAILED:
        return
    better[test] = better[test]._replace(verdict=Verdict.PASSED)
    improved = list(attempts)
    improved[file] = attempts[file]._replace(result=result._replace(outcomes=tuple(better)))
    assert marks(assignment, submission, improved).total >= marks(*made).total


def recompute_marks(assignment, submission, attempts):
    """The rules once more, on lists of weights, without a helper of the marking."""
    reached = sum(points_of(part, submission, attempts) for part in assignment.marks)
    late = submission.late
    if submission.time is not None:
        minutes = (submission.time - DEADLINE) / timedelta(minutes=1)
        if minutes > 24 * 60 + 15:
            return 0
        late = minutes > 15
    return reached * (100 - assignment.late.deduction * late) / 100


def points_of(part, submission, attempts):
    """The points of one part."""
    lost, kept = [], []
    if part.judged_by == "files":
        kept = [Fraction(1)] * 3  # the files that go-scoring requires are all there
        (kept if submission.log.good else lost).append(Fraction(1))
    for attempt in attempts:
        for number, outcome in enumerate(attempt.result.outcomes if attempt.result else (), 1):
            by_file = part.weights.get(attempt.case, Fraction(1))
            weight = part.weights.get(f"{attempt.case}:{number}0", by_file)
            if attempt.kind == part.judged_by and outcome.verdict.value == "passed":
                kept.append(weight)
            if attempt.kind == part.judged_by and outcome.verdict.value in ("FAILED", "not run"):
                lost.append(weight)
    whole = sum(kept) + sum(lost)
    if part.rule == "all":
        return part.points * (whole > 0 and not sum(lost))
    return part.points * sum(kept) / whole if whole else 0


def test_decimal_of_a_third():
    part = PUBLIC_SHARE._replace(points=Fraction(1))
    assert decimal(total(attempt_of("pff"), part=part)) == "0.33"


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("2 of 3 tests passed", "2 of 3 tests passed."),
        ("it cannot be built: why?", "It cannot be built: why?"),
        ("it was not run.", "It was not run."),
        ("readme.txt, a.log missing", "readme.txt, a.log missing."),
    ],
)
def test_a_phrase_becomes_a_sentence_and_a_file_keeps_its_name(phrase, expected):
    assert sentence(phrase) == expected


def test_a_diagnosis_tells_nothing_of_private_tests(monkeypatch):
    """Students see it: of what private tests and variants show they learn nothing."""
    told: list[list[str]] = []

    def diagnoses(files, memory):
        told.append([file.case.path for file in files])
        return ()

    monkeypatch.setattr(marker, "diagnoses", diagnoses)
    attempts = [
        attempt_of("pf")._replace(kind=kind, result=result_of("pf", f"{kind}.gtp"))
        for kind in (PRIVATE, PUBLIC, IMAGE)
    ]
    assert marker._Diagnoser(Path("place")).of(attempts) == ()
    assert told == [["place/public.gtp"]]
