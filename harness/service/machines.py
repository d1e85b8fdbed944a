"""The machines of a cluster on which a service runs engines: connections and their state.

``python -m harness.service.machines`` is the process that speaks to the cluster; the settings come
as JSON on standard input. It outlives its scheduler: what is to be run waits.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.cluster import state as cluster_state
from harness.cluster.records import ConnectorSettings
from harness.core import signals
from harness.core.errors import NoClusterError, SandboxError
from harness.grading import SET_ASIDE
from harness.grading.attempts.orders import OtherMachines, SetAside
from harness.service import monitoring, processes
from harness.service.settings import Settings

if TYPE_CHECKING:
    from harness.cluster.dispatcher import Dispatcher


_PATIENCE = 20.0  # seconds of a job in which machines must be there: then others have their turn
_AUTO = "auto"
_LONGEST = 1 << 20  # bytes of remarks; those before are kept once more
_AN_HOUR = 3600.0  # seconds in which a remark is not made again that is to be made once


class Remark(NamedTuple):
    """Something that a person must know."""

    at: float  # seconds since 1970
    text: str


def folder(settings: Settings) -> Path:
    """Return the folder of this machine's hub."""
    return settings.cluster / socket.gethostname()


def connector_settings(settings: Settings) -> ConnectorSettings:
    """Return what is needed to reach the cluster."""
    return ConnectorSettings(
        settings.scheduler, settings.tls, settings.bytes_host, settings.bytes_port
    )


@contextlib.contextmanager
def cluster_machines(settings: Settings) -> Iterator[OtherMachines | None]:
    """Give the machines on which engines run; None: this one.

    Raises (in the block):
        NoClusterError: they cannot be reached, or none has what is needed.
    """
    if not settings.scheduler:
        yield None
        return
    from harness.cluster.connector_link import HubLink
    from harness.cluster.dispatcher import Dispatcher

    dispatcher = Dispatcher(
        connector_settings(settings),
        lambda text: remark(settings, text, once=True),  # each try of a job that waits says it
        lambda _: HubLink(folder(settings)),
        _PATIENCE,
        SetAside(settings.cluster / SET_ASIDE),
    )
    with contextlib.closing(dispatcher):
        yield _ClusterMachines(settings, dispatcher)


class _ClusterMachines:
    """Machines of a cluster, on which all engines of a service run at one sandbox level."""

    def __init__(self, settings: Settings, dispatcher: Dispatcher) -> None:
        self._settings = settings
        self._dispatcher = dispatcher
        self.run = dispatcher.run

    def level(self, choice: str) -> str:
        """Return the sandbox level; ``auto``: the strongest that a worker has, or ever had.

        So engines never get a weaker one than others got because a machine is away.
        """
        if choice != _AUTO:
            return choice
        held = self._settings.cluster / "levels"
        held.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = {path.name for path in held.iterdir()}
        try:
            found = self._dispatcher.level(_AUTO)
        except SandboxError as error:  # one that has a sandbox may come
            raise NoClusterError(str(error)) from None
        (held / found).touch()
        return max({found, *known})


def state(settings: Settings) -> cluster_state.HubState | None:
    """Return the state of the cluster; None if unknown yet or if engines run on this machine."""
    return cluster_state.read(folder(settings)) if settings.scheduler else None


def complaint(settings: Settings) -> str:
    """Return why the cluster keeps engines from running, or "" if it does not."""
    if not settings.scheduler:
        return ""
    found = state(settings)
    return found.complaint if found else "nothing is known of the cluster yet"


def set_aside(settings: Settings, since: float = 0.0) -> list[str]:
    """Return the machines that are no longer trusted, by when they were set aside."""
    kept = SetAside(settings.cluster / SET_ASIDE).read_kept()
    return sorted({one.name for one in kept if one.at >= since})


def remark(settings: Settings, text: str, *, once: bool = False) -> None:
    """Tell a person something; ``once``: unless it was told an hour ago or less."""
    now = time.time()
    if once and any(one.text == text for one in remarks(settings) if one.at > now - _AN_HOUR):
        return
    monitoring.warn(settings, text)
    path = _remarks(settings)
    with contextlib.suppress(OSError):
        monitoring.append_log(path, f"{json.dumps(Remark(now, text)._asdict())}\n")
        if path.stat().st_size > _LONGEST:
            path.replace(path.with_suffix(".old"))


def remarks(settings: Settings) -> list[Remark]:
    """Return what was told, the last first."""
    try:
        text = _remarks(settings).read_text(encoding="ascii")
    except FileNotFoundError:
        return []
    return [Remark(**json.loads(line)) for line in text.splitlines()][::-1]


def _remarks(settings: Settings) -> Path:
    return settings.cluster / "remarks.jsonl"


# --- The process that speaks to a cluster --------------------------------------------------------


def main() -> int:
    """Carry units for the workers of the service until a signal comes."""
    import asyncio

    from harness.cluster.hub import Hub

    signals.end_on_sigterm()
    settings = processes.begin()
    hub = Hub(connector_settings(settings), folder(settings), lambda text: remark(settings, text))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(hub.run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
