"""Targets of the red team, and compilation of attacks in C and Java.

The sources lie beside this file. They are compiled once for all levels, into memory; where the
compiler is missing, their attacks are left out by name.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.core.errors import SandboxError
from harness.sandbox import levels, untrusted_folders
from harness.sandbox.redteam import attacks
from harness.sandbox.redteam.attack_table import PYTHON, Attack

_HERE = Path(__file__).parent
_PATIENCE = 120.0  # seconds for a compiler on a busy machine
# A virtual machine that soon ends; and as small as one gets, for the limits of the red team are.
_SHORT = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SMALL = (*_SHORT, "-XX:-UsePerfData", "-Xmx48m")
_DIRECT = "-XX:MaxDirectMemorySize=2g"


_JAVAC = (
    *("javac", *(f"-J{option}" for option in _SHORT)),
    *("-nowarn", "-proc:none", "-d", ".", "Hostile.java"),
)
# Build and run commands of each ``source``: of the first, the last word is the source; the second
# has {folder}, {program}, {aim} and {secret}. The first word of each is a program that is needed,
# unless it is built.
LANGUAGES = {
    "cc": (
        ("cc", "-E", "-P", "-o", "checked", '-DSECRET="/dev/null"', "include.c"),
        ("cc", "-E", "-P", '-DSECRET="{secret}"', "{folder}/include.c"),
    ),
    "c": (
        ("cc", "-w", "-O1", "-o", "calls", "calls.c"),
        ("{folder}/calls", "{program}", "{aim}"),
    ),
    "java": (
        _JAVAC,
        ("java", *_SMALL, _DIRECT, "-cp", "{folder}/", "Hostile", "{program}", "{aim}"),
    ),
    "javac": (
        _JAVAC,
        (
            *("javac", *(f"-J{option}" for option in _SMALL), "-proc:only"),
            *("-processorpath", "{folder}/", "-processor", "Hostile"),
            *("-Aprogram={program}", "-Aaim={aim}", "java.lang.Object"),
        ),
    ),
}


def can_run(attack: Attack) -> bool:
    """Whether what an attack is written in is installed."""
    return not missing_programs(attack)


def missing_programs(attack: Attack) -> tuple[str, ...]:
    """Return the programs that an attack's language needs and that are not installed."""
    needs = dict.fromkeys(words[0] for words in LANGUAGES.get(attack.source, ()))
    return tuple(name for name in needs if "{" not in name and shutil.which(name) is None)


def command(attack: Attack, program: str, folder: str, aim: str) -> list[str]:
    """Return the words that start ``program`` of an attack from ``folder``, its place."""
    if attack.source not in LANGUAGES:
        script = os.path.join(folder, f"{attack.source}.py")
        return [levels.interpreter(), "-I", "-S", script, program, aim]
    values = {"folder": folder, "program": program, "aim": aim}
    values["secret"] = json.loads(aim)["secret"]
    return [word.format_map(values) for word in LANGUAGES[attack.source][1]]


def compile_needed(attacks: Iterable[Attack]) -> dict[str, bytes]:
    """Return by name what these attacks need besides Python; SandboxError if a compiler fails."""
    used = {attack.source for attack in attacks if can_run(attack)} & LANGUAGES.keys()
    files: dict[str, bytes] = {}
    for name in sorted(used):
        files |= _compile(LANGUAGES[name][0])
    return files


@functools.cache
def _compile(words: tuple[str, ...]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="gtp-harness-doctor-") as folder:
        shutil.copy(_HERE / words[-1], folder)
        try:
            done = subprocess.run(
                words, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise SandboxError(
                f"the attacks in {words[-1]} cannot be compiled: {error}"
            ) from error
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no message"])[0]
            raise SandboxError(f"the attacks in {words[-1]} cannot be compiled: {said}")
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


# Counts a signal, and says the number whenever it is asked.
_VICTIM = """
import signal, sys
count = 0
def note(*_):
    global count
    count += 1
for one in signal.SIGURG, signal.SIGTERM, signal.SIGQUIT:
    signal.signal(one, note)
held = open(sys.argv[2])
print("ready", flush=True)
for _ in iter(sys.stdin.readline, ""):
    print(count, flush=True)
"""
_MARK = "gtp-harness-mark-"  # and what is drawn for one scene: a file that an attack makes
_ABANDONED = 600.0  # seconds; an attack takes ten
_LONGEST_WORD = 64
_MOMENT = 0.1  # seconds; an attack has sent its word by the time that it is over
# Where attacks try to create a file, besides the scene.
HOME = str(Path(attacks.__file__).resolve().parents[3])  # of the harness
OUTSIDE = (HOME, "/usr", "/etc", "/", "/tmp", "/dev/shm", "/dev", "/var/tmp", "/root", "/home")


class AttackStage:
    """The stage of all attacks. Use as a context manager.

    It has a private case file, a process that stands for the harness, sockets and files. Each is
    also a witness. What an engine says of itself counts only against it; whether the victim was
    signalled, a socket was reached, a file changed or a process survived is seen from outside.
    ``attacks``: those that will be run; what they need besides Python is compiled.
    """

    def __init__(self, attacks: Iterable[Attack] = ()) -> None:
        self.token = secrets.token_hex(16)  # anyone who prints it has seen what is private
        self.mark = f"{_MARK}{secrets.token_hex(4)}"
        # Remove the marks of scenes that were killed; one in use is never so old.
        oldest = time.time() - _ABANDONED
        for folder in OUTSIDE:
            with contextlib.suppress(OSError):
                for name in os.listdir(folder):
                    path = os.path.join(folder, name)
                    if name.startswith(_MARK) and os.lstat(path).st_mtime < oldest:
                        os.unlink(path)
        self._word = secrets.token_hex(16)  # an attack sends it: a stranger is not an escape
        with contextlib.ExitStack() as last:
            last.callback(self._remove_strays)
            self.folder = Path(tempfile.mkdtemp(prefix="gtp-harness-doctor-"))
            last.callback(untrusted_folders.remove, str(self.folder))
            self._fill(attacks)
            victim = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _VICTIM, self.token, str(self.secret)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={"GTP_HARNESS_SECRET": self.token},
                cwd=self.secret.parent,
            )
            assert victim.stdin is not None
            assert victim.stdout is not None
            self._victim, self._ask, self._told = victim, victim.stdin, victim.stdout
            self._told.readline()
            self._counted = 0
            last.callback(self._end_victim)
            self._sockets = self._listen()
            for one in self._sockets.values():
                last.callback(one.close)
            self._before = self._files()
            self._last = last.pop_all()

    def __enter__(self) -> AttackStage:
        """Return the scene."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove all of it, whatever has become of its parts."""
        self._last.close()

    def _end_victim(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # an attack has killed it
            self._ask.close()
        self._victim.wait()
        self._told.close()

    def _remove_strays(self) -> None:
        for path in self.strays():
            with contextlib.suppress(OSError):
                path.unlink()

    def _fill(self, attacks_to_run: Iterable[Attack]) -> None:
        self.folder.chmod(0o755)  # what is not seen from the box is not hidden by permissions
        private = self._folder("private")
        self.secret = private / "case.gtp"
        self.secret.write_text(f"10 score\n#? [{self.token}]\n")
        self.secret.chmod(0o644)
        files = compile_needed(attacks_to_run)
        self.submission = self._folder("submission")
        for name, content in files.items():
            (self.submission / name).write_bytes(content)
            (self.submission / name).chmod(0o755)
        for name in (f"{source}.py" for source in PYTHON):
            shutil.copy(Path(attacks.__file__).with_name(name), self.submission / name)
            (self.submission / name).chmod(0o644)
        # Let a program's first line and settings name the private folder.
        (private / "notes").write_text(f"{self.token}\n")
        (private / "gen.sh").write_text("#!/bin/sh\n")
        (private / "gen.sh").chmod(0o755)
        (private / "link").symlink_to("case.gtp")
        program = self.submission / "reaching.py"
        program.write_text(f"#!{private}/gen.sh\n{program.read_text()}")
        program.chmod(0o755)
        for place in (self.submission, self.folder):
            (place / "pyvenv.cfg").write_text(f"home = {private}\n")
        (self.submission / "symbolic").symlink_to(self.secret)
        os.link(self.secret, self.submission / "hard")
        self.work = self._folder("work")

    def aim(self) -> dict[str, object]:
        """Return what the programs are told."""
        return {
            "secret": str(self.secret),
            "notes": str(self.secret.with_name("notes")),
            "link": str(self.secret.with_name("link")),
            "submission": str(self.submission),
            "folder": str(self.work),
            "home": HOME,
            "path": [path for path in sys.path if path.endswith("-packages")],
            "victim": self._victim.pid,
            "mark": self.mark,
            "word": self._word,
            "tcp": self._sockets["tcp"].getsockname()[1],
            "udp": self._sockets["udp"].getsockname()[1],
            "abstract": self.mark,
            "path_socket": str(self.submission / "socket"),
        }

    def new_build(self) -> Path:
        """Return an empty folder for a build step, gone when the damage is looked at."""
        self._clear()
        return self._folder("build")

    def _clear(self) -> bool:
        """Remove what a build step has left; return whether that was possible."""
        place = str(self.folder / "build")
        untrusted_folders.remove(place)
        return not os.path.lexists(place)

    def damage(self) -> Iterator[str]:
        """Yield what has happened to the scene since it was last asked."""
        if not self._clear():
            yield "left what cannot be removed"
        self._ask.write("\n")
        self._ask.flush()
        before, self._counted = self._counted, int(self._told.readline())
        if signals := self._counted - before:
            yield f"signalled the harness {signals} times"
        for name, server in self._sockets.items():
            # An attack sends its word; any client may connect.
            if any(self._word.encode() in said for said in _list_visitors(server)):
                yield f"reached the {name} socket"
        files = self._files()
        for path in sorted(files.keys() ^ self._before.keys()):
            yield f"made or removed {path}"
        for path in sorted(files.keys() & self._before.keys()):
            if files[path] != self._before[path]:
                yield f"changed {path}"
        yield from (f"left {path}" for path in self.strays())
        needle = os.fsencode(f"{self.submission}/")  # in the command of an attack of this scene
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and needle in (folder / "cmdline").read_bytes():
                    yield f"left process {folder.name} running"
        self._before = files

    def strays(self) -> list[Path]:
        """Return the files that attacks left outside."""
        return [Path(f, self.mark) for f in OUTSIDE if os.path.lexists(os.path.join(f, self.mark))]

    def _folder(self, name: str) -> Path:
        made = self.folder / name
        made.mkdir(mode=0o755)
        return made

    def _listen(self) -> dict[str, socket.socket]:
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        folder = os.open(self.submission, os.O_PATH)
        path = f"/proc/self/fd/{folder}/socket"  # a longer one would be refused
        sockets = {
            "tcp": _bind(socket.AF_INET, stream, ("127.0.0.1", 0)),
            "udp": _bind(socket.AF_INET, datagram, ("127.0.0.1", 0)),
            "abstract": _bind(socket.AF_UNIX, stream, f"\0{self.mark}"),
            "abstract datagram": _bind(socket.AF_UNIX, datagram, f"\0{self.mark}.datagram"),
            "path": _bind(socket.AF_UNIX, stream, path),
            "path datagram": _bind(socket.AF_UNIX, datagram, path + ".datagram"),
        }
        for name in (path, path + ".datagram"):
            Path(name).chmod(0o777)
        os.close(folder)
        return sockets

    def _files(self) -> dict[str, tuple[object, ...]]:
        found: dict[str, tuple[object, ...]] = {}
        for path in self.folder.rglob("*"):
            info = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            changed = 0 if path.is_dir() else info.st_mtime_ns
            found[str(path)] = (info.st_mode, info.st_uid, changed, content)
        return found


def _list_visitors(server: socket.socket) -> Iterator[bytes]:
    """Yield what each visitor of a socket says within a moment."""
    with contextlib.suppress(BlockingIOError):  # nobody else is there
        while server.type != socket.SOCK_STREAM:
            yield server.recv(_LONGEST_WORD)
        while True:
            visitor, _ = server.accept()
            said = b""
            with visitor, contextlib.suppress(OSError):
                visitor.settimeout(_MOMENT)
                said = visitor.recv(_LONGEST_WORD)
            yield said


def _bind(family: int, kind: int, address: object) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address)  # type: ignore[arg-type]
    if kind == socket.SOCK_STREAM:
        made.listen()
    made.setblocking(False)
    return made
