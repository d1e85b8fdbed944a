"""Grade a class on several hosts while they are disturbed; print what came of it as JSON.

``python -m tests.cluster.several_hosts STUDENTS SECONDS WAIT SEED``, within what
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

from harness.cluster.records import ConnectorSettings
from harness.grading.ledger import places
from harness.grading.ledger.ledger import AttemptState, Ledger
from harness.grading.ledger.ledger_tables import ATTEMPT, RESULT
from harness.work import canonical_json
from harness.work.records import Measurements
from tests.cluster import invariants
from tests.cluster.disturbances import Starts, Storm
from tests.cluster.invariants import Written
from tests.cluster.lab import (
    DATA,
    DATABASE,
    OURS,
    PORT,
    SCHEDULER,
    SERVER,
    WORK,
    WORKERS,
    Lab,
    slowing,
)
from tests.cluster.parts import LEVEL, Cluster, Database, grading_alone, until
from tests.cluster.watcher import Watcher
from tests.harness import small_class
from tests.harness.small_class import CLASS, Student

CASES = 8
_PATIENCE = 600.0  # seconds for a scheduler to be there, or a first result
_LONG = 6000.0  # seconds of a grading, all its beginnings together
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
    wait: float  # seconds of each answer
    seed: int


def pupils(count: int, wait: float) -> tuple[Student, ...]:
    """Return a class in which no two hand in the same bytes, and all wait before they answer.

    So it takes its time on any machine, and there is some to be disturbed.
    """
    found = [_MANY[number % len(_MANY)] for number in range(count - 1)] + [_ONE]
    return tuple(
        one._replace(
            name=f"Pupil{number} {one.name.split()[1]}",
            body=f"time.sleep({wait})\n    {one.body}  # {number}",
        )
        for number, one in enumerate(found)
    )


def make_class(folder: Path, wanted: Wanted) -> None:
    """Write a class with CASES case files."""
    small_class.make(folder, pupils(wanted.students, wanted.wait))
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
        make_class(self._home, wanted)
        self._database = Database(self.lab)
        self._cluster = Cluster(self.lab)
        papers = str(self._cluster.papers)
        self.watcher = Watcher(ConnectorSettings(self._cluster.address, papers, OURS[WORK], 0))
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

    def prepare(self) -> float:
        """Start what grading needs; return how long a worker takes to be known."""
        self.parts[SCHEDULER].start()
        self._database.prepare()
        until(lambda: self.lab.hosts[SERVER].reaches(*self._cluster.place), _PATIENCE)
        begun = time.monotonic()
        self.parts[WORKERS[0]].start()
        until(lambda: self.watcher.sees(WORKERS[0]), _PATIENCE)
        took = time.monotonic() - begun
        for name in WORKERS[1:]:
            self.parts[name].start()
        for name in WORKERS:
            self._check_ways(name)
        return took

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

    def begin(self) -> float:
        """Start grading on the cluster; return how long it takes to the first result."""
        begun = time.monotonic()
        self.parts[SERVER].start()
        until(lambda: self._database.count("result") > 0, _PATIENCE)
        return time.monotonic() - begun

    def grade(self, storm: Storm) -> float:
        """See the grading to its end while it is disturbed; return how long it took."""
        begun = time.monotonic()
        grading = self.parts[SERVER]

        def is_over() -> bool:
            storm.go_on()
            for name, part in self.parts.items():
                if name != SERVER:
                    part.look()
            return grading.look(well=(_OK, _ATTENTION))

        with closing(self.watcher), closing(storm):
            until(is_over, _LONG)
        self._database.wait()
        return time.monotonic() - begun

    # --- what came of it ---

    def check(self, deaths: int) -> dict[str, Any]:
        """Look at the ledger's own record; return the figures of it.

        ``deaths``: of workers, at most.
        """
        own = self._home / "alone" / "ledger.sqlite"
        with (
            closing(Ledger(places.of(own, None))) as undisturbed,
            closing(Ledger(places.of(self._database.address("ledger"), self._key))) as ledger,
        ):
            ledger.check()
            states = _states(ledger)
            wanted = {basis: one.state for basis, one in states.items()}
            faults = {basis: one.faults for basis, one in states.items() if one.faults}
            written = _read_results(ledger)
            self.wrong += invariants.find_violations(
                wanted, written, WORKERS, f"level {LEVEL}", faults, deaths
            )
            differing = _differences(
                _select_accepted(_read_results(undisturbed)), _select_accepted(written)
            )
            self.wrong += differing
        if self._marks("alone") != self._marks("graded"):
            self.wrong.append("marks differ from those of the undisturbed run")
        return {
            "attempts": len(wanted),
            "results": len(written),
            "leases": len({one.token for one in written}),
            "faults": sum(faults.values()),
            "differing results": len(differing),
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
            if name != DATABASE and (odd := set(part.ends) - _list_expected_ends(name, text)):
                self.wrong.append(f"{name} ended by itself: {sorted(odd)}")


def _list_expected_ends(name: str, text: str) -> set[int]:
    """Return how a program may end; ``text``: what it has said."""
    full = {_BAD} if f"{os.strerror(errno.ENOSPC)}\n" in text else set()
    if name in WORKERS:
        return {_KILLED} | full
    if name == SCHEDULER:
        return {_KILLED, _FAULT}
    return {_KILLED, _OK, _FAULT, _ATTENTION} | full


def _states(ledger: Ledger) -> dict[str, AttemptState]:
    number, _ = ledger.find_run() or (0, None)
    return ledger.states([one.basis for one in ledger.list_planned(number)])


def _read_results(ledger: Ledger) -> list[Written]:
    own, held = RESULT.c, ATTEMPT.c.token.label("held")
    columns = (own.basis, own.number, own.link, own.token, held, own.last, own.result, own.figures)
    found = []
    for row in ledger.db.execute(select(*columns).join(ATTEMPT, ATTEMPT.c.basis == own.basis)):
        figures = canonical_json.loads(Measurements, row.figures)
        which = (row.basis, row.number, row.link, row.token, row.held, bool(row.last))
        found.append(Written(*which, figures.machine, figures.sandbox, row.result))
    return found


def _select_accepted(written: list[Written]) -> Mapping[str, str]:
    """Return the accepted result of each attempt."""
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
    wanted = Wanted(int(words[0]), float(words[1]), float(words[2]), int(words[3]))
    trial = Trial(wanted)
    report: dict[str, Any] = {**wanted._asdict(), "slowed by": slowing()}
    storm = Storm(trial.parts, wanted.seed, wanted.seconds, is_seen=trial.watcher.sees)
    try:
        report["alone"] = round(trial.grade_alone(), 1)
        starts = Starts(trial.prepare(), trial.begin())
        report["at work after"] = {name: round(took) for name, took in starts._asdict().items()}
        storm.starts = starts
        report["graded in"] = round(trial.grade(storm), 1)
        report |= trial.check(storm.deaths)
        trial.look_at_logs()
    except (TimeoutError, json.JSONDecodeError, OSError) as error:
        trial.wrong.append(repr(error))
    report |= {"disturbances": storm.counts, "at once": storm.at_once}
    report |= {"weak workers seen": storm.seen, "not seen": storm.unseen}
    report |= {"wrong": trial.wrong, "told": storm.told}
    report["ends"] = {name: part.ends for name, part in trial.parts.items()}
    report["logs"] = {
        name: part.log.read_text(errors="replace")[-4000:]
        for name, part in trial.parts.items()
        if part.log.exists()
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
