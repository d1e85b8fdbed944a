"""The command that starts another process of this package."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOM = Path(__file__).resolve().parents[2]
# Not "-m": the current folder may have another harness. No garbage is looked for while modules are
# loaded, nor later in what was loaded: it stays.
_TURN = (
    "import gc, sys; gc.disable(); sys.path.insert(0, sys.argv.pop(1));"
    " from PACKAGE.__main__ import main;"
    " gc.freeze(); gc.enable(); sys.exit(main(sys.argv[1:]))"
)


def command(package: str, *options: str) -> list[str]:
    """Return what starts the ``main`` of a package, such as ``harness.work``, with options."""
    turn = _TURN.replace("PACKAGE", package)
    return [sys.executable, "-P", "-c", turn, str(_ROOM), *options]
