"""The details of a failed test besides its answer, and the files that it is saved as."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.cli.commandline import Plain
from harness.cli.run import add_options, repeat
from harness.core.errors import UsageError
from harness.core.records import Repeat
from harness.reading.casefile import comments, parse, setups
from harness.reading.suite import Selection
from harness.report.reporters import repeating, shell_word
from harness.specifications import EVERYONES
from oracle.formats import read_position

# Answers score and attack, and "loadsgf" as GNU Go does; forgets nothing.
ENGINE = """\
import sys
komi = "0"
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    name, *rest = words
    if name == "komi":
        komi = rest[0]
    said = {"score": "B+" + komi, "attack": "1 A1", "loadsgf": "black"}.get(name, "")
    if name == "loadsgf":
        open(rest[0]).close()
    print(f"={number} {said}\\n", flush=True)
"""
CASE = """\
# Scores of all kinds.

level 7
# An empty corner.
boardsize 3
clear_board
komi 0.5
play b B2
10 score
#? [B\\+8\\.5]
# With a stone more.
play w A1
20 score
#? [B\\+0.5]
30 score
#? [B\\+7\\.5]
# A record.
loadsgf games/a.sgf 1
komi 3
40 score
#? [W\\+3]
50 attack A1
#? [0]
score
#? [0]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "it's a folder"
    (folder / "games").mkdir(parents=True)
    (folder / "x.tst").write_text(CASE)
    (folder / "eng.py").write_text(ENGINE)
    (folder / "games" / "a.sgf").write_text("(;SZ[5]AB[aa];W[bb])")
    monkeypatch.chdir(tmp_path)
    return folder


def program(folder: Path) -> str:
    return shlex.join([sys.executable, str(folder / "eng.py")])


def run(folder: Path, *options: str) -> dict[int, dict[str, object]]:
    """Run the case file, or those named, and return its tests by line."""
    main(["run", "--jobs=1", "--json=now.json", program(folder), *options])
    (file,) = json.loads(Path("now.json").read_text())["files"]
    return {test["line"]: test for test in file["tests"]}


# --- setups


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 x\n", ""),
        ("# a\n1 x\n", "a"),
        ("# a\n\n1 x\n", "a"),
        ("# a\n\n# b\n# c\n1 x\n", "b\nc"),
        ("# a\nboardsize 3\n2 y\n#? [1]\n1 x\n", "a"),
        ("# a\n\nboardsize 3\n2 y\n#? [1]\n1 x\n", "a"),
        ("# a\nkomi 1\nboardsize 3\n2 y\n#? [1]\n1 x\n", ""),
        ("# a\nboardsize 3\nkomi 3\nclear_board\n2 y\n#? [1]\n# b\n1 x\n", "a\nb"),
        ("2 y\n#? [1]\nboardsize 3\n3 y\n#? [2]\n1 x\n", ""),
    ],
)
def test_comments(text: str, said: str) -> None:
    case = parse(text.encode(), "x")
    last = len(case.steps) - 1
    assert comments(case, last, setups(case, {last}, EVERYONES)[last]) == said


# --- the command line that repeats it


@pytest.mark.processes
@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(min_size=1).map(lambda data: data.replace(b"\0", b"")), max_size=9))
@example([b"-\x01", b"%d\x01", b"\\n\x01'", b"\xff\x0212"])
def test_shell_words(words: list[bytes]) -> None:
    texts = [os.fsdecode(word).rstrip("\n") for word in words]
    line = " ".join(["printf '%s\\0' x", *map(shell_word, texts)])
    assert "\n" not in line
    said = subprocess.run(["sh", "-c", os.fsencode(line)], capture_output=True, check=True).stdout
    assert said == b"".join(os.fsencode(text) + b"\0" for text in ["x", *texts])


@pytest.mark.parametrize(
    ("path", "line", "end"),
    [
        ("a.gtp", 1, "a.gtp --ids 1"),
        ("a.gtp", 2, "a.gtp --lines 2"),
        ("a.gtp", 4, "a.gtp --lines 4"),
        ("@a.gtp", 1, "./@a.gtp --ids 1"),
        ("-a.gtp", 1, "./-a.gtp --ids 1"),
        ("a b.gtp", 1, "'a b.gtp' --ids 1"),
    ],
)
def test_which_test(path: str, line: int, end: str) -> None:
    case = parse(b"1 x\nx\n#? [a]\n2 x\n02 x\n", path)
    (step,) = (step for step in case.steps if step.line == line)
    assert repeating(Repeat("run p"), case)(step) == f"run p {end}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--json=x", "--ids=3", "--jobs=2", "--only=x", "--report", "--save-failures=d"], ""),
        (["--timeout=1.5", "--startup-timeout=0"], " --timeout=1.5 --startup-timeout=0"),
        (["--dialect=gnugo", "--lockstep", "--pty"], " --lockstep --pty --dialect=gnugo"),
        (["-gtpfile", "a b"], " '--gtpfile=a b'"),
        (["--sandbox=3", "--show=a", "--show=b"], " --sandbox=3 --show=a --show=b"),
        (["--max-memory=64M", "--max-output=2k"], " --max-output=2048 --max-memory=67108864"),
    ],
)
def test_options_that_are_repeated(words: list[str], said: str) -> None:
    plain = Plain()
    add_options(plain)
    given = plain.read([*words, "p", "t"])
    assert given
    line = repeat(plain, given, "p --x").start
    assert line == f"gtp-harness run{said} 'p --x'"
    again = plain.read([*shlex.split(line)[2:], "t"])
    assert again
    assert repeat(plain, again, "p --x").start == line


@pytest.mark.processes
def test_a_shell_repeats_just_that_test(here: Path) -> None:
    tests = run(here, f"{here.name}/x.tst")
    failed = {line for line, test in tests.items() if test["verdict"] == "FAILED"}
    assert failed == {9, 15, 20, 22, 24}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for line in (24,):
        command = str(tests[line]["again"])
        words = ["sh", "-c", f"{command} --json - --jobs 1"]
        done = subprocess.run(
            words, capture_output=True, env={**os.environ, "PATH": path}, check=False
        )
        (file,) = json.loads(done.stdout)["files"]
        assert done.returncode == 1
        (test,) = file["tests"]
        assert {key: test[key] for key in test if key != "seconds"} == {
            key: value for key, value in tests[line].items() if key != "seconds"
        }


def test_only_in_lines() -> None:
    case = parse(CASE.encode(), "x.tst")
    chosen = Selection(None, None, "9,15-20").of(case)
    assert chosen is not None
    assert [step.line for step in chosen.steps if step.is_test] == [9, 15, 20]
    assert not any(step.pattern for step in chosen.steps if not step.is_test)
    assert Selection(None, "10", "20").of(case) is None
    assert str(Selection(None, "10", "20")) == "--ids 10 with --lines 20"
    with pytest.raises(UsageError, match="--lines: found 'x', expected lines such as 10,20-29"):
        Selection(None, None, "x")


# --- what else is told


@pytest.mark.processes
def test_everything_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--report", "--output=out", "--tap=x.tap", "--junit=x.xml", f"{here.name}/x.tst"]
    tests = run(here, *options)
    assert tests[13].keys().isdisjoint({"comment", "again", "because"})  # it passes
    because = "The score is B+8.5."
    assert str(tests[9]["because"]).endswith(because), "the oracle agrees with the expectation"
    assert "because" not in tests[20], "it does not agree, and knows nothing better"
    loaded = f"{here.name}/games/a.sgf"
    assert [test.get("loaded") for test in tests.values()] == [None] * 3 + [loaded] * 3
    texts = [capsys.readouterr().out, Path("x.tap").read_text(), Path("x.xml").read_text()]
    page = Path("out/x.html").read_text().replace("&#39;", "'")
    assert '<a href="../it%27s%20a%20folder/games/a.sgf">' in page
    for text in [*texts, page]:
        for wanted in (because, loaded, "An empty corner.", "--ids 30", "--lines 24"):
            assert wanted in " ".join(text.split()), wanted


# --- saved


@pytest.mark.processes
def test_saved_tests_fail_in_the_same_way(here: Path) -> None:
    tests = run(here, "--save-failures=saved", f"{here.name}/x.tst")
    names = dict(zip((9, 15, 20, 22, 24), (10, 30, 40, 50, "line24"), strict=True))
    written = {path.name for path in Path("saved").iterdir()}
    assert written == {f"x-{name}{end}" for name in names.values() for end in (".gtp", ".sgf")} | {
        "a.sgf"
    }
    for line, name in [(15, 30), (24, "line24")]:
        (again,) = run(here, f"saved/x-{name}.gtp").values()
        same = ("id", "command", "expected", "verdict", "reply")
        assert [again[key] for key in same] == [tests[line][key] for key in same]
    assert Path("saved/x-30.gtp").read_text().split("\n", 2)[2] == (
        f"# gtp-harness run {shell_word(program(here))} saved/x-30.gtp\n"
        "\n"
        "# An empty corner.\n"
        "level 7\n"
        "boardsize 3\n"
        "clear_board\n"
        "komi 0.5\n"
        "play b B2\n"
        "score\n"
        "play w A1\n"
        "score\n"
        "30 score\n"
        "#? [B\\+7\\.5]\n"
    )
    assert Path("saved/x-50.gtp").read_text().split("\n\n", 1)[1] == (
        "# A record.\nlevel 7\nkomi 0.5\nloadsgf a.sgf 1\nkomi 3\nscore\n50 attack A1\n#? [0]\n"
    )
    board = read_position("saved/x-30.sgf").position
    assert board.to_rows() == [[0, 0, 0], [0, 1, 0], [2, 0, 0]]


def test_a_folder_is_tried_first(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").write_text("")
    assert main(["run", "--save-failures=taken", program(here), f"{here.name}/x.tst"]) == 2
    assert "cannot write into taken" in capsys.readouterr().err
    assert main(["run", "--save-failures=-", program(here), f"{here.name}/x.tst"]) == 2
    assert "--save-failures: found -, expected a folder" in capsys.readouterr().err


@pytest.mark.processes
def test_gnu_go_judges_by_the_last_of_an_id(here: Path) -> None:
    """Both commands of the id are one test: the last of them is saved, and repeated with all."""
    (here / "y.tst").write_text("boardsize 3\n10 attack A1\n#? [0]\n10 score\n#? [B\\+1]\n")
    tests = run(here, "--dialect=gnugo", "--save-failures=saved", f"{here.name}/y.tst")
    assert [str(test["again"]).endswith(" --ids 10") for test in tests.values()] == [True, True]
    (saved,) = Path("saved").glob("*.gtp")
    assert saved.read_text().endswith("\nboardsize 3\nattack A1\n10 score\n#? [B\\+1]\n")
    (again,) = run(here, "--dialect=gnugo", str(saved)).values()
    assert (again["verdict"], again["reply"]) == ("FAILED", tests[4]["reply"])
