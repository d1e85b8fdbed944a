"""What benchmarks take of processors."""

from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage


def processor(*whose: int) -> float:
    """Return the seconds of processors that this process and those it started have had.

    ``whose``: RUSAGE_SELF or RUSAGE_CHILDREN, for one of both. Children count once they ended.
    """
    return sum(sum(getrusage(who)[:2]) for who in whose or (RUSAGE_SELF, RUSAGE_CHILDREN))
