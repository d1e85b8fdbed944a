"""Runs each attack in a box of its own, and judges by what came out and by what is left."""

import contextlib
import fcntl
import functools
import json
import math
import os
import queue
import secrets
import select
import stat
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from harness.core.options import MIB, BoxLimits
from harness.sandbox import levels, memory, view
from harness.sandbox.launcher import Boxed, BoxLauncher
from harness.sandbox.plan import BoxEnd
from harness.sandbox.redteam.attack_table import ROSTER, Attack
from harness.sandbox.redteam.scene import AttackStage, can_run, command, compile_needed

_CERTAIN = 4.2  # standard deviations: chance does better in one of 75,000 trials
_LARGE = 1 << 20  # bytes
_ENOUGH = 64 << 20
_PLACES = ("/usr/lib", "/usr/bin", "/usr/libexec")
_CHUNK = 1 << 20
_IN_MEMORY = ("cleared_pages", "read_pages")
_ON_DISK = "loaded_pages_by_"
_LONGEST_LOCK = 60.0  # seconds that another trial may take, on a busy machine
_BETWEEN_TRIES = 0.02


def draw_bits(count: int) -> str:
    """Return random bits: nobody who has not been told them gets more than half right."""
    return f"{secrets.randbits(count):0{count}b}"


def information(sent: str, received: str) -> float:
    """Return how many bits were learnt, 0 if chance may have done the same.

    A channel that gets a share of all bits wrong carries so much less (Shannon).
    """
    right = sum(map(str.__eq__, sent, received))
    if not sent or (2 * right - len(sent)) / math.sqrt(len(sent)) < _CERTAIN:
        return 0.0
    wrong = 1 - right / len(sent)
    lost = -sum(share * math.log2(share) for share in (wrong, 1 - wrong) if share)
    return len(sent) * (1 - lost)


@functools.cache
def large_files() -> tuple[tuple[str, int], ...]:
    """Return large files that every box is shown, with the number of their pages."""
    found: set[tuple[int, str]] = set()
    inner = [entry.path for entry in os.scandir(_PLACES[0]) if entry.is_dir(follow_symlinks=False)]
    for folder in (*_PLACES, *inner):
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                status = entry.stat(follow_symlinks=False)
                large = stat.S_ISREG(status.st_mode) and status.st_size >= _LARGE
                if large and status.st_mode & stat.S_IROTH:
                    found.add((status.st_size, entry.path))
    chosen, size = [], 0
    for length, path in sorted(found, reverse=True):
        if size < _ENOUGH:
            chosen.append((path, length // os.sysconf("SC_PAGE_SIZE")))
            size += length
    return tuple(chosen)


@contextlib.contextmanager
def prepared(program: str) -> Iterator[None]:
    """Leave the large files as a channel through them needs it: in memory, or read long ago.

    Meanwhile no other trial on this machine changes them: what it takes out of memory would look
    like what the sender did. A lock that another trial keeps for too long is ignored.
    """
    files = large_files()
    if not files or not (program in _IN_MEMORY or program.startswith(_ON_DISK)):
        yield
        return
    with open(files[0][0], "rb") as locked:
        deadline = time.monotonic() + _LONGEST_LOCK
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(_BETWEEN_TRIES)
        for path, _ in files:
            with open(path, "rb") as file:
                if program in _IN_MEMORY:
                    while file.read(_CHUNK):
                        pass
                else:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        yield


# Small, so that an attack on a limit need not be large.
LIMITS = BoxLimits(
    memory=256 * MIB,
    processes=16,
    threads=48,
    open_files=1024,
    scratch=16 * MIB,
    scratch_files=2000,
    file_size=12 * MIB,
)
WORKERS = 4  # on each level: most attacks wait, for something or for their end
_ENDING = 5.0  # seconds to end it, generously: a busy machine is not an escape
_LONGEST_CLEARING = 60.0  # seconds, on a busy machine
_OUTPUT = 4 * MIB
_READY = "ready\n"  # printed by an end of a channel
_SOON = 0.05  # seconds from the sign to the first moment
_UNPROVEN = "did not run: nothing is proven"


class AttackResult(NamedTuple):
    """Result of one attack."""

    attack: Attack
    level: int
    escapes: tuple[str, ...]  # empty: held
    end: BoxEnd
    output: str  # of the last program
    seconds: float = 0.0  # that it took, with its end
    bandwidth: float | None = None  # of a channel: bits a second that got through
    untested: str = ""  # why nothing was attacked: this machine lacks what the attack needs

    @property
    def layer(self) -> str:
        """The layer that is to stop the attack."""
        return self.attack.layer[self.level]


def play(
    launcher: BoxLauncher,
    attacks: tuple[Attack, ...] = ROSTER,
    make_another: Callable[[], BoxLauncher] | None = None,
) -> Iterator[AttackResult]:
    """Run ``attacks`` through the boxes of ``launcher``; yield a finding for each that can run.

    ``make_another``: make a launcher of boxes at the same time; None: of the same level.
    """
    attacks = tuple(filter(can_run, attacks))
    another = make_another or functools.partial(BoxLauncher, launcher.level, LIMITS)
    with AttackStage(attacks) as scene:
        for attack in attacks:
            if attack.receiver:
                yield _judge_channel(launcher, another, scene, attack)
            else:
                yield _judge(launcher, scene, attack)


def play_at_once(
    level_numbers: Iterable[int], attacks: tuple[Attack, ...] = ROSTER
) -> Generator[AttackResult, None, None]:
    """Run ``attacks`` on levels, several at a time; yield findings as they come.

    Those in languages that are not installed are left out. Each worker has a scene and a launcher
    of its own, so that every escape is laid at the right door.

    Raises:
        SandboxError: a level does not work, or does not hold a canary.
    """
    attacks = tuple(filter(can_run, attacks))
    compile_needed(attacks)  # once, and not by each worker
    channels = tuple(attack for attack in attacks if attack.receiver)
    others = tuple(attack for attack in attacks if not attack.receiver)
    level_numbers = tuple(level_numbers)
    # At level 1 an ordinary user's engines share one count of processes with all others of that
    # user: a bomb at another level would stop attacks before their own level does.
    apart = [] if os.geteuid() == 0 else [level for level in level_numbers if level == 1]
    for together in ([level for level in level_numbers if level not in apart], apart):
        if together and others:
            yield from _play_levels(together, others)
    for level in level_numbers:  # what else goes on would be noise
        yield from _play_alone(level, channels)


def _play_levels(
    level_numbers: Sequence[int], attacks: tuple[Attack, ...]
) -> Iterator[AttackResult]:
    found: queue.SimpleQueue[AttackResult | BaseException | None] = queue.SimpleQueue()
    room = memory.of_machine("MemAvailable:") // (len(level_numbers) * 2 * LIMITS.memory)
    number = min(max(1, min(WORKERS, room)), len(attacks))
    # The longest first, of CPU time before all: the last one to end decides when all have.
    longest_first = sorted(attacks, key=lambda one: (one.cpu, -one.patience))
    launchers: list[BoxLauncher] = []
    workers: list[threading.Thread] = []
    for level in level_numbers:
        own = [levels.make_proven(level, LIMITS) for _ in range(number)]
        shared = (attacks, iter(longest_first), found)  # by the workers of a level
        workers += [
            threading.Thread(target=_work, args=(launcher, *shared), daemon=True)
            for launcher in own
        ]
        launchers += own
    working, again = len(workers), []
    try:
        for worker in workers:
            worker.start()
        while working:
            finding = found.get()
            if isinstance(finding, BaseException):
                raise finding
            if finding is None:
                working -= 1
            elif _UNPROVEN in finding.escapes:
                again.append(finding)
            else:
                yield finding
    finally:  # end all boxes, and with them whatever the workers do; they clear away their scenes
        for launcher in launchers:
            launcher.close()
        for worker in workers:
            if worker.ident:  # it has begun; one that begins later finds its launcher closed
                worker.join(_LONGEST_CLEARING)
    for level in level_numbers:
        yield from _play_alone(level, tuple(one.attack for one in again if one.level == level))


def _play_alone(level: int, attacks: tuple[Attack, ...]) -> Iterator[AttackResult]:
    """Run attacks one after another, with nothing beside them.

    A channel is measured in quiet; and some could not start: at level 1 an ordinary user's engines
    share one count of processes, and beside a fork bomb a Java machine may have no room for its
    threads.
    """
    if attacks:
        with contextlib.closing(levels.make_proven(level, LIMITS)) as launcher:
            yield from play(launcher, attacks)


def _work(
    launcher: BoxLauncher,
    attacks: tuple[Attack, ...],
    waiting: Iterator[Attack],
    results: queue.SimpleQueue[AttackResult | BaseException | None],
) -> None:
    """Run what is ``waiting`` for the workers of a level; then say so."""
    if launcher.closed:
        return
    try:
        with contextlib.closing(launcher), AttackStage(attacks) as scene:
            for attack in waiting:
                results.put(_judge(launcher, scene, attack))
        results.put(None)
    except BaseException as error:  # noqa: BLE001 - it is raised where the findings are read
        results.put(error)


def _judge(launcher: BoxLauncher, scene: AttackStage, attack: Attack) -> AttackResult:
    begun = time.monotonic()
    for program in filter(None, (attack.program, attack.then)):
        box = _start(launcher, scene, attack, program)
        output = read(box, attack.patience)
        before = time.monotonic()
        end = box.close()
        seconds = time.monotonic() - before
    escapes = [line[9:] for line in output.splitlines() if line.startswith("escaped: ")]
    if scene.token in output:
        escapes.append("read what is private")
    if seconds > _ENDING:
        escapes.append(f"took {seconds:.1f} s to be ended")
    if "begun" not in output:
        escapes.append(_UNPROVEN)
    escapes += scene.damage()
    took = round(time.monotonic() - begun, 3)
    return AttackResult(attack, launcher.level, tuple(escapes), end, output, took)


def _start(
    launcher: BoxLauncher,
    scene: AttackStage,
    attack: Attack,
    program: str,
    more: dict[str, object] | None = None,
) -> Boxed:
    """Start a program of an attack; ``more``: what else it is told."""
    launcher.limits = launcher.limits._replace(cpu=attack.cpu)
    aim = scene.aim() | launcher.limits._asdict() | (more or {})
    words = command(attack, program, str(scene.submission), json.dumps(aim))
    hidden = [*view.own_folders(), str(scene.secret)]
    where = str(scene.work)
    if attack.at == "build":
        where = str(scene.new_build())
        launcher.give(Path(where))
    seen = view.of_program(words, where, hidden=hidden)
    if attack.at == "build":
        seen = seen._replace(writable=(where,), copied=())
    return launcher.start(seen, words)


def _judge_channel(
    launcher: BoxLauncher,
    make_another: Callable[[], BoxLauncher],
    scene: AttackStage,
    attack: Attack,
) -> AttackResult:
    begun = time.monotonic()
    bits = draw_bits(attack.bits)
    told = {
        "seed": secrets.token_hex(8),
        "count": attack.bits,
        "files": large_files(),
        "epoch": time.time(),
    }
    sending = {**told, "part": "send", "bits": bits}
    receiving = {**told, "part": "receive"}
    patience = attack.patience
    with prepared(attack.program):
        if attack.receiver == "next":
            said, _ = _act(_start(launcher, scene, attack, attack.program, sending), patience)
            box = _start(launcher, scene, attack, attack.program, receiving)
            heard, end = _act(box, patience)
        else:
            with contextlib.closing(make_another()) as other:
                sender = _start(other, scene, attack, attack.program, sending)
                receiver = _start(launcher, scene, attack, attack.program, receiving)
                said, heard, end = _act_at_once(sender, receiver, patience)
    # Sending and receiving took so long, one after the other or together.
    seconds = float(_find("seconds: ", heard) or 1)
    if _has_acted(said.partition(_READY)[0]):
        seconds += float(_find("seconds: ", said))
    rate = information(bits, _find("received: ", heard)) / seconds
    rate = float(f"{rate:.2g}")  # the next trial has others
    untested = _find("nothing to use: ", said) or _find("nothing to use: ", heard)
    escapes = [f"{rate:,g} bits a second get through"] if rate else []
    if not untested and not all(_has_acted(text) for text in (said, heard)):
        escapes.append(_UNPROVEN)
    escapes += scene.damage()
    took, output = round(time.monotonic() - begun, 3), f"{said}\n{heard}"
    return AttackResult(attack, launcher.level, tuple(escapes), end, output, took, rate, untested)


def _has_acted(text: str) -> bool:
    return "seconds: " in text


def _find(key: str, text: str) -> str:
    """Return the rest of the line that begins with ``key``, empty if there is none."""
    return next((x[len(key) :] for x in text.splitlines() if x.startswith(key)), "")


def _act(box: Boxed, patience: float) -> tuple[str, BoxEnd]:
    text = read(box, patience, _READY)
    _give_sign(box)
    text += read(box, patience)
    return text, box.close()


def _act_at_once(sender: Boxed, receiver: Boxed, patience: float) -> tuple[str, str, BoxEnd]:
    """Let both ends of a channel act while both live; return what each printed, and one's end."""
    said, heard = (read(box, patience, _READY) for box in (sender, receiver))
    is_done = _has_acted(said)  # what it leaves lasts: it only lives on
    for box in (receiver,) if is_done else (sender, receiver):
        _give_sign(box)
    heard += read(receiver, patience)
    if not is_done:
        said += read(sender, patience)
    sender.close()
    return said, heard, receiver.close()


def _give_sign(box: Boxed) -> None:
    with contextlib.suppress(BrokenPipeError):  # it has failed, and said so
        box.stdin.write(f"{time.time() + _SOON}\n".encode())
        box.stdin.flush()


def read(box: Boxed, patience: float, until: str = "") -> str:
    """Return what a box prints, on either stream, until it ends, or does not for too long.

    ``until``: or until it has printed this.
    """
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
            if until and until.encode() in b"".join(parts):
                return b"".join(parts).decode(errors="replace")
            if not data:
                poll.unregister(number)
                streams.pop(number, None)
    return b"".join(parts).decode(errors="replace")
