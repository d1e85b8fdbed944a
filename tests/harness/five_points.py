"""What the made classes share: an assignment of five points, and a log that earns one of them."""

from __future__ import annotations

FOLDER = "assignment1"

ARCHIVE = f"""\
does_not_run = 0

[archive]
name = "a1.tgz"
folder = "{FOLDER}"
"""

MARKS = """\
[cases]
public = ["*.gtp"]
private = ["private/*.gtp"]
private_visible = "verdict"

[[marks]]
name = "log and readme"
points = 1
judged_by = "files"
rule = "all"

[[marks]]
name = "public tests"
points = 2
judged_by = "public"
rule = "share"

[[marks]]
name = "private tests"
points = 2
judged_by = "private"
rule = "share"

[late]
deduction = 20
"""


def log(command: str) -> bytes:
    """Return what a terminal recorded of unpacking an archive and running an engine."""
    prompt = "\x1b]0;ada@lab: ~\x07\x1b[01;32mada@lab\x1b[00m:~$ "
    lines = (
        'Script started on 2026-01-20 10:00:00+00:00 [TERM="xterm"]',
        f"{prompt}tar -xzf a1.tgz",
        f"{prompt}gtp-harness run -long '{command}' a.gtp",
        "10 passed",
        "20 passed",
        "1 file: 2 tests, \x1b[32m2 passed\x1b[0m",
        f"{prompt}exit",
        "Script done on 2026-01-20 10:01:00+00:00",
    )
    return "".join(f"{line}\r\n" for line in lines).encode()
