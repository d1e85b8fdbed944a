"""What a person is told of an engine that hung because of what it held back, in any language.

And that an engine has the same environment whichever command starts it: what works at home only
because of a variable of the shell would fail in front of the class.
"""

import json
import re
import shutil

import pytest

from harness.assignments import assignment
from harness.assignments.public_tests import run_public_tests
from harness.core.options import Limits, Options
from harness.core.records import FailureKind
from harness.running.runs import run
from tests.harness.made_class_of_files import grade_class, results, write_class
from tests.harness.test_grade import sandbox  # noqa: F401 - a fixture

pytestmark = pytest.mark.processes

PYTHON = """\
import sys
for line in sys.stdin:
    print("= " + line.split()[-1], end={end!r}, flush={flush})
    if "quit" in line:
        break
"""
ONE_COMMAND = """\
import sys
for line in sys.stdin:
    if "score" in line:
        {body}
        continue
    print("= x\\n", flush=True)
"""
PERL = 'while (<>) { print "= x{end}"; exit if /quit/; }'
# A language whose output nothing but its own end lets go: neither a variable nor a terminal.
HOARDER = """\
import sys
print("= x{end}" * sum(1 for line in sys.stdin), end="")
"""
NO_EMPTY_LINE = r"but a reply ends with an empty line\. Flush the output after each reply, too\."
NOT_FLUSHED = r"does it flush its output after each reply\?"
AGAIN = r"Started again with PYTHONUNBUFFERED=1, it "
ENDED = r"Started again, it "
ROWS = {
    "python, not flushed": (
        "python3 e.py",
        PYTHON.format(end="\n\n", flush=False),
        AGAIN + r"answered '= name': " + NOT_FLUSHED,
    ),
    "python, one command without an empty line": (
        "python3 e.py",
        ONE_COMMAND.format(body='print("= B+1")'),
        AGAIN + r"wrote '= B\+1', " + NO_EMPTY_LINE,
    ),
    "perl, no empty line": (
        "perl e.py",
        PERL.replace("{end}", "\\n"),
        ENDED + r"wrote '= x' once its input had ended, " + NO_EMPTY_LINE,
    ),
    "nothing but its end": (
        "python3 e.py",
        HOARDER.format(end="\\n\\n"),
        ENDED + r"answered '= x' once its input had ended: " + NOT_FLUSHED,
    ),
    "no answer": (
        "python3 e.py",
        ONE_COMMAND.format(body="pass"),
        r"did not answer .* within 1 s\.",
    ),
}
BOXED = "perl, no empty line"


@pytest.fixture
def place(open_place, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # as many shells and images have it: no matter
    (open_place / "a.tst").write_text("1 score\n#? [B\\+1]\n")
    monkeypatch.chdir(open_place)
    return open_place


def hang(place, program, text, level):
    (place / "e.py").write_text(text)
    limits = Limits(timeout=1, startup=2, quit=0.1)
    (file,) = run(program, ["a.tst"], Options(limits=limits, sandbox=level)).files
    assert file.failure is not None
    assert file.failure.kind is FailureKind.TIMEOUT
    return file.failure.message


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(("row", "level"), [*((row, "off") for row in ROWS), (BOXED, "auto")])
def test_a_hang_says_what_the_engine_held_back(row, level, place):
    program, text, said = ROWS[row]
    message = hang(place, program, text, level)
    assert re.search(rf"{said}$", message), message


DUMPS = """\
import json, os, sys
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    told = json.dumps(dict(os.environ)) if words[0] == "name" else ""
    print("=" + number, told + "\\n", flush=True)
"""


@pytest.mark.usefixtures("sandbox")
def test_run_check_and_grade_give_engines_the_same_environment(tmp_path, monkeypatch):
    """The teacher's and the student's shells differ; the box's variables do not."""
    for name in ("PYTHONUNBUFFERED", "PYTHONHASHSEED", "LANG", "SECRET"):
        monkeypatch.setenv(name, "1")
    room = write_class(tmp_path, {"ada": DUMPS}, PUBLIC)
    (room / "go" / "public.gtp").write_text(PUBLIC)
    stage = room / "stage"
    shutil.copytree(room / "go" / "util", stage / "util")
    (stage / "assignment1").mkdir()
    (stage / "assignment1" / "Go1.py").write_text(DUMPS)
    program = f"python3 {stage / 'assignment1' / 'Go1.py'}"
    ran = run(program, [str(room / "go" / "public.gtp")], Options(sandbox="auto"))
    own = assignment.find(str(room / "go"))
    checked = run_public_tests(own, stage, Options(sandbox="auto")).result
    grade_class(room, "--sandbox", "auto")
    (graded,) = results(room, "public.gtp")["ada"]
    said = [ran.files[0].name, checked.files[0].name, graded["name"]]
    first, *others = (json.loads(text) | {"PWD": "where it was started"} for text in said)
    assert others == [first, first]
    assert "SECRET" not in first
    assert "PYTHONUNBUFFERED" not in first


def test_without_a_sandbox_only_what_holds_replies_back_is_not_passed_on(place, monkeypatch):
    monkeypatch.setenv("MINE", "\udcff is no UTF-8")
    (place / "e.py").write_text(DUMPS)
    (file,) = run("python3 e.py", ["a.tst"]).files
    found = json.loads(file.name)
    assert found["MINE"] == "\udcff is no UTF-8"
    assert "PYTHONUNBUFFERED" not in found


PUBLIC = "10 score\n#? [=?]\n"
