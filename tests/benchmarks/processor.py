"""What benchmarks take of processors."""

import os
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

_TICKS = os.sysconf("SC_CLK_TCK")


def processor(*whose: int) -> float:
    """Return the seconds of processors that this process and those it started have had.

    ``whose``: RUSAGE_SELF or RUSAGE_CHILDREN, for one of both. Children count once they ended.
    """
    return sum(sum(getrusage(who)[:2]) for who in whose or (RUSAGE_SELF, RUSAGE_CHILDREN))


def of_tree(pid: int, *, alone: bool = False) -> float:
    """Return the seconds of processors that a process has had.

    ``alone``: without those of the processes that it started, ended ones included.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, ended = fields[11:13], fields[13:15]
    if alone:
        return sum(map(int, own)) / _TICKS
    children = Path(f"/proc/{pid}/task/").glob("*/children")
    found = {int(one) for path in children for one in path.read_text().split()}
    return sum(map(int, own + ended)) / _TICKS + sum(map(of_tree, found))
