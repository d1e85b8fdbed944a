"""``gtp-harness worker``: a machine that runs engines for one that grades."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from pathlib import Path

from harness.cli import cluster
from harness.cli.arguments import CommandParser
from harness.cli.option_values import size
from harness.exits import ExitCode

_DESCRIPTION = """\
Run engines for a machine that grades: a worker of a cluster. It does one
submission at a time, so start one for each core. First it tries what grading
needs (sandbox levels, programs, Pythons, how fast it computes) and announces it;
it gets only what it can do. It reaches the scheduler, and the machine that grades
for the bytes of what is tested; it needs no database. Should the scheduler be
gone, or the worker die, it comes back by itself until a signal ends it."""

_EPILOG = """\
Exit status:
    2  the input was bad
    3  no sandbox works here
  130  interrupted with Ctrl-C

Examples:
  gtp-harness worker tcp://127.0.0.1:8786
  gtp-harness worker tls://10.0.0.1:8786 --tls ~/cluster --cache /var/tmp/gtp"""

_PAUSE = 2.0  # seconds before it comes back
_FATAL = (ExitCode.BROKEN, ExitCode.FAULT)


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = command_line()
    given = parser.read(arguments)
    if given is None:
        return ExitCode.OK
    if not given.scheduler:
        parser.error("the ADDRESS of a scheduler is needed: tls://HOST:PORT")
    cluster.require()
    from harness import paths
    from harness.cluster import roles, tls
    from harness.cluster.records import WorkerSettings

    papers = tls.papers(given.scheduler, given.tls, roles.WORKER)
    machine = given.machine or socket.gethostname()
    settings = WorkerSettings(
        scheduler=given.scheduler,
        tls=str(papers.folder) if papers else "",
        machine=machine,
        host=given.host or cluster.own_address(given.scheduler),
        cache=str(Path(given.cache or Path(paths.cache(), "cluster")).absolute()),
        cache_size=given.cache_size,
        locks=str(Path(tempfile.gettempdir(), f"gtp-harness-{os.getuid()}-{machine}")),
        unsafe=given.unsafe_no_sandbox,
    )
    while (status := cluster.be("worker", settings)) not in _FATAL:
        time.sleep(_PAUSE)
    return status


def command_line() -> CommandParser:
    """Return the parser of its command line."""
    import argparse

    parser = CommandParser("worker", description=_DESCRIPTION, epilog=_EPILOG)
    parser.usage = "gtp-harness worker ADDRESS [OPTION…]"
    parser.add_argument("scheduler", nargs="?", metavar="ADDRESS", help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--tls", default="", metavar="DIR",
        help="the folder of certificates: ca.pem and worker.pem")  # fmt: skip
    add("--machine", default="", metavar="NAME",
        help="what this machine is called (default: its host name); all workers of one machine"
        " say the same")  # fmt: skip
    add("--host", default="", metavar="ADDRESS",
        help="by which the scheduler reaches it (default: that by which it reaches the"
        " scheduler)")  # fmt: skip
    add("--cache", default="", metavar="DIR",
        help="for archives and assignments (default: ~/.cache/gtp-harness/cluster)")  # fmt: skip
    add("--cache-size", type=size, default="2G", metavar="BYTES",
        help="of it at most (default: %(default)s)")  # fmt: skip
    add("--unsafe-no-sandbox", action="store_true",
        help="also run what is graded without a sandbox, with all your rights")  # fmt: skip
    add("--help", "-help", "-h", action="store_true", help="print this help and exit")
    return parser
