"""The commands of ``gtp-oracle``; ``tests/contract`` holds what each prints, to the letter."""

import io
import re
import shlex
import subprocess
import sys

import pytest

from oracle.cli import COMMANDS, main
from tests.contract.oracle_commands import EXAMPLES, FILES
from tests.oracle.program import ENVIRONMENT, WORDS, gtp_oracle


@pytest.fixture
def files(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, command):
    """Return the exit status, the output and the errors of a command."""
    try:
        status = main(shlex.split(command))
    except SystemExit as stop:  # argparse
        status = stop.code
    return status, *capsys.readouterr()


# --- help ---------------------------------------------------------------------------------------

ASKING = [name for name in COMMANDS if name not in ("play", "gosensei", "gtp")]


@pytest.mark.parametrize("name", ASKING)
def test_every_option_that_help_names_is_in_an_example(name, capsys):
    status, out, err = run(capsys, f"{name} --help")
    assert (status, err) == (0, "")
    options = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", out)) - {"--help"}
    own = {word for c in EXAMPLES.values() for word in c.split() if c.split()[0] == name}
    every = {word for c in EXAMPLES.values() for word in c.split()}
    shared = {"--format", "--game", "--move", "--variation", "--keep-faults", "--size", "--line"}
    shared |= {"--test", "--json", "--ascii", "--color"}
    assert shared - {"--color"} <= options
    assert options - shared <= own
    assert options <= every


@pytest.mark.parametrize("argument", ["--help", "-h", ""])
def test_help_names_every_command(argument, capsys):
    status, out, err = run(capsys, argument)
    assert (status, err) == (0, "")
    for name, purpose in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(purpose)}$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 99


def test_the_examples_of_help_work(files, capsys):
    (files / "game.sgf").write_text("(;SZ[3]" + ";B[];W[aa];B[];W[]" * 30 + ")")
    (files / "board.txt").write_text(FILES["sample.txt"])
    (files / "cases.gtp").write_text(FILES["threes.gtp"])
    _, out, _ = run(capsys, "--help")
    for line in re.findall(r"^  gtp-oracle (.*?)   ", out, re.MULTILINE):
        if "COMMAND" not in line:
            command = line.replace("--move 120", "--move 4 --keep-faults")
            assert run(capsys, command)[0] == 0, command


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("nothing", "no command 'nothing'; see gtp-oracle --help"),
        ("score", "the following arguments are required: FILE; see gtp-oracle score --help"),
        ("score none.sgf", "none.sgf: cannot read the file: No such file or directory"),
        ("score sample.txt --move 1", "sample.txt: a file of format text has no choice of move"),
        ("score sample.txt --move x", "argument --move: 'x' is not a whole number; see"),
        ("score sample.txt --komi ten", "argument --komi: not a komi: 'ten'; expected a number"),
        ("score sample.txt --mov 1", "unrecognized arguments: --mov 1; see"),
        ("score record.sgf --move 9", "record.sgf: move 9: the line has only 3 moves"),
        ("show record.sgf --variation 2", "record.sgf: node 6, B[dd] (move 3): the point is occ"),
        ("show record.sgf --variation 1.x", "argument --variation: 'x' is not a whole number"),
        ("show games.sgf", "games.sgf: the file has 3 games; choose one by its number"),
        ("show games.sgf --size 0", "argument --size: '0': a board has 1 to 25 lines each way"),
        ("show games.sgf --size 9x9x9", "argument --size: '9x9x9': a board has 1 to 25 lines"),
        ("show ko.sgf --to gosensei", "gosensei's boards are 9 by 9, not 4 by 3"),
        ("show sample.txt --games", "sample.txt: found no game record"),
        ("captured sample.txt K1", "'K1' is not on a board of 9 columns and 9 rows"),
        ("captured sample.txt I1", "not a vertex: 'I1'"),
        ("legal sample.txt --color red", "argument --color: 'red' is not a color (black, white)"),
        ("eyes record.sgf --size 19 --format text", "has no choice of size"),
        ("policy threes.gtp --test 7", "threes.gtp: there is no test 7"),
        ("winner threes.gtp --line 99", "threes.gtp: there is no line 99"),
        ("show sample.txt --format gosensei", "sample.txt:1: found 9 fields"),
    ],
)
def test_errors_are_a_line_on_standard_error_and_exit_2(command, expected, files, capsys):
    status, out, err = run(capsys, command)
    assert (status, out) == (2, "")
    assert expected in err
    assert err.startswith("gtp-oracle")
    if "--format gosensei" not in command:  # which reports every line that is wrong
        assert len(err.splitlines()) == 1


# --- as a program --------------------------------------------------------------------------------


@pytest.mark.processes
def test_standard_input_and_exit_status(files):
    done = gtp_oracle("score", "-", input=FILES["sample.txt"].encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith("Black: 5\n")
    assert gtp_oracle("score", "none").returncode == 2


@pytest.mark.processes
def test_a_terminal_without_unicode_gets_ascii(files):
    done = gtp_oracle("show", "record.sgf", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b" X " in done.stdout


@pytest.mark.processes
def test_a_reader_that_goes_away_is_no_error(files):
    command = f"set -o pipefail; {shlex.join(WORDS)} show record.sgf --to svg | true"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, check=False, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_input_that_is_no_text(files, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bytes(range(256)))))
    status, _, err = run(capsys, "score -")
    assert (status, len(err.splitlines())) == (2, 1)
