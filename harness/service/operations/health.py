"""Whether a service could start, can do its work, and how far it is behind; as metrics, too."""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from harness.assignments import assignment, needs
from harness.core.errors import HarnessError, UsageError
from harness.core.network import is_this_machine
from harness.core.processes import processors
from harness.core.text import number_of
from harness.reading import shipped
from harness.sandbox import levels
from harness.service import machines, monitoring, processes
from harness.service.operations import data
from harness.service.people import mails, oidc
from harness.service.settings import Settings, read_address
from harness.service.storage import data_folder, database, people, queue
from harness.service.web.service import Service

LEAST_FREE = 1 << 30  # bytes of the disk with the data
LONGEST_WAIT = 1800.0  # seconds that a job may wait before somebody should look


class State(NamedTuple):
    """The state of a service at a moment."""

    trouble: str  # why the database cannot be used; else empty
    jobs: dict[tuple[str, str], int]  # by kind and state
    oldest: float  # seconds that the job which waits longest has waited; 0: none waits
    letters: dict[str, int]  # mails, by state
    workers: int
    free: int  # bytes
    cluster: str = ""  # why no engine can run on the cluster; empty if they can, or without one


def state(service: Service) -> State:
    """Return the state of a service."""
    jobs: dict[tuple[str, str], int] = {}
    letters: dict[str, int] = {}
    trouble, oldest = "", 0.0
    try:
        with service.database.reading() as db:
            jobs = queue.census(db)
            since, letters = queue.waiting_since(db), people.count_letters(db)
            oldest = max(time.time() - since, 0.0) if since else 0.0
    except HarnessError as error:
        trouble = str(error)
    settings = service.settings
    workers = monitoring.count_workers(settings.workers_folder)
    free = shutil.disk_usage(settings.data).free
    return State(trouble, jobs, oldest, letters, workers, free, machines.complaint(settings))


def get_figures(service: Service) -> monitoring.Found:
    """Return what this process counted and, if the database can be used, what workers did."""
    found = dict(service.requests.list_counts())
    with contextlib.suppress(HarnessError), service.database.reading() as db:
        found.update(queue.load_figures(db))
    return found


def complaints(status: State) -> Iterator[str]:
    """Yield a sentence for each reason why a service is not ready. Jobs at fault are none."""
    if status.trouble:
        yield "the database cannot be used"  # the log tells why: anybody may ask for this
    if not status.workers:
        yield "no worker lives"
    if status.cluster:
        yield status.cluster
    if status.oldest > LONGEST_WAIT:
        yield f"a job has waited for {status.oldest / 60:.0f} minutes"
    if status.free < LEAST_FREE:
        yield f"the disk is almost full: {status.free / 1e6:.0f} MB are left"


# --- The state of a service for Prometheus, in its text format (version 0.0.4) -------------------
# Queue, attempts and waits are rows that all processes share, and requests are counted in the one
# process that answers: no library is needed to add up the figures of several processes.

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "gtp_harness"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics_text(state: State, counts: monitoring.Found) -> str:
    """Return a state, and what was counted, as Prometheus reads them."""
    return "".join(f"{line}\n" for line in _metrics(state, counts))


def _metrics(status: State, counts: monitoring.Found) -> Iterator[str]:
    jobs: dict[monitoring.Labels, float] = {
        (("kind", kind), ("state", state)): count
        for (kind, state), count in sorted(status.jobs.items())
    }
    mails: dict[monitoring.Labels, float] = {
        (("state", state),): count for state, count in sorted(status.letters.items())
    }
    gauges: tuple[tuple[str, str, Mapping[monitoring.Labels, float]], ...] = (
        ("up", "Whether the database can be used.", {(): float(not status.trouble)}),
        ("jobs", "Jobs of the queue.", jobs),
        ("oldest_waiting_seconds", "How long the first job has waited.", {(): status.oldest}),
        ("mails", "Mails with links.", mails),
        ("workers", "Workers that live.", {(): status.workers}),
        ("disk_free_bytes", "Free bytes of the disk with the data.", {(): status.free}),
    )
    for name, description, values in gauges:
        yield from _head(name, description, "gauge")
        for labels, value in values.items():
            yield _sample(name, labels, value)
    for measure in monitoring.MEASURES:
        yield from _head(measure.name, measure.description, "histogram")
        ends = (*(f"{bound:g}" for bound in measure.bounds), "+Inf")
        for (name, labels), histogram in sorted(counts.items()):
            if name == measure.name:
                for end, count in zip(ends, accumulate(histogram.counts), strict=True):
                    yield _sample(f"{name}_bucket", (*labels, ("le", end)), count)
                yield _sample(f"{name}_sum", labels, histogram.total)
                yield _sample(f"{name}_count", labels, sum(histogram.counts))


def _head(name: str, description: str, kind: str) -> Iterator[str]:
    yield f"# HELP {_PREFIX}_{name} {description}"
    yield f"# TYPE {_PREFIX}_{name} {kind}"


def _sample(name: str, labels: monitoring.Labels, value: float) -> str:
    inner = ",".join(f'{key}="{label.translate(_ESCAPES)}"' for key, label in labels)
    return f"{_PREFIX}_{name}{f'{{{inner}}}' if inner else ''} {value:.17g}"


# --- ``serve --check``: whether a service could start with these settings. It changes nothing ----

Look = Callable[[Settings], str]  # raises HarnessError or OSError where something is not good


class Finding(NamedTuple):
    """The result of one check."""

    name: str
    is_good: bool
    message: str  # a sentence


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
        why = f"other users of this machine can read {exposed}: chmod -R go= {settings.data}"
        raise UsageError(why)
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
    rules = data.read_rules(settings.keep)
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
    launcher = levels.choose(wanted)
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
    return oidc.Provider(settings).probe() if settings.oidc else "by links alone"


def _cluster(settings: Settings) -> str:
    if not settings.scheduler:
        return "none: engines run on this machine"
    from harness.cluster import records, state, tls

    certificates = tls.papers(settings.scheduler, settings.tls, tls.SERVER)
    found = [one.facts for one in state.look(machines.connector_settings(settings)).workers]
    unfit = {one: why for one in found if (why := records.find_unfitness(one))}
    workers = [one for one in found if one not in unfit]
    if not workers:
        told = (f"; {one.machine} gets no work: {why}" for one, why in unfit.items())
        others = "".join(dict.fromkeys(told))
        why = f"no worker has come to the scheduler: gtp-harness worker starts one{others}"
        raise UsageError(why)
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
    "mail": mails.probe,
    "sign-in": _sign_in,
    "cluster": _cluster,
}
