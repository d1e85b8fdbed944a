"""Archives are read by confined children as we read them ourselves, and by nobody who may more."""

import io
import json
import os
import socket
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.archives import archive, confined_reading, reader_server, reading
from harness.archives.archive_streams import ArchiveMember, IntakeLimits, Meter
from harness.archives.confined_reading import ConfinedReader
from harness.core.errors import ArchiveError, ReadingFailedError
from harness.sandbox import landlock, seccomp
from harness.sandbox.seccomp import NUMBERS
from harness.service import processes
from harness.service.settings import Settings, dump_settings
from tests.harness.hostile_archives import LARGE, ROSTER
from tests.harness.test_intake import HONEST

ANY = next(iter(HONEST.values()))()  # an archive
# A server whose children do something else with an archive.
PLANTED = """
import sys; sys.path.insert(0, sys.argv[1])
import os, socket, time
from harness.archives import reader_server
from harness.archives.archive_streams import ArchiveMember
from harness.archives.reading import OpenArchive, read_here

def read(file, meter):
{body}

reader_server.main(int(sys.argv[2]), read)
"""


@pytest.fixture(scope="module")
def confined_reader() -> Iterator[ConfinedReader]:
    reader = ConfinedReader()
    yield reader
    reader.close()


@pytest.fixture(autouse=True)
def unchosen() -> Iterator[None]:
    yield
    reading.choose(None)


def plant_reader(body: str) -> ConfinedReader:
    """Return a reader of archives that runs an attacker's code; it ends after a moment."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return ConfinedReader(PLANTED.replace("{body}", lines), patience=0.5)


def examine_archive(path: Path) -> object:
    """Return all that is known of an archive, with the bytes in it; or why it is refused."""
    try:
        found = archive.examine(str(path))
        return found, {one.name: b"".join(one.content) for one in archive.files(str(path))}
    except ArchiveError as error:
        return error.message, error.member


# --- the same as without -----------------------------------------------------------------------


@pytest.mark.processes
@pytest.mark.long(5)
def test_a_child_finds_what_we_find_ourselves(confined_reader, tmp_path):
    small = {title: one.make() for title, one in ROSTER.items() if title not in LARGE}
    for title, content in (small | {title: make() for title, make in HONEST.items()}).items():
        path = tmp_path / title.replace("/", "_")
        path.write_bytes(content)
        reading.choose(None)
        ours = examine_archive(path)
        reading.choose(confined_reader.read)
        assert examine_archive(path) == ours, title


@pytest.mark.processes
def test_a_server_without_rights_reads_again_after_whatever_ended(confined_reader, tmp_path):
    """A child to which nobody listens any more; the server itself, out of reach of a Ctrl-C."""
    path = tmp_path / "a.tar"
    path.write_bytes(ANY)
    reading.choose(confined_reader.read)
    next(archive.files(str(path)))
    assert archive.examine(str(path)).files
    assert confined_reader._server
    server = confined_reader._server[1]
    status = Path(f"/proc/{server.pid}/status").read_text()
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert (facts["NoNewPrivs"], int(facts["CapEff"], 16)) == ("1", 0)
    assert os.getsid(server.pid) == server.pid
    server.kill()
    server.wait()
    assert archive.examine(str(path)).files


# --- an attacker's code in a child -------------------------------------------------------------

EXPLOIT = """
def attempt(name, act):
    try:
        act()
    except OSError as error:
        return f"{name}: {error.strerror}"
    return f"{name}: done"

def members():
    for name, act in ATTACKS:
        yield ArchiveMember(attempt(name, act), False, False, 0, iter(()))

def connect():
    socket.socket().connect((b"127.0.0.1", PORT))

def answer_others():
    socket.socket(fileno=os.dup(3))

ATTACKS = [
    ("read a key", lambda: open(KEY, "rb").read()),
    ("read the ledger", lambda: open(LEDGER, "rb").read()),
    ("find out what there is", lambda: os.listdir(FOLDER)),
    ("look at a key", lambda: os.stat(KEY)),
    ("write elsewhere", lambda: open(FOLDER + "/mine", "w").close()),
    ("write into the archive", lambda: os.write(file.fileno(), b"x")),
    ("remove", lambda: os.unlink(KEY)),
    ("connect", connect),
    ("start a program", lambda: os.execv("/bin/true", ["true"])),
    ("begin a process", lambda: os.fork() or os._exit(0)),
    ("signal", lambda: os.kill(os.getppid(), 9)),
    ("hear what others are asked", answer_others),
    ("live longer", lambda: __import__("signal").setitimer(0, 1000.0)),
]
return OpenArchive("tar", members())
"""


@pytest.mark.processes
def test_an_attacker_in_a_child_reaches_nothing(tmp_path):
    key, ledger = tmp_path / "service.key", tmp_path / "ledger.sqlite"
    key.write_bytes(b"secret")
    sqlite3.connect(ledger).execute("create table marks (mark)")
    path = tmp_path / "a.tgz"
    path.write_bytes(ANY)
    before = path.read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        named = {"KEY": key, "LEDGER": ledger, "FOLDER": tmp_path}
        setting = "".join(f"{name} = {str(value)!r}\n" for name, value in named.items())
        reader = plant_reader(f"{setting}PORT = {listening.getsockname()[1]}\n{EXPLOIT}")
        found = [one.name for one in _members(reader, path)]
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()
    reader.close()
    assert len(found) == EXPLOIT.count('    ("')
    assert not [one for one in found if one.endswith("done")]
    assert {one.partition(": ")[2] for one in found} <= {
        "Operation not permitted",
        "Bad file descriptor",
    }
    assert (key.read_bytes(), path.read_bytes()) == (b"secret", before)
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "a.tgz",
        "ledger.sqlite",
        "service.key",
    ]


def _members(reader: ConfinedReader, path: Path) -> list[ArchiveMember]:
    with path.open("rb") as file:
        return list(reader.read(file, Meter(IntakeLimits(seconds=20), 1)).members)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "."),  # the server does not start
        ("os.abort()", "died"),
        # By its limit of time, or by ours where others keep it from the processor.
        ("while True:\n    pass", "died|did not end in time"),
        ("x = bytearray(2 << 30)", "MemoryError"),
        ("raise RuntimeError('a mistake')", "RuntimeError: a mistake"),
        ("os.write(file.fileno() + 1, b'nonsense ' * 1000)\nos._exit(0)", "says too much"),
    ],
)
def test_a_child_that_fails_is_a_harness_error(body, said, tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(ANY)
    reader = plant_reader(body) if body else ConfinedReader("raise SystemExit")
    reading.choose(reader.read)
    with pytest.raises(ReadingFailedError, match=said):
        archive.examine(str(path), IntakeLimits(seconds=0.2))
    reader.close()


# --- what a child may say ----------------------------------------------------------------------


def read_said(*said: tuple[bytes, object]) -> list[tuple[str, bytes]]:
    """Return the files of an archive if a child says this about it."""
    sink = io.BytesIO()
    for kind, value in said:
        payload = value if isinstance(value, bytes) else json.dumps(value).encode()
        reader_server.write(sink, kind, payload)
    sink.seek(0)

    def take(count: int) -> bytes:
        piece = sink.read(count)
        if len(piece) < count:
            raise ReadingFailedError("died")
        return piece

    reader_server.read_kind(take)
    return [(one.name, b"".join(one.content)) for one in reader_server.read_members(take, 10)]


TAR = (reader_server.KIND, "tar")
ONE = (reader_server.MEMBER, ["a", False, False, 3])
DATA = (reader_server.DATA, b"xyz")
END = (reader_server.END, None)


def test_what_a_child_says_is_heard():
    assert read_said(TAR, END) == []
    assert read_said(TAR, ONE, DATA, ONE, DATA, END) == [("a", b"xyz"), ("a", b"xyz")]
    with pytest.raises(ArchiveError, match="'b': it is a bomb"):
        read_said(TAR, ONE, (reader_server.REFUSED, ["it is a bomb", "b"]))
    with pytest.raises(ReadingFailedError, match="an error"):
        read_said((reader_server.FAULT, "an error"))


@pytest.mark.parametrize(
    "said",
    [
        (),
        (TAR,),
        (TAR, ONE),
        (END,),
        (ONE, DATA, END),
        ((reader_server.KIND, "exe"), END),
        ((reader_server.KIND, ["tar"]), END),
        ((reader_server.KIND, {}), END),
        (TAR, DATA, END),
        (TAR, TAR, END),
        (TAR, (b"?", None), END),
        (TAR, ONE, END),  # less than it promised
        (TAR, ONE, DATA, DATA, END),  # more
        (TAR, *(ONE, DATA) * 4, END),  # more than all may have
        (TAR, (reader_server.MEMBER, ["a", False, False, -1]), END),
        (TAR, (reader_server.MEMBER, ["a", False, False]), END),
        (TAR, (reader_server.MEMBER, ["a", 0, 0, 0]), END),
        (TAR, (reader_server.MEMBER, [1, False, False, 0]), END),
        (TAR, (reader_server.MEMBER, ["a", False, False, True]), END),
        (TAR, (reader_server.MEMBER, {"name": "a"}), END),
        (TAR, (reader_server.MEMBER, b"["), END),
        (TAR, (reader_server.MEMBER, b"[" * 100_000), END),
        (TAR, (reader_server.MEMBER, b"9" * 100_000), END),
        (TAR, (reader_server.MEMBER, b"\xff"), END),
        (TAR, (reader_server.REFUSED, "no"), END),
        (TAR, (reader_server.REFUSED, ["no"]), END),
        (TAR, (reader_server.DATA, bytes(1 << 20) + b"x"), END),
    ],
)
def test_nonsense_is_a_harness_error(said):
    with pytest.raises(ReadingFailedError):
        read_said(*said)


def test_a_message_is_one_line_without_what_a_terminal_obeys():
    with pytest.raises(ArchiveError) as refused:
        read_said((reader_server.REFUSED, ["no\n\x1b[2J" + "o" * 5000, ""]))
    assert "\n" not in str(refused.value)
    assert "\x1b" not in str(refused.value)
    assert len(str(refused.value)) <= 500


def test_a_name_that_leads_elsewhere_is_refused_by_whoever_hears_it(tmp_path):
    evil = ArchiveMember("../evil", False, False, 0, iter(()))
    reading.choose(lambda _file, _meter: reading.OpenArchive("tar", iter([evil])))
    path = tmp_path / "a.tar"
    path.write_bytes(b"x")
    with pytest.raises(ArchiveError, match="leads out of the folder"):
        archive.unpack(str(path), tmp_path, {"../evil": "evil"})


# --- what it is made of ------------------------------------------------------------------------


def run(program: bytes, machine: int, number: int) -> int:
    """Return what a filter answers to a call, as the kernel would work it out."""
    code = [*struct.iter_unpack("<HBBI", program)]
    place, value = 0, 0
    while True:
        operation, yes, no, operand = code[place]
        place += 1
        if operation == 0x06:
            return operand
        if operation == 0x20:
            value = {0: number, 4: machine}[operand]
        else:
            holds = value == operand if operation == 0x15 else value >= operand
            place += yes if holds else no


@pytest.mark.parametrize("machine", seccomp.AUDIT_ARCH)
def test_the_filter_lets_pass_what_computes_and_nothing_else(machine):
    program, table = seccomp.computing(machine), NUMBERS[machine]
    allowed = {table[name] for name in seccomp.COMPUTING}
    passed = {
        number
        for number in (*range(1000), *range(0x4000_0000, 0x4000_0010))
        if run(program, seccomp.AUDIT_ARCH[machine], number) == 0x7FFF_0000
    }
    assert passed == allowed
    assert run(program, 0x4000_0003, table["read"]) == 0x8000_0000  # another mode


def test_no_process_confines_what_it_cannot(monkeypatch):
    monkeypatch.setattr(landlock, "machine", lambda: "riscv64")
    confined_reading.confine()
    assert not reading.is_chosen()
    monkeypatch.undo()
    if confined_reading.is_possible():
        confined_reading.confine()
        assert reading.is_chosen()


# --- callers that read archives so -------------------------------------------------------------


@pytest.mark.parametrize(("sandbox", "is_confined"), [("auto", True), ("2", True), ("off", False)])
def test_each_process_of_a_service_has_archives_read_by_children(
    sandbox, is_confined, tmp_path, monkeypatch
):
    settings = Settings(tmp_path, sandbox=sandbox)
    monkeypatch.setattr("sys.stdin", io.StringIO(dump_settings(settings)))
    for name in ("gc.freeze", "gc.enable", "harness.core.signals.leave_sigint_to_the_parent"):
        monkeypatch.setattr(name, lambda: None)
    monkeypatch.setattr(processes, "die_with_parent", lambda _: None)
    processes.begin()
    assert reading.is_chosen() == (is_confined and confined_reading.is_possible())
