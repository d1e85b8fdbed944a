"""A class as its teacher has it: an assignment, submissions with a list of them, gradebooks.

The programs that are submitted are the reference engine, or one with a mistake.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

ASSIGNMENT = """\
title = "Go scoring"
specification = "go-scoring"
does_not_run = 0.125

[archive]
name = "a1.tgz"
folder = "assignment1"

[files]
required = ["Go1.py", "readme.txt"]
allowed = ["*.py", "*.txt"]
left_out = ["*.pyc"]
forbidden = ["util/"]
log = "presubmission.log"

[engine]
command = "python3 {folder}/Go1.py"

[cases]
public = ["*.gtp"]
private = ["private/*.gtp"]
private_visible = "command"

[limits]
timeout = 60
startup = 60

[[marks]]
name = "log and readme"
points = 1
judged_by = "files"
rule = "all"

[[marks]]
name = "public tests"
points = 3
judged_by = "public"
rule = "share"
weights = { 'area.gtp:30' = 0.5 }

[[marks]]
name = "private tests"
points = 2
judged_by = "private"
rule = "share"

[late]
deadline = 2026-01-29T23:55:00
refused_after = 2026-02-05T23:55:00
deduction = 20
grace_minutes = 5
"""

AREA = r"""# Stones and territory.
boardsize 5
clear_board
komi 0.5
# One stone owns the whole board.
play b c3
10 score
#? [B\+24.5]

# White gets a stone in: the empty points touch both colors.
play w a1
20 score
#? [W\+0.5]

# A wall: three points for White in the corner.
play w b2
play w a3
play w b1
30 score
#? [W\+4.5]
"""
CAPTURES = r"""# A captured stone is gone.
boardsize 4
clear_board
komi 0
play w a1
play b a2
play b b1
10 score
#? [B\+16(\.0)?]
play w d4
20 score
#? [B\+2(\.0)?]
"""
HIDDEN = r"""# Two colors meet in the middle.
boardsize 6
clear_board
komi 3.5
play b b1
play b b2
play w e5
play w e6
10 score
#? [W\+3.5]
clear_board
play w f6
20 score
#? [W\+39.5]
30 score
#? [W\+39.5]
"""
ENGINE = """\
import runpy, sys
sys.argv = ["gtp-oracle", "gtp"{words}]
runpy.run_module("oracle", run_name="__main__")
"""
LOG = """\
Script started on 2026-01-29 20:00:00+00:00
$ tar -xzf a1.tgz
$ gogui-regress "python3 Go1.py" assignment1.gtp
$ exit
Script done on 2026-01-29 20:01:00+00:00
"""


def engine(mistake: str = "") -> str:
    return ENGINE.format(words=f', "--mistake", "{mistake}"' if mistake else "")


RIGHT = {"Go1.py": engine(), "readme.txt": "Me.\n", "presubmission.log": LOG}
WRONG = RIGHT | {"Go1.py": engine("neutral-points-to-white")}
# Of each student: the columns of the list but the file, and the files that are submitted.
SUBMITTED = {
    "ada": ("Lovelace, Ada,,2026-01-29 20:00", RIGHT),
    "bob": ("Bob Ünal,,2026-01-30 09:00", WRONG),
    "cat": ("Cat Stevens,,2026-01-29 23:59", RIGHT | {"Go1.py": engine("komi-cut-to-whole")}),
    "dan": ("Dan O'Neill,,", None),
    "eve": ("Eve,,2026-01-28 09:00", RIGHT | {"Go1.py": "import sys\nsys.exit('no')\n"}),
    "fay": ("=1+1,,2026-02-06 09:00", RIGHT),
    "gus": ("Gus,,2026-01-28 09:00", {"Go1.py": engine(), "util/x.py": ""}),
    "hal": ("Hal,7,2026-01-27 09:00", RIGHT | {"Go1.py": engine("points-add-up")}),
    "ivy": ("Ivy,7,", None),
    "kim": ("Kim,,2026-01-27 09:00", {}),
}
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Quiz (41),Go scoring (77),Current Score\r\n"
    ",,,,,,Manual Posting,\r\n"
    "    Points Possible,,,,,10,6,(read only)\r\n"
    '"Lovelace, Ada",4001,,ada,"A, B",9.00,,90\r\n'
    '"Ünal, Bob",4002,,bob,A,,3,\r\n'
    '"Stevens, Cat",4003,,cat,A,,,\r\n'
    '"O\'Neill, Dan",4004,,dan,A,,EX,\r\n'
    '"the third, Eve",4005,,eve,A,,,\r\n'
    '"=""Grissom, Gus""",4007,,gus,A,=1+1,,\r\n'
    '"9000, Hal",,,HAL,A,,,\r\n'
    '"Nobody, Here",4999,,nobody,A,,,\r\n'
)
MOODLE = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    'Participant 101,"Ada Lovelace",ada@example.org,"Submitted for grading",,"6,00",Yes,'
    '"Friday, 17 May 2024, 8:00 PM",-,\n'
    'Participant 102,"Bob Ünal",bob@example.org,,"2,50","6,00",Yes,-,-,"old, ""quoted""\nword"\n'
    'Participant 103,"Cat Stevens",cat@example.org,,,"6,00",No,-,-,\n'
    'Participant 999,"No Body",no@example.org,,,"6,00",Yes,-,-,\n'
)


def pack(files: dict[str, str]) -> bytes:
    """Return an archive, the same bytes each time."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"assignment1/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(written.getvalue(), mtime=0)


def lay(folder: Path) -> None:
    """Write all that a teacher has into a folder."""
    assignment = folder / "scoring"
    (assignment / "private").mkdir(parents=True)
    (assignment / "assignment.toml").write_text(ASSIGNMENT)
    (assignment / "area.gtp").write_text(AREA)
    (assignment / "captures.gtp").write_text(CAPTURES)
    (assignment / "private" / "hidden.gtp").write_text(HIDDEN)
    rows = ["student,name,group,time,file,login,canvas,moodle"]
    for number, (key, (columns, files)) in enumerate(SUBMITTED.items(), 1):
        if files is not None:
            (folder / f"{key}.tgz").write_bytes(pack(files) if files else b"")
        name, group, time = columns.rsplit(",", 2)
        file = f"{key}.tgz" if files is not None else ""
        ids = f"{key},{4000 + number},{100 + number}"
        rows.append(f'{key},"{name}",{group},{time},{file},{ids}')
    (folder / "list.csv").write_text("\n".join([*rows, ""]))
    (folder / "gradebook.csv").write_bytes(CANVAS.encode())
    (folder / "worksheet.csv").write_bytes(MOODLE.encode())
