"""``gtp-harness cluster`` and ``worker``: the machines that run engines for a grading."""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from harness.cli.commandline import MOST_PORT, Command, port, size, whole
from harness.cluster import records, state
from harness.cluster.connector_link import command
from harness.core import file_system, requirements
from harness.core.errors import ExitCode, UsageError
from harness.core.text import escape_controls, number_of
from harness.work import canonical_json


def text(scheduler: str, state: records.ClusterState) -> Iterator[str]:
    """Yield the lines of a status."""
    yield f"{scheduler}: {number_of(len(state.workers), 'worker')}"
    for one in state.workers:
        facts = one.facts
        yield f"\n{facts.machine} ({one.name}, {facts.address}), heard {one.silent:g} s ago"
        if unfit := records.find_unfitness(facts):
            yield f"  gets no work: {unfit}"
        levels, tools = ", ".join(facts.levels) or "none", ", ".join(facts.tools) or "none"
        yield f"  gtp-harness {facts.version}; sandbox levels {levels}; pace {facts.pace:g}"
        pythons = ", ".join(one[:8] for one in facts.pythons)
        yield f"  programs {tools}; Pythons {pythons or 'none'}"
        yield f"  takes environments for {', '.join(facts.bases) or 'no Python'}"
        done = f"did {number_of(one.done, 'submission')}"
        done += f", gave back {number_of(one.troubles, 'submission')}"
        yield f"  load {one.load:.0f} %, {one.memory / 1e6:.0f} MB; {done}"
        if one.trouble:
            yield f"  the last one given back: {one.trouble}"
        yield f"  has {', '.join(unit.described for unit in one.loads) or 'nothing to do'}"
    if state.left:
        yield "\nGone since the scheduler was started:"
    for gone in state.left:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(gone.at))
        had = ", ".join(unit.described for unit in gone.lost)
        yield f"  {gone.machine} ({gone.address}), {at}{f'; it had {had}' if had else ''}"


# --- ``gtp-harness cluster``: certificates, a scheduler, and what the commands of a cluster share


_PAGE = """\
usage: gtp-harness cluster certificates DIR [--days N]
       gtp-harness cluster scheduler [OPTION…]
       gtp-harness cluster status ADDRESS [OPTION…]

Prepare and run a cluster: machines that run engines for the grading machine.

certificates makes the files with which the machines identify each other. scheduler
starts the scheduler, which knows the workers and accepts nothing from a worker that could
run code. gtp-harness worker starts a worker; gtp-harness grade --scheduler grades with
them. status shows the workers: what each has, is doing and could not do, and which have
left.

[options]

Exit status:
    0  done
    1  status: there is no worker
    2  the input was bad
    3  the harness itself failed
  130  interrupted with Ctrl-C

Examples:
  gtp-harness cluster certificates ~/cluster
  gtp-harness cluster scheduler --host 10.0.0.1 --tls ~/cluster
  gtp-harness cluster scheduler
  gtp-harness cluster status tls://10.0.0.1:8786 --tls ~/cluster"""

_ACTIONS = ("certificates", "scheduler", "status")
_HERE = "127.0.0.1"
_MOST_DAYS = 36_500


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.action:
        CLUSTER.refuse(f"expected one of {', '.join(_ACTIONS)}")
    require()
    from harness.cluster import tls

    if arguments.action == "certificates":
        if not arguments.folder:
            CLUSTER.refuse("certificates needs DIR, where it writes them")
        tls.make(Path(arguments.folder), arguments.days)
        files = [f"{role}.pem: {tls.describe(role)}, with {tls.CA}" for role in tls.ROLES]
        for told in (*files, f"{tls.AUTHORITY_KEY}: keep it away from workers"):
            print(escape_controls(f"{arguments.folder}/{told}"))
        return ExitCode.OK
    if arguments.action == "status":
        if not arguments.folder:
            CLUSTER.refuse("status needs the ADDRESS of a scheduler: tls://HOST:PORT")
        arguments.scheduler, arguments.bytes_at = arguments.folder, _HERE  # nothing is fetched
        found = state.look(connector_settings(arguments))
        if arguments.json:
            print(json.dumps(json.loads(canonical_json.dumps(found)), indent=2, sort_keys=True))
        else:
            for line in text(arguments.scheduler, found):
                print(escape_controls(line))
        return ExitCode.OK if found.workers else ExitCode.FAILED
    if arguments.folder:
        CLUSTER.refuse("DIR goes with certificates; scheduler has --tls DIR")
    address = f"{'tls' if arguments.tls else 'tcp'}://{arguments.host}:{arguments.port}"
    folder = check_certificates(address, arguments.tls, tls.SCHEDULER)
    status = run_cluster_process(
        "scheduler", records.SchedulerSettings(arguments.host, arguments.port, folder)
    )
    if status >= 0:
        return status
    print(f"gtp-harness: the scheduler was ended by signal {-status}", file=sys.stderr)
    return ExitCode.FAULT


def require() -> None:
    """Raise :class:`UsageError` if something that a cluster needs is not installed."""
    requirements.require("a cluster", "cluster", "distributed", "cryptography")


def run_cluster_process(kind: str, settings: Any) -> int:
    """Start a process of a cluster, and wait for its end; return the exit status, or -signal.

    It is a process of its own because it is Dask's from its first line, signals and all.
    """
    process = subprocess.Popen(command(kind), stdin=subprocess.PIPE, process_group=0)
    assert process.stdin
    try:
        with process.stdin as told:
            told.write(canonical_json.dumps(settings).encode() + b"\n")
        return process.wait()
    finally:
        process.terminate()
        process.wait()


def connector_settings(arguments: argparse.Namespace) -> records.ConnectorSettings:
    """Return how to reach the cluster of a command line; UsageError if that is not possible."""
    require()
    from harness.cluster import tls

    folder = check_certificates(arguments.scheduler, arguments.tls, tls.SERVER)
    host, port = _bytes_at(arguments.bytes_at, arguments.scheduler)
    return records.ConnectorSettings(arguments.scheduler, folder, host, port)


def check_certificates(address: str, folder: str, role: str) -> str:
    """Return the folder of the certificates for an address, "" for none; warn if they end soon.

    Raises as :func:`harness.cluster.tls.papers`.
    """
    from harness.cluster import tls

    found = tls.papers(address, folder, role)
    if found and (warning := found.describe_end()):
        print(escape_controls(f"gtp-harness: {warning}"), file=sys.stderr)
    return str(found.folder) if found else ""


def _bytes_at(text: str, scheduler: str) -> tuple[str, int]:
    """Return by which address of this machine workers reach it, and a port; 0: any."""
    is_bare = text.count(":") > 1 and not text.startswith("[")  # IPv6 without a port
    authority = f"[{text}]" if is_bare else text
    try:
        place = urlsplit(f"//{authority}")
        host, number = place.hostname or "", place.port or 0
        if place.netloc != authority or "@" in authority or host.isdigit():
            raise ValueError(text)
    except ValueError:
        port = text.rpartition(":")[2]
        if port.isascii() and port.isdigit() and int(port) > MOST_PORT:
            wrong = f"port {port}, expected at most {MOST_PORT}"
        else:
            wrong = f"{text!r}, expected HOST or HOST:PORT"
        raise UsageError(f"--bytes-at: found {wrong}") from None
    return host or own_address(scheduler), number


def own_address(scheduler: str) -> str:
    """Return the address from which this machine reaches a scheduler; UsageError if it cannot."""
    place = urlsplit(scheduler)
    try:
        found = socket.getaddrinfo(place.hostname, place.port, type=socket.SOCK_DGRAM)
        family, kind, _, _, address = found[0]
        with socket.socket(family, kind) as asking:  # nothing is sent
            asking.connect(address)
            return str(asking.getsockname()[0])
    except OSError as error:
        raise UsageError(f"cannot reach {scheduler}: {error.strerror}") from None


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=_ACTIONS, help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", metavar="DIR", help=argparse.SUPPRESS)
    add = parser.add_argument
    days = whole(1, f"days, at most {_MOST_DAYS:,}", _MOST_DAYS)
    add("--days", type=days, default=400, metavar="N",
        help="days until the certificates expire (default: %(default)s)")  # fmt: skip
    add("--host", default=_HERE, metavar="ADDRESS",
        help="address of the scheduler (default: %(default)s, this machine only)")  # fmt: skip
    add("--port", type=port, default=8786, metavar="N",
        help="port of the scheduler; 0: any free one (default: %(default)s)")  # fmt: skip
    add("--tls", default="", metavar="DIR", help="folder of certificates")
    add("--json", action="store_true", help="write the status as JSON")


CLUSTER = Command("cluster", _PAGE, _add_options, _run)


# --- ``gtp-harness worker``: run engines for the grading machine of a cluster --------------------


_WORKER_PAGE = """\
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


def _run_worker(arguments: argparse.Namespace) -> int:
    if not arguments.scheduler:
        WORKER.refuse("give the ADDRESS of a scheduler: tls://HOST:PORT")
    require()
    from harness.cluster import tls
    from harness.cluster.worker_files import MEMORY

    folder = check_certificates(arguments.scheduler, arguments.tls, tls.WORKER)
    machine = arguments.machine or socket.gethostname()
    # The locks that all workers of this machine share. Their folder does not follow TMPDIR: batch
    # systems give each job one of its own.
    place = MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    locks = place / f"gtp-harness-{os.getuid()}-{quote(machine, safe='')}"
    with contextlib.suppress(FileExistsError):
        locks.mkdir(mode=0o700)
    if locks.is_symlink() or locks.lstat().st_uid != os.getuid():
        raise UsageError(f"{locks} belongs to another user: ask an administrator to remove it")
    settings = records.WorkerSettings(
        scheduler=arguments.scheduler,
        tls=folder,
        machine=machine,
        host=arguments.host or own_address(arguments.scheduler),
        cache=str(Path(arguments.cache or Path(file_system.cache(), "cluster")).absolute()),
        cache_size=arguments.cache_size,
        locks=str(locks),
        unsafe=arguments.unsafe_no_sandbox,
        environments_size=arguments.environments_size,
    )
    return _stay(lambda: run_cluster_process("worker", settings))


def _stay(run: Callable[[], int]) -> int:
    """Be a worker again and again; return how it ended if it could not even begin.

    One that has begun comes back even if what it needs is missing for a while: its disk is full.
    """
    if (status := run()) in _FATAL:
        return status
    failed = 0
    while True:
        time.sleep(_PAUSES[min(failed, len(_PAUSES) - 1)])
        failed = failed + 1 if run() in _FATAL else 0


def _add_worker_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scheduler", nargs="?", metavar="ADDRESS", help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--tls", default="", metavar="DIR", help="folder of certificates: ca.pem and worker.pem")
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


WORKER = Command("worker", _WORKER_PAGE, _add_worker_options, _run_worker)
