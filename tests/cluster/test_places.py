"""Where workers are started: the commands of the documentation, run as they stand there.

By SSH, three servers on this machine are three hosts, each with a host name and a home of its own.
With Slurm, this machine is the only node of a cluster. All of it ends with the test.
"""

import contextlib
import json
import os
import pwd
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli import main
from tests import documents
from tests.cluster.clusters import free_port
from tests.conftest import program
from tests.harness import small_class
from tests.harness.small_class import CLASS
from tests.harness.test_sandbox_boxes import needs

pytestmark = [
    pytest.mark.processes,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start servers for others"),
]

HOSTS = ("lab1", "lab2", "lab3")
CORES = len(os.sched_getaffinity(0))


def find_command_blocks(heading: str) -> list[str]:
    """The blocks of commands below a heading."""
    return documents.blocks(documents.section(heading), "sh")


class Place:
    """A machine that grades: its home, and how it runs what is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.tools = folder / "tools"
        self.port = free_port()
        for one in (self.home, self.tools):
            one.mkdir()
        equip(self.home)
        assert main(["cluster", "certificates", str(self.home / "cluster")]) == 0

    def run(self, text: str, **more: str) -> subprocess.CompletedProcess:
        """Run commands of the documentation; they name a scheduler that is elsewhere here."""
        here = text.replace("10.0.0.1:8786", f"127.0.0.1:{self.port}")
        here = here.replace("--host 10.0.0.1", f"--host 127.0.0.1 --port {self.port}")
        path = os.pathsep.join(
            [str(self.tools), str(self.home / "gtp/bin"), os.environ["PATH"], "/usr/sbin"]
        )
        environment = {**os.environ, "HOME": str(self.home), "PATH": path, "USER": "tess", **more}
        with (self.folder / "said").open("a+") as said:  # those that go on may hold it
            done = subprocess.run(
                ["bash", "-euc", here],
                env=environment,
                cwd=self.home,
                stdout=said,
                stderr=said,
                timeout=120,
                check=False,
            )
            said.seek(0)
            assert done.returncode == 0, said.read()
        return done

    def grade(self, room: Path) -> tuple[list[str], set[str]]:
        """Grade a class; return the marks, and on which machines engines ran."""
        command = (
            f"gtp-harness grade {room}/submissions --assignment {room}/counting --no-images"
            f" --output {room}/graded --no-color"
            " --scheduler tls://10.0.0.1:8786 --tls ~/cluster || [ $? = 4 ]"
        )
        self.run(command)
        told = json.loads((room / "graded" / "class.json").read_text())
        marks = sorted(one["marks"]["total"]["exact"] for one in told["submissions"])
        return marks, machines(room / "graded" / "ledger.sqlite")


def machines(ledger: Path) -> set[str]:
    """On which machines the engines of a grading ran."""
    with contextlib.closing(sqlite3.connect(ledger)) as db:
        return {json.loads(one)["machine"] for (one,) in db.execute("SELECT figures FROM result")}


def equip(home: Path) -> None:
    """Let a home have what pip would install there."""
    (home / "gtp").symlink_to(sys.prefix)


@contextlib.contextmanager
def end_servers(*processes: subprocess.Popen):
    """End servers at the end."""
    try:
        yield
    finally:
        for one in processes[::-1]:
            one.terminate()
            one.wait(20)


def until(holds, seconds: float = 240.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.2)


def answers(port: int) -> bool:
    """Whether somebody listens."""
    with socket.socket() as tried:
        return not tried.connect_ex(("127.0.0.1", port))


def workers_of(home: Path) -> list[int]:
    """The processes that were started with this home."""
    mark = f"HOME={home}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


@pytest.fixture
def place(open_place):
    needs(3)
    found = Place(open_place)
    yield found
    for pid in workers_of(found.home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 15)


@pytest.fixture
def room(open_place):
    """A class of three quick ones, and one who submits nothing."""
    (open_place / "class").mkdir()
    return small_class.make(open_place / "class", CLASS[:3])


EXPECTED = ["0", *sorted(str(one.mark) for one in CLASS[:3])]


# --- by SSH ------------------------------------------------------------------------------------


@pytest.fixture
def hosts(place):
    """Three hosts that answer by SSH; return their homes."""
    sshd = program("sshd")
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("own", "host"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place.folder / name)]
        subprocess.run(key, check=True)
    for name in ("ssh", "scp"):
        script = f'#!/bin/sh\nexec {program(name)} -F {place.folder}/config "$@"\n'
        (place.tools / name).write_text(script)
        (place.tools / name).chmod(0o755)
    found, servers = [], []
    for host in HOSTS:
        home, port = place.folder / host, free_port()
        home.mkdir()
        equip(home)
        found.append(home)
        servers.append(_server(place, sshd, host, port))
    with end_servers(*servers):
        yield found


def _server(place: Place, sshd: str, host: str, port: int) -> subprocess.Popen:
    """Start a server of SSH; its host name is its own."""
    home = place.folder / host
    options = {
        "Port": port, "ListenAddress": "127.0.0.1", "HostKey": place.folder / "host",
        "AuthorizedKeysFile": place.folder / "own.pub", "StrictModes": "no", "PidFile": "none",
        "PermitRootLogin": "prohibit-password", "UsePAM": "no",
        "Subsystem": "sftp /usr/lib/openssh/sftp-server",
        "ForceCommand": f'cd {home}; eval "$SSH_ORIGINAL_COMMAND"',
        "SetEnv": f'HOME={home} PATH={os.environ["PATH"]}',
    }  # fmt: skip
    told = place.folder / f"{host}.conf"
    told.write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    with (place.folder / "config").open("a") as config:
        config.write(
            f"Host {host}\n HostName 127.0.0.1\n Port {port}\n User {pwd.getpwuid(0).pw_name}\n"
            f" IdentityFile {place.folder}/own\n StrictHostKeyChecking no\n"
            f" UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
        )
    words = f"hostname {host}; exec {sshd} -D -e -f {told}"
    process = subprocess.Popen(
        ["unshare", "--uts", "sh", "-c", words], stderr=(home / "sshd.log").open("w")
    )
    until(lambda: answers(port))
    return process


def test_workers_are_started_by_ssh(place, hosts, room):
    _, copy, start, stop = find_command_blocks("By SSH")
    place.run(copy)
    place.run(start)
    logs = [home / f"worker-{core}.log" for home in hosts for core in range(1, CORES + 1)]
    until(lambda: all(log.exists() and "sandbox levels" in log.read_text() for log in logs))
    marks, ran = place.grade(room)
    assert sorted(marks) == sorted(EXPECTED)
    assert ran <= set(HOSTS)
    for home in hosts:
        assert not list(home.rglob("scheduler.pem"))
        assert len((home / "workers.pid").read_text().split()) == CORES
    place.run(stop)
    # Its server removes the rest of a host.
    until(lambda: not any(map(workers_of, hosts)))


# --- with Slurm --------------------------------------------------------------------------------

CGROUPS_OF_SYSTEMD = ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/cgroup.controllers")


@pytest.fixture
def slurm(place):
    """A cluster of Slurm with one node; return its settings."""
    folder = place.folder / "slurm"
    folder.mkdir()
    node = socket.gethostname().partition(".")[0]
    key, speaks = folder / "munge.key", folder / "munge.socket"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    settings = {
        "ClusterName": "lab", "SlurmctldHost": f"{node}(127.0.0.1)", "SlurmUser": "root",
        "AuthType": "auth/munge", "CredType": "cred/munge", "AuthInfo": f"socket={speaks}",
        "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none",
        "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core_Memory",
        "StateSaveLocation": folder / "state", "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid", "SlurmdPidFile": folder / "slurmd.pid",
        "SlurmctldPort": free_port(), "SlurmdPort": free_port(), "MailProg": "/bin/true",
        "NodeName": f"{node} NodeAddr=127.0.0.1 CPUs={CORES} RealMemory=8000",
        "PartitionName": "main Nodes=ALL Default=YES State=UP",
    }  # fmt: skip
    for name in ("state", "spool"):
        (folder / name).mkdir()
    told = folder / "slurm.conf"
    told.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    if not any(map(os.path.exists, CGROUPS_OF_SYSTEMD)):  # Slurm would look there, and end
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    environment = {**os.environ, "SLURM_CONF": str(told)}
    log = (folder / "log").open("w")

    def server(*words: object) -> subprocess.Popen:
        return subprocess.Popen(list(map(str, words)), env=environment, stdout=log, stderr=log)

    own = [f"--key-file={key}", f"--socket={speaks}", f"--pid-file={folder}/munged.pid"]
    own += [f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"]
    munged = server(program("munged"), "--foreground", *own)
    until(speaks.exists)
    with end_servers(
        munged,
        server(program("slurmctld"), "-D"),
        server(program("slurmd"), "-D", "-N", node),
    ):
        until(lambda: "idle" in _run_for_output(["sinfo", "--noheader"], environment))
        yield environment


def _run_for_output(words: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def test_workers_are_started_by_slurm(place, slurm, room):
    start, stop = find_command_blocks("With Slurm")
    (scheduler,) = [
        one for one in find_command_blocks("By SSH")[2].splitlines() if "cluster scheduler" in one
    ]
    settings = {"SLURM_CONF": slurm["SLURM_CONF"]}
    place.run(scheduler)
    # Two of the twenty, for this node has not the memory for more.
    place.run(start.replace("--array=1-20", "--array=1-2"), **settings)
    until(lambda: len(list(place.home.glob("slurm-*.out"))) == min(2, CORES))
    marks, ran = place.grade(room)
    assert sorted(marks) == sorted(EXPECTED)
    assert ran == {socket.gethostname()}
    place.run(stop, **settings)
    until(lambda: not _run_for_output(["squeue", "--noheader"], slurm).strip())
