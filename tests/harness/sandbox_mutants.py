"""Sandboxes with a layer taken out: each layer has attacks that only it holds.

``python -m tests.harness.sandbox_mutants LEVEL`` runs the table for an ordinary user; for root it
runs the change of identity, which root's engines have besides. Layers are taken out of the box
server's code as it starts, and of the plan of each engine: there is no option for that.

Where two layers hold the same, one of them is out in both runs: with it alone the attack is held.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from io import FileIO
from typing import NamedTuple

from harness.sandbox import bubblewrap, cgroup, launcher
from harness.sandbox.launcher import BoxLauncher
from harness.sandbox.plan import LaunchPlan
from harness.sandbox.redteam import referee
from harness.sandbox.redteam.attack_table import ROSTER

# A filter of one instruction: return SECCOMP_RET_ALLOW.
ALL_CALLS = (
    "import harness.sandbox.seccomp as s;"
    " s.for_this_machine = lambda *a, **k: b'\\x06\\0\\0\\0\\0\\0\\xff\\x7f'"
)


class Layer(NamedTuple):
    """How to take a layer out."""

    code: str = ""  # run by the server before all else
    plan: Callable[[LaunchPlan], LaunchPlan] = lambda plan: plan


def _without_options(plan: LaunchPlan) -> LaunchPlan:
    """Take bubblewrap's options for processes away; the machine's /proc is shown instead."""
    options = plan.options.replace(b"--unshare-pid\0", b"")
    proc = b"--proc\0/proc\0--ro-bind\0/proc/sys\0/proc/sys\0"
    assert proc in options
    kept = options.replace(proc, b"--ro-bind\0/proc\0/proc\0")
    # The masks within /proc have no place to be made at.
    files = re.sub(rb"--dir\0/proc\0--ro-bind\0/dev/null\0/proc/[^\0]*\0", b"", kept)
    return _without_mask(plan._replace(options=files))


def _without_mask(plan: LaunchPlan) -> LaunchPlan:
    """Show what /proc has of the engine's launcher."""
    mask = re.compile(rb"--dir\0/proc\0--perms\x000000\0--tmpfs\0/proc/1\0--remount-ro\0/proc/1\0")
    assert plan.level == 2 or mask.search(plan.options)
    mounts = tuple(mount for mount in plan.mounts if mount.place != "/proc/1")
    return plan._replace(options=mask.sub(b"", plan.options), mounts=mounts)


def _with_the_machines_files(plan: LaunchPlan) -> LaunchPlan:
    """Show the machine's /tmp, where all that is private lies, in place of an empty one."""
    own = re.compile(rb"--perms\x001777\0(--size\0\d+\0)?--tmpfs\0/tmp\0")
    assert own.search(plan.options)
    options = own.sub(b"--ro-bind\0/tmp\0/tmp\0", plan.options)
    return plan._replace(options=options, scratch=())


def _with_writable_mounts(plan: LaunchPlan) -> LaunchPlan:
    """Let bubblewrap show everything as it is outside, to be written to as well."""
    assert b"--ro-bind\0" in plan.options
    return plan._replace(options=plan.options.replace(b"--ro-bind\0", b"--bind\0"))


def _with_unlimited_folders(plan: LaunchPlan) -> LaunchPlan:
    """Let bubblewrap make folders in memory that hold half of the machine's."""
    options = re.sub(rb"--size\0\d+\0", b"", plan.options)
    assert options != plan.options
    return plan._replace(options=options)


def _as_root(plan: LaunchPlan) -> LaunchPlan:
    """Start bubblewrap's engine as who starts it, without the words that change that."""
    words = plan.arguments
    assert words[0] == bubblewrap.SETPRIV
    options = re.sub(rb"--cap-add\0\w+\0", b"", plan.options)
    return plan._replace(arguments=words[words.index("--") + 1 :], options=options)


# Not by the plan: without an identity in it, level 2 would make a user namespace.
_STAY_ROOT = (
    "import harness.sandbox.inside as i; become = i._become_nobody;"
    " i._become_nobody = lambda identity: become(0)"
)

# Not by the plan: what is in it is the control group's limit, too.
_LOOK_AWAY = (
    "import harness.sandbox.watch as w; find = w.find_exceeded;"
    " w.find_exceeded = lambda usage, limits:"
    " find(usage, limits._replace(memory=0, cpu=0.0, processes=0))"
)

LAYERS: dict[tuple[str, int], Layer] = {
    **{("seccomp", level): Layer(ALL_CALLS) for level in (3, 2, 1)},
    **{
        ("Landlock", level): Layer(plan=lambda plan: plan._replace(landlock=0)) for level in (2, 1)
    },
    **{
        ("resource limits", level): Layer(plan=lambda plan: plan._replace(rlimits=()))
        for level in (3, 2, 1)
    },
    **{("watch", level): Layer(_LOOK_AWAY) for level in (3, 2, 1)},
    **{
        ("control group", level): Layer(
            "import harness.sandbox.cgroup as c; c.enter = lambda parents: c.ControlGroups([])"
        )
        for level in (3, 2, 1)
    },
    ("pid namespace", 3): Layer(plan=_without_options),
    **{("mask over /proc/1", level): Layer(plan=_without_mask) for level in (3, 2)},
    ("network namespace", 3): Layer(
        plan=lambda plan: plan._replace(options=plan.options.replace(b"--unshare-net\0", b""))
    ),
    ("network namespace", 2): Layer(
        "import harness.sandbox.inside as i; i.NAMESPACES &= ~0x40000000"
    ),
    ("mount namespace", 2): Layer(
        "import harness.sandbox.inside as t; t.arrange = lambda *a: None",
        lambda plan: plan._replace(scratch=()),  # or the machine's own /tmp would be measured
    ),
    ("mount namespace", 3): Layer(plan=_with_the_machines_files),
    ("identity", 3): Layer(plan=_as_root),
    ("identity", 2): Layer(_STAY_ROOT),
    ("identity", 1): Layer(_STAY_ROOT),
    ("pid namespace", 2): Layer(
        "import harness.sandbox.inside as i; i.NAMESPACES &= ~0x20000000;"
        " import harness.sandbox.inside as t; t._MAKERS['proc'] = lambda m, r:"
        " (t._make_place(m.place, folder=True), t.landlock.bind('/.outside/proc', m.place, 0))"
    ),
    ("read-only mounts", 3): Layer(plan=_with_writable_mounts),
    ("read-only mounts", 2): Layer(
        "import harness.sandbox.inside as t; t._ATTRIBUTES['bind'] = 0",
    ),
    ("size of the tmpfs", 3): Layer(plan=_with_unlimited_folders),
    ("size of the tmpfs", 2): Layer(
        "import harness.sandbox.landlock as k; mount = k.mount;"
        " k.mount = lambda *a: mount(*a[:4], *[one.partition(',size')[0] for one in a[4:]])"
    ),
    **{
        ("watch on folders", level): Layer(plan=lambda plan: plan._replace(scratch=()))
        for level in (3, 2)
    },
}


_TRIALS = 8


class Mutant(NamedTuple):
    """A layer that is out, and an attack that then gets through."""

    layer: str
    level: int
    attack: str
    also: tuple[str, ...] = ()  # layers that are out in both runs
    root: bool = False  # for root alone, else for an ordinary user alone
    proof: str = ""  # what the referee then says, and not before; empty: anything


MUTANTS = (
    *(Mutant("seccomp", level, "kernel_holes") for level in (3, 2, 1)),
    *(Mutant("seccomp", level, "futex_table") for level in (3, 1)),
    *(Mutant("resource limits", level, "many_descriptors") for level in (3, 2, 1)),
    *(Mutant("watch", level, "memory_hog") for level in (3, 2, 1)),
    *(Mutant("control group", level, "memory_hog", ("watch",), root=True) for level in (3, 2, 1)),
    *(Mutant("seccomp", level, "loaded_pages_by_preadv2@next") for level in (3, 2, 1)),
    *(Mutant("seccomp", level, "cleared_pages@beside") for level in (3, 2, 1)),
    *(Mutant("seccomp", level, "device_times@next") for level in (3, 2, 1)),
    *(Mutant("read-only mounts", level, "access_times@next") for level in (3, 2)),
    *(Mutant("pid namespace", level, "process_numbers@beside") for level in (3, 2)),
    Mutant("Landlock", 1, "read_case_by_name"),
    Mutant("Landlock", 1, "read_environment"),
    Mutant("Landlock", 2, "tcp", ("seccomp", "network namespace")),
    Mutant("mount namespace", 2, "read_case_by_name"),
    Mutant("mount namespace", 3, "read_metadata"),
    Mutant("pid namespace", 3, "read_command_lines"),
    Mutant("identity", 3, "write_case", ("read-only mounts",), root=True),
    Mutant("identity", 2, "write_case", ("read-only mounts", "Landlock"), root=True),
    Mutant("identity", 1, "write_case", ("Landlock",), root=True),
    Mutant("pid namespace", 2, "read_command_lines"),
    Mutant("read-only mounts", 3, "write_case"),
    Mutant("read-only mounts", 2, "write_case", ("Landlock",)),
    Mutant("size of the tmpfs", 3, "disk_hog", ("watch on folders",)),
    Mutant("size of the tmpfs", 2, "inode_hog", ("watch on folders",)),
    Mutant("watch on folders", 3, "inode_hog"),
    Mutant("watch on folders", 2, "inode_hog", ("size of the tmpfs",)),
    *(Mutant("mask over /proc/1", level, "see_launcher") for level in (3, 2)),
    Mutant("network namespace", 3, "tcp", ("seccomp",), proof="reached the tcp socket"),
    Mutant("network namespace", 2, "udp", ("seccomp", "Landlock")),
)


class Mutated(BoxLauncher):
    """A launcher of boxes that lack layers."""

    def __init__(self, level: int, layers: Iterable[str]) -> None:
        self._out = [LAYERS[name, level] for name in layers]
        whole = launcher._TURN
        code = "".join(f"{layer.code}; " for layer in self._out if layer.code)
        launcher._TURN = whole.replace("from harness.", f"{code}from harness.", 1)
        try:
            super().__init__(level, referee.LIMITS)
        finally:
            launcher._TURN = whole

    def _send(self, wanted: LaunchPlan) -> tuple[FileIO, FileIO, FileIO]:
        for layer in self._out:
            wanted = layer.plan(wanted)
        return super()._send(wanted)


def escapes(level: int, layers: Iterable[str], attack: str) -> tuple[str, ...]:
    """Return what an attack achieves where these layers are out."""
    chosen = tuple(one._replace(patience=30) for one in ROSTER if one.name == attack)
    assert len(chosen) == 1, attack
    with closing(Mutated(level, layers)) as boxes:
        (finding,) = referee.play(boxes, chosen, lambda: Mutated(level, layers))
    return finding.escapes


def escapes_at_last(level: int, layers: Iterable[str], attack: str) -> tuple[str, ...]:
    """Return the same of the best of some trials: a busy machine disturbs a channel."""
    trials = (escapes(level, layers, attack) for _ in range(_TRIALS if "@" in attack else 1))
    return next(filter(None, trials), ())


def can_run(mutant: Mutant) -> bool:
    """Whether this user has the layer: not everybody may use control groups."""
    may = mutant.layer != "control group" or bool(cgroup.usable_parents())
    return may and mutant.root == (os.geteuid() == 0)


def main(level: int) -> None:
    """Check the mutants of a level; print the table of layers and attacks."""
    wrong = []
    for mutant in MUTANTS:
        if mutant.level != level or not can_run(mutant):
            continue
        layers = (mutant.also, (*mutant.also, mutant.layer))
        whole, out = (
            [line for line in find(level, one, mutant.attack) if mutant.proof in line]
            for find, one in zip((escapes, escapes_at_last), layers, strict=True)
        )
        told = f"without {mutant.layer:18} {mutant.attack:20} {'; '.join(out) or 'held'}"
        print(told, f"(and without {', '.join(mutant.also)})" if mutant.also else "", flush=True)
        if whole or not out or any("did not run" in line for line in out):
            wrong.append((mutant, whole, out))
    assert not wrong, wrong


if __name__ == "__main__":
    main(int(sys.argv[1]))
