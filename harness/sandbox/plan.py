"""The records that the box server is sent about one engine and answers, and the limits in them.

The harness decides everything beforehand; the server only carries it out. Both run the same
Python, so ``marshal`` serves as the format: fast, and nothing to import.
"""

from __future__ import annotations

import marshal
import resource
import sys
from collections.abc import Iterable

from harness.core.options import BoxLimits, Limit
from harness.core.typed import NamedTuple


class MountKind:
    """What may be at a place of the box's file tree."""

    BIND = "bind"  # a path shown read-only
    WRITABLE = "writable"  # a path shown, and what is written to it lasts
    DEVICE = "device"  # a device, readable and writable
    SCRATCH = "scratch"  # an empty folder in memory, of limited size
    COPY = "copy"  # the same with a copy of a folder in it
    LINK = "link"  # a symbolic link
    MASK_FILE = "mask file"  # an empty file in place of one that is hidden
    MASK_FOLDER = "mask folder"  # the same for a folder
    PROC = "proc"  # the processes of the box


class Mount(NamedTuple):
    """One thing at one place of the box's file tree."""

    kind: str  # a MountKind
    place: str  # absolute
    source: str = ""  # the real path outside; of a LINK what it says
    left_out: tuple[str, ...] = ()  # paths in the source of a COPY that are not copied


class WritableSpace(NamedTuple):
    """Limits and owner of an engine's writable space."""

    size: int  # bytes that one SCRATCH folder holds; 0 means no limit
    files: int
    own: tuple[int, int] = (0, 0)  # bytes and files that a COPY holds besides
    owner: int = 0  # the user and group whose files they are; 0: ours


class Watched(NamedTuple):
    """What the server watches over, as limits (0 means no limit; see ``BoxLimits``) or as used."""

    memory: int
    cpu: float
    processes: int
    scratch: int
    scratch_files: int


class LaunchPlan(NamedTuple):
    """Plan of an engine start."""

    level: int
    arguments: tuple[str, ...]  # the program first
    folder: str  # the working directory, as seen inside
    environment: dict[str, str]
    identity: int  # the user and group id to become; 0: stay who we are
    mounts: tuple[Mount, ...]  # level 2: all; level 3: those of kind COPY
    reach: tuple[tuple[str, int], ...]  # Landlock's rules: levels 2 and 1
    landlock: int  # its ABI to use; 0: none
    bubblewrap: str  # level 3: its path
    options: bytes  # level 3: its options, each ended by a NUL
    rlimits: tuple[tuple[int, int, int], ...]  # resource, soft, hard
    threads: int  # RLIMIT_NPROC, to be set where it counts the engine's own; 0: none
    watched: Watched
    scratch: tuple[str, ...]  # places inside whose use counts as disk
    writable: tuple[str, ...]  # folders outside whose use counts as disk
    own: tuple[int, int]  # bytes and files of copies, which count as no use


class BoxEnd(NamedTuple):
    """End of a box. Nothing of it is left by then."""

    status: int | None = None  # the engine's, as Popen.returncode; None if it had to be ended
    unstarted: str = ""  # why the program could not be executed, else empty
    hit: Limit | None = None  # the limit for which it was ended
    memory: int = 0  # the most that the tree was seen to hold, in bytes
    cpu: float = 0.0  # seconds of CPU time of the tree
    leftovers: tuple[str, ...] = ()  # names of processes that outlived the engine (not at level 3)


def pack_plan(plan: LaunchPlan) -> bytes:
    """Return the plan as a message."""
    fields = plan._asdict()
    fields["mounts"] = tuple(tuple(mount) for mount in plan.mounts)
    fields["watched"] = tuple(plan.watched)
    fields["own"] = tuple(plan.own)
    return marshal.dumps(fields)


def unpack_plan(message: bytes) -> LaunchPlan:
    """Return the plan of a message."""
    fields = marshal.loads(message)
    fields["mounts"] = tuple(Mount(*mount) for mount in fields["mounts"])
    fields["watched"] = Watched(*fields["watched"])
    return LaunchPlan(**fields)


def pack_report(end: BoxEnd, fault: str) -> bytes:
    """Return a message about an engine; ``fault``: why the box could not be made, else empty."""
    return marshal.dumps((tuple(end._replace(hit=None)), end.hit and tuple(end.hit), fault))


def unpack_report(message: bytes) -> tuple[BoxEnd, str]:
    """Return what :func:`pack_report` was given. No engine is to blame for a fault."""
    end, hit, fault = marshal.loads(message)
    return BoxEnd(*end)._replace(hit=hit and Limit(*hit)), fault


# For /proc/PID/oom_score_adj: when the machine runs out of memory, an engine goes first.
FIRST_TO_DIE = b"500"
_TIMERS = 1024  # and signals that wait, of all processes of the user


def rlimits(limits: BoxLimits, threads: int) -> list[tuple[int, int, int]]:
    """Return (resource, soft, hard) for each limit that the kernel holds for a process.

    ``threads``: RLIMIT_NPROC. Its effect depends on where it is set: it counts all processes of
    the same user in the same user namespace, and does not bind root.
    """
    cpu = int(limits.cpu + 1)  # whole seconds; the poll looks at the tree's sum
    wanted = [
        (resource.RLIMIT_AS, limits.address_space, limits.address_space),
        (resource.RLIMIT_CPU, cpu if limits.cpu else 0, cpu + 1),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_size, limits.file_size),
        (resource.RLIMIT_NPROC, threads, threads),
    ]
    return [
        *(triple for triple in wanted if triple[1]),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
        (resource.RLIMIT_RTPRIO, 0, 0),
        (resource.RLIMIT_SIGPENDING, _TIMERS, _TIMERS),
    ]


def set_limits(pid: int, limits: Iterable[tuple[int, int, int]]) -> None:
    """Set the limits of a process (0: this one) as far as its present ones allow."""
    for kind, soft, hard in limits:
        most = resource.prlimit(pid, kind)[1]
        ceiling = sys.maxsize if most == resource.RLIM_INFINITY else most
        resource.prlimit(pid, kind, (min(soft, ceiling), min(hard, ceiling)))
