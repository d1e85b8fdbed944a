"""Every way to be a bad engine, and what a run makes of it.

The same case file is run against each engine in tests/engines. A row says what becomes of its
three tests (P passed, F failed, - not run, ? not judged), how the engine broke if it did, what its
author is told, which warnings the result bears, and how long it may take; nothing else may be
said, and nothing may survive.
"""

import errno
import os
import re
import sys
import time
import uuid
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.core.records import FailureKind, FileResult, Verdict
from harness.engine import spawn
from harness.running.runs import Limits, Options, run

pytestmark = pytest.mark.processes

ENGINES = Path(__file__).parent.parent / "engines"
CASE = """\
first
10 second
#? [second]
third
20 fault
#? [fault|(a+)+b]
fourth
30 fifth
#? [fifth]
"""
LETTERS = {Verdict.PASSED: "P", Verdict.FAILED: "F", Verdict.NOT_RUN: "-", Verdict.NOT_JUDGED: "?"}
LIMITS = Limits(timeout=1.5, startup=20, quit=1)
SHORT_END = LIMITS._replace(quit=0.3)  # of those that do not end by themselves
# What a busy machine may take beyond the limits; only a hang is longer.
SLACK = 60  # finds what hangs, not a busy machine


class Row(NamedTuple):
    engine: str
    verdicts: str = "PPP"
    kind: FailureKind | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    limits: Limits = LIMITS
    seconds: float = 0  # that the limits allow


DIED, TIMEOUT = FailureKind.DIED, FailureKind.TIMEOUT
OUTPUT, PROTOCOL = FailureKind.OUTPUT, FailureKind.PROTOCOL
LATE = r"did not answer '20 fault' within 1\.5 s\."
AT_START = r"before its first reply; it was started in (?P<folder>/\S+?)\."
DURING = "instead of answering '20 fault'"


def too_much(how: str, allowed: int = 1 << 20) -> str:
    """Return the pattern of the message; how much it wrote depends on how fast it is read."""
    figures = rf"it wrote [\d,]{{5,}} bytes {how}, {allowed:,} are allowed"
    return rf"The engine went over its output limit: {figures}, {DURING}\..*"


FLOOD = "the engine wrote .* bytes on standard error; only .*"
LEFT = r"the engine left processes behind \({}\); they were ended"
YOUNG = "(sleep|python)[^)]*"  # what it is has not begun yet, perhaps
BY_FORCE = r"the engine still ran 0\.3 s after quit; it was ended by force"
TOO_MANY = (
    "after '.*' the engine sent more replies than it got commands; each extra one"
    " was taken as the reply to a later command"
)

ROWS = [
    Row("in_order"),
    # Time
    Row(
        "never_answers",
        "---",
        TIMEOUT,
        r"The engine gave no reply within 1 s of its start\.",
        limits=LIMITS._replace(startup=1),
        seconds=1,
    ),
    Row("answers_late"),
    Row("answers_once_in_a_minute", "P--", TIMEOUT, rf"The engine {LATE}", seconds=1.5),
    Row(
        "answers_once_in_a_minute",
        "P--",
        TIMEOUT,
        r"The engine ran out of time at '20 fault': the file's 1 s were used up\.",
        limits=LIMITS._replace(timeout=0, file=1),
        seconds=1,
    ),
    Row(
        "drips",
        "P--",
        TIMEOUT,
        rf"The engine {LATE} It had written '=20 x*', but a reply ends with an empty line\.",
        seconds=1.5,
    ),
    Row("stops_itself", "P--", TIMEOUT, rf"The engine {LATE}", seconds=3),
    Row("never_reads", "---", TIMEOUT, r"The engine did not answer 'first' .*", seconds=1.5),
    # Death
    Row("dies_at_start", "---", DIED, rf"The engine ended with exit status 3 {AT_START}.*"),
    Row(
        "speaks_modem_protocol",
        "---",
        PROTOCOL,
        r"The engine speaks the Go Modem Protocol \(GNU Go speaks GTP with --mode gtp\) before its"
        r" first reply\. It had written '.*', but a reply begins with = or \?\.",
    ),
    Row(
        "cannot_import",
        "---",
        DIED,
        rf"The engine ended with exit status 1 {AT_START}"
        " Its last words: ModuleNotFoundError: No module named 'no_such_module_anywhere'"
        r" \(line 3 of cannot_import\.py: import no_such_module_anywhere  # noqa: F401\)",
    ),
    Row(
        "reports_as_java",
        "---",
        DIED,
        rf"The engine ended with exit status 1 {AT_START} Its last words:"
        r" java\.lang\.Error: \\x1b\[31mno board \(line 3 of Go\.java\)",
    ),
    Row(
        "crashes_at_start",
        "---",
        DIED,
        rf"The engine was killed by SIGSEGV \(segmentation fault\) {AT_START}",
    ),
    Row(
        "dies",
        "P--",
        DIED,
        rf"The engine ended with exit status 1, {DURING}\."
        " Its last words: KeyError: 'no such vertex'"
        r' \(line 7 of dies\.py: raise KeyError\("no such vertex"\)\)',
    ),
    Row(
        "long_last_words",
        "P--",
        DIED,
        rf"The engine ended with exit status 1, {DURING}\. Its last words: (word ){{31}}word…",
    ),
    Row("real_time_signal", "P--", DIED, rf"The engine was killed by signal 39, {DURING}\."),
    Row("hangs_up", "P--", DIED, rf"The engine ended with exit status 0, {DURING}\."),
    Row(
        "dies_in_reply",
        "P--",
        DIED,
        rf"The engine was killed by SIGABRT \(aborted\), {DURING}\."
        r" It had written '=20 fau', but a reply ends with an empty line\.",
    ),
    Row(
        "dies_of_shell",
        "P--",
        DIED,
        "The engine ended with exit status 139, which usually means SIGSEGV"
        rf" \(segmentation fault\), {DURING}\.",
    ),
    Row(
        "dies_but_child_holds_output",
        "P--",
        DIED,
        rf"The engine was killed by SIGKILL \(killed\), {DURING}\.",
        (LEFT.format("sleep"),),
    ),
    Row(
        "dies_after_last_test",
        "PPP",
        DIED,
        r"The engine ended with exit status 4, instead of answering 'cputime'\.",
    ),
    # The protocol
    Row(
        "answers_twice",
        "PPF",
        None,
        "",
        (r"line 7: the reply to 'fourth' has the id 20, .* \(and 1 more like it\)", TOO_MANY),
    ),
    Row("answers_first_again", "FFF", None, "", (r"line 2: .* has no id.*", TOO_MANY)),
    Row("answers_before_asked", "FFF", None, "", (r"line 2: .* has no id.*", TOO_MANY)),
    Row(
        "answers_without_end",
        "PFF",
        warnings=(r"line 5: .* has no id.*", TOO_MANY, BY_FORCE),
        limits=SHORT_END,
    ),
    Row(
        "no_empty_line",
        "P--",
        TIMEOUT,
        rf"The engine {LATE} It had written '=20 fault', but a reply ends with an empty line\.",
        seconds=1.5,
    ),
    Row(
        "no_status",
        "P--",
        TIMEOUT,
        rf"The engine {LATE} It had written 'fault', but a reply begins with = or \?\.",
        seconds=1.5,
    ),
    Row(
        "wrong_id",
        warnings=(r"line 5: the reply to 'fault' has the id 99, the command has the id 20",),
    ),
    Row("no_id", warnings=(r"line 5: the reply to 'fault' has no id, the command has the id 20",)),
    Row(
        "id_unasked",
        warnings=(
            r"at the start: the reply to 'name' has the id 7, .* none \(and 5 more like it\)",
        ),
    ),
    Row(
        "banner",
        warnings=(r"at the start: text without = or \? came before .* 'name': 'Fantastic Go.*",),
    ),
    Row(
        "echo",
        warnings=(r"line 5: text without = or \? came before the reply to 'fault': .*'20 fault'",),
    ),
    Row("colours", "PFP", warnings=(r"line 5: .* has the control character U\+001B",)),
    Row("nul", "PFP", warnings=(r"line 5: .* has the control character U\+0000",)),
    Row("not_utf8", "PFP", warnings=(r"some replies were not UTF-8",)),
    Row("endless_id", warnings=(r"line 5: .* has the id 9{20}, the command has the id 20",)),
    Row("foreign_digits", warnings=(r"line 5: .* has no id, the command has the id 20",)),
    Row("refuses", "PFP"),
    Row(
        "every_byte",
        "FFF",
        warnings=(
            r"at the start: text without = or \? came before the reply to 'name': .*",
            r"at the start: .* has the control character U\+0000 .*",
            r"some replies were not UTF-8",
        ),
    ),
    Row("commands_terminals", "PFP", warnings=(r"line 5: .* the control character U\+001B",)),
    Row("carriage_returns"),
    Row("old_macintosh"),
    # Too much
    Row("big_reply", "PFP"),
    Row(
        "big_reply",
        "P--",
        OUTPUT,
        too_much("without ending its reply", 1000),
        limits=LIMITS._replace(max_output=1000),
    ),
    Row("endless_reply", "P--", OUTPUT, too_much("without ending its reply")),
    Row("endless_chatter", "P--", OUTPUT, too_much("but no reply")),
    Row(
        "big_reply",
        "P--",
        OUTPUT,
        too_much("in all", 1000),
        limits=LIMITS._replace(max_total_output=1000),
    ),
    Row("endless_stderr", warnings=(FLOOD,), limits=LIMITS._replace(max_total_output=0)),
    Row(
        "silent_with_stderr",
        "P--",
        OUTPUT,
        too_much("in all"),
        (FLOOD,),
        limits=LIMITS._replace(max_total_output=1 << 20, timeout=20),
    ),
    Row(
        "writes_before_reading",
        warnings=(r"at the start: text without = or \? came before the reply to 'name': .*",),
    ),
    Row("reads_slowly"),
    Row("takes_time"),
    # Pipes
    Row(
        "closes_input",
        "PP-",
        PROTOCOL,
        r"The engine closed its standard input but runs on, instead of answering 'fourth'\.",
    ),
    Row("closes_stderr"),
    Row(
        "closes_output",
        "P--",
        PROTOCOL,
        rf"The engine closed its standard output but runs on, {DURING}\.",
    ),
    # The end
    Row("quits_silently"),
    Row("fails_after_quit", warnings=(r"after quit the engine was killed by SIGSEGV .*",)),
    Row("ignores_quit", warnings=(BY_FORCE,), limits=SHORT_END),
    Row("ignores_all_requests", warnings=(BY_FORCE,), limits=SHORT_END),
    Row("floods_after_quit", warnings=(BY_FORCE,), limits=SHORT_END),
    Row("leaves_a_name", warnings=(LEFT.format(r"\x1b\[2J.*"),)),
    Row("leaves_daemon", warnings=(LEFT.format(YOUNG),)),
    Row("leaves_family", warnings=(LEFT.format(YOUNG),)),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.engine)
def test_is_judged_as_stated_and_gone(row: Row, tmp_path: Path) -> None:
    mark = f"mark-{uuid.uuid4()}"
    result, seconds = run_engine(row.engine, tmp_path, row.limits, mark)
    assert "".join(LETTERS[outcome.verdict] for outcome in result.outcomes) == row.verdicts
    assert (result.failure and result.failure.kind) == row.kind
    assert re.fullmatch(row.message, result.failure.message if result.failure else "")
    assert_all_match(result.warnings, row.warnings)
    assert seconds < row.seconds + 1 + SLACK
    assert processes_with(mark) == []


def test_all_engines_have_a_row() -> None:
    elsewhere = {
        *("baits", "common", "computes_for_ever", "decimal_comma", "formulas", "leaves_child"),
        *("counts_waiting", "markup"),
        "different_each_time",
        "flushes_to_terminals",
        "dies_after_an_error",
        "in_its_folder",
        "players",
    }
    engines = {path.stem for path in ENGINES.glob("*.py")}
    assert engines == {row.engine for row in ROWS} | elsewhere


def test_tests_under_way_and_not_reached_are_told_apart(tmp_path: Path) -> None:
    result, _ = run_engine("dies", tmp_path)
    assert result.failure is not None
    assert result.failure.step is not None
    assert result.case.steps[result.failure.step].text == "20 fault"
    assert [reply is not None for reply in result.replies] == [True] * 3 + [False] * 3
    assert "no such vertex" in result.stderr
    third = result.replies[2]  # sent in one write with the fault
    assert third is not None
    assert third.text == "third"


@pytest.mark.parametrize("engine", ["decimal_comma", "computes_for_ever"])
def test_an_absurd_computing_time_is_none(engine: str, tmp_path: Path) -> None:
    result, _ = run_engine(engine, tmp_path)
    assert result.cpu_seconds == 0


def test_an_engine_starts_in_the_folder_of_its_file(tmp_path: Path) -> None:
    result, _ = run_engine("in_its_folder", tmp_path)
    reply = result.outcomes[1].reply
    assert reply is not None
    assert reply.text == tmp_path.name


@pytest.mark.parametrize(("pty", "verdicts"), [(False, "---"), (True, "PPP")])
def test_a_terminal_is_for_those_who_flush_only_to_one(
    pty: bool, verdicts: str, tmp_path: Path
) -> None:
    result, _ = run_engine("flushes_to_terminals", tmp_path, Limits(startup=2), pty=pty)
    assert "".join(LETTERS[outcome.verdict] for outcome in result.outcomes) == verdicts


@pytest.mark.parametrize(
    "row",
    [one for one in ROWS if one.engine in ("in_order", "never_answers", "drips", "dies_at_start")],
    ids=lambda row: row.engine,
)
def test_a_terminal_changes_nothing_else(row: Row, tmp_path: Path) -> None:
    result, _ = run_engine(row.engine, tmp_path, row.limits, pty=True)
    assert "".join(LETTERS[outcome.verdict] for outcome in result.outcomes) == row.verdicts
    assert (result.failure and result.failure.kind) == row.kind


def test_one_broken_engine_stops_no_other_file(tmp_path: Path) -> None:
    """The engine of the second file finds no file to read, and dies of it."""
    for name in ("1", "2", "3"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.gtp").write_text("10 one\n#? [one]\n")
    for name in ("1", "3"):
        (tmp_path / name / "engine.py").write_text("from common import serve\nserve()\n")
    program = f"env PYTHONPATH={ENGINES} {sys.executable} -S engine.py"
    result = run(program, [str(tmp_path)], Options(jobs=2))
    verdicts = [[LETTERS[outcome.verdict] for outcome in file.outcomes] for file in result.files]
    assert verdicts == [["P"], ["-"], ["P"]]
    assert [file.failure is None for file in result.files] == [True, False, True]


def test_what_one_engine_leaves_is_ended_and_no_other_engine(tmp_path: Path) -> None:
    """Each file's engine is of its own folder: one in order and slow, one that leaves things."""
    names = ["answers_late", "leaves_daemon", "leaves_child", "answers_late"] * 2
    for number, name in enumerate(names):
        folder = tmp_path / f"{number:02}"
        folder.mkdir()
        (folder / "case.gtp").write_text(CASE)
        (folder / "engine.py").write_text((ENGINES / f"{name}.py").read_text())
    mark = f"mark-{uuid.uuid4()}"
    program = f"env PYTHONPATH={ENGINES} {sys.executable} -S engine.py {mark}"
    result = run(program, [str(tmp_path)], Options(jobs=4, limits=LIMITS))
    assert {outcome.verdict for file in result.files for outcome in file.outcomes} == {
        Verdict.PASSED
    }
    assert [len(file.warnings) for file in result.files] == [0, 1, 1, 0] * 2
    assert processes_with(mark) == []


CANNOT_START = [
    ("no_such_program_at_all", "there is no program 'no_such_program_at_all' on the PATH.*"),
    ("./missing", ".*/missing could not be started: there is no such file."),
    ("./plain", r".*/plain could not be started: it is not executable \(chmod.*"),
    ("./bad_interpreter", ".*: its first line names an interpreter that does not exist."),
    ("./no_shebang", ".*: it is neither a binary for this machine nor a script.*"),
    (".", ".* could not be started: it is not executable.*"),
]


@pytest.mark.parametrize(("program", "message"), CANNOT_START)
def test_says_why_it_cannot_start(
    program: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").write_text("text")
    for name, text in [("bad_interpreter", "#!/no/such/python\n"), ("no_shebang", "text\n")]:
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "case.gtp").write_text(CASE)
    monkeypatch.chdir(tmp_path)
    result = run(program if program != "." else "./", ["case.gtp"])
    (file,) = result.files
    assert file.failure is not None
    assert file.failure.kind is FailureKind.NOT_STARTED
    assert re.search(message, file.failure.message)
    assert {outcome.verdict for outcome in file.outcomes} == {Verdict.NOT_RUN}


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE])
def test_a_machine_that_can_start_nothing_is_no_engine_failure(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine was said to be neither a binary nor a script."""

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(spawn, "spawn", fail)
    (tmp_path / "case.gtp").write_text(CASE)
    result = run("true", [str(tmp_path / "case.gtp")])
    said = f"no engine can be started: {os.strerror(number)}"
    assert result.faults == (f"{tmp_path / 'case.gtp'}: {said}",)
    assert result.files[0].failures == ()


def run_engine(
    engine: str,
    folder: Path,
    limits: Limits = LIMITS,
    mark: str = "",
    *,
    pty: bool = False,
    strict: bool = False,
) -> tuple[FileResult, float]:
    case = folder / "case.gtp"
    case.write_text(CASE)
    program = f"env -u PYTHONUNBUFFERED {sys.executable} -S {ENGINES / engine}.py {mark}"
    begun = time.monotonic()
    result = run(program, [str(case)], Options(limits=limits, pty=pty, strict=strict))
    assert (result.errors, result.faults) == ((), ())
    return result.files[0], time.monotonic() - begun


def assert_all_match(texts: tuple[str, ...], patterns: tuple[str, ...]) -> None:
    """Each text matches a pattern and each pattern a text."""
    for text in texts:
        assert any(re.fullmatch(pattern, text, re.DOTALL) for pattern in patterns), text
    for pattern in patterns:
        assert any(re.fullmatch(pattern, text, re.DOTALL) for text in texts), (pattern, texts)


def processes_with(mark: str) -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_text()
        except OSError:
            continue
        if mark in line:
            found.append(line)
    return found


ANSWERED_TOO_OFTEN = (
    r"after .* the engine sent more replies than it got commands;"
    " the extra ones count for nothing"
)


@pytest.mark.parametrize(
    ("engine", "verdicts", "warning"),
    [
        ("answers_twice", "PPP", ANSWERED_TOO_OFTEN),
        ("answers_before_asked", "PPP", ANSWERED_TOO_OFTEN),
        (
            "wrong_id",
            "PFP",
            r"line 5: the reply to 'fault' has the id 99, the command has the id 20",
        ),
        ("no_id", "PPP", ""),
        ("echo", "PPP", r".*text without = or \?.*"),
    ],
)
def test_listening_strictly(engine: str, verdicts: str, warning: str, tmp_path: Path) -> None:
    """An answer counts for the command that was sent before it came, and for no other."""
    result, _ = run_engine(engine, tmp_path, strict=True)
    assert "".join(LETTERS[outcome.verdict] for outcome in result.outcomes) == verdicts
    assert_all_match(result.warnings, (warning,) if warning else ())
