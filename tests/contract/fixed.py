"""Run a program of the product with secrets that are the same each time: its key and its seed.

``python fixed.py PROGRAM WORDS…``; whatever else is random stays so.
"""

import runpy
import secrets
import sys

_hex, _bytes = secrets.token_hex, secrets.token_bytes
secrets.token_hex = lambda size=None: "5eed" * 8 if size == 16 else _hex(size)
secrets.token_bytes = lambda size=None: bytes(range(32)) if size == 32 else _bytes(size)

if __name__ == "__main__":
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
