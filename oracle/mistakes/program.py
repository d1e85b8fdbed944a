"""``gtp-oracle gtp --mistake NAME``: the engine that makes one mistake, as a program."""

from __future__ import annotations

import sys
import time

from oracle.mistakes import Hang, listing, mistaken_engine, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.gtp.protocol import Engine


def main(options: dict[str, str], serve: Callable[[Engine], None]) -> int:
    """Serve a mistaken engine, or list the mistakes; return the exit status.

    Where the mistake is to hang or to crash, so does the program.
    """
    name = options["--mistake"]
    if name == "list":
        sys.stdout.write(listing())
        return 0
    try:
        mistake = named(name)
    except ValueError as error:
        sys.stderr.write(f"gtp-oracle gtp: {error}\n")
        return 2
    try:
        serve(mistaken_engine(mistake, int(options["--seed"]), int(options["--playouts"])))
    except Hang:
        while True:
            time.sleep(3600)
    except Exception as error:  # noqa: BLE001 - a mistaken program may fail in any way
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
