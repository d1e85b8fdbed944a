"""A unit of work as plain data, the events that a worker reports, and results as they are kept.

What a digest stands for is looked for where the unit says that it lies and, failing that, in the
stores that the worker was given.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.core.errors import UsageError
from harness.core.options import BoxLimits, Limits, Options
from harness.core.records import Build, CaseFile, Exchange, Failure, FileResult, Reply, Restart
from harness.environments.interpreters import EnginePython
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.sandbox import relocating
from harness.work import canonical_json

VERSION = 1  # of units and words

NO_CASE = CaseFile("", (), ())
NOTHING = "null"  # the result where there was no program to be run
PLACE = "/submission"  # what is stored for the folder a submission was unpacked into
ENVIRONMENT = "/environment"  # and for that of its Python's own, which each machine has elsewhere


class UnitFile(NamedTuple):
    """A file of a folder."""

    name: canonical_json.Name
    sha256: canonical_json.Sha256


class Folder(NamedTuple):
    """Files that lie together."""

    name: str  # that it has
    files: tuple[UnitFile, ...]
    place: str = ""  # where it lies; "" or not there: to be laid out from a store


class UnitSubmission(NamedTuple):
    """The submission, and what of it counts."""

    key: str  # whose it is
    sha256: canonical_json.Sha256  # of the archive
    root: str  # what the names of its own files begin with in the archive
    kept: tuple[str, ...]  # its files by their names below root
    path: str = ""  # of the archive; "" or not there: in a store


class UnitCase(NamedTuple):
    """A case file to be run."""

    basis: str  # what the result is known by
    name: str  # of the file
    sha256: canonical_json.Sha256
    beside: tuple[UnitFile, ...] = ()  # what its commands name, by names from its folder
    # Where it lies, and with it what is beside it. Its own bytes may be in a store all the same.
    place: str = ""
    is_image: bool = False  # of another case file: its tests give no points
    machine: str = ""  # of a cluster, where it was run before


class Environment(NamedTuple):
    """In what engines run."""

    sandbox: canonical_json.Level
    python: EnginePython | None = None  # None: the system's
    hidden: tuple[str, ...] = ()  # paths that no engine may see


class WorkUnit(NamedTuple):
    """A submission with the case files that are to be run."""

    unit: int  # VERSION
    submission: UnitSubmission
    build: str  # what the result of its build is known by
    cases: tuple[UnitCase, ...]
    assignment: Folder
    course: Folder | None  # laid beside the submission
    environment: Environment
    limits: Limits
    box: BoxLimits
    alone: bool  # nothing else is running: what is measured counts
    budget: float  # seconds of wall time for all its case files
    spent: float = 0.0  # seconds of that
    # Seconds that this machine computes for what the reference machine does in one: what engines
    # compute is limited and told in seconds of that one. 0: in those of this machine.
    pace: float = 0.0
    # Names of commands, "" for the start: at which the submission hung alone, for the full limit,
    # and which it answers later than the short limit; see harness.running.hangs.ShortLimits.
    hung: tuple[str, ...] = ()
    patient: tuple[str, ...] = ()
    why: str = ""  # it is run alone, for people who watch


def read_unit(text: str | bytes, source: str) -> WorkUnit:
    """Return the unit that a document of JSON is.

    Raises:
        UsageError: it is not one, or of another version.
    """
    unit = canonical_json.read(WorkUnit, text, source)
    if unit.unit != VERSION:
        raise UsageError(f"{source}.unit: found version {unit.unit}, expected {VERSION}")
    return unit


# --- The result of a case file: the settled one, and what was measured ---------------------------
# The *settled* result is what marks are made of. A grading that was killed and went on has the
# same as one that was left alone. Whatever differs from run to run with an engine that always
# answers the same (times, what was measured, the folder it was unpacked into) is in its
# :class:`Measurements`.


class Measurements(NamedTuple):
    """Measurements of one run of a case file, in seconds and bytes; 0 if unknown."""

    seconds: float = 0.0  # wall time of the file's commands
    cpu: float = 0.0  # CPU time of the engine and all it started
    memory: int = 0  # the most it held
    engine_cpu: float = 0.0  # what the engine itself says, by cputime
    replies: tuple[float, ...] = ()  # seconds of each reply that came, the harness's own too
    own_cpu: float = 0.0  # CPU time of the harness's own
    started: str = ""  # ISO 8601, UTC
    pid: int = 0  # of the harness's process
    alone: bool = False  # nothing else was running
    sandbox: str = ""
    python: str = ""  # that ran the engine; empty: none
    machine: str = ""  # of a cluster, where it was run; empty: where the grading was
    pace: float = 0.0  # by which CPU time and what engines computed was divided
    late: bool = False  # a hang that was none, perhaps, or SIGKILL: only another run tells


def without_places(text: str, folder: str, environment: str = "") -> str:
    """Return a text without the names that folders happen to have on this machine.

    ``folder``: where the submission was unpacked. ``environment``: of its Python; empty: none.
    """
    found = text.replace(relocating.room_in(folder), PLACE).replace(folder, PLACE)
    return found.replace(environment, ENVIRONMENT) if environment else found


def strip_measurements(result: FileResult, folder: str, environment: str = "") -> FileResult:
    """Return a result without its case file, and without anything that was measured.

    ``folder``: where the submission was unpacked, a name made for this one run.
    ``environment``: the folder of its Python environment; empty if it has none.
    """

    def clean(text: str) -> str:
        return without_places(text, folder, environment)

    def reply(item: Reply | None) -> Reply | None:
        if item is None:
            return None
        said = item._replace(seconds=0.0, text=clean(item.text), raw=clean(item.raw))
        return said._replace(invalid=clean(item.invalid), status=clean(item.status))

    def exchange(item: Exchange) -> Exchange:
        kept = reply(item.reply)
        if kept and item.text == "cputime":
            kept = kept._replace(text="", raw=kept.raw[:1])
        return Exchange(item.text, kept)

    def failure(item: Failure) -> Failure:
        return item.without_measurements._replace(text=clean(item.text), rest=clean(item.rest))

    def restart(item: Restart) -> Restart:
        return item._replace(sent=tuple(map(exchange, item.sent)))

    return result._replace(
        case=NO_CASE,
        outcomes=tuple(one._replace(reply=None) for one in result.outcomes),
        replies=tuple(map(reply, result.replies)),
        before=tuple(map(exchange, result.before)),
        after=tuple(map(exchange, result.after)),
        warnings=tuple(map(clean, result.warnings)),
        failures=tuple(map(failure, result.failures)),
        restarts=tuple(map(restart, result.restarts)),
        stderr=clean(result.stderr),
        seconds=0.0,
        cpu_seconds=0.0,
    )


def get_measurements(result: FileResult) -> Measurements:
    """Return what a result itself knows of its times."""
    before, after = ([one.reply for one in part] for part in (result.before, result.after))
    again = [one.reply for restart in result.restarts for one in restart.sent]
    replies = (*before, *result.replies, *after, *again)
    seconds = tuple(round(reply.seconds, 6) for reply in replies if reply)
    return Measurements(round(result.seconds, 6), engine_cpu=result.cpu_seconds, replies=seconds)


def add_measurements(result: FileResult, case: CaseFile, figures: Measurements) -> FileResult:
    """Return a settled result with its case file and its times, as the reports want it."""
    times = iter(figures.replies)

    def add_time(reply: Reply | None) -> Reply | None:
        return reply and reply._replace(seconds=next(times, 0.0))

    def exchanges(items: Sequence[Exchange]) -> tuple[Exchange, ...]:
        return tuple(Exchange(one.text, add_time(one.reply)) for one in items)

    judged = dialect_of(case, find_dialect(Options().dialect)).judged or (lambda reply: reply)

    def as_judged(reply: Reply | None) -> Reply | None:
        return reply and judged(reply)

    before = exchanges(result.before)
    replies = tuple(map(add_time, result.replies))
    after = exchanges(result.after)
    restarts = tuple(Restart(one.step, exchanges(one.sent)) for one in result.restarts)
    return result._replace(
        case=case,
        before=before,
        replies=replies,
        after=after,
        restarts=restarts,
        outcomes=tuple(
            one._replace(reply=as_judged(replies[one.step])) for one in result.outcomes
        ),
        seconds=figures.seconds,
        cpu_seconds=figures.engine_cpu,
    )


# --- Events that a worker reports while it runs a unit: one line of JSON for each ----------------
# Every line is an object with the name of the event and its fields. :class:`UnitFinished` comes
# last. A worker whose units others share also asks before each case file (:class:`Claim`), and
# reads a line as the answer (:class:`Granted`).
#
# Three kinds of failure stay apart. ``done`` with ``failed`` means that the submission failed a
# test; its result has a failure if the engine failed. ``broke``, and ``ended`` with a fault, mean
# a harness error, which says nothing about the submission.


class CaseStarted(NamedTuple):
    """A case file was started."""

    basis: str


class CaseProgress(NamedTuple):
    """A test was judged. Not each is told of: about one in a second, for people who watch."""

    basis: str
    step: int  # index of the test in its case file


class CaseProlonged(NamedTuple):
    """An engine computes without an answer, and has its full limit at once."""

    basis: str
    seconds: float  # the limit


class BuildFinished(NamedTuple):
    """The build steps have run."""

    basis: str
    build: Build
    seconds: float


class AttemptFinished(NamedTuple):
    """A case file has run."""

    basis: str
    result: str  # canonical JSON; in a line, what it says
    figures: Measurements
    failed: bool  # something is wrong with the submission
    doubtful: bool  # it is to be rerun, alone


class HarnessFailed(NamedTuple):
    """A harness error kept a case file from running."""

    basis: str
    message: str


class EngineHung(NamedTuple):
    """The engine hung once more for its full limit."""

    basis: str


class Claim(NamedTuple):
    """Ask whether to run a case file; another worker may run it, or have run it."""

    case: int  # index in the unit


class ClaimLonger(NamedTuple):
    """Ask whether an engine that computes without an answer may have its full limit at once."""

    case: int  # index in the unit


class UnitFinished(NamedTuple):
    """The unit has ended."""

    fault: str = ""  # the harness error, if there was one
    details: str = ""  # a traceback
    later: bool = False  # the case file under way, and the rest, are to be run after all others


class Granted(NamedTuple):
    """The answer to a claim."""

    granted: bool
    hangs: int  # of the submission so far, in all workers
    later: bool = False  # end the unit: its rest is handed out again when nobody else waits


AttemptEvent = BuildFinished | AttemptFinished | HarnessFailed
ProgressEvent = CaseStarted | CaseProgress | CaseProlonged  # which nothing depends on
WorkerEvent = (
    CaseStarted
    | CaseProgress
    | CaseProlonged
    | BuildFinished
    | AttemptFinished
    | HarnessFailed
    | EngineHung
    | Claim
    | ClaimLonger
    | UnitFinished
)

# The names are those of the lines, which other programs read and write.
_BY_NAME: dict[str, type[Any]] = {
    "begun": CaseStarted,
    "judged": CaseProgress,
    "prolonged": CaseProlonged,
    "built": BuildFinished,
    "done": AttemptFinished,
    "broke": HarnessFailed,
    "hung": EngineHung,
    "claim": Claim,
    "longer": ClaimLonger,
    "ended": UnitFinished,
}
_NAMES = {one: name for name, one in _BY_NAME.items()}
_RESULT = "result"


def line(event: WorkerEvent) -> bytes:
    """Return an event as a line of JSON."""
    found = canonical_json.dumps(
        event._replace(result="") if isinstance(event, AttemptFinished) else event
    )
    if isinstance(event, AttemptFinished):  # it is canonical already
        found = found.replace(f'"{_RESULT}":""', f'"{_RESULT}":{event.result}', 1)
    return f'{{"word":"{_NAMES[type(event)]}",{found[1:]}\n'.encode()


def kind_of(text: bytes) -> type[Any]:
    """Return the kind of event that a line of :func:`line` is; nothing else of it is read.

    Raises:
        UsageError: it is not such a line.
    """
    before, _, rest = text.partition(b'":"')
    name = rest.partition(b'"')[0].decode(errors="replace")
    if before != b'{"word' or name not in _BY_NAME:
        raise UsageError(f"found {text[:60]!r}, expected a word of a worker")
    return _BY_NAME[name]


def parse(text: bytes) -> tuple[WorkerEvent, Any]:
    """Return the event of a line, and its result as JSON, if it has one.

    Raises:
        UsageError: it is not an event.
    """
    try:
        found = json.loads(text)
        kind = _BY_NAME[found.pop("word")]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise UsageError(f"found {text[:60]!r}, expected a word of a worker") from None
    result = None
    if kind is AttemptFinished and _RESULT in found:
        result = found[_RESULT]
        found[_RESULT] = json.dumps(result, sort_keys=True, separators=(",", ":"))
    return canonical_json.value(kind, found, f"the word {_NAMES[kind]!r}"), result


def event_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line."""
    schemas = []
    for name, kind in _BY_NAME.items():
        found = canonical_json.schema(kind)
        properties = {"word": {"const": name}, **found["properties"]}
        if kind is AttemptFinished:
            properties[_RESULT] = {"type": ["object", "null"]}
        schemas.append(
            {**found, "properties": properties, "required": ["word", *found["required"]]}
        )
    return {"oneOf": schemas}
