"""A class made by hand, with submissions of every sort: what the exports are tested on.

The results are those of the oracle's engine and of its known mistakes, run in this process; marks
are counted here, by the simplest rule there is.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

from harness.assignments.assignment import (
    Archive,
    Assignment,
    BuildSteps,
    Cases,
    EngineSettings,
    FilePatterns,
    Late,
    MarkPart,
)
from harness.core.options import BoxLimits, Limits
from harness.core.records import (
    CaseFile,
    Diagnosis,
    Failure,
    FailureKind,
    FileResult,
    Reply,
    Verdict,
)
from harness.grading.marks.marking import own, tests
from harness.grading.records import (
    IMAGE,
    PRIVATE,
    PUBLIC,
    Attempt,
    Build,
    CheckLog,
    ClassResult,
    Graded,
    Item,
    Marks,
    Measured,
    PartMark,
    Student,
    Submission,
    Suspicion,
)
from harness.judging.in_process import mutant_engine
from harness.reading import casefile
from harness.running.file_runner import not_run
from harness.specifications import specification
from oracle.mistakes import find_mistake
from tests.harness.test_diagnosis import result_of

# Would rename the page that shows it if it were not text there; and a formula.
SCRIPT = (
    "</pre></code></td></table></title></style>"
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
)
LONG = "x" * 3_000
UNSAFE = "off: --unsafe-no-sandbox was given"
FORMULA = "=cmd|' /C calc'!A0"

AREA = """\
# Stones and territory.
boardsize 5
clear_board
komi 0.5
# One stone owns the whole board.
play b c3
10 score
#? [B\\+24.5]

# White gets a stone in: the empty points touch both colors.
play w a1
20 score
#? [W\\+0.5]

# A wall: three points for White in the corner.
play w b2
play w a3
play w b1
30 score
#? [W\\+4.5]

boardsize 3
clear_board
komi 0
40 score
#? [0]
"""
CAPTURES = """\
# A captured stone is gone:
# White's A1 has no liberty left.
boardsize 4
clear_board
komi 0
play w a1
play b a2
play b b1
10 score
#? [B\\+16(\\.0)?]
play w d4
20 score
#? [B\\+2(\\.0)?]
komi 3
30 score
#? [W\\+1(\\.0)?]
"""
HIDDEN = """\
# Two colors meet in the middle.
boardsize 6
clear_board
komi 3.5
play b b1
play b b2
play w e5
play w e6
10 score
#? [W\\+3.5]
clear_board
play w f6
20 score
#? [W\\+39.5]
"""
PUBLIC_FILES = {"area.gtp": AREA, "captures.gtp": CAPTURES}
PRIVATE_FILES = {"hidden.gtp": HIDDEN}

PLACE = Path("/assignments/go-scoring")
ASSIGNMENT = Assignment(
    key="go-scoring",
    place=PLACE,
    title="Go scoring",
    specification_key="go-scoring",
    archive=Archive("a1.tgz", "assignment1"),
    files=FilePatterns(("Go1.py", "readme.txt"), ("*.py",), (), (), "presubmission.log"),
    engine=EngineSettings("python3 {folder}/Go1.py", ""),
    cases=Cases(("*.gtp",), ("private/*.gtp",), "verdict"),
    limits=Limits(),
    box=BoxLimits(),
    marks=(
        MarkPart("log and readme", Fraction(1), "files", "all", {}),
        MarkPart("public tests", Fraction(2), "public", "share", {}),
        MarkPart("private tests", Fraction(2), "private", "share", {}),
    ),
    late=Late(datetime.datetime(2024, 5, 17, 23, 55), None, Fraction(20), 0),
    does_not_run=Fraction(0),
    build=BuildSteps((("make",),), (), 60.0, 1 << 30, 1 << 16),
)
IN_TIME = datetime.datetime(2024, 5, 17, 20, 0)
TOO_LATE = datetime.datetime(2024, 5, 18, 1, 30)
GOOD_LOG = CheckLog(True, True, True, True, "The receipt is that of this archive and these cases.")

Change = Callable[[CaseFile, FileResult], FileResult]


@cache
def case(kind: str, name: str) -> CaseFile:
    text = (PUBLIC_FILES if kind == PUBLIC else PRIVATE_FILES)[name]
    return casefile.parse(text.encode(), name)


@cache
def answer_with_mistake(kind: str, name: str, mistake: str) -> FileResult:
    """What an engine answers, with a mistake or (empty) with none."""
    engine = (
        mutant_engine(find_mistake(mistake))
        if mistake
        else specification("go-scoring").reference_engine()
    )
    found = result_of(case(kind, name), engine)
    return found._replace(name="Go1", version="1.0", seconds=0.125, cpu_seconds=0.1)


def attempts(key: str, mistake: str = "", **more: object) -> tuple[Attempt, ...]:
    named_cases = [(PUBLIC, name) for name in PUBLIC_FILES]
    named_cases += [(PRIVATE, name) for name in PRIVATE_FILES]
    return tuple(
        Attempt(key, kind, name, answer_with_mistake(kind, name, mistake))._replace(**more)
        for kind, name in named_cases
    )


def with_reply(result: FileResult, line: int, text: str) -> FileResult:
    """A result in which the test of a line was answered with another text, wrongly."""
    (step,) = [i for i, one in enumerate(result.case.steps) if one.line == line]
    reply = Reply(True, text, f"= {text}", 0.125)
    replies = tuple(reply if i == step else old for i, old in enumerate(result.replies))
    outcomes = tuple(
        one._replace(verdict=Verdict.FAILED, reply=reply) if one.step == step else one
        for one in result.outcomes
    )
    return result._replace(replies=replies, outcomes=outcomes)


def break_off(result: FileResult, after: int, failure: Failure, stderr: str) -> FileResult:
    """A result that reached only some of its steps."""
    replies = tuple(one if i < after else None for i, one in enumerate(result.replies))
    outcomes = tuple(
        one if one.step < after else one._replace(verdict=Verdict.NOT_RUN, reply=None)
        for one in result.outcomes
    )
    return result._replace(
        replies=replies, outcomes=outcomes, failures=(failure._replace(step=after),), stderr=stderr
    )


def submission(key: str, *students: Student, **more: object) -> Submission:
    whole = Submission(
        key=key,
        students=students,
        name="a1.tgz",
        sha256=(key.encode().hex() * 64)[:64],
        time=IN_TIME,
        root="assignment1/",
        kept=("Go1.py", "presubmission.log", "readme.txt"),
        log=GOOD_LOG,
    )
    return whole._replace(**more)


def student(key: str, name: str, number: int) -> Student:
    ids = (("canvas", str(4000 + number)), ("login", key), ("moodle", str(100 + number)))
    return Student(key, name, ids)


def mark_by_counting(one: Submission, found: tuple[Attempt, ...], **more: object) -> Graded:
    """A submission with the marks that it gets by counting tests."""
    parts = [PartMark("log and readme", Fraction(1), Fraction(1), "All files are there.")]
    parts += [
        _count_part(name, kind, found)
        for kind, name in ((PUBLIC, "public tests"), (PRIVATE, "private tests"))
    ]
    points = sum(part.points for part in parts)
    deduction = points / 5 if one.time and one.time > ASSIGNMENT.late.deadline else Fraction(0)
    why = "It was submitted at 2024-05-18 01:30:00, 1 h 35 min after the deadline."
    marks = Marks(
        tuple(parts), deduction, why if deduction else "", points - deduction, Fraction(5)
    )
    return Graded(one, found, marks._replace(**more))


def _count_part(name: str, kind: str, found: tuple[Attempt, ...]) -> PartMark:
    judged = [t for t in tests(own(found)) if t.attempt.kind == kind and t.passed is not None]
    passed = sum(bool(one.passed) for one in judged)
    reason = f"{passed} of {len(judged)} tests passed."
    return PartMark(name, Fraction(2 * passed, len(judged) or 1), Fraction(2), reason)


def nothing(one: Submission, note: str, found: tuple[Attempt, ...] = ()) -> Graded:
    parts = tuple(PartMark(part.name, Fraction(0), part.points, note) for part in ASSIGNMENT.marks)
    return Graded(one, found, Marks(parts, Fraction(0), "", Fraction(0), Fraction(5), note))


# --- one of each -------------------------------------------------------------------------------


def _right() -> Graded:
    return mark_by_counting(submission("ada", student("ada", "Ada Lovelace", 1)), attempts("ada"))


def _wrong() -> Graded:
    found = attempts("bob", "neutral-points-to-white")
    graded = mark_by_counting(submission("bob", student("bob", "Bob Ünal", 2)), found)
    failures = sum(t.verdict is Verdict.FAILED for t in tests(found) if t.attempt.kind == PUBLIC)
    sets = ((find_mistake("neutral-points-to-white"),),)
    return graded._replace(diagnoses=(Diagnosis(sets, failures, failures),))


def _late_group() -> Graded:
    names = {"cat": "Cat Stevens", "dan": "Dan O'Neill", "eve": "Eve, the third"}
    members = [student(key, name, n) for n, (key, name) in enumerate(names.items(), 3)]
    remarks = ("2 files were handed in: the last one is graded.",)
    one = submission("group-7", *members, time=TOO_LATE, late=True, remarks=remarks)
    return mark_by_counting(one, attempts("group-7", "captured-stones-stay"))


def _make_refused() -> Graded:
    one = submission(
        "fay", student("fay", "Fay Wray", 6), name="a1.tgz", kept=(), log=CheckLog(),
        refused="a1.tgz: the name leads out of the folder: '../../etc/passwd'",
    )  # fmt: skip
    return nothing(one, "A1.tgz: the name leads out of the folder: '../../etc/passwd'.")


def _absent() -> Graded:
    one = Submission("mia", (student("mia", "Mia Wallace", 13),), refused="nothing was handed in")
    return nothing(one, "Nothing was submitted.")


def _unbuilt() -> Graded:
    output = (
        "cc -o go go.c\ngo.c:12:5: error: expected ';' before '}' token\nmake: *** [go] Error 1"
    )
    build = Build(False, output, "make ended with status 2.")
    found = tuple(one._replace(result=None, build=build) for one in attempts("gus"))
    one = submission("gus", student("gus", "Gus Grissom", 7))
    return nothing(one, "It cannot be built: make ended with status 2.", found)


def _make_dead() -> Graded:
    failure = Failure(FailureKind.DIED, "The engine ended with status 1.")
    first, second, third = attempts("hal", "komi-ignored")
    crash = 'Traceback (most recent call last):\n  File "Go1.py", line 40\nKeyError: (0, 4)\n'
    second = second._replace(result=break_off(second.result, 4, failure, crash))
    log = CheckLog(present=True, ran=True, remarks=("presubmission.log is no transcript.",))
    one = submission("hal", student("hal", "Hal 9000", 8), log=log)
    return mark_by_counting(one, (first, second, third))


def _slow() -> Graded:
    failure = Failure(FailureKind.TIMEOUT, "No answer within 30 s.")
    first, *rest = attempts("ivy")
    slow = break_off(first.result, 5, failure, "")
    near = "time of a command: 30 s used, 30 s are the limit"
    return mark_by_counting(
        submission("ivy", student("ivy", "Ivy Bean", 9)),
        (first._replace(result=slow, near_limit=near), *rest),
    )


def _flaky() -> Graded:
    first, *rest = attempts("jon")
    step = first.result.outcomes[1].step
    line = first.result.case.steps[step].line
    other = with_reply(first.result, line, "W+4.5")._replace(stderr="a warning of the first run\n")
    runs = (
        Measured(other, 1.25, 1.0, 33_000_000, "2024-05-20T09:30:01Z"),
        Measured(first.result, 0.25, 0.125, 31_000_000, "2024-05-20T09:31:00Z", alone=True),
    )
    return mark_by_counting(
        submission("jon", student("jon", "Jon Snow", 10)),
        (first._replace(flaky=(step,), runs=runs), *rest),
    )


def _withheld() -> Graded:
    *rest, last = attempts("kim")
    last = last._replace(result=None, fault="the sandbox's server did not answer")
    one = submission("kim", student("kim", "Kim Wilde", 11))
    note = "No mark yet: 1 case file with a harness error."
    return mark_by_counting(one, (*rest, last), note=note, withheld=True)


def _suspicious() -> Graded:
    found = attempts("lee")
    image = Attempt("lee", IMAGE, "area.gtp turned by 90 degrees", found[0].result)
    example = "area.gtp:20 score; turned by 90 degrees: expected W+0.5, got W+4.5"
    graded = mark_by_counting(submission("lee", student("lee", "Lee Harvey", 12)), (*found, image))
    return graded._replace(suspicion=Suspicion(7, 56, 31, 1.2e-9, example))


def _hostile() -> Graded:
    first, second, third = attempts("zzz", "colors-exchanged")
    reply = f"{SCRIPT}\x1b[31m\x00\udcff \u202e{FORMULA}"
    result = with_reply(first.result, 7, reply)._replace(stderr=reply, warnings=(reply,))
    unjudged = second.result.outcomes[2]._replace(verdict=Verdict.NOT_JUDGED)
    judged = second.result._replace(outcomes=(*second.result.outcomes[:2], unjudged))
    build = Build(True, f"{reply}\n" * 3)
    who = Student("zzz", FORMULA, (("canvas", "-4014"), ("login", "@zzz"), ("moodle", "114")))
    one = submission(
        "zzz", who, name=f"{SCRIPT}.tgz", faults=(f"{SCRIPT} is missing",),
        remarks=(f"left out: {reply}",), forbidden=(SCRIPT,),
    )  # fmt: skip
    found = (first._replace(result=result), second._replace(result=judged), third)
    return mark_by_counting(one, tuple(attempt._replace(build=build) for attempt in found))


@cache
def made_class(visible: str = "verdict") -> ClassResult:
    """The class; ``visible``: the parts of private tests that students may see."""
    makers = (
        _right, _wrong, _late_group, _make_refused, _unbuilt, _make_dead, _slow, _flaky, _withheld,
        _suspicious, _absent, _hostile,
    )  # fmt: skip
    graded = sorted((make() for make in makers), key=lambda one: one.submission.key)
    cases = ASSIGNMENT.cases._replace(private_visible=visible)
    return ClassResult(
        assignment=ASSIGNMENT._replace(cases=cases),
        graded=tuple(graded),
        items=items(graded),
        sandbox="level 3, bubblewrap",
        started="2024-05-20T09:30:00Z",
        version="0.4.0",
        cases=tuple(
            (kind, name, name.encode().hex().ljust(64, "0"))
            for kind, files in ((PUBLIC, PUBLIC_FILES), (PRIVATE, PRIVATE_FILES))
            for name in files
        ),
        python="Python 3.11.7 with numpy 1.23.5",
    )


def wide_class() -> ClassResult:
    """A class in which nothing can be relied on, everything may be seen, and names are long."""
    result = made_class("everything")
    first = result.graded[0]
    names = first.submission._replace(
        students=(student("ada", LONG, 1),), name=LONG, remarks=(LONG,), faults=(LONG,)
    )
    wide = first._replace(submission=names, suspicion=Suspicion(1, 8, 8, 0.0, f"{LONG} {SCRIPT}"))
    wide = wide._replace(marks=wide.marks._replace(note=LONG))
    return result._replace(graded=(wide, *result.graded[1:]), sandbox=UNSAFE)


def items(graded: list[Graded]) -> tuple[Item, ...]:
    """The tests on trial: counts as they are, correlations made up."""
    whole = not_run(case(PUBLIC, "area.gtp"))
    assert whole.outcomes
    counts: dict[tuple[str, str, int, str], list[bool]] = {}
    for one in graded:
        for test in tests(own(one.attempts)):
            if test.passed is not None:
                counts.setdefault((*test.key, test.step.command), []).append(test.passed)
    found = []
    for place, ((kind, name, line, command), passed) in enumerate(sorted(counts.items())):
        r = 0.8 - place * 0.15
        remarks = ("strong submissions disagree with it",) if r < 0 else ()
        spread = (max(r - 0.3, -1), min(r + 0.2, 1))
        found.append(Item(kind, name, line, command, len(passed), sum(passed), r, spread, remarks))
    return tuple(sorted(found, key=lambda item: (item.kind != PUBLIC, item.case, item.line)))


# --- the sheets that were downloaded -----------------------------------------------------------

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Quiz (41),Go scoring (77),Current Score\r\n"
    ",,,,,,Manual Posting,\r\n"
    "    Points Possible,,,,,10,5,(read only)\r\n"
    '"Lovelace, Ada",4001,s1,ada,"A, B",9.00,,90\r\n'
    '"Ünal, Bob",4002,s2,bob,A,,3,\r\n'
    '"Stevens, Cat",4003,,cat,A,,,\r\n'
    '"O\'Neill, Dan",4004,,dan,A,,EX,\r\n'
    '"the third, Eve",4005,,eve,A,,,\r\n'
    '"Wray, Fay",4006,,fay,A,,,\r\n'
    '"=""Grissom, Gus""",4007,,gus,A,=1+1,,\r\n'
    '"9000, Hal",,,HAL,A,,,\r\n'
    '"Wilde, Kim",4011,,kim,A,,,\r\n'
    '"Nobody, Here",4999,,nobody,A,,,\r\n'
    '"Student, Test",4998,,,A,,,\r\n'
)
MOODLE = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    'Participant 101,"Ada Lovelace",ada@example.org,"Submitted for grading",,"5,00",Yes,'
    '"Friday, 17 May 2024, 8:00 PM",-,\n'
    'Participant 102,"Bob Ünal",bob@example.org,,"2,50","5,00",Yes,-,-,"old, ""quoted""\nword"\n'
    'Participant 103,"Cat Stevens",cat@example.org,,,"5,00",No,-,-,\n'
    'Participant 111,"Kim Wilde",kim@example.org,,,"5,00",Yes,-,-,\n'
    'Participant 114,"=cmd|\' /C calc\'!A0",zzz@example.org,,,"5,00",Yes,-,-,\n'
    'Participant 999,"No Body",no@example.org,,,"5,00",Yes,-,-,\n'
)
