"""Build steps that use disk out of sight, and leave what is hard to clear away."""

import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attacks import CALLS, LATE, MIB, call, escaped, main, trying  # type: ignore[import-not-found]

Aim = dict[str, Any]
CALLS["fallocate"] = (285, 47)
_PAUSE = 0.03  # seconds for each megabyte, so that a busy machine is not an escape


def _use(aim: Aim, way: Callable[[], Iterator[None]]) -> None:
    """Use a megabyte of disk at each step, up to a quarter more than is allowed."""
    used, most = 0, aim["scratch"] * 5 // 4 + 2 * MIB
    for _ in way():
        used += MIB
        time.sleep(_PAUSE)
        if used > most:
            time.sleep(LATE)
            escaped(f"used {used // MIB} MiB of disk")
            return


def unlinked_disk(aim: Aim) -> None:
    """Write files, remove their names and keep them open."""
    kept = []

    def way() -> Iterator[None]:
        while True:
            file = os.open("hidden", os.O_CREAT | os.O_RDWR)
            os.unlink("hidden")
            os.write(file, bytes(MIB))
            kept.append(file)
            yield

    _use(aim, way)


def mapped_disk(aim: Aim) -> None:
    """Write files, remove their names and keep a page of each mapped."""
    kept = []

    def way() -> Iterator[None]:
        while True:
            with open("hidden", "w+b") as file:
                file.write(bytes(MIB))
                kept.append(mmap.mmap(file.fileno(), 4096))
            os.unlink("hidden")
            yield

    _use(aim, way)


def shut_folders(aim: Aim) -> None:
    """Write into a folder that nobody may read."""
    os.mkdir("shut")
    os.chmod("shut", 0o300)

    def way() -> Iterator[None]:
        for number in range(1000):
            with open(f"shut/{number}", "wb") as file:
                file.write(bytes(MIB))
            yield

    _use(aim, way)


def deep_disk(aim: Aim) -> None:
    """Write into a folder whose path is longer than any may be."""
    for _ in range(40):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)

    def way() -> Iterator[None]:
        for number in range(1000):
            with open(f"{number}", "wb") as file:
                file.write(bytes(MIB))
            yield

    _use(aim, way)


def reserved_disk(aim: Aim) -> None:
    """Reserve disk without writing to it, as much as a file may have at once."""
    for number in range(4):
        file = os.open(f"{number}", os.O_CREAT | os.O_RDWR)
        with trying("reserve disk"):
            call("fallocate", file, 0, 0, aim["file_size"])


def deep_folders(_aim: Aim) -> None:
    """Make folders within folders, 1,500 deep; the referee looks whether they are left."""
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")


def odd_names(_aim: Aim) -> None:
    """Make folders that nobody may enter, with names that are hard to say."""
    for name in (b"\xff\xfe", b"new\nline", b"-rf", b" ", b"x" * 255, b"\x1b[2J"):
        os.mkdir(name)
        with open(name + b"/" + name, "w"):
            pass
        os.chmod(name, 0)


if __name__ == "__main__":
    main(globals())
