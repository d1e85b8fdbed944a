"""``gtp-oracle`` as a program of its own, from this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = [sys.executable, "-m", "oracle"]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
    "PYTHONIOENCODING": "utf-8",
}


def gtp_oracle(*arguments, env=None, **options):
    """Run a command to its end and return its exit status and what it printed, as bytes."""
    return subprocess.run(
        [*WORDS, *arguments],
        env={**ENVIRONMENT, **(env or {})},
        capture_output=True,
        check=False,
        timeout=60,
        **options,
    )
