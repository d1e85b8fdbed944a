"""From a program of others to a declaration that works: ``new``, ``calibrate``, ``fuzz``.

The programs of ``tests/new_games`` are unlike each other. For each, ``new`` makes a draft, a
teacher corrects five texts at most, ``calibrate`` has no question, and ``fuzz`` tells each wrong
variant and accuses no right one.
"""

import json

import pytest

from harness.cli import main
from harness.core.errors import ExitCode
from tests.harness.new_games import NAMES, facts, lay, make_environment

pytestmark = pytest.mark.processes

EDITS = 5  # that a teacher may need
ENOUGH = ("--examples", "3000", "--seconds", "0")  # not a time: machines may be busy
OFF = ("--sandbox", "off", "--seconds", "0")
# The full tier has those that are unlike in most ways; the others are left to the slow tier.
SHORT = ("drop", "latin")
OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in NAMES if one not in SHORT]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def declare(game, place):
    """Let ``new`` declare a game and a teacher correct it; return what begins a command of it."""
    python = ["--python", make_environment(place / "elsewhere")] if game.numpy else []
    command = lay(game, place / "right")
    public = [str(place / "right" / name) for name in game.public]
    tests = ["--public", *public] if public else []
    words = ["new", "made", "--reference", command, *tests, *python, *OFF]
    assert main([*words, "--conversations", "4"]) == ExitCode.OK
    path = place / "made" / "assignment.toml"
    text = path.read_text()
    for old, new in game.edits:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return python


@pytest.mark.parametrize("name", [*SHORT, *OTHERS])
def test_a_draft_needs_no_question(place, name):
    game = facts(name)
    assert len(game.edits) <= EDITS
    declare(game, place)
    words = ["calibrate", "made", "--conversations", "8", *OFF, "--json", "notes.json"]
    status = main(words)
    assert json.loads((place / "notes.json").read_text())["notes"] == []
    assert status == ExitCode.OK


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_fuzz_tells_wrong_variants_and_accuses_no_right_one(place, name, capsys):
    game = facts(name)
    python = declare(game, place)
    capsys.readouterr()

    def fuzz(variant, changes, *words):
        command = lay(game, place / variant, changes)
        own = ["--assignment", "made", "--sandbox", "off", "--output", f"of {variant}"]
        return main(["fuzz", command, *own, *python, *words])

    for number, changes in enumerate(game.right):
        status = fuzz(f"right-{number}", changes, "--examples", "200", "--seconds", "0")
        assert status == ExitCode.OK, capsys.readouterr().out
    for variant, changes in game.wrong.items():
        status = fuzz(variant, changes, "--findings", "1", *ENOUGH)
        assert status == ExitCode.FAILED, variant
