"""Completions and manual pages: made of the command line itself, and taken by real programs."""

import os
import re
import subprocess

import pexpect
import pytest

from harness.cli import COMMANDS, man
from harness.cli import main as harness
from tests.conftest import program


def run(words, **more):
    return subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, **more
    )  # fmt: skip


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """A folder with each shell's script, and with files and folders to be completed."""
    folder = tmp_path_factory.mktemp("completion")
    for shell, lines in man._SHELLS.items():
        (folder / f"c.{shell}").write_text("\n".join(lines(man.describe_commands())) + "\n")
    (folder / "mine.gtp").write_text("")
    (folder / "mystery").mkdir()
    return folder


# What is typed, and what follows of it when there is one way to go on.
COMPLETED = [
    ("veri", "verify"),
    ("help str", "strength"),
    ("run --start", "--startup-timeout"),
    ("run x --dialect gn", "gnugo"),
    ("run x @go-scoring/ar", "@go-scoring/area"),
    ("run --jobs 3 x mi", "mine.gtp"),
    ("run --output my", "mystery/"),
    ("check --assignment gos", "gosensei"),
    ("check --assignment my", "mystery/"),
    ("ledger salv", "salvage"),
    ("completion z", "zsh"),
]


def slashless(words):
    return [word.rstrip("/") for word in words]


@pytest.fixture(scope="module")
def bash():
    return program("bash")


_ASK_BASH = """\
source c.bash
while IFS= read -r line; do
    COMP_LINE="gtp-harness $line" COMP_POINT=$((12 + ${#line})) COMPREPLY=()
    _gtp_harness
    echo "${COMPREPLY[*]}"
done
"""


def in_bash(bash, scripts, *lines, breaks=None):
    setting = f"COMP_WORDBREAKS='{breaks}'\n" if breaks is not None else ""
    text = "".join(f"{line}\n" for line in lines)
    done = run([bash, "--norc", "-c", setting + _ASK_BASH], cwd=scripts, input=text)
    assert done.stderr == ""
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.processes
def test_bash(bash, scripts):
    """Without @ among the characters at which bash cuts words, so that they are whole."""
    found = in_bash(bash, scripts, *(typed for typed, _ in COMPLETED), breaks=" ")
    assert found == [slashless([word]) for _, word in COMPLETED]


@pytest.mark.processes
def test_bash_cuts_words(bash, scripts):
    """At = and @, and replaces what is behind them."""
    lines = ["run x @go-scoring/ar", "run --dialect=gn", "strength --assignment=java"]
    assert in_bash(bash, scripts, *lines) == [["go-scoring/area"], ["gnugo"], ["java-go"]]


@pytest.mark.processes
def test_bash_offers_all(bash, scripts):
    first, options, tests, *none = in_bash(
        bash, scripts, "", "verify -", "run x ", "doctor x", "run --timeout ", "frob x"
    )
    assert set(first) == {*COMMANDS, "help", "--help", "--version"}
    [verify] = [one for one in man.describe_commands() if one.name == "verify"]
    assert options == [name for option in verify.options for name in option.names]
    assert {"mine.gtp", "mystery", "@go-scoring", "@java-go/thorough"} <= set(tests)
    assert none == [[], [], []]


@pytest.mark.processes
def test_fish(scripts):
    fish = program("fish")
    lines = "; ".join(
        f"complete -C 'gtp-harness {typed}'; echo ---" for typed, _ in COMPLETED
    )  # fmt: skip
    home = {"HOME": str(scripts), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    done = run([fish, "--no-config", "-c", f"source c.fish; {lines}"], cwd=scripts, env=home)
    assert done.stderr == ""
    groups = [part.strip().splitlines() for part in done.stdout.split("---\n")[:-1]]
    found = [[line.split("\t")[0] for line in group] for group in groups]
    assert [word for (_, word), group in zip(COMPLETED, found, strict=True)
            if word not in group] == []  # fmt: skip
    assert found[0] == ["verify"]


@pytest.mark.processes
def test_zsh(scripts):
    zsh = program("zsh")
    home = {"HOME": str(scripts), "PATH": os.environ["PATH"], "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    shell = pexpect.spawn(
        zsh, ["-f", "-i"], cwd=str(scripts), env=home, encoding="utf-8", timeout=60,
        dimensions=(50, 200),
    )  # fmt: skip
    try:
        shell.sendline(
            "unsetopt zle_bracketed_paste; setopt no_beep; autoload -Uz compinit;"
            " compinit -u -D; source c.zsh; echo READY''NOW"
        )
        shell.expect("READYNOW")
        for typed, word in COMPLETED:
            shell.send(f"gtp-harness {typed}\t")
            whole = " ".join([*typed.split()[:-1], word])
            shell.expect(re.escape(f"gtp-harness {whole}"))
            shell.sendcontrol("u")
    finally:
        shell.close(force=True)


def test_every_option_is_in_every_script(scripts):
    texts = {shell: (scripts / f"c.{shell}").read_text() for shell in man._SHELLS}
    for one in man.describe_commands():
        names = [name for option in one.options for name in option.names]
        for shell, text in texts.items():
            assert one.name in text
            spelled = map(man._fish_name, names) if shell == "fish" else names
            assert [name for name in spelled if name not in text] == [], (one.name, shell)


@pytest.mark.parametrize("words", [[], ["csh"], ["bas"]])
def test_other_shells(capsys, words):
    assert harness(["completion", *words]) == 2
    err = capsys.readouterr().err
    assert "bash, zsh" in err
    assert ("did you mean bash?" in err) is (words == ["bas"])


# --- manual pages --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    assert harness(["man", str(folder)]) == 0
    return sorted(folder.glob("man1/*.1"))


def test_a_page_for_each_command(pages):
    names = ["gtp-harness", *(f"gtp-harness-{name}" for name in COMMANDS)]
    assert sorted(page.stem for page in pages) == sorted(names)


@pytest.mark.processes
def test_groff_and_mandoc_have_nothing_to_say(pages):
    done = run([program("groff"), "-man", "-ww", "-z", "-Tutf8", *pages])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run([program("mandoc"), "-T", "lint", "-W", "warning", *pages])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_overview_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert harness(["man"]) == 0
    out = capsys.readouterr().out
    assert out.startswith('.TH GTP-HARNESS 1 1970-01-01 "gtp-harness ')
    assert all(rf"\fBgtp\-harness\-{name}\fR(1)" in out for name in COMMANDS)


def test_a_folder_that_cannot_be_written(capsys):
    assert harness(["man", "/dev/null"]) == 2
    assert "cannot write into /dev/null/man1: Not a directory" in capsys.readouterr().err
