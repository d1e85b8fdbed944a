"""What ``gtp-oracle`` answers, to the letter: replies, reasons, and the names of mistakes."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.contract.oracle_commands import EXAMPLES, FILES
from tests.contract.product import GOLDEN, check, oracle

TRANSCRIPTS = sorted((GOLDEN / "transcripts").glob("*.txt"))
_END = "9999999 protocol_version"  # after each command, so that its reply has an end
_REPLY_END = re.compile(r"=9999999 2\n\n")


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_a_command_prints(name, files):
    done = oracle(shlex.split(EXAMPLES[name]), files)
    assert done.status == 0, done.err
    errors = f"\n--- standard error ---\n{done.err}" if done.err else ""
    check(f"oracle/{name}.txt", f"$ gtp-oracle {EXAMPLES[name]}\n{done.out}{errors}")


def test_no_golden_file_is_left_over():
    assert {path.stem for path in (GOLDEN / "oracle").iterdir()} == set(EXAMPLES)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_what_the_engine_replies(path):
    """A transcript begins with the game; a line with ``> `` is a command, below it its reply."""
    first, *lines = path.read_text().splitlines()
    commands = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    sent = b"".join(
        one.encode().decode("unicode_escape").encode() + f"\n{_END}\n".encode() for one in commands
    )
    words = ["gtp", "--game", first.removeprefix("game: "), "--playouts", "2"]
    done = oracle(words, path.parent, sent)
    replies = _REPLY_END.split(done.out)
    played = [f"> {one}\n{reply}" for one, reply in zip(commands, replies, strict=False)]
    check(f"transcripts/{path.name}", "".join([f"{first}\n", *played]))


def test_no_transcript_was_lost():
    assert len(TRANSCRIPTS) >= 10


@pytest.mark.parametrize("kind", ["mistake", "reading"])
def test_the_names(kind, tmp_path):
    """Of mistakes and readings, with the assignment that each belongs to; not how they are put."""
    listed = oracle(["gtp", f"--{kind}", "list"], tmp_path).out
    names = re.sub(r"^(  \S+) .*", r"\1", listed, flags=re.MULTILINE)
    check(f"{kind}s.txt", names)
