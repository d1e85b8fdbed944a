"""``serve --check``: whether a service could start with these settings. It changes nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness import shipped
from harness.assignments import assignment, needs
from harness.errors import HarnessError, UsageError
from harness.loopback import is_this_machine
from harness.processes import processors
from harness.sandbox import levels
from harness.service import machines, monitoring, processes
from harness.service.operations import pruning
from harness.service.operations.state import LEAST_FREE
from harness.service.people import mail_server
from harness.service.settings import Settings, read_address
from harness.service.storage import data_folder, database
from harness.service.web import service
from harness.text import number_of

Look = Callable[[Settings], str]  # raises HarnessError or OSError where something is not good


class Finding(NamedTuple):
    """The result of one check."""

    name: str
    is_good: bool
    said: str  # a sentence


def check(settings: Settings) -> Iterator[Finding]:
    """Yield the result for each thing that a service needs, as soon as it is known."""
    for name, look in LOOKS.items():
        yield of(name, look, settings)


def of(name: str, look: Look, settings: Settings) -> Finding:
    """Return the result of one check."""
    try:
        return Finding(name, True, look(settings))
    except HarnessError as error:
        return Finding(name, False, str(error))
    except OSError as error:
        return Finding(name, False, f"{error.filename or name}: {error.strerror or error}")


def _settings(settings: Settings) -> str:
    host = read_address(settings).hostname
    if not settings.is_secure and not is_this_machine(host or ""):
        raise UsageError(
            f"{settings.base} is not encrypted: put a server with TLS in front, and give its"
            " address by --address https://…"
        )
    return settings.base


def _port(settings: Settings) -> str:
    """Name the port; it is good if this very service answers there already."""
    try:
        with processes.open_socket(settings.host, settings.port):
            return f"{settings.port or 'any'} of {settings.host} is free"
    except UsageError:
        if not monitoring.count_workers(settings.workers_folder):
            raise
        return f"{settings.port} of {settings.host} is in use, by this service it seems"


def _folder(settings: Settings) -> str:
    folder = _nearest(settings.data)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from None
    if exposed := data_folder.find_exposed(settings.data):
        raise UsageError(
            f"other users of this machine can read {exposed}: chmod -R go= {settings.data}"
        )
    return str(folder) if folder == settings.data else f"{settings.data} will be made"


def _nearest(path: Path) -> Path:
    """Return a path, or the first thing above it, that exists."""
    return next(one for one in (path, *path.parents) if one.exists())


def _zone(settings: Settings) -> str:
    now = data_folder.find_zone()
    if why := data_folder.explain_other_zone(settings.data, now):
        raise UsageError(why)
    return now.name


def _keep(settings: Settings) -> str:
    """Name the times after which old data goes."""
    rules = pruning.read(settings.keep)
    told = (f"{kind} {'forever' if days is None else days}" for kind, days in rules.items())
    return f"days: {', '.join(told)}"


def _disk(settings: Settings) -> str:
    free = shutil.disk_usage(_nearest(settings.data)).free
    said = f"{free / 1e9:.1f} GB are free"
    if free < LEAST_FREE:
        raise UsageError(f"{said}, expected {LEAST_FREE / 1e9:.1f} GB at least")
    return said


def _sandbox(settings: Settings) -> str:
    if settings.scheduler:
        return "on the cluster: see there"
    if settings.sandbox == "off":
        return "off: everybody's programs run with all your rights"
    wanted = settings.sandbox
    launcher = levels.strongest() if wanted == "auto" else levels.make_proven(int(wanted))
    try:
        return levels.describe_level(launcher.level)
    finally:
        launcher.close()


def _tools(settings: Settings) -> str:
    """Say which programs of the assignments that ship are missing: a course may need none."""
    if settings.scheduler:
        return "on the cluster: a submission goes only to a worker that has them"
    missing: dict[str, list[str]] = {}
    for name in shipped.names():
        for tool in needs.of(assignment.find(name)):
            if not tool.path:
                missing.setdefault(f"{tool.name} (apt install {tool.package})", []).append(name)
    told = [f"{tool} is missing, for {', '.join(who)}" for tool, who in missing.items()]
    return "; ".join(told) or "all that the assignments that ship need"


def _processors(settings: Settings) -> str:
    cores = processors()
    if settings.scheduler:
        return f"{settings.workers} submissions at a time, on the cluster"
    if settings.workers > cores:
        raise UsageError(f"{settings.workers} workers, but only {cores} cores: see --workers")
    return f"{settings.workers} of {cores} cores"


def _sign_in(settings: Settings) -> str:
    provider = service.open_provider(settings)
    return provider.probe() if provider else "by links alone"


def _cluster(settings: Settings) -> str:
    if not settings.scheduler:
        return "none: engines run on this machine"
    from harness.cluster import roles, rules, status_query, tls

    certificates = tls.papers(settings.scheduler, settings.tls, roles.SERVER)
    found = [one.facts for one in status_query.look(machines.connector_settings(settings)).workers]
    unfit = {one: why for one in found if (why := rules.find_unfitness(one))}
    workers = [one for one in found if one not in unfit]
    if not workers:
        told = (f"; {one.machine} gets no work: {why}" for one, why in unfit.items())
        others = "".join(dict.fromkeys(told))
        raise UsageError(
            f"no worker has come to the scheduler: gtp-harness worker starts one{others}"
        )
    levels = sorted({level for one in workers for level in one.levels}, reverse=True)
    until = certificates and f"; certificates are good until {certificates.good_until():%Y-%m-%d}"
    return f"{number_of(len(workers), 'worker')}, sandbox levels {', '.join(levels)}{until or ''}"


LOOKS: dict[str, Look] = {
    "address": _settings,
    "port": _port,
    "data": _folder,
    "zone": _zone,
    "disk": _disk,
    "keep": _keep,
    "database": database.probe,
    "sandbox": _sandbox,
    "workers": _processors,
    "tools": _tools,
    "mail": mail_server.probe,
    "sign-in": _sign_in,
    "cluster": _cluster,
}
