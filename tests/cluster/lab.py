"""Several hosts on one machine: each is a network namespace with a name and a disk of its own.

All of them are within namespaces that belong to one process (:func:`inside`). Whatever ends that
process, the kernel removes processes, links and mounts with it, and a second run beside it sees
none of its names.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests import postgresql

ROOT = Path(__file__).parents[2]
HARNESS = (sys.executable, "-m", "harness.cli")
ROOM = Path("/run/lab")  # within: a memory file system of its own
_NAMES = Path("/run/netns")  # where ip keeps them
_PIECE = 1 << 20

# The networks. Only the server reaches the database, and we do, to read the ledger. We reach the
# scheduler, too, and see its workers.
WORK, DATA = "work", "data"
_PREFIXES = {WORK: "10.118.1", DATA: "10.118.2"}
LAN = {network: f"{prefix}.0/24" for network, prefix in _PREFIXES.items()}
OURS = {network: f"{prefix}.1" for network, prefix in _PREFIXES.items()}  # who look at all
SERVER, SCHEDULER, DATABASE = "server", "scheduler", "database"
WORKERS = ("worker1", "worker2", "worker3")
_NETWORKS = {
    SERVER: (WORK, DATA),
    SCHEDULER: (WORK,),
    DATABASE: (DATA,),
    **dict.fromkeys(WORKERS, (WORK,)),
}
_DISK = {DATABASE: "192m", SERVER: "192m"}
_SMALL_DISK = "48m"  # of the others
PORT = {SCHEDULER: 8786, DATABASE: 5432}

_DEATH = ("setpriv", "--pdeathsig", "KILL")
_APART = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
# The first process of all takes in those whose parents are gone: a shell does.
_FIRST = f'mount -t tmpfs lab /run && mkdir {_NAMES} {ROOM} && ip link set lo up && "$@"; exit $?'
# The name of the machine, and case files in memory on what is filled; then the program.
_ON_HOST = 'echo "$0" >/proc/sys/kernel/hostname; mount --bind "$1" /dev/shm; shift; exec "$@"'


def why_not() -> str:
    """Return why no lab can be made here, or "" if it can."""
    if os.geteuid():
        return "only root makes network namespaces"
    needed = ("ip", "tc", "nft", "setpriv", "unshare", "nsenter")
    if missing := [name for name in needed if not shutil.which(name)]:
        return f"{', '.join(missing)} not installed"
    if postgresql.programs() is None:
        return "postgresql is not installed"
    tried = "ip netns add one && ip link add veth-one type veth peer name other netns one"
    made = subprocess.run(inside("sh", "-c", tried), capture_output=True, text=True, check=False)
    return f"this machine refuses namespaces: {made.stderr.strip()}" if made.returncode else ""


def inside(*words: str) -> list[str]:
    """Return a command within namespaces of its own, which end with it and with us."""
    return [*_DEATH, *_APART, "sh", "-c", _FIRST, "sh", *words]


def _do(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


class Host:
    """A machine: its addresses, its disk, and what runs on it."""

    def __init__(self, name: str, place: int) -> None:
        self.name = name
        self.networks = _NETWORKS[name]
        self._place = place
        self.disk = ROOM / name
        self.shm, self.temporary, self.home = (self.disk / one for one in ("shm", "tmp", "home"))
        _do("ip", "netns", "add", name)
        self._id = (_NAMES / name).stat().st_ino
        self._mount()
        self._set_up()
        for network in self.networks:
            self._join(network)

    def _mount(self) -> None:
        size = _DISK.get(self.name, _SMALL_DISK)
        self.disk.mkdir()
        _do("mount", "-t", "tmpfs", "-o", f"size={size},mode=755", self.name, self.disk)
        for folder in (self.shm, self.temporary, self.home):
            folder.mkdir()
        for folder in (self.shm, self.temporary):
            folder.chmod(0o1777)

    def _join(self, network: str) -> None:
        link = self._link(network)
        _do("ip", "link", "add", link, "type", "veth", "peer", "name", network, "netns", self.name)
        _do("ip", "link", "set", link, "master", network, "up")
        self.inside("ip", "address", "add", f"{self.address(network)}/24", "dev", network)
        self.inside("ip", "link", "set", network, "up")

    def _set_up(self) -> None:
        """Let nothing go through it, and let what was killed while cut off end no connection."""
        self.inside("ip", "link", "set", "lo", "up")
        for name, value in (("ip_forward", 0), ("tcp_orphan_retries", 1)):
            self.inside("sh", "-c", f"echo {value} >/proc/sys/net/ipv4/{name}")

    def _link(self, network: str) -> str:
        """Return our end of its link to a network."""
        return f"{self.name}-{network}"

    def address(self, network: str) -> str:
        """Return its address."""
        return f"{_PREFIXES[network]}.{10 + self._place}"

    # --- what runs there ---

    def command(self, *words: object) -> list[str]:
        """Return a command as it is run on this host; no process is in between."""
        net = f"--net={_NAMES / self.name}"
        here = ["nsenter", net, "unshare", "--mount", "--uts", "sh", "-c", _ON_HOST, self.name]
        return [*here, str(self.shm), *map(str, words)]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its programs."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        return {**kept, "HOME": str(self.home), "TMPDIR": str(self.temporary)}

    def inside(self, *words: object) -> None:
        """Run a program there to its end.

        Raises:
            subprocess.CalledProcessError: it fails.
        """
        _do(*self.command(*words))

    def reaches(self, address: str, port: int) -> bool:
        """Whether a connection from there succeeds."""
        code = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"
        with contextlib.suppress(subprocess.CalledProcessError):
            self.inside(sys.executable, "-c", code, address, port)
            return True
        return False

    def pids(self) -> list[int]:
        """Return all processes of this host, engines in their sandboxes among them."""
        parents = {pid: _parent(pid) for pid in _processes()}
        found = {pid for pid in parents if _network(pid) == self._id}
        while more := {pid for pid, of in parents.items() if of in found} - found:
            found |= more
        return sorted(found)

    def send(self, number: signal.Signals, pids: Sequence[int]) -> None:
        """Send a signal to processes; those that have ended do not mind."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    # --- what may happen to it ---

    @contextlib.contextmanager
    def cut_off(self) -> Iterator[None]:
        """Pull all of its cables: nobody is told that connections end."""
        self._set_links("down")
        try:
            yield
        finally:
            self._set_links("up")

    def _set_links(self, state: str) -> None:
        for network in self.networks:
            _do("ip", "link", "set", self._link(network), state)

    @contextlib.contextmanager
    def slowed(self) -> Iterator[None]:
        """Let its cables carry what they carry late, and not all of it, either way."""
        links = [self._link(network) for network in self.networks]
        for link in links:
            _do("tc", "qdisc", "add", "dev", link, "root", *delaying())
            _do("nft", _LOSS.format(link=link))
        try:
            yield
        finally:
            for link in links:
                _do("tc", "qdisc", "del", "dev", link, "root")
                _do("nft", f"delete table netdev {link}")

    @contextlib.contextmanager
    def filled(self) -> Iterator[None]:
        """Leave no room on its disk."""
        fill = self.disk / "fill"
        try:
            with contextlib.suppress(OSError), fill.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(_PIECE))
            yield
        finally:
            fill.unlink(missing_ok=True)


LOST = 5  # per cent of what a slow link is to carry
_LOSS = " ".join(
    [
        "add table netdev {link};",
        *(
            f"add chain netdev {{link}} {way} {{{{ type filter hook {way} device {{link}} priority"
            f" 0; }}}}; add rule netdev {{link}} {way} numgen random mod 100 < {LOST} drop;"
            for way in ("ingress", "egress")
        ),
    ]
)
# Some kernels come without netem. There a link is narrow, and what waits before it comes late.
_LATE = (
    ("netem", "delay", "200ms", "100ms"),
    ("tbf", "rate", "256kbit", "burst", "4k", "limit", "10k"),
)


@functools.cache
def delaying() -> tuple[str, ...]:
    """Return how this kernel delays what a link carries, as tc is told."""
    for way in _LATE:
        with contextlib.suppress(subprocess.CalledProcessError):
            _do("tc", "qdisc", "add", "dev", "lo", "root", *way)
            _do("tc", "qdisc", "del", "dev", "lo", "root")
            return way
    raise AssertionError("this kernel slows no link")


def slowing() -> str:
    """Return how links are slowed here, in words."""
    return f"{' '.join(delaying())}; of packets {LOST} % are lost either way, by nft"


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        return int(text[text.rindex(")") + 2 :].split()[1])
    return 0


def _network(pid: int) -> int:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    return 0


class Lab:
    """Hosts and their networks. They end with the process that made them."""

    def __init__(self) -> None:
        """Make them; within :func:`inside`. We are on both networks, and pass nothing on."""
        Path("/proc/sys/net/ipv4/ip_forward").write_text("0")
        for network in _PREFIXES:
            _do("ip", "link", "add", network, "type", "bridge")
            _do("ip", "link", "set", network, "up")
            _do("ip", "address", "add", f"{OURS[network]}/24", "dev", network)
        self.hosts = {name: Host(name, place) for place, name in enumerate(_NETWORKS)}

    def address(self, name: str, network: str = WORK) -> str:
        """Return the address of a host."""
        return self.hosts[name].address(network)
