"""The same crash is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.check.steps import CheckReporter, _verdict, _verdict_of_test
from harness.core.records import Failure, FailureKind
from harness.reading import casefile
from harness.report.html.parts import Crashes, troubles
from harness.report.paint import Paint
from harness.report.terminal_report import Terminal
from harness.running.file_runner import not_run

KEY = "KeyError: 'x' (line 3 of Go1.py)"


def make_broken_result(name: str, *reasons: str):
    """Return the result of a case file in which the engine died of each reason."""
    case = casefile.parse(b"10 score\n#? [0]\n20 score\n#? [0]\n", name)
    failures = tuple(
        Failure(FailureKind.DIED, f"It died at test {step} of {name}: {reason}.", step, reason)
        for step, reason in enumerate(reasons)
    )
    return not_run(case)._replace(failures=failures, stderr=f"{reasons[-1]}\n")


FILES = [
    make_broken_result("a.gtp", KEY),
    make_broken_result("b.gtp", KEY),
    make_broken_result("c.gtp", "ValueError", KEY),
]


def test_on_a_terminal():
    terminal = Terminal(Paint(on=False))
    told = "\n".join(text for file in FILES for text in terminal.failures(file))
    assert told.count("It died at test") == 2
    assert told.count(KEY) == 1  # standard error had nothing else
    assert told.count("In the same way as above.") == 2
    assert told.count("✗ ENGINE died") == 4


def test_on_a_page():
    crashes = Crashes(FILES)
    told = "".join(text for file in FILES for text in troubles(file, crashes=crashes))
    assert told.count("It died at test") == 2
    assert "The same failure in 3 case files: a.gtp, b.gtp, c.gtp." in told
    assert told.count("In the same way as told at a.gtp.") == 2
    assert "case files" not in "".join(troubles(FILES[0]))


def test_a_student_is_told_that_the_harness_failed_and_not_the_submission(capsys):
    sayer = CheckReporter("check", Paint(on=False), unicode=True)
    sayer.unknown = ["the harness itself failed"]
    assert _verdict(Path("a1.tgz"), 3, sayer) == 3
    (told,) = filter(None, capsys.readouterr().out.splitlines())
    assert told.startswith("The harness itself failed. That is not your fault, and nothing else")


@pytest.mark.parametrize(
    ("status", "wrong", "unknown", "last"),
    [
        (0, [], [], "This test passes."),
        (1, ["1 of 1 test fail"], [], "This test does not pass."),
        (3, ["the engine breaks"], ["the harness itself failed"], "This test does not pass."),
        (3, [], ["the harness itself failed"], "Not your fault: the harness itself failed."),
        (3, [], ["1 test could not be judged"], "Not your fault: 1 test could not be judged."),
    ],
)
def test_a_single_test_does_not_fail_by_what_the_harness_does(
    status, wrong, unknown, last, capsys
):
    sayer = CheckReporter("check", Paint(on=False), unicode=True)
    sayer.wrong, sayer.unknown = wrong, unknown
    assert _verdict_of_test(status, sayer) == status
    assert capsys.readouterr().out.strip().startswith(f"{last} Nothing was written")
