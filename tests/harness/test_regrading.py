"""Changes of marks: all of them, with reasons whose points add up."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assignments.assignment import MarkPart
from harness.core.records import Build, Outcome, Reply, Verdict
from harness.grading.marks import regrading
from harness.grading.marks.marking import marks
from harness.grading.marks.regrading import (
    CASES,
    ENGINE,
    HARNESS,
    LIMIT,
    RULES,
    SUBMISSION,
    changes,
)
from harness.grading.records import PRIVATE, PUBLIC, Attempt, Graded
from harness.reading import casefile
from harness.running.file_runner import not_run
from tests.harness.made_attempts import (
    NEVER_LATE,
    assignment_of,
    attempt_of,
    fault_of,
    result_of,
    submission_of,
    unbuilt,
)

PUBLIC_SHARE = MarkPart("public", Fraction(2), PUBLIC, "share", {})
ASSIGNMENT = assignment_of(PUBLIC_SHARE)


def make_graded(*attempts, assignment=ASSIGNMENT, **fields):
    submission = submission_of(**fields)
    return Graded(submission, attempts, marks(assignment, submission, attempts))


def change(old, new, assignment=ASSIGNMENT):
    (only,) = changes([old], [new], assignment)
    return only


def causes(old, new, assignment=ASSIGNMENT):
    return [(cause.kind, cause.points) for cause in change(old, new, assignment).causes]


def explain_change(old, new, assignment=ASSIGNMENT):
    return change(old, new, assignment).causes[0].sentence


def make_attempt(text, *answers):
    """An attempt at a case file of this text; each test has an answer and a verdict."""
    case = casefile.parse(text.encode(), "a.gtp")
    steps = [i for i, step in enumerate(case.steps) if step.is_test]
    outcomes = []
    for step, answer in zip(steps, answers, strict=True):
        passed = answer == case.steps[step].pattern.text
        verdict = Verdict.PASSED if passed else Verdict.FAILED
        outcomes.append(Outcome(step, verdict, Reply(True, answer, f"= {answer}", 0.0)))
    return Attempt("ada", PUBLIC, "a.gtp", not_run(case)._replace(outcomes=tuple(outcomes)))


# --- which ---


def test_only_marks_that_differ_are_told_in_the_order_of_the_new_ones():
    same, other = attempt_of("pf"), attempt_of("pp")
    old = [make_graded(same, key=key) for key in "abcd"]
    new = [
        make_graded(one, key=key)
        for one, key in zip([other, same, other, same], "cbae", strict=True)
    ]
    got = changes(old, new, ASSIGNMENT)
    assert [one.key for one in got] == ["c", "a"]
    assert [(one.old.total, one.new.total) for one in got] == [(1, 2), (1, 2)]


@pytest.mark.parametrize(
    ("points", "said"), [("1/2", "+0.5: x."), ("0", "+0: x."), ("-1/2", "-0.5: x.")]
)
def test_each_reason_has_its_points_with_a_sign(points, said):
    """One part of a mark may lose what another one gains: that is told as well."""
    mark = make_graded(attempt_of("pf")).marks
    reason = regrading.MarkChangeReason(HARNESS, Fraction(points), "x.")
    change = regrading.MarkChange("ada", (), mark, mark, (reason,))
    assert str(change) == f"1 of 2 becomes 1 of 2. {said}"


# --- why ---


def test_another_file_was_handed_in():
    old = make_graded(attempt_of("pf"), sha256="1")
    assert causes(old, make_graded(attempt_of("pp"), sha256="2")) == [(SUBMISSION, 1)]


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (PUBLIC_SHARE._replace(points=Fraction(4)), "'public' gives 4 instead of 2."),
        (
            PUBLIC_SHARE._replace(rule="all"),
            "'public' is marked by another rule or other weights.",
        ),
        (
            PUBLIC_SHARE._replace(name="tests"),
            "'public' is no longer a part of the marks; 'tests' is a new part of the marks.",
        ),
    ],
)
def test_the_assignment_has_changed(part, sentence):
    assignment = assignment_of(part)
    old = make_graded(attempt_of("pf"))
    new = make_graded(attempt_of("pf"), assignment=assignment)
    assert [kind for kind, _ in causes(old, new, assignment)] == [RULES]
    assert explain_change(old, new, assignment) == f"The assignment has changed: {sentence}"


def test_the_late_rule_has_changed():
    late = ASSIGNMENT._replace(late=NEVER_LATE._replace(deduction=Fraction(50)))
    old = make_graded(attempt_of("pp"), late=True)
    new = make_graded(attempt_of("pp"), late=True, assignment=late)
    assert causes(old, new, late) == [(RULES, Fraction(-3, 5))]
    assert explain_change(old, new, late).endswith("the late penalty is 1 instead of 0.4.")


FIRST = "play b a1\n10 score\n#? [1]\n20 score\n#? [2]\n"


@pytest.mark.parametrize(
    ("text", "answers", "sentence"),
    [
        (FIRST.replace("[2]", "[3]"), "12", "test 20 expects another answer"),
        (FIRST + "30 score\n#? [3]\n", "124", "test 30 is new"),
        ("play b a1\n20 score\n#? [3]\n", "2", "test 20 expects another answer; test 10 is gone"),
        (
            FIRST.replace("a1", "b1"),
            "22",
            "test 10 and test 20 have other commands before them",
        ),
    ],
)
def test_the_cases_have_changed(text, answers, sentence):
    old, new = (
        make_graded(make_attempt(FIRST, "1", "2")),
        make_graded(make_attempt(text, *answers)),
    )
    assert [kind for kind, _ in causes(old, new)] == [CASES]
    assert explain_change(old, new).startswith(
        f"Public case file a.gtp: it has changed: {sentence}"
    )


TWICE = "play b a1\n10 score\n#? [1]\nplay b b1\n10 score\n#? [2]\n"


def test_of_two_equal_questions_the_first_is_looked_at_too():
    old, new = (
        make_graded(make_attempt(TWICE, "1", "2")),
        make_graded(make_attempt(TWICE.replace("[1]", "[3]"), "1", "2")),
    )
    assert causes(old, new) == [(CASES, -1)]
    assert explain_change(old, new).endswith("it has changed: test 10 expects another answer.")


def test_causes_come_in_the_order_of_the_case_files():
    """Not in that of a set, which is another in each process."""
    names = [f"{letter}.gtp" for letter in "hgfedcba"]
    part = assignment_of(PUBLIC_SHARE._replace(points=Fraction(16)))
    old = make_graded(*(attempt_of("pf", name) for name in names), assignment=part)
    new = make_graded(*(attempt_of("pp", name) for name in names), assignment=part)
    said = [cause.sentence.split(":")[0] for cause in change(old, new, part).causes]
    assert said == [f"Public case file {name}" for name in sorted(names)]


def test_the_same_file_is_read_otherwise():
    """The archive is the same, and another harness finds more of the required files in it."""
    files = assignment_of(PUBLIC_SHARE._replace(judged_by="files"))
    old = make_graded(assignment=files, kept=("Go1.py",))
    new = make_graded(assignment=files)
    assert [kind for kind, _ in causes(old, new, files)] == [SUBMISSION]
    assert explain_change(old, new, files) == "The same file is read otherwise."


def test_a_comment_is_no_change_of_a_test():
    old = make_graded(make_attempt(FIRST, "1", "2"))
    new = make_graded(make_attempt(f"# A comment.\n{FIRST}", "1", "9"))
    assert [kind for kind, _ in causes(old, new)] == [ENGINE]


def test_case_files_come_and_go():
    a, b = attempt_of("pf", "a.gtp"), attempt_of("pp", "b.gtp")
    assert (
        explain_change(make_graded(a), make_graded(a, b)) == "Public case file b.gtp: it is new."
    )
    assert (
        explain_change(make_graded(a, b), make_graded(a))
        == "Public case file b.gtp: it is no longer there."
    )
    private = assignment_of(PUBLIC_SHARE, PUBLIC_SHARE._replace(name="2", judged_by=PRIVATE))
    c = attempt_of("p", "c.gtp", PRIVATE)
    old, new = make_graded(a, assignment=private), make_graded(a, c, assignment=private)
    assert causes(old, new, private) == [(CASES, 2)]


def test_parts_whose_case_files_are_missing_are_told():
    private = assignment_of(PUBLIC_SHARE, PUBLIC_SHARE._replace(name="2", judged_by=PRIVATE))
    old = make_graded(assignment=private, refused="It is not an archive.")
    new = old._replace(marks=marks(private, old.submission, (), [PUBLIC_SHARE.name]))
    (found,) = changes([old], [new], private, [PUBLIC_SHARE.name])
    assert (found.old.of, found.new.of) == (4, 2)
    assert found.causes == ((RULES, 0, "Parts of the marks have no tests in this grading."),)


def test_the_harness_broke_then_or_now():
    run, broken = attempt_of("pp"), fault_of()
    assert causes(make_graded(broken), make_graded(run)) == [(HARNESS, 2)]
    assert explain_change(make_graded(broken), make_graded(run)) == (
        "Public case file a.gtp: harness error before: out of memory."
    )
    assert str(change(make_graded(run), make_graded(broken))).startswith("2 of 2 becomes no mark.")


def test_a_limit_is_near():
    near = attempt_of("p-")._replace(near_limit="took 58 s of 60 s of CPU time")
    assert causes(make_graded(near), make_graded(attempt_of("pp"))) == [(LIMIT, 1)]
    assert explain_change(make_graded(near), make_graded(attempt_of("pp"))) == (
        "Public case file a.gtp: a limit is near: before it took 58 s of 60 s of CPU time."
    )


def test_the_engine_answers_otherwise():
    old, new = make_graded(attempt_of("pf")), make_graded(attempt_of("pp"))
    assert causes(old, new) == [(ENGINE, 1)]
    assert explain_change(old, new) == (
        "Public case file a.gtp: the engine does not always answer the same:"
        " test 20 'wrong', then '2'."
    )


def test_the_same_answers_are_judged_otherwise():
    old = make_graded(attempt_of("pf", replies=("1", "2")))
    assert causes(old, make_graded(attempt_of("pp"))) == [(HARNESS, 1)]
    assert explain_change(old, make_graded(attempt_of("pp"))).endswith(
        "the same answers are judged otherwise: test 20."
    )


def test_what_could_not_be_built_is_built():
    built = Attempt("ada", PUBLIC, "a.gtp", result_of("pp"), Build(ok=True))
    assert causes(make_graded(unbuilt()), make_graded(built)) == [(ENGINE, 2)]
    assert "can be built now" in explain_change(make_graded(unbuilt()), make_graded(built))


def test_a_mark_of_another_version_of_the_harness_is_told():
    old = make_graded(attempt_of("pp"))
    odd = old._replace(marks=old.marks._replace(total=Fraction(1)))
    assert [kind for kind, _ in causes(odd, old)] == [RULES]
    assert [kind for kind, _ in causes(old, odd)] == [HARNESS]


# --- the points add up ---

ATTEMPTS = st.sampled_from(
    [attempt_of("pf", "a.gtp"), attempt_of("pp", "a.gtp"), fault_of("a.gtp"), unbuilt("a.gtp")]
)
MORE = st.lists(
    st.sampled_from(
        [attempt_of("pff", "b.gtp"), attempt_of("p", "c.gtp"), attempt_of("---", "d.gtp", PRIVATE)]
    ),
    max_size=3,
    unique_by=lambda one: one.case,
)
ASSIGNMENTS = st.sampled_from(
    [ASSIGNMENT, assignment_of(), assignment_of(PUBLIC_SHARE._replace(points=Fraction(7, 3)))]
)


@st.composite
def gradings(draw):
    fields = {"sha256": draw(st.sampled_from("12")), "late": draw(st.booleans())}
    attempts = [draw(ATTEMPTS), *draw(MORE)]
    assignment = draw(ASSIGNMENTS)
    return make_graded(*attempts, assignment=assignment, **fields), assignment


@given(gradings(), gradings())
def test_the_points_of_all_causes_are_the_change(before, after):
    old, (new, assignment) = before[0], after
    for one in changes([old], [new], assignment):
        assert sum(cause.points for cause in one.causes) == new.marks.total - old.marks.total
        assert one.causes
        assert all(cause.sentence.endswith(".") for cause in one.causes)
        assert str(one)
    if not changes([old], [new], assignment):
        assert old.marks.total == new.marks.total


@given(gradings())
def test_a_grading_does_not_differ_from_itself(made):
    assert changes([made[0]], [made[0]], made[1]) == ()
