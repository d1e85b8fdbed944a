"""Golden files: what was right the last time somebody looked.

To accept a change: ``GTP_HARNESS_GOLDEN=write pytest``, then look at the difference before it is
committed.
"""

import difflib
import os
from pathlib import Path


def check(path: Path, found: str) -> None:
    """Fail if ``found`` is not what the golden file holds."""
    data = found.encode()  # not as text: line ends count
    if os.environ.get("GTP_HARNESS_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    wanted = path.read_bytes().decode()
    assert found == wanted, _show_difference(wanted, found)


def _show_difference(wanted: str, found: str) -> str:
    """Return the lines that differ: of a long file, nobody would find them."""
    lines = [text.splitlines(keepends=True) for text in (wanted, found)]
    return "\n" + "".join(difflib.unified_diff(*lines, "golden", "found", n=1))
