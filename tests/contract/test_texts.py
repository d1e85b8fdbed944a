"""Case files that the product writes, to the letter: generated, found by fuzzing, saved."""

from __future__ import annotations

import json
import shutil

import pytest

from harness.cli import main
from tests.contract.product import ENVIRONMENT, GOLDEN, check, dump, harness, settle_json

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_commands")]

SECRET = "a secret of at least sixteen bytes\n"
# What is generated: each with a seed, from game records, or with a secret.
GENERATED = {
    "go-scoring": ["--seed", "7", "-n", "3"],
    "gosensei": ["--seed", "7", "-n", "2"],
    "go-scoring-of-games": ["games", "-n", "4", "--half", "all"],
    "go-scoring-private": ["--secret", "secret", "-n", "3"],
}


@pytest.mark.parametrize("name", GENERATED)
def test_generated(name, tmp_path):
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "games").mkdir()
    shutil.copy(GOLDEN / "transcripts" / "game.sgf", tmp_path / "games")
    assignment = next(one for one in ("go-scoring", "gosensei") if one in name)
    words = ["--assignment", assignment, "--jobs", "1", "-o", "made.gtp", *GENERATED[name]]
    done = harness(["generate", *words], tmp_path)
    assert done.status in (0, 1), done.err
    check(f"texts/{name}.gtp", (tmp_path / "made.gtp").read_text())


def test_fuzzed(tmp_path, monkeypatch):
    """The shortest conversation that shows a mistake, whatever was drawn before.

    In this process: in one of its own Hypothesis would read all of the product's source.
    """
    monkeypatch.chdir(tmp_path)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    engine = "gtp-oracle gtp --mistake neutral-points-to-white"
    words = ["--assignment", "go-scoring", "--sandbox", "off", "--seconds", "0", "--findings", "1"]
    words += ["--examples", "200", "--json", "found.json", "--output", "found"]
    assert main(["fuzz", engine, *words]) == 1
    (path,) = (tmp_path / "found").glob("*.gtp")
    drawn = frozenset({"seconds", "examples", "commands", "asked"})
    found = dump(settle_json(json.loads((tmp_path / "found.json").read_text()), drawn))
    check("texts/fuzz.txt", f"{path.name}\n{path.read_text()}---\n{found}")


GTP = "boardsize 3\nclear_board\n# Black owns all.\nplay b b2\n10 score\n#? [B\\+8.5]\n"


def test_converted_there_and_back(tmp_path):
    (tmp_path / "a.gtp").write_text(GTP)
    there = harness(["convert", "--to", "txt", "a.gtp"], tmp_path)
    (tmp_path / "a.txt").write_text(there.out)
    back = harness(["convert", "--to", "gtp", "a.txt"], tmp_path)
    assert (there.status, back.status) == (0, 0), there.err + back.err
    check("texts/converted.txt", f"{there.out}---\n{back.out}")


def test_saved_failures(tmp_path):
    engine = "gtp-oracle gtp --mistake neutral-points-to-white"
    (tmp_path / "a.gtp").write_text(GTP.replace("boardsize 3", "boardsize 3\nplay w a1"))
    words = ["--save-failures", "saved", engine, "a.gtp"]
    assert harness(["run", *words], tmp_path).status == 1
    saved = sorted((tmp_path / "saved").iterdir())
    text = "".join(f"--- {path.name}\n{path.read_text()}" for path in saved)
    check("texts/saved.txt", text.replace(":0.1.0]", ":VERSION]"))
