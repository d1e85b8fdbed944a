"""What is said about command lines, engines and case files that were probably meant otherwise."""

import shlex
import subprocess
import sys

import pytest

from harness.cli import COMMANDS, main
from oracle.sentences import hint, nearest

ECHO = f"""\
#!{sys.executable}
import sys
for line in sys.stdin:
    print("=", " ".join(line.split()[1:]).removeprefix("say "), end="\\n\\n", flush=True)
    if line.split()[-1] == "quit":
        break
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with an engine, a program that cannot be executed, and case files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine").write_text(ECHO)
    (tmp_path / "engine").chmod(0o755)
    (tmp_path / "eng.py").write_text(ECHO)
    (tmp_path / "windows").write_bytes(ECHO.replace("\n", "\r\n").encode())
    (tmp_path / "windows").chmod(0o755)
    (tmp_path / "cases").mkdir()
    for name in ("good.gtp", "cases/a.tst"):
        (tmp_path / name).write_text("1 say hello\n#? [hello]\n")
    return tmp_path


def call(capsys, *words):
    status = main([*words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


# --- spelling ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("virify", COMMANDS, "verify"),
        ("GRADE", COMMANDS, "grade"),
        ("go_scoring", ["go-scoring", "gosensei"], "go-scoring"),
        ("frobnicate", COMMANDS, None),
        ("", COMMANDS, None),
    ],
)
def test_nearest(word, known, found):
    assert nearest(word, known) == found
    assert hint(word, known) == (f"; did you mean {found}?" if found else "")


MISSPELT = [
    (["rnu", "x", "y"], "did you mean run?"),
    (["help", "chekc"], "did you mean check?"),
    (["run", "--timout", "3", "x", "y"], "did you mean --timeout?"),
    (["run", "-timout=3", "x", "y"], "did you mean --timeout?"),
    (["run", "-jobs", "3", "x", "y"], "did you mean --jobs?"),
    (["verify", "x", "--asignment=go-scoring"], "did you mean --assignment?"),
    (["verify", "x", "--assignment", "go-score"], "did you mean go-scoring?"),
    (["check", "--assignment", "gosensai"], "did you mean gosensei?"),
    (["run", "--dialect", "GNUGO", "x", "y"], "did you mean gnugo?"),
]


@pytest.mark.parametrize("words", [["frobnicate"], ["run", "--frobnicate", "x"], ["run", "-x"]])
def test_nothing_is_guessed_of_a_word_like_no_other(capsys, words):
    assert "did you mean" not in call(capsys, *words)[2]


# --- the command line ----------------------------------------------------------------------------

QUOTES = "PROGRAM with its words is one argument: gtp-harness run "
SWAPPED = "PROGRAM comes first: gtp-harness run "
CONFUSED = [
    (["good.gtp", "./engine"], SWAPPED + "./engine good.gtp\n"),
    (["cases", "good.gtp", "./engine -x"], SWAPPED + "'./engine -x' cases good.gtp\n"),
    (["cases/", "good.gtp"], "found 'cases/' as PROGRAM, expected an engine; PROGRAM comes"),
    (["@all", "./engine"], SWAPPED + "./engine @all\n"),
    (["python3", "eng.py", "good.gtp"], QUOTES + "'python3 eng.py' good.gtp\n"),
    (["java", "-jar", "x.jar", "cases"], QUOTES + "'java -jar x.jar' cases ("),
    (["--jobs", "2", "./engine", "--mode=gtp", "a", "cases", "good.gtp"],
     QUOTES + "'./engine --mode=gtp a' cases good.gtp ("),
    (["./engine", "--mode", "gtp"], QUOTES + "'./engine --mode gtp' TEST… ("),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"), [*MISSPELT, *((["run", *words], said) for words, said in CONFUSED)]
)
def test_what_was_probably_meant_is_said(capsys, here, words, message):
    """Nothing is run: an engine without its options might answer nothing for a long time."""
    status, out, err = call(capsys, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.processes
def test_an_engine_may_have_the_name_of_a_case_file(capsys, here):
    (here / "engine").rename(here / "engine.gtp")
    assert call(capsys, "run", "./engine.gtp", "good.gtp")[0] == 0


@pytest.mark.processes
def test_a_file_that_is_no_program_stops_no_others(capsys, here):
    (here / "README").write_text("Nothing to be run.\n")
    status, _, err = call(capsys, "run", "./engine", "README", "good.gtp")
    assert (status, "1 file: 1 test, 1 passed" in err, QUOTES in err) == (2, True, False)


FILES = [
    ("all", "in the next line; did you mean @all?"),
    ("go-scoring/thorough", "No such file or directory; did you mean @go-scoring/thorough?"),
    ("godo.gtp", "No such file or directory; did you mean good.gtp?"),
    ("cases/b.tst", "No such file or directory; did you mean cases/a.tst?"),
    ("README", "in the next line"),
    ("circle", "in the next line"),
    ("nowhere/good.gtp", "No such file or directory"),
    ("b\0d.gtp", "null byte" if sys.version_info < (3, 13) else "null character in path"),
    (300 * "x", "File name too long"),
]


@pytest.mark.parametrize(("name", "end"), FILES)
def test_files_that_are_not_there(capsys, here, name, end):
    (here / "README").write_text("Nothing to be run.\n")
    (here / "all").write_text("# all of them\ngood.gtp\n")
    (here / "circle").write_text("@circle\n")
    status, _, err = call(capsys, "verify", name)
    assert (status, err.removesuffix("\n").endswith(end)) == (2, True), err


@pytest.mark.processes
def test_nothing_of_this_is_loaded_where_all_is_well(here):
    code = (
        "import sys; from harness.cli import main; main(['run', './engine', 'good.gtp']);"
        " print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    guessing = {"difflib", "oracle.sentences", "harness.cli.hints", "harness.cli.arguments",
                "harness.cli.man", "harness.reading.shipped", "sqlite3"}  # fmt: skip
    drawing = {"harness.judging.board_replay", "oracle.draw", "pathlib", "typing"}
    assert not (guessing | drawing) & set(done.stdout.split())


# --- engines -------------------------------------------------------------------------------------

MISNAMED = [
    ("engine", "did you mean ./engine?"),
    ("engine 'a b'", """did you mean './engine '"'"'a b'"'"''?"""),
    ("eng.py", "did you mean 'python3 eng.py'?"),
    ("./eng.py --x", "did you mean './eng.py --x'?".replace("./", "python3 ./")),
    ("./windows", r"the first line of ./windows ends in CR LF, as on Windows: sed -i 's/\r$//'"),
    ("good-for-nothing", ""),
]


@pytest.mark.processes
@pytest.mark.parametrize(("program", "message"), MISNAMED)
def test_misnamed(capsys, here, program, message):
    status, out, err = call(capsys, "run", program, "good.gtp")
    assert (status, out) == (2, "1 not run\n")
    last = err.splitlines()[-1]
    assert last.startswith(f"gtp-harness: {message}" if message else "1 file (1 broken off)")


@pytest.mark.processes
def test_a_misspelt_program_of_the_path(capsys, here, monkeypatch):
    monkeypatch.setenv("PATH", str(here))
    assert call(capsys, "run", "enigne", "good.gtp")[2].endswith("did you mean engine?\n")


@pytest.mark.processes
def test_a_program_of_the_path_is_not_taken_for_itself(capsys, here, monkeypatch):
    """The hint was the very command that had failed."""
    broken = here / "quits"
    broken.write_text("#!/bin/sh\nexit 2\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{here}:/usr/bin:/bin")
    monkeypatch.chdir(here.parent)
    found = call(capsys, "run", "quits", str(here / "good.gtp"))
    assert found[0] == 2 and "exit status 2" in found[2]
    assert "did you mean" not in found[2]


def test_gnu_go_without_its_option(capsys, here, gnugo):
    """It would wait for ever for a program that speaks its other protocol."""
    status, _, err = call(capsys, "run", gnugo, "good.gtp")
    assert status == 2
    assert "The engine speaks the Go Modem Protocol (GNU Go speaks GTP with --mode gtp)" in err


# --- case files ----------------------------------------------------------------------------------

DIALECTS = [
    ("a.tst", "1 say A1 B2\n#? [A1|C3]\n2 say x\n#? [y]\n", "passes 1 of the 2 failed tests"),
    ("a.tst", "1 say x\n#? [x]&\n", "takes a.tst"),
    ("a.tst", "1 say x\n#? [x\n", "takes a.tst"),
    ("a.gtp", "1 say x\n#? [x\n", ""),
    ("a.gtp", "1 say A1 B2\n#? [A1]\n", ""),
]


@pytest.mark.processes
@pytest.mark.parametrize(("name", "text", "message"), DIALECTS)
def test_another_dialect(capsys, here, name, text, message):
    (here / name).write_text(text)
    program = f"{shlex.quote(sys.executable)} eng.py"
    err = call(capsys, "run", program, name)[2]
    way = "--dialect gnugo, which reads case files as GNU Go's regress.awk does, "
    assert (f"gtp-harness: {way}{message}\n" in err) is bool(message), err
    assert ("--dialect" in err) is bool(message)
    assert "--dialect" not in call(capsys, "run", "--dialect", "gnugo", program, name)[2]


# --- help ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("columns", [40, 200])
def test_help_fits_the_terminal(capsys, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    status, page, _ = call(capsys, "help", name)
    assert (status, page) == (0, call(capsys, name, "--help")[1])
    text = page.partition("\n\n")[2].partition("Examples:")[0]  # no usage and no commands
    lines = [line for line in text.splitlines() if not line.endswith(":")]
    width = min(columns, 100)
    # What is longer cannot be broken: the name of an option with its choices.
    assert [line for line in lines if len(line) > width and len(line.split()) > 2] == []
    assert max(map(len, lines)) >= width - 25


def test_the_words_of_a_help_page_are_the_same_at_any_width(capsys, monkeypatch):
    pages = []
    for columns in (50, 99):
        monkeypatch.setenv("COLUMNS", str(columns))
        pages.append([call(capsys, "help", name)[1].split() for name in COMMANDS])
    assert pages[0] == pages[1]
