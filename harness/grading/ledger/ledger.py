"""The ledger: the database that has the final word on a grading. Only this package has its SQL.

Everything that a result depends on (the submission's bytes, the case file, the engine's command,
the limits, the version of the harness) has one digest, the attempt's *basis*. An attempt is
planned, leased, and finished once. If something changes, the basis changes, and the old attempt
stays. Marks are only added: the last one that was accepted is in force.

It is a file (:mod:`~harness.grading.ledger.sqlite_file`), or on a server
(:mod:`~harness.grading.ledger.ledger_server`), where several processes and machines may lease
attempts at once. A transaction that writes locks attempts first, then the ends of chains.

All rows behind marks are signed (:mod:`~harness.grading.ledger.chains`): :meth:`Ledger.check`
reports rows that others changed, added or removed. A result and its digest are one transaction.
"""

import contextlib
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Column, MetaData, String, Table, insert

from harness.core.errors import BusyError, LedgerError
from harness.core.text import count_rest, escape_controls
from harness.grading.ledger import chains, places, sqlite_file
from harness.grading.ledger import ledger_tables as sql
from harness.grading.ledger.records import (
    AttemptState,
    BuildRow,
    CaseRow,
    FinishedRun,
    Lease,
    MarkRow,
    PlannedAttempt,
    ResultRow,
    Run,
)
from harness.work import canonical_json

LEASE = 3600.0  # seconds; on this machine a lease ends with its process
_RENEWED = 60.0  # seconds after which who finishes something renews its lease
_TOGETHER = 500  # attempts that are asked for in one statement

_One = TypeVar("_One")


class Ledger:
    """An open ledger. Every method is one transaction: all of it happens, or nothing."""

    def __init__(self, location: places.Place | Path) -> None:
        """Open a ledger, or make one.

        ``location``: its place; a path, a file with its key beside it. The key is made for a new
        ledger.

        Raises:
            LedgerError: it is damaged, or its key is missing.
            ServerError: its server cannot be used now.
            UsageError: it is something else, or cannot be opened.
        """
        self._place = places.LedgerFile(location) if isinstance(location, Path) else location
        self.name = self._place.name  # in messages
        was_emptied = isinstance(self._place, places.LedgerFile) and self._place.is_emptied
        self.database = sqlite_file.open_database(self._place)
        self.db = self.database.connection
        self._renewed: dict[str, float] = {}  # when a lease was, on the monotonic clock
        try:
            with self.naming_errors():
                own = self._make_or_check(was_emptied=was_emptied)
                self.chains = chains.Chains(self.db, own, self.name)
                self.chains.touch()
        except BaseException:
            self.database.close()
            raise
        self.key = self._place.key(own.name)

    def _make_or_check(self, *, was_emptied: bool) -> chains.Seal:
        with self.database.changing():
            self.database.lock("making")
            version = self.database.version()
            if version == 0:
                if was_emptied:
                    raise LedgerError(
                        f"{self.name} is empty, but it was a ledger: its key"
                        f" {self._place.key('')} is there. Restore it from a backup, or delete"
                        " both to begin anew"
                    )
                self._make_tables()
                self._place.make_room_for_key()
                # A key that is new, too, is put in place when the ledger knows its name.
                own = chains.read_key(self._place.key("")) or chains.prepare_key(self._place.key)
                self.chains = chains.Chains(self.db, own, self.name)
                self.chains.begin()
                self.chains.append("seed", (secrets.token_hex(16),))
                self.db.execute(sql.SIGN, {"name": own.name, "taken_over": ""})
        if version == 0:
            self.database.settle()
            if self._place.key(own.name).exists():
                return own
        name = self.db.execute(sql.KEY_NAME).scalar() or ""
        return chains.require_key(self._place.key(name), name, self.name)

    def _make_tables(self) -> None:
        """Make all tables in an empty database, with a note of their version."""
        # First those that most others depend on: page by page.
        for table in sql.METADATA.tables.values():
            table.create(self.db)
        number = Column("version_num", String(32), primary_key=True)
        noted = Table(sql.VERSION_TABLE, MetaData(), number)
        noted.create(self.db)
        self.db.execute(insert(noted), {"version_num": str(sql.VERSION)})
        self.database.note_version()

    def naming_errors(self) -> contextlib.AbstractContextManager[None]:
        """Turn what the database says into sentences.

        Raises LedgerError if it is damaged, ServerError or UsageError if it cannot be used.
        """
        return self.database.naming_errors()

    def close(self) -> None:
        """Close it. What was written is written."""
        self.database.close()

    @property
    def seed(self) -> str:
        """Return the random seed drawn when the ledger was created."""
        return str(self.db.execute(sql.SEED_VALUE).scalar_one())

    # --- runs ---

    def begin(self, run: Run) -> int:
        """Record a call of the command; return its number."""
        with self.database.changing():
            number = self._next_id("run")
            self.chains.append("run", (number, *run))
            return number

    def find_run(self, number: int | None = None) -> tuple[int, Run] | None:
        """Return a call and its number, if there was one; None: the last that graded something."""
        query = sql.LAST_RUN if number is None else sql.RUN_OF
        row = self.db.execute(query, {} if number is None else {"run": number}).fetchone()
        return (row[0], Run(*row[1:])) if row else None

    def set_cases(self, run: int, cases: Iterable[CaseRow]) -> None:
        """Record the case files that a run asks, in order."""
        asked = list(cases)
        contents = {one.sha256: one.content for one in asked}
        with self.database.changing():
            new = [{"sha256": name, "bytes": contents[name]} for name in sorted(contents)]
            self.database.insert_new(sql.CONTENT, new)
            rows = [(run, i, c.kind, c.name, c.sha256, c.path) for i, c in enumerate(asked)]
            self.chains.extend("case_file", rows)

    def cases(self, run: int) -> list[CaseRow]:
        """Return what :meth:`set_cases` was given."""
        return [CaseRow(*row) for row in self.db.execute(sql.CASES, {"run": run})]

    def content(self, sha256: str) -> bytes:
        """Return the content of a case file that some run asked."""
        return bytes(self.db.execute(sql.CONTENT_OF, {"sha256": sha256}).scalar_one())

    def set_submissions(self, run: int, records: Mapping[str, str]) -> None:
        """Record what a run grades: a record for each key."""
        with self.database.changing():
            rows = [(run, key, record) for key, record in records.items()]
            self.chains.extend("submission", rows)

    def submissions(self, run: int) -> dict[str, str]:
        """Return what :meth:`set_submissions` was given."""
        return {row.key: row.record for row in self.db.execute(sql.SUBMISSIONS, {"run": run})}

    # --- attempts ---

    def plan(self, run: int, attempts: Iterable[PlannedAttempt]) -> None:
        """Record the attempts that a run wants; those that are known keep their state."""
        planned = list(attempts)
        with self.database.changing():
            # In one order: of two that record the same at once, one waits for the other.
            self.database.insert_new(sql.ATTEMPT, [one._asdict() for one in sorted(planned)])
            self.chains.extend("wanted", [(run, *one) for one in planned])

    def list_planned(self, run: int) -> list[PlannedAttempt]:
        """Return the attempts planned for a run, in the order of names."""
        return [PlannedAttempt(*row) for row in self.db.execute(sql.WANTED_OF, {"run": run})]

    def states(self, bases: Iterable[str]) -> dict[str, AttemptState]:
        """Return how far attempts are; unknown ones are missing."""
        return {
            basis: AttemptState(*state)
            for some in _parts(bases)
            for basis, *state in self.db.execute(sql.STATES, {"bases": some})
        }

    def lease(self, bases: Iterable[str]) -> str:
        """Take attempts for this process alone; return the token to finish them with.

        Attempts with a harness error begin anew; finished ones stay finished.

        Raises:
            BusyError: another process that lives has a lease, of these or others.
        """
        with self.database.changing():
            self.database.lock("leasing")
            holding, now = self.database.list_held_tokens(), places.now(self.db)
            for row in self.db.execute(sql.LEASES).fetchall():
                if places.is_held(row, holding, now):
                    machine, process = row.owner.split()[:2]
                    holder = f"process {process} on {machine}"
                    raise BusyError(f"{holder} is using {self.name}; wait until it finishes")
            taken = self._take(list(bases))
            self.db.execute(sql.BEGIN_ANEW, {"by": taken.token})
            return taken.token

    def lease_free(self, bases: Iterable[str], most: int) -> Lease:
        """Take those attempts that nobody has and are not done, in order, so many at most.

        Several processes and machines may do so at once: none waits for another, and no two get
        the same attempt.
        """
        with self.database.changing():
            self.database.lock("leasing", shared=True)
            free: list[str] = []
            for some in _parts(bases):
                rows = self.db.execute(sql.NOT_DONE, {"bases": some}).fetchall()
                holding, now = self.database.list_held_tokens(), places.now(self.db)
                idle = {
                    row.basis
                    for row in rows
                    if row.state == "waiting"
                    or not places.is_held(row, holding, now, by_me=self.database.holds(row.token))
                }
                free += [basis for basis in some if basis in idle][: most - len(free)]
            return self._take(free)

    def _take(self, bases: Sequence[str]) -> Lease:
        """Write down a lease; a part of a transaction."""
        token = secrets.token_hex(8)
        taken = {"by": token, "whose": places.me(), "end": places.now(self.db) + LEASE}
        for some in _parts(bases):
            self.db.execute(sql.TAKE, {**taken, "bases": some})
        self.database.hold(token)
        return Lease(token, tuple(bases))

    def begin_anew(self, bases: Iterable[str]) -> None:
        """Retry attempts that were given up after harness errors."""
        with self.database.changing():
            for some in _parts(bases):
                self.db.execute(sql.TRY_AGAIN, {"bases": some})

    def release(self, token: str) -> None:
        """Give back what was leased and is not done.

        Without a connection nothing can be said, and need not be: the lease ended with it.
        """
        if not self.database.reconnect():
            return
        with self.database.changing():
            self.db.execute(sql.RELEASE, {"by": token})
        self.database.let_go(token)

    def finish_all(
        self, token: str, runs: Sequence[FinishedRun], builds: Iterable[BuildRow] = ()
    ) -> bool:
        """Write results, each once, and those builds that are not known; renew the lease.

        Without the lease of a result it is not written, and False is returned.
        """
        first: dict[str, FinishedRun] = {}
        for one in runs:
            first.setdefault(one.basis, one)
        written = 0
        with self.database.changing():
            for some in _parts(first.values()):
                asked = {"bases": sorted(one.basis for one in some), "by": token}
                before = {row.basis: row.withdrawn for row in self.db.execute(sql.MINE, asked)}
                mine = [one for one in some if one.basis in before]
                rows = [
                    (one.basis, before[one.basis] + one.number, token, *one.row, int(one.last))
                    for one in mine
                ]
                self.chains.extend("result", rows)
                if done := [one.basis for one in mine if one.last]:
                    self.db.execute(sql.DONE, {"bases": done})
                written += len(mine)
            self._add_new_builds(builds)
            if self._renewed.get(token, 0.0) < time.monotonic() - _RENEWED:
                self.db.execute(sql.RENEW, {"by": token, "end": places.now(self.db) + LEASE})
                self._renewed[token] = time.monotonic()
        return written == len(runs)

    def settle(self, basis: str, token: str) -> None:
        """Let an attempt be done with the results that it has."""
        with self.database.changing():
            self.db.execute(sql.SETTLE, {"of": basis, "by": token})

    def record_error(self, basis: str, token: str, fault: str, most: int) -> None:
        """Record a harness error; after ``most`` errors the attempt is not retried."""
        values = {"of": basis, "by": token, "why": escape_controls(fault), "most": most}
        with self.database.changing():
            self.db.execute(sql.BROKE, values)

    def withdraw(self, bases: Iterable[str], reason: str) -> list[str]:
        """Let the results of attempts count no more, nor the builds that they were run with.

        Nothing is removed: a row is added that says so, and those before it are history. The
        attempts wait to be rerun. They are returned; those that somebody has leased stay as they
        are.
        """
        found: list[str] = []
        for some in _parts(bases):
            with self.database.changing():
                idle = self.db.execute(sql.IDLE, {"bases": some}).fetchall()
                names = [basis for basis, _ in idle]
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                told = canonical_json.dumps(reason)
                row = ResultRow(sql.WITHDRAWN, now, 0, 0.0, 0.0, 0, 0.0, told)
                numbers = self.db.execute(sql.LAST_NUMBERS, {"bases": names}).fetchall()
                rows = [(basis, number + 1, "", *row, 0) for basis, number in numbers]
                self.chains.extend("result", sorted(rows))
                self.chains.hold("build")
                for build in sorted({build for _, build in idle}):
                    if before := self._builds(build):
                        self._add_build(BuildRow(build, sql.WITHDRAWN, 0.0), before)
                self.db.execute(sql.WAIT_AGAIN, {"bases": names})
            found += names
        return found

    def results(self, basis: str, at: str = "") -> list[tuple[str, str]]:
        """Return (result, figures) of each run of an attempt that counts, in order.

        ``at``: those that counted at this time, ISO 8601; empty: those that do now.
        """
        found: list[tuple[str, str]] = []
        for result, figures, started in self.db.execute(sql.RESULTS, {"of": basis}):
            if result != sql.WITHDRAWN:
                found.append((result, figures))
            elif at and started >= at:
                return found
            else:
                found = []
        return found

    def figures(self, bases: Iterable[str]) -> dict[str, list[str]]:
        """Return the figures of each run that counts, in order, of attempts that have any."""
        found: dict[str, list[str]] = {}
        for some in _parts(bases):
            for basis, figures, is_withdrawn in self.db.execute(sql.FIGURES, {"bases": some}):
                if is_withdrawn:
                    found.pop(basis, None)
                else:
                    found.setdefault(basis, []).append(figures)
        return found

    def get_planned(self, basis: str) -> PlannedAttempt:
        """Return the planned attempt with this basis."""
        return PlannedAttempt(basis, *self.db.execute(sql.PLANNED, {"of": basis}).one())

    # --- builds ---

    def _add_new_builds(self, builds: Iterable[BuildRow]) -> None:
        """Write the builds that are not known; a part of a transaction."""
        new = {one.basis: one for one in reversed(list(builds))}  # the first one of each
        if new:
            self.chains.hold("build")
        for one in reversed(new.values()):
            before = self._builds(one.basis)
            if not before or before[-1] == sql.WITHDRAWN:
                self._add_build(one, before)

    def _add_build(self, build: BuildRow, before: Sequence[str]) -> None:
        """Record a build, or that it is gone; ``before``: its earlier records."""
        name = f"{build.basis} {len(before) + 1}" if before else build.basis
        self.chains.append("build", (name, build.result, build.seconds))

    def build(self, basis: str) -> str | None:
        """Return the result of the build steps, if they were made and count."""
        found = self._builds(basis)
        return found[-1] if found and found[-1] != sql.WITHDRAWN else None

    def _builds(self, basis: str) -> list[str]:
        rows = self.db.execute(sql.BUILDS_OF, {"of": basis, "last": f"{basis} 9999"})
        return [row.result for row in rows]

    # --- marks ---

    def give(self, run: int, timestamp: str, marks: Iterable[MarkRow]) -> None:
        """Put marks in force at the time ``timestamp``; those before them stay as history."""
        with self.database.changing():
            number = self._next_id("mark")
            in_force = self.in_force()
            new = [
                mark
                for mark in marks
                if (former := in_force.get(mark.key)) is None
                or former._replace(run=mark.run, given=mark.given) != mark
            ]
            rows = [
                (i, run, one.key, timestamp, one.marks, one.submission, "\n".join(one.bases))
                for i, one in enumerate(new, number)
            ]
            self.chains.extend("mark", rows)

    def history(self, key: str) -> list[MarkRow]:
        """Return all marks of a submission that were ever in force, the last one last."""
        return [_mark_row(row) for row in self.db.execute(sql.HISTORY, {"key": key})]

    def in_force(self) -> dict[str, MarkRow]:
        """Return the mark of each submission."""
        return {row.key: _mark_row(row) for row in self.db.execute(sql.IN_FORCE)}

    def _next_id(self, table: str) -> int:
        """Return the number of a table's next row, which nobody else gets in this transaction."""
        self.chains.hold(table)
        return int(self.db.execute(sql.LARGEST_IDS[table]).scalar_one()) + 1

    # --- chains ---

    def check(self) -> None:
        """Check what marks are made of.

        Raises:
            LedgerError: a row was changed, added or removed by others; it is named.
        """
        with self.naming_errors(), self.database.reading():
            found = self.chains.tampering()
        if found:
            rest = count_rest(len(found) - 1, " (and {} more)")
            raise LedgerError(
                f"{self.name} was edited or is damaged: {found[0]}{rest}. No marks are given."
                " gtp-harness ledger check tells more, and ledger salvage saves what holds"
            )


def _parts(items: Iterable[_One]) -> Iterator[list[_One]]:
    """Yield names, or what has them, as many together as are asked for in one statement."""
    found = list(items)
    for start in range(0, len(found), _TOGETHER):
        yield found[start : start + _TOGETHER]


def _mark_row(row: Sequence[Any]) -> MarkRow:
    key, marks, submission, bases, run, given = row
    return MarkRow(key, marks, submission, tuple(bases.split()), run, given)
