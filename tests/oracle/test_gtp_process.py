"""``gtp-oracle gtp`` as a process: pipes, options, several at once, and what a start loads."""

import os
import re
import subprocess
import sys

import pytest

from oracle.cli import main
from oracle.gtp import GAMES, new_engine
from tests.oracle.program import ENVIRONMENT, ROOT, WORDS, gtp_oracle

pytestmark = pytest.mark.processes


class Process:
    """An engine at the other end of two pipes; used as a context, it is ended at the end."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [*WORDS, "gtp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ask(self, command):
        """Send one command and wait for its reply alone."""
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        lines = iter(self.process.stdout.readline, b"\n")
        return b"".join(lines).decode().rstrip("\n")


def test_no_command_waits_for_what_may_never_end(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = [
        f"{command} {path}"
        for path in (pipe, "/dev/zero")
        for command in ("loadsgf", "load_board", "is_valid")
    ]
    done = gtp_oracle("gtp", "--game", "gosensei", input="\n".join(lines).encode())
    refused = "? cannot load file: {0}: cannot read the file: it is a pipe or a device\n\n"
    one = 2 * refused + "= false\n\n"
    assert done.stdout.decode() == one.format(pipe) + one.format("/dev/zero")


def test_every_reply_comes_at_once():
    with Process() as engine:
        assert engine.ask("1 name") == "=1 gtp-oracle"
        assert engine.ask("boardsize 5") == "= "
        assert engine.ask("play b C3") == "= "
        assert engine.ask("score") == "= B+25"
        assert engine.ask("quit") == "= "
        assert engine.process.wait(timeout=60) == 0


def test_a_thousand_commands_in_one_go():
    commands = b"".join(b"%d play b pass\n" % number for number in range(1000))
    done = gtp_oracle("gtp", input=commands + b"quit\n")
    assert done.stdout == b"".join(b"=%d \n\n" % number for number in range(1000)) + b"= \n\n"
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_end_of_the_input_is_the_end():
    for text, reply in ((b"\n", b""), (b"name", b"= gtp-oracle\n\n")):
        done = gtp_oracle("gtp", input=text)
        assert (done.returncode, done.stdout) == (0, reply)


def test_nobody_reading_is_no_error():
    with Process() as engine:
        engine.process.stdout.close()
        engine.process.stdin.write(b"name\n" * 3)
        engine.process.stdin.close()
        assert engine.process.wait(timeout=60) == 0
        assert engine.process.stderr.read() == b""
        engine.process.stdout = engine.process.stdin = None


def test_any_bytes_at_all():
    done = gtp_oracle("gtp", input=bytes(range(256)) * 20 + b"\n9 name\n")
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.endswith(b"=9 gtp-oracle\n\n")


# --- options -----------------------------------------------------------------------------------

WRONG = {
    "--game chess": "--game is one of go, gomoku, java-go, gosensei, not 'chess'",
    "--seed -1": "--seed takes a whole number of at most 9 digits, not '-1'",
    "--playouts=": "--playouts takes a whole number of at most 9 digits, not ''",
    "--level 5": "unknown option '--level'",
    "gomoku": "unknown option 'gomoku'",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_options_are_named(arguments, capsys):
    assert main(["gtp", *arguments.split()]) == 2
    out, err = capsys.readouterr()
    first, second, *_ = err.splitlines()
    assert (out, first) == ("", f"gtp-oracle gtp: {WRONG[arguments]}")
    assert second.startswith("usage: gtp-oracle gtp")


@pytest.mark.parametrize("game", GAMES)
def test_help_lists_the_commands_of_the_game(game, capsys):
    assert main(["gtp", "--game", game, "--help"]) == 0
    text = capsys.readouterr().out
    for name in new_engine(game).commands:
        assert re.search(rf"^  {re.escape(name)} ", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 100


# --- what a start costs ------------------------------------------------------------------------


def find_loaded(game, session):
    """Return the modules that a session has loaded, beside those of a bare Python."""
    code = (
        "import os, sys; bare = set(sys.modules)\n"
        "from oracle.cli import main\n"
        f"main(['gtp', '--game', {game!r}])\n"
        "sys.stderr.write(' '.join(set(sys.modules) - bare))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        input=session,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return set(done.stderr.decode().split())


@pytest.mark.parametrize("game", ["go", "gomoku"])
def test_a_session_of_setup_loads_nothing_but_the_oracle(game):
    session = b"name\nversion\ncputime\nboardsize 9\nclear_board\nplay b C3\nundo\nquit\n"
    foreign = {name for name in find_loaded(game, session) if name.split(".")[0] != "oracle"}
    assert foreign <= {"__future__", "time"}
