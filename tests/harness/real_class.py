"""A class like the real ones: their starter code, their machines' habits, their mistakes.

:func:`make` writes an assignment, its course folder, public and private cases, and a download as
Canvas gives it. The mark of each submission is computed here from what the submission does,
by a scoring of its own and the assignment's points; nothing of the harness takes part.
"""

from __future__ import annotations

import gzip
import io
import itertools
import random
import tarfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from tests.harness.downloads import canvas_name
from tests.harness.five_points import ARCHIVE, FOLDER, MARKS, log

SUBMISSIONS = Path(__file__).parents[1] / "submissions"
UTIL = (SUBMISSIONS / "go-scoring" / "course-util" / "gtp_connection.py").read_text()
LETTERS = "ABCDEFGHJ"
LIMIT = 3  # seconds for a reply
MOST_RESTARTS = 5

ASSIGNMENT = f"""\
title = "Scoring a game of Go"
specification = "go-scoring"
{ARCHIVE}
[files]
required = ["Go1.py", "gtp_connection_go1.py", "readme.txt"]
allowed = ["*.py", "*.txt"]
left_out = ["__pycache__/", "*.pyc", ".DS_Store", "._*", "__MACOSX/", "gtp_log"]
forbidden = ["util/"]
log = "presubmission.log"

[engine]
command = "python3 {{folder}}/Go1.py"
overlay = "util"

[limits]
timeout = {LIMIT}
startup = {LIMIT}
cpu = 30

{MARKS}"""

LOG = log("python3 assignment1/Go1.py")

MAIN = """\
#!/usr/bin/python3
import sys
sys.path.append(sys.path[0] + "/../util/")
from gtp_connection_go1 import GtpConnectionGo1

def run():
    con = GtpConnectionGo1("Go1")
    con.start_connection()

if __name__ == "__main__":
    run()
"""

CONNECTION = """\
import os
import sys
import time
from gtp_connection import GtpConnection, neighbors


class GtpConnectionGo1(GtpConnection):
    def __init__(self, name):
        GtpConnection.__init__(self, name)
        self.commands["score"] = self.score_cmd

    def score_cmd(self, args):
        score = self.stones("b") - self.stones("w") - self.komi
        for size, colors in self.regions():
            if len(colors) == 1:
                score += size if colors == {"b"} else -size
        return self.told(score)

    def told(self, score):
        if score == 0:
            return "0"
        return "B+" + str(score) if score > 0 else "W+" + str(-score)

    def stones(self, color):
        return list(self.board.values()).count(color)

    def regions(self):
        empty = {(r, c) for r in range(self.size) for c in range(self.size)} - set(self.board)
        while empty:
            rest, size, colors = [empty.pop()], 0, set()
            while rest:
                size += 1
                for beside in neighbors(self.size, rest.pop()):
                    if beside in empty:
                        empty.remove(beside)
                        rest.append(beside)
                    elif beside in self.board:
                        colors.add(self.board[beside])
            yield size, colors
"""


class Test(NamedTuple):
    """A test: a position, and the komi."""

    size: int
    stones: tuple[tuple[str, int, int], ...]  # color, row, column, from 0 at A1
    komi: Fraction

    def regions(self) -> Iterator[tuple[int, set[str]]]:
        """Yield the size of each empty region, and the colors that it touches."""
        board = {(row, column): color for color, row, column in self.stones}
        square = range(self.size)
        left = [(r, c) for r in square for c in square if (r, c) not in board]
        while left:
            region, touched = [left.pop()], set()
            for row, column in region:
                for beside in (
                    (row - 1, column),
                    (row + 1, column),
                    (row, column - 1),
                    (row, column + 1),
                ):
                    if beside in left:
                        left.remove(beside)
                        region.append(beside)
                    elif beside in board:
                        touched.add(board[beside])
            yield len(region), touched

    def score(self, komi: Fraction | None = None, neutral: str = "") -> Fraction:
        """Return what Black is ahead; ``neutral``: whose the points are that touch both."""
        colors = [color for color, *_ in self.stones]
        found = Fraction(colors.count("b") - colors.count("w"))
        found -= self.komi if komi is None else komi
        for size, touched in self.regions():
            owner = touched if len(touched) == 1 else {neutral} if touched else set()
            found += size if owner == {"b"} else -size if owner == {"w"} else 0
        return found


def format_score(score: Fraction) -> str:
    """Return a score as the assignment writes it."""
    if not score:
        return "0"
    return f"{'B' if score > 0 else 'W'}+{float(abs(score)):g}"


def accepts(test: Test, reply: str) -> bool:
    """Whether a reply is right: a whole number may have ``.0``, a draw may not."""
    right = format_score(test.score())
    return reply == right or (right != "0" and "." not in right and reply == f"{right}.0")


def random_tests(generator: random.Random, count: int) -> Iterator[Test]:
    """Yield positions in which every stone has an empty point beside it."""
    while count:
        size = generator.choice([2, 3, 4, 5, 7, 9])
        square, full = range(size), generator.choice([0.2, 0.35, 0.5])
        board = {
            (r, c): generator.choice("bw")
            for r in square
            for c in square
            if generator.random() < full
        }
        beside = ((0, 1), (1, 0), (0, -1), (-1, 0))
        free = all(
            any(
                (r + dr, c + dc) not in board and r + dr in square and c + dc in square
                for dr, dc in beside
            )
            for r, c in board
        )
        if board and free:
            count -= 1
            komi = generator.choice(["0", "0", "0", "0.5", "6.5", "-2", "1"])
            yield Test(size, tuple((v, *k) for k, v in board.items()), Fraction(komi))


def case_text(tests: tuple[Test, ...]) -> str:
    """Return a case file; every test begins with an empty board."""
    lines: list[str] = []
    for number, test in enumerate(tests, 1):
        lines += [f"boardsize {test.size}", "clear_board", f"komi {float(test.komi):g}"]
        lines += [f"play {color} {LETTERS[c]}{r + 1}" for color, r, c in test.stones]
        right = format_score(test.score())
        pattern = right.replace("+", r"\+").replace(".", r"\.")
        whole = right != "0" and "." not in right
        lines += [
            f"{number * 10} score",
            f"#? [{pattern}{'(.0)?'.replace('.', chr(92) + '.') if whole else ''}]",
            "",
        ]
    return "\n".join(lines)


# --- submissions -------------------------------------------------------------------------------

Reply = Callable[[Test], str | None]  # what it answers; None if it breaks there


class Real(NamedTuple):
    """A submission: what is submitted, and how it behaves."""

    label: str
    files: dict[str, tuple[bytes, int]]  # by name in the folder: bytes and mode
    reply: Reply | None  # None if it never answers
    archive: bytes | None = None  # in place of an archive of ``files``
    name: str = "a1.tgz"
    log: bool = True  # the point for log and readme
    late: bool = False
    temporary: bool = False  # it writes to /tmp or /dev/shm, which level 1 cannot give

    def mark(self, public: tuple[tuple[Test, ...], ...], private: tuple[Test, ...]) -> Fraction:
        """Return the mark in the gradebook."""
        if self.reply is None:
            return Fraction(0)
        shares = [share_passed(files, self.reply) for files in (public, (private,))]
        points = int(self.log) + sum(2 * share for share in shares)
        return points * Fraction(8, 10) if self.late else points


def share_passed(files: tuple[tuple[Test, ...], ...], reply: Reply) -> Fraction:
    """Return the share of tests that pass; after a break the engine is started again."""
    right = 0
    for tests in files:
        breaks = 0
        for test in tests:
            said = reply(test) if breaks <= MOST_RESTARTS else None
            right += said is not None and accepts(test, said)
            breaks += said is None and breaks <= MOST_RESTARTS
    return Fraction(right, sum(map(len, files)))


def right_reply(test: Test) -> str:
    """Return what the starter's own way of writing gives."""
    score = test.score()
    return "0" if not score else f"{format_score(score)[:2]}{float(abs(score))}"


def source(
    *changes: tuple[str, str],
    first: str = "#!/usr/bin/python3",
    mode: int = 0o644,
    main: str = MAIN,
) -> dict[str, tuple[bytes, int]]:
    """Return a submission: the right one with changes of its own file."""
    connection = CONNECTION
    for old, new in changes:
        assert old in connection, old
        connection = connection.replace(old, new)
    main = main.replace("#!/usr/bin/python3", first)
    return {
        "Go1.py": (main.encode(), mode),
        "gtp_connection_go1.py": (connection.encode(), 0o644),
        "readme.txt": (b"Ada Lovelace 1234567\n", 0o644),
        "presubmission.log": (LOG, 0o644),
    }


def in_score(body: str) -> tuple[str, str]:
    """Return a change that does something when a score is asked."""
    head = "    def score_cmd(self, args):\n"
    return head, head + "".join(f"        {line}\n" for line in body.splitlines())


def at_start(body: str) -> tuple[str, str]:
    """Return a change that does something before the connection is made."""
    head = "        GtpConnection.__init__(self, name)\n"
    return head, "".join(f"        {line}\n" for line in body.splitlines()) + head


def in_told(text: str) -> tuple[str, str]:
    """Return a change of how a score is told."""
    head = "    def told(self, score):\n"
    return head, f"{head}        {text}\n"


def tgz(files: dict[str, tuple[bytes, int]], folder: str = f"{FOLDER}/", more: int = 0) -> bytes:
    """Return an archive; ``more``: members of a virtual environment beside the files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, (content, mode) in files.items():
            member = tarfile.TarInfo(folder + name)
            member.size, member.mode = len(content), mode
            archive.addfile(member, io.BytesIO(content))
        for number in range(more):
            name = f"{folder}venv/lib/python3.9/site-packages/numpy/m{number}.py"
            archive.addfile(tarfile.TarInfo(name))
    return gzip.compress(stream.getvalue(), 1, mtime=0)


def submissions(step: int = 1) -> Iterator[Real]:
    """Yield one for each thing that real classes do, or every so-manyth of each kind."""
    kinds = (_first_lines, _in_their_folder, _breaking, _slow, _wrong, _protocol, _archives)
    for kind in kinds:
        yield from itertools.islice(kind(), None, None, step)
    yield from _alike()


def _right(label: str, *changes: tuple[str, str], **more: object) -> Real:
    return Real(label, source(*changes), right_reply, **more)  # type: ignore[arg-type]


def _first_lines() -> Iterator[Real]:
    yield _right("right")
    yield _right("right, late", late=True)
    for first in (
        "#!/usr/local/bin/python3",
        "#!/opt/homebrew/bin/python3",
        "#!/usr/bin/env python3.12",
        "#!/usr/bin/env python3\r",
        "#!/usr/local/bin/python3 it's the one on Ada's machine",
        "#!/home/teacher/tools/gen.sh",
        "#!",
    ):
        for mode in (0o755, 0o644) if "local/bin/python3" in first else (0o755,):
            files = source(first=first, mode=mode)
            yield Real(f"first line {first!r}, mode {mode:o}", files, right_reply)
    home = {"pyvenv.cfg": (b"home = /root\ninclude-system-site-packages = true\n", 0o644)}
    yield Real("has a pyvenv.cfg", source() | home, right_reply)


def _in_their_folder() -> Iterator[Real]:
    yield _right("keeps a log of its own", at_start('self.own = open("my_log.txt", "a")'))
    yield _right(
        "makes a folder", at_start('os.makedirs("logs/today"); open("logs/today/a", "w")')
    )
    beside = 'os.path.join(os.path.dirname(os.path.abspath(__file__)), "notes.txt")'
    yield _right("writes beside its program", at_start(f'open({beside}, "w").write("x")'))
    data = {"table.txt": (b"1\n", 0o644)}
    read = at_start('self.factor = int(open("table.txt").read())')
    yield Real("reads a file of its own", source(read) | data, right_reply)
    add = at_start('open("table.txt", "a").write("2\\n")')
    yield Real("appends to a file of its own", source(add) | data, right_reply)
    count = at_start(
        'if os.path.exists("starts.txt"): raise SystemExit("started before")\n'
        'open("starts.txt", "w")'
    )
    yield _right("must not find what its last start left", count)
    scratch = at_start('open("/tmp/scratch", "x").write("x")')
    yield _right("uses /tmp", scratch, temporary=True)
    named = at_start("import tempfile; tempfile.TemporaryFile().write(b'x')")
    yield _right("uses the folder for temporary files", named)
    yield _right("starts a process", at_start("import subprocess; subprocess.run(['true'])"))
    pool = "import multiprocessing; multiprocessing.Pool(2).map(abs, [1, -1])"
    yield _right("has a pool of processes", at_start(pool), temporary=True)
    yield _right("changes to its own folder", at_start("os.chdir(sys.path[0])"))


def _breaking() -> Iterator[Real]:
    def one_of(test: Test) -> bool:
        return test.size == 9 and test.komi == 0

    def breaks(test: Test) -> str | None:
        return None if one_of(test) else right_reply(test)

    def at_private(test: Test) -> str | None:
        """Break where no image asks again: to compute for ever costs the time limit."""
        return None if (test.size, test.komi) == (9, Fraction(1, 2)) else right_reply(test)

    when = "if self.size == 9 and self.komi == 0: "
    crash = in_score(when + "raise KeyError((0, 4))")
    yield Real("crashes at some boards", source(crash), breaks)
    yield Real("exits at some boards", source(in_score(when + "sys.exit(3)")), breaks)
    abort = in_score(when + "os.abort()")
    yield Real("aborts at some boards", source(abort), breaks)
    hang = in_score(when + "time.sleep(1000)")
    yield Real("hangs at some boards", source(hang), breaks)
    spin = in_score("if self.size == 9 and self.komi == 0.5:\n    while True: pass")
    yield Real("loops at a private board", source(spin), at_private)

    def small(test: Test) -> str | None:
        return None if test.size == 2 else right_reply(test)

    two = ("    def stones", "    def reset(self, size):\n        if size == 2: 1 / 0\n"
           "        return GtpConnection.reset(self, size)\n\n    def stones")  # fmt: skip
    yield Real("crashes in the setup of small boards", source(two), small)
    always = source(in_score("raise IndexError('list index out of range')"))
    yield Real("crashes at every test", always, lambda _: None)
    yield Real(
        "cannot import", source(("import os\n", "import os\nimport nowhere_to_be_found\n")), None
    )
    yield Real("syntax error", source(("def stones", "def stones(")), None)
    yield Real(
        "another Python's syntax", source(("import os\n", "import os\nprint 'hello'\n")), None
    )
    yield Real("never answers", source(at_start("time.sleep(1000)")), None)


def _slow() -> Iterator[Real]:
    burn = "t = time.process_time()\nwhile time.process_time() < t + {}: pass"
    half = burn.format(LIMIT / 3)
    lines = [f"    {line}" for line in half.splitlines()]
    once = "\n".join(["if self.size == 9 and self.komi == 6.5:", *lines])
    yield _right("computes a third of the limit", in_score(once))
    yield _right("starts slowly", at_start(burn.format(LIMIT / 6)))
    yield _right("waits before it answers", in_score("if self.size == 9: time.sleep(0.5)"))
    yield _right(
        "does not end at quit",
        ("import os\n", "import os\nimport threading\n"),
        at_start("threading.Thread(target=time.sleep, args=(1000,)).start()"),
    )


def _wrong() -> Iterator[Real]:
    def format_as_float(score: Fraction) -> str:
        return "0" if not score else f"{format_score(score)[:2]}{float(abs(score))}"

    komi = (" - self.komi\n", "\n")
    yield Real("komi ignored", source(komi), lambda test: format_as_float(test.score(Fraction(0))))
    neutral = ("len(colors) == 1", "colors")
    yield Real(
        "neutral to White", source(neutral), lambda test: format_as_float(test.score(neutral="w"))
    )
    draw = in_told('if score == 0: return "0.0"')

    def several(test: Test) -> str:
        score = test.score(neutral="w")
        return "0.0" if not score else format_as_float(score)

    yield Real("two things wrong", source(neutral, draw), several)
    zero = source(in_score("return 'B+1000'"))
    yield Real("knows nothing", zero, lambda _: "B+1000")
    yield Real(
        "whole numbers without a fraction",
        source(in_told("score = int(score) if score == int(score) else score")),
        lambda test: format_score(test.score()),
    )


def _protocol() -> Iterator[Real]:
    answer = "print('= ' + GtpConnectionGo1.right(self, args) + '\\n', flush=True)"
    keep = ("    def score_cmd(self, args):", "    def right(self, args):")

    def replace_score_command(body: str) -> tuple[tuple[str, str], ...]:
        lines = "".join(f"        {line}\n" for line in body.splitlines())
        return (keep, ("    def told", f"    def score_cmd(self, args):\n{lines}\n    def told"))

    yield _right("prints while it counts", in_score("print('counting', self.size, flush=True)"))
    yield _right("writes much to standard error", in_score("sys.stderr.write('x' * 200_000)"))
    yield _right(
        "repeats its answer", *replace_score_command(f"{answer}\nreturn self.right(args)")
    )
    two = replace_score_command("print('= B+1000\\n', flush=True)\nreturn self.right(args)")
    yield Real("answers twice, wrong first", source(*two), lambda _: "B+1000")
    tab = ("    def told", "    def respond(self, response=''):\n"
           "        print(f'=\\t{response}\\n', flush=True)\n\n    def told")  # fmt: skip
    yield _right("a tab before its answer", tab)
    lines = ("    def told", "    def respond(self, response=''):\n"
             "        print(f'= {response}\\r\\n\\r', flush=True)\n\n    def told")  # fmt: skip
    yield _right("lines that end with CR LF", lines)
    ids = (
        "    def get_cmd(self, command):\n"
        "        words = command.split()\n"
        "        self.id = words[0] if words and words[0].isdigit() else ''\n"
        "        GtpConnection.get_cmd(self, command)\n\n"
        "    def respond(self, response=''):\n"
        "        print('=%s %s\\n' % (ID, response), flush=True)\n\n    def told"
    )
    yield _right("repeats ids", ("    def told", ids.replace("ID", "self.id")))
    yield _right(
        "a tab after the id",
        ("    def told", ids.replace("ID", "self.id").replace("=%s %s", "=%s\\t%s")),
    )
    other = ids.replace("ID", "int(self.id) + 10 if self.id else ''")
    yield Real("ids of other tests", source(("    def told", other)), lambda _: "B+1000")
    forged = (
        "    def play_cmd(self, args):\n"
        "        GtpConnection.play_cmd(self, args)\n"
        "        print('= ' + self.right(args) + '\\n', flush=True)\n"
        "        return ''\n"
    )
    ahead = replace_score_command("return 'B+1000'")
    changes = (ahead[0], (ahead[1][0], forged + "\n" + ahead[1][1]))
    yield Real("answers before it is asked", source(*changes), lambda _: "B+1000")


def _archives() -> Iterator[Real]:
    files = source()
    renamed = {("go1.py" if name == "Go1.py" else name): one for name, one in files.items()}
    yield Real("its main file is called go1.py", renamed, None)
    gomoku = {
        "Gomoku3.py": (b"print('a game of five')\n", 0o644),
        "readme.txt": (b"Ada\n", 0o644),
        "presubmission.log": (LOG, 0o644),
    }
    yield Real("another assignment", gomoku, None)
    junk = {"._Go1.py": (b"\0\5\x16\7", 0o644), ".DS_Store": (b"\0\0\0\1Bud1", 0o644)}
    yield Real("made on a Mac", files | junk, right_reply)
    note = b"I will hand it in tomorrow, I promise.\n"
    yield Real("a text called .zip", {}, None, archive=note, name="a1.zip")
    yield Real("empty", {}, None, archive=b"")
    yield Real("an empty archive", {}, None, archive=tgz({}))
    wrapped = tgz(files, f"a1/{FOLDER}/")
    yield Real("a folder within a folder", files, right_reply, archive=wrapped)
    cached = {"__pycache__/Go1.cpython-39.pyc": (b"x", 0o644), "gtp_log": (b"10 score\n", 0o644)}
    yield Real("left-overs", files | cached, right_reply)
    no_log = {name: one for name, one in files.items() if name != "presubmission.log"}
    yield Real("no log", no_log, right_reply, log=False)
    changed = {"util/gtp_connection.py": (b"raise SystemExit\n", 0o644)}
    yield Real("brings a util of its own", files | changed, right_reply)


def _alike() -> Iterator[Real]:
    mine = (
        "        return list(self.board.values()).count(color)\n",
        "        return sum(1 for each in self.board.values() if each == color)\n",
    )
    yield _right("the first of three alike", mine)
    yield _right("the same bytes", mine)
    spaced = (mine[0], mine[1].replace("\n", "  # count them\n\n"))
    yield _right("other blanks and comments", spaced)


# --- on disk -----------------------------------------------------------------------------------


class Class(NamedTuple):
    """What :func:`make` wrote."""

    assignment: Path
    download: Path
    marks: dict[int, tuple[str, Fraction]]  # by Canvas id: label and mark
    temporary: frozenset[int]  # those that cannot run at level 1


def make(folder: Path, step: int = 1) -> Class:
    """Write the class into a folder; ``step``: every so-manyth submission of each kind."""
    generator = random.Random(2018)
    public = tuple(tuple(random_tests(generator, 8)) for _ in range(2))
    private = tuple(random_tests(generator, 18))
    assignment, download = folder / "go-scoring", folder / "download"
    (assignment / "private").mkdir(parents=True)
    (assignment / "util").mkdir()
    download.mkdir()
    (assignment / "assignment.toml").write_text(ASSIGNMENT)
    (assignment / "util" / "gtp_connection.py").write_text(UTIL)
    for number, tests in enumerate(public, 1):
        (assignment / f"public{number}.gtp").write_text(case_text(tests))
    (assignment / "private" / "private.gtp").write_text(case_text(private))
    marks = {}
    numbered = dict(enumerate(submissions(step), 4000))
    for number, real in numbered.items():
        marks[number] = real.label, real.mark(public, private)
        (download / student_file(number, real)).write_bytes(
            tgz(real.files) if real.archive is None else real.archive
        )
    temporary = frozenset(number for number, real in numbered.items() if real.temporary)
    return Class(assignment, download, marks, temporary)


def student_file(number: int, real: Real) -> str:
    """Return what Canvas calls it."""
    surname = "student" + "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return canvas_name(f"{surname}, Ada", number, 70_000 + number, real.name, real.late)
