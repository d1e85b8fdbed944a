"""What ``gtp-harness run`` says of an engine: verdicts, gogui's lines, reports, statuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.contract.product import Done, check, dump, harness, oracle, settle, settle_json

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_commands")]

HERE = Path(__file__).parent
ENGINE = "python3 engine.py"
MEASURED = frozenset({"seconds", "cpu_seconds", "started", "host"})
TOLD = r"""# Every kind of reply
# that an engine can give.
boardsize 3
clear_board
play b b2
1 say yes
#? [yes]
2 say no
#? [yes]
3 say <no> & "more" 'so'
#? [yes|no]*

# Another subject.
4 say yes
#? [yes]*
5 fail no such thing
#? [no such thing]
6 fail no such thing
7 say whatever
8 say no
#? [!yes]
9 say yes
#? [!yes]
say two
#? [t.*o]
fail a setup command
fail another one
10 raw =ID first\n . X\n O .\n\n
#? [first\n . X\n O .]
11 raw =ID \x1b[31mred\x00\xff\n\n
#? [red]
12 raw =ID late\r\n\r\n
#? [late]
13 raw =99 of another number\n\n
#? [of another number]
14 raw ?ID\n\n
#? []
warn <b>this</b> is told
15 say B+24.5
#? [B\+24.5(\.0)?]
16 say
#? []
"""
DIES = """# It ends in the middle.
1 say first
#? [first]
play b a1
2 die 3
#? [never]
3 say last
#? [last]
"""
GREEN = "1 say yes\n#? [yes]\n2 fail no\n#? [no]*\n"
FLAKY = "1 next a b c\n#? [b]\n2 next a b\n"
BROKEN = "1 say yes\n#? [yes\n#? [no]\n"
FILES = {
    "told.tst": TOLD,
    "sub/dies & more.gtp": DIES,
    "green.gtp": GREEN,
    "flaky.gtp": FLAKY,
    "broken.gtp": BROKEN,
    "list": "green.gtp\ntold.tst\n",
    "config": "-long\ngreen.gtp\n",
}
SOME = ["told.tst", "sub/dies & more.gtp", "green.gtp"]


@pytest.fixture
def room(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    shutil.copy(HERE / "engine.py", tmp_path)
    shutil.copy(HERE / "engine.py", tmp_path / "sub")
    return tmp_path


def run(room: Path, *words: str) -> Done:
    return harness(["run", "--jobs", "1", *words], room)


@pytest.mark.parametrize("way", ["plain", "long", "tap", "junit"])
def test_a_report(way, room):
    words = {"plain": ["-output", "pages"], "long": ["-long"]}.get(way, [f"--{way}", "-"])
    done = run(room, *words, ENGINE, *SOME)
    assert done.status == 2, done.err
    text = settle(done.out, (str(room), "ROOM"))
    check(f"run/{way}.{'xml' if way == 'junit' else 'txt'}", without_times(text))
    if way == "plain":
        names = sorted(path.name for path in (room / "pages").iterdir())
        head, counts = (room / "pages" / "summary.dat").read_text().splitlines()
        check("run/pages.txt", "\n".join([*names, head, *counts.split("\t")[:6], ""]))


def without_times(text: str) -> str:
    """Return a report without what was measured, and what of the machine it names."""
    text = re.sub(r'(time|timestamp|hostname)="[^"]*"', r'\1="…"', text)
    return re.sub(r"(duration_ms: )[\d.]+", r"\1…", text)


@pytest.mark.parametrize("way", ["told", "flaky"])
def test_json(way, room):
    words = SOME if way == "told" else ["--rerun", "1", "flaky.gtp"]
    done = run(room, "--json", "-", ENGINE, *words)
    check(
        f"run/{way}.json",
        settle(dump(settle_json(json.loads(done.out), MEASURED)), (str(room), "ROOM")),
    )


# How a command ends, with what it says on standard output and on standard error.
ENDS = {
    "passed": (0, ["run", ENGINE, "green.gtp"]),
    "a list": (1, ["run", ENGINE, "@list"]),
    "a config": (0, ["run", "-config", "config", ENGINE]),
    "failed": (1, ["run", ENGINE, "told.tst"]),
    "died": (2, ["run", ENGINE, "sub/dies & more.gtp"]),
    "restarted": (2, ["run", "--restart", ENGINE, "sub/dies & more.gtp"]),
    "only some": (0, ["run", ENGINE, "told.tst", "--ids", "1,8"]),
    "some lines": (1, ["run", ENGINE, "told.tst", "--lines", "8"]),
    "one command": (0, ["run", ENGINE, "told.tst", "--only", "B"]),
    "none of them": (2, ["run", ENGINE, "told.tst", "--ids", "77"]),
    "the first failure": (1, ["run", "--fail-fast", ENGINE, "told.tst", "green.gtp"]),
    "commands before": (0, ["run", "-gtpfile", "flaky.gtp", ENGINE, "green.gtp"]),
    "GNU Go's rules": (1, ["run", "--dialect", "gnugo", ENGINE, "told.tst"]),
    "a broken case file": (2, ["run", ENGINE, "broken.gtp", "green.gtp"]),
    "no case file": (2, ["run", ENGINE, "nothing.gtp"]),
    "no engine": (2, ["run", "./nothing", "green.gtp"]),
    "no option": (2, ["run", "--nothing", ENGINE, "green.gtp"]),
    "no place for a report": (2, ["run", "--json", "no/where", ENGINE, "green.gtp"]),
    "no command": (2, ["nothing"]),
    "version": (0, ["run", "-version"]),
    "wrong expectations": (1, ["verify", "wrong.gtp", "--assignment", "go-scoring"]),
    "right expectations": (0, ["verify", "@go-scoring/komi", "--assignment", "go-scoring"]),
    "strength": (1, ["strength", "wrong.gtp", "--assignment", "go-scoring"]),
    "no submission": (2, ["check", "nothing.tgz", "--assignment", "go-scoring"]),
    "no class": (2, ["grade", "nothing", "--assignment", "go-scoring", "--public-only"]),
    "no ledger": (2, ["ledger", "check", "nothing.sqlite"]),
    "of the oracle": (2, ["oracle", "score", "nothing.sgf"]),
    "a wrong board": (2, ["oracle", "score", "told.tst", "--test", "77"]),
}
WRONG = "boardsize 3\nclear_board\nplay b b2\n10 score\n#? [B\\+8(\\.0)?]\n"


@pytest.mark.parametrize("end", ENDS)
def test_an_exit_status(end, room):
    status, words = ENDS[end]
    (room / "wrong.gtp").write_text(WRONG)
    if words[0] == "oracle":
        assert oracle(words[1:], room).status == status
        return
    done = harness(words, room)
    assert (done.status, done.err) == (status, done.err), done.out
    if words[0] == "run" and "-version" not in words:
        check(f"run/ends/{end.replace(' ', '-')}.txt", done.out)


def test_a_baseline(room):
    """A test that passed before and fails now counts, and no other one."""
    run(room, "--json", "before.json", ENGINE, *SOME)
    same = run(room, "--baseline", "before.json", ENGINE, *SOME)
    (room / "green.gtp").write_text(GREEN.replace("say yes", "say no", 1))
    broke = run(room, "--baseline", "before.json", ENGINE, "green.gtp")
    assert (same.status, broke.status) == (0, 1)
    check("run/baseline.txt", f"{same.out}---\n{broke.out}")


STATUS_LINES = """# Zeros and ones.
game 3 2
= 1
?play 0 0 1
= 1
?play 0 0 1
= illegal move: 0 0 1 occupied
?legal 0 0 1
no
= 1
?genmove
@[0-2] [01] [01]
= 1
?nonsense
= -1
"""
ANSWERS = """
import sys
for line in sys.stdin:
    said = {"legal": "yes\\n= 1", "genmove": "2 1 0\\n= 1", "nonsense": "= -1"}
    print(said.get(line.split()[0], "= 1"), flush=True)
"""


def test_answers_with_status_lines(room):
    (room / "public.txt").write_text(STATUS_LINES)
    (room / "answers.py").write_text(ANSWERS)
    words = ["--protocol", "status last", "python3 answers.py", "public.txt"]
    done = run(room, "--json", "-", *words)
    found = settle_json(json.loads(done.out), MEASURED)["files"]
    assert found
    check("run/status-last.json", dump(found))
    check("run/status-last.txt", run(room, "-long", *words).out)


# --- the assignments ---------------------------------------------------------------------------

MISTAKES = {
    "go-scoring": "neutral-points-to-first-neighbor",
    "gomoku-rules": "no-diagonals",
    "gomoku-policy": "edge-as-empty",
    "gosensei": "spaces-touching-white",
    "java-go": "prisoners-once",
}
GAMES = {"go-scoring": "go", "gomoku-rules": "gomoku", "gomoku-policy": "gomoku"}


@pytest.mark.parametrize("assignment", MISTAKES)
def test_verdicts_and_reasons(assignment, room):
    """Of each public test of an assignment that ships, answered with a mistake."""
    mistake = MISTAKES[assignment]
    engine = f"gtp-oracle gtp --game {GAMES.get(assignment, assignment)} --mistake {mistake}"
    done = run(room, "--json", "-", engine, f"@{assignment}/public")
    assert done.status == 1, done.err
    found = json.loads(done.out)
    lines = []
    for file in found["files"]:
        lines.append(f"{file['path'].partition('/cases/')[2]} {file['engine']['name']}\n")
        lines += map(show, file["tests"])
    lines += [f"{one['text']}\n" for one in found["diagnoses"]]
    check(f"verdicts/{assignment}.txt", "".join(lines))


def show(test: dict) -> str:
    """Return a test with what was expected, its digest, and why that is right if it failed."""
    head = f"{test['line']} {test['id']} {test['command']}: {test['expected']} {test['text']}"
    because = f"\n    {test['because']}" if test.get("because") else ""
    return f"{head}\n    {test['verdict']} {test['reply']!r}{because}\n"
