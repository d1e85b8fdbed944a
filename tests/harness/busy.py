"""A machine on which others have work to do."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Let so many processes compute meanwhile. They end with this one at the latest."""
    words = [sys.executable, "-S", "-c", "import os\nwhile os.getppid() != 1: pass"]
    others = [subprocess.Popen(words, start_new_session=True) for _ in range(processes)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
        for one in others:
            one.wait()
