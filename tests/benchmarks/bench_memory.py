"""How far each way to hold memory gets beyond the limit, as fast as it can.

The red team's ways, without a pace: each process tells every MiB that it has got. The figure is
the most that was held at once, as a part of the limit: on the machine as it is and beside two busy
processes for each core; with a control group, where one is ours to use, and without.
"""

from __future__ import annotations

import json
import os
import statistics
from contextlib import closing

from harness.sandbox import cgroup, levels, view
from harness.sandbox.launcher import BoxLauncher
from harness.sandbox.redteam import referee
from harness.sandbox.redteam.attack_table import MEMORY_HOLDERS
from harness.sandbox.redteam.scene import AttackStage
from tests.harness.busy import busy

RUNS = 3
ALLOWED = 1.25
BUSY = 2  # processes for each core
_ANOTHER = "unreadable_program"  # becomes another program, which tells nothing
WAYS = [
    one.program for one in MEMORY_HOLDERS if one.layer[3] != "seccomp" and one.program != _ANOTHER
]
REFUSED = [one.program for one in MEMORY_HOLDERS if one.layer[3] == "seccomp"]
PROGRAM = r"""
import os, sys
sys.path.insert(0, sys.argv[1])
import holding

class Telling(holding.Hoard):
    told = 0

    def __init__(self, allowed, pace=0.0):
        super().__init__(allowed * 3)

    def add(self, count, *kept):
        self.held += count
        if self.held - self.told > 1 << 20:
            self.told = self.held
            os.write(1, b"held %d %d\n" % (os.getpid(), self.held))
        self.held -= count
        super().add(count, *kept)

holding.Hoard = Telling
sys.argv = sys.argv[1:]
holding.main(holding.PROGRAMS)
"""


def measure_held(launcher: BoxLauncher, scene: AttackStage, way: str) -> float:
    """Return the most that a way holds at once, as a part of the limit."""
    aim = scene.aim() | launcher.limits._asdict()
    place = str(scene.submission)
    words = [levels.interpreter(), "-I", "-S", "-c", PROGRAM, place, way, json.dumps(aim)]
    hidden = [*view.own_folders(), str(scene.secret)]
    seen = view.of_program(words, str(scene.work), hidden=hidden)
    with closing(launcher.start(seen, words)) as box:
        said = referee.read(box, 9)
    assert "begun" in said, said
    latest: dict[str, int] = {}
    most = 0
    for line in said.splitlines():
        match line.split():
            case ["held", process, count] if count.isdigit():
                latest[process] = int(count)
                most = max(most, sum(latest.values()))
    return most / launcher.limits.memory


def table(level: int, load: int) -> None:
    """Print the figures of a level beside so many busy processes."""
    with (
        closing(BoxLauncher(level, referee.LIMITS)) as launcher,
        AttackStage() as scene,
        busy(load),
    ):
        found = {way: [measure_held(launcher, scene, way) for _ in range(RUNS)] for way in WAYS}
    worst = {way: max(figures) for way, figures in found.items()}
    over = {way: figure for way, figure in worst.items() if figure > ALLOWED}
    middle = statistics.median(worst.values())
    print(
        f"  level {level}, {load} busy: {len(WAYS)} ways, {RUNS} runs each: worst"
        f" {max(worst.values()):.2f}, median {middle:.2f}; over {ALLOWED}: {len(over)}",
        *(f"\n    {way:24} {figure:.2f}" for way, figure in sorted(over.items())),
        flush=True,
    )


def main() -> None:
    """Print the figures for each level, with and without a control group."""
    print(f"{len(MEMORY_HOLDERS)} ways to hold memory, {len(REFUSED)} of them refused outright")
    groups = cgroup.usable_parents
    for counted in (True, False) if groups() else (False,):
        cgroup.usable_parents = groups if counted else list
        print("with a control group" if counted else "without a control group")
        for load in (0, BUSY * (os.cpu_count() or 1)):
            for level in (3, 2, 1):
                table(level, load)
    cgroup.usable_parents = groups
