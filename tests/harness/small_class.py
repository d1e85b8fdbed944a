"""A small class, quick to grade: an assignment, case files, and submissions of every kind.

:func:`make` writes a folder as Canvas gives it, with what each submission must get beside it.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

ASSIGNMENT = """\
title = "Counting"
specification = "go-scoring"

[archive]
name = "a1.tgz"
folder = "assignment1"

[files]
required = ["engine.py", "readme.txt"]
allowed = ["*.py"]

[engine]
command = "python3 {folder}/engine.py"

[cases]
public = ["*.gtp"]
private = ["private/*.gtp"]

[limits]
timeout = 20 # on the clock: who spins is ended by cpu, however busy the machine
startup = 10
cpu = 1

[[marks]]
name = "files"
points = 1
judged_by = "files"
rule = "all"

[[marks]]
name = "public"
points = 4
judged_by = "public"
rule = "share"

[[marks]]
name = "private"
points = 2
judged_by = "private"
rule = "all"

[late]
deadline = 2026-01-29T23:55:00
deduction = 20
"""

CASES = {
    "one.gtp": "1 twice 1\n#? [2]\n2 twice 2\n#? [4]\n",
    "two.gtp": "1 twice 3\n#? [6]\n2 twice 10\n#? [20]\n",
}
PRIVATE = {"three.gtp": "1 twice 7\n#? [14]\n2 twice 0\n#? [0]\n"}

ENGINE = """\
import os, sys, time

def twice(n):
    {body}

for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words and words[0].isdigit() else ""
    answer = str(twice(int(words[1]))) if words[0] == "twice" else ""
    print(f"={{number}} {{answer}}\\n", flush=True)
    if words[0] == "quit":
        break
"""


class Student(NamedTuple):
    """A student, the body of whose function is handed in, and the mark it must get of 7."""

    name: str
    body: str
    mark: Fraction | int
    late: bool = False


def spin(seconds: float) -> str:
    return f"end = time.process_time() + {seconds}\n    while time.process_time() < end: pass"


CLASS = (
    Student("Ada Right", "return 2 * n", 7),
    Student("Ben Late", "return n + n", Fraction(28, 5), late=True),
    Student("Cyd Wrong", "return 2 * n if n != 2 else 5", 6),
    Student("Dan Dies", "return 2 * n if n < 10 else os._exit(3)", 6),
    Student("Eve Complains", "sys.stderr.write(f'{__file__}\\n')\n    return 2 * n", 7),
    Student("Fay Slow", "time.sleep(0.2)\n    return 2 * n", 7),
    Student("Gus Silent", "sys.exit()", 0),
    Student("Hal Spins", "while n == 7: pass\n    return 2 * n", 5),
)
REFUSED = "Ivy Empty"  # hands in an empty file


def archive(files: dict[str, str], folder: str = "assignment1") -> bytes:
    """Return a .tgz of the files, the same bytes each time."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(written.getvalue(), mtime=0)


def submission(body: str) -> bytes:
    """Return what a student hands in."""
    return archive({"engine.py": ENGINE.format(body=body), "readme.txt": "Me.\n"})


def file_name(student: Student, number: int) -> str:
    """Return what Canvas calls it."""
    last = "".join(reversed(student.name.lower().split()))
    late = "_LATE" if student.late else ""
    return f"{last}{late}_{100 + number}_{900 + number}_a1.tgz"


def make(folder: Path, students: tuple[Student, ...] = CLASS) -> Path:
    """Write ``assignment`` and ``submissions`` into a folder; return the folder."""
    assignment, downloaded = folder / "counting", folder / "submissions"
    (assignment / "private").mkdir(parents=True)
    (assignment / "assignment.toml").write_text(ASSIGNMENT)
    for name, text in CASES.items():
        (assignment / name).write_text(text)
    for name, text in PRIVATE.items():
        (assignment / "private" / name).write_text(text)
    downloaded.mkdir()
    for number, student in enumerate(students):
        (downloaded / file_name(student, number)).write_bytes(submission(student.body))
    empty = Student(REFUSED, "", 0)
    (downloaded / file_name(empty, len(students))).write_bytes(b"")
    return folder
