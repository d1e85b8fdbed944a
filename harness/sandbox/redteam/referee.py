"""Runs each attack in a box of its own, and judges by what came out and by what is left."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Iterator
from io import FileIO
from typing import NamedTuple

from harness.sandbox import levels, view
from harness.sandbox.launcher import Boxed, BoxLauncher, End
from harness.sandbox.limits import MIB, BoxLimits
from harness.sandbox.redteam.roster import ROSTER, Attack
from harness.sandbox.redteam.scene import Scene

# Small, so that an attack on a limit need not be large.
LIMITS = BoxLimits(
    memory=256 * MIB,
    cpu=20,
    processes=16,
    threads=48,
    open_files=256,
    scratch=16 * MIB,
    scratch_files=2000,
    file_size=12 * MIB,
)
_ENDING = 5.0  # seconds to end it, generously: a busy machine is no escape
_OUTPUT = 4 * MIB


class Finding(NamedTuple):
    """What became of one attack."""

    attack: Attack
    escapes: tuple[str, ...]  # empty: held
    end: End
    output: str  # of the last program


def play(launcher: BoxLauncher, attacks: tuple[Attack, ...] = ROSTER) -> Iterator[Finding]:
    """Run ``attacks`` through the boxes of ``launcher`` and yield a finding for each."""
    with Scene() as scene:
        for attack in attacks:
            yield _judge(launcher, scene, attack)


def _judge(launcher: BoxLauncher, scene: Scene, attack: Attack) -> Finding:
    programs = [attack.program, attack.then] if attack.then else [attack.program]
    for program in programs:
        end, output, seconds = _run(launcher, scene, attack, program)
    escapes = [line[9:] for line in output.splitlines() if line.startswith("escaped: ")]
    if scene.token in output:
        escapes.append("read what is private")
    if seconds > _ENDING:
        escapes.append(f"took {seconds:.1f} s to be ended")
    if "begun" not in output:
        escapes.append("did not run: nothing is proven")
    return Finding(attack, (*escapes, *scene.damage()), end, output)


def _run(
    launcher: BoxLauncher, scene: Scene, attack: Attack, program: str
) -> tuple[End, str, float]:
    """Return how the attack ended, what it printed, and how long it took to end it."""
    script = str(scene.submission / f"{attack.source}.py")
    words = [levels.interpreter(), "-I", "-S", script, program, json.dumps(scene.aim())]
    hidden = [*view.own_folders(), str(scene.secret)]
    box = launcher.start(view.of_program(words, str(scene.work), hidden=hidden), words)
    output = _read(box, attack.patience)
    before = time.monotonic()
    end = box.close()
    return end, output, time.monotonic() - before


def _read(box: Boxed, patience: float) -> str:
    """Return what a box prints, on either stream, until it ends, or does not for too long."""
    parts: list[bytes] = []
    poll = select.poll()
    streams: dict[int, FileIO] = {one.fileno(): one for one in (box.stdout, box.stderr)}
    for number in (*streams, box.fileno()):
        poll.register(number, select.POLLIN)
    deadline = time.monotonic() + patience
    while streams and sum(map(len, parts)) < _OUTPUT:
        ready = poll.poll(max(0, deadline - time.monotonic()) * 1000)
        if not ready:
            break
        for number, _ in ready:
            data = os.read(number, 1 << 16) if number in streams else b""
            parts.append(data)
            if not data:
                poll.unregister(number)
                streams.pop(number, None)
    return b"".join(parts).decode(errors="replace")
