"""What the engine answers, to the letter: sessions as one would see them on a terminal.

A transcript's first line names the game. A line that begins with ``> `` is a command; below it
stands the reply, empty line included.

Transcripts are golden files: see :mod:`tests.golden`.
"""

from pathlib import Path

import pytest

import oracle.gtp
from tests import golden

FOLDER = Path(__file__).parent / "transcripts"
FILES = sorted(FOLDER.glob("*.txt"))


def replay_transcript(text):
    """Return a transcript with the replies that the engine gives now."""
    first, *lines = text.splitlines()
    engine = oracle.gtp.new_engine(first.removeprefix("game: "), playouts=2)
    played = [f"{first}\n"]
    for line in lines:
        if line.startswith("> "):
            command = line.removeprefix("> ").encode().decode("unicode_escape")
            played.append(f"{line}\n{engine.handle(command)}")
    return "".join(played)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_replies_are_these(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    replies = replay_transcript(path.read_text())
    golden.check(path, replies)


def test_no_transcript_was_lost():
    assert len(FILES) >= 10
