"""A small game of a teacher's own, for tests of what is declared: stones in a row of points.

Stones are put on empty points in turn; ``count C`` is the number of a color's stones and points,
by ``mode``; ``list`` the empty points; ``over`` whether none is left. A reference writes each
start and each command that it hears into a file, so that tests see what it was asked.
"""

from __future__ import annotations

import sys
from pathlib import Path

ENGINE = """\
import sys
from pathlib import Path

LOG = Path(__file__).with_name("heard.txt")
WAYS = set(sys.argv[1:])
mode, size = "stones", 3


def note(text):
    if "log" in WAYS:
        with LOG.open("a") as log:
            log.write(text + "\\n")


def begin():
    global stones, turn
    stones, turn = {}, "b"


def free():
    names = [f"{'abcdefgh'[i]}1" for i in range(size)]
    return [name for name in names if name not in stones]


def played(color, name):
    global turn
    if color not in ("b", "w") or color != turn:
        return f'illegal move: "{color}" wrong color'
    if name not in free():
        return f'illegal move: "{name}" taken'
    stones[name] = color
    turn = "w" if color == "b" else "b"
    return ""


def answer(name, words):
    global mode, size
    if name == "boardsize":
        size = int(words[0])
        return begin()
    if name == "clear_board":
        return begin()
    if name == "mode":
        mode = words[0]
        return
    if name == "play":
        return played(*words)
    if name == "count":
        count = list(stones.values()).count(words[0])
        count = 2 * count if mode == "double" else count
        return f"{count}.0" if "fractions" in WAYS else count
    if name == "list":
        return " ".join(reversed(free()) if "turned" in WAYS else free()) or "none"
    if name == "over":
        return "yes" if not free() else "no"
    if name == "genmove":
        found = free()
        if not found:
            return "pass"
        chosen = found[-1] if "turned" in WAYS else found[0]
        played(words[0], chosen)
        return chosen
    if name == "solve":
        found = "unknown" if size > 2 else "b"
        return f"{found} {free()[0]}" if free() and found == "b" else found
    if name == "load":
        return Path(words[0]).read_text().strip()
    if name == "picture":
        return "\\n".join([str(WAYS), *stones])
    if name == "die":
        sys.exit(3)
    if name == "list_commands":
        return "\\n".join("boardsize clear_board play mode count list over genmove".split())
    raise ValueError(name)


begin()
note("start")
for line in sys.stdin:
    note(line.strip())
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    if words[0] == "quit":
        print(f"={number}\\n", flush=True)
        break
    try:
        text = answer(words[0], words[1:])
        print(f"={number} {'' if text is None else text}\\n", flush=True)
    except Exception as error:
        print(f"?{number} {error}\\n", flush=True)
"""

DECLARED = """\
[reference]
command = "python3 row.py log"
sandbox = "off"

[game]
sizes = [2, 3, 4]
refused = "illegal move"
over = { ask = "over", is = "yes" }

[[command]]
name = "mode"
kind = "sets"
arguments = [["stones", "double"]]

[[command]]
name = "count"
arguments = ["color"]

[[command]]
name = "list"
reply = "any order"

[[command]]
name = "over"

[[command]]
name = "genmove"
instead = ["pass"]
"""

HANDED_IN = """\
title = "A row"

[archive]
name = "row.tgz"
folder = "row"

[files]
required = ["row.py"]
allowed = []

[engine]
command = "python3 {folder}/row.py"

[cases]
public = ["*.gtp"]

[[marks]]
name = "public tests"
points = 2
judged_by = "public"
rule = "share"

[late]
deduction = 0

"""


def lay(folder: Path, declared: str = DECLARED, engine: str = ENGINE) -> Path:
    """Lay the reference and its declaration into a folder; return the declaration's path."""
    (folder / "row.py").write_text(engine)
    path = folder / "row.toml"
    path.write_text(declared)
    return path


def command(folder: Path, *ways: str) -> str:
    """Return the command of an engine of the game."""
    return " ".join([sys.executable, str(folder / "row.py"), *ways])


def read_sent_commands(folder: Path) -> list[str]:
    """Return what the reference was sent, with ``start`` for each of its processes."""
    log = folder / "heard.txt"
    return log.read_text().splitlines() if log.exists() else []
