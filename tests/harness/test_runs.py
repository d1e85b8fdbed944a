"""Whole runs: what is sent around a file, what several files make of each other, the options."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.core.errors import CaseError
from harness.core.records import Failure, FailureKind, FileResult, Progress, Reply, Verdict
from harness.reading import casefile
from harness.running import file_runner
from harness.running.protocol_facts import count_errors, warnings
from harness.running.runs import Limits, Options, run

pytestmark = pytest.mark.processes

ENGINES = Path(__file__).parent.parent / "engines"
LETTERS = {
    Verdict.PASSED: "P",
    Verdict.UNEXPECTED_PASS: "p",
    Verdict.EXPECTED_FAIL: "f",
    Verdict.FAILED: "F",
    Verdict.NOT_RUN: "-",
    Verdict.IGNORED: "i",
}


def engine(name: str) -> str:
    return f"{sys.executable} {ENGINES / name}.py"


def letters(file: FileResult) -> str:
    return "".join(LETTERS[outcome.verdict] for outcome in file.outcomes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(**files: str) -> list[str]:
    """Write case files named by keyword, and return their names."""
    for name, text in files.items():
        Path(f"{name}.gtp").write_text(text)
    return [f"{name}.gtp" for name in files]


# --- one file


def test_what_is_sent_around_a_file(folder: Path) -> None:
    Path("first.gtp").write_text("# comment\nkomi\t0\n\n  boardsize 9  \n#? [ignored]\n")
    result = run(engine("in_order"), write(x="10 a\n"), Options(gtpfile="first.gtp"))
    (file,) = result.files
    before = ["komi 0", "boardsize 9", "name", "version", "cputime"]
    assert [exchange.text for exchange in file.before] == before
    assert [exchange.text for exchange in file.after] == ["cputime", "quit"]
    assert all(exchange.reply for exchange in (*file.before, *file.after))
    assert (file.name, file.version, file.cpu_seconds) == ("name", "version", 0.0)


FOUR_VERDICTS = """\
10 right
#? [right]
20 wrong
#? [right]
30 right
#? [right]*
40 wrong
#? [right]*
50 anything
setup
setup
#? [other]
#
60 right
#? [!wrong]
"""


def test_four_verdicts(folder: Path) -> None:
    (file,) = run(engine("in_order"), write(x=FOUR_VERDICTS)).files
    assert letters(file) == "PFpfPFP"
    assert [file.case.steps[outcome.step].id for outcome in file.outcomes] == [
        *(10, 20, 30, 40, 50),
        -1,
        60,
    ]


def test_errors_are_those_of_setup(folder: Path) -> None:
    engine_ = 'sh -c \'while read id rest; do printf "?%s no\\n\\n" "${id%%[a-z]*}"; done\''
    (file,) = run(engine_, write(x="a\nb\n10 c\n20 d\n#? [!no]\ne\n#? [!no]\n")).files
    assert letters(file) == "FFF"
    assert file.errors == 2
    assert (file.name, file.version) == ("", "")


def test_tests_that_are_left_out_are_not_setup_whatever_their_number() -> None:
    steps = [
        one._replace(is_test=False) for one in casefile.parse(b"a\n0 b\n10 c\n", "x.gtp").steps
    ]
    refused = Reply(False, "no", "? no", 0.0)
    assert count_errors(steps, [refused] * 3) == 1


@pytest.mark.parametrize(
    ("command", "reply", "is_right"),
    [("1 a", "=1", True), ("1 a", "=10", False), ("1 a", "=19", False)],
)
def test_an_id_is_compared_with_all_its_digits(command: str, reply: str, is_right: bool) -> None:
    steps = casefile.parse(f"{command}\n".encode(), "x.gtp").steps
    assert (warnings(steps, [Reply(True, "", reply, 0.0)]) == []) is is_right


def test_cpu_time_is_a_difference(folder: Path) -> None:
    counter = (
        "import itertools\nfor n in itertools.count():\n input(); print(f'= {n}.5\\n', flush=1)"
    )
    Path("counter.py").write_text(counter)
    (file,) = run(f"{sys.executable} counter.py", write(x="a\nb\n")).files
    assert file.cpu_seconds == 3.0


AFTER = "'quit' in line 2 ended the engine; 2 commands follow it."
NO_ANSWER = "The engine ended with exit status 0, instead of answering '20 quit'."
QUITS = [
    ("in_order", "10 a\nquit\n", "P", None),
    ("in_order", "10 a\n quit \n\n# the end\n", "P", None),
    ("in_order", "10 a\n20 quit\n#? [quit]\n", "PP", None),
    ("in_order", "10 a\nquit\nb\n20 c\n", "P-", AFTER),
    ("quits_silently", "10 a\nquit\n", "P", None),
    ("quits_silently", "10 a\nquit\nb\n20 c\n", "P-", AFTER),
    ("quits_silently", "10 a\n20 quit\n", "P-", NO_ANSWER),
]


@pytest.mark.parametrize(("name", "case", "verdicts", "message"), QUITS)
def test_a_file_may_end_the_engine(
    name: str, case: str, verdicts: str, message: str | None, folder: Path
) -> None:
    (file,) = run(engine(name), write(x=case)).files
    assert letters(file) == verdicts
    assert (file.failure and file.failure.message) == message
    assert file.after == ()
    assert file.warnings == ()


# --- several files


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_order_is_that_of_the_names(jobs: int, folder: Path) -> None:
    cases = {f"x{number}": f"{number} a\n" for number in range(5)}
    cases["x0"] = "fault\n0 a\n"  # half a second
    files: list[str] = []
    told: list[Progress] = []
    result = run(
        engine("answers_late"),
        write(**cases),
        Options(jobs=jobs),
        told.append,
        lambda file: files.append(file.case.path),
    )
    assert [file.case.steps[-1].id for file in result.files] == list(range(5))
    assert files == [file.case.path for file in result.files]
    ends = {progress.place: progress for progress in told if progress.result}
    assert sorted(ends) == list(range(5))
    assert {(end.done, end.total, end.failed) for end in ends.values()} == {(1, 1, 0)}
    assert {progress.place for progress in told if progress.result is None} == set(range(5))


def test_bad_files_stop_no_others(folder: Path) -> None:
    paths = write(a="10 a\n", b="#? [a]\n", c="10 (\n#? [(]\n", d="10 a\n")
    result = run(engine("in_order"), [*paths, "missing.gtp"], Options(jobs=2))
    assert [letters(file) for file in result.files] == ["P", "P"]
    assert [error.split(":")[0] for error in result.errors] == ["b.gtp", "c.gtp", "missing.gtp"]


def test_an_error_of_ours_is_no_verdict(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_to_judge(case: object, *_: object) -> object:
        raise ValueError("our own mistake")

    monkeypatch.setattr(file_runner._FileRun, "_judge", fail_to_judge)
    result = run(engine("in_order"), write(a="10 a\n20 b\n", b="setup\n"), Options(jobs=2))
    assert [letters(file) for file in result.files] == ["--", ""]
    assert [file.failure for file in result.files] == [None, None]
    (fault,) = result.faults
    assert fault.startswith("a.gtp: ValueError: our own mistake\nTraceback")


def test_an_error_in_the_gtpfile_ends_the_run(folder: Path) -> None:
    Path("first").write_text("fine\nfault\nmore\n")
    Path("refuses.py").write_text(
        "from common import say, serve\nserve(lambda id, name: say('? no such thing\\n\\n'))\n"
    )
    program = f"env PYTHONPATH={ENGINES} {sys.executable} refuses.py"
    paths = write(a="10 a\n", b="10 b\n", c="10 c\n")
    result = run(program, paths, Options(jobs=1, gtpfile="first"))
    assert [letters(file) for file in result.files] == ["-", "-", "-"]
    message = "The engine answered 'fault' of the --gtpfile with an error: no such thing"
    assert result.files[0].failure == Failure(FailureKind.SETUP, message)
    assert [file.failure for file in result.files[1:]] == [None, None]
    with pytest.raises(CaseError, match="missing: cannot be read"):
        run(program, paths, Options(gtpfile="missing"))


# --- options


def test_no_engine_outlives_the_time_of_the_whole_run(folder: Path) -> None:
    paths = [write(**{name: "10 fault\n#? [fault]\n"})[0] for name in "abc"]
    options = Options(jobs=1, limits=Limits(total=1))
    result = run(engine("never_answers"), paths, options)
    told = [(file.failure.kind, file.failure.message) for file in result.files if file.failure]
    assert told == [
        (
            FailureKind.TIMEOUT,
            "The engine ran out of time at 'name': the whole run's 1 s were used up.",
        ),
        *[
            (
                FailureKind.TIMEOUT,
                "The engine was not started: the whole run's 1 s were used up.",
            )
        ]
        * 2,
    ]


def test_fail_fast_ends_the_run_at_the_first_failure(folder: Path) -> None:
    paths = write(
        a="1 a\n2 b\n#? [x]*\n",
        b="1 a\n2 b\n#? [x]\n3 c\n",
        c="1 a\n#? [x]\n",
        d="1 a\n",
    )
    result = run(engine("in_order"), paths, Options(fail_fast=True, jobs=3))
    assert [letters(file) for file in result.files] == ["Pf", "PF-", "-", "-"]
    assert [file.failure for file in result.files] == [None] * 4


SELECTIONS = [
    (None, None, "1:P 2:P 3:P -1:P 2:P"),
    (None, "2", "2:P 2:P"),
    (None, "1, 3-7", "1:P 3:P"),
    ("^c", None, "3:P"),
    ("[bd]", None, "2:P -1:P"),
    ("b", "1-3", "2:P"),
    ("x", None, None),
    (None, "9", None),
]


@pytest.mark.parametrize(("only", "ids", "expected"), SELECTIONS)
def test_selection(only: str | None, ids: str | None, expected: str | None, folder: Path) -> None:
    paths = write(x="setup\n1 a\n#? [a]\n2 b\n#? [b]\n3 c\nd\n#? [d]\n2 e\nsetup\n")
    result = run(engine("in_order"), paths, Options(only=only, ids=ids))
    found = [
        " ".join(
            f"{file.case.steps[step].id}:{LETTERS[verdict]}" for step, verdict, *_ in file.outcomes
        )
        for file in result.files
    ]
    assert found == ([] if expected is None else [expected])
    if only == "^c":
        assert [step.text for step in result.files[0].case.steps][-1] == "3 c"


def test_a_verdict_that_changes_is_flaky(folder: Path) -> None:
    program = f"{engine('different_each_time')} {folder / 'memory'}"
    paths = write(x="1 a\n#? [a]\n2 fault\n#? [fault]\n3 b\n#? [x]\n")
    (file,) = run(program, paths, Options(rerun=3)).files
    assert letters(file) == "PFF"
    assert [outcome.flaky for outcome in file.outcomes] == [False, True, False]
    assert file.outcomes[1].reply is not None
    assert file.outcomes[1].reply.text == "wrong"


# --- the end of the harness itself

HARNESS = """
import sys
from harness.running.runs import Options, run
run(sys.argv[1], sys.argv[3:], Options(jobs=int(sys.argv[2])))
"""


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGHUP, 1), (signal.SIGINT, 2)])
def test_engines_end_with_the_harness(number: int, jobs: int, folder: Path) -> None:
    mark = f"mark-{os.getpid()}-{number}-{jobs}"
    program = f"{engine('ignores_all_requests')} {mark}"
    paths = write(a="1 a\nquit\n", b="1 a\nquit\n")
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, program, str(jobs), *paths],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 20
    while len(processes(mark)) < jobs and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(harness.pid, number)
    harness.wait(20)
    assert processes(mark) == []


def processes(mark: str) -> list[int]:
    """Return the engines with this mark, the harness itself left out."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_text().split("\0")
        except OSError:
            continue
        if mark in words:
            found.append(int(file.parent.name))
    return found


# --- memory
