"""``import oracle`` pulls in nothing that takes time, and its names come when they are used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import oracle

HEAVY = {
    "numpy",
    "sgfmill",
    "typing",
    "re",
    "dataclasses",
    "enum",
    "functools",
    "decimal",
    "pexpect",
}


def modules_after(statement):
    """Return the names of the modules that a bare Python holds after a statement."""
    run = subprocess.run(
        [sys.executable, "-S", "-c", f"{statement}\nimport sys\nprint(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


@pytest.mark.processes
@pytest.mark.parametrize(
    "statement",
    [
        "import oracle",
        "from oracle import Position, GoGame, Diagram, IllegalMove, go_scoring, java_go, gosensei",
        "from oracle.position import Position, grid; "
        "from oracle import go_scoring; go_scoring.owners(Position(grid(9), 1, 2))",
    ],
)
def test_importing_is_light(statement):
    assert not modules_after(statement) & HEAVY


@pytest.mark.processes
def test_a_batch_brings_numpy():
    assert "numpy" in modules_after("from oracle import batch")


@pytest.mark.parametrize("name", oracle.__all__)
def test_every_public_name_is_there(name):
    assert getattr(oracle, name) is not None
    assert name in dir(oracle)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'oracle' has no attribute 'komi_of_nobody'"):
        _ = oracle.komi_of_nobody
