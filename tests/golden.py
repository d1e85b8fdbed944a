"""Golden files: what was right the last time somebody looked.

To accept a change: ``GTP_HARNESS_GOLDEN=write pytest``, then look at the difference before it is
committed.
"""

import os
from pathlib import Path


def check(path: Path, found: str) -> None:
    """Fail if ``found`` is not what the golden file holds."""
    data = found.encode()  # not as text: line ends count
    if os.environ.get("GTP_HARNESS_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert found == path.read_bytes().decode()
