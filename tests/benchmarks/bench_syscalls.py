"""Drawn system calls in each level, beside a secret, a canary process and listeners.

``--seconds`` (600) for each level. Nothing may be changed, read, reached or left.
"""

import os
import time

from harness.core.errors import SandboxError
from harness.sandbox import levels
from tests.harness.syscall_fuzzer import fuzz

SECONDS = 600.0


def main() -> None:
    """Print a line for each level."""
    seed = int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}, {SECONDS:g} s for each level")
    for level in (3, 2, 1):
        try:
            levels.make_proven(level).close()
        except SandboxError as error:
            print(f"  level {level}: {error}")
            continue
        begun = time.monotonic()
        outcome = fuzz(level, SECONDS, seed)
        took = time.monotonic() - begun
        print(
            f"  level {level}: {outcome.boxes:,} boxes, {outcome.drawn:,} calls in {took:.0f} s;"
        )
        for escape in outcome.escapes or ("nothing got out",):
            print(f"    {escape}", flush=True)
