"""``gtp-harness run`` from its command line: options, streams, files, exit status."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from harness.cli import commandline, main
from harness.cli.run import RUN, read_options
from harness.core.errors import UsageError
from harness.core.options import PATIENT, Options
from tests.documents import section
from tests.harness.gogui_model import GoguiRegress

pytestmark = pytest.mark.processes

# Answers what it is asked: "say X" with X, "wrong" with an error, "die" with its death.
ENGINE = """\
import os, sys, time
for line in iter(sys.stdin.readline, ""):
    words = line.split("#")[0].split()
    if not words:
        continue
    id = words.pop(0) if words[0].isdigit() else ""
    name, *rest = words
    if name == "die":
        print("last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)
    while name == "await" and not os.path.exists(rest[0]):
        time.sleep(0.02)
    if name == "sleep":
        open("sleeps", "w").close()
        time.sleep(float(rest[0]))
    status = "?" if name == "wrong" else "="
    text = " ".join(rest) if name == "say" else "made" if name == "name" else ""
    print(f"{status}{id} {text}\\n", flush=True)
    if name == "quit":
        open("quit", "w").close()
        break
"""

GOOD = "1 say hello\n#? [hello]\n2 say x\n#? [y]*\n"
BAD = "boardsize 3\nclear_board\nplay b b2\n10 say B+2\n#? [B\\+1]\n20 wrong\n"
DYING = "1 say a\n#? [a]\n2 die\n#? [.*]\n3 say b\n#? [b]\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with an engine and case files, from where commands are run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine.py").write_text(ENGINE)
    for name, text in {"good": GOOD, "bad": BAD, "dying": DYING}.items():
        (tmp_path / f"{name}.gtp").write_text(text)
    return tmp_path


PROGRAM = f"{shlex.quote(sys.executable)} {{}}/engine.py"


def call(capsys, *words, command="run"):
    """Run in this process; return exit status, standard output and standard error."""
    status = main([command, *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def program(here):
    return PROGRAM.format(shlex.quote(str(here)))


# --- exit status and streams -------------------------------------------------------------------


def test_lines_have_a_prefix_with_several_files(capsys, program):
    status, out, _ = call(capsys, "-long", program, "good.gtp", "bad.gtp")
    assert status == 1
    assert out == (
        "good.gtp 1 passed\n"
        "good.gtp 2 failed: Correct 'y', got 'x'\n"
        "Summary: 1/2 passes. 0 unexpected passes, 0 unexpected failures\n"
        "bad.gtp 10 FAILED: Correct 'B\\+1', got 'B+2'\n"
        "bad.gtp 20 unexpected FAIL\n"
        "Summary: 0/2 passes. 0 unexpected passes, 2 unexpected failures\n"
    )


def test_a_broken_engine_ends_its_file_only(capsys, program):
    status, out, err = call(capsys, program, "dying.gtp", "good.gtp")
    assert status == 2
    assert out == "dying.gtp 2 not run\ndying.gtp 3 not run\n"
    assert "gtp-harness: dying.gtp: " in err
    assert "SIGKILL" in err
    assert err.endswith(
        "2 files (1 broken off): 5 tests, 2 not run, 1 failed as expected, 2 passed\n"
    )


def test_bad_input_does_not_end_the_other_files(capsys, program, here):
    (here / "wrong.gtp").write_text("1 say a\n#? [a]\n#? [b]\n")
    status, out, err = call(capsys, program, "wrong.gtp", "missing.gtp", "good.gtp")
    assert (status, out) == (2, "")
    assert "case file  wrong.gtp:3: " in err
    assert "case file  missing.gtp: " in err
    assert "1 file: 2 tests" in err


# What docs/gogui-regress.md says of exit statuses: a case file for each row of its table.
STATUSES = {
    "A file without a test": ["boardsize 9\nwrong\n", "", "# a comment\n\nsay x\n"],
    "A failed test without a pattern": ["1 wrong\n", "1 say x\n#? [x]\n2 wrong\n#?\n"],
    "A refused pattern, answered with `?`": [
        "1 wrong\n#? [(]\n", "1 wrong\n#? [a{2,1}]\n2 say x\n#? [x]\n",
    ],
    "The same with `*` at its end": ["1 wrong\n#? [(]*\n", "1 wrong\n#? [a{2,1}]*\n"],
    "A refused pattern, answered with `=`": [
        "1 say x\n#? [(]\n", "1 wrong\n#? [x]\n2 say x\n#? [(]*\n3 say a\n#? [b]\n",
    ],
}  # fmt: skip
# Where the statuses are the same.
SAME = {
    "1 say x\n#? [x]\n": 0, "1 say x\n#? [y]\n": 1, "1 say x\n#? [y]*\n": 0,
    "1 say x\n#? [x]*\n": 0, "1 wrong\n#? [x]\n": 1, "1 say x\n\n#? [x]\n": 2,
    "1 say x\n#? x]\n": 2, "wrong\n#? [x]\n": 1,
}  # fmt: skip


def list_statuses():
    """Return the rows of the document's table: what, status, status with --compatible."""
    rows = [line.split(" | ") for line in section("Exit statuses").splitlines()]
    return {row[0].removeprefix("| "): tuple(map(int, row[1:3])) for row in rows if len(row) > 3
            and row[1].isdigit()}  # fmt: skip


def test_each_exit_status_that_differs_has_its_reason():
    assert list(list_statuses()) == list(STATUSES)


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        *((text, list_statuses()[what]) for what, texts in STATUSES.items() for text in texts),
        *((text, (status, status)) for text, status in SAME.items()),
    ],
)
def test_exit_statuses_as_listed_and_as_gogui_regress_has_them(
    capsys, program, here, text, statuses
):
    (here / "one.tst").write_text(text)
    found = [call(capsys, *words, program, "one.tst") for words in ([], ["--compatible"])]
    assert [status for status, _, _ in found] == list(statuses), found
    commands = (line for line in text.splitlines() if line and line[0] != "#")
    replies = ("? " if "wrong" in line else f"= {line.partition('say ')[2]}" for line in commands)
    assert GoguiRegress(long=False).run(text, replies) == statuses[1]


def test_compatible_lasts_in_what_is_told_and_fits_no_other_dialect(capsys, program, here):
    (here / "one.tst").write_text("1 wrong\n#? [(]\n")
    words = (
        "--report",
        "--compatible",
        "--json",
        "a.json",
        "--output",
        "html",
        "--junit",
        "a.xml",
    )
    status, out, _ = call(capsys, *words, program, "one.tst")
    assert (status, "run --compatible " in out) == (1, True), out
    assert json.loads((here / "a.json").read_text())["options"]["dialect"] == "compatible"
    status, _, err = call(capsys, "--compatible", "--dialect", "gnugo", program, "one.tst")
    assert (status, "--compatible: found --dialect gnugo" in err) == (2, True)


README_TEXT = "# How to run\nStart the engine and wait.\n"
SGF = "(;GM[1]FF[4]SZ[9];B[ee])\n"
NOTHING = [
    (["--ids", "7-9", "good.gtp"], "--ids 7-9 selects none of the 2 tests of good.gtp"),
    (["--ids", "7-9", "one.gtp"], "--ids 7-9 selects not the only test of one.gtp"),
    (["--only", "^x", "good.gtp", "bad.gtp"],
     "--only '^x' selects none of the 4 tests of these 2 files"),
    (["--only", "hello", "--ids", "2", "good.gtp"],
     "--only 'hello' with --ids 2 selects none of the 2 tests of good.gtp"),
    (["empty"], "empty: found no case files in this folder, expected *.gtp or *.tst"),
    (["@none"], "none: the suite cannot be read: No such file or directory"),
    (["game.sgf"], "game.sgf: found no test, expected a command"),
    (["good.gtp", "README"], "README: found no test, expected a command"),
    (["setup.gtp"], "setup.gtp: found no test, expected a command"),
    (["setup.gtp", "blank.gtp"], "these 2 files: found no test, expected a command"),
    (["good.gtp", "fifo.gtp"], "fifo.gtp: cannot be read: found a FIFO, expected a file"),
    (["good.gtp", "zero.gtp"], "zero.gtp: cannot be read: found a device, expected a file"),
    (["good.gtp", "long.gtp"], "long.gtp:1: found a number of 5,000 digits, expected an id"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), NOTHING)
def test_nothing_tested_is_no_success(capsys, program, here, words, message):
    _write_files_without_tests(here)
    status, _, err = call(capsys, program, *words)
    assert (status, message in err) == (2, True), err
    ran = "1 file: 2 tests, " in err
    assert ran == (len(words) == 2 and words[0] == "good.gtp"), err


@pytest.mark.parametrize("command", ["verify", "strength"])
@pytest.mark.parametrize("name", ["empty", "game.sgf", "setup.gtp"])
def test_nothing_checked_is_no_success(capsys, here, command, name):
    _write_files_without_tests(here)
    status, out, err = call(capsys, name, "--assignment", "go-scoring", command=command)
    assert status == 2, out
    assert err.startswith(f"gtp-harness: {name}: ")


def _write_files_without_tests(here):
    (here / "empty").mkdir()
    (here / "README").write_text(README_TEXT)
    (here / "game.sgf").write_text(SGF)
    (here / "setup.gtp").write_text("boardsize 9\nclear_board\n")
    (here / "one.gtp").write_text("1 say a\n")
    (here / "blank.gtp").write_text("")
    (here / "long.gtp").write_text("1" * 5000 + " say a\n")
    (here / "zero.gtp").symlink_to("/dev/zero")
    os.mkfifo(here / "fifo.gtp")


# --- files -------------------------------------------------------------------------------------


def test_all_reports_at_once(capsys, program, here):
    options = ["--output", "o/p", "--json", "r.json", "--junit", "r.xml", "--tap", "r.tap"]
    status, _, _ = call(capsys, *options, program, "good.gtp", "bad.gtp")
    assert status == 1
    assert {path.name for path in (here / "o" / "p").iterdir()} == {
        *("index.html", "summary.dat"),
        *("good.gtp.html", "good.gtp.out.html", "bad.gtp.html", "bad.gtp.out.html"),
    }
    data = (here / "o" / "p" / "summary.dat").read_text().splitlines()[1].split("\t")
    assert data[:6] == ["4", "2", "1", "0", "1", "0"]
    assert json.loads((here / "r.json").read_text())["tally"]["failed"] == 2
    assert (here / "r.xml").read_text().startswith("<?xml")
    assert (here / "r.tap").read_text().startswith("TAP version 14\n")


def test_baseline(capsys, program, here):
    assert call(capsys, "--json", "old.json", program, "good.gtp", "bad.gtp")[0] == 1
    same = call(capsys, "--baseline", "old.json", program, "good.gtp", "bad.gtp")
    assert same[0] == 0
    assert ": the same\n" in same[2]
    (here / "good.gtp").write_text(GOOD.replace("say hello", "say bye"))
    (here / "bad.gtp").write_text(BAD.replace("say B+2", "say B+1"))
    status, _, err = call(
        capsys, "--baseline", "old.json", "--json", "old.json", program, "good.gtp", "bad.gtp"
    )
    assert status == 1  # for the new test that fails: other commands are other tests
    assert "new (2)\n    good.gtp:1  1 say bye  FAILED\n" in err
    assert "gone (2)" in err


# --- the command line --------------------------------------------------------------------------


def test_the_defaults_are_those_of_the_library():
    assert read_options(RUN.parser().parse_intermixed_args(["program", "test"])) == Options()


SPELLINGS = [
    (["--timeout", "1.5"], Options(limits=PATIENT._replace(timeout=1.5))),
    (["--startup-timeout=7"], Options(limits=PATIENT._replace(startup=7))),
    (["--file-timeout", "0"], Options(limits=PATIENT._replace(file=0))),
    (["--max-output", "64k"], Options(limits=PATIENT._replace(max_output=65536))),
    (["--max-output", "2M"], Options(limits=PATIENT._replace(max_output=2 << 20))),
    (["--jobs", "3"], Options(jobs=3)),
    (["--only", "score"], Options(only="score")),
    (["--ids", "1,5-7"], Options(ids="1,5-7")),
    (["--rerun", "2"], Options(rerun=2)),
    (["--fail-fast"], Options(fail_fast=True)),
    (["--lockstep"], Options(lockstep=True)),
    (["--pty"], Options(pty=True)),
    (["--dialect", "gnugo"], Options(dialect="gnugo")),
    (["-gtpfile", "f"], Options(gtpfile="f")),
    (["--gtpfile", "f"], Options(gtpfile="f")),
    (["-verbose"], Options(verbose=True)),
]


@pytest.mark.parametrize(("words", "options"), SPELLINGS)
def test_options_may_stand_anywhere(words, options):
    for place in range(3):
        line = ["program --x", "test"]
        line[place:place] = words
        given = RUN.parser().parse_intermixed_args(line)
        assert given.arguments == ["program --x", "test"]
        assert read_options(given) == options


MISTAKES = [
    ([], "give PROGRAM and at least one TEST"),
    (["program"], "give PROGRAM and at least one TEST"),
    (["--jobs", "0", "p", "t"], "found '0', expected a whole number from 1"),
    (["--timeout", "nan", "p", "t"], "found 'nan', expected seconds"),
    (["--max-output", "1x", "p", "t"], "found '1x', expected bytes such as"),
    (["--baseline", "none.json", "p", "t"], "cannot read none.json"),
    (["--config", "none", "p", "t"], "cannot read none"),
    (["--config"], "needs the name of a file"),
    (["--only", "(", "p", "good.gtp"], "regular expression"),
    (["--only", "a{99999999999}", "p", "good.gtp"], "regular expression"),
    (["--ids", "x", "p", "good.gtp"], "found 'x'"),
    (["--gtpfile", "none", "p", "good.gtp"], "none"),
    (["'open", "good.gtp"], "open"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_mistakes_are_told_in_one_line(capsys, here, words, message):
    status, out, err = call(capsys, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("gtp-harness: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_config_files_are_as_gogui_reads_them(here):
    (here / "conf").write_text('# mine\n-long\n-output "my dir"\n"p q" a.tst\n  b.tst\n')
    assert commandline.with_config(["-config", "conf", "x"]) == [
        *("-config", "conf", "x"),
        *("-long", "-output", "my dir", "p q", "a.tst", "b.tst"),
    ]
    assert commandline.with_config(["--config=conf"])[1:3] == ["-long", "-output"]
    for text, wrong in (('"open', 'a " is not closed'), ("--config again", "cannot be nested")):
        (here / "conf").write_text(text)
        with pytest.raises(UsageError, match=f"conf: .*{wrong}"):
            commandline.with_config(["--config", "conf"])


def test_help(capsys):
    status, out, err = call(capsys, "-help")
    assert (status, err) == (0, "")
    for option in RUN.parser()._option_string_actions:
        assert option in out
    assert "Exit status:" in out
    assert "Examples:" in out
    assert max(map(len, out.splitlines())) <= 100


def test_the_commands(capsys):
    assert call(capsys, command="--help")[:2] == call(capsys, command="help")[:2]
    status, out, err = call(capsys, command="frobnicate")
    assert (status, out) == (2, "")
    assert "unknown command 'frobnicate'" in err
    for words in (["--version"], ["run", "-version"]):
        assert main(words) == 0
        assert capsys.readouterr().out.startswith("gtp-harness ")


def test_a_fault_of_the_harness_is_said_to_be_one(capsys, program, monkeypatch):
    def fail_to_run(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("harness.cli.run.run_gathered", fail_to_run)
    status, out, err = call(capsys, program, "good.gtp")
    assert (status, out) == (3, "")
    assert "the harness itself failed, not the engine: ZeroDivisionError: oh" in err
    assert err.count("\n") == 1


# --- as a process ------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "harness.cli", "run"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm"}


ALL_REPORTS = ("--report", "--json=a.json", "--junit=a.xml", "--tap=a.tap", "--output=pages")


def _wait_for(path):
    """Wait until the engine sleeps."""
    ends = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "jobs"), [(signal.SIGINT, 1), (signal.SIGTERM, 3), (signal.SIGHUP, 1)]
)
def test_interrupted(here, program, number, jobs):
    """What was judged before is reported all the same, in every format."""
    (here / "quick.gtp").write_text("1 say a\n#? [a]\n")
    (here / "slow.gtp").write_text(
        "1 say a\n#? [a]\n2 wrong\nawait quit\n3 sleep 60\n#? []\n4 say b\n"
    )
    process = start([*COMMAND, f"--jobs={jobs}", *ALL_REPORTS, program, "quick.gtp", "slow.gtp"])
    _wait_for(here / "sleeps")
    for _ in range(2 if number == signal.SIGTERM else 1):  # as timeout(1) does
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (128 + number, "")
    assert "2 files: 5 tests, 1 FAILED, 2 not run, 2 passed" in out.replace("✓ ", "")
    assert "FAILED  2 wrong" in out
    found = json.loads((here / "a.json").read_text())
    assert [test["verdict"] for file in found["files"] for test in file["tests"]] == [
        *("passed", "passed", "FAILED", "not run", "not run"),
    ]
    cut = found["unfinished"]  # the quick one may be judged, and not yet have ended
    assert cut in (["slow.gtp"], ["quick.gtp", "slow.gtp"][jobs == 1 :])
    assert [line.split()[-1] for line in out.splitlines() if "interrupted  " in line] == cut
    cases = ET.parse(here / "a.xml").getroot().iter("testcase")
    errors = [
        case.find("error").get("message") for case in cases if case.find("error") is not None
    ]
    assert errors == [f"{name} was not run, or not to its end" for name in cut]
    tap = (here / "a.tap").read_text()
    assert tap.count("- interrupted\n") == len(cut)
    assert "not ok 2 - 2 wrong" in tap
    assert "Interrupted: not run" in (here / "pages" / "index.html").read_text()


def start(words):
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )


@pytest.mark.long(10)
def test_the_time_of_the_run_is_over(here, program):
    """The file under way has its verdicts, the rest is not run; patient on busy machines."""
    (here / "slow.gtp").write_text("1 say a\n#? [a]\n2 wrong\n3 sleep 60\n#? []\n4 say b\n")
    line = "{run} --total-timeout 10 -long --json a.json {program} slow.gtp good.gtp"
    found = shell(line, program)
    assert found.returncode == 2
    lines = [line for line in found.stdout.splitlines() if "Summary" not in line]
    assert [line.split(":")[0] for line in lines] == [
        *("slow.gtp 1 passed", "slow.gtp 2 unexpected FAIL"),
        *("slow.gtp 3 not run", "slow.gtp 4 not run", "good.gtp 1 not run", "good.gtp 2 not run"),
    ]
    assert json.loads((here / "a.json").read_text())["tally"]["not_run"] == 4


def test_each_line_is_written_when_its_test_is_judged(here, program):
    (here / "slow.gtp").write_text("1 say a\n#? [a]\n2 say b\n#? [x]\n3 sleep 100\n")
    process = start([*COMMAND, "-long", program, "slow.gtp"])
    try:
        assert process.stdout.readline() == "1 passed\n"
        assert process.stdout.readline() == "2 FAILED: Correct 'x', got 'b'\n"
        assert process.poll() is None
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 143


@pytest.mark.parametrize("words", [["-long", "--restart"], ["--fail-fast"]])
def test_the_lines_of_one_job_are_those_of_several(capsys, program, here, words):
    again = "clear_board\n4 say c\n#? [x]\n5 say d\n#? [d]\n"
    (here / "restarted.gtp").write_text(DYING + again + "6 die\n#? [x]\n" + again)
    names = ["good.gtp", "restarted.gtp", "dying.gtp", "bad.gtp"]
    one, many = (call(capsys, *words, f"--jobs={jobs}", program, *names) for jobs in (1, 3))
    assert one == many


def test_a_reader_that_goes_away(here, program):
    (here / "many.gtp").write_text("wrong\n" + "".join(f"{i} wrong\n" for i in range(5_000)))
    process = start([*COMMAND, program, "many.gtp"])
    process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    assert process.wait(timeout=60) == 141


def at_terminal(words, environment):
    """Run a command whose output is a terminal; return its exit status and what it wrote."""
    master, slave = pty.openpty()
    process = subprocess.Popen(words, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    written = b""
    while chunk := _read(master):
        written += chunk
    os.close(master)
    return process.wait(timeout=60), written.decode()


def _read(file: int) -> bytes:
    try:
        return os.read(file, 65536)
    except OSError:  # Linux's way to say that the other end is closed
        return b""


def test_on_a_terminal(here, program):
    (here / "slow.gtp").write_text("1 sleep 2\n2 say x\n")
    plain = {key: value for key, value in ENVIRONMENT.items() if key != "NO_COLOR"}
    plain["TERM"] = "xterm-256color"
    status, written = at_terminal([*COMMAND, program, "slow.gtp", "bad.gtp"], plain)
    assert status == 1
    assert "0/2" in written.split("FAILED")[0]  # the live line, before any result
    assert "\x1b[1;31m✗ FAILED\x1b[0m" in written
    assert "\x1b[48;5;179" in written  # the board's wood
    assert "2 files: 4 tests" in written


def test_no_color(here, program):
    """By option; what the environment says: ``test_terminal_signs.py``."""
    status, written = at_terminal([*COMMAND, "--no-color", program, "bad.gtp"], ENVIRONMENT)
    assert status == 1
    assert "✗ FAILED  10 say B+2" in written
    assert "\x1b[1;31m" not in written


# --- places to write ---------------------------------------------------------------------------

PLACES = [
    (["--json", "no/such/x.json"], "cannot write no/such/x.json: No such file or directory"),
    (["--tap", "taken"], "cannot write taken: Is a directory"),
    (["--junit", "taken/"], "cannot write taken/: Is a directory"),
    (["--output", "good.gtp"], "cannot write into good.gtp: File exists"),
    (["--output", "good.gtp/x"], "cannot write into good.gtp/x: Not a directory"),
    (["--output", "-"], "--output: found -, expected a folder for many files"),
    (["--json", "-", "--tap", "-"], "--json and --tap would both be written to -"),
    (["--json", "x", "--tap", "./x"], "--json and --tap would both be written to ./x"),
]


@pytest.mark.parametrize(("words", "message"), PLACES)
def test_places_are_tried_before_an_engine_starts(capsys, program, here, words, message):
    (here / "taken").mkdir()
    (here / "first.gtp").write_text("1 sleep 0\n")
    status, out, err = call(capsys, *words, program, "first.gtp")
    assert (status, out, err) == (2, "", f"gtp-harness: {message}\n")
    assert not (here / "sleeps").exists()
    assert not list(here.rglob(".gtp-harness*"))


def test_a_dash_is_standard_output(here, program):
    found = shell("{run} --tap - -long {program} good.gtp", program)
    assert found.returncode == 0
    assert found.stdout.startswith("TAP version 14\n")
    assert "Summary: 1/2 passes" in found.stderr
    assert not (here / "-").exists()


def test_a_report_that_fails_takes_no_other(here, program):
    """Files of this process cannot grow beyond 16 kB, as if the disk were full."""
    (here / "many.gtp").write_text("".join(f"{i} say {'x' * 80}\n" for i in range(100)))
    (here / "a.json").write_text("former")
    (here / "link.json").symlink_to("a.json")
    (here / "b.json").write_text("former")
    (here / "b.json").chmod(0o600)
    line = "ulimit -f 16; {run} --json link.json --output pages --tap a.tap {program}"
    found = shell(f"{line} many.gtp", program)
    assert found.returncode == 3
    assert "cannot write link.json: File too large" in found.stderr
    assert (here / "a.json").read_text() == "former"
    assert (here / "a.tap").read_text().endswith("1..1\n")
    assert not list(here.rglob(".gtp-harness*"))
    found = shell("{run} --json b.json {program} many.gtp", program)
    assert found.returncode == 0
    assert json.loads((here / "b.json").read_text())["tally"]["passed"] == 100
    assert (here / "b.json").stat().st_mode & 0o777 == 0o600


STREAMS = [  # how standard output and error are, exit status, what is said
    (">&-", 3, "cannot write to standard output: Bad file descriptor"),
    ("| head -1", 141, ""),
    ("2>&-", 3, ""),
    (">/dev/full 2>/dev/full", 3, ""),
    ("--report >/dev/full", 3, "cannot write to standard output: No space left on device"),
]


@pytest.mark.parametrize(("streams", "status", "message"), STREAMS)
def test_streams_that_take_nothing(here, program, streams, status, message):
    (here / "many.gtp").write_text("".join(f"{i} wrong {'x' * 120}\n" for i in range(600)))
    line = f"set -o pipefail; {{run}} --json x.json {{program}} many.gtp {streams}"
    found = shell(line, program)
    assert found.returncode == status, found.stderr
    assert message in found.stderr
    assert "Traceback" not in found.stderr
    assert "Exception" not in found.stderr
    document = json.loads((here / "x.json").read_text())
    assert document["tally"]["failed"] == 600
    assert document["unfinished"] == []


@pytest.mark.parametrize(
    ("command", "stream"),
    [("verify v.gtp --assignment go-scoring", ">&-"), ("--version", ">/dev/full")],
)
def test_every_command_tells_of_lost_output(here, command, stream):
    (here / "v.gtp").write_text("boardsize 3\n1 final_score\n#? [0]\n")
    line = f"{shlex.quote(sys.executable)} -m harness.cli {command} {stream}"
    found = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert found.returncode == 3
    assert "Traceback" not in found.stderr
    assert "cannot write to standard output" in found.stderr
    assert found.stderr.count("\n") == 1


def shell(line, program):
    """Run a line of bash in which ``{run}`` and ``{program}`` stand for what they say."""
    run = f"{shlex.join(COMMAND)} --jobs=1"
    return subprocess.run(
        ["bash", "-c", line.format(run=run, program=shlex.quote(program))],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
