"""``import oracle`` pulls in nothing that takes time, and its names come when they are used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
