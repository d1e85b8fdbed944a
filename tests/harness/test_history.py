"""``run --history`` and ``gtp-harness history``: what is kept, what is told, and what is not."""

import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.cli import main
from harness.core.errors import ReportError, UsageError
from harness.history import history_file, text
from harness.history.records import RunState
from harness.history.trends import chance_of_larger, remarkable, share_interval, trends
from harness.report.paint import Paint
from tests import golden
from tests.harness.made_history import made_history, made_result, made_run, made_test, rich_history
from tests.harness.made_run import RUN, Line, V, made_file

GOLDEN = Path(__file__).parent / "golden" / "history"


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch):
    """Do not wait for the disk: no test pulls the plug."""
    connect = history_file._connect

    def connect_quickly(uri):
        base = connect(uri)
        base.execute("PRAGMA synchronous = OFF")
        return base

    monkeypatch.setattr(history_file, "_connect", connect_quickly)


def find_trends(runs):
    return trends("h.sqlite", runs)


# --- statistics --------------------------------------------------------------------------------


@pytest.mark.parametrize(("few", "many"), [(1, 1), (1, 4), (3, 3), (4, 3), (4, 4)])
def test_the_rank_test_counts_all_orders(few, many):
    values = list(range(few + many))
    for now in itertools.combinations(values, few):
        before = [value for value in values if value not in now]
        larger = sum(a > b for a in now for b in before)
        splits = [
            sum(a > b for a in other for b in values if b not in other) >= larger
            for other in itertools.combinations(values, few)
        ]
        expected = sum(splits) / len(splits)
        assert chance_of_larger(now, before) == pytest.approx(expected)


def test_the_approximation_is_close_to_the_count_of_all_orders():
    rng = random.Random(1)
    for _ in range(50):
        now, before = [[rng.random() for _ in range(n)] for n in (8, 20)]
        exact = chance_of_larger(now, before)
        tied = chance_of_larger([*now, 0.5], [*before, 0.5])
        assert tied == pytest.approx(exact, abs=0.08)
    assert chance_of_larger([1, 1, 1], [1, 1]) == 1.0


def test_many_tests_at_once():
    # Benjamini and Hochberg's example, at 5 %: the first four of fifteen
    chances = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    chances += [0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert remarkable(chances, 0.05) == [True] * 4 + [False] * 11
    assert remarkable([], 0.05) == []


def test_the_interval_of_a_share():
    assert share_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert share_interval(3, 10) == pytest.approx((0.1078, 0.6032), abs=1e-4)


# --- what broke, what is flaky -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "since"),
    [
        ("PPPF", 4),
        ("PFFF", 2),
        ("PXFF", 3),
        ("PFPF", 4),
        ("PPF-", 3),  # not run is no news
        ("FFFF", None),  # never passed
        ("PFFP", None),
        ("PPxx", None),  # failed as expected
        ("P", None),
        ("-", None),
    ],
)
def test_what_broke_when(verdicts, since):
    found = find_trends(made_history(verdicts)).broken
    assert [change.now.run.number for change in found] == ([since] if since else [])


@pytest.mark.parametrize(
    ("engine", "digest", "asked", "cause"),
    [
        ("Made Up 1.0", "d1", "t1", "neither engine nor test changed"),
        ("Made Up 1.1", "d1", "t1", "the engine changed"),
        ("Made Up 1.0", "d2", "t1", "the engine changed"),
        ("Made Up 1.0", "d1", "t2", "the test changed"),
        ("Made Up 1.1", "d2", "t2", "the engine and the test changed"),
    ],
)
def test_what_else_changed(engine, digest, asked, cause):
    now = made_run(2, [made_result("F", text=asked)], engine=engine, digest=digest)
    (change,) = find_trends([*made_history("P"), now]).broken
    assert change.cause == cause


@pytest.mark.parametrize(
    ("verdicts", "failed"),
    [
        ("PFP", 1),
        ("FPF", 2),
        ("PFPPPPPP", 1),
        ("P-F-P", 1),
        ("PxP", 1),
        ("PF", None),  # once: it may have a cause that nobody sees
        ("PPFF", None),
        ("PXPX", None),  # passed is passed
        ("P---", None),
    ],
)
def test_what_is_flaky(verdicts, failed):
    found = find_trends(made_history(verdicts)).flaky
    assert [one.failed for one in found] == ([failed] if failed else [])


def test_a_change_of_engine_or_test_makes_nothing_flaky():
    versions = [*made_history("P"), made_run(2, [made_result("F")], engine="1.1")]
    assert find_trends([*versions, made_run(3, [made_result("P")], engine="1.2")]).flaky == ()
    digests = [made_run(n, [made_result("PF"[n % 2])], digest=str(n)) for n in range(1, 9)]
    assert find_trends(digests).flaky == ()
    texts = [made_run(n, [made_result("PF"[n % 2], text=str(n))]) for n in range(1, 9)]
    assert find_trends(texts).flaky == ()


def test_a_rerun_that_gave_other_verdicts_is_flaky():
    (one,) = find_trends([made_run(1, [made_result("F", flaky=True)])]).flaky
    assert (one.rerun, one.failed, one.changes) == (True, 1, 0)


# --- what got slower ---------------------------------------------------------------------------


def make_timed_runs(rng, runs, tests, factors=None, slowed=None):
    """Runs of many tests with noise; ``factors`` slow runs, ``slowed`` a test from a run on."""
    usual = [rng.uniform(0.05, 2) for _ in range(tests)]
    made = []
    for number in range(1, runs + 1):
        results = [
            made_result(
                "P",
                seconds * rng.lognormvariate(0, 0.1) * (factors or {}).get(number, 1)
                * (2 if slowed and place == slowed[0] and number >= slowed[1] else 1),
                test=made_test("a.tst", place),
            )
            for place, seconds in enumerate(usual)
        ]  # fmt: skip
        made.append(made_run(number, results))
    return made


def test_noise_makes_no_alarms():
    rng = random.Random(13)
    for _ in range(20):
        found = find_trends(make_timed_runs(rng, 25, 30))
        assert (found.slower, found.whole, found.compared) == ((), None, 30)


def test_a_busy_machine_makes_no_test_slower_and_is_told():
    busy = dict.fromkeys(range(21, 26), 1.7)
    found = find_trends(make_timed_runs(random.Random(14), 25, 30, busy))
    assert found.slower == ()
    assert found.whole.ratio == pytest.approx(1.7, abs=0.15)
    assert "it may be the machine" in text.slower(found.whole)


@pytest.mark.parametrize("factors", [None, dict.fromkeys(range(22, 26), 1.5), {3: 4.0, 12: 3.0}])
def test_a_test_that_takes_twice_as_long_is_found(factors):
    found = find_trends(make_timed_runs(random.Random(15), 25, 60, factors, slowed=(7, 21)))
    (one,) = found.slower
    assert one.test.id == 7
    assert one.ratio == pytest.approx(2, abs=0.3)
    assert one.spread_before.low < one.spread_before.median < one.spread_now.low
    assert (len(one.before), len(one.now)) == (20, 5)


def test_only_what_can_be_compared_is():
    runs = make_timed_runs(random.Random(16), 10, 30, slowed=(7, 6))
    assert find_trends(runs).compared == 30
    assert find_trends(runs[1:]).compared == 0
    elsewhere = [run._replace(circumstances="other") for run in runs[:5]]
    assert find_trends([*elsewhere, *runs[5:]]).compared == 0


def test_what_is_short_is_not_called_slower():
    runs = make_timed_runs(random.Random(17), 25, 30, slowed=(7, 21))
    short = [
        run._replace(
            files=tuple(
                file._replace(
                    results=tuple(
                        one._replace(seconds=(one.seconds or 0) / 1000) for one in file.results
                    )
                )
                for file in run.files
            )
        )
        for run in runs
    ]
    assert find_trends(short).slower == ()


# --- what is shown -----------------------------------------------------------------------------


def test_the_formats():
    found = find_trends(rich_history())
    assert (len(found.broken), len(found.flaky), len(found.slower)) == (1, 1, 1)
    lines = "".join(f"{line}\n" for line in text.lines(found, Paint(0)))
    golden.check(GOLDEN / "history.txt", lines)
    golden.check(GOLDEN / "history.json", text.document(found))


def test_the_program_is_that_of_the_last_run_or_chosen():
    runs = rich_history()
    assert trends("h", runs[:13]).program == "./other"
    assert trends("h", runs, "./other").others == ("./engine",)
    assert trends("h", []).runs == ()
    list(text.lines(trends("h", []), Paint(0)))


# --- the file ----------------------------------------------------------------------------------


def write_runs(path, runs):
    for run in runs:
        number = history_file.enter(path, run._replace(state=RunState.BEGUN))
        if run.state is not RunState.BEGUN:
            history_file.complete(path, run._replace(number=number))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "h ?#%.sqlite")  # characters that a URI would take for its own


def test_what_is_kept_comes_back(path):
    runs = [run._replace(number=n) for n, run in enumerate(rich_history(), 1)]
    write_runs(path, runs)
    found = history_file.read(path)
    assert [sorted(file.results for file in run.files) for run in found] == [
        sorted(file.results for file in run.files) for run in runs
    ]
    assert [run._replace(files=()) for run in found] == [run._replace(files=()) for run in runs]


def test_a_run_as_it_is_kept(path):
    entered = history_file.begin_run("./engine", {"jobs": 2})
    entered = entered._replace(number=history_file.enter(path, entered))
    run = history_file.finish_run(entered, RUN._replace(unfinished=("x",)))
    history_file.complete(path, run)
    (found,) = history_file.read(path)
    assert (found.state, found.program, "jobs 2" in found.circumstances) == (
        RunState.INTERRUPTED,
        "./engine",
        True,
    )
    outcomes = [outcome for file in RUN.files for outcome in file.outcomes]
    results = [result for file in found.files for result in file.results]
    assert [one.verdict for one in results] == [one.verdict.value for one in outcomes]
    assert len({one.text for one in results}) == len(results)  # each has its own setup


def test_commands_that_look_alike_are_kept_apart(path):
    lines = [
        Line(f"say {end}", "= x", "[x]", V.PASSED) for end in ("\udcff", "\udcfe", "\x00", "'")
    ]
    entered = history_file.begin_run("./engine", {})
    entered = entered._replace(number=history_file.enter(path, entered))
    result = RUN._replace(files=(made_file("a\udcff.tst", lines),) * 2)
    history_file.complete(path, history_file.finish_run(entered, result))
    (found,) = history_file.read(path)
    assert [len(file.results) for file in found.files] == [4, 4]


def test_runs_side_by_side_lose_nothing(path):
    runs = rich_history()[:8]

    def write():
        write_runs(path, runs)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = history_file.read(path)
    assert len(found) == 32
    assert sum(len(file.results) for run in found for file in run.files) == 32 * 9


def test_half_a_run_is_never_kept(path):
    run = rich_history()[0]
    number = history_file.enter(path, run._replace(state=RunState.BEGUN))
    broken = made_result("P", test=made_test(command=None))  # fails in the middle
    results = (*run.files[0].results, broken)
    files = (run.files[0]._replace(results=results),)
    with pytest.raises(ReportError):
        history_file.complete(path, run._replace(number=number, files=files))
    (found,) = history_file.read(path)
    assert (found.state, found.files) == (RunState.BEGUN, ())


def make_damaged(path, how):
    """Make a file that is not a history, or is damaged."""
    if how == "text":
        Path(path).write_text("what is this? " * 100)
    elif how == "folder":
        Path(path).mkdir()
    elif how == "foreign":
        with sqlite3.connect(path) as base:
            base.execute("CREATE TABLE run (number)")
    elif how == "missing folder":
        return f"{path}/none/h.sqlite"
    else:
        write_runs(path, rich_history())
        if how == "newer":
            with sqlite3.connect(path) as base:
                base.execute("PRAGMA user_version = 9")
        elif how == "cut":
            os.truncate(path, Path(path).stat().st_size // 2)
        elif how == "damaged":
            with Path(path).open("r+b") as file:
                file.seek(4096)
                file.write(b"\xff" * 8192)
    return path


SPOILT = {
    "text": "is not a history of runs",
    "folder": "cannot use",
    "foreign": "is not a history of runs",
    "missing folder": "cannot use",
    "newer": "has version 9 of its format, expected 1",
    "cut": "is damaged",
    "damaged": "is damaged",
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_file_that_is_no_history_is_told_before_the_run(path, how):
    path = make_damaged(path, how)
    before = Path(path).read_bytes() if Path(path).is_file() else None
    with pytest.raises(UsageError, match=SPOILT[how]) as raised:
        history_file.enter(path, rich_history()[0])
    assert path in str(raised.value)
    with pytest.raises(UsageError):
        history_file.read(path)
    assert before is None or Path(path).read_bytes() == before


def test_a_file_that_nobody_may_write(path, monkeypatch):
    write_runs(path, rich_history()[:1])
    connect = sqlite3.connect
    monkeypatch.setattr(
        history_file.sqlite3, "connect", lambda file, **rest: connect(f"{file}?mode=ro", **rest)
    )  # the tests may run as root
    with pytest.raises(UsageError, match="attempt to write a readonly database"):
        history_file.enter(path, rich_history()[0])


@pytest.mark.processes
def test_what_a_killed_run_was_writing_is_undone(path):
    write_runs(path, rich_history()[:1])
    code = (
        "import os, sqlite3, sys; base = sqlite3.connect(sys.argv[1], isolation_level=None);"
        " base.execute('PRAGMA cache_size = 1'); base.execute('BEGIN IMMEDIATE');"
        " base.execute('DELETE FROM result');"
        " [base.execute('INSERT INTO test VALUES (NULL, ?, 1, ?, 0)', (str(n), 'x' * 500))"
        " for n in range(500)]; os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, path], check=False)
    assert Path(f"{path}-journal").exists()
    (run,) = history_file.read(path)
    assert sum(len(file.results) for file in run.files) == 9


# --- the commands ------------------------------------------------------------------------------

ENGINE = f"""\
#!{sys.executable}
import pathlib, sys, time
pathlib.Path("started").touch()
for line in sys.stdin:
    if "wait" in line:
        time.sleep(60)
    print("=", " ".join(line.split()[1:]).removeprefix("say "), end="\\n\\n", flush=True)
    if line.split()[-1] == "quit":
        break
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine").write_text(ENGINE)
    (tmp_path / "engine").chmod(0o755)
    (tmp_path / "good.gtp").write_text("1 say a\n#? [a]\n2 say b\n#? [x]\n")
    return tmp_path


RUN_IT = ["run", "--startup-timeout", "20", "--history", "h.sqlite", "./engine", "good.gtp"]


@pytest.mark.processes
def test_runs_and_their_history(here, capsys):
    assert main([*RUN_IT, "--plain"]) == 1
    (here / "good.gtp").write_text("1 say a\n#? [a]\n2 say b\n#? [b]\n")
    assert main(RUN_IT) == 0
    capsys.readouterr()
    assert main(["history", "h.sqlite"]) == 0
    out = capsys.readouterr().out
    assert "h.sqlite (format version 1): 2 runs of ./engine" in out
    assert "good.gtp:3  2 say b: FAILED → passed in run 2" in out
    assert "the test changed" in out
    assert main(["history", "h.sqlite", "--output", "pages", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "gtp-harness/history"
    pages = {page.name for page in Path("pages").iterdir()}
    assert pages == {"index.html", "good.gtp.html"}


def test_no_engine_starts_for_a_bad_history(here, capsys):
    make_damaged("h.sqlite", "damaged")
    assert main(RUN_IT) == 2
    error = capsys.readouterr().err
    assert "h.sqlite" in error
    assert error.count("\n") == 1
    assert not Path("started").exists()
    assert main(["history", "h.sqlite"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["history"], "give FILE"),
        (["history", "none.sqlite"], "cannot read none.sqlite: there is no such file"),
        (["run", "--history", "-", "./engine", "good.gtp"], "--history: found -, expected a file"),
        (["run", "--history", "x", "--json", "x", "./engine", "good.gtp"], "both be written to x"),
    ],
)
def test_bad_input_is_one_line(here, capsys, words, message):
    assert main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_program_that_is_not_in_it(here, capsys):
    write_runs("h.sqlite", rich_history())
    assert main(["history", "h.sqlite", "--program", "./none"]) == 2
    assert "has no runs of './none'; it has: ./engine, ./other" in capsys.readouterr().err


@pytest.mark.processes
def test_a_run_that_is_interrupted_is_kept_as_such(here):
    (here / "slow.gtp").write_text("1 say a\n#? [a]\n2 wait\n#? [b]\n3 say c\n#? [c]\n")
    words = [*RUN_IT[:-1], "--jobs", "1", "--long", "slow.gtp"]
    run = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *words], stdout=subprocess.PIPE, text=True
    )
    assert "passed" in run.stdout.readline()
    (begun,) = history_file.read("h.sqlite")
    assert begun.state is RunState.BEGUN
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    (found,) = history_file.read("h.sqlite")
    assert found.state is RunState.INTERRUPTED
    assert [one.verdict for one in found.files[0].results] == ["passed", "not run", "not run"]
