"""``gtp-harness worker``: run engines for the grading machine of a cluster."""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from harness.cli import cluster
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command, size
from harness.errors import ExitCode, UsageError

_PAGE = """\
usage: gtp-harness worker ADDRESS [OPTION…]

Start a worker of a cluster, which runs engines for the grading machine. It runs one
submission at a time, so start one for each core. First it tests what it can offer
(sandbox levels, programs, Pythons, its speed) and announces it; it gets only work that
fits. It must reach the scheduler and the grading machine. From the latter it fetches
files, and Python environments that gtp-harness env built there, if it has the same
Python. It needs no database. If the scheduler goes away or the worker dies, it comes
back by itself until a signal ends it.

[options]

Exit status:
    2  the input was bad
    3  no sandbox works here
  130  interrupted with Ctrl-C

Examples:
  gtp-harness worker tcp://127.0.0.1:8786
  gtp-harness worker tls://10.0.0.1:8786 --tls ~/cluster --cache /var/tmp/gtp"""

_PAUSES = (2.0, 4.0, 8.0, 16.0, 30.0)  # seconds before it comes back, longer each time in vain
_FATAL = (ExitCode.BROKEN, ExitCode.FAULT)


def _run(given: argparse.Namespace) -> int:
    if not given.scheduler:
        WORKER.refuse("give the ADDRESS of a scheduler: tls://HOST:PORT")
    cluster.require()
    from harness import file_system
    from harness.cluster import tls
    from harness.cluster.records import WorkerSettings

    papers = cluster.read_papers(given.scheduler, given.tls, tls.WORKER)
    machine = given.machine or socket.gethostname()
    settings = WorkerSettings(
        scheduler=given.scheduler,
        tls=str(papers.folder) if papers else "",
        machine=machine,
        host=given.host or cluster.own_address(given.scheduler),
        cache=str(Path(given.cache or Path(file_system.cache(), "cluster")).absolute()),
        cache_size=given.cache_size,
        locks=str(_make_locks_folder(machine)),
        unsafe=given.unsafe_no_sandbox,
        environments_size=given.environments_size,
    )
    return _stay(lambda: cluster.run_cluster_process("worker", settings))


def _make_locks_folder(machine: str) -> Path:
    """Return the folder of the locks that all workers of this machine share.

    It does not follow ``TMPDIR``: batch systems give each job one of its own.

    Raises:
        UsageError: somebody else has made it, to keep us waiting perhaps.
    """
    from harness.cluster.worker_files import MEMORY

    place = MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    folder = place / f"gtp-harness-{os.getuid()}-{quote(machine, safe='')}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
        raise UsageError(f"{folder} belongs to another user: ask an administrator to remove it")
    return folder


def _stay(be: Callable[[], int]) -> int:
    """Be a worker again and again; return how it ended if it could not even begin.

    One that has begun comes back even if what it needs is missing for a while: its disk is full.
    """
    if (status := be()) in _FATAL:
        return status
    failed = 0
    while True:
        time.sleep(_PAUSES[min(failed, len(_PAUSES) - 1)])
        failed = failed + 1 if be() in _FATAL else 0


def _add_options(parser: CommandParser) -> None:
    parser.add_argument("scheduler", nargs="?", metavar="ADDRESS", help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--tls", default="", metavar="DIR",
        help="folder of certificates: ca.pem and worker.pem")  # fmt: skip
    add("--machine", default="", metavar="NAME",
        help="name of this machine (default: its host name); all workers of one machine must"
        " give the same one")  # fmt: skip
    add("--host", default="", metavar="ADDRESS",
        help="address at which the scheduler reaches this worker (default: the one by which it"
        " reaches the scheduler)")  # fmt: skip
    add("--cache", default="", metavar="DIR",
        help="folder for archives, assignments and environments (default:"
        " ~/.cache/gtp-harness/cluster)")  # fmt: skip
    add("--cache-size", type=size, default="2G", metavar="BYTES",
        help="most bytes of archives and assignments in --cache (default:"
        " %(default)s)")  # fmt: skip
    add("--environments-size", type=size, default="8G", metavar="BYTES",
        help="most bytes of Python environments in --cache; those in use stay (default:"
        " %(default)s)")  # fmt: skip
    add("--unsafe-no-sandbox", action="store_true",
        help="also accept work without a sandbox, with all your rights")  # fmt: skip


WORKER = Command("worker", _PAGE, _add_options, _run)
