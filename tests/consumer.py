"""A program that uses the public interface of both packages. mypy --strict has nothing to say."""

import sys
from collections import Counter
from pathlib import Path

import harness
import oracle


def verdicts(program: str, tests: list[str]) -> Counter[harness.Verdict]:
    """Run case files against a program, and count the verdicts."""
    options = harness.Options(limits=harness.Limits(timeout=10))
    result: harness.RunResult = harness.run(program, tests, options)
    assert result.passed or result.files
    return Counter(outcome.verdict for file in result.files for _, outcome in file.tests)


def marks(assignment: str, submissions: Path, graded: Path) -> dict[str, str]:
    """Grade a class by public case files, and return the marks by submission."""
    found: harness.Assignment = harness.find_assignment(assignment)
    options = harness.GradeOptions(found, submissions, graded, public_only=True)
    result: harness.ClassResult = harness.grade(options)
    return {one.submission.key: str(one.marks) for one in result.graded}


def score(board: str) -> str:
    """Explain the area score of a position in a file."""
    position: oracle.Position = oracle.read_position(Path(board)).position
    return " ".join(one.text for one in oracle.go_scoring.explain(position, komi=0.5).sentences)


if __name__ == "__main__":
    try:
        print(verdicts(sys.argv[1], sys.argv[2:]))
    except harness.HarnessError as error:
        sys.exit(str(error))
