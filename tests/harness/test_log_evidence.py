"""What a log of the test before submitting shows: of script, and as students submit it."""

import os
import pty
import re
import select
import subprocess
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assignments.public_tests import Receipt, lines
from harness.grading.ingest import log_evidence
from harness.grading.ingest.log_evidence import LONGEST, absent, of_log
from harness.grading.records import CheckLog

LOG = "presubmission.log"
EXPECTED = Receipt("go-scoring", "1.0", "f" * 64, "c" * 64)


def log(text: str | bytes) -> CheckLog:
    return of_log(LOG, text.encode() if isinstance(text, str) else text, EXPECTED)


def show(data: bytes) -> list[str]:
    """Return the lines that a terminal would show."""
    return list(log_evidence.show_lines(data))


# --- real transcripts: a shell, driven as by a student's keyboard, recorded by script


GOGUI = "#!/bin/sh\n{}\n"
SILENT = ":"
FAILING = "echo \"10 unexpected FAIL: Correct 'B\\\\+4', got 'W+1'\""
LONG = "echo '10 passed'; echo '20 FAILED: x'; echo 'Summary: 1/2 passes. 0 unexpected passes'"


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "assignment1"
    folder.mkdir()
    (folder / "Go1.py").write_text("print('hi')\n")
    subprocess.run(["tar", "-czf", "a1.tgz", "assignment1"], cwd=tmp_path, check=True)
    (tmp_path / "bin").mkdir()
    return tmp_path


def typed(home, keys: list[str], gogui: str = SILENT, columns: int = 60) -> bytes:
    """Return what script keeps of a session in a terminal in which these keys are pressed."""
    program = home / "bin" / "gogui-regress"
    program.write_text(GOGUI.format(gogui))
    program.chmod(0o755)
    environment = {
        "PATH": f"{home / 'bin'}:/usr/bin:/bin",
        "TERM": "xterm-256color",
        "HOME": str(home),
    }
    (home / "rc").write_text(r"PS1='\[\e]0;\u@\h: \w\a\]\[\e[01;32m\]ada@lab\[\e[0m\]:\w\$ '")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(home)
        bash = f"bash --rcfile {home / 'rc'} -i"
        os.execve("/usr/bin/script", ["script", "-q", "-c", bash, LOG], environment)
    subprocess.run(["stty", "cols", str(columns), "rows", "24"], stdin=terminal, check=True)
    shown = b""
    for line in keys:
        shown = _settled(terminal, shown)
        os.write(terminal, line.encode())
    _settled(terminal, shown, to_the_end=True)
    os.close(terminal)
    os.waitpid(child, 0)
    return (home / LOG).read_bytes()


def _settled(terminal: int, shown: bytes, to_the_end: bool = False) -> bytes:
    """Read until the prompt is there and nothing more comes."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        ready, _, _ = select.select([terminal], [], [], 0.15)
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                return shown
            if not piece:
                return shown
            shown += piece
        elif not to_the_end and re.search(rb"[$#] (?:\x1b\[\??\d*[hlK])*$", shown):
            return b""
    raise AssertionError(f"no prompt came: {shown!r}")


UNPACK = ["mkdir new\r", "cp a1.tgz new\r", "cd new\r", "tar -xvzf a1.tgz\r"]
RUN = ['gogui-regress "./assignment1/Go1.py" assignment1-public-tests.gtp\r']


@pytest.mark.processes
@pytest.mark.parametrize(
    ("gogui", "failed", "columns"),
    [(SILENT, 0, 40), (FAILING, 1, 200), (LONG, 1, 40)],
    ids=["silent", "failing", "long"],
)
def test_a_real_transcript_is_good_evidence(gogui, failed, columns, home):
    data = typed(home, [*UNPACK, *RUN, "exit\r"], gogui, columns)
    assert b"\x1b[" in data
    assert b"\r\n" in data
    found = log(data)
    assert found.good, (found, show(data))
    told = f"The run in {LOG} shows 1 test that failed."
    assert found.remarks == ((told,) if failed else ())


@pytest.mark.processes
def test_corrected_typing_is_read_as_it_was_when_entered(home):
    keys = [
        "mkdri\x7f\x7fir new; cp a1.tgz new; cd new\r",
        "echo tar -cf\r",
        "tr -xf a1.tgz\x01\x1b[Ca\x1b[D\x1b[C\r",  # home, into the word, an insertion
        "gogui-regres ./Go1.py tests.gtp\x1bb\x1bb\x1bb\x1bb\x1bb\x1bfs\r",
        "exit\r",
    ]
    data = typed(home, keys, columns=72)
    shown = show(data)
    assert any(line.endswith("mkdir new; cp a1.tgz new; cd new") for line in shown), shown
    assert any(re.search(r"[#$] tar -xf a1.tgz$", line) for line in shown), shown
    assert log(data).good, shown


@pytest.mark.processes
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["tar -tf a1.tgz\r", *RUN, "exit\r"], "does not show the archive being unpacked"),
        (["tar -xzf a2.tgz\r", *RUN, "exit\r"], "the archive could not be unpacked: tar"),
        (
            [*UNPACK, "./gogui-regress x y\r", "exit\r"],
            "broke off: bash: ./gogui-regress: No such",
        ),
    ],
)
def test_what_a_real_transcript_lacks_is_said(keys, said, home):
    found = log(typed(home, keys, columns=100))
    assert found.present
    assert found.transcript
    assert not found.good
    assert [remark for remark in found.remarks if said in remark], found.remarks


# --- as real classes submit them

HEADER = "Script started on Mon 28 Jan 2019 08:54:04 PM MST\r\n"
END = "exit\r\n\r\nScript done on Mon 28 Jan 2019 08:54:58 PM MST\r\n"
PROMPTS = [
    "ada@lab:~/496>",
    "bash-3.2$ ",
    "(base) ada@mac ~ (\U0001f98b): ",
    "\u2514\u2500$ ",
    "% ",
    "root@pc:/mnt/c/Users/ada/CMPUT 455# ",
]
GOOD = {"present": True, "transcript": True, "unpacked": True, "ran": True}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompts_of_all_kinds(prompt):
    text = (
        f"{HEADER}{prompt}tar xvzf a1.tgz\r\nx assignment1/\r\n{prompt}cd assignment1\r\n"
        f'{prompt}./gogui-1.5.1/bin/gogui-regress "./Go0.py" public-tests.gtp\r\n{prompt}{END}'
    )
    assert log(text) == CheckLog(**GOOD)


@pytest.mark.parametrize(
    "unpack",
    [
        "tar -xf a1.tgz",
        "tar xf a1.tgz",
        "tar zxvf a1.tgz",
        "tar --extract --file=a1.tgz",
        "tar -C new -xf a1.tgz",
        "cd new && tar -x -f a1.tgz",
        "cat a1.tgz | tar -xz",
        "bsdtar -xf a1.tgz",
        "unzip a1.zip",
        "unzip -q a1.zip",
        "python3 -m tarfile -e a1.tgz",
    ],
)
def test_ways_to_unpack(unpack):
    assert log(f"{HEADER}$ {unpack}\r\n$ {END}").unpacked


@pytest.mark.parametrize(
    "other",
    [
        "tar -tf a1.tgz",
        "tar -cvzf a1.tgz assignment1",
        "tar cfz x.tgz x",
        "tar --exclude=x -czf a1.tgz assignment1",
        "tar -cfx.tgz x",
        "unzip -l a1.zip",
        "star -xf a1.tgz",
        "tar is an archiver: extract with x",
        "man tar",
    ],
)
def test_what_is_no_unpacking(other):
    found = log(f"{HEADER}$ {other}\r\n$ {END}")
    assert not found.unpacked
    assert f"{LOG} does not show the archive being unpacked (tar -x… or unzip)." in found.remarks


@pytest.mark.parametrize(
    ("run", "ran", "said"),
    [
        ("gogui-regress ./Go1.py t.gtp\n$ exit\n", True, ""),
        ("gogui-regress ./Go1.py t.gtp\n1 unexpected FAIL: x\n$ \n", True, "1 test that failed"),
        ("gogui-regress ./Go1.py t.gtp\n", False, "without its result"),
        (
            "gogui-regress x t\nbash: gogui-regress: command not found\n$ exit\n",
            False,
            "broke off",
        ),
        ("gogui-regress x t\nTraceback (most recent call last):\n$ \n", False, "broke off"),
        ("gogui-regress x t\nbash: no: command not found\n$ gogui-regress x t\n$ \n", True, ""),
        ("java -jar gogui-regress.jar x t.gtp\n$ exit\n", True, ""),
        ("gogi=?regress x t\n1 passed\nSummary: 1/1 passes. 0 unexpected\n$ \n", True, ""),
        ("pytest\n10 passed\n$ \n", False, "no run of the tests"),
        ("gtp-harness run x t\n1 file: 2 tests, 2 passed\n$ \n", True, ""),
        ("gtp-harness run x t\n3 files (1 broken off): 2 tests, 1 FAILED\n$ \n", True, ""),
        ("gtp-harness run -long x t\n10 passed\n20 FAILED: x\n$ \n", True, "1 test that failed"),
        ("gtp-harness run x t\n$ exit\n", False, "without its result"),
        ("exit\n", False, "no run of the tests"),
        ("which gogui-regress\n/usr/bin/gogui-regress\n$ \n", False, "no run of the tests"),
    ],
)
def test_runs_with_and_without_a_result(run, ran, said):
    found = log(f"{HEADER}$ tar -xf a1.tgz\n$ {run}")
    assert found.ran == ran
    assert found.unpacked
    assert said in " ".join(found.remarks)
    assert bool(found.remarks) == bool(said)


def test_what_was_copied_from_a_terminal_counts_and_is_said():
    found = log("ada@lab:~$ tar -xf a1.tgz\nada@lab:~$ gogui-regress x t.gtp\nada@lab:~$ exit\n")
    assert found.good
    assert found.remarks == (f"{LOG} was copied from a terminal, not kept by script.",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", f"{LOG} is empty."),
        (b" \r\n\n", f"{LOG} is empty."),
        (b"I ran all tests and they passed.\n", "is a text file, not a terminal's transcript"),
        (b"%PDF-1.4 gogui-regress", "is a PDF document, not a terminal's"),
        (b"\x00\x01\x02", "is a file of an unknown kind, not a terminal's"),
        ("Script started on 2026\n".encode("utf-16"), "does not show the archive"),
    ],
)
def test_what_is_no_log(data, said):
    found = log(data)
    assert found.present
    assert not found.good
    assert said in found.remarks[0]


def test_no_log_at_all():
    assert absent(LOG) == CheckLog(remarks=("There is no presubmission.log.",))
    assert absent(LOG, ["Presubmission.txt"]).remarks == (
        "There is no presubmission.log (there is Presubmission.txt).",
    )


# --- the receipt in it


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "The receipt in the log fits: gtp-harness 1.0 has tested these files."),
        ({"version": "0.9"}, "The receipt in the log fits: gtp-harness 0.9 has tested"),
        ({"files": "e" * 64}, "is for other files than the submitted ones"),
        ({"cases": "e" * 64}, "fits the files, but they were tested with other"),
        ({"assignment": "java-go"}, "is for another assignment, java-go"),
    ],
)
def test_what_the_receipt_says(change, said):
    shown = "\r\n   \x1b[1m".join(lines(EXPECTED._replace(**change)))
    found = log(f"{HEADER}   {shown}\x1b[0m\r\nThe log ends here.\r\n")
    assert said in found.receipt


def test_the_last_whole_receipt_counts():
    first, last = lines(EXPECTED), lines(EXPECTED._replace(files="e" * 64))
    assert "fits:" in log("\n".join([HEADER, *last, *first])).receipt
    assert "other files" in log("\n".join([HEADER, *first, *last])).receipt
    assert "fits:" in log("\n".join([HEADER, *first, last[0], "interrupted"])).receipt
    assert log(HEADER).receipt == ""


# --- the screen


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"a\r\nb\r\r\nc\rd\n", ["a", "b", "c", "d"]),
        (b"\x1b]0;title\x07$ ls\r\n\x1b]2;other\x1b\\x", ["$ ls", "x"]),
        (b"\x1b]0;never ended\r\n$ ls", ["", "$ ls"]),
        (b"lx\b\x1b[Ks -la \b\b\b\b\x1b[1P-a", ["ls -a"]),
        (b"abc\b\b\x1b[@X", ["aXbc"]),
        (b"abc\x1b[2DX\x1b[CY", ["aXcY"]),
        (b"abc\x1b[3D\x1b[2XZ", ["Z c"]),
        (b"public-te \rsts.gtp\r\n", ["public-tests.gtp"]),
        (b"\x1b[?2004h$ \x1b[31mred\x1b[0m\x1b(B\x1b=", ["$ red"]),
        (b"tab\tulator\x00\x7f", ["tab ulator"]),
        (b"caf\xc3\xa9 \xff", ["caf\u00e9 \ufffd"]),
        (b"\x1b[99999999999999999999Cx\x1b[", ["x"]),
        (b"\x1b", []),
    ],
)
def test_lines_of_a_screen(data, shown):
    assert show(data) == shown


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"])))
def test_plain_text_stays(text):
    assert show(text.encode()) == ([text.rstrip()] if text else [])


HOSTILE = {
    "escapes": b"\x1b",
    "titles": b"\x1b]",
    "insertions": b"\x1b[9999@",
    "moves": b"\x1b[9999Cx\x1b[9999D",
    "numbers": b"\x1b[" + b"9" * 1000 + b"@",
    "backspaces": b"a\b",
    "one line": b"a",
    "runs": b"gogui-regress x\n",
    "prompts": b"$ gogui-regress x\n",
    "tars": b"tar -tar ",
    "separators": b"tar && ",
    "failures": b"$ tar -xf x\ntar tar: tar: tar\n",
    "receipts": b"Receipt for a, gtp-harness b\n",
    "blanks": b"tar" + b" " * 1000,
    "carriage": b" \r",
    "nothing": b"\0",
}


@pytest.mark.long(1)
@pytest.mark.parametrize("title", HOSTILE)
def test_untrusted_bytes_take_bounded_time_and_memory(title):
    pattern = HOSTILE[title]
    data = (b"Script started on \n" + pattern * (LONGEST // len(pattern)))[:LONGEST]
    tracemalloc.start()
    started = time.process_time()
    try:
        log(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Measured with tracing, which makes it several times slower.
    assert time.process_time() - started < 20
    assert peak < 64 << 20, f"{peak:,} bytes for a log of {len(data):,}"


@given(st.binary(max_size=400))
def test_no_bytes_break_it(data):
    found = log(data)
    assert found.present
    assert all(remark.isprintable() for remark in found.remarks)
