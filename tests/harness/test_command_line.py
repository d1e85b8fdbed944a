"""The command line of a run: read without argparse, to the same result, or left to argparse."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import run
from harness.cli.commandline import Plain

PARSER = run.RUN.parser()
FLAGS = [flag for action in PARSER._actions for flag in action.option_strings]
VALUES = ["1", "0", "2.5", "-1", "x", "", "64k", "go", "gnugo", "auto", "off", "a b", "-", "a=b"]
WORDS = st.one_of(
    st.sampled_from(FLAGS),
    st.sampled_from([flag for flag in FLAGS if "jobs" in flag or "dialect" in flag]),
    st.sampled_from(VALUES),
    st.tuples(st.sampled_from(FLAGS), st.sampled_from(VALUES)).map("=".join),
    st.sampled_from(["prog", "t.gtp", "--", "--job", "-x", "--no-such=1"]),
)


def plain() -> Plain:
    found = Plain()
    run.add_options(found)
    return found


@given(st.lists(WORDS, max_size=8))
def test_what_is_read_here_is_what_argparse_reads(words: list[str]) -> None:
    found = plain().read(words)
    if found is not None:
        expected = PARSER.read(words)
        assert expected is not None
        assert vars(found) == vars(expected)


PLAIN = [
    ["./engine", "t.gtp"],
    ["-long", "./engine", "t.gtp", "--output", "rep", "u.gtp"],
    ["--show", "a", "./engine", "--show=b", "t.gtp", "--timeout=0", "--max-memory", "64M"],
    ["--dialect", "gnugo", "--no-color", "-gtpfile", "x", "./engine --mode gtp", "t.gtp"],
]


@pytest.mark.parametrize("words", PLAIN)
def test_plain_command_lines(words: list[str]) -> None:
    found, expected = plain().read(words), PARSER.read(words)
    assert found is not None
    assert expected is not None
    assert vars(found) == vars(expected)


@pytest.mark.processes
def test_a_run_loads_no_argparse(tmp_path) -> None:
    (tmp_path / "t.gtp").write_text("1 name\n")
    code = (
        "import sys; from harness.cli import main; main(sys.argv[1:]);"
        " print(*{'argparse', 'gettext', 'subprocess', 'threading', 'signal'} & set(sys.modules))"
    )
    words = ["run", "/nowhere/engine", str(tmp_path / "t.gtp")]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[-2] == ""
