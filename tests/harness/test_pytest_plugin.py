"""The pytest plugin: the outcomes of ``gtp-harness run`` and its texts, as pytest tells them."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from harness.core.errors import SandboxError
from harness.core.records import FileResult, Verdict
from harness.reading import pattern
from harness.report.file_view import view
from harness.report.paint import Paint
from harness.report.terminal_report import Terminal
from harness.running import runs
from harness.running.runs import Options, run
from harness.sandbox import levels

# A pytest within this one has its filters, and ours makes errors of warnings.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.filterwarnings("always::harness.pytest_plugin.items.GtpWarning"),
]

pytest_plugins = ["pytester"]
# What an inner run of pytest imports is forgotten after it. Pickles of results name functions of
# this module: those of the outer process must be the same ones before and after.
assert runs

ENGINES = Path(__file__).parent.parent / "engines"

# Writes what it is told to "log", with a line for its start. Answers "say X" with X, "wrong" with
# an error, "byte N" with that byte, "long" with what (a+)+ never ends on, "die" with
# its death.
ENGINE = """\
import os, sys
log = open(sys.argv[1], "a", buffering=1)
log.write("start\\n")
for line in sys.stdin:
    log.write(line)
    words = line.split()
    id = words.pop(0) if words[0].isdigit() else ""
    name, *rest = words
    if name == "die":
        print("last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)
    text = {"say": " ".join(rest), "long": "a" * 40}.get(name, "").encode()
    if name == "byte":
        text = b"before " + bytes([int(rest[0])]) + b" after"
    status = b"?" if name == "wrong" else b"="
    sys.stdout.buffer.write(status + id.encode() + b" " + text + b"\\n\\n")
    sys.stdout.buffer.flush()
    if name == "quit":
        break
"""

# What pytest's words are for a verdict.
WORDS = {
    Verdict.PASSED: "passed",
    Verdict.UNEXPECTED_PASS: "xpassed",
    Verdict.EXPECTED_FAIL: "xfailed",
    Verdict.FAILED: "failed",
    Verdict.NOT_RUN: "error",
    Verdict.NOT_JUDGED: "error",
    Verdict.IGNORED: "skipped",
}

GOOD = "1 say hello\n#? [hello]\n2 say x\n#? [y]*\n3 say y\n#? [y]*\n"
BAD = "boardsize 3\nclear_board\nplay b b2\n\n# half a point\n10 say B+2\n#? [B\\+1]\n20 wrong\n"
DYING = "1 say a\n#? [a]\n2 die\n#? [.*]\n3 say b\n#? [b]\n4 say c\n#? [d]*\n"


class Bench:
    """A folder with an engine and case files, where pytest is called."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.log = pytester.path / "log"
        script = pytester.path / "engine.py"
        script.write_text(ENGINE)
        self.program = shlex.join([sys.executable, str(script), str(self.log)])

    def write(self, **files: str) -> list[str]:
        for name, text in files.items():
            (self.pytester.path / f"{name}.gtp").write_text(text)
        return [f"{name}.gtp" for name in files]

    def pytest(self, *words: object) -> pytest.RunResult:
        return self.pytester.runpytest_inprocess("--gtp-engine", self.program, *words)

    def sent(self) -> list[str]:
        """Return the engine's log without what the harness sends on its own account."""
        own = {"name", "version", "cputime", "quit"}
        return [line for line in self.log.read_text().splitlines() if line not in own]

    def words(self, *words: object) -> list[tuple[str, str]]:
        """Run pytest; return what it says of each item, in the order of its reports."""
        recorder = self.pytester.inline_run("--gtp-engine", self.program, *words)
        found: dict[str, str] = {}
        for report in recorder.getreports("pytest_runtest_logreport"):
            word = word_of(report)
            if word:
                assert report.nodeid not in found, "an item with two results"
                found[report.nodeid] = word
        return list(found.items())


def word_of(report: pytest.TestReport) -> str:
    """Return pytest's word for a phase of a test, empty for one it does not mention."""
    if hasattr(report, "wasxfail"):
        return {"skipped": "xfailed", "passed": "xpassed"}[report.outcome]
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return report.outcome if report.skipped or report.when == "call" else ""


@pytest.fixture
def bench(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """With no plugin of others: they take most of a second to load, in each worker again."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "harness.pytest_plugin,xdist.plugin")
    return Bench(pytester)


def of_run(files: tuple[FileResult, ...]) -> list[tuple[str, str]]:
    """Return what pytest should say of each test; the ids of these files do not recur."""
    return [
        (f"{file.case.path}::{file.case.steps[outcome.step].id}", WORDS[outcome.verdict])
        for file in files
        for outcome in file.outcomes
    ]


# --- outcomes ----------------------------------------------------------------------------------


def test_every_verdict(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern, "LIMIT", 0.2)
    heavy = "5 long\n#? [(a+)+b]\n6 say on\n#? [on]\n"
    names = bench.write(good=GOOD, bad=BAD, dying=DYING, heavy=heavy)
    result = run(bench.program, names, Options(jobs=1))
    verdicts = {outcome.verdict for file in result.files for outcome in file.outcomes}
    assert verdicts == set(Verdict) - {Verdict.IGNORED}
    assert bench.words(*names) == of_run(result.files)


def test_expected_failures_are_not_strict_and_can_be_told_to_count(bench: Bench) -> None:
    bench.pytester.makeini("[pytest]\nxfail_strict = true\n")
    names = bench.write(good=GOOD)
    bench.pytest(*names).assert_outcomes(passed=1, xfailed=1, xpassed=1)
    bench.pytest("--runxfail", *names).assert_outcomes(passed=2, failed=1)
    shown = bench.pytest("-rxX", *names)
    # pytest 8 says "reason: " before it
    shown.stdout.fnmatch_lines(
        ["XFAIL good.gtp::2 - *expected 'y', got 'x'", "XPASS good.gtp::3*"]
    )
    assert "Traceback" not in shown.stdout.str()
    assert "items.py" not in shown.stdout.str()


# --- what broke --------------------------------------------------------------------------------


def test_an_engine_that_dies(bench: Bench) -> None:
    result = bench.pytest(*bench.write(dying=DYING, good=GOOD))
    result.assert_outcomes(passed=2, errors=3, xfailed=1, xpassed=1)
    shown = result.stdout
    shown.fnmatch_lines(
        [
            "*ERROR at setup of dying.gtp: 2 die*",
            "✗ ENGINE died  dying.gtp:3: 2 die",
            "    The engine was killed by SIGKILL (killed)*",
            "*ERROR at setup of dying.gtp: 3 say b*",
            "not run: The engine was killed by SIGKILL*",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "Traceback" not in shown.str()


def test_an_engine_that_dies_when_all_is_answered(bench: Bench) -> None:
    bench.program = shlex.join([sys.executable, str(ENGINES / "dies_after_last_test.py")])
    names = bench.write(x="1 a\n#? [a]\n2 b\n#? [b]\n")
    (file,) = run(bench.program, names).files
    assert file.failure is not None
    result = bench.pytest(*names)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of x.gtp: 2 b*", f"*{file.failure.message}"])


def test_an_engine_that_is_not_there(bench: Bench) -> None:
    bench.program = "./nowhere"
    result = bench.pytest(*bench.write(good=GOOD))
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["✗ ENGINE not started  good.gtp", "*there is no such file*"])


def test_a_fault_of_the_harness(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_to_run(*_: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(runs, "run_file", fail_to_run)
    result = bench.pytest(*bench.write(good=GOOD))
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        ["THE HARNESS FAILED, not the engine: good.gtp: ZeroDivisionError: a mistake of ours"]
    )


def test_in_a_sandbox(bench: Bench) -> None:
    """The engine sees its own folder, and the outcomes are those without a sandbox."""
    script = bench.pytester.path / "engine.py"
    with tempfile.TemporaryDirectory(prefix="gtp-harness-test-") as name:
        Path(name).chmod(0o755)
        script = shutil.copy(script, name)
        Path(script).chmod(0o644)
        bench.program = shlex.join([levels.interpreter(), script, "/dev/null"])
        names = bench.write(good=GOOD)
        outcomes = {"passed": 1, "xfailed": 1, "xpassed": 1}
        bench.pytest("--gtp-sandbox=auto", *names).assert_outcomes(**outcomes)


def test_a_sandbox_that_does_not_work(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_sandbox(*_: object, **__: object) -> None:
        raise SandboxError("no sandbox works here")

    monkeypatch.setattr(levels, "choose", refuse_sandbox)
    result = bench.pytest("--gtp-sandbox=auto", *bench.write(good=GOOD))
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["THE HARNESS FAILED, not the engine: no sandbox works here"])


def test_a_bad_case_file(bench: Bench) -> None:
    names = bench.write(wrong="1 say a\n#? [a\n", good=GOOD)
    result = bench.pytest("--continue-on-collection-errors", *names)
    result.assert_outcomes(errors=1, passed=1, xfailed=1, xpassed=1)
    result.stdout.fnmatch_lines(["*ERROR collecting wrong.gtp*", "wrong.gtp:2: expected ']'*"])
    assert bench.pytest(*names).ret == pytest.ExitCode.INTERRUPTED


def test_refused_setup_is_a_warning(bench: Bench) -> None:
    result = bench.pytest(*bench.write(x="wrong thing\n1 say a\n#? [a]\n"))
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*GtpWarning: ! 1 setup command refused, first x.gtp:1:*"])


# --- texts -------------------------------------------------------------------------------------


def test_failures_have_the_report_of_a_run(bench: Bench) -> None:
    names = bench.write(bad=BAD)
    (file,) = run(bench.program, names).files
    shown = view(file)
    assert set(shown.boards) == {3, 4}
    text = bench.pytest(*names).stdout.str()
    for outcome in file.outcomes:
        report = Terminal(Paint(False)).result(shown, outcome)
        assert "●" in report
        assert report in text
    assert "FAILED bad.gtp::10 - expected 'B+1', got 'B+2'" in text


def junit(bench: Bench, *words: object) -> ET.Element:
    bench.pytest("--junitxml=out.xml", *words)
    return ET.parse(bench.pytester.path / "out.xml").getroot()[0]


def test_junit(bench: Bench) -> None:
    suite = junit(bench, *bench.write(good=GOOD, bad=BAD, dying=DYING))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "9", "failures": "2", "errors": "3", "skipped": "1"}
    found = {
        (case.get("classname"), case.get("name")): [
            (part.tag, part.get("message")) for part in case
        ]
        for case in suite
    }
    assert found[("good.gtp", "1")] == []
    assert found[("good.gtp", "2")] == [("skipped", "expected 'y', got 'x'")]
    assert found[("good.gtp", "3")] == []
    assert found[("bad.gtp", "10")] == [("failure", "expected 'B+1', got 'B+2'")]
    (text,) = [case[0].text for case in suite if case.get("name") == "10"]
    assert text is not None
    assert "    2  ├(●)┤  2\n" in text
    ((kind, message),) = found[("dying.gtp", "4")]
    assert kind == "error"
    assert message is not None
    assert "not run: The engine was killed by SIGKILL" in message


@pytest.mark.parametrize(
    "words",
    [pytest.param((), id="alone"), pytest.param(("-n2",), id="xdist", marks=pytest.mark.long(1))],
)
def test_any_byte_can_be_told_of(bench: Bench, words: tuple) -> None:
    odd = (0, 27, 255)
    case = "".join(f"byte {byte}\n#? [nothing]\nbyte {byte}\n#? [nothing]*\n" for byte in odd)
    suite = junit(bench, *words, *bench.write(x=case))
    messages = [one[0].get("message") or "" for one in suite]
    for byte in odd:
        assert sum(f"before \\x{byte:02x} after" in message for message in messages) == 2


# --- names and selection -----------------------------------------------------------------------

NAMED = "1 say a\n1 say b\n#? [a]\nsay c\n#? [c]\n2 say d\nsay e\n3 say f\n"


def test_names(bench: Bench) -> None:
    names = bench.write(x=NAMED)
    expected = ["1[line1]", "1[line2]", "line4", "2", "3"]
    assert [name for name, _ in bench.words(*names)] == [f"x.gtp::{name}" for name in expected]


# What is asked for, the items run, and all that was sent for it.
SELECTIONS = {
    "recurring-id": (["x.gtp::1"], ["1[line1]", "1[line2]"], 2),
    "one-of-it": (["x.gtp::1[line1]"], ["1[line1]"], 2),  # GNU Go's dialect judges by the other
    "line": (["x.gtp::line4"], ["line4"], 3),
    "command": (["x.gtp", "-k", "say and (c or f)"], ["line4", "3"], 6),
    "deselected": (["x.gtp", "--deselect=x.gtp::3"], ["1[line1]", "1[line2]", "line4", "2"], 4),
}


@pytest.mark.parametrize(("words", "items", "sent"), SELECTIONS.values(), ids=SELECTIONS)
def test_selection(bench: Bench, words: list[str], items: list[str], sent: int) -> None:
    bench.write(x=NAMED)
    found = [name for name, _ in bench.words(*words)]
    assert sorted(found) == sorted(
        f"x.gtp::{item}" for item in items
    )  # pytest 8.0 turns some round
    commands = [line for line in NAMED.splitlines() if not line.startswith("#")]
    assert bench.sent() == ["start", *commands[:sent]]


def test_a_test_of_a_recurring_id_is_judged_alone_as_among_all(bench: Bench) -> None:
    names = bench.write(x="1 say a\n#? [a]\n2 quiet\n1 say c\n3 say x\n#? [y]&\n")
    result = run(bench.program, names, Options(dialect="gnugo"))
    every = dict(bench.words("--gtp-dialect=gnugo", "x.gtp"))
    assert every == {
        "x.gtp::1[line1]": "failed",
        "x.gtp::2": "passed",
        "x.gtp::1[line4]": "failed",
        "x.gtp::3": "skipped",
    }
    assert list(every.values()) == [word for _, word in of_run(result.files)]
    for name in ("x.gtp::1[line1]", "x.gtp::2"):
        assert bench.words("--gtp-dialect=gnugo", name) == [(name, every[name])]


def test_hidden_files_only_if_named(bench: Bench) -> None:
    bench.write(**{"good": GOOD, ".hidden": BAD})
    (bench.pytester.path / "list.tst").write_text("1 say a\n")
    (bench.pytester.path / "notes.txt").write_text("1 say a\n")
    assert {name for name, _ in bench.words()} == {f"good.gtp::{n}" for n in (1, 2, 3)} | {
        "list.tst::1"
    }
    assert [name for name, _ in bench.words(".hidden.gtp")] == [
        ".hidden.gtp::10",
        ".hidden.gtp::20",
    ]


# --- where and when engines are started --------------------------------------------------------


@pytest.mark.long(4)
def test_one_engine_for_each_file_in_any_number_of_workers(bench: Bench) -> None:
    many = "".join(f"{number} say a\n#? [a]\n" for number in range(1, 21))
    names = bench.write(a=many, b=many, c=DYING)
    alone = bench.words(*names)
    bench.log.unlink()
    assert sorted(bench.words("-n2", *names)) == sorted(alone)
    assert bench.sent().count("start") == 3
    assert sorted(bench.words("-n2", "--dist=load", *names)) == sorted(alone)


# --- options, and what it costs without them ---------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gtp-engine", ""], "--gtp-engine: the program's command is empty"),
        (["--gtp-engine=x", "--gtp-timeout=-1"], "*--gtp-timeout: found '-1', expected seconds*"),
        (["--gtp-engine=x", "--gtp-dialect=go"], "*--gtp-dialect: invalid choice: 'go'*"),
    ],
)
def test_usage_errors(bench: Bench, words: list[str], message: str) -> None:
    result = bench.pytester.runpytest_inprocess(*words, *bench.write(good=GOOD))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}"])


def test_nothing_without_an_engine(pytester: pytest.Pytester) -> None:
    """Where it is installed: pytest finds it by itself."""
    Bench(pytester).write(good=GOOD)
    pytester.makepyfile(
        test_a="import sys\nHEAVY = {'harness.pytest_plugin.items', 'harness.running.runs'}\n"
        "HEAVY |= {'oracle', 'numpy', 'pexpect'}\n"
        "def test_a():\n    assert not HEAVY & set(sys.modules)\n"
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
