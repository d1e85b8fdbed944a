"""Programs for a bank: run like submissions, and chosen so that no two behave alike."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import NamedTuple

from harness.archives import archive
from harness.banks import banks
from harness.core.errors import ArchiveError, HarnessError, UsageError
from harness.core.records import FileResult, Outcome, Verdict
from harness.core.signals import ending_on_signals
from harness.core.text import number_of
from harness.grading.attempts.attempt_plan import GradingPlan
from harness.grading.attempts.orders import GradingContext, Orders
from harness.grading.banking import anonymous
from harness.grading.records import IMAGE, Attempt, Student
from harness.work import canonical_json, records


class ProgramTrial:
    """Run programs that are in no ledger."""

    def __init__(
        self, context: GradingContext, template: records.WorkUnit, plan: GradingPlan
    ) -> None:
        """``template``: a unit with the cases of the plan, each asked in one of its attempts."""
        self._context = context
        self._template = template
        self._cases = {(one.kind, one.name): one for one in plan.cases}
        self._called = {one.basis: (one.kind, one.name) for one in plan.attempts}

    def run(self, programs: Mapping[str, AnonymousProgram]) -> dict[str, ProgramBehaviour | None]:
        """Return the behaviour of programs by their keys; None if one did nothing."""
        with tempfile.TemporaryDirectory(prefix="gtp-harness-") as folder:
            units = [self._unit(key, one, Path(folder)) for key, one in programs.items()]
            return dict(zip(programs, self._results(units), strict=True))

    def _unit(self, key: str, program: AnonymousProgram, folder: Path) -> records.WorkUnit:
        lying, packed = folder / f"{key}.files", folder / f"{key}.tar"
        banks.add_files(lying, program.files, program.run)
        archive.pack_alike(packed, lying, {name: name for name in program.files})
        sha256 = canonical_json.Sha256(hashlib.sha256(packed.read_bytes()).hexdigest())
        kept = tuple(sorted(program.files))
        own = records.UnitSubmission(key, sha256, "", kept, str(packed.absolute()))
        return self._template._replace(submission=own, build=program.digest)

    def _results(self, units: Sequence[records.WorkUnit]) -> list[ProgramBehaviour | None]:
        """Run units side by side. What is asked alone in a grading is so here as well."""
        context, nothing = self._context, records.Measurements()
        heard: list[dict[str, tuple[str, str, FileResult]]] = [{} for _ in units]

        def on_event(index: int, event: object) -> None:
            if isinstance(event, records.HarnessFailed):
                raise HarnessError(f"harness error: {event.message}")
            if isinstance(event, records.AttemptFinished) and event.result != records.NOTHING:
                case = self._cases[self._called[event.basis]]
                result = canonical_json.loads(FileResult, event.result)
                whole = records.add_measurements(result, case.parse(case.path), nothing)
                heard[index][event.basis] = case.kind, case.name, whole

        contents = {one.sha256: one.content for one in self._cases.values()}
        orders = Orders(context, context.assignment.box, contents.__getitem__, alone=False)
        with (
            ending_on_signals(),
            closing(orders),
            closing(orders.run(units, context.jobs, on_event)) as ends,
        ):
            for _, fault in ends:
                if fault:
                    raise HarnessError(f"harness error: {fault.message}")
        return [behaviour(found.values()) if found else None for found in heard]


# --- The answers of a submission to tests, to find two that behave alike. Pure -------------------


Place = tuple[str, str, int]  # kind and name of the case file, and the line of the command

# Last words of programs that die for where they are, not for what they are asked.
_NOT_COMPARED = re.compile(
    r"ModuleNotFoundError|ImportError|No module named|FileNotFoundError|PermissionError"
    r"|cannot open shared object|NoClassDefFoundError|UnsupportedClassVersionError"
)


class ProgramBehaviour(NamedTuple):
    """The behaviour of a program: its wrong answers; all others are right."""

    wrong: Mapping[Place, str]
    tests: int  # in all

    def where(self, counts: Callable[[Place], bool]) -> ProgramBehaviour:
        """Return what it did with the tests that count."""
        wrong = {place: how for place, how in self.wrong.items() if counts(place)}
        return self._replace(wrong=wrong)

    @property
    def signature(self) -> tuple[tuple[Place, str], ...]:
        """The same for programs that do the same."""
        return tuple(sorted(self.wrong.items()))


def behaviour(results: Iterable[tuple[str, str, FileResult]]) -> ProgramBehaviour:
    """Return what a program did in files, each with its kind and the assignment's name for it."""
    said = {
        (kind, name, result.case.steps[outcome.step].line): _how(outcome, result)
        for kind, name, result in results
        for outcome in result.outcomes
    }
    return ProgramBehaviour({place: how for place, how in said.items() if how}, len(said))


def _how(outcome: Outcome, result: FileResult) -> str:
    """Say how a test was failed; "" if it was not, or nobody can tell."""
    if outcome.verdict is Verdict.NOT_RUN and result.failure:
        return result.failure.kind.value
    if outcome.verdict is not Verdict.FAILED or outcome.reply is None:
        return ""
    sign = "=" if outcome.reply.ok else "?"
    return f"{sign} {' '.join(outcome.reply.text.casefold().split())}"


# --- Choose submissions of a ledger for a bank, and say why others are left out ------------------
# The ledger has the behaviour of each. Of those that behave alike one is taken, made anonymous,
# and rerun: it gets into the bank only if it still behaves the same. Submissions are sorted by the
# digests of their anonymous files, which reveals nothing about their authors.


NOTHING = "there is nothing that runs"
UNFINISHED = "it was not graded to the end"
SILENT = "it does not start"
RIGHT = "it passes every test"
OTHER_COMMANDS = "it differs only in commands that do not count"
CHANGED = "it answers differently when rerun without names and comments"
GONE = "the submission is no longer kept"
_SURROUNDINGS = "it crashes because of its environment: {}"
_SAME = "same behaviour as {}"
_SHOWN = 60  # characters of a wrong answer


class Former(NamedTuple):
    """A submission of a former year, and its results."""

    unit: records.WorkUnit
    attempts: tuple[Attempt, ...]
    students: tuple[Student, ...]

    @property
    def key(self) -> str:
        """Its key in the ledger."""
        return self.unit.submission.key


class AnonymousProgram(NamedTuple):
    """The anonymous files of a submission."""

    files: Mapping[str, bytes]
    run: frozenset[str]  # names of those that can be executed

    @property
    def digest(self) -> str:
        """The same for the same files."""
        found = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            found.update(f"{name}\0{len(content)}\0".encode() + content)
        return found.hexdigest()


class Added(NamedTuple):
    """The result."""

    entries: tuple[banks.BankEntry, ...]  # that are new
    left_out: tuple[tuple[str, str], ...]  # key and reason, sorted by key


# Runs programs as submissions are run, by their keys; returns what each did, None if nothing.
Try = Callable[[Mapping[str, AnonymousProgram]], Mapping[str, ProgramBehaviour | None]]


class BankSelection:
    """The choice of submissions of a class for a bank."""

    def __init__(
        self, class_: Sequence[Former], required: Collection[str], counts: Callable[[Place], bool]
    ) -> None:
        """``required``: names of files that stay; ``counts``: whether a test counts."""
        self._left_out: dict[str, str] = {}
        self._counts = counts
        self._programs = self._anonymous(class_, required)
        self._groups: dict[object, list[str]] = {}  # those that did the same
        self._behaviours: dict[str, ProgramBehaviour] = {}
        for one in class_:
            results = [(each.kind, each.case, each.result) for each in one.attempts if each.result]
            whole = behaviour(results)
            found = whole.where(counts)
            if why := _useless(one, whole, found):
                self._left_out[one.key] = why  # rather than that it cannot be made anonymous
            elif one.key not in self._left_out:
                self._behaviours[one.key] = found
                self._groups.setdefault(found.signature, []).append(one.key)

    def _anonymous(
        self, class_: Sequence[Former], required: Collection[str]
    ) -> dict[str, AnonymousProgram]:
        plain: dict[str, AnonymousProgram] = {}
        for one in class_:
            try:
                found = _read_submitted(one.unit)
                plain[one.key] = found._replace(files=anonymous.strip_comments(found.files))
            except anonymous.UnreadableError as error:
                self._left_out[one.key] = f"it cannot be made anonymous: {error}"
            except (ArchiveError, UsageError):
                self._left_out[one.key] = GONE
        authors = {
            one.key: [
                anonymous.BankPerson(each.name, (each.key, *(text for _, text in each.ids)))
                for each in one.students
            ]
            for one in class_
        }
        people = [person for some in authors.values() for person in some]
        names = anonymous.NeutralNames(people, [one.files for one in plain.values()])
        programs = {}
        for key, program in plain.items():
            files = names.without(program.files, required, authors[key])
            # What could be executed still can be.
            run = frozenset(called for name, (called, _) in files.items() if name in program.run)
            programs[key] = AnonymousProgram(dict(files.values()), run)
        return programs

    def into(self, folder: Path, bank: banks.Bank, attempt: Try) -> Added:
        """Put one of each behaviour into the bank's folder that has not one yet."""
        # What does as an engine does that is in the bank already is left out.
        known = {one.name: _read_stored(folder / one.folder) for one in bank.entries if one.folder}
        for name, found in attempt(known).items() if known and self._groups else ():
            signature = found and found.where(self._counts).signature
            self._leave(self._groups.pop(signature, ()), _SAME.format(name))
        chosen = self._choose_representatives(attempt)
        ordered = sorted(chosen, key=lambda key: self._programs[key].digest)
        taken = {one.name for one in bank.entries}
        free = (name for number in count(1) if (name := f"{number:02}") not in taken)
        entries = []
        for key, name in zip(ordered, free, strict=False):
            program = self._programs[key]
            banks.add_files(folder / name, program.files, program.run)
            entries.append(banks.BankEntry(name, _sentence(self._behaviours[key]), folder=name))
            self._leave(chosen[key], _SAME.format(name))
        return Added(tuple(entries), tuple(sorted(self._left_out.items())))

    def _leave(self, keys: Iterable[str], reason: str) -> None:
        self._left_out.update(dict.fromkeys(keys, reason))

    def _choose_representatives(self, attempt: Try) -> dict[str, list[str]]:
        """Return one submission for each behaviour, with the others that did the same."""
        waiting = [
            sorted(keys, key=lambda key: self._programs[key].digest)
            for keys in self._groups.values()
        ]
        chosen = {}
        while waiting:
            firsts = {keys[0]: self._programs[keys[0]] for keys in waiting}
            did = attempt(firsts)
            for first, *others in waiting:
                found = did.get(first)
                if found and found.where(self._counts) == self._behaviours[first]:
                    chosen[first] = others
                else:
                    self._leave([first], CHANGED)
            waiting = [keys[1:] for keys in waiting if keys[0] not in chosen and keys[1:]]
        return chosen


def _useless(submission: Former, whole: ProgramBehaviour, behaviour: ProgramBehaviour) -> str:
    """Return why a submission tells nothing about tests; "" if it does."""
    results = [each.result for each in submission.attempts if each.result]
    if any(each.fault for each in submission.attempts):
        return UNFINISHED
    if not results:
        return NOTHING
    reasons = (failure.reason for result in results for failure in result.failures)
    if why := next(filter(_NOT_COMPARED.search, reasons), ""):
        return _SURROUNDINGS.format(why)
    if all(one.is_silent for one in results):
        return SILENT
    if not whole.wrong:
        return RIGHT
    return "" if behaviour.wrong else OTHER_COMMANDS


def count_left_out(bank: banks.Bank, additions: Added) -> dict[str, int]:
    """Return why submissions are not in the bank, and how many.

    Last words of a program may have names in them, and are left out.
    """
    reasons = (why.partition(":")[0] for _, why in additions.left_out)
    return dict(Counter(bank.left_out) + Counter(reasons))


# --- programs ----------------------------------------------------------------------------------


def _read_submitted(unit: records.WorkUnit) -> AnonymousProgram:
    own = unit.submission
    wanted = {own.root + name: name for name in own.kept}
    files, run = {}, set()
    for member in archive.files(own.path):
        if name := wanted.get(member.name):
            files[name] = b"".join(member.content)
            run |= {name} if member.executable else set()
    return AnonymousProgram(files, frozenset(run))


def _read_stored(folder: Path) -> AnonymousProgram:
    """Return the program in a folder of the bank."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    run = [path.relative_to(folder).as_posix() for path in paths if path.stat().st_mode & 0o100]
    return AnonymousProgram(files, frozenset(run))


def _sentence(behaviour: ProgramBehaviour) -> str:
    """Return a sentence about a wrong engine: how many tests it fails, and one of them."""
    wrong = behaviour.wrong
    (kind, name, line), how = min(wrong.items(), key=lambda one: (one[0][0] == IMAGE, one))
    said = how if len(how) <= _SHOWN else f"{how[: _SHOWN - 1]}…"
    tests = number_of(behaviour.tests, "test")
    return f"wrong in {len(wrong)} of {tests}, first in {kind} {name}:{line} ({said})"
