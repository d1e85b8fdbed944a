"""A worker does not outlive the process that it works for."""

from __future__ import annotations

import os
from signal import SIGTERM

from harness.sandbox.kernel import PR_SET_PDEATHSIG, prctl


def die_with_parent(parent: int) -> None:
    """Get SIGTERM when our parent ends, so that engines and folders do not stay behind.

    ``parent``: its id; where it has ended already, this process does so now.
    """
    prctl("die with parent", PR_SET_PDEATHSIG, SIGTERM)
    if os.getppid() != parent:
        raise SystemExit
