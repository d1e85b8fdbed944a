"""Banks of wrong engines: the records, the folder of one, and tests put to its engines."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from harness.core import file_system, toml_schema
from harness.core.errors import SandboxError, UsageError
from harness.core.options import TRIED_TIMEOUT, UNTRUSTED, Options
from harness.core.records import CaseFile, FileResult, Verdict
from harness.core.toml_schema import Field, KeyPlace
from harness.judging import in_process
from harness.judging.strength import MeasuredTest, Strength
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.reading.suite import Gathered
from harness.running.runs import run_gathered
from harness.specifications.record import Specification
from oracle.command_properties import PropertyTable


class BankEntry(NamedTuple):
    """An engine of a bank as its file has it: a submission in a folder, or any command."""

    name: str
    sentence: str  # what is wrong with it, as far as somebody knows
    folder: str = ""  # in the bank, with a submission's files; its assignment says how it starts
    command: str = ""  # as typed in a shell, started in the bank's folder


class Bank(NamedTuple):
    """Contents of a bank file."""

    assignment: str  # as ``--assignment`` names it; "": of commands only
    entries: tuple[BankEntry, ...]
    left_out: Mapping[str, int]  # why others are not in it: how many


class WrongEngine(NamedTuple):
    """A program that can be started, and is wrong somehow."""

    name: str
    sentence: str
    command: str  # as typed in a shell
    folder: str  # in which it is started; "": in the folder of the case file
    submission: str = ""  # the folder of a student's files, which nobody trusts
    shown: tuple[str, ...] = ()  # paths that it may read besides


# --- A bank as a folder: ``bank.toml``, a folder for each submission, and the course folder ------
# ``bank.toml`` may as well be written by hand::
#
# [[engine]]
# name = "no-suicide"
# command = "python3 wrong/no_suicide.py"
# sentence = "it allows suicide"


FILE = "bank.toml"
COURSE = "course"  # the folder of what the course puts beside submissions
_LONG_AGO = 315_532_800  # seconds since 1970: when a student saved a file is nobody's business
_HEADING = """\
# Wrong engines by which tests are measured; made by gtp-harness bank, or by hand.
# Nothing in here says whose they were.
"""


def read(folder: Path) -> Bank:
    """Return what the file of a bank says.

    Raises:
        AssignmentError: names the file, the key, what was found and what is expected.
        UsageError: there is no bank.
    """
    path = folder / FILE
    if not path.exists():
        raise UsageError(f"{folder} is not a bank: there is no {FILE} in it")
    place = KeyPlace(str(path))
    values = toml_schema.read_table(toml_schema.load(place.file), _SCHEMA, place)
    bank = Bank(values["assignment"], values["engine"], values["left_out"])
    names = [one.name for one in bank.entries]
    for number, one in enumerate(bank.entries):
        here = place.at("engine").item(number)
        if names.count(one.name) > 1:
            here.at("name").refuse(one.name, "another name for each engine")
        if bool(one.folder) is bool(one.command):
            here.refuse(one.name, "either a folder or a command")
        leads_out = one.folder.startswith("/") or ".." in one.folder.split("/")
        if one.folder and (leads_out or not os.path.isdir(folder / one.folder)):  # noqa: PTH112
            here.at("folder").refuse(one.folder, "a folder in the bank")
    return bank


def write(folder: Path, bank: Bank) -> None:
    """Write the file of a bank."""
    lines = [_HEADING]
    if bank.assignment:
        lines.append(f"assignment = {_text(bank.assignment)}\n")
    for one in bank.entries:
        lines.append("\n[[engine]]\n")
        lines += [f"{key} = {_text(value)}\n" for key, value in one._asdict().items() if value]
    if bank.left_out:
        lines.append("\n[left_out] # why, and how many\n")
        lines += [f"{_text(why)} = {count}\n" for why, count in sorted(bank.left_out.items())]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text("".join(lines), encoding="utf-8")


def add_files(folder: Path, files: Mapping[str, bytes], run: frozenset[str]) -> None:
    """Write the files of a submission into a folder; ``run``: those that can be executed."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(file_system.file_mode(is_program=name in run))
        os.utime(path, (_LONG_AGO, _LONG_AGO))


def keep_course(folder: Path, overlay: Path | None) -> None:
    """Keep the course folder, which submissions need beside them, if the bank has none."""
    if overlay and not (folder / COURSE).exists():
        left_out = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
        shutil.copytree(overlay, folder / COURSE, ignore=left_out)


def _text(value: str) -> str:
    """Return a text as a TOML string: like JSON's, except for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- the schema --------------------------------------------------------------------------------


def _counts(value: Any, place: KeyPlace) -> dict[str, int]:
    if not isinstance(value, dict):
        place.refuse(value, "a table of reasons, each with a number")
    return {key: toml_schema.whole(0)(count, place.at(key)) for key, count in value.items()}


_as_text = toml_schema.checked(lambda value: isinstance(value, str), "a text")
_ENTRY = {
    "name": Field(toml_schema.text),
    "sentence": Field(_as_text, ""),
    "folder": Field(_as_text, ""),
    "command": Field(_as_text, ""),
}
_SCHEMA = {
    "assignment": Field(_as_text, ""),
    "engine": Field(toml_schema.list_of(toml_schema.table(_ENTRY, BankEntry)), ()),
    "left_out": Field(_counts, {}),
}


# --- Tests put to engines that are wrong: each is started, in a sandbox, and runs the case files -


_FILE = 60.0  # seconds for a case file
_HUNG = 4  # case files in which an engine may hang before it is asked no more

Line = tuple[str, int]  # path of a case file, and the line of a command in it


class EngineAsker:
    """Asks engines; all are started in the same way, in a sandbox that is proven once."""

    def __init__(
        self,
        command_properties: PropertyTable,
        sandbox: str,
        dialect: str = "gogui",
        *,
        protocol: str,
        strict: bool = True,
    ) -> None:
        """``strict``: listen as grading does; without, many times faster."""
        self._command_properties = command_properties
        self._options = Options(
            dialect=dialect,
            protocol=protocol,
            limits=UNTRUSTED._replace(timeout=TRIED_TIMEOUT, file=_FILE),
            sandbox=sandbox,
            strict=strict,
            restart=True,
            most_hung=_HUNG,
        )
        self._is_proven = False

    def find_failed(self, cases: Sequence[CaseFile], engine: WrongEngine) -> set[Line]:
        """Return the tests that an engine fails, or at which it breaks.

        Raises:
            SandboxError: the harness failed, or there is no sandbox here.
        """
        found: set[Line] = set()
        for result in self.results(cases, engine):
            path, steps = result.case.path, result.case.steps
            for outcome in result.outcomes:
                if outcome.verdict is Verdict.FAILED:
                    found.add((path, steps[outcome.step].line))
            for failure in result.failures:  # it fails the test under way, or the next one
                tests = (step.line for step in steps[failure.step or 0 :] if step.is_test)
                found.update((path, line) for line in islice(tests, 1))
        return found

    def results(self, cases: Sequence[CaseFile], engine: WrongEngine) -> tuple[FileResult, ...]:
        """Return what an engine did in each file; raises as :meth:`find_failed`."""
        wanted = self._options.sandbox
        if not self._is_proven and wanted != "off":
            # Proves the level of all runs: to do so for each takes longer than a short case file.
            from harness.sandbox import levels

            level = levels.choose(wanted)
            with closing(level) as proven:
                self._options = self._options._replace(sandbox=str(proven.level))
            self._is_proven = True
        options = self._options._replace(
            folder=engine.folder, submission=engine.submission, show=engine.shown
        )
        result = run_gathered(
            engine.command,
            Gathered(tuple(cases)),
            options,
            command_properties=self._command_properties,
            is_proven=self._is_proven,
        )
        if result.faults:
            told = result.faults[0].partition("\n")[0]
            raise SandboxError(f"{engine.name} could not be asked: {told}")
        return result.files


def find_failing(
    cases: Sequence[CaseFile], specification: Specification, dialect: str = "gogui"
) -> set[Line]:
    """Return the tests that the reference engine fails: something is wrong with them."""
    judge, found = find_dialect(dialect), set()
    for case in cases:
        bad = in_process.failing_lines(case, specification.reference_engine(), judge)
        found |= {(case.path, line) for line in bad}
    return found


def measure(
    cases: Sequence[CaseFile],
    name: str,
    bad: set[Line],
    engines: Sequence[WrongEngine],
    find_failed: Callable[[WrongEngine], set[Line]],
) -> Strength:
    """Return which tests of case files catch which engines.

    ``name``: of the assignment. ``bad``: the tests that the reference engine fails, which
    count for nothing. ``find_failed``: returns the tests that an engine fails.
    """
    caught: dict[Line, int] = {}
    for place, engine in enumerate(engines):
        for line in find_failed(engine):
            caught[line] = caught.get(line, 0) | 1 << place
    tests = [
        MeasuredTest(case.path, step, caught.get((case.path, step.line), 0))
        for case in cases
        for step in case.steps
        if step.is_test
    ]
    good = tuple(one for one in tests if (one.path, one.step.line) not in bad)
    wrong = tuple(one._replace(caught=0) for one in tests if (one.path, one.step.line) in bad)
    return Strength(name, tuple(engines), (), good, wrong)


class EngineBench:
    """Wrong engines that say what generated tests are worth.

    Attributes: ``engines``; ``folder``, where the files lie that commands name.
    """

    def __init__(
        self,
        engines: Sequence[WrongEngine],
        specification: Specification,
        folder: Path,
        asker: EngineAsker,
    ) -> None:
        self.engines = tuple(engines)
        self.folder = folder
        self._specification = specification
        self._asker = asker

    def map_catches(self, texts: Sequence[str], engine_bits: int) -> list[dict[int, int]]:
        """Return of case files, by the line of each test, the engines that it catches, as bits."""
        cases = [self._case(text, number) for number, text in enumerate(texts)]
        found: dict[str, dict[int, int]] = {case.path: {} for case in cases}
        for place, engine in enumerate(self.engines):
            if engine_bits >> place & 1:
                for path, line in self._asker.find_failed(cases, engine):
                    found[path][line] = found[path].get(line, 0) | 1 << place
        return list(found.values())

    def find_caught(self, cases: Sequence[CaseFile]) -> int:
        """Return the engines that case files catch, as bits."""
        asked = enumerate(self.engines if cases else ())
        return sum(1 << place for place, one in asked if self._asker.find_failed(cases, one))

    def list_caught(self, cases: Sequence[CaseFile]) -> list[int]:
        """Return of each case file the engines that it catches, as bits."""
        found = dict.fromkeys((case.path for case in cases), 0)
        for place, engine in enumerate(self.engines if cases else ()):
            for path, _ in self._asker.find_failed(cases, engine):
                found[path] |= 1 << place
        return [found[case.path] for case in cases]

    def find_wrong(self, text: str) -> set[int]:
        """Return the lines of the tests of a case file that the reference engine fails."""
        return {line for _, line in find_failing([self._case(text, 0)], self._specification)}

    def _case(self, text: str, number: int) -> CaseFile:
        return casefile.parse(text.encode(), str(self.folder / f"generated-{number}.gtp"))
