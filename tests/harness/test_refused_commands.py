"""What a command leaves behind: nothing if it is refused, and a folder for what it writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness import cli
from harness.core import file_system
from tests.harness import small_class

# Some look at the sandbox, or start the engine, before they refuse.
pytestmark = pytest.mark.processes

# What each finds in its folder.
FILES = {
    "good.gtp": "10 name\n#? [.*]\n",
    "bad.gtp": "10 name\n#? [a\n",
    "text": "hello\n",
    "bad.sgf": "(;SZ[9",
    "no-student.csv": "name,file\nx,y\n",
    "gradebook.csv": "Student,ID,Section,Chess (1)\nAda,1,A,\n",
    "worksheet.csv": "Identifier,Note\nParticipant 1,\n",
    "class/ada.tgz": "x",
    "counting/assignment.toml": small_class.ASSIGNMENT,
    **{f"counting/{name}": text for name, text in small_class.CASES.items()},
    "full/file": "x",
    "empty/": "",
}
GO, OWN = "--assignment go-scoring", "--assignment counting"
# Commands that refuse what they are given. A run with a case file that cannot be read is none: its
# reports tell so. Nor is a conversion of several files of which one is bad.
REFUSED = f"""
run gtp-oracle good.gtp --output out/deep --translate no
run gtp-oracle good.gtp --output out --baseline no --history history
run gtp-oracle good.gtp --gtpfile no --output out --history history
run gtp-oracle good.gtp --save-failures failures --history text
history text --output out/deep --json found.json
check empty --assignment no --output out
check empty {GO} --output out/deep --overlay no
check text {GO} --output out/deep
convert bad.gtp --to tst --output out
convert no --to txt --output out
verify good.gtp --json no/found.json
match a=gtp-oracle b=gtp-oracle --game no --output out/deep --json no/results.json
match a=gtp-oracle b=gtp-oracle --openings bad.sgf --output out --journal journal
grade empty {OWN} --public-only
grade text {OWN} --public-only --output out/deep
grade class --assignment gomoku-policy --overlay full
grade class {OWN} --private bad.gtp --output out/deep
grade class {GO} --public-only
grade class {OWN} --public-only --canvas gradebook.csv
grade class {OWN} --public-only --groups text
grade class {OWN} --public-only --ledger text/ledger
grade class {OWN} --public-only --deduction 1e-999999999
grade --marks-only {OWN} --output out/deep
grade --marks-only {OWN} --ledger ledger
serve --data data --address ftp://x
serve --data data --allowed-host x:1
serve --data text
admin people --data data
backup copy --data data
prune --data data
restore full --data data
worker tls://h:1 --tls no --cache cache
cluster scheduler --tls no
cluster certificates out --days 0
submit http://localhost:1 no.tgz
runs push http://localhost:1 no --token-file no
gradescope {OWN} -o out/x.zip --private bad.gtp
cases no --copy out
cases list --copy out
ledger check no
ledger salvage text -o out/new
generate empty {GO} -o out/deep/x.gtp
generate bad.sgf {GO} -o out/x.gtp --with bad.gtp
generate bad.sgf {GO} -o out/x.gtp --secret env:GTP_HARNESS_NO_SUCH
fuzz no-such {GO} --seconds 1 --output out
fuzz gtp-oracle {GO} --from bad.gtp --output out/deep --json found.json
fuzz gtp-oracle {GO} --translate no --output out
strength bad.gtp --json found.json
bank add no --bank bank
bank add full --bank bank
env --assignment no
new out/deep --reference gtp-oracle --public bad.gtp
new full --reference no-such
calibrate empty --json found.json
doctor --assignment no
completion tcsh
man text
""".strip().splitlines()


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder with all that is named, and a home without anything."""
    for name in ("home", "room"):
        (tmp_path / name).mkdir()
    for name, content in FILES.items():
        path = tmp_path / "room" / name
        (path if name.endswith("/") else path.parent).mkdir(exist_ok=True)
        if content:
            path.write_text(content)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "GTP_HARNESS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "room")
    umask = os.umask(0o022)
    yield tmp_path
    os.umask(umask)  # a service's processes keep all private


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("line", REFUSED)
def test_a_refused_command_leaves_nothing_behind(line, room, capsys):
    before = everything(room)
    assert cli.main(line.split()) == 2
    said = "".join(capsys.readouterr())
    assert said
    assert "Traceback" not in said
    assert everything(room) == before


def test_each_command_that_can_be_refused_is_refused():
    """All but those that take whatever they are given."""
    assert {line.split()[0] for line in REFUSED} == set(cli.COMMANDS)


# For each command with an option ``--output`` one that succeeds, and what it makes. One after the
# other, as some read what others make. A submission that is no archive starts no engine.
OUTPUTS = {
    "run": ("run gtp-oracle good.gtp --history history --output {}", "index.html"),
    "history": ("history history --output {}", "index.html"),
    "check": ("", ""),  # test_check.py: test_what_check_made_passes_check
    "convert": ("convert good.gtp --to txt --output {}", "good.txt"),
    "grade": (f"grade class {OWN} --public-only --output {{}}", "ledger.sqlite"),
    "ledger": ("ledger salvage out/grade/deep/ledger.sqlite -o {}/new", "new"),
    "match": ("match --size 2 --games 2 a=gtp-oracle b=gtp-oracle --output {}", "index.html"),
    "gradescope": (f"gradescope {OWN} --public-only -o {{}}/x.zip", "x.zip"),
    "generate": (f"generate {GO} -n 1 --sizes 2 -o {{}}/x.gtp", "x.gtp"),
    "fuzz": ("", ""),  # test_fuzzing.py: test_the_command_writes_a_case_file_that_the_engine_fails
}


def test_every_output_makes_its_folder(room, capsys):
    made = {}
    for name, (line, file) in OUTPUTS.items():
        folder = f"out/{name}/deep"
        if line:
            assert cli.main(line.format(folder).split()) in (0, 1, 2, 4), capsys.readouterr()
            made[name] = (room / "room" / folder / file).exists()
    assert made == {name: True for name, (line, _) in OUTPUTS.items() if line}


def test_every_command_with_an_output_is_here():
    with_output = {
        name
        for name, (module, _) in cli.COMMANDS.items()
        if "--output" in cli.find_command(name).parser().format_help()
    }
    assert with_output == set(OUTPUTS)


def test_a_folder_that_another_process_uses_meanwhile_stays(tmp_path):
    with file_system.removed_if_empty():
        file_system.make(tmp_path / "a" / "b")
        file_system.make(tmp_path / "a" / "c")
        (tmp_path / "a" / "c" / "file").touch()
    assert everything(tmp_path) == {"a": None, "a/c": None, "a/c/file": b""}


@pytest.mark.parametrize(
    ("sheet", "option"),
    [
        ("--canvas gradebook.csv", "--canvas-column"),
        ("--canvas gradebook.csv --canvas-column Go", "--canvas-column"),
        ("--moodle worksheet.csv", "--moodle-columns"),
    ],
)
def test_a_missing_column_is_told_with_the_option_that_names_it(sheet, option, room, capsys):
    words = f"grade class {OWN} --public-only {sheet}".split()
    assert cli.main(words) == 2
    assert option in capsys.readouterr().err
