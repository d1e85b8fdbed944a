"""System calls drawn at random, made inside a box; what is outside must not change.

:data:`PROGRAM` runs in the box: children make drawn calls with drawn arguments, some of them
pointers to what could do harm: the path of a secret, the address of a listener, the id of a
process. Beside it are a secret file, a process that counts signals, and listeners
(:class:`harness.sandbox.redteam.scene.AttackStage`).
"""

from __future__ import annotations

import json
import time
from contextlib import closing
from typing import NamedTuple

from harness.sandbox import levels, view
from harness.sandbox.launcher import BoxLauncher
from harness.sandbox.redteam import referee
from harness.sandbox.redteam.scene import AttackStage

PROGRAM = r"""
import ctypes, json, os, random, resource, signal, struct, sys, time

aim = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
SIZE = 4096
marker = b"10 score\n#? ["


def words(*texts):
    return [ctypes.create_string_buffer(text, max(len(text) + 1, 256)) for text in texts]


def addresses():
    tcp = struct.pack("<HHI8x", 2, ((aim["tcp"] & 255) << 8) | aim["tcp"] >> 8, 0x0100007F)
    udp = struct.pack("<HHI8x", 2, ((aim["udp"] & 255) << 8) | aim["udp"] >> 8, 0x0100007F)
    named = [struct.pack("<H", 1) + name.encode() for name in
             ("\0" + aim["abstract"], aim["path_socket"])]
    return [tcp, udp, *named]


def draw_argument(rng, memory):
    kind = rng.randrange(9)
    if kind < 3:
        return ctypes.addressof(rng.choice(memory)) + rng.choice((0, 0, 0, 1, 8, 64))
    if kind == 3:
        return rng.choice((aim["victim"], os.getppid(), os.getpid(), 1, 0, -1))
    if kind == 4:
        return rng.randrange(12)
    if kind == 5:
        return 1 << rng.randrange(64)
    if kind == 6:
        return rng.choice((-1, -100, 2**31 - 1, -2**31, 2**63 - 1, SIZE, 0o777, 0x10000000))
    return rng.randrange(1 << rng.choice((4, 8, 16, 32)))


def work(seed, count):
    rng = random.Random(seed)
    paths = [aim["secret"], aim["submission"], "/", ".", "..", "/tmp/x", "/proc/self/mem",
             "/proc/1/environ", "/proc/%d/mem" % aim["victim"], "/dev/shm/x", "/etc/shadow"]
    memory = words(*(path.encode() for path in paths), *addresses(), bytes(SIZE), bytes(SIZE),
                   rng.randbytes(SIZE))
    calls = 0
    numbers = [*range(0, 475)] + [rng.randrange(1 << 31) for _ in range(3)]
    for _ in range(count):
        arguments = [ctypes.c_long(draw_argument(rng, memory)) for _ in range(6)]
        number = rng.choice(numbers)
        if number in (60, 231, 93, 94) and rng.random() < 0.95:
            continue  # exit: now and then
        libc.syscall(ctypes.c_long(number), *arguments)
        calls += 1
    for each in memory:
        if marker in each.raw:
            print("escaped:", repr(each.raw[:200]), flush=True)
    return calls


def main():
    rng = random.Random(aim["seed"])
    deadline = time.monotonic() + aim["seconds"]
    done = 0
    print("begun", flush=True)
    while time.monotonic() < deadline:
        children = []
        for _ in range(3):
            try:
                pid = os.fork()
            except OSError:
                time.sleep(0.05)
                continue
            if pid == 0:
                try:
                    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
                    signal.setitimer(signal.ITIMER_REAL, 0.3)
                    work(rng.randrange(1 << 60) + done + len(children), 300)
                finally:
                    os._exit(0)
            children.append(pid)
            done += 300
            rng.random()
        end = time.monotonic() + 0.6
        while children and time.monotonic() < end:
            children = [pid for pid in children if os.waitpid(pid, os.WNOHANG) == (0, 0)]
            time.sleep(0.002)
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    print("drawn:", done, flush=True)


main()
"""


class Outcome(NamedTuple):
    """What became of a level under drawn calls."""

    boxes: int
    drawn: int  # calls, as far as the programs lived to tell
    escapes: tuple[str, ...]


def fuzz(level: int, seconds: float, seed: int) -> Outcome:
    """Draw calls on a level for so long, in one box after the other."""
    deadline = time.monotonic() + seconds
    boxes = drawn = 0
    escapes: list[str] = []
    with closing(BoxLauncher(level, referee.LIMITS)) as launcher, AttackStage() as scene:
        while time.monotonic() < deadline:
            output = _one(launcher, scene, seed + boxes)
            boxes += 1
            lines = output.splitlines()
            drawn += sum(int(line[7:]) for line in lines if line.startswith("drawn: "))
            escapes += [line for line in lines if line.startswith("escaped: ")]
            if scene.token in output:
                escapes.append("read the secret")
            if "begun" not in output:
                escapes.append(f"did not run: {output}")
            escapes += scene.damage()
    return Outcome(boxes, drawn, tuple(escapes))


def _one(launcher: BoxLauncher, scene: AttackStage, seed: int) -> str:
    aim = scene.aim() | {"seed": seed, "seconds": 1.5}
    words = [levels.interpreter(), "-I", "-S", "-c", PROGRAM, json.dumps(aim)]
    hidden = [*view.own_folders(), str(scene.secret)]
    box = launcher.start(view.of_program(words[:1], str(scene.work), hidden=hidden), words)
    try:
        return referee.read(box, 10)
    finally:
        box.close()
