"""A machine on which others have work to do, and one whose clock jumps."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Every call moves the clock on the wall by a day, forth and back in turn.
_JUMPS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static long day(void) {
    static int calls;
    return 86400L * (++calls % 2 ? 1 : -1);
}

int clock_gettime(clockid_t clock, struct timespec *found) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, found);
    if (!failed && clock == CLOCK_REALTIME) found->tv_sec += day();
    return failed;
}

int gettimeofday(struct timeval *found, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) *found = now.tv_sec;
    return now.tv_sec;
}
"""


@contextlib.contextmanager
def busy(processes: int, cpu: int | None = None) -> Iterator[None]:
    """Let so many processes compute meanwhile. They end with this one at the latest.

    ``cpu``: the only one that they use; all others stay as they are.
    """
    pin = "" if cpu is None else f"os.sched_setaffinity(0, [{cpu}])\n"
    words = [sys.executable, "-S", "-c", f"import os\n{pin}while os.getppid() != 1: pass"]
    others = [subprocess.Popen(words, start_new_session=True) for _ in range(processes)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
        for one in others:
            one.wait()


def a_cpu() -> int:
    """Return a processor that this process may use."""
    return max(os.sched_getaffinity(0))


def jumping_clock(folder: Path, cc: str) -> dict[str, str]:
    """Return an environment in which the clock on the wall jumps."""
    source, library = folder / "jumps.c", folder / "jumps.so"
    source.write_text(_JUMPS)
    subprocess.run([cc, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}
