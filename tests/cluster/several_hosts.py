"""Grade a class on several hosts while they are disturbed; print what came of it as JSON.

``python -m tests.cluster.several_hosts STUDENTS SECONDS SEED``, within what
:func:`tests.cluster.lab.inside` makes.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select

from harness.grading.ledger import places
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.ledger_tables import RESULT
from harness.work import canonical_json
from harness.work.canonical_json import Measurements
from tests.cluster import invariants
from tests.cluster.disturbances import Storm
from tests.cluster.invariants import Written
from tests.cluster.lab import DATA, DATABASE, PORT, SCHEDULER, SERVER, WORKERS, Lab, slowing
from tests.cluster.parts import LEVEL, Cluster, Database, grading_alone, until
from tests.harness import small_class
from tests.harness.small_class import CLASS, Student

CASES = 8
_WAIT = 0.5  # seconds of each answer
_PATIENCE = 120.0  # seconds for a scheduler to be there
_LONG = 1500.0  # seconds of a grading, all its beginnings together
_OK, _BAD, _FAULT, _ATTENTION = 0, 2, 3, 4
_KILLED = -9
_NO_SENTENCES = ("Traceback", "Warning:")
# Right, wrong, dead, full of words: many of each. Of those whose result is in doubt, one.
_MANY = (*CLASS[:5], CLASS[6])
_ONE = CLASS[7]


class Wanted(NamedTuple):
    """What is asked for on the command line."""

    students: int
    seconds: float  # that a disturbance lasts
    seed: int


def pupils(count: int) -> tuple[Student, ...]:
    """Return a class in which no two hand in the same bytes, and all wait before they answer.

    So it takes its time on any machine, and there is some to be disturbed.
    """
    found = [_MANY[number % len(_MANY)] for number in range(count - 1)] + [_ONE]
    return tuple(
        one._replace(
            name=f"Pupil{number} {one.name.split()[1]}",
            body=f"time.sleep({_WAIT})\n    {one.body}  # {number}",
        )
        for number, one in enumerate(found)
    )


def make_class(folder: Path, count: int) -> None:
    """Write a class with CASES case files."""
    small_class.make(folder, pupils(count))
    known = len(small_class.CASES) + len(small_class.PRIVATE)
    for number in range(20, 20 + CASES - known):
        path = folder / "counting" / "private" / f"more-{number}.gtp"
        path.write_text(f"1 twice {number}\n#? [{2 * number}]\n")


class Trial:
    """A lab with a cluster in it, a class, and the class graded on one machine."""

    def __init__(self, wanted: Wanted) -> None:
        self.lab = Lab()
        self._home = self.lab.hosts[SERVER].home
        self._key = self._home / "key"
        self.wrong: list[str] = []
        make_class(self._home, wanted.students)
        self._database = Database(self.lab)
        self._cluster = Cluster(self.lab)
        self.parts = {DATABASE: self._database, SCHEDULER: self._cluster.scheduler()}
        self.parts |= {name: self._cluster.worker(name) for name in WORKERS}
        more = ("--ledger", self._database.address("ledger"), "--key", self._key)
        self.parts[SERVER] = self._cluster.grading(self._home, *more)

    # --- the trial ---

    def grade_alone(self) -> float:
        """Grade on one machine, with nothing disturbed; return how long it took."""
        begun = time.monotonic()
        part = grading_alone(self.lab.hosts[SERVER], self._home)
        part.start()
        until(lambda: part.look(well=(_OK, _ATTENTION)), _LONG)
        return time.monotonic() - begun

    def prepare(self) -> None:
        """Start what grading needs."""
        self.parts[SCHEDULER].start()
        self._database.prepare()
        until(lambda: self.lab.hosts[SERVER].reaches(*self._cluster.place), _PATIENCE)
        for name in WORKERS:
            self.parts[name].start()
            self._check_ways(name)

    def _check_ways(self, name: str) -> None:
        """See that a worker reaches the scheduler, and not the database by any way."""
        host = self.lab.hosts[name]
        database = self.lab.address(DATABASE, DATA), PORT[DATABASE]
        if not host.reaches(*self._cluster.place):
            self.wrong.append(f"{name} does not reach the scheduler")
        if host.reaches(*database):
            self.wrong.append(f"{name} reaches the database")
        host.inside("ip", "route", "add", "default", "via", self.lab.address(SERVER))
        if host.reaches(*database):
            self.wrong.append(f"{name} reaches the database by way of the server")

    def grade(self, storm: Storm) -> float:
        """Grade on the cluster while it is disturbed; return how long it took."""
        begun = time.monotonic()
        grading = self.parts[SERVER]

        def is_over() -> bool:
            storm.go_on()
            for name, part in self.parts.items():
                if name != SERVER:
                    part.look()
            return grading.look(well=(_OK, _ATTENTION))

        grading.start()
        with closing(storm):
            until(is_over, _LONG)
        self._database.wait()
        return time.monotonic() - begun

    # --- what came of it ---

    def check(self) -> dict[str, Any]:
        """Look at the ledger's own record; return the figures of it."""
        own = self._home / "alone" / "ledger.sqlite"
        with (
            closing(Ledger(places.of(own, None))) as undisturbed,
            closing(Ledger(places.of(self._database.address("ledger"), self._key))) as ledger,
        ):
            ledger.check()
            wanted = _states(ledger)
            written = _written(ledger)
            self.wrong += invariants.broken(wanted, written, WORKERS, f"level {LEVEL}")
            self.wrong += _differences(_settled(_written(undisturbed)), _settled(written))
            faults = ledger.states(wanted).values()
        if self._marks("alone") != self._marks("graded"):
            self.wrong.append("marks differ from those of the undisturbed run")
        return {
            "attempts": len(wanted),
            "results": len(written),
            "faults": sum(one.faults for one in faults),
            "on": Counter(one.machine for one in written),
        }

    def _marks(self, output: str) -> dict[str, str]:
        document = json.loads((self._home / output / "class.json").read_text())
        return {one["key"]: one["marks"]["total"]["exact"] for one in document["submissions"]}

    def look_at_logs(self) -> None:
        """See that nothing was shown but sentences, and that nobody gave up by himself."""
        for name, part in self.parts.items():
            text = part.log.read_text(errors="replace") if part.log.exists() else ""
            self.wrong += [f"{name} shows a {one}" for one in _NO_SENTENCES if one in text]
            if name != DATABASE and (odd := set(part.ends) - _expected(name, text)):
                self.wrong.append(f"{name} ended by itself: {sorted(odd)}")


def _expected(name: str, text: str) -> set[int]:
    """Return how a program may end; ``text``: what it has said."""
    if name in WORKERS:
        return {_KILLED}
    if name == SCHEDULER:
        return {_KILLED, _FAULT}
    full = {_BAD} if f"{os.strerror(errno.ENOSPC)}\n" in text else set()
    return {_KILLED, _OK, _FAULT, _ATTENTION} | full


def _states(ledger: Ledger) -> dict[str, str]:
    number, _ = ledger.last_run() or (0, None)
    bases = [one.basis for one in ledger.list_planned(number)]
    return {basis: one.state for basis, one in ledger.states(bases).items()}


def _written(ledger: Ledger) -> list[Written]:
    own = RESULT.c
    query = select(own.basis, own.number, own.token, own.last, own.result, own.figures)
    found = []
    for row in ledger.db.execute(query):
        figures = canonical_json.loads(Measurements, row.figures)
        where = (figures.machine, figures.sandbox)
        found.append(Written(row.basis, row.number, row.token, bool(row.last), *where, row.result))
    return found


def _settled(written: list[Written]) -> Mapping[str, str]:
    """Return what is believed of each attempt."""
    return {one.basis: one.result for one in sorted(written)}


def _differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return where the results of two gradings differ."""
    return [
        f"{basis}: alone {one.get(basis)}, disturbed {other.get(basis)}"
        for basis in sorted({*one, *other})
        if one.get(basis) != other.get(basis)
    ]


def main(words: list[str]) -> None:
    """Make the trial and print what came of it."""
    wanted = Wanted(int(words[0]), float(words[1]), int(words[2]))
    trial = Trial(wanted)
    report: dict[str, Any] = {**wanted._asdict(), "slowed by": " ".join(slowing())}
    storm = Storm(trial.parts, wanted.seed, wanted.seconds)
    try:
        report["alone"] = round(trial.grade_alone(), 1)
        trial.prepare()
        report["graded in"] = round(trial.grade(storm), 1)
        report |= trial.check()
        trial.look_at_logs()
    except (TimeoutError, json.JSONDecodeError, OSError) as error:
        trial.wrong.append(repr(error))
    report |= {"disturbances": storm.counts, "wrong": trial.wrong, "told": storm.told}
    report["ends"] = {name: part.ends for name, part in trial.parts.items()}
    report["logs"] = {
        name: part.log.read_text(errors="replace")[-4000:]
        for name, part in trial.parts.items()
        if part.log.exists()
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
