"""Records as canonical JSON and back, so that the same result is always the same bytes.

A record is an object of its fields, a sequence a list; an enumeration is written as its value, a
fraction as ``"3/2"``, a time in ISO 8601. Keys are sorted, there are no blanks, and all is ASCII.
What a type does not say is not written: reading needs the type.

The result of a case file is stored in two parts. The *settled* one is what marks are made of; a
grading that was killed and went on has the very same as one that was left alone. Whatever differs
from run to run with an engine that always answers the same (times, what was measured, the folder
it was unpacked into) is in its :class:`Measurements`.
"""

from __future__ import annotations

import datetime
import enum
import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from harness import clock_changes
from harness.options import Options
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.records import CaseFile, Exchange, Failure, FileResult, Reply, Restart
from harness.sandbox import relocating

Record = TypeVar("Record")

_FORMERLY = {  # what fields were called in ledgers of before
    Failure: {"message": "text"},  # the whole sentence, its limit in it
}
NO_CASE = CaseFile("", (), ())
NOTHING = "null"  # the result where there was no program to be run
PLACE = "/submission"  # what is stored for the folder a submission was unpacked into
ENVIRONMENT = "/environment"  # and for that of its Python's own, which each machine has elsewhere
_TEXTS: dict[
    Any, tuple[Callable[[Any], str], Callable[[str], Any]]
] = {  # of the types that are written as text
    Fraction: (str, Fraction),
    datetime.datetime: (clock_changes.write, clock_changes.read_figures),
}

# Nearly all that a record is made of.
_ATOMS = frozenset({str, int, float, bool, NoneType})
# json.dumps makes an encoder each time.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


# --- any record --------------------------------------------------------------------------------


def dumps(value: object) -> str:
    """Return a record, or whatever else :func:`loads` reads, as canonical JSON."""
    return _encode(_plain(value))


def loads(kind: type[Record], text: str) -> Record:
    """Return the value of type ``kind`` that :func:`dumps` wrote."""
    value: Record = _trusting.of(kind)(json.loads(text))
    return value


def _plain(value: Any) -> Any:
    kind = type(value)
    return value if kind in _ATOMS else _writer(kind)(value)  # type: ignore[arg-type]


@cache
def _writer(kind: Any) -> Callable[[Any], Any]:
    """Return what makes the plain form of values of a type, worked out once for each type."""
    if issubclass(kind, enum.Enum):
        return lambda value: value.value
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _record_writer(kind._fields)
    if issubclass(kind, list | tuple):
        return lambda value: [_plain(part) for part in value]
    if issubclass(kind, frozenset):
        return lambda value: sorted(_plain(part) for part in value)
    if issubclass(kind, dict):
        return lambda value: {key: _plain(part) for key, part in value.items()}
    return _TEXTS[kind][0] if kind in _TEXTS else lambda value: value


def _record_writer(fields: tuple[str, ...]) -> Callable[[Any], dict[str, Any]]:
    atoms = _ATOMS  # most parts are atoms: for them, nothing is called

    def write_record(value: Any) -> dict[str, Any]:
        return {
            name: part if type(part) in atoms else _plain(part)
            for name, part in zip(fields, value, strict=True)
        }

    return write_record


class TypedReader:
    """Makes values of a type from their plain form; how, is worked out once for each type.

    This one trusts what it reads, which :func:`dumps` wrote.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Callable[[Any], Any]] = {}

    def of(self, kind: Any) -> Callable[[Any], Any]:
        """Return what makes a value of a type from its plain form."""
        if kind not in self._known:
            self._known[kind] = self._make(kind)
        return self._known[kind]

    def _make(self, kind: Any) -> Callable[[Any], Any]:
        if get_origin(kind) in (Union, UnionType):
            (other,) = set(get_args(kind)) - {NoneType}
            read = self.of(other)
            return lambda plain: None if plain is None else read(plain)
        if get_origin(kind) is tuple:
            return self._row(get_args(kind))
        return self._record(kind) if hasattr(kind, "_fields") else self._atom(kind)

    def _row(self, kinds: tuple[Any, ...]) -> Callable[[Any], Any]:
        if kinds[-1] is Ellipsis:
            read = self.of(kinds[0])
            return lambda plain: tuple([read(part) for part in plain])
        reads = [self.of(kind) for kind in kinds]
        return lambda plain: tuple([r(part) for r, part in zip(reads, plain, strict=True)])

    def _record(self, kind: Any) -> Callable[[Any], Any]:
        reads = {name: self.of(type_) for name, type_ in get_type_hints(kind).items()}
        today = {**{name: name for name in reads}, **_FORMERLY.get(kind, {})}
        return lambda plain: kind(
            **{today[name]: reads[today[name]](part) for name, part in plain.items()}
        )

    def _atom(self, kind: Any) -> Callable[[Any], Any]:
        if get_origin(kind) is frozenset:
            return frozenset
        if kind in _TEXTS:
            return _TEXTS[kind][1]
        is_enumeration = isinstance(kind, type) and issubclass(kind, enum.Enum)
        return kind if is_enumeration else lambda plain: plain


_trusting = TypedReader()


# --- the result of a case file -----------------------------------------------------------------


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
        said = item._replace(
            text=clean(item.text), raw=clean(item.raw), invalid=clean(item.invalid)
        )
        return said._replace(seconds=0.0, status=clean(item.status))

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
