"""Attempts made of verdicts, for the tests of whatever is computed from them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from harness.assignments.assignment import Assignment, Late, MarkPart, find
from harness.core.options import BoxLimits, Limits
from harness.core.records import (
    Build,
    CaseFile,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Verdict,
)
from harness.grading.records import PUBLIC, Attempt, CheckLog, Submission
from harness.reading import casefile
from harness.running.file_runner import not_run
from harness.work.canonical_json import Level, Sha256
from harness.work.records import Environment, Folder, UnitCase, UnitSubmission, WorkUnit

DIED = Failure(FailureKind.DIED, "The engine died.", 0)
GOOD_LOG = CheckLog(present=True, transcript=True, unpacked=True, ran=True)
NEVER_LATE = Late(None, None, Fraction(20), 0)
# What a letter stands for in the functions below.
LETTERS = {
    "p": Verdict.PASSED,
    "f": Verdict.FAILED,
    "-": Verdict.NOT_RUN,
    "?": Verdict.NOT_JUDGED,
    "x": Verdict.EXPECTED_FAIL,
    "X": Verdict.UNEXPECTED_PASS,
    "i": Verdict.IGNORED,
}


@cache
def case_of(verdicts: str, name: str = "a.gtp") -> CaseFile:
    """Return a case file of as many tests, of the numbers 10, 20 … and a star where one is."""
    lines = [
        f"{number * 10} score\n#? [{number}]{'*' if letter in 'xX' else ''}\n"
        for number, letter in enumerate(verdicts, 1)
    ]
    return casefile.parse("".join(lines).encode(), name)


def result_of(
    verdicts: str,
    name: str = "a.gtp",
    replies: tuple[str, ...] = (),
    failure: Failure | None = None,
) -> FileResult:
    """Return the result of a file with these verdicts; an engine that lost a test has died.

    ``replies``: texts; by default the number that is expected, or "wrong".
    """
    case = case_of(verdicts, name)
    texts = replies or tuple(
        str(number) if letter in "pXi?" else "wrong" for number, letter in enumerate(verdicts, 1)
    )
    given = tuple(
        None if letter == "-" else Reply(True, text, f"= {text}", 0.0)
        for letter, text in zip(verdicts, texts, strict=True)
    )
    outcomes = tuple(
        Outcome(step, LETTERS[letter], reply)
        for step, (letter, reply) in enumerate(zip(verdicts, given, strict=True))
    )
    broken = failure or (DIED if "-" in verdicts else None)
    return not_run(case, broken)._replace(outcomes=outcomes, replies=given)


def attempt_of(
    verdicts: str,
    name: str = "a.gtp",
    kind: str = PUBLIC,
    key: str = "ada",
    replies: tuple[str, ...] = (),
) -> Attempt:
    """Return an attempt at :func:`case_of` that ended so."""
    return Attempt(key, kind, name, result_of(verdicts, name, replies))


def fault_of(name: str = "a.gtp", kind: str = PUBLIC) -> Attempt:
    """Return an attempt in which the harness broke."""
    return Attempt("ada", kind, name, None, fault="out of memory")


def unbuilt(name: str = "a.gtp", kind: str = PUBLIC) -> Attempt:
    """Return an attempt with what could not be built."""
    return Attempt("ada", kind, name, None, Build(ok=False, message="make ended with status 2"))


def submission_of(**fields: object) -> Submission:
    """Return a submission with all that go-scoring requires."""
    whole = Submission(
        "ada", (), kept=("Go1.py", "gtp_connection_go1.py", "readme.txt"), log=GOOD_LOG
    )
    return whole._replace(**fields)


def assignment_of(*parts: MarkPart, late: Late = NEVER_LATE, **fields: object) -> Assignment:
    """Return go-scoring with other parts, if any, and no deadline."""
    return find("go-scoring")._replace(late=late, **({"marks": parts} if parts else {}), **fields)


def unit_of(
    key: str = "ada", cases: tuple[UnitCase, ...] = (), sha256: str = "", path: str = ""
) -> WorkUnit:
    """Return a unit of a submission with case files; it is run by nobody."""
    own = UnitSubmission(key, Sha256(sha256), "go/", ("a.py",), path)
    environment = Environment(Level("auto"))
    limits, box = Limits(), BoxLimits()
    folder = Folder("assignment", ())
    return WorkUnit(1, own, key, cases, folder, None, environment, limits, box, False, 1800.0)
