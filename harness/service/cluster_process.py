"""``python -m harness.service.cluster_process``: the process that speaks to a cluster.

The settings come as JSON on standard input. It outlives its scheduler: what is to be run waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

from harness import signals
from harness.cluster.hub import Hub
from harness.service import machines, processes


def main() -> int:
    """Carry units for the workers of the service until a signal comes."""
    signals.end_on_sigterm()
    settings = processes.begin()
    hub = Hub(
        machines.connector_settings(settings),
        machines.folder(settings),
        lambda text: machines.remark(settings, text),
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(hub.run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
